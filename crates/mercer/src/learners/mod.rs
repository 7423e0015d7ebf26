//! Linear models on features.

mod cholesky;
mod dual;
mod linear;
mod ridge;
mod ridge_rows;
mod tiles;

pub use dual::{DualLoss, DualParams, DualSolution, solve_dual};
pub use linear::LinearModel;
pub use ridge::{Lambda, RidgeStatistics, RidgeSystem};
pub use ridge_rows::RidgeRows;

use serde::{Deserialize, Serialize};

use crate::Result;

/// A learner as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum LearnerSpec {
    /// Least squares with a penalty: [`RidgeStatistics`].
    Ridge {
        /// weight of the penalty
        lambda: Lambda,
    },
}

impl LearnerSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Ridge { lambda } => lambda.validate(),
        }
    }
}
