//! The command line: flags, their defaults and their help.

mod auto;
mod budget;
mod compare;
mod data;
mod landmark;
mod learner;
mod model;
mod product;
mod tune;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use auto::{AutoArgs, LimitArgs};
pub(crate) use budget::BudgetArgs;
pub(crate) use compare::{Candidate, CompareArgs};
pub(crate) use data::{ColumnArgs, EncodingArgs, ReadingArgs, RowsArgs, Sample};
pub(crate) use learner::{LearnerArgs, TaskName};
pub(crate) use model::{DtypeName, MapArgs, Preprocess};
pub(crate) use tune::TuneArgs;

const EXAMPLES: &str = "\
Examples:
  mercer train --sample digits                     a first look, with bundled data
  mercer train iris.csv --target species -o iris.mercer
  mercer train iris.csv --auto --time 60s          everything found by the data
  mercer tune iris.csv --kernels rbf,laplace       which pipeline to train
  mercer predict iris.mercer new.csv -o labels.csv
  mercer evaluate iris.mercer iris-test.csv
  mercer inspect iris.csv                          what a file or a model holds
  mercer transform rows.csv --model iris.mercer -o features.npy
  mercer split all.csv --train train.csv --test test.csv
  mercer convert rows.csv -o rows.parquet
  mercer compare iris.csv --plot maps.svg          which map, and how many features
  mercer budget iris.csv --plot budget.svg         which rows stand for all, and how many

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
    Train(Box<TrainArgs>),
    Tune(TuneArgs),
    Predict(PredictArgs),
    Evaluate(EvaluateArgs),
    Inspect(InspectArgs),
    Transform(TransformArgs),
    Split(SplitArgs),
    Convert(ConvertArgs),
    Compare(CompareArgs),
    Budget(BudgetArgs),
}

const TRAIN_EXAMPLES: &str = "\
Examples:
  mercer train --sample digits
  mercer train --sample digits --learner softmax --report digits.html
  mercer train iris.csv --target species --cv 5 -o iris.mercer
  mercer train w8a.gz --test w8a.t.gz --learner svm --class-weight balanced -o w8a.mercer
  mercer train iris.csv --auto --time 60s -o iris.mercer
  mercer train iris.csv --learner svm --probabilities -o iris.mercer
  mercer train train-images-idx3-ubyte.gz --labels train-labels-idx1-ubyte.gz \\
      --test t10k-images-idx3-ubyte.gz --test-labels t10k-labels-idx1-ubyte.gz -o mnist.mercer
  mercer train isolet.npz::X_train --labels isolet.npz::y_train --json
  mercer train 'part-*.csv' --test-size 0.2 --impute median -o all.mercer
  zcat rows.csv.gz | mercer train - --target price

Data may be LIBSVM/SVMlight, CSV/TSV, Parquet, Arrow IPC, NPY, NPZ (file.npz::array) or IDX, plain or packed (gzip,
xz, zstd, bzip2); the content tells. Several files, or a pattern in quotes, are read as one; - is standard input.
Exit status: 0 done, 1 failed, 2 bad input or flags, 130 interrupted. Nothing is written unless all went well.";

/// Train a model: scaling, feature map and linear model, with gamma and lambda found by the data.
#[derive(Debug, Args)]
#[command(after_help = TRAIN_EXAMPLES)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    /// Hold out this share of the rows and score the model on them, such as 0.2
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["sample", "test"], allow_negative_numbers = true)]
    pub(crate) test_size: Option<f64>,
    /// Take test rows from all rows alike, not in the same share from each class
    #[arg(long, requires = "test_size", conflicts_with = "sample")]
    pub(crate) no_stratify: bool,
    /// Where to save the model; nothing is saved without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write scores with their confidence intervals, charts and tables, as one HTML file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) encoding: EncodingArgs,
    #[command(flatten)]
    pub(crate) map: MapArgs,
    #[command(flatten)]
    pub(crate) learner: LearnerArgs,
    #[command(flatten)]
    pub(crate) search: AutoArgs,
    /// Memory for features that are kept between passes, such as 800MB or 2GB; half of what is free if not given.
    /// Changes no result but that of sgd, which shuffles rows it does not keep less well. With --auto, memory for all
    #[arg(long, value_name = "BYTES", value_parser = byte_count, help_heading = "Run")]
    pub(crate) memory: Option<u64>,
    /// Let Ctrl-C end the learning with the best model so far, without probabilities, and go on with that; a second
    /// Ctrl-C ends all
    #[arg(long, help_heading = "Run")]
    pub(crate) keep_interrupted: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// How a command reports.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct ReportArgs {
    /// Report one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// How the command runs and reports.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Number of threads; 0 is one for each core. Changes no result
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// A number of bytes: 2000000000, 512M, 1.5GB, 2GiB.
pub(crate) fn byte_count(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = match text[digits.len()..].trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => f64::NAN,
    };
    match digits.parse::<f64>() {
        Ok(number) if number >= 0.0 && number * unit < 1e18 => Ok((number * unit) as u64),
        _ => Err("must be bytes, such as 800MB or 2GB".to_owned()),
    }
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  mercer predict iris.mercer new.csv                      labels as CSV on standard output
  mercer predict iris.mercer new.csv --scores -o out.csv  labels and the score of each class
  mercer predict iris.mercer new.csv --probabilities      labels and the probability of each class
  mercer predict mnist.mercer t10k-images-idx3-ubyte.gz -o labels.npy

A target column in the data is left out. With -o, nothing is written unless all rows are good.
With --json and no -o, the predictions are in the JSON object.";

/// Predict the labels or values of rows.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArgs {
    /// A model that `mercer train` saved
    pub(crate) model: PathBuf,
    /// Files with the rows
    #[arg(required = true)]
    pub(crate) data: Vec<String>,
    /// Where to write: .csv, .tsv, .npy, .parquet or .svm; standard output as CSV without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the scores too: one for each class, or the margin of the second of two classes
    #[arg(long)]
    pub(crate) scores: bool,
    /// Write the probability of each class too: of models trained with --probabilities, and of softmax and logistic ones
    #[arg(long, conflicts_with = "scores")]
    pub(crate) probabilities: bool,
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
    /// Files with the rows
    #[arg(required = true)]
    pub(crate) data: Vec<String>,
    /// File with the labels, where the data file has none; again for each of several
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<String>,
    /// Target column of a CSV file; the one the model was trained on if not given
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) target: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  mercer inspect iris.mercer                       a model
  mercer inspect iris.csv --target species         rows: columns, types, ranges, classes
  mercer inspect 'part-*.parquet' --n-components 16384 --json";

/// Show what a file of rows or a saved model holds.
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub(crate) struct InspectArgs {
    /// Files with rows, or a model that `mercer train` saved
    #[arg(required = true)]
    pub(crate) data: Vec<String>,
    /// File with the labels, where the data file has none; again for each of several
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<String>,
    /// Show every column, not the first ones
    #[arg(long)]
    pub(crate) all: bool,
    /// Number of features for which the memory of a training is told
    #[arg(long, value_name = "D", default_value_t = 4096, value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) n_components: usize,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

const TRANSFORM_EXAMPLES: &str = "\
Examples:
  mercer transform rows.csv --model iris.mercer -o features.npy
  mercer transform test.csv --fit train.csv --n-components 1024 -o test.parquet
  mercer transform wide.svm --map sparse-projection --n-components 256 -o narrow.svm.gz

Without --model, scaling and width of the kernel are fitted to the rows of --fit, or to the rows themselves. Targets
are carried along: where the file holds one array (.npy), in a second file beside it, such as features-labels.npy.";

/// Flags that say what a model already does.
const SETTLED_BY_A_MODEL: [&str; 21] = [
    "fit",
    "map",
    "n_components",
    "n_bins",
    "s",
    "blocks",
    "kernel",
    "gamma",
    "nu",
    "alpha",
    "skewedness",
    "waves",
    "length_scales",
    "landmarks",
    "preprocess",
    "seed",
    "dtype",
    "impute",
    "max_levels",
    "categorical",
    "n_inputs",
];

/// Write the features of rows, or their projections, to a file.
#[derive(Debug, Args)]
#[command(after_help = TRANSFORM_EXAMPLES)]
pub(crate) struct TransformArgs {
    /// Files with the rows
    #[arg(required = true)]
    pub(crate) data: Vec<String>,
    /// Where to write: .csv, .tsv, .npy, .parquet or .svm; standard output as CSV without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A model that `mercer train` saved, whose scaling and map to apply
    #[arg(long, value_name = "FILE", conflicts_with_all = SETTLED_BY_A_MODEL)]
    pub(crate) model: Option<PathBuf>,
    /// File with the rows to fit scaling and map to; again for each of several
    #[arg(long, value_name = "FILE")]
    pub(crate) fit: Vec<String>,
    /// File with the labels, where the data file has none; again for each of several
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) encoding: EncodingArgs,
    #[command(flatten)]
    pub(crate) map: MapArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

const SPLIT_EXAMPLES: &str = "\
Examples:
  mercer split all.csv --train train.csv --test test.csv
  mercer split x.npy --labels y.npy --test-size 0.1 --seed 7 --train train.npy --test test.npy

Rows stay in their order. Every class has the same share in both files; a class of one row is for training.";

/// Divide rows into training and test files.
#[derive(Debug, Args)]
#[command(after_help = SPLIT_EXAMPLES)]
pub(crate) struct SplitArgs {
    /// Files with the rows
    #[arg(required = true)]
    pub(crate) data: Vec<String>,
    /// Where to write the training rows: .csv, .tsv, .npy, .parquet or .svm
    #[arg(long, value_name = "FILE")]
    pub(crate) train: PathBuf,
    /// Where to write the test rows
    #[arg(long, value_name = "FILE")]
    pub(crate) test: PathBuf,
    /// Share of the rows that are test rows
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, allow_negative_numbers = true)]
    pub(crate) test_size: f64,
    /// Take test rows from all rows alike, not in the same share from each class
    #[arg(long)]
    pub(crate) no_stratify: bool,
    /// Names the choice of rows
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// File with the labels, where the data file has none; again for each of several
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  mercer convert rows.csv.gz -o rows.parquet
  mercer convert 'part-*.parquet' --drop id -o all.csv.zst
  mercer convert w8a.gz -o w8a.npy

Numbers keep their bits: as text they become float64 unless --dtype says otherwise. Words lose the blanks around them,
and those that stand for a gap in CSV (NA, ?) are refused there. Where the new file holds one array (.npy), targets go
to a second file beside it, such as rows-labels.npy.";

/// Write rows and targets in another format.
#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// Files with the rows
    #[arg(required = true)]
    pub(crate) data: Vec<String>,
    /// Where to write: .csv, .tsv, .npy, .parquet or .svm
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// File with the labels, where the data file has none; again for each of several
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<String>,
    /// Type of the numbers; as they are stored if not given
    #[arg(long, value_enum)]
    pub(crate) dtype: Option<DtypeName>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

fn whole<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}
