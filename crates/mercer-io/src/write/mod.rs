//! Tables as files: rows, targets and predictions, in the format that the file's name asks for.

#[cfg(feature = "arrow")]
mod columns;

use mercer::Dtype;
use mercer::dataset::{Block, Layout};

use crate::Result;
#[cfg(feature = "arrow")]
pub use columns::ColumnWriter;

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
