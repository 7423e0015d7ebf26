//! About the inverse of the Hessian of a linear model's objective, from a sample of rows.
//!
//! With the centred features z̃ of m rows, each times the root of its weight, and the curvature κ of the loss,
//!
//! P = (κ/m)·Z̃ᵀZ̃ + s·I,  s = 2λ + κ·(t/m)·(1 − m/n),
//!
//! t the mean squared length of the rows. m of n rows know the Hessian's eigenvalues down to about t/m and no further:
//! that is what the last term stands for. For m ≥ D rows P itself is factorised (D³/3 multiply-adds, 4D² bytes); for fewer rows
//! the inverse is that of Woodbury,
//!
//! P⁻¹ = (I − Z̃ᵀ·(Z̃Z̃ᵀ + (s·m/κ)·I)⁻¹·Z̃) / s,
//!
//! with a factor of m³/3 and m·D features kept: so the cost of large D is linear. Weights of an intercept are not part of
//! it: in centred features their curvature is κ, whatever the others are.
//!
//! Rudi, Carratino and Rosasco, "FALKON: an optimal large scale kernel method", NIPS 2017, precondition likewise.

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::cholesky::Cholesky;
use super::tiles::{SymmetricTiles, TILE};
use crate::{Error, Result};

/// The sample, and its products.
pub(crate) struct Preconditioner<T> {
    m: usize,
    /// D × m, centred and weighted, where m < D
    turned: Option<Array2<T>>,
    centre: Vec<f64>,
    /// of ZᵀZ or ZZᵀ, whichever is smaller
    gram: SymmetricTiles,
    curvature: f64,
    /// (t/m)·(1 − m/n)
    unknown: f64,
    factor: Option<(f64, Cholesky)>,
}

impl<T: Scalar> Preconditioner<T> {
    /// From rows of features and their weights, which were chosen of `n` rows.
    pub(crate) fn new(mut rows: Array2<T>, weights: &[T], n: usize, curvature: f64) -> Self {
        let (m, d) = rows.dim();
        let total = weights.iter().map(|&w| w.to_f64()).sum::<f64>().max(f64::MIN_POSITIVE);
        let mut centre = vec![0.0; d];
        for (row, &weight) in rows.outer_iter().zip(weights) {
            let weight = weight.to_f64() / total;
            centre.iter_mut().zip(row).for_each(|(sum, &x)| *sum += weight * x.to_f64());
        }
        let mut length = 0.0;
        for (mut row, &weight) in rows.outer_iter_mut().zip(weights) {
            // Weights with a mean of one, so that the sum over m rows stays a mean.
            let root = (weight.to_f64() * m as f64 / total).sqrt();
            for (x, c) in row.iter_mut().zip(&centre) {
                let value = (x.to_f64() - c) * root;
                length += value * value;
                *x = T::from_f64(value);
            }
        }
        let unknown = length / (m as f64 * m as f64) * (1.0 - m as f64 / n as f64);
        let turned = (m < d).then(|| rows.t().as_standard_layout().into_owned());
        let factor = turned.as_ref().unwrap_or(&rows);
        let mut gram = SymmetricTiles::zeros(factor.ncols());
        gram.add_gram(factor.view());
        Self { m, turned, centre, gram, curvature, unknown, factor: None }
    }

    /// The mean of the features.
    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Makes it that of λ.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] where rounding leaves no factor.
    pub(super) fn set_lambda(&mut self, lambda: f64) -> Result<()> {
        let m = self.m as f64;
        let shift = 2.0 * lambda + self.curvature * self.unknown;
        let mut matrix =
            self.factor.take().map_or_else(|| SymmetricTiles::zeros(self.gram.n()), |(_, f)| f.into_tiles());
        matrix.copy_from(&self.gram);
        matrix.add_diagonal(shift * m / self.curvature);
        let cholesky = Cholesky::new(matrix)
            .ok_or_else(|| Error::NotPositiveDefinite { context: format!("the preconditioner of lambda {lambda}") })?;
        self.factor = Some((shift, cholesky));
        Ok(())
    }

    /// P⁻¹·g for every column of g (D × c).
    ///
    /// # Panics
    /// Before λ was set: a fault of the calling code.
    pub(super) fn solve(&self, g: ArrayView2<'_, f64>) -> Array2<f64> {
        let (shift, cholesky) = self.factor.as_ref().expect("lambda was set");
        let Some(turned) = &self.turned else { return cholesky.solve(g) * (self.m as f64 / self.curvature) };
        // Columns of very different sizes lose nothing in T when each has length about one.
        let lengths: Vec<f64> = g.columns().into_iter().map(|x| x.dot(&x).sqrt().max(f64::MIN_POSITIVE)).collect();
        let unit = Array2::from_shape_fn(g.dim(), |(i, j)| T::from_f64(g[[i, j]] / lengths[j]));
        let inner = cholesky.solve(product(turned.t(), unit.view()).view()).mapv(T::from_f64);
        let mut out = product(turned.view(), inner.view());
        for ((i, j), x) in out.indexed_iter_mut() {
            *x = (g[[i, j]] - *x * lengths[j]) / shift;
        }
        out
    }
}

/// a·b in parts of a's rows, widened.
fn product<T: Scalar>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<f64> {
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    let k = b.ncols();
    out.as_slice_mut().expect("row-major").par_chunks_mut(TILE * k).enumerate().for_each(|(at, out)| {
        let a = a.slice(s![at * TILE..at * TILE + out.len() / k, ..]);
        let mut part = Array2::zeros((a.nrows(), k));
        matmul_into(a, b, part.view_mut(), Update::Set);
        out.iter_mut().zip(part).for_each(|(out, part): (&mut f64, T)| *out = part.to_f64());
    });
    out
}
