//! Flags of the learner.

use clap::{Args, ValueEnum};
use mercer::dataset::Task;
use mercer::learners::{ClassWeight, Lambda, LearnerSpec, Loss, Solver, Stopping};
use mercer::pipeline::PipelineSpec;

use super::MapArgs;
use super::model::refuse;
use super::whole;
use crate::failure::Failure;

/// What is learned from the features.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArgs {
    /// Linear model
    #[arg(long, value_enum, default_value_t = Learner::Ridge)]
    pub(crate) learner: Learner,
    /// Loss of a support vector machine [default: squared-hinge]
    #[arg(long, value_enum)]
    pub(crate) loss: Option<SvmLoss>,
    /// Weight of the penalty beside the mean loss: a number, or auto (the best of a few on rows held out)
    #[arg(long, default_value_t = Lambda::Auto, allow_negative_numbers = true)]
    pub(crate) lambda: Lambda,
    /// The same as lambda = 1 / (2 C rows): what a row's loss counts beside half the squared weights
    #[arg(id = "C", long = "C", value_name = "C", conflicts_with = "lambda", allow_negative_numbers = true)]
    pub(crate) c: Option<f64>,
    /// What rows count: all alike, or all classes alike
    #[arg(long, value_enum, default_value_t = ClassWeightName::Uniform)]
    pub(crate) class_weight: ClassWeightName,
    /// Of huber: where a residual stops to count as its square, in spreads of the target (1.48 × the median deviation)
    /// [default: 0.5]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) delta: Option<f64>,
    /// Of svr: residuals that cost nothing, in spreads of the target [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// Learn no intercept
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// How the minimum is found; by the learner and the sizes if not given
    #[arg(long, value_enum, default_value_t = SolverName::Auto)]
    pub(crate) solver: SolverName,
    /// Passes over the rows at most [default: 500, of sgd 10]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) max_iter: Option<usize>,
    /// Distance from the minimum to stop at, as a share of its value
    #[arg(long, default_value_t = 1e-4, allow_negative_numbers = true)]
    pub(crate) tol: f64,
    /// What to learn; found by the targets if not given
    #[arg(long, value_enum)]
    pub(crate) task: Option<TaskName>,
    /// Cross-validate with K folds: scores, and the choice of lambda
    #[arg(long, value_name = "K", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) cv: Option<usize>,
    /// Let the model give probabilities of classes, too: fits a sigmoid to the scores of rows held out. Of softmax and
    /// logistic they come without it
    #[arg(long)]
    pub(crate) probabilities: bool,
}

impl LearnerArgs {
    /// The penalty as asked for.
    pub(crate) fn lambda(&self) -> Lambda {
        self.c.map_or(self.lambda, Lambda::OfC)
    }

    pub(crate) fn pipeline(&self, map: &MapArgs) -> Result<PipelineSpec, Failure> {
        Ok(PipelineSpec {
            preprocess: map.preprocess.into(),
            map: map.spec()?,
            learner: self.spec()?,
            task: self.task.map(Into::into),
            cv: self.cv,
            probabilities: self.probabilities,
            seed: map.seed,
        })
    }

    fn spec(&self) -> Result<LearnerSpec, Failure> {
        refuse("--loss", self.loss.is_some() && self.learner != Learner::Svm, "--learner svm")?;
        refuse("--delta", self.delta.is_some() && self.learner != Learner::Huber, "--learner huber")?;
        refuse("--epsilon", self.epsilon.is_some() && self.learner != Learner::Svr, "--learner svr")?;
        let loss = match self.learner {
            Learner::Ridge => Loss::Squared,
            Learner::Svm => match self.loss.unwrap_or(SvmLoss::SquaredHinge) {
                SvmLoss::SquaredHinge => Loss::SquaredHinge,
                SvmLoss::Hinge => Loss::Hinge,
            },
            Learner::Softmax => Loss::Softmax,
            Learner::Logistic => Loss::Logistic,
            Learner::Huber => Loss::Huber { delta: self.delta.unwrap_or(0.5) },
            Learner::Svr => Loss::SquaredEpsilonInsensitive { epsilon: self.epsilon.unwrap_or(0.1) },
        };
        let max_iter = if self.solver == SolverName::Sgd { 10 } else { Stopping::default().max_iter };
        Ok(LearnerSpec {
            loss,
            lambda: self.lambda(),
            class_weight: match self.class_weight {
                ClassWeightName::Uniform => ClassWeight::Uniform,
                ClassWeightName::Balanced => ClassWeight::Balanced,
            },
            intercept: !self.no_intercept,
            solver: match self.solver {
                SolverName::Auto => Solver::Auto,
                SolverName::Direct => Solver::Direct,
                SolverName::Iterative => Solver::Iterative,
                SolverName::Dual => Solver::Dual,
                SolverName::Sgd => Solver::Sgd,
            },
            stopping: Stopping { tol: self.tol, max_iter: self.max_iter.unwrap_or(max_iter) },
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Learner {
    /// Least squares with a penalty
    Ridge,
    /// Support vector machine, one class against the rest
    Svm,
    /// Logistic regression, all classes together
    Softmax,
    /// Logistic regression, one class against the rest
    Logistic,
    /// Regression that outliers do not bend
    Huber,
    /// Support vector regression
    Svr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SvmLoss {
    /// max(0, 1 - margin)^2
    SquaredHinge,
    /// max(0, 1 - margin)
    Hinge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassWeightName {
    /// Every row counts one
    Uniform,
    /// Rows of rare classes count more
    Balanced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolverName {
    Auto,
    /// Of ridge: sums of one pass and a factor of features squared
    Direct,
    /// Passes over the features, any number of them
    Iterative,
    /// Of svm: coordinate descent on the rows, which penalises the intercept too
    Dual,
    /// A few epochs of averaged stochastic gradients, about to the minimum. Features beyond --memory are not kept, and
    /// shuffled within panels of rows only: shuffle files that are sorted by class
    Sgd,
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
