//! Explicit feature maps φ with ⟨φ(x), φ(y)⟩ ≈ k(x, y).
//!
//! To add a map: one file here, one variant of [`MapSpec`] and [`ResolvedMap`], one line in `tests/contract.rs`.

mod fourier;
mod gamma;

pub use fourier::FourierMap;
pub(crate) use fourier::MAX_ENTRIES;
pub use gamma::Gamma;

use mercer_simd::Scalar;
use ndarray::ArrayViewMut2;
use serde::{Deserialize, Serialize};

use crate::dataset::Rows;
use crate::kernels::Kernel;
use crate::random::LAYOUT_VERSION;
use crate::{Error, Result};

/// A fitted map from rows of `n_inputs` to rows of `n_components` values; single-threaded and pure.
///
/// The contract, checked for every map by `tests/contract.rs`: a row's features are the same bits whatever other rows
/// are in the batch, whatever `out` and `scratch` held before, on any thread, and for dense and sparse storage alike.
pub trait FeatureMap<T: Scalar>: Send + Sync {
    /// Length of a row.
    fn n_inputs(&self) -> usize;

    /// Number of features of a row.
    fn n_components(&self) -> usize;

    /// Length of `scratch` that [`FeatureMap::transform_into`] needs for `n_rows` rows.
    fn scratch_len(&self, n_rows: usize) -> usize;

    /// out = φ(rows), `n_rows × n_components`, `out` row-major. `scratch` may hold anything.
    ///
    /// # Errors
    /// [`Error::Inputs`] when the rows have another length.
    fn transform_into(&self, rows: Rows<'_, T>, out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()>;
}

/// A map as it is asked for; what is not a number yet is settled by the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum MapSpec {
    /// Random Fourier features of the RBF kernel: [`FourierMap`].
    Fourier {
        /// number of features, even
        n_components: usize,
        /// the kernel's width
        gamma: Gamma,
    },
}

/// A map in numbers: with the seed it is all that a model file needs to rebuild the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum ResolvedMap {
    /// See [`MapSpec::Fourier`].
    Fourier {
        /// number of features
        n_components: usize,
        /// the kernel's width
        gamma: f64,
        /// length of a row
        n_inputs: usize,
        /// of the random matrix
        seed: u64,
        /// [`LAYOUT_VERSION`] of the random matrix
        random_layout: u32,
    },
}

impl MapSpec {
    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first parameter outside its range.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Fourier { n_components, gamma } => {
                fourier::check_n_components(*n_components)?;
                gamma.validate()
            }
        }
    }

    /// Number of features.
    pub fn n_components(&self) -> usize {
        match self {
            Self::Fourier { n_components, .. } => *n_components,
        }
    }

    /// The kernel's width as asked for.
    pub fn gamma(&self) -> Gamma {
        match self {
            Self::Fourier { gamma, .. } => *gamma,
        }
    }

    /// The map in numbers.
    pub fn resolve(&self, gamma: f64, n_inputs: usize, seed: u64) -> ResolvedMap {
        match *self {
            Self::Fourier { n_components, .. } => {
                ResolvedMap::Fourier { n_components, gamma, n_inputs, seed, random_layout: LAYOUT_VERSION }
            }
        }
    }
}

impl ResolvedMap {
    /// Builds the map.
    ///
    /// # Errors
    /// Parameters outside their range, or random numbers of another layout.
    pub fn build<T: Scalar>(&self) -> Result<Box<dyn FeatureMap<T>>> {
        match *self {
            Self::Fourier { n_components, gamma, n_inputs, seed, random_layout } => {
                if random_layout != LAYOUT_VERSION {
                    let text = format!("random layout {random_layout}, this version of mercer has {LAYOUT_VERSION}");
                    return Err(Error::Model(text));
                }
                Ok(Box::new(FourierMap::new(n_inputs, n_components, gamma, seed)?))
            }
        }
    }

    /// The name in specs and flags.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fourier { .. } => "fourier",
        }
    }

    /// The kernel the map approximates.
    pub fn kernel(&self) -> Kernel {
        match *self {
            Self::Fourier { gamma, .. } => Kernel::Rbf { gamma },
        }
    }

    /// Length of a row.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Fourier { n_inputs, .. } => *n_inputs,
        }
    }

    /// Number of features.
    pub fn n_components(&self) -> usize {
        match self {
            Self::Fourier { n_components, .. } => *n_components,
        }
    }
}
