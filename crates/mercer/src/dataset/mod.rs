//! Rows and targets, and where they come from.
//!
//! A [`Source`] can be read again and again; each reading gives [`Block`]s of any size, in order, in the storage of
//! the source (bytes stay bytes). `Panels` cuts them into fixed panels of rows by global row number and converts
//! them to the float type, so that no result depends on how a source was blocked.

mod block;
mod rows;

pub use block::{Block, BlockReader, BlockRows, Layout, Source, SourceInfo, TargetBlock};
pub use mercer_simd::{CsrError, CsrMatrix, CsrView, Index, IndexSlice};
pub use rows::Rows;
