//! The arc-cosine kernels: of infinitely wide one-layer networks with step, ramp and quarter-pipe units.
//!
//! k_n(x,y) = 2·E[Θ(⟨w,x⟩)⟨w,x⟩ⁿ Θ(⟨w,y⟩)⟨w,y⟩ⁿ], w standard normal, Θ the unit step, is
//!
//! ```text
//! (1/π)‖x‖ⁿ‖y‖ⁿ Jₙ(θ),   J₀ = π − θ,   J₁ = sin θ + (π−θ) cos θ,   J₂ = 3 sin θ cos θ + (π−θ)(1 + 2cos² θ)
//! ```
//!
//! so k_n(x,x) is 1, ‖x‖² and 3‖x‖⁴. With Θ(0) = ½, as the reference has it, a row of zeros gives k₀ = ½ with every row and
//! itself: the expectation above, so still positive semi-definite.
//!
//! Near θ = π, J₁ and J₂ vanish like φ³/3 and 4φ⁵/15 for φ = π − θ, near θ = 0 the distances vanish like θ²; there both are
//! taken from their power series.
//!
//! Reference: Cho and Saul, "Kernel methods for deep learning", NIPS 2009, equations 1 to 7.

use std::f64::consts::PI;

use super::formula::Formula;
use super::readings::Reading;

/// Of degree 0, 1 or 2.
pub(super) struct ArcCosine {
    pub(super) degree: u32,
}

impl Formula for ArcCosine {
    fn reading(&self) -> Reading {
        Reading::Angle
    }

    fn kernel(&self, angle: f64, x: f64, y: f64) -> f64 {
        let zero = x == 0.0 || y == 0.0;
        match self.degree {
            0 if zero => 0.5,
            0 => supplement(angle) / PI,
            _ if zero => 0.0,
            1 => j1(supplement(angle)) / PI * x * y,
            _ => j2(supplement(angle)) / PI * x * y * x * y,
        }
    }

    fn distance(&self, angle: f64, x: f64, y: f64) -> f64 {
        match self.degree {
            0 if x == 0.0 || y == 0.0 => {
                if x == y {
                    0.0
                } else {
                    0.5
                }
            }
            0 => 2.0 / PI * theta(angle),
            // ‖x‖² + ‖y‖² − 2‖x‖‖y‖J₁/π
            1 => (x - y).powi(2) + 2.0 * below_j1(theta(angle)) * x * y,
            // 3‖x‖⁴ + 3‖y‖⁴ − 2‖x‖²‖y‖²J₂/π
            _ => 3.0 * ((x - y) * (x + y)).powi(2) + 2.0 * below_j2(theta(angle)) * x * y * x * y,
        }
    }
}

/// θ of an angle as it is read: θ − π beyond a right angle, and −0 for θ = π.
fn theta(angle: f64) -> f64 {
    if angle.is_sign_negative() { PI + angle } else { angle }
}

/// φ = π − θ, exact beyond a right angle.
fn supplement(angle: f64) -> f64 {
    if angle.is_sign_negative() { -angle } else { PI - angle }
}

/// J₁ = sin φ − φ cos φ.
fn j1(phi: f64) -> f64 {
    if phi < 1.0 { series(phi, |n| 2.0 * n) } else { phi.sin() - phi * phi.cos() }
}

/// J₂ = φ(2 + cos 2φ) − 1.5 sin 2φ.
fn j2(phi: f64) -> f64 {
    let twice = 2.0 * phi;
    if phi < 0.5 { -0.5 * series(twice, |n| 2.0 * n - 2.0) } else { phi * (2.0 + twice.cos()) - 1.5 * twice.sin() }
}

/// 1 − J₁/π = 2 sin²(θ/2) − (sin θ − θ cos θ)/π.
fn below_j1(theta: f64) -> f64 {
    2.0 * (theta / 2.0).sin().powi(2) - j1(theta) / PI
}

/// 3 − J₂/π = (2(π−θ) sin² θ + 1.5(2θ − sin 2θ))/π.
fn below_j2(theta: f64) -> f64 {
    let twice = 2.0 * theta;
    let lune = if twice < 1.0 { series(twice, |_| 1.0) } else { twice - twice.sin() };
    (2.0 * (PI - theta) * theta.sin().powi(2) + 1.5 * lune) / PI
}

/// Σ (−1)^(n+1) coefficient(n)·xⁿ⁺ⁿ⁺¹/(2n+1)! over n ≥ 1, for 0 ≤ x ≤ 1, where 9 terms are all that count.
fn series(x: f64, coefficient: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut term) = (0.0, x);
    for n in 1..10 {
        let n = f64::from(n);
        term *= -x * x / (2.0 * n * (2.0 * n + 1.0));
        sum -= coefficient(n) * term;
    }
    sum
}
