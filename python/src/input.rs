//! Rows as Python has them: a C-contiguous array of two dimensions, or the parts of a CSR matrix.

use mercer::Scalar;
use mercer::dataset::{CsrError, CsrView, IndexSlice, Rows};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Borrowed rows of one float type.
pub(crate) enum Input<'py, T: Element> {
    Dense(PyReadonlyArray2<'py, T>),
    Sparse { n_columns: usize, indptr: Indices<'py>, indices: Indices<'py>, values: PyReadonlyArray1<'py, T> },
}

/// 32 or 64 bits.
pub(crate) enum Indices<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

/// Rows of either type.
pub(crate) enum AnyInput<'py> {
    Float32(Input<'py, f32>),
    Float64(Input<'py, f64>),
}

/// Runs `$body` with `$input` bound to rows of whichever type.
macro_rules! with_input {
    ($any:expr, $input:ident => $body:expr) => {
        match $any {
            $crate::input::AnyInput::Float32($input) => $body,
            $crate::input::AnyInput::Float64($input) => $body,
        }
    };
}
pub(crate) use with_input;

impl<'py> FromPyObject<'_, 'py> for AnyInput<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Some(input) = Input::from_object(&object)? {
            return Ok(Self::Float32(input));
        }
        if let Some(input) = Input::from_object(&object)? {
            return Ok(Self::Float64(input));
        }
        Err(PyTypeError::new_err("rows must be a float32 or float64 array, or the parts of a CSR matrix"))
    }
}

impl<'py, T: Element + Scalar> Input<'py, T> {
    /// Of an array, or of (columns, indptr, indices, values); none of another type.
    fn from_object(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(array) = object.cast::<PyArray2<T>>() {
            if !array.is_c_contiguous() {
                return Err(PyValueError::new_err("rows must be C-contiguous"));
            }
            return Ok(Some(Self::Dense(array.try_readonly()?)));
        }
        let Ok((n_columns, indptr, indices, values)) =
            object.extract::<(usize, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)>()
        else {
            return Ok(None);
        };
        let Ok(values) = values.cast::<PyArray1<T>>() else { return Ok(None) };
        let (indptr, indices) = (Indices::of(&indptr)?, Indices::of(&indices)?);
        Ok(Some(Self::Sparse { n_columns, indptr, indices, values: values.try_readonly()? }))
    }

    /// The rows, which are checked.
    pub(crate) fn rows(&self) -> PyResult<Rows<'_, T>> {
        match self {
            Self::Dense(array) => Ok(Rows::Dense(array.as_array())),
            Self::Sparse { n_columns, indptr, indices, values } => {
                let view = CsrView::new(*n_columns, indptr.slice()?, indices.slice()?, values.as_slice()?);
                Ok(Rows::Sparse(view.map_err(|error| PyValueError::new_err(error.to_string()))?))
            }
        }
    }
}

impl<T: Element + Copy> Input<'_, T> {
    /// The stored values of a sparse row, which was checked when it came but may have changed since.
    pub(crate) fn for_each_of_row(
        &self,
        i: usize,
        mut each: impl FnMut(usize, T) -> Result<(), CsrError>,
    ) -> PyResult<()> {
        let Self::Sparse { indptr, indices, values, .. } = self else { return Ok(()) };
        let changed = || PyValueError::new_err("X changed while it was read");
        let (indptr, indices, values) = (indptr.slice()?, indices.slice()?, values.as_slice()?);
        for at in indptr.at(i)..indptr.at(i + 1) {
            let value = *values.get(at).ok_or_else(changed)?;
            each(indices.at(at), value).map_err(|_| changed())?;
        }
        Ok(())
    }
}

impl<'py> Indices<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArray1<i32>>() {
            return Ok(Self::I32(array.try_readonly()?));
        }
        let array = object.cast::<PyArray1<i64>>().map_err(|_| PyTypeError::new_err("indices have 32 or 64 bits"))?;
        Ok(Self::I64(array.try_readonly()?))
    }

    fn slice(&self) -> PyResult<IndexSlice<'_>> {
        Ok(match self {
            Self::I32(array) => array.as_slice()?.into(),
            Self::I64(array) => array.as_slice()?.into(),
        })
    }
}
