//! Arrays as a source that is read again and again, block by block: nothing is kept twice.

use mercer::dataset::{
    Block, BlockReader, BlockRows, CsrMatrix, Dataset, Layout, Rows, Source, SourceInfo, TargetBlock,
};
use mercer::{Error, Result, Scalar};
use ndarray::s;
use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::input::{AnyInput, Input};

/// Values of a block, about.
const BLOCK_VALUES: usize = 1 << 20;

/// Rows and targets that Python keeps.
pub(crate) struct Arrays {
    rows: Py<PyAny>,
    targets: Option<Py<PyAny>>,
    info: SourceInfo,
    n_rows: usize,
    n_stored: usize,
}

impl Arrays {
    /// Of rows (see [`AnyInput`], or bytes) and targets: an array of numbers (rows × targets), or a list of texts.
    pub(crate) fn new(
        rows: &Bound<'_, PyAny>,
        targets: Option<&Bound<'_, PyAny>>,
        names: Vec<String>,
    ) -> PyResult<Self> {
        let (layout, n_rows, n_inputs, n_stored) = if let Ok(bytes) = rows.cast::<PyArray2<u8>>() {
            let (n_rows, n_inputs) = (bytes.shape()[0], bytes.shape()[1]);
            (Layout::Bytes, n_rows, n_inputs, n_rows * n_inputs)
        } else {
            let input: AnyInput<'_> = rows.extract()?;
            crate::input::with_input!(&input, input => {
                let rows = input.rows()?;
                match rows {
                    Rows::Dense(x) => (Layout::Dense, x.nrows(), x.ncols(), x.len()),
                    Rows::Sparse(x) => (Layout::Sparse, x.n_rows(), x.n_columns(), x.nnz()),
                }
            })
        };
        let info = SourceInfo {
            n_inputs: Some(n_inputs),
            n_rows: Some(n_rows as u64),
            input_names: names,
            target_names: targets.map_or(Vec::new(), target_names),
            ..SourceInfo::new("X", "array", layout)
        };
        Ok(Self {
            rows: rows.clone().unbind(),
            targets: targets.map(|targets| targets.clone().unbind()),
            info,
            n_rows,
            n_stored,
        })
    }

    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Length of a row.
    pub(crate) fn n_inputs(&self) -> usize {
        self.info.n_inputs.unwrap_or(0)
    }

    /// The same by another name in errors.
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.info.name);
        self
    }

    /// The same, where NaN stands for a missing value.
    pub(crate) fn with_missing(mut self) -> Self {
        self.info.missing = self.info.layout == Layout::Dense;
        self
    }

    /// As the library takes it.
    pub(crate) fn boxed(self) -> Box<dyn Source> {
        Box::new(self)
    }

    /// Values to be read, about.
    pub(crate) fn size(&self) -> usize {
        self.n_stored.max(self.n_rows)
    }

    /// Looked through once, nothing kept. To be called without the interpreter's lock.
    pub(crate) fn scan(self, driver: &mercer::Driver<'_>) -> Result<Dataset> {
        driver.check_interrupted()?;
        Dataset::scan(self.boxed(), 0)
    }

    fn block(&self, py: Python<'_>, start: usize, end: usize) -> PyResult<Block> {
        let rows = self.rows.bind(py);
        let block = if let Ok(bytes) = rows.cast::<PyArray2<u8>>() {
            BlockRows::Bytes(bytes.try_readonly()?.as_array().slice(s![start..end, ..]).to_owned())
        } else {
            match rows.extract::<AnyInput<'_>>()? {
                AnyInput::Float32(input) => block(&input, start, end, BlockRows::Dense32, BlockRows::Sparse32)?,
                AnyInput::Float64(input) => block(&input, start, end, BlockRows::Dense64, BlockRows::Sparse64)?,
            }
        };
        let targets = self.targets.as_ref().map(|targets| target_block(targets.bind(py), start, end)).transpose()?;
        Ok(Block::new(block, targets))
    }
}

fn block<T: numpy::Element + Scalar>(
    input: &Input<'_, T>,
    start: usize,
    end: usize,
    dense: fn(ndarray::Array2<T>) -> BlockRows,
    sparse: fn(CsrMatrix<T>) -> BlockRows,
) -> PyResult<BlockRows> {
    match input {
        Input::Dense(array) => Ok(dense(array.as_array().slice(s![start..end, ..]).to_owned())),
        Input::Sparse { n_columns, .. } => {
            let mut rows = CsrMatrix::new(*n_columns);
            for i in start..end {
                input.for_each_of_row(i, |column, value| rows.push(column, value))?;
                rows.finish_row();
            }
            Ok(sparse(rows))
        }
    }
}

fn target_names(targets: &Bound<'_, PyAny>) -> Vec<String> {
    match targets.cast::<PyArray2<f64>>().map(|targets| targets.shape()[1]) {
        Ok(n) if n != 1 => (0..n).map(|i| format!("y{i}")).collect(),
        _ => vec!["y".to_owned()],
    }
}

/// Rows `start..end` of targets.
pub(crate) fn target_block(targets: &Bound<'_, PyAny>, start: usize, end: usize) -> PyResult<TargetBlock> {
    if let Ok(numbers) = targets.cast::<PyArray2<f64>>() {
        return Ok(TargetBlock::Numbers(numbers.try_readonly()?.as_array().slice(s![start..end, ..]).to_owned()));
    }
    let texts = targets.cast::<PyList>().map_err(|_| PyTypeError::new_err("targets are numbers or a list of texts"))?;
    let texts = texts.get_slice(start, end);
    Ok(TargetBlock::Text(texts.iter().map(|text| text.extract()).collect::<PyResult<_>>()?))
}

impl Source for Arrays {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> Result<Box<dyn BlockReader + '_>> {
        let values_of_row = self.n_stored.div_ceil(self.n_rows.max(1)).max(1);
        Ok(Box::new(Reading { arrays: self, next: 0, step: (BLOCK_VALUES / values_of_row).max(1) }))
    }
}

struct Reading<'a> {
    arrays: &'a Arrays,
    next: usize,
    step: usize,
}

impl BlockReader for Reading<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.next >= self.arrays.n_rows {
            return Ok(None);
        }
        let (start, end) = (self.next, self.arrays.n_rows.min(self.next + self.step));
        self.next = end;
        let block = Python::attach(|py| self.arrays.block(py, start, end));
        block.map(Some).map_err(|error| Error::Source(Box::new(error)))
    }
}
