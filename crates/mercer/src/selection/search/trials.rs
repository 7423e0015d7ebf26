//! One trial: a pipeline fitted to some rows and judged by others.

use std::time::Instant;

use mercer_simd::Scalar;

use super::super::contender::{Contender, Means};
use super::super::deadline::Deadline;
use super::super::judges::is_late;
use super::super::objective::{Objective, Predictions, Scores};
use super::super::report::Trial;
use super::rounds::Rung;
use super::{Fitted, Search};
use crate::feature_maps::{Distance, Gamma, LandmarkSpec, MapSpec};
use crate::kernels::KernelFamily;
use crate::learners::Lambda;
use crate::model::AnyPipeline;
use crate::pipeline::{Features, Pipeline, PipelineSpec};
use crate::{Error, Result};

/// Waves and products by transforms that a trial has for each landmark of the others.
pub(super) const WORTH: usize = 2;

impl<T: Scalar> Search<'_, T>
where
    AnyPipeline: From<Pipeline<T>>,
{
    /// Tries a contender; whether there is time for more.
    pub(super) fn try_one(&mut self, contender: Contender, rung: &Rung, end: Option<Instant>) -> Result<bool> {
        let start = Instant::now();
        let n_components = match contender.means {
            _ if contender.is_linear() => self.dataset.n_inputs(),
            Means::Landmarks => rung.n_components.min(rung.n_rows as usize),
            Means::Transforms => WORTH * rung.n_components,
        };
        let gamma = match self.gamma(&contender, rung) {
            Ok(gamma) => gamma,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => f64::NAN,
        };
        let map = contender.map(n_components, gamma);
        let lambda = self.known_lambda(&contender, rung).map_or(Lambda::Auto, Lambda::Value);
        let spec = contender.pipeline(map, lambda, (self.task(), self.objective), self.spec.seed);
        let spec = self.with_solver(spec, &contender, (rung.n_rows, n_components));
        let deadline = Deadline::new(self.driver.progress(), end);
        let tried = self.fit(&spec, rung, n_components, &deadline);
        let mut trial = Trial {
            contender,
            description: contender.describe(gamma),
            spec,
            rung: rung.at,
            n_rows: rung.n_rows,
            n_judges: 0,
            n_components,
            lambda: None,
            score: None,
            error: None,
            threshold: None,
            seconds: start.elapsed().as_secs_f64(),
            failure: None,
        };
        let in_time = !matches!(tried, Err(Error::Interrupted));
        match tried {
            Ok((mut predictions, (pipeline, fit))) => {
                if self.decides_by_threshold() {
                    trial.threshold = predictions.decide();
                }
                let scores = predictions.scores(self.objective);
                trial.lambda = Some(pipeline.spec().learner.lambda);
                trial.n_judges = predictions.n_rows() as u64;
                (trial.score, trial.error) = (Some(scores.score), Some(scores.error()));
                self.keep(&scores, (&contender, rung.at), (pipeline, fit));
                self.scores.push(Some(scores));
            }
            Err(Error::Interrupted) if !is_late(&deadline, self.driver.progress()) => return Err(Error::Interrupted),
            Err(error) => {
                let late = "ended when the time of its round was over".to_owned();
                trial.failure = Some(if in_time { error.to_string() } else { late });
                self.scores.push(None);
            }
        }
        self.trials.push(trial);
        Ok(in_time)
    }

    /// Whether a model is to decide above the score of the largest F1: probabilities would say something else.
    fn decides_by_threshold(&self) -> bool {
        self.objective == Objective::F1 && !self.spec.probabilities
    }

    /// γ in numbers.
    fn gamma(&mut self, contender: &Contender, rung: &Rung) -> Result<f64> {
        if !contender.kernel.has_gamma() {
            return Ok(f64::NAN);
        }
        let key = (contender.preprocess, contender.distance() == Distance::L1);
        if let Some((_, scale)) = self.scales.iter().find(|(known, _)| *known == key) {
            return Ok(scale * contender.width);
        }
        let kernel = if key.1 { KernelFamily::Laplace } else { KernelFamily::Rbf };
        let map = MapSpec::Landmark(LandmarkSpec { kernel, gamma: Gamma::Scale, ..LandmarkSpec::new(1) });
        let rows = &rung.folds[0].0;
        let features = Features::<T>::fit_undrawn(rows, contender.preprocess, &map, self.spec.seed, self.driver)?;
        let Some(Gamma::Value(scale)) = features.spec().spec.gamma() else { unreachable!("a resolved map") };
        self.scales.push((key, scale));
        Ok(scale * contender.width)
    }

    /// λ of the last trial that differs in nothing but its size, its means and, as little as there is, its width: as many rows again share the
    /// penalty of as many. Another penalty is one of what this round found.
    fn known_lambda(&self, contender: &Contender, rung: &Rung) -> Option<f64> {
        let is_alike = |trial: &&Trial| {
            let Contender { width, means, balanced, penalty, .. } = *contender;
            trial.rung < rung.at && Contender { width, means, balanced, penalty, ..trial.contender } == *contender
        };
        let is_it = |trial: &&Trial| {
            let Contender { penalty, .. } = *contender;
            penalty != trial.contender.penalty && Contender { penalty, ..trial.contender } == *contender
        };
        let apart = |trial: &Trial| (trial.contender.width / contender.width).ln().abs();
        let later_or_nearer = |a: &&Trial, b: &&Trial| apart(a).total_cmp(&apart(b)).then(b.rung.cmp(&a.rung));
        let known = || self.trials.iter().filter(|trial| trial.lambda.is_some());
        let of_round = known().filter(is_it).rfind(|trial| trial.rung == rung.at);
        let nearest = of_round.or_else(|| known().filter(is_alike).min_by(later_or_nearer))?;
        let rows = nearest.n_rows as f64 / rung.n_rows as f64;
        nearest.lambda.map(|lambda| lambda * rows * contender.penalty / nearest.contender.penalty)
    }

    /// Fits a pipeline to the rows of each fold, and predicts those that judge it; the pipeline is that of the first.
    fn fit(
        &self,
        spec: &PipelineSpec,
        rung: &Rung,
        n_components: usize,
        deadline: &Deadline<'_>,
    ) -> Result<(Predictions, Fitted<T>)> {
        let size = self.size(rung.n_rows, n_components);
        let driver = self.driver_for(spec, size, deadline)?;
        let mut found: Option<(Predictions, Fitted<T>)> = None;
        for (teaching, judging) in &rung.folds {
            let fitted = Pipeline::<T>::fit(teaching, spec, &driver)?;
            let predictions = Predictions::of(&fitted.0, &self.encoder, judging, &driver)?;
            match &mut found {
                Some((all, _)) => all.append(predictions),
                None => found = Some((predictions, fitted)),
            }
        }
        Ok(found.expect("at least one fold"))
    }

    /// Keeps the model of the best trial of this round, of the kernels and of the linear ones; called before the trial is listed.
    fn keep(&mut self, scores: &Scores, (contender, rung): (&Contender, usize), fitted: Fitted<T>) {
        let kept = &self.best[usize::from(contender.is_linear())];
        let is_better = kept.as_ref().is_none_or(|(at, _)| {
            let best = self.scores[*at].as_ref();
            self.trials[*at].rung < rung || best.is_none_or(|best| scores.score > best.score)
        });
        if is_better {
            self.best[usize::from(contender.is_linear())] = Some((self.trials.len(), fitted));
        }
    }
}
