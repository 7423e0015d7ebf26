//! Linear models of any smooth loss, by passes over the features: for large D, and for what has no closed form.
//!
//! min over W, b of J = (1/n)·Σᵢ ωᵢ·ℓ(Wᵀzᵢ + b, yᵢ) + λ‖W‖², with weights ωᵢ of mean one.
//!
//! Each pass evaluates J and its gradient at the trial points of [`Lbfgs`], one for each output (all share the pass), or
//! one for all where the loss joins them. Some rows' scores, losses and gradient are computed while they are in cache. The
//! variables are W and the intercept of *centred* features, so that neither disturbs the other; without an intercept they
//! are not centred. From zero the first step
//! is about that of a ridge model; along a path of λ each model starts from the last.
//!
//! Scores and the sums of groups of 256 rows are in the type of the features, sums of groups in f64, in the order of the
//! rows: any number of threads gives the same bits. Cost of a pass: 4·n·D·k flops for k outputs.

mod sums;

use std::sync::Arc;

use mercer_simd::Scalar;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::sums::{Sums, Trial};
use super::lbfgs::{Lbfgs, State, dot};
use super::preconditioner::{Factor, Newton, Preconditioner};
use super::{LinearModel, Loss};
use crate::dataset::Rows;
use crate::pivoted::{times, times_transposed};
use crate::{Error, Result};

/// Steps with one Hessian at most.
const MOST_STEPS: f64 = 10.0;

/// Features that can be passed over again and again, in panels of whole groups of rows that are summed together.
pub(crate) trait Passes<T: Scalar>: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of features.
    fn n_components(&self) -> usize;

    /// What the features are multiplied by, after which they are those that the model is of: W, upper triangular.
    fn then(&self) -> Option<ArrayView2<'_, T>> {
        None
    }

    /// Hands `each` the number of the first row of a panel and its features, on the threads of a pool.
    ///
    /// # Errors
    /// What the source finds wrong, or what `each` returns.
    fn for_each(
        &self,
        stage: &'static str,
        each: &mut (dyn FnMut(usize, Rows<'_, T>) -> Result<()> + Send),
    ) -> Result<()>;

    /// Runs work between passes on the same threads.
    ///
    /// # Errors
    /// What `work` returns, or [`Error::Interrupted`].
    fn between(&self, stage: &'static str, work: &mut (dyn FnMut() -> Result<()> + Send)) -> Result<()>;

    /// Told that there is a model; whether it is to be the last.
    fn ends_early(&self) -> bool;
}

/// What is to be minimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// ℓ
    pub loss: Loss,
    /// λ
    pub lambda: f64,
    /// Whether there is an intercept, which is not penalised.
    pub intercept: bool,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// distance from the minimum, relative to the value there, as it is estimated
    pub tol: f64,
    /// passes at most
    pub max_iter: usize,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { tol: 1e-4, max_iter: 500 }
    }
}

impl Stopping {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol < 1.0) {
            return Err(Error::parameter("tol", self.tol, "above 0 and below 1"));
        }
        if self.max_iter == 0 {
            return Err(Error::parameter("max_iter", 0, "1 or more"));
        }
        Ok(())
    }
}

/// How a minimisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// J, summed over outputs
    pub objective: f64,
    /// length of its gradient, all outputs together; of passes
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_norm: Option<f64>,
    /// the minimum is less than this below the objective; of coordinate descent
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// passes over the rows
    pub iterations: usize,
    /// whether all outputs came as close as asked for
    pub converged: bool,
}

/// The targets and weights of all rows.
#[derive(Clone, Debug)]
pub(crate) struct RowTargets<T> {
    /// rows × outputs: ±1, or centred real values
    pub(crate) targets: Array2<T>,
    /// of a mean of one over the rows that count; zero where a row does not
    pub(crate) weights: Array1<T>,
}

/// The model that minimises `objective`, from `start` or from zero.
///
/// # Errors
/// What a pass finds wrong, or [`Error::Overflow`] where scores are not finite.
pub(crate) fn minimize<T: Scalar>(
    passes: &dyn Passes<T>,
    rows: &RowTargets<T>,
    objective: Objective,
    stopping: Stopping,
    preconditioner: &mut Preconditioner<'_, T>,
    start: Option<&LinearModel<T>>,
) -> Result<(LinearModel<T>, Convergence)> {
    if let Preconditioner::Sampled(sampled) = preconditioner {
        passes.between("solve", &mut || sampled.set_lambda(objective.lambda))?;
    }
    let preconditioner = &*preconditioner;
    let mut search = Search::new(passes, rows, objective, preconditioner, start);
    let mut iterations = 0;
    while iterations < stopping.max_iter && search.groups.iter().any(|group| group.search.state() == State::Trying) {
        search.evaluate()?;
        passes.between("solve", &mut || search.advance(stopping.tol))?;
        iterations += 1;
        let is_model = start.is_some() || search.groups.iter().all(|group| group.search.is_model());
        if is_model && passes.ends_early() {
            break;
        }
    }
    search.finish(iterations)
}

/// Whether curvatures differ by rounding at most.
fn are_alike(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 * a.abs())
}

/// The outputs that are one problem.
struct Group {
    outputs: std::ops::Range<usize>,
    search: Lbfgs,
    /// of each output
    factors: Vec<Arc<Factor>>,
    /// steps since they were made
    age: usize,
}

struct Search<'a, 'p, T: Scalar> {
    passes: &'a dyn Passes<T>,
    rows: &'a RowTargets<T>,
    objective: Objective,
    preconditioner: &'a Preconditioner<'p, T>,
    centre: Vec<f64>,
    groups: Vec<Group>,
    /// sum of the weights
    total: f64,
    /// outputs of the last pass, and the slopes of all rows by them, each times the weight of its row: for new Hessians
    slopes: Option<(Vec<usize>, Vec<f64>)>,
}

impl<'a, 'p, T: Scalar> Search<'a, 'p, T> {
    fn new(
        passes: &'a dyn Passes<T>,
        rows: &'a RowTargets<T>,
        objective: Objective,
        preconditioner: &'a Preconditioner<'p, T>,
        start: Option<&LinearModel<T>>,
    ) -> Self {
        let centre = preconditioner.centre().to_vec();
        let n_outputs = rows.targets.ncols();
        let width = if objective.loss.joins_outputs() { n_outputs } else { 1 };
        let rounding = 4.0 * T::epsilon().to_f64();
        let groups = (0..n_outputs).step_by(width).map(|first| {
            let outputs = first..first + width;
            let start = start.map_or_else(
                || vec![0.0; (passes.n_components() + 1) * width],
                |model| centred(model, &centre, outputs.clone(), objective.intercept),
            );
            Group { search: Lbfgs::new(start, rounding), outputs, factors: Vec::new(), age: 0 }
        });
        let groups = groups.collect();
        let total = rows.weights.iter().map(|&w| w.to_f64()).sum();
        Self { passes, rows, objective, preconditioner, centre, groups, total, slopes: None }
    }

    /// Evaluates the trial points.
    fn evaluate(&mut self) -> Result<()> {
        let trying: Vec<usize> =
            (0..self.groups.len()).filter(|&g| self.groups[g].search.state() == State::Trying).collect();
        let outputs: Vec<usize> = trying.iter().flat_map(|&g| self.groups[g].outputs.clone()).collect();
        let points: Vec<&[f64]> = trying.iter().map(|&g| self.groups[g].search.trial()).collect();
        let mut sums = self.sums(&points, &outputs)?;
        self.slopes = sums.of_rows.take().map(|slopes| (outputs.clone(), slopes));
        let (d, width) = (self.centre.len(), outputs.len() / trying.len());
        for (at, &g) in trying.iter().enumerate() {
            let columns = at * width..(at + 1) * width;
            let trial = self.groups[g].search.trial();
            let penalty = self.objective.lambda * dot(&trial[..d * width], &trial[..d * width]);
            let value = sums.losses[at] / self.total + penalty;
            let mut gradient = Vec::with_capacity(trial.len());
            for i in 0..d {
                for column in columns.clone() {
                    let sum = sums.gradient[[column, i]] - self.centre[i] * sums.slopes[column];
                    gradient.push(sum / self.total + 2.0 * self.objective.lambda * trial[gradient.len()]);
                }
            }
            for column in columns {
                gradient.push(if self.objective.intercept { sums.slopes[column] / self.total } else { 0.0 });
            }
            // A step that goes so far is cut; a start must be finite.
            if !value.is_finite() && !self.groups[g].search.has_start() {
                return Err(Error::Overflow { context: "the objective".to_owned(), dtype: T::DTYPE });
            }
            let value = if value.is_finite() { value } else { f64::INFINITY };
            self.groups[g].search.receive(value, gradient);
        }
        Ok(())
    }

    fn sums(&self, points: &[&[f64]], outputs: &[usize]) -> Result<Sums> {
        let (d, k) = (self.centre.len(), outputs.len());
        let width = k / points.len();
        let at = |i: usize, column: usize| points[column / width][i * width + column % width];
        let intercept = |column: usize| at(d, column) - (0..d).map(|i| self.centre[i] * at(i, column)).sum::<f64>();
        let mut weights = Array2::from_shape_fn((k, d), |(column, i)| at(i, column));
        if let Some(then) = self.passes.then() {
            self.passes.between("learn", &mut || {
                weights = times_transposed(&weights, then);
                Ok(())
            })?;
        }
        let trial = Trial::new(self.objective.loss, weights, (0..k).map(intercept).collect());
        let of_rows = matches!(self.preconditioner, Preconditioner::Newton(_));
        let mut sums = Sums::new(points.len(), k, d, of_rows);
        let all = outputs.len() == self.rows.targets.ncols();
        self.passes.for_each("learn", &mut |first, features| {
            let place = first..first + features.n_rows();
            let targets = self.rows.targets.slice(s![place.clone(), ..]);
            let targets = if all { targets.to_owned() } else { targets.select(Axis(1), outputs) };
            sums.add(&trial, features, targets.view(), self.rows.weights.slice(s![place]));
            Ok(())
        })?;
        if let Some(then) = self.passes.then() {
            self.passes.between("learn", &mut || {
                sums.gradient = times(&sums.gradient, then);
                Ok(())
            })?;
        }
        Ok(sums)
    }

    /// Gives P⁻¹ of their gradients to those that stepped.
    fn advance(&mut self, tol: f64) -> Result<()> {
        let d = self.centre.len();
        let stepped: Vec<usize> =
            (0..self.groups.len()).filter(|&g| self.groups[g].search.state() == State::Stepped).collect();
        let Some(&first) = stepped.first() else { return Ok(()) };
        if let Preconditioner::Newton(newton) = self.preconditioner {
            self.renew(newton, &stepped)?;
        }
        let width = self.groups[first].outputs.len();
        let gradient = |i: usize, column: usize| {
            self.groups[stepped[column / width]].search.gradient()[i * width + column % width]
        };
        let n_columns = stepped.len() * width;
        let gradients = Array2::from_shape_fn((d, n_columns), |(i, column)| gradient(i, column));
        let intercepts: Vec<f64> = (0..n_columns).map(|column| gradient(d, column)).collect();
        let factors: Vec<&Factor> =
            stepped.iter().flat_map(|&g| self.groups[g].factors.iter().map(AsRef::as_ref)).collect();
        let (solved, intercepts) = match self.preconditioner {
            Preconditioner::Newton(newton) => newton.solve(&factors, gradients.view(), &intercepts),
            Preconditioner::Sampled(sampled) => sampled.solve(gradients.view(), &intercepts),
            Preconditioner::Diagonal(diagonal) => diagonal.solve(self.objective.lambda, gradients.view(), &intercepts),
        };
        for (at, g) in stepped.into_iter().enumerate() {
            let columns = at * width..(at + 1) * width;
            let part = solved.slice(s![.., columns.clone()]);
            let preconditioned = part.iter().chain(&intercepts[columns]).copied().collect();
            let is_hessian = matches!(self.preconditioner, Preconditioner::Newton(_));
            self.groups[g].search.advance(preconditioned, tol, is_hessian);
        }
        Ok(())
    }

    /// Makes the Hessian anew at their points for those of these groups whose Hessian is old, as often as it costs no more
    /// than the passes between.
    fn renew(&mut self, newton: &Newton<'_, T>, stepped: &[usize]) -> Result<()> {
        // From zero all outputs have the same curvatures, and share one factor.
        let mut distinct: Vec<(Vec<f64>, Option<Arc<Factor>>)> = Vec::new();
        let mut wanted = Vec::new();
        for (&g, curvatures) in stepped.iter().zip(self.curvatures(stepped)) {
            let cost = curvatures.iter().map(|curvatures| newton.cost(curvatures)).fold(0.0, f64::max);
            let group = &mut self.groups[g];
            group.age += 1;
            if !group.factors.is_empty() && (group.age as f64) < cost.min(MOST_STEPS) {
                continue;
            }
            let mut places = Vec::new();
            for (at, curvatures) in curvatures.into_iter().enumerate() {
                if !distinct.last().is_some_and(|(last, _)| are_alike(last, &curvatures)) {
                    distinct.push((curvatures, group.factors.get(at).map(Arc::clone)));
                }
                places.push(distinct.len() - 1);
            }
            wanted.push((g, places));
        }
        let Objective { lambda, intercept, .. } = self.objective;
        let factors: Vec<Arc<Factor>> =
            newton.factors(&distinct, lambda, intercept)?.into_iter().map(Arc::new).collect();
        for (g, places) in wanted {
            let group = &mut self.groups[g];
            (group.factors, group.age) = (places.into_iter().map(|at| Arc::clone(&factors[at])).collect(), 0);
            group.search.forget();
        }
        Ok(())
    }

    /// ωh of all rows for each output of these groups, with weights of a mean of one. They stepped to the points of the
    /// last pass, which left the slopes there.
    fn curvatures(&self, groups: &[usize]) -> Vec<Vec<Vec<f64>>> {
        let (outputs, slopes) = self.slopes.as_ref().expect("a pass left the slopes");
        let n_columns = outputs.len();
        let factor = self.rows.weights.len() as f64 / self.total.max(f64::MIN_POSITIVE);
        let loss = self.objective.loss;
        let of_group = |&g: &usize| {
            let own = self.groups[g].outputs.clone();
            let first = outputs.iter().position(|output| *output == own.start).expect("an output of the last pass");
            let curve = |at: usize| {
                let target = self.rows.targets.column(own.start + at);
                let slopes = slopes.iter().skip(first + at).step_by(n_columns);
                let rows = slopes.zip(target).zip(&self.rows.weights).map(|((slope, &target), &weight)| {
                    let weight = weight.to_f64();
                    let h = if weight == 0.0 { 0.0 } else { loss.curve(slope / weight, target.to_f64()) };
                    h * weight * factor
                });
                rows.collect()
            };
            (0..own.len()).map(curve).collect()
        };
        groups.par_iter().map(of_group).collect()
    }

    fn finish(self, iterations: usize) -> Result<(LinearModel<T>, Convergence)> {
        let (d, n_outputs) = (self.centre.len(), self.rows.targets.ncols());
        let mut weights = Array2::zeros((d, n_outputs));
        let mut intercept = vec![T::zero(); n_outputs];
        for group in &self.groups {
            let (point, width) = (group.search.point(), group.outputs.len());
            for (at, output) in group.outputs.clone().enumerate() {
                let mut shift = 0.0;
                for i in 0..d {
                    let weight = point[i * width + at];
                    shift += self.centre[i] * weight;
                    weights[[i, output]] = T::from_f64(weight);
                }
                intercept[output] = T::from_f64(point[d * width + at] - shift);
            }
        }
        let squares = |group: &Group| dot(group.search.gradient(), group.search.gradient());
        let convergence = Convergence {
            objective: self.groups.iter().map(|group| group.search.value()).sum(),
            gradient_norm: Some(self.groups.iter().map(squares).sum::<f64>().sqrt()),
            gap: None,
            iterations,
            converged: self.groups.iter().all(|group| group.search.state() == State::Converged),
        };
        Ok((LinearModel::new(weights, intercept)?, convergence))
    }
}

/// The weights of some outputs, and their intercepts, if there are any, for centred features.
fn centred<T: Scalar>(
    model: &LinearModel<T>,
    centre: &[f64],
    outputs: std::ops::Range<usize>,
    intercept: bool,
) -> Vec<f64> {
    let weights = model.weights();
    let part = weights.slice(s![.., outputs.clone()]);
    let intercepts = outputs.map(|output| {
        let shift: f64 = weights.column(output).iter().zip(centre).map(|(&w, c)| w.to_f64() * c).sum();
        if intercept { model.intercept()[output].to_f64() + shift } else { 0.0 }
    });
    part.iter().map(|&w| w.to_f64()).chain(intercepts).collect()
}
