//! A fitted feature map of both float types.

use mercer::feature_maps::{FourierMap, Gamma, Landmarks, MapSpec, ResolvedMap, SkewedChi2Map};
use mercer::model::{Tensor, TensorValues};
use mercer::pipeline::Features;
use mercer::preprocess::{ColumnStatistics, Preprocess, PreprocessSpec};
use mercer::projections::Projection;
use mercer::{Driver, Dtype, Result, Scalar};
use ndarray::Array2;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

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
    /// the type that landmarks were learned in
    learned_in: Dtype,
}

/// Named arrays.
type Parts<'py> = Vec<(String, Bound<'py, PyAny>)>;

#[pymethods]
impl Map {
    /// What `spec` asks for, its width settled by the rows where it is not a number, its landmarks, where it has any, chosen among
    /// them, as many of each of the classes where the spec says so, or given.
    #[staticmethod]
    #[pyo3(signature = (spec, rows, seed, threads, landmarks=None, classes=None))]
    fn fit<'py>(
        py: Python<'py>,
        spec: &str,
        rows: &Bound<'py, PyAny>,
        seed: u64,
        threads: usize,
        landmarks: Option<&Bound<'py, PyAny>>,
        classes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let spec: MapSpec = parsed("map", spec)?;
        let arrays = Arrays::new(rows, classes, Vec::new())?;
        if spec.landmarks().is_some() {
            let options = Options { threads, memory: None, size: arrays.size() };
            let fitted = (&spec, arrays, seed);
            let given = landmarks.map(|given| Arrays::new(given, None, Vec::new())).transpose()?;
            return match rows.extract::<AnyInput<'_>>()? {
                AnyInput::Float32(_) => learn::<f32>(py, fitted, options, given),
                AnyInput::Float64(_) => learn::<f64>(py, fitted, options, given),
            };
        }
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

    /// A map in numbers, and its landmarks as [`Map::landmarks`] gives them.
    #[staticmethod]
    fn from_parts(json: &str, parts: Parts<'_>, dtype: &str) -> PyResult<Self> {
        let spec: ResolvedMap = parsed("map", json)?;
        match dtype_of(dtype)? {
            Dtype::Float32 => Self::with_landmarks::<f32>(spec, parts),
            Dtype::Float64 => Self::with_landmarks::<f64>(spec, parts),
        }
    }

    /// What it learned, as named arrays, and their type; nothing of a map that has nothing to learn.
    fn landmarks<'py>(&self, py: Python<'py>) -> (Parts<'py>, String) {
        let parts = match self.learned_in {
            Dtype::Float32 => self.float32.landmarks().map(|landmarks| arrays_of(py, landmarks)),
            Dtype::Float64 => self.float64.landmarks().map(|landmarks| arrays_of(py, landmarks)),
        };
        (parts.unwrap_or_default(), self.learned_in.to_string())
    }

    /// Which rows the landmarks are; nothing where that is not known.
    #[getter]
    fn landmark_numbers(&self) -> Vec<u64> {
        let numbers = match self.learned_in {
            Dtype::Float32 => self.float32.landmarks().map(Landmarks::numbers),
            Dtype::Float64 => self.float64.landmarks().map(Landmarks::numbers),
        };
        numbers.unwrap_or_default().to_vec()
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

    /// For pickle: the map in numbers and what it learned are all of it.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, json) = (slf.py(), slf.get().to_json()?);
        let (parts, dtype) = slf.get().landmarks(py);
        if parts.is_empty() {
            return Ok((slf.get_type().getattr("from_json")?, (json,).into_pyobject(py)?));
        }
        Ok((slf.get_type().getattr("from_parts")?, (json, parts, dtype).into_pyobject(py)?))
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

/// Landmarks chosen among the rows, or given, in the type of the rows.
fn learn<T: Typed>(
    py: Python<'_>,
    (spec, arrays, seed): (&MapSpec, Arrays, u64),
    options: Options,
    given: Option<Arrays>,
) -> PyResult<Map> {
    let (resolved, landmarks) = run(py, options, |driver| {
        let dataset = arrays.scan(driver)?;
        let given = given.map(|given| given.named("landmarks").scan(driver)).transpose()?;
        let none = PreprocessSpec::None;
        let features = Features::<T>::fit_around(&dataset, none, spec, seed, driver, given.as_ref())?;
        Ok((features.spec().clone(), features.landmarks().cloned()))
    })?;
    Map::learned(resolved, &landmarks.expect("a map of landmarks")).map_err(raised)
}

fn arrays_of<'py, T: Typed>(py: Python<'py>, landmarks: &Landmarks<T>) -> Parts<'py> {
    let array = |values| match values {
        TensorValues::Floats(values) => PyArray2::from_owned_array(py, values).into_any(),
        TensorValues::Integers(values) => PyArray2::from_owned_array(py, values).into_any(),
    };
    landmarks.tensors().into_iter().map(|tensor| (tensor.name, array(tensor.values))).collect()
}

fn tensor_of<T: Typed>((name, array): (String, Bound<'_, PyAny>)) -> PyResult<Tensor<T>> {
    let values = if let Ok(values) = array.cast::<PyArray2<T>>() {
        TensorValues::Floats(values.to_owned_array())
    } else {
        let integers = array.cast::<PyArray2<i64>>();
        TensorValues::Integers(
            integers.map_err(|_| PyValueError::new_err(format!("{name} is of another type")))?.to_owned_array(),
        )
    };
    Ok(Tensor { name, values })
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
        let learned_in = Dtype::Float64;
        Ok(Self { float32: features(&spec, None)?, float64: features(&spec, None)?, spec, learned_in })
    }

    fn learned<T: Typed>(spec: ResolvedMap, landmarks: &Landmarks<T>) -> Result<Self> {
        let float32 = features(&spec, Some(landmarks.to_type()))?;
        let float64 = features(&spec, Some(landmarks.to_type()))?;
        Ok(Self { float32, float64, spec, learned_in: T::DTYPE })
    }

    fn with_landmarks<T: Typed>(spec: ResolvedMap, parts: Parts<'_>) -> PyResult<Self> {
        let tensors = parts.into_iter().map(tensor_of::<T>).collect::<PyResult<_>>()?;
        let landmarks = Landmarks::from_tensors(spec.n_inputs(), tensors).map_err(raised)?;
        Self::learned(spec, &landmarks).map_err(raised)
    }
}

fn features<T: Scalar>(spec: &ResolvedMap, landmarks: Option<Landmarks<T>>) -> Result<Features<T>> {
    let scaling = Preprocess::fit(PreprocessSpec::None, &ColumnStatistics::new(spec.n_inputs()), 0);
    Features::from_parts(scaling, spec.clone(), landmarks)
}

fn resolve(dataset: &mercer::dataset::Dataset, spec: &MapSpec, seed: u64, driver: &Driver<'_>) -> Result<ResolvedMap> {
    // In f64 for both types: they share one width.
    Ok(Features::<f64>::fit_undrawn(dataset, PreprocessSpec::None, spec, seed, driver)?.spec().clone())
}

fn gamma(spec: &ResolvedMap) -> Option<f64> {
    if let Some(Gamma::Value(gamma)) = spec.spec.gamma() { Some(gamma) } else { None }
}

fn waves<'py, T: Typed>(py: Python<'py>, spec: &ResolvedMap) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (n_inputs, seed) = (spec.n_inputs(), spec.seed);
    let (frequencies, phases) = match (&spec.spec, gamma(spec)) {
        (MapSpec::Spectral(spectral), Some(gamma)) => {
            py.detach(|| drawn(&spectral.map::<T>(gamma, n_inputs, seed)?, n_inputs))
        }
        (&MapSpec::SkewedChi2 { n_components, skewedness, waves }, _) => py.detach(|| {
            drawn(SkewedChi2Map::<T>::new(n_inputs, n_components, skewedness, waves, seed)?.waves(), n_inputs)
        }),
        _ => return Err(PyValueError::new_err("this map has no waves")),
    }
    .map_err(raised)?;
    Ok((PyArray2::from_owned_array(py, frequencies).into_any(), PyArray1::from_vec(py, phases).into_any()))
}

/// V, and the phases.
fn drawn<T: Scalar, P: Projection<T>>(map: &FourierMap<T, P>, n_inputs: usize) -> Result<(Array2<T>, Vec<T>)> {
    // V is what it makes of the axes.
    let (axes, n_waves) = (Array2::<T>::eye(n_inputs), map.projection().n_outputs());
    let mut out = Array2::zeros((n_inputs, n_waves));
    let mut scratch = vec![T::zero(); map.projection().scratch_len(n_inputs)];
    map.projection().project_into(axes.view().into(), 0..n_waves, out.view_mut(), &mut scratch)?;
    Ok((out, map.phases().to_vec()))
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
