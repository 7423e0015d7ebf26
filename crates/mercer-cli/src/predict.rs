//! `mercer predict`: labels, values and scores of rows.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use mercer::Driver;
use mercer::dataset::{ClassLabel, Dataset};
use mercer::model::Model;
use mercer::pipeline::{Outputs, class_of};
use mercer_io::{OutputFile, PredictionWriter, write_error};
use ndarray::ArrayView1;
use serde_json::json;

use crate::args::PredictArgs;
use crate::data::{TrainedColumns, load, prediction_options, refuse_overwriting};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::text::count;

pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    let model = mercer_io::load_model(&args.model)?;
    let header = model.header();
    let table = Table::new(&header.outputs, &header.target_names, args)?;
    if let Some(path) = &args.output {
        refuse_overwriting(path, &[Some(&args.data), args.model.to_str()])?;
    }
    let bar = Bar::new(args.run.quiet);
    let driver = Driver::new(args.run.threads, &bar)?;
    let options = prediction_options(&args.reading, &TrainedColumns::of_model(&header));
    let dataset = driver.time("load", || load(&args.data, None, &options, &args.reading, &bar))?;
    mercer_io::check_inputs(header.spec.map.n_inputs(), &dataset)?;
    let Some(path) = &args.output else {
        if args.run.json {
            return print_json(&model, &driver, &dataset, args.scores);
        }
        let writer = PredictionWriter::csv(io::BufWriter::new(io::stdout()), &table.columns)?;
        write_rows(&model, &driver, &dataset, &table, writer)?.flush()?;
        return Ok(());
    };
    let file = OutputFile::create(path)?;
    let writer = table.writer(file, dataset.n_rows()).map_err(|source| write_error(path, source))?;
    let file = write_rows(&model, &driver, &dataset, &table, writer).map_err(|failure| match failure {
        Failure::Output(source) => Failure::File(write_error(path, source)),
        other => other,
    })?;
    file.finish()?;
    report(args, path, dataset.n_rows(), &driver)
}

fn report(args: &PredictArgs, path: &Path, n_rows: u64, driver: &Driver<'_>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if args.run.json {
        let seconds: serde_json::Map<_, _> =
            driver.seconds().into_iter().map(|(stage, time)| (stage.to_owned(), json!(time))).collect();
        let object = json!({ "command": "predict", "n_rows": n_rows, "output": path, "seconds": seconds });
        writeln!(out, "{object:#}")?;
    } else if !args.run.quiet {
        writeln!(out, "{} predictions written to {}", count(n_rows), path.display())?;
    }
    Ok(())
}

/// The predictions themselves, where no file is asked for.
fn print_json(model: &Model, driver: &Driver<'_>, dataset: &Dataset, with_scores: bool) -> Result<(), Failure> {
    let outputs = model.header().outputs;
    let (mut predictions, mut scores) = (Vec::new(), Vec::new());
    model.for_each_scores(driver, dataset, |panel| {
        for row in panel.outer_iter() {
            predictions.push(match &outputs {
                Outputs::Classification { classes } => json!(classes[class_of(row) as usize]),
                Outputs::Regression { n_targets: 1 } => json!(row[0]),
                Outputs::Regression { .. } => json!(row.to_vec()),
            });
            if with_scores {
                scores.push(row.to_vec());
            }
        }
        Ok(())
    })?;
    let mut object = json!({ "command": "predict", "n_rows": dataset.n_rows(), "predictions": predictions });
    if with_scores {
        object["scores"] = json!(scores);
    }
    writeln!(io::stdout().lock(), "{object}")?;
    Ok(())
}

/// What is written for each row.
struct Table<'a> {
    outputs: &'a Outputs,
    scores: bool,
    npy: bool,
    labels: Vec<String>,
    columns: Vec<String>,
}

impl<'a> Table<'a> {
    fn new(outputs: &'a Outputs, target_names: &[String], args: &PredictArgs) -> Result<Self, Failure> {
        let extension = args.output.as_ref().and_then(|path| path.extension()).map(OsStr::to_ascii_lowercase);
        let npy = extension.as_ref().is_some_and(|extension| extension == "npy");
        if let Some(path) = &args.output
            && !npy
            && extension.is_none_or(|extension| extension != "csv")
        {
            return Err(Failure::Usage(format!("{}: predictions are written as .csv or .npy", path.display())));
        }
        let text = matches!(outputs.classes().first(), Some(ClassLabel::Text(_)));
        if npy && text && !args.scores {
            let text = "NPY holds numbers, the classes are text: write .csv, or the scores with --scores";
            return Err(Failure::Usage(text.to_owned()));
        }
        let labels: Vec<String> = outputs.classes().iter().map(ToString::to_string).collect();
        let columns = columns(outputs, target_names, &labels, args.scores);
        Ok(Self { outputs, scores: args.scores, npy, labels, columns })
    }

    fn writer<W: Write>(&self, writer: W, n_rows: u64) -> io::Result<PredictionWriter<W>> {
        if !self.npy {
            return PredictionWriter::csv(writer, &self.columns);
        }
        let n_columns = match self.outputs {
            Outputs::Classification { .. } if !self.scores => 1,
            Outputs::Classification { classes } if classes.len() == 2 => 1,
            Outputs::Classification { classes } => classes.len(),
            Outputs::Regression { n_targets } => *n_targets,
        };
        PredictionWriter::npy(writer, n_rows, n_columns)
    }

    fn write_row<W: Write>(&self, writer: &mut PredictionWriter<W>, scores: ArrayView1<'_, f64>) -> io::Result<()> {
        let numbers = scores.as_slice().expect("rows of scores are contiguous");
        let Outputs::Classification { classes } = self.outputs else { return writer.write_row(None, numbers) };
        let class = class_of(scores) as usize;
        match (self.npy, self.scores, &classes[class]) {
            (true, true, _) => writer.write_row(None, numbers),
            (true, false, ClassLabel::Number(label)) => writer.write_row(None, &[*label]),
            (_, true, _) => writer.write_row(Some(&self.labels[class]), numbers),
            (_, false, _) => writer.write_row(Some(&self.labels[class]), &[]),
        }
    }
}

fn columns(outputs: &Outputs, target_names: &[String], labels: &[String], scores: bool) -> Vec<String> {
    match outputs {
        Outputs::Classification { .. } => {
            let scored = if labels.len() == 2 { &labels[1..] } else { labels };
            let scored = scored.iter().filter(|_| scores).map(|label| format!("score {label}"));
            std::iter::once("prediction".to_owned()).chain(scored).collect()
        }
        Outputs::Regression { n_targets: 1 } => vec!["prediction".to_owned()],
        Outputs::Regression { n_targets } => (0..*n_targets)
            .map(|i| target_names.get(i).map_or(format!("prediction {}", i + 1), |name| format!("prediction {name}")))
            .collect(),
    }
}

fn write_rows<W: Write + Send>(
    model: &Model,
    driver: &Driver<'_>,
    dataset: &Dataset,
    table: &Table<'_>,
    mut writer: PredictionWriter<W>,
) -> Result<W, Failure> {
    let mut failed = None;
    let result = model.for_each_scores(driver, dataset, |scores| {
        let written = scores.outer_iter().try_for_each(|row| table.write_row(&mut writer, row));
        written.map_err(|error| {
            failed = Some(error);
            mercer::Error::Interrupted
        })
    });
    if let Some(error) = failed {
        return Err(Failure::Output(error));
    }
    result?;
    Ok(writer.finish()?)
}
