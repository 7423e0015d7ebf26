//! Random linear operators x ↦ xV, the part that spectral and product maps share.

mod dense;
mod sparse_sign;

pub use dense::DenseProjection;
pub use sparse_sign::SparseSignProjection;

use std::ops::Range;

use mercer_simd::Scalar;
use ndarray::ArrayViewMut2;

use crate::Result;
use crate::dataset::Rows;

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

    /// Length of `scratch` that [`Projection::project_into`] needs for `n_rows` rows.
    fn scratch_len(&self, n_rows: usize) -> usize;

    /// out = rows · V[:, columns]. `scratch` may hold anything.
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
}
