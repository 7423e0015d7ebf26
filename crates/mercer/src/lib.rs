//! Fast kernel learning: kernels as small explicit feature maps, and linear models on top.
//!
//! The flow, which is also the list of modules:
//!
//! ```text
//! dataset → preprocess → feature_maps → learners → metrics → model
//!                             │
//!                        projections
//! ```
//!
//! The library reads no files and prints nothing: `mercer-io` brings files, `mercer-cli` the command line.

// Denied, not forbidden: the slicing macro of ndarray allows it for itself.
#![deny(unsafe_code)]

pub mod budget;
pub mod dataset;
mod driver;
mod eigen;
mod error;
pub mod feature_maps;
pub mod hadamard;
pub mod kernels;
pub mod learners;
pub mod metrics;
pub mod model;
pub mod pipeline;
mod pivoted;
pub mod preprocess;
pub mod projections;
pub mod random;
mod room;
pub mod selection;

pub use driver::{Driver, Progress, Silent};
pub use error::{Error, Result};
pub use mercer_simd::{Dtype, InstructionSet, Scalar};
