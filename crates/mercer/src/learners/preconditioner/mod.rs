//! About the inverse of the Hessian of a linear model's objective.
//!
//! Where the rows are few or short, [`Newton`] has all of them, and the Hessian itself at the scores reached; where they are
//! many and long, [`Sampled`] has that of a sample, with the curvature that the loss has at zero; where they are long and
//! sparse, [`Diagonal`] has its diagonal.

mod diagonal;
mod newton;
mod sampled;

pub(crate) use diagonal::Diagonal;
pub(crate) use newton::{AllRows, Factor, Newton};
pub(crate) use sampled::Sampled;

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use super::MOST_DIRECT;
use super::tiles::TILE;

/// The larger of a Hessian of all rows, and the features that it is made of, at most.
const MOST_NEWTON: usize = 2048;
const MOST_NEWTON_VALUES: usize = 1 << 26;
/// The same, of all outputs together: each has a Hessian of its own.
const MOST_NEWTON_OF_ALL: usize = 8192;
/// Rows of a sample: so many for each feature where these are summed, and where they are not.
const SAMPLE_ROWS_OF_FEATURE: usize = 4;
const SAMPLE_ROWS: usize = 4096;
/// Features of a sample at most.
const MOST_SAMPLE_VALUES: usize = 1 << 27;

/// Which of them suits some sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// All rows.
    Newton,
    /// All rows, sparse.
    SparseNewton,
    /// So many.
    Sampled(usize),
    /// The diagonal.
    Diagonal,
}

impl Scheme {
    /// For so many rows, features and outputs.
    pub(crate) fn of(n_rows: usize, n_components: usize, n_outputs: usize, are_sparse: bool) -> Self {
        if n_components <= MOST_NEWTON && are_sparse {
            return Self::SparseNewton;
        }
        let shorter = n_rows.min(n_components);
        let few = shorter <= MOST_NEWTON && shorter.saturating_mul(n_outputs) <= MOST_NEWTON_OF_ALL;
        if few && n_rows.saturating_mul(n_components) <= MOST_NEWTON_VALUES {
            return Self::Newton;
        }
        if are_sparse {
            return Self::Diagonal;
        }
        let wanted = match n_components {
            ..=MOST_DIRECT => (SAMPLE_ROWS_OF_FEATURE * n_components).max(SAMPLE_ROWS),
            _ => SAMPLE_ROWS.min(MOST_SAMPLE_VALUES / n_components).max(1),
        };
        Self::Sampled(wanted.min(n_rows))
    }

    /// Bytes that it takes for so many rows, features and outputs, the features being of `size` bytes; sparse rows aside.
    pub(crate) fn bytes(self, n_rows: u64, n_components: u64, n_outputs: u64, size: u64) -> u64 {
        let triangle = |n: u64| n * (n + 1) / 2 * 8;
        match self {
            Self::Newton => {
                let copies = n_rows * n_components * size + 3 * n_outputs * n_rows * 8;
                let few = 2 * n_rows * n_components * 8 + n_rows * n_rows * 8;
                let turned = if n_rows < n_components { few } else { 0 };
                // Old factors are kept while new ones are made.
                copies + turned + 2 * n_outputs * triangle(n_rows.min(n_components))
            }
            Self::SparseNewton => {
                let square = n_components * n_components * 8;
                3 * n_outputs * n_rows * 8 + 2 * n_outputs * (triangle(n_components) + square)
            }
            Self::Diagonal => 2 * n_components * 8,
            Self::Sampled(m) => {
                let m = m as u64;
                let copies = if m < n_components { 2 } else { 1 };
                copies * m * n_components * size + 2 * triangle(m.min(n_components))
            }
        }
    }
}

/// One of them.
pub(crate) enum Preconditioner<'a, T: Scalar> {
    /// Of all rows.
    Newton(Newton<'a, T>),
    /// Of some.
    Sampled(Sampled<T>),
    /// Of sparse rows.
    Diagonal(Diagonal),
}

impl<T: Scalar> Preconditioner<'_, T> {
    /// The mean of the features; zero without an intercept.
    pub(super) fn centre(&self) -> &[f64] {
        match self {
            Self::Newton(newton) => newton.centre(),
            Self::Sampled(sampled) => sampled.centre(),
            Self::Diagonal(diagonal) => diagonal.centre(),
        }
    }
}

/// Takes their mean from the rows, and gives it; zero without an intercept.
fn centre<T: Scalar>(rows: &mut Array2<T>, intercept: bool) -> Vec<f64> {
    let mut centre = vec![0.0; rows.ncols()];
    if !intercept {
        return centre;
    }
    for row in rows.outer_iter() {
        centre.iter_mut().zip(row).for_each(|(sum, &x)| *sum += x.to_f64());
    }
    centre.iter_mut().for_each(|sum| *sum /= rows.nrows().max(1) as f64);
    for mut row in rows.outer_iter_mut() {
        row.iter_mut().zip(&centre).for_each(|(x, c)| *x = T::from_f64((*x).to_f64() - c));
    }
    centre
}

/// a·b in parts of a's rows.
fn product<T: Scalar>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<T> {
    let k = b.ncols();
    let mut out = Array2::zeros((a.nrows(), k));
    if k == 0 {
        return out;
    }
    out.as_slice_mut().expect("row-major").par_chunks_mut(TILE * k).enumerate().for_each(|(at, out)| {
        let n_rows = out.len() / k;
        let out = ArrayViewMut2::from_shape((n_rows, k), out).expect("whole rows");
        matmul_into(a.slice(s![at * TILE..at * TILE + n_rows, ..]), b, out, Update::Set);
    });
    out
}
