//! The final model: the chosen pipeline on all rows, with as many features as time and memory allow.
//!
//! What a training will take is reckoned from one that was measured, by a count of multiply-adds ([`Contender::cost`]). From a trial of other rows and with
//! a path of λ that is rough; from a training of the same pipeline on all rows, with fewer features, it is good. So a first model takes
//! a small part of the time that is left, and one as large as the rest of it allows replaces it, as often as there is time; where that does not end in time,
//! the one of both with the smaller objective stands: both minimise the same one, and the more features, the lower its minimum.

use std::time::Instant;

use mercer_simd::Scalar;

use super::super::contender::{Contender, Means, Parts, bytes, parts};
use super::super::deadline::Deadline;
use super::super::judges::is_late;
use super::super::report::{Training, Trial};
use super::trials::WORTH;
use super::{Fitted, Search};
use crate::dataset::Task;
use crate::feature_maps::Gamma;
use crate::learners::{Convergence, Lambda, Scheme, Solver};
use crate::model::AnyPipeline;
use crate::pipeline::{FitReport, Pipeline, PipelineSpec};
use crate::{Error, Result};

/// Of the time that is left, what the first model may take as it is reckoned, and what a larger one may.
const SHARES: (f64, f64) = (0.12, 0.8);
/// Of the whole time, what a larger model may take beyond its end.
const GRACE: f64 = 0.05;
/// A larger model has at least so many times the features.
const GROWTH: f64 = 1.3;
/// Waves or products of transforms that stand for a landmark in a large model: landmarks gain more by their number (docs/decisions/0018).
const RATE: usize = 6;
/// Landmarks of the final model where no time says more.
const FINAL: usize = 4_096;
/// Features of the final model at most.
const MOST: usize = 32_768;
/// Sizes that are tried: eight from each power of two to the next.
const LADDER: [usize; 49] = ladder();

const fn ladder() -> [usize; 49] {
    let (mut sizes, mut at) = ([MOST; 49], 0);
    while at < 48 {
        sizes[at] = (8 + at % 8) << (6 + at / 8);
        at += 1;
    }
    sizes
}

/// A model of all rows.
pub(super) struct Grown<T> {
    pub(super) pipeline: Pipeline<T>,
    pub(super) fit: FitReport,
    pub(super) spec: PipelineSpec,
    pub(super) ended_by_time: bool,
    pub(super) is_of_trial: bool,
    pub(super) threshold: Option<f64>,
    pub(super) trainings: Vec<Training>,
}

impl<T: Scalar> Grown<T> {
    /// The model that decides between two classes above a score, where one was found.
    fn deciding(self, threshold: Option<f64>) -> Result<Self> {
        match threshold {
            Some(value) => Ok(Self { pipeline: self.pipeline.shifted(&[-value])?, threshold, ..self }),
            None => Ok(self),
        }
    }
}

impl<T: Scalar> Search<'_, T>
where
    AnyPipeline: From<Pipeline<T>>,
{
    /// Trains the chosen pipeline on all rows.
    pub(super) fn grow(&mut self, chosen: usize) -> Result<Grown<T>> {
        let trial = self.trials[self.by_better_means(chosen)].clone();
        let mut unit = self.unit_of(&trial);
        let mut n_components = self.first_of_all(&trial.contender, unit);
        let mut grown: Option<Grown<T>> = None;
        let mut trainings = Vec::new();
        loop {
            let spec = self.spec_of(&trial, n_components);
            let cost = self.cost_of_all(&trial.contender, n_components);
            let (fitted, late, taken) = self.fit_all(&spec, n_components, grown.is_some())?;
            let is_better = |fit: &FitReport, before: &Grown<T>| replaces(fit.convergence, before.fit.convergence);
            let is_kept = fitted.as_ref().is_some_and(|(_, fit)| grown.as_ref().is_none_or(|g| is_better(fit, g)));
            let (reckoned, seconds) = (seconds(unit, cost), taken.iter().sum());
            trainings.push(Training { n_components, seconds, reckoned, is_kept });
            if let (Some((pipeline, fit)), true) = (fitted, is_kept) {
                let trainings = Vec::new();
                let (ended_by_time, is_of_trial, threshold) = (late, false, None);
                grown = Some(Grown { pipeline, fit, spec, ended_by_time, is_of_trial, threshold, trainings });
            }
            unit = units(taken, cost);
            let larger = self.largest(&trial.contender, unit, SHARES.1);
            let is_worth_it = larger as f64 >= GROWTH * n_components as f64;
            if late || self.deadline.is_none() || trial.contender.is_linear() || !is_worth_it {
                break;
            }
            n_components = larger;
        }
        let Some(mut grown) = grown else { return self.grown_of_trial(chosen) };
        grown.trainings = trainings;
        grown.deciding(trial.threshold)
    }

    /// Features of the first model: a small part of the time, but learned as the largest one will be, so that it can be reckoned from.
    fn first_of_all(&self, contender: &Contender, unit: Parts) -> usize {
        let (first, last) = (self.largest(contender, unit, SHARES.0), self.largest(contender, unit, SHARES.1));
        let way = |n: usize| {
            let n_rows = self.dataset.n_rows();
            let spec = self.with_solver(self.spec_for_size(contender, n), contender, (n_rows, n));
            let is_direct = spec.learner.solver_for(n_rows, n) == Solver::Direct;
            let scheme = Scheme::of(n_rows as usize, n, self.encoder.n_outputs(), false);
            (!is_direct).then_some(std::mem::discriminant(&scheme))
        };
        let alike = LADDER.into_iter().find(|&n| n >= first && n <= last && way(n) == way(last));
        alike.unwrap_or(first)
    }

    /// The chosen trial, or the same by other means: waves and products of transforms where [`WORTH`] of them for a landmark were as good, but for the
    /// error of the difference, and the time and memory that are left give [`RATE`] of them.
    fn by_better_means(&self, chosen: usize) -> usize {
        let of = |means: Means| {
            let alike = |trial: &Trial| Contender { means, balanced: false, penalty: 1.0, ..trial.contender };
            let wanted = alike(&self.trials[chosen]);
            let is_it = |trial: &Trial| {
                trial.rung == self.trials[chosen].rung && trial.contender.means == means && alike(trial) == wanted
            };
            self.ranked(0).into_iter().find(|&at| is_it(&self.trials[at]))
        };
        let (Some(landmarks), Some(waves)) = (of(Means::Landmarks), of(Means::Transforms)) else { return chosen };
        let (Some(a), Some(b)) = (&self.scores[landmarks], &self.scores[waves]) else { return chosen };
        let (gain, error) = a.beyond(b);
        let [n_landmarks, n_waves] = [landmarks, waves].map(|at| {
            let trial = &self.trials[at];
            self.largest(&trial.contender, self.unit_of(trial), SHARES.1)
        });
        let is_exact = n_landmarks as u64 >= self.dataset.n_rows();
        if !is_exact && gain <= error && n_waves >= RATE * n_landmarks { waves } else { landmarks }
    }

    /// The model of the trial, where the time was over before there was any of all rows.
    fn grown_of_trial(&mut self, chosen: usize) -> Result<Grown<T>> {
        let of_trial = self.best.iter_mut().find(|kept| kept.as_ref().is_some_and(|(at, _)| *at == chosen));
        let Some((_, (pipeline, fit))) = of_trial.and_then(Option::take) else { return Err(Error::Interrupted) };
        let spec = self.trials[chosen].spec.clone();
        let (ended_by_time, is_of_trial, threshold, trainings) = (true, true, None, Vec::new());
        let grown = Grown { pipeline, fit, spec, ended_by_time, is_of_trial, threshold, trainings };
        grown.deciding(self.trials[chosen].threshold)
    }

    /// The pipeline that would be trained now.
    pub(super) fn final_spec(&self, chosen: usize) -> PipelineSpec {
        let trial = &self.trials[self.by_better_means(chosen)];
        self.spec_of(trial, self.largest(&trial.contender, self.unit_of(trial), SHARES.1))
    }

    /// The pipeline of a trial for all rows, with so many features.
    fn spec_of(&self, trial: &Trial, n_components: usize) -> PipelineSpec {
        let gamma = match trial.spec.map.gamma() {
            Some(Gamma::Value(gamma)) => gamma,
            _ => f64::NAN,
        };
        let map = trial.contender.map(n_components, gamma);
        // As many rows again share the penalty of as many.
        let lambda = trial.lambda.map_or(Lambda::Auto, |lambda| {
            Lambda::Value(lambda * (trial.n_rows as f64 / self.dataset.n_rows() as f64).min(1.0))
        });
        let spec = trial.contender.pipeline(map, lambda, (self.task(), self.objective), self.spec.seed);
        let mut spec = self.with_solver(spec, &trial.contender, (self.dataset.n_rows(), n_components));
        spec.probabilities = self.spec.probabilities && self.task() == Task::Classification;
        spec
    }

    /// A model of all rows, or none where the time was over before there was any; whether the time ended it before its minimum; and what it took. One that follows
    /// another has some more time.
    fn fit_all(
        &self,
        spec: &PipelineSpec,
        n_components: usize,
        is_second: bool,
    ) -> Result<(Option<Fitted<T>>, bool, Parts)> {
        let start = Instant::now();
        let grace = |end: Instant| end + end.saturating_duration_since(self.started).mul_f64(GRACE);
        let deadline = if is_second { self.deadline.map(grace) } else { self.deadline };
        let deadline = Deadline::new(self.driver.progress(), deadline);
        let size = self.size(self.dataset.n_rows(), n_components);
        let ends_early = self.deadline.is_some() || self.driver.keeps_interrupted();
        let driver = self.driver_for(spec, size, &deadline)?.keeping_interrupted(ends_early);
        let fitted = Pipeline::<T>::fit(self.dataset, spec, &driver);
        self.driver.absorb(&driver);
        let taken = parts(&driver.seconds(), start.elapsed().as_secs_f64());
        let late = is_late(&deadline, self.driver.progress());
        match fitted {
            Ok(fitted) => {
                let ended = late && fitted.1.convergence.is_some_and(|convergence| !convergence.converged);
                Ok((Some(fitted), ended, taken))
            }
            Err(Error::Interrupted) if late => Ok((None, true, taken)),
            Err(error) => Err(error),
        }
    }

    /// Seconds for a unit of cost, by a trial.
    pub(super) fn unit_of(&self, trial: &Trial) -> Parts {
        let has_path = trial.spec.learner.lambda == Lambda::Auto;
        let cost = self.cost(&trial.contender, (trial.n_rows, trial.n_components), has_path);
        [trial.seconds / (cost.iter().sum::<f64>() * self.n_folds[trial.rung] as f64); 3]
    }

    fn cost_of_all(&self, contender: &Contender, n_components: usize) -> Parts {
        self.cost(contender, (self.dataset.n_rows(), n_components), false)
    }

    /// As many features as memory allows and a share of the time that is left.
    fn largest(&self, contender: &Contender, unit: Parts, share: f64) -> usize {
        let n_rows = self.dataset.n_rows() as usize;
        if contender.is_linear() {
            return self.dataset.n_inputs();
        }
        let left = self.seconds_left();
        let most = match (contender.means, left) {
            (Means::Landmarks, Some(_)) => n_rows.min(MOST / 2),
            (Means::Landmarks, None) => n_rows.min(FINAL),
            (Means::Transforms, Some(_)) => MOST,
            (Means::Transforms, None) => WORTH * FINAL,
        };
        let fits = |n_components: usize| {
            let n = n_rows as u64;
            let spec = self.with_solver(self.spec_for_size(contender, n_components), contender, (n, n_components));
            let wanted = seconds(unit, self.cost_of_all(contender, n_components));
            let in_time = left.is_none_or(|left| wanted <= share * left);
            in_time && bytes(&spec, self.size(n, n_components), T::DTYPE).0 <= self.spec.memory
        };
        let sizes = LADDER.into_iter().map(|n| n.min(most));
        sizes.filter(|&n| fits(n)).max().unwrap_or(self.first().1).min(most)
    }
}

/// Whether a larger model is better than the one before: it is at its minimum, or already below the other. One without a search for it is at its minimum.
fn replaces(larger: Option<Convergence>, before: Option<Convergence>) -> bool {
    larger.is_none_or(|larger| larger.converged || before.is_some_and(|before| larger.objective < before.objective))
}

/// What a training of some cost takes.
pub(super) fn seconds(unit: Parts, cost: Parts) -> f64 {
    unit.iter().zip(cost).map(|(unit, cost)| unit * cost).sum()
}

/// Seconds for a unit of each part's cost, by a training that took so many; by all of it for a part that it did not have.
fn units(taken: Parts, cost: Parts) -> Parts {
    let mean = taken.iter().sum::<f64>() / cost.iter().sum::<f64>();
    std::array::from_fn(|part| if cost[part] > 0.0 { taken[part] / cost[part] } else { mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_models_the_one_nearer_to_its_minimum() {
        let of = |objective, converged| {
            Some(Convergence { objective, gradient_norm: None, gap: None, iterations: 9, converged })
        };
        assert!(replaces(of(0.3, true), of(0.2, true)));
        assert!(replaces(of(0.1, false), of(0.2, true)));
        assert!(!replaces(of(0.3, false), of(0.2, true)));
        assert!(!replaces(of(0.3, false), None));
        assert!(replaces(None, of(0.2, true)));
    }
}
