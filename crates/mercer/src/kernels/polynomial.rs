//! Kernels of the inner product: linear, polynomial and exponential.

use super::formula::Formula;
use super::readings::Reading;

/// Feature-space distances below this part of k(x,x) + k(y,y) are rounding errors of equal rows.
const ROUNDING: f64 = 1e-12;

/// ⟨x,y⟩
pub(super) struct Linear;

impl Formula for Linear {
    fn reading(&self) -> Reading {
        Reading::Product
    }

    fn distance_reading(&self) -> Reading {
        Reading::SquaredDistance
    }

    fn kernel(&self, product: f64, _: f64, _: f64) -> f64 {
        product
    }

    fn distance(&self, squared_distance: f64, _: f64, _: f64) -> f64 {
        squared_distance
    }
}

/// (γ⟨x,y⟩ + c)^degree
pub(super) struct Polynomial {
    pub(super) degree: u32,
    pub(super) gamma: f64,
    pub(super) c: f64,
}

impl Polynomial {
    fn of_product(&self, product: f64) -> f64 {
        // Powers by repeated squaring: the same bits on every machine, unlike `powi`.
        num_traits::pow(self.gamma.mul_add(product, self.c), self.degree as usize)
    }
}

impl Formula for Polynomial {
    fn reading(&self) -> Reading {
        Reading::Product
    }

    fn kernel(&self, product: f64, _: f64, _: f64) -> f64 {
        self.of_product(product)
    }

    fn distance(&self, product: f64, x: f64, y: f64) -> f64 {
        distance(self.of_product(x), self.of_product(y), self.of_product(product))
    }
}

/// exp(γ⟨x,y⟩)
pub(super) struct ExponentialOfProduct {
    pub(super) gamma: f64,
}

impl Formula for ExponentialOfProduct {
    fn reading(&self) -> Reading {
        Reading::Product
    }

    fn kernel(&self, product: f64, _: f64, _: f64) -> f64 {
        (self.gamma * product).exp()
    }

    fn distance(&self, product: f64, x: f64, y: f64) -> f64 {
        distance((self.gamma * x).exp(), (self.gamma * y).exp(), (self.gamma * product).exp())
    }
}

/// k(x,x) + k(y,y) − 2k(x,y)
pub(super) fn distance(of_x: f64, of_y: f64, of_both: f64) -> f64 {
    let lengths = of_x + of_y;
    let distance = lengths - 2.0 * of_both;
    if distance <= ROUNDING * lengths { 0.0 } else { distance }
}
