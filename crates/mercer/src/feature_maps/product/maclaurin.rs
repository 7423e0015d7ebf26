//! Random Maclaurin: maps of every kernel that is a series of powers of the inner product, with no negative coefficient.
//!
//! k(x,y) = f(γ⟨x,y⟩) with f(z) = Σ aₙzⁿ, aₙ ≥ 0: the polynomial kernel (γ⟨x,y⟩ + c)^g has aₙ = C(g,n)·c^(g−n), the exponential
//! one, exp(γ⟨x,y⟩), 1/n!; any other is given by its coefficients. A feature is a product of n projections for some n, coordinates of signed Walsh-Hadamard transforms
//! as in [`tensor_srht`](super::TensorSrhtSpec), real or complex. How many features each power gets:
//!
//! - The constant is one feature, without error.
//! - **random**: n is drawn for each other feature with a probability pₙ ∝ 2^-n among the powers of the series, and its product has the
//!   factor (aₙ/(pₙ·D))^½. E⟨φ(x),φ(y)⟩ = k(x,y) over draws of the powers too (Kar and Karnick, who draw the constant as well).
//! - **optimal**: of each other power Dₙ features have the factor (aₙ/Dₙ)^½, so that
//!   Var = Σ aₙ²·Varₙ/Dₙ with Varₙ that of one product. It is least for Dₙ ∝ aₙ·√Varₙ, taken where γ‖x‖² = γ⟨x,y⟩ = 1, which
//!   gamma "scale" makes of an average row: 3ⁿ − 1 for real, (2ⁿ + 2ⁿ)/2 − 1 for complex signs. Every power has a feature (or a pair).
//!
//! Both are unbiased for the series, that without end cut off behind its 24th power, beyond which the exponential has less than 10⁻⁸ of its value for
//! γ⟨x,y⟩ up to 5.
//!
//! Cost of a row: Σ n·Dₙ·log d additions. For the exponential kernel and given series there is no other map here; of the polynomial one,
//! [`tensor_srht`](super::TensorSrhtSpec) has features of all powers at once.
//!
//! References: Kar and Karnick, "Random feature maps for dot product kernels", AISTATS 2012; Wacker, Kanagawa and Filippone, "Improved
//! random features for dot product kernels", 2022, section 4 (the allocation of features to powers).
//!
//! ```
//! use mercer::feature_maps::{DotProduct, FeatureMap, MaclaurinSpec};
//! use mercer::kernels::PowerSeries;
//! use ndarray::{Array2, array};
//!
//! // ½ + 0.3·⟨x,y⟩ + 0.2·⟨x,y⟩³
//! let coefficients = PowerSeries::new(&[0.5, 0.3, 0.0, 0.2])?;
//! let map = MaclaurinSpec::new(2_000, DotProduct::PowerSeries { coefficients }).map::<f64>(1.0, 2, 0)?;
//! let mut features = Array2::zeros((1, 2_000));
//! let mut scratch = vec![0.0; map.scratch_len(1)];
//! map.transform_into(array![[0.6, 0.8]].view().into(), features.view_mut(), &mut scratch)?;
//! assert!((features.row(0).dot(&features.row(0)) - 1.0).abs() < 0.1);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::Scalar;
use serde::{Deserialize, Serialize};

use super::tensor_srht::Drawn;
use super::{Part, ProductMap, check_polynomial};
use crate::feature_maps::Gamma;
use crate::kernels::{Kernel, PowerSeries};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Features of a series of powers: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | number of features | at least 1; more than the powers where they are allocated |
/// | `kernel` | polynomial | f | |
/// | `gamma` | `scale` | γ | above 0 |
/// | `allocation` | optimal | how features are dealt to the powers | |
/// | `complex` | true | whether signs are complex | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaclaurinSpec {
    /// number of features
    pub n_components: usize,
    /// the series
    pub kernel: DotProduct,
    /// what inner products are multiplied by
    pub gamma: Gamma,
    /// how features are dealt to the powers
    pub allocation: Allocation,
    /// whether signs are fourth roots of one
    pub complex: bool,
}

/// A kernel of the inner product alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum DotProduct {
    /// (z + c)^degree
    Polynomial {
        /// at least 1
        degree: u32,
        /// at least 0
        c: f64,
    },
    /// e^z
    Exponential,
    /// Σ aₙzⁿ
    PowerSeries {
        /// a₀, a₁, …
        coefficients: PowerSeries,
    },
}

/// How features are dealt to the powers of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allocation {
    /// For each feature by chance.
    Random,
    /// For the least variance.
    #[default]
    Optimal,
}

/// The last power of a series without end.
const LAST_POWER: u32 = 24;

impl DotProduct {
    /// a₀, a₁, …
    pub fn coefficients(self) -> Vec<f64> {
        match self {
            Self::Polynomial { degree, c } => {
                let mut binomial = 1.0;
                let of_power = |n: u32| {
                    let coefficient = binomial * c.powi((degree - n) as i32);
                    binomial *= f64::from(degree - n) / f64::from(n + 1);
                    coefficient
                };
                (0..=degree).map(of_power).collect()
            }
            Self::Exponential => {
                let mut factorial = 1.0;
                let of_power = |n: u32| {
                    factorial *= f64::from(n.max(1));
                    1.0 / factorial
                };
                (0..=LAST_POWER).map(of_power).collect()
            }
            Self::PowerSeries { coefficients } => coefficients.into(),
        }
    }

    /// The kernel of this γ.
    pub(in crate::feature_maps) fn with_gamma(self, gamma: f64) -> Kernel {
        match self {
            Self::Polynomial { degree, c } => Kernel::Polynomial { degree, gamma, c },
            Self::Exponential => Kernel::Exponential { gamma },
            Self::PowerSeries { coefficients } => Kernel::PowerSeries { coefficients, gamma },
        }
    }
}

/// Features of one power: how many numbers, and their factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerShare {
    /// n
    pub power: u32,
    /// real or complex numbers
    pub n_numbers: usize,
    /// what a product is multiplied by
    pub factor: f64,
}

impl MaclaurinSpec {
    /// With every other parameter at its default.
    pub fn new(n_components: usize, kernel: DotProduct) -> Self {
        Self { n_components, kernel, gamma: Gamma::Scale, allocation: Allocation::Optimal, complex: true }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        if let DotProduct::Polynomial { degree, c } = self.kernel {
            check_polynomial(degree, c)?;
        }
        self.gamma.validate()?;
        let (constant, powers) = (self.has_constant(), self.powers().len());
        let numbers = if self.allocation == Allocation::Random { 1 } else { powers - usize::from(constant) };
        let least = usize::from(constant) + numbers * self.width();
        if self.n_components < least {
            let expected = "more: every power of the series needs a feature, or a pair of complex ones";
            return Err(Error::parameter("n_components", self.n_components, expected));
        }
        Ok(())
    }

    /// Features of a number.
    fn width(&self) -> usize {
        if self.complex { 2 } else { 1 }
    }

    /// The powers of the series and their coefficients.
    fn powers(&self) -> Vec<(u32, f64)> {
        (0..).zip(self.kernel.coefficients()).filter(|(_, a)| *a > 0.0).collect()
    }

    fn has_constant(&self) -> bool {
        self.powers()[0].0 == 0
    }

    /// How many numbers each power gets. Where they are pairs, one feature may be left.
    pub fn shares(&self, seed: u64) -> Vec<PowerShare> {
        let (mut powers, mut shares) = (self.powers(), Vec::new());
        let mut n_numbers = self.n_components;
        if self.has_constant() {
            let (power, a) = powers.remove(0);
            shares.push(PowerShare { power, n_numbers: 1, factor: a.sqrt() });
            n_numbers -= 1;
        }
        n_numbers /= self.width();
        shares.extend(match self.allocation {
            Allocation::Random => random_shares(&powers, n_numbers, seed),
            Allocation::Optimal => optimal_shares(&powers, n_numbers, if self.complex { 2.0 } else { 3.0 }),
        });
        shares
    }

    /// Draws the map.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    pub fn map<T: Scalar>(&self, gamma: f64, n_inputs: usize, seed: u64) -> Result<ProductMap<T>> {
        self.validate()?;
        let (mut parts, mut first_factor) = (Vec::new(), 0);
        for PowerShare { power, n_numbers, factor: scale } in self.shares(seed) {
            if n_numbers == 0 {
                continue;
            }
            if power == 0 {
                parts.push(Part::Constant(T::from_f64(scale)));
                continue;
            }
            let numbers = first_factor..first_factor + power as usize;
            let drawn = |number: usize| {
                let is_first = number == numbers.start;
                let scale = if is_first { scale } else { 1.0 } * gamma.sqrt();
                Drawn { seed, number, is_first, n_inputs, n_outputs: n_numbers, scale, constant: 0.0 }
            };
            parts.push(if self.complex {
                Part::Complex(numbers.clone().map(|number| drawn(number).complex()).collect::<Result<_>>()?)
            } else {
                Part::Real(numbers.clone().map(|number| drawn(number).real()).collect::<Result<_>>()?)
            });
            first_factor = numbers.end;
        }
        // The one that no pair is made of.
        let filled: usize = parts.iter().map(Part::n_components).sum();
        (filled..self.n_components).for_each(|_| parts.push(Part::Constant(T::zero())));
        Ok(ProductMap::new(n_inputs, parts))
    }
}

/// Powers by chance, each half as likely as the one before it.
fn random_shares(powers: &[(u32, f64)], n_numbers: usize, seed: u64) -> Vec<PowerShare> {
    let total: f64 = powers.iter().map(|(n, _)| 0.5_f64.powi(*n as i32)).sum();
    let mut uniform = vec![0.0; n_numbers];
    Stream::new(seed, Purpose::Degree).uniform_into(0, &mut uniform);
    let mut below = 0.0;
    let share = |(at, &(power, a)): (usize, &(u32, f64))| {
        let p = 0.5_f64.powi(power as i32) / total;
        // Rounding leaves no number without a power.
        let end = if at + 1 == powers.len() { 1.0 } else { below + p };
        let n = uniform.iter().filter(|u| (below..end).contains(u)).count();
        below = end;
        PowerShare { power, n_numbers: n, factor: (a / (p * n_numbers as f64)).sqrt() }
    };
    powers.iter().enumerate().map(share).collect()
}

/// Powers by their part in the variance, `base`^n − 1 for a product of n; one number at least for each.
fn optimal_shares(powers: &[(u32, f64)], n_numbers: usize, base: f64) -> Vec<PowerShare> {
    let weight = |(n, a): (u32, f64)| a * (base.powi(n as i32) - 1.0).sqrt();
    let (mut left, mut total) = (n_numbers, powers.iter().copied().map(weight).sum::<f64>());
    let share = |(at, &(power, a)): (usize, &(u32, f64))| {
        // What is left is dealt in the proportions that are left, one at least to each that follows.
        let behind = powers.len() - at - 1;
        let share = (weight((power, a)) / total * left as f64).round() as usize;
        let n = if behind == 0 { left } else { share.clamp(1, left - behind) };
        (left, total) = (left - n, total - weight((power, a)));
        PowerShare { power, n_numbers: n, factor: (a / n as f64).sqrt() }
    };
    powers.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_maps::FeatureMap;

    #[test]
    fn coefficients_by_hand() {
        assert_eq!(DotProduct::Polynomial { degree: 3, c: 2.0 }.coefficients(), [8.0, 12.0, 6.0, 1.0]);
        assert_eq!(DotProduct::Polynomial { degree: 2, c: 0.0 }.coefficients(), [0.0, 0.0, 1.0]);
        let exponential = DotProduct::Exponential.coefficients();
        assert_eq!(exponential[..5], [1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0]);
        assert_eq!(exponential.len(), 25);
        let coefficients = PowerSeries::new(&[0.0, 2.0, 0.0]).unwrap();
        assert_eq!(DotProduct::PowerSeries { coefficients }.coefficients(), [0.0, 2.0]);
    }

    /// Dₙ ∝ aₙ·√(3ⁿ − 1): (z + 1)² has 2·√2 and √8 for its two powers, alike.
    #[test]
    fn features_are_allocated_by_hand() {
        let spec =
            MaclaurinSpec { complex: false, ..MaclaurinSpec::new(101, DotProduct::Polynomial { degree: 2, c: 1.0 }) };
        let shares: Vec<(u32, usize)> = spec.shares(0).iter().map(|s| (s.power, s.n_numbers)).collect();
        assert_eq!(shares, [(0, 1), (1, 50), (2, 50)]);
        assert_eq!(spec.shares(0)[1].factor, (2.0_f64 / 50.0).sqrt());
    }

    /// Every feature has a power, and none is left.
    #[test]
    fn all_features_are_dealt() {
        let coefficients = PowerSeries::new(&[0.0, 0.0, 0.5, 0.0, 0.0, 0.1]).unwrap();
        let series = DotProduct::PowerSeries { coefficients };
        for kernel in [DotProduct::Polynomial { degree: 5, c: 0.5 }, DotProduct::Exponential, series] {
            for (complex, allocation) in [
                (false, Allocation::Random),
                (true, Allocation::Random),
                (false, Allocation::Optimal),
                (true, Allocation::Optimal),
            ] {
                for n_components in [50, 51, 400, 1001] {
                    let spec = MaclaurinSpec { allocation, complex, ..MaclaurinSpec::new(n_components, kernel) };
                    spec.validate().unwrap();
                    assert_eq!(spec.map::<f64>(0.5, 3, 7).unwrap().n_components(), n_components, "{spec:?}");
                }
            }
        }
    }
}
