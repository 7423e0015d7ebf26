//! A source that was read once, counted, checked, and kept in memory where it fits.

use std::borrow::Cow;

use super::{Block, BlockReader, BlockRows, Layout, Source, SourceInfo, TargetBlock, TargetEncoder, TargetScan};
use crate::driver::{Progress, Silent};
use crate::{Error, Result};

/// Rows ready for any number of passes: their number, width and targets are known and every value was checked.
pub struct Dataset {
    info: SourceInfo,
    n_rows: u64,
    n_inputs: usize,
    n_stored: u64,
    targets: Option<TargetScan>,
    origin: Origin,
}

enum Origin {
    Memory(Vec<Block>),
    Stream(Box<dyn Source>),
}

impl Dataset {
    /// Reads `source` once. Blocks are kept in memory, as stored (bytes as bytes), while they take at most
    /// `cache_bytes`; a larger source is read again at every pass.
    ///
    /// # Errors
    /// What the source finds wrong; no rows; rows of different width.
    pub fn scan(source: Box<dyn Source>, cache_bytes: usize) -> Result<Self> {
        Self::scan_with(source, cache_bytes, &Silent)
    }

    /// [`Dataset::scan`], telling and asking `progress`.
    ///
    /// # Errors
    /// As [`Dataset::scan`], and [`Error::Interrupted`].
    pub fn scan_with(source: Box<dyn Source>, cache_bytes: usize, progress: &dyn Progress) -> Result<Self> {
        progress.start("load", source.info().n_rows.unwrap_or(0));
        let scanned = Self::scan_blocks(source, cache_bytes, progress);
        progress.finish();
        scanned
    }

    fn scan_blocks(source: Box<dyn Source>, cache_bytes: usize, progress: &dyn Progress) -> Result<Self> {
        let mut tally = Tally::default();
        let mut kept = Some(Vec::new());
        let mut kept_bytes = 0;
        let mut reader = source.read()?;
        while let Some(block) = reader.next_block()? {
            if progress.interrupted() {
                return Err(Error::Interrupted);
            }
            progress.advance(block.rows.n_rows() as u64);
            tally.add(&block, &source.info().name)?;
            kept_bytes += block.rows.memory() + block.targets.as_ref().map_or(0, TargetBlock::memory);
            match &mut kept {
                Some(blocks) if kept_bytes <= cache_bytes => blocks.push(block),
                _ => kept = None,
            }
        }
        drop(reader);
        let info = source.info().clone();
        let origin = kept.map_or_else(|| Origin::Stream(source), Origin::Memory);
        tally.into_dataset(info, origin)
    }

    /// Rows that are in memory already, with a target for each where there are targets.
    ///
    /// # Errors
    /// Values that are not finite, no rows, or another number of targets than rows.
    pub fn from_memory(name: &str, rows: BlockRows, targets: Option<TargetBlock>) -> Result<Self> {
        check_finite(&rows)?;
        let layout = match rows {
            BlockRows::Bytes(_) => Layout::Bytes,
            BlockRows::Dense32(_) | BlockRows::Dense64(_) => Layout::Dense,
            BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => Layout::Sparse,
        };
        let info = SourceInfo {
            name: name.to_owned(),
            format: "memory".to_owned(),
            layout,
            n_inputs: Some(rows.n_inputs()),
            n_rows: Some(rows.n_rows() as u64),
            input_names: Vec::new(),
            target_names: Vec::new(),
        };
        let block = Block { rows, targets };
        let mut tally = Tally::default();
        tally.add(&block, name)?;
        tally.into_dataset(info, Origin::Memory(vec![block]))
    }

    /// What the source says of itself.
    pub fn info(&self) -> &SourceInfo {
        &self.info
    }

    /// Number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Inputs of a row.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of stored values: rows × inputs, or the explicit values of sparse rows.
    pub fn n_stored(&self) -> u64 {
        self.n_stored
    }

    /// What was seen of the targets, where the source has them.
    pub fn targets(&self) -> Option<&TargetScan> {
        self.targets.as_ref()
    }

    /// Checks that every target fits `encoder`: no label it does not know, as many values in a row.
    ///
    /// # Errors
    /// [`Error::Targets`] with the first that does not, and what the source finds wrong.
    pub fn check_targets(&self, encoder: &TargetEncoder) -> Result<()> {
        let mut blocks = self.blocks()?;
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

    /// Whether passes read memory, not the source.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.origin, Origin::Memory(_))
    }

    /// Starts a pass over the blocks.
    ///
    /// # Errors
    /// When the source cannot be opened again.
    pub fn blocks(&self) -> Result<Blocks<'_>> {
        Ok(match &self.origin {
            Origin::Memory(blocks) => Blocks::Memory(blocks.iter()),
            Origin::Stream(source) => Blocks::Stream(source.read()?),
        })
    }
}

/// One pass over the blocks of a [`Dataset`].
pub enum Blocks<'a> {
    /// Borrowed from memory.
    Memory(std::slice::Iter<'a, Block>),
    /// Read from the source.
    Stream(Box<dyn BlockReader + 'a>),
}

impl<'a> Blocks<'a> {
    /// The next block.
    ///
    /// # Errors
    /// What the source finds wrong.
    pub fn next_block(&mut self) -> Result<Option<Cow<'a, Block>>> {
        match self {
            Self::Memory(blocks) => Ok(blocks.next().map(Cow::Borrowed)),
            Self::Stream(reader) => Ok(reader.next_block()?.map(Cow::Owned)),
        }
    }
}

/// What a scan counts.
#[derive(Default)]
struct Tally {
    n_rows: u64,
    n_inputs: usize,
    n_stored: u64,
    targets: Option<TargetScan>,
}

impl Tally {
    fn add(&mut self, block: &Block, name: &str) -> Result<()> {
        let sparse = matches!(block.rows, BlockRows::Sparse32(_) | BlockRows::Sparse64(_));
        let width = block.rows.n_inputs();
        if !sparse && self.n_rows > 0 && width != self.n_inputs {
            return Err(Error::Inputs { context: name.to_owned(), got: width, expected: self.n_inputs });
        }
        if let Some(targets) = &block.targets {
            if targets.n_rows() != block.rows.n_rows() {
                let (rows, targets) = (block.rows.n_rows(), targets.n_rows());
                return Err(Error::Targets(format!("{name}: {rows} rows but {targets} targets")));
            }
            self.targets.get_or_insert_default().add(targets)?;
        }
        self.n_rows += block.rows.n_rows() as u64;
        self.n_inputs = self.n_inputs.max(width);
        self.n_stored += block.rows.n_stored() as u64;
        Ok(())
    }

    fn into_dataset(self, info: SourceInfo, origin: Origin) -> Result<Dataset> {
        let context = || info.name.clone();
        if self.n_rows == 0 {
            return Err(Error::TooFewRows { context: context(), got: 0, expected: 1 });
        }
        // A declared width beyond the widest sparse row counts: the rest of the columns are zero.
        let n_inputs = self.n_inputs.max(info.n_inputs.unwrap_or(0));
        if n_inputs == 0 {
            return Err(Error::Inputs { context: context(), got: 0, expected: 1 });
        }
        let Tally { n_rows, n_stored, targets, .. } = self;
        Ok(Dataset { info, n_rows, n_inputs, n_stored, targets, origin })
    }
}

fn check_finite(rows: &BlockRows) -> Result<()> {
    let bad = match rows {
        BlockRows::Bytes(_) => None,
        BlockRows::Dense32(x) => x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, f64::from(v))),
        BlockRows::Dense64(x) => x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, v)),
        BlockRows::Sparse32(x) => first_not_finite(&x.map(f64::from)),
        BlockRows::Sparse64(x) => first_not_finite(x),
    };
    bad.map_or(Ok(()), |((row, input), value)| Err(Error::NotFinite { row: row as u64, input, value }))
}

fn first_not_finite(rows: &super::CsrMatrix<f64>) -> Option<((usize, usize), f64)> {
    let rows = rows.view();
    (0..rows.n_rows()).find_map(|i| rows.row(i).find(|(_, v)| !v.is_finite()).map(|(j, v)| ((i, j), v)))
}
