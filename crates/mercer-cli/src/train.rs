//! `mercer train`: from a data file to a trained, saved, explained model.

use std::io::Write;
use std::time::Instant;

use mercer::Driver;
use mercer::dataset::{Dataset, Split};
use mercer::model::Model;
use mercer::pipeline::{Evaluation, FitReport};
use serde_json::{Map, Value, json};

use crate::args::{Sample, TrainArgs};
use crate::data::{TrainedColumns, cache_bytes, encode, load, model_options, refuse_overwriting, training_options};
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
    let spec = args.learner.pipeline(&args.map)?;
    spec.validate()?;
    let bar = Bar::new(args.run.report.quiet);
    if let Some(path) = &args.output {
        refuse_overwriting(&[path], [&args.data, &args.labels, &args.test, &args.test_labels].into_iter().flatten())?;
        // A folder that cannot be written is said before the work, not after it.
        drop(mercer_io::OutputFile::create(path)?);
    }
    let driver = Driver::new(args.run.threads, &bar)?;
    let (dataset, held_out) = driver.time("load", || training_data(args, &bar))?;
    if dataset.targets().is_none() {
        let text = format!("{} has no targets to learn; give them with --labels FILE", dataset.info().name);
        return Err(Failure::Usage(text));
    }
    // Test rows that cannot be used are said before the work, too.
    let test = match (held_out, args.test.as_slice()) {
        (Some(test), _) => Some(test),
        (None, []) => None,
        (None, _) => Some(driver.time("load", || test_data(args, &dataset, &bar))?),
    };
    if let (Some(test), Some(targets)) = (&test, dataset.targets()) {
        test.check_targets(&targets.encoder(spec.task).map_err(|error| error.of_targets_in(&dataset.info().name))?)?;
    }
    let (model, report) = Model::fit(&dataset, &spec, args.map.dtype.into(), &driver)?;
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
    if args.run.report.json {
        writeln!(out, "{:#}", trained.to_json(args))?;
    } else {
        summary::write(&mut out, &trained, args)?;
    }
    Ok(())
}

/// The training rows, and the test rows of a bundled sample or those held out.
fn training_data(args: &TrainArgs, bar: &Bar) -> Result<(Dataset, Option<Dataset>), Failure> {
    if let Some(Sample::Digits) = args.sample {
        let (train, test) = mercer_io::digits(args.map.seed)?;
        return Ok((train, Some(test)));
    }
    let (dtype, labels) = (args.map.dtype.into(), !args.labels.is_empty());
    let options = training_options(&args.reading, &args.columns, &args.encoding, labels, dtype);
    let table = load(&args.data, &args.labels, &options, &args.reading, bar)?;
    let Some(test_size) = args.test_size else { return Ok((encode(table, &args.encoding, bar)?, None)) };
    let (stratify, task) = (!args.no_stratify, args.learner.task.map(Into::into));
    let split = Split { test_size, stratify, task, seed: args.map.seed };
    let (train, test) = split.apply(table, cache_bytes(&args.reading), bar)?;
    let train = encode(train, &args.encoding, bar)?;
    let test = TrainedColumns::of_dataset(&train, dtype).encode(test, args.run.report.quiet)?;
    Ok((train, Some(test)))
}

fn test_data(args: &TrainArgs, train: &Dataset, bar: &Bar) -> Result<Dataset, Failure> {
    let columns = TrainedColumns::of_dataset(train, args.map.dtype.into());
    let options = model_options(&args.reading, &columns, &args.columns.target);
    let test =
        columns.encode(load(&args.test, &args.test_labels, &options, &args.reading, bar)?, args.run.report.quiet)?;
    if test.targets().is_none() {
        let name = &test.info().name;
        return Err(Failure::Usage(format!("{name} has no targets; give them with --test-labels FILE")));
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
            "encoding": header.encoding,
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
        if let (Some(_), Some(choice)) = (args.learner.cv, &self.report.lambda) {
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
            "n_columns": self.dataset.table().n_inputs(),
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
