//! What a wrong score costs.
//!
//! With the score s of a row, its target y (±1 for a class and its complement, or a real value), m = y·s, r = s − y:
//!
//! | loss | ℓ | ℓ″ |
//! |---|---|---|
//! | squared | r² | 2 |
//! | squared hinge | max(0, 1 − m)² | 2 where m < 1 |
//! | hinge | max(0, 1 − m) | none: [`super::solve_dual`] minimises it, [`super::AveragedSgd`] about |
//! | logistic | log(1 + exp(−m)) | p·(1 − p), p the probability |
//! | softmax | log Σ_c exp(s_c) − s_class | p_c·(1 − p_c), on the diagonal |
//! | Huber | r² within δ, 2δ·\|r\| − δ² beyond | 2 within |
//! | squared ε-insensitive | max(0, \|r\| − ε)² | 2 beyond ε |
//!
//! All are convex, and all but softmax fall apart into one problem for each output.

use mercer_simd::Scalar;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};
use serde::{Deserialize, Serialize};

use crate::dataset::Task;
use crate::{Error, Result};

/// A loss: see the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// Of a ridge model.
    Squared,
    /// Of a support vector machine.
    SquaredHinge,
    /// Of a support vector machine.
    Hinge,
    /// Of logistic regression, one class against the rest.
    Logistic,
    /// Of logistic regression, all classes together.
    Softmax,
    /// Of a regression that outliers do not bend.
    Huber {
        /// where the square ends; a pipeline counts it in spreads of the target
        delta: f64,
    },
    /// Of a support vector regression.
    SquaredEpsilonInsensitive {
        /// half the width of the tube without a cost; a pipeline counts it in spreads of the target
        epsilon: f64,
    },
}

impl Loss {
    /// What a model of it is called.
    pub fn learner(&self) -> &'static str {
        match self {
            Self::Squared => "ridge",
            Self::SquaredHinge | Self::Hinge => "svm",
            Self::Logistic => "logistic",
            Self::Softmax => "softmax",
            Self::Huber { .. } => "huber",
            Self::SquaredEpsilonInsensitive { .. } => "svr",
        }
    }

    /// Its name in words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Squared => "squared",
            Self::SquaredHinge => "squared hinge",
            Self::Hinge => "hinge",
            Self::Logistic => "logistic",
            Self::Softmax => "softmax",
            Self::Huber { .. } => "huber",
            Self::SquaredEpsilonInsensitive { .. } => "squared epsilon-insensitive",
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        match *self {
            Self::Huber { delta } if !(delta > 0.0 && delta.is_finite()) => {
                Err(Error::parameter("delta", delta, "a number above 0"))
            }
            Self::SquaredEpsilonInsensitive { epsilon } if !(epsilon >= 0.0 && epsilon.is_finite()) => {
                Err(Error::parameter("epsilon", epsilon, "a number of at least 0"))
            }
            _ => Ok(()),
        }
    }

    /// Whether targets of this kind can be learned with it.
    pub fn suits(&self, task: Task) -> bool {
        match self {
            Self::Squared => true,
            Self::SquaredHinge | Self::Hinge | Self::Logistic | Self::Softmax => task == Task::Classification,
            Self::Huber { .. } | Self::SquaredEpsilonInsensitive { .. } => task == Task::Regression,
        }
    }

    /// The second derivative where it is largest, about.
    pub(crate) fn curvature(&self) -> f64 {
        if matches!(self, Self::Logistic | Self::Softmax) { 0.25 } else { 2.0 }
    }

    /// The second derivative by a score, from the first one; of joined outputs it is on the diagonal of the matrix of them.
    #[inline]
    pub(super) fn curve(&self, slope: f64, target: f64) -> f64 {
        let within = |yes: bool| if yes { 2.0 } else { 0.0 };
        match *self {
            Self::Squared => 2.0,
            Self::Hinge => 0.0,
            Self::SquaredHinge | Self::SquaredEpsilonInsensitive { .. } => within(slope != 0.0),
            // Where the square ends the slope is 2δ.
            Self::Huber { delta } => within(slope.abs() < 2.0 * delta),
            // The slope is the probability of the other class.
            Self::Logistic => slope.abs() * (1.0 - slope.abs()),
            // It is the probability, less one for the class of the row.
            Self::Softmax => {
                let p = if target > 0.0 { slope + 1.0 } else { slope };
                p * (1.0 - p)
            }
        }
    }

    /// Whether the outputs of a row are one problem, not one for each.
    pub(super) fn joins_outputs(&self) -> bool {
        matches!(self, Self::Softmax)
    }

    /// The sum of the losses of some rows.
    pub(crate) fn total<T: Scalar>(&self, scores: ArrayView2<'_, T>, targets: ArrayView2<'_, T>) -> f64 {
        self.weighted_total(scores.to_owned(), targets, Array1::ones(scores.nrows()).view())
    }

    /// The sum of the losses of some rows, each times its weight; the memory of the scores is used.
    pub(crate) fn weighted_total<T: Scalar>(
        &self,
        mut scores: Array2<T>,
        targets: ArrayView2<'_, T>,
        weights: ArrayView1<'_, T>,
    ) -> f64 {
        let mut sums = vec![0.0; if self.joins_outputs() { 1 } else { scores.ncols() }];
        self.differentiate(scores.view_mut(), targets, weights, &mut sums);
        sums.iter().sum()
    }

    /// Adds the losses of some rows to `sums` (one for each output, or one for all where the outputs are joined), each
    /// times its row's weight, and puts the weighted derivatives in the place of the scores.
    pub(super) fn differentiate<T: Scalar>(
        &self,
        scores: ArrayViewMut2<'_, T>,
        targets: ArrayView2<'_, T>,
        weights: ArrayView1<'_, T>,
        sums: &mut [f64],
    ) {
        let panel = (scores, targets, weights);
        match *self {
            Self::Squared => each(panel, sums, squared),
            Self::SquaredHinge => each(panel, sums, squared_hinge),
            Self::Hinge => each(panel, sums, hinge),
            Self::Logistic => each(panel, sums, logistic),
            Self::Huber { delta } => each(panel, sums, |score, target| huber(delta, score, target)),
            Self::SquaredEpsilonInsensitive { epsilon } => {
                each(panel, sums, |score, target| squared_epsilon_insensitive(epsilon, score, target));
            }
            Self::Softmax => softmax(panel, sums),
        }
    }

    /// The derivative by one score, of losses that do not join the outputs; at the kink of the hinge loss 0.
    ///
    /// # Panics
    /// For softmax: a fault of the calling code.
    #[inline]
    pub(super) fn slope(&self, score: f64, target: f64) -> f64 {
        let (_, slope) = match *self {
            Self::Squared => squared(score, target),
            Self::SquaredHinge => squared_hinge(score, target),
            Self::Hinge => hinge(score, target),
            Self::Logistic => logistic(score, target),
            Self::Huber { delta } => huber(delta, score, target),
            Self::SquaredEpsilonInsensitive { epsilon } => squared_epsilon_insensitive(epsilon, score, target),
            Self::Softmax => unreachable!("its outputs are one problem"),
        };
        slope
    }
}

fn squared(score: f64, target: f64) -> (f64, f64) {
    let rest = score - target;
    (rest * rest, 2.0 * rest)
}

fn squared_hinge(score: f64, target: f64) -> (f64, f64) {
    let short = (1.0 - target * score).max(0.0);
    (short * short, -2.0 * target * short)
}

fn hinge(score: f64, target: f64) -> (f64, f64) {
    let short = (1.0 - target * score).max(0.0);
    (short, if short > 0.0 { -target } else { 0.0 })
}

fn logistic(score: f64, target: f64) -> (f64, f64) {
    let (value, probability) = softplus(-target * score);
    (value, -target * probability)
}

fn huber(delta: f64, score: f64, target: f64) -> (f64, f64) {
    let rest = score - target;
    let inner = rest.clamp(-delta, delta);
    (inner * (2.0 * rest - inner), 2.0 * inner)
}

fn squared_epsilon_insensitive(epsilon: f64, score: f64, target: f64) -> (f64, f64) {
    let rest = score - target;
    let beyond = (rest.abs() - epsilon).max(0.0);
    (beyond * beyond, 2.0 * beyond.copysign(rest))
}

type Panel<'a, T> = (ArrayViewMut2<'a, T>, ArrayView2<'a, T>, ArrayView1<'a, T>);

fn each<T: Scalar>(
    (mut scores, targets, weights): Panel<'_, T>,
    sums: &mut [f64],
    loss: impl Fn(f64, f64) -> (f64, f64),
) {
    let one = |score: &mut T, target: T, weight: T, sum: &mut f64| {
        let weight = weight.to_f64();
        let (value, slope) = loss((*score).to_f64(), target.to_f64());
        *sum += weight * value;
        *score = T::from_f64(weight * slope);
    };
    if let [sum] = sums {
        // One output needs no views of rows.
        let rows = scores.into_iter().zip(targets).zip(weights);
        return rows.for_each(|((score, &target), &weight)| one(score, target, weight, sum));
    }
    for ((scores, targets), &weight) in scores.outer_iter_mut().zip(targets.outer_iter()).zip(weights) {
        let outputs = scores.into_iter().zip(targets).zip(&mut *sums);
        outputs.for_each(|((score, &target), sum)| one(score, target, weight, sum));
    }
}

fn softmax<T: Scalar>((mut scores, targets, weights): Panel<'_, T>, sums: &mut [f64]) {
    let mut powers = vec![0.0; scores.ncols()];
    let rows = scores.axis_iter_mut(Axis(0)).zip(targets.axis_iter(Axis(0))).zip(weights);
    for ((mut scores, targets), &weight) in rows {
        let weight = weight.to_f64();
        let most = scores.iter().fold(f64::NEG_INFINITY, |most, score| most.max((*score).to_f64()));
        powers.iter_mut().zip(&scores).for_each(|(power, &score)| *power = (score.to_f64() - most).exp());
        let total: f64 = powers.iter().sum();
        for ((score, &target), power) in scores.iter_mut().zip(targets).zip(&powers) {
            let is_class = target > T::zero();
            if is_class {
                sums[0] += weight * (total.ln() - ((*score).to_f64() - most));
            }
            *score = T::from_f64(weight * (power / total - f64::from(is_class)));
        }
    }
}

/// log(1 + eᵗ) and its derivative, without overflow.
pub(super) fn softplus(t: f64) -> (f64, f64) {
    let small = (-t.abs()).exp();
    let inverse = 1.0 / (1.0 + small);
    (t.max(0.0) + small.ln_1p(), if t > 0.0 { inverse } else { small * inverse })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    const LOSSES: [Loss; 7] = [
        Loss::Squared,
        Loss::SquaredHinge,
        Loss::Hinge,
        Loss::Logistic,
        Loss::Softmax,
        Loss::Huber { delta: 0.7 },
        Loss::SquaredEpsilonInsensitive { epsilon: 0.3 },
    ];

    fn total(loss: Loss, scores: &Array2<f64>, targets: &Array2<f64>) -> (f64, Array2<f64>) {
        let mut slopes = scores.clone();
        let mut sums = vec![0.0; if loss.joins_outputs() { 1 } else { scores.ncols() }];
        loss.differentiate(slopes.view_mut(), targets.view(), array![1.0, 2.0, 0.5].view(), &mut sums);
        (sums.iter().sum(), slopes)
    }

    fn problem() -> (Array2<f64>, Array2<f64>) {
        let scores = array![[0.3, -1.7, 2.2], [40.0, -900.0, 0.1], [-0.2, 0.9, 1.4]];
        (scores, array![[-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]])
    }

    /// Central differences of every score, at scores where no loss has a kink within the step.
    #[test]
    fn slopes_are_derivatives() {
        let ((scores, targets), step) = (problem(), 1e-5);
        for loss in LOSSES {
            let (_, slopes) = total(loss, &scores, &targets);
            for ((i, j), slope) in slopes.indexed_iter() {
                let moved = |by: f64| {
                    let mut scores = scores.clone();
                    scores[[i, j]] += by;
                    total(loss, &scores, &targets).0
                };
                let numeric = (moved(step) - moved(-step)) / (2.0 * step);
                // Values up to 1e6 keep 1e-10 of themselves; over the step that is 1e-5 relative to the slope.
                assert!(
                    (numeric - slope).abs() < 1e-4 * (1.0 + slope.abs()),
                    "{loss:?} at {i}, {j}: {numeric}, {slope}"
                );
            }
        }
    }

    /// Differences of the slopes of one row.
    #[test]
    fn curvatures_are_derivatives_of_slopes() {
        let ((scores, targets), step) = (problem(), 1e-6);
        for loss in LOSSES.into_iter().filter(|loss| *loss != Loss::Hinge) {
            let slopes = total(loss, &scores, &targets).1;
            for (j, &of_row) in slopes.row(0).iter().enumerate() {
                let curvature = loss.curve(of_row, targets[[0, j]]);
                let slope = |by: f64| {
                    let mut scores = scores.clone();
                    scores[[0, j]] += by;
                    total(loss, &scores, &targets).1[[0, j]]
                };
                let numeric = (slope(step) - slope(-step)) / (2.0 * step);
                assert!((numeric - curvature).abs() < 1e-8, "{loss:?} at {j}: {numeric}, {curvature}");
            }
        }
    }

    #[test]
    fn values_by_hand() {
        let one = |loss: Loss, score: f64, target: f64| {
            let (mut scores, mut sums) = (array![[score]], [0.0]);
            loss.differentiate(scores.view_mut(), array![[target]].view(), array![2.0].view(), &mut sums);
            sums[0]
        };
        assert_eq!(one(Loss::Squared, 3.0, 1.0), 8.0);
        assert_eq!(one(Loss::SquaredHinge, -1.0, 1.0), 8.0);
        assert_eq!(one(Loss::SquaredHinge, 1.5, 1.0), 0.0);
        assert_eq!(one(Loss::Hinge, -1.0, 1.0), 4.0);
        assert_eq!(one(Loss::Logistic, 0.0, 1.0), 2.0 * 2.0_f64.ln());
        assert_eq!(one(Loss::Logistic, -1e4, 1.0), 2e4);
        assert_eq!(one(Loss::Huber { delta: 1.0 }, 3.0, 0.0), 2.0 * (2.0 * 3.0 - 1.0));
        assert_eq!(one(Loss::SquaredEpsilonInsensitive { epsilon: 0.5 }, 2.0, 0.0), 2.0 * 2.25);
        let (mut scores, mut sums) = (array![[1.0, 1.0, 1.0, 1.0]], [0.0]);
        let targets = array![[-1.0, 1.0, -1.0, -1.0]];
        Loss::Softmax.differentiate(scores.view_mut(), targets.view(), array![1.0].view(), &mut sums);
        assert!((sums[0] - 4.0_f64.ln()).abs() < 1e-15);
        assert_eq!(scores, array![[0.25, -0.75, 0.25, 0.25]]);
    }

    #[test]
    fn parameters_out_of_range() {
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(Loss::Huber { delta: bad }.validate().is_err());
            assert!(Loss::SquaredEpsilonInsensitive { epsilon: bad }.validate().is_err());
        }
        assert!(Loss::Huber { delta: 0.0 }.validate().is_err());
        assert!(Loss::SquaredEpsilonInsensitive { epsilon: 0.0 }.validate().is_ok());
    }
}
