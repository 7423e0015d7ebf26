//! From inner products to the arc-cosine kernel of degree 1, of many at once.
//!
//! With a = |cos θ| the kernel (1/π)‖x‖‖y‖(sin θ + (π−θ) cos θ) is max(0, ⟨x,y⟩) + (1/π)‖x‖‖y‖(1−a)^(3/2)·R(a), where
//! R(a) = (√(1−a²) − a·arccos a)/(1−a)^(3/2) falls from 1 to 2√2/3 and is smooth beyond both ends: a polynomial by Chebyshev's nodes, of degree 7 (f32) or 19
//! (f64), is within 2.3e-9 and 1.7e-19 of it before its coefficients are rounded. Nothing cancels, for rows that are opposite neither. A row of zeros gives 0. The same bits
//! on every instruction set.

use std::f64::consts::FRAC_1_PI;

use crate::dispatch::Op;
use crate::ops::sincos::horner;
use crate::{InstructionSet, Scalar};

/// What differs between the float types.
pub trait ArcCosineLane: Sized + 'static {
    /// Coefficients of R, lowest first.
    const R: &'static [Self];
}

impl ArcCosineLane for f32 {
    const R: &'static [f32] = &[
        1.0,
        -0.070_796_035,
        0.018_799_216,
        -0.007_689_990_6,
        0.003_758_567_6,
        -0.001_781_157_6,
        0.000_630_627,
        -0.000_112_184_75,
    ];
}

impl ArcCosineLane for f64 {
    const R: &'static [f64] = &[
        1.0,
        -0.070_796_326_794_896_49,
        0.018_805_509_807_637_04,
        -0.007_743_112_739_469_663,
        0.003_987_201_775_587_311,
        -0.002_350_334_997_643_731,
        0.001_516_187_952_481_519,
        -0.001_042_958_230_436_200_8,
        0.000_752_508_574_808_708_2,
        -0.000_562_626_683_753_382_7,
        0.000_430_507_444_709_023_24,
        -0.000_330_847_034_530_117_75,
        0.000_247_644_090_889_849_2,
        -0.000_172_846_423_304_326_04,
        0.000_106_761_240_645_610_88,
        -5.512_839_581_940_400_5e-5,
        2.234_693_802_241_022e-5,
        -6.566_471_133_880_959e-6,
        1.231_464_651_016_710_5e-6,
        -1.099_363_819_276_952_5e-7,
    ];
}

/// `products[j]` = the arc-cosine kernel of degree 1 of one row and many, of their inner products and lengths.
///
/// # Panics
/// When the slices differ in length.
pub fn arc_cosine_in_place<T: Scalar>(isa: InstructionSet, length: T, lengths: &[T], products: &mut [T]) {
    assert_eq!(lengths.len(), products.len(), "a length for each product");
    isa.run(ArcCosine { length, lengths, products });
}

struct ArcCosine<'a, T> {
    length: T,
    lengths: &'a [T],
    products: &'a mut [T],
}

impl<T: Scalar> Op for ArcCosine<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (product, &length) in self.products.iter_mut().zip(self.lengths) {
            let lengths = self.length * length;
            let rest = T::one() - product.abs() / lengths;
            // Beyond 1 by rounding. NaN stays NaN.
            let rest = if rest < T::zero() { T::zero() } else { rest };
            let a = T::one() - rest;
            let above = if *product < T::zero() { T::zero() } else { *product };
            let value = (lengths * T::from_f64(FRAC_1_PI) * rest * rest.sqrt()).mul_add(horner(T::R, a), above);
            *product = if lengths == T::zero() { T::zero() } else { value };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    /// Rows of lengths 2 and 3 at many angles, against the formula in f64.
    fn check<T: Scalar>(tolerance: f64) {
        let angles = (0..=4_000).map(|i| PI * f64::from(i) / 4_000.0);
        let given: Vec<T> = angles.map(|angle| T::from_f64(6.0 * angle.cos())).collect();
        let exact = |product: T| {
            let cosine = Scalar::to_f64(product) / 6.0;
            let angle = cosine.acos();
            6.0 * (angle.sin() + (PI - angle) * cosine) / PI
        };
        for isa in InstructionSet::available() {
            let mut got = given.clone();
            arc_cosine_in_place(isa, T::from_f64(2.0), &vec![T::from_f64(3.0); got.len()], &mut got);
            for (&product, &got) in given.iter().zip(&got) {
                let error = (Scalar::to_f64(got) - exact(product)).abs();
                assert!(error < 6.0 * tolerance, "of product {product} {got}, off by {error}");
            }
        }
    }

    #[test]
    fn close_to_the_formula() {
        // Of lengths 1: the cosine is rounded once, and so are three products and a sum, all at most 1 with slopes of at most 1.
        check::<f32>(5.0 * f64::from(f32::EPSILON) / 2.0);
        check::<f64>(5.0 * f64::EPSILON / 2.0 + 2e-16);
    }

    #[test]
    fn by_hand() {
        // At right angles, parallel, opposite, parallel but for rounding, and a row of zeros.
        let mut products = [0.0_f64, 6.0, -6.0, 6.000_000_1, 0.0];
        arc_cosine_in_place(InstructionSet::best(), 2.0, &[3.0, 3.0, 3.0, 3.0, 0.0], &mut products);
        assert!((products[0] - 6.0 / PI).abs() < 1e-15);
        assert_eq!(products[1..], [6.0, 0.0, 6.000_000_1, 0.0]);
        let mut products = [f32::NAN, -0.5];
        arc_cosine_in_place(InstructionSet::best(), 1.0, &[1.0, 0.0], &mut products);
        assert!(products[0].is_nan());
        assert_eq!(products[1], 0.0);
    }
}
