//! The rounds: how many rows and trials each has, and what it tries.

use std::collections::VecDeque;
use std::time::Instant;

use mercer_simd::Scalar;

use super::super::contender::{Contender, Parts};
use super::super::objective::Objective;
use super::growth::seconds;
use super::{Search, Strategy};
use crate::Result;
use crate::dataset::Dataset;
use crate::learners::ClassWeight;
use crate::model::AnyPipeline;
use crate::pipeline::Pipeline;
use crate::random::{Purpose, permutation};

/// Rounds.
pub(super) const RUNGS: usize = 3;
/// Rows and features of round 0; each round has four times the rows of the last, and the later ones twice the features.
const FIRST: (usize, usize) = (3_000, 512);
/// The same where a class is rare.
const FIRST_OF_RARE: (usize, usize) = (8_000, 512);
/// Trials where neither their number nor a time is given.
const TRIALS: usize = 24;
/// Of the trials, and of the time for them, what each round has.
const SHARES: [f64; RUNGS] = [0.3, 0.3, 0.4];
/// Trials that a round with a time should have room for.
const PLANNED: [usize; RUNGS] = [16, 8, 5];
/// Kernels of the last round whose neighbours may be tried.
const ENOUGH: usize = 3;
/// Of the time, what the search may take; the rest is for the model.
const SEARCHING: f64 = 0.33;
/// The same where a class is rare: trials need more rows, and more of them to tell one from another.
const SEARCHING_OF_RARE: f64 = 0.45;
/// Judges of a trial: at least so many, and half as many as it learned from; as many where a class is rare.
const LEAST_JUDGES: usize = 2_000;

/// The rows of a round.
pub(super) struct Rung {
    pub(super) at: usize,
    pub(super) n_components: usize,
    /// rows that teach and rows that judge, of each fold
    pub(super) folds: Vec<(Dataset, Dataset)>,
    pub(super) n_rows: u64,
}

/// What a round tries, each once: those that it was given, then what is near to the best.
struct Queue {
    waiting: VecDeque<Contender>,
    met: Vec<Contender>,
}

impl Queue {
    fn new(given: Vec<Contender>) -> Self {
        Self { waiting: given.into(), met: Vec::new() }
    }

    /// The next of those given, or of those near to the best.
    fn next(&mut self, near: impl FnOnce() -> Vec<Contender>) -> Option<Contender> {
        let unmet = |met: &[Contender], contender: &Contender| !met.contains(contender);
        let given = loop {
            match self.waiting.pop_front() {
                Some(contender) if !unmet(&self.met, &contender) => (),
                found => break found,
            }
        };
        let next = given.or_else(|| near().into_iter().find(|contender| unmet(&self.met, contender)))?;
        self.met.push(next);
        Some(next)
    }

    /// Those given that were not tried.
    fn n_left(&self) -> usize {
        self.waiting.len()
    }
}

impl<T: Scalar> Search<'_, T>
where
    AnyPipeline: From<Pipeline<T>>,
{
    /// All rounds.
    pub(super) fn compare(&mut self) -> Result<()> {
        let mut given = self.first_contenders();
        let ends = self.ends();
        let rungs = if self.spec.strategy == Strategy::Grid { RUNGS - 1..RUNGS } else { 0..RUNGS };
        for at in rungs {
            let before = self.trials.len();
            let rung = self.rung(at, given.len(), ends[at])?;
            self.n_skipped += self.try_all(given, &rung, [ends[at], ends[RUNGS - 1]])?;
            given = self.next_contenders(before, at + 1);
        }
        self.driver.count("search", self.started.elapsed());
        self.seconds = self.started.elapsed().as_secs_f64();
        Ok(())
    }

    /// The trials of a round; how many of those given had no turn.
    fn try_all(&mut self, given: Vec<Contender>, rung: &Rung, [end, last]: [Option<Instant>; 2]) -> Result<usize> {
        let before = self.trials.len();
        let mut queue = Queue::new(given);
        for place in 0..self.n_trials(rung.at) {
            let Some(contender) = queue.next(|| self.near(before, rung.at)) else { break };
            // The linear model is always tried, and so is one other: they have the time of the later rounds too.
            let end = if place > 1 { end } else { last };
            if end.is_some_and(|end| Instant::now() >= end) || !self.try_one(contender, rung, end)? {
                return Ok(queue.n_left() + 1);
            }
        }
        Ok(queue.n_left())
    }

    /// What is near to the best kernel of a round, and in the last round then to the next best; nothing where the contenders were given.
    fn near(&self, since: usize, rung: usize) -> Vec<Contender> {
        if !self.spec.contenders.is_empty() {
            return Vec::new();
        }
        let (layout, factor, is_last) =
            (self.dataset.info().layout, if rung == 0 { 4.0 } else { 2.0 }, rung + 1 == RUNGS);
        let near_to = |best: Contender| {
            let mut others = best.near(layout, factor, is_last);
            if is_last && self.objective == Objective::F1 {
                // The last of them, inputs scaled otherwise, changes more than a penalty, which is then sought for the better of both.
                others.rotate_right(1);
                others.splice(1..1, best.with_less_penalty());
            }
            others
        };
        let kernels = self.ranked(since).into_iter().map(|at| self.trials[at].contender).filter(|c| !c.is_linear());
        // Of few rows the best of many trials would be the luckiest.
        kernels.take(if is_last { ENOUGH } else { 1 }).flat_map(near_to).collect()
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

    /// The best of the last round, with other losses and in the end by transforms too.
    fn next_contenders(&self, since: usize, rung: usize) -> Vec<Contender> {
        let ranked: Vec<Contender> = self.ranked(since).into_iter().map(|at| self.trials[at].contender).collect();
        let (linear, others): (Vec<Contender>, Vec<Contender>) = ranked.into_iter().partition(Contender::is_linear);
        let losses = |of: Option<&Contender>| {
            let found = of.filter(|_| self.spec.contenders.is_empty());
            found.map(|c| c.other_losses(self.task(), self.objective)).unwrap_or_default().into_iter().take(1)
        };
        let by_transforms = others.first().filter(|_| rung + 1 == RUNGS && self.spec.contenders.is_empty());
        let by_transforms = by_transforms.and_then(|best| best.by_transforms());
        let mut next: Vec<Contender> = linear.first().copied().into_iter().collect();
        if self.objective == Objective::F1 {
            // Few rows of a class tell little apart: the best of more kernels have a turn before what changes less.
            let kind = |c: &Contender| (std::mem::discriminant(&c.kernel), c.preprocess);
            let is_first = |at: &usize| others[..*at].iter().all(|before| kind(before) != kind(&others[*at]));
            let n_kinds = if rung == 1 { 5 } else { 3 };
            next.extend((0..others.len()).filter(is_first).take(n_kinds).map(|at| others[at]));
            next.extend(by_transforms);
            if !self.is_balance_worse(since) {
                next.extend(losses(others.first()));
            }
        } else {
            next.extend(others.first());
            next.extend(by_transforms);
            next.extend(losses(others.first()));
            next.extend(others.iter().skip(1).take(if rung == 1 { 3 } else { 1 }));
        }
        next.extend(losses(linear.first()));
        next
    }

    /// Whether a kernel with balanced classes was worse than with classes as they are, by more than the error of the difference: no need to see that again.
    fn is_balance_worse(&self, since: usize) -> bool {
        let balanced = |at: &usize| {
            let contender = &self.trials[*at].contender;
            !contender.is_linear() && contender.class_weight == ClassWeight::Balanced
        };
        (since..self.trials.len()).filter(balanced).any(|at| {
            let sibling = Contender { class_weight: ClassWeight::Uniform, ..self.trials[at].contender };
            let of_sibling = (since..self.trials.len()).find(|&other| self.trials[other].contender == sibling);
            match of_sibling.map(|other| (&self.scores[other], &self.scores[at])) {
                Some((Some(uniform), Some(balanced))) => {
                    let (gain, error) = uniform.beyond(balanced);
                    gain > error
                }
                _ => false,
            }
        })
    }

    /// When each round ends.
    fn ends(&self) -> [Option<Instant>; RUNGS] {
        let all = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let searching = if self.objective == Objective::F1 { SEARCHING_OF_RARE } else { SEARCHING };
        let mut share = 0.0;
        SHARES.map(|part| {
            share += part;
            all.map(|all| Instant::now() + all.mul_f64(searching * share))
        })
    }

    fn n_trials(&self, rung: usize) -> usize {
        let all = self.spec.trials.or(self.deadline.is_none().then_some(TRIALS));
        let share = if self.spec.strategy == Strategy::Grid { 1.0 } else { SHARES[rung] };
        match self.spec.trials {
            // Each of a grid is asked for.
            None if self.spec.strategy == Strategy::Grid => usize::MAX,
            // With a time alone, as many as it allows.
            _ => all.map_or(usize::MAX, |all| ((all as f64 * share).round() as usize).max(1)),
        }
    }

    /// The rows of a round: four times those of the last, judged by every fold; or fewer folds and rows, as the time asks for.
    fn rung(&mut self, at: usize, n_given: usize, end: Option<Instant>) -> Result<Rung> {
        let (n_components, n_folds, n_rows) = self.sizes(at, n_given, end);
        self.n_folds[at] = n_folds;
        let n_judges = LEAST_JUDGES.max(if self.objective == Objective::F1 { n_rows } else { n_rows / 2 });
        let mut folds = Vec::new();
        for fold in 0..n_folds {
            let (teaching, judging) = self.judges.rows(fold, n_rows, n_judges);
            let subset = |what: &str, rows| self.dataset.subset(&format!("{}, {what}", self.dataset.info().name), rows);
            folds.push((subset("rows to learn from", teaching)?, subset("rows to judge by", judging)?));
        }
        let n_rows = folds[0].0.n_rows();
        Ok(Rung { at, n_components, folds, n_rows })
    }

    /// Features, folds and rows of a round.
    fn sizes(&self, at: usize, n_given: usize, end: Option<Instant>) -> (usize, usize, usize) {
        let first = self.first();
        let most = (0..self.judges.n_folds()).map(|fold| self.judges.n_teaching(fold)).min().unwrap_or(1);
        let n_components = first.1 << at.min(1);
        // Many contenders of few rows are judged by two folds.
        let mut n_folds = self.judges.n_folds().min(if at == 0 { 2 } else { usize::MAX });
        let mut n_rows = if self.spec.strategy == Strategy::Grid { most } else { (first.0 << (2 * at)).min(most) };
        if let (Some(end), Some((contender, unit, least))) = (end, self.last_seconds(at)) {
            let n_trials = n_given.max(PLANNED[at]).min(self.n_trials(at)) as f64;
            let left = end.saturating_duration_since(Instant::now()).as_secs_f64() / n_trials;
            // λ is known by then but for a few.
            let cost = |n_rows: usize| seconds(unit, self.cost(&contender, (n_rows as u64, n_components), false));
            while n_folds > 1 && n_folds as f64 * cost(n_rows) > left {
                n_folds -= 1;
            }
            let least = (least as usize).min(most);
            while n_rows > least && cost(n_rows) > left {
                n_rows = (n_rows * 3 / 4).max(least);
            }
        }
        (n_components, n_folds, n_rows)
    }

    /// Rows and features of round 0.
    pub(super) fn first(&self) -> (usize, usize) {
        if self.objective == Objective::F1 { FIRST_OF_RARE } else { FIRST }
    }

    /// The best kernel of the round before, which this one is about, the seconds for a unit of its cost, and its rows.
    fn last_seconds(&self, at: usize) -> Option<(Contender, Parts, u64)> {
        let taken = |at_trial: &usize| {
            let trial = &self.trials[*at_trial];
            trial.rung + 1 == at && !trial.contender.is_linear()
        };
        let trial = &self.trials[self.ranked(0).into_iter().find(taken)?];
        Some((trial.contender, self.unit_of(trial), trial.n_rows))
    }
}
