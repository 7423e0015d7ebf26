//! Explicit feature maps φ with ⟨φ(x), φ(y)⟩ ≈ k(x, y).
//!
//! To add a map: one file here, one variant of [`MapSpec`], one line in `tests/contract.rs`.

mod fourier;
mod gamma;
mod projection;

pub use fourier::FourierMap;
pub use gamma::Gamma;
pub use projection::ProjectionMap;

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
    /// A random projection with normal entries: [`ProjectionMap::gaussian`].
    GaussianProjection {
        /// number of coordinates
        n_components: usize,
    },
    /// A random projection with few entries: [`ProjectionMap::sparse`].
    SparseProjection {
        /// number of coordinates
        n_components: usize,
        /// one entry in s is not zero
        s: f64,
    },
}

/// A map in numbers: all that a model file needs to rebuild it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedMap {
    /// which map; its gamma is a number
    pub spec: MapSpec,
    /// length of a row
    pub n_inputs: usize,
    /// of the random matrix
    pub seed: u64,
    /// [`LAYOUT_VERSION`] of the random matrix
    pub random_layout: u32,
}

impl MapSpec {
    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first parameter outside its range.
    pub fn validate(&self) -> Result<()> {
        match *self {
            Self::Fourier { n_components, gamma } => {
                fourier::check_n_components(n_components)?;
                gamma.validate()
            }
            Self::GaussianProjection { n_components } => projection::check_n_components(n_components),
            Self::SparseProjection { n_components, s } => {
                projection::check_n_components(n_components)?;
                projection::check_s(s)
            }
        }
    }

    /// The name in specs and flags.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fourier { .. } => "fourier",
            Self::GaussianProjection { .. } => "gaussian_projection",
            Self::SparseProjection { .. } => "sparse_projection",
        }
    }

    /// Number of features.
    pub fn n_components(&self) -> usize {
        match *self {
            Self::Fourier { n_components, .. }
            | Self::GaussianProjection { n_components }
            | Self::SparseProjection { n_components, .. } => n_components,
        }
    }

    /// The kernel's width as asked for, where it has one.
    pub fn gamma(&self) -> Option<Gamma> {
        match *self {
            Self::Fourier { gamma, .. } => Some(gamma),
            Self::GaussianProjection { .. } | Self::SparseProjection { .. } => None,
        }
    }

    /// The map in numbers; `gamma` is of no use to a map without one.
    pub fn resolve(&self, gamma: f64, n_inputs: usize, seed: u64) -> ResolvedMap {
        let spec = match *self {
            Self::Fourier { n_components, .. } => Self::Fourier { n_components, gamma: Gamma::Value(gamma) },
            ref other => other.clone(),
        };
        ResolvedMap { spec, n_inputs, seed, random_layout: LAYOUT_VERSION }
    }
}

impl ResolvedMap {
    /// Checks all that can be checked without drawing the map.
    ///
    /// # Errors
    /// Parameters outside their range, a width that is no number, or random numbers of another layout.
    pub fn validate(&self) -> Result<()> {
        self.spec.validate()?;
        if self.random_layout != LAYOUT_VERSION {
            let layout = self.random_layout;
            let text = format!("random layout {layout}, this version of mercer has {LAYOUT_VERSION}");
            return Err(Error::Model(text));
        }
        if !matches!(self.spec.gamma(), None | Some(Gamma::Value(_))) {
            return Err(Error::Model("gamma is not resolved".to_owned()));
        }
        if self.n_inputs == 0 || self.n_inputs.checked_mul(self.n_components()).is_none_or(|n| n > MAX_ENTRIES) {
            return Err(too_many_inputs(self.n_inputs));
        }
        Ok(())
    }

    /// Builds the map.
    ///
    /// # Errors
    /// As [`ResolvedMap::validate`], and where memory is short.
    pub fn build<T: Scalar>(&self) -> Result<Box<dyn FeatureMap<T>>> {
        self.validate()?;
        let (n_inputs, seed) = (self.n_inputs, self.seed);
        Ok(match self.spec {
            MapSpec::Fourier { n_components, .. } => {
                Box::new(FourierMap::new(n_inputs, n_components, self.gamma(), seed)?)
            }
            MapSpec::GaussianProjection { n_components } => {
                Box::new(ProjectionMap::gaussian(n_inputs, n_components, seed)?)
            }
            MapSpec::SparseProjection { n_components, s } => {
                Box::new(ProjectionMap::sparse(n_inputs, n_components, s, seed)?)
            }
        })
    }

    /// The name in specs and flags.
    pub fn name(&self) -> &'static str {
        self.spec.name()
    }

    /// The kernel the map approximates.
    pub fn kernel(&self) -> Kernel {
        match self.spec {
            MapSpec::Fourier { .. } => Kernel::Rbf { gamma: self.gamma() },
            MapSpec::GaussianProjection { .. } | MapSpec::SparseProjection { .. } => Kernel::Linear,
        }
    }

    /// Length of a row.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of features.
    pub fn n_components(&self) -> usize {
        self.spec.n_components()
    }

    /// The kernel's width; NaN where it has none, which no map of it accepts.
    fn gamma(&self) -> f64 {
        if let Some(Gamma::Value(gamma)) = self.spec.gamma() { gamma } else { f64::NAN }
    }
}

/// A matrix beyond this many entries does not fit an ordinary computer.
pub(crate) const MAX_ENTRIES: usize = 1 << 31;

/// Refuses a random matrix that memory cannot hold: an error, not an abort.
fn check_entries(n_inputs: usize, n_columns: usize) -> Result<()> {
    let entries = n_inputs.checked_mul(n_columns).filter(|&n| n_inputs > 0 && n <= MAX_ENTRIES);
    match entries {
        Some(entries) if Vec::<f64>::new().try_reserve_exact(entries).is_ok() => Ok(()),
        _ => Err(too_many_inputs(n_inputs)),
    }
}

fn too_many_inputs(n_inputs: usize) -> Error {
    Error::parameter("n_inputs", n_inputs, "1 or more, and less than memory holds of n_components of that length")
}
