//! The extension module `mercer._core`: arrays in, arrays out, and nothing computed here.
//!
//! Rows come as NumPy arrays, borrowed where they are computed on at once, copied block by block where they are passed over
//! again and again; Arrow tables become such arrays first. Specs come and go as JSON, the same that model files hold. Work
//! runs without the interpreter's lock, on threads that are kept between calls, and asks it now and then for signals.

mod arrow;
mod functions;
mod input;
mod landmark;
mod map;
mod model;
mod online;
mod source;
mod work;

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<map::Map>()?;
    module.add_class::<landmark::Precomputed>()?;
    module.add_class::<landmark::Inverse>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<online::Online>()?;
    module.add_function(wrap_pyfunction!(arrow::arrow_rows, module)?)?;
    functions::add_to(module)
}

/// The exception that an error of the library is.
fn raised(error: mercer::Error) -> PyErr {
    match error {
        mercer::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        mercer::Error::Memory { .. } | mercer::Error::Expansion { .. } | mercer::Error::BudgetMemory { .. } => {
            PyMemoryError::new_err(error.to_string())
        }
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The exception that an error of a file is.
fn raised_by_file(error: mercer_io::Error) -> PyErr {
    match error {
        mercer_io::Error::NotFound { .. } | mercer_io::Error::Io { .. } | mercer_io::Error::Write { .. } => {
            PyOSError::new_err(error.to_string())
        }
        mercer_io::Error::Room { .. } => PyMemoryError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Reads a spec.
fn parsed<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

/// Writes what Python reads back.
fn written(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
