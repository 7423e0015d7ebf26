//! Angles between rows, with all digits for rows that are nearly parallel or opposite.
//!
//! cos θ = ⟨x,y⟩/(‖x‖‖y‖) is a matrix product, but near θ = 0 and π an error ε of the cosine is one of √(2ε) of the angle:
//! 10⁻⁸ in f64. Pairs with |cos θ| > 1 − 10⁻⁴ are taken again from the unit vectors (Kahan, "How futile are mindless
//! assessments of roundoff in floating-point computation?", 2006): θ = 2·atan2(‖x̂−ŷ‖, ‖x̂+ŷ‖), wrong by a few 10⁻¹⁶. So
//! are pairs whose norms leave the range of f64.
//!
//! An angle beyond π/2 is written as θ − π, negative (−0 for θ = π), so that a small supplement keeps its digits too. A row of zeros is at
//! right angles to every row.

use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

use mercer_simd::Scalar;
use ndarray::ArrayViewMut2;

use super::distances::{CLOSE, SAFE, squared_norms};
use super::pairs::{fold_rows, sum_of_pairs};
use super::products::for_each_product_block;
use crate::Result;
use crate::dataset::Rows;

/// ‖xᵢ‖ of every row, without overflow or underflow on the way.
pub(super) fn norms<T: Scalar>(x: Rows<'_, T>) -> Vec<f64> {
    let mut norms = squared_norms(x);
    for (i, norm) in norms.iter_mut().enumerate() {
        *norm = if SAFE.contains(norm) { norm.sqrt() } else { scaled_norm(x.slice(i, i + 1)) };
    }
    norms
}

/// ‖x‖ of one row, divided by its largest value first.
fn scaled_norm<T: Scalar>(row: Rows<'_, T>) -> f64 {
    let largest: f64 = fold_rows(row, 0.0, |largest, value| largest.max(value.abs())).into_iter().sum();
    let divisor = if largest > 0.0 { largest } else { 1.0 };
    largest * fold_rows(row, 0.0, |sum, value| sum + (value / divisor).powi(2)).into_iter().sum::<f64>().sqrt()
}

/// As [`for_each_product_block`], with angles in the blocks; `norms_x`, `norms_y` are the [`norms`].
pub(super) fn for_each_angle_block<T: Scalar>(
    (x, norms_x): (Rows<'_, T>, &[f64]),
    (y, norms_y): (Rows<'_, T>, &[f64]),
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    for_each_product_block(x, y, |of_x, of_y, mut block| {
        for (i, mut row) in of_x.clone().zip(block.outer_iter_mut()) {
            for (j, value) in of_y.clone().zip(&mut row) {
                let lengths = norms_x[i] * norms_y[j];
                let cosine = *value / lengths;
                let precise = SAFE.contains(&lengths) && cosine.abs() < 1.0 - CLOSE;
                *value = match precise {
                    true => cosine.abs().acos().copysign(cosine),
                    false => angle_of_units((x, i, norms_x[i]), (y, j, norms_y[j])),
                };
            }
        }
        visit(of_x, of_y, block);
    })
}

/// The angle of one pair, from the unit vectors.
pub(super) fn angle<T: Scalar>((x, i): (Rows<'_, T>, usize), (y, j): (Rows<'_, T>, usize)) -> f64 {
    let norm = |rows: Rows<'_, T>, i| norms(rows.slice(i, i + 1)).into_iter().sum();
    angle_of_units((x, i, norm(x, i)), (y, j, norm(y, j)))
}

/// Of rows given with their norms.
fn angle_of_units<T: Scalar>(
    (x, i, norm_x): (Rows<'_, T>, usize, f64),
    (y, j, norm_y): (Rows<'_, T>, usize, f64),
) -> f64 {
    if norm_x == 0.0 || norm_y == 0.0 {
        return FRAC_PI_2;
    }
    let length = |sign: f64| {
        let square = |x: f64, y: f64| (x / norm_x + sign * (y / norm_y)).powi(2);
        sum_of_pairs((x, i), (y, j), square).sqrt()
    };
    let (apart, together) = (length(-1.0), length(1.0));
    if apart <= together { 2.0 * apart.atan2(together) } else { -2.0 * together.atan2(apart) }
}
