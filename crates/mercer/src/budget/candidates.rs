//! Rows from which landmarks are chosen, and their kernel values.

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::Result;
use crate::dataset::Rows;
use crate::feature_maps::select;
use crate::kernels::{Kernel, KernelColumns};

/// Rows that a thread takes at a time.
pub(super) const CHUNK: usize = 512;

pub(super) struct Candidates<'a, T> {
    values: Values<'a, T>,
    /// k(x, x)
    diagonal: Vec<f64>,
}

/// Where kernel values come from.
enum Values<'a, T> {
    Rows(Kernel, Rows<'a, T>),
    /// all of them, given
    Gram(ArrayView2<'a, T>),
}

impl<'a, T: Scalar> Candidates<'a, T> {
    pub(super) fn new(kernel: Kernel, rows: Rows<'a, T>) -> Result<Self> {
        Ok(Self { values: Values::Rows(kernel, rows), diagonal: kernel.diagonal(rows)? })
    }

    /// Of a square kernel matrix.
    pub(super) fn of_gram(gram: ArrayView2<'a, T>) -> Self {
        Self { values: Values::Gram(gram), diagonal: gram.diag().iter().map(|&x| x.to_f64()).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// k(x, x) of every one.
    pub(super) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// k of all with those chosen: candidates × chosen.
    pub(super) fn columns(&self, chosen: &[usize]) -> Result<Array2<T>> {
        let (kernel, rows) = match self.values {
            Values::Rows(kernel, rows) => (kernel, rows),
            // Row by row, as products take it.
            Values::Gram(gram) => {
                return Ok(Array2::from_shape_fn((self.len(), chosen.len()), |(i, j)| gram[[i, chosen[j]]]));
            }
        };
        let columns = KernelColumns::new(kernel, select(rows, chosen))?;
        let mut out = Array2::zeros((self.len(), chosen.len()));
        let chunks = out.axis_chunks_iter_mut(Axis(0), CHUNK).collect::<Vec<_>>().into_par_iter().enumerate();
        chunks.try_for_each(|(at, out)| {
            let rows = rows.slice(at * CHUNK, at * CHUNK + out.nrows());
            columns.values_into(rows, out)
        })?;
        Ok(out)
    }

    /// k of some with some, in f64.
    pub(super) fn block(&self, x: &[usize], y: &[usize]) -> Result<Array2<f64>> {
        let (kernel, rows) = match self.values {
            Values::Rows(kernel, rows) => (kernel, rows),
            Values::Gram(gram) => {
                return Ok(Array2::from_shape_fn((x.len(), y.len()), |(i, j)| gram[[x[i], y[j]]].to_f64()));
            }
        };
        let mut out = Array2::zeros((x.len(), y.len()));
        let (x, y) = (select(rows, x), select(rows, y));
        let chunks = out.axis_chunks_iter_mut(Axis(0), CHUNK).collect::<Vec<_>>().into_par_iter().enumerate();
        chunks.try_for_each(|(at, out)| {
            let rows = x.view().slice(at * CHUNK, at * CHUNK + out.nrows());
            kernel.gram_into(rows, y.view(), out)
        })?;
        Ok(out)
    }

    /// k of all with all, in f64.
    pub(super) fn gram(&self) -> Result<Array2<f64>> {
        let all: Vec<usize> = (0..self.len()).collect();
        self.block(&all, &all)
    }
}
