//! `mercer transform`: the features of rows, or their projections, as a file.

use std::io::Write;
use std::path::Path;

use mercer::dataset::{Block, BlockRows, Dataset, PanelTargets, TargetBlock, TargetUse};
use mercer::model::AnyPipeline;
use mercer::pipeline::Features;
use mercer::{Driver, Dtype, Scalar};
use mercer_io::Schema;
use ndarray::Array2;
use serde_json::json;

use crate::args::TransformArgs;
use crate::data::{TrainedColumns, encode, load, load_landmarks, model_options, refuse_overwriting, training_options};
use crate::failure::Failure;
use crate::output::{TableFile, all_in_json, listed, written_paths};
use crate::progress::Bar;
use crate::text::count;

pub(crate) fn run(args: &TransformArgs) -> Result<(), Failure> {
    let bar = Bar::new(args.run.report.quiet);
    if let Some(path) = &args.output {
        refuse_overwriting_inputs(args, &[path])?;
        mercer_io::holds_one_array(path)?;
    } else if args.run.report.json {
        return Err(Failure::Usage("--json needs -o: without it the features go to standard output".to_owned()));
    }
    let driver = Driver::new(args.run.threads, &bar)?;
    match &args.model {
        Some(path) => {
            let model = mercer_io::load_model(path)?;
            let columns = TrainedColumns::of_model(&model.header());
            let dataset = driver.time("load", || rows_like(args, &columns, &bar))?;
            match model.pipeline() {
                AnyPipeline::Float32(p) => write(args, &driver, p.features(), &dataset, BlockRows::Dense32),
                AnyPipeline::Float64(p) => write(args, &driver, p.features(), &dataset, BlockRows::Dense64),
            }
        }
        None => match args.map.dtype.into() {
            Dtype::Float32 => fit_and_write::<f32>(args, &driver, &bar, BlockRows::Dense32),
            Dtype::Float64 => fit_and_write::<f64>(args, &driver, &bar, BlockRows::Dense64),
        },
    }
}

fn refuse_overwriting_inputs(args: &TransformArgs, outputs: &[impl AsRef<Path>]) -> Result<(), Failure> {
    let model = args.model.as_ref().map(|path| path.to_string_lossy().into_owned());
    let rows = args.data.iter().chain(&args.fit).chain(&args.labels);
    refuse_overwriting(outputs, rows.chain(args.map.landmarks()).chain(&model))
}

fn fit_and_write<T: Scalar>(
    args: &TransformArgs,
    driver: &Driver<'_>,
    bar: &Bar,
    rows: fn(Array2<T>) -> BlockRows,
) -> Result<(), Failure> {
    let (spec, dtype) = (args.map.spec()?, args.map.dtype.into());
    spec.validate()?;
    let (fitted_to, labels) = match args.fit.as_slice() {
        [] => (&args.data, args.labels.as_slice()),
        _ => (&args.fit, &[][..]),
    };
    let options = training_options(&args.reading, &args.columns, &args.encoding, !args.labels.is_empty(), dtype);
    let training = driver.time("load", || {
        let table = load(fitted_to, labels, &options, &args.reading, bar)?;
        encode(table, &args.encoding, bar)
    })?;
    let spec = args.map.sized(spec, training.n_rows())?;
    let landmarks = args.map.landmarks().map(|file| {
        let told = (bar, args.run.report.quiet);
        driver.time("load", || load_landmarks(file, &training, dtype, &args.reading, told))
    });
    let landmarks = landmarks.transpose()?;
    let spec = match &landmarks {
        Some(landmarks) => args.map.around(spec, landmarks.n_rows())?,
        None => spec,
    };
    let (preprocess, seed) = (args.map.preprocess.into(), args.map.seed);
    let features = Features::<T>::fit_around(&training, preprocess, &spec, seed, driver, landmarks.as_ref())?;
    if args.fit.is_empty() {
        return write(args, driver, &features, &training, rows);
    }
    let columns = TrainedColumns::of_dataset(&training, dtype);
    drop(training);
    let dataset = driver.time("load", || rows_like(args, &columns, bar))?;
    write(args, driver, &features, &dataset, rows)
}

/// The rows to transform, read as those that were fitted to.
fn rows_like(args: &TransformArgs, columns: &TrainedColumns, bar: &Bar) -> Result<Dataset, Failure> {
    let options = model_options(&args.reading, columns, &args.columns.target);
    columns.encode(load(&args.data, &args.labels, &options, &args.reading, bar)?, args.run.report.quiet)
}

fn write<T: Scalar>(
    args: &TransformArgs,
    driver: &Driver<'_>,
    features: &Features<T>,
    dataset: &Dataset,
    rows: fn(Array2<T>) -> BlockRows,
) -> Result<(), Failure> {
    let n_components = features.spec().n_components();
    let schema = Schema::of_features(dataset, n_components, T::DTYPE);
    if let Some(path) = &args.output {
        refuse_overwriting_inputs(args, &written_paths(path, &schema)?)?;
    }
    let mut file = TableFile::create(args.output.as_deref(), &schema)?;
    let mut first_row = 0;
    features.for_each("write", driver, dataset, TargetUse::AsStored, |values, targets| {
        let values = values.to_dense();
        if let Some(at) = values.outer_iter().position(|row| !row.iter().all(|x| x.is_finite())) {
            return Err(mercer::Error::TooLarge { row: first_row + at as u64, dtype: T::DTYPE });
        }
        first_row += values.nrows() as u64;
        let targets = if let PanelTargets::AsStored(parts) = targets { TargetBlock::join(parts.clone()) } else { None };
        Ok(file.write(&Block::new(rows(values.into_owned()), targets))?)
    })?;
    let paths = file.finish()?;
    let mut out = std::io::stdout().lock();
    if args.run.report.json {
        let seconds: serde_json::Map<_, _> =
            driver.seconds().into_iter().map(|(stage, time)| (stage.to_owned(), json!(time))).collect();
        let report = json!({
            "command": "transform",
            "n_rows": dataset.n_rows(),
            "n_inputs": dataset.n_inputs(),
            "n_components": n_components,
            "map": features.spec(),
            "preprocess": features.preprocess().kind(),
            "outputs": all_in_json(&paths),
            "seconds": seconds,
        });
        writeln!(out, "{report:#}")?;
    } else if !args.run.report.quiet && args.output.is_some() {
        let (n_rows, map) = (count(dataset.n_rows()), features.spec().name());
        writeln!(out, "{n_rows} rows of {} {map} features written to {}", count(n_components as u64), listed(&paths))?;
    }
    Ok(())
}
