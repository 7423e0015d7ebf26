//! Flags of the features: scaling, map, kernel.

use clap::{Args, ValueEnum};
use mercer::Dtype;
use mercer::feature_maps::{
    Frequencies, Gamma, HadamardBlocks, LandmarkForm, LandmarkSpec, MapSpec, SpectralKernel, SpectralSpec, Waves,
};
use mercer::preprocess::PreprocessSpec;

use super::landmark::LandmarkArgs;
use super::product::{POLYNOMIAL, PolynomialArgs, ProductArgs};
use super::whole;
use crate::failure::Failure;

/// What the features are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct MapArgs {
    /// Feature map [default: fourier; tensor-srht with --kernel poly, maclaurin with exponential, arc-cosine, additive-chi2 and
    /// skewed-chi2 with their own, nystroem with the other kernels that are not of spectral maps]
    #[arg(long, value_enum)]
    map: Option<Map>,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    polynomial: PolynomialArgs,
    #[command(flatten)]
    product: ProductArgs,
    #[command(flatten)]
    landmark: LandmarkArgs,
    /// Number of features: more are more accurate, and slower; expansion, additive-chi2, hadamard and identity have theirs by
    /// the inputs
    /// [default: 4096; kernel-pca: 256]
    #[arg(long, value_name = "D", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) n_components: Option<usize>,
    /// Of a random projection: as many coordinates as keep all squared distances of the rows within this share, by the
    /// bound of Johnson and Lindenstrauss
    #[arg(long, value_name = "E", conflicts_with = "n_components", allow_negative_numbers = true)]
    eps: Option<f64>,
    /// Of a binning map: features that the bins of a grid share [default: 16]
    #[arg(long, value_name = "B", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) n_bins: Option<usize>,
    /// Of a sparse projection, or of the vectors of pk-rp and d2pk-rp: one entry in S is not zero [default: 3; pk-rp: normal
    /// entries]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) s: Option<f64>,
    /// Of the Walsh-Hadamard transform, for a length that is no power of two [default: padded]
    #[arg(long, value_enum)]
    pub(crate) blocks: Option<Blocks>,
    /// Scaling of the inputs
    #[arg(long, value_enum, default_value_t = Preprocess::Auto)]
    pub(crate) preprocess: Preprocess,
    /// Names every random choice: the same seed gives the same features
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Type of all numbers
    #[arg(long, value_enum, default_value_t = DtypeName::Float32)]
    pub(crate) dtype: DtypeName,
}

/// The kernel of maps that have one to choose.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct KernelArgs {
    /// Kernel: the first five are of spectral maps (fourier, orthogonal, sorf, fastfood, quasi), all are of maps of landmarks
    /// (nystroem, kg-rp, korp, kernel-pca) [default: rbf, or that of the map]
    #[arg(long, value_enum)]
    pub(crate) kernel: Option<KernelName>,
    /// Width of the kernel, larger is narrower: a number, scale (1/(inputs × variance)) or median (of the distances)
    /// [default: scale, or 0.5 with length scales]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) gamma: Option<Gamma>,
    /// Smoothness of the Matérn kernel [default: 1.5]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) nu: Option<f64>,
    /// Of the rational quadratic kernel: the larger, the closer to rbf [default: 1]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) alpha: Option<f64>,
    /// Of the skewed chi-squared kernel: what is added to every input, all of which must be above its negative [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) skewedness: Option<f64>,
    /// What a frequency becomes: a cosine and a sine, or a cosine with a random phase [default: paired]
    #[arg(long, value_enum)]
    pub(crate) waves: Option<WavesName>,
    /// What each scaled input is divided by, one number for each, with commas between them (ARD)
    #[arg(long, value_name = "L1,L2,…", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) length_scales: Option<Vec<f64>>,
}

impl KernelArgs {
    /// The width as asked for.
    pub(crate) fn gamma(&self) -> Gamma {
        self.gamma.unwrap_or(if self.length_scales.is_some() { Gamma::Value(0.5) } else { Gamma::Scale })
    }

    /// A spectral map of this kernel.
    pub(crate) fn spectral(&self, frequencies: Frequencies, n_components: usize) -> Result<SpectralSpec, Failure> {
        let name = self.kernel.unwrap_or(KernelName::Rbf);
        refuse("--nu", self.nu.is_some() && name != KernelName::Matern, "--kernel matern")?;
        refuse(
            "--alpha",
            self.alpha.is_some() && name != KernelName::RationalQuadratic,
            "--kernel rational-quadratic",
        )?;
        self.refuse_skewedness(true)?;
        let kernel = match name {
            KernelName::Rbf => SpectralKernel::Rbf,
            KernelName::Laplace => SpectralKernel::Laplace,
            KernelName::Matern => SpectralKernel::Matern { nu: self.nu.unwrap_or(1.5) },
            KernelName::Cauchy => SpectralKernel::Cauchy,
            KernelName::RationalQuadratic => SpectralKernel::RationalQuadratic { alpha: self.alpha.unwrap_or(1.0) },
            KernelName::Poly => return Err(Failure::Usage(format!("--kernel poly is of use with {POLYNOMIAL} only"))),
            KernelName::Exponential => {
                let text = "--kernel exponential is of use with --map maclaurin and nystroem only";
                return Err(Failure::Usage(text.to_owned()));
            }
            other => {
                let name = other.to_possible_value().expect("it has a name");
                return Err(Failure::Usage(format!("--kernel {} is of use with --map nystroem only", name.get_name())));
            }
        };
        let waves = self.waves();
        let (gamma, length_scales) = (self.gamma(), self.length_scales.clone());
        Ok(SpectralSpec { frequencies, kernel, n_components, gamma, waves, length_scales })
    }

    /// What the skewed kernel adds to every input.
    pub(super) fn skewedness(&self) -> f64 {
        self.skewedness.unwrap_or(1.0)
    }

    /// Refuses it for another kernel.
    pub(super) fn refuse_skewedness(&self, is_other: bool) -> Result<(), Failure> {
        refuse("--skewedness", self.skewedness.is_some() && is_other, "--map skewed-chi2 and --kernel skewed-chi2")
    }

    /// What a frequency becomes.
    fn waves(&self) -> Waves {
        match self.waves.unwrap_or(WavesName::Paired) {
            WavesName::Paired => Waves::Paired,
            WavesName::Phase => Waves::Phase,
        }
    }

    fn refuse_all(&self) -> Result<(), Failure> {
        refuse("--gamma", self.gamma.is_some(), WITH_GAMMA)?;
        self.refuse_kernel()
    }

    fn refuse_kernel(&self) -> Result<(), Failure> {
        refuse("--kernel", self.kernel.is_some(), SPECTRAL)?;
        self.refuse_waves()
    }

    /// Refuses what a map of products has not.
    fn refuse_spectral(&self, map: Map) -> Result<(), Failure> {
        let own = match self.kernel {
            Some(KernelName::Poly) => map.is_polynomial(),
            Some(KernelName::Exponential) => map == Map::Maclaurin,
            Some(_) => false,
            None => true,
        };
        if !own {
            self.spectral(Frequencies::Independent, 2)?;
            return refuse("--kernel", true, SPECTRAL);
        }
        self.refuse_waves()
    }

    pub(super) fn refuse_waves(&self) -> Result<(), Failure> {
        let with = SPECTRAL;
        refuse("--nu", self.nu.is_some(), with)?;
        refuse("--alpha", self.alpha.is_some(), with)?;
        self.refuse_skewedness(true)?;
        self.refuse_frequencies()
    }

    /// Refuses what only maps of frequencies have.
    pub(super) fn refuse_frequencies(&self) -> Result<(), Failure> {
        refuse("--waves", self.waves.is_some(), SPECTRAL)?;
        refuse("--length-scales", self.length_scales.is_some(), SPECTRAL)
    }
}

/// Refuses a flag that would do nothing.
pub(super) fn refuse(flag: &str, given: bool, with: &str) -> Result<(), Failure> {
    if given { Err(Failure::Usage(format!("{flag} is of use with {with} only"))) } else { Ok(()) }
}

const SPECTRAL: &str = "--map fourier, orthogonal, sorf, fastfood and quasi";
const WITH_GAMMA: &str = "maps of a kernel";

impl MapArgs {
    /// The map, by its name or by that of its kernel.
    fn map(&self) -> Map {
        self.map.unwrap_or(match self.kernel.kernel {
            Some(KernelName::Poly) => Map::TensorSrht,
            Some(KernelName::Exponential) => Map::Maclaurin,
            Some(KernelName::ArcCosine) => Map::ArcCosine,
            Some(KernelName::AdditiveChi2) => Map::AdditiveChi2,
            Some(KernelName::SkewedChi2) => Map::SkewedChi2,
            Some(KernelName::Linear | KernelName::Chi2 | KernelName::Tanimoto) => Map::Nystroem,
            _ => Map::Fourier,
        })
    }

    pub(crate) fn spec(&self) -> Result<MapSpec, Failure> {
        let projects = matches!(self.map(), Map::GaussianProjection | Map::SparseProjection | Map::Srht);
        refuse("--eps", self.eps.is_some() && !projects, "--map gaussian-projection, sparse-projection and srht")?;
        Ok(self.product.projected(self.first_spec()?))
    }

    /// The file of landmarks, where there is one.
    pub(crate) fn landmarks(&self) -> Option<&String> {
        self.landmark.file()
    }

    /// The map for landmarks that are given, so many of them.
    ///
    /// # Errors
    /// More features or terms than they have.
    pub(crate) fn around(&self, spec: MapSpec, n_landmarks: u64) -> Result<MapSpec, Failure> {
        let spec = match spec {
            MapSpec::Landmark(spec) => MapSpec::Landmark(self.landmarks_around(spec, n_landmarks as usize)),
            MapSpec::Chain { first, then } => {
                MapSpec::Chain { first: Box::new(self.around(*first, n_landmarks)?), then }
            }
            other => other,
        };
        spec.validate()?;
        Ok(spec)
    }

    /// What was not asked for is as many as there are, at most.
    fn landmarks_around(&self, spec: LandmarkSpec, n_landmarks: usize) -> LandmarkSpec {
        let mut spec = spec.around(n_landmarks);
        match &mut spec.form {
            LandmarkForm::KgRp { n_terms } if self.product.n_terms().is_none() => *n_terms = n_landmarks.clamp(1, 30),
            LandmarkForm::Korp | LandmarkForm::KernelPca if self.n_components.is_none() => {
                spec.n_components = spec.n_components.min(n_landmarks);
            }
            _ => {}
        }
        spec
    }

    /// The map for the number of rows that there are.
    ///
    /// # Errors
    /// A share that is none.
    pub(crate) fn sized(&self, spec: MapSpec, n_rows: u64) -> Result<MapSpec, Failure> {
        let Some(eps) = self.eps else { return Ok(spec) };
        let by_rows = mercer::projections::johnson_lindenstrauss(n_rows, eps)?;
        let sized = |spec: MapSpec| match spec {
            MapSpec::GaussianProjection { .. } => MapSpec::GaussianProjection { n_components: by_rows },
            MapSpec::SparseProjection { s, .. } => MapSpec::SparseProjection { n_components: by_rows, s },
            MapSpec::Srht { .. } => MapSpec::Srht { n_components: by_rows },
            other => other,
        };
        Ok(match spec {
            MapSpec::Chain { first, then } => MapSpec::Chain { first: Box::new(sized(*first)), then },
            spec => sized(spec),
        })
    }

    fn first_spec(&self) -> Result<MapSpec, Failure> {
        let map = self.map();
        let n_components = self.n_components.unwrap_or(if map == Map::KernelPca { 256 } else { 4096 });
        self.refuse_n_components()?;
        refuse("--n-bins", self.n_bins.is_some() && map != Map::Binning, "--map binning")?;
        let takes_s = matches!(map, Map::SparseProjection | Map::PkRp | Map::D2pkRp);
        refuse("--s", self.s.is_some() && !takes_s, "--map sparse-projection, pk-rp and d2pk-rp")?;
        refuse("--blocks", self.blocks.is_some() && map != Map::Hadamard, "--map hadamard")?;
        self.landmark.refuse(map)?;
        if map == Map::AdditiveChi2 {
            self.product.refuse_others(map)?;
            self.polynomial.refuse_but(false, false)?;
            refuse("--gamma", self.kernel.gamma.is_some(), WITH_GAMMA)?;
            let own = matches!(self.kernel.kernel, None | Some(KernelName::AdditiveChi2));
            refuse("--kernel", !own, "other maps than additive-chi2")?;
            self.kernel.refuse_waves()?;
            return Ok(self.landmark.additive_chi2());
        }
        if map == Map::SkewedChi2 {
            self.product.refuse_others(map)?;
            self.polynomial.refuse_but(false, false)?;
            return self.skewed_chi2(n_components);
        }
        if map == Map::ArcCosine {
            self.product.refuse_others(map)?;
            refuse("--gamma", self.kernel.gamma.is_some(), WITH_GAMMA)?;
            let own = matches!(self.kernel.kernel, None | Some(KernelName::ArcCosine));
            refuse("--kernel", !own, "other maps than arc-cosine")?;
            self.kernel.refuse_waves()?;
            self.polynomial.refuse_but(false, true)?;
            return Ok(MapSpec::ArcCosine { n_components, degree: self.polynomial.given_degree().unwrap_or(1) });
        }
        if map.has_landmarks() {
            self.product.refuse_others(map)?;
            let shape = (map, n_components, self.product.n_terms());
            return self.landmark.spec(shape, &self.kernel, &self.polynomial).map(MapSpec::Landmark);
        }
        let kernel = (self.kernel.kernel, self.kernel.gamma());
        if let Some(spec) = self.product.map((map, n_components), kernel, &self.polynomial, self.s)? {
            self.kernel.refuse_spectral(map)?;
            return Ok(spec);
        }
        let spectral = |frequencies| self.kernel.spectral(frequencies, n_components).map(MapSpec::Spectral);
        let spec = match map {
            Map::Fourier => return spectral(Frequencies::Independent),
            Map::Orthogonal => return spectral(Frequencies::Orthogonal),
            Map::Sorf => return spectral(Frequencies::Sorf),
            Map::Fastfood => return spectral(Frequencies::Fastfood),
            Map::Quasi => return spectral(Frequencies::Quasi),
            Map::Binning => {
                self.kernel.refuse_kernel()?;
                let (gamma, n_bins) = (self.kernel.gamma(), self.n_bins.unwrap_or(16));
                return Ok(MapSpec::Binning { n_components, gamma, n_bins });
            }
            Map::GaussianProjection => MapSpec::GaussianProjection { n_components },
            Map::SparseProjection => MapSpec::SparseProjection { n_components, s: self.s.unwrap_or(3.0) },
            Map::Srht => MapSpec::Srht { n_components },
            Map::TensorSrht | Map::TensorSketch | Map::PkRp | Map::D2pkRp | Map::Maclaurin | Map::Expansion => {
                unreachable!("a map of products")
            }
            Map::Nystroem | Map::KgRp | Map::Korp | Map::KernelPca => unreachable!("a map of landmarks"),
            Map::ArcCosine | Map::AdditiveChi2 | Map::SkewedChi2 => unreachable!("they have kernels of their own"),
            Map::Identity => MapSpec::Identity,
            Map::Hadamard => MapSpec::Hadamard {
                blocks: match self.blocks.unwrap_or(Blocks::Padded) {
                    Blocks::Padded => HadamardBlocks::Padded,
                    Blocks::Split => HadamardBlocks::Split,
                },
            },
        };
        self.kernel.refuse_all()?;
        Ok(spec)
    }

    /// The map of waves of logarithms with frequencies by chance.
    fn skewed_chi2(&self, n_components: usize) -> Result<MapSpec, Failure> {
        refuse("--gamma", self.kernel.gamma.is_some(), WITH_GAMMA)?;
        let own = matches!(self.kernel.kernel, None | Some(KernelName::SkewedChi2));
        refuse("--kernel", !own, "other maps than skewed-chi2")?;
        refuse("--nu", self.kernel.nu.is_some(), SPECTRAL)?;
        refuse("--alpha", self.kernel.alpha.is_some(), SPECTRAL)?;
        refuse("--length-scales", self.kernel.length_scales.is_some(), SPECTRAL)?;
        Ok(MapSpec::SkewedChi2 { n_components, skewedness: self.kernel.skewedness(), waves: self.kernel.waves() })
    }

    fn refuse_n_components(&self) -> Result<(), Failure> {
        let name = match self.map() {
            Map::Expansion => "expansion",
            Map::AdditiveChi2 => "additive-chi2",
            Map::Hadamard => "hadamard",
            Map::Identity => "identity",
            Map::Nystroem if self.landmarks().is_some() => {
                let text = "--n-components is of no use with --landmarks: each of them is a feature";
                return if self.n_components.is_some() { Err(Failure::Usage(text.to_owned())) } else { Ok(()) };
            }
            _ => return Ok(()),
        };
        let text = format!("--n-components is of no use with --map {name}: the inputs say how many features there are");
        if self.n_components.is_some() { Err(Failure::Usage(text)) } else { Ok(()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Map {
    /// Waves of independent frequencies: random Fourier features
    Fourier,
    /// Waves of orthogonal frequencies: a smaller kernel error at the same cost for a row
    Orthogonal,
    /// Waves of frequencies by three Walsh-Hadamard transforms: close to orthogonal ones, cheaper for many inputs
    Sorf,
    /// Waves of frequencies by two transforms and normal numbers: unbiased, cheaper for many inputs
    Fastfood,
    /// Waves of frequencies that fill the space evenly
    Quasi,
    /// Bins of random grids, of the Laplace kernel
    Binning,
    /// Products of coordinates of Walsh-Hadamard transforms, of the polynomial kernel
    TensorSrht,
    /// Convolved count sketches, of the polynomial kernel: for sparse inputs
    TensorSketch,
    /// Sums of products of shared random projections, of the polynomial kernel
    PkRp,
    /// Alternating sums of squares of random projections, of the polynomial kernel of degree 2 without a constant
    D2pkRp,
    /// Products of as many factors as the powers of a series, of the polynomial and the exponential kernel and given coefficients
    Maclaurin,
    /// All products of two or three inputs: the polynomial kernel itself, for few inputs
    Expansion,
    /// Waves of the logarithm of every input, of the additive chi-squared kernel: histograms and counts
    #[value(name = "additive-chi2")]
    AdditiveChi2,
    /// Random waves of logarithms, of the skewed chi-squared kernel: histograms and counts
    #[value(name = "skewed-chi2")]
    SkewedChi2,
    /// Random units of a wide network, of the arc-cosine kernel: --degree 0 steps, 1 ramps, 2 squared ramps
    ArcCosine,
    /// Kernel values with landmarks, made orthonormal: of any kernel, more accurate for the same number of features
    Nystroem,
    /// Sums of a few landmarks with random signs, whitened: a random projection of any kernel
    KgRp,
    /// Random orthonormal directions in the span of landmarks: a random projection of any kernel
    Korp,
    /// Principal components of landmarks in feature space, of any kernel
    KernelPca,
    /// Random projection with normal entries: fewer coordinates, the same inner products
    GaussianProjection,
    /// Random projection with few entries
    SparseProjection,
    /// Random projection by coordinates of a signed Walsh-Hadamard transform
    Srht,
    /// The Walsh-Hadamard transform itself
    Hadamard,
    /// The inputs themselves: a linear model
    Identity,
}

impl Map {
    /// Whether it learns landmarks.
    pub(super) fn has_landmarks(self) -> bool {
        matches!(self, Self::Nystroem | Self::KgRp | Self::Korp | Self::KernelPca)
    }

    /// Whether it has the polynomial kernel of any constant.
    pub(super) fn is_polynomial(self) -> bool {
        matches!(self, Self::TensorSrht | Self::TensorSketch | Self::PkRp | Self::Maclaurin | Self::Expansion)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelName {
    /// exp(-gamma |x-y|^2)
    Rbf,
    /// exp(-gamma |x-y|_1)
    Laplace,
    /// Matérn of smoothness nu
    Matern,
    /// 1 / (1 + gamma |x-y|^2)
    Cauchy,
    /// (1 + gamma |x-y|^2 / alpha)^-alpha
    RationalQuadratic,
    /// (gamma <x,y> + c)^degree
    Poly,
    /// exp(gamma <x,y>)
    Exponential,
    /// <x,y>
    Linear,
    /// Sum of 2xy/(x+y), of values of at least 0
    #[value(name = "additive-chi2")]
    AdditiveChi2,
    /// exp(-gamma (x-y)^2/(x+y)), summed, of values of at least 0
    #[value(name = "chi2")]
    Chi2,
    /// Product of 2 sqrt((x+c)(y+c)) / (x+y+2c), of values above -c; --skewedness
    #[value(name = "skewed-chi2")]
    SkewedChi2,
    /// Of wide networks, by the angle of x and y; --degree 0, 1 or 2
    ArcCosine,
    /// <x,y> / (|x|^2 + |y|^2 - <x,y>)
    Tanimoto,
}

impl KernelName {
    /// Whether spectral maps have it.
    pub(super) fn is_spectral(self) -> bool {
        matches!(self, Self::Rbf | Self::Laplace | Self::Matern | Self::Cauchy | Self::RationalQuadratic)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WavesName {
    /// A cosine and a sine
    Paired,
    /// A cosine with a random phase
    Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Blocks {
    /// Zeros up to the next power of two
    Padded,
    /// Blocks whose lengths are powers of two
    Split,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preprocess {
    /// bytes / 255, dense columns standardize, sparse columns max-abs
    Auto,
    /// As they are
    None,
    /// Divided by 255
    Bytes,
    /// Zero mean and unit variance by column
    Standardize,
    /// Into [0, 1] by column
    MinMax,
    /// Into [-1, 1] by column, zeros kept
    MaxAbs,
    /// Rows of length 1
    UnitNorm,
}

impl From<Preprocess> for PreprocessSpec {
    fn from(name: Preprocess) -> Self {
        match name {
            Preprocess::Auto => Self::Auto,
            Preprocess::None => Self::None,
            Preprocess::Bytes => Self::Bytes,
            Preprocess::Standardize => Self::Standardize,
            Preprocess::MinMax => Self::MinMax,
            Preprocess::MaxAbs => Self::MaxAbs,
            Preprocess::UnitNorm => Self::UnitNorm,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DtypeName {
    Float32,
    Float64,
}

impl From<DtypeName> for Dtype {
    fn from(name: DtypeName) -> Self {
        match name {
            DtypeName::Float32 => Self::Float32,
            DtypeName::Float64 => Self::Float64,
        }
    }
}
