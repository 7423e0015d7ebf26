//! How good predictions and approximations are.
//!
//! [`ConfusionMatrix`], [`ProbabilityScores`] and [`RegressionScores`] are statistics: they `add` panels of rows,
//! `merge` with those of other threads, files or machines, and give a report at the end; [`wilson`] and its like give the
//! confidence intervals of scores. [`approximation`] compares a
//! feature map with its kernel on a sample, [`distortion`] only the distances. Methods over several data sets are
//! compared by [`friedman`] and its post-hoc [`Comparison`]s, the dependence of samples is told by
//! [`distance_correlations`]. Every report is plain data that serde writes and reads.

mod approximation;
mod classification;
mod comparisons;
mod dependence;
mod distortion;
mod friedman;
mod intervals;
mod moments;
mod probabilities;
mod regression;
mod tails;

pub use approximation::{ApproximationReport, KernelError, approximation, kernel_error};
pub use classification::{ClassScores, ClassificationReport, ConfusionMatrix};
pub use comparisons::{Adjustment, Comparison};
pub use dependence::{distance_correlations, distance_correlations_of_columns};
pub use distortion::{DistanceDistortion, distance_distortion, distortion};
pub use friedman::{Best, FriedmanReport, friedman};
pub use intervals::{Interval, RegressionIntervals, regression_intervals, wilson};
pub use moments::Moments;
pub use probabilities::{ConfidenceBin, ProbabilityReport, ProbabilityScores};
pub use regression::{RegressionReport, RegressionScores, TargetScores};

use ndarray::ArrayView2;

use crate::{Error, Result};

/// Scores of values that are not finite would not be either.
fn check_finite(x: ArrayView2<'_, f64>) -> Result<()> {
    match x.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some(((row, input), &value)) => Err(Error::NotFinite { row: row as u64, input, value }),
    }
}

/// Approximate values have a place for each exact one, and all are finite.
fn check_same_shape(exact: ArrayView2<'_, f64>, approximate: ArrayView2<'_, f64>) -> Result<()> {
    if exact.dim() != approximate.dim() {
        let ((m, n), (k, l)) = (exact.dim(), approximate.dim());
        return Err(Error::Targets(format!("approximation is {k} × {l}, expected {m} × {n}")));
    }
    check_finite(exact)?;
    check_finite(approximate)
}
