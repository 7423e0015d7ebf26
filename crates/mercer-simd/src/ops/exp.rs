//! From inner products to values of kernels: exponentials of many numbers at once.
//!
//! eˣ: n = ⌊x·log₂e⌉; r = x − n·ln 2 in two fused steps, |r| ≤ ½ ln 2; the series of eʳ, of degree 7 (f32) or 13 (f64), whose
//! rest is below 6e-9 and 5e-18; times 2ⁿ⁻¹, times 2. Relative error below 1.2e-7 (f32) and 2.3e-16 (f64). Numbers below
//! [`ExpLane::LEAST`] give 0: products of two smaller exponentials would be subnormal numbers, of which a processor does one in the time of a hundred
//! others, and beside 1 they are nothing. Those above its range give infinity; NaN gives NaN. The
//! same bits on every instruction set.

use crate::dispatch::Op;
use crate::ops::sincos::{SincosLane, horner};
use crate::{InstructionSet, Scalar};

/// The constants that differ between the float types.
pub trait ExpLane: SincosLane {
    /// The least number whose exponential is not taken for 0.
    const LEAST: Self;
    /// The largest number whose exponential is finite.
    const LARGEST: Self;
    /// log₂ e
    const LOG2_E: Self;
    /// ln 2 = `LN_2.0 + LN_2.1` to twice the precision; the products of the first with small integers are exact.
    const LN_2: (Self, Self);
    /// 1/i! for i = 0, 1, …
    const SERIES: &'static [Self];
    /// Bits of the fraction, and what is added to the exponent.
    const FRACTION: (usize, u32);
}

impl ExpLane for f32 {
    const LEAST: f32 = -43.6;
    const LARGEST: f32 = 88.722_83;
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const LN_2: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);
    const SERIES: &'static [f32] =
        &[1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0];
    const FRACTION: (usize, u32) = (23, 126);
}

impl ExpLane for f64 {
    const LEAST: f64 = -354.0;
    const LARGEST: f64 = 709.782_712_893_384;
    const LOG2_E: f64 = std::f64::consts::LOG2_E;
    const LN_2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    const SERIES: &'static [f64] = &[
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
    const FRACTION: (usize, u32) = (52, 1022);
}

/// `values[i] = exp(values[i])`.
pub fn exp_in_place<T: Scalar>(isa: InstructionSet, values: &mut [T]) {
    isa.run(Exp { values });
}

/// `products[j] = exp(−γ·max(0, norm + norms[j] − 2·products[j]))`: the RBF kernel of one row and many, of their inner products
/// and squared lengths.
///
/// # Panics
/// When the slices differ in length.
pub fn rbf_in_place<T: Scalar>(isa: InstructionSet, gamma: T, norm: T, norms: &[T], products: &mut [T]) {
    assert_eq!(norms.len(), products.len(), "a norm for each product");
    isa.run(Rbf { gamma, norm, norms, products });
}

struct Exp<'a, T> {
    values: &'a mut [T],
}

struct Rbf<'a, T> {
    gamma: T,
    norm: T,
    norms: &'a [T],
    products: &'a mut [T],
}

impl<T: Scalar> Op for Exp<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value = exp(*value);
        }
    }
}

impl<T: Scalar> Op for Rbf<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let minus_two = -(T::one() + T::one());
        for (product, &norm) in self.products.iter_mut().zip(self.norms) {
            let distance = product.mul_add(minus_two, self.norm + norm);
            // NaN stays NaN.
            let distance = if distance < T::zero() { T::zero() } else { distance };
            *product = exp(-self.gamma * distance);
        }
    }
}

/// eˣ of one number.
#[inline(always)]
fn exp<T: Scalar>(x: T) -> T {
    let rounded = x.mul_add(T::LOG2_E, T::ROUNDER);
    let n = rounded - T::ROUNDER;
    let r = (-n).mul_add(T::LN_2.1, (-n).mul_add(T::LN_2.0, x));
    let sum = horner(T::SERIES, r);
    // The low bits of `rounded` are those of n: with the bias, less one, they are the exponent of 2ⁿ⁻¹.
    let (fraction, bias) = T::FRACTION;
    let bias = <T::Bits as num_traits::NumCast>::from(bias).expect("a small number");
    let bits = (rounded.bits() + bias) << fraction;
    let scaled = sum * T::of_bits(bits) * (T::one() + T::one());
    let scaled = if x < T::LEAST { T::zero() } else { scaled };
    if x > T::LARGEST { T::infinity() } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Scalar>(numbers: &[f64], tolerance: f64) {
        for isa in InstructionSet::available() {
            let mut values: Vec<T> = numbers.iter().map(|&x| T::from_f64(x)).collect();
            let expected: Vec<f64> = values.iter().map(|&x| Scalar::to_f64(x).exp()).collect();
            exp_in_place(isa, &mut values);
            for ((x, &value), expected) in numbers.iter().zip(&values).zip(expected) {
                let error = (Scalar::to_f64(value) - expected).abs() / expected;
                assert!(error < tolerance, "exp({x}) is {value}, off by {error}");
            }
        }
    }

    #[test]
    fn close_to_the_exponential_over_the_whole_range() {
        let numbers: Vec<f64> = (-43_500..88_700).map(|i| f64::from(i) / 1000.0 + 1e-7).collect();
        // Half a unit in the last place for the rounding, the rest for the series and two products.
        check::<f32>(&numbers, 1.2e-7);
        let numbers: Vec<f64> = (-353_900..709_700).map(|i| f64::from(i) / 1000.0 + 1e-7).collect();
        check::<f64>(&numbers, 4.5e-16);
    }

    #[test]
    fn beyond_the_range() {
        let isa = InstructionSet::best();
        let mut values = [f32::NEG_INFINITY, -200.0, -43.7, 0.0, -0.0, 88.8, 1e30, f32::INFINITY, f32::NAN];
        exp_in_place(isa, &mut values);
        assert_eq!(values[..8], [0.0, 0.0, 0.0, 1.0, 1.0, f32::INFINITY, f32::INFINITY, f32::INFINITY]);
        assert!(values[8].is_nan());
        let mut values = [f64::NEG_INFINITY, -354.1, 0.0, 710.0, f64::NAN];
        exp_in_place(isa, &mut values);
        assert_eq!(values[..4], [0.0, 0.0, 1.0, f64::INFINITY]);
        assert!(values[4].is_nan());
    }

    #[test]
    fn rbf_of_products_by_hand() {
        // ‖x‖² = 2, ‖y‖² = 2 and 5: distances 0, 3 and, by rounding, less than 0.
        let mut products = [2.0_f64, 2.0, 2.000_001];
        rbf_in_place(InstructionSet::best(), 0.5, 2.0, &[2.0, 5.0, 2.0], &mut products);
        assert_eq!([products[0], products[2]], [1.0, 1.0]);
        assert!((products[1] - (-1.5_f64).exp()).abs() < 1e-16);
    }
}
