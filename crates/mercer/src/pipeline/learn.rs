//! From features to a linear model: the choice of a solver, of λ, and the passes they take.

mod epochs;

use std::borrow::Cow;

use mercer_simd::{CsrMatrix, Scalar};
use ndarray::{Array1, Array2, ArrayView2, Axis, CowArray, Ix2, s};
use rayon::prelude::*;

use super::calibrate::Calibration;
use super::learning_targets;
use crate::dataset::{self, Dataset, Folds, PanelRows, PanelTargets, Panels, Rows, Selection, TargetEncoder};
use crate::feature_maps::Factored;
use crate::learners::{
    AllRows, ClassWeight, Convergence, Diagonal, DualLoss, DualParams, DualSolution, Lambda, LearnerSpec, LinearModel,
    Loss, Newton, Objective, Passes, Preconditioner, RowTargets, Sampled, Scheme, Solver, Stopping, minimize,
    solve_dual,
};
use crate::pivoted::multiply;
use crate::random::{Purpose, sample};
use crate::selection::lambda::{self, Fitting, Judge, LambdaChoice, MOST_STORED, Score, Validation};
use crate::{Error, Result};

/// λ where the rows are too few to hold any out.
const LAMBDA_OF_FEW_ROWS: f64 = 1e-3;
/// Fewer rows than this are not divided.
const MIN_ROWS_TO_HOLD_OUT: u64 = 20;
/// While λ is chosen a model need not be exact.
const TRIAL_TOL: f64 = 1e-3;
/// λs tried beyond the best.
const PATIENCE: usize = 2;
/// Rows that a thread multiplies by the second factor of a map.
const WHITENED: usize = 256;

/// A learned model, and how it came about.
pub(super) struct Learned<T> {
    pub(super) model: LinearModel<T>,
    pub(super) lambda: f64,
    pub(super) solver: Solver,
    pub(super) choice: Option<LambdaChoice>,
    pub(super) convergence: Option<Convergence>,
    pub(super) calibration: Option<Calibration>,
}

/// Learns what `spec` says.
pub(super) fn learn<T: Scalar>(fitting: &Fitting<'_, T>, spec: &LearnerSpec, cv: Option<usize>) -> Result<Learned<T>> {
    spec.check_task(fitting.encoder.task())?;
    // The softmax of 0 and a score is the logistic function of it.
    let loss = if spec.loss == Loss::Softmax && fitting.encoder.n_outputs() == 1 { Loss::Logistic } else { spec.loss };
    let spec = &LearnerSpec { loss, ..*spec };
    let validation = validation(fitting.dataset, spec.lambda, cv);
    match spec.solver_for(fitting.dataset.n_rows(), fitting.map.n_components()) {
        Solver::Direct => direct(fitting, spec, validation),
        Solver::Dual => dual(fitting, spec, validation),
        Solver::Sgd => epochs::sgd(fitting, spec, validation),
        Solver::Auto | Solver::Iterative => iterative(fitting, spec, validation),
    }
}

/// Which rows judge, where there is a choice to make or a cross-validation to report.
fn validation(dataset: &Dataset, lambda: Lambda, cv: Option<usize>) -> Option<Validation> {
    match (cv, lambda) {
        (Some(k), _) => Some(Validation::CrossValidation { k }),
        (None, Lambda::Value(_) | Lambda::OfC(_)) => None,
        (None, Lambda::Auto) if dataset.n_rows() < MIN_ROWS_TO_HOLD_OUT => None,
        (None, Lambda::Auto) => Some(Validation::HoldOut),
    }
}

fn candidates(given: Option<f64>) -> Vec<f64> {
    given.map_or(Lambda::CANDIDATES.to_vec(), |lambda| vec![lambda])
}

fn direct<T: Scalar>(
    fitting: &Fitting<'_, T>,
    spec: &LearnerSpec,
    validation: Option<Validation>,
) -> Result<Learned<T>> {
    let given = spec.lambda.given(fitting.dataset.n_rows() as f64);
    let gathered = fitting.gather(Selection::All)?;
    let choice = match validation {
        Some(validation) => lambda::validate(fitting, &gathered, &candidates(given), validation)?,
        None => None,
    };
    let lambda = choice.as_ref().map_or(given.unwrap_or(LAMBDA_OF_FEW_ROWS), |choice| choice.lambda);
    let without = |folds, part| {
        let rest = fitting.gather_without(&gathered, folds, part)?;
        fitting.driver.time("solve", || rest.into_system()?.into_solution(lambda))
    };
    let calibration = calibrated(fitting, without)?;
    let model = fitting.driver.time("solve", || gathered.into_system()?.into_solution(lambda))?;
    fitting.driver.has_model();
    Ok(Learned { model, lambda, solver: Solver::Direct, choice, convergence: None, calibration })
}

fn iterative<T: Scalar>(
    fitting: &Fitting<'_, T>,
    spec: &LearnerSpec,
    validation: Option<Validation>,
) -> Result<Learned<T>> {
    let rows = TrainingRows::gather_factored(fitting)?;
    let targets = rows.row_targets(spec.class_weight);
    let mut preconditioner = rows.preconditioner(spec)?;
    let solve = |task: Task<'_, T>| {
        let objective = Objective { loss: spec.loss, lambda: task.lambda, intercept: spec.intercept };
        let mut search = || minimize(&rows, task.targets, objective, task.stopping, &mut preconditioner, task.start);
        // Rows that are read are read by this thread, while the others compute.
        if rows.kept.is_some() { fitting.driver.install(search) } else { search() }
    };
    by(&rows, targets, spec, validation, Solver::Iterative, solve)
}

/// One class against the rest, each by a thread.
fn dual<T: Scalar>(fitting: &Fitting<'_, T>, spec: &LearnerSpec, validation: Option<Validation>) -> Result<Learned<T>> {
    if fitting.feature_bytes() > fitting.driver.memory() {
        let expected = "enough for all features; or use the sgd solver, or iterative for the squared hinge";
        return Err(Error::parameter("memory", fitting.driver.memory(), expected));
    }
    let rows = TrainingRows::gather(fitting)?;
    let kept = rows.kept.as_ref().expect("they fit memory");
    let without_zeros = if let PanelRows::Dense(x) = kept { without_zeros(x) } else { None };
    let features = without_zeros.as_ref().map_or(kept.view(), |sparse| Rows::Sparse(sparse.view()));
    let loss = if spec.loss == Loss::Hinge { DualLoss::Hinge } else { DualLoss::SquaredHinge };
    let solve = |task: Task<'_, T>| {
        let Stopping { tol, max_iter: max_epochs } = task.stopping;
        let params = DualParams { loss, intercept: spec.intercept, max_epochs, tol, seed: fitting.seed };
        let total: f64 = task.targets.weights.iter().map(|&w| w.to_f64()).sum();
        let costs: Vec<f64> = task.targets.weights.iter().map(|&w| w.to_f64() / (2.0 * task.lambda * total)).collect();
        let solved: Vec<DualSolution> = fitting.driver.time("learn", || {
            let one = |output: usize| {
                let positive: Vec<bool> = task.targets.targets.column(output).iter().map(|y| *y > T::zero()).collect();
                let interrupted = || fitting.driver.check_interrupted().is_err() || fitting.driver.ends_early();
                solve_dual(features, &positive, &costs, &params, &interrupted)
            };
            (0..task.targets.targets.ncols()).into_par_iter().map(one).collect()
        });
        // A model of which some classes have no weights yet is none.
        fitting.driver.check_interrupted()?;
        if fitting.driver.ends_early() {
            return Err(Error::Interrupted);
        }
        let weights = Array2::from_shape_fn((rows.n_components(), solved.len()), |(i, output)| {
            T::from_f64(solved[output].weights[i])
        });
        let intercept = solved.iter().map(|solution| T::from_f64(solution.intercept)).collect();
        // In units of the mean loss.
        let unit = 2.0 * task.lambda;
        let convergence = Convergence {
            objective: unit * solved.iter().map(|solution| solution.objective).sum::<f64>(),
            gradient_norm: None,
            gap: Some(unit * solved.iter().map(|solution| solution.gap).sum::<f64>()),
            iterations: solved.iter().map(|solution| solution.epochs).max().unwrap_or(0),
            converged: solved.iter().all(|solution| solution.converged),
        };
        Ok((LinearModel::new(weights, intercept)?, convergence))
    };
    let targets = rows.row_targets(spec.class_weight);
    by(&rows, targets, spec, validation, Solver::Dual, solve)
}

/// Dense rows of mostly zeros as sparse ones, which steps read in less time.
fn without_zeros<T: Scalar>(x: &Array2<T>) -> Option<CsrMatrix<T>> {
    let n_stored = x.iter().filter(|value| **value != T::zero()).count();
    (n_stored as f64 <= MOST_STORED * x.len() as f64).then(|| {
        let mut rows = CsrMatrix::new(x.ncols());
        for row in x.outer_iter() {
            for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != T::zero()) {
                rows.push(j, value).expect("columns ascend");
            }
            rows.finish_row();
        }
        rows
    })
}

/// What a solver is asked for.
struct Task<'a, T> {
    targets: &'a RowTargets<T>,
    lambda: f64,
    stopping: Stopping,
    start: Option<&'a LinearModel<T>>,
}

/// The model for the λ that is given, or for the best.
fn by<T: Scalar>(
    rows: &TrainingRows<'_, '_, T>,
    mut targets: RowTargets<T>,
    spec: &LearnerSpec,
    validation: Option<Validation>,
    solver: Solver,
    mut solve: impl FnMut(Task<'_, T>) -> Result<(LinearModel<T>, Convergence)>,
) -> Result<Learned<T>> {
    let given = spec.lambda.given(targets.weights.iter().map(|&w| w.to_f64()).sum());
    let spreads = rows.spreads();
    targets.targets = Array2::from_shape_fn(targets.targets.dim(), |(i, j)| targets.targets[[i, j]] / spreads[j]);
    let driver = rows.fitting.driver;
    let mut best = None;
    let mut choice = match validation {
        Some(validation) => validate(rows, &mut targets, spec, &candidates(given), validation, &mut solve, &mut best)?,
        None => None,
    };
    if let (Some(choice), Some(best)) = (&mut choice, &best)
        && driver.ends_early()
    {
        choice.lambda = best.lambda;
    }
    let lambda = choice.as_ref().map_or(given.unwrap_or(LAMBDA_OF_FEW_ROWS), |choice| choice.lambda);
    let (model, convergence) = if let (Some(best), true) = (&best, driver.ends_early()) {
        (best.model.clone(), best.convergence)
    } else {
        let start = best.as_ref().map(|best| &best.model);
        match (solve(Task { targets: &targets, lambda, stopping: spec.stopping, start }), best) {
            (Err(Error::Interrupted), Some(best)) if driver.ends_early() && best.lambda == lambda => {
                (best.model, best.convergence)
            }
            (solved, _) => solved?,
        }
    };
    driver.has_model();
    let model = model.scaled(&spreads)?;
    // After the model: a preconditioner remembers what it was used for, and the model must not depend on this.
    let all = targets.weights.clone();
    let without = |folds, part| {
        targets.weights = without(&all, &rows.fold(folds, part));
        Ok(solve(Task { targets: &targets, lambda, stopping: spec.stopping, start: None })?.0)
    };
    let calibration = calibrated(rows.fitting, without)?;
    Ok(Learned { model, lambda, solver, choice, convergence: Some(convergence), calibration })
}

/// The link from scores to probabilities, where it is asked for; none where the training is to end.
fn calibrated<T: Scalar>(
    fitting: &Fitting<'_, T>,
    mut without: impl FnMut(Folds, usize) -> Result<LinearModel<T>>,
) -> Result<Option<Calibration>> {
    let driver = fitting.driver;
    let whole = |folds, part| {
        let model = without(folds, part)?;
        // A model that ended early is not the one whose scores are to be linked.
        if driver.ends_early() { Err(Error::Interrupted) } else { Ok(model) }
    };
    if driver.ends_early() {
        return Ok(None);
    }
    match fitting.calibration.map(|parts| parts.calibrate(fitting, whole)) {
        Some(Err(Error::Interrupted)) if driver.ends_early() => Ok(None),
        calibration => calibration.transpose(),
    }
}

/// Weights of rows, zero for those that judge.
fn without<T: Scalar>(all: &Array1<T>, judges: &[bool]) -> Array1<T> {
    Array1::from_shape_fn(all.len(), |i| if judges[i] { T::zero() } else { all[i] })
}

/// The best model of a path of λ so far, and what it is judged by, per row.
struct Best<T> {
    model: LinearModel<T>,
    convergence: Convergence,
    lambda: f64,
    cost: (f64, f64),
}

/// Tries λ from the largest on, each model from the last, until none was better for a while.
fn validate<T: Scalar>(
    rows: &TrainingRows<'_, '_, T>,
    targets: &mut RowTargets<T>,
    spec: &LearnerSpec,
    candidates: &[f64],
    validation: Validation,
    solve: &mut impl FnMut(Task<'_, T>) -> Result<(LinearModel<T>, Convergence)>,
    best: &mut Option<Best<T>>,
) -> Result<Option<LambdaChoice>> {
    let all = targets.weights.clone();
    let (driver, judge) = (rows.fitting.driver, Judge::of(spec.loss, rows.fitting.encoder));
    let stopping = Stopping { tol: spec.stopping.tol.max(TRIAL_TOL), ..spec.stopping };
    let mut folds = Vec::new();
    for fold in 0..validation.n_judging() {
        let judges = rows.fold(Folds::new(rows.fitting.seed, Purpose::Fold, validation.n_parts()), fold);
        let n_judges = judges.iter().filter(|judge| **judge).count();
        if n_judges == 0 || n_judges == judges.len() {
            targets.weights = all;
            return validation.nothing_held_out(rows.fitting.dataset).map(|()| None);
        }
        targets.weights = without(&all, &judges);
        let mut scores = vec![None; candidates.len()];
        let mut start: Option<LinearModel<T>> = None;
        for (at, &lambda) in candidates.iter().enumerate() {
            let (model, convergence) = match solve(Task { targets, lambda, stopping, start: start.as_ref() }) {
                Err(Error::Interrupted) if driver.ends_early() => break,
                // A λ so small that nothing can be solved with it; those that follow are smaller.
                Err(Error::NotPositiveDefinite { .. } | Error::Model(_)) if at > 0 => break,
                solved => solved?,
            };
            if driver.ends_early() && best.is_some() {
                break;
            }
            let score = rows.score(&model, &targets.targets, &judges, spec.loss)?;
            scores[at] = Some(score);
            start = Some(model.clone());
            let (cost, convergence) = (judge.cost(&score), Convergence { converged: false, ..convergence });
            if best.as_ref().is_none_or(|best| cost < best.cost) {
                *best = Some(Best { model, convergence, lambda, cost });
            }
            driver.has_model();
            // Of one fold alone: all folds must be judged by the same candidates.
            if validation.n_judging() == 1 && lambda::best_is_behind(&scores[..=at], judge, PATIENCE) {
                break;
            }
            if driver.ends_early() {
                break;
            }
        }
        // Of folds that were not finished the first will do.
        if folds.is_empty() || !driver.ends_early() {
            folds.push(scores);
        }
        if driver.ends_early() {
            break;
        }
    }
    targets.weights = all;
    lambda::choose_lambda_of(rows.fitting.encoder, judge, candidates, &folds).map(Some)
}

/// What each row counts, on average one.
fn weights<T: Scalar>(rows: &TrainingRows<'_, '_, T>, class_weight: ClassWeight) -> Array1<T> {
    let by_class = class_weights(rows.fitting.encoder, class_weight);
    match by_class.is_empty() {
        true => Array1::ones(rows.targets.nrows()),
        false => rows.classes.iter().map(|&class| by_class[class as usize]).collect(),
    }
}

/// What rows of each class count; none where all count alike.
fn class_weights<T: Scalar>(encoder: &TargetEncoder, class_weight: ClassWeight) -> Vec<T> {
    let (TargetEncoder::Classes { counts, .. }, ClassWeight::Balanced) = (encoder, class_weight) else {
        return Vec::new();
    };
    let (n, classes) = (counts.iter().sum::<u64>() as f64, counts.len() as f64);
    counts.iter().map(|&count| T::from_f64(n / (classes * count as f64))).collect()
}

fn finite_targets<T: Scalar>(fitting: &Fitting<'_, T>, panel: &PanelTargets) -> Result<Array2<T>> {
    let targets = learning_targets::<T>(fitting.encoder, panel);
    if targets.iter().all(|y| y.is_finite()) {
        return Ok(targets);
    }
    Err(Error::Overflow { context: fitting.dataset.info().name.clone(), dtype: T::DTYPE })
}

/// The features of all rows, kept where memory allows, and their targets.
struct TrainingRows<'f, 'a, T> {
    fitting: &'f Fitting<'a, T>,
    /// the same, or with the first factor of its map
    read: Fitting<'a, T>,
    /// both factors
    factored: Option<Factored<'a, T>>,
    kept: Option<PanelRows<T>>,
    targets: Array2<T>,
    /// of a classification
    classes: Vec<u32>,
}

impl<'f, 'a, T: Scalar> TrainingRows<'f, 'a, T> {
    fn gather(fitting: &'f Fitting<'a, T>) -> Result<Self> {
        Self::gather_by(fitting, *fitting, None)
    }

    /// By the first factor of a map that has two, the other a triangle, where many passes over many features are to come: the other is for
    /// the weights, and no row is ever multiplied by it but those of a sample.
    fn gather_factored(fitting: &'f Fitting<'a, T>) -> Result<Self> {
        let n_outputs = fitting.encoder.n_outputs();
        let scheme = Scheme::of(fitting.dataset.n_rows() as usize, fitting.map.n_components(), n_outputs, false);
        match (fitting.map.factored(), scheme) {
            (Some(factored), Scheme::Sampled(_)) if factored.is_upper && factored.offset.is_empty() => {
                Self::gather_by(fitting, Fitting { map: factored.first, ..*fitting }, Some(factored))
            }
            _ => Self::gather(fitting),
        }
    }

    fn gather_by(fitting: &'f Fitting<'a, T>, read: Fitting<'a, T>, factored: Option<Factored<'a, T>>) -> Result<Self> {
        let n_rows = fitting.dataset.n_rows();
        let (mut targets, mut classes) = (Vec::new(), Vec::new());
        let mut each = |panel: &PanelTargets| {
            if let PanelTargets::Classes(panel) = panel {
                classes.extend_from_slice(panel);
            }
            targets.extend(finite_targets(fitting, panel)?.iter().copied());
            Ok(())
        };
        let panels = Panels::new(fitting.dataset, fitting.map.n_inputs(), fitting.targets(), Selection::All)?;
        let keeps = fitting.feature_bytes() <= fitting.driver.memory();
        let kept = if keeps {
            let parts = (fitting.preprocess, read.map);
            Some(fitting.driver.collect_features(n_rows, fitting.n_stored(), panels, parts, &mut each)?)
        } else {
            fitting.driver.for_each_panel("targets", n_rows, panels, None, |panel| each(&panel.targets))?;
            None
        };
        let n_outputs = fitting.encoder.n_outputs();
        let targets = Array2::from_shape_vec((targets.len() / n_outputs, n_outputs), targets).expect("whole rows");
        Ok(Self { fitting, read, factored, kept, targets, classes })
    }

    /// What the solvers are told.
    fn row_targets(&self, class_weight: ClassWeight) -> RowTargets<T> {
        RowTargets { weights: weights(self, class_weight), targets: self.targets.clone() }
    }

    /// The spread of each target, by which it is divided while it is learned: 1.4826 times its median distance from its
    /// median, which is the standard deviation of a normal law and does not mind outliers; where that is zero, the root
    /// of the mean square. One for classes.
    fn spreads(&self) -> Vec<T> {
        if self.fitting.encoder.task() == dataset::Task::Classification {
            return vec![T::one(); self.targets.ncols()];
        }
        self.targets
            .columns()
            .into_iter()
            .map(|column| T::from_f64(spread(column.iter().map(|&y| y.to_f64()))))
            .collect()
    }

    /// Whether each row is in a part of several, as [`Selection::Fold`] deals them.
    fn fold(&self, mut folds: Folds, fold: usize) -> Vec<bool> {
        (0..self.targets.nrows()).map(|i| folds.next_fold(self.classes.get(i).copied().unwrap_or(0)) == fold).collect()
    }

    /// The Hessian where all rows are few or short, else that of a sample or, for sparse rows, its diagonal.
    fn preconditioner(&self, spec: &LearnerSpec) -> Result<Preconditioner<'_, T>> {
        let (n_rows, driver, curvature) = (self.n_rows(), self.fitting.driver, spec.loss.curvature());
        driver.check_interrupted()?;
        let n_outputs = self.fitting.encoder.n_outputs();
        match Scheme::of(n_rows, self.n_components(), n_outputs, self.fitting.n_stored().is_some()) {
            scheme @ (Scheme::Newton | Scheme::SparseNewton) => {
                let rows = if scheme == Scheme::Newton {
                    AllRows::Dense(self.all_features()?)
                } else {
                    AllRows::Sparse(self.sparse_features()?)
                };
                Ok(Preconditioner::Newton(driver.time("solve", || Newton::new(rows, spec.intercept))))
            }
            Scheme::Sampled(wanted) => {
                let mut chosen = sample(self.fitting.seed, Purpose::Sample, n_rows as u64, wanted);
                chosen.sort_unstable();
                let mut rows = self.features_of(&chosen)?;
                if let Some(factored) = self.factored {
                    rows = driver.time("solve", || whitened(&rows, factored.then));
                }
                let sampled = driver.time("solve", || Sampled::new(rows, n_rows, curvature, spec.intercept));
                Ok(Preconditioner::Sampled(sampled))
            }
            Scheme::Diagonal => {
                let mut diagonal = Diagonal::new(self.n_components(), curvature);
                self.for_each("learn", &mut |_, features| {
                    diagonal.add(features);
                    Ok(())
                })?;
                Ok(Preconditioner::Diagonal(diagonal.finish(spec.intercept)))
            }
        }
    }

    /// The features of all rows, densely.
    fn all_features(&self) -> Result<CowArray<'_, T, Ix2>> {
        if let Some(PanelRows::Dense(kept)) = &self.kept {
            return Ok(kept.view().into());
        }
        let mut out = Array2::zeros((self.n_rows(), self.n_components()));
        self.for_each("learn", &mut |first, features| {
            features.write_dense(out.slice_mut(s![first..first + features.n_rows(), ..]));
            Ok(())
        })?;
        Ok(out.into())
    }

    /// The sparse features of all rows.
    fn sparse_features(&self) -> Result<Cow<'_, CsrMatrix<T>>> {
        if let Some(PanelRows::Sparse(kept)) = &self.kept {
            return Ok(Cow::Borrowed(kept));
        }
        let mut rows = CsrMatrix::new(self.n_components());
        self.for_each("learn", &mut |_, features| {
            let Rows::Sparse(features) = features else { unreachable!("sparse rows mapped to themselves") };
            rows.push_rows_of(features);
            Ok(())
        })?;
        Ok(Cow::Owned(rows))
    }

    /// The features of some rows, given in order, densely.
    fn features_of(&self, chosen: &[u64]) -> Result<Array2<T>> {
        let mut out = Array2::zeros((chosen.len(), self.n_components()));
        let Some(kept) = &self.kept else {
            let mut filled = 0;
            self.read.for_each("sample", Selection::rows(chosen.to_vec()), |features, _| {
                features.write_dense(out.slice_mut(s![filled..filled + features.n_rows(), ..]));
                filled += features.n_rows();
                Ok(())
            })?;
            return Ok(out);
        };
        let kept = kept.view();
        for (&row, mut out) in chosen.iter().zip(out.axis_chunks_iter_mut(Axis(0), 1)) {
            kept.slice(row as usize, row as usize + 1).write_dense(out.view_mut());
        }
        Ok(out)
    }

    /// How well a model does on the rows that judge.
    fn score(&self, model: &LinearModel<T>, targets: &Array2<T>, judges: &[bool], loss: Loss) -> Result<Score> {
        let mut score = Score::default();
        let is_classes = !self.classes.is_empty();
        let model = &match self.factored {
            Some(factored) => Cow::Owned(self.fitting.driver.install(|| model.behind(factored))?),
            None => Cow::Borrowed(model),
        };
        self.for_each("validate", &mut |first, features| {
            let chosen: Vec<usize> = (0..features.n_rows()).filter(|i| judges[first + i]).collect();
            let mut outputs = Array2::zeros((features.n_rows(), model.n_outputs()));
            model.scores_into(features, outputs.view_mut());
            let truth = targets.slice(s![first..first + features.n_rows(), ..]);
            let (outputs, truth) = (outputs.select(Axis(0), &chosen), truth.select(Axis(0), &chosen));
            score.add(outputs.view(), truth.view(), is_classes, loss);
            Ok(())
        })?;
        Ok(score)
    }
}

/// rows·W, by the threads of the current pool.
fn whitened<T: Scalar>(rows: &Array2<T>, then: ArrayView2<'_, T>) -> Array2<T> {
    let mut out = Array2::zeros(rows.dim());
    let parts = out
        .axis_chunks_iter_mut(Axis(0), WHITENED)
        .collect::<Vec<_>>()
        .into_par_iter()
        .zip(rows.axis_chunks_iter(Axis(0), WHITENED).collect::<Vec<_>>());
    parts.for_each(|(out, rows)| multiply(rows, then, out));
    out
}

fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    let middle = values.len() / 2;
    let median = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
    let square = values.iter().map(|y| (y - median) * (y - median)).sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|y| *y = (*y - median).abs());
    let deviation = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
    match (deviation > 0.0, square > 0.0) {
        (true, _) => 1.4826 * deviation,
        (false, true) => square.sqrt(),
        (false, false) => 1.0,
    }
}

impl<T: Scalar> Passes<T> for TrainingRows<'_, '_, T> {
    fn n_rows(&self) -> usize {
        self.targets.nrows()
    }

    fn n_components(&self) -> usize {
        self.fitting.map.n_components()
    }

    fn then(&self) -> Option<ArrayView2<'_, T>> {
        self.factored.map(|factored| factored.then)
    }

    fn for_each(
        &self,
        stage: &'static str,
        each: &mut (dyn FnMut(usize, Rows<'_, T>) -> Result<()> + Send),
    ) -> Result<()> {
        if let Some(kept) = &self.kept {
            return self.fitting.driver.for_each_kept(stage, kept.view(), each);
        }
        let mut first = 0;
        self.read.for_each(stage, Selection::All, |features, _| {
            each(first, features)?;
            first += features.n_rows();
            Ok(())
        })
    }

    fn between(&self, stage: &'static str, work: &mut (dyn FnMut() -> Result<()> + Send)) -> Result<()> {
        self.fitting.driver.check_interrupted()?;
        self.fitting.driver.time(stage, work)
    }

    fn ends_early(&self) -> bool {
        self.fitting.driver.has_model();
        self.fitting.driver.ends_early()
    }
}
