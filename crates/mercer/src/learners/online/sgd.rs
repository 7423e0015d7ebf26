//! Averaged stochastic gradient descent: linear models of every loss, row by row.
//!
//! min over W, b of J = (1/n)·Σᵢ ωᵢ·ℓ(Wᵀzᵢ + b, yᵢ) + λ‖W‖². The row of number t takes the step
//!
//! W ← (1 − 2λη_t)·W − η_t·ω·z·gᵀ,  b ← b − η_t·ω·c²·g,  g = ∂ℓ/∂scores,  η_t = η₀/(1 + 2λη₀t)^(3/4),
//!
//! and the model is the average of the iterates, the t-th counted t times: half of the weight is on the last 30 % of
//! them, so that the way from zero is forgotten without a number of rows known beforehand.
//!
//! η₀ = 1/(M + 4λ). A row has the size a = L·ω·(‖z‖² + c²), L being the largest curvature of ℓ; M is the largest size
//! of the first 1,024 rows, or 4·Σa²/Σa if that is less: one outlier does not slow all down. A row larger than M takes
//! the step 1/a, to the minimum of its own loss, so it counts for less than its weight. c² is the mean of ‖z‖² over the
//! same rows: the intercept learns as fast as the weights, and features of another unit change no more than the unit of
//! λ.
//!
//! W = s·U, and the sum of the iterates is V + q·U, with numbers s and q for all rows. The penalty then changes s
//! alone: a sparse row costs its stored values times outputs, not D. Where s falls below 1e-6 it is multiplied out.
//!
//! Cost: 6·D·k flops a row, stored values in place of D for sparse ones; memory 16·D·k bytes. State and sums are in
//! f64, the rows in their type. Rows are taken one by one in their order, so any split into batches gives the same
//! bits. Outputs that the loss does not join are shared among the threads of the current pool, of any number. Dense and
//! sparse rows agree up to rounding.
//!
//! Use it for streams, and where a pass is all there is time for; to converge to many digits, the other solvers are
//! faster. The order of the rows counts: a file sorted by class must be shuffled.
//!
//! We differ from the papers in the weights of the average (theirs starts at a given row) and in η₀ (theirs is found by
//! trials).
//!
//! References: Bottou, "Stochastic gradient descent tricks", 2012 (scaled weights, averages by two vectors); Xu, "Towards
//! optimal one pass large scale learning with averaged stochastic gradient descent", arXiv:1107.2490, 2011 (the
//! exponent); Lacoste-Julien, Schmidt and Bach, "A simpler approach to obtaining an O(1/t) convergence rate for the
//! projected stochastic subgradient method", arXiv:1212.2002, 2012 (weights that grow with t).
//!
//! ```
//! use mercer::learners::{AveragedSgd, LinearModel, Loss, Objective};
//! use ndarray::array;
//!
//! let objective = Objective { loss: Loss::Logistic, lambda: 1e-3, intercept: true };
//! let mut sgd = AveragedSgd::new(objective, 1, 1)?;
//! for _ in 0..100 {
//!     sgd.partial_fit(array![[1.0], [3.0]].view().into(), array![[-1.0], [1.0]].view(), None)?;
//! }
//! let model: LinearModel<f64> = sgd.model()?;
//! assert!(model.weights()[[0, 0]] > 1.0 && sgd.n_rows() == 200);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::{IndexSlice, Scalar};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, aview1};
use rayon::prelude::*;

use super::check;
use super::schedule::{Schedule, Step};
use crate::dataset::Rows;
use crate::learners::rows::{DenseRows, RowAccess, SparseRows};
use crate::learners::{Lambda, LinearModel, Loss, Objective};
use crate::{Error, Result};

/// Products of sizes up to here are finite.
const LARGEST_SIZE: f64 = 1e140;
/// Values of rows that stay in cache while each output takes them.
const CACHED_VALUES: usize = 1 << 15;
/// Multiplications of a batch below which threads cost more than they save.
const SHARED_WORK: usize = 1 << 17;

/// A linear model that learns row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct AveragedSgd {
    objective: Objective,
    n_components: usize,
    schedule: Schedule,
    outputs: Outputs,
}

/// U and V, outputs × D; the intercepts and the sums of them.
#[derive(Clone, Debug, PartialEq)]
struct Outputs {
    iterates: Vec<f64>,
    sums: Vec<f64>,
    intercepts: Vec<f64>,
    intercept_sums: Vec<f64>,
}

impl AveragedSgd {
    /// From zero weights.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first parameter outside its range.
    pub fn new(objective: Objective, n_components: usize, n_outputs: usize) -> Result<Self> {
        objective.loss.validate()?;
        Lambda::Value(objective.lambda).validate()?;
        for (name, size) in [("n_components", n_components), ("n_outputs", n_outputs)] {
            if size == 0 {
                return Err(Error::parameter(name, size, "1 or more"));
            }
        }
        let n_weights = n_components * n_outputs;
        let outputs = Outputs {
            iterates: vec![0.0; n_weights],
            sums: vec![0.0; n_weights],
            intercepts: vec![0.0; n_outputs],
            intercept_sums: vec![0.0; n_outputs],
        };
        Ok(Self { objective, n_components, schedule: Schedule::new(0), outputs })
    }

    /// From a model that stands for `n_rows` rows already learned from: steps and average go on as behind so many. With
    /// 0 the model is only where the iterates start.
    ///
    /// # Errors
    /// As [`AveragedSgd::new`].
    pub fn from_model<T: Scalar>(objective: Objective, model: &LinearModel<T>, n_rows: u64) -> Result<Self> {
        let mut sgd = Self::new(objective, model.weights().nrows(), model.n_outputs())?;
        let weights = model.weights().reversed_axes();
        let intercepts = model.intercept().iter().map(|&b| b.to_f64()).collect();
        let start = (weights.iter().map(|&w| w.to_f64()).collect(), intercepts);
        sgd.restart(Schedule::new(n_rows), start.clone(), start);
        Ok(sgd)
    }

    /// The objective.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// Rows learned from; those of weight 0 are not.
    pub fn n_rows(&self) -> u64 {
        self.schedule.n_rows()
    }

    /// Takes a step for each row, with its targets (rows × outputs: ±1 for classes) and its weight, 1 where none are
    /// given. On an error nothing was learned.
    ///
    /// # Errors
    /// Shapes that do not fit, values or targets that are not finite, [`Error::TooLarge`] for rows whose squared length
    /// is beyond 1e140, or weights that are negative or not finite.
    pub fn partial_fit<T: Scalar>(
        &mut self,
        rows: Rows<'_, T>,
        targets: ArrayView2<'_, T>,
        weights: Option<ArrayView1<'_, T>>,
    ) -> Result<()> {
        check(rows, targets, (self.n_components, self.outputs.intercepts.len()))?;
        check_weights(rows.n_rows(), weights)?;
        let batch = Batch { targets, weights };
        match rows {
            Rows::Dense(x) => self.fit(DenseRows::new(x.as_standard_layout().view()), batch, x.len()),
            Rows::Sparse(x) => match x.indices() {
                IndexSlice::I32(indices) => self.fit(SparseRows::new(x, indices), batch, x.nnz()),
                IndexSlice::I64(indices) => self.fit(SparseRows::new(x, indices), batch, x.nnz()),
            },
        }
    }

    fn fit<T: Scalar>(&mut self, rows: impl RowAccess, batch: Batch<'_, T>, n_values: usize) -> Result<()> {
        let (schedule, steps) = self.steps(rows, &batch)?;
        self.schedule = schedule;
        let n_outputs = self.outputs.intercepts.len();
        let mut groups = self.outputs.groups(self.objective.loss, self.n_components);
        let threads = if n_values * n_outputs < SHARED_WORK { 1 } else { rayon::current_num_threads() };
        let share = groups.len().div_ceil(threads).max(1);
        // The rows of a part stay in cache while one output after another takes them.
        let part = (CACHED_VALUES * batch.targets.nrows() / n_values.max(1)).max(1);
        groups.par_chunks_mut(share).for_each(|groups| {
            for steps in steps.chunks(part) {
                groups.iter_mut().for_each(|group| group.descend(self.objective.loss, rows, batch.targets, steps));
            }
        });
        Ok(())
    }

    /// The rows that count, with their steps, and the schedule after them.
    fn steps<T: Scalar>(&self, rows: impl RowAccess, batch: &Batch<'_, T>) -> Result<(Schedule, Vec<(usize, Step)>)> {
        let norms: Vec<f64> = (0..batch.targets.nrows()).into_par_iter().map(|i| rows.squared_norm(i)).collect();
        let mut schedule = self.schedule.clone();
        let mut steps = Vec::with_capacity(norms.len());
        for (i, norm) in norms.into_iter().enumerate() {
            let weight = batch.weights.map_or(1.0, |weights| weights[i].to_f64());
            // Values are finite, their squares need not be.
            if norm.max(1.0) * weight.max(1.0) >= LARGEST_SIZE {
                return Err(Error::TooLarge { row: i as u64, dtype: T::DTYPE });
            }
            if weight > 0.0 {
                steps.push((i, schedule.step(self.objective, norm, weight)));
            }
        }
        Ok((schedule, steps))
    }

    /// Takes over what `other` learned from other rows: iterates and averages become the means of both, by their rows.
    /// That is not what one run over all rows gives: the mean of parts has less noise than each of them, but is as far on
    /// the way from zero as they are.
    ///
    /// # Errors
    /// [`Error::Parameter`] when objectives or sizes differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |sgd: &Self| (sgd.n_components, sgd.outputs.intercepts.len());
        if shape(self) != shape(other) || self.objective != other.objective {
            let got = format!("sgd of {:?} weights, {:?}", shape(other), other.objective);
            return Err(Error::parameter("merge", got, "a learner of the same objective and sizes"));
        }
        if other.n_rows() == 0 {
            return Ok(());
        }
        let schedule = self.schedule.merged(&other.schedule);
        let share = other.n_rows() as f64 / schedule.n_rows() as f64;
        let mean = |a: Parameters, b: Parameters| {
            let mix = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + share * (b - a)).collect();
            (mix(a.0, b.0), mix(a.1, b.1))
        };
        let (iterate, average) = (mean(self.iterate(), other.iterate()), mean(self.average(), other.average()));
        self.restart(schedule, iterate, average);
        Ok(())
    }

    /// The average of the iterates.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] before the first row, or [`Error::Model`] for weights that overflow the type.
    pub fn model<T: Scalar>(&self) -> Result<LinearModel<T>> {
        if self.n_rows() == 0 {
            return Err(Error::TooFewRows { context: "sgd".to_owned(), got: 0, expected: 1 });
        }
        let (weights, intercepts) = self.average();
        let at = |i: usize, output: usize| T::from_f64(weights[output * self.n_components + i]);
        let weights = Array2::from_shape_fn((self.n_components, intercepts.len()), |(i, output)| at(i, output));
        LinearModel::new(weights, intercepts.into_iter().map(T::from_f64).collect())
    }

    fn iterate(&self) -> Parameters {
        let scale = self.schedule.scale();
        (self.outputs.iterates.iter().map(|u| scale * u).collect(), self.outputs.intercepts.clone())
    }

    /// Where there are no rows, the iterate, of any weight.
    fn average(&self) -> Parameters {
        if self.n_rows() == 0 {
            return self.iterate();
        }
        let (mixed, total) = (self.schedule.mixed(), self.schedule.total_share());
        let Outputs { iterates, sums, intercept_sums, .. } = &self.outputs;
        let weights = iterates.iter().zip(sums).map(|(u, v)| mixed.mul_add(*u, *v) / total);
        (weights.collect(), intercept_sums.iter().map(|sum| sum / total).collect())
    }

    /// Goes on from these.
    fn restart(&mut self, schedule: Schedule, iterate: Parameters, average: Parameters) {
        let total = schedule.total_share();
        let sum = |values: Vec<f64>| values.into_iter().map(|value| total * value).collect();
        self.outputs = Outputs {
            iterates: iterate.0,
            sums: sum(average.0),
            intercepts: iterate.1,
            intercept_sums: sum(average.1),
        };
        self.schedule = schedule;
    }
}

/// Weights, outputs × D, and intercepts.
type Parameters = (Vec<f64>, Vec<f64>);

#[derive(Clone, Copy)]
struct Batch<'a, T> {
    targets: ArrayView2<'a, T>,
    weights: Option<ArrayView1<'a, T>>,
}

fn check_weights<T: Scalar>(n_rows: usize, weights: Option<ArrayView1<'_, T>>) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != n_rows {
        let got = format!("{} numbers for {n_rows} rows", weights.len());
        return Err(Error::parameter("weights", got, "one for each row"));
    }
    match weights.iter().find(|weight| !(**weight >= T::zero() && weight.is_finite())) {
        Some(weight) => Err(Error::parameter("weights", weight, "finite and at least 0")),
        None => Ok(()),
    }
}

impl Outputs {
    /// Those that are one problem together.
    fn groups(&mut self, loss: Loss, n_components: usize) -> Vec<Group<'_>> {
        let width = if loss.joins_outputs() { self.intercepts.len() } else { 1 };
        let weights = self.iterates.chunks_mut(width * n_components).zip(self.sums.chunks_mut(width * n_components));
        let intercepts = self.intercepts.chunks_mut(width).zip(self.intercept_sums.chunks_mut(width));
        let group = |(at, ((iterates, sums), (intercepts, intercept_sums)))| Group {
            first: at * width,
            n_components,
            iterates,
            sums,
            intercepts,
            intercept_sums,
        };
        weights.zip(intercepts).enumerate().map(group).collect()
    }
}

struct Group<'a> {
    /// number of the first output
    first: usize,
    n_components: usize,
    iterates: &'a mut [f64],
    sums: &'a mut [f64],
    intercepts: &'a mut [f64],
    intercept_sums: &'a mut [f64],
}

impl Group<'_> {
    fn descend<T: Scalar>(
        &mut self,
        loss: Loss,
        rows: impl RowAccess,
        targets: ArrayView2<'_, T>,
        steps: &[(usize, Step)],
    ) {
        let width = self.intercepts.len();
        let (mut slopes, mut of_row) = (vec![0.0; width], vec![0.0; width]);
        for &(i, step) in steps {
            for (at, weights) in self.iterates.chunks(self.n_components).enumerate() {
                slopes[at] = step.scale.mul_add(rows.dot(i, weights), self.intercepts[at]);
                of_row[at] = targets[[i, self.first + at]].to_f64();
            }
            differentiate(loss, &mut slopes, &of_row);
            self.step(rows, i, step, &slopes);
        }
    }

    fn step(&mut self, rows: impl RowAccess, i: usize, step: Step, slopes: &[f64]) {
        let weights = self.iterates.chunks_mut(self.n_components).zip(self.sums.chunks_mut(self.n_components));
        for (at, (iterate, sum)) in weights.enumerate() {
            let change = step.rate * slopes[at];
            if change != 0.0 {
                rows.add_scaled(i, -change, iterate);
                rows.add_scaled(i, step.mixed * change, sum);
                self.intercepts[at] -= step.intercept_rate * slopes[at];
            }
            self.intercept_sums[at] += step.share * self.intercepts[at];
        }
        if let Some((scale, mixed)) = step.fold {
            for (u, v) in self.iterates.iter_mut().zip(self.sums.iter_mut()) {
                *v = mixed.mul_add(*u, *v);
                *u *= scale;
            }
        }
    }
}

/// The derivatives of a row's loss in the place of its scores.
fn differentiate(loss: Loss, scores: &mut [f64], targets: &[f64]) {
    if loss.joins_outputs() {
        let shape = (1, targets.len());
        let scores = ArrayViewMut2::from_shape(shape, scores).expect("one row");
        let targets = ArrayView2::from_shape(shape, targets).expect("one row");
        loss.differentiate(scores, targets, aview1(&[1.0]), &mut [0.0]);
    } else {
        scores.iter_mut().zip(targets).for_each(|(score, &target)| *score = loss.slope(*score, target));
    }
}
