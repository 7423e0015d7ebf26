//! Uniform and normal numbers from Philox counters, in f64, the same bits everywhere.
//!
//! A counter gives 128 bits, hence two uniforms on a grid of 2^-52 strictly inside (0, 1), hence by Box and Muller
//! two normals: z₀ = √(−2 ln u₀)·cos 2πu₁, z₁ = √(−2 ln u₀)·sin 2πu₁, |z| < 8.6. Only +, −, ·, /, √, fused
//! multiply-add and integer operations are used, each correctly rounded, so every machine agrees.
//!
//! Reference: Box and Muller, "A note on the generation of random normal deviates", 1958.

use std::f64::consts::TAU;

use crate::InstructionSet;
use crate::dispatch::Op;
use crate::ops::philox::{LANES, philox_lanes};
use crate::ops::sincos::sincos;

/// `out[2i], out[2i + 1]` = the two normals of the counter `(first + i, stream)`.
pub fn normal_into(isa: InstructionSet, key: u64, stream: (u32, u32), first: u64, out: &mut [f64]) {
    isa.run(Normal { key, stream, first, out });
}

/// `out[2i], out[2i + 1]` = the two uniforms of the counter `(first + i, stream)`.
pub fn uniform_into(isa: InstructionSet, key: u64, stream: (u32, u32), first: u64, out: &mut [f64]) {
    isa.run(Uniform { key, stream, first, out });
}

/// Natural logarithm of a positive normal number; relative error below 3.5e-16 (measured: 3.23e-16).
///
/// x = 2^k·m with m in [√½, √2): ln x = k·ln 2 + 2·atanh((m − 1)/(m + 1)).
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const SQRT_HALF_BITS: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const INTEGER: f64 = 6_755_399_441_055_744.0; // its low bits hold a small integer as they are
    const LN_2: (f64, f64) = (0.693_147_180_559_890_3, 5.497_923_018_708_371e-14);
    const ATANH: [f64; 8] = [
        0.666_666_666_666_666_6,
        0.400_000_000_000_008_8,
        0.285_714_285_708_028_5,
        0.222_222_223_918_870_64,
        0.181_817_956_216_327_82,
        0.153_862_407_089_696_65,
        0.132_687_461_955_965_95,
        0.130_869_078_879_650_27,
    ];
    let exponent = (x.to_bits().wrapping_sub(SQRT_HALF_BITS) as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((exponent << 52) as u64));
    let k = f64::from_bits(INTEGER.to_bits().wrapping_add(exponent as u64)) - INTEGER;
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let mut series = ATANH[7];
    for coefficient in ATANH[..7].iter().rev() {
        series = series.mul_add(s2, *coefficient);
    }
    let ln_m = (s * s2).mul_add(series, 2.0 * s);
    k.mul_add(LN_2.0, k.mul_add(LN_2.1, ln_m))
}

struct Normal<'a> {
    key: u64,
    stream: (u32, u32),
    first: u64,
    out: &'a mut [f64],
}

impl Op for Normal<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (chunk, out) in self.out.chunks_mut(2 * LANES).enumerate() {
            let (u0, u1) = uniform_lanes(self.key, self.stream, self.first.wrapping_add((chunk * LANES) as u64));
            let (mut z0, mut z1) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let radius = (-2.0 * ln(u0[lane])).sqrt();
                let (sin, cos) = sincos(TAU * u1[lane]);
                z0[lane] = radius * cos;
                z1[lane] = radius * sin;
            }
            interleave(&z0, &z1, out);
        }
    }
}

struct Uniform<'a> {
    key: u64,
    stream: (u32, u32),
    first: u64,
    out: &'a mut [f64],
}

impl Op for Uniform<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (chunk, out) in self.out.chunks_mut(2 * LANES).enumerate() {
            let (u0, u1) = uniform_lanes(self.key, self.stream, self.first.wrapping_add((chunk * LANES) as u64));
            interleave(&u0, &u1, out);
        }
    }
}

#[inline(always)]
fn uniform_lanes(key: u64, stream: (u32, u32), first: u64) -> ([f64; LANES], [f64; LANES]) {
    let words = philox_lanes(key, stream, first);
    let (mut u0, mut u1) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        u0[lane] = open_unit(words[0][lane], words[1][lane]);
        u1[lane] = open_unit(words[2][lane], words[3][lane]);
    }
    (u0, u1)
}

/// The top 52 of 64 random bits as a number of (0, 1): (integer + ½)·2^-52.
#[inline(always)]
pub fn open_unit(low: u32, high: u32) -> f64 {
    let top = (u64::from(high) << 32 | u64::from(low)) >> 12;
    // Placed in the mantissa of [1, 2): exact, and vectorises on every instruction set.
    f64::from_bits(0x3ff0_0000_0000_0000 | top) - (1.0 - f64::EPSILON / 2.0)
}

#[inline(always)]
fn interleave(even: &[f64; LANES], odd: &[f64; LANES], out: &mut [f64]) {
    if out.len() == 2 * LANES {
        for lane in 0..LANES {
            out[2 * lane] = even[lane];
            out[2 * lane + 1] = odd[lane];
        }
    } else {
        for (i, out) in out.iter_mut().enumerate() {
            *out = if i % 2 == 0 { even[i / 2] } else { odd[i / 2] };
        }
    }
}
