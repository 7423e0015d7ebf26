//! The steps of stochastic gradient descent: what they are is settled by the rows, not by the scores.

use crate::learners::{Loss, Objective};

/// The rows whose sizes settle η₀.
const MEASURED_ROWS: u64 = 1024;
/// Sizes beyond so many times the typical one are not waited for.
const OUTLIER: f64 = 4.0;
/// Where the scale of the weights is folded into them: six digits of sixteen are lost at most.
const SMALLEST_SCALE: f64 = 1e-6;

/// How a row changes the weights: see the head of [`super::sgd`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// s before
    pub(super) scale: f64,
    /// ωη/s
    pub(super) rate: f64,
    /// ωη·c², of the intercept
    pub(super) intercept_rate: f64,
    /// q before
    pub(super) mixed: f64,
    /// what the iterate counts in the average
    pub(super) share: f64,
    /// (s, q) where they are folded into the weights after this row
    pub(super) fold: Option<(f64, f64)>,
}

/// All of the state that the outputs share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schedule {
    n_rows: u64,
    scale: f64,
    mixed: f64,
    sizes: Sizes,
}

/// Sums over the rows that were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sizes {
    n_rows: u64,
    squared_norms: f64,
    sizes: f64,
    squares: f64,
    largest: f64,
}

impl Schedule {
    /// Where so many rows have been seen.
    pub(super) fn new(n_rows: u64) -> Self {
        Self { n_rows, scale: 1.0, mixed: 0.0, sizes: Sizes::default() }
    }

    pub(super) fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// s
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// q
    pub(super) fn mixed(&self) -> f64 {
        self.mixed
    }

    /// Σ of the shares so far.
    pub(super) fn total_share(&self) -> f64 {
        let n = self.n_rows as f64;
        0.5 * n * (n + 1.0)
    }

    /// That of the rows of both, with weights that are not scaled.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let (a, b) = (self.sizes, other.sizes);
        let sizes = Sizes {
            n_rows: a.n_rows + b.n_rows,
            squared_norms: a.squared_norms + b.squared_norms,
            sizes: a.sizes + b.sizes,
            squares: a.squares + b.squares,
            largest: a.largest.max(b.largest),
        };
        Self { sizes, ..Self::new(self.n_rows + other.n_rows) }
    }

    /// The step of the next row.
    pub(super) fn step(&mut self, objective: Objective, squared_norm: f64, weight: f64) -> Step {
        let Objective { loss, lambda, intercept } = objective;
        let constant = if intercept { self.sizes.constant(squared_norm) } else { 0.0 };
        let size = curvature(loss) * weight * (squared_norm + constant);
        self.sizes.add(squared_norm, size);
        let first = 1.0 / (self.sizes.bound() + 4.0 * lambda);
        let time = self.n_rows as f64;
        let eta = first / (1.0 + 2.0 * lambda * first * time).powf(0.75);
        // No step goes beyond the minimum of its row.
        let of_row = weight * if eta * size > 1.0 { 1.0 / size } else { eta };
        let (scale, mixed) = (self.scale, self.mixed);
        self.n_rows += 1;
        let share = self.n_rows as f64;
        self.scale *= 1.0 - 2.0 * lambda * eta;
        self.mixed += share * self.scale;
        let mut step =
            Step { scale, rate: of_row / self.scale, intercept_rate: of_row * constant, mixed, share, fold: None };
        if self.scale < SMALLEST_SCALE {
            step.fold = Some((self.scale, self.mixed));
            (self.scale, self.mixed) = (1.0, 0.0);
        }
        step
    }
}

impl Sizes {
    fn add(&mut self, squared_norm: f64, size: f64) {
        if self.n_rows < MEASURED_ROWS {
            self.n_rows += 1;
            self.squared_norms += squared_norm;
            self.sizes += size;
            self.squares += size * size;
            self.largest = self.largest.max(size);
        }
    }

    /// c²: the mean squared length, so that the intercept learns as fast as the weights; one for rows of zeros.
    fn constant(&self, next: f64) -> f64 {
        let (sum, n) = if self.n_rows < MEASURED_ROWS {
            (self.squared_norms + next, self.n_rows + 1)
        } else {
            (self.squared_norms, self.n_rows)
        };
        if sum > 0.0 { sum / n as f64 } else { 1.0 }
    }

    /// The largest, but at most four times the mean of the sizes, each counted by its size.
    fn bound(&self) -> f64 {
        if self.sizes > 0.0 { self.largest.min(OUTLIER * self.squares / self.sizes) } else { 0.0 }
    }
}

/// The second derivative where it is largest; of the hinge loss, whose slope is at most 1, that of a step to its
/// margin.
fn curvature(loss: Loss) -> f64 {
    match loss {
        Loss::Hinge => 1.0,
        Loss::Softmax => 0.5,
        other => other.curvature(),
    }
}
