//! Tables of typed columns: Parquet, Arrow IPC, and tables in memory ([`table`]).
//!
//! All give record batches of the columns that are asked for; a batch is turned into rows. Memory holds a batch at a
//! time: of a Parquet file some thousand rows, of an Arrow file what its writer put in one. Columns are numbers of any
//! type, words, or lists of numbers of one length ([`layout`]).

mod batch;
mod bodies;
mod chunks;
mod delta;
mod footer;
mod guard;
mod ipc;
mod kinds;
mod layout;
mod lists;
mod messages;
mod numbers;
mod pages;
mod parquet;
mod row_group;
mod table;
mod thrift;
mod unpack;
mod words;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use mercer::dataset::{Block, BlockReader, BlockRows, Layout as Storage, Source, SourceInfo};
use mercer::{Dtype, Result as MercerResult};

use self::batch::{Batch, Reading};
use self::chunks::Chunks;
use self::kinds::{Holds, Kind};
use self::layout::{Layout, Part, PartRole};
pub use self::table::{TableRows, table_rows};
use crate::input::Origin;
use crate::open::Purpose;
use crate::{Error, Format, ReadOptions, Result};

/// Values of a batch of a Parquet file, at most: rows are fewer where they are wide.
const BATCH_VALUES: usize = 1 << 22;
/// Rows of a batch of a Parquet file, at least: smaller ones take longer.
const BATCH_ROWS: usize = 1024;
/// Rows among which the first list is looked for.
const LIST_SAMPLE: usize = 1024;
/// A longer list is no embedding.
const LONGEST_LIST: usize = 1 << 20;

/// What a file gives, or what is wrong with it.
type Decoded<T> = std::result::Result<T, String>;

/// A file that gives record batches.
trait Container: Send + Sync {
    fn schema(&self) -> &Schema;

    fn n_rows(&self) -> u64;

    /// Starts a reading of these columns, ascending; batches of about `rows` rows where that can be chosen.
    fn batches(&self, columns: &[usize], rows: usize) -> Decoded<Box<dyn Batches>>;
}

/// One reading of a [`Container`].
trait Batches: Send {
    /// The next batch; an error says what is wrong and ends the reading.
    fn next(&mut self) -> Decoded<Option<RecordBatch>>;
}

/// A Parquet or Arrow file.
pub(crate) struct ArrowSource {
    info: SourceInfo,
    format: Format,
    container: Box<dyn Container>,
    layout: Layout,
    dtype: Dtype,
    keep_missing: bool,
    block_rows: usize,
    batch_rows: usize,
}

impl ArrowSource {
    /// Reads the schema, and the first rows of columns of lists.
    pub(crate) fn open(
        path: &str,
        format: Format,
        origin: Origin,
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self> {
        let malformed = |reason| Error::Malformed { file: path.to_owned(), format: format.name(), reason };
        let chunks = Chunks::open(&origin, path)?;
        let container: Box<dyn Container> = match format {
            Format::Parquet => Box::new(parquet::ParquetFile::open(chunks).map_err(malformed)?),
            _ => Box::new(ipc::IpcFile::open(chunks).map_err(malformed)?),
        };
        if container.n_rows() == 0 || container.schema().fields().is_empty() {
            return Err(Error::NoRows { file: path.to_owned(), found: "a schema" });
        }
        let lengths = list_lengths(container.as_ref()).map_err(malformed)?;
        let layout = Layout::new(path, container.schema(), &lengths, options, purpose)?;
        Ok(Self::new(path, format, container, layout, options))
    }

    fn new(path: &str, format: Format, container: Box<dyn Container>, layout: Layout, options: &ReadOptions) -> Self {
        let storage = storage(&layout.parts, options.keep_missing);
        let columns = &layout.columns;
        let info = SourceInfo {
            n_inputs: Some(columns.n_inputs),
            n_rows: Some(container.n_rows()),
            input_names: columns.input_names(),
            target_names: columns.target_names(),
            categorical: columns.categorical.clone(),
            missing: options.keep_missing && storage == Storage::Dense,
            ..SourceInfo::new(path, format.name(), storage)
        };
        let inputs = || layout.parts.iter().filter(|part| matches!(part.role, PartRole::Numbers(_)));
        let stored = if inputs().all(|part| part.kind == Kind::Float32) { Dtype::Float32 } else { Dtype::Float64 };
        let (dtype, block_rows) = (options.dtype.unwrap_or(stored), options.block_rows.max(1));
        let width = columns.n_inputs + columns.n_targets;
        let batch_rows = block_rows.max(BATCH_ROWS).min((BATCH_VALUES / width.max(1)).max(1));
        let keep_missing = options.keep_missing;
        Self { info, format, container, layout, dtype, keep_missing, block_rows, batch_rows }
    }

    fn malformed(&self, reason: String) -> Error {
        Error::Malformed { file: self.info.name.clone(), format: self.format.name(), reason }
    }
}

/// Bytes stay bytes where all inputs are, and none may be NaN.
fn storage(parts: &[Part], keep_missing: bool) -> Storage {
    let byte = |part: &Part| part.kind == Kind::Byte && !(keep_missing && part.nullable);
    let mut inputs =
        parts.iter().filter(|part| matches!(part.role, PartRole::Numbers(_) | PartRole::Words(_))).peekable();
    let bytes = inputs.peek().is_some() && inputs.all(|part| matches!(part.role, PartRole::Numbers(_)) && byte(part));
    if bytes { Storage::Bytes } else { Storage::Dense }
}

/// The lengths of the lists of each column: that of the first list.
fn list_lengths(container: &dyn Container) -> Decoded<Vec<Option<usize>>> {
    let fields = container.schema().fields();
    let is_list = |i: &usize| Holds::of(fields[*i].data_type()).is_some_and(|holds| holds.list);
    let lists: Vec<usize> = (0..fields.len()).filter(is_list).collect();
    let mut lengths = vec![None; fields.len()];
    if lists.is_empty() {
        return Ok(lengths);
    }
    let mut batches = container.batches(&lists, LIST_SAMPLE)?;
    let mut first = batches.next()?;
    while first.as_ref().is_some_and(|batch| batch.num_rows() == 0) {
        first = batches.next()?;
    }
    for (&column, array) in lists.iter().zip(first.iter().flat_map(RecordBatch::columns)) {
        lengths[column] = lists::first_length(array.as_ref()).filter(|len| (1..=LONGEST_LIST).contains(len));
    }
    Ok(lengths)
}

impl Source for ArrowSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> MercerResult<Box<dyn BlockReader + '_>> {
        let columns: Vec<usize> = self.layout.parts.iter().map(|part| part.column).collect();
        let batches = self.container.batches(&columns, self.batch_rows).map_err(|reason| self.malformed(reason))?;
        Ok(Box::new(ArrowReader { source: self, batches, batch: None, at: 0, n_rows: 0 }))
    }
}

struct ArrowReader<'a> {
    source: &'a ArrowSource,
    batches: Box<dyn Batches>,
    batch: Option<Batch<'a>>,
    /// Rows of the batch given so far.
    at: usize,
    /// Rows of the batches read so far.
    n_rows: u64,
}

impl BlockReader for ArrowReader<'_> {
    fn next_block(&mut self) -> MercerResult<Option<Block>> {
        while self.batch.as_ref().is_none_or(|batch| self.at == batch.n_rows()) {
            if !self.next_batch()? {
                return Ok(None);
            }
        }
        let Some(batch) = &self.batch else { return Ok(None) };
        let rows = self.at..batch.n_rows().min(self.at.saturating_add(self.source.block_rows));
        self.at = rows.end;
        let targets = batch.targets(rows.clone())?;
        let (rows, levels) = match (self.source.info.layout, self.source.dtype) {
            (Storage::Bytes, _) => (BlockRows::Bytes(batch.bytes(rows)?), Vec::new()),
            (_, Dtype::Float32) => batch.inputs(rows).map(|(x, levels)| (BlockRows::Dense32(x), levels))?,
            (_, Dtype::Float64) => batch.inputs(rows).map(|(x, levels)| (BlockRows::Dense64(x), levels))?,
        };
        Ok(Some(Block { rows, targets, levels }))
    }
}

impl ArrowReader<'_> {
    /// Reads a batch; false after the last.
    fn next_batch(&mut self) -> Result<bool> {
        let source = self.source;
        // The old one first: there is memory for one.
        (self.batch, self.at) = (None, 0);
        let Some(batch) = self.batches.next().map_err(|reason| source.malformed(reason))? else {
            let declared = source.container.n_rows();
            if self.n_rows == declared {
                return Ok(false);
            }
            return Err(source.malformed(format!("{declared} rows declared, {} there", self.n_rows)));
        };
        let columns = &source.layout.columns;
        let reading = Reading {
            file: &source.info.name,
            parts: &source.layout.parts,
            n_inputs: columns.n_inputs,
            n_targets: columns.n_targets,
            keep_missing: source.keep_missing,
        };
        self.batch = Some(Batch::new(reading, self.n_rows, &batch)?);
        self.n_rows += batch.num_rows() as u64;
        Ok(true)
    }
}
