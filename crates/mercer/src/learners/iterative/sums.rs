//! The sums of a pass: losses, gradient and slopes of a model at all rows.

use mercer_simd::ops::cross::{add_cross, score_rows};
use mercer_simd::{CsrView, Index, IndexSlice, InstructionSet, Scalar};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use crate::dataset::Rows;
use crate::learners::Loss;
use crate::learners::cross::{GROUP, add_parts};
use crate::learners::rows::{RowAccess, SparseRows};

/// Bytes of rows that are scored, then summed.
const CACHED: usize = 256 << 10;
/// Rows at least that are: they share the weights and the sums.
const MIN_CACHED_ROWS: usize = 16;
/// Sparse rows that have a gradient of their own, by one thread, where it is not much longer than they are.
const SPARSE_GROUP: usize = 512;
const MOST_GRADIENT: usize = 2;

/// A model to be evaluated.
pub(super) struct Trial<T> {
    loss: Loss,
    /// outputs × D
    weights: Array2<T>,
    /// the same, for sparse rows
    exact: Array2<f64>,
    intercept: Vec<f64>,
}

/// The sums of a pass.
pub(super) struct Sums {
    /// of the problems
    pub(super) losses: Vec<f64>,
    /// outputs × D
    pub(super) gradient: Array2<f64>,
    pub(super) slopes: Vec<f64>,
    /// rows × outputs, each times the weight of its row; where they are wanted
    pub(super) of_rows: Option<Vec<f64>>,
}

/// What a group of rows adds to the sums.
struct Part<T> {
    losses: Vec<f64>,
    /// rows × outputs
    slopes: Array2<T>,
}

/// Targets and weights of some rows.
type Told<'a, T> = (ArrayView2<'a, T>, ArrayView1<'a, T>);

impl<T: Scalar> Trial<T> {
    /// Of weights (outputs × D) and intercepts.
    pub(super) fn new(loss: Loss, exact: Array2<f64>, intercept: Vec<f64>) -> Self {
        Self { loss, weights: exact.mapv(T::from_f64), exact, intercept }
    }

    fn n_outputs(&self) -> usize {
        self.intercept.len()
    }

    fn add_intercept(&self, mut scores: ArrayViewMut2<'_, T>) {
        for mut row in scores.outer_iter_mut() {
            row.iter_mut().zip(&self.intercept).for_each(|(score, &b)| *score = *score + T::from_f64(b));
        }
    }
}

impl Sums {
    /// Zero; with the slopes of the rows if those are wanted.
    pub(super) fn new(n_losses: usize, n_outputs: usize, n_components: usize, of_rows: bool) -> Self {
        Self {
            losses: vec![0.0; n_losses],
            gradient: Array2::zeros((n_outputs, n_components)),
            slopes: vec![0.0; n_outputs],
            of_rows: of_rows.then(Vec::new),
        }
    }

    /// Adds a panel of rows, with the threads of the current pool.
    pub(super) fn add<T: Scalar>(
        &mut self,
        trial: &Trial<T>,
        features: Rows<'_, T>,
        targets: ArrayView2<'_, T>,
        weights: ArrayView1<'_, T>,
    ) {
        let told = (targets, weights);
        match features {
            Rows::Dense(rows) => self.add_dense(trial, rows, told),
            Rows::Sparse(rows) => match rows.indices() {
                IndexSlice::I32(indices) => self.add_sparse(trial, rows, SparseRows::new(rows, indices), told),
                IndexSlice::I64(indices) => self.add_sparse(trial, rows, SparseRows::new(rows, indices), told),
            },
        }
    }

    fn add_dense<T: Scalar>(&mut self, trial: &Trial<T>, rows: ArrayView2<'_, T>, told: Told<'_, T>) {
        let n_losses = self.losses.len();
        let parts: Vec<(Part<T>, Array2<T>)> = groups(rows.nrows(), GROUP)
            .into_par_iter()
            .map(|(start, end)| dense_part(trial, rows.slice(s![start..end, ..]), between(told, start, end), n_losses))
            .collect();
        self.add_losses(parts.iter().map(|(part, _)| part));
        let gradients: Vec<&Array2<T>> = parts.iter().map(|(_, gradient)| gradient).collect();
        add_parts(&mut self.gradient, &gradients);
    }

    /// Where the rows are long enough each group has its gradient; else, the gradient being much longer than they are, a
    /// thread takes all rows for some outputs.
    fn add_sparse<T: Scalar, I: Index>(
        &mut self,
        trial: &Trial<T>,
        view: CsrView<'_, T>,
        rows: SparseRows<'_, T, I>,
        told: Told<'_, T>,
    ) {
        let (n_losses, d) = (self.losses.len(), self.gradient.ncols());
        let places = groups(view.n_rows(), SPARSE_GROUP);
        let own_gradient = d * places.len() <= MOST_GRADIENT * view.nnz();
        let parts: Vec<(Part<T>, Array2<f64>)> = places
            .par_iter()
            .map(|&(start, end)| {
                let part = sparse_part(trial, rows, (start, end), between(told, start, end), n_losses);
                let mut gradient = Array2::zeros(if own_gradient { self.gradient.dim() } else { (0, 0) });
                for (output, mut gradient) in gradient.outer_iter_mut().enumerate() {
                    add_slopes(rows, start, part.slopes.column(output), gradient.as_slice_mut().expect("row-major"));
                }
                (part, gradient)
            })
            .collect();
        self.add_losses(parts.iter().map(|(part, _)| part));
        if own_gradient {
            let gradients: Vec<&Array2<f64>> = parts.iter().map(|(_, gradient)| gradient).collect();
            return add_parts(&mut self.gradient, &gradients);
        }
        let gradient = self.gradient.as_slice_mut().expect("row-major");
        gradient.par_chunks_mut(d.max(1)).enumerate().for_each(|(output, sums)| {
            for (&(start, _), (part, _)) in places.iter().zip(&parts) {
                add_slopes(rows, start, part.slopes.column(output), sums);
            }
        });
    }

    fn add_losses<'a, T: Scalar>(&mut self, parts: impl Iterator<Item = &'a Part<T>>) {
        for part in parts {
            self.losses.iter_mut().zip(&part.losses).for_each(|(sum, loss)| *sum += loss);
            for row in part.slopes.as_slice().expect("row-major").chunks_exact(self.slopes.len().max(1)) {
                self.slopes.iter_mut().zip(row).for_each(|(sum, &slope)| *sum += slope.to_f64());
            }
            if let Some(of_rows) = &mut self.of_rows {
                of_rows.extend(part.slopes.iter().map(|&slope| Scalar::to_f64(slope)));
            }
        }
    }
}

fn groups(n_rows: usize, size: usize) -> Vec<(usize, usize)> {
    (0..n_rows).step_by(size).map(|start| (start, n_rows.min(start + size))).collect()
}

fn between<'a, T>((targets, weights): Told<'a, T>, start: usize, end: usize) -> Told<'a, T> {
    (targets.slice_move(s![start..end, ..]), weights.slice_move(s![start..end]))
}

/// Losses, slopes and gradient of some rows, which are read once: scored and summed while they are in cache.
fn dense_part<T: Scalar>(
    trial: &Trial<T>,
    rows: ArrayView2<'_, T>,
    told: Told<'_, T>,
    n_losses: usize,
) -> (Part<T>, Array2<T>) {
    let ((n_rows, d), k) = (rows.dim(), trial.n_outputs());
    let mut part = Part { losses: vec![0.0; n_losses], slopes: Array2::zeros((n_rows, k)) };
    let mut gradient = Array2::zeros((k, d));
    let n_cached = (CACHED / (d * size_of::<T>())).max(MIN_CACHED_ROWS).max(k);
    for (start, end) in groups(n_rows, n_cached) {
        let (rows, mut slopes) = (rows.slice(s![start..end, ..]), part.slopes.slice_mut(s![start..end, ..]));
        score_rows(InstructionSet::best(), rows, trial.weights.view(), slopes.view_mut());
        trial.add_intercept(slopes.view_mut());
        let (targets, weights) = between(told, start, end);
        trial.loss.differentiate(slopes.view_mut(), targets, weights, &mut part.losses);
        add_cross(InstructionSet::best(), gradient.view_mut(), slopes.view(), rows);
    }
    (part, gradient)
}

fn sparse_part<T: Scalar, I: Index>(
    trial: &Trial<T>,
    rows: SparseRows<'_, T, I>,
    (start, end): (usize, usize),
    (targets, weights): Told<'_, T>,
    n_losses: usize,
) -> Part<T> {
    let mut part = Part { losses: vec![0.0; n_losses], slopes: Array2::zeros((end - start, trial.n_outputs())) };
    for (i, mut scores) in (start..end).zip(part.slopes.outer_iter_mut()) {
        for ((score, w), &b) in scores.iter_mut().zip(trial.exact.outer_iter()).zip(&trial.intercept) {
            *score = T::from_f64(rows.dot(i, w.to_slice().expect("row-major")) + b);
        }
    }
    trial.loss.differentiate(part.slopes.view_mut(), targets, weights, &mut part.losses);
    part
}

/// sums += Σ slope·row, the first row being `start`.
fn add_slopes<T: Scalar, I: Index>(
    rows: SparseRows<'_, T, I>,
    start: usize,
    slopes: ArrayView1<'_, T>,
    sums: &mut [f64],
) {
    // Rows beyond the margin of a support vector machine have no slope.
    for (i, &slope) in slopes.iter().enumerate().filter(|(_, slope)| **slope != T::zero()) {
        rows.add_scaled(start + i, slope.to_f64(), sums);
    }
}
