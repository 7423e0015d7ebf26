//! Landmarks of kernel values that are given, and the way back from features to rows.

use mercer::budget::{BudgetMethod, choose_columns};
use mercer::dataset::Rows;
use mercer::feature_maps::{FeatureMap, PreImage, PrecomputedMap};
use mercer::kernels::Kernel;
use mercer::{Result, Scalar};
use ndarray::Array2;
use numpy::{Element, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::input::{AnyInput, Input};
use crate::work::{Options, run};
use crate::{parsed, raised, written};

/// The Nyström method of kernel values.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Precomputed {
    map: AnyMap,
}

/// Of either type.
enum AnyMap {
    Float32(PrecomputedMap<f32>),
    Float64(PrecomputedMap<f64>),
}

#[pymethods]
impl Precomputed {
    /// Of K, of all rows with all, and of the numbers of the landmarks, or else of how they are chosen and how many.
    #[staticmethod]
    fn fit<'py>(
        py: Python<'py>,
        gram: AnyInput<'py>,
        landmarks: Option<Vec<usize>>,
        budget: (String, usize),
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let method: BudgetMethod = parsed("budget", &format!("{:?}", budget.0))?;
        let chosen = (landmarks, (method, budget.1), seed);
        let map = match gram {
            AnyInput::Float32(gram) => AnyMap::Float32(fitted(py, &gram, chosen, threads)?),
            AnyInput::Float64(gram) => AnyMap::Float64(fitted(py, &gram, chosen, threads)?),
        };
        Ok(Self { map })
    }

    /// Learned parts put together.
    #[staticmethod]
    fn from_parts(landmarks: Vec<usize>, whitening: &Bound<'_, PyAny>) -> PyResult<Self> {
        let map = if let Ok(whitening) = whitening.cast::<PyArray2<f32>>() {
            PrecomputedMap::from_parts(landmarks, whitening.to_owned_array()).map(AnyMap::Float32)
        } else {
            let whitening = whitening.cast::<PyArray2<f64>>().map_err(PyErr::from)?;
            PrecomputedMap::from_parts(landmarks, whitening.to_owned_array()).map(AnyMap::Float64)
        };
        Ok(Self { map: map.map_err(raised)? })
    }

    /// The numbers of the landmarks that are left.
    #[getter]
    fn landmarks(&self) -> Vec<usize> {
        match &self.map {
            AnyMap::Float32(map) => map.landmarks().to_vec(),
            AnyMap::Float64(map) => map.landmarks().to_vec(),
        }
    }

    /// R⁻¹
    #[getter]
    fn whitening<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.map {
            AnyMap::Float32(map) => PyArray2::from_owned_array(py, map.whitening().to_owned()).into_any(),
            AnyMap::Float64(map) => PyArray2::from_owned_array(py, map.whitening().to_owned()).into_any(),
        }
    }

    /// The features of kernel values with the landmarks, in the type fitted to.
    fn transform<'py>(&self, py: Python<'py>, values: AnyInput<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        match (&self.map, values) {
            (AnyMap::Float32(map), AnyInput::Float32(values)) => whitened(py, map, &values, threads),
            (AnyMap::Float64(map), AnyInput::Float64(values)) => whitened(py, map, &values, threads),
            _ => Err(PyValueError::new_err("kernel values of another type than those fitted to")),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, map) = (slf.py(), slf.get());
        Ok((slf.get_type().getattr("from_parts")?, (map.landmarks(), map.whitening(py)).into_pyobject(py)?))
    }
}

fn fitted<T: Element + Scalar>(
    py: Python<'_>,
    gram: &Input<'_, T>,
    (landmarks, (method, n_landmarks), seed): (Option<Vec<usize>>, (BudgetMethod, usize), u64),
    threads: usize,
) -> PyResult<PrecomputedMap<T>> {
    let Rows::Dense(gram) = gram.rows()? else { return Err(PyValueError::new_err("a kernel matrix is dense")) };
    run(py, Options { threads, memory: None, size: gram.len() }, |driver| {
        driver.time("fit map", || {
            let landmarks = match landmarks {
                Some(landmarks) => landmarks,
                None => choose_columns(method, gram, n_landmarks, seed)?,
            };
            PrecomputedMap::fit(gram, &landmarks)
        })
    })
}

fn whitened<'py, T: Element + Scalar>(
    py: Python<'py>,
    map: &PrecomputedMap<T>,
    values: &Input<'py, T>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = values.rows()?;
    let n_components = map.n_components();
    let features = run(py, Options { threads, memory: None, size: rows.n_rows() * n_components }, |driver| {
        let mut out = Array2::zeros((rows.n_rows(), n_components));
        driver.transform(map, rows, out.view_mut())?;
        Ok(out)
    })?;
    Ok(PyArray2::from_owned_array(py, features).into_any())
}

/// The way back of features of one type.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Inverse {
    back: AnyBack,
}

/// Of either type.
enum AnyBack {
    Float32(PreImage<f32>),
    Float64(PreImage<f64>),
}

#[pymethods]
impl Inverse {
    /// Kernel ridge regression of rows on their features.
    #[staticmethod]
    fn fit<'py>(
        py: Python<'py>,
        kernel: &str,
        features: AnyInput<'py>,
        rows: AnyInput<'py>,
        alpha: f64,
        threads: usize,
    ) -> PyResult<Self> {
        let kernel: Kernel = parsed("kernel", kernel)?;
        let back = match (features, rows) {
            (AnyInput::Float32(features), AnyInput::Float32(rows)) => {
                AnyBack::Float32(learned(py, kernel, (&features, &rows), alpha, threads)?)
            }
            (AnyInput::Float64(features), AnyInput::Float64(rows)) => {
                AnyBack::Float64(learned(py, kernel, (&features, &rows), alpha, threads)?)
            }
            _ => return Err(PyValueError::new_err("features are of another type than the rows")),
        };
        Ok(Self { back })
    }

    /// Learned parts put together.
    #[staticmethod]
    fn from_parts(kernel: &str, features: AnyInput<'_>, coefficients: &Bound<'_, PyArray2<f64>>) -> PyResult<Self> {
        let (kernel, coefficients) = (parsed("kernel", kernel)?, coefficients.to_owned_array());
        let back = match features {
            AnyInput::Float32(features) => AnyBack::Float32(put_together(kernel, &features, coefficients)?),
            AnyInput::Float64(features) => AnyBack::Float64(put_together(kernel, &features, coefficients)?),
        };
        Ok(Self { back })
    }

    /// Rows of features, in the type fitted to.
    fn inverse<'py>(&self, py: Python<'py>, features: AnyInput<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        match (&self.back, features) {
            (AnyBack::Float32(back), AnyInput::Float32(features)) => inverted(py, back, &features, threads),
            (AnyBack::Float64(back), AnyInput::Float64(features)) => inverted(py, back, &features, threads),
            _ => Err(PyValueError::new_err("features of another type than those fitted to")),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let parts = match &slf.get().back {
            AnyBack::Float32(back) => parts(py, back)?,
            AnyBack::Float64(back) => parts(py, back)?,
        };
        Ok((slf.get_type().getattr("from_parts")?, parts))
    }
}

fn dense<'a, T: Element + Scalar>(features: &'a Input<'_, T>) -> PyResult<ndarray::ArrayView2<'a, T>> {
    match features.rows()? {
        Rows::Dense(features) => Ok(features),
        Rows::Sparse(_) => Err(PyValueError::new_err("features are dense")),
    }
}

fn learned<T: Element + Scalar>(
    py: Python<'_>,
    kernel: Kernel,
    (features, rows): (&Input<'_, T>, &Input<'_, T>),
    alpha: f64,
    threads: usize,
) -> PyResult<PreImage<T>> {
    let (features, rows) = (dense(features)?.to_owned(), rows.rows()?);
    let size = features.nrows() * features.nrows();
    run(py, Options { threads, memory: None, size }, |driver| {
        driver.time("fit inverse", || PreImage::fit(kernel, features, rows, alpha))
    })
}

fn put_together<T: Element + Scalar>(
    kernel: Kernel,
    features: &Input<'_, T>,
    coefficients: Array2<f64>,
) -> PyResult<PreImage<T>> {
    PreImage::from_parts(kernel, dense(features)?.to_owned(), coefficients).map_err(raised)
}

fn inverted<'py, T: Element + Scalar>(
    py: Python<'py>,
    back: &PreImage<T>,
    features: &Input<'py, T>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let features = dense(features)?;
    let size = features.nrows() * back.features().nrows();
    let rows = run(py, Options { threads, memory: None, size }, |driver| -> Result<_> {
        let mut out = Array2::zeros((features.nrows(), back.coefficients().ncols()));
        driver.time("inverse", || back.inverse_into(features, out.view_mut()))?;
        Ok(out)
    })?;
    Ok(PyArray2::from_owned_array(py, rows).into_any())
}

fn parts<'py, T: Element + Scalar>(py: Python<'py>, back: &PreImage<T>) -> PyResult<Bound<'py, PyTuple>> {
    let features = PyArray2::from_owned_array(py, back.features().to_owned());
    let coefficients = PyArray2::from_owned_array(py, back.coefficients().to_owned());
    (written(&back.kernel())?, features, coefficients).into_pyobject(py)
}
