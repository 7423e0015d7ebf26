//! `mercer predict`: labels, values and scores of rows.

use std::io::{self, Write};
use std::path::Path;

use mercer::dataset::{Block, BlockRows, ClassLabel, Dataset, Layout, TargetBlock};
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
    let mut predictions = Predictions::new(&header, args)?;
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
            return print_json(&model, &driver, &dataset, args.scores);
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

/// What a prediction is, as a table: the labels or values are the targets, the scores the inputs.
struct Predictions<'a> {
    outputs: &'a Outputs,
    content: Content,
    schema: Schema,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Or real values.
    Labels,
    LabelsAndScores,
    /// Where one array is written.
    Scores,
}

impl<'a> Predictions<'a> {
    fn new(header: &'a Header, args: &PredictArgs) -> Result<Self, Failure> {
        let outputs = &header.outputs;
        let one_array = args.output.as_deref().map(mercer_io::holds_one_array).transpose()?.unwrap_or(false);
        let words = matches!(outputs.classes().first(), Some(ClassLabel::Text(_)));
        if one_array && words && !args.scores {
            let text = "NPY holds numbers, the classes are text: write .csv, or the scores with --scores";
            return Err(Failure::Usage(text.to_owned()));
        }
        let scores = args.scores && matches!(outputs, Outputs::Classification { .. });
        let content = match (scores, one_array) {
            (false, _) => Content::Labels,
            (true, false) => Content::LabelsAndScores,
            (true, true) => Content::Scores,
        };
        let names = target_names(outputs, &header.target_names);
        let (input_names, target_names) = match content {
            Content::Labels => (Vec::new(), names),
            Content::LabelsAndScores => (score_names(outputs), names),
            Content::Scores => (Vec::new(), score_names(outputs)),
        };
        let schema = Schema {
            layout: Layout::Dense,
            dtype: Dtype::Float64,
            n_rows: 0,
            n_inputs: input_names.len(),
            input_names,
            categorical: Vec::new(),
            target_names,
            target_words: words && content != Content::Scores,
            targets_first: true,
        };
        Ok(Self { outputs, content, schema })
    }

    fn block(&self, scores: ArrayView2<'_, f64>) -> Block {
        let targets = match self.outputs {
            Outputs::Classification { classes } if self.content != Content::Scores => labels(classes, scores),
            _ => TargetBlock::Numbers(scores.to_owned()),
        };
        let with_scores = self.content == Content::LabelsAndScores;
        let rows = if with_scores { scores.to_owned() } else { Array2::zeros((scores.nrows(), 0)) };
        Block::new(BlockRows::Dense64(rows), Some(targets))
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

fn score_names(outputs: &Outputs) -> Vec<String> {
    let classes = outputs.classes();
    let scored = if classes.len() == 2 { &classes[1..] } else { classes };
    scored.iter().map(|label| format!("score {label}")).collect()
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
