//! A kernel but for its width, which the data may settle.

use serde::{Deserialize, Serialize};

use super::Kernel;
use crate::Result;

/// A kernel whose width γ is given apart, where it has one; that of a length scale is ℓ = 1/√(2γ), so that one γ means about the
/// same for all radial kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum KernelFamily {
    /// ⟨x,y⟩
    Linear,
    /// (γ⟨x,y⟩ + c)^degree
    Polynomial {
        /// at least 1
        degree: u32,
        /// at least 0
        c: f64,
    },
    /// exp(γ⟨x,y⟩)
    Exponential,
    /// exp(−γ‖x−y‖²)
    #[default]
    Rbf,
    /// exp(−γ‖x−y‖₁)
    Laplace,
    /// Matérn of smoothness ν
    Matern {
        /// ν
        nu: f64,
    },
    /// 1/(1 + γ‖x−y‖²)
    Cauchy,
    /// (1 + ‖x−y‖²/(2αℓ²))^−α
    RationalQuadratic {
        /// α
        alpha: f64,
    },
    /// Σ 2xᵢyᵢ/(xᵢ+yᵢ), of values of at least 0
    AdditiveChi2,
    /// exp(−γ Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ)), of values of at least 0
    ExponentialChi2,
    /// Π 2√((xᵢ+c)(yᵢ+c))/(xᵢ+yᵢ+2c), of values above −c
    SkewedChi2 {
        /// c
        skewedness: f64,
    },
    /// of wide networks
    ArcCosine {
        /// 0, 1 or 2
        degree: u32,
    },
    /// ⟨x,y⟩/(‖x‖² + ‖y‖² − ⟨x,y⟩)
    Tanimoto,
}

impl KernelFamily {
    /// The kernel of this width, which is of no use to one without.
    pub fn with_gamma(self, gamma: f64) -> Kernel {
        let length_scale = 1.0 / (2.0 * gamma).sqrt();
        match self {
            Self::Linear => Kernel::Linear,
            Self::Polynomial { degree, c } => Kernel::Polynomial { degree, gamma, c },
            Self::Exponential => Kernel::Exponential { gamma },
            Self::Rbf => Kernel::Rbf { gamma },
            Self::Laplace => Kernel::Laplace { gamma },
            Self::Matern { nu } => Kernel::Matern { nu, length_scale },
            Self::Cauchy => Kernel::Cauchy { gamma },
            Self::RationalQuadratic { alpha } => Kernel::RationalQuadratic { alpha, length_scale },
            Self::AdditiveChi2 => Kernel::AdditiveChi2,
            Self::ExponentialChi2 => Kernel::ExponentialChi2 { gamma },
            Self::SkewedChi2 { skewedness } => Kernel::SkewedChi2 { skewedness },
            Self::ArcCosine { degree } => Kernel::ArcCosine { degree },
            Self::Tanimoto => Kernel::Tanimoto,
        }
    }

    /// Whether it has a width.
    pub fn has_gamma(self) -> bool {
        !matches!(
            self,
            Self::Linear | Self::AdditiveChi2 | Self::SkewedChi2 { .. } | Self::ArcCosine { .. } | Self::Tanimoto
        )
    }

    /// Whether γ multiplies a sum of absolute differences.
    pub fn is_of_absolute_distance(self) -> bool {
        matches!(self, Self::Laplace)
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// As [`Kernel::validate`].
    pub fn validate(self) -> Result<()> {
        self.with_gamma(1.0).validate()
    }
}
