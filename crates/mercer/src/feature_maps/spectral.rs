//! The maps of waves as they are asked for: which kernel, which frequencies, which waves.

use mercer_simd::{Dtype, Scalar};
use serde::{Deserialize, Serialize};

use super::{FourierMap, Gamma, Waves};
use crate::kernels::Kernel;
use crate::projections::{DenseProjection, HadamardProjection, Projection, Spectrum, frequency_block_len};
use crate::{Error, Result};

/// A spectral map: [`FourierMap`] over any frequencies of any kernel that has some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpectralSpec {
    /// how frequencies are drawn
    pub frequencies: Frequencies,
    /// of which kernel
    pub kernel: SpectralKernel,
    /// number of features
    pub n_components: usize,
    /// the kernel's width
    pub gamma: Gamma,
    /// what a frequency becomes
    pub waves: Waves,
    /// what each input is divided by; gamma is a number then
    pub length_scales: Option<Vec<f64>>,
}

/// A spectral map over any frequencies.
pub type SpectralMap<T> = FourierMap<T, Box<dyn Projection<T>>>;

/// How the frequencies of a spectral map are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frequencies {
    /// Independent: random Fourier features.
    #[serde(rename = "fourier")]
    Independent,
    /// Orthogonal directions.
    Orthogonal,
    /// Three rounds of signs and Walsh-Hadamard transforms.
    Sorf,
    /// Two transforms, with normal numbers between them.
    Fastfood,
    /// Points that fill the space evenly.
    Quasi,
}

impl Frequencies {
    /// All ways, the plain one first.
    pub const ALL: [Self; 5] = [Self::Independent, Self::Orthogonal, Self::Sorf, Self::Fastfood, Self::Quasi];

    /// The name in specs and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Independent => "fourier",
            Self::Orthogonal => "orthogonal",
            Self::Sorf => "sorf",
            Self::Fastfood => "fastfood",
            Self::Quasi => "quasi",
        }
    }

    /// Whether a kernel has frequencies of this kind; those of transforms and orthogonal ones need a radial kernel.
    pub fn suit(self, kernel: SpectralKernel) -> bool {
        matches!(self, Self::Independent | Self::Quasi) || kernel != SpectralKernel::Laplace
    }

    /// Whether they are kept as a matrix.
    fn are_dense(self) -> bool {
        !matches!(self, Self::Sorf | Self::Fastfood)
    }
}

/// A kernel that has frequencies; its width is given apart, as gamma.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum SpectralKernel {
    /// exp(−γ‖x−y‖²)
    #[default]
    Rbf,
    /// exp(−γ‖x−y‖₁)
    Laplace,
    /// Matérn of smoothness ν, ℓ = 1/√(2γ)
    Matern {
        /// ν: ½ is exp(−‖x−y‖/ℓ); the larger, the closer to `rbf`
        nu: f64,
    },
    /// 1/(1 + γ‖x−y‖²)
    Cauchy,
    /// (1 + ‖x−y‖²/(2αℓ²))^−α, ℓ = 1/√(2γ)
    RationalQuadratic {
        /// α: the larger, the closer to `rbf`
        alpha: f64,
    },
}

impl SpectralKernel {
    /// The kernel of this width: one gamma means about the same for all radial ones.
    pub fn with_gamma(self, gamma: f64) -> Kernel {
        let length_scale = 1.0 / (2.0 * gamma).sqrt();
        match self {
            Self::Rbf => Kernel::Rbf { gamma },
            Self::Laplace => Kernel::Laplace { gamma },
            Self::Matern { nu } => Kernel::Matern { nu, length_scale },
            Self::Cauchy => Kernel::Cauchy { gamma },
            Self::RationalQuadratic { alpha } => Kernel::RationalQuadratic { alpha, length_scale },
        }
    }
}

impl SpectralSpec {
    /// Paired waves of the RBF kernel.
    pub fn new(frequencies: Frequencies, n_components: usize, gamma: Gamma) -> Self {
        let (kernel, waves, length_scales) = (SpectralKernel::Rbf, Waves::Paired, None);
        Self { frequencies, kernel, n_components, gamma, waves, length_scales }
    }

    /// Whether frequencies of this width are numbers of the float type.
    pub(super) fn check_scale<T: Scalar>(&self, gamma: f64) -> Result<()> {
        let scale = if self.kernel == SpectralKernel::Laplace { gamma } else { (2.0 * gamma).sqrt() };
        // With room for the random factors, on both sides.
        let range = if T::DTYPE == Dtype::Float32 { 1e-36..=1e36 } else { 1e-300..=1e300 };
        if !range.contains(&scale) {
            let expected = "within 1e-72 to 1e71 in float32 (laplace: 1e-36 to 1e36), 1e-300 to 1e300 in float64; \
                            scale the inputs";
            return Err(Error::parameter("gamma", format!("{gamma:e}"), expected));
        }
        match self.length_scales.iter().flatten().find(|length| !range.contains(&(scale / **length))) {
            Some(length) => {
                let expected =
                    "such that √(2 gamma) over it is within 1e-36 to 1e36 in float32, 1e-300 to 1e300 in float64";
                Err(Error::parameter("length_scales", format!("{length:e}"), expected))
            }
            None => Ok(()),
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        self.waves.check_n_components(self.n_components)?;
        self.gamma.validate()?;
        if self.length_scales.is_some() && !matches!(self.gamma, Gamma::Value(_)) {
            let expected = "a number where length scales are given: 0.5 leaves the widths to them";
            return Err(Error::parameter("gamma", self.gamma, expected));
        }
        self.spectrum(1.0)?;
        if self.frequencies.suit(self.kernel) {
            return Ok(());
        }
        let got = format!("laplace with {} frequencies", self.frequencies.name());
        Err(Error::parameter("kernel", got, "a radial one for these; laplace has fourier and quasi"))
    }

    /// Whether the length scales are one for each input.
    pub(super) fn check_inputs(&self, n_inputs: usize) -> Result<()> {
        self.spectrum(1.0)?.check_inputs(n_inputs)
    }

    fn spectrum(&self, gamma: f64) -> Result<Spectrum> {
        Spectrum::new(self.kernel.with_gamma(gamma), self.length_scales.clone())
    }

    /// Numbers that the frequencies take.
    pub(super) fn n_entries(&self, n_inputs: usize) -> u64 {
        let m = self.waves.n_frequencies(self.n_components) as u64;
        if self.frequencies.are_dense() {
            return (n_inputs as u64).saturating_mul(m);
        }
        m.div_ceil(frequency_block_len(n_inputs) as u64).saturating_mul(4 * frequency_block_len(n_inputs) as u64)
    }

    /// Numbers beside them while they are drawn: reflections.
    pub(super) fn n_drawn_from(&self, n_inputs: usize) -> u64 {
        let m = self.waves.n_frequencies(self.n_components);
        let reflections = (n_inputs as u64).saturating_mul(m.min(n_inputs) as u64);
        if self.frequencies == Frequencies::Orthogonal { reflections } else { 0 }
    }

    /// The map of this width, drawn; its type is that of any frequencies, so that it has gradients too.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    ///
    /// ```
    /// use mercer::feature_maps::{Frequencies, Gamma, SpectralSpec};
    /// use ndarray::{Array2, array};
    ///
    /// let map = SpectralSpec::new(Frequencies::Sorf, 128, Gamma::Scale).map::<f64>(0.5, 2, 0)?;
    /// let (x, ones) = (array![[0.5, -1.0]], Array2::ones((1, 128)));
    /// let mut gradient = Array2::zeros((1, 2));
    /// map.backward_into(x.view().into(), ones.view(), gradient.view_mut())?;
    /// assert!(gradient.iter().all(|x| *x != 0.0));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn map<T: Scalar>(&self, gamma: f64, n_inputs: usize, seed: u64) -> Result<SpectralMap<T>> {
        self.validate()?;
        let (spectrum, waves) = (self.spectrum(gamma)?, self.waves);
        let m = waves.n_frequencies(self.n_components);
        let projection: Box<dyn Projection<T>> = match self.frequencies {
            Frequencies::Independent => Box::new(DenseProjection::independent(seed, n_inputs, m, &spectrum)?),
            Frequencies::Orthogonal => Box::new(DenseProjection::orthogonal(seed, n_inputs, m, &spectrum)?),
            Frequencies::Quasi => Box::new(DenseProjection::quasi(seed, n_inputs, m, &spectrum)?),
            Frequencies::Sorf => Box::new(HadamardProjection::sorf(seed, n_inputs, m, &spectrum)?),
            Frequencies::Fastfood => Box::new(HadamardProjection::fastfood(seed, n_inputs, m, &spectrum)?),
        };
        Ok(FourierMap::over(projection, waves, seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_maps::MapSpec;

    fn spec() -> SpectralSpec {
        SpectralSpec::new(Frequencies::Sorf, 4, Gamma::Scale)
    }

    #[test]
    fn json_names_the_parts() {
        let spec = MapSpec::Spectral(SpectralSpec { kernel: SpectralKernel::Matern { nu: 1.5 }, ..spec() });
        let json = serde_json::to_string(&spec).unwrap();
        let expected = r#"{"name":"spectral","frequencies":"sorf","kernel":{"name":"matern","nu":1.5},"n_components":4,"gamma":"scale","waves":"paired","length_scales":null}"#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<MapSpec>(&json).unwrap(), spec);
        assert!(serde_json::from_str::<MapSpec>(&json.replace("\"waves\"", "\"wave\"")).is_err());
    }

    #[test]
    fn widths_beyond_the_float_type_are_refused() {
        fn message<T: Scalar>(kernel: SpectralKernel, gamma: f64, length_scales: Option<Vec<f64>>) -> String {
            let (frequencies, width) = (Frequencies::Quasi, Gamma::Value(gamma));
            let spec = SpectralSpec { frequencies, kernel, gamma: width, length_scales, ..spec() };
            let built = MapSpec::Spectral(spec).resolve(gamma, 3, 0).build::<T>();
            built.err().map_or(String::new(), |error| error.to_string())
        }
        let (rbf, laplace, matern) = (SpectralKernel::Rbf, SpectralKernel::Laplace, SpectralKernel::Matern { nu: 1.5 });
        assert!(message::<f32>(rbf, 1e100, None).contains("gamma is 1e100,"));
        assert!(message::<f32>(rbf, 1e-100, None).contains("gamma is 1e-100,"));
        assert!(message::<f32>(laplace, 1e40, None).contains("gamma is 1e40,"));
        assert!(message::<f64>(matern, 1e308, None).contains("gamma is 1e308,"));
        let lengths = |least| Some(vec![1.0, 2.0, least]);
        assert!(message::<f32>(rbf, 0.5, lengths(1e-320)).contains("length_scales is 1e-320,"));
        assert!(message::<f64>(rbf, 0.5, lengths(1e-320)).contains("length_scales is 1e-320,"));
        for accepted in [
            message::<f64>(rbf, 1e100, None),
            message::<f32>(rbf, 1e60, None),
            message::<f32>(rbf, 1e60, lengths(1e30)),
            message::<f64>(rbf, 0.5, lengths(1e-200)),
        ] {
            assert_eq!(accepted, "");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let message = |spec: SpectralSpec| spec.validate().unwrap_err().to_string();
        assert!(message(SpectralSpec { kernel: SpectralKernel::Laplace, ..spec() }).contains("laplace has fourier"));
        assert!(message(SpectralSpec { kernel: SpectralKernel::Matern { nu: 0.0 }, ..spec() }).contains("nu is 0"));
        assert!(message(SpectralSpec { kernel: SpectralKernel::Matern { nu: 0.01 }, ..spec() }).contains("0.1"));
        assert!(message(SpectralSpec { length_scales: Some(vec![1.0]), ..spec() }).contains("gamma is scale"));
        let scales =
            |scales: Vec<f64>| SpectralSpec { length_scales: Some(scales), gamma: Gamma::Value(0.5), ..spec() };
        assert!(message(scales(vec![1.0, 0.0])).contains("length_scales is 0"));
        let error = MapSpec::Spectral(scales(vec![1.0, 2.0])).resolve(0.5, 3, 0).validate().unwrap_err().to_string();
        assert!(error.contains("2 numbers for 3 inputs"), "{error}");
    }
}
