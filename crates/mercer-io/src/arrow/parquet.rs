//! Parquet: row groups of column chunks of pages, described by a footer.
//!
//! The footer's Arrow schema is not used: the Parquet types say enough, and it is one more thing to be damaged. Row
//! groups are read one after the other, some thousand rows at a time, so memory holds one page of each column.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetStatisticsPolicy, RowGroupMetaData};

use super::chunks::Chunks;
use super::footer::is_footer;
use super::guard::guarded;
use super::pages::check_pages;
use super::row_group::RowGroup;
use super::{Batches, Container, Decoded};

/// Magic and length at the end of the file.
const TAIL: usize = 8;

/// A Parquet file.
pub(super) struct ParquetFile {
    chunks: Chunks,
    metadata: ArrowReaderMetadata,
    n_rows: u64,
}

impl ParquetFile {
    pub(super) fn open(chunks: Chunks) -> Decoded<Self> {
        check_footer(&chunks)?;
        let options = ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_page_index_policy(PageIndexPolicy::Skip)
            .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll);
        let metadata = guarded(|| ArrowReaderMetadata::load(&chunks, options).map_err(|error| error.to_string()))?;
        let add = |sum: u64, group: i64| u64::try_from(group).ok().and_then(|n| sum.checked_add(n));
        let groups = metadata.metadata().row_groups().iter().map(RowGroupMetaData::num_rows);
        let n_rows = groups.into_iter().try_fold(0, add).ok_or("the number of rows is negative")?;
        Ok(Self { chunks, metadata, n_rows })
    }
}

/// The length of the footer, which the crate would allocate, is that of bytes that are there, and they are a footer.
fn check_footer(chunks: &Chunks) -> Decoded<()> {
    let size = chunks.size();
    let Some(at) = size.checked_sub(TAIL as u64) else { return Err("it ends after the magic".to_owned()) };
    let mut tail = [0; TAIL];
    chunks.read_exact(at, &mut tail).map_err(|error| error.to_string())?;
    let [a, b, c, d, magic @ ..] = tail;
    match (&magic, u64::from(u32::from_le_bytes([a, b, c, d]))) {
        (b"PARE", _) => Err("it is encrypted".to_owned()),
        (b"PAR1", len) if len <= at => {
            let footer = chunks.bytes(at - len, len as usize).map_err(|error| error.to_string())?;
            is_footer(&footer).then_some(()).ok_or_else(|| "its footer is damaged".to_owned())
        }
        (b"PAR1", len) => Err(format!("a footer of {len} bytes in a file of {size}")),
        _ => Err("it does not end with a footer, it was cut off".to_owned()),
    }
}

impl Container for ParquetFile {
    fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn batches(&self, columns: &[usize], rows: usize) -> Decoded<Box<dyn Batches>> {
        let roots = columns.iter().copied();
        let schema = self.metadata.parquet_schema();
        let mask = ProjectionMask::roots(schema, roots);
        let levels =
            guarded(|| parquet_to_arrow_field_levels(schema, mask.clone(), None).map_err(|error| error.to_string()))?;
        let (chunks, metadata) = (self.chunks.clone(), Arc::clone(self.metadata.metadata()));
        // The crate takes memory for a batch before it reads one.
        let rows = usize::try_from(self.n_rows).map_or(rows, |all| rows.min(all));
        Ok(Box::new(ParquetBatches { chunks, metadata, mask, levels, rows, group: 0, reader: None }))
    }
}

/// One reading of some columns.
struct ParquetBatches {
    chunks: Chunks,
    metadata: Arc<ParquetMetaData>,
    mask: ProjectionMask,
    levels: FieldLevels,
    rows: usize,
    /// The row group to open next.
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
}

impl Batches for ParquetBatches {
    fn next(&mut self) -> Decoded<Option<RecordBatch>> {
        loop {
            if let Some(reader) = &mut self.reader
                && let Some(batch) = guarded(|| reader.next().transpose().map_err(|error| error.to_string()))?
            {
                return Ok(Some(batch));
            }
            if self.group == self.metadata.num_row_groups() {
                return Ok(None);
            }
            self.reader = Some(self.open_group()?);
            self.group += 1;
        }
    }
}

impl ParquetBatches {
    fn open_group(&self) -> Decoded<ParquetRecordBatchReader> {
        let columns = self.metadata.row_group(self.group).columns().iter().enumerate();
        let check = |(leaf, chunk)| match self.mask.leaf_included(leaf) {
            true => check_pages(&self.chunks, chunk),
            false => Ok(Vec::new()),
        };
        let unpacked = columns.map(check).collect::<Decoded<_>>()?;
        let (chunks, metadata) = (self.chunks.clone(), Arc::clone(&self.metadata));
        let group = RowGroup { chunks, metadata, group: self.group, unpacked };
        guarded(|| {
            let reader = ParquetRecordBatchReader::try_new_with_row_groups(&self.levels, &group, self.rows, None);
            reader.map_err(|error| error.to_string())
        })
    }
}
