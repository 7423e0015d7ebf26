//! The contract between a kernel's formula and the rows it is of.

use ndarray::{ArrayViewMut1, Zip};

use super::readings::Reading;

/// k(x,y) and ‖φ(x)−φ(y)‖² as functions of the number of a pair and the numbers of its rows.
pub(super) trait Formula {
    /// What [`Formula::kernel`] reads.
    fn reading(&self) -> Reading;

    /// What [`Formula::distance`] reads.
    fn distance_reading(&self) -> Reading {
        self.reading()
    }

    /// k(x,y)
    fn kernel(&self, pair: f64, x: f64, y: f64) -> f64;

    /// ‖φ(x)−φ(y)‖² = k(x,x) + k(y,y) − 2k(x,y), with as many digits for close rows as there is a form for; 0 for equal
    /// ones.
    fn distance(&self, pair: f64, x: f64, y: f64) -> f64;

    /// k of one row and many: a loop compiled for each formula.
    fn kernels(&self, pairs: ArrayViewMut1<'_, f64>, x: f64, y: &[f64]) {
        Zip::from(pairs).and(y).for_each(|pair, &y| *pair = self.kernel(*pair, x, y));
    }

    /// The same for distances.
    fn distances(&self, pairs: ArrayViewMut1<'_, f64>, x: f64, y: &[f64]) {
        Zip::from(pairs).and(y).for_each(|pair, &y| *pair = self.distance(*pair, x, y));
    }
}
