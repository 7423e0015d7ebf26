//! Flags of the model: scaling, map, learner.

use clap::{Args, ValueEnum};
use mercer::Dtype;
use mercer::dataset::Task;
use mercer::feature_maps::{Gamma, MapSpec};
use mercer::learners::{Lambda, LearnerSpec};
use mercer::pipeline::PipelineSpec;
use mercer::preprocess::PreprocessSpec;

use super::whole;

/// What the features are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct MapArgs {
    /// Feature map
    #[arg(long, value_enum, default_value_t = Map::Fourier)]
    pub(crate) map: Map,
    /// Number of features: more are more accurate, and slower
    #[arg(long, value_name = "D", default_value_t = 4096, value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) n_components: usize,
    /// Width of the kernel, larger is narrower: a number, scale (1/(inputs × variance)) or median (of the distances)
    #[arg(long, default_value_t = Gamma::Scale, allow_negative_numbers = true)]
    pub(crate) gamma: Gamma,
    /// Of a sparse projection: one entry in S is not zero
    #[arg(long, value_name = "S", default_value_t = 3.0, allow_negative_numbers = true)]
    pub(crate) s: f64,
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

impl MapArgs {
    pub(crate) fn spec(&self) -> MapSpec {
        let n_components = self.n_components;
        match self.map {
            Map::Fourier => MapSpec::Fourier { n_components, gamma: self.gamma },
            Map::GaussianProjection => MapSpec::GaussianProjection { n_components },
            Map::SparseProjection => MapSpec::SparseProjection { n_components, s: self.s },
        }
    }
}

/// What is learned from the features.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArgs {
    /// Linear model
    #[arg(long, value_enum, default_value_t = Learner::Ridge)]
    pub(crate) learner: Learner,
    /// Weight of the penalty: a number, or auto (the best of a few on rows held out)
    #[arg(long, default_value_t = Lambda::Auto, allow_negative_numbers = true)]
    pub(crate) lambda: Lambda,
    /// What to learn; found by the targets if not given
    #[arg(long, value_enum)]
    pub(crate) task: Option<TaskName>,
    /// Cross-validate with K folds: scores, and the choice of lambda
    #[arg(long, value_name = "K", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) cv: Option<usize>,
}

impl LearnerArgs {
    pub(crate) fn pipeline(&self, map: &MapArgs) -> PipelineSpec {
        let learner = match self.learner {
            Learner::Ridge => LearnerSpec::Ridge { lambda: self.lambda },
        };
        PipelineSpec {
            preprocess: map.preprocess.into(),
            map: map.spec(),
            learner,
            task: self.task.map(Into::into),
            cv: self.cv,
            seed: map.seed,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Map {
    /// Random Fourier features of the RBF kernel
    Fourier,
    /// Random projection with normal entries: fewer coordinates, the same inner products
    GaussianProjection,
    /// Random projection with few entries
    SparseProjection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Learner {
    /// Least squares with a penalty
    Ridge,
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
pub(crate) enum TaskName {
    Classification,
    Regression,
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::Classification => Self::Classification,
            TaskName::Regression => Self::Regression,
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
