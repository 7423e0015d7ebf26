//! Random linear operators x ↦ xV, the part that spectral and product maps share.
//!
//! | projection | V | a row costs | memory |
//! |---|---|---|---|
//! | [`DenseProjection`] | independent, orthogonal or quasi-random columns | d·n multiply-adds of a matrix product | d·n |
//! | [`SparseSignProjection`] | few entries, all of one size | d·n/s additions | d·n/s |
//! | [`HadamardProjection`] | Fastfood, SORF, SRHT | n·log d additions | n |
//!
//! Frequencies of a kernel are drawn by a [`Spectrum`].

mod dense;
mod hadamard;
mod orthogonal;
mod quasi;
mod sparse_sign;
mod spectrum;

pub use dense::DenseProjection;
pub(crate) use hadamard::frequency_block_len;
pub use hadamard::{Diagonal, HadamardProjection};
pub use sparse_sign::{SparseSignProjection, sparse_signs};
pub(crate) use sparse_sign::{check_s, n_sparse_signs};
pub use spectrum::Spectrum;

use std::ops::Range;

use mercer_simd::Scalar;
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::dataset::Rows;
use crate::room::check_room;
use crate::{Error, Result};

/// A fixed n_inputs × n_outputs matrix V, applied to rows; single-threaded and pure.
///
/// The outputs can be asked for in column ranges, so that a map can finish one range while it is in cache. Element
/// (i, j) of a product is the same bits whatever rows and columns are asked for together.
pub trait Projection<T: Scalar>: Send + Sync {
    /// Length of a row.
    fn n_inputs(&self) -> usize;

    /// Number of columns of V.
    fn n_outputs(&self) -> usize;

    /// The number of columns that is cheapest to ask for at once; ranges should start at its multiples.
    fn tile(&self) -> usize;

    /// The number of rows that is cheapest to ask for at once, at least 1.
    fn rows_at_once(&self) -> usize;

    /// Length of `scratch` that [`Projection::project_into`] needs for `n_rows` rows.
    fn scratch_len(&self, n_rows: usize) -> usize;

    /// out = rows · V[:, columns]; the values of a row of `out` are neighbours. `scratch` may hold anything.
    ///
    /// # Errors
    /// [`crate::Error::Inputs`] when the rows have another length.
    fn project_into(
        &self,
        rows: Rows<'_, T>,
        columns: Range<usize>,
        out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()>;

    /// out = weights · Vᵀ: what a gradient with respect to the outputs is with respect to the rows.
    ///
    /// # Errors
    /// [`crate::Error::Inputs`] when there is not a weight for each output.
    fn project_back_into(&self, weights: ArrayView2<'_, T>, out: ArrayViewMut2<'_, T>) -> Result<()>;
}

impl<T: Scalar, P: Projection<T> + ?Sized> Projection<T> for Box<P> {
    fn n_inputs(&self) -> usize {
        (**self).n_inputs()
    }

    fn n_outputs(&self) -> usize {
        (**self).n_outputs()
    }

    fn tile(&self) -> usize {
        (**self).tile()
    }

    fn rows_at_once(&self) -> usize {
        (**self).rows_at_once()
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        (**self).scratch_len(n_rows)
    }

    fn project_into(
        &self,
        rows: Rows<'_, T>,
        columns: Range<usize>,
        out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        (**self).project_into(rows, columns, out, scratch)
    }

    fn project_back_into(&self, weights: ArrayView2<'_, T>, out: ArrayViewMut2<'_, T>) -> Result<()> {
        (**self).project_back_into(weights, out)
    }
}

/// Longer rows are no rows but identifiers.
pub(crate) const MAX_INPUTS: usize = 1 << 26;

/// Refuses a projection without inputs or outputs, and one that memory does not hold: an error, not an abort. `bytes`
/// are those of the projection and of what it is drawn from.
fn check_drawing(n_inputs: usize, n_outputs: usize, bytes: u128) -> Result<()> {
    for (name, n) in [("n_inputs", n_inputs), ("n_outputs", n_outputs)] {
        if n == 0 {
            return Err(Error::parameter(name, 0, "at least 1"));
        }
    }
    check_room(bytes, || format!("projections of {n_inputs} inputs to {n_outputs} outputs"))
}

fn check_rows<T: Scalar>(rows: Rows<'_, T>, expected: usize) -> Result<()> {
    check_columns(rows.n_inputs(), expected)
}

fn check_columns(got: usize, expected: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(Error::Inputs { context: "projection".to_owned(), got, expected }) }
}

/// Coordinates that keep squared distances of `n_rows` rows within a share `eps` of themselves: ⌈4·ln n / (ε²/2 − ε³/3)⌉, whatever
/// the number of inputs.
///
/// With so many, one pair of rows is kept with a probability of at least 1 − 2/n². All n(n−1)/2 pairs together are by the union of
/// these bounds kept with a probability of at least 1/n only: enough for Dasgupta and Gupta, who ask whether such a projection exists,
/// and to be had by drawing about n times. (As 2·exp(−k(ε²/2 − ε³/3)/2) bounds the failure of a pair, half as many coordinates again
/// keep all pairs with a probability of at least 1 − 1/n.) It is proven for normal entries, and by Achlioptas for signs, s = 1, and
/// for s = 3; not for larger s nor for `srht`, which take the number as a guide. scikit-learn's `johnson_lindenstrauss_min_dim` is the same formula, rounded down.
///
/// References: Dasgupta and Gupta, "An elementary proof of a theorem of Johnson and Lindenstrauss", Random Structures and Algorithms
/// 22, 2003, theorem 2.1; Achlioptas, "Database-friendly random projections", JCSS 66, 2003, theorem 1.1.
///
/// # Errors
/// [`Error::Parameter`] when there are no rows, or `eps` is not between 0 and 1.
pub fn johnson_lindenstrauss(n_rows: u64, eps: f64) -> Result<usize> {
    if n_rows == 0 {
        return Err(Error::parameter("n_rows", n_rows, "1 or more"));
    }
    if !(eps > 0.0 && eps < 1.0) {
        return Err(Error::parameter("eps", eps, "above 0 and below 1"));
    }
    let n = 4.0 * (n_rows as f64).ln() / (eps * eps / 2.0 - eps.powi(3) / 3.0);
    Ok((n.ceil() as usize).max(1))
}
