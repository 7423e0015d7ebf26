//! Choosing a pipeline: many on few rows, the best of them on more.
//!
//! Successive halving in three rounds. Round 0 compares scalings, kernels and widths of ten or so contenders by 512 landmarks and 3,000
//! rows; round 1 the best of them and their neighbours by four times the rows and twice the features; round 2 the best by four times
//! the rows again. Landmarks serve every kernel and are the best of few features, so that a narrow kernel is not
//! judged by how badly few waves show it. Each round also tries the linear model. The best of the last round is trained
//! on all rows, with as many features as time and memory allow: landmarks, or the waves and products by transforms that the same
//! time gives where they are more than four for a landmark.
//!
//! Every trial is judged by rows that it did not learn from; λ is found within those that it learns from. Where the linear model is
//! as good but for the standard error of the difference ([`super::Objective`]), it is chosen. The best of many scores is too good: where
//! it is asked for, further rows take no part in any of it and confirm the choice.
//!
//! With a number of trials the plan depends on nothing but sizes and the seed: the same choice and the same bits every time. With a time, the rows
//! of a round, and the features of the final model, are as many as the trials before say can be afforded.
//!
//! References: Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016.

use std::time::{Duration, Instant};

use mercer_simd::{Dtype, Scalar};
use serde::{Deserialize, Serialize};

use super::contender::{Contender, Means, Size, bytes};
use super::deadline::Deadline;
use super::judges::{Judges, is_late};
use super::objective::{Objective, Predictions, Scores};
use super::report::{Confirmation, SearchReport, Trial};
use crate::dataset::{Dataset, TargetEncoder, Task};
use crate::driver::Driver;
use crate::feature_maps::{Distance, Gamma, LandmarkSpec, MapSpec};
use crate::kernels::KernelFamily;
use crate::learners::Lambda;
use crate::model::{AnyPipeline, Model};
use crate::pipeline::{Features, FitReport, Pipeline, PipelineSpec};
use crate::preprocess::PreprocessSpec;
use crate::random::{Purpose, permutation};
use crate::{Error, Result};

/// Rows and features of round 0; each round has four times the rows of the last, and the later ones twice the features.
const FIRST: (usize, usize) = (3_000, 512);
/// The same where a class is rare.
const FIRST_OF_RARE: (usize, usize) = (8_000, 1_024);
/// Rounds.
const RUNGS: usize = 3;
/// Trials where neither their number nor a time is given.
const TRIALS: usize = 24;
/// Of the trials, and of the time for them, what each round has.
const SHARES: [f64; RUNGS] = [0.3, 0.3, 0.4];
/// Of the time, what the search may take; the rest is for the model.
const SEARCHING: f64 = 0.45;
/// Of the time that is left for the model, what it may take as it is reckoned.
const RECKONED: f64 = 0.8;
/// Judges of a trial: at least so many, and half as many as it learned from.
const LEAST_JUDGES: usize = 2_000;
/// Features of the final model where no time says more.
const FINAL: usize = 4_096;
/// Features of the final model at most.
const MOST: usize = 32_768;
/// Waves and products that a landmark is taken to be worth: a rule of thumb, which no record backs yet.
const WORTH: usize = 4;

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
    /// pipelines to compare in round 0; found by the data if empty
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
    /// the last trial's model that is the best of its round
    best: Option<(usize, Pipeline<T>, FitReport)>,
    n_skipped: usize,
    seconds: f64,
}

/// A pipeline, and how it was fitted.
type Fitted<T> = (Pipeline<T>, FitReport);

/// The rows of a round.
struct Rung {
    at: usize,
    n_components: usize,
    /// rows that teach and rows that judge, of each fold
    folds: Vec<(Dataset, Dataset)>,
    n_rows: u64,
}

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
        let judges = Judges::deal(dataset, &encoder, spec.seed, spec.confirm)?;
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
            best: None,
            n_skipped: 0,
            seconds: 0.0,
        })
    }

    fn run(mut self) -> Result<Found> {
        self.compare()?;
        self.finish()
    }

    fn tune(mut self) -> Result<(PipelineSpec, SearchReport)> {
        self.compare()?;
        let chosen = self.choose()?;
        let confirmation = self.confirm(chosen)?;
        let (spec, _) = self.final_spec(chosen);
        Ok((spec, self.report(chosen, confirmation)))
    }

    /// All rounds.
    fn compare(&mut self) -> Result<()> {
        let mut contenders = self.first_contenders();
        let ends = self.ends();
        let rungs = if self.spec.strategy == Strategy::Grid { RUNGS - 1..RUNGS } else { 0..RUNGS };
        for at in rungs {
            let end = ends[at];
            let rung = self.rung(at, contenders.len(), end)?;
            let before = self.trials.len();
            let n_trials = self.n_trials(at);
            self.n_skipped += contenders.len().saturating_sub(n_trials);
            for (place, contender) in contenders.iter().take(n_trials).enumerate() {
                // The linear model is always tried, and so is one other.
                let late = place > 1 && end.is_some_and(|end| Instant::now() >= end);
                if late || !self.try_one(*contender, &rung, end.filter(|_| place > 1))? {
                    self.n_skipped += contenders.len().min(n_trials) - place;
                    break;
                }
            }
            contenders = self.next_contenders(before, at + 1);
        }
        self.driver.count("search", self.started.elapsed());
        self.seconds = self.started.elapsed().as_secs_f64();
        Ok(())
    }

    fn task(&self) -> Task {
        self.encoder.task()
    }

    fn first_contenders(&self) -> Vec<Contender> {
        let found = || Contender::all(self.dataset.info().layout, self.task(), self.objective);
        let mut contenders = if self.spec.contenders.is_empty() { found() } else { self.spec.contenders.clone() };
        if !contenders.iter().any(Contender::is_linear) {
            contenders.insert(0, Contender::linear(contenders[0].loss));
        }
        if self.spec.strategy == Strategy::Random {
            let mut order = permutation(self.spec.seed, Purpose::Search, contenders.len()).into_iter();
            contenders.sort_by_cached_key(|_| order.next());
        }
        contenders.sort_by_key(|contender| !contender.is_linear());
        contenders
    }

    /// When each round ends.
    fn ends(&self) -> [Option<Instant>; RUNGS] {
        let all = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let mut share = 0.0;
        SHARES.map(|part| {
            share += part;
            all.map(|all| Instant::now() + all.mul_f64(SEARCHING * share))
        })
    }

    fn n_trials(&self, rung: usize) -> usize {
        let all = self.spec.trials.or(self.deadline.is_none().then_some(TRIALS));
        let share = if self.spec.strategy == Strategy::Grid { 1.0 } else { SHARES[rung] };
        match self.spec.trials {
            // Each of a grid is asked for.
            None if self.spec.strategy == Strategy::Grid => usize::MAX,
            _ => all.map_or(usize::MAX, |all| ((all as f64 * share).round() as usize).max(1)),
        }
    }

    /// So many rows as four times the last, or as the time allows.
    fn rung(&self, at: usize, n_contenders: usize, end: Option<Instant>) -> Result<Rung> {
        let first = self.first();
        let most = (0..self.judges.n_folds()).map(|fold| self.judges.n_teaching(fold)).min().unwrap_or(1);
        let n_components = first.1 << at.min(1);
        let mut n_rows = if self.spec.strategy == Strategy::Grid { most } else { (first.0 << (2 * at)).min(most) };
        if let (Some(end), Some((contender, seconds, before))) = (end, self.last_seconds(at)) {
            let left = end.saturating_duration_since(Instant::now()).as_secs_f64() / n_contenders.max(1) as f64;
            let cost = |n_rows: u64, n_components| contender.cost(self.size(n_rows, n_components), true);
            let unit = seconds / cost(before.0, before.1);
            let least = (before.0 as usize).min(most);
            while n_rows > least && unit * cost(n_rows as u64, n_components) > left {
                n_rows = (n_rows * 3 / 4).max(least);
            }
        }
        let mut folds = Vec::new();
        // Few contenders of few rows are judged by all of them; many by one part.
        let n_folds = if at == 0 { self.judges.n_folds().min(2) } else { self.judges.n_folds() };
        for fold in 0..n_folds {
            let (teaching, judging) = self.judges.rows(fold, n_rows, LEAST_JUDGES.max(n_rows / 2));
            let subset = |what: &str, rows| self.dataset.subset(&format!("{}, {what}", self.dataset.info().name), rows);
            folds.push((subset("rows to learn from", teaching)?, subset("rows to judge by", judging)?));
        }
        let n_rows = folds[0].0.n_rows();
        Ok(Rung { at, n_components, folds, n_rows })
    }

    /// Rows and features of round 0.
    fn first(&self) -> (usize, usize) {
        if self.objective == Objective::F1 { FIRST_OF_RARE } else { FIRST }
    }

    /// A contender of the round before, seconds that it took, in the middle of all, and its rows and features.
    fn last_seconds(&self, at: usize) -> Option<(Contender, f64, (u64, usize))> {
        let taken = |trial: &&Trial| trial.rung + 1 == at && trial.score.is_some() && !trial.contender.is_linear();
        let mut trials: Vec<&Trial> = self.trials.iter().filter(taken).collect();
        trials.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let trial = trials.get(trials.len() / 2)?;
        Some((trial.contender, trial.seconds, (trial.n_rows, trial.n_components)))
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

    /// Tries a contender; whether there is time for more.
    fn try_one(&mut self, contender: Contender, rung: &Rung, end: Option<Instant>) -> Result<bool> {
        let start = Instant::now();
        let n_components = match contender.is_linear() {
            true => self.dataset.n_inputs(),
            false => rung.n_components.min(rung.n_rows as usize),
        };
        let gamma = match self.gamma(&contender, rung) {
            Ok(gamma) => gamma,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => f64::NAN,
        };
        let map = contender.map(n_components, gamma);
        let spec = contender.pipeline(map, Lambda::Auto, self.task(), self.spec.seed);
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
            seconds: start.elapsed().as_secs_f64(),
            failure: None,
        };
        let in_time = !matches!(tried, Err(Error::Interrupted));
        match tried {
            Ok((predictions, pipeline, fit)) => {
                let scores = predictions.scores(self.objective);
                trial.lambda = Some(pipeline.spec().learner.lambda);
                trial.n_judges = predictions.n_rows() as u64;
                (trial.score, trial.error) = (Some(scores.score), Some(scores.error()));
                self.keep(&scores, rung.at, pipeline, fit);
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

    /// Keeps the model of the best trial of this round; called before the trial is listed.
    fn keep(&mut self, scores: &Scores, rung: usize, pipeline: Pipeline<T>, fit: FitReport) {
        let is_better = self.best.as_ref().is_none_or(|(at, ..)| {
            let best = self.scores[*at].as_ref();
            self.trials[*at].rung < rung || best.is_none_or(|best| scores.score > best.score)
        });
        if is_better {
            self.best = Some((self.trials.len(), pipeline, fit));
        }
    }

    /// Fits a pipeline to the rows of each fold, and predicts those that judge it.
    fn fit(
        &self,
        spec: &PipelineSpec,
        rung: &Rung,
        n_components: usize,
        deadline: &Deadline<'_>,
    ) -> Result<(Predictions, Pipeline<T>, FitReport)> {
        let size = self.size(rung.n_rows, n_components);
        let driver = self.driver_for(spec, size, deadline)?;
        let mut found: Option<(Predictions, Pipeline<T>, FitReport)> = None;
        for (teaching, judging) in &rung.folds {
            let (pipeline, fit) = Pipeline::<T>::fit(teaching, spec, &driver)?;
            let predictions = Predictions::of(&pipeline, &self.encoder, judging, &driver)?;
            match &mut found {
                Some((all, ..)) => all.append(predictions),
                None => found = Some((predictions, pipeline, fit)),
            }
        }
        Ok(found.expect("at least one fold"))
    }

    fn size(&self, n_rows: u64, n_components: usize) -> Size {
        let (n_inputs, n_outputs) = (self.dataset.n_inputs(), self.encoder.n_outputs());
        Size { n_rows, n_inputs, n_components, n_outputs }
    }

    /// With the memory that the training leaves for features.
    fn driver_for<'q>(&self, spec: &PipelineSpec, size: Size, deadline: &'q Deadline<'_>) -> Result<Driver<'q>> {
        let needed = bytes(spec, size, T::DTYPE);
        if needed > self.spec.memory {
            return Err(Error::Memory { what: format!("{} features", size.n_components), bytes: needed.into() });
        }
        Ok(self.driver.telling(deadline).with_memory((self.spec.memory - needed) / 4 * 3))
    }

    /// Places of the trials of a round that have scores, the best first.
    fn ranked(&self, since: usize) -> Vec<usize> {
        let score = |&at: &usize| self.scores[at].as_ref().map(|scores| scores.score);
        let mut places: Vec<usize> =
            (since..self.trials.len()).filter(|at| score(at).is_some_and(f64::is_finite)).collect();
        places.sort_by(|a, b| score(b).unwrap_or(f64::NAN).total_cmp(&score(a).unwrap_or(f64::NAN)).then(a.cmp(b)));
        places
    }

    /// The best of the last round with what is near to them.
    fn next_contenders(&self, since: usize, rung: usize) -> Vec<Contender> {
        let ranked: Vec<Contender> = self.ranked(since).into_iter().map(|at| self.trials[at].contender).collect();
        let linear = ranked.iter().copied().find(Contender::is_linear);
        let others: Vec<Contender> = ranked.iter().copied().filter(|contender| !contender.is_linear()).collect();
        let (task, objective) = (self.task(), self.objective);
        let losses = |of: Option<&Contender>| of.map(|c| c.other_losses(task, objective)).unwrap_or_default();
        let mut next: Vec<Contender> = linear.into_iter().collect();
        if rung == 1 {
            next.extend(others.iter().take(1));
            next.extend(losses(others.first()).into_iter().take(1));
            next.extend(others.iter().skip(1).take(2));
            next.extend(others.first().map(Contender::neighbours).unwrap_or_default());
        } else {
            next.extend(others.iter().take(1));
            next.extend(losses(others.first()).into_iter().take(1));
            next.extend(others.iter().skip(1).take(1));
            next.extend(others.first().map(Contender::neighbours).unwrap_or_default());
        }
        let mut kept: Vec<Contender> = Vec::new();
        for contender in next {
            if !kept.contains(&contender) {
                kept.push(contender);
            }
        }
        kept
    }

    /// The best trial of the last round that has any; the linear model where the difference is within its error.
    fn choose(&self) -> Result<usize> {
        let last = self.trials.iter().filter(|trial| trial.score.is_some()).map(|trial| trial.rung).max();
        let Some(last) = last else {
            let failure = self.trials.iter().find_map(|trial| trial.failure.clone()).unwrap_or_default();
            return Err(Error::Targets(format!("{}: no trial could be finished: {failure}", self.dataset.info().name)));
        };
        let since = self.trials.iter().position(|trial| trial.rung == last).unwrap_or(0);
        let ranked = self.ranked(since);
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
        Ok(best)
    }

    /// The chosen pipeline for all rows, and its number of features.
    fn final_spec(&self, chosen: usize) -> (PipelineSpec, usize) {
        let trial = &self.trials[chosen];
        let (contender, n_components) = self.final_size(trial);
        let gamma = match trial.spec.map.gamma() {
            Some(Gamma::Value(gamma)) => gamma,
            _ => f64::NAN,
        };
        let map = contender.map(n_components, gamma);
        // As many rows again share the penalty of as many.
        let lambda = trial.lambda.map_or(Lambda::Auto, |lambda| {
            Lambda::Value(lambda * (trial.n_rows as f64 / self.dataset.n_rows() as f64).min(1.0))
        });
        let mut spec = contender.pipeline(map, lambda, self.task(), self.spec.seed);
        spec.probabilities = self.spec.probabilities && self.task() == Task::Classification;
        (spec, n_components)
    }

    fn report(self, chosen: usize, confirmation: Option<Confirmation>) -> SearchReport {
        let linear = self.trials.iter().rposition(|trial| trial.contender.is_linear() && trial.score.is_some());
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
            seconds: self.seconds,
        }
    }

    /// Trains the chosen pipeline on all rows.
    fn finish(mut self) -> Result<Found> {
        let chosen = self.choose()?;
        let confirmation = self.confirm(chosen)?;
        let (spec, n_components) = self.final_spec(chosen);
        let (fitted, ended_by_time) = self.fit_all(&spec, n_components)?;
        let is_of_trial = fitted.is_none();
        let (pipeline, fit) = match (fitted, self.best.take()) {
            (Some(fitted), _) => fitted,
            (None, Some((at, pipeline, fit))) if at == chosen => (pipeline, fit),
            (None, _) => return Err(Error::Interrupted),
        };
        let model = Model::of_dataset(pipeline, self.dataset);
        let search = SearchReport { ended_by_time, is_of_trial, ..self.report(chosen, confirmation) };
        Ok(Found { model, fit, spec, search })
    }

    /// A model of all rows; none where the time was over before there was any.
    fn fit_all(&self, spec: &PipelineSpec, n_components: usize) -> Result<(Option<Fitted<T>>, bool)> {
        let deadline = Deadline::new(self.driver.progress(), self.deadline);
        let size = self.size(self.dataset.n_rows(), n_components);
        let ends_early = self.deadline.is_some() || self.driver.keeps_interrupted();
        let driver = self.driver_for(spec, size, &deadline)?.keeping_interrupted(ends_early);
        let fitted = Pipeline::<T>::fit(self.dataset, spec, &driver);
        self.driver.absorb(&driver);
        let late = is_late(&deadline, self.driver.progress());
        match fitted {
            Ok(fitted) => {
                let ended = late && fitted.1.convergence.is_some_and(|convergence| !convergence.converged);
                Ok((Some(fitted), ended))
            }
            Err(Error::Interrupted) if late => Ok((None, true)),
            Err(error) => Err(error),
        }
    }

    /// How well the chosen one does on rows that nobody saw.
    fn confirm(&mut self, chosen: usize) -> Result<Option<Confirmation>> {
        if self.judges.confirming.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(&mut self.judges.confirming);
        let rows = self.dataset.subset(&format!("{}, rows that confirm", self.dataset.info().name), rows)?;
        let kept = self.best.as_ref().filter(|(at, ..)| *at == chosen);
        let predictions = match kept {
            Some((_, pipeline, _)) => Predictions::of(pipeline, &self.encoder, &rows, self.driver)?,
            None => {
                // The linear model is no longer there.
                let trial = &self.trials[chosen];
                let (teaching, _) = self.judges.rows(0, trial.n_rows as usize, 1);
                let teaching = self.dataset.subset("rows to learn from", teaching)?;
                let (pipeline, _) = Pipeline::<T>::fit(&teaching, &trial.spec, self.driver)?;
                Predictions::of(&pipeline, &self.encoder, &rows, self.driver)?
            }
        };
        let scores = predictions.scores(self.objective);
        Ok(Some(Confirmation {
            score: scores.score,
            error: scores.error(),
            n_rows: predictions.n_rows() as u64,
            n_right: predictions.n_right().map(|(right, _)| right),
        }))
    }

    /// The contender by the means that give the better features in time, and how many.
    fn final_size(&self, trial: &Trial) -> (Contender, usize) {
        let contender = trial.contender;
        let Some(by_transforms) = contender.by(Means::Transforms) else {
            return (contender, self.affordable(contender, trial));
        };
        let landmarks = self.affordable(Contender { means: Means::Landmarks, ..contender }, trial);
        let waves = self.affordable(by_transforms, trial);
        // All rows are the kernel itself.
        let is_exact = landmarks as u64 >= self.dataset.n_rows();
        let landmarks_win = is_exact || WORTH * landmarks >= waves;
        match landmarks_win {
            true => (Contender { means: Means::Landmarks, ..contender }, landmarks),
            false => (by_transforms, waves),
        }
    }

    /// As many features as time and memory allow.
    fn affordable(&self, contender: Contender, trial: &Trial) -> usize {
        let n_rows = self.dataset.n_rows();
        if contender.is_linear() {
            return self.dataset.n_inputs();
        }
        let most = match contender.means {
            Means::Landmarks => (n_rows as usize).min(MOST / 2),
            Means::Transforms => MOST,
        };
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let cost = |n_rows, n_components| contender.cost(self.size(n_rows, n_components), false);
        let n_folds = if trial.rung == 0 { self.judges.n_folds().min(2) } else { self.judges.n_folds() };
        let tried = trial.contender.cost(self.size(trial.n_rows, trial.n_components), true) * n_folds as f64;
        let unit = trial.seconds / tried;
        let gamma = if contender.kernel.has_gamma() { 1.0 } else { f64::NAN };
        let fits = |n_components: usize| {
            let spec = contender.pipeline(contender.map(n_components, gamma), Lambda::Value(1.0), self.task(), 0);
            let seconds = cost(n_rows, n_components) * unit;
            let in_time = left.is_none_or(|left: Duration| seconds <= RECKONED * left.as_secs_f64());
            // A quarter is for features that are kept.
            in_time && bytes(&spec, self.size(n_rows, n_components), T::DTYPE) <= self.spec.memory / 4 * 3
        };
        let ladder = (9..=15).flat_map(|power| [1 << power, 3 << (power - 1)]);
        let wanted = match (left, contender.means) {
            (Some(_), _) => most,
            (None, Means::Landmarks) => most.min(FINAL),
            (None, Means::Transforms) => most.min(WORTH * FINAL / 2),
        };
        let sizes = ladder.take_while(|&n| n <= MOST).map(|n: usize| n.min(wanted));
        sizes.filter(|&n| fits(n)).max().unwrap_or(self.first().1).min(wanted)
    }
}
