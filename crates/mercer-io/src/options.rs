//! How to read a file.

use std::convert::Infallible;
use std::str::FromStr;

use mercer::Dtype;

/// How to read a file.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `dtype` | float32 | type of the values, or as stored: float32 for float16 and float32, else float64; bytes stay bytes |
/// | `block_rows` | 4096 | rows of a block, at least 1 |
/// | `target` | `Auto` | which part of the file is the target |
/// | `header` | detect | whether a CSV file begins with column names |
/// | `delimiter` | detect | what separates the fields of a CSV file: comma, semicolon or tab |
/// | `n_inputs` | widest row | LIBSVM: inputs of a row; an index beyond it is an error |
/// | `inputs` | all but targets | which columns of CSV, Parquet and Arrow files are inputs |
/// | `categorical` | none | which of them hold words: levels of a category |
/// | `keep_missing` | no | whether a missing value is NaN; else it is an error |
/// | `format` | detect | the format, where the content would tell another |
/// | `spool_bytes` | 16 GiB | the most of a pipe, or of a packed NPZ archive, that is kept in a temporary file |
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// Type of the values of dense floats and sparse rows; none: as stored.
    pub dtype: Option<Dtype>,
    /// Rows of a block; 0 counts as 1.
    pub block_rows: usize,
    /// Which part of the file is the target.
    pub target: TargetChoice,
    /// Whether a CSV file begins with column names.
    pub header: Option<bool>,
    /// What separates the fields of a CSV file.
    pub delimiter: Option<u8>,
    /// Inputs of a LIBSVM row.
    pub n_inputs: Option<usize>,
    /// Which columns are inputs.
    pub inputs: InputChoice,
    /// Which inputs hold words.
    pub categorical: CategoricalChoice,
    /// Whether a missing value (an empty field, a word such as NA, NaN, null) is NaN; else it is an error.
    pub keep_missing: bool,
    /// The format of the file.
    pub format: Option<Format>,
    /// The most bytes that are kept in a temporary file, of what can be read but once.
    pub spool_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            dtype: Some(Dtype::Float32),
            block_rows: 4096,
            target: TargetChoice::Auto,
            header: None,
            delimiter: None,
            n_inputs: None,
            inputs: InputChoice::All,
            categorical: CategoricalChoice::None,
            keep_missing: false,
            format: None,
            spool_bytes: 16 << 30,
        }
    }
}

/// Which part of a file is the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetChoice {
    /// LIBSVM: the label. CSV, Parquet, Arrow: the one column called target, label, class or y in any case, where there
    /// are names; else the last column. NPY, NPZ, IDX: none.
    #[default]
    Auto,
    /// None: all columns are inputs, LIBSVM labels are skipped unread.
    None,
    /// These columns.
    Columns(Vec<ColumnRef>),
    /// For prediction: the CSV target columns where the file has them. LIBSVM: the label.
    IfPresent {
        /// their names, for a file with a header: all of them or none; a file whose inputs are not chosen by name is
        /// then treated like one without a header
        names: Vec<String>,
        /// inputs of a row, for a file without a header: it has targets when it has all of `positions` besides
        n_inputs: usize,
        /// the target columns then, counted from 0; where they are unknown, more columns than inputs are an error
        positions: Vec<usize>,
        /// whether targets are read; if not, their columns and labels are passed over, whatever they hold
        keep: bool,
    },
}

/// Which columns of a table are inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputChoice {
    /// All but the targets.
    #[default]
    All,
    /// All but the targets and these.
    AllBut(Vec<ColumnRef>),
    /// These, in this order.
    Columns(Vec<ColumnRef>),
    /// For prediction: those of these names, in this order, where the file has names; else all but the targets.
    Names(Vec<String>),
}

/// Which inputs of a table hold words: levels of a category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CategoricalChoice {
    /// None: a word among the inputs is an error.
    #[default]
    None,
    /// Those whose first values are mostly words.
    Auto,
    /// These columns, and no others.
    Columns(Vec<ColumnRef>),
    /// For prediction: these inputs, counted from 0.
    Inputs(Vec<usize>),
}

/// A column as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRef {
    /// By its name in the header.
    Name(String),
    /// By its number: 1 is the first, -1 the last.
    Number(i64),
}

impl FromStr for ColumnRef {
    type Err = Infallible;

    /// A whole number is a number, all else a name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// LIBSVM, also called `SVMlight`: `label index:value …`.
    Libsvm,
    /// Text fields separated by commas, semicolons or tabs; one value a line, too.
    Csv,
    /// One NumPy array.
    Npy,
    /// A zip archive of named NumPy arrays.
    Npz,
    /// The format of the MNIST files.
    Idx,
    /// Columns in compressed pages.
    Parquet,
    /// Arrow IPC, the file format (Feather version 2) or the stream format.
    Arrow,
}

impl Format {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Libsvm => "LIBSVM",
            Self::Csv => "CSV",
            Self::Npy => "NPY",
            Self::Npz => "NPZ",
            Self::Idx => "IDX",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        }
    }
}
