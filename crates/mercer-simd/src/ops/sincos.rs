//! cos and sin of many angles at once: the nonlinearity of every spectral feature map.
//!
//! Steps: n = ⌊x·2/π⌉; r = x − n·π/2 in two fused steps (Cody and Waite; exact but for one rounding); a polynomial
//! each for sin r and cos r, |r| ≤ π/4; n mod 4 swaps and negates. Angles beyond [`SincosLane::REDUCIBLE`] are
//! reduced in integers against 1,280 bits of 2/π (Payne and Hanek), so the whole range is right.
//!
//! Absolute error, before the scale: below 1.2e-7 (f32) and 2.3e-16 (f64) for every finite angle; the largest seen
//! are 9.65e-8 (of every f32) and 1.71e-16. NaN and infinities give NaN. The same bits on every instruction set.
//!
//! References: Cody and Waite, *Software Manual for the Elementary Functions*, 1980; Payne and Hanek, "Radian
//! reduction for trigonometric functions", SIGNUM 18, 1983. The polynomials are our own Chebyshev fits.

use num_traits::{One, PrimInt};

use crate::dispatch::Op;
use crate::{InstructionSet, Scalar};

/// The constants and bit moves that differ between the float types.
pub trait SincosLane: Copy + 'static {
    /// The unsigned integer of the same width.
    type Bits: PrimInt;
    /// Largest |x| reduced by the two-step path.
    const REDUCIBLE: Self;
    /// 2/π
    const TWO_OVER_PI: Self;
    /// π/2 = `HALF_PI.0 + HALF_PI.1` to twice the precision.
    const HALF_PI: (Self, Self);
    /// 1.5 · 2^(mantissa bits): adding it rounds to an integer, left in the low bits.
    const ROUNDER: Self;
    /// Coefficients of (sin(r)/r − 1)/r² in r², lowest first.
    const SIN: &'static [Self];
    /// Coefficients of (cos(r) − 1 + r²/2)/r⁴ in r², lowest first.
    const COS: &'static [Self];
    /// The bits of the value.
    fn bits(self) -> Self::Bits;
    /// The value of the bits.
    fn of_bits(bits: Self::Bits) -> Self;
}

impl SincosLane for f32 {
    type Bits = u32;
    const REDUCIBLE: f32 = 1_048_576.0;
    const TWO_OVER_PI: f32 = std::f32::consts::FRAC_2_PI;
    const HALF_PI: (f32, f32) = (std::f32::consts::FRAC_PI_2, -4.371_139e-8);
    const ROUNDER: f32 = 12_582_912.0;
    const SIN: &'static [f32] = &[-0.166_666_64, 0.008_332_743, -0.000_195_868_82];
    const COS: &'static [f32] = &[0.041_666_664, -0.001_388_829_8, 2.454_693_1e-5];

    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn of_bits(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
}

impl SincosLane for f64 {
    type Bits = u64;
    const REDUCIBLE: f64 = 1_073_741_824.0;
    const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;
    const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    const SIN: &'static [f64] = &[
        -0.166_666_666_666_666_66,
        0.008_333_333_333_333_331,
        -0.000_198_412_698_412_649_68,
        2.755_731_921_926_441e-6,
        -2.505_210_620_653_168_2e-8,
        1.605_852_751_943_773e-10,
        -7.586_455_940_017_973e-13,
    ];
    const COS: &'static [f64] = &[
        0.041_666_666_666_666_664,
        -0.001_388_888_888_888_888_7,
        2.480_158_730_158_459_4e-5,
        -2.755_731_922_136_126e-7,
        2.087_675_577_667_176_7e-9,
        -1.147_045_860_834_142_8e-11,
        4.745_737_811_425_911e-14,
    ];

    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}

/// `cos[i] = scale · cos(x)` and `angles_to_sin[i] = scale · sin(x)` for `x = angles_to_sin[i]`.
///
/// # Panics
/// When the slices differ in length.
pub fn cos_sin_into<T: Scalar>(isa: InstructionSet, scale: T, angles_to_sin: &mut [T], cos: &mut [T]) {
    assert_eq!(angles_to_sin.len(), cos.len(), "one cosine for each angle");
    isa.run(CosSin { scale, sin: angles_to_sin, cos });
}

struct CosSin<'a, T> {
    scale: T,
    sin: &'a mut [T],
    cos: &'a mut [T],
}

/// `angles_to_cos[i] = scale · cos(angles_to_cos[i] + phases[i])`.
///
/// # Panics
/// When the slices differ in length.
pub fn cos_into<T: Scalar>(isa: InstructionSet, scale: T, phases: &[T], angles_to_cos: &mut [T]) {
    assert_eq!(phases.len(), angles_to_cos.len(), "a phase for each angle");
    isa.run(Cos { scale, phases, cos: angles_to_cos });
}

struct Cos<'a, T> {
    scale: T,
    phases: &'a [T],
    cos: &'a mut [T],
}

impl<T: Scalar> Op for Cos<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut sin = [T::zero(); CHUNK];
        for (cos, phases) in self.cos.chunks_mut(CHUNK).zip(self.phases.chunks(CHUNK)) {
            let sin = &mut sin[..cos.len()];
            for ((angle, &x), &phase) in sin.iter_mut().zip(&*cos).zip(phases) {
                *angle = x + phase;
            }
            cos_sin_chunk(self.scale, sin, cos);
        }
    }
}

/// Angles looked at together: the slow path is taken per chunk.
const CHUNK: usize = 64;

impl<T: Scalar> Op for CosSin<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let scale = self.scale;
        let (mut sin, mut cos) = (self.sin.chunks_exact_mut(CHUNK), self.cos.chunks_exact_mut(CHUNK));
        for (sin, cos) in (&mut sin).zip(&mut cos) {
            let sin: &mut [T; CHUNK] = sin.try_into().expect("exact chunk");
            let cos: &mut [T; CHUNK] = cos.try_into().expect("exact chunk");
            cos_sin_chunk(scale, sin, cos);
        }
        cos_sin_chunk(scale, sin.into_remainder(), cos.into_remainder());
    }
}

#[inline(always)]
fn cos_sin_chunk<T: Scalar>(scale: T, sin: &mut [T], cos: &mut [T]) {
    let mut reducible = true;
    for x in sin.iter() {
        reducible &= x.abs() <= T::REDUCIBLE;
    }
    if !reducible {
        return cos_sin_any(scale, sin, cos);
    }
    for (s, c) in sin.iter_mut().zip(cos.iter_mut()) {
        let (sin_x, cos_x) = sincos(*s);
        *s = sin_x * scale;
        *c = cos_x * scale;
    }
}

/// sin and cos of one angle with |x| ≤ `REDUCIBLE`.
#[inline(always)]
pub(crate) fn sincos<T: Scalar>(x: T) -> (T, T) {
    let rounded = x.mul_add(T::TWO_OVER_PI, T::ROUNDER);
    let n = rounded - T::ROUNDER;
    let r = (-n).mul_add(T::HALF_PI.1, (-n).mul_add(T::HALF_PI.0, x));
    sincos_of_remainder(rounded.bits(), r)
}

/// sin and cos of `r + quadrant · π/2`.
#[inline(always)]
fn sincos_of_remainder<T: Scalar>(quadrant: T::Bits, r: T) -> (T, T) {
    let (one, two) = (T::Bits::one(), T::Bits::one() + T::Bits::one());
    let sign = 8 * size_of::<T>() - 2;
    let r2 = r * r;
    let sin_r = (r2 * r).mul_add(horner(T::SIN, r2), r);
    let half = T::one() / (T::one() + T::one());
    let cos_r = (r2 * r2).mul_add(horner(T::COS, r2), (-half).mul_add(r2, T::one()));
    let swap = quadrant & one == one;
    let (s, c) = if swap { (cos_r, sin_r) } else { (sin_r, cos_r) };
    // sin changes sign in quadrants 2 and 3, cos in 1 and 2: move that bit to the sign's place.
    let sin_sign = (quadrant & two) << sign;
    let cos_sign = ((quadrant ^ (quadrant << 1)) & two) << sign;
    (T::of_bits(s.bits() ^ sin_sign), T::of_bits(c.bits() ^ cos_sign))
}

/// A polynomial of `x`, its coefficients lowest first.
#[inline(always)]
pub(super) fn horner<T: Scalar>(coefficients: &'static [T], x: T) -> T {
    let mut sum = coefficients[coefficients.len() - 1];
    for &coefficient in coefficients.iter().rev().skip(1) {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// The same for any angles, one at a time in f64.
#[cold]
#[inline(never)]
fn cos_sin_any<T: Scalar>(scale: T, sin: &mut [T], cos: &mut [T]) {
    for (s, c) in sin.iter_mut().zip(cos.iter_mut()) {
        let (sin_x, cos_x) = if s.abs() <= T::REDUCIBLE { sincos(*s) } else { sincos_large(s.to_f64()) };
        *s = sin_x * scale;
        *c = cos_x * scale;
    }
}

fn sincos_large<T: Scalar>(x: f64) -> (T, T) {
    if !x.is_finite() {
        return (T::nan(), T::nan());
    }
    let (quadrant, r) = reduce_large(x.abs());
    let (sin, cos) = sincos_of_remainder(quadrant, r);
    (T::from_f64(if x < 0.0 { -sin } else { sin }), T::from_f64(cos))
}

/// 64 zero bits, then the first 1,280 bits of 2/π after the binary point.
const TWO_OVER_PI_BITS: [u64; 21] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];

/// x = (4j + quadrant)·π/2 + r for x ≥ 2^20, |r| ≤ π/4.
///
/// x = m·2^e. The bits of 2/π with weight ≥ 2^(2−e) contribute multiples of 4 to m·2^e·2/π and are left out; of the
/// rest 192 bits are multiplied by m modulo 2^192, where the top two bits are the quadrant and the others the
/// fraction (the bits dropped at the low end are worth less than 2^-136).
fn reduce_large(x: f64) -> (u64, f64) {
    let bits = x.to_bits();
    let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let exponent = (bits >> 52) as i64 - 1075;
    let first = usize::try_from(exponent - 2 + 64).expect("x is at least 2^20");
    let window = |word: usize| {
        let (at, shift) = (first / 64 + word, first % 64);
        let pair = u128::from(TWO_OVER_PI_BITS[at]) << 64 | u128::from(TWO_OVER_PI_BITS[at + 1]);
        u128::from(((pair << shift) >> 64) as u64)
    };
    let low = mantissa * window(2);
    let middle = mantissa * window(1) + (low >> 64);
    let high = mantissa.wrapping_mul(window(0)).wrapping_add(middle >> 64) as u64;
    // As a signed number the fraction is already the one nearest to zero; its sign bit says the quadrant rounds up.
    let fraction = (high << 2 | (middle as u64) >> 62) as i64;
    let quadrant = (high >> 62).wrapping_add(u64::from(fraction < 0));
    (quadrant, fraction as f64 * (std::f64::consts::FRAC_PI_2 / 18_446_744_073_709_551_616.0))
}
