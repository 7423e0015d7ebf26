//! Rows from which landmarks are chosen, and their kernel values.

use mercer_simd::Scalar;
use ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::Result;
use crate::dataset::Rows;
use crate::feature_maps::select;
use crate::kernels::{Kernel, KernelColumns};

/// Rows that a thread takes at a time.
pub(super) const CHUNK: usize = 512;

pub(super) struct Candidates<'a, T> {
    kernel: Kernel,
    rows: Rows<'a, T>,
    /// k(x, x)
    diagonal: Vec<f64>,
}

impl<'a, T: Scalar> Candidates<'a, T> {
    pub(super) fn new(kernel: Kernel, rows: Rows<'a, T>) -> Result<Self> {
        Ok(Self { kernel, rows, diagonal: kernel.diagonal(rows)? })
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
        let columns = KernelColumns::new(self.kernel, select(self.rows, chosen))?;
        let mut out = Array2::zeros((self.len(), chosen.len()));
        let chunks = out.axis_chunks_iter_mut(Axis(0), CHUNK).collect::<Vec<_>>().into_par_iter().enumerate();
        chunks.try_for_each(|(at, out)| {
            let rows = self.rows.slice(at * CHUNK, at * CHUNK + out.nrows());
            columns.values_into(rows, out)
        })?;
        Ok(out)
    }

    /// k of some with some, in f64.
    pub(super) fn block(&self, x: &[usize], y: &[usize]) -> Result<Array2<f64>> {
        let mut out = Array2::zeros((x.len(), y.len()));
        let (x, y) = (select(self.rows, x), select(self.rows, y));
        let chunks = out.axis_chunks_iter_mut(Axis(0), CHUNK).collect::<Vec<_>>().into_par_iter().enumerate();
        chunks.try_for_each(|(at, out)| {
            let rows = x.view().slice(at * CHUNK, at * CHUNK + out.nrows());
            self.kernel.gram_into(rows, y.view(), out)
        })?;
        Ok(out)
    }

    /// k of all with all, in f64.
    pub(super) fn gram(&self) -> Result<Array2<f64>> {
        let all: Vec<usize> = (0..self.len()).collect();
        self.block(&all, &all)
    }
}
