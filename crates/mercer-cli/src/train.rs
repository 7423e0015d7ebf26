//! `mercer train`: from a data file to a trained, saved, explained model.

use std::io::Write;
use std::time::Instant;

use mercer::Driver;
use mercer::dataset::Dataset;
use mercer::feature_maps::MapSpec;
use mercer::learners::LearnerSpec;
use mercer::model::Model;
use mercer::pipeline::{Evaluation, FitReport, PipelineSpec};
use serde_json::{Map, Value, json};

use crate::args::{Learner, Map as MapName, ModelArgs, Sample, TrainArgs};
use crate::data::{TrainedColumns, load, model_options, refuse_overwriting, training_options};
use crate::failure::Failure;
use crate::memory::peak_bytes;
use crate::progress::Bar;

mod summary;

/// What a training came to.
struct Trained {
    dataset: Dataset,
    model: Model,
    report: FitReport,
    test: Option<Evaluation>,
    seconds: Vec<(&'static str, f64)>,
    total_seconds: f64,
    model_bytes: u64,
    threads: usize,
}

pub(crate) fn run(args: &TrainArgs) -> Result<(), Failure> {
    let start = Instant::now();
    let spec = pipeline_spec(&args.model);
    spec.validate()?;
    let bar = Bar::new(args.run.quiet);
    if let Some(path) = &args.output {
        let inputs = [&args.data, &args.labels, &args.test, &args.test_labels];
        refuse_overwriting(path, &inputs.map(Option::as_deref))?;
        // A folder that cannot be written is said before the work, not after it.
        drop(mercer_io::OutputFile::create(path)?);
    }
    let driver = Driver::new(args.run.threads, &bar)?;
    let (dataset, sample_test) = driver.time("load", || training_data(args, &bar))?;
    if dataset.targets().is_none() {
        let text = format!("{} has no targets to learn; give them with --labels FILE", dataset.info().name);
        return Err(Failure::Usage(text));
    }
    // Test rows that cannot be used are said before the work, too.
    let test = match (sample_test, &args.test) {
        (Some(test), _) => Some(test),
        (None, Some(path)) => Some(driver.time("load", || test_data(args, &dataset, path, &bar))?),
        (None, None) => None,
    };
    if let (Some(test), Some(targets)) = (&test, dataset.targets()) {
        test.check_targets(&targets.encoder(spec.task).map_err(|error| error.of_targets_in(&dataset.info().name))?)?;
    }
    let (model, report) = Model::fit(&dataset, &spec, args.model.dtype.into(), &driver)?;
    let test = test.map(|test| model.evaluate(&driver, &test)).transpose()?;
    driver.check_interrupted()?;
    let model_bytes = match &args.output {
        Some(path) => driver.time("save", || mercer_io::save_model(path, &model))?,
        None => mercer_io::model_to_bytes(&model)?.len() as u64,
    };
    let trained = Trained {
        seconds: driver.seconds(),
        total_seconds: start.elapsed().as_secs_f64(),
        threads: driver.threads(),
        dataset,
        model,
        report,
        test,
        model_bytes,
    };
    let mut out = std::io::stdout().lock();
    if args.run.json {
        writeln!(out, "{:#}", trained.to_json(args))?;
    } else {
        summary::write(&mut out, &trained, args)?;
    }
    Ok(())
}

fn pipeline_spec(args: &ModelArgs) -> PipelineSpec {
    let map = match args.map {
        MapName::Fourier => MapSpec::Fourier { n_components: args.n_components, gamma: args.gamma },
    };
    let learner = match args.learner {
        Learner::Ridge => LearnerSpec::Ridge { lambda: args.lambda },
    };
    PipelineSpec {
        preprocess: args.preprocess.into(),
        map,
        learner,
        task: args.task.map(Into::into),
        cv: args.cv,
        seed: args.seed,
    }
}

/// The training rows; of a bundled sample also its test rows.
fn training_data(args: &TrainArgs, bar: &Bar) -> Result<(Dataset, Option<Dataset>), Failure> {
    let Some(path) = &args.data else {
        let Some(Sample::Digits) = args.sample else { return Err(Failure::Usage("no data".to_owned())) };
        let (train, test) = mercer_io::digits(args.model.seed)?;
        return Ok((train, Some(test)));
    };
    let labels = args.labels.as_deref();
    let options = training_options(&args.reading, &args.columns, labels.is_some(), args.model.dtype.into());
    Ok((load(path, labels, &options, &args.reading, bar)?, None))
}

fn test_data(args: &TrainArgs, train: &Dataset, path: &str, bar: &Bar) -> Result<Dataset, Failure> {
    let columns = TrainedColumns::of_dataset(train, args.model.dtype.into());
    let options = model_options(&args.reading, &columns, &args.columns.target);
    let test = load(path, args.test_labels.as_deref(), &options, &args.reading, bar)?;
    mercer_io::check_inputs(columns.n_inputs, &test)?;
    if test.targets().is_none() {
        return Err(Failure::Usage(format!("{path} has no targets; give them with --test-labels FILE")));
    }
    Ok(test)
}

impl Trained {
    fn to_json(&self, args: &TrainArgs) -> Value {
        let mut seconds: Map<String, Value> =
            self.seconds.iter().map(|(stage, time)| ((*stage).to_owned(), json!(time))).collect();
        seconds.insert("total".to_owned(), json!(self.total_seconds));
        let header = self.model.header();
        let mut object = json!({
            "command": "train",
            "dataset": self.dataset_json(),
            "spec": header.spec,
            "outputs": header.outputs,
            "lambda": self.report.lambda,
            "approximation": self.report.approximation,
            "n_constant_inputs": self.report.n_constant_inputs,
            "seconds": seconds,
            "threads": self.threads,
            "peak_memory_bytes": peak_bytes(),
            "model_bytes": self.model_bytes,
            "output": args.output,
        });
        if let Some(test) = &self.test {
            object["test"] = json!(test);
        }
        if let (Some(_), Some(choice)) = (args.model.cv, &self.report.lambda) {
            object["cv"] = cross_validation(&choice.folds);
        }
        object
    }

    fn dataset_json(&self) -> Value {
        let info = self.dataset.info();
        json!({
            "name": info.name,
            "format": info.format,
            "n_rows": self.dataset.n_rows(),
            "n_inputs": self.dataset.n_inputs(),
            "n_stored": self.dataset.n_stored(),
            "in_memory": self.dataset.is_in_memory(),
            "target_names": info.target_names,
        })
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
