//! Rows and targets, and where they come from.
//!
//! A [`Source`] can be read again and again; each reading gives [`Block`]s of any size, in order, in the storage of
//! the source (bytes stay bytes). A [`Table`] is a source whose rows were counted and checked once; [`Split`] divides it
//! into training and test rows. A [`Dataset`] is a table of numbers: where there were words or missing values, an
//! [`Encoding`] made them numbers. [`Panels`] cuts its blocks into fixed panels of rows by global row number and
//! converts them to the float type, so that no result depends on how a source was blocked.

mod block;
mod encoding;
mod folds;
mod panels;
mod rows;
mod scanned;
mod split;
mod summary;
mod table;
mod targets;

pub use block::{Block, BlockReader, BlockRows, Layout, Source, SourceInfo, TargetBlock};
pub use encoding::{ColumnEncoding, Encoding, EncodingSpec, Impute, UnknownLevels};
pub use folds::{Folds, Selection};
pub use mercer_simd::{CsrError, CsrMatrix, CsrView, Index, IndexSlice};
pub use panels::{Panel, PanelRows, PanelTargets, Panels, SUM_ROWS, TargetUse, panel_rows};
pub use rows::Rows;
pub use scanned::Dataset;
pub use split::{Split, SplitPlan};
pub use summary::ColumnSummary;
pub use table::{Blocks, Table};
pub use targets::{ClassLabel, TargetEncoder, TargetScan, Task};
