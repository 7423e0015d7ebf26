//! Files: rows and targets as [`Source`]s (LIBSVM, CSV, NPY, NPZ and IDX, plain or gzipped,
//! Parquet, Arrow), models, predictions.
//!
//! [`open`] tells the format by the content, reads the beginning of the file, and gives a source that streams the
//! rows in blocks. [`open_with_labels`] joins the rows of one file with the targets of another. Every rejection is
//! one [`Error`] that names the file, the place in it, what was found there and what to do.
//!
//! ```no_run
//! use mercer_io::{ReadOptions, open};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = open("train.csv.gz", &ReadOptions::default())?;
//! let mut reader = source.read()?;
//! while let Some(block) = reader.next_block()? {
//!     println!("{} rows of {} inputs", block.rows.n_rows(), block.rows.n_inputs());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Source`]: mercer::dataset::Source

#![deny(unsafe_code)]

mod array;
#[cfg(feature = "arrow")]
mod arrow;
mod columns;
mod csv;
mod detect;
mod digits;
mod error;
mod idx;
mod input;
mod labels;
mod libsvm;
mod lines;
mod model_file;
mod npy;
mod npz;
mod open;
mod options;
mod output;
mod place;
mod predictions;
mod value;
mod write;

pub use digits::digits;
pub use error::{Error, Result};
pub use labels::open_with_labels;
pub use model_file::{TensorShapes, check_inputs, load_model, model_to_bytes, read_model_header, save_model};
pub use open::open;
pub use options::{CategoricalChoice, ColumnRef, Format, InputChoice, ReadOptions, TargetChoice};
pub use output::{OutputFile, remove_unfinished, write_error};
pub use place::Place;
pub use predictions::PredictionWriter;
#[cfg(feature = "arrow")]
pub use write::ColumnWriter;
pub use write::{BlockWriter, Schema};
