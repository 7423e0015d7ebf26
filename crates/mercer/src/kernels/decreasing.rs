//! Kernels with k(x,x) = 1 that fall with a distance: exponentials, Cauchy, skewed χ², rational quadratic; and the two that need no
//! distance in the usual sense, Tanimoto and additive χ².
//!
//! With k(x,x) = 1, ‖φ(x)−φ(y)‖² is 2(1 − k), and each formula has a form of 1 − k that keeps its digits where k is near 1.

use super::formula::Formula;
use super::readings::Reading;

/// exp(−γ·distance): RBF of the squared, Laplace of the absolute, exponential χ² of the χ² distance.
pub(super) struct Exponential {
    pub(super) gamma: f64,
    pub(super) of: Reading,
}

impl Formula for Exponential {
    fn reading(&self) -> Reading {
        self.of
    }

    fn kernel(&self, distance: f64, _: f64, _: f64) -> f64 {
        (-self.gamma * distance).exp()
    }

    fn distance(&self, distance: f64, _: f64, _: f64) -> f64 {
        -2.0 * (-self.gamma * distance).exp_m1()
    }
}

/// 1/(1 + γ·distance): Cauchy of the squared distance, skewed χ² of the excess.
pub(super) struct Reciprocal {
    pub(super) gamma: f64,
    pub(super) of: Reading,
}

impl Formula for Reciprocal {
    fn reading(&self) -> Reading {
        self.of
    }

    fn kernel(&self, distance: f64, _: f64, _: f64) -> f64 {
        1.0 / (1.0 + self.gamma * distance)
    }

    fn distance(&self, distance: f64, _: f64, _: f64) -> f64 {
        // 1 − 1/(1 + t) = 1/(1 + 1/t), for t = 0 and ∞ too.
        2.0 / (1.0 + 1.0 / (self.gamma * distance))
    }
}

/// (1 + ‖x−y‖²/(2αℓ²))^−α
pub(super) struct RationalQuadratic {
    pub(super) alpha: f64,
    pub(super) length_scale: f64,
}

impl RationalQuadratic {
    /// ln k
    fn exponent(&self, squared_distance: f64) -> f64 {
        let scaled = squared_distance / self.length_scale / self.length_scale; // ℓ² may underflow
        -self.alpha * (scaled / (2.0 * self.alpha)).ln_1p()
    }
}

impl Formula for RationalQuadratic {
    fn reading(&self) -> Reading {
        Reading::SquaredDistance
    }

    fn kernel(&self, squared_distance: f64, _: f64, _: f64) -> f64 {
        self.exponent(squared_distance).exp()
    }

    fn distance(&self, squared_distance: f64, _: f64, _: f64) -> f64 {
        -2.0 * self.exponent(squared_distance).exp_m1()
    }
}

/// ⟨x,y⟩/(‖x‖² + ‖y‖² − ⟨x,y⟩) = (1 − ρ)/(1 + ρ) for the relative distance ρ = ‖x−y‖²/(‖x‖²+‖y‖²).
pub(super) struct Tanimoto;

impl Formula for Tanimoto {
    fn reading(&self) -> Reading {
        Reading::RelativeDistance
    }

    fn kernel(&self, rho: f64, _: f64, _: f64) -> f64 {
        (1.0 - rho) / (1.0 + rho)
    }

    fn distance(&self, rho: f64, _: f64, _: f64) -> f64 {
        4.0 * rho / (1.0 + rho)
    }
}

/// Σ 2xᵢyᵢ/(xᵢ+yᵢ), whose feature-space distance is the χ² distance Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ).
pub(super) struct AdditiveChi2;

impl Formula for AdditiveChi2 {
    fn reading(&self) -> Reading {
        Reading::HarmonicMean
    }

    fn distance_reading(&self) -> Reading {
        Reading::ChiSquared
    }

    fn kernel(&self, harmonic_mean: f64, _: f64, _: f64) -> f64 {
        harmonic_mean
    }

    fn distance(&self, chi_squared: f64, _: f64, _: f64) -> f64 {
        chi_squared
    }
}
