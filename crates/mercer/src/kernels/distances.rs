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
use ndarray::{ArrayView1, ArrayViewMut2, Zip, s};

use super::products::for_each_product_block;
use crate::dataset::Rows;
use crate::{Error, Result};

/// Closer pairs, relative to the norms, are computed from differences.
const CLOSE: f64 = 1e-4;

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
    for_each_distance_block(x, y, |of_x, of_y, block| {
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

/// As [`for_each_product_block`], with ‖x−y‖² in the blocks.
pub(super) fn for_each_distance_block<T: Scalar>(
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    let (norms_x, norms_y) = (squared_norms(x), squared_norms(y));
    for_each_product_block(x, y, |of_x, of_y, mut block| {
        for (i, mut row) in of_x.clone().zip(block.outer_iter_mut()) {
            for (j, value) in of_y.clone().zip(&mut row) {
                let norms = norms_x[i] + norms_y[j];
                *value = norms - 2.0 * *value;
                let precise = *value > CLOSE * norms; // false for NaN too
                if !precise {
                    *value = squared_distance(x, i, y, j);
                }
            }
        }
        visit(of_x, of_y, block);
    })
}

/// ‖xᵢ‖² of every row.
pub(super) fn squared_norms<T: Scalar>(x: Rows<'_, T>) -> Vec<f64> {
    let square = |value: T| value.to_f64() * value.to_f64();
    match x {
        Rows::Dense(x) => x.outer_iter().map(|row| row.iter().map(|&value| square(value)).sum()).collect(),
        Rows::Sparse(x) => (0..x.n_rows()).map(|i| x.row(i).map(|(_, value)| square(value)).sum()).collect(),
    }
}

/// Row `i` of x from row `j` of y, by differences.
fn squared_distance<T: Scalar>(x: Rows<'_, T>, i: usize, y: Rows<'_, T>, j: usize) -> f64 {
    match (x, y) {
        (Rows::Dense(x), Rows::Dense(y)) => squared_distance_dense(x.row(i), y.row(j)),
        (Rows::Dense(x), Rows::Sparse(y)) => squared_distance_merged(x.row(i).iter().copied().enumerate(), y.row(j)),
        (Rows::Sparse(x), Rows::Dense(y)) => squared_distance_merged(x.row(i), y.row(j).iter().copied().enumerate()),
        (Rows::Sparse(x), Rows::Sparse(y)) => squared_distance_merged(x.row(i), y.row(j)),
    }
}

pub(super) fn squared_distance_dense<T: Scalar>(x: ArrayView1<'_, T>, y: ArrayView1<'_, T>) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| (x.to_f64() - y.to_f64()).powi(2)).sum()
}

/// Of two rows given as (input, value), inputs ascending, missing ones 0.
fn squared_distance_merged<T: Scalar>(x: impl Iterator<Item = (usize, T)>, y: impl Iterator<Item = (usize, T)>) -> f64 {
    let (mut x, mut y) = (x.peekable(), y.peekable());
    let mut sum = 0.0;
    loop {
        let at = match (x.peek(), y.peek()) {
            (None, None) => return sum,
            (Some(&(at, _)), None) | (None, Some(&(at, _))) => at,
            (Some(&(of_x, _)), Some(&(of_y, _))) => of_x.min(of_y),
        };
        let of_x = x.next_if(|&(input, _)| input == at).map_or(0.0, |(_, value)| value.to_f64());
        let of_y = y.next_if(|&(input, _)| input == at).map_or(0.0, |(_, value)| value.to_f64());
        sum += (of_x - of_y).powi(2);
    }
}
