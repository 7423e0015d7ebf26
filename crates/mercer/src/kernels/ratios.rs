//! What the arithmetic means of two rows exceed their geometric means by, multiplied over the inputs.
//!
//! Π (aᵢ + bᵢ)/(2√(aᵢbᵢ)) − 1 for a = x + c, b = y + c: 0 for equal rows. A factor is 1 + t with t = (√a − √b)²/(2√a√b), and
//! the product less 1 grows by q ← q·(1 + t) + t, all of it at least 0, so that close rows keep their digits. Far ones
//! overflow to ∞, where the kernel 1/(1 + q) is 0 as it should be.
//!
//! The results are the same bits dense or sparse and for any cut of the rows: one product in order for every pair, to which
//! inputs of 0 in both rows add nothing.
//!
//! Cost for n × m rows: seven operations for every input of a pair of dense rows, from roots that are taken once for each row; of a
//! pair with a sparse row two roots and two divisions for each of their stored values.

use std::ops::Range;

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::pairs::fold_of_pairs;
use super::products::check_widths;
use crate::dataset::Rows;
use crate::{Error, Result};

/// Rows of y in a panel: the roots of 784 inputs and their reciprocals are 800 KB.
const PANEL_ROWS: usize = 64;

/// Π (aᵢ + bᵢ)/(2√(aᵢbᵢ)) − 1 of row `i` of x and row `j` of y.
pub(super) fn excess<T: Scalar>(c: f64, x: (Rows<'_, T>, usize), y: (Rows<'_, T>, usize)) -> f64 {
    fold_of_pairs(x, y, |q, x, y| grown(q, rooted(c, x), rooted(c, y)))
}

/// √(x + c) and its reciprocal.
fn rooted(c: f64, x: f64) -> (f64, f64) {
    let root = (x + c).sqrt();
    (root, 1.0 / root)
}

/// (1 + q)·(a + b)/(2√(ab)) − 1
fn grown(q: f64, (x, of_x): (f64, f64), (y, of_y): (f64, f64)) -> f64 {
    let difference = x - y;
    let t = 0.5 * (difference * of_x) * (difference * of_y);
    q * (1.0 + t) + t
}

/// Calls `visit(rows of x, rows of y, excesses of those)` until every pair was visited once.
///
/// # Errors
/// [`Error::Inputs`] when the rows differ in width.
pub(super) fn for_each_excess_block<T: Scalar>(
    c: f64,
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    check_widths(x.n_inputs(), y.n_inputs())?;
    for start in (0..y.n_rows()).step_by(PANEL_ROWS) {
        let of_y = start..y.n_rows().min(start + PANEL_ROWS);
        let mut block = Array2::zeros((x.n_rows(), of_y.len()));
        if let (Rows::Dense(x), Rows::Dense(y)) = (x, y.slice(of_y.start, of_y.end)) {
            dense_block(c, x, y, &mut block);
        } else {
            block.indexed_iter_mut().for_each(|((i, j), q)| *q = excess(c, (x, i), (y, of_y.start + j)));
        }
        visit(0..x.n_rows(), of_y, block.view_mut());
    }
    Ok(())
}

/// The excesses of dense rows; `block` holds zeros.
fn dense_block<T: Scalar>(c: f64, x: ArrayView2<'_, T>, y: ArrayView2<'_, T>, block: &mut Array2<f64>) {
    let (mut roots, mut reciprocals) = (Array2::zeros((y.ncols(), y.nrows())), Array2::zeros((y.ncols(), y.nrows())));
    for ((j, input), &value) in y.indexed_iter() {
        (roots[[input, j]], reciprocals[[input, j]]) = rooted(c, value.to_f64());
    }
    for (row, mut block) in x.outer_iter().zip(block.outer_iter_mut()) {
        for (&value, (roots, reciprocals)) in row.iter().zip(roots.outer_iter().zip(reciprocals.outer_iter())) {
            let x = rooted(c, value.to_f64());
            let y = roots.iter().zip(reciprocals);
            block.iter_mut().zip(y).for_each(|(q, (&root, &reciprocal))| *q = grown(*q, x, (root, reciprocal)));
        }
    }
}

/// Every value is above −c (and none is NaN).
///
/// # Errors
/// [`Error::TooNegative`] with the first that is not.
pub(super) fn check_above<T: Scalar>(c: f64, x: Rows<'_, T>) -> Result<()> {
    let bad = |value: T| value.is_nan() || value.to_f64() + c <= 0.0;
    let found = match x {
        Rows::Dense(x) => x.indexed_iter().find(|&(_, &value)| bad(value)).map(|(at, &value)| (at, value)),
        Rows::Sparse(x) => (0..x.n_rows())
            .find_map(|i| x.row(i).find(|&(_, value)| bad(value)).map(|(input, value)| ((i, input), value))),
    };
    match found {
        None => Ok(()),
        Some(((row, input), value)) => {
            Err(Error::TooNegative { row: row as u64, input, value: value.to_f64(), skewedness: c })
        }
    }
}
