//! About the inverse of the Hessian of a linear model's objective.
//!
//! Where the rows are few or short, [`Newton`] has all of them, and the Hessian itself at the scores reached; where they are
//! many and long, [`Sampled`] has that of a sample, with the curvature that the loss has at zero.

mod newton;
mod sampled;

pub(crate) use newton::{Factor, Newton};
pub(crate) use sampled::Sampled;

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use super::tiles::TILE;

/// Either.
pub(crate) enum Preconditioner<T> {
    /// Of all rows.
    Newton(Newton),
    /// Of some.
    Sampled(Sampled<T>),
}

impl<T: Scalar> Preconditioner<T> {
    /// The mean of the features.
    pub(super) fn centre(&self) -> &[f64] {
        match self {
            Self::Newton(newton) => newton.centre(),
            Self::Sampled(sampled) => sampled.centre(),
        }
    }
}

/// Takes their mean from the rows, and gives it.
fn centre<T: Scalar>(rows: &mut Array2<T>) -> Vec<f64> {
    let mut centre = vec![0.0; rows.ncols()];
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
