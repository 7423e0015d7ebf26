//! Stochastic gradients over all rows, epoch after epoch.
//!
//! Features that memory holds are kept and shuffled as a whole for each epoch, and λ is chosen as for the other
//! solvers. Others are mapped again in each epoch and shuffled within panels, whose rows are at most 2,048; nothing
//! then grows with the number of rows, and λ must be given. Rows sorted by class are learned well only where they are
//! shuffled as a whole.
//!
//! An epoch's objective is that of its panels, each by the average of the iterates before it. The iteration ends where
//! an epoch's differs from the last by less than its `tol`-th part; the objective reported is of the model, by one more
//! pass.

use mercer_simd::{CsrMatrix, Scalar};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

use super::{Learned, Task, TrainingRows, by, calibrated, class_weights, finite_targets, spread};
use crate::dataset::{self, Folds, PanelRows, PanelTargets, Panels, Rows, Selection};
use crate::learners::{
    AveragedSgd, Convergence, LearnerSpec, LinearModel, Loss, Objective, Passes, RowTargets, Solver, Stopping,
};
use crate::random::{Purpose, Stream, sample};
use crate::selection::lambda::{Fitting, Validation};
use crate::{Error, Result};

/// Rows whose targets show their spread.
const SPREAD_SAMPLE: usize = 1 << 16;
/// Rows scored together by one thread.
const CHUNK: usize = 128;

/// Learns by stochastic gradients.
pub(super) fn sgd<T: Scalar>(
    fitting: &Fitting<'_, T>,
    spec: &LearnerSpec,
    validation: Option<Validation>,
) -> Result<Learned<T>> {
    let objective = |lambda| Objective { loss: spec.loss, lambda, intercept: spec.intercept };
    if fitting.feature_bytes() <= fitting.driver.memory() {
        let rows = TrainingRows::gather(fitting)?;
        let targets = rows.row_targets(spec.class_weight);
        let solve = |task: Task<'_, T>| {
            let epochs = Epochs::Kept { rows: &rows, targets: task.targets };
            epochs.minimize(objective(task.lambda), task.stopping, task.start)
        };
        return by(&rows, targets, spec, validation, Solver::Sgd, solve);
    }
    let expected = "left out for sgd where memory does not hold all features";
    if let Some(Validation::CrossValidation { k }) = validation {
        return Err(Error::parameter("cv", k, expected));
    }
    // Weights are one on average.
    let Some(lambda) = spec.lambda.given(fitting.dataset.n_rows() as f64) else {
        let expected = "a number for sgd where memory does not hold all features";
        return Err(Error::parameter("lambda", spec.lambda, expected));
    };
    let (spreads, class_weights) = (spreads(fitting)?, class_weights(fitting.encoder, spec.class_weight));
    let learn = |without| {
        let epochs = Epochs::Streamed { fitting, spreads: &spreads, class_weights: &class_weights, without };
        let (model, convergence) = epochs.minimize(objective(lambda), spec.stopping, None)?;
        Ok((model.scaled(&spreads)?, convergence))
    };
    let (model, convergence) = learn(None)?;
    let calibration = calibrated(fitting, |folds, part| Ok(learn(Some((folds, part)))?.0))?;
    let convergence = Some(convergence);
    Ok(Learned { model, lambda, solver: Solver::Sgd, choice: None, convergence, calibration })
}

/// Rows that are passed over again and again.
enum Epochs<'e, 'f, 'a, T> {
    Kept {
        rows: &'e TrainingRows<'f, 'a, T>,
        targets: &'e RowTargets<T>,
    },
    Streamed {
        fitting: &'f Fitting<'a, T>,
        spreads: &'e [T],
        class_weights: &'e [T],
        /// a part of the rows that does not count
        without: Option<(Folds, usize)>,
    },
}

/// Rows with their targets and weights.
type Panel<'p, 't, T> = (Rows<'p, T>, ArrayView2<'t, T>, ArrayView1<'t, T>);

impl<T: Scalar> Epochs<'_, '_, '_, T> {
    fn minimize(
        &self,
        objective: Objective,
        stopping: Stopping,
        start: Option<&LinearModel<T>>,
    ) -> Result<(LinearModel<T>, Convergence)> {
        let fitting = self.fitting();
        let mut sgd = match start {
            Some(model) => AveragedSgd::from_model(objective, model, 0)?,
            None => AveragedSgd::new(objective, fitting.map.n_components(), fitting.encoder.n_outputs())?,
        };
        let (mut epoch, mut last, mut converged) = (0, f64::INFINITY, false);
        while epoch < stopping.max_iter && !converged {
            let mut value = Mean::default();
            self.for_each("learn", Some(epoch), &mut |panel| {
                if sgd.n_rows() > 0 {
                    value.add(&sgd.model()?, objective.loss, panel);
                }
                sgd.partial_fit(panel.0, panel.1, Some(panel.2))
            })?;
            let next = value.objective(&sgd.model::<T>()?, objective.lambda);
            converged = (last - next).abs() < stopping.tol * next;
            (last, epoch) = (next, epoch + 1);
            fitting.driver.has_model();
            if fitting.driver.ends_early() {
                break;
            }
        }
        let (model, mut value) = (sgd.model()?, Mean::default());
        self.for_each("validate", None, &mut |panel| {
            value.add(&model, objective.loss, panel);
            Ok(())
        })?;
        let value = value.objective(&model, objective.lambda);
        if !value.is_finite() {
            return Err(Error::Overflow { context: "the objective".to_owned(), dtype: T::DTYPE });
        }
        let end = Convergence { objective: value, gradient_norm: None, gap: None, iterations: epoch, converged };
        Ok((model, end))
    }

    fn fitting(&self) -> &Fitting<'_, T> {
        match self {
            Self::Kept { rows, .. } => rows.fitting,
            Self::Streamed { fitting, .. } => fitting,
        }
    }

    /// Hands `each` the rows that count, in panels: in the order of an epoch, or in their own.
    fn for_each(
        &self,
        stage: &'static str,
        epoch: Option<usize>,
        each: &mut (dyn FnMut(Panel<'_, '_, T>) -> Result<()> + Send),
    ) -> Result<()> {
        match self {
            Self::Kept { rows, targets } => kept(rows, targets, stage, epoch, each),
            Self::Streamed { fitting, spreads, class_weights, without } => {
                streamed(fitting, (spreads, class_weights, without.clone()), stage, epoch, each)
            }
        }
    }
}

fn kept<T: Scalar>(
    rows: &TrainingRows<'_, '_, T>,
    RowTargets { targets, weights }: &RowTargets<T>,
    stage: &'static str,
    epoch: Option<usize>,
    each: &mut (dyn FnMut(Panel<'_, '_, T>) -> Result<()> + Send),
) -> Result<()> {
    let (Some(epoch), Some(all)) = (epoch, &rows.kept) else {
        return rows.for_each(stage, &mut |first, panel| {
            let place = first..first + panel.n_rows();
            each((panel, targets.slice(s![place.clone(), ..]), weights.slice(s![place])))
        });
    };
    let order = order(rows.fitting.seed, epoch, 0, targets.nrows());
    rows.fitting.driver.for_each_kept(stage, all.view(), &mut |first, panel| {
        let chosen = &order[first..first + panel.n_rows()];
        let (targets, weights) = (targets.select(Axis(0), chosen), weights.select(Axis(0), chosen));
        each((select(all.view(), chosen).view(), targets.view(), weights.view()))
    })
}

fn streamed<T: Scalar>(
    fitting: &Fitting<'_, T>,
    (spreads, class_weights, mut without): (&[T], &[T], Option<(Folds, usize)>),
    stage: &'static str,
    epoch: Option<usize>,
    each: &mut (dyn FnMut(Panel<'_, '_, T>) -> Result<()> + Send),
) -> Result<()> {
    let mut first = 0;
    fitting.for_each(stage, Selection::All, |features, panel| {
        let targets = finite_targets(fitting, panel)?;
        let targets = Array2::from_shape_fn(targets.dim(), |(i, j)| targets[[i, j]] / spreads[j]);
        let mut weights: Array1<T> = match panel {
            PanelTargets::Classes(classes) if !class_weights.is_empty() => {
                classes.iter().map(|&class| class_weights[class as usize]).collect()
            }
            _ => Array1::ones(targets.nrows()),
        };
        if let (Some((folds, part)), PanelTargets::Classes(classes)) = (&mut without, panel) {
            for (weight, &class) in weights.iter_mut().zip(classes) {
                *weight = if folds.next_fold(class) == *part { T::zero() } else { *weight };
            }
        }
        let n_rows = targets.nrows();
        first += n_rows;
        let Some(epoch) = epoch else { return each((features, targets.view(), weights.view())) };
        let order = order(fitting.seed, epoch, first - n_rows, n_rows);
        let (targets, weights) = (targets.select(Axis(0), &order), weights.select(Axis(0), &order));
        each((select(features, &order).view(), targets.view(), weights.view()))
    })
}

/// The order in which an epoch takes `n_rows` rows from `first` on, counted from there: by their random elements.
fn order(seed: u64, epoch: usize, first: usize, n_rows: usize) -> Vec<usize> {
    let stream = Stream::new(seed, Purpose::Order).lane(epoch);
    let mut keyed: Vec<(u64, usize)> = (0..n_rows).map(|i| (stream.bits((first + i) as u64), i)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

fn select<T: Scalar>(rows: Rows<'_, T>, chosen: &[usize]) -> PanelRows<T> {
    match rows {
        Rows::Dense(x) => PanelRows::Dense(x.select(Axis(0), chosen)),
        Rows::Sparse(x) => {
            let mut out = CsrMatrix::new(x.n_columns());
            chosen.iter().for_each(|&i| out.push_row_of(x, i));
            PanelRows::Sparse(out)
        }
    }
}

/// As [`TrainingRows::spreads`], of a sample of rows where they are many.
fn spreads<T: Scalar>(fitting: &Fitting<'_, T>) -> Result<Vec<T>> {
    let n_outputs = fitting.encoder.n_outputs();
    if fitting.encoder.task() == dataset::Task::Classification {
        return Ok(vec![T::one(); n_outputs]);
    }
    let n_rows = fitting.dataset.n_rows();
    let selection = Selection::rows(sample(fitting.seed, Purpose::Sample, n_rows, SPREAD_SAMPLE));
    let panels = Panels::<T>::new(fitting.dataset, fitting.map.n_inputs(), fitting.targets(), selection)?;
    let mut values = vec![Vec::new(); n_outputs];
    fitting.driver.for_each_panel("targets", n_rows, panels, None, |panel| {
        let targets = finite_targets(fitting, &panel.targets)?;
        for (values, column) in values.iter_mut().zip(targets.columns()) {
            values.extend(column.iter().map(|&y| y.to_f64()));
        }
        Ok(())
    })?;
    Ok(values.into_iter().map(|values| T::from_f64(spread(values.into_iter()))).collect())
}

/// The weighted mean of losses.
#[derive(Default)]
struct Mean {
    losses: f64,
    weights: f64,
}

impl Mean {
    /// Threads share the rows; the sums are in their order.
    fn add<T: Scalar>(&mut self, model: &LinearModel<T>, loss: Loss, (rows, targets, weights): Panel<'_, '_, T>) {
        let chunk = |start: usize| {
            let place = start..rows.n_rows().min(start + CHUNK);
            let mut scores = Array2::zeros((place.len(), model.n_outputs()));
            model.scores_into(rows.slice(place.start, place.end), scores.view_mut());
            loss.weighted_total(scores, targets.slice(s![place.clone(), ..]), weights.slice(s![place]))
        };
        let starts: Vec<usize> = (0..rows.n_rows()).step_by(CHUNK).collect();
        let losses: Vec<f64> = starts.into_par_iter().map(chunk).collect();
        self.losses += losses.iter().sum::<f64>();
        self.weights += weights.iter().map(|&weight| weight.to_f64()).sum::<f64>();
    }

    /// J; infinite where nothing was added.
    fn objective<T: Scalar>(&self, model: &LinearModel<T>, lambda: f64) -> f64 {
        if self.weights == 0.0 {
            return f64::INFINITY;
        }
        let squares: f64 = model.weights().iter().map(|&w| w.to_f64() * w.to_f64()).sum();
        self.losses / self.weights + lambda * squares
    }
}
