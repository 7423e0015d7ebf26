//! Points that fill the unit cube more evenly than random ones: a Halton sequence, scrambled at random.
//!
//! Coordinate i of point j has the digits of j in the i-th prime base b, lowest first after the point, each mapped by
//! digit ↦ (a·digit + c) mod b with a and c drawn for (coordinate, place), a ≠ 0. As c is uniform, every coordinate of every
//! point is uniform: whatever is averaged over the points is unbiased, for any number of them. As the maps are one to one,
//! the first bᵏ points have one in each of the bᵏ slices of a coordinate. In bases above the number of points, as those of
//! many inputs are, this is a Latin hypercube.
//!
//! The plain sequence is useless in many dimensions, where neighbouring coordinates rise together; the scrambling breaks
//! that up. Drawing needs no table of direction numbers, as a Sobol sequence does, and any number of points is a prefix of
//! more.
//!
//! References: Halton, "On the efficiency of certain quasi-random sequences of points", Numerische Mathematik 2, 1960;
//! Matoušek, "On the L2-discrepancy for anchored boxes", J. Complexity 14, 1998 (scrambling by affine maps); Avron,
//! Sindhwani, Yang and Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant kernels", JMLR 17, 2016; Wichura,
//! "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37, 1988.

use std::f64::consts::PI;
use std::ops::Range;

use mercer_simd::InstructionSet;
use mercer_simd::ops::random::ln;
use mercer_simd::ops::sincos::cos_sin_into;
use ndarray::Array2;

use crate::random::{Purpose, Stream};

/// The scrambled sequence.
pub(super) struct Halton {
    coordinates: Vec<Coordinate>,
}

struct Coordinate {
    base: u64,
    /// Factor and addend of each place, as many as 52 bits hold.
    places: Vec<(u64, u64)>,
}

impl Halton {
    /// Memory for each input, about: few places in the large bases that most have, and the sieve.
    pub(super) const BYTES_OF_AN_INPUT: u128 = 128;

    pub(super) fn new(seed: u64, n_inputs: usize) -> Self {
        let stream = Stream::new(seed, Purpose::Phase);
        let coordinates = primes(n_inputs).into_iter().enumerate().map(|(i, base)| {
            let stream = stream.lane(i);
            let n_places = (52.0 / (base as f64).log2()).ceil() as u64;
            let place = |k| (1 + stream.below(base - 1, 2 * k), stream.below(base, 2 * k + 1));
            Coordinate { base, places: (0..n_places).map(place).collect() }
        });
        Self { coordinates: coordinates.collect() }
    }

    /// The points of a range as columns.
    pub(super) fn columns(&self, range: Range<usize>) -> Array2<f64> {
        let mut out = Array2::zeros((self.coordinates.len(), range.len()));
        for (mut row, coordinate) in out.outer_iter_mut().zip(&self.coordinates) {
            row.iter_mut().zip(range.clone()).for_each(|(to, j)| *to = coordinate.value(j as u64));
        }
        out
    }
}

impl Coordinate {
    /// In (0, 1): the middle of its slice of the last place.
    fn value(&self, mut j: u64) -> f64 {
        let (mut numerator, mut denominator) = (0_u64, 1_u64);
        let mut value = 0.0;
        let mut slice = 1.0;
        for &(factor, addend) in &self.places {
            let digit = (factor * (j % self.base) + addend) % self.base;
            j /= self.base;
            (numerator, denominator) = (numerator * self.base + digit, denominator * self.base);
            // Exact integers up to 2^52, then added as one fraction.
            if denominator > (1 << 52) / self.base {
                slice /= denominator as f64;
                value += numerator as f64 * slice;
                (numerator, denominator) = (0, 1);
            }
        }
        slice /= denominator as f64;
        value += numerator as f64 * slice;
        (value + 0.5 * slice).clamp(f64::EPSILON / 4.0, 1.0 - f64::EPSILON / 2.0)
    }
}

/// The first `n` primes.
fn primes(n: usize) -> Vec<u64> {
    // The n-th prime is below n·(ln n + ln ln n) from the sixth on.
    let log = (n.max(6) as f64).ln();
    let limit = (n.max(6) as f64 * (log + log.ln())).ceil() as usize + 1;
    let mut composite = vec![false; limit];
    let mut found = Vec::with_capacity(n);
    for i in 2..limit {
        if found.len() == n {
            break;
        }
        if !composite[i] {
            found.push(i as u64);
            (i * i..limit).step_by(i).for_each(|multiple| composite[multiple] = true);
        }
    }
    found
}

/// The normal number with probability `u` below it, 0 < u < 1; relative error about 1e-15.
pub(super) fn normal_quantile(u: f64) -> f64 {
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.425_f64.mul_add(0.425, -q * q);
        return q * ratio(r, &CENTRE.0, &CENTRE.1);
    }
    let tail = if q < 0.0 { u } else { 1.0 - u };
    let r = (-ln(tail)).sqrt();
    let value = if r <= 5.0 { ratio(r - 1.6, &MIDDLE.0, &MIDDLE.1) } else { ratio(r - 5.0, &FAR.0, &FAR.1) };
    if q < 0.0 { -value } else { value }
}

/// The Cauchy number with probability `u` below it.
pub(super) fn cauchy_quantile(u: f64) -> f64 {
    // −cot(πu), near 1 by the symmetry that keeps its digits.
    let (mut sin, mut cos) = ([PI * if u < 0.5 { u } else { u - 1.0 }], [0.0]);
    cos_sin_into(InstructionSet::best(), 1.0, &mut sin, &mut cos);
    -cos[0] / sin[0]
}

fn ratio(r: f64, numerator: &[f64; 8], denominator: &[f64; 8]) -> f64 {
    let polynomial = |c: &[f64; 8]| c.iter().rev().fold(0.0_f64, |sum, c| sum.mul_add(r, *c));
    polynomial(numerator) / polynomial(denominator)
}

type Ratio = ([f64; 8], [f64; 8]);

/// The constants of AS 241, lowest power first.
const CENTRE: Ratio = (
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_4,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_545,
    ],
);
const MIDDLE: Ratio = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        0.000_774_545_014_278_341_4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        0.000_547_593_808_499_534_5,
        1.050_750_071_644_416_9e-9,
    ],
);
const FAR: Ratio = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        0.000_786_869_131_145_613_2,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_by_hand() {
        assert_eq!(primes(10), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        assert_eq!((primes(1), *primes(784).last().unwrap()), (vec![2], 6_007));
    }

    /// Quantiles of scipy 1.17 (`scipy.stats.norm.ppf`, `scipy.stats.cauchy.ppf`).
    #[test]
    fn quantiles_as_tabled() {
        let table = [
            (1e-15, -7.941_345_326_170_998),
            (0.001, -3.090_232_306_167_813),
            (0.02, -2.053_748_910_631_823),
            (0.3, -0.524_400_512_708_040_9),
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
        ];
        for (u, z) in table {
            assert!((normal_quantile(u) - z).abs() <= 4e-15 * z.abs(), "{u}: {} {z}", normal_quantile(u));
        }
        for (u, z) in [(0.25, -1.0), (0.75, 1.0), (0.01, -31.820_515_953_773_956), (0.5, 0.0)] {
            assert!((cauchy_quantile(u) - z).abs() <= 1e-13 * (1.0 + z.abs()), "{u}: {}", cauchy_quantile(u));
        }
    }

    /// The first b points have one in each of b slices, in any base; b² points have one in each of b² in base b.
    #[test]
    fn slices_hold_one_point_each() {
        for seed in 0..5 {
            let points = Halton::new(seed, 6).columns(0..169);
            for (i, base) in [2_usize, 3, 5, 7, 11, 13].into_iter().enumerate() {
                for slices in [base, base * base] {
                    let mut seen = vec![0; slices];
                    points.row(i).iter().take(slices).for_each(|u| seen[(u * slices as f64) as usize] += 1);
                    assert!(seen.iter().all(|&n| n == 1), "base {base}, {slices} slices: {seen:?}");
                }
            }
        }
    }

    /// Every point is uniform over the seeds: mean 1/2 and mean square 1/3, to 4.5 standard errors.
    #[test]
    fn each_point_is_uniform() {
        let n = 2_000;
        let points: Vec<_> = (0..n).map(|seed| Halton::new(seed, 3).columns(5..6)).collect();
        for i in 0..3 {
            let moment = |power: i32| points.iter().map(|x| x[[i, 0]].powi(power)).sum::<f64>() / n as f64;
            assert!((moment(1) - 0.5).abs() < 4.5 * (1.0 / 12.0 / n as f64).sqrt(), "{}", moment(1));
            assert!((moment(2) - 1.0 / 3.0).abs() < 4.5 * (4.0 / 45.0 / n as f64).sqrt(), "{}", moment(2));
        }
    }

    #[test]
    fn fewer_points_are_a_prefix() {
        let halton = Halton::new(9, 20);
        assert_eq!(halton.columns(10..30), halton.columns(0..40).slice(ndarray::s![.., 10..30]));
    }
}
