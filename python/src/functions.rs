//! Functions: Gram matrices, the Walsh-Hadamard transform, scores.

use mercer::hadamard;
use mercer::kernels::Kernel;
use mercer::metrics::{
    Best, ConfusionMatrix, ProbabilityScores, RegressionScores, approximation, distance_correlations,
    distance_correlations_of_columns, distance_distortion, distortion, friedman, kernel_error,
};
use mercer::{Driver, Scalar};
use ndarray::{Array2, Axis};
use numpy::{Element, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::input::{AnyInput, Input, with_input};
use crate::work::{Options, run};
use crate::{parsed, raised, written};

/// Rows of a Gram matrix that a thread takes at a time.
const GRAM_ROWS: usize = 256;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(gram, module)?)?;
    module.add_function(wrap_pyfunction!(fwht, module)?)?;
    module.add_function(wrap_pyfunction!(johnson_lindenstrauss, module)?)?;
    module.add_function(wrap_pyfunction!(kernel_errors, module)?)?;
    module.add_function(wrap_pyfunction!(distance_distortions, module)?)?;
    module.add_function(wrap_pyfunction!(distortion_of, module)?)?;
    module.add_function(wrap_pyfunction!(approximation_of, module)?)?;
    module.add_function(wrap_pyfunction!(dependence, module)?)?;
    module.add_function(wrap_pyfunction!(friedman_of, module)?)?;
    module.add_function(wrap_pyfunction!(classification, module)?)?;
    module.add_function(wrap_pyfunction!(probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(regression, module)?)
}

/// k(x, y) of all pairs of rows, in their type.
#[pyfunction]
fn gram<'py>(
    py: Python<'py>,
    kernel: &str,
    x: AnyInput<'py>,
    y: AnyInput<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let kernel: Kernel = parsed("kernel", kernel)?;
    match (&x, &y) {
        (AnyInput::Float32(x), AnyInput::Float32(y)) => gram_of(py, kernel, x, y, threads),
        (AnyInput::Float64(x), AnyInput::Float64(y)) => gram_of(py, kernel, x, y, threads),
        _ => Err(PyTypeError::new_err("X and Y must have one type")),
    }
}

fn gram_of<'py, T: Element + Scalar>(
    py: Python<'py>,
    kernel: Kernel,
    x: &Input<'py, T>,
    y: &Input<'py, T>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (x, y) = (x.rows()?, y.rows()?);
    let size = x.n_rows().saturating_mul(y.n_rows()).saturating_mul(x.n_inputs().max(1));
    check_room(x.n_rows(), y.n_rows().saturating_mul(size_of::<T>()))?;
    let mut out = Array2::<T>::zeros((x.n_rows(), y.n_rows()));
    run(py, Options { threads, memory: None, size }, |driver: &Driver<'_>| {
        // Values that the kernel does not take are found here, in the order of the rows.
        driver.time("gram", || kernel.diagonal(x).and_then(|_| kernel.diagonal(y)))?;
        driver.time("gram", || {
            let parts: Vec<_> = out.axis_chunks_iter_mut(Axis(0), GRAM_ROWS).enumerate().collect();
            parts.into_par_iter().try_for_each(|(at, part)| {
                driver.check_interrupted()?;
                let start = at * GRAM_ROWS;
                kernel.gram_into(x.slice(start, start + part.nrows()), y, part)
            })
        })
    })?;
    Ok(PyArray2::from_owned_array(py, out).into_any())
}

/// An error in place of an end of the interpreter where there is no room for a matrix.
fn check_room(n_rows: usize, bytes_of_row: usize) -> PyResult<()> {
    let bytes = n_rows.saturating_mul(bytes_of_row);
    if Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
        let text =
            format!("the products of {n_rows} rows take {bytes} bytes, more than the system gives; take fewer rows");
        return Err(PyMemoryError::new_err(text));
    }
    Ok(())
}

/// Hx of every row, in place.
#[pyfunction]
fn fwht(py: Python<'_>, rows: &Bound<'_, PyAny>, threads: usize) -> PyResult<()> {
    if let Ok(rows) = rows.cast::<PyArray2<f32>>() {
        return fwht_of(py, rows, threads);
    }
    let rows = rows.cast::<PyArray2<f64>>().map_err(|_| PyTypeError::new_err("rows must be float32 or float64"))?;
    fwht_of(py, rows, threads)
}

/// Coordinates that keep distances.
#[pyfunction]
fn johnson_lindenstrauss(n_rows: u64, eps: f64) -> PyResult<usize> {
    mercer::projections::johnson_lindenstrauss(n_rows, eps).map_err(raised)
}

fn fwht_of<T: Element + Scalar>(py: Python<'_>, rows: &Bound<'_, PyArray2<T>>, threads: usize) -> PyResult<()> {
    if !rows.is_c_contiguous() {
        return Err(PyValueError::new_err("rows must be C-contiguous"));
    }
    let mut rows = rows.try_readwrite()?;
    let mut rows = rows.as_array_mut();
    let options = Options { threads, memory: None, size: rows.len() };
    run(py, options, |driver| match rows.nrows() {
        1 => hadamard::transform(driver, rows.as_slice_mut().expect("row-major")),
        _ => hadamard::transform_rows(driver, rows.view_mut()),
    })
}

/// How far one Gram matrix is from another, as JSON.
#[pyfunction]
fn kernel_errors(exact: PyReadonlyArray2<'_, f64>, approximate: PyReadonlyArray2<'_, f64>) -> PyResult<String> {
    written(&kernel_error(exact.as_array(), approximate.as_array()).map_err(raised)?)
}

/// How far squared distances are from others, as JSON.
#[pyfunction]
fn distance_distortions(exact: PyReadonlyArray2<'_, f64>, approximate: PyReadonlyArray2<'_, f64>) -> PyResult<String> {
    written(&distance_distortion(exact.as_array(), approximate.as_array()).map_err(raised)?)
}

/// How far the distances of features are from those of a kernel of rows, as JSON.
#[pyfunction]
fn distortion_of<'py>(
    py: Python<'py>,
    kernel: &str,
    rows: AnyInput<'py>,
    features: &Bound<'py, PyAny>,
) -> PyResult<String> {
    let kernel: Kernel = parsed("kernel", kernel)?;
    with_input!(&rows, rows => distortion_in(py, kernel, rows, features))
}

fn distortion_in<T: Element + Scalar>(
    py: Python<'_>,
    kernel: Kernel,
    rows: &Input<'_, T>,
    features: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let features = features.cast::<PyArray2<T>>()?.try_readonly()?;
    let (rows, features) = (rows.rows()?, features.as_array());
    written(&py.detach(|| distortion(kernel, rows, features)).map_err(raised)?)
}

/// Distance correlations between samples, or between the columns of the only one.
#[pyfunction]
fn dependence<'py>(py: Python<'py>, samples: Vec<PyReadonlyArray2<'py, f64>>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let views: Vec<_> = samples.iter().map(PyReadonlyArray2::as_array).collect();
    let matrix = py.detach(|| match views.as_slice() {
        [columns] => distance_correlations_of_columns(*columns),
        _ => distance_correlations(&views),
    });
    Ok(PyArray2::from_owned_array(py, matrix.map_err(raised)?))
}

/// Friedman's test and the comparisons after it, with a control or of all pairs, as JSON.
#[pyfunction]
fn friedman_of(scores: PyReadonlyArray2<'_, f64>, best: &str, control: Option<usize>) -> PyResult<String> {
    let best: Best = parsed("best", best)?;
    let report = friedman(scores.as_array(), best).map_err(raised)?;
    let comparisons = control.map_or_else(|| report.all_pairs(), |control| report.against(control)).map_err(raised)?;
    written(&(report, comparisons))
}

/// How near features come to a kernel of rows, as JSON.
#[pyfunction]
fn approximation_of<'py>(
    py: Python<'py>,
    kernel: &str,
    rows: AnyInput<'py>,
    features: &Bound<'py, PyAny>,
) -> PyResult<String> {
    let kernel: Kernel = parsed("kernel", kernel)?;
    with_input!(&rows, rows => approximation_in(py, kernel, rows, features))
}

fn approximation_in<T: Element + Scalar>(
    py: Python<'_>,
    kernel: Kernel,
    rows: &Input<'_, T>,
    features: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let features = features.cast::<PyArray2<T>>()?.try_readonly()?;
    let (rows, features) = (rows.rows()?, features.as_array());
    // Two matrices of all pairs, in f64.
    check_room(rows.n_rows(), 2 * rows.n_rows() * size_of::<f64>())?;
    written(&py.detach(|| approximation(kernel, rows, features)).map_err(raised)?)
}

/// Scores of predicted classes, as JSON.
#[pyfunction]
fn classification(
    truth: PyReadonlyArray1<'_, i64>,
    predicted: PyReadonlyArray1<'_, i64>,
    n_classes: usize,
) -> PyResult<String> {
    let mut confusion = ConfusionMatrix::new(n_classes).map_err(raised)?;
    confusion.add(&classes(&truth)?, &classes(&predicted)?).map_err(raised)?;
    written(&confusion.report().map_err(raised)?)
}

/// Scores of probabilities of classes, as JSON.
#[pyfunction]
fn probabilities(truth: PyReadonlyArray1<'_, i64>, values: PyReadonlyArray2<'_, f64>) -> PyResult<String> {
    let mut scores = ProbabilityScores::new(values.shape()[1]).map_err(raised)?;
    scores.add(&classes(&truth)?, values.as_array()).map_err(raised)?;
    written(&scores.report().map_err(raised)?)
}

/// Scores of predicted values, as JSON.
#[pyfunction]
fn regression(truth: PyReadonlyArray2<'_, f64>, predicted: PyReadonlyArray2<'_, f64>) -> PyResult<String> {
    let mut scores = RegressionScores::new(truth.shape()[1]).map_err(raised)?;
    scores.add(truth.as_array(), predicted.as_array()).map_err(raised)?;
    written(&scores.report().map_err(raised)?)
}

fn classes(numbers: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let one = |&number: &i64| usize::try_from(number).map_err(|_| PyValueError::new_err("class numbers start at 0"));
    numbers.as_array().iter().map(one).collect()
}
