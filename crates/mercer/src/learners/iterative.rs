//! Linear models of any smooth loss, by passes over the features: for large D, and for what has no closed form.
//!
//! min over W, b of J = (1/n)·Σᵢ ωᵢ·ℓ(Wᵀzᵢ + b, yᵢ) + λ‖W‖², with weights ωᵢ of mean one.
//!
//! Each pass evaluates J and its gradient at the trial points of [`Lbfgs`], one for each output (all share the pass), or
//! one for all where the loss joins them. A panel's scores, losses and gradient are computed while it is in cache. The
//! variables are W and the intercept of *centred* features, so that neither disturbs the other. From zero the first step
//! is about that of a ridge model; along a path of λ each model starts from the last.
//!
//! Scores and products are in the type of the features, sums over groups of 512 rows in f64, in the order of the rows:
//! any number of threads gives the same bits. Cost of a pass: 4·n·D·k flops for k outputs.

use std::sync::Arc;

use mercer_simd::ops::widen::add_widened;
use mercer_simd::{InstructionSet, Scalar, Update, matmul_into};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::lbfgs::{Lbfgs, State, dot};
use super::preconditioner::{Factor, Newton, Preconditioner};
use super::tiles::TILE;
use super::{LinearModel, Loss};
use crate::dataset::{Rows, SUM_ROWS};
use crate::{Error, Result};

/// Steps with one Hessian at most.
const MOST_STEPS: f64 = 10.0;
/// Rows scored together by one thread.
const CHUNK: usize = 128;

/// Features that can be passed over again and again, in panels of whole groups of [`SUM_ROWS`] rows.
pub trait Passes<T: Scalar>: Sync {
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
pub struct RowTargets<T> {
    /// rows × outputs: ±1, or centred real values
    pub targets: Array2<T>,
    /// of a mean of one over the rows that count; zero where a row does not
    pub weights: Array1<T>,
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
    /// D × outputs
    gradient: Array2<f64>,
    slopes: Vec<f64>,
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
                |model| centred(model, &centre, outputs.clone()),
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
                    let sum = sums.gradient[[i, column]] - self.offset(i) * sums.slopes[column];
                    gradient.push(sum / self.total + 2.0 * self.objective.lambda * trial[gradient.len()]);
                }
            }
            for column in columns {
                gradient.push(if self.objective.intercept { sums.slopes[column] / self.total } else { 0.0 });
            }
            if !value.is_finite() {
                return Err(Error::Overflow { context: "the objective".to_owned(), dtype: T::DTYPE });
            }
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
        let weights = Array2::from_shape_fn((d, k), |(i, column)| T::from_f64(at(i, column)));
        let intercept: Vec<T> = (0..k)
            .map(|column| T::from_f64(at(d, column) - (0..d).map(|i| self.offset(i) * at(i, column)).sum::<f64>()))
            .collect();
        let mut sums = Sums { losses: vec![0.0; points.len()], gradient: Array2::zeros((d, k)), slopes: vec![0.0; k] };
        let all = outputs.len() == self.rows.targets.ncols();
        self.passes.for_each("learn", &mut |first, features| {
            let place = first..first + features.n_rows();
            let targets = self.rows.targets.slice(s![place.clone(), ..]);
            let targets = if all { targets.to_owned() } else { targets.select(Axis(1), outputs) };
            let panel_weights = self.rows.weights.slice(s![place]);
            let mut slopes = Array2::zeros((features.n_rows(), k));
            let parts: Vec<Vec<f64>> = slopes
                .as_slice_mut()
                .expect("row-major")
                .par_chunks_mut(CHUNK * k)
                .enumerate()
                .map(|(chunk, slopes)| {
                    let n_rows = slopes.len() / k;
                    let mut slopes = ArrayViewMut2::from_shape((n_rows, k), slopes).expect("whole rows");
                    let place = chunk * CHUNK..chunk * CHUNK + n_rows;
                    features.slice(place.start, place.end).product_into(weights.view(), slopes.view_mut());
                    for mut row in slopes.outer_iter_mut() {
                        row.iter_mut().zip(&intercept).for_each(|(score, &b)| *score = *score + b);
                    }
                    let mut losses = vec![0.0; points.len()];
                    let (targets, row_weights) = (targets.slice(s![place.clone(), ..]), panel_weights.slice(s![place]));
                    self.objective.loss.differentiate(slopes, targets, row_weights, &mut losses);
                    losses
                })
                .collect();
            for part in parts {
                sums.losses.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
            for row in slopes.outer_iter() {
                sums.slopes.iter_mut().zip(row).for_each(|(sum, &slope)| *sum += slope.to_f64());
            }
            add_gradient(&mut sums.gradient, features, slopes.view());
            Ok(())
        })?;
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

/// The weights of some outputs, and their intercepts for centred features.
fn centred<T: Scalar>(model: &LinearModel<T>, centre: &[f64], outputs: std::ops::Range<usize>) -> Vec<f64> {
    let weights = model.weights();
    let part = weights.slice(s![.., outputs.clone()]);
    let intercepts = outputs.map(|output| {
        let shift: f64 = weights.column(output).iter().zip(centre).map(|(&w, c)| w.to_f64() * c).sum();
        model.intercept()[output].to_f64() + shift
    });
    part.iter().map(|&w| w.to_f64()).chain(intercepts).collect()
}

/// sums += ZᵀR: products of groups of rows in T, in tiles of features that threads share.
fn add_gradient<T: Scalar>(sums: &mut Array2<f64>, features: Rows<'_, T>, slopes: ArrayView2<'_, T>) {
    let k = slopes.ncols();
    let features = match features {
        Rows::Dense(features) => features,
        Rows::Sparse(features) => {
            for (i, slopes) in slopes.outer_iter().enumerate() {
                for (column, value) in features.row(i) {
                    let value = value.to_f64();
                    sums.row_mut(column).iter_mut().zip(slopes).for_each(|(sum, &s)| *sum += value * s.to_f64());
                }
            }
            return;
        }
    };
    let sums = sums.as_slice_mut().expect("row-major");
    sums.par_chunks_mut(TILE * k).enumerate().for_each(|(block, sums)| {
        let n_columns = sums.len() / k;
        let columns = features.slice(s![.., block * TILE..block * TILE + n_columns]);
        let mut product = vec![T::zero(); sums.len()];
        let groups = columns.axis_chunks_iter(Axis(0), SUM_ROWS).zip(slopes.axis_chunks_iter(Axis(0), SUM_ROWS));
        for (columns, slopes) in groups {
            let out = ArrayViewMut2::from_shape((n_columns, k), &mut product).expect("a block");
            matmul_into(columns.t(), slopes, out, Update::Set);
            add_widened(InstructionSet::best(), sums, &product);
        }
    });
}
