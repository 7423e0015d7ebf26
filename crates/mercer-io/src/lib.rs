//! Files of rows and targets as [`Source`]s: LIBSVM, CSV, NPY, NPZ and IDX, plain or gzipped.
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
mod csv;
mod detect;
mod error;
mod idx;
mod input;
mod labels;
mod libsvm;
mod lines;
mod npy;
mod npz;
mod open;
mod options;
mod place;
mod value;

pub use error::{Error, Result};
pub use labels::open_with_labels;
pub use open::open;
pub use options::{ColumnRef, Format, ReadOptions, TargetChoice};
pub use place::Place;
