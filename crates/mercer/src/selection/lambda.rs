//! λ chosen on rows that were not learned from.
//!
//! The sums of all rows are there already. For each validation fold the sums of its rows alone are streamed and taken
//! out; the rest is solved for every candidate λ; the fold's rows are streamed once more and scored for all of them
//! together. So k folds cost one more pass of sums and two more of features in all, not k times as much (the rows are
//! read 2k times, but only the fold's are mapped), and n × D is never built. Where
//! the rows are at most half as many as the features they are kept instead of summed, and each fold is gathered anew.
//!
//! Classification takes the λ with the fewest errors, ties (and regression) the least loss.

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, Folds, Layout, PanelTargets, Panels, Rows, Selection, TargetEncoder, TargetUse, Task};
use crate::driver::Driver;
use crate::feature_maps::FeatureMap;
use crate::learners::{LinearModel, Loss, RidgeRows, RidgeStatistics, RidgeSystem};
use crate::pipeline::{CrossFit, class_of, learning_targets};
use crate::preprocess::Preprocess;
use crate::random::Purpose;
use crate::{Error, Result};

/// Of all features, those that sparse rows store at most.
pub(crate) const MOST_STORED: f64 = 0.25;

/// Which rows judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// One part in ten, seeded and stratified.
    HoldOut,
    /// Every part of `k` in turn.
    CrossValidation {
        /// number of parts
        k: usize,
    },
}

impl Validation {
    pub(crate) fn n_parts(self) -> usize {
        match self {
            Self::HoldOut => 10,
            Self::CrossValidation { k } => k,
        }
    }

    pub(crate) fn n_judging(self) -> usize {
        match self {
            Self::HoldOut => 1,
            Self::CrossValidation { k } => k,
        }
    }

    /// Where a part would have no rows: nothing is chosen, unless all parts were asked for.
    pub(crate) fn nothing_held_out(self, dataset: &Dataset) -> Result<()> {
        match self {
            Self::HoldOut => Ok(()),
            Self::CrossValidation { k } => {
                let got = format!("{k} for {} rows of {}", dataset.n_rows(), dataset.info().name);
                Err(Error::parameter("cv", got, "so small that every fold has rows; use fewer folds"))
            }
        }
    }
}

/// What was found for each λ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaChoice {
    /// the best
    pub lambda: f64,
    /// all that were tried, largest λ first
    pub candidates: Vec<Candidate>,
    /// the folds for the best λ
    pub folds: Vec<FoldScores>,
}

/// One λ, over all folds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// λ
    pub lambda: f64,
    /// share of wrong classes; absent for a regression
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
    /// mean loss of an output; absent where λ was not tried or too small to solve
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

/// One fold, for the λ chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldScores {
    /// rows judged
    pub n_rows: u64,
    /// share of right classes; absent for a regression
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// root of the mean of (score − target)²
    pub rmse: f64,
}

/// What the validation needs to know of the pipeline.
#[derive(Clone, Copy)]
pub(crate) struct Fitting<'a, T> {
    pub(crate) driver: &'a Driver<'a>,
    pub(crate) dataset: &'a Dataset,
    pub(crate) encoder: &'a TargetEncoder,
    pub(crate) preprocess: &'a Preprocess<T>,
    pub(crate) map: &'a dyn FeatureMap<T>,
    pub(crate) seed: u64,
    /// for probabilities, where the learner has none of its own
    pub(crate) calibration: Option<CrossFit>,
}

impl<'a, T: Scalar> Fitting<'a, T> {
    /// Targets of classes or real values.
    pub(crate) fn targets(&self) -> TargetUse<'a> {
        TargetUse::Encoded(self.encoder)
    }

    /// Values stored of sparse features. Rows that store more than a quarter are taken densely: their values are summed
    /// several at a time.
    pub(crate) fn n_stored(&self) -> Option<u64> {
        let (n_rows, n_stored) = (self.dataset.n_rows() as f64, self.dataset.n_stored());
        let are_sparse = self.map.keeps_rows()
            && self.dataset.info().layout == Layout::Sparse
            && n_stored as f64 <= MOST_STORED * n_rows * self.map.n_components() as f64;
        are_sparse.then_some(n_stored)
    }

    /// Bytes of the features of all rows.
    pub(crate) fn feature_bytes(&self) -> u64 {
        let size = size_of::<T>() as u64;
        if let Some(n_stored) = self.n_stored() {
            // An index of four bytes for each value, a pointer of eight for each row.
            return n_stored * (size + 4) + self.dataset.n_rows() * 8;
        }
        self.dataset.n_rows().saturating_mul(self.map.n_components() as u64).saturating_mul(size)
    }

    /// Hands `each` the features and targets of the selected rows.
    pub(crate) fn for_each(
        &self,
        stage: &'static str,
        selection: Selection,
        each: impl FnMut(Rows<'_, T>, &PanelTargets) -> Result<()> + Send,
    ) -> Result<()> {
        let panels = Panels::new(self.dataset, self.map.n_inputs(), self.targets(), selection)?;
        self.driver.for_each_features(stage, self.dataset.n_rows(), panels, (self.preprocess, self.map), each)
    }

    /// What a ridge model learns from the selected rows.
    pub(crate) fn gather(&self, selection: Selection) -> Result<Gathered> {
        let (n_components, n_outputs) = (self.map.n_components(), self.encoder.n_outputs());
        let n_rows = self.dataset.n_rows();
        let mut gathered = if RidgeRows::suit(n_rows, n_components) {
            Gathered::Rows(RidgeRows::new(n_components, n_outputs, n_rows as usize))
        } else {
            Gathered::Sums(RidgeStatistics::new(n_components, n_outputs))
        };
        let overflow = || Error::Overflow { context: self.dataset.info().name.clone(), dtype: T::DTYPE };
        self.for_each("statistics", selection, |features, targets| {
            let (features, targets) = (features.to_dense(), learning_targets::<T>(self.encoder, targets));
            // Sums of features of length 1 are finite unless a row overflowed; one addition a value finds it.
            if !targets.iter().all(|y| y.is_finite()) || !features.sum().is_finite() {
                return Err(overflow());
            }
            match &mut gathered {
                Gathered::Sums(sums) => sums.add(features.view(), targets.view()),
                Gathered::Rows(rows) => rows.add(features.view(), targets.view()),
            }
            Ok(())
        })?;
        Ok(gathered)
    }

    /// What is learned from all rows but those of a fold.
    pub(crate) fn gather_without(&self, all: &Gathered, folds: Folds, fold: usize) -> Result<Gathered> {
        let Gathered::Sums(all) = all else { return self.gather(Selection::AllBut { folds, fold }) };
        let mut rest = self.gather(Selection::Fold { folds, fold })?;
        if let Gathered::Sums(rest) = &mut rest {
            rest.subtract_from(all);
        }
        Ok(rest)
    }
}

/// The sums of rows, or the rows themselves where they are few.
pub(crate) enum Gathered {
    Sums(RidgeStatistics),
    Rows(RidgeRows),
}

impl Gathered {
    fn n_rows(&self) -> u64 {
        match self {
            Self::Sums(sums) => sums.n_rows(),
            Self::Rows(rows) => rows.n_rows(),
        }
    }

    pub(crate) fn into_system(self) -> Result<RidgeSystem> {
        match self {
            Self::Sums(sums) => sums.into_system(),
            Self::Rows(rows) => rows.into_system(),
        }
    }
}

/// Sums of one fold for one λ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    n_rows: u64,
    n_wrong: u64,
    squared_error: f64,
    loss: f64,
}

/// Tries every candidate on every judging fold. `all` was gathered from all rows. Nothing is chosen where the classes are
/// so small that no row would be held out: rows are dealt by class.
pub(crate) fn validate<T: Scalar>(
    fitting: &Fitting<'_, T>,
    all: &Gathered,
    candidates: &[f64],
    validation: Validation,
) -> Result<Option<LambdaChoice>> {
    let mut folds = Vec::new();
    for fold in 0..validation.n_judging() {
        let folds_of = || Folds::new(fitting.seed, Purpose::Fold, validation.n_parts());
        let rest = fitting.gather_without(all, folds_of(), fold)?;
        if rest.n_rows() == 0 || rest.n_rows() == all.n_rows() {
            return validation.nothing_held_out(fitting.dataset).map(|()| None);
        }
        let models = fitting.driver.time("solve", || solve_all::<T>(fitting.driver, rest, candidates))?;
        folds.push(score(fitting, &models, Selection::Fold { folds: folds_of(), fold })?);
    }
    choose_lambda_of(fitting.encoder, Judge::of(Loss::Squared, fitting.encoder), candidates, &folds).map(Some)
}

/// The model of each λ; `None` where it is too small.
fn solve_all<T: Scalar>(
    driver: &Driver<'_>,
    gathered: Gathered,
    candidates: &[f64],
) -> Result<Vec<Option<LinearModel<T>>>> {
    let mut system = gathered.into_system()?;
    let mut solve = |&lambda: &f64| {
        driver.check_interrupted()?;
        match system.solve(lambda) {
            Ok(model) => Ok(Some(model)),
            Err(Error::NotPositiveDefinite { .. } | Error::Model(_)) => Ok(None),
            Err(error) => Err(error),
        }
    };
    candidates.iter().map(&mut solve).collect()
}

/// Scores the selected rows by all models in one product.
fn score<T: Scalar>(
    fitting: &Fitting<'_, T>,
    models: &[Option<LinearModel<T>>],
    selection: Selection,
) -> Result<Vec<Option<Score>>> {
    let n_outputs = fitting.encoder.n_outputs();
    let weights: Vec<_> = models.iter().flatten().map(LinearModel::weights).collect();
    if weights.is_empty() {
        return Ok(vec![None; models.len()]);
    }
    let weights = concatenate(Axis(1), &weights).expect("as many features").as_standard_layout().into_owned();
    let mut scores: Vec<Score> = vec![Score::default(); models.iter().flatten().count()];
    let is_classes = fitting.encoder.task() == Task::Classification;
    fitting.for_each("validate", selection, |features, targets| {
        let truth = learning_targets::<T>(fitting.encoder, targets);
        let mut all = Array2::zeros((features.n_rows(), weights.ncols()));
        features.product_into(weights.view(), all.view_mut());
        for (at, (score, model)) in scores.iter_mut().zip(models.iter().flatten()).enumerate() {
            let mut outputs = all.slice_mut(s![.., at * n_outputs..(at + 1) * n_outputs]);
            for mut row in outputs.outer_iter_mut() {
                row.iter_mut().zip(model.intercept()).for_each(|(x, &b)| *x = *x + b);
            }
            score.add(outputs.view(), truth.view(), is_classes, Loss::Squared);
        }
        Ok(())
    })?;
    let mut scores = scores.into_iter();
    Ok(models.iter().map(|model| model.as_ref().and_then(|_| scores.next())).collect())
}

impl Score {
    /// Adds rows of scores beside what they should be.
    pub(crate) fn add<T: Scalar>(
        &mut self,
        outputs: ArrayView2<'_, T>,
        truth: ArrayView2<'_, T>,
        is_classes: bool,
        loss: Loss,
    ) {
        self.n_rows += outputs.nrows() as u64;
        self.squared_error += outputs.iter().zip(truth).map(|(&x, &y)| (x.to_f64() - y.to_f64()).powi(2)).sum::<f64>();
        self.loss += loss.total(outputs, truth);
        if is_classes {
            // The class of targets ±1 is that of scores.
            let rows = outputs.outer_iter().zip(truth.outer_iter());
            self.n_wrong += rows.filter(|(scores, truth)| class_of(*scores) != class_of(*truth)).count() as u64;
        }
    }
}

/// What candidates are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// Of classes: the margins of support vector machines and ridge go on changing with λ where nothing is gained any more.
    Errors,
    /// Of real values; and of probabilities, which are what it measures.
    Loss,
}

impl Judge {
    /// For models of `loss`.
    pub(crate) fn of(loss: Loss, encoder: &TargetEncoder) -> Self {
        let probabilities = matches!(loss, Loss::Logistic | Loss::Softmax);
        if encoder.task() == Task::Classification && !probabilities { Self::Errors } else { Self::Loss }
    }
}

impl Judge {
    /// What is to be least, per row; of equal errors the loss.
    pub(crate) fn cost(self, score: &Score) -> (f64, f64) {
        let n_rows = score.n_rows.max(1) as f64;
        let errors = if self == Self::Errors { score.n_wrong as f64 / n_rows } else { 0.0 };
        (errors, score.loss / n_rows)
    }
}

/// Whether the last `patience` candidates are all no better than the best before them. Where all made the same errors, and some, the
/// penalty may have hidden a rare class from all of them: that says nothing yet.
pub(crate) fn best_is_behind(scores: &[Option<Score>], judge: Judge, patience: usize) -> bool {
    let key = |score: &Score| if judge == Judge::Errors { score.n_wrong as f64 } else { score.loss };
    let keys: Vec<f64> = scores.iter().flatten().map(key).collect();
    let best = (0..keys.len()).min_by(|&a, &b| keys[a].partial_cmp(&keys[b]).unwrap_or(std::cmp::Ordering::Equal));
    let says_nothing = keys.iter().all(|key| *key == keys[0] && *key > 0.0);
    best.is_some_and(|best| best + patience < keys.len()) && !says_nothing
}

/// The best of the candidates, by the scores of every fold.
pub(crate) fn choose_lambda_of(
    encoder: &TargetEncoder,
    judge: Judge,
    lambdas: &[f64],
    folds: &[Vec<Option<Score>>],
) -> Result<LambdaChoice> {
    let is_classes = matches!(encoder, TargetEncoder::Classes { .. });
    let n_outputs = encoder.n_outputs() as f64;
    let candidates: Vec<Candidate> = lambdas
        .iter()
        .enumerate()
        .map(|(at, &lambda)| {
            let sum = folds.iter().map(|fold| fold[at]).try_fold(Score::default(), |sum, score| {
                let score = score?;
                Some(Score {
                    n_rows: sum.n_rows + score.n_rows,
                    n_wrong: sum.n_wrong + score.n_wrong,
                    squared_error: sum.squared_error + score.squared_error,
                    loss: sum.loss + score.loss,
                })
            });
            let rate = |x: f64| sum.map(|sum| x / sum.n_rows as f64);
            Candidate {
                lambda,
                error_rate: sum.filter(|_| is_classes).and_then(|sum| rate(sum.n_wrong as f64)),
                loss: sum.and_then(|sum| rate(sum.loss / n_outputs)),
            }
        })
        .collect();
    let best = choose_lambda(&candidates, judge)?;
    let folds = folds.iter().map(|fold| {
        let score = fold[best].unwrap_or_default();
        let n = score.n_rows as f64;
        FoldScores {
            n_rows: score.n_rows,
            accuracy: is_classes.then(|| 1.0 - score.n_wrong as f64 / n),
            rmse: (score.squared_error / (n * n_outputs)).sqrt(),
        }
    });
    Ok(LambdaChoice { lambda: candidates[best].lambda, folds: folds.collect(), candidates })
}

/// The position of the best candidate; of equal errors the least loss.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] when no λ could be solved.
fn choose_lambda(candidates: &[Candidate], judge: Judge) -> Result<usize> {
    let errors = |c: &Candidate| if judge == Judge::Errors { c.error_rate.unwrap_or(0.0) } else { 0.0 };
    let key = |c: &Candidate| (errors(c), c.loss.unwrap_or(f64::INFINITY));
    candidates
        .iter()
        .enumerate()
        .filter(|(_, c)| c.loss.is_some_and(f64::is_finite))
        .min_by(|(_, a), (_, b)| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal))
        .map(|(at, _)| at)
        .ok_or_else(|| Error::NotPositiveDefinite { context: "every candidate lambda".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(lambda: f64, error_rate: Option<f64>, loss: Option<f64>) -> Candidate {
        Candidate { lambda, error_rate, loss }
    }

    #[test]
    fn a_path_ends_when_nothing_is_gained() {
        let scores = |errors: &[u64]| -> Vec<Option<Score>> {
            let score = |(at, &n_wrong)| Some(Score { n_wrong, loss: 1.0 / (at + 1) as f64, ..Score::default() });
            errors.iter().enumerate().map(score).collect()
        };
        assert!(!best_is_behind(&scores(&[9, 5, 5]), Judge::Errors, 2));
        assert!(best_is_behind(&scores(&[9, 5, 5, 5]), Judge::Errors, 2));
        assert!(best_is_behind(&scores(&[9, 5, 6, 7]), Judge::Errors, 2));
        assert!(!best_is_behind(&scores(&[9, 5, 6, 4]), Judge::Errors, 2));
        assert!(!best_is_behind(&scores(&[9, 9, 9, 9]), Judge::Errors, 2), "nothing was found yet");
        assert!(best_is_behind(&scores(&[0, 0, 0, 0]), Judge::Errors, 2), "there is nothing to find");
        assert!(!best_is_behind(&scores(&[0, 0, 0, 0]), Judge::Loss, 2), "the loss still falls");
    }

    #[test]
    fn fewest_errors_then_least_squares() {
        let candidates = [
            candidate(1.0, Some(0.2), Some(0.1)),
            candidate(0.1, Some(0.1), Some(0.3)),
            candidate(0.01, Some(0.1), Some(0.2)),
            candidate(0.001, None, None),
        ];
        assert_eq!(choose_lambda(&candidates, Judge::Errors).unwrap(), 2);
        assert_eq!(choose_lambda(&candidates, Judge::Loss).unwrap(), 0);
        let real = [candidate(1.0, None, Some(0.5)), candidate(0.1, None, Some(0.4)), candidate(0.01, None, None)];
        assert_eq!(choose_lambda(&real, Judge::Loss).unwrap(), 1);
        assert!(choose_lambda(&real[2..], Judge::Loss).is_err());
    }
}
