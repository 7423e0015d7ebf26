//! The diagonal of the Hessian, for sparse rows of many features.
//!
//! With the curvature κ of the loss at zero, P = κ·diag(variance of each feature) + 2λ·I; the mean square takes the place of
//! the variance without an intercept. Cost: one pass; memory: 16·D bytes.

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2};

use crate::dataset::Rows;

/// The mean and the variance of every feature.
pub(crate) struct Diagonal {
    centre: Vec<f64>,
    squares: Vec<f64>,
    n_rows: f64,
    curvature: f64,
}

impl Diagonal {
    /// Of no rows yet.
    pub(crate) fn new(n_components: usize, curvature: f64) -> Self {
        Self { centre: vec![0.0; n_components], squares: vec![0.0; n_components], n_rows: 0.0, curvature }
    }

    /// Adds rows.
    pub(crate) fn add<T: Scalar>(&mut self, rows: Rows<'_, T>) {
        let mut one = |j: usize, x: f64| {
            self.centre[j] += x;
            self.squares[j] += x * x;
        };
        match rows {
            Rows::Dense(rows) => rows.indexed_iter().for_each(|((_, j), &x)| one(j, x.to_f64())),
            Rows::Sparse(rows) => {
                (0..rows.n_rows()).flat_map(|i| rows.row(i)).for_each(|(j, x)| one(j, x.to_f64()));
            }
        }
        self.n_rows += rows.n_rows() as f64;
    }

    /// Of all rows that were added.
    pub(crate) fn finish(mut self, intercept: bool) -> Self {
        let n = self.n_rows.max(1.0);
        for (centre, square) in self.centre.iter_mut().zip(&mut self.squares) {
            *centre = if intercept { *centre / n } else { 0.0 };
            *square = (*square / n - *centre * *centre).max(0.0);
        }
        self
    }

    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// P⁻¹ of the gradients by the weights (D × outputs) and by the intercepts.
    pub(crate) fn solve(&self, lambda: f64, g: ArrayView2<'_, f64>, intercepts: &[f64]) -> (Array2<f64>, Vec<f64>) {
        let weights =
            Array2::from_shape_fn(g.dim(), |(i, j)| g[[i, j]] / (self.curvature * self.squares[i] + 2.0 * lambda));
        (weights, intercepts.iter().map(|x| x / self.curvature).collect())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn by_hand() {
        let rows = array![[1.0, 0.0], [3.0, 0.0], [2.0, 6.0]];
        let of = |intercept| {
            let mut diagonal = Diagonal::new(2, 0.25);
            diagonal.add(Rows::Dense(rows.view()));
            diagonal.finish(intercept)
        };
        let (w, b) = of(true).solve(0.5, array![[1.0], [9.0]].view(), &[1.0]);
        // Variances 2/3 and 8.
        assert!((w[[0, 0]] - 1.0 / (0.25 * 2.0 / 3.0 + 1.0)).abs() < 1e-12 && (w[[1, 0]] - 3.0).abs() < 1e-12, "{w}");
        assert_eq!((b, of(true).centre()), (vec![4.0], &[2.0, 2.0][..]));
        // Mean squares 14/3 and 12.
        let (w, _) = of(false).solve(0.5, array![[13.0], [8.0]].view(), &[0.0]);
        assert!((w[[0, 0]] - 6.0).abs() < 1e-12 && (w[[1, 0]] - 2.0).abs() < 1e-12, "{w}");
    }
}
