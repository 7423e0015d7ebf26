//! Explicit feature maps φ with ⟨φ(x), φ(y)⟩ ≈ k(x, y).
//!
//! To add a map: one file here, one variant of [`MapSpec`], one line in `tests/all/contract.rs`.

mod additive_chi2;
mod arc_cosine;
mod binning;
mod chain;
mod expansion;
mod fourier;
mod gamma;
mod hadamard;
mod identity;
mod landmark;
mod product;
mod projection;
mod skewed_chi2;
mod spectral;
mod tensor_sketch;

pub use additive_chi2::AdditiveChi2Map;
pub use arc_cosine::ArcCosineMap;
pub use binning::BinningMap;
pub use chain::ChainMap;
pub use expansion::{ExpansionForm, ExpansionMap, ExpansionSpec};
pub use fourier::{FourierMap, Waves};
pub use gamma::{Distance, Gamma};
pub use hadamard::{HadamardBlocks, HadamardMap};
pub use identity::IdentityMap;
pub(crate) use landmark::select;
pub use landmark::{LandmarkForm, LandmarkMap, LandmarkSpec, Landmarks, PreImage, PrecomputedMap};
pub use product::{
    Allocation, D2pkRpSpec, DotProduct, MaclaurinSpec, PkRpSpec, PowerShare, ProductMap, TableMap, TensorSrhtSpec,
    TreeMap, VectorLaw,
};
pub use projection::ProjectionMap;
pub use skewed_chi2::SkewedChi2Map;
pub use spectral::{Frequencies, SpectralKernel, SpectralMap, SpectralSpec};
pub use tensor_sketch::{TensorSketch, TensorSketchSpec};

use mercer_simd::Scalar;
use ndarray::{ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use crate::dataset::Rows;
use crate::hadamard::padded_len;
use crate::kernels::{Kernel, KernelFamily};
use crate::projections::{MAX_INPUTS, check_s, n_sparse_signs};
use crate::random::LAYOUT_VERSION;
use crate::{Error, Result};

/// A fitted map from rows of `n_inputs` to rows of `n_components` values; single-threaded and pure.
///
/// The contract, checked for every map by `tests/all/contract.rs`: a row's features are the same bits whatever other rows
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

    /// Whether the features are the rows: then nobody need write them out, and sparse ones stay sparse.
    fn keeps_rows(&self) -> bool {
        false
    }

    /// φ(x) = ψ(x)·W + b, where it is so: who multiplies features by few weights multiplies the weights by W instead, once.
    fn factored(&self) -> Option<Factored<'_, T>> {
        None
    }
}

/// The factors of a map: φ(x) = ψ(x)·W + b.
#[derive(Clone, Copy)]
pub struct Factored<'a, T> {
    /// ψ
    pub first: &'a dyn FeatureMap<T>,
    /// W
    pub then: ArrayView2<'a, T>,
    /// whether W is square and upper triangular
    pub is_upper: bool,
    /// b; empty where it is 0
    pub offset: &'a [T],
}

/// More features of a row are a slip of the hand.
const MAX_COMPONENTS: usize = 1 << 27;

/// A map as it is asked for; what is not a number yet is settled by the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum MapSpec {
    /// Waves of a shift-invariant kernel: [`FourierMap`].
    Spectral(SpectralSpec),
    /// Bins of random grids, of the Laplace kernel: [`BinningMap`].
    Binning {
        /// number of features, a multiple of `n_bins`
        n_components: usize,
        /// the kernel's width
        gamma: Gamma,
        /// features that the bins of a grid share
        n_bins: usize,
    },
    /// Products of coordinates of Walsh-Hadamard transforms, of the polynomial kernel: [`ProductMap`].
    TensorSrht(TensorSrhtSpec),
    /// Products of as many factors as the powers of a series: [`ProductMap`].
    Maclaurin(MaclaurinSpec),
    /// Sums of products of shared projections, of the polynomial kernel: [`TableMap`].
    PkRp(PkRpSpec),
    /// Alternating sums of squares of projections, of the quadratic kernel: [`ProductMap`].
    #[serde(rename = "d2pk_rp")]
    D2pkRp(D2pkRpSpec),
    /// Convolved count sketches, of the polynomial kernel: [`TensorSketch`].
    TensorSketch(TensorSketchSpec),
    /// All products of two or three inputs, of the polynomial kernel: [`ExpansionMap`].
    Expansion(ExpansionSpec),
    /// Waves of the logarithm of every input, of the additive χ² kernel: [`AdditiveChi2Map`].
    AdditiveChi2 {
        /// samples of the spectrum
        n_steps: usize,
        /// how far they are apart; that of the paper for up to three if none is given
        interval: Option<f64>,
    },
    /// Random waves of logarithms, of the skewed χ² kernel: [`SkewedChi2Map`].
    SkewedChi2 {
        /// number of features
        n_components: usize,
        /// c, what is added to every input
        skewedness: f64,
        /// what a frequency becomes
        #[serde(default)]
        waves: Waves,
    },
    /// Random units of a wide network, of the arc-cosine kernel: [`ArcCosineMap`].
    ArcCosine {
        /// number of units
        n_components: usize,
        /// 0: steps, 1: ramps, 2: squared ramps
        degree: u32,
    },
    /// Kernel values with landmarks, of any kernel: [`LandmarkMap`].
    Landmark(LandmarkSpec),
    /// A map, and a random projection of its features: [`ChainMap`].
    Chain {
        /// any map but another chain
        first: Box<MapSpec>,
        /// a projection
        then: Box<MapSpec>,
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
    /// Coordinates of a signed Walsh-Hadamard transform: [`ProjectionMap::srht`].
    Srht {
        /// number of coordinates
        n_components: usize,
    },
    /// The Walsh-Hadamard transform itself: [`HadamardMap`].
    Hadamard {
        /// what becomes of lengths that are no power of two
        blocks: HadamardBlocks,
    },
    /// The inputs themselves: [`IdentityMap`].
    Identity,
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
    /// Random Fourier features of the RBF kernel.
    pub fn fourier(n_components: usize, gamma: Gamma) -> Self {
        Self::Spectral(SpectralSpec::new(Frequencies::Independent, n_components, gamma))
    }

    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first parameter outside its range.
    pub fn validate(&self) -> Result<()> {
        if self.n_components(1) > MAX_COMPONENTS {
            let expected = "at most 2^27: memory holds no longer rows of features";
            return Err(Error::parameter("n_components", self.n_components(1), expected));
        }
        match *self {
            Self::Spectral(ref spec) => spec.validate(),
            Self::Binning { n_components, gamma, n_bins } => {
                binning::check_shape(n_components, n_bins)?;
                gamma.validate()
            }
            Self::TensorSrht(ref spec) => spec.validate(),
            Self::Maclaurin(ref spec) => spec.validate(),
            Self::PkRp(ref spec) => spec.validate(),
            Self::D2pkRp(ref spec) => spec.validate(),
            Self::TensorSketch(ref spec) => spec.validate(),
            Self::Expansion(ref spec) => spec.validate(),
            Self::AdditiveChi2 { n_steps, interval } => additive_chi2::interval(n_steps, interval).map(drop),
            Self::SkewedChi2 { n_components, skewedness, waves } => skewed_chi2::check(n_components, skewedness, waves),
            Self::ArcCosine { n_components, degree } => arc_cosine::check(n_components, degree),
            Self::Landmark(ref spec) => spec.validate(),
            Self::Chain { ref first, ref then } => {
                if matches!(**first, Self::Chain { .. }) {
                    return Err(Error::parameter("first", "chain", "a map that is no chain itself"));
                }
                chain::check_then(then)?;
                first.validate()?;
                then.validate()
            }
            Self::GaussianProjection { n_components } | Self::Srht { n_components } => {
                projection::check_n_components(n_components)
            }
            Self::SparseProjection { n_components, s } => {
                projection::check_n_components(n_components)?;
                check_s(s)
            }
            Self::Hadamard { .. } | Self::Identity => Ok(()),
        }
    }

    /// The name in specs and flags.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Spectral(spec) => spec.frequencies.name(),
            Self::Binning { .. } => "binning",
            Self::TensorSrht(_) => "tensor_srht",
            Self::Maclaurin(_) => "maclaurin",
            Self::PkRp(_) => "pk_rp",
            Self::D2pkRp(_) => "d2pk_rp",
            Self::TensorSketch(_) => "tensor_sketch",
            Self::Expansion(_) => "expansion",
            Self::AdditiveChi2 { .. } => "additive_chi2",
            Self::SkewedChi2 { .. } => "skewed_chi2",
            Self::ArcCosine { .. } => "arc_cosine",
            Self::Landmark(spec) => spec.form.name(),
            Self::Chain { .. } => "chain",
            Self::GaussianProjection { .. } => "gaussian_projection",
            Self::SparseProjection { .. } => "sparse_projection",
            Self::Srht { .. } => "srht",
            Self::Hadamard { .. } => "hadamard",
            Self::Identity => "identity",
        }
    }

    /// Number of features of rows of `n_inputs`.
    pub fn n_components(&self, n_inputs: usize) -> usize {
        match *self {
            Self::Spectral(SpectralSpec { n_components, .. })
            | Self::Binning { n_components, .. }
            | Self::TensorSrht(TensorSrhtSpec { n_components, .. })
            | Self::Maclaurin(MaclaurinSpec { n_components, .. })
            | Self::PkRp(PkRpSpec { n_components, .. })
            | Self::D2pkRp(D2pkRpSpec { n_components, .. })
            | Self::TensorSketch(TensorSketchSpec { n_components, .. })
            | Self::Landmark(LandmarkSpec { n_components, .. })
            | Self::SkewedChi2 { n_components, .. }
            | Self::ArcCosine { n_components, .. }
            | Self::GaussianProjection { n_components }
            | Self::SparseProjection { n_components, .. }
            | Self::Srht { n_components } => n_components,
            Self::Expansion(ref spec) => spec.n_components(n_inputs),
            Self::AdditiveChi2 { n_steps, .. } => additive_chi2::n_components(n_inputs, n_steps),
            Self::Chain { ref first, ref then } => then.n_components(first.n_components(n_inputs)),
            Self::Hadamard { blocks } => blocks.n_components(n_inputs),
            Self::Identity => n_inputs,
        }
    }

    /// The kernel's width as asked for, where it has one.
    pub fn gamma(&self) -> Option<Gamma> {
        self.clone().gamma_mut().copied()
    }

    /// The same map of another width; of no use to a map without one.
    #[must_use]
    pub fn with_gamma(&self, gamma: Gamma) -> Self {
        let mut spec = self.clone();
        if let Some(place) = spec.gamma_mut() {
            *place = gamma;
        }
        spec
    }

    fn gamma_mut(&mut self) -> Option<&mut Gamma> {
        match self {
            Self::Spectral(SpectralSpec { gamma, .. })
            | Self::Binning { gamma, .. }
            | Self::TensorSrht(TensorSrhtSpec { gamma, .. })
            | Self::Maclaurin(MaclaurinSpec { gamma, .. })
            | Self::PkRp(PkRpSpec { gamma, .. })
            | Self::D2pkRp(D2pkRpSpec { gamma, .. })
            | Self::TensorSketch(TensorSketchSpec { gamma, .. })
            | Self::Expansion(ExpansionSpec { gamma, .. }) => Some(gamma),
            Self::Landmark(LandmarkSpec { kernel, gamma, .. }) => kernel.has_gamma().then_some(gamma),
            Self::Chain { first, .. } => first.gamma_mut(),
            Self::AdditiveChi2 { .. }
            | Self::SkewedChi2 { .. }
            | Self::ArcCosine { .. }
            | Self::GaussianProjection { .. }
            | Self::SparseProjection { .. }
            | Self::Srht { .. }
            | Self::Hadamard { .. }
            | Self::Identity => None,
        }
    }

    /// What gamma multiplies.
    pub fn distance(&self) -> Distance {
        match self {
            Self::Chain { first, .. } => first.distance(),
            Self::Spectral(SpectralSpec { kernel: SpectralKernel::Laplace, .. })
            | Self::Landmark(LandmarkSpec { kernel: KernelFamily::Laplace, .. })
            | Self::Binning { .. } => Distance::L1,
            _ => Distance::SquaredL2,
        }
    }

    /// Numbers that the map keeps, about, for rows of `n_inputs`.
    pub fn n_entries(&self, n_inputs: usize) -> u64 {
        let (d, n) = (n_inputs as u64, self.n_components(n_inputs) as u64);
        match self {
            Self::Spectral(spec) => spec.n_entries(n_inputs),
            Self::Binning { n_bins, .. } => d.saturating_mul(3 * (n / *n_bins as u64)),
            Self::TensorSrht(spec) => {
                // As many nodes but one as rows, each of twice the next power of two at most.
                let nodes = if spec.tree { 4 * n * u64::from(spec.degree) } else { 0 };
                transforms(n_inputs, n, u64::from(spec.degree)).saturating_add(nodes)
            }
            // No power has more factors than the last one, and all have whole blocks.
            Self::Maclaurin(spec) => {
                let powers = spec.kernel.coefficients().len() as u64;
                transforms(n_inputs, n.saturating_add(powers * padded_len(n_inputs) as u64), powers)
            }
            Self::PkRp(spec) => {
                let indices = (spec.n_terms as u64).saturating_mul(u64::from(spec.degree)).saturating_mul(n);
                spec.law.n_entries(d, spec.n_vectors() as u64).saturating_add(indices)
            }
            Self::D2pkRp(spec) => spec.law.n_entries(d, n.saturating_mul(spec.n_terms as u64)),
            Self::TensorSketch(spec) => (2 * u64::from(spec.degree)).saturating_mul(d).saturating_add(6 * n),
            Self::Landmark(spec) => spec.n_entries(n_inputs),
            Self::SkewedChi2 { waves, .. } => d.saturating_mul(waves.n_frequencies(n as usize) as u64),
            Self::ArcCosine { .. } | Self::GaussianProjection { .. } => d.saturating_mul(n),
            Self::SparseProjection { s, .. } => n_sparse_signs(*s, d, n),
            Self::Srht { .. } => {
                n.div_ceil(padded_len(n_inputs) as u64).saturating_mul(2 * padded_len(n_inputs) as u64)
            }
            Self::Chain { first, then } => {
                first.n_entries(n_inputs).saturating_add(then.n_entries(first.n_components(n_inputs)))
            }
            Self::Expansion(_) | Self::AdditiveChi2 { .. } | Self::Hadamard { .. } | Self::Identity => 0,
        }
    }

    /// Numbers in f64 beside those of [`MapSpec::n_entries`] while the map is drawn.
    pub fn n_drawn_from(&self, n_inputs: usize) -> u64 {
        match self {
            Self::Spectral(spec) => spec.n_drawn_from(n_inputs),
            Self::Landmark(spec) => spec.n_fitted_from(),
            Self::Chain { first, .. } => first.n_drawn_from(n_inputs),
            _ => 0,
        }
    }

    /// Whether rows of this length are rows, and an ordinary memory holds the map, what it is drawn from and a row of
    /// its features.
    pub(crate) fn fits(&self, n_inputs: usize) -> bool {
        n_inputs <= MAX_INPUTS
            && self.n_components(n_inputs) as u64 <= MAX_ENTRIES
            && self.first_of_chain().is_none_or(|first| first.fits(n_inputs))
            && self.n_entries(n_inputs).saturating_add(self.n_drawn_from(n_inputs)) <= MAX_ENTRIES
    }

    /// Refuses all products of inputs, alone or before a projection, that no ordinary memory holds: they have as many features as the inputs
    /// make, so that fewer of them cannot be asked for.
    pub(crate) fn check_expansion(&self, n_inputs: usize) -> Result<()> {
        let first = self.first_of_chain();
        let Self::Expansion(spec) = first.unwrap_or(self) else { return Ok(()) };
        if self.fits(n_inputs) {
            return Ok(());
        }
        let n_values = u128::from(self.n_entries(n_inputs)) + spec.n_components(n_inputs) as u128;
        let what = if first.is_some() { "a row of them and what projects it" } else { "a row of them" };
        Err(spec.too_large(n_inputs, what, n_values * size_of::<f32>() as u128))
    }

    fn first_of_chain(&self) -> Option<&Self> {
        if let Self::Chain { first, .. } = self { Some(first) } else { None }
    }

    /// What must be learned of the rows, where landmarks must.
    pub fn landmarks(&self) -> Option<&LandmarkSpec> {
        match self {
            Self::Landmark(spec) => Some(spec),
            Self::Chain { first, .. } => first.landmarks(),
            _ => None,
        }
    }

    /// The same map with as many landmarks and features as were learned.
    pub(crate) fn with_landmarks<T: Scalar>(mut self, learned: &Landmarks<T>) -> Self {
        match &mut self {
            Self::Landmark(spec) => spec.with_shape(learned.rows().n_rows(), learned.whitening().ncols()),
            Self::Chain { first, .. } => **first = first.as_ref().clone().with_landmarks(learned),
            _ => {}
        }
        self
    }

    /// The map in numbers; `gamma` is of no use to a map without one.
    pub fn resolve(&self, gamma: f64, n_inputs: usize, seed: u64) -> ResolvedMap {
        let spec = self.with_gamma(Gamma::Value(gamma));
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
        self.spec.check_expansion(self.n_inputs)?;
        if self.n_inputs == 0 || !self.spec.fits(self.n_inputs) {
            let expected = "1 or more, and less than memory holds of n_components of that length";
            return Err(Error::parameter("n_inputs", self.n_inputs, expected));
        }
        if let MapSpec::Spectral(spec) = &self.spec {
            spec.check_inputs(self.n_inputs)?;
        }
        Ok(())
    }

    /// Builds the map, which has nothing to learn.
    ///
    /// # Errors
    /// As [`ResolvedMap::validate`], for a width beyond the float type, where memory is short, and [`Error::Model`] for a map of
    /// landmarks.
    pub fn build<T: Scalar>(&self) -> Result<Box<dyn FeatureMap<T>>> {
        self.build_with(None)
    }

    /// Builds the map, of what it learned where that is anything.
    ///
    /// # Errors
    /// As [`ResolvedMap::build`], and [`Error::Model`] for landmarks of another shape.
    pub fn build_with<T: Scalar>(&self, landmarks: Option<&Landmarks<T>>) -> Result<Box<dyn FeatureMap<T>>> {
        self.validate()?;
        self.check_landmarks(landmarks)?;
        if let MapSpec::Spectral(spec) = &self.spec {
            spec.check_scale::<T>(self.gamma())?;
        }
        let (n_inputs, seed) = (self.n_inputs, self.seed);
        Ok(match self.spec {
            MapSpec::Spectral(ref spec) => Box::new(spec.map(self.gamma(), n_inputs, seed)?),
            MapSpec::Binning { n_components, n_bins, .. } => {
                Box::new(BinningMap::new(n_inputs, n_components, n_bins, self.gamma(), seed)?)
            }
            MapSpec::TensorSrht(ref spec) if spec.tree => Box::new(spec.tree_map(self.gamma(), n_inputs, seed)?),
            MapSpec::TensorSrht(ref spec) => Box::new(spec.map(self.gamma(), n_inputs, seed)?),
            MapSpec::Maclaurin(ref spec) => Box::new(spec.map(self.gamma(), n_inputs, seed)?),
            MapSpec::PkRp(ref spec) => Box::new(spec.map(self.gamma(), n_inputs, seed)?),
            MapSpec::D2pkRp(ref spec) => Box::new(spec.map(self.gamma(), n_inputs, seed)?),
            MapSpec::TensorSketch(ref spec) => Box::new(spec.map(self.gamma(), n_inputs, seed)?),
            MapSpec::Expansion(ref spec) => Box::new(spec.map(self.gamma(), n_inputs)?),
            MapSpec::Chain { ref then, .. } => {
                let first = self.first_of_chain().expect("a chain");
                let then = then.resolve(f64::NAN, first.n_components(), chain::seed_behind(seed));
                Box::new(ChainMap::new(first.build_with(landmarks)?, then.build()?))
            }
            MapSpec::Landmark(_) => Box::new(LandmarkMap::new(self.kernel(), landmarks.expect("they were checked"))?),
            MapSpec::AdditiveChi2 { n_steps, interval } => Box::new(AdditiveChi2Map::new(n_inputs, n_steps, interval)?),
            MapSpec::SkewedChi2 { n_components, skewedness, waves } => {
                Box::new(SkewedChi2Map::new(n_inputs, n_components, skewedness, waves, seed)?)
            }
            MapSpec::ArcCosine { n_components, degree } => {
                Box::new(ArcCosineMap::new(n_inputs, n_components, degree, seed)?)
            }
            MapSpec::GaussianProjection { n_components } => {
                Box::new(ProjectionMap::gaussian(n_inputs, n_components, seed)?)
            }
            MapSpec::SparseProjection { n_components, s } => {
                Box::new(ProjectionMap::sparse(n_inputs, n_components, s, seed)?)
            }
            MapSpec::Srht { n_components } => Box::new(ProjectionMap::srht(n_inputs, n_components, seed)?),
            MapSpec::Hadamard { blocks } => Box::new(HadamardMap::new(n_inputs, blocks)),
            MapSpec::Identity => Box::new(IdentityMap::new(n_inputs)),
        })
    }

    /// Checks that landmarks are there where they must be, of the right shape, and not where they must not.
    ///
    /// # Errors
    /// [`Error::Model`] where they do not fit.
    pub(crate) fn check_landmarks<T: Scalar>(&self, landmarks: Option<&Landmarks<T>>) -> Result<()> {
        match (landmarks, self.spec.landmarks()) {
            (None, None) => Ok(()),
            (Some(landmarks), Some(spec)) => landmarks.check(spec, self.n_inputs),
            (found, _) => {
                let (found, expected) = if found.is_some() { ("some", "none") } else { ("none", "some") };
                Err(Error::Model(format!("landmarks: {found}, the spec has {expected}")))
            }
        }
    }

    /// The map whose features a chain projects.
    fn first_of_chain(&self) -> Option<Self> {
        self.spec.first_of_chain().map(|first| Self { spec: first.clone(), ..*self })
    }

    /// The name in specs and flags.
    pub fn name(&self) -> &'static str {
        self.spec.name()
    }

    /// The kernel the map approximates, of rows divided by [`ResolvedMap::length_scales`].
    pub fn kernel(&self) -> Kernel {
        match &self.spec {
            MapSpec::Spectral(spec) => spec.kernel.with_gamma(self.gamma()),
            MapSpec::Binning { .. } => Kernel::Laplace { gamma: self.gamma() },
            MapSpec::AdditiveChi2 { .. } => Kernel::AdditiveChi2,
            MapSpec::SkewedChi2 { skewedness, .. } => Kernel::SkewedChi2 { skewedness: *skewedness },
            MapSpec::ArcCosine { degree, .. } => Kernel::ArcCosine { degree: *degree },
            MapSpec::Chain { .. } => self.first_of_chain().expect("a chain").kernel(),
            MapSpec::D2pkRp(spec) => spec.kernel(self.gamma()),
            MapSpec::Maclaurin(spec) => spec.kernel.with_gamma(self.gamma()),
            MapSpec::Landmark(spec) => spec.kernel.with_gamma(self.gamma()),
            MapSpec::TensorSrht(TensorSrhtSpec { degree, c, .. })
            | MapSpec::PkRp(PkRpSpec { degree, c, .. })
            | MapSpec::TensorSketch(TensorSketchSpec { degree, c, .. })
            | MapSpec::Expansion(ExpansionSpec { degree, c, .. }) => {
                Kernel::Polynomial { degree: *degree, gamma: self.gamma(), c: *c }
            }
            _ => Kernel::Linear,
        }
    }

    /// What the kernel divides the inputs by, if by anything.
    pub fn length_scales(&self) -> Option<&[f64]> {
        match &self.spec {
            MapSpec::Spectral(spec) => spec.length_scales.as_deref(),
            _ => None,
        }
    }

    /// Length of a row.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of features.
    pub fn n_components(&self) -> usize {
        self.spec.n_components(self.n_inputs)
    }

    /// The kernel's width; NaN where it has none, which no map of it accepts.
    fn gamma(&self) -> f64 {
        if let Some(Gamma::Value(gamma)) = self.spec.gamma() { gamma } else { f64::NAN }
    }
}

/// Diagonals, scales and offsets of `n_factors` factors of n coordinates of transforms.
fn transforms(n_inputs: usize, n: u64, n_factors: u64) -> u64 {
    let block_len = padded_len(n_inputs) as u64;
    (3 * n_factors).saturating_mul(n.div_ceil(block_len).saturating_mul(block_len))
}

/// A matrix beyond this many entries does not fit an ordinary computer.
const MAX_ENTRIES: u64 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<MapSpec> {
        let gamma = Gamma::Value(1.0);
        let mut specs: Vec<MapSpec> =
            Frequencies::ALL.map(|frequencies| MapSpec::Spectral(SpectralSpec::new(frequencies, 2, gamma))).into();
        specs.extend([
            MapSpec::Binning { n_components: 2, gamma, n_bins: 2 },
            MapSpec::TensorSrht(TensorSrhtSpec::new(2, 2)),
            MapSpec::Maclaurin(MaclaurinSpec::new(4, DotProduct::Polynomial { degree: 1, c: 1.0 })),
            MapSpec::PkRp(PkRpSpec::new(2, 2)),
            MapSpec::D2pkRp(D2pkRpSpec { n_terms: 2, ..D2pkRpSpec::new(2) }),
            MapSpec::TensorSketch(TensorSketchSpec::new(2, 2)),
            MapSpec::SkewedChi2 { n_components: 2, skewedness: 1.0, waves: Waves::Paired },
            MapSpec::ArcCosine { n_components: 2, degree: 1 },
            MapSpec::Landmark(LandmarkSpec { gamma, ..LandmarkSpec::new(2) }),
            MapSpec::Chain {
                first: Box::new(MapSpec::TensorSketch(TensorSketchSpec::new(4, 2))),
                then: Box::new(MapSpec::Srht { n_components: 2 }),
            },
            MapSpec::GaussianProjection { n_components: 2 },
            MapSpec::SparseProjection { n_components: 2, s: 3.0 },
            MapSpec::Srht { n_components: 2 },
            MapSpec::Hadamard { blocks: HadamardBlocks::Padded },
            MapSpec::Identity,
        ]);
        specs
    }

    /// A file may say anything: no memory is taken for it.
    #[test]
    fn widths_that_no_row_has_are_refused_before_anything_is_drawn() {
        for spec in all() {
            for n_inputs in [0, (1 << 26) + 1, 1 << 30, usize::MAX] {
                let error = spec.resolve(1.0, n_inputs, 0).validate().unwrap_err();
                assert!(error.to_string().contains(&format!("n_inputs is {n_inputs}")), "{spec:?}: {error}");
            }
            spec.resolve(1.0, 1 << 20, 0).validate().unwrap();
        }
    }

    #[test]
    fn entries_by_hand() {
        let spectral = |frequencies, n| MapSpec::Spectral(SpectralSpec::new(frequencies, n, Gamma::Scale));
        // Two diagonals of whole blocks of 8; four of blocks of at least 64.
        assert_eq!(MapSpec::Srht { n_components: 3 }.n_entries(5), 2 * 8);
        assert_eq!(MapSpec::Srht { n_components: 9 }.n_entries(5), 2 * 16);
        assert_eq!(spectral(Frequencies::Sorf, 20).n_entries(5), 4 * 64);
        assert_eq!(spectral(Frequencies::Fastfood, 400).n_entries(100), 4 * 256);
        // d × m, and reflections while it is drawn: m of them, at most d.
        let orthogonal = |n| {
            (spectral(Frequencies::Orthogonal, n).n_entries(5), spectral(Frequencies::Orthogonal, n).n_drawn_from(5))
        };
        assert_eq!((orthogonal(4), orthogonal(40)), ((10, 10), (100, 25)));
        assert!(!spectral(Frequencies::Orthogonal, 1 << 17).fits(1 << 15));
        assert!(spectral(Frequencies::Independent, 1 << 17).fits(1 << 15));
    }
}
