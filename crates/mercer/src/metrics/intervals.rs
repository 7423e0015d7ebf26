//! Confidence intervals of scores: how far chance in the choice of test rows reaches.
//!
//! Test rows are taken as drawn independently; z is the point with 1 − confidence of a normal law beyond ±z.
//!
//! | score | interval |
//! |---|---|
//! | a share, k of n rows (accuracy, recall, precision) | Wilson's: the shares π with \|k/n − π\| ≤ z·√(π(1 − π)/n) |
//! | another smooth function of means of the rows (macro F1, R², MAE) | score ± z·s, s² = Σᵢψᵢ²/n² |
//! | RMSE | exp(ln RMSE ± z·s/RMSE), which stays above 0 |
//!
//! ψᵢ is how the score changes when row i has a little more weight (its influence, whose sum is 0), so that s is the
//! first-order standard error, the *delta method*. With e = t − p, d = t − mean t, and, for class c, s_c = rows of c + rows
//! predicted as c and F_c its F1, out of K classes that occur:
//!
//! | score | ψ of a row |
//! |---|---|
//! | macro F1, row of class a predicted as b | (n/K)·Σ_c (2·\[a = b = c\] − F_c·(\[a = c\] + \[b = c\]))/s_c |
//! | RMSE | (e² − MSE)/(2·RMSE) |
//! | MAE | \|e\| − MAE |
//! | R² | ((1 − R²)·d² − e²)/(Σd²/n) |
//!
//! Several targets: ψ is the mean of theirs, as the score is. An interval is good for some tens of rows or more of each
//! class. Where all rows have the same influence (nothing is wrong, or all is) the delta method has nothing to say, and
//! there is none. Cost: one or two passes over counts or rows.
//!
//! References: Wilson, J. Amer. Statist. Assoc. 22, 1927; Takahashi, Yamamoto, Kuchiba and Koyama, "Confidence interval
//! for micro-averaged F1 and macro-averaged F1 scores", Applied Intelligence 52, 2022 (the same variance of macro F1).
//!
//! ```
//! use mercer::metrics::wilson;
//!
//! let interval = wilson(90, 100, 0.95)?;
//! assert!((interval.low - 0.8256).abs() < 1e-4 && (interval.high - 0.9448).abs() < 1e-4);
//! # Ok::<(), mercer::Error>(())
//! ```

use ndarray::{ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use super::tails::normal_point;
use super::{ClassificationReport, check_same_shape};
use crate::{Error, Result};

/// Where a score of other rows of the same kind lies, with the confidence asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// lower end
    pub low: f64,
    /// upper end
    pub high: f64,
}

/// The intervals of a regression's scores; none where every row has the same influence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegressionIntervals {
    /// of the root of the mean squared error
    pub rmse: Option<Interval>,
    /// of the mean absolute error
    pub mae: Option<Interval>,
    /// of the part of the variance explained
    pub r2: Option<Interval>,
}

/// Wilson's interval of a share, `part` of `whole` rows.
///
/// # Errors
/// [`Error::Parameter`] for a confidence that is not between 0 and 1, or for more rows in the part than in the whole;
/// [`Error::TooFewRows`] for no rows.
pub fn wilson(part: u64, whole: u64, confidence: f64) -> Result<Interval> {
    let z = point(confidence)?;
    if whole == 0 {
        return Err(Error::TooFewRows { context: "the interval".into(), got: 0, expected: 1 });
    }
    if part > whole {
        return Err(Error::parameter("part", format!("{part} of {whole}"), "at most the whole"));
    }
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let reach = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    // At the ends both are the same number but for rounding.
    let low = if part == 0 { 0.0 } else { (centre - reach).max(0.0) };
    let high = if part == whole { 1.0 } else { (centre + reach).min(1.0) };
    Ok(Interval { low, high })
}

impl ClassificationReport {
    /// Wilson's interval of the accuracy.
    ///
    /// # Errors
    /// As [`wilson`].
    pub fn accuracy_interval(&self, confidence: f64) -> Result<Interval> {
        let right = (0..self.confusion.len()).map(|class| self.confusion[class][class]).sum();
        wilson(right, self.n_rows, confidence)
    }

    /// The interval of the macro F1 by the delta method, within 0 and 1; none where all rows are right, or all are wrong.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a confidence that is not between 0 and 1.
    pub fn f1_macro_interval(&self, confidence: f64) -> Result<Option<Interval>> {
        let z = point(confidence)?;
        let (n, sizes) = (self.n_rows as f64, self.support_and_predictions());
        let n_classes = sizes.iter().filter(|size| **size > 0).count() as f64;
        let pull = |class: usize| self.classes[class].f1 / sizes[class] as f64;
        let mut squares = 0.0;
        for (a, row) in self.confusion.iter().enumerate() {
            for (b, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                let right = if a == b { 2.0 / sizes[a] as f64 } else { 0.0 };
                let influence = n / n_classes * (right - pull(a) - pull(b));
                squares += count as f64 * influence * influence;
            }
        }
        let interval = symmetric(self.f1_macro, z * squares.sqrt() / n);
        Ok(interval.map(|ends| Interval { low: ends.low.max(0.0), high: ends.high.min(1.0) }))
    }

    /// Rows of each class and rows predicted as it, together.
    fn support_and_predictions(&self) -> Vec<u64> {
        let mut sums: Vec<u64> = self.classes.iter().map(|class| class.support).collect();
        for row in &self.confusion {
            sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        sums
    }
}

/// The intervals of a regression's scores, from the true and the predicted values, both rows × targets.
///
/// # Errors
/// [`Error::Parameter`] for a confidence that is not between 0 and 1, [`Error::Targets`] for shapes that differ,
/// [`Error::NotFinite`] for a value that is not finite, [`Error::TooFewRows`] for no rows or targets.
pub fn regression_intervals(
    truth: ArrayView2<'_, f64>,
    predicted: ArrayView2<'_, f64>,
    confidence: f64,
) -> Result<RegressionIntervals> {
    let z = point(confidence)?;
    check_same_shape(truth, predicted)?;
    if truth.is_empty() {
        return Err(Error::TooFewRows { context: "the interval".into(), got: 0, expected: 1 });
    }
    let (n, n_targets) = (truth.nrows() as f64, truth.ncols() as f64);
    let mut scores = [0.0; 3];
    let mut influences = vec![[0.0; 3]; truth.nrows()];
    for (truth, predicted) in truth.axis_iter(Axis(1)).zip(predicted.axis_iter(Axis(1))) {
        let pairs: Vec<(f64, f64)> = truth.iter().copied().zip(predicted.iter().copied()).collect();
        let target = TargetMeans::of(&pairs);
        scores.iter_mut().zip(target.scores()).for_each(|(sum, score)| *sum += score / n_targets);
        for (sums, &pair) in influences.iter_mut().zip(&pairs) {
            sums.iter_mut().zip(target.influence(pair)).for_each(|(sum, psi)| *sum += psi / n_targets);
        }
    }
    let reach = |i: usize| z * influences.iter().map(|psi| psi[i] * psi[i]).sum::<f64>().sqrt() / n;
    let rmse = (scores[0] > 0.0 && reach(0) > 0.0).then(|| {
        let factor = (reach(0) / scores[0]).exp();
        Interval { low: scores[0] / factor, high: scores[0] * factor }
    });
    let mae = symmetric(scores[1], reach(1)).map(|ends| Interval { low: ends.low.max(0.0), ..ends });
    let r2 = symmetric(scores[2], reach(2)).map(|ends| Interval { high: ends.high.min(1.0), ..ends });
    Ok(RegressionIntervals { rmse, mae, r2 })
}

/// Means over the rows of one target.
struct TargetMeans {
    mean: f64,
    variance: f64,
    squared_error: f64,
    absolute_error: f64,
}

impl TargetMeans {
    fn of(pairs: &[(f64, f64)]) -> Self {
        let n = pairs.len() as f64;
        let mean = pairs.iter().map(|(t, _)| t).sum::<f64>() / n;
        Self {
            mean,
            variance: pairs.iter().map(|(t, _)| (t - mean).powi(2)).sum::<f64>() / n,
            squared_error: pairs.iter().map(|(t, p)| (t - p).powi(2)).sum::<f64>() / n,
            absolute_error: pairs.iter().map(|(t, p)| (t - p).abs()).sum::<f64>() / n,
        }
    }

    /// RMSE, MAE and R².
    fn scores(&self) -> [f64; 3] {
        [self.squared_error.sqrt(), self.absolute_error, 1.0 - self.unexplained()]
    }

    /// MSE / variance; 0 for a constant target, whose R² has no interval.
    fn unexplained(&self) -> f64 {
        if self.variance > 0.0 { self.squared_error / self.variance } else { 0.0 }
    }

    /// How a row changes RMSE, MAE and R².
    fn influence(&self, (t, p): (f64, f64)) -> [f64; 3] {
        let (square, rmse) = ((t - p).powi(2), self.squared_error.sqrt());
        let of_rmse = if rmse > 0.0 { (square - self.squared_error) / (2.0 * rmse) } else { 0.0 };
        let of_r2 = if self.variance > 0.0 {
            (self.unexplained() * (t - self.mean).powi(2) - square) / self.variance
        } else {
            0.0
        };
        [of_rmse, (t - p).abs() - self.absolute_error, of_r2]
    }
}

fn point(confidence: f64) -> Result<f64> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::parameter("confidence", confidence, "between 0 and 1"));
    }
    Ok(normal_point(1.0 - confidence))
}

/// None without a reach.
fn symmetric(score: f64, reach: f64) -> Option<Interval> {
    (reach > 0.0).then_some(Interval { low: score - reach, high: score + reach })
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::metrics::ConfusionMatrix;
    use crate::random::{Purpose, Stream};

    fn close(got: Interval, expected: (f64, f64), tolerance: f64) {
        let (low, high) = expected;
        assert!((got.low - low).abs() < tolerance && (got.high - high).abs() < tolerance, "{got:?} for {expected:?}");
    }

    /// `proportion_confint(part, whole, 1 - confidence, "wilson")` of statsmodels.
    #[test]
    fn wilson_as_statsmodels() {
        let table = [
            (90, 100, 0.95, (0.825_634_338_495_086_5, 0.944_770_862_939_324_9)),
            (0, 20, 0.95, (0.0, 0.161_125_158_052_819_38)),
            (20, 20, 0.95, (0.838_874_841_947_180_6, 1.0)),
            (1, 3, 0.9, (0.078_265_726_333_728_36, 0.746_466_131_718_776)),
            (9876, 10_000, 0.99, (0.984_408_877_041_036_4, 0.990_144_516_858_893_6)),
        ];
        for (part, whole, confidence, expected) in table {
            close(wilson(part, whole, confidence).unwrap(), expected, 1e-13);
        }
    }

    fn counted(counts: &[[u64; 3]; 3]) -> ClassificationReport {
        let mut matrix = ConfusionMatrix::new(3).unwrap();
        for (truth, row) in counts.iter().enumerate() {
            for (predicted, &n) in row.iter().enumerate() {
                matrix.add(&vec![truth; n as usize], &vec![predicted; n as usize]).unwrap();
            }
        }
        matrix.report().unwrap()
    }

    /// The influences by differences of the macro F1 of weighted rows, in NumPy; 200,000 bootstrap samples have a standard
    /// error of 0.0411 where the delta method has 0.0402.
    #[test]
    fn macro_f1_as_its_derivatives() {
        let report = counted(&[[50, 3, 2], [4, 30, 1], [0, 6, 14]]);
        let interval = report.f1_macro_interval(0.95).unwrap().unwrap();
        close(interval, (0.749_609_130_386_543_8, 0.907_056_709_765_534_9), 1e-8);
        assert_eq!(report.accuracy_interval(0.95).unwrap(), wilson(94, 110, 0.95).unwrap());
    }

    /// As above, by differences of weighted scores.
    #[test]
    fn regression_as_its_derivatives() {
        let truth = array![[1.0], [2.0], [4.0], [7.0], [3.0], [5.0], [8.0], [6.0]];
        let predicted = array![[1.5], [1.0], [4.5], [6.0], [3.0], [5.5], [9.5], [5.0]];
        let found = regression_intervals(truth.view(), predicted.view(), 0.95).unwrap();
        close(found.rmse.unwrap(), (0.631_202_300_887_445_7, 1.188_208_596_428_640_2), 1e-8);
        close(found.mae.unwrap(), (0.449_943_020_230_269_1, 1.050_056_979_769_730_8), 1e-8);
        close(found.r2.unwrap(), (0.773_944_492_802_654_9, 0.940_341_221_483_059_5), 1e-8);
        // Twice the same target says no more than once.
        let twice = |x: &Array2<f64>| ndarray::concatenate![Axis(1), x.view(), x.view()];
        let both = regression_intervals(twice(&truth).view(), twice(&predicted).view(), 0.95).unwrap();
        close(both.r2.unwrap(), (0.773_944_492_802_654_9, 0.940_341_221_483_059_5), 1e-8);
    }

    /// Of 1,000 draws of 400 rows, 95 % of the intervals hold the score of all rows: within 4 standard deviations of a
    /// share of 1,000 (0.0069), and 0.015 for what the first order leaves out at 400 rows.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        const DRAWS: usize = 1000;
        const N: usize = 400;
        let mut held = [0; 3];
        for draw in 0..DRAWS {
            let (mut signal, mut noise) = (vec![0.0; N], vec![0.0; N]);
            Stream::new(draw as u64, Purpose::Start).normal_into(0, &mut signal);
            Stream::new(draw as u64, Purpose::Start).lane(1).normal_into(0, &mut noise);
            // t = p + e with Var p = 1, Var e = ¼: RMSE ½, R² 1 − ¼/1.25 = 0.8.
            let truth = Array2::from_shape_fn((N, 1), |(i, _)| signal[i] + 0.5 * noise[i]);
            let predicted = Array2::from_shape_fn((N, 1), |(i, _)| signal[i]);
            let found = regression_intervals(truth.view(), predicted.view(), 0.95).unwrap();
            let (rmse, r2) = (found.rmse.unwrap(), found.r2.unwrap());
            held[0] += usize::from((rmse.low..=rmse.high).contains(&0.5));
            held[1] += usize::from((r2.low..=r2.high).contains(&0.8));
            let (report, expected) = drawn_classes(draw as u64, N);
            let f1 = report.f1_macro_interval(0.95).unwrap().unwrap();
            held[2] += usize::from((f1.low..=f1.high).contains(&expected));
        }
        for (name, held) in ["RMSE", "R²", "macro F1"].iter().zip(held) {
            let share = held as f64 / DRAWS as f64;
            assert!((share - 0.95).abs() < 4.0 * 0.0069 + 0.015, "{name}: {share}");
        }
    }

    /// Rows of two classes, 0.3 and 0.7 of them, of which 0.8 and 0.9 are found; and the macro F1 of endlessly many.
    fn drawn_classes(seed: u64, n: usize) -> (ClassificationReport, f64) {
        let mut uniform = vec![0.0; 2 * n];
        Stream::new(seed, Purpose::Start).lane(2).uniform_into(0, &mut uniform);
        let truth: Vec<usize> = uniform[..n].iter().map(|&u| usize::from(u >= 0.3)).collect();
        let found = |(&class, &u): (&usize, &f64)| if u < [0.8, 0.9][class] { class } else { 1 - class };
        let predicted: Vec<usize> = truth.iter().zip(&uniform[n..]).map(found).collect();
        let mut matrix = ConfusionMatrix::new(2).unwrap();
        matrix.add(&truth, &predicted).unwrap();
        let f1 = [2.0 * 0.24 / (0.3 + 0.24 + 0.07), 2.0 * 0.63 / (0.7 + 0.63 + 0.06)];
        (matrix.report().unwrap(), (f1[0] + f1[1]) / 2.0)
    }

    #[test]
    fn what_has_no_interval() {
        assert_eq!(counted(&[[5, 0, 0], [0, 4, 0], [0, 0, 0]]).f1_macro_interval(0.95).unwrap(), None);
        assert_eq!(counted(&[[0, 5, 0], [4, 0, 0], [0, 0, 0]]).f1_macro_interval(0.95).unwrap(), None);
        let none = RegressionIntervals { rmse: None, mae: None, r2: None };
        let exact = array![[1.0], [2.0]];
        assert_eq!(regression_intervals(exact.view(), exact.view(), 0.9).unwrap(), none);
        for confidence in [0.0, 1.0, f64::NAN] {
            assert!(matches!(wilson(1, 2, confidence), Err(Error::Parameter { name: "confidence", .. })));
        }
        assert!(matches!(wilson(3, 2, 0.9), Err(Error::Parameter { name: "part", .. })));
        assert!(matches!(wilson(0, 0, 0.9), Err(Error::TooFewRows { .. })));
        let empty = Array2::zeros((0, 1));
        assert!(matches!(regression_intervals(empty.view(), empty.view(), 0.9), Err(Error::TooFewRows { .. })));
        assert!(regression_intervals(exact.view(), exact.t(), 0.9).is_err());
    }
}
