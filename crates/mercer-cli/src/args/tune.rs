//! Flags of `mercer tune`.

use clap::{Args, ValueEnum};
use mercer::kernels::KernelFamily;
use mercer::learners::{ClassWeight, Loss};
use mercer::preprocess::PreprocessSpec;
use mercer::selection::{Contender, Means, Strategy};

use super::{
    ColumnArgs, DtypeName, EncodingArgs, LimitArgs, Preprocess, ReadingArgs, RowsArgs, RunArgs, TaskName, byte_count,
    whole,
};

const EXAMPLES: &str = "\
Examples:
  mercer tune iris.csv                                   what --auto would train, and why
  mercer tune iris.csv --kernels rbf,laplace --widths 0.25,1,4 --strategy grid
  mercer tune w8a.gz --learners svm,softmax --trials 40 --json

A width multiplies the gamma that the rule scale gives: 1 / (inputs × variance). The command that trains the best is
printed last. The plain linear model is always among those that are tried.";

/// Compare pipelines of a given space by trials, and say which to train.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) space: SpaceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) encoding: EncodingArgs,
    /// What to learn; found by the targets if not given
    #[arg(long, value_enum, help_heading = "Search")]
    pub(crate) task: Option<TaskName>,
    /// Names every random choice
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>, allow_negative_numbers = true, help_heading = "Run")]
    pub(crate) seed: u64,
    /// Type of all numbers
    #[arg(long, value_enum, default_value_t = DtypeName::Float32, help_heading = "Run")]
    pub(crate) dtype: DtypeName,
    /// Memory for all of it, such as 800MB or 2GB; half of what is free if not given
    #[arg(long, value_name = "BYTES", value_parser = byte_count, help_heading = "Run")]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What is tried: every combination.
#[derive(Debug, Args)]
#[command(next_help_heading = "Space")]
pub(crate) struct SpaceArgs {
    /// Kernels, with commas between them; without any of these flags the space of --auto
    #[arg(long, value_enum, value_delimiter = ',')]
    kernels: Vec<TunedKernel>,
    /// Widths in units of the rule scale, with commas between them [default: 0.25,1,4]
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    widths: Vec<f64>,
    /// Learners, with commas between them [default: ridge]
    #[arg(long, value_enum, value_delimiter = ',')]
    learners: Vec<TunedLearner>,
    /// Scalings of the inputs, with commas between them [default: auto]
    #[arg(long, value_enum, value_delimiter = ',')]
    preprocess: Vec<Preprocess>,
    /// How kernels become features: by landmarks, or by transforms (waves and products) [default: landmarks]
    #[arg(long, value_enum, value_delimiter = ',')]
    means: Vec<MeansName>,
    /// How combinations are compared
    #[arg(long, value_enum, default_value_t = StrategyName::Halving)]
    strategy: StrategyName,
}

impl SpaceArgs {
    pub(crate) fn strategy(&self) -> Strategy {
        match self.strategy {
            StrategyName::Halving => Strategy::Halving,
            StrategyName::Random => Strategy::Random,
            StrategyName::Grid => Strategy::Grid,
        }
    }

    /// Every combination; none where nothing was said.
    ///
    /// # Errors
    /// The width that is no width.
    pub(crate) fn contenders(&self) -> Result<Vec<Contender>, String> {
        if let Some(width) = self.widths.iter().find(|width| !(**width > 0.0 && width.is_finite())) {
            return Err(format!("--widths has {width}, must be numbers above 0"));
        }
        let nothing = self.kernels.is_empty() && self.widths.is_empty() && self.learners.is_empty();
        if nothing && self.preprocess.is_empty() && self.means.is_empty() && self.strategy != StrategyName::Grid {
            return Ok(Vec::new());
        }
        let or = |given: &[f64], default: &[f64]| if given.is_empty() { default.to_vec() } else { given.to_vec() };
        let kernels =
            if self.kernels.is_empty() { vec![TunedKernel::Rbf, TunedKernel::Laplace] } else { self.kernels.clone() };
        let learners = if self.learners.is_empty() { vec![TunedLearner::Ridge] } else { self.learners.clone() };
        let preprocess = if self.preprocess.is_empty() { vec![Preprocess::Auto] } else { self.preprocess.clone() };
        let means = if self.means.is_empty() { vec![MeansName::Landmarks] } else { self.means.clone() };
        let mut contenders = Vec::new();
        for learner in &learners {
            contenders.push(Contender::linear(learner.loss()));
            for &scaling in &preprocess {
                for kernel in &kernels {
                    let widths = if kernel.has_width() { or(&self.widths, &[0.25, 1.0, 4.0]) } else { vec![1.0] };
                    for width in widths {
                        contenders.extend(means.iter().map(|means| Contender {
                            preprocess: PreprocessSpec::from(scaling),
                            kernel: kernel.family(),
                            width,
                            means: means.means(),
                            balanced: false,
                            loss: learner.loss(),
                            class_weight: ClassWeight::Uniform,
                            penalty: 1.0,
                        }));
                    }
                }
            }
        }
        Ok(contenders)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TunedKernel {
    Rbf,
    Laplace,
    /// Matérn of smoothness 3/2
    Matern,
    Cauchy,
    /// Polynomial of degree 2
    Poly2,
    /// Polynomial of degree 3
    Poly3,
    ArcCosine,
    Chi2,
    Tanimoto,
}

impl TunedKernel {
    fn family(self) -> KernelFamily {
        match self {
            Self::Rbf => KernelFamily::Rbf,
            Self::Laplace => KernelFamily::Laplace,
            Self::Matern => KernelFamily::Matern { nu: 1.5 },
            Self::Cauchy => KernelFamily::Cauchy,
            Self::Poly2 => KernelFamily::Polynomial { degree: 2, c: 1.0 },
            Self::Poly3 => KernelFamily::Polynomial { degree: 3, c: 1.0 },
            Self::ArcCosine => KernelFamily::ArcCosine { degree: 1 },
            Self::Chi2 => KernelFamily::ExponentialChi2,
            Self::Tanimoto => KernelFamily::Tanimoto,
        }
    }

    fn has_width(self) -> bool {
        self.family().has_gamma()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TunedLearner {
    Ridge,
    Svm,
    Softmax,
    Logistic,
    Huber,
    Svr,
}

impl TunedLearner {
    fn loss(self) -> Loss {
        match self {
            Self::Ridge => Loss::Squared,
            Self::Svm => Loss::SquaredHinge,
            Self::Softmax => Loss::Softmax,
            Self::Logistic => Loss::Logistic,
            Self::Huber => Loss::Huber { delta: 0.5 },
            Self::Svr => Loss::SquaredEpsilonInsensitive { epsilon: 0.1 },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeansName {
    /// Kernel values with rows of the data
    Landmarks,
    /// Waves and products of Walsh-Hadamard transforms
    Transforms,
}

impl MeansName {
    fn means(self) -> Means {
        match self {
            Self::Landmarks => Means::Landmarks,
            Self::Transforms => Means::Transforms,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    /// Many on few rows, the best of them on more rows with more features
    Halving,
    /// The same in an order by chance: for spaces that --trials does not cover
    Random,
    /// Each once, on all rows
    Grid,
}
