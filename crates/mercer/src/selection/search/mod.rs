//! Choosing a pipeline: many on few rows, the best of them on more.
//!
//! Successive halving in three rounds ([`rounds`]). Round 0 compares scalings, kernels and widths by 512 landmarks and 3,000
//! rows; round 1 the best of them by four times the rows and twice the features, with other losses; round 2 the best by as much again.
//! A round that has tried what it was given goes on with what is near to the best of it ([`Contender::near`]), while it has trials or time.
//! Landmarks serve every kernel and are the best of few features, so that a narrow kernel is not judged by how badly few waves show it; the last
//! round also has the best by waves or products of transforms, two for a landmark. Each round tries the linear model.
//!
//! Every trial is judged by rows that it did not learn from; λ is found within those that it learns from. Where the linear model is
//! as good but for the standard error of the difference ([`super::Objective`]), it is chosen. The best of many scores is too good: where
//! it is asked for, further rows take no part in any of it and confirm the choice.
//!
//! The best of the last round is trained on all rows, with as many features as time and memory allow ([`growth`]).
//!
//! With a number of trials the plan depends on nothing but sizes and the seed: the same choice and the same bits every time. With a time, the rows
//! of a round, and the features of the final model, are as many as the trials before say can be afforded.
//!
//! References: Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016.

mod growth;
mod rounds;
mod trials;

use std::time::Instant;

use mercer_simd::{Dtype, Scalar};
use serde::{Deserialize, Serialize};

use self::rounds::RUNGS;
use super::contender::{Contender, Parts, Size, bytes};
use super::deadline::Deadline;
use super::judges::{Judges, is_late};
use super::objective::{Objective, Predictions, Scores};
use super::report::{Confirmation, SearchReport, Trial};
use crate::dataset::{Dataset, TargetEncoder, Task};
use crate::driver::Driver;
use crate::learners::{Lambda, LearnerSpec, Solver};
use crate::model::{AnyPipeline, Model};
use crate::pipeline::{FitReport, Pipeline, PipelineSpec};
use crate::preprocess::PreprocessSpec;
use crate::{Error, Result};

/// How contenders are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Many on few rows, the best of them on more; see the module's head.
    #[default]
    Halving,
    /// The same, of contenders in an order by chance.
    Random,
    /// All of them once, on all rows, with the features of the last round.
    Grid,
}

/// A search as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchSpec {
    /// pipelines to compare in round 0, and no others; found by the data if empty
    pub contenders: Vec<Contender>,
    /// how they are compared
    #[serde(default)]
    pub strategy: Strategy,
    /// what is to be as large as possible; found by the targets when absent
    pub objective: Option<Objective>,
    /// what to learn; found by the targets when absent
    pub task: Option<Task>,
    /// trials at most
    pub trials: Option<usize>,
    /// bytes beside those of the rows
    pub memory: u64,
    /// whether rows are kept out of the search to confirm its choice
    pub confirm: bool,
    /// whether the model must give probabilities of classes
    pub probabilities: bool,
    /// names every random choice
    pub seed: u64,
}

/// What a search found.
pub struct Found {
    /// the model of all rows
    pub model: Model,
    /// how it was fitted
    pub fit: FitReport,
    /// the pipeline as it was asked for
    pub spec: PipelineSpec,
    /// how it was chosen
    pub search: SearchReport,
}

/// Chooses a pipeline by the rows of `dataset` and trains none: what [`search`] would train, and how it was chosen.
///
/// # Errors
/// As [`search`].
pub fn tune(
    dataset: &Dataset,
    spec: &SearchSpec,
    dtype: Dtype,
    deadline: Option<Instant>,
    driver: &Driver<'_>,
) -> Result<(PipelineSpec, SearchReport)> {
    match dtype {
        Dtype::Float32 => Search::<f32>::new(dataset, spec, deadline, driver)?.tune(),
        Dtype::Float64 => Search::<f64>::new(dataset, spec, deadline, driver)?.tune(),
    }
}

/// Chooses a pipeline and trains it on all rows of `dataset`, until `deadline` where one is given.
///
/// # Errors
/// Targets that cannot be learned, too few rows, [`Error::Interrupted`], or what the source finds wrong. Trials that fail are reported.
pub fn search(
    dataset: &Dataset,
    spec: &SearchSpec,
    dtype: Dtype,
    deadline: Option<Instant>,
    driver: &Driver<'_>,
) -> Result<Found> {
    match dtype {
        Dtype::Float32 => Search::<f32>::new(dataset, spec, deadline, driver)?.run(),
        Dtype::Float64 => Search::<f64>::new(dataset, spec, deadline, driver)?.run(),
    }
}

struct Search<'a, T> {
    dataset: &'a Dataset,
    spec: &'a SearchSpec,
    driver: &'a Driver<'a>,
    deadline: Option<Instant>,
    started: Instant,
    encoder: TargetEncoder,
    objective: Objective,
    judges: Judges,
    /// γ by the rule `scale`, of those scalings and distances that were met
    scales: Vec<((PreprocessSpec, bool), f64)>,
    trials: Vec<Trial>,
    /// scores of the trials, where they have any
    scores: Vec<Option<Scores>>,
    /// folds that judged in each round
    n_folds: [usize; RUNGS],
    /// the last trials' models that are the best of their rounds: of the kernels, and of the linear ones
    best: [Option<Kept<T>>; 2],
    n_skipped: usize,
    seconds: f64,
}

/// A pipeline, and how it was fitted.
type Fitted<T> = (Pipeline<T>, FitReport);

/// The model of a trial, by its place.
type Kept<T> = (usize, Fitted<T>);

impl<'a, T: Scalar> Search<'a, T>
where
    AnyPipeline: From<Pipeline<T>>,
{
    fn new(
        dataset: &'a Dataset,
        spec: &'a SearchSpec,
        deadline: Option<Instant>,
        driver: &'a Driver<'a>,
    ) -> Result<Self> {
        let started = Instant::now();
        let name = &dataset.info().name;
        let targets = dataset.targets().ok_or_else(|| Error::Targets(format!("{name} has no targets to learn")))?;
        let encoder = targets.encoder(spec.task).map_err(|error| error.of_targets_in(name))?;
        let objective = spec.objective.unwrap_or_else(|| Objective::of(&encoder));
        objective.check(encoder.task())?;
        if spec.trials == Some(0) {
            return Err(Error::parameter("trials", 0, "1 or more"));
        }
        let judges = Judges::deal(dataset, &encoder, spec.seed, (spec.confirm, objective == Objective::F1))?;
        let (scales, trials, scores) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            dataset,
            spec,
            driver,
            deadline,
            started,
            encoder,
            objective,
            judges,
            scales,
            trials,
            scores,
            n_folds: [1; RUNGS],
            best: [None, None],
            n_skipped: 0,
            seconds: 0.0,
        })
    }

    fn run(mut self) -> Result<Found> {
        self.compare()?;
        let chosen = self.choose()?;
        let confirmation = self.confirm(chosen)?;
        let grown = self.grow(chosen)?;
        let model = Model::of_dataset(grown.pipeline, self.dataset);
        let search = SearchReport {
            ended_by_time: grown.ended_by_time,
            is_of_trial: grown.is_of_trial,
            threshold: grown.threshold,
            trainings: grown.trainings,
            ..self.report(chosen, confirmation)
        };
        Ok(Found { model, fit: grown.fit, spec: grown.spec, search })
    }

    fn tune(mut self) -> Result<(PipelineSpec, SearchReport)> {
        self.compare()?;
        let chosen = self.choose()?;
        let confirmation = self.confirm(chosen)?;
        let spec = self.final_spec(chosen);
        Ok((spec, self.report(chosen, confirmation)))
    }

    fn task(&self) -> Task {
        self.encoder.task()
    }

    fn size(&self, n_rows: u64, n_components: usize) -> Size {
        let (n_inputs, n_outputs) = (self.dataset.n_inputs(), self.encoder.n_outputs());
        Size { n_rows, n_inputs, n_components, n_outputs }
    }

    /// With the memory that the training leaves for features.
    fn driver_for<'q>(&self, spec: &PipelineSpec, size: Size, deadline: &'q Deadline<'_>) -> Result<Driver<'q>> {
        let (needed, _) = bytes(spec, size, T::DTYPE);
        if needed > self.spec.memory {
            return Err(Error::Memory { what: format!("{} features", size.n_components), bytes: needed.into() });
        }
        Ok(self.driver.telling(deadline).with_memory(self.room(needed)))
    }

    /// Bytes for features, where the rest of a training takes so many.
    fn room(&self, needed: u64) -> u64 {
        self.spec.memory.saturating_sub(needed) / 10 * 9
    }

    /// [`Contender::cost`] with the memory there is.
    fn cost(&self, contender: &Contender, (n_rows, n_components): (u64, usize), has_path: bool) -> Parts {
        let size = self.size(n_rows, n_components);
        let mut spec = self.spec_for_size(contender, n_components);
        spec.learner.solver = Solver::Iterative;
        let (needed, features) = bytes(&spec, size, T::DTYPE);
        let classes: &[u64] = match &self.encoder {
            TargetEncoder::Classes { counts, .. } => counts,
            TargetEncoder::Real { .. } => &[],
        };
        contender.cost(size, classes, has_path, features <= self.room(needed))
    }

    /// Has the learner pass over features where that takes less than their products.
    fn with_solver(
        &self,
        mut spec: PipelineSpec,
        contender: &Contender,
        (n_rows, n_components): (u64, usize),
    ) -> PipelineSpec {
        let size = self.size(n_rows, n_components);
        let has_path = spec.learner.lambda == Lambda::Auto;
        let usual = spec.learner.solver_for(n_rows, n_components);
        let passing = LearnerSpec { solver: Solver::Iterative, ..spec.learner };
        let (needed, features) = bytes(&PipelineSpec { learner: passing, ..spec.clone() }, size, T::DTYPE);
        if usual == Solver::Direct && !contender.is_direct(size, has_path, features <= self.room(needed)) {
            spec.learner = passing;
        }
        spec
    }

    /// A pipeline of that size, its numbers aside.
    fn spec_for_size(&self, contender: &Contender, n_components: usize) -> PipelineSpec {
        let gamma = if contender.kernel.has_gamma() { 1.0 } else { f64::NAN };
        contender.pipeline(contender.map(n_components, gamma), Lambda::Value(1.0), (self.task(), self.objective), 0)
    }

    /// Time that is left.
    fn seconds_left(&self) -> Option<f64> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()).as_secs_f64())
    }

    /// Places of the trials since one that have scores, the best first.
    fn ranked(&self, since: usize) -> Vec<usize> {
        let score = |&at: &usize| self.scores[at].as_ref().map(|scores| scores.score);
        let mut places: Vec<usize> =
            (since..self.trials.len()).filter(|at| score(at).is_some_and(f64::is_finite)).collect();
        places.sort_by(|a, b| score(b).unwrap_or(f64::NAN).total_cmp(&score(a).unwrap_or(f64::NAN)).then(a.cmp(b)));
        places
    }

    /// The best trial of the last round in which any kernel has a score; a linear model where the difference is within its error.
    fn choose(&self) -> Result<usize> {
        let scored = |takes_linear: bool| {
            let takes = move |trial: &&Trial| trial.score.is_some() && (takes_linear || !trial.contender.is_linear());
            self.trials.iter().filter(takes).map(|trial| trial.rung).max()
        };
        let Some(last) = scored(false).or_else(|| scored(true)) else {
            let failure = self.trials.iter().find_map(|trial| trial.failure.clone()).unwrap_or_default();
            return Err(Error::Targets(format!("{}: no trial could be finished: {failure}", self.dataset.info().name)));
        };
        let mut ranked = self.ranked(0);
        ranked.retain(|&at| self.trials[at].rung == last);
        let best = ranked[0];
        let linear = ranked.iter().copied().find(|&at| self.trials[at].contender.is_linear());
        if let (Some(linear), Some(best_scores)) = (linear, &self.scores[best])
            && let Some(linear_scores) = &self.scores[linear]
        {
            let (gain, error) = best_scores.beyond(linear_scores);
            if gain <= error {
                return Ok(linear);
            }
        }
        Ok(self.with_least_penalty(best, &ranked))
    }

    /// Of a rare class: the trial with the least penalty of those that differ from the best in nothing else and are as good but for the error of the
    /// difference. A penalty draws scores to the common class, and few rows of the rare one cannot tell penalties apart.
    fn with_least_penalty(&self, best: usize, ranked: &[usize]) -> usize {
        let alike = |at: usize| Contender { penalty: 1.0, ..self.trials[at].contender };
        let is_as_good = |at: &usize| match (&self.scores[best], &self.scores[*at]) {
            (Some(a), Some(b)) => {
                let (gain, error) = a.beyond(b);
                gain <= error
            }
            _ => false,
        };
        let equals = ranked.iter().copied().filter(|&at| alike(at) == alike(best)).filter(is_as_good);
        let penalty = |at: &usize| self.trials[*at].contender.penalty;
        let least = equals.min_by(|a, b| penalty(a).total_cmp(&penalty(b)));
        if self.objective == Objective::F1 { least.unwrap_or(best) } else { best }
    }

    /// How well the chosen one does on rows that nobody saw.
    fn confirm(&mut self, chosen: usize) -> Result<Option<Confirmation>> {
        if self.judges.confirming.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(&mut self.judges.confirming);
        let rows = self.dataset.subset(&format!("{}, rows that confirm", self.dataset.info().name), rows)?;
        let mut predictions = match self.kept(chosen) {
            Some((_, (pipeline, _))) => Predictions::of(pipeline, &self.encoder, &rows, self.driver)?,
            None => match self.fit_again(chosen)? {
                Some(pipeline) => Predictions::of(&pipeline, &self.encoder, &rows, self.driver)?,
                None => return Ok(None),
            },
        };
        if let Some(threshold) = self.trials[chosen].threshold {
            predictions.decide_above(threshold);
        }
        let scores = predictions.scores(self.objective);
        Ok(Some(Confirmation {
            score: scores.score,
            error: scores.error(),
            n_rows: predictions.n_rows() as u64,
            n_right: predictions.n_right().map(|(right, _)| right),
        }))
    }

    /// The model of a trial that is no longer there, where there is time for it.
    fn fit_again(&self, chosen: usize) -> Result<Option<Pipeline<T>>> {
        let trial = &self.trials[chosen];
        let (teaching, _) = self.judges.rows(0, trial.n_rows as usize, 1);
        let teaching = self.dataset.subset("rows to learn from", teaching)?;
        let deadline = Deadline::new(self.driver.progress(), self.deadline);
        let driver = self.driver_for(&trial.spec, self.size(trial.n_rows, trial.n_components), &deadline)?;
        match Pipeline::<T>::fit(&teaching, &trial.spec, &driver) {
            Ok((pipeline, _)) => Ok(Some(pipeline)),
            Err(Error::Interrupted) if is_late(&deadline, self.driver.progress()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The model of a trial, where it is still there.
    fn kept(&self, chosen: usize) -> Option<&Kept<T>> {
        self.best.iter().flatten().find(|(at, _)| *at == chosen)
    }

    fn report(self, chosen: usize, confirmation: Option<Confirmation>) -> SearchReport {
        // The better one of the same round, whose judges are the same.
        let rung = self.trials[chosen].rung;
        let is_linear = |at: &usize| self.trials[*at].contender.is_linear() && self.trials[*at].rung == rung;
        let linear = self.ranked(0).into_iter().find(is_linear);
        let beyond_linear = linear.filter(|linear| *linear != chosen).and_then(|linear| {
            let (best, linear) = (self.scores[chosen].as_ref()?, self.scores[linear].as_ref()?);
            Some(best.beyond(linear))
        });
        SearchReport {
            objective: self.objective,
            trials: self.trials,
            chosen,
            linear,
            beyond_linear,
            confirmation,
            n_skipped: self.n_skipped,
            ended_by_time: false,
            is_of_trial: false,
            threshold: None,
            trainings: Vec::new(),
            seconds: self.seconds,
        }
    }
}
