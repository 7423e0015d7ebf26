//! Tables of other libraries through Arrow's C data interface: none of them needs to be known or installed.

use std::ffi::CStr;

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use mercer::dataset::BlockRows;
use mercer_io::{TableRows, table_rows};
use numpy::PyArray2;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::raised_by_file;

/// The name that the interface gives to capsules of streams.
const STREAM: &CStr = c"arrow_array_stream";

/// The rows of an object with `__arrow_c_stream__` as one array, and the names of its columns.
#[pyfunction]
pub(crate) fn arrow_rows<'py>(table: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
    let py = table.py();
    let stream = stream(&table.call_method0("__arrow_c_stream__")?)?;
    // Without the lock: who gives the batches may be waiting for it on a thread of their own.
    let read = py.detach(|| table_rows("X", || ArrowArrayStreamReader::try_new(stream)));
    let TableRows { names, rows } = read.map_err(raised_by_file)?;
    if rows.n_rows() == 0 {
        let text = "X has no rows; a reader of batches gives its rows only once: read them into a table before";
        return Err(PyValueError::new_err(text));
    }
    let array = match rows {
        BlockRows::Bytes(rows) => PyArray2::from_owned_array(py, rows).into_any(),
        BlockRows::Dense32(rows) => PyArray2::from_owned_array(py, rows).into_any(),
        BlockRows::Dense64(rows) => PyArray2::from_owned_array(py, rows).into_any(),
        BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => return Err(PyTypeError::new_err("X is sparse")),
    };
    Ok((array, names))
}

/// Takes the stream out of a capsule, which is left with one that is released.
fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let refused = || PyTypeError::new_err("X.__arrow_c_stream__() gives no capsule of an Arrow stream");
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| refused())?;
    let stream = capsule.pointer_checked(Some(STREAM)).map_err(|_| refused())?.cast();
    // SAFETY: by its name the capsule holds a pointer to an initialised stream of the C data interface, which it owns and
    // which stays where it is as long as the capsule, borrowed here, lives. Nobody else uses it meanwhile: we hold the
    // interpreter's lock, and no Python code runs. The stream is moved out, so what is left to the capsule's destructor
    // has nothing to release, and a second use finds a stream that is released.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) })
}
