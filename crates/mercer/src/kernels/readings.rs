//! What a kernel reads of two rows: one number of the pair and one of each row.
//!
//! | reading | of a pair | of a row | taken in blocks by |
//! |---|---|---|---|
//! | product | ⟨x,y⟩ | ‖x‖² | a matrix product |
//! | quadratic | ⟨x,y⟩² + (w−1)Σxᵢ²yᵢ² | ‖x‖⁴ + (w−1)Σxᵢ⁴ | two matrix products |
//! | squared distance | ‖x−y‖² | ‖x‖² | a matrix product, close pairs by differences |
//! | relative distance | ‖x−y‖²/(‖x‖²+‖y‖²) | ‖x‖² | the same |
//! | angle | θ, or θ−π beyond a right angle | ‖x‖ | a matrix product, nearly parallel pairs by unit vectors |
//! | absolute distance | ‖x−y‖₁ | ‖x‖₁ | overlaps, close pairs by differences |
//! | χ² distance | Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ) | Σxᵢ | the same |
//! | harmonic mean | Σ 2xᵢyᵢ/(xᵢ+yᵢ) | Σxᵢ | overlaps |
//! | excess | Π (xᵢ+yᵢ+2c)/(2√((xᵢ+c)(yᵢ+c))) − 1 | 0 | roots |

use std::ops::Range;

use mercer_simd::Scalar;
use mercer_simd::ops::overlap;
use ndarray::ArrayViewMut2;

use super::angles::{angle, for_each_angle_block, norms};
use super::distances::{
    for_each_distance_block, for_each_relative_distance_block, relative_distance, squared_difference, squared_norms,
};
use super::overlaps::{
    absolute_difference, check_not_negative, chi_squared_difference, for_each_overlap_block,
    for_each_overlap_distance_block, harmonic_mean,
};
use super::pairs::{fold_rows, sum_of_pairs};
use super::products::for_each_product_block;
use super::quadratic::{for_each_quadratic_block, quadratic, quadratic_norms};
use super::ratios::{check_above, excess, for_each_excess_block};
use crate::Result;
use crate::dataset::Rows;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading {
    Product,
    Quadratic {
        /// w
        squares: f64,
    },
    SquaredDistance,
    RelativeDistance,
    Angle,
    AbsoluteDistance,
    ChiSquared,
    HarmonicMean,
    Excess {
        /// c
        skewedness: f64,
    },
}

impl Reading {
    /// The number of every row.
    ///
    /// # Errors
    /// [`crate::Error::Negative`] where only values of at least 0 can be read, [`crate::Error::TooNegative`] where only those above −c.
    pub(super) fn of_rows<T: Scalar>(self, x: Rows<'_, T>) -> Result<Vec<f64>> {
        Ok(match self {
            Self::Product | Self::SquaredDistance | Self::RelativeDistance => squared_norms(x),
            Self::Quadratic { squares } => quadratic_norms(squares, x),
            Self::Angle => norms(x),
            Self::AbsoluteDistance => fold_rows(x, 0.0, |sum, value| sum + value.abs()),
            Self::ChiSquared | Self::HarmonicMean => {
                check_not_negative(x)?;
                fold_rows(x, 0.0, |sum, value| sum + value)
            }
            Self::Excess { skewedness } => {
                check_above(skewedness, x)?;
                vec![0.0; x.n_rows()]
            }
        })
    }

    /// The number of a row and itself, from that of the row.
    pub(super) fn of_equal_rows(self, row: f64) -> f64 {
        match self {
            Self::Product | Self::Quadratic { .. } | Self::HarmonicMean => row,
            _ => 0.0,
        }
    }

    /// The number of row `i` of x and row `j` of y, straight from the definition.
    pub(super) fn of_pair<T: Scalar>(self, x: (Rows<'_, T>, usize), y: (Rows<'_, T>, usize)) -> f64 {
        match self {
            Self::Product => sum_of_pairs(x, y, |x, y| x * y),
            Self::Quadratic { squares } => {
                let of_squares = sum_of_pairs(x, y, |x, y| (x * y).powi(2));
                quadratic(squares, sum_of_pairs(x, y, |x, y| x * y), of_squares)
            }
            Self::SquaredDistance => sum_of_pairs(x, y, squared_difference),
            Self::RelativeDistance => relative_distance(x, y),
            Self::Angle => angle(x, y),
            Self::AbsoluteDistance => sum_of_pairs(x, y, absolute_difference),
            Self::ChiSquared => sum_of_pairs(x, y, chi_squared_difference),
            Self::HarmonicMean => sum_of_pairs(x, y, harmonic_mean),
            Self::Excess { skewedness } => excess(skewedness, x, y),
        }
    }

    /// Calls `visit(rows of x, rows of y, numbers of those pairs)` until every pair was visited once; `rows_x` and
    /// `rows_y` are the numbers of the rows.
    ///
    /// # Errors
    /// [`crate::Error::Inputs`] when the rows differ in width.
    pub(super) fn for_each_block<T: Scalar>(
        self,
        x: (Rows<'_, T>, &[f64]),
        y: (Rows<'_, T>, &[f64]),
        visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
    ) -> Result<()> {
        match self {
            Self::Product => for_each_product_block(x.0, y.0, visit),
            Self::Quadratic { squares } => for_each_quadratic_block(squares, x.0, y.0, visit),
            Self::SquaredDistance => for_each_distance_block(x, y, visit),
            Self::RelativeDistance => for_each_relative_distance_block(x, y, visit),
            Self::Angle => for_each_angle_block(x, y, visit),
            Self::AbsoluteDistance => {
                for_each_overlap_distance_block::<_, overlap::Common>(x, y, absolute_difference, visit)
            }
            Self::ChiSquared => {
                for_each_overlap_distance_block::<_, overlap::Harmonic>(x, y, chi_squared_difference, visit)
            }
            Self::HarmonicMean => for_each_overlap_block::<_, overlap::Harmonic>(x.0, y.0, visit),
            Self::Excess { skewedness } => for_each_excess_block(skewedness, x.0, y.0, visit),
        }
    }
}
