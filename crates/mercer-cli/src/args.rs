//! The command line: flags, their defaults and their help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mercer::Dtype;
use mercer::dataset::Task;
use mercer::feature_maps::Gamma;
use mercer::learners::Lambda;
use mercer::preprocess::PreprocessSpec;

const EXAMPLES: &str = "\
Examples:
  mercer train --sample digits                     a first look, with bundled data
  mercer train iris.csv --target species -o iris.mercer
  mercer predict iris.mercer new.csv -o labels.csv
  mercer evaluate iris.mercer iris-test.csv
  mercer inspect iris.mercer

Each command has its own help: mercer train --help";

/// Fast kernel learning: the accuracy of kernel machines at the cost of linear models.
#[derive(Debug, Parser)]
#[command(name = "mercer", version, arg_required_else_help = true, max_term_width = 110, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Train(TrainArgs),
    Predict(PredictArgs),
    Evaluate(EvaluateArgs),
    Inspect(InspectArgs),
}

const TRAIN_EXAMPLES: &str = "\
Examples:
  mercer train --sample digits
  mercer train iris.csv --target species --cv 5 -o iris.mercer
  mercer train w8a.gz --test w8a.t.gz -o w8a.mercer
  mercer train train-images-idx3-ubyte.gz --labels train-labels-idx1-ubyte.gz \\
      --test t10k-images-idx3-ubyte.gz --test-labels t10k-labels-idx1-ubyte.gz -o mnist.mercer
  mercer train isolet.npz::X_train --labels isolet.npz::y_train --json

Data may be LIBSVM/SVMlight, CSV/TSV, NPY, NPZ (file.npz::array) or IDX, plain or gzipped; the content tells.
Exit status: 0 done, 1 failed, 2 bad input or flags, 130 interrupted. Nothing is written unless all went well.";

/// Train a model: scaling, feature map and linear model, with gamma and lambda found by the data.
#[derive(Debug, Args)]
#[command(after_help = TRAIN_EXAMPLES)]
pub(crate) struct TrainArgs {
    /// File with the training rows
    #[arg(required_unless_present = "sample", conflicts_with = "sample")]
    pub(crate) data: Option<String>,
    /// Train on a bundled dataset, split into training and test rows
    #[arg(long, value_enum)]
    pub(crate) sample: Option<Sample>,
    /// File with the labels, where the data file has none
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    pub(crate) labels: Option<String>,
    /// File with test rows, to score the model on
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    pub(crate) test: Option<String>,
    /// File with the labels of the test rows
    #[arg(long, value_name = "FILE", requires = "test")]
    pub(crate) test_labels: Option<String>,
    /// Where to save the model; nothing is saved without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sample {
    /// 1,797 handwritten digits of 8 × 8 pixels
    Digits,
}

/// What the model is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Feature map
    #[arg(long, value_enum, default_value_t = Map::Fourier)]
    pub(crate) map: Map,
    /// Number of features: more are more accurate, and slower
    #[arg(long, value_name = "D", default_value_t = 4096, value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) n_components: usize,
    /// Width of the kernel, larger is narrower: a number, scale (1/(inputs × variance)) or median (of the distances)
    #[arg(long, default_value_t = Gamma::Scale, allow_negative_numbers = true)]
    pub(crate) gamma: Gamma,
    /// Linear model
    #[arg(long, value_enum, default_value_t = Learner::Ridge)]
    pub(crate) learner: Learner,
    /// Weight of the penalty: a number, or auto (the best of a few on rows held out)
    #[arg(long, default_value_t = Lambda::Auto, allow_negative_numbers = true)]
    pub(crate) lambda: Lambda,
    /// Scaling of the inputs
    #[arg(long, value_enum, default_value_t = Preprocess::Auto)]
    pub(crate) preprocess: Preprocess,
    /// What to learn; found by the targets if not given
    #[arg(long, value_enum)]
    pub(crate) task: Option<TaskName>,
    /// Cross-validate with K folds: scores, and the choice of lambda
    #[arg(long, value_name = "K", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) cv: Option<usize>,
    /// Names every random choice: the same seed gives the same model
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Type of all numbers
    #[arg(long, value_enum, default_value_t = DtypeName::Float32)]
    pub(crate) dtype: DtypeName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Map {
    /// Random Fourier features of the RBF kernel
    Fourier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Learner {
    /// Least squares with a penalty
    Ridge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preprocess {
    /// bytes / 255, dense columns standardize, sparse columns max-abs
    Auto,
    /// As they are
    None,
    /// Divided by 255
    Bytes,
    /// Zero mean and unit variance by column
    Standardize,
    /// Into [0, 1] by column
    MinMax,
    /// Into [-1, 1] by column, zeros kept
    MaxAbs,
    /// Rows of length 1
    UnitNorm,
}

impl From<Preprocess> for PreprocessSpec {
    fn from(name: Preprocess) -> Self {
        match name {
            Preprocess::Auto => Self::Auto,
            Preprocess::None => Self::None,
            Preprocess::Bytes => Self::Bytes,
            Preprocess::Standardize => Self::Standardize,
            Preprocess::MinMax => Self::MinMax,
            Preprocess::MaxAbs => Self::MaxAbs,
            Preprocess::UnitNorm => Self::UnitNorm,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskName {
    Classification,
    Regression,
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::Classification => Self::Classification,
            TaskName::Regression => Self::Regression,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DtypeName {
    Float32,
    Float64,
}

impl From<DtypeName> for Dtype {
    fn from(name: DtypeName) -> Self {
        match name {
            DtypeName::Float32 => Self::Float32,
            DtypeName::Float64 => Self::Float64,
        }
    }
}

fn whole<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

/// Which columns are what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// Target column of a CSV file: a name, a number from 1, or -1 for the last; several with commas. Default: the
    /// column called target, label, class or y, else the last
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "sample")]
    pub(crate) target: Vec<String>,
    /// Number of inputs of LIBSVM rows, where the file does not reach the last one
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) n_inputs: Option<usize>,
}

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Whether CSV files begin with column names; found by looking if not given
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    pub(crate) header: Option<bool>,
    /// What separates the fields of CSV files: one character, or tab; found by looking if not given
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Rows read at a time; changes no result
    #[arg(long, value_name = "ROWS", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) block_rows: u32,
    /// Data up to this size is kept in memory; larger files are read again at every pass
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) cache: usize,
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".to_owned()),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && byte != b'"' && byte != b'\n' && byte != b'\r' => Ok(byte),
        _ => Err("expected one character, or tab".to_owned()),
    }
}

/// How the command runs and reports.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Number of threads; 0 is one for each core. Changes no result
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) threads: usize,
    /// Report one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  mercer predict iris.mercer new.csv                      labels as CSV on standard output
  mercer predict iris.mercer new.csv --scores -o out.csv  labels and the score of each class
  mercer predict mnist.mercer t10k-images-idx3-ubyte.gz -o labels.npy

A target column in the data is left out. With -o, nothing is written unless all rows are good.
With --json and no -o, the predictions are in the JSON object.";

/// Predict the labels or values of rows.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArgs {
    /// A model that `mercer train` saved
    pub(crate) model: PathBuf,
    /// File with the rows
    pub(crate) data: String,
    /// Where to write: .csv or .npy; standard output as CSV without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the scores too: one for each class, or the margin of the second of two classes
    #[arg(long)]
    pub(crate) scores: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

const EVALUATE_EXAMPLES: &str = "\
Examples:
  mercer evaluate iris.mercer iris-test.csv
  mercer evaluate mnist.mercer t10k-images-idx3-ubyte.gz --labels t10k-labels-idx1-ubyte.gz --json";

/// Score a model on rows with known targets.
#[derive(Debug, Args)]
#[command(after_help = EVALUATE_EXAMPLES)]
pub(crate) struct EvaluateArgs {
    /// A model that `mercer train` saved
    pub(crate) model: PathBuf,
    /// File with the rows
    pub(crate) data: String,
    /// File with the labels, where the data file has none
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<String>,
    /// Target column of a CSV file; the one the model was trained on if not given
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) target: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Show what a saved model is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mercer inspect iris.mercer\n  mercer inspect iris.mercer --json")]
pub(crate) struct InspectArgs {
    /// A model that `mercer train` saved
    pub(crate) model: PathBuf,
    /// Report one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
