//! A fitted feature map of both float types.

use mercer::feature_maps::{Gamma, MapSpec, ResolvedMap};
use mercer::pipeline::Features;
use mercer::preprocess::{ColumnStatistics, Preprocess, PreprocessSpec};
use mercer::projections::Projection;
use mercer::{Driver, Dtype, Result, Scalar};
use ndarray::Array2;
use numpy::{Element, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::input::{AnyInput, Input, with_input};
use crate::model::dtype_of;
use crate::source::Arrays;
use crate::work::{Options, run};
use crate::{parsed, raised, written};

/// A map in numbers; it is drawn when rows of a type come first.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Map {
    spec: ResolvedMap,
    float32: Features<f32>,
    float64: Features<f64>,
}

#[pymethods]
impl Map {
    /// What `spec` asks for, its width settled by the rows where it is not a number.
    #[staticmethod]
    #[pyo3(signature = (spec, rows, seed, threads))]
    fn fit(py: Python<'_>, spec: &str, rows: &Bound<'_, PyAny>, seed: u64, threads: usize) -> PyResult<Self> {
        let spec: MapSpec = parsed("map", spec)?;
        let arrays = Arrays::new(rows, None, Vec::new())?;
        let n_inputs = arrays.n_inputs();
        let gamma = match spec.gamma() {
            None => Some(f64::NAN),
            Some(Gamma::Value(gamma)) => Some(gamma),
            Some(Gamma::Scale | Gamma::Median) => None,
        };
        let options = Options { threads, memory: None, size: arrays.size() };
        let resolved = run(py, options, |driver| {
            spec.validate()?;
            match gamma {
                Some(gamma) => Ok(spec.resolve(gamma, n_inputs, seed)),
                None => resolve(&arrays.scan(driver)?, &spec, seed, driver),
            }
        })?;
        Self::of(resolved).map_err(raised)
    }

    /// A map in numbers.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        Self::of(parsed("map", json)?).map_err(raised)
    }

    /// The map in numbers.
    fn to_json(&self) -> PyResult<String> {
        written(&self.spec)
    }

    #[getter]
    fn n_inputs(&self) -> usize {
        self.spec.n_inputs()
    }

    #[getter]
    fn n_components(&self) -> usize {
        self.spec.n_components()
    }

    /// The kernel it approximates, of inputs divided by the length scales.
    #[getter]
    fn kernel(&self) -> PyResult<String> {
        written(&self.spec.kernel())
    }

    /// The frequencies (inputs × waves) and phases of a spectral map, in a type.
    fn waves<'py>(&self, py: Python<'py>, dtype: &str) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        match dtype_of(dtype)? {
            Dtype::Float32 => waves::<f32>(py, &self.spec),
            Dtype::Float64 => waves::<f64>(py, &self.spec),
        }
    }

    /// The kernel's width; none of a map without one.
    #[getter]
    fn gamma(&self) -> Option<f64> {
        gamma(&self.spec)
    }

    /// For pickle: the map in numbers is all of it.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json()?,)))
    }

    /// The features of rows, in their type.
    fn transform<'py>(&self, py: Python<'py>, rows: AnyInput<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        with_input!(&rows, input => transform(py, self, input, threads))
    }
}

/// The features of a type.
trait Typed: Element + Scalar {
    fn features(map: &Map) -> &Features<Self>;
}

impl Typed for f32 {
    fn features(map: &Map) -> &Features<Self> {
        &map.float32
    }
}

impl Typed for f64 {
    fn features(map: &Map) -> &Features<Self> {
        &map.float64
    }
}

impl Map {
    fn of(spec: ResolvedMap) -> Result<Self> {
        Ok(Self { float32: features(&spec)?, float64: features(&spec)?, spec })
    }
}

fn features<T: Scalar>(spec: &ResolvedMap) -> Result<Features<T>> {
    let scaling = Preprocess::fit(PreprocessSpec::None, &ColumnStatistics::new(spec.n_inputs()), 0);
    Features::from_parts(scaling, spec.clone())
}

fn resolve(dataset: &mercer::dataset::Dataset, spec: &MapSpec, seed: u64, driver: &Driver<'_>) -> Result<ResolvedMap> {
    // In f64 for both types: they share one width.
    Ok(Features::<f64>::fit_undrawn(dataset, PreprocessSpec::None, spec, seed, driver)?.spec().clone())
}

fn gamma(spec: &ResolvedMap) -> Option<f64> {
    if let Some(Gamma::Value(gamma)) = spec.spec.gamma() { Some(gamma) } else { None }
}

fn waves<'py, T: Typed>(py: Python<'py>, spec: &ResolvedMap) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (MapSpec::Spectral(spectral), Some(gamma)) = (&spec.spec, gamma(spec)) else {
        return Err(PyValueError::new_err("this map has no waves"));
    };
    let (n_inputs, seed) = (spec.n_inputs(), spec.seed);
    let (frequencies, phases) = py
        .detach(|| {
            let map = spectral.map::<T>(gamma, n_inputs, seed)?;
            // V is what it makes of the axes.
            let (axes, n_waves) = (Array2::<T>::eye(n_inputs), map.projection().n_outputs());
            let mut out = Array2::zeros((n_inputs, n_waves));
            let mut scratch = vec![T::zero(); map.projection().scratch_len(n_inputs)];
            map.projection().project_into(axes.view().into(), 0..n_waves, out.view_mut(), &mut scratch)?;
            Ok((out, map.phases().to_vec()))
        })
        .map_err(raised)?;
    Ok((PyArray2::from_owned_array(py, frequencies).into_any(), PyArray1::from_vec(py, phases).into_any()))
}

fn transform<'py, T: Typed>(
    py: Python<'py>,
    map: &Map,
    input: &Input<'py, T>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = input.rows()?;
    // The first rows wait for the map to be drawn.
    let (n_inputs, n_components) = (map.spec.n_inputs(), map.spec.n_components());
    let size = rows.n_rows().max(n_inputs).saturating_mul(n_components.max(n_inputs));
    let options = Options { threads, memory: None, size };
    let features = run(py, options, |driver| T::features(map).transform(driver, rows))?;
    Ok(PyArray2::from_owned_array(py, features).into_any())
}
