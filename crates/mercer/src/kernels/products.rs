//! All inner products of two batches of rows, in f64, block by block.
//!
//! 1. A block of y is written transposed into a panel (width × rows of y): the row-major right side of a product.
//! 2. Blocks of x, widened to f64, are multiplied by it: dense by `matmul_into`, sparse by `csr_matmul_into`.
//!
//! Dense rows, and sparse rows of at most [`NARROW`] inputs, keep their columns: the results are then the same bits
//! dense or sparse, however x and y are cut. The panel of wider sparse rows has only the columns that occur in its
//! block of y, in order, so memory follows the stored values, never the number of inputs.

use std::ops::Range;

use mercer_simd::{CsrMatrix, CsrView, InstructionSet, Scalar, Update, csr_matmul_into, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use crate::dataset::Rows;
use crate::{Error, Result};

/// Rows of a block: a panel this wide amortises widening x to below 1 % of the product.
const MAX_ROWS: usize = 256;
/// Values of a panel at most, unless one row has more: 32 MiB.
const MAX_VALUES: usize = 1 << 22;
/// Sparse rows up to this width fill a whole panel within [`MAX_VALUES`].
const NARROW: usize = MAX_VALUES / MAX_ROWS;

/// Calls `visit(rows of x, rows of y, ⟨x, y⟩ of those)` until every pair was visited once; `visit` may change the
/// block it is given. Cost: a multiply-add for every stored value of x and row of y.
///
/// # Errors
/// [`Error::Inputs`] when the rows differ in width.
pub(super) fn for_each_product_block<T: Scalar>(
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    check_widths(x.n_inputs(), y.n_inputs())?;
    let mut start = 0;
    while start < y.n_rows() {
        let of_y = start..start + block_len(y, start, MAX_ROWS);
        let panel = Panel::new(y.slice(of_y.start, of_y.end));
        let step = (MAX_VALUES / panel.values.nrows().max(1)).clamp(1, MAX_ROWS);
        for at in (0..x.n_rows()).step_by(step) {
            let of_x = at..x.n_rows().min(at + step);
            let mut products = panel.multiply(x.slice(of_x.start, of_x.end))?;
            visit(of_x, of_y.clone(), products.view_mut());
        }
        start = of_y.end;
    }
    Ok(())
}

/// Both sides of a kernel have rows of one width.
pub(super) fn check_widths(x: usize, y: usize) -> Result<()> {
    if x == y { Ok(()) } else { Err(Error::Inputs { context: "kernel of x and y".into(), got: y, expected: x }) }
}

/// How many rows from `start` fit in a panel, up to `most`; at least one.
pub(super) fn block_len<T: Scalar>(y: Rows<'_, T>, start: usize, most: usize) -> usize {
    let rows = y.n_rows() - start;
    let width_of = |len: usize| match y {
        Rows::Dense(y) => y.ncols(),
        Rows::Sparse(y) => y.n_columns().min(y.rows(start, start + len).nnz()),
    };
    let fits = |len: usize| y.n_inputs() <= NARROW || width_of(len).saturating_mul(len) <= MAX_VALUES;
    (1..=rows.min(most)).rev().find(|&len| fits(len)).unwrap_or(1)
}

/// A block of y, transposed and in f64.
pub(super) struct Panel {
    /// The inputs it has, ascending; all of them where `None`.
    columns: Option<Vec<usize>>,
    /// width × rows of y
    values: Array2<f64>,
}

impl Panel {
    pub(super) fn new<T: Scalar>(y: Rows<'_, T>) -> Self {
        match y {
            Rows::Dense(y) => Self { columns: None, values: widened(y.t()) },
            Rows::Sparse(y) if y.n_columns() <= NARROW => Self::of_sparse(y, None),
            Rows::Sparse(y) => Self::of_sparse(y, Some(occurring_columns(y))),
        }
    }

    fn of_sparse<T: Scalar>(y: CsrView<'_, T>, columns: Option<Vec<usize>>) -> Self {
        let width = columns.as_ref().map_or(y.n_columns(), Vec::len);
        let mut panel = Self { columns, values: Array2::zeros((width, y.n_rows())) };
        for i in 0..y.n_rows() {
            for (column, value) in y.row(i) {
                if let Some(at) = panel.position(column) {
                    panel.values[[at, i]] = value.to_f64();
                }
            }
        }
        panel
    }

    /// Where the panel has an input of the rows.
    pub(super) fn position(&self, column: usize) -> Option<usize> {
        match &self.columns {
            None => Some(column),
            Some(columns) => columns.binary_search(&column).ok(),
        }
    }

    /// width × rows of y, row by row
    pub(super) fn values(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }

    /// Whether the inputs of the rows are the panel's, in their places.
    pub(super) fn has_every_input(&self) -> bool {
        self.columns.is_none()
    }

    /// The panel's inputs, of `n_inputs` a row, as (place, input).
    pub(super) fn inputs(&self, n_inputs: usize) -> impl Iterator<Item = (usize, usize)> {
        let n = self.columns.as_ref().map_or(n_inputs, Vec::len);
        (0..n).map(|at| (at, self.columns.as_ref().map_or(at, |columns| columns[at])))
    }

    /// ⟨x, y⟩ for a block of x: `n_rows` of x × `n_rows` of y.
    pub(super) fn multiply<T: Scalar>(&self, x: Rows<'_, T>) -> Result<Array2<f64>> {
        let mut products = Array2::zeros((x.n_rows(), self.values.ncols()));
        if self.values.is_empty() {
            return Ok(products); // an empty array has no row-major strides for `matmul_into`
        }
        match x {
            Rows::Dense(x) => {
                let x = match &self.columns {
                    None => widened(x),
                    Some(columns) => {
                        Array2::from_shape_fn((x.nrows(), columns.len()), |(i, at)| x[[i, columns[at]]].to_f64())
                    }
                };
                matmul_into(x.view(), self.values.view(), products.view_mut(), Update::Set);
            }
            Rows::Sparse(x) => {
                let x = self.narrowed(x)?;
                csr_matmul_into(InstructionSet::best(), x.view(), self.values.view(), products.view_mut());
            }
        }
        Ok(products)
    }

    /// Sparse rows with the inputs of the panel only; the others meet zeros.
    fn narrowed<T: Scalar>(&self, x: CsrView<'_, T>) -> Result<CsrMatrix<f64>> {
        let mut narrowed = CsrMatrix::new(self.values.nrows());
        for i in 0..x.n_rows() {
            for (column, value) in x.row(i) {
                if let Some(at) = self.position(column) {
                    narrowed.push(at, value.to_f64()).map_err(|error| Error::Source(Box::new(error)))?;
                }
            }
            narrowed.finish_row();
        }
        Ok(narrowed)
    }
}

/// The inputs with a stored value in any row, ascending.
fn occurring_columns<T: Scalar>(y: CsrView<'_, T>) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..y.n_rows()).flat_map(|i| y.row(i)).map(|(column, _)| column).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// A row-major copy in f64, written in square tiles so that a transposed source is read by cache lines.
fn widened<T: Scalar>(x: ArrayView2<'_, T>) -> Array2<f64> {
    const TILE: usize = 32;
    let mut wide = Array2::zeros(x.dim());
    for i in (0..x.nrows()).step_by(TILE) {
        for j in (0..x.ncols()).step_by(TILE) {
            let tile = s![i..x.nrows().min(i + TILE), j..x.ncols().min(j + TILE)];
            wide.slice_mut(tile).zip_mut_with(&x.slice(tile), |wide, &x| *wide = x.to_f64());
        }
    }
    wide
}
