//! `mercer budget`: how well landmarks stand for all rows, by the method that chooses them and by their number.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Instant;

use mercer::budget::{BudgetMethod, BudgetReport, hold_out, report};
use mercer::dataset::Dataset;
use mercer::kernels::Kernel;
use mercer::pipeline::Features;
use mercer::{Driver, Dtype, Scalar};
use serde_json::{Value, json};

use crate::args::BudgetArgs;
use crate::compare::{check_plot, save};
use crate::data::refuse_overwriting;
use crate::failure::Failure;
use crate::memory::peak_bytes;
use crate::output::in_json;
use crate::plot::{Axis, Chart, Panel, Point};
use crate::progress::Bar;
use crate::rows::{TrainingRows, described};
use crate::text::{count, kernel, number};

/// Rows that judge.
const JUDGES: usize = 2000;

/// All that was measured.
struct Budgets {
    dataset: Dataset,
    kernel: Kernel,
    cells: Vec<Cell>,
    n_judges: usize,
    total_seconds: f64,
    threads: usize,
}

/// A method with a number of landmarks, by every seed.
struct Cell {
    method: BudgetMethod,
    runs: Vec<BudgetReport>,
}

impl Cell {
    fn mean(&self, of: impl Fn(&BudgetReport) -> f64) -> f64 {
        self.runs.iter().map(of).sum::<f64>() / self.runs.len() as f64
    }

    fn score(&self) -> f64 {
        self.mean(|run| run.score)
    }

    /// Over the seeds; 0 for one.
    fn deviation(&self) -> f64 {
        let (mean, n) = (self.score(), self.runs.len() as f64);
        let squares: f64 = self.runs.iter().map(|run| (run.score - mean).powi(2)).sum();
        if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 }
    }

    fn seconds(&self) -> f64 {
        self.runs.iter().map(|run| run.seconds + run.fit_seconds).fold(f64::INFINITY, f64::min)
    }

    fn n_landmarks(&self) -> usize {
        self.runs[0].n_landmarks
    }
}

pub(crate) fn run(args: &BudgetArgs) -> Result<(), Failure> {
    let start = Instant::now();
    args.map()?.validate()?;
    if !args.rows.test.is_empty() {
        return Err(Failure::Usage(
            "--test is of no use to budget: rows that judge are taken from the others".to_owned(),
        ));
    }
    if args.sizes().contains(&0) {
        return Err(Failure::Usage("--sizes has 0; give 1 landmark or more".to_owned()));
    }
    let bar = Bar::new(args.run.report.quiet);
    if let Some(path) = &args.plot {
        check_plot(path)?;
        refuse_overwriting(&[path], args.rows.files())?;
        drop(mercer_io::OutputFile::create(path)?);
    }
    let driver = Driver::new(args.run.threads, &bar)?;
    let dataset = load(args, &driver, &bar)?;
    let (kernel, cells, n_judges) = match args.dtype.into() {
        Dtype::Float32 => measure::<f32>(args, &dataset, &driver, &bar)?,
        Dtype::Float64 => measure::<f64>(args, &dataset, &driver, &bar)?,
    };
    driver.check_interrupted()?;
    let (total_seconds, threads) = (start.elapsed().as_secs_f64(), driver.threads());
    let budgets = Budgets { dataset, kernel, cells, n_judges, total_seconds, threads };
    if let Some(path) = &args.plot {
        save(path, &budgets.chart().to_svg())?;
    }
    let mut out = std::io::stdout().lock();
    if args.run.report.json {
        writeln!(out, "{:#}", budgets.to_json(args))?;
    } else {
        write!(out, "{}", budgets.to_table(args))?;
    }
    Ok(())
}

fn load(args: &BudgetArgs, driver: &Driver<'_>, bar: &Bar) -> Result<Dataset, Failure> {
    let rows = TrainingRows {
        files: &args.rows,
        reading: &args.reading,
        columns: &args.columns,
        encoding: &args.encoding,
        test_size: None,
        stratify: false,
        task: None,
        seed: args.seed,
        dtype: args.dtype.into(),
        quiet: args.run.report.quiet,
        bar,
    };
    Ok(driver.time("load", || rows.load())?.0)
}

/// The kernel, what each method gives for each number, and the number of rows that judge.
fn measure<T: Scalar>(
    args: &BudgetArgs,
    dataset: &Dataset,
    driver: &Driver<'_>,
    bar: &Bar,
) -> Result<(Kernel, Vec<Cell>, usize), Failure> {
    let features = Features::<T>::fit_undrawn(dataset, args.preprocess.into(), &args.map()?, args.seed, driver)?;
    let kernel = features.spec().kernel();
    let (methods, sizes) = (args.methods(), args.sizes());
    let n_rows = dataset.n_rows();
    let wanted = |method: &BudgetMethod| method.n_candidates(sizes[sizes.len() - 1], n_rows);
    let n_wanted = methods.iter().map(wanted).max().unwrap_or(0).saturating_add(JUDGES);
    let sampled = features.sample_rows(dataset, args.seed, n_wanted, driver)?;
    let (rows, judges) = hold_out(sampled.view(), JUDGES.min(sampled.view().n_rows() / 5));
    let mut cells = Vec::new();
    for &method in &methods {
        for &size in sizes.iter().filter(|&&size| size <= rows.view().n_rows()) {
            bar.label(format!("{} {size}", method.name()));
            let mut runs = Vec::new();
            for seed in args.seed..args.seed.saturating_add(args.seeds) {
                driver.check_interrupted()?;
                runs.push(driver.time("budget", || report(method, kernel, (rows.view(), judges.view()), size, seed))?);
            }
            cells.push(Cell { method, runs });
        }
    }
    if cells.is_empty() {
        let text = format!("--sizes begins at {}, there are {} rows to choose from", sizes[0], rows.view().n_rows());
        return Err(Failure::Usage(text));
    }
    Ok((kernel, cells, judges.view().n_rows()))
}

fn name(method: BudgetMethod) -> String {
    method.name().replace('_', "-")
}

impl Budgets {
    fn title(&self) -> String {
        format!("{}, {}", self.dataset.info().name, kernel(self.kernel))
    }

    fn to_table(&self, args: &BudgetArgs) -> String {
        let mut text = format!("{}\n", self.title());
        let seeds = if args.seeds > 1 { format!(", {} seeds", args.seeds) } else { String::new() };
        let _ = writeln!(text, "scored on {} rows that were not chosen from{seeds}\n", count(self.n_judges as u64));
        let _ = writeln!(text, "{:<16}{:>10}{:>20}{:>11}{:>11}", "budget", "landmarks", "score", "distinct", "seconds");
        for cell in &self.cells {
            let spread = if args.seeds > 1 { format!(" ± {:.4}", cell.deviation()) } else { String::new() };
            let score = format!("{:.4}{spread}", cell.score());
            let (landmarks, distinct) = (count(cell.n_landmarks() as u64), cell.mean(|run| run.distinct));
            let _ = writeln!(
                text,
                "{:<16}{landmarks:>10}{score:>20}{:>10.1}%{:>11}",
                name(cell.method),
                100.0 * distinct,
                number(cell.seconds())
            );
        }
        let _ = writeln!(text, "\n{} s with {} threads", number(self.total_seconds), self.threads);
        text
    }

    fn to_json(&self, args: &BudgetArgs) -> Value {
        let cell = |cell: &Cell| {
            json!({
                "method": name(cell.method),
                "n_landmarks": cell.n_landmarks(),
                "score": cell.score(),
                "score_deviation": (args.seeds > 1).then(|| cell.deviation()),
                "distinct": cell.mean(|run| run.distinct),
                "seconds": cell.seconds(),
                "runs": cell.runs,
            })
        };
        json!({
            "command": "budget",
            "dataset": described(&self.dataset),
            "kernel": self.kernel,
            "n_judges": self.n_judges,
            "budgets": self.cells.iter().map(cell).collect::<Vec<_>>(),
            "seconds": { "total": self.total_seconds },
            "threads": self.threads,
            "peak_memory_bytes": peak_bytes(),
            "plot": args.plot.as_deref().map(in_json),
        })
    }

    fn chart(&self) -> Chart {
        let mut methods: Vec<BudgetMethod> = self.cells.iter().map(|cell| cell.method).collect();
        methods.dedup();
        let lines = |x: &dyn Fn(&Cell) -> f64| {
            let of = |method: &BudgetMethod| {
                let own = self.cells.iter().filter(|cell| cell.method == *method);
                let point = |cell: &Cell| Point { x: x(cell), y: cell.score(), note: note(cell) };
                own.map(point).collect::<Vec<_>>()
            };
            methods.iter().map(of).collect::<Vec<_>>()
        };
        let mut sizes: Vec<f64> = self.cells.iter().map(|cell| cell.n_landmarks() as f64).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let score = || Axis { label: "share of the kernel explained".to_owned(), log: false, ticks: Vec::new() };
        Chart {
            title: format!("Budgets of {}", self.title()),
            subtitle: format!("scored on {} rows that were not chosen from", count(self.n_judges as u64)),
            names: methods.iter().map(|&method| name(method)).collect(),
            panels: [
                Panel {
                    title: "By the number of landmarks".to_owned(),
                    x: Axis { label: "landmarks".to_owned(), log: true, ticks: sizes },
                    y: score(),
                    lines: lines(&|cell| cell.n_landmarks() as f64),
                },
                Panel {
                    title: "By the time to choose and fit them".to_owned(),
                    x: Axis { label: "seconds".to_owned(), log: true, ticks: Vec::new() },
                    y: score(),
                    lines: lines(&Cell::seconds),
                },
            ],
        }
    }
}

fn note(cell: &Cell) -> String {
    let (n, score) = (count(cell.n_landmarks() as u64), cell.score());
    format!("{}, {n} landmarks: {score:.4} in {} s", name(cell.method), number(cell.seconds()))
}
