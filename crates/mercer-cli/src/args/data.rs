//! Flags of the data: which files, which columns, how they are read.

use clap::{Args, ValueEnum};
use mercer::dataset::{EncodingSpec, Impute};

use super::whole;

/// Which rows are for training, which for testing.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// Files with the training rows
    #[arg(required_unless_present = "sample", conflicts_with = "sample")]
    pub(crate) data: Vec<String>,
    /// Train on a bundled dataset, split into training and test rows
    #[arg(long, value_enum, conflicts_with_all = ["target", "inputs", "drop", "categorical", "n_inputs", "impute", "max_levels", "header", "delimiter"])]
    pub(crate) sample: Option<Sample>,
    /// File with the labels, where the data file has none; again for each of several
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    pub(crate) labels: Vec<String>,
    /// File with test rows, to score the model on; again for each of several
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    pub(crate) test: Vec<String>,
    /// File with the labels of the test rows
    #[arg(long, value_name = "FILE", requires = "test")]
    pub(crate) test_labels: Vec<String>,
}

impl RowsArgs {
    /// All files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &String> {
        [&self.data, &self.labels, &self.test, &self.test_labels].into_iter().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sample {
    /// 1,797 handwritten digits of 8 × 8 pixels
    Digits,
}

/// Which columns are what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// Target column of a CSV file: a name, a number from 1, or -1 for the last; several with commas. Default: the
    /// column called target, label, class or y, else the last
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) target: Vec<String>,
    /// Number of inputs of LIBSVM rows, where the file does not reach the last one
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) n_inputs: Option<usize>,
    /// Columns that hold words, by name or number, with commas: each level becomes an input. auto: those whose first
    /// values are mostly words; none: words are an error
    #[arg(long, value_name = "COLUMNS", default_value = "auto", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) categorical: Vec<String>,
}

/// What becomes of words and missing values.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct EncodingArgs {
    /// What to do about missing values
    #[arg(long, value_enum, default_value_t = ImputeName::Refuse)]
    pub(crate) impute: ImputeName,
    /// Most inputs that a column of words becomes; its rarest levels share one
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) max_levels: usize,
}

impl EncodingArgs {
    pub(crate) fn spec(&self) -> EncodingSpec {
        EncodingSpec { impute: self.impute.into(), max_levels: self.max_levels }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImputeName {
    /// An error
    Refuse,
    /// The mean of the column
    Mean,
    /// The median of the column
    Median,
    /// The most frequent value of the column
    MostFrequent,
}

impl From<ImputeName> for Impute {
    fn from(name: ImputeName) -> Self {
        match name {
            ImputeName::Refuse => Self::Refuse,
            ImputeName::Mean => Self::Mean,
            ImputeName::Median => Self::Median,
            ImputeName::MostFrequent => Self::MostFrequent,
        }
    }
}

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Columns that are inputs, by name or number, with commas; all but the targets if not given
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "drop")]
    pub(crate) inputs: Vec<String>,
    /// Columns to leave out, by name or number, with commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) drop: Vec<String>,
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
