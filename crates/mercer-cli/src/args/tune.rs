//! Flags of `mercer tune`.

use clap::{Args, ValueEnum};
use mercer::kernels::KernelFamily;
use mercer::learners::{ClassWeight, Loss};
use mercer::preprocess::PreprocessSpec;
use mercer::random::{Purpose, Stream};
use mercer::selection::{Contender, Means, Strategy};

use super::{
    ColumnArgs, DtypeName, EncodingArgs, LimitArgs, Preprocess, ReadingArgs, RowsArgs, RunArgs, TaskName, byte_count,
    whole,
};

const EXAMPLES: &str = "\
Examples:
  mercer tune iris.csv                                   what --auto would train, and why
  mercer tune iris.csv --kernels rbf,laplace --widths 0.25,1,4 --strategy grid
  mercer tune iris.csv --kernels rbf,poly --widths 0.05..20 --degrees 2,3 --strategy random --trials 40
  mercer tune w8a.gz --learners svm,logistic --class-weights uniform,balanced --json

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
    /// Widths in units of the rule scale, with commas between them, or a range such as 0.05..20, of which --strategy random
    /// takes any and the others five [default: 0.25,1,4]
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    widths: Vec<String>,
    /// Degrees of the polynomial kernel, with commas between them [default: 2]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=20))]
    degrees: Vec<u32>,
    /// Learners, with commas between them [default: ridge]
    #[arg(long, value_enum, value_delimiter = ',')]
    learners: Vec<TunedLearner>,
    /// Scalings of the inputs, with commas between them [default: auto]
    #[arg(long, value_enum, value_delimiter = ',')]
    preprocess: Vec<Preprocess>,
    /// Weights of classes, with commas between them [default: uniform]
    #[arg(long, value_enum, value_delimiter = ',')]
    class_weights: Vec<TunedWeights>,
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

    /// Every combination, or by chance as many as are asked for; none where nothing was said.
    ///
    /// # Errors
    /// What is no width.
    pub(crate) fn contenders(&self, seed: u64, trials: Option<usize>) -> Result<Vec<Contender>, String> {
        let widths = Widths::parse(&self.widths)?;
        let nothing = self.kernels.is_empty() && self.widths.is_empty() && self.learners.is_empty();
        let nothing = nothing && self.degrees.is_empty() && self.class_weights.is_empty();
        if nothing && self.preprocess.is_empty() && self.means.is_empty() && self.strategy != StrategyName::Grid {
            return Ok(Vec::new());
        }
        let mut contenders: Vec<Contender> = or(&self.learners, &[TunedLearner::Ridge])
            .iter()
            .map(|learner| Contender::linear(learner.loss()))
            .collect();
        let kernels = self.kernel_families();
        let others: Vec<Contender> = contenders.iter().flat_map(|linear| self.around(*linear)).collect();
        if let (StrategyName::Random, Widths::Range(low, high)) = (self.strategy, &widths) {
            let n = trials.unwrap_or(DRAWN).max(1);
            contenders.extend(drawn(&others, &kernels, (*low, *high), n, seed));
            return Ok(contenders);
        }
        for other in others {
            for &kernel in &kernels {
                let widths = if kernel.has_gamma() { widths.all() } else { vec![1.0] };
                contenders.extend(widths.into_iter().map(|width| Contender { kernel, width, ..other }));
            }
        }
        Ok(contenders)
    }

    fn kernel_families(&self) -> Vec<KernelFamily> {
        let degrees = or(&self.degrees, &[2]);
        let kernels = or(
            &self.kernels,
            if self.degrees.is_empty() { &[TunedKernel::Rbf, TunedKernel::Laplace] } else { &[TunedKernel::Poly] },
        );
        kernels.iter().flat_map(|kernel| kernel.families(&degrees)).collect()
    }

    /// Every scaling, weighting of classes and means, of a loss.
    fn around(&self, linear: Contender) -> Vec<Contender> {
        let mut all = Vec::new();
        for scaling in or(&self.preprocess, &[Preprocess::Auto]) {
            for weights in or(&self.class_weights, &[TunedWeights::Uniform]) {
                for means in or(&self.means, &[MeansName::Landmarks]) {
                    let (preprocess, class_weight) = (PreprocessSpec::from(scaling), weights.class_weight());
                    all.push(Contender { preprocess, class_weight, means: means.means(), ..linear });
                }
            }
        }
        all
    }
}

/// Pipelines drawn where neither --trials nor --time says how many.
const DRAWN: usize = 32;
/// Widths of a range that is not drawn from.
const STEPS: usize = 5;

fn or<V: Clone>(given: &[V], default: &[V]) -> Vec<V> {
    if given.is_empty() { default.to_vec() } else { given.to_vec() }
}

/// Pipelines by chance: any of the others, any kernel, and a width whose logarithm is uniform.
fn drawn(
    others: &[Contender],
    kernels: &[KernelFamily],
    (low, high): (f64, f64),
    n: usize,
    seed: u64,
) -> Vec<Contender> {
    let stream = Stream::new(seed, Purpose::Search);
    let draw = |i: usize| {
        let mut uniform = [0.0; 3];
        stream.lane(i).uniform_into(0, &mut uniform);
        let place = |u: f64, n: usize| ((u * n as f64) as usize).min(n - 1);
        let kernel = kernels[place(uniform[0], kernels.len())];
        let width = if kernel.has_gamma() { low * (high / low).powf(uniform[1]) } else { 1.0 };
        Contender { kernel, width, ..others[place(uniform[2], others.len())] }
    };
    (0..n).map(draw).collect()
}

/// Widths as they are asked for.
enum Widths {
    List(Vec<f64>),
    Range(f64, f64),
}

impl Widths {
    fn parse(words: &[String]) -> Result<Self, String> {
        let width = |word: &str| match word.trim().parse::<f64>() {
            Ok(width) if width > 0.0 && width.is_finite() => Ok(width),
            _ => Err(format!("--widths has {word}, must be numbers above 0, or a range such as 0.05..20")),
        };
        if let [word] = words
            && let Some((low, high)) = word.split_once("..")
        {
            let (low, high) = (width(low)?, width(high)?);
            let order = || format!("--widths has {word}, must be from a smaller to a larger number");
            return if low < high { Ok(Self::Range(low, high)) } else { Err(order()) };
        }
        let list: Result<Vec<f64>, String> = words.iter().map(|word| width(word)).collect();
        Ok(Self::List(or(&list?, &[0.25, 1.0, 4.0])))
    }

    fn all(&self) -> Vec<f64> {
        match self {
            Self::List(widths) => widths.clone(),
            Self::Range(low, high) => {
                (0..STEPS).map(|i| low * (high / low).powf(i as f64 / (STEPS - 1) as f64)).collect()
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TunedWeights {
    /// Every row counts the same
    Uniform,
    /// Every class counts the same
    Balanced,
}

impl TunedWeights {
    fn class_weight(self) -> ClassWeight {
        match self {
            Self::Uniform => ClassWeight::Uniform,
            Self::Balanced => ClassWeight::Balanced,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TunedKernel {
    Rbf,
    Laplace,
    /// Matérn of smoothness 3/2
    Matern,
    Cauchy,
    /// Polynomial of each of --degrees
    Poly,
    ArcCosine,
    Chi2,
    Tanimoto,
}

impl TunedKernel {
    fn families(self, degrees: &[u32]) -> Vec<KernelFamily> {
        vec![match self {
            Self::Poly => return degrees.iter().map(|&degree| KernelFamily::Polynomial { degree, c: 1.0 }).collect(),
            Self::Rbf => KernelFamily::Rbf,
            Self::Laplace => KernelFamily::Laplace,
            Self::Matern => KernelFamily::Matern { nu: 1.5 },
            Self::Cauchy => KernelFamily::Cauchy,
            Self::ArcCosine => KernelFamily::ArcCosine { degree: 1 },
            Self::Chi2 => KernelFamily::ExponentialChi2,
            Self::Tanimoto => KernelFamily::Tanimoto,
        }]
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
