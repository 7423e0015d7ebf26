//! Ridge regression from the rows themselves, where they are fewer than the features.
//!
//! With centred features Z (n × D) and targets Y the solution of the normal equations is also
//! W = Zᵀ·(ZZᵀ + nλI)⁻¹·Y: a system of n unknowns, not D. Cost: n²·D flops once, n³/3 for each λ; memory: 8·n·D bytes.
//! All in f64.

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2, Axis, s};

use super::RidgeSystem;
use super::tiles::SymmetricTiles;
use crate::dataset::SUM_ROWS;
use crate::{Error, Result};

/// All rows of features, kept.
#[derive(Clone, Debug)]
pub struct RidgeRows {
    /// n_components × n_rows: turned, so that ZZᵀ is a sum of tile products.
    features: Array2<f64>,
    targets: Array2<f64>,
    n: usize,
}

impl RidgeRows {
    /// Whether `n_rows` rows are better kept than summed: at half as many as features both take the same memory.
    pub fn suit(n_rows: u64, n_components: usize) -> bool {
        2 * n_rows <= n_components as u64
    }

    /// Room for `n_rows` rows.
    pub fn new(n_components: usize, n_targets: usize, n_rows: usize) -> Self {
        let (features, targets) = (Array2::zeros((n_components, n_rows)), Array2::zeros((n_rows, n_targets)));
        Self { features, targets, n: 0 }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n as u64
    }

    /// Adds some rows.
    ///
    /// # Panics
    /// When there is no room or the shapes do not fit: a fault of the calling code.
    pub fn add<T: Scalar>(&mut self, features: ArrayView2<'_, T>, targets: ArrayView2<'_, T>) {
        let place = self.n..self.n + features.nrows();
        self.features.slice_mut(s![.., place.clone()]).zip_mut_with(&features.t(), |to, &from| *to = from.to_f64());
        self.targets.slice_mut(s![place.clone(), ..]).zip_mut_with(&targets, |to, &from| *to = from.to_f64());
        self.n = place.end;
    }

    /// The centred equations of the rows.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when there are none.
    pub fn into_system(self) -> Result<RidgeSystem> {
        if self.n == 0 {
            return Err(Error::TooFewRows { context: "ridge".to_owned(), got: 0, expected: 1 });
        }
        let n = self.n as f64;
        let mut features = self.features.slice_move(s![.., ..self.n]).as_standard_layout().into_owned();
        let mean = features.sum_axis(Axis(1)) / n;
        features -= &mean.view().insert_axis(Axis(1));
        let mut right = self.targets.slice_move(s![..self.n, ..]).as_standard_layout().into_owned();
        let target_mean = right.sum_axis(Axis(0)) / n;
        right -= &target_mean;
        let mut matrix = SymmetricTiles::zeros(self.n);
        features.axis_chunks_iter(Axis(0), SUM_ROWS).for_each(|panel| matrix.add_gram(panel));
        Ok(RidgeSystem::of_rows(n, matrix, right, (mean.to_vec(), target_mean.to_vec()), features))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::{LinearModel, RidgeStatistics};

    #[test]
    fn equals_the_model_of_the_sums() {
        let (n, d) = (40, 90);
        let z = Array2::from_shape_fn((n, d), |(i, j)| ((i * 7 + j * 13 + i * j) as f64).sin() + 0.3);
        let y = Array2::from_shape_fn((n, 2), |(i, t)| ((i * (t + 2)) as f64 * 0.1).cos() + t as f64);
        let mut sums = RidgeStatistics::new(d, 2);
        let mut rows = RidgeRows::new(d, 2, n + 5);
        for (z, y) in z.axis_chunks_iter(Axis(0), 15).zip(y.axis_chunks_iter(Axis(0), 15)) {
            sums.add(z, y);
            rows.add(z, y);
        }
        assert_eq!(rows.n_rows(), 40);
        let (mut sums, mut rows) = (sums.into_system().unwrap(), rows.into_system().unwrap());
        for lambda in [1.0, 1e-2, 1e-4] {
            let (a, b): (LinearModel<f64>, LinearModel<f64>) =
                (sums.solve(lambda).unwrap(), rows.solve(lambda).unwrap());
            assert!((&a.weights() - &b.weights()).iter().all(|e| e.abs() < 1e-9), "{lambda}");
            assert!(a.intercept().iter().zip(b.intercept()).all(|(a, b)| (a - b).abs() < 1e-9), "{lambda}");
        }
        let (a, b): (LinearModel<f64>, LinearModel<f64>) =
            (rows.solve(1e-2).unwrap(), rows.into_solution(1e-2).unwrap());
        assert_eq!(a, b);
    }

    #[test]
    fn no_rows_are_refused() {
        assert!(RidgeRows::new(4, 1, 2).into_system().is_err());
    }
}
