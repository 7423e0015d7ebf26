//! The descent: steps, epochs over the active rows, and the duality gap.

use mercer_simd::prefetch;

use super::super::rows::RowAccess;
use super::{DualParams, DualSolution};
use crate::random::{Purpose, Stream};

/// Steps between the moment a row is asked for and the moment it is read: about the time memory takes to answer.
const AHEAD: usize = 6;

/// Projected gradients this close together count as solved at first; later a tenth of what was not enough.
const SOLVED: f64 = 0.1;

/// What a step needs of a row beside its values: half a cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Coordinate {
    /// αᵢ
    alpha: f64,
    /// 1/Q̄ᵢᵢ = 1/(‖xᵢ‖² + Dᵢ)
    step: f64,
    /// Uᵢ of the hinge, Dᵢ of its square; the other one is ∞ or 0.
    limit: f64,
    /// yᵢ
    sign: f64,
}

impl Coordinate {
    #[inline(always)]
    fn upper<const SQUARED: bool>(&self) -> f64 {
        if SQUARED { f64::INFINITY } else { self.limit }
    }

    #[inline(always)]
    fn diagonal<const SQUARED: bool>(&self) -> f64 {
        if SQUARED { self.limit } else { 0.0 }
    }

    /// ∇ᵢ, from w·xᵢ.
    #[inline(always)]
    fn gradient<const SQUARED: bool>(&self, product: f64) -> f64 {
        self.sign * product - 1.0 + self.diagonal::<SQUARED>() * self.alpha
    }

    /// The projected gradient; `None` when α rests at a bound and will hardly leave it.
    #[inline(always)]
    fn projected<const SQUARED: bool>(&self, gradient: f64, shrink: Range) -> Option<f64> {
        if self.alpha == 0.0 {
            (gradient <= shrink.high).then_some(gradient.min(0.0))
        } else if self.alpha == self.upper::<SQUARED>() {
            (gradient >= shrink.low).then_some(gradient.max(0.0))
        } else {
            Some(gradient)
        }
    }
}

/// The smallest and the largest projected gradient of an epoch: m and M.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    const EMPTY: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
    const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    #[inline(always)]
    fn add(&mut self, x: f64) {
        // The comparisons are those of the processor; `min` and `max` also have to sort out NaN.
        self.low = if x < self.low { x } else { self.low };
        self.high = if x > self.high { x } else { self.high };
    }

    /// What the next epoch shrinks by, m̄ and M̄: an end on the wrong side of 0 tells nothing.
    fn for_shrinking(self) -> Self {
        Self {
            low: if self.low < 0.0 { self.low } else { Self::ALL.low },
            high: if self.high > 0.0 { self.high } else { Self::ALL.high },
        }
    }
}

/// The state between epochs. `SQUARED` is the loss.
pub(super) struct Descent<'a, R, const SQUARED: bool> {
    rows: R,
    costs: &'a [f64],
    coordinates: Vec<Coordinate>,
    active: Vec<u32>,
    weights: Vec<f64>,
    intercept: f64,
    /// The last input of every row: 1 with an intercept, else 0.
    constant: f64,
    order: Stream,
    best: DualSolution,
}

impl<'a, R: RowAccess, const SQUARED: bool> Descent<'a, R, SQUARED> {
    /// At α = 0, where the primal objective is the sum of the costs and the dual one is 0.
    pub(super) fn new(rows: R, positive: &[bool], costs: &'a [f64], params: &DualParams) -> Self {
        let constant = f64::from(u8::from(params.intercept));
        let coordinate = |(i, (&cost, &positive)): (usize, (&f64, &bool))| {
            let (limit, diagonal) = if SQUARED { (0.5 / cost, 0.5 / cost) } else { (cost, 0.0) };
            // A row of zeros has no curvature under the hinge: any step that reaches the bound is right.
            let curvature = (rows.squared_norm(i) + constant + diagonal).max(f64::MIN_POSITIVE);
            Coordinate { alpha: 0.0, step: 1.0 / curvature, limit, sign: if positive { 1.0 } else { -1.0 } }
        };
        let objective = costs.iter().sum();
        let weights = vec![0.0; rows.n_inputs()];
        Self {
            coordinates: costs.iter().zip(positive).enumerate().map(coordinate).collect(),
            active: (0..costs.len()).filter(|&i| counts(costs[i])).map(|i| i as u32).collect(),
            best: DualSolution::new(weights.clone(), objective),
            intercept: 0.0,
            order: Stream::new(params.seed, Purpose::Order),
            rows,
            costs,
            weights,
            constant,
        }
    }

    /// Epochs until the gap is small.
    ///
    /// Measuring the gap costs half an epoch over all rows. So it is measured when the active rows seem solved, else
    /// after as many steps as there are rows, later after a fifth of all steps taken.
    pub(super) fn run(mut self, params: &DualParams, interrupted: &dyn Fn() -> bool) -> DualSolution {
        let n = self.active.len();
        let (mut shrink, mut solved, mut steps, mut measure_at) = (Range::ALL, SOLVED, 0, n);
        while self.best.epochs < params.max_epochs && !interrupted() {
            steps += self.active.len();
            self.shuffle();
            let seen = self.epoch(shrink);
            self.best.epochs += 1;
            shrink = seen.for_shrinking();
            let width = seen.high - seen.low;
            if width <= solved {
                (shrink, solved, measure_at) = (Range::ALL, SOLVED * width, steps);
            }
            if steps >= measure_at || self.best.epochs == params.max_epochs {
                self.measure(shrink);
                self.best.converged = self.best.gap <= params.tol * self.best.objective;
                measure_at = steps + n.max(steps / 5);
            }
            if self.best.converged {
                break;
            }
        }
        self.best
    }

    /// Puts the active rows in a random order (Fisher and Yates).
    fn shuffle(&mut self) {
        let (n, stream) = (self.active.len(), self.order.lane(self.best.epochs));
        let mut uniform = [0.0; 256];
        for first in (0..n).step_by(uniform.len()) {
            stream.uniform_into(first as u64, &mut uniform);
            for (i, u) in (first..n).zip(uniform) {
                self.active.swap(i, i + (u * (n - i) as f64) as usize);
            }
        }
    }

    /// A step for every active row; those that rest beyond `shrink` become inactive.
    fn epoch(&mut self, shrink: Range) -> Range {
        let (mut seen, mut at) = (Range::EMPTY, 0);
        while at < self.active.len() {
            if let Some(&ahead) = self.active.get(at + 2 * AHEAD) {
                self.rows.prefetch_place(ahead as usize);
            }
            if let Some(&ahead) = self.active.get(at + AHEAD) {
                self.rows.prefetch(ahead as usize);
                prefetch(&self.coordinates[ahead as usize..=ahead as usize]);
            }
            if let Some(projected) = self.step(self.active[at] as usize, shrink) {
                seen.add(projected);
                at += 1;
            } else {
                self.active.swap_remove(at);
            }
        }
        seen
    }

    /// Minimises over αᵢ; the projected gradient before.
    #[inline(always)]
    fn step(&mut self, i: usize, shrink: Range) -> Option<f64> {
        let product = self.product(i);
        let x = &mut self.coordinates[i];
        let gradient = x.gradient::<SQUARED>(product);
        let projected = x.projected::<SQUARED>(gradient, shrink)?;
        if projected != 0.0 {
            let before = x.alpha;
            x.alpha = (before - gradient * x.step).max(0.0).min(x.upper::<SQUARED>());
            let change = (x.alpha - before) * x.sign;
            self.rows.add_scaled(i, change, &mut self.weights);
            self.intercept += change * self.constant;
        }
        Some(projected)
    }

    #[inline(always)]
    fn product(&self, i: usize) -> f64 {
        self.rows.dot(i, &self.weights) + self.constant * self.intercept
    }

    /// A pass over all rows: both objectives, the best weights so far, and the active rows anew, those that do not rest
    /// beyond `shrink`.
    fn measure(&mut self, shrink: Range) {
        let (mut loss, mut linear) = (0.0, 0.0);
        self.active.clear();
        for (i, &cost) in self.costs.iter().enumerate().filter(|(_, cost)| counts(**cost)) {
            let (product, x) = (self.product(i), &self.coordinates[i]);
            let short = (1.0 - x.sign * product).max(0.0);
            loss += cost * if SQUARED { short * short } else { short };
            linear += x.alpha * (1.0 - 0.5 * x.diagonal::<SQUARED>() * x.alpha);
            if x.projected::<SQUARED>(x.gradient::<SQUARED>(product), shrink).is_some() {
                self.active.push(i as u32);
            }
        }
        let squares: f64 = self.weights.iter().map(|w| w * w).sum();
        let penalty = 0.5 * (squares + self.intercept * self.intercept);
        self.keep(penalty + loss, linear - penalty);
    }

    /// The dual objective never falls; the primal one may rise for a while.
    fn keep(&mut self, primal: f64, dual: f64) {
        if primal < self.best.objective {
            self.best.objective = primal;
            self.best.weights.copy_from_slice(&self.weights);
            self.best.intercept = self.intercept;
        }
        self.best.gap = (self.best.objective - dual).max(0.0); // less only by rounding
    }
}

/// Whether a row of this cost takes part; smaller costs have no inverse.
fn counts(cost: f64) -> bool {
    cost >= f64::MIN_POSITIVE
}
