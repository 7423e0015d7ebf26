//! `mercer budget`: how well landmarks stand for all rows, by the method that chooses them and by their number.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Instant;

use mercer::budget::{BudgetMethod, BudgetReport, BudgetSpec, hold_out, report};
use mercer::dataset::Dataset;
use mercer::kernels::Kernel;
use mercer::pipeline::Features;
use mercer::{Driver, Dtype, Scalar};
use serde_json::{Value, json};

use crate::args::BudgetArgs;
use crate::failure::Failure;
use crate::memory::peak_bytes;
use crate::output::in_json;
use crate::plot::Plot;
use crate::progress::Bar;
use crate::report::{Axis, Panel, Point, Series, Style, check_outputs, save, written};
use crate::rows::{TrainingRows, described};
use crate::text::{count, kernel, number};

mod page;

/// Rows that judge.
const JUDGES: usize = 2000;

/// All that was measured.
struct Budgets {
    dataset: Dataset,
    kernel: Kernel,
    cells: Vec<Cell>,
    n_judges: usize,
    /// rows to choose from
    n_candidates: usize,
    /// sizes that were asked for, and are more than these
    left_out: Vec<usize>,
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

    /// A standard deviation to either side; none for one seed.
    fn spread(&self, score: f64) -> Option<(f64, f64)> {
        (self.runs.len() > 1).then(|| (score - self.deviation(), score + self.deviation()))
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
    check_outputs(args.report.as_deref(), args.plot.as_deref(), None, args.rows.files())?;
    let driver = Driver::new(args.run.threads, &bar)?;
    let dataset = load(args, &driver, &bar)?;
    let (kernel, cells, [n_judges, n_candidates]) = match args.dtype.into() {
        Dtype::Float32 => measure::<f32>(args, &dataset, &driver, &bar)?,
        Dtype::Float64 => measure::<f64>(args, &dataset, &driver, &bar)?,
    };
    driver.check_interrupted()?;
    let (total_seconds, threads) = (start.elapsed().as_secs_f64(), driver.threads());
    let left_out = args.sizes().into_iter().filter(|&size| size > n_candidates).collect();
    let budgets = Budgets { dataset, kernel, cells, n_judges, n_candidates, left_out, total_seconds, threads };
    if let Some(path) = &args.plot {
        save(path, &budgets.plot().to_svg())?;
    }
    if let Some(path) = &args.report {
        save(path, &page::page(&budgets).to_html())?;
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
) -> Result<(Kernel, Vec<Cell>, [usize; 2]), Failure> {
    let features = Features::<T>::fit_undrawn(dataset, args.preprocess.into(), &args.map()?, args.seed, driver)?;
    let kernel = features.spec().kernel();
    let (methods, sizes) = (args.methods(), args.sizes());
    let n_rows = dataset.n_rows();
    let spec = |&method: &BudgetMethod| BudgetSpec { method, balanced: args.balanced };
    let wanted = |method: &BudgetMethod| spec(method).n_candidates(sizes[sizes.len() - 1], n_rows);
    let n_wanted = methods.iter().map(wanted).max().unwrap_or(0).saturating_add(JUDGES);
    let (sampled, classes) = if args.balanced {
        let (sampled, classes) = features.sample_classes(dataset, args.seed, n_wanted, driver)?;
        (sampled, Some(classes))
    } else {
        (features.sample_rows(dataset, args.seed, n_wanted, driver)?, None)
    };
    let n_judges = JUDGES.min(sampled.view().n_rows() / 5);
    let (rows, classes, judges) = hold_out(sampled.view(), classes.as_deref(), n_judges);
    let given = (rows.view(), classes.as_deref(), judges.view());
    let mut cells = Vec::new();
    for &method in &methods {
        for &size in sizes.iter().filter(|&&size| size <= rows.view().n_rows()) {
            bar.label(format!("{} {size}", method.name()));
            let mut runs = Vec::new();
            for seed in args.seed..args.seed.saturating_add(args.seeds) {
                driver.check_interrupted()?;
                runs.push(driver.time("budget", || report(method, kernel, given, size, seed))?);
            }
            cells.push(Cell { method, runs });
        }
    }
    if cells.is_empty() {
        let text = format!("--sizes begins at {}, there are {} rows to choose from", sizes[0], rows.view().n_rows());
        return Err(Failure::Usage(text));
    }
    Ok((kernel, cells, [judges.view().n_rows(), rows.view().n_rows()]))
}

fn name(method: BudgetMethod) -> String {
    method.name().replace('_', "-")
}

impl Budgets {
    fn title(&self) -> String {
        format!("{}, {}", self.dataset.info().name, kernel(self.kernel))
    }

    fn to_table(&self, args: &BudgetArgs) -> String {
        let balanced = if args.balanced { "; as many landmarks from each class" } else { "" };
        let mut text = format!("{}\n{}{balanced}\n\n", self.title(), self.judged());
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
        text + &written("plot", args.plot.as_ref()) + &written("report", args.report.as_ref())
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
            "balanced": args.balanced,
            "n_judges": self.n_judges,
            "budgets": self.cells.iter().map(cell).collect::<Vec<_>>(),
            "seconds": { "total": self.total_seconds },
            "threads": self.threads,
            "peak_memory_bytes": peak_bytes(),
            "plot": args.plot.as_deref().map(in_json),
            "report": args.report.as_deref().map(in_json),
        })
    }

    /// The scores by what is on the x axis.
    fn panel(&self, x: Axis, of: impl Fn(&Cell) -> f64) -> Panel {
        let y = Axis::linear("share of the kernel explained");
        Panel { series: self.series(of, Cell::score, |cell| cell.spread(cell.score())), x, y, ..Panel::default() }
    }

    /// One line for each method.
    fn series(
        &self,
        x: impl Fn(&Cell) -> f64,
        y: impl Fn(&Cell) -> f64,
        error: impl Fn(&Cell) -> Option<(f64, f64)>,
    ) -> Vec<Series> {
        let point = |cell: &Cell| Point { x: x(cell), y: y(cell), error: error(cell), note: note(cell) };
        let groups = self.cells.chunk_by(|a, b| a.method == b.method);
        let line = |cells: &[Cell]| Series {
            name: name(cells[0].method),
            style: Style::Line,
            points: cells.iter().map(point).collect(),
        };
        groups.map(line).collect()
    }

    fn by_landmarks(&self) -> Panel {
        self.panel(self.landmarks(), |cell| cell.n_landmarks() as f64)
    }

    fn by_time(&self) -> Panel {
        self.panel(Axis::log("seconds to choose and fit them"), Cell::seconds)
    }

    /// The axis of their numbers.
    fn landmarks(&self) -> Axis {
        Axis::log("landmarks").marked_at(self.cells.iter().map(|cell| cell.n_landmarks() as f64))
    }

    fn judged(&self) -> String {
        let seeds = self.cells[0].runs.len();
        let seeds = if seeds > 1 { format!(", {seeds} seeds") } else { String::new() };
        let left_out: Vec<String> = self.left_out.iter().map(|&size| count(size as u64)).collect();
        let left_out = match left_out.as_slice() {
            [] => String::new(),
            sizes => {
                let rows = count(self.n_candidates as u64);
                format!("; {} left out: there are {rows} rows to choose from", sizes.join(", "))
            }
        };
        format!("scored on {} rows that were not chosen from{seeds}{left_out}", count(self.n_judges as u64))
    }

    fn plot(&self) -> Plot {
        let panels = [
            ("Score by the number of landmarks", self.by_landmarks()),
            ("Score by the time to choose and fit them", self.by_time()),
            ("Landmarks that the others do not give already", page::distinct(self)),
            ("Time to choose and fit them", page::time(self)),
        ];
        Plot {
            title: format!("Budgets of {}", self.title()),
            subtitle: self.judged(),
            panels: panels.into_iter().map(|(title, panel)| (title.to_owned(), panel)).collect(),
        }
    }
}

fn note(cell: &Cell) -> String {
    let (n, score) = (count(cell.n_landmarks() as u64), cell.score());
    format!("{}, {n} landmarks: {score:.4} in {} s", name(cell.method), number(cell.seconds()))
}
