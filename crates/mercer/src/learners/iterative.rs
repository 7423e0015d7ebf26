//! Linear models of any smooth loss, by passes over the features: for large D, and for what has no closed form.
//!
//! min over W, b of J = (1/n)·Σᵢ ωᵢ·ℓ(Wᵀzᵢ + b, yᵢ) + λ‖W‖², with weights ωᵢ of mean one.
//!
//! Each pass evaluates J and its gradient at the trial points of [`Lbfgs`], one for each output (all share the pass), or
//! one for all where the loss joins them. Some rows' scores, losses and gradient are computed while they are in cache. The
//! variables are W and the intercept of *centred* features, so that neither disturbs the other. From zero the first step
//! is about that of a ridge model; along a path of λ each model starts from the last.
//!
//! Scores and the sums of groups of 256 rows are in the type of the features, sums of groups in f64, in the order of the
//! rows: any number of threads gives the same bits. Cost of a pass: 4·n·D·k flops for k outputs.

use std::sync::{Arc, OnceLock};

use mercer_simd::ops::cross::{add_cross, score_rows};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cross::{GROUP, add_parts};
use super::lbfgs::{Lbfgs, State, dot};
use super::preconditioner::{Factor, Newton, Preconditioner};
use super::{LinearModel, Loss};
use crate::dataset::Rows;
use crate::{Error, Result};

/// Steps with one Hessian at most.
const MOST_STEPS: f64 = 10.0;
/// Bytes of rows that are scored, then summed.
const CACHED: usize = 256 << 10;
/// Rows at least that are: they share the weights and the sums.
const MIN_CACHED_ROWS: usize = 16;

/// Features that can be passed over again and again, in panels of whole groups of rows that are summed together.
pub(crate) trait Passes<T: Scalar>: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of features.
    fn n_components(&self) -> usize;

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
    preconditioner: &mut Preconditioner<T>,
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

/// The outputs that are one problem.
struct Group {
    outputs: std::ops::Range<usize>,
    search: Lbfgs,
    /// of each output
    factors: Vec<Arc<Factor>>,
    /// steps since they were made
    age: usize,
}

struct Search<'a, T> {
    passes: &'a dyn Passes<T>,
    rows: &'a RowTargets<T>,
    objective: Objective,
    preconditioner: &'a Preconditioner<T>,
    centre: Vec<f64>,
    groups: Vec<Group>,
    /// sum of the weights
    total: f64,
}

/// The sums of a pass for the outputs still searched.
struct Sums {
    losses: Vec<f64>,
    /// outputs × D
    gradient: Array2<f64>,
    slopes: Vec<f64>,
}

/// What a group of rows adds to the sums.
struct Part<T> {
    losses: Vec<f64>,
    /// rows × outputs
    slopes: Array2<T>,
    /// outputs × D; none of sparse rows
    gradient: Array2<T>,
}

/// A model to be evaluated.
struct Trial<T> {
    /// outputs × D
    weights: Array2<T>,
    /// D × outputs, for sparse rows
    turned: OnceLock<Array2<T>>,
    intercept: Vec<T>,
}

impl<T: Scalar> Trial<T> {
    fn scores_into(&self, rows: Rows<'_, T>, mut scores: ArrayViewMut2<'_, T>) {
        match rows {
            Rows::Dense(rows) => {
                score_rows(InstructionSet::best(), rows, self.weights.view(), scores.view_mut());
            }
            Rows::Sparse(_) => {
                let turned = self.turned.get_or_init(|| self.weights.t().as_standard_layout().into_owned());
                rows.product_into(turned.view(), scores.view_mut());
            }
        }
        for mut row in scores.outer_iter_mut() {
            row.iter_mut().zip(&self.intercept).for_each(|(score, &b)| *score = *score + b);
        }
    }
}

impl Sums {
    /// Adds the parts of some rows, one after the other.
    fn add<T: Scalar>(&mut self, features: Rows<'_, T>, parts: &[Part<T>]) {
        for part in parts {
            self.losses.iter_mut().zip(&part.losses).for_each(|(sum, loss)| *sum += loss);
            for row in part.slopes.outer_iter() {
                self.slopes.iter_mut().zip(row).for_each(|(sum, &slope)| *sum += slope.to_f64());
            }
        }
        let Rows::Sparse(features) = features else {
            let parts: Vec<&Array2<T>> = parts.iter().map(|part| &part.gradient).collect();
            return add_parts(&mut self.gradient, &parts);
        };
        let d = self.gradient.ncols();
        let gradient = self.gradient.as_slice_mut().expect("row-major");
        gradient.par_chunks_mut(d.max(1)).enumerate().for_each(|(output, sums)| {
            let slopes = parts.iter().flat_map(|part| part.slopes.column(output));
            for (i, &slope) in slopes.enumerate() {
                let slope = slope.to_f64();
                features.row(i).for_each(|(column, value)| sums[column] += value.to_f64() * slope);
            }
        });
    }
}

impl<'a, T: Scalar> Search<'a, T> {
    fn new(
        passes: &'a dyn Passes<T>,
        rows: &'a RowTargets<T>,
        objective: Objective,
        preconditioner: &'a Preconditioner<T>,
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
        Self { passes, rows, objective, preconditioner, centre, groups, total }
    }

    /// Evaluates the trial points.
    fn evaluate(&mut self) -> Result<()> {
        let trying: Vec<usize> =
            (0..self.groups.len()).filter(|&g| self.groups[g].search.state() == State::Trying).collect();
        let outputs: Vec<usize> = trying.iter().flat_map(|&g| self.groups[g].outputs.clone()).collect();
        let points: Vec<&[f64]> = trying.iter().map(|&g| self.groups[g].search.trial()).collect();
        let sums = self.sums(&points, &outputs)?;
        let (d, width) = (self.centre.len(), outputs.len() / trying.len());
        for (at, &g) in trying.iter().enumerate() {
            let columns = at * width..(at + 1) * width;
            let trial = self.groups[g].search.trial();
            let penalty = self.objective.lambda * dot(&trial[..d * width], &trial[..d * width]);
            let value = sums.losses[at] / self.total + penalty;
            let mut gradient = Vec::with_capacity(trial.len());
            for i in 0..d {
                for column in columns.clone() {
                    let sum = sums.gradient[[column, i]] - self.offset(i) * sums.slopes[column];
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

    /// What is subtracted from feature i.
    fn offset(&self, i: usize) -> f64 {
        if self.objective.intercept { self.centre[i] } else { 0.0 }
    }

    fn sums(&self, points: &[&[f64]], outputs: &[usize]) -> Result<Sums> {
        let (d, k) = (self.centre.len(), outputs.len());
        let width = k / points.len();
        let at = |i: usize, column: usize| points[column / width][i * width + column % width];
        let intercept = |column: usize| at(d, column) - (0..d).map(|i| self.offset(i) * at(i, column)).sum::<f64>();
        let trial = Trial {
            weights: Array2::from_shape_fn((k, d), |(column, i)| T::from_f64(at(i, column))),
            turned: OnceLock::new(),
            intercept: (0..k).map(|column| T::from_f64(intercept(column))).collect(),
        };
        let mut sums = Sums { losses: vec![0.0; points.len()], gradient: Array2::zeros((k, d)), slopes: vec![0.0; k] };
        let all = outputs.len() == self.rows.targets.ncols();
        self.passes.for_each("learn", &mut |first, features| {
            let place = first..first + features.n_rows();
            let targets = self.rows.targets.slice(s![place.clone(), ..]);
            let targets = if all { targets.to_owned() } else { targets.select(Axis(1), outputs) };
            let weights = self.rows.weights.slice(s![place]);
            let groups: Vec<usize> = (0..features.n_rows()).step_by(GROUP).collect();
            let parts: Vec<Part<T>> = groups
                .into_par_iter()
                .map(|start| {
                    let end = features.n_rows().min(start + GROUP);
                    let rows = (targets.slice(s![start..end, ..]), weights.slice(s![start..end]));
                    self.part(&trial, features.slice(start, end), rows, points.len())
                })
                .collect();
            sums.add(features, &parts);
            Ok(())
        })?;
        Ok(sums)
    }

    /// The losses and slopes of a group of rows, and their gradient where they are dense.
    fn part(
        &self,
        trial: &Trial<T>,
        features: Rows<'_, T>,
        (targets, weights): (ArrayView2<'_, T>, ArrayView1<'_, T>),
        n_losses: usize,
    ) -> Part<T> {
        let (n_rows, d, k) = (features.n_rows(), features.n_inputs(), trial.intercept.len());
        let gradient = if let Rows::Dense(_) = features { (k, d) } else { (0, 0) };
        let mut part =
            Part { losses: vec![0.0; n_losses], slopes: Array2::zeros((n_rows, k)), gradient: Array2::zeros(gradient) };
        let n_cached = (CACHED / (d * size_of::<T>())).max(MIN_CACHED_ROWS).max(k);
        for start in (0..n_rows).step_by(n_cached) {
            let end = n_rows.min(start + n_cached);
            let (rows, place) = (features.slice(start, end), s![start..end, ..]);
            let mut slopes = part.slopes.slice_mut(place);
            trial.scores_into(rows, slopes.view_mut());
            let (targets, weights) = (targets.slice(place), weights.slice(s![start..end]));
            self.objective.loss.differentiate(slopes.view_mut(), targets, weights, &mut part.losses);
            if let Rows::Dense(rows) = rows {
                add_cross(InstructionSet::best(), part.gradient.view_mut(), slopes.view(), rows);
            }
        }
        part
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
        };
        for (at, g) in stepped.into_iter().enumerate() {
            let columns = at * width..(at + 1) * width;
            let part = solved.slice(s![.., columns.clone()]);
            let preconditioned = part.iter().chain(&intercepts[columns]).copied().collect();
            self.groups[g].search.advance(preconditioned, tol);
        }
        Ok(())
    }

    /// Makes the Hessian anew at their points for those of these groups whose Hessian is old, as often as it costs no more
    /// than the passes between.
    fn renew(&mut self, newton: &Newton, stepped: &[usize]) -> Result<()> {
        // From zero all outputs have the same curvatures, and share one factor.
        let mut distinct: Vec<Vec<f64>> = Vec::new();
        let mut wanted = Vec::new();
        for (&g, curvatures) in stepped.iter().zip(self.curvatures(newton, stepped)) {
            let cost = curvatures.iter().map(|curvatures| newton.cost(curvatures)).fold(0.0, f64::max);
            let group = &mut self.groups[g];
            group.age += 1;
            if !group.factors.is_empty() && (group.age as f64) < cost.min(MOST_STEPS) {
                continue;
            }
            let mut places = Vec::new();
            for curvatures in curvatures {
                if distinct.last() != Some(&curvatures) {
                    distinct.push(curvatures);
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

    /// ωh of all rows for each output of these groups, with weights of a mean of one.
    fn curvatures(&self, newton: &Newton, groups: &[usize]) -> Vec<Vec<Vec<f64>>> {
        let (d, width) = (self.centre.len(), self.groups[groups[0]].outputs.len());
        let point = |column: usize| self.groups[groups[column / width]].search.point();
        let at = |i: usize, column: usize| point(column)[i * width + column % width];
        let weights = Array2::from_shape_fn((d, groups.len() * width), |(i, column)| at(i, column));
        let mut scores = newton.scores(weights.view());
        // Without an intercept the scores are of features that are not centred.
        let shift = |column: usize| match self.objective.intercept {
            true => at(d, column),
            false => self.centre.iter().zip(weights.column(column)).map(|(c, w)| c * w).sum::<f64>(),
        };
        scores += &(0..groups.len() * width).map(shift).collect::<Array1<f64>>();
        let factor = scores.nrows() as f64 / self.total.max(f64::MIN_POSITIVE);
        let mut curvatures = vec![vec![vec![0.0; scores.nrows()]; width]; groups.len()];
        for (i, scores) in scores.outer_iter().enumerate() {
            let weight = self.rows.weights[i].to_f64() * factor;
            for (at, &g) in groups.iter().enumerate() {
                let targets = self.rows.targets.slice(s![i, self.groups[g].outputs.clone()]);
                let of_row = self.objective.loss.curvatures(scores.slice(s![at * width..(at + 1) * width]), targets);
                curvatures[at].iter_mut().zip(of_row).for_each(|(all, h)| all[i] = weight * h);
            }
        }
        curvatures
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
                    shift += self.offset(i) * weight;
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
