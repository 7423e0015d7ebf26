//! Linear models on features: a loss, a penalty, and four ways to the minimum.
//!
//! | solver | for | how |
//! |---|---|---|
//! | [`Solver::Direct`] | squared loss, D up to thousands | sums of one pass, a Cholesky factor: [`RidgeStatistics`] |
//! | [`Solver::Iterative`] | every smooth loss, any D | passes, L-BFGS preconditioned by a sample of rows |
//! | [`Solver::Dual`] | hinge and squared hinge, features that fit memory | coordinate descent: [`solve_dual`] |
//! | [`Solver::Sgd`] | every loss, about; rows without end | stochastic gradients: [`AveragedSgd`] |
//!
//! [`OnlineLearner`] learns from rows as they come.

mod calibration;
mod cholesky;
mod cross;
mod dual;
mod iterative;
mod lambda;
mod lbfgs;
mod linear;
mod loss;
mod online;
mod preconditioner;
mod ridge;
mod ridge_rows;
mod rows;
mod tiles;

pub use calibration::{Link, Sigmoid};
pub use dual::{DualLoss, DualParams, DualSolution, solve_dual};
pub use iterative::{Convergence, Objective, Stopping};
pub(crate) use iterative::{Passes, RowTargets, minimize};
pub use lambda::Lambda;
pub(crate) use lbfgs::STEPS_KEPT;
pub use linear::LinearModel;
pub use loss::Loss;
pub use online::{AveragedSgd, OnlineLearner, OnlineRidge};
pub(crate) use online::{check_finite, check_targets};
pub(crate) use preconditioner::{AllRows, Diagonal, Newton, Preconditioner, Sampled, Scheme};
pub use ridge::{RidgeStatistics, RidgeSystem};
pub use ridge_rows::RidgeRows;

use serde::{Deserialize, Serialize};

use crate::dataset::Task;
use crate::{Error, Result};

/// More features than this are not summed into a square matrix, unless asked for.
pub(crate) const MOST_DIRECT: usize = 4096;

/// More features of few rows than this are not kept in f64 by the direct solver, unless asked for.
const MOST_KEPT: u64 = 1 << 27;

/// A learner as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerSpec {
    /// what a wrong score costs
    pub loss: Loss,
    /// weight of the penalty
    pub lambda: Lambda,
    /// what rows of a class count
    pub class_weight: ClassWeight,
    /// whether scores have an intercept
    pub intercept: bool,
    /// how the minimum is found
    pub solver: Solver,
    /// when an iteration ends
    pub stopping: Stopping,
}

/// A learner in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedLearner {
    /// what a wrong score costs
    pub loss: Loss,
    /// weight of the penalty
    pub lambda: f64,
    /// what rows of a class count
    pub class_weight: ClassWeight,
    /// whether scores have an intercept
    pub intercept: bool,
    /// how the minimum was found: never `auto`
    pub solver: Solver,
}

/// What a row counts, by its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeight {
    /// Every row alike.
    #[default]
    Uniform,
    /// Every class alike: n / (classes × rows of the class).
    Balanced,
}

/// How the minimum is found: see the module's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Solver {
    /// By the loss and the sizes.
    #[default]
    Auto,
    /// Sums of one pass and a factor.
    Direct,
    /// Passes.
    Iterative,
    /// Coordinate descent on the rows; the intercept is penalised like the weights.
    Dual,
    /// Epochs of stochastic gradients, averaged: never chosen by itself. Each epoch counts as a pass; ten or so are
    /// enough.
    Sgd,
}

impl LearnerSpec {
    /// A ridge model.
    pub fn ridge(lambda: Lambda) -> Self {
        Self::new(Loss::Squared, lambda)
    }

    /// With every choice left to the data.
    pub fn new(loss: Loss, lambda: Lambda) -> Self {
        Self {
            loss,
            lambda,
            class_weight: ClassWeight::Uniform,
            intercept: true,
            solver: Solver::Auto,
            stopping: Stopping::default(),
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        self.loss.validate()?;
        self.lambda.validate()?;
        self.stopping.validate()?;
        let plain = self.loss == Loss::Squared && self.intercept && self.class_weight == ClassWeight::Uniform;
        if self.solver == Solver::Direct && !plain {
            let expected = "auto, iterative or sgd but for ridge with an intercept and uniform class weights";
            return Err(Error::parameter("solver", "direct", expected));
        }
        if self.solver == Solver::Dual && !matches!(self.loss, Loss::Hinge | Loss::SquaredHinge) {
            return Err(Error::parameter("solver", "dual", "auto, iterative or sgd but for support vector machines"));
        }
        if self.solver == Solver::Iterative && self.loss == Loss::Hinge {
            return Err(Error::parameter(
                "solver",
                "iterative",
                "auto, dual or sgd for the hinge loss, which has a kink",
            ));
        }
        Ok(())
    }

    /// The solver for these sizes: never `auto`.
    pub fn solver_for(&self, n_rows: u64, n_components: usize) -> Solver {
        let plain = self.loss == Loss::Squared && self.intercept && self.class_weight == ClassWeight::Uniform;
        let few_rows = RidgeRows::suit(n_rows, n_components)
            && n_rows <= MOST_DIRECT as u64
            && n_rows.saturating_mul(n_components as u64) <= MOST_KEPT;
        match self.solver {
            Solver::Auto if plain && (n_components <= MOST_DIRECT || few_rows) => Solver::Direct,
            Solver::Auto if self.loss == Loss::Hinge => Solver::Dual,
            Solver::Auto => Solver::Iterative,
            given => given,
        }
    }

    /// Checks that targets of this kind can be learned.
    ///
    /// # Errors
    /// [`Error::Parameter`] when they cannot.
    pub fn check_task(&self, task: Task) -> Result<()> {
        if !self.loss.suits(task) {
            let expected = match task {
                Task::Classification => "ridge, svm, logistic or softmax for classes",
                Task::Regression => "ridge, huber or svr for real values",
            };
            return Err(Error::parameter("learner", self.loss.learner(), expected));
        }
        if task == Task::Regression && self.class_weight != ClassWeight::Uniform {
            return Err(Error::parameter("class_weight", "balanced", "uniform for real values"));
        }
        Ok(())
    }
}
