//! Learners that take rows as they come: each call of `partial_fit` goes on from the last, and states of different rows
//! can be merged.
//!
//! | learner | for | a split into batches changes | a merge is |
//! |---|---|---|---|
//! | [`AveragedSgd`] | every loss; memory of D·k | nothing: the same bits | close to one run over all rows |
//! | [`OnlineRidge`] | squared loss; memory of D² | rounding | the sums of all rows |

mod ridge;
mod schedule;
mod sgd;

pub use ridge::OnlineRidge;
pub use sgd::AveragedSgd;

use mercer_simd::Scalar;
use ndarray::{ArrayView1, ArrayView2};

use super::LinearModel;
use crate::dataset::Rows;
use crate::{Error, Result};

/// A learner of either kind, of one face.
#[derive(Clone, Debug)]
pub enum OnlineLearner {
    /// Stochastic gradients.
    Sgd(AveragedSgd),
    /// Sums of products.
    Ridge(OnlineRidge),
}

impl OnlineLearner {
    /// Learns from more rows; on an error nothing was learned.
    ///
    /// # Errors
    /// As [`AveragedSgd::partial_fit`] and [`OnlineRidge::partial_fit`].
    pub fn partial_fit<T: Scalar>(
        &mut self,
        rows: Rows<'_, T>,
        targets: ArrayView2<'_, T>,
        weights: Option<ArrayView1<'_, T>>,
    ) -> Result<()> {
        match self {
            Self::Sgd(sgd) => sgd.partial_fit(rows, targets, weights),
            Self::Ridge(ridge) => ridge.partial_fit(rows, targets, weights),
        }
    }

    /// Takes over what `other` learned from other rows.
    ///
    /// # Errors
    /// [`Error::Parameter`] when the learners are not of the same kind, parameters and sizes.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Sgd(sgd), Self::Sgd(other)) => sgd.merge(other),
            (Self::Ridge(ridge), Self::Ridge(other)) => ridge.merge(other),
            _ => Err(Error::parameter("merge", "a learner of another kind", "a learner of the same kind")),
        }
    }

    /// What was learned.
    ///
    /// # Errors
    /// As [`AveragedSgd::model`] and [`OnlineRidge::model`].
    pub fn model<T: Scalar>(&self) -> Result<LinearModel<T>> {
        match self {
            Self::Sgd(sgd) => sgd.model(),
            Self::Ridge(ridge) => ridge.model(),
        }
    }

    /// Rows learned from.
    pub fn n_rows(&self) -> u64 {
        match self {
            Self::Sgd(sgd) => sgd.n_rows(),
            Self::Ridge(ridge) => ridge.n_rows(),
        }
    }
}

/// Refuses rows and targets that do not fit the learner or are not finite.
fn check<T: Scalar>(
    rows: Rows<'_, T>,
    targets: ArrayView2<'_, T>,
    (n_components, n_outputs): (usize, usize),
) -> Result<()> {
    if rows.n_inputs() != n_components {
        let context = "partial_fit".to_owned();
        return Err(Error::Inputs { context, got: rows.n_inputs(), expected: n_components });
    }
    let expected = (rows.n_rows(), n_outputs);
    if targets.dim() != expected {
        let got = targets.dim();
        return Err(Error::Targets(format!("targets are {got:?}, rows and outputs are {expected:?}")));
    }
    check_finite(rows)?;
    check_targets(targets)
}

/// Refuses targets that are not finite.
pub(crate) fn check_targets<T: Scalar>(targets: ArrayView2<'_, T>) -> Result<()> {
    match targets.indexed_iter().find(|(_, y)| !y.is_finite()) {
        Some(((row, _), y)) => {
            Err(Error::Targets(format!("the target of row {row} is {y}; every target must be finite")))
        }
        None => Ok(()),
    }
}

/// Refuses values that are not finite.
pub(crate) fn check_finite<T: Scalar>(rows: Rows<'_, T>) -> Result<()> {
    let is_bad = |value: &T| !value.is_finite();
    let found = match rows {
        Rows::Dense(x) => x.indexed_iter().find(|(_, value)| is_bad(value)).map(|(at, &value)| (at, value)),
        Rows::Sparse(x) => (0..x.n_rows())
            .find_map(|i| x.row(i).find(|(_, value)| is_bad(value)).map(|(input, value)| ((i, input), value))),
    };
    let Some(((row, input), value)) = found else { return Ok(()) };
    Err(Error::NotFinite { row: row as u64, input, value: value.to_f64() })
}
