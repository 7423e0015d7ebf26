//! The law of the frequencies of a shift-invariant kernel: k(x, y) = E cos⟨v, x − y⟩ (Bochner's theorem).
//!
//! | kernel | a frequency v | law of the factor |
//! |---|---|---|
//! | `rbf` | factor · z, z ~ N(0, I) | √(2γ) |
//! | `matern` | factor · z | √(2ν)/(ℓ·χ(2ν)): v is multivariate t of 2ν degrees |
//! | `cauchy` | factor · z | √γ·χ(2) |
//! | `rational_quadratic` | factor · z | χ(2α)/(√(2α)·ℓ) |
//! | `laplace` | γ times independent Cauchy numbers | – |
//!
//! The first four are radial, mixtures of normal laws: E exp(−t·r²/2) over t = factor² is the kernel at distance r (a gamma
//! or inverse gamma integral). Any matrix whose columns stand for normal vectors serves them, each column times a factor of
//! its own. The Laplace kernel is a product over the inputs, so that its frequencies need independent entries.
//!
//! Length scales (ARD) divide the inputs: k(x/ℓ, y/ℓ). A frequency's entry i is divided by ℓᵢ instead, at no cost.
//!
//! Reference: Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, section 4.2.1.

use crate::kernels::Kernel;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// The frequencies of a kernel, and of its inputs' length scales.
#[derive(Clone, Debug)]
pub struct Spectrum {
    kernel: Kernel,
    length_scales: Option<Vec<f64>>,
}

/// The lane of factors: lane 0 has the lengths of structured columns.
const FACTOR_LANE: usize = 1;
/// Chi numbers of fewer degrees have no use: half of the frequencies would be 0 or beyond all inputs.
const MIN_SHAPE: f64 = 0.1;

impl Spectrum {
    /// The law of a kernel's frequencies; the length scales are one for each input.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a kernel without frequencies, or parameters outside their range.
    pub fn new(kernel: Kernel, length_scales: Option<Vec<f64>>) -> Result<Self> {
        kernel.validate()?;
        match kernel {
            Kernel::Rbf { .. } | Kernel::Laplace { .. } | Kernel::Cauchy { .. } => {}
            Kernel::Matern { nu: shape, .. } | Kernel::RationalQuadratic { alpha: shape, .. } => {
                if shape < MIN_SHAPE {
                    let name = if matches!(kernel, Kernel::Matern { .. }) { "nu" } else { "alpha" };
                    return Err(Error::parameter(name, shape, "at least 0.1 in a spectral map"));
                }
            }
            _ => {
                let expected = "one of x − y: rbf, laplace, matern, cauchy, rational_quadratic";
                return Err(Error::parameter("kernel", format!("{kernel:?}"), expected));
            }
        }
        if let Some(bad) = length_scales.iter().flatten().find(|scale| !(**scale > 0.0 && scale.is_finite())) {
            return Err(Error::parameter("length_scales", *bad, "finite numbers above 0"));
        }
        Ok(Self { kernel, length_scales })
    }

    /// Of the RBF kernel.
    ///
    /// # Errors
    /// [`Error::Parameter`] when `gamma` is not finite and above 0.
    pub fn rbf(gamma: f64) -> Result<Self> {
        Self::new(Kernel::Rbf { gamma }, None)
    }

    /// Whether frequencies are normal vectors times factors.
    pub fn is_radial(&self) -> bool {
        !matches!(self.kernel, Kernel::Laplace { .. })
    }

    /// The factors of the frequencies `0 .. n` where they are radial, of independent entries otherwise; in every case what
    /// entries of a standard law are to be multiplied by.
    pub fn factors(&self, seed: u64, n: usize) -> Vec<f64> {
        let stream = Stream::new(seed, Purpose::RowLength).lane(FACTOR_LANE);
        let chi = |degrees: f64| (0..n as u64).map(move |j| stream.chi(degrees, j));
        match self.kernel {
            Kernel::Matern { nu, length_scale } => {
                chi(2.0 * nu).map(|chi| (2.0 * nu).sqrt() / (length_scale * chi)).collect()
            }
            Kernel::Cauchy { gamma } => chi(2.0).map(|chi| gamma.sqrt() * chi).collect(),
            Kernel::RationalQuadratic { alpha, length_scale } => {
                chi(2.0 * alpha).map(|chi| chi / ((2.0 * alpha).sqrt() * length_scale)).collect()
            }
            Kernel::Laplace { gamma } => vec![gamma; n],
            Kernel::Rbf { gamma } => vec![(2.0 * gamma).sqrt(); n],
            _ => unreachable!("`new` lets no other kernel pass"),
        }
    }

    /// 1/ℓ of every input.
    ///
    /// # Errors
    /// [`Error::Parameter`] when the length scales are not one for each input.
    pub fn input_factors(&self, n_inputs: usize) -> Result<Vec<f64>> {
        self.check_inputs(n_inputs)?;
        Ok(match &self.length_scales {
            None => vec![1.0; n_inputs],
            Some(scales) => scales.iter().map(|scale| 1.0 / scale).collect(),
        })
    }

    /// Whether the length scales, where there are any, are one for each input; takes no memory.
    pub(crate) fn check_inputs(&self, n_inputs: usize) -> Result<()> {
        match &self.length_scales {
            Some(scales) if scales.len() != n_inputs => {
                let got = format!("{} numbers for {n_inputs} inputs", scales.len());
                Err(Error::parameter("length_scales", got, "one for each input"))
            }
            _ => Ok(()),
        }
    }
}
