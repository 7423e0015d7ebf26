//! Scores of predicted numbers, in one pass, for any number of targets.
//!
//! For one target, with truths t, predictions p and n rows:
//!
//! | score | definition |
//! |---|---|
//! | RMSE | √(Σ(t−p)²/n) |
//! | MAE | Σ\|t−p\|/n |
//! | R² | 1 − Σ(t−p)²/Σ(t−mean t)²; of a constant target: 1 where every prediction is exact, 0 otherwise |
//!
//! The scores of several targets are the means of theirs. All as scikit-learn's defaults, but for one row, of which
//! scikit-learn gives no R²: it is a constant target here.
//!
//! Σ(t−mean t)² is updated row by row as Welford (1962) does and merged as Chan, Golub and others (1979) do, so that
//! targets far from zero lose no digits and a constant target has exactly 0. Merging gives the scores of one pass up
//! to rounding.
//!
//! ```
//! use mercer::metrics::RegressionScores;
//! use ndarray::array;
//!
//! let mut scores = RegressionScores::new(1)?;
//! scores.add(array![[1.0], [3.0]].view(), array![[1.0], [2.0]].view())?;
//! let report = scores.report()?;
//! assert_eq!((report.mae, report.r2), (0.5, 0.5));
//! # Ok::<(), mercer::Error>(())
//! ```

use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

use super::check_finite;
use crate::{Error, Result};

/// What the scores need to know of the rows seen so far.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionScores {
    n_rows: u64,
    targets: Vec<TargetSums>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TargetSums {
    /// mean t
    mean: f64,
    /// Σ(t−mean t)²
    deviation: f64,
    /// Σ(t−p)²
    squared_error: f64,
    /// Σ|t−p|
    absolute_error: f64,
}

/// The scores of [`RegressionScores`], the means over the targets first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegressionReport {
    /// Rows that were scored.
    pub n_rows: u64,
    /// Root of the mean squared error, in units of the target.
    pub rmse: f64,
    /// Mean absolute error, in units of the target.
    pub mae: f64,
    /// Part of the variance explained: 1 is perfect, 0 as good as the mean.
    pub r2: f64,
    /// One entry for each target.
    pub targets: Vec<TargetScores>,
}

/// The scores of one target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetScores {
    /// Root of the mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Part of the variance explained.
    pub r2: f64,
}

impl RegressionScores {
    /// No rows yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] when there is no target.
    pub fn new(n_targets: usize) -> Result<Self> {
        if n_targets == 0 {
            return Err(Error::parameter("n_targets", 0, "at least 1"));
        }
        Ok(Self { n_rows: 0, targets: vec![TargetSums::default(); n_targets] })
    }

    /// Adds rows by their true and predicted targets, both `n_rows` × `n_targets`.
    ///
    /// # Errors
    /// [`Error::Targets`] when a shape is another, [`Error::NotFinite`] for a value that is not finite (its row
    /// counted within this panel, its target as the input); nothing is added then.
    pub fn add(&mut self, truth: ArrayView2<'_, f64>, predicted: ArrayView2<'_, f64>) -> Result<()> {
        let expected = (truth.nrows(), self.targets.len());
        for (name, (n_rows, n_targets)) in [("truths", truth.dim()), ("predictions", predicted.dim())] {
            if (n_rows, n_targets) != expected {
                let (rows, targets) = expected;
                let text = format!("{name} are {n_rows} rows × {n_targets} targets, expected {rows} × {targets}");
                return Err(Error::Targets(text));
            }
        }
        check_finite(truth)?;
        check_finite(predicted)?;
        for (truth, predicted) in truth.outer_iter().zip(predicted.outer_iter()) {
            self.n_rows += 1;
            for ((sums, &truth), &predicted) in self.targets.iter_mut().zip(truth).zip(predicted) {
                sums.add(self.n_rows as f64, truth, predicted);
            }
        }
        Ok(())
    }

    /// Adds the rows of `other`.
    ///
    /// # Errors
    /// [`Error::Targets`] when it has another number of targets.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.targets.len() != other.targets.len() {
            let (ours, theirs) = (self.targets.len(), other.targets.len());
            return Err(Error::Targets(format!("scores of {ours} and {theirs} targets cannot be merged")));
        }
        if other.n_rows > 0 {
            for (sums, others) in self.targets.iter_mut().zip(&other.targets) {
                sums.merge(self.n_rows as f64, others, other.n_rows as f64);
            }
            self.n_rows += other.n_rows;
        }
        Ok(())
    }

    /// Number of rows added.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Every score.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when there are no rows.
    pub fn report(&self) -> Result<RegressionReport> {
        if self.n_rows == 0 {
            return Err(Error::TooFewRows { context: "the evaluation".into(), got: 0, expected: 1 });
        }
        let targets: Vec<TargetScores> = self.targets.iter().map(|sums| sums.scores(self.n_rows as f64)).collect();
        let mean = |score: fn(&TargetScores) -> f64| targets.iter().map(score).sum::<f64>() / targets.len() as f64;
        Ok(RegressionReport {
            n_rows: self.n_rows,
            rmse: mean(|target| target.rmse),
            mae: mean(|target| target.mae),
            r2: mean(|target| target.r2),
            targets,
        })
    }
}

impl TargetSums {
    /// Adds row number `n`, counted from 1.
    fn add(&mut self, n: f64, truth: f64, predicted: f64) {
        let from_old_mean = truth - self.mean;
        self.mean += from_old_mean / n;
        self.deviation += from_old_mean * (truth - self.mean);
        self.squared_error += (truth - predicted).powi(2);
        self.absolute_error += (truth - predicted).abs();
    }

    fn merge(&mut self, n: f64, other: &Self, n_other: f64) {
        let (between, part) = (other.mean - self.mean, n_other / (n + n_other));
        self.mean += between * part;
        self.deviation += other.deviation + between.powi(2) * n * part;
        self.squared_error += other.squared_error;
        self.absolute_error += other.absolute_error;
    }

    fn scores(&self, n: f64) -> TargetScores {
        let r2 = match (self.deviation > 0.0, self.squared_error > 0.0) {
            (true, _) => 1.0 - self.squared_error / self.deviation,
            (false, exact_missed) => f64::from(!exact_missed),
        };
        TargetScores { rmse: (self.squared_error / n).sqrt(), mae: self.absolute_error / n, r2 }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array, s};

    use super::*;

    #[test]
    fn by_hand() {
        let mut scores = RegressionScores::new(2).unwrap();
        scores.add(array![[1.0, 10.0], [2.0, 20.0]].view(), array![[1.0, 12.0], [2.0, 16.0]].view()).unwrap();
        scores.add(array![[6.0, 30.0]].view(), array![[3.0, 30.0]].view()).unwrap();
        let report = scores.report().unwrap();
        assert_eq!(report.n_rows, 3);
        assert_eq!(report.targets[0], TargetScores { rmse: 3.0_f64.sqrt(), mae: 1.0, r2: 1.0 - 9.0 / 14.0 });
        assert_eq!(report.targets[1], TargetScores { rmse: (20.0_f64 / 3.0).sqrt(), mae: 2.0, r2: 0.9 });
        assert_eq!(report.mae, 1.5);
        assert_eq!(report.r2, (1.0 - 9.0 / 14.0 + 0.9) / 2.0);
    }

    #[test]
    fn constant_targets() {
        let truth = Array2::from_elem((7, 2), 0.1);
        let mut predicted = truth.clone();
        predicted[[3, 1]] = 0.2;
        let mut scores = RegressionScores::new(2).unwrap();
        for i in 0..7 {
            let mut one = RegressionScores::new(2).unwrap();
            one.add(truth.slice(s![i..=i, ..]), predicted.slice(s![i..=i, ..])).unwrap();
            scores.merge(&one).unwrap();
        }
        let report = scores.report().unwrap();
        assert_eq!((report.targets[0].r2, report.targets[1].r2), (1.0, 0.0));
    }

    #[test]
    fn merging_is_one_pass() {
        let truth = Array2::from_shape_fn((100, 3), |(i, j)| 1e6 + ((i * 37 + j * 11) % 101) as f64 / 7.0);
        let predicted = truth.mapv(|t| t + (t * 5.0).sin());
        let mut whole = RegressionScores::new(3).unwrap();
        whole.add(truth.view(), predicted.view()).unwrap();
        for cut in [0, 1, 42, 100] {
            let [mut first, mut second] = std::array::from_fn(|_| RegressionScores::new(3).unwrap());
            first.add(truth.slice(s![..cut, ..]), predicted.slice(s![..cut, ..])).unwrap();
            second.add(truth.slice(s![cut.., ..]), predicted.slice(s![cut.., ..])).unwrap();
            first.merge(&second).unwrap();
            let (got, expected) = (first.report().unwrap(), whole.report().unwrap());
            assert_eq!(got.n_rows, expected.n_rows);
            for (got, expected) in [(got.rmse, expected.rmse), (got.mae, expected.mae), (got.r2, expected.r2)] {
                assert!((got - expected).abs() < 1e-10, "cut at {cut}: {got} for {expected}");
            }
        }
    }

    /// Σt² − n·mean² would have no right digit here.
    #[test]
    fn targets_far_from_zero() {
        let truth = Array2::from_shape_fn((1000, 1), |(i, _)| 1e9 + (i % 2) as f64);
        let mut scores = RegressionScores::new(1).unwrap();
        scores.add(truth.view(), Array2::from_elem((1000, 1), 1e9 + 0.5).view()).unwrap();
        assert!(scores.report().unwrap().r2.abs() < 1e-6);
    }

    #[test]
    fn rejects_what_it_cannot_score() {
        assert!(matches!(RegressionScores::new(0), Err(Error::Parameter { name: "n_targets", .. })));
        let mut scores = RegressionScores::new(1).unwrap();
        assert!(matches!(scores.report(), Err(Error::TooFewRows { got: 0, .. })));
        let (one, two) = (array![[1.0]], array![[1.0], [2.0]]);
        assert!(matches!(scores.add(one.view(), two.view()), Err(Error::Targets(_))));
        assert!(matches!(scores.add(two.t(), two.t()), Err(Error::Targets(_))));
        let bad = array![[1.0], [f64::NAN]];
        assert!(matches!(scores.add(two.view(), bad.view()), Err(Error::NotFinite { row: 1, input: 0, .. })));
        assert!(matches!(scores.merge(&RegressionScores::new(2).unwrap()), Err(Error::Targets(_))));
        assert_eq!(scores, RegressionScores::new(1).unwrap(), "a rejected panel leaves no trace");
    }
}
