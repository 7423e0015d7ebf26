//! A fitted pipeline: scaling, feature map and linear model, as in a model file.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use mercer::dataset::{Dataset, Table};
use mercer::model::AnyPipeline;
use mercer::pipeline::{Pipeline, PipelineSpec};
use mercer::selection::SearchSpec;
use mercer::{Driver, Dtype, Result, Scalar};
use ndarray::{Array2, ArrayView2, s};
use numpy::{Element, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::source::Arrays;
use crate::work::{Options, run};
use crate::{parsed, raised_by_file, written};

/// A model.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Model {
    model: mercer::model::Model,
}

/// Runs `$body` with `$pipeline` bound to the pipeline of whichever type.
macro_rules! with_pipeline {
    ($model:expr, $pipeline:ident => $body:expr) => {
        match $model.pipeline() {
            AnyPipeline::Float32($pipeline) => $body,
            AnyPipeline::Float64($pipeline) => $body,
        }
    };
}

#[pymethods]
impl Model {
    /// Fits a pipeline to rows, targets and names of columns; gives it and what was chosen, as JSON.
    #[staticmethod]
    #[pyo3(signature = (spec, data, dtype, threads, memory))]
    fn fit<'py>(
        py: Python<'py>,
        spec: &str,
        data: (Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<String>),
        dtype: &str,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<(Self, String)> {
        let (rows, targets, names) = data;
        let spec: PipelineSpec = parsed("pipeline", spec)?;
        let dtype = dtype_of(dtype)?;
        let arrays = Arrays::new(&rows, Some(&targets), names)?;
        let options = Options { threads, memory, size: usize::MAX };
        let (model, report) = run(py, options, |driver| {
            let dataset = arrays.scan(driver)?;
            mercer::model::Model::fit(&dataset, &spec, dtype, driver)
        })?;
        Ok((Self { model }, written(&report)?))
    }

    /// Finds a pipeline and fits it, within so many seconds where they are given; gives it, what was chosen while fitting, and what was
    /// tried, as JSON.
    #[staticmethod]
    #[pyo3(signature = (spec, data, dtype, threads, seconds))]
    fn search<'py>(
        py: Python<'py>,
        spec: &str,
        data: (Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<String>),
        dtype: &str,
        threads: usize,
        seconds: Option<f64>,
    ) -> PyResult<(Self, String, String)> {
        let start = Instant::now();
        let (rows, targets, names) = data;
        let spec: SearchSpec = parsed("search", spec)?;
        let deadline = match seconds.map(Duration::try_from_secs_f64) {
            Some(Err(_)) => {
                return Err(PyValueError::new_err(format!("time is {seconds:?}, must be a number above 0")));
            }
            Some(Ok(time)) => Some(start + time),
            None => None,
        };
        let dtype = dtype_of(dtype)?;
        let arrays = Arrays::new(&rows, Some(&targets), names)?;
        let options = Options { threads, memory: Some(spec.memory), size: usize::MAX };
        let found = run(py, options, |driver| {
            let dataset = arrays.scan(driver)?;
            mercer::selection::search(&dataset, &spec, dtype, deadline, driver)
        })?;
        Ok((Self { model: found.model }, written(&found.fit)?, written(&found.search)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py.detach(|| mercer_io::load_model(&path)).map_err(raised_by_file)?;
        Ok(Self { model })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        py.detach(|| mercer_io::save_model(&path, &self.model)).map_err(raised_by_file)
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = mercer_io::model_from_bytes("a pickled model", bytes).map_err(raised_by_file)?;
        Ok(Self { model })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &mercer_io::model_to_bytes(&self.model).map_err(raised_by_file)?))
    }

    /// For pickle: the bytes of its file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// The header of its file, as JSON.
    fn header(&self) -> PyResult<String> {
        written(&self.model.header())
    }

    /// One score for each row and output, in the type of the model.
    fn scores<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        with_pipeline!(&self.model, pipeline => scores(py, self, pipeline, rows, threads))
    }

    /// The probability of each class for each row.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = Arrays::new(rows, None, Vec::new())?;
        let (options, n_rows) = (self.options(&arrays, threads), arrays.n_rows());
        let n_classes = self.model.header().outputs.classes().len();
        let all = run(py, options, |driver| {
            let dataset = self.dataset(arrays, driver)?;
            let mut all = Filled::new(n_rows, n_classes);
            self.model.for_each_probabilities(driver, &dataset, |part| all.add(part))?;
            Ok(all.values)
        })?;
        Ok(PyArray2::from_owned_array(py, all).into_any())
    }

    /// Whether it gives probabilities.
    fn has_probabilities(&self) -> bool {
        self.model.link().is_ok()
    }

    /// The weights, features × outputs, and the intercepts.
    fn parameters<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        with_pipeline!(&self.model, pipeline => {
            let model = pipeline.model();
            let weights = PyArray2::from_owned_array(py, model.weights().to_owned()).into_any();
            (weights, PyArray1::from_slice(py, model.intercept()).into_any())
        })
    }
}

impl Model {
    pub(crate) fn new(model: mercer::model::Model) -> Self {
        Self { model }
    }

    pub(crate) fn inner(&self) -> &mercer::model::Model {
        &self.model
    }

    fn options(&self, arrays: &Arrays, threads: usize) -> Options {
        let components = self.model.header().spec.map.n_components();
        Options { threads, memory: None, size: arrays.size().max(arrays.n_rows().saturating_mul(components)) }
    }

    /// Rows as the model's encoding reads them.
    fn dataset(&self, arrays: Arrays, driver: &Driver<'_>) -> Result<Dataset> {
        match self.model.header().encoding {
            None => arrays.scan(driver),
            encoding => Dataset::encoded(Table::scan(arrays.with_missing().boxed(), 0)?, encoding),
        }
    }
}

fn scores<'py, T: Element + Scalar>(
    py: Python<'py>,
    model: &Model,
    pipeline: &Pipeline<T>,
    rows: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let arrays = Arrays::new(rows, None, Vec::new())?;
    let (options, n_rows) = (model.options(&arrays, threads), arrays.n_rows());
    let all = run(py, options, |driver| {
        let dataset = model.dataset(arrays, driver)?;
        let mut all = Filled::new(n_rows, pipeline.model().n_outputs());
        pipeline.for_each_scores(driver, &dataset, false, |part, _| all.add(part))?;
        Ok(all.values)
    })?;
    Ok(PyArray2::from_owned_array(py, all).into_any())
}

/// An array that is filled from the top.
struct Filled<T> {
    values: Array2<T>,
    filled: usize,
}

impl<T: Scalar> Filled<T> {
    fn new(n_rows: usize, n_columns: usize) -> Self {
        Self { values: Array2::zeros((n_rows, n_columns)), filled: 0 }
    }

    fn add(&mut self, part: ArrayView2<'_, T>) -> Result<()> {
        self.values.slice_mut(s![self.filled..self.filled + part.nrows(), ..]).assign(&part);
        self.filled += part.nrows();
        Ok(())
    }
}

pub(crate) fn dtype_of(name: &str) -> PyResult<Dtype> {
    match name {
        "float32" => Ok(Dtype::Float32),
        "float64" => Ok(Dtype::Float64),
        other => Err(PyValueError::new_err(format!("dtype is {other}, must be float32 or float64"))),
    }
}
