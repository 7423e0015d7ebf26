//! `cos_sin_into` keeps the error it states over every finite angle, and its bits on every instruction set.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mercer_simd::ops::philox::philox_into;
use mercer_simd::ops::sincos::cos_sin_into;
use mercer_simd::{InstructionSet, Scalar};

/// The bounds of the module's documentation.
const BOUND_F32: f64 = 1.2e-7;
const BOUND_F64: f64 = 2.3e-16;
/// Half a unit in the last place below 1: what the f64 references are rounded by.
const ROUNDING_F64: f64 = f64::EPSILON / 4.0;

fn random_words(n: usize) -> impl Iterator<Item = u64> {
    let mut blocks = vec![[0; 4]; n];
    philox_into(InstructionSet::best(), 2024, (0, 0), 0, &mut blocks);
    blocks.into_iter().map(|block| u64::from(block[0]) << 32 | u64::from(block[1]))
}

/// (sin, cos) of each angle.
fn sin_cos<T: Scalar>(isa: InstructionSet, scale: T, angles: &[T]) -> (Vec<T>, Vec<T>) {
    let (mut sin, mut cos) = (angles.to_vec(), vec![T::zero(); angles.len()]);
    cos_sin_into(isa, scale, &mut sin, &mut cos);
    (sin, cos)
}

fn angles_f32() -> Vec<f32> {
    let one_million = 1e6_f32.to_bits();
    let every_exponent = (0..one_million).step_by(1021).map(f32::from_bits).flat_map(|x| [x, -x]);
    let even_steps = (0..1_000_000).map(|i| i as f32 * 0.997 - 5e5);
    // Neighbours of the odd multiples of π/4, where r is largest, and of the multiples of π/2, where it is smallest.
    let corners = (0..340_000).flat_map(|i| {
        let x = (f64::from(i) * std::f64::consts::FRAC_PI_4) as f32;
        [x.next_down(), x, x.next_up()]
    });
    let any = random_words(1_000_000).map(|word| f32::from_bits(word as u32)).filter(|x| x.is_finite());
    every_exponent.chain(even_steps).chain(corners).chain(any).collect()
}

/// The largest error of the angles; f64 is exact enough to be the reference.
fn largest_error_f32(angles: &[f32]) -> f64 {
    let (sin, cos) = sin_cos(InstructionSet::best(), 1.0, angles);
    let errors = angles.iter().zip(sin).zip(cos).map(|((&x, sin), cos)| {
        let (exact_sin, exact_cos) = f64::from(x).sin_cos();
        let error = (f64::from(sin) - exact_sin).abs().max((f64::from(cos) - exact_cos).abs());
        assert!(error < BOUND_F32, "x = {x:e}: error {error:e}");
        error
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn f32_error_over_the_whole_range() {
    println!("largest f32 error {:e}", largest_error_f32(&angles_f32()));
}

/// Negative angles only change the sign of the sine, which the test above sees.
#[test]
#[ignore = "two minutes: every nonnegative finite f32"]
fn f32_error_of_every_angle() {
    const CHUNK: u32 = 1 << 20;
    let chunks = (0..f32::INFINITY.to_bits() / CHUNK).map(|chunk| {
        let angles: Vec<f32> = (0..CHUNK).map(|i| f32::from_bits(chunk * CHUNK + i)).collect();
        largest_error_f32(&angles)
    });
    println!("largest f32 error {:e}", chunks.fold(0.0, f64::max));
}

#[test]
fn f64_error_against_the_table() {
    let table: Vec<[f64; 3]> = include_str!("data/sincos_f64.txt")
        .lines()
        .skip(1)
        .map(|line| {
            let mut bits = line.split(' ').map(|hex| f64::from_bits(u64::from_str_radix(hex, 16).unwrap()));
            [(); 3].map(|()| bits.next().unwrap())
        })
        .collect();
    assert_eq!(table.len(), 311);
    let angles: Vec<f64> = table.iter().map(|row| row[0]).collect();
    let (sin, cos) = sin_cos(InstructionSet::best(), 1.0, &angles);
    for ((&[x, exact_sin, exact_cos], sin), cos) in table.iter().zip(sin).zip(cos) {
        let error = (sin - exact_sin).abs().max((cos - exact_cos).abs());
        assert!(error < BOUND_F64 - ROUNDING_F64, "x = {x:e}: error {error:e}");
    }
}

fn angles_f64() -> Vec<f64> {
    let uniform = |word: u64| word as f64 / 18_446_744_073_709_551_616.0 - 0.5;
    let moderate = random_words(300_000).map(move |word| uniform(word) * 60.0);
    let wide = random_words(300_000).map(move |word| uniform(word) * 2.2e9);
    let any = random_words(300_000).map(f64::from_bits).filter(|x| x.abs() < f64::MAX / 2.0);
    moderate.chain(wide).chain(any).collect()
}

/// sin² + cos² = 1, sin 2x = 2 sin x cos x and cos 2x = 1 − 2 sin² x: 2x is exact, and reduced on its own.
#[test]
fn f64_identities() {
    let angles = angles_f64();
    let doubled: Vec<f64> = angles.iter().map(|x| 2.0 * x).collect();
    let ((sin, cos), (sin_2, cos_2)) =
        (sin_cos(InstructionSet::best(), 1.0, &angles), sin_cos(InstructionSet::best(), 1.0, &doubled));
    for i in 0..angles.len() {
        let (s, c) = (sin[i], cos[i]);
        // To first order: an error e of s and c is at most 2√2·e in each expression, and the roundings 4·2^-53 more.
        let errors = [s.mul_add(s, c * c) - 1.0, sin_2[i] - 2.0 * s * c, cos_2[i] - (-2.0 * s).mul_add(s, 1.0)];
        let largest = errors.map(f64::abs).into_iter().fold(0.0, f64::max);
        assert!(largest < 5.0 * BOUND_F64 + 2.0 * f64::EPSILON, "x = {:e}: {errors:?}", angles[i]);
    }
}

/// The standard library is within one unit of the last place, 2.2e-16 at most, on the platforms we know.
#[test]
fn f64_error_against_the_standard_library() {
    let angles = angles_f64();
    let (sin, cos) = sin_cos(InstructionSet::best(), 1.0, &angles);
    for ((&x, sin), cos) in angles.iter().zip(sin).zip(cos) {
        let error = (sin - x.sin()).abs().max((cos - x.cos()).abs());
        assert!(error < BOUND_F64 + f64::EPSILON / 2.0, "x = {x:e}: error {error:e}");
    }
}

/// Each angle alone, in every length of slice, on every instruction set: one pair of bits.
fn same_bits_everywhere<T: Scalar>(angles: &[T]) {
    let bits = |values: &[T]| values.iter().map(|x| x.bits()).collect::<Vec<_>>();
    let (sin, cos) = sin_cos(InstructionSet::best(), T::one(), angles);
    for isa in InstructionSet::available() {
        let (other_sin, other_cos) = sin_cos(isa, T::one(), angles);
        assert!(bits(&other_sin) == bits(&sin) && bits(&other_cos) == bits(&cos), "{isa:?}");
        for length in 0..200 {
            let (part_sin, part_cos) = sin_cos(isa, T::one(), &angles[length..2 * length]);
            assert!(bits(&part_sin) == bits(&sin[length..2 * length]), "{isa:?}, length {length}");
            assert!(bits(&part_cos) == bits(&cos[length..2 * length]), "{isa:?}, length {length}");
        }
    }
}

#[test]
fn same_bits_on_every_instruction_set_and_in_every_slice() {
    // Angles of both paths side by side: a large one must not change the bits of its neighbours.
    let mixed = |word: u64| if word.is_multiple_of(97) { 1e12 } else { word as i64 as f64 / 9e15 };
    let angles: Vec<f64> = random_words(20_000).map(mixed).collect();
    same_bits_everywhere(&angles);
    same_bits_everywhere(&angles.iter().map(|&x| x as f32).collect::<Vec<_>>());
    same_bits_everywhere(&angles_f64()[..20_000]);
    same_bits_everywhere(&angles_f64()[600_000..620_000]);
}

#[test]
fn the_scale_multiplies() {
    let angles: Vec<f32> = (0..150).map(|i| i as f32 * 0.37 - 20.0).chain([3e7]).collect();
    let (sin, cos) = sin_cos(InstructionSet::best(), 1.0, &angles);
    let (scaled_sin, scaled_cos) = sin_cos(InstructionSet::best(), 0.03, &angles);
    assert_eq!(scaled_sin, sin.iter().map(|x| x * 0.03).collect::<Vec<_>>());
    assert_eq!(scaled_cos, cos.iter().map(|x| x * 0.03).collect::<Vec<_>>());
}

fn not_finite_gives_nan<T: Scalar>() {
    for isa in InstructionSet::available() {
        for at in [0, 63, 64, 99] {
            let mut angles = vec![T::one(); 100];
            for bad in [T::nan(), T::infinity(), T::neg_infinity()] {
                angles[at] = bad;
                let (sin, cos) = sin_cos(isa, T::one(), &angles);
                for i in 0..100 {
                    assert_eq!(sin[i].is_nan(), i == at);
                    assert_eq!(cos[i].is_nan(), i == at);
                }
            }
        }
    }
}

#[test]
fn nan_and_infinities_give_nan() {
    not_finite_gives_nan::<f32>();
    not_finite_gives_nan::<f64>();
}

#[test]
#[should_panic(expected = "one cosine for each angle")]
fn slices_must_fit() {
    cos_sin_into(InstructionSet::best(), 1.0, &mut [0.0; 3], &mut [0.0; 4]);
}
