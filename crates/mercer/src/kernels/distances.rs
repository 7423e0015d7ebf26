//! Squared Euclidean distances of rows, without the cancellation of the textbook formula.
//!
//! ‖x−y‖² = ‖x‖² + ‖y‖² − 2⟨x,y⟩ turns all pairs into one matrix product, but loses its digits where x and y are
//! close. Two measures keep them:
//!
//! 1. Norms and products are taken in f64 for both float types. In f32 the formula is off by about 10⁻³ for rows of
//!    length 30, and exp(−γ·) with it; in f64 by about 10⁻¹³.
//! 2. Where more than four of the sixteen digits cancel (‖x−y‖² ≤ 10⁻⁴(‖x‖²+‖y‖²)), the pair is taken again from its
//!    differences Σ(xᵢ−yᵢ)². Equal rows so have distance exactly 0, and overflowing norms give ∞, never NaN.
//!
//! Cost for n × m rows: n·m·d multiply-adds in f64, d more for each close pair. Memory: blocks of at most 256 rows.

use std::ops::Range;

use mercer_simd::Scalar;
use ndarray::{ArrayViewMut2, Zip, s};

use super::pairs::{fold_rows, sum_of_pairs};
use super::products::for_each_product_block;
use crate::dataset::Rows;
use crate::{Error, Result};

/// Closer pairs, relative to the norms, are computed from differences.
pub(super) const CLOSE: f64 = 1e-4;
/// Squares and products in this range have lost no digit to overflow or underflow of their terms.
pub(super) const SAFE: Range<f64> = 1e-280..1e280;

/// Writes ‖xᵢ−yⱼ‖² for every pair of rows into `out` (`n_rows` of x × `n_rows` of y), of either float type.
///
/// Equal rows give exactly 0; the relative error in f64 is about 10⁻¹², before rounding to the type of `out`.
///
/// ```
/// use mercer::kernels::squared_distances_into;
/// use ndarray::{Array2, array};
///
/// let (x, y) = (array![[0.0_f32, 0.0]], array![[3.0, 4.0], [0.0, 0.0]]);
/// let mut distances = Array2::<f64>::zeros((1, 2));
/// squared_distances_into(x.view().into(), y.view().into(), distances.view_mut())?;
/// assert_eq!(distances, array![[25.0, 0.0]]);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Errors
/// [`Error::Inputs`] when the rows differ in width, [`Error::Parameter`] when `out` has another shape.
pub fn squared_distances_into<T: Scalar, O: Scalar>(
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    mut out: ArrayViewMut2<'_, O>,
) -> Result<()> {
    check_shape(x, y, &out)?;
    let (norms_x, norms_y) = (squared_norms(x), squared_norms(y));
    for_each_distance_block((x, &norms_x), (y, &norms_y), |of_x, of_y, block| {
        Zip::from(out.slice_mut(s![of_x, of_y])).and(&block).for_each(|out, &value| *out = O::from_f64(value));
    })
}

/// `out` has a place for every pair.
pub(super) fn check_shape<T: Scalar, O>(x: Rows<'_, T>, y: Rows<'_, T>, out: &ArrayViewMut2<'_, O>) -> Result<()> {
    if out.dim() == (x.n_rows(), y.n_rows()) {
        return Ok(());
    }
    let got = format!("{} × {} for {} × {} rows", out.nrows(), out.ncols(), x.n_rows(), y.n_rows());
    Err(Error::parameter("out", got, "n_rows of x × n_rows of y"))
}

/// As [`for_each_product_block`], with ‖x−y‖² in the blocks; `norms_x`, `norms_y` are the [`squared_norms`].
pub(super) fn for_each_distance_block<T: Scalar>(
    (x, norms_x): (Rows<'_, T>, &[f64]),
    (y, norms_y): (Rows<'_, T>, &[f64]),
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    for_each_product_block(x, y, |of_x, of_y, mut block| {
        for (i, mut row) in of_x.clone().zip(block.outer_iter_mut()) {
            for (j, value) in of_y.clone().zip(&mut row) {
                let norms = norms_x[i] + norms_y[j];
                *value = norms - 2.0 * *value;
                let precise = *value > CLOSE * norms; // false for NaN too
                if !precise {
                    *value = sum_of_pairs((x, i), (y, j), squared_difference);
                }
            }
        }
        visit(of_x, of_y, block);
    })
}

/// As [`for_each_distance_block`], with ‖x−y‖²/(‖x‖²+‖y‖²) in the blocks, 0 for two rows of zeros.
///
/// The ratio has no unit, so pairs whose norms leave the range of f64 are scaled first.
pub(super) fn for_each_relative_distance_block<T: Scalar>(
    (x, norms_x): (Rows<'_, T>, &[f64]),
    (y, norms_y): (Rows<'_, T>, &[f64]),
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    for_each_distance_block((x, norms_x), (y, norms_y), |of_x, of_y, mut block| {
        for (i, mut row) in of_x.clone().zip(block.outer_iter_mut()) {
            for (j, value) in of_y.clone().zip(&mut row) {
                let norms = norms_x[i] + norms_y[j];
                *value = if SAFE.contains(&norms) { *value / norms } else { relative_distance((x, i), (y, j)) };
            }
        }
        visit(of_x, of_y, block);
    })
}

/// ‖x−y‖²/(‖x‖²+‖y‖²) of one pair, 0 for two rows of zeros.
pub(super) fn relative_distance<T: Scalar>(x: (Rows<'_, T>, usize), y: (Rows<'_, T>, usize)) -> f64 {
    let largest = |(rows, i): (Rows<'_, T>, usize)| {
        fold_rows(rows.slice(i, i + 1), 0.0, |largest, value| largest.max(value.abs())).into_iter().sum::<f64>()
    };
    let scale = largest(x).max(largest(y));
    if scale == 0.0 {
        return 0.0;
    }
    let sum = |term: fn(f64, f64) -> f64| sum_of_pairs(x, y, |x, y| term(x / scale, y / scale));
    sum(squared_difference) / sum(|x, y| x * x + y * y)
}

/// ‖xᵢ‖² of every row.
pub(super) fn squared_norms<T: Scalar>(x: Rows<'_, T>) -> Vec<f64> {
    fold_rows(x, 0.0, |sum, value| sum + value * value)
}

/// (x−y)²
pub(super) fn squared_difference(x: f64, y: f64) -> f64 {
    (x - y) * (x - y)
}
