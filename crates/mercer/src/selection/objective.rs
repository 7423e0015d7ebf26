//! What pipelines are compared by, and how sure the comparison is.
//!
//! | objective | of the predictions of all judges together |
//! |---|---|
//! | `accuracy` | share of right classes |
//! | `f1` | F1 of the rarer of two classes; of more classes the mean of all |
//! | `r2` | 1 − Σ(y − ŷ)² / Σ(y − ȳ)², the mean over the targets |
//!
//! The standard error is that of the jackknife over [`GROUPS`] groups of rows, which holds for any of them: with the score θ₋ᵢ of all but
//! group i, (G−1)/G·Σ(θ₋ᵢ − mean)². The difference of two pipelines is judged by the same rows, so its error is taken of
//! the differences: what is hard for both does not count.
//!
//! A model of two classes minimises a loss, not errors of the rare one, and its scores tell more than their sign. For F1 it is asked above which score it is largest:
//! each half of the judges is decided by the other half's answer, so that the score of a pipeline stays one of rows that had no part in it, and where that is
//! better than the sign, the model is to decide by the mean of both ([`Predictions::decide`]).
//!
//! Reference: Efron and Stein, "The jackknife estimate of variance", Annals of Statistics 9, 1981.

use mercer_simd::Scalar;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, PanelTargets, TargetEncoder, Task};
use crate::driver::Driver;
use crate::pipeline::{Pipeline, class_of};
use crate::{Error, Result};

/// Groups of the jackknife.
const GROUPS: usize = 10;
/// Of two classes, the share of the rarer one below which accuracy says little.
const RARE: f64 = 0.05;

/// What is to be as large as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Share of right classes.
    Accuracy,
    /// F1 of the rarer of two classes, or the mean of several.
    F1,
    /// Share of the variance that is explained.
    R2,
}

impl Objective {
    /// Accuracy; F1 where one of two classes is rarer than one row in twenty; R² of real values.
    pub fn of(encoder: &TargetEncoder) -> Self {
        match encoder {
            TargetEncoder::Real { .. } => Self::R2,
            TargetEncoder::Classes { counts, .. } => {
                let all: u64 = counts.iter().sum();
                let least = counts.iter().min().copied().unwrap_or(0);
                if counts.len() == 2 && (least as f64) < RARE * all as f64 { Self::F1 } else { Self::Accuracy }
            }
        }
    }

    /// Checks that targets of this kind have it.
    ///
    /// # Errors
    /// [`Error::Parameter`] when they have not.
    pub fn check(self, task: Task) -> Result<()> {
        match (self, task) {
            (Self::R2, Task::Classification) => Err(Error::parameter("objective", "r2", "accuracy or f1 for classes")),
            (Self::Accuracy | Self::F1, Task::Regression) => {
                Err(Error::parameter("objective", self.name(), "r2 for real values"))
            }
            _ => Ok(()),
        }
    }

    /// The name in specs and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::F1 => "f1",
            Self::R2 => "r2",
        }
    }
}

/// What a pipeline said of the judges, beside what they are.
#[derive(Clone, Debug)]
pub(super) enum Predictions {
    Classes { truth: Vec<u32>, predicted: Vec<u32>, scores: Vec<f64>, counts: Vec<u64> },
    Real { truth: Array2<f64>, predicted: Array2<f64> },
}

impl Predictions {
    /// Of all rows of `judges`.
    pub(super) fn of<T: Scalar>(
        pipeline: &Pipeline<T>,
        encoder: &TargetEncoder,
        judges: &Dataset,
        driver: &Driver<'_>,
    ) -> Result<Self> {
        let (mut classes, mut found, mut real, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        pipeline.for_each_scores(driver, judges, true, |scores, targets| {
            match targets {
                PanelTargets::Classes(truth) => {
                    classes.extend_from_slice(truth);
                    found.extend(scores.outer_iter().map(class_of));
                    if scores.ncols() == 1 {
                        values.extend(scores.iter().map(|&x| x.to_f64()));
                    }
                }
                PanelTargets::Real(truth) => {
                    real.extend(truth.iter().copied());
                    values.extend(scores.iter().map(|&x| x.to_f64()));
                }
                PanelTargets::None | PanelTargets::AsStored(_) => unreachable!("encoded targets were asked for"),
            }
            Ok(())
        })?;
        Ok(match encoder {
            TargetEncoder::Classes { counts, .. } => {
                Self::Classes { truth: classes, predicted: found, scores: values, counts: counts.clone() }
            }
            TargetEncoder::Real { centre } => {
                let shape = (real.len() / centre.len(), centre.len());
                let matrix = |values| Array2::from_shape_vec(shape, values).expect("whole rows");
                Self::Real { truth: matrix(real), predicted: matrix(values) }
            }
        })
    }

    /// Those of further judges behind these.
    pub(super) fn append(&mut self, other: Self) {
        match (self, other) {
            (
                Self::Classes { truth, predicted, scores, .. },
                Self::Classes { truth: t, predicted: p, scores: s, .. },
            ) => {
                truth.extend(t);
                predicted.extend(p);
                scores.extend(s);
            }
            (Self::Real { truth, predicted }, Self::Real { truth: t, predicted: p }) => {
                truth.append(ndarray::Axis(0), t.view()).expect("as many targets");
                predicted.append(ndarray::Axis(0), p.view()).expect("as many targets");
            }
            _ => unreachable!("one task"),
        }
    }

    /// Decides between two classes above the score of the largest F1, found by the other half of the rows, where that is better than above 0; the mean of
    /// both scores.
    pub(super) fn decide(&mut self) -> Option<f64> {
        let before = self.score(Objective::F1, None);
        let Self::Classes { truth, predicted, scores, counts } = self else { return None };
        if scores.len() != truth.len() || counts.len() != 2 {
            return None;
        }
        let rare = u32::from(counts[1] <= counts[0]);
        // By groups of the jackknife, so that what is left without one is dealt as evenly.
        let half_of = |i: usize| i / GROUPS % 2;
        let best = [0, 1].map(|half| {
            best_threshold((0..truth.len()).filter(|&i| half_of(i) != half).map(|i| (scores[i], truth[i])), rare)
        });
        let decided = (0..truth.len()).map(|i| u32::from(scores[i] > best[half_of(i)])).collect();
        let kept = std::mem::replace(predicted, decided);
        if self.score(Objective::F1, None) > before {
            return Some((best[0] + best[1]) / 2.0);
        }
        if let Self::Classes { predicted, .. } = self {
            *predicted = kept;
        }
        None
    }

    /// Decides between two classes above a score.
    pub(super) fn decide_above(&mut self, threshold: f64) {
        if let Self::Classes { predicted, scores, .. } = self {
            *predicted = scores.iter().map(|&score| u32::from(score > threshold)).collect();
        }
    }

    pub(super) fn n_rows(&self) -> usize {
        match self {
            Self::Classes { truth, .. } => truth.len(),
            Self::Real { truth, .. } => truth.nrows(),
        }
    }

    /// The score of all rows but those of a group, where one is given.
    fn score(&self, objective: Objective, without: Option<usize>) -> f64 {
        let taken = |i: &usize| without.is_none_or(|group| i % GROUPS != group);
        match self {
            Self::Classes { truth, predicted, counts, .. } => {
                let pairs = (0..truth.len()).filter(taken).map(|i| (truth[i], predicted[i]));
                if objective == Objective::F1 { f1(pairs, counts) } else { accuracy(pairs) }
            }
            Self::Real { truth, predicted } => {
                let rows: Vec<usize> = (0..truth.nrows()).filter(taken).collect();
                let n_targets = truth.ncols();
                (0..n_targets).map(|j| r2(rows.iter().map(|&i| (truth[[i, j]], predicted[[i, j]])))).sum::<f64>()
                    / n_targets as f64
            }
        }
    }

    pub(super) fn scores(&self, objective: Objective) -> Scores {
        Scores {
            score: self.score(objective, None),
            without: (0..GROUPS).map(|group| self.score(objective, Some(group))).collect(),
        }
    }

    /// Right and all rows, of classes.
    pub(super) fn n_right(&self) -> Option<(u64, u64)> {
        let Self::Classes { truth, predicted, .. } = self else { return None };
        let right = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
        Some((right as u64, truth.len() as u64))
    }
}

/// A score, and what it is without each group of rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scores {
    pub(super) score: f64,
    without: Vec<f64>,
}

impl Scores {
    pub(super) fn error(&self) -> f64 {
        jackknife(self.without.iter().copied())
    }

    /// How much better than another, and the standard error of that.
    pub(super) fn beyond(&self, other: &Self) -> (f64, f64) {
        let differences = self.without.iter().zip(&other.without).map(|(a, b)| a - b);
        (self.score - other.score, jackknife(differences))
    }
}

fn jackknife(without: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = without.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() * (n - 1.0) / n).sqrt()
}

fn accuracy(pairs: impl Iterator<Item = (u32, u32)>) -> f64 {
    let (mut right, mut all) = (0_u64, 0_u64);
    for (truth, predicted) in pairs {
        right += u64::from(truth == predicted);
        all += 1;
    }
    right as f64 / all.max(1) as f64
}

/// Of the rarer of two classes, or the mean over all that occur.
fn f1(pairs: impl Iterator<Item = (u32, u32)>, counts: &[u64]) -> f64 {
    let (mut hits, mut sums) = (vec![0_u64; counts.len()], vec![0_u64; counts.len()]);
    for (truth, predicted) in pairs {
        hits[truth as usize] += u64::from(truth == predicted);
        sums[truth as usize] += 1;
        sums[predicted as usize] += 1;
    }
    let of = |class: usize| if sums[class] == 0 { 0.0 } else { 2.0 * hits[class] as f64 / sums[class] as f64 };
    if counts.len() == 2 {
        return of(usize::from(counts[1] <= counts[0]));
    }
    let met: Vec<usize> = (0..counts.len()).filter(|&class| sums[class] > 0).collect();
    met.iter().map(|&class| of(class)).sum::<f64>() / met.len().max(1) as f64
}

/// The score above which rows are of class 1 with the largest F1 of the rare class: halfway between two rows; 0 where there is no row of it.
fn best_threshold(rows: impl Iterator<Item = (f64, u32)>, rare: u32) -> f64 {
    // The rare class on top.
    let sign = if rare == 1 { 1.0 } else { -1.0 };
    let mut rows: Vec<(f64, bool)> = rows.map(|(score, class)| (sign * score, class == rare)).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n_rare = rows.iter().filter(|row| row.1).count();
    let (mut hits, mut best) = (0, (0.0, 0.0));
    for (i, pair) in rows.windows(2).enumerate() {
        hits += usize::from(pair[0].1);
        let f1 = 2.0 * hits as f64 / (i + 1 + n_rare) as f64;
        if pair[0].0 > pair[1].0 && f1 > best.0 {
            best = (f1, f64::midpoint(pair[0].0, pair[1].0));
        }
    }
    sign * best.1
}

fn r2(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let n = pairs.clone().count().max(1) as f64;
    let mean = pairs.clone().map(|(y, _)| y).sum::<f64>() / n;
    let total: f64 = pairs.clone().map(|(y, _)| (y - mean).powi(2)).sum();
    let left: f64 = pairs.map(|(y, p)| (y - p).powi(2)).sum();
    if total > 0.0 { 1.0 - left / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(truth: &[u32], predicted: &[u32], counts: &[u64]) -> Predictions {
        let [truth, predicted] = [truth, predicted].map(<[u32]>::to_vec);
        Predictions::Classes { truth, predicted, scores: Vec::new(), counts: counts.to_vec() }
    }

    #[test]
    fn the_threshold_of_the_largest_f1() {
        // Above −0.5: three of three and one too many, 6/7; above 0.5: two of three, 4/5.
        let rows = [(2.0, 1), (1.0, 1), (0.0, 0), (-0.25, 1), (-0.75, 0), (-3.0, 0)];
        assert_eq!(best_threshold(rows.into_iter(), 1), -0.5);
        // The same with the classes and signs of the scores changed.
        assert_eq!(best_threshold(rows.into_iter().map(|(score, class)| (-score, 1 - class)), 0), 0.5);
        assert_eq!(best_threshold([(1.0, 0), (2.0, 0)].into_iter(), 1), 0.0);
    }

    /// Scores of the rare class that are mostly below 0, and those of the other below them.
    #[test]
    fn a_threshold_is_taken_where_rows_that_did_not_choose_it_gain() {
        let truth: Vec<u32> = (0..400).map(|i| u32::from(i % 7 == 0)).collect();
        let below = |i: usize| ((i * 37) % 100) as f64 / 100.0;
        let of = |offset: f64| {
            let scores: Vec<f64> =
                truth.iter().enumerate().map(|(i, &class)| f64::from(class) - offset - below(i)).collect();
            let predicted = scores.iter().map(|&score| u32::from(score > 0.0)).collect();
            Predictions::Classes { truth: truth.clone(), predicted, scores, counts: vec![342, 58] }
        };
        let mut some = of(0.5);
        let before = some.score(Objective::F1, None);
        let threshold = some.decide().unwrap();
        assert!((-0.55..-0.45).contains(&threshold), "{threshold}");
        // Half of the rare class is above 0; of the other rows' threshold all but those between two neighbours are right.
        let after = some.score(Objective::F1, None);
        assert!(before < 0.75 && after > 0.97, "{before}, then {after}");
        // Where the sign is right already, nothing changes.
        let mut right = of(0.0);
        assert_eq!(right.decide(), None);
        assert_eq!(right.score(Objective::F1, None), 1.0);
        some.decide_above(-0.495);
        assert_eq!(some.score(Objective::F1, None), 1.0);
    }

    /// The jackknife of a mean is its standard error: √(Σ(x − mean)²/(n(n−1))), here of n = 10 groups of one row.
    #[test]
    fn the_error_of_an_accuracy_is_that_of_a_mean() {
        let predictions = classes(&[0; 10], &[0, 0, 0, 1, 0, 0, 1, 0, 0, 0], &[10, 0]);
        let scores = predictions.scores(Objective::Accuracy);
        assert!((scores.score - 0.8).abs() < 1e-15);
        let expected = ((8.0 * 0.04 + 2.0 * 0.64) / 90.0_f64).sqrt();
        assert!((scores.error() - expected).abs() < 1e-12, "{} {expected}", scores.error());
        assert_eq!(predictions.n_right(), Some((8, 10)));
    }

    #[test]
    fn differences_of_equal_predictions_have_no_error() {
        let some = classes(&[0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0], &[0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1], &[6, 5]);
        let scores = some.scores(Objective::F1);
        assert_eq!(scores.beyond(&scores), (0.0, 0.0));
        assert!(scores.error() > 0.0);
    }

    #[test]
    fn f1_is_of_the_rarer_class() {
        // 3 of class 1, of which 2 are found, and one too many: 2·2/(3 + 3).
        let some = classes(&[1, 1, 1, 0, 0, 0, 0], &[1, 1, 0, 1, 0, 0, 0], &[40, 3]);
        assert!((some.score(Objective::F1, None) - 4.0 / 6.0).abs() < 1e-15);
        // As class 0 is the rarer: 2·3/(4 + 4).
        let some = classes(&[1, 1, 1, 0, 0, 0, 0], &[1, 1, 0, 1, 0, 0, 0], &[3, 40]);
        assert!((some.score(Objective::F1, None) - 0.75).abs() < 1e-15);
        // Of three, the mean of those that occur: 1 and 0.5.
        let some = classes(&[0, 0, 2], &[0, 0, 2], &[2, 0, 1]);
        assert_eq!(some.score(Objective::F1, None), 1.0);
    }

    #[test]
    fn r2_by_hand() {
        let matrix = |values: [f64; 3]| Array2::from_shape_vec((3, 1), values.to_vec()).unwrap();
        let some = Predictions::Real { truth: matrix([1.0, 2.0, 3.0]), predicted: matrix([1.0, 2.0, 4.0]) };
        assert!((some.score(Objective::R2, None) - 0.5).abs() < 1e-15);
    }
}
