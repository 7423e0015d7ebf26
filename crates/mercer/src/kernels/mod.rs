//! The exact kernels k(x, y): what every feature map approximates, and what its tests compare it with.
//!
//! | name | k(x, y) | parameters | reference |
//! |---|---|---|---|
//! | `linear` | ⟨x,y⟩ | – | |
//! | `polynomial` | (γ⟨x,y⟩ + c)^degree | degree ≥ 1, γ > 0, c ≥ 0 | |
//! | `quadratic` | γ²(⟨x,y⟩² + (w−1)Σxᵢ²yᵢ²) | γ > 0, w = squares ≥ 0 | LS18 |
//! | `exponential` | exp(γ⟨x,y⟩) | γ > 0 | |
//! | `power_series` | Σ aₙ(γ⟨x,y⟩)ⁿ | up to 17 coefficients aₙ ≥ 0, γ > 0 | S42 |
//! | `rbf` | exp(−γ‖x−y‖²) | γ > 0 | |
//! | `laplace` | exp(−γ‖x−y‖₁) | γ > 0 | |
//! | `matern` | M_ν(√(2ν)·‖x−y‖/ℓ), M_ν(z) = 2^(1−ν)/Γ(ν)·z^ν K_ν(z) | 0 < ν ≤ 1000, ℓ > 0 | RW06 eq. 4.14 |
//! | `cauchy` | 1/(1 + γ‖x−y‖²) | γ > 0 | |
//! | `rational_quadratic` | (1 + ‖x−y‖²/(2αℓ²))^−α | α > 0, ℓ > 0 | RW06 eq. 4.19 |
//! | `additive_chi2` | Σ 2xᵢyᵢ/(xᵢ+yᵢ), x, y ≥ 0 | – | VZ12 |
//! | `exponential_chi2` | exp(−γ Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ)), x, y ≥ 0 | γ > 0 | ZMLS07 |
//! | `skewed_chi2` | Π 2√((xᵢ+c)(yᵢ+c))/(xᵢ+yᵢ+2c), x, y > −c | c = skewedness > 0 | LIS10 |
//! | `arc_cosine` | (1/π)‖x‖ⁿ‖y‖ⁿ Jₙ(θ) | n = degree = 0, 1, 2 | CS09 |
//! | `tanimoto` | ⟨x,y⟩/(‖x‖² + ‖y‖² − ⟨x,y⟩) | – | RSSB05 |
//!
//! Within these ranges every Gram matrix is positive semi-definite. A term 0/0 of a χ² sum is 0. Two rows of zeros have
//! Tanimoto similarity 1, so that equal rows always have 1; either value leaves the kernel positive semi-definite, as a row of
//! zeros has 0 with every other. A row of zeros has the arc-cosine kernel of degree 0 equal to ½ with every row and itself, as
//! its definition by an expectation has it.
//!
//! χ² kernels differ between authors. scikit-learn's `additive_chi2_kernel` is −Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ) = 2k(x,y) − Σxᵢ − Σyᵢ for
//! our `additive_chi2`: it is only conditionally positive definite, ours is what it becomes in feature space. Our
//! `exponential_chi2` is its `chi2_kernel`, and, we take it, that of CM21, whose chi-square kernel (tables 3-4, 3-8 and
//! section 5) has a γ to tune but is not written out.
//!
//! Inner products, distances and sums are taken in f64 for both float types and rounded once, at the end, so that an f32
//! Gram matrix is the f64 one rounded. Measured: an RBF kernel from f32 products is off by up to 6·10⁻⁴ for rows of
//! length 30 and γ = 1; the price is 2.5 times the f32 product (4,096 × 1,024 rows of 784 inputs, one core).
//! [`squared_distances_into`] says how distances keep their digits.
//!
//! Cost of a Gram matrix of n × m rows: n·m·d multiply-adds (three operations each for `laplace`, a division each for χ²; d
//! counts the stored values of x) and n·m exponentials or the like, on the calling thread. Memory beside the result: blocks of
//! at most 256 rows of x and y, in f64.
//!
//! Gram matrices are centred in feature space by [`GramCentring`]. Values with landmarks that stay are [`KernelColumns`].
//!
//! References: RW06, Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006. VZ12, Vedaldi and Zisserman,
//! "Efficient additive kernels via explicit feature maps", PAMI 34, 2012. ZMLS07, Zhang, Marszałek, Lazebnik and Schmid, "Local
//! features and kernels for classification of texture and object categories", IJCV 73, 2007. LIS10, Li, Ionescu and Sminchisescu, "Random
//! Fourier approximations for skewed multiplicative histogram kernels", DAGM 2010. CS09, Cho and Saul, "Kernel methods
//! for deep learning", NIPS 2009. RSSB05, Ralaivola, Swamidass, Saigo and Baldi, "Graph kernels for chemical informatics",
//! Neural Networks 18, 2005. LS18, López-Sánchez, Corchado and González Arrieta, "Data-independent random projections from the feature-map
//! of the homogeneous polynomial kernel of degree two", Information Sciences 2018. S42, Schoenberg, "Positive definite functions on spheres", Duke Mathematical Journal 9, 1942. CM21, I. Y. Castellanos Martínez, *Scalable Kernel Methods using Randomized Numerical Linear
//! Algebra*, master's thesis, Universidad Nacional de Colombia 2021.
//!
//! ```
//! use mercer::kernels::Kernel;
//! use ndarray::{Array2, array};
//!
//! let x = array![[1.0_f32, 0.0], [0.0, 2.0]];
//! let mut gram = Array2::<f32>::zeros((2, 2));
//! Kernel::Rbf { gamma: 0.5 }.gram_into(x.view().into(), x.view().into(), gram.view_mut())?;
//! assert_eq!(gram, array![[1.0, (-2.5_f32).exp()], [(-2.5_f32).exp(), 1.0]]);
//! # Ok::<(), mercer::Error>(())
//! ```

mod angles;
mod arc_cosine;
mod centring;
mod columns;
mod decreasing;
mod distances;
mod family;
mod formula;
mod matern;
mod overlaps;
mod pairs;
mod polynomial;
mod power_series;
mod products;
mod quadratic;
mod ratios;
mod readings;
#[cfg(test)]
mod tests;

use mercer_simd::Scalar;
use ndarray::{ArrayView1, ArrayViewMut1, ArrayViewMut2, Axis, Zip, s};
use serde::{Deserialize, Deserializer, Serialize};

pub use centring::{GramCentring, GramSums, centre_in_place};
pub use columns::KernelColumns;
pub use distances::squared_distances_into;
pub use family::KernelFamily;
pub use power_series::PowerSeries;

use crate::dataset::Rows;
use crate::{Error, Result};
use arc_cosine::ArcCosine;
use decreasing::{AdditiveChi2, Exponential, RationalQuadratic, Reciprocal, Tanimoto};
use distances::check_shape;
use formula::Formula;
use matern::{MAX_NU, Matern};
use polynomial::{ExponentialOfProduct, Linear, Polynomial};
use power_series::SeriesOfProduct;
use products::check_widths;
use quadratic::Quadratic;
use readings::Reading;

/// A kernel with its parameters; the ranges are checked by [`Kernel::validate`] and by every use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kernel {
    /// ⟨x,y⟩
    #[serde(deserialize_with = "no_parameters")]
    Linear,
    /// (γ⟨x,y⟩ + c)^degree; homogeneous for c = 0.
    Polynomial {
        /// at least 1
        degree: u32,
        /// γ, above 0
        gamma: f64,
        /// at least 0
        c: f64,
    },
    /// γ²(Σ over i ≠ j of xᵢxⱼyᵢyⱼ + w·Σxᵢ²yᵢ²): the polynomial kernel of degree 2 for w = 1, products of different inputs only
    /// for w = 0, the kernel (12) of LS18.
    Quadratic {
        /// γ, above 0
        gamma: f64,
        /// w, at least 0
        squares: f64,
    },
    /// exp(γ⟨x,y⟩), all polynomial kernels at once.
    Exponential {
        /// γ, above 0
        gamma: f64,
    },
    /// Σ aₙ(γ⟨x,y⟩)ⁿ: any kernel of the inner product, given by its coefficients.
    PowerSeries {
        /// a₀, a₁, …
        coefficients: PowerSeries,
        /// γ, above 0
        gamma: f64,
    },
    /// exp(−γ‖x−y‖²), the Gaussian kernel of width σ for γ = 1/(2σ²).
    Rbf {
        /// γ, above 0
        gamma: f64,
    },
    /// exp(−γ‖x−y‖₁)
    Laplace {
        /// γ, above 0
        gamma: f64,
    },
    /// 2^(1−ν)/Γ(ν)·z^ν K_ν(z) for z = √(2ν)·‖x−y‖/ℓ: exp(−‖x−y‖/ℓ) for ν = ½, smoother for larger ν, and for ν → ∞ the
    /// RBF kernel of γ = 1/(2ℓ²). ν = ½, 3/2 and 5/2 are fast.
    Matern {
        /// ν, above 0, at most 1000
        nu: f64,
        /// ℓ, above 0
        length_scale: f64,
    },
    /// 1/(1 + γ‖x−y‖²)
    Cauchy {
        /// γ, above 0
        gamma: f64,
    },
    /// (1 + ‖x−y‖²/(2αℓ²))^−α: a mixture of RBF kernels of many widths; for α → ∞ that of γ = 1/(2ℓ²).
    RationalQuadratic {
        /// α, above 0
        alpha: f64,
        /// ℓ, above 0
        length_scale: f64,
    },
    /// Σ 2xᵢyᵢ/(xᵢ+yᵢ), for values of at least 0: histograms, counts, shares.
    #[serde(deserialize_with = "no_parameters")]
    AdditiveChi2,
    /// exp(−γ Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ)), for values of at least 0.
    ExponentialChi2 {
        /// γ, above 0
        gamma: f64,
    },
    /// Π 2√((xᵢ+c)(yᵢ+c))/(xᵢ+yᵢ+2c), for values above −c: the smaller c, the more small values count.
    SkewedChi2 {
        /// c, above 0
        skewedness: f64,
    },
    /// (1/π)‖x‖ⁿ‖y‖ⁿ Jₙ(θ) of the angle θ between x and y: wide networks of step (0), ramp (1) or squared ramp (2) units.
    ArcCosine {
        /// n: 0, 1 or 2
        degree: u32,
    },
    /// ⟨x,y⟩/(‖x‖² + ‖y‖² − ⟨x,y⟩): of sets, given as rows of 0 and 1, the size of what they share over that of both.
    #[serde(deserialize_with = "no_parameters")]
    Tanimoto,
}

impl Kernel {
    /// Checks that the parameters are finite and within their ranges.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first that is not.
    pub fn validate(&self) -> Result<()> {
        let positive = |name: &'static str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::parameter(name, value, "finite and above 0")),
        };
        match *self {
            Self::Linear | Self::AdditiveChi2 | Self::Tanimoto => Ok(()),
            Self::Rbf { gamma }
            | Self::Exponential { gamma }
            | Self::PowerSeries { gamma, .. }
            | Self::Laplace { gamma }
            | Self::Cauchy { gamma }
            | Self::ExponentialChi2 { gamma } => positive("gamma", gamma),
            Self::SkewedChi2 { skewedness } => positive("skewedness", skewedness),
            Self::Quadratic { squares, .. } if !(squares >= 0.0 && squares.is_finite()) => {
                Err(Error::parameter("squares", squares, "finite and at least 0"))
            }
            Self::Quadratic { gamma, .. } => positive("gamma", gamma),
            Self::Polynomial { degree: 0, .. } => Err(Error::parameter("degree", 0, "at least 1")),
            Self::Polynomial { c, .. } if !(c >= 0.0 && c.is_finite()) => {
                Err(Error::parameter("c", c, "finite and at least 0"))
            }
            Self::Polynomial { gamma, .. } => positive("gamma", gamma),
            Self::Matern { nu, .. } if !(nu > 0.0 && nu <= MAX_NU) => Err(Error::parameter(
                "nu",
                nu,
                "above 0 and at most 1000; beyond, use rbf with gamma 1/(2 length_scale²)",
            )),
            Self::Matern { length_scale, .. } => positive("length_scale", length_scale),
            Self::RationalQuadratic { alpha, length_scale } => {
                positive("alpha", alpha).and_then(|()| positive("length_scale", length_scale))
            }
            Self::ArcCosine { degree } if degree > 2 => Err(Error::parameter("degree", degree, "0, 1 or 2")),
            Self::ArcCosine { .. } => Ok(()),
        }
    }

    /// k(x, y) of two rows, straight from the definition.
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Kernel::validate`], [`Error::Inputs`] when the rows differ in width, [`Error::Negative`] for
    /// a χ² kernel of values below 0, [`Error::TooNegative`] for a skewed one of values that are not above −c.
    pub fn value<T: Scalar>(&self, x: ArrayView1<'_, T>, y: ArrayView1<'_, T>) -> Result<f64> {
        let formula = self.formula()?;
        check_widths(x.len(), y.len())?;
        let (x, y) = (Rows::Dense(x.insert_axis(Axis(0))), Rows::Dense(y.insert_axis(Axis(0))));
        let reading = formula.reading();
        let (of_x, of_y) = (reading.of_rows(x)?[0], reading.of_rows(y)?[0]);
        Ok(formula.kernel(reading.of_pair((x, 0), (y, 0)), of_x, of_y))
    }

    /// Writes the Gram matrix k(xᵢ, yⱼ) into `out` (`n_rows` of x × `n_rows` of y), of either float type.
    ///
    /// Dense and sparse rows mix freely. Equal rows give exactly 1 for every kernel with k(x,x) = 1.
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Kernel::validate`] and when `out` has another shape, [`Error::Inputs`] when the rows
    /// differ in width, [`Error::Negative`] for a χ² kernel of values below 0 (in x, or else in y).
    pub fn gram_into<T: Scalar, O: Scalar>(
        &self,
        x: Rows<'_, T>,
        y: Rows<'_, T>,
        out: ArrayViewMut2<'_, O>,
    ) -> Result<()> {
        let formula = self.formula()?;
        write_pairs(formula.reading(), x, y, out, |pairs, x, y| formula.kernels(pairs, x, y))
    }

    /// k(xᵢ, xᵢ) of every row: ‖φ(xᵢ)‖².
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Kernel::validate`], [`Error::Negative`] for a χ² kernel of values below 0.
    pub fn diagonal<T: Scalar>(&self, x: Rows<'_, T>) -> Result<Vec<f64>> {
        let formula = self.formula()?;
        let reading = formula.reading();
        let rows = reading.of_rows(x)?;
        Ok(rows.into_iter().map(|row| formula.kernel(reading.of_equal_rows(row), row, row)).collect())
    }

    /// Writes ‖φ(xᵢ)−φ(yⱼ)‖² = k(xᵢ,xᵢ) + k(yⱼ,yⱼ) − 2k(xᵢ,yⱼ) into `out` (`n_rows` of x × `n_rows` of y).
    ///
    /// Equal rows give exactly 0. Close rows keep their digits, as in 2 − 2exp(−γ‖x−y‖²) = −2·expm1(−γ‖x−y‖²), for every kernel
    /// but the polynomial, the quadratic and the exponential one and power series, which give 0 below 10⁻¹² of k(x,x) + k(y,y), where only rounding is left.
    ///
    /// # Errors
    /// As [`Kernel::gram_into`].
    pub fn squared_distances_into<T: Scalar, O: Scalar>(
        &self,
        x: Rows<'_, T>,
        y: Rows<'_, T>,
        out: ArrayViewMut2<'_, O>,
    ) -> Result<()> {
        let formula = self.formula()?;
        write_pairs(formula.distance_reading(), x, y, out, |pairs, x, y| formula.distances(pairs, x, y))
    }

    /// The formula of valid parameters.
    fn formula(&self) -> Result<Box<dyn Formula>> {
        self.validate()?;
        Ok(match *self {
            Self::Linear => Box::new(Linear),
            Self::Polynomial { degree, gamma, c } => Box::new(Polynomial { degree, gamma, c }),
            Self::Quadratic { gamma, squares } => Box::new(Quadratic { gamma, squares }),
            Self::Exponential { gamma } => Box::new(ExponentialOfProduct { gamma }),
            Self::PowerSeries { coefficients: series, gamma } => Box::new(SeriesOfProduct { series, gamma }),
            Self::Rbf { gamma } => Box::new(Exponential { gamma, of: Reading::SquaredDistance }),
            Self::Laplace { gamma } => Box::new(Exponential { gamma, of: Reading::AbsoluteDistance }),
            Self::Matern { nu, length_scale } => Box::new(Matern::new(nu, length_scale)),
            Self::Cauchy { gamma } => Box::new(Reciprocal { gamma, of: Reading::SquaredDistance }),
            Self::RationalQuadratic { alpha, length_scale } => Box::new(RationalQuadratic { alpha, length_scale }),
            Self::AdditiveChi2 => Box::new(AdditiveChi2),
            Self::ExponentialChi2 { gamma } => Box::new(Exponential { gamma, of: Reading::ChiSquared }),
            Self::SkewedChi2 { skewedness } => Box::new(Reciprocal { gamma: 1.0, of: Reading::Excess { skewedness } }),
            Self::ArcCosine { degree } => Box::new(ArcCosine { degree }),
            Self::Tanimoto => Box::new(Tanimoto),
        })
    }
}

/// A kernel that has no parameters is given none: serde would take any and forget them.
fn no_parameters<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoParameters {}
    NoParameters::deserialize(deserializer).map(drop)
}

/// Reads every pair of rows, block by block, and writes what `compute` makes of one row of x and many of y.
fn write_pairs<T: Scalar, O: Scalar>(
    reading: Reading,
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    mut out: ArrayViewMut2<'_, O>,
    compute: impl Fn(ArrayViewMut1<'_, f64>, f64, &[f64]),
) -> Result<()> {
    check_shape(x, y, &out)?;
    check_widths(x.n_inputs(), y.n_inputs())?;
    let (rows_x, rows_y) = (reading.of_rows(x)?, reading.of_rows(y)?);
    reading.for_each_block((x, &rows_x), (y, &rows_y), |of_x, of_y, mut block| {
        for (pairs, &x) in block.outer_iter_mut().zip(&rows_x[of_x.clone()]) {
            compute(pairs, x, &rows_y[of_y.clone()]);
        }
        Zip::from(out.slice_mut(s![of_x, of_y])).and(&block).for_each(|out, &value| *out = O::from_f64(value));
    })
}
