//! The rows of a block as dense pieces, however they are stored.

use mercer::Scalar;
use mercer::dataset::{BlockRows, CsrMatrix, Rows};
use ndarray::{Array2, ArrayView2};

/// Some rows of a block.
pub(super) enum Dense<'a> {
    Bytes(ArrayView2<'a, u8>),
    Float32(ArrayView2<'a, f32>),
    Float64(ArrayView2<'a, f64>),
}

/// Values of a piece of sparse rows.
const PIECE: usize = 1 << 20;

/// Hands `each` the number of the first row and the rows, piece by piece; sparse rows are filled with their zeros up to
/// `n_inputs`.
pub(super) fn for_each_dense<E>(
    rows: &BlockRows,
    n_inputs: usize,
    mut each: impl FnMut(usize, Dense<'_>) -> Result<(), E>,
) -> Result<(), E> {
    match rows {
        BlockRows::Bytes(x) => each(0, Dense::Bytes(x.view())),
        BlockRows::Dense32(x) => each(0, Dense::Float32(x.view())),
        BlockRows::Dense64(x) => each(0, Dense::Float64(x.view())),
        BlockRows::Sparse32(x) => pieces(x, n_inputs, |first, rows| each(first, Dense::Float32(rows))),
        BlockRows::Sparse64(x) => pieces(x, n_inputs, |first, rows| each(first, Dense::Float64(rows))),
    }
}

fn pieces<T: Scalar, E>(
    rows: &CsrMatrix<T>,
    n_inputs: usize,
    mut each: impl FnMut(usize, ArrayView2<'_, T>) -> Result<(), E>,
) -> Result<(), E> {
    let n_inputs = n_inputs.max(rows.n_columns());
    let n_rows = (PIECE / n_inputs.max(1)).max(1);
    for start in (0..rows.n_rows()).step_by(n_rows) {
        let end = rows.n_rows().min(start + n_rows);
        let mut dense = Array2::zeros((end - start, n_inputs));
        Rows::Sparse(rows.view().rows(start, end)).write_dense(dense.view_mut());
        each(start, dense.view())?;
    }
    Ok(())
}
