//! What holds for any bytes: they are read by the rules of a [`Source`](mercer::dataset::Source), or refused. The tests
//! here try some bytes, and `fuzz/`, which includes this folder, tries many.

mod model;
mod options;
mod reading;
mod transcript;

pub(crate) use model::{check_model, small_models};
pub(crate) use options::{N_BYTES, options_from};
pub(crate) use reading::{Care, check_rows};
