//! What a source of data gives: blocks of raw rows with their raw targets.

use mercer_simd::{CsrMatrix, Scalar};
use ndarray::{Array2, Axis, concatenate};

use crate::Result;

/// Rows that can be read from the start as often as needed: a file, arrays in memory.
pub trait Source: Send + Sync {
    /// What is known before reading.
    fn info(&self) -> &SourceInfo;

    /// Starts a reading from the first row.
    ///
    /// # Errors
    /// When the source cannot be opened or its beginning is malformed.
    fn read(&self) -> Result<Box<dyn BlockReader + '_>>;
}

/// One reading of a [`Source`].
pub trait BlockReader: Send {
    /// The next rows, at least one; `None` after the last.
    ///
    /// # Errors
    /// When the data is malformed, with the place. The reading is over then.
    fn next_block(&mut self) -> Result<Option<Block>>;
}

/// What is known of a source before reading it.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceInfo {
    /// For messages: the path as the user gave it.
    pub name: String,
    /// For messages: "CSV", "LIBSVM, gzip", …
    pub format: String,
    /// How rows are stored.
    pub layout: Layout,
    /// Inputs of a row, where the format declares it (LIBSVM does not).
    pub n_inputs: Option<usize>,
    /// Number of rows, where the format declares it.
    pub n_rows: Option<u64>,
    /// Names of the inputs, where the format has them; empty otherwise.
    pub input_names: Vec<String>,
    /// Names of the target columns, one for each; empty where there are no targets.
    pub target_names: Vec<String>,
    /// Inputs that hold words, as the numbers of their levels ([`Block::levels`]); ascending.
    pub categorical: Vec<usize>,
    /// Whether values of dense floats may be missing: NaN stands for them.
    pub missing: bool,
    /// Bytes of a text, or at least so many: those of its file, packed or not; where there is one.
    pub n_bytes: Option<u64>,
}

impl SourceInfo {
    /// Of a source of numbers, nothing else known.
    pub fn new(name: impl Into<String>, format: impl Into<String>, layout: Layout) -> Self {
        Self {
            name: name.into(),
            format: format.into(),
            layout,
            n_inputs: None,
            n_rows: None,
            input_names: Vec::new(),
            target_names: Vec::new(),
            categorical: Vec::new(),
            missing: false,
            n_bytes: None,
        }
    }

    /// Bytes of memory that all rows take, at least: those of their values where the number is known. In text, a value
    /// of four bytes is hardly ever longer than 32 characters.
    pub fn least_memory(&self) -> u64 {
        let size = if self.layout == Layout::Bytes { 1 } else { 4 };
        match (self.layout, self.n_rows, self.n_inputs, self.n_bytes) {
            (Layout::Bytes | Layout::Dense, Some(rows), Some(inputs), _) => {
                rows.saturating_mul(inputs as u64).saturating_mul(size)
            }
            (_, _, _, Some(bytes)) => bytes / 8,
            _ => 0,
        }
    }
}

/// How the rows of a source are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Dense bytes, 0 to 255: images.
    Bytes,
    /// Dense floats.
    Dense,
    /// Compressed sparse rows.
    Sparse,
}

/// Some consecutive rows of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The rows, all values finite; NaN stands for a missing one where [`SourceInfo::missing`] says so.
    pub rows: BlockRows,
    /// A target for each row, where the source has targets.
    pub targets: Option<TargetBlock>,
    /// For each of [`SourceInfo::categorical`], what its numbers 0, 1, 2, … stand for in this block.
    pub levels: Vec<Vec<String>>,
}

impl Block {
    /// Rows of numbers.
    pub fn new(rows: BlockRows, targets: Option<TargetBlock>) -> Self {
        Self { rows, targets, levels: Vec::new() }
    }

    /// These rows of the block, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let targets = self.targets.as_ref().map(|targets| targets.select(rows));
        Self { rows: self.rows.select(rows), targets, levels: self.levels.clone() }
    }

    /// Bytes of memory the block takes.
    pub fn memory(&self) -> usize {
        let levels = self.levels.iter().flatten().map(|level| level.len() + size_of::<String>());
        self.rows.memory() + self.targets.as_ref().map_or(0, TargetBlock::memory) + levels.sum::<usize>()
    }
}

/// Rows in the storage of their source.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockRows {
    /// Dense bytes.
    Bytes(Array2<u8>),
    /// Dense f32, row-major.
    Dense32(Array2<f32>),
    /// Dense f64, row-major.
    Dense64(Array2<f64>),
    /// Sparse f32. The number of columns is the widest seen so far where the format declares none.
    Sparse32(CsrMatrix<f32>),
    /// Sparse f64, likewise.
    Sparse64(CsrMatrix<f64>),
}

/// Targets as they stand in the source.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetBlock {
    /// One row of numbers for each row of data; usually one column.
    Numbers(Array2<f64>),
    /// One text for each row, trimmed. Text that is a number throughout is read as numbers by [`super::TargetScan`].
    Text(Vec<String>),
}

impl BlockRows {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Bytes(x) => x.nrows(),
            Self::Dense32(x) => x.nrows(),
            Self::Dense64(x) => x.nrows(),
            Self::Sparse32(x) => x.n_rows(),
            Self::Sparse64(x) => x.n_rows(),
        }
    }

    /// Inputs of a row.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Bytes(x) => x.ncols(),
            Self::Dense32(x) => x.ncols(),
            Self::Dense64(x) => x.ncols(),
            Self::Sparse32(x) => x.n_columns(),
            Self::Sparse64(x) => x.n_columns(),
        }
    }

    fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Bytes(x) => Self::Bytes(x.select(Axis(0), rows)),
            Self::Dense32(x) => Self::Dense32(x.select(Axis(0), rows)),
            Self::Dense64(x) => Self::Dense64(x.select(Axis(0), rows)),
            Self::Sparse32(x) => Self::Sparse32(select_sparse(x, rows)),
            Self::Sparse64(x) => Self::Sparse64(select_sparse(x, rows)),
        }
    }

    /// Number of stored values.
    pub fn n_stored(&self) -> usize {
        match self {
            Self::Sparse32(x) => x.nnz(),
            Self::Sparse64(x) => x.nnz(),
            _ => self.n_rows() * self.n_inputs(),
        }
    }

    /// Bytes of memory the rows take.
    pub fn memory(&self) -> usize {
        match self {
            Self::Bytes(x) => x.len(),
            Self::Dense32(x) => x.len() * 4,
            Self::Dense64(x) => x.len() * 8,
            Self::Sparse32(x) => x.nnz() * 8 + x.n_rows() * 8,
            Self::Sparse64(x) => x.nnz() * 12 + x.n_rows() * 8,
        }
    }
}

fn select_sparse<T: Scalar>(from: &CsrMatrix<T>, rows: &[usize]) -> CsrMatrix<T> {
    let mut selected = CsrMatrix::new(from.n_columns());
    rows.iter().for_each(|&i| selected.push_row_of(from.view(), i));
    selected
}

impl TargetBlock {
    /// The targets of consecutive blocks as one: numbers where all are, else text.
    pub fn join(parts: Vec<Self>) -> Option<Self> {
        if parts.iter().any(|part| matches!(part, Self::Text(_))) {
            return Some(Self::Text(parts.into_iter().flat_map(Self::into_text).collect()));
        }
        let numbers = parts.iter().filter_map(|part| if let Self::Numbers(x) = part { Some(x.view()) } else { None });
        concatenate(Axis(0), &numbers.collect::<Vec<_>>()).ok().map(Self::Numbers)
    }

    fn into_text(self) -> Vec<String> {
        match self {
            Self::Text(text) => text,
            Self::Numbers(x) => x.iter().map(ToString::to_string).collect(),
        }
    }

    pub(super) fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(x) => Self::Numbers(x.select(Axis(0), rows)),
            Self::Text(x) => Self::Text(rows.iter().map(|&i| x[i].clone()).collect()),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Numbers(x) => x.nrows(),
            Self::Text(x) => x.len(),
        }
    }

    /// Bytes of memory the targets take.
    pub fn memory(&self) -> usize {
        match self {
            Self::Numbers(x) => x.len() * 8,
            Self::Text(x) => x.iter().map(|text| text.len() + size_of::<String>()).sum(),
        }
    }
}
