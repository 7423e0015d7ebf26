//! `mercer train`: from a data file to a trained, saved, explained model.

use std::io::Write;
use std::time::Instant;

use mercer::Driver;
use mercer::dataset::Dataset;
use mercer::metrics::ApproximationReport;
use mercer::model::Model;
use mercer::pipeline::{Evaluation, FitReport, PipelineSpec};
use mercer::selection::SearchReport;
use serde_json::{Map, Value, json};

use crate::args::TrainArgs;
use crate::auto::{Asked, find};
use crate::failure::Failure;
use crate::memory::{half_of_available, peak_bytes};
use crate::output::in_json;
use crate::progress::{Bar, interrupted};
use crate::report::{check_outputs, save};
use crate::rows::{TrainingRows, described};

mod page;
mod summary;

/// What a training came to.
struct Trained {
    dataset: Dataset,
    model: Model,
    report: FitReport,
    approximation: Option<ApproximationReport>,
    /// of `--auto`, and the pipeline that it found
    search: Option<(SearchReport, PipelineSpec)>,
    test: Option<Evaluation>,
    seconds: Vec<(&'static str, f64)>,
    /// bytes that were resident in each stage
    memory: Vec<(String, u64)>,
    total_seconds: f64,
    model_bytes: u64,
    threads: usize,
}

pub(crate) fn run(args: &TrainArgs) -> Result<(), Failure> {
    let start = Instant::now();
    if args.search.limits.any() && !args.search.auto {
        return Err(Failure::Usage("--time, --trials and --objective are of a search: add --auto".to_owned()));
    }
    let mut spec = args.learner.pipeline(&args.map)?;
    spec.validate()?;
    let bar = Bar::new(args.run.report.quiet);
    let read = args.rows.files().chain(args.map.landmarks());
    check_outputs(args.report.as_deref(), None, args.output.as_deref(), read)?;
    let mut driver = Driver::new(args.run.threads, &bar)?.keeping_interrupted(args.keep_interrupted);
    if let Some(bytes) = args.memory.or_else(half_of_available) {
        driver = driver.with_memory(bytes);
    }
    let rows = TrainingRows {
        files: &args.rows,
        reading: &args.reading,
        columns: &args.columns,
        encoding: &args.encoding,
        test_size: args.test_size,
        stratify: !args.no_stratify,
        task: spec.task,
        seed: spec.seed,
        dtype: args.map.dtype.into(),
        quiet: args.run.report.quiet,
        bar: &bar,
    };
    let (dataset, test) = rows.with_targets(&driver)?;
    let landmarks = rows.landmarks(args.map.landmarks(), &dataset, &driver)?;
    let (model, report, search) = if args.search.auto {
        let asked = Asked {
            task: spec.task,
            probabilities: spec.probabilities,
            memory: args.memory,
            has_test: test.is_some(),
            seed: spec.seed,
            dtype: args.map.dtype.into(),
            start,
        };
        let found = find(&dataset, &args.search.limits, &asked, &driver)?;
        (found.model, found.fit, Some((found.search, found.spec)))
    } else {
        spec.map = args.map.sized(spec.map, dataset.n_rows())?;
        if let Some(landmarks) = &landmarks {
            spec.map = args.map.around(spec.map, landmarks.n_rows())?;
        }
        let (model, report) = Model::fit_around(&dataset, &spec, args.map.dtype.into(), &driver, landmarks.as_ref())?;
        (model, report, None)
    };
    let approximation = model.approximation(&driver, &dataset)?;
    let evaluation = test.as_ref().map(|test| model.evaluate(&driver, test)).transpose()?;
    driver.check_interrupted()?;
    let model_bytes = match &args.output {
        Some(path) => driver.time("save", || mercer_io::save_model(path, &model))?,
        None => mercer_io::model_to_bytes(&model)?.len() as u64,
    };
    let trained = Trained {
        seconds: driver.seconds(),
        memory: bar.memory(),
        total_seconds: start.elapsed().as_secs_f64(),
        threads: driver.threads(),
        dataset,
        model,
        report,
        approximation,
        search,
        test: evaluation,
        model_bytes,
    };
    if let Some(path) = &args.report {
        // What the report adds is none of the training's time.
        let values = page::Values::of(&trained, test.as_ref(), &driver)?;
        save(path, &page::page(&trained, values.as_ref(), args)?.to_html())?;
    }
    let mut out = std::io::stdout().lock();
    if args.run.report.json {
        writeln!(out, "{:#}", trained.to_json(args))?;
    } else {
        summary::write(&mut out, &trained, args)?;
    }
    Ok(())
}

impl Trained {
    fn to_json(&self, args: &TrainArgs) -> Value {
        let mut seconds: Map<String, Value> =
            self.seconds.iter().map(|(stage, time)| ((*stage).to_owned(), json!(time))).collect();
        seconds.insert("total".to_owned(), json!(self.total_seconds));
        let memory: Map<String, Value> =
            self.memory.iter().map(|(stage, bytes)| (stage.clone(), json!(bytes))).collect();
        let header = self.model.header();
        let mut object = json!({
            "command": "train",
            "dataset": described(&self.dataset),
            "spec": header.spec,
            "outputs": header.outputs,
            "lambda": self.report.lambda,
            "convergence": self.report.convergence,
            "interrupted": interrupted(),
            "calibration_rows": self.report.calibration_rows,
            "approximation": self.approximation,
            "landmarks": self.report.landmarks,
            "encoding": header.encoding,
            "n_constant_inputs": self.report.n_constant_inputs,
            "seconds": seconds,
            "threads": self.threads,
            "peak_memory_bytes": peak_bytes(),
            "memory_bytes": memory,
            "model_bytes": self.model_bytes,
            "output": args.output.as_deref().map(in_json),
            "report": args.report.as_deref().map(in_json),
        });
        if let Some((search, _)) = &self.search {
            object["search"] = json!(search);
        }
        if let Some(test) = &self.test {
            object["test"] = json!(test);
        }
        if let (Some(_), Some(choice)) = (args.learner.cv, &self.report.lambda) {
            object["cv"] = cross_validation(&choice.folds);
        }
        object
    }
}

/// The scores of the folds, their mean (weighted by rows) and standard deviation.
fn cross_validation(folds: &[mercer::selection::FoldScores]) -> Value {
    let mut object = json!({ "folds": folds });
    let rows: f64 = folds.iter().map(|fold| fold.n_rows as f64).sum();
    let mean = |of: &dyn Fn(usize) -> f64| (0..folds.len()).map(|i| of(i) * folds[i].n_rows as f64).sum::<f64>() / rows;
    let deviation = |of: &dyn Fn(usize) -> f64| {
        let centre = mean(of);
        ((0..folds.len()).map(|i| (of(i) - centre).powi(2)).sum::<f64>() / folds.len() as f64).sqrt()
    };
    if folds.iter().all(|fold| fold.accuracy.is_some()) {
        let accuracy = |i: usize| folds[i].accuracy.unwrap_or(0.0);
        object["accuracy"] = json!(mean(&accuracy));
        object["accuracy_deviation"] = json!(deviation(&accuracy));
    } else {
        object["rmse"] = json!(mean(&|i| folds[i].rmse.powi(2)).sqrt());
        object["rmse_deviation"] = json!(deviation(&|i| folds[i].rmse));
    }
    object
}
