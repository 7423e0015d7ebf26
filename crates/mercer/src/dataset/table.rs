//! A source that was read once: counted, checked, and kept in memory where it fits.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use mercer_simd::{Dtype, Scalar};
use ndarray::ArrayView2;

use super::{
    Block, BlockReader, BlockRows, Encoding, Layout, Selection, Source, SourceInfo, TargetBlock, TargetEncoder,
    TargetScan,
};
use crate::driver::{Progress, Silent};
use crate::{Error, Result};

/// Rows as they stand in their source, words and missing values included, ready for any number of passes.
///
/// Where there are neither words nor missing values it is a [`Dataset`](super::Dataset) already; else an [`Encoding`]
/// makes it one.
pub struct Table {
    info: SourceInfo,
    n_rows: u64,
    n_inputs: usize,
    n_stored: u64,
    dtype: Dtype,
    targets: Option<TargetScan>,
    columns: Vec<ColumnTally>,
    origin: Origin,
}

enum Origin {
    Memory(Vec<Block>),
    Stream(Arc<dyn Source>),
}

/// What a scan saw of a column that may hold words or miss values.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnTally {
    /// Rows without a value.
    pub(super) n_missing: u64,
    /// Rows with one.
    pub(super) n_present: u64,
    /// Of numbers.
    pub(super) mean: f64,
    /// Of words: how often each occurs.
    pub(super) levels: HashMap<String, u64>,
}

/// More levels than this are identifiers or free text, not categories.
const MAX_COUNTED_LEVELS: usize = 1 << 17;

impl Table {
    /// Reads `source` once. Blocks are kept in memory, as stored (bytes as bytes), while they take at most
    /// `cache_bytes`; a larger source is read again at every pass.
    ///
    /// # Errors
    /// What the source finds wrong; no rows; rows of different width; a column of more words than categories have.
    pub fn scan(source: impl Into<Arc<dyn Source>>, cache_bytes: usize) -> Result<Self> {
        Self::scan_with(source, cache_bytes, &Silent)
    }

    /// [`Table::scan`], telling and asking `progress`.
    ///
    /// # Errors
    /// As [`Table::scan`], and [`Error::Interrupted`].
    pub fn scan_with(source: impl Into<Arc<dyn Source>>, cache_bytes: usize, progress: &dyn Progress) -> Result<Self> {
        let source = source.into();
        progress.start("load", source.info().n_rows.unwrap_or(0));
        let scanned = Self::scan_blocks(source, cache_bytes, progress);
        progress.finish();
        scanned
    }

    fn scan_blocks(source: Arc<dyn Source>, cache_bytes: usize, progress: &dyn Progress) -> Result<Self> {
        let mut tally = Tally::new(source.info().clone());
        // What cannot fit is not kept for a while either.
        let mut kept = (source.info().least_memory() <= cache_bytes as u64).then(Vec::new);
        let mut kept_bytes = 0;
        let mut reader = source.read()?;
        while let Some(block) = reader.next_block()? {
            if progress.interrupted() {
                return Err(Error::Interrupted);
            }
            progress.advance(block.rows.n_rows() as u64);
            tally.add(&block)?;
            kept_bytes += block.memory();
            match &mut kept {
                Some(blocks) if kept_bytes <= cache_bytes => blocks.push(block),
                _ => kept = None,
            }
        }
        drop(reader);
        tally.into_table(kept.map_or_else(|| Origin::Stream(source), Origin::Memory))
    }

    /// Rows that are in memory already, with a target for each where there are targets.
    ///
    /// # Errors
    /// Values that are not finite, no rows, or another number of targets than rows.
    pub(super) fn from_memory(name: &str, rows: BlockRows, targets: Option<TargetBlock>) -> Result<Self> {
        let layout = match rows {
            BlockRows::Bytes(_) => Layout::Bytes,
            BlockRows::Dense32(_) | BlockRows::Dense64(_) => Layout::Dense,
            BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => Layout::Sparse,
        };
        let (n_inputs, n_rows) = (Some(rows.n_inputs()), Some(rows.n_rows() as u64));
        let info = SourceInfo { n_inputs, n_rows, ..SourceInfo::new(name, "memory", layout) };
        let mut tally = Tally::new(info);
        let block = Block::new(rows, targets);
        tally.add(&block)?;
        tally.into_table(Origin::Memory(vec![block]))
    }

    /// The selected rows, in memory, with the targets and the columns of all.
    pub(super) fn subset(&self, name: &str, mut selection: Selection) -> Result<Self> {
        let info =
            SourceInfo { name: name.to_owned(), n_inputs: Some(self.n_inputs), n_rows: None, ..self.info.clone() };
        let (mut tally, mut kept) = (Tally::new(info), Vec::new());
        let mut blocks = self.blocks(None)?;
        while let Some(block) = blocks.next_block()? {
            let chosen: Vec<usize> = (0..block.rows.n_rows()).filter(|_| selection.takes(0)).collect();
            if !chosen.is_empty() {
                let block = block.select(&chosen);
                tally.add(&block)?;
                kept.push(block);
            }
        }
        let table = tally.into_table(Origin::Memory(kept))?;
        Ok(Self { targets: self.targets.clone(), columns: self.columns.clone(), ..table })
    }

    /// What the source says of itself.
    pub fn info(&self) -> &SourceInfo {
        &self.info
    }

    /// Number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Columns of a row that are inputs.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of stored values: rows × inputs, or the explicit values of sparse rows.
    pub fn n_stored(&self) -> u64 {
        self.n_stored
    }

    /// The type that holds every value: float64 where some block has it.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// What was seen of the targets, where the source has them.
    pub fn targets(&self) -> Option<&TargetScan> {
        self.targets.as_ref()
    }

    /// Missing values of each input; empty where none can be missing.
    pub fn n_missing(&self) -> Vec<u64> {
        self.columns.iter().map(|column| column.n_missing).collect()
    }

    /// The words of a categorical input, the most frequent first, with how often each occurs.
    pub fn levels(&self, input: usize) -> Vec<(&str, u64)> {
        let Some(column) = self.columns.get(input) else { return Vec::new() };
        let mut levels: Vec<_> = column.levels.iter().map(|(level, &n)| (level.as_str(), n)).collect();
        levels.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        levels
    }

    pub(super) fn columns(&self) -> &[ColumnTally] {
        &self.columns
    }

    /// The name of an input for messages, or its number counted from 1.
    pub(super) fn column_name(&self, input: usize) -> String {
        self.info.input_names.get(input).map_or_else(|| (input + 1).to_string(), |name| format!("{name:?}"))
    }

    /// Whether passes read memory, not the source.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.origin, Origin::Memory(_))
    }

    /// Bytes of the rows that are kept, none where they are read again.
    pub fn memory(&self) -> u64 {
        match &self.origin {
            Origin::Memory(blocks) => blocks.iter().map(|block| block.memory() as u64).sum(),
            Origin::Stream(_) => 0,
        }
    }

    /// Checks that every target fits `encoder`: no label it does not know, as many values in a row.
    ///
    /// # Errors
    /// [`Error::Targets`] with the first that does not, and what the source finds wrong.
    pub fn check_targets(&self, encoder: &TargetEncoder) -> Result<()> {
        let mut blocks = self.blocks(None)?;
        while let Some(block) = blocks.next_block()? {
            let Some(targets) = &block.targets else { continue };
            let fit = match encoder {
                TargetEncoder::Classes { .. } => encoder.class_numbers(targets).map(drop),
                TargetEncoder::Real { .. } => encoder.real_values(targets).map(drop),
            };
            fit.map_err(|error| error.of_targets_in(&self.info.name))?;
        }
        Ok(())
    }

    /// Starts a pass over the blocks, encoded where an encoding is given.
    ///
    /// # Errors
    /// When the source cannot be opened again.
    pub fn blocks<'a>(&'a self, encoding: Option<&'a Encoding>) -> Result<Blocks<'a>> {
        let from = match &self.origin {
            Origin::Memory(blocks) => From::Memory(blocks.iter()),
            Origin::Stream(source) => From::Stream(source.read()?),
        };
        Ok(Blocks { from, categorical: &self.info.categorical, encoding })
    }
}

/// One pass over the blocks of a table or dataset.
pub struct Blocks<'a> {
    from: From<'a>,
    categorical: &'a [usize],
    encoding: Option<&'a Encoding>,
}

enum From<'a> {
    Memory(std::slice::Iter<'a, Block>),
    Stream(Box<dyn BlockReader + 'a>),
}

impl<'a> Blocks<'a> {
    /// The next block.
    ///
    /// # Errors
    /// What the source finds wrong.
    pub fn next_block(&mut self) -> Result<Option<Cow<'a, Block>>> {
        let block = match &mut self.from {
            From::Memory(blocks) => blocks.next().map(Cow::Borrowed),
            From::Stream(reader) => reader.next_block()?.map(Cow::Owned),
        };
        Ok(match (block, self.encoding) {
            (Some(block), Some(encoding)) => Some(Cow::Owned(encoding.apply(&block, self.categorical))),
            (block, _) => block,
        })
    }
}

/// What a scan counts.
struct Tally {
    info: SourceInfo,
    n_rows: u64,
    n_inputs: usize,
    n_stored: u64,
    dtype: Dtype,
    targets: Option<TargetScan>,
    columns: Vec<ColumnTally>,
}

impl Tally {
    fn new(info: SourceInfo) -> Self {
        Self { info, n_rows: 0, n_inputs: 0, n_stored: 0, dtype: Dtype::Float32, targets: None, columns: Vec::new() }
    }

    fn add(&mut self, block: &Block) -> Result<()> {
        let name = &self.info.name;
        let sparse = matches!(block.rows, BlockRows::Sparse32(_) | BlockRows::Sparse64(_));
        let width = block.rows.n_inputs();
        if !sparse && self.n_rows > 0 && width != self.n_inputs {
            return Err(Error::Inputs { context: name.clone(), got: width, expected: self.n_inputs });
        }
        if let Some(targets) = &block.targets {
            if targets.n_rows() != block.rows.n_rows() {
                let (rows, targets) = (block.rows.n_rows(), targets.n_rows());
                return Err(Error::Targets(format!("{name}: {rows} rows but {targets} targets")));
            }
            self.targets.get_or_insert_default().add(targets)?;
        }
        if self.info.missing || !self.info.categorical.is_empty() {
            match &block.rows {
                BlockRows::Dense32(x) => self.add_columns(x.view(), &block.levels)?,
                BlockRows::Dense64(x) => self.add_columns(x.view(), &block.levels)?,
                _ => (),
            }
        }
        if matches!(block.rows, BlockRows::Dense64(_) | BlockRows::Sparse64(_)) {
            self.dtype = Dtype::Float64;
        }
        self.n_rows += block.rows.n_rows() as u64;
        self.n_inputs = self.n_inputs.max(width);
        self.n_stored += block.rows.n_stored() as u64;
        Ok(())
    }

    fn add_columns<T: Scalar>(&mut self, rows: ArrayView2<'_, T>, levels: &[Vec<String>]) -> Result<()> {
        self.columns.resize(rows.ncols(), ColumnTally::default());
        for (input, (column, values)) in self.columns.iter_mut().zip(rows.columns()).enumerate() {
            match self.info.categorical.binary_search(&input) {
                Ok(at) => column.add_levels(values.iter().map(|&x| x.to_f64()), &levels[at]),
                Err(_) => column.add_numbers(values.iter().map(|&x| x.to_f64())),
            }
            if column.levels.len() > MAX_COUNTED_LEVELS {
                let name = self.info.input_names.get(input).map_or((input + 1).to_string(), |name| format!("{name:?}"));
                let reason = format!("holds more than {MAX_COUNTED_LEVELS} different words; leave it out");
                return Err(Error::Column { context: self.info.name.clone(), column: name, reason });
            }
        }
        Ok(())
    }

    fn into_table(self, origin: Origin) -> Result<Table> {
        let context = || self.info.name.clone();
        if self.n_rows == 0 {
            return Err(Error::TooFewRows { context: context(), got: 0, expected: 1 });
        }
        // A declared width beyond the widest sparse row counts: the rest of the columns are zero.
        let n_inputs = self.n_inputs.max(self.info.n_inputs.unwrap_or(0));
        if n_inputs == 0 {
            return Err(Error::Inputs { context: context(), got: 0, expected: 1 });
        }
        let Tally { info, n_rows, n_stored, dtype, targets, columns, .. } = self;
        Ok(Table { info, n_rows, n_inputs, n_stored, dtype, targets, columns, origin })
    }
}

impl ColumnTally {
    fn add_numbers(&mut self, values: impl Iterator<Item = f64>) {
        for value in values {
            if value.is_nan() {
                self.n_missing += 1;
            } else {
                self.n_present += 1;
                self.mean += (value - self.mean) / self.n_present as f64;
            }
        }
    }

    fn add_levels(&mut self, codes: impl Iterator<Item = f64>, levels: &[String]) {
        let mut counts = vec![0; levels.len()];
        for code in codes {
            match counts.get_mut(code as usize) {
                Some(count) if !code.is_nan() => *count += 1,
                _ => self.n_missing += 1,
            }
        }
        for (level, count) in levels.iter().zip(counts).filter(|(_, count)| *count > 0) {
            self.n_present += count;
            match self.levels.get_mut(level) {
                Some(n) => *n += count,
                None => drop(self.levels.insert(level.clone(), count)),
            }
        }
    }
}
