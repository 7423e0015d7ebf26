//! Parquet and Arrow files: a block becomes a batch of columns.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, Int32Array, RecordBatch, StringArray, UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema, SchemaRef};
use mercer::dataset::{Block, BlockRows, CsrMatrix, Layout, Rows, TargetBlock};
use mercer::{Dtype, Scalar};
use ndarray::ArrayView2;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::{BlockWriter, Schema};
use crate::error::shown;
use crate::output::write_error;
use crate::{Error, OutputFile, Place, Result};

/// Rows of a Parquet row group, fewer where rows are wide: it is kept in memory until it is complete.
const GROUP_ROWS: usize = 1 << 16;
/// Values of a row group, at most.
const GROUP_VALUES: usize = 1 << 25;
/// Sparse rows are written densely up to this width.
const WIDEST_SPARSE: usize = 1 << 12;
/// The footer describes each column of each row group; beyond this it is larger than the data.
const MOST_COLUMNS: usize = 1 << 15;

/// A Parquet or Arrow file being written.
pub(super) struct ColumnWriter {
    path: PathBuf,
    schema: Schema,
    columns: SchemaRef,
    sink: Sink,
    n_rows: u64,
}

enum Sink {
    Parquet(Box<ArrowWriter<OutputFile>>),
    Arrow(Box<FileWriter<OutputFile>>),
}

impl ColumnWriter {
    /// Begins a Parquet file: zstd, statistics, categories as a dictionary.
    ///
    /// # Errors
    /// [`Error::Write`], and [`Error::TooManyColumns`].
    pub(super) fn parquet(path: &Path, schema: &Schema) -> Result<Self> {
        let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let columns = columns(path, schema, &words)?;
        let rows = (GROUP_VALUES / columns.fields().len().max(1)).clamp(1, GROUP_ROWS);
        let level = ZstdLevel::try_new(3).map_err(|error| parquet_error(path, error))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(rows))
            .build();
        let output = OutputFile::create(path)?;
        let writer = ArrowWriter::try_new(output, SchemaRef::clone(&columns), Some(properties));
        let sink = Sink::Parquet(Box::new(writer.map_err(|error| parquet_error(path, error))?));
        Ok(Self { path: path.to_owned(), schema: schema.clone(), columns, sink, n_rows: 0 })
    }

    /// Begins an Arrow IPC file (Feather version 2): LZ4, categories as text, a batch for each block.
    ///
    /// # Errors
    /// As [`ColumnWriter::parquet`].
    pub(super) fn arrow(path: &Path, schema: &Schema) -> Result<Self> {
        let columns = columns(path, schema, &DataType::Utf8)?;
        let output = OutputFile::create(path)?;
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
        let writer = options.and_then(|options| FileWriter::try_new_with_options(output, &columns, options));
        let sink = Sink::Arrow(Box::new(writer.map_err(|error| arrow_error(path, error))?));
        Ok(Self { path: path.to_owned(), schema: schema.clone(), columns, sink, n_rows: 0 })
    }

    /// The targets of the block, a column for each.
    fn targets(&self, block: &Block) -> Result<Vec<ArrayRef>> {
        Ok(match &block.targets {
            _ if self.schema.target_names.is_empty() => Vec::new(),
            None => Vec::new(),
            Some(TargetBlock::Numbers(numbers)) if self.schema.target_words => {
                numbers.columns().into_iter().map(|x| words(x.iter().map(ToString::to_string))).collect()
            }
            Some(TargetBlock::Numbers(numbers)) => numbers
                .columns()
                .into_iter()
                .map(|x| Arc::new(Float64Array::from_iter_values(x.iter().copied())) as _)
                .collect(),
            Some(TargetBlock::Text(text)) if self.schema.target_words => vec![words(text.iter())],
            Some(TargetBlock::Text(text)) => {
                let numbers = text.iter().enumerate().map(|(i, text)| self.number(i, text));
                vec![Arc::new(Float64Array::from(numbers.collect::<Result<Vec<_>>>()?))]
            }
        })
    }

    fn number(&self, row: usize, text: &str) -> Result<f64> {
        text.trim().parse().map_err(|_| {
            let at = Place::row(&self.path.display().to_string(), self.n_rows + row as u64 + 1, 1);
            Error::NotANumber { at, value: shown(text.as_bytes()) }
        })
    }

    /// The inputs of the block, a column for each.
    fn inputs(&self, block: &Block) -> Vec<ArrayRef> {
        match &block.rows {
            BlockRows::Bytes(x) => x
                .columns()
                .into_iter()
                .map(|x| Arc::new(UInt8Array::from_iter_values(x.iter().copied())) as _)
                .collect(),
            BlockRows::Dense32(x) => self.dense(x.view(), block),
            BlockRows::Dense64(x) => self.dense(x.view(), block),
            BlockRows::Sparse32(x) => self.dense(densely(x, self.schema.n_inputs).view(), block),
            BlockRows::Sparse64(x) => self.dense(densely(x, self.schema.n_inputs).view(), block),
        }
    }

    fn dense<T: Scalar>(&self, rows: ArrayView2<'_, T>, block: &Block) -> Vec<ArrayRef> {
        let column = |(input, values): (usize, ndarray::ArrayView1<'_, T>)| -> ArrayRef {
            let numbers = values.iter().map(|&value| value.to_f64());
            let present = numbers.map(|value| (!value.is_nan()).then_some(value));
            if let Ok(at) = self.schema.categorical.binary_search(&input) {
                return self.levels(present, &block.levels[at]);
            }
            match self.schema.dtype {
                Dtype::Float32 => {
                    Arc::new(present.map(|value| value.map(|value| value as f32)).collect::<Float32Array>())
                }
                Dtype::Float64 => Arc::new(present.collect::<Float64Array>()),
            }
        };
        rows.columns().into_iter().enumerate().map(column).collect()
    }

    fn levels(&self, codes: impl Iterator<Item = Option<f64>>, levels: &[String]) -> ArrayRef {
        match self.sink {
            Sink::Parquet(_) => {
                let keys: Int32Array = codes.map(|code| code.map(|code| code as i32)).collect();
                let values: ArrayRef = Arc::new(StringArray::from_iter_values(levels));
                Arc::new(DictionaryArray::<Int32Type>::new(keys, values))
            }
            // Dictionaries of an Arrow file cannot change from batch to batch.
            Sink::Arrow(_) => {
                Arc::new(codes.map(|code| code.map(|code| &levels[code as usize])).collect::<StringArray>())
            }
        }
    }
}

impl BlockWriter for ColumnWriter {
    fn write(&mut self, block: &Block) -> Result<()> {
        let (mut first, mut second) = (self.inputs(block), self.targets(block)?);
        if self.schema.targets_first {
            (first, second) = (second, first);
        }
        first.append(&mut second);
        let batch = RecordBatch::try_new(SchemaRef::clone(&self.columns), first);
        let batch = batch.map_err(|error| arrow_error(&self.path, error))?;
        self.n_rows += batch.num_rows() as u64;
        match &mut self.sink {
            Sink::Parquet(writer) => writer.write(&batch).map_err(|error| parquet_error(&self.path, error)),
            Sink::Arrow(writer) => writer.write(&batch).map_err(|error| arrow_error(&self.path, error)),
        }
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let path = &self.path;
        let output = match self.sink {
            Sink::Parquet(writer) => writer.into_inner().map_err(|error| parquet_error(path, error))?,
            Sink::Arrow(writer) => writer.into_inner().map_err(|error| arrow_error(path, error))?,
        };
        output.finish()
    }
}

/// The columns of the file; `words` is the type of categories.
fn columns(path: &Path, schema: &Schema, words: &DataType) -> Result<SchemaRef> {
    let n_columns = schema.n_inputs + schema.target_names.len();
    let sparse = schema.layout == Layout::Sparse && schema.n_inputs > WIDEST_SPARSE;
    if sparse || n_columns > MOST_COLUMNS {
        let (file, limit) = (path.display().to_string(), if sparse { WIDEST_SPARSE } else { MOST_COLUMNS });
        let remedy = if sparse { "write LIBSVM" } else { "write NPY or CSV" };
        return Err(Error::TooManyColumns { file, n_columns, limit, remedy });
    }
    let number = match (schema.layout, schema.dtype) {
        (Layout::Bytes, _) => DataType::UInt8,
        (_, Dtype::Float32) => DataType::Float32,
        (_, Dtype::Float64) => DataType::Float64,
    };
    let input = |i: usize| {
        let name = schema.input_names.get(i).cloned().unwrap_or_else(|| format!("x{}", i + 1));
        let holds = if schema.categorical.contains(&i) { words } else { &number };
        Field::new(name, holds.clone(), schema.layout == Layout::Dense)
    };
    let target = if schema.target_words { DataType::Utf8 } else { DataType::Float64 };
    let targets = schema.target_names.iter().map(|name| Field::new(name, target.clone(), false));
    let inputs = (0..schema.n_inputs).map(input);
    let fields: Vec<Field> =
        if schema.targets_first { targets.chain(inputs).collect() } else { inputs.chain(targets).collect() };
    Ok(Arc::new(ArrowSchema::new(fields)))
}

fn words<S: AsRef<str>>(words: impl Iterator<Item = S>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(words))
}

fn densely<T: Scalar>(rows: &CsrMatrix<T>, width: usize) -> ndarray::Array2<T> {
    let mut out = ndarray::Array2::zeros((rows.n_rows(), width));
    Rows::Sparse(rows.view()).write_dense(out.view_mut());
    out
}

fn parquet_error(path: &Path, error: ParquetError) -> Error {
    write_error(path, io::Error::other(error))
}

fn arrow_error(path: &Path, error: ArrowError) -> Error {
    write_error(path, io::Error::other(error))
}
