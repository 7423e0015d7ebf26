//! Probabilities of classes from scores.
//!
//! | loss | link |
//! |---|---|
//! | softmax | p_c = exp(s_c) / Σ exp(s), as it was learned |
//! | logistic | p = 1 / (1 + exp(−s)), as it was learned |
//! | squared, hinge, squared hinge | p = 1 / (1 + exp(a·s + b)) with a and b of each output by [`Sigmoid::fit`] |
//!
//! The one score of two classes gives p for the second and 1 − p for the first. Of more classes, each against the rest,
//! the p are divided by their sum; this is done with logarithms, so that it also holds where every p is below the
//! smallest float. Balanced class weights move native probabilities towards rare classes; fitted sigmoids undo that.
//!
//! # Fitting a sigmoid
//!
//! Scores of rows that were learned from are too good, so a and b are fitted to scores of rows that were not. The
//! targets are Platt's: t = (N₊ + 1)/(N₊ + 2) for the N₊ rows of the class, 1/(N₋ + 2) for the N₋ others, which keeps
//! the sigmoid finite where a score parts the classes. The minimum of −Σ t·log p + (1 − t)·log(1 − p) is found by
//! algorithm 1 of Lin, Lin and Weng: Newton steps, halved until the sum decreases enough. A row costs one exponential a step,
//! and there are about ten steps.
//!
//! We differ in two places. Scores are first shifted and scaled to mean 0 and variance 1, so that scores of any size are
//! treated alike. And steps end when Newton's decrement √(gᵀH⁻¹g), the distance from the minimum in standard errors, is
//! at most 1e-6, not when the gradient is below 1e-5, which depends on the number of rows.
//!
//! References: Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
//! methods", 1999; Lin, Lin and Weng, "A note on Platt's probabilistic outputs for support vector machines", Machine
//! Learning 68, 2007; Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability
//! estimates", KDD 2002 (several classes, section 4).
//!
//! ```
//! use mercer::learners::{Link, Sigmoid};
//!
//! let scores = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0];
//! let sigmoid = Sigmoid::fit(&scores, &[false, false, true, false, true, true])?;
//! let link = Link::Sigmoids(vec![sigmoid]);
//! let probabilities = link.probabilities(ndarray::array![[0.0], [3.0]].view());
//! assert!((probabilities[[0, 1]] - 0.5).abs() < 1e-12, "as symmetric as the rows");
//! assert!(probabilities[[1, 1]] > 0.7);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::Loss;
use super::loss::softplus;
use crate::{Error, Result};

/// Steps at most; about ten are taken.
const MAX_STEPS: usize = 100;
/// Newton's decrement, squared, at which they end.
const DECREMENT: f64 = 1e-12;
/// The shortest part of a step that is tried.
const MIN_STEP: f64 = 1e-10;
/// The decrease that a step must reach, as a share of what its slope promises.
const SUFFICIENT: f64 = 1e-4;
/// Added to the diagonal of the Hessian, which is singular where all scores are equal.
const RIDGE: f64 = 1e-12;
/// By how much the rounding of a million terms may move their sum.
const ROUNDING: f64 = 1e-13;

/// p = 1 / (1 + exp(slope·score + intercept)): the probability of a class by its score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sigmoid {
    /// below 0 where larger scores are likelier
    pub slope: f64,
    /// 0 where a score of 0 is as likely as not
    pub intercept: f64,
}

impl Sigmoid {
    /// Of logistic regression.
    pub const LOGISTIC: Self = Self { slope: -1.0, intercept: 0.0 };

    /// The most likely sigmoid: see the module's head. `scores` must be of rows that the model did not learn from,
    /// `positive` tells which are of the class. Where all or none are, or all scores are equal, the slope is 0.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] without rows, [`Error::Targets`] for lists of different lengths, [`Error::NotFinite`] for a
    /// score that is not.
    pub fn fit<T: Scalar>(scores: &[T], positive: &[bool]) -> Result<Self> {
        if scores.len() != positive.len() {
            return Err(Error::Targets(format!("{} scores for {} targets", scores.len(), positive.len())));
        }
        if scores.is_empty() {
            return Err(Error::TooFewRows { context: "the calibration".to_owned(), got: 0, expected: 1 });
        }
        if let Some((row, score)) =
            scores.iter().enumerate().find(|(_, score)| !score.is_finite()).map(|(row, &score)| (row, score))
        {
            return Err(Error::NotFinite { row: row as u64, input: 0, value: score.to_f64() });
        }
        let (mean, deviation) = moments(scores);
        let standard: Vec<f64> = scores.iter().map(|&score| (score.to_f64() - mean) / deviation).collect();
        let Self { slope, intercept } = newton(&standard, positive);
        Ok(Self { slope: slope / deviation, intercept: intercept - slope / deviation * mean })
    }

    /// The probability at a score.
    pub fn probability(&self, score: f64) -> f64 {
        softplus(-self.exponent(score)).1
    }

    fn exponent(&self, score: f64) -> f64 {
        self.slope * score + self.intercept
    }
}

/// Mean and standard deviation, 1 where that is 0.
fn moments<T: Scalar>(scores: &[T]) -> (f64, f64) {
    let n = scores.len() as f64;
    let mean = scores.iter().map(|&score| score.to_f64()).sum::<f64>() / n;
    let variance = scores.iter().map(|&score| (score.to_f64() - mean).powi(2)).sum::<f64>() / n;
    (mean, if variance.is_normal() { variance.sqrt() } else { 1.0 })
}

fn newton(scores: &[f64], positive: &[bool]) -> Sigmoid {
    let n_positive = positive.iter().filter(|positive| **positive).count() as f64;
    let n_negative = positive.len() as f64 - n_positive;
    let (high, low) = ((n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0));
    let targets: Vec<f64> = positive.iter().map(|&positive| if positive { high } else { low }).collect();
    let mut at = Sigmoid { slope: 0.0, intercept: ((n_negative + 1.0) / (n_positive + 1.0)).ln() };
    let mut value = total(at, scores, &targets);
    for _ in 0..MAX_STEPS {
        let (direction, decrement) = direction(at, scores, &targets);
        if decrement <= DECREMENT {
            break;
        }
        let Some(next) = line_search(at, value, direction, decrement, |at| total(at, scores, &targets)) else { break };
        (at, value) = next;
    }
    at
}

/// −Σ t·log p + (1 − t)·log(1 − p).
fn total(at: Sigmoid, scores: &[f64], targets: &[f64]) -> f64 {
    let loss = |(&score, target): (&f64, &f64)| {
        let exponent = at.exponent(score);
        let known = if exponent >= 0.0 { target * exponent } else { (target - 1.0) * exponent };
        known + (-exponent.abs()).exp().ln_1p()
    };
    scores.iter().zip(targets).map(loss).sum()
}

/// Newton's step −H⁻¹g, and gᵀH⁻¹g.
fn direction(at: Sigmoid, scores: &[f64], targets: &[f64]) -> ([f64; 2], f64) {
    let (mut g, mut h) = ([0.0; 2], [RIDGE, 0.0, RIDGE]);
    for (&score, target) in scores.iter().zip(targets) {
        let (p, q) = (softplus(-at.exponent(score)).1, softplus(at.exponent(score)).1);
        g[0] += score * (target - p);
        g[1] += target - p;
        h[0] += score * score * p * q;
        h[1] += score * p * q;
        h[2] += p * q;
    }
    let determinant = h[0] * h[2] - h[1] * h[1];
    let step = [-(h[2] * g[0] - h[1] * g[1]) / determinant, -(h[0] * g[1] - h[1] * g[0]) / determinant];
    (step, -(g[0] * step[0] + g[1] * step[1]))
}

/// The first of the steps 1, 1/2, 1/4, … that decreases the value enough.
fn line_search(
    from: Sigmoid,
    value: f64,
    direction: [f64; 2],
    decrement: f64,
    total: impl Fn(Sigmoid) -> f64,
) -> Option<(Sigmoid, f64)> {
    let mut step = 1.0;
    while step >= MIN_STEP {
        let there =
            Sigmoid { slope: from.slope + step * direction[0], intercept: from.intercept + step * direction[1] };
        let reached = total(there);
        if reached <= value - SUFFICIENT * step * decrement + ROUNDING * value {
            return Some((there, reached));
        }
        step /= 2.0;
    }
    None
}

/// How the scores of a row become the probabilities of its classes: see the module's head.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// All classes together.
    Softmax,
    /// One for each score; their probabilities are divided by their sum.
    Sigmoids(Vec<Sigmoid>),
}

impl Link {
    /// That of a loss whose scores are probabilities in another form; none for other losses.
    pub fn native(loss: Loss, n_outputs: usize) -> Option<Self> {
        match loss {
            Loss::Softmax if n_outputs > 1 => Some(Self::Softmax),
            Loss::Softmax | Loss::Logistic => Some(Self::Sigmoids(vec![Sigmoid::LOGISTIC; n_outputs])),
            _ => None,
        }
    }

    /// The probabilities of all classes for rows of scores: n_rows × n_classes, each row of sum 1.
    ///
    /// # Panics
    /// When there is another number of scores than of sigmoids: a fault of the calling code.
    pub fn probabilities<T: Scalar>(&self, scores: ArrayView2<'_, T>) -> Array2<f64> {
        let sigmoids = match self {
            Self::Softmax => return softmax(scores.mapv(Scalar::to_f64)),
            Self::Sigmoids(sigmoids) => sigmoids,
        };
        assert_eq!(scores.ncols(), sigmoids.len(), "a score for each sigmoid");
        let exponent = |i: usize, output: usize| sigmoids[output].exponent(scores[[i, output]].to_f64());
        if sigmoids.len() == 1 {
            return Array2::from_shape_fn((scores.nrows(), 2), |(i, class)| {
                softplus(if class == 0 { exponent(i, 0) } else { -exponent(i, 0) }).1
            });
        }
        softmax(Array2::from_shape_fn(scores.dim(), |(i, output)| -softplus(exponent(i, output)).0))
    }
}

/// exp(x) / Σ exp(x) of each row; all alike where every exp(x) is 0.
fn softmax(mut values: Array2<f64>) -> Array2<f64> {
    for mut row in values.outer_iter_mut() {
        let most = row.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x));
        row.mapv_inplace(|x| if most == f64::NEG_INFINITY { 1.0 } else { (x - most).exp() });
        let total = row.sum();
        row.mapv_inplace(|x| x / total);
    }
    values
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::random::{Purpose, Stream};

    /// Scores of variance 4 around 1, and rows that are positive with the probability that the sigmoid says.
    fn drawn(truth: Sigmoid, n: usize, seed: u64) -> (Vec<f64>, Vec<bool>) {
        let (mut scores, mut uniform) = (vec![0.0; n], vec![0.0; n]);
        Stream::new(seed, Purpose::Start).normal_into(0, &mut scores);
        Stream::new(seed, Purpose::Start).lane(1).uniform_into(0, &mut uniform);
        scores.iter_mut().for_each(|score| *score = 1.0 + 2.0 * *score);
        let positive = scores.iter().zip(uniform).map(|(&score, u)| u < truth.probability(score)).collect();
        (scores, positive)
    }

    /// The inverse of the Fisher information Σ p(1 − p)·(s, 1)(s, 1)ᵀ is the covariance of (a, b): over many seeds, the
    /// mean of z² for each is 1 up to 4·√(2/seeds), and the mean of z is 0 up to 4/√seeds.
    #[test]
    fn recovers_a_known_sigmoid_within_its_standard_errors() {
        let (truth, n, seeds) = (Sigmoid { slope: -1.3, intercept: 0.7 }, 4_000, 200);
        let (mut sums, mut squares) = ([0.0; 2], [0.0; 2]);
        for seed in 0..seeds {
            let (scores, positive) = drawn(truth, n, seed);
            let found = Sigmoid::fit(&scores, &positive).unwrap();
            let mut h = [0.0; 3];
            for &s in &scores {
                let w = truth.probability(s) * (1.0 - truth.probability(s));
                [s * s * w, s * w, w].into_iter().zip(&mut h).for_each(|(x, h)| *h += x);
            }
            let determinant = h[0] * h[2] - h[1] * h[1];
            let errors = [found.slope - truth.slope, found.intercept - truth.intercept];
            let z = [errors[0] / (h[2] / determinant).sqrt(), errors[1] / (h[0] / determinant).sqrt()];
            for i in 0..2 {
                sums[i] += z[i];
                squares[i] += z[i] * z[i];
            }
        }
        let n = seeds as f64;
        for i in 0..2 {
            assert!((sums[i] / n).abs() < 4.0 / n.sqrt(), "mean {}", sums[i] / n);
            assert!((squares[i] / n - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "variance {}", squares[i] / n);
        }
    }

    /// At the minimum both sums of the gradient vanish: Σ p = Σ t and Σ s·p = Σ s·t.
    #[test]
    fn the_gradient_is_zero() {
        for (scale, shift) in [(1.0, 0.0), (1e-9, 0.0), (1e9, 3e8), (1e-6, 5.0)] {
            let (scores, positive) = drawn(Sigmoid { slope: -0.8, intercept: 2.0 }, 500, 3);
            let scores: Vec<f64> = scores.iter().map(|score| scale * score + shift).collect();
            let sigmoid = Sigmoid::fit(&scores, &positive).unwrap();
            let n_positive = positive.iter().filter(|positive| **positive).count() as f64;
            let (high, low) = ((n_positive + 1.0) / (n_positive + 2.0), 1.0 / (502.0 - n_positive));
            let mut sums = [0.0; 2];
            for (&score, &positive) in scores.iter().zip(&positive) {
                let rest = sigmoid.probability(score) - if positive { high } else { low };
                sums[0] += rest;
                sums[1] += rest * (score - shift) / scale;
            }
            // A decrement of 1e-6 with a Hessian of up to 500·5 leaves 1e-6·√2500 = 5e-5. Exponents are differences of terms
            // up to 5e6 where scores are 1e-6 apart at 5: they keep 1e-9, and the 500 terms 5e-7.
            assert!(sums.iter().all(|sum| sum.abs() < 1e-4), "scale {scale}: {sums:?}");
        }
    }

    /// Without an influence of the score: the share of the targets, in closed form.
    #[test]
    fn scores_that_say_nothing() {
        let equal = Sigmoid::fit(&[2.0; 5], &[true, false, false, false, true]).unwrap();
        assert_eq!(equal.slope, 0.0);
        let expected = (2.0 * 3.0 / 4.0 + 3.0 / 5.0) / 5.0;
        assert!((equal.probability(2.0) - expected).abs() < 1e-9, "{}", equal.probability(2.0));
        let none = Sigmoid::fit(&[1.0, 2.0, 3.0], &[false; 3]).unwrap();
        assert!((none.probability(9.0) - 0.2).abs() < 1e-12 && none.slope.abs() < 1e-12, "{none:?}");
        let all = Sigmoid::fit(&[1.0_f32, 2.0, 3.0], &[true; 3]).unwrap();
        assert!((all.probability(9.0) - 0.8).abs() < 1e-12, "{all:?}");
    }

    /// Two groups parted by their scores: the targets themselves are reached, t₊ = 3/4 and t₋ = 1/4.
    #[test]
    fn parted_classes_stay_finite() {
        let sigmoid = Sigmoid::fit(&[-1.0, -1.0, 1.0, 1.0], &[false, false, true, true]).unwrap();
        // p(1) = 3/4 is −a = ln 3. The sum of four rows is flat to 1e-6 standard errors of √(1/(4·3/16)).
        assert!((sigmoid.slope + 3.0_f64.ln()).abs() < 2e-6 && sigmoid.intercept.abs() < 2e-6, "{sigmoid:?}");
        let scores: Vec<f64> = (0..1_000).map(|i| if i < 500 { -1e6 } else { 1e6 }).collect();
        let positive: Vec<bool> = (0..1_000).map(|i| i >= 500).collect();
        let sigmoid = Sigmoid::fit(&scores, &positive).unwrap();
        assert!((sigmoid.probability(1e6) - 501.0 / 502.0).abs() < 1e-6, "{sigmoid:?}");
    }

    #[test]
    fn rejects_what_cannot_be_fitted() {
        assert!(matches!(Sigmoid::fit::<f64>(&[], &[]), Err(Error::TooFewRows { .. })));
        assert!(matches!(Sigmoid::fit(&[1.0], &[true, false]), Err(Error::Targets(_))));
        let error = Sigmoid::fit(&[1.0, f64::NAN], &[true, false]);
        assert!(matches!(error, Err(Error::NotFinite { row: 1, .. })));
    }

    #[test]
    fn links_by_hand() {
        let logistic = Link::native(Loss::Logistic, 1).unwrap();
        let two = logistic.probabilities(array![[3.0_f64.ln()], [-800.0]].view());
        assert!((two[[0, 1]] - 0.75).abs() < 1e-15 && (two[[0, 0]] - 0.25).abs() < 1e-15, "{two}");
        assert_eq!(two.row(1).to_vec(), [1.0, 0.0]);
        assert_eq!(Link::native(Loss::Softmax, 1), Some(logistic), "of two classes");

        let softmax = Link::native(Loss::Softmax, 3).unwrap();
        let three = softmax.probabilities(array![[0.0, 2.0_f64.ln(), 5.0_f64.ln()], [-1e30, 0.0, 1e30]].view());
        assert!((&three.row(0) - &array![0.125, 0.25, 0.625]).iter().all(|e| e.abs() < 1e-15), "{three}");
        assert_eq!(three.row(1).to_vec(), [0.0, 0.0, 1.0]);

        // Sigmoids of 1/4, 1/2 and 3/4.
        let logistic = Link::native(Loss::Logistic, 3).unwrap();
        let three = logistic.probabilities(array![[-3.0_f64.ln(), 0.0, 3.0_f64.ln()]].view());
        assert!((&three.row(0) - &array![1.0 / 6.0, 1.0 / 3.0, 0.5]).iter().all(|e| e.abs() < 1e-15), "{three}");
        for loss in [Loss::Squared, Loss::Hinge, Loss::SquaredHinge] {
            assert_eq!(Link::native(loss, 3), None);
        }
    }

    /// Far below the smallest float the quotients are still there; where even logarithms end, all classes are alike.
    #[test]
    fn nothing_underflows() {
        let logistic = Link::native(Loss::Logistic, 2).unwrap();
        let rows = logistic.probabilities(array![[-2000.0, -2000.0 + 3.0_f64.ln()]].view());
        // The scores are rounded to 2e-13.
        assert!((rows[[0, 0]] - 0.25).abs() < 1e-12, "{rows}");
        let steep = Sigmoid { slope: -f64::MAX, intercept: 0.0 };
        let rows = Link::Sigmoids(vec![steep; 4]).probabilities(array![[-9.0, -8.0, -7.0, -6.0]].view());
        assert_eq!(rows.row(0).to_vec(), [0.25; 4]);
        let rows = Link::Sigmoids(vec![steep; 4]).probabilities(array![[-9.0, 8.0, -7.0, 6.0]].view());
        assert_eq!(rows.row(0).to_vec(), [0.0, 0.5, 0.0, 0.5]);
    }
}
