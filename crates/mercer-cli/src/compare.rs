//! `mercer compare`: what each map of a kernel costs and gives, by the number of its features.

use std::io::Write;
use std::time::Instant;

use mercer::dataset::Dataset;
use mercer::feature_maps::{MapSpec, ResolvedMap};
use mercer::learners::{Lambda, LearnerSpec};
use mercer::metrics::ApproximationReport;
use mercer::pipeline::{Evaluation, Features, Pipeline, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Dtype, Scalar};

use crate::args::{Candidate, CompareArgs};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::report::{check_outputs, save};
use crate::rows::TrainingRows;

mod charts;
mod page;
mod summary;

/// Rows held out where there are no other test rows.
const TEST_SIZE: f64 = 0.2;

/// All that was measured.
struct Comparison {
    dataset: Dataset,
    /// To score on; none where nothing is learned.
    test: Option<Dataset>,
    /// Why some maps are not among them.
    note: Option<String>,
    preprocess: PreprocessSpec,
    seeds: Vec<u64>,
    cells: Vec<Cell>,
    seconds: Vec<(&'static str, f64)>,
    total_seconds: f64,
    threads: usize,
}

/// A map with a number of features.
struct Cell {
    name: &'static str,
    spec: MapSpec,
    map_bytes: u64,
    /// One for each seed.
    runs: Vec<Run>,
}

/// A map drawn by one seed.
struct Run {
    map: ResolvedMap,
    preprocess: PreprocessSpec,
    approximation: Option<ApproximationReport>,
    seconds_per_row: f64,
    score: Option<Score>,
}

/// How well the learner does on the test rows.
#[derive(Clone, Copy)]
enum Score {
    Accuracy(f64),
    Rmse(f64),
}

impl From<Evaluation> for Score {
    fn from(evaluation: Evaluation) -> Self {
        match evaluation {
            Evaluation::Classification(report) => Self::Accuracy(report.accuracy),
            Evaluation::Regression(report) => Self::Rmse(report.rmse),
        }
    }
}

pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let start = Instant::now();
    let (maps, seeds) = (args.maps()?, args.seeds()?);
    let specs = args.specs(&maps)?;
    let bar = Bar::new(args.run.report.quiet);
    check_outputs(args.report.as_deref(), args.plot.as_deref(), None, args.rows.files())?;
    let driver = Driver::new(args.run.threads, &bar)?;
    let (dataset, test) = load(args, seeds[0], &driver, &bar)?;
    let (specs, left_out) = args.fitting(specs, dataset.n_inputs());
    let measured = match args.dtype.into() {
        Dtype::Float32 => measure_all::<f32>(args, specs, &seeds, (&dataset, test.as_ref()), &driver, &bar)?,
        Dtype::Float64 => measure_all::<f64>(args, specs, &seeds, (&dataset, test.as_ref()), &driver, &bar)?,
    };
    driver.check_interrupted()?;
    let first = &measured[0].runs[0];
    let comparison = Comparison {
        note: joined(args.note(&maps), left_out),
        preprocess: first.preprocess,
        dataset,
        test,
        seeds,
        cells: measured,
        seconds: driver.seconds(),
        total_seconds: start.elapsed().as_secs_f64(),
        threads: driver.threads(),
    };
    if let Some(path) = &args.plot {
        save(path, &comparison.plot().to_svg())?;
    }
    if let Some(path) = &args.report {
        save(path, &page::page(&comparison, args).to_html())?;
    }
    let mut out = std::io::stdout().lock();
    if args.run.report.json {
        writeln!(out, "{:#}", comparison.to_json(args))?;
    } else {
        write!(out, "{}", comparison.to_table(args))?;
    }
    Ok(())
}

/// Two notes in one.
fn joined(first: Option<String>, then: Option<String>) -> Option<String> {
    let notes: Vec<String> = first.into_iter().chain(then).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// The rows, and those to score on; of a bundled sample the training rows alone where nothing is learned.
fn load(args: &CompareArgs, seed: u64, driver: &Driver<'_>, bar: &Bar) -> Result<(Dataset, Option<Dataset>), Failure> {
    let split = !args.no_learner && args.rows.test.is_empty();
    let rows = TrainingRows {
        files: &args.rows,
        reading: &args.reading,
        columns: &args.columns,
        encoding: &args.encoding,
        test_size: split.then_some(args.test_size.unwrap_or(TEST_SIZE)),
        stratify: !args.no_stratify,
        task: args.task.map(Into::into),
        seed,
        dtype: args.dtype.into(),
        quiet: args.run.report.quiet,
        bar,
    };
    if args.no_learner { Ok((driver.time("load", || rows.load())?.0, None)) } else { rows.with_targets(driver) }
}

fn measure_all<T: Scalar>(
    args: &CompareArgs,
    specs: Vec<(Candidate, MapSpec)>,
    seeds: &[u64],
    (dataset, test): (&Dataset, Option<&Dataset>),
    driver: &Driver<'_>,
    bar: &Bar,
) -> Result<Vec<Cell>, Failure> {
    let bytes = |spec: &MapSpec| spec.n_entries(dataset.n_inputs()).saturating_mul(size_of::<T>() as u64);
    let cell = |(map, spec): (Candidate, MapSpec)| {
        let (name, map_bytes) = (map.name(), bytes(&spec));
        Cell { name, map_bytes, spec, runs: Vec::new() }
    };
    let mut cells: Vec<Cell> = specs.into_iter().map(cell).collect();
    for &seed in seeds {
        // The width depends on the rows and the seed alone: found once, it serves all maps.
        let mut gamma = None;
        for cell in &mut cells {
            bar.label(format!("{} {}", cell.name, cell.spec.n_components(dataset.n_inputs())));
            let spec = PipelineSpec {
                preprocess: args.preprocess.into(),
                map: gamma.map_or_else(|| cell.spec.clone(), |gamma| cell.spec.with_gamma(gamma)),
                learner: LearnerSpec::ridge(Lambda::Auto),
                task: args.task.map(Into::into),
                cv: None,
                probabilities: false,
                seed,
            };
            let run = measure::<T>(&spec, dataset, test, driver)?;
            gamma = run.map.spec.gamma();
            cell.runs.push(run);
        }
    }
    Ok(cells)
}

fn measure<T: Scalar>(
    spec: &PipelineSpec,
    dataset: &Dataset,
    test: Option<&Dataset>,
    driver: &Driver<'_>,
) -> Result<Run, Failure> {
    let measured = |features: &Features<T>, score| {
        Ok(Run {
            map: features.spec().clone(),
            preprocess: features.preprocess().kind(),
            approximation: features.approximation(dataset, spec.seed, driver)?,
            seconds_per_row: features.seconds_per_row(dataset, spec.seed, driver)?,
            score,
        })
    };
    if let Some(test) = test {
        let (pipeline, _) = Pipeline::<T>::fit(dataset, spec, driver)?;
        let score = pipeline.evaluate(driver, test)?;
        return measured(pipeline.features(), Some(score.into()));
    }
    measured(&Features::<T>::fit(dataset, spec.preprocess, &spec.map, spec.seed, driver)?, None)
}
