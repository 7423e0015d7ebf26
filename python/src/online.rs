//! A pipeline that learns from rows as they come.

use std::sync::{Mutex, MutexGuard, TryLockError};

use mercer::pipeline::{Features, OnlinePipeline, Outputs, PipelineSpec};
use mercer::{Driver, Dtype, Result, Scalar};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::input::{AnyInput, Input};
use crate::model::{Model, dtype_of};
use crate::source::{Arrays, target_block};
use crate::work::{Options, run};
use crate::{parsed, raised};

/// Features fitted to the first rows, and a learner that goes on.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Online {
    state: Mutex<State>,
    /// of the inputs, where there are any
    names: Vec<String>,
}

enum State {
    Float32(OnlinePipeline<f32>),
    Float64(OnlinePipeline<f64>),
}

#[pymethods]
impl Online {
    /// With scaling and map fitted to some rows, from which nothing else is learned; `outputs` as in a model's header.
    #[staticmethod]
    #[pyo3(signature = (spec, outputs, data, dtype, threads))]
    fn start<'py>(
        py: Python<'py>,
        spec: &str,
        outputs: &str,
        data: (Bound<'py, PyAny>, Vec<String>),
        dtype: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let (rows, names) = data;
        let (spec, outputs): (PipelineSpec, Outputs) = (parsed("pipeline", spec)?, parsed("outputs", outputs)?);
        let dtype = dtype_of(dtype)?;
        let arrays = Arrays::new(&rows, None, Vec::new())?;
        let options = Options { threads, memory: None, size: arrays.size() };
        let state = run(py, options, |driver| {
            let dataset = arrays.scan(driver)?;
            match dtype {
                Dtype::Float32 => start(&dataset, &spec, outputs, driver).map(State::Float32),
                Dtype::Float64 => start(&dataset, &spec, outputs, driver).map(State::Float64),
            }
        })?;
        Ok(Self { state: Mutex::new(state), names })
    }

    /// From a model, by stochastic gradients, as if behind `n_rows` rows.
    #[staticmethod]
    fn resume(model: &Model, n_rows: u64) -> PyResult<Self> {
        let header = model.inner().header();
        if header.encoding.is_some() {
            let text = "a model that fills in missing values or reads words cannot learn from arrays";
            return Err(PyValueError::new_err(text));
        }
        let state = match model.inner().pipeline() {
            mercer::model::AnyPipeline::Float32(pipeline) => {
                OnlinePipeline::resume(pipeline, n_rows).map(State::Float32)
            }
            mercer::model::AnyPipeline::Float64(pipeline) => {
                OnlinePipeline::resume(pipeline, n_rows).map(State::Float64)
            }
        };
        Ok(Self { state: Mutex::new(state.map_err(raised)?), names: header.input_names })
    }

    /// Learns from rows with their targets, and what each counts.
    #[pyo3(signature = (rows, targets, weights, threads))]
    fn partial_fit<'py>(
        &self,
        py: Python<'py>,
        rows: AnyInput<'py>,
        targets: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<()> {
        let mut state = self.state()?;
        match (&mut *state, &rows) {
            (State::Float32(online), AnyInput::Float32(rows)) => learn(py, online, rows, targets, weights, threads),
            (State::Float64(online), AnyInput::Float64(rows)) => learn(py, online, rows, targets, weights, threads),
            _ => Err(PyTypeError::new_err("rows must be of the type of the first ones")),
        }
    }

    /// The model of the rows so far.
    fn model(&self, py: Python<'_>, threads: usize) -> PyResult<Model> {
        let state = self.state()?;
        let components = match &*state {
            State::Float32(online) => online.spec().map.n_components(),
            State::Float64(online) => online.spec().map.n_components(),
        };
        // Where sums are kept they are factorised.
        let options = Options { threads, memory: None, size: components.saturating_mul(components) };
        let model = run(py, options, |driver| {
            driver.time("solve", || match &*state {
                State::Float32(online) => online.pipeline().map(mercer::model::Model::new),
                State::Float64(online) => online.pipeline().map(mercer::model::Model::new),
            })
        })?;
        Ok(Model::new(model.with_input_names(self.names.clone()).map_err(raised)?))
    }

    /// Rows learned from.
    #[getter]
    fn n_rows(&self) -> PyResult<u64> {
        Ok(match &*self.state()? {
            State::Float32(online) => online.n_rows(),
            State::Float64(online) => online.n_rows(),
        })
    }
}

impl Online {
    /// Never waits: who holds it may be waiting for the interpreter's lock, which we hold.
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(state)) => Ok(state.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err("it is learning on another thread already")),
        }
    }
}

fn start<T: Scalar>(
    dataset: &mercer::dataset::Dataset,
    spec: &PipelineSpec,
    outputs: Outputs,
    driver: &Driver<'_>,
) -> Result<OnlinePipeline<T>> {
    spec.validate()?;
    let features = Features::fit(dataset, spec.preprocess, &spec.map, spec.seed, driver)?;
    OnlinePipeline::new(features, outputs, &spec.learner, spec.seed)
}

fn learn<T: Element + Scalar>(
    py: Python<'_>,
    online: &mut OnlinePipeline<T>,
    input: &Input<'_, T>,
    targets: &Bound<'_, PyAny>,
    weights: Option<&Bound<'_, PyAny>>,
    threads: usize,
) -> PyResult<()> {
    let rows = input.rows()?;
    let targets = target_block(targets, 0, rows.n_rows())?;
    let weights = weights.map(|weights| weights.cast::<PyArray1<T>>()).transpose()?;
    let weights = weights.map(PyArrayMethods::try_readonly).transpose()?;
    let weights = weights.as_ref().map(|weights| weights.as_array());
    let map = &online.spec().map;
    let size = rows.n_rows().max(map.n_inputs()).saturating_mul(map.n_components());
    run(py, Options { threads, memory: None, size }, |driver| online.partial_fit(driver, rows, &targets, weights))
}
