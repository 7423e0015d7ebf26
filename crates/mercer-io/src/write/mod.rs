//! Tables as files: rows, targets and predictions, in the format that the file's name asks for.

#[cfg(feature = "arrow")]
mod columns;
mod csv;
mod dense;
mod libsvm;
mod npy;
mod number;
mod sink;

use std::io::Write;
use std::path::Path;

use mercer::Dtype;
use mercer::dataset::{Block, Dataset, Layout, SourceInfo, Table, TargetScan};

#[cfg(feature = "arrow")]
use self::columns::ColumnWriter;
use self::csv::CsvWriter;
use self::libsvm::LibsvmWriter;
use self::npy::NpyWriter;
use self::sink::Sink;
use crate::packing::{Packing, split_extension};
use crate::{Error, Result};

/// What is going to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// How rows are stored.
    pub layout: Layout,
    /// Type of the values of dense floats and sparse rows.
    pub dtype: Dtype,
    /// Number of rows.
    pub n_rows: u64,
    /// Inputs of a row; 0 where targets alone are written.
    pub n_inputs: usize,
    /// Names of the inputs; empty where they have none, then a format that needs names calls them x1, x2, ….
    pub input_names: Vec<String>,
    /// Inputs that hold words, as the numbers of the block's levels; ascending.
    pub categorical: Vec<usize>,
    /// Names of the targets, one for each; empty where there are none.
    pub target_names: Vec<String>,
    /// Whether the targets are words; else they are numbers, perhaps as text.
    pub target_words: bool,
    /// Whether targets stand before the inputs: predictions do.
    pub targets_first: bool,
}

/// A table being written. Dropped before [`BlockWriter::finish`], it leaves no file.
pub trait BlockWriter: Send {
    /// Writes the next rows.
    ///
    /// # Errors
    /// [`crate::Error::Write`]; and rows that the format cannot hold, with their place.
    fn write(&mut self, block: &Block) -> Result<()>;

    /// Completes the file and moves it to its place.
    ///
    /// # Errors
    /// [`crate::Error::Write`]; nothing is left behind then.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Formats that tables are written in, with the extensions that ask for them.
pub const WRITTEN: &str = if cfg!(feature = "arrow") {
    ".csv, .tsv, .npy, .svm (LIBSVM), .parquet, .arrow"
} else {
    ".csv, .tsv, .npy, .svm (LIBSVM)"
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteFormat {
    Csv,
    Tsv,
    Npy,
    Libsvm,
    #[cfg(feature = "arrow")]
    Parquet,
    #[cfg(feature = "arrow")]
    Arrow,
}

/// Opens a file for a table, in the format that its name asks for: [`WRITTEN`]; text and NPY also packed
/// (.gz, .xz, .zst, .bz2).
///
/// # Errors
/// Another extension, what the format cannot hold, and as [`crate::OutputFile::create`].
pub fn create(path: &Path, schema: &Schema) -> Result<Box<dyn BlockWriter>> {
    let (format, packing) = written_format(path)?;
    let sink = || Sink::file(path, packing);
    Ok(match format {
        #[cfg(feature = "arrow")]
        WriteFormat::Parquet => Box::new(ColumnWriter::parquet(path, schema)?),
        #[cfg(feature = "arrow")]
        WriteFormat::Arrow => Box::new(ColumnWriter::arrow(path, schema)?),
        WriteFormat::Csv => Box::new(CsvWriter::new(sink()?, schema, b',')?),
        WriteFormat::Tsv => Box::new(CsvWriter::new(sink()?, schema, b'\t')?),
        WriteFormat::Npy => Box::new(NpyWriter::new(sink()?, schema)?),
        WriteFormat::Libsvm => Box::new(LibsvmWriter::new(sink()?, schema)?),
    })
}

/// A table as CSV on a stream.
///
/// # Errors
/// Those of the stream.
pub fn csv_stream(name: &str, stream: Box<dyn Write + Send>, schema: &Schema) -> Result<Box<dyn BlockWriter>> {
    Ok(Box::new(CsvWriter::new(Sink::stream(name, stream), schema, b',')?))
}

/// Whether a file of this name holds one array, and so rows or targets, but not both.
///
/// # Errors
/// As [`create`].
pub fn holds_one_array(path: &Path) -> Result<bool> {
    Ok(written_format(path)?.0 == WriteFormat::Npy)
}

fn written_format(path: &Path) -> Result<(WriteFormat, Packing)> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let (name, packing) = split_extension(&name);
    let format = match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("csv") => WriteFormat::Csv,
        Some("tsv") => WriteFormat::Tsv,
        Some("npy") => WriteFormat::Npy,
        Some("svm" | "libsvm" | "svmlight") => WriteFormat::Libsvm,
        #[cfg(feature = "arrow")]
        Some("parquet" | "pq") if packing == Packing::None => WriteFormat::Parquet,
        #[cfg(feature = "arrow")]
        Some("arrow" | "feather" | "ipc") if packing == Packing::None => WriteFormat::Arrow,
        _ => return Err(Error::WriteFormat { file: path.display().to_string() }),
    };
    Ok((format, packing))
}

impl Schema {
    /// That of the rows of a table, as they stand in it.
    pub fn of_table(table: &Table) -> Self {
        let info = table.info();
        Self {
            categorical: info.categorical.clone(),
            input_names: info.input_names.clone(),
            ..Self::of(info, table.targets(), table.n_rows(), table.n_inputs(), table.dtype())
        }
    }

    /// That of `n_inputs` features made of the rows of a dataset, with its targets.
    pub fn of_features(dataset: &Dataset, n_inputs: usize, dtype: Dtype) -> Self {
        let layout = Layout::Dense;
        Self { layout, ..Self::of(dataset.info(), dataset.targets(), dataset.n_rows(), n_inputs, dtype) }
    }

    fn of(info: &SourceInfo, targets: Option<&TargetScan>, n_rows: u64, n_inputs: usize, dtype: Dtype) -> Self {
        Self {
            layout: info.layout,
            dtype,
            n_rows,
            n_inputs,
            input_names: Vec::new(),
            categorical: Vec::new(),
            target_names: targets.map(|_| info.target_names.clone()).unwrap_or_default(),
            target_words: targets.is_some_and(TargetScan::holds_words),
            targets_first: false,
        }
    }
}

/// What an input is called in a format that needs names.
fn input_name(schema: &Schema, input: usize) -> String {
    schema.input_names.get(input).cloned().unwrap_or_else(|| format!("x{}", input + 1))
}

/// Columns of a line of text, and inputs of sparse rows that are written with their zeros.
const WIDEST: usize = 1 << 20;

fn refuse_width(file: &str, n_columns: usize, remedy: &'static str) -> Result<()> {
    match n_columns > WIDEST {
        true => Err(Error::TooManyColumns { file: file.to_owned(), n_columns, limit: WIDEST, remedy }),
        false => Ok(()),
    }
}

/// The error of a table that a format cannot hold.
fn cannot_hold(file: &str, format: &'static str, what: &str, remedy: &'static str) -> Error {
    Error::CannotHold { file: file.to_owned(), format, what: what.to_owned(), remedy }
}
