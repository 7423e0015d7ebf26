//! Files: rows and targets as [`Source`]s (LIBSVM, CSV, NPY, NPZ and IDX, plain or packed by gzip, xz, zstd or bzip2;
//! Parquet, Arrow), models, predictions.
//!
//! [`open`] tells the format by the content, reads the beginning of the file, and gives a source that streams the
//! rows in blocks; [`open_many`] reads several files as one, [`open_bytes`] bytes in memory, and [`open_with_labels`]
//! joins rows with the targets of other files. Every rejection is one [`Error`] that names the file, the place in it,
//! what was found there and what to do.
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
mod locate;
mod model_file;
mod npy;
mod npz;
mod number;
mod open;
mod options;
mod output;
mod packing;
mod parts;
mod patterns;
mod place;
mod spool;
mod value;
mod write;

#[cfg(feature = "arrow")]
pub use arrow::{TableRows, table_rows};
pub use digits::digits;
pub use error::{Error, Result};
pub use labels::open_with_labels;
pub use model_file::{
    TensorShapes, check_inputs, is_model, load_model, model_from_bytes, model_to_bytes, read_model_header, save_model,
};
pub use open::{open, open_bytes, open_many};
pub use options::{CategoricalChoice, ColumnRef, Format, InputChoice, ReadOptions, TargetChoice};
pub use output::{OutputFile, remove_unfinished, write_error};
pub use patterns::list_files;
pub use place::Place;
pub use write::{BlockWriter, Schema, WRITTEN, create, csv_stream, holds_one_array};
