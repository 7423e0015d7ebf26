//! Tails of the χ², F and normal distributions: the probability of a statistic at least as large.
//!
//! | tail | function | computed as |
//! |---|---|---|
//! | χ² of ν degrees above x | Q(ν/2, x/2), the regularised incomplete gamma function | series of P = 1 − Q for x/2 < ν/2 + 1, else a continued fraction |
//! | F of ν₁, ν₂ degrees above f | I_y(ν₂/2, ν₁/2), y = ν₂/(ν₂ + ν₁f), the regularised incomplete beta function | a continued fraction of the smaller side |
//! | normal beyond ±z | erfc(\|z\|/√2) = Q(½, z²/2) | as χ² of one degree |
//!
//! The powers and Γ functions before them cancel where degrees are many, so they are taken together: with Binet's
//! δ(a) = ln Γ(a) − (a−½)·ln a + a − ½·ln 2π and L(u) = ln u − u + 1,
//!
//! ```text
//! xᵃe⁻ˣ/Γ(a)      = √(a/2π)·exp(a·L(x/a) − δ(a))
//! xᵃ(1−x)ᵇ/B(a,b) = √(ab/2π(a+b))·exp(a·L(x(a+b)/a) + b·L((1−x)(a+b)/b) + δ(a+b) − δ(a) − δ(b))
//! ```
//!
//! Relative error: below 10⁻¹³·(1 + |ln p|) for up to 10⁶ degrees, where p is the tail; what is below 10⁻³⁰⁷ may be 0.
//! Cost: O(√degrees).
//!
//! References: NIST Digital Library of Mathematical Functions, 8.7.1 (series), 8.9.2 and 8.17.22 (continued fractions),
//! 5.11.1 (δ); Loader, "Fast and accurate computation of binomial probabilities", 2000 (the cancelled powers); Thompson
//! and Barnett, J. Comput. Phys. 64, 1986 (Lentz's evaluation of continued fractions).

use std::f64::consts::TAU;

/// Sums and fractions end when a step changes them by less, relatively.
const PRECISION: f64 = 1e-15;
/// Steps after which sums and fractions end anyway; 10⁶ degrees take some thousands.
const MAX_STEPS: u32 = 1_000_000;
/// Coefficients of Stirling's series for δ(a): B₂ₖ/(2k(2k−1)) of a^(1−2k).
const STIRLING: [f64; 7] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];

/// P(χ² ≥ x) for a positive number of degrees of freedom; 1 for x ≤ 0.
pub(super) fn chi_squared_tail(x: f64, degrees: f64) -> f64 {
    upper_gamma(degrees / 2.0, x / 2.0)
}

/// P(|Z| ≥ |z|) of a standard normal Z.
pub(super) fn normal_tails(z: f64) -> f64 {
    upper_gamma(0.5, z * z / 2.0)
}

/// The z with P(|Z| ≥ z) = `tails` of a standard normal Z, for `tails` from 10⁻³⁰⁰ to 1: halving an interval until it has
/// no number between its ends.
pub(super) fn normal_point(tails: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if normal_tails(middle) > tails { low = middle } else { high = middle }
    }
}

/// P(F ≥ f) for positive numbers of degrees of freedom above and below the line; 1 for f ≤ 0.
pub(super) fn f_tail(f: f64, above: f64, below: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    let (a, b) = (above / 2.0, below / 2.0);
    let total = a * f + b;
    let (x, y) = (a * f / total, b / total);
    let from_one = (f - 1.0) / total; // u − 1 and v − 1 without cancellation
    let exponent = a * log_excess(f * (a + b) / total, from_one * b)
        + b * log_excess((a + b) / total, -from_one * a)
        + (binet(a + b) - binet(a) - binet(b));
    let power = (a / TAU * b / (a + b)).sqrt() * exponent.exp();
    match y < (b + 1.0) / (a + b + 2.0) {
        true => power / (b * beta_fraction(y, b, a)),
        false => 1.0 - power / (a * beta_fraction(x, a, b)),
    }
}

/// Q(a, x) = Γ(a, x)/Γ(a).
fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let power = (a / TAU).sqrt() * (a * log_excess(x / a, (x - a) / a) - binet(a)).exp();
    match x < a + 1.0 {
        true => 1.0 - power / a * gamma_series(a, x),
        false => power / gamma_fraction(a, x),
    }
}

/// Σ xⁿ/((a+1)…(a+n)), DLMF 8.7.1.
fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..MAX_STEPS {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < PRECISION * sum {
            break;
        }
    }
    sum
}

/// x+1−a − 1(1−a)/(x+3−a − 2(2−a)/(x+5−a − …)), DLMF 8.9.2 contracted.
fn gamma_fraction(a: f64, x: f64) -> f64 {
    continued_fraction(x + 1.0 - a, |n| (-n * (n - a), x + 2.0 * n + 1.0 - a))
}

/// 1 + d₁/(1 + d₂/(1 + …)), DLMF 8.17.22.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    continued_fraction(1.0, |n| {
        let m = (n / 2.0).floor();
        let d = match n % 2.0 == 0.0 {
            true => m * (b - m) / ((a + n - 1.0) * (a + n)),
            false => -(a + m) * (a + b + m) / ((a + n - 1.0) * (a + n)),
        };
        (d * x, 1.0)
    })
}

/// first + a₁/(b₁ + a₂/(b₂ + …)), where `parts` of n are (aₙ, bₙ).
fn continued_fraction(first: f64, parts: impl Fn(f64) -> (f64, f64)) -> f64 {
    let nonzero = |value: f64| if value == 0.0 { f64::MIN_POSITIVE } else { value };
    let mut value = nonzero(first);
    let (mut ahead, mut behind) = (value, 0.0);
    for n in 1..MAX_STEPS {
        let (a, b) = parts(f64::from(n));
        behind = 1.0 / nonzero(b + a * behind);
        ahead = nonzero(b + a / ahead);
        value *= ahead * behind;
        if (ahead * behind - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

/// L(u) = ln u − u + 1, with t = u − 1 given apart because u near 1 has lost its digits.
fn log_excess(u: f64, t: f64) -> f64 {
    if t.abs() > 0.25 {
        return u.ln() - t;
    }
    // ln u = 2·artanh s with s = t/(2 + t), and 2s = t − st.
    let s = t / (2.0 + t);
    let square = s * s;
    let odd_powers = (1..12).rev().fold(0.0, |sum, j| sum * square + 1.0 / f64::from(2 * j + 1));
    2.0 * s * square * odd_powers - s * t
}

/// δ(a), Binet's function: Stirling's series for a ≥ 10, below by δ(a) − δ(a+1) = (a+½)·ln(1+1/a) − 1.
fn binet(a: f64) -> f64 {
    if a < 10.0 {
        return binet(a + 1.0) + (a + 0.5) * (1.0 / a).ln_1p() - 1.0;
    }
    let square = 1.0 / (a * a);
    STIRLING.iter().rev().fold(0.0, |sum, coefficient| sum * square + coefficient) / a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, expected: f64, what: &str) {
        let tolerance = 1e-13 * (1.0 - expected.ln());
        assert!((got / expected - 1.0).abs() < tolerance, "{what}: {got:e} for {expected:e}");
    }

    /// `scipy.stats.chi2.sf(x, degrees)` of SciPy 1.17.1, with the digits of mpmath 1.4's `gammainc(degrees/2, x/2,
    /// inf, regularized=True)` at 40 digits; both agree to 1e-13.
    #[test]
    fn chi_squared_as_scipy() {
        let table = [
            (0.001, 1.0, 0.974_772_879_369_960_4),
            (0.5, 1.0, 0.479_500_122_186_953_5),
            (3.841, 1.0, 0.050_013_683_763_956_7),
            (40.0, 1.0, 2.539_628_589_470_865e-10),
            (1.0, 2.0, 0.606_530_659_712_633_4),
            (0.3, 3.0, 0.960_028_480_306_877_6),
            (7.815, 3.0, 0.049_993_902_974_883_89),
            (6.5, 7.0, 0.482_723_193_410_097_4),
            (80.805, 7.0, 9.438_129_982_692_428e-15),
            (300.0, 7.0, 6.049_641_856_556_32e-61),
            (12.0, 20.0, 0.916_075_983_005_124_2),
            (1000.0, 20.0, 3.904_796_639_121_321e-199),
            (95.0, 100.0, 0.622_579_291_878_173_5),
            (130.0, 100.0, 0.023_512_397_809_808_68),
            (10_000.0, 9900.0, 0.237_915_430_912_529_1),
            (1_002_000.0, 1_000_000.0, 0.078_718_661_386_129_63),
        ];
        for (x, degrees, expected) in table {
            assert_close(chi_squared_tail(x, degrees), expected, &format!("χ² of {degrees} above {x}"));
        }
    }

    /// `scipy.stats.f.sf(f, above, below)` of SciPy 1.17.1, with the digits of mpmath's `betainc(below/2, above/2, 0,
    /// below/(below + above*f), regularized=True)`; both agree to 1e-13.
    #[test]
    fn f_as_scipy() {
        let table = [
            (0.01, 1.0, 1.0, 0.936_548_965_138_892_9),
            (5.0, 1.0, 1.0, 0.267_720_472_801_23),
            (161.0, 1.0, 1.0, 0.050_069_174_995_844_8),
            (0.5, 2.0, 7.0, 0.626_654_533_038_799_8),
            (3.0, 3.0, 12.0, 0.072_765_476_813_030_53),
            (1.0, 5.0, 5.0, 0.5),
            (278.7, 7.0, 77.0, 5.725_975_487_955_649e-52),
            (2.1, 7.0, 77.0, 0.053_366_180_702_163_84),
            (0.02, 7.0, 77.0, 0.999_991_785_526_770_5),
            (40.0, 9.0, 36.0, 4.199_389_242_987_753e-16),
            (1.3, 19.0, 4981.0, 0.171_313_478_976_749_7),
            (1.05, 1000.0, 1000.0, 0.220_291_482_525_933_8),
            (1.5, 1000.0, 1000.0, 8.424_503_698_936_114e-11),
            (1.1, 9.0, 1_000_000.0, 0.358_642_520_699_107_7),
        ];
        for (f, above, below, expected) in table {
            assert_close(f_tail(f, above, below), expected, &format!("F of {above}, {below} above {f}"));
        }
    }

    /// `2*scipy.stats.norm.sf(z)` of SciPy 1.17.1, with the digits of mpmath's `erfc(z/sqrt(2))`; both agree to 2e-13.
    #[test]
    fn normal_as_scipy() {
        let table = [
            (0.01, 0.992_021_287_370_736_8),
            (0.5, 0.617_075_077_451_973_8),
            (1.0, 0.317_310_507_862_914_1),
            (1.96, 0.049_995_790_296_440_87),
            (3.0, 0.002_699_796_063_260_189),
            (5.0, 5.733_031_437_583_878e-7),
            (6.916_666_666_666_667, 4.623_943_481_292_712e-12),
            (10.0, 1.523_970_604_832_105e-23),
            (20.0, 5.507_248_237_212_467e-89),
            (37.0, 1.145_114_244_504_915e-299),
        ];
        for (z, expected) in table {
            assert_close(normal_tails(z), expected, &format!("a normal beyond {z}"));
            assert_eq!(normal_tails(-z), normal_tails(z));
        }
    }

    /// `scipy.stats.norm.isf(tails/2)`.
    #[test]
    fn normal_points_as_scipy() {
        let table = [
            (1.0, 0.0),
            (0.5, 0.674_489_750_196_081_7),
            (0.1, 1.644_853_626_951_472_9),
            (0.05, 1.959_963_984_540_054_5),
            (0.01, 2.575_829_303_548_901),
            (1e-9, 6.109_410_204_869_397_5),
        ];
        for (tails, expected) in table {
            let got = normal_point(tails);
            assert!((got - expected).abs() < 1e-12 * (1.0 + expected), "{tails}: {got} for {expected}");
        }
    }

    /// Where degrees are even, the tail of χ² is a finite sum: e^(−x/2)·Σ (x/2)ʲ/j! over j < ν/2.
    #[test]
    fn even_degrees_by_their_finite_sum() {
        for half in 1..40_u32 {
            for x in [0.01, 1.0, 7.5, 30.0, 80.0, 300.0] {
                let (mut term, mut sum) = (1.0, 1.0);
                for j in 1..half {
                    term *= x / 2.0 / f64::from(j);
                    sum += term;
                }
                assert_close(
                    chi_squared_tail(x, f64::from(2 * half)),
                    (-x / 2.0).exp() * sum,
                    "an even number of degrees",
                );
            }
        }
    }

    /// F of (ν₁, ν₂) above f is as likely as F of (ν₂, ν₁) below 1/f; of 2 degrees above, the tail is (1 +
    /// 2f/ν₂)^(−ν₂/2).
    #[test]
    fn identities_of_f() {
        for (above, below) in [(1.0, 1.0), (3.0, 40.0), (7.0, 77.0), (60.0, 5.0), (1000.0, 1000.0)] {
            for f in [0.2, 0.9, 1.0, 1.1, 3.0, 12.0] {
                let sum = f_tail(f, above, below) + f_tail(1.0 / f, below, above);
                assert!((sum - 1.0).abs() < 1e-13, "{above}, {below}, {f}: {sum}");
                let closed = (-below / 2.0 * (2.0 * f / below).ln_1p()).exp();
                assert_close(f_tail(f, 2.0, below), closed, "two degrees above");
            }
        }
    }

    #[test]
    fn at_the_ends() {
        assert_eq!((chi_squared_tail(0.0, 3.0), f_tail(0.0, 3.0, 8.0), normal_tails(0.0)), (1.0, 1.0, 1.0));
        assert_eq!((chi_squared_tail(1e6, 3.0), f_tail(1e300, 3.0, 80.0), normal_tails(-60.0)), (0.0, 0.0, 0.0));
        assert!((1.0 - chi_squared_tail(1e-12, 1.0)) > 7.9e-7, "P(χ² < x) is √(2x/π) for small x");
    }
}
