//! Limited-memory BFGS with a preconditioner, as a state that is told values and asked for points.
//!
//! The inverse Hessian is taken to be γP⁻¹, corrected by the last [`STEPS_KEPT`] steps s and changes of the gradient y
//! (Nocedal and Wright, "Numerical optimization", algorithm 7.4), with γ = sᵀy / yᵀP⁻¹y of the last step. Since
//! P⁻¹y is the change of the preconditioned gradient u = P⁻¹g, one application of P⁻¹ for each step is all it takes.
//!
//! A step is taken when it decreases the value as its slope promises (Armijo), or where rounding hides the decrease
//! when the slope at its end says the same; else it is shortened to the minimum of the parabola through what is known.
//! Whoever evaluates may do so for many such states together: each goes at its own pace.
//!
//! Half the decrement, −gᵀd/2 of the quasi-Newton direction d, estimates how far the value is from its minimum; the
//! search ends when that is below `tol` times the value. Where P is not the Hessian here, that is believed only after a step, whose γ
//! tells by how much P is off: of a hinge most rows may have no curvature at the start of a search, and P that of all of them.

use std::collections::VecDeque;

/// Steps remembered.
pub(crate) const STEPS_KEPT: usize = 12;
/// Part of the promised decrease that is asked for.
const ARMIJO: f64 = 1e-4;
/// Shortenings of one step before rounding is blamed.
const MOST_CUTS: usize = 20;
/// P is not taken to be further off than this before a step tells.
const UNKNOWN: f64 = 1e-3;

/// A search for the minimum of one function.
#[derive(Debug)]
pub(super) struct Lbfgs {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// P⁻¹·gradient
    preconditioned: Vec<f64>,
    direction: Vec<f64>,
    slope: f64,
    step: f64,
    cuts: usize,
    trial: Vec<f64>,
    has_moved: bool,
    pairs: VecDeque<Pair>,
    rounding: f64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The value and gradient of the trial point are awaited.
    Trying,
    /// The trial was taken: P⁻¹ of its gradient is awaited.
    Stepped,
    /// At the minimum, as far as asked.
    Converged,
    /// No step decreases the value: rounding forbids to come closer.
    Stuck,
}

#[derive(Debug)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// P⁻¹·change
    preconditioned: Vec<f64>,
    /// stepᵀ·change
    product: f64,
}

impl Lbfgs {
    /// At `start`; `rounding` is the relative error of the values it will be told.
    pub(super) fn new(start: Vec<f64>, rounding: f64) -> Self {
        Self {
            point: Vec::new(),
            value: f64::INFINITY,
            gradient: Vec::new(),
            preconditioned: Vec::new(),
            direction: Vec::new(),
            slope: 0.0,
            step: 0.0,
            cuts: 0,
            trial: start,
            has_moved: false,
            pairs: VecDeque::new(),
            rounding,
            state: State::Trying,
        }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    /// Where the value and gradient are wanted.
    pub(super) fn trial(&self) -> &[f64] {
        &self.trial
    }

    /// The best point so far.
    pub(super) fn point(&self) -> &[f64] {
        if self.point.is_empty() { &self.trial } else { &self.point }
    }

    /// Whether that is another than the start, or the start is good enough.
    pub(super) fn is_model(&self) -> bool {
        self.has_moved || self.state == State::Converged
    }

    /// The value there.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The gradient there.
    pub(super) fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// Whether the value of the start is known.
    pub(super) fn has_start(&self) -> bool {
        !self.point.is_empty()
    }

    /// Takes the value and gradient of the trial point: the step is taken or cut.
    pub(super) fn receive(&mut self, value: f64, gradient: Vec<f64>) {
        if self.point.is_empty() {
            (self.point, self.value, self.gradient) = (self.trial.clone(), value, gradient);
            self.state = State::Stepped;
            return;
        }
        let end_slope = dot(&gradient, &self.direction);
        let decreased = value <= self.value + ARMIJO * self.step * self.slope;
        let hidden =
            value <= self.value + self.rounding * self.value.abs() && end_slope.abs() <= 0.9 * self.slope.abs();
        if decreased || hidden {
            let change = difference(&gradient, &self.gradient);
            let step = difference(&self.trial, &self.point);
            let product = dot(&step, &change);
            self.pairs.push_back(Pair { step, change, preconditioned: Vec::new(), product });
            self.point.clone_from(&self.trial);
            self.has_moved = true;
            (self.value, self.gradient) = (value, gradient);
            self.state = State::Stepped;
            return;
        }
        self.cuts += 1;
        if self.cuts > MOST_CUTS {
            self.state = State::Stuck;
            return;
        }
        // The parabola through value and slope at the start and the value at the end.
        let excess = value - self.value - self.step * self.slope;
        let least = -0.5 * self.slope * self.step / excess;
        self.step *= if least.is_finite() { least.clamp(0.1, 0.5) } else { 0.1 };
        self.set_trial();
    }

    /// Takes P⁻¹ of the gradient at the point, and chooses the next trial; `is_hessian` says that P is the Hessian at the point, or
    /// was at one not far.
    pub(super) fn advance(&mut self, preconditioned: Vec<f64>, tol: f64, is_hessian: bool) {
        if let Some(mut pair) = self.pairs.pop_back() {
            // Of a convex function the product is positive but for rounding.
            pair.preconditioned = difference(&preconditioned, &self.preconditioned);
            if pair.product > 0.0 && dot(&pair.change, &pair.preconditioned) > 0.0 {
                self.pairs.push_back(pair);
            }
            if self.pairs.len() > STEPS_KEPT {
                self.pairs.pop_front();
            }
        }
        self.preconditioned = preconditioned;
        self.direction = self.quasi_newton();
        self.slope = dot(&self.direction, &self.gradient);
        if self.slope >= 0.0 {
            // Rounding: begin again from P alone.
            self.pairs.clear();
            self.direction = self.preconditioned.iter().map(|x| -x).collect();
            self.slope = dot(&self.direction, &self.gradient);
        }
        let far = if is_hessian || !self.pairs.is_empty() { 1.0 } else { UNKNOWN };
        if -0.5 * self.slope <= far * tol * self.value {
            self.state = State::Converged;
            return;
        }
        (self.step, self.cuts, self.state) = (1.0, 0, State::Trying);
        self.set_trial();
    }

    /// Forgets the steps: what they know was relative to another P.
    pub(super) fn forget(&mut self) {
        self.pairs.clear();
    }

    /// −H·gradient.
    fn quasi_newton(&self) -> Vec<f64> {
        let mut rest = self.gradient.clone();
        let mut direction = self.preconditioned.clone();
        let mut parts = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let part = dot(&pair.step, &rest) / pair.product;
            add(&mut rest, -part, &pair.change);
            add(&mut direction, -part, &pair.preconditioned);
            parts.push(part);
        }
        if let Some(last) = self.pairs.back() {
            let scale = last.product / dot(&last.change, &last.preconditioned);
            direction.iter_mut().for_each(|x| *x *= scale);
        }
        for (pair, part) in self.pairs.iter().zip(parts.iter().rev()) {
            let back = dot(&pair.change, &direction) / pair.product;
            add(&mut direction, part - back, &pair.step);
        }
        direction.iter_mut().for_each(|x| *x = -*x);
        direction
    }

    fn set_trial(&mut self) {
        self.trial.clone_from(&self.point);
        add(&mut self.trial, self.step, &self.direction);
    }
}

/// Σ aᵢ·bᵢ in sixteen interleaved sums: a fixed order that the compiler can make vectors of.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 16;
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
}

fn add(to: &mut [f64], factor: f64, x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += factor * x);
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs to the end; the evaluations it took.
    fn minimize(
        search: &mut Lbfgs,
        tol: f64,
        function: impl Fn(&[f64]) -> (f64, Vec<f64>),
        preconditioner: impl Fn(&[f64]) -> Vec<f64>,
        is_hessian: bool,
    ) -> usize {
        let mut evaluations = 0;
        while evaluations < 500 {
            let (value, gradient) = function(search.trial());
            evaluations += 1;
            search.receive(value, gradient);
            if search.state() == State::Stepped {
                let preconditioned = preconditioner(search.gradient());
                search.advance(preconditioned, tol, is_hessian);
            }
            if matches!(search.state(), State::Converged | State::Stuck) {
                break;
            }
        }
        evaluations
    }

    /// Σ kᵢ(xᵢ − i)²: eigenvalues over three decades.
    fn quadratic(x: &[f64]) -> (f64, Vec<f64>) {
        let stiffness = |i: usize| 10.0_f64.powf(i as f64 * 3.0 / 39.0);
        let value = x.iter().enumerate().map(|(i, x)| stiffness(i) * (x - i as f64).powi(2)).sum::<f64>() + 1.0;
        (value, x.iter().enumerate().map(|(i, x)| 2.0 * stiffness(i) * (x - i as f64)).collect())
    }

    #[test]
    fn a_quadratic_with_and_without_its_hessian() {
        let mut plain = Lbfgs::new(vec![0.0; 40], 1e-15);
        let slow = minimize(&mut plain, 1e-10, quadratic, <[f64]>::to_vec, false);
        let mut exact = Lbfgs::new(vec![0.0; 40], 1e-15);
        let inverse =
            |g: &[f64]| g.iter().enumerate().map(|(i, g)| g / (2.0 * 10.0_f64.powf(i as f64 * 3.0 / 39.0))).collect();
        let fast = minimize(&mut exact, 1e-10, quadratic, inverse, true);
        assert_eq!((exact.state(), fast), (State::Converged, 2), "one Newton step");
        assert_eq!(plain.state(), State::Converged);
        assert!(slow > 20, "{slow}");
        for search in [&plain, &exact] {
            // The value is within 1e-10 of the least, and every stiffness is at least 1.
            assert!(search.point().iter().enumerate().all(|(i, x)| (x - i as f64).abs() < 1e-4), "{search:?}");
        }
    }

    /// A step that overshoots is cut: log cosh has next to no curvature far away.
    #[test]
    fn steps_that_overshoot_are_cut() {
        let function = |x: &[f64]| (x[0].cosh().ln() + 1e-3, vec![x[0].tanh()]);
        let mut search = Lbfgs::new(vec![3.0], 1e-15);
        minimize(&mut search, 1e-12, function, |g| vec![100.0 * g[0]], false);
        assert_eq!(search.state(), State::Converged);
        assert!(search.point()[0].abs() < 1e-6, "{search:?}");
    }

    /// P ten thousand times too large makes the start look like the minimum.
    #[test]
    fn a_preconditioner_that_is_far_off_does_not_end_the_search() {
        let function = |x: &[f64]| (0.5 * (x[0] - 1.0).powi(2) + 1e-3, vec![x[0] - 1.0]);
        for (is_hessian, expected) in [(true, 0.0), (false, 1.0)] {
            let mut search = Lbfgs::new(vec![0.0], 1e-15);
            minimize(&mut search, 1e-2, function, |g| vec![1e-4 * g[0]], is_hessian);
            assert_eq!(search.state(), State::Converged);
            assert!((search.point()[0] - expected).abs() < 0.01, "{search:?}");
        }
    }

    #[test]
    fn rounding_ends_the_search() {
        // Values know three digits only, and the gradient lies.
        let function = |x: &[f64]| ((x[0] * x[0] * 1e3).round() / 1e3 + 1.0, vec![2.0 * x[0] - 1.0]);
        let mut search = Lbfgs::new(vec![0.1], 0.0);
        let evaluations = minimize(&mut search, 1e-12, function, |g| vec![0.5 * g[0]], false);
        assert!(evaluations < 500);
        assert_eq!(search.state(), State::Stuck);
    }

    #[test]
    fn dots() {
        let a: Vec<f64> = (0..37).map(f64::from).collect();
        assert_eq!(dot(&a, &a), (36 * 37 * 73 / 6) as f64);
    }
}
