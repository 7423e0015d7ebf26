//! `mercer predict`: labels, values, scores and probabilities of rows.

use std::io::{self, Write};
use std::path::Path;

use mercer::dataset::{Block, BlockRows, ClassLabel, Dataset, Layout, TargetBlock};
use mercer::learners::Link;
use mercer::model::{Header, Model};
use mercer::pipeline::{Outputs, class_of};
use mercer::{Driver, Dtype};
use mercer_io::{BlockWriter, Schema};
use ndarray::{Array2, ArrayView2};
use serde_json::json;

use crate::args::PredictArgs;
use crate::data::{TrainedColumns, load, prediction_options, refuse_overwriting};
use crate::failure::{Failure, STANDARD_OUTPUT};
use crate::output::in_json;
use crate::progress::Bar;
use crate::text::count;

pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    let model = mercer_io::load_model(&args.model)?;
    let header = model.header();
    let link = if args.probabilities { Some(model.link()?) } else { None };
    let mut predictions = Predictions::new(&header, link, args)?;
    if let Some(path) = &args.output {
        let model = args.model.to_string_lossy().into_owned();
        refuse_overwriting(&[path], args.data.iter().chain([&model]))?;
    }
    let bar = Bar::new(args.run.report.quiet);
    let driver = Driver::new(args.run.threads, &bar)?;
    let columns = TrainedColumns::of_model(&header);
    let options = prediction_options(&args.reading, &columns);
    let table = driver.time("load", || load(&args.data, &[], &options, &args.reading, &bar))?;
    let dataset = columns.encode(table, args.run.report.quiet)?;
    let Some(path) = &args.output else {
        if args.run.report.json {
            return print_json(&model, &driver, &dataset, &predictions);
        }
        let stdout = Box::new(io::stdout());
        let writer = mercer_io::csv_stream(STANDARD_OUTPUT, stdout, &predictions.schema)?;
        return write_rows(&model, &driver, &dataset, &predictions, writer);
    };
    predictions.schema.n_rows = dataset.n_rows();
    write_rows(&model, &driver, &dataset, &predictions, mercer_io::create(path, &predictions.schema)?)?;
    report(args, path, dataset.n_rows(), &driver)
}

fn report(args: &PredictArgs, path: &Path, n_rows: u64, driver: &Driver<'_>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if args.run.report.json {
        let seconds: serde_json::Map<_, _> =
            driver.seconds().into_iter().map(|(stage, time)| (stage.to_owned(), json!(time))).collect();
        let object = json!({ "command": "predict", "n_rows": n_rows, "output": in_json(path), "seconds": seconds });
        writeln!(out, "{object:#}")?;
    } else if !args.run.report.quiet {
        writeln!(out, "{} predictions written to {}", count(n_rows), path.display())?;
    }
    Ok(())
}

/// The predictions themselves, where no file is asked for.
fn print_json(
    model: &Model,
    driver: &Driver<'_>,
    dataset: &Dataset,
    predicted: &Predictions<'_>,
) -> Result<(), Failure> {
    let (mut predictions, mut values) = (Vec::new(), Vec::new());
    model.for_each_scores(driver, dataset, |panel| {
        for row in panel.outer_iter() {
            predictions.push(match predicted.outputs {
                Outputs::Classification { classes } => json!(classes[class_of(row) as usize]),
                Outputs::Regression { n_targets: 1 } => json!(row[0]),
                Outputs::Regression { .. } => json!(row.to_vec()),
            });
        }
        if predicted.values.is_some() {
            values.extend(predicted.values(panel).outer_iter().map(|row| row.to_vec()));
        }
        Ok(())
    })?;
    let mut object = json!({ "command": "predict", "n_rows": dataset.n_rows(), "predictions": predictions });
    match predicted.values {
        None => (),
        Some(Values::Scores) => object["scores"] = json!(values),
        Some(Values::Probabilities(_)) => object["probabilities"] = json!(values),
    }
    writeln!(io::stdout().lock(), "{object}")?;
    Ok(())
}

/// What a prediction is, as a table: the labels or real values are the targets, the values beside them the inputs.
struct Predictions<'a> {
    outputs: &'a Outputs,
    values: Option<Values>,
    content: Content,
    schema: Schema,
}

/// What is told of each class of a row.
enum Values {
    Scores,
    Probabilities(Link),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Or real values.
    Labels,
    LabelsAndValues,
    /// Where one array is written.
    Values,
}

impl<'a> Predictions<'a> {
    fn new(header: &'a Header, link: Option<Link>, args: &PredictArgs) -> Result<Self, Failure> {
        let outputs = &header.outputs;
        let one_array = args.output.as_deref().map(mercer_io::holds_one_array).transpose()?.unwrap_or(false);
        let words = matches!(outputs.classes().first(), Some(ClassLabel::Text(_)));
        let scores = args.scores.then_some(Values::Scores);
        let values = link.map(Values::Probabilities).or(scores);
        if one_array && words && values.is_none() {
            let text = "NPY holds numbers, the classes are text: write .csv, or the scores with --scores";
            return Err(Failure::Usage(text.to_owned()));
        }
        let content = match (&values, outputs, one_array) {
            (None, _, _) | (_, Outputs::Regression { .. }, _) => Content::Labels,
            (Some(_), _, false) => Content::LabelsAndValues,
            (Some(_), _, true) => Content::Values,
        };
        let names = target_names(outputs, &header.target_names);
        let of_values = || values.as_ref().map_or(Vec::new(), |values| values.names(outputs.classes()));
        let (input_names, target_names) = match content {
            Content::Labels => (Vec::new(), names),
            Content::LabelsAndValues => (of_values(), names),
            Content::Values => (Vec::new(), of_values()),
        };
        let schema = Schema {
            layout: Layout::Dense,
            dtype: Dtype::Float64,
            n_rows: 0,
            n_inputs: input_names.len(),
            input_names,
            categorical: Vec::new(),
            target_names,
            target_words: words && content != Content::Values,
            targets_first: true,
        };
        Ok(Self { outputs, values, content, schema })
    }

    fn block(&self, scores: ArrayView2<'_, f64>) -> Block {
        let targets = match self.outputs {
            Outputs::Classification { classes } if self.content != Content::Values => labels(classes, scores),
            _ => TargetBlock::Numbers(self.values(scores)),
        };
        let beside = self.content == Content::LabelsAndValues;
        let rows = if beside { self.values(scores) } else { Array2::zeros((scores.nrows(), 0)) };
        Block::new(BlockRows::Dense64(rows), Some(targets))
    }

    fn values(&self, scores: ArrayView2<'_, f64>) -> Array2<f64> {
        match &self.values {
            Some(Values::Probabilities(link)) => link.probabilities(scores),
            Some(Values::Scores) | None => scores.to_owned(),
        }
    }
}

impl Values {
    /// The names of their columns: two classes have one score.
    fn names(&self, classes: &[ClassLabel]) -> Vec<String> {
        let (what, classes) = match self {
            Self::Scores if classes.len() == 2 => ("score", &classes[1..]),
            Self::Scores => ("score", classes),
            Self::Probabilities(_) => ("probability", classes),
        };
        classes.iter().map(|label| format!("{what} {label}")).collect()
    }
}

fn labels(classes: &[ClassLabel], scores: ArrayView2<'_, f64>) -> TargetBlock {
    let classes = scores.outer_iter().map(|row| &classes[class_of(row) as usize]);
    let numbers: Option<Vec<f64>> = classes
        .clone()
        .map(|label| if let ClassLabel::Number(number) = label { Some(*number) } else { None })
        .collect();
    match numbers {
        Some(numbers) => TargetBlock::Numbers(Array2::from_shape_fn((numbers.len(), 1), |(i, _)| numbers[i])),
        None => TargetBlock::Text(classes.map(ToString::to_string).collect()),
    }
}

fn target_names(outputs: &Outputs, names: &[String]) -> Vec<String> {
    match outputs {
        Outputs::Classification { .. } | Outputs::Regression { n_targets: 1 } => vec!["prediction".to_owned()],
        Outputs::Regression { n_targets } => (0..*n_targets)
            .map(|i| names.get(i).map_or(format!("prediction {}", i + 1), |name| format!("prediction {name}")))
            .collect(),
    }
}

fn write_rows(
    model: &Model,
    driver: &Driver<'_>,
    dataset: &Dataset,
    predictions: &Predictions<'_>,
    mut writer: Box<dyn BlockWriter>,
) -> Result<(), Failure> {
    model.for_each_scores(driver, dataset, |scores| Ok(writer.write(&predictions.block(scores))?))?;
    Ok(writer.finish()?)
}
