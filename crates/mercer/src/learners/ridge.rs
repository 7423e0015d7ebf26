//! Ridge regression from streamed sums: multi-target regression, and one-vs-rest classification on targets ±1.
//!
//! min over W, b of (1/n)·Σᵢ ‖yᵢ − Wᵀzᵢ − b‖² + λ‖W‖², hence with means z̄, ȳ
//!
//! (ZᵀZ/n − z̄z̄ᵀ + λI)·W = ZᵀY/n − z̄ȳᵀ,  b = ȳ − Wᵀz̄.
//!
//! Sums are added panel by panel: the products of a group of 512 rows in the type of the features, the sums in f64. They can be
//! merged, and rows taken out again ([`RidgeStatistics::subtract_from`]), so that one pass serves every fold. Solving is a
//! Cholesky factorisation in f64 for each λ, all targets at once.
//!
//! Cost: n·D² flops for the sums, D³/3 for each λ; memory: 4·D² bytes for sums and factor each, never n × D.

use mercer_simd::ops::widen::add_widened;
use mercer_simd::{InstructionSet, Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, concatenate, s};
use rayon::prelude::*;

use super::LinearModel;
use super::cholesky::Cholesky;
use super::tiles::{SymmetricTiles, TILE};
use crate::dataset::SUM_ROWS;
use crate::{Error, Result};

/// The sums a ridge model needs: n, ZᵀZ, Zᵀ[Y 1] and Σy.
#[derive(Clone, Debug)]
pub struct RidgeStatistics {
    n: u64,
    gram: SymmetricTiles,
    cross: Array2<f64>,
    targets: Vec<f64>,
}

impl RidgeStatistics {
    /// Of no rows.
    pub fn new(n_components: usize, n_targets: usize) -> Self {
        Self {
            n: 0,
            gram: SymmetricTiles::zeros(n_components),
            cross: Array2::zeros((n_components, n_targets + 1)),
            targets: vec![0.0; n_targets],
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n
    }

    /// Adds one panel of features and targets. The work is shared by tiles of the sums among the threads of the
    /// current pool, so their number changes no bit.
    ///
    /// # Panics
    /// When the shapes do not fit: a fault of the calling code.
    pub fn add<T: Scalar>(&mut self, features: ArrayView2<'_, T>, targets: ArrayView2<'_, T>) {
        assert_eq!(features.dim(), (targets.nrows(), self.gram.n()), "features of a panel");
        assert_eq!(targets.ncols(), self.targets.len(), "targets of a panel");
        self.gram.add_gram(features);
        let ones = Array2::ones((targets.nrows(), 1));
        let targets = concatenate(Axis(1), &[targets, ones.view()]).expect("as many rows");
        let targets = targets.as_standard_layout();
        let width = self.cross.ncols();
        let cross = self.cross.as_slice_mut().expect("row-major");
        cross.par_chunks_mut(TILE * width).enumerate().for_each(|(block, sums)| {
            let columns = features.slice(s![.., block * TILE..block * TILE + sums.len() / width]);
            let mut product = vec![T::zero(); sums.len()];
            let groups = columns.axis_chunks_iter(Axis(0), SUM_ROWS).zip(targets.axis_chunks_iter(Axis(0), SUM_ROWS));
            for (columns, targets) in groups {
                let out = ArrayViewMut2::from_shape((columns.ncols(), width), &mut product).expect("a block");
                matmul_into(columns.t(), targets, out, Update::Set);
                add_widened(InstructionSet::best(), sums, &product);
            }
        });
        for (sum, column) in self.targets.iter_mut().zip(targets.columns()) {
            *sum += column.iter().map(|&y| y.to_f64()).sum::<f64>();
        }
        self.n += targets.nrows() as u64;
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &Self) {
        self.combine(other);
        self.n += other.n;
    }

    /// self = all − self: the sums of the rows of `all` that are not in these, in the memory of these.
    pub fn subtract_from(&mut self, all: &Self) {
        self.gram.scale(-1.0);
        self.cross.mapv_inplace(|x| -x);
        self.targets.iter_mut().for_each(|x| *x = -*x);
        self.combine(all);
        self.n = all.n - self.n;
    }

    fn combine(&mut self, other: &Self) {
        self.gram.add(&other.gram);
        self.cross += &other.cross;
        self.targets.iter_mut().zip(&other.targets).for_each(|(a, b)| *a += b);
    }

    /// The centred normal equations, in the memory of the sums.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when there are none.
    pub fn into_system(mut self) -> Result<RidgeSystem> {
        if self.n == 0 {
            return Err(Error::TooFewRows { context: "ridge".to_owned(), got: 0, expected: 1 });
        }
        let n = self.n as f64;
        let n_targets = self.targets.len();
        let mean = self.cross.column(n_targets).mapv(|sum| sum / n);
        let target_mean: Vec<f64> = self.targets.iter().map(|sum| sum / n).collect();
        self.gram.add_outer(-n, mean.as_slice().expect("one column"));
        let mut right = self.cross.slice(s![.., ..n_targets]).to_owned();
        for (mut column, y) in right.columns_mut().into_iter().zip(&target_mean) {
            column.scaled_add(-n * y, &mean);
        }
        Ok(RidgeSystem { n, matrix: self.gram, right, mean: mean.to_vec(), target_mean, rows: None, work: None })
    }
}

/// The normal equations of a ridge model, to be solved for any λ.
#[derive(Debug)]
pub struct RidgeSystem {
    n: f64,
    matrix: SymmetricTiles,
    right: Array2<f64>,
    mean: Vec<f64>,
    target_mean: Vec<f64>,
    /// Where the unknowns are the rows' ([`super::RidgeRows`]): the features, D × n, that turn them into weights.
    rows: Option<Array2<f64>>,
    /// The memory of the last factor.
    work: Option<SymmetricTiles>,
}

impl RidgeSystem {
    /// The system whose unknowns are the rows'.
    pub(super) fn of_rows(
        n: f64,
        matrix: SymmetricTiles,
        right: Array2<f64>,
        (mean, target_mean): (Vec<f64>, Vec<f64>),
        rows: Array2<f64>,
    ) -> Self {
        Self { n, matrix, right, mean, target_mean, rows: Some(rows), work: None }
    }

    /// The model for λ.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] when λ is too small for the rounding of the sums.
    pub fn solve<T: Scalar>(&mut self, lambda: f64) -> Result<LinearModel<T>> {
        let mut matrix = self.work.take().unwrap_or_else(|| SymmetricTiles::zeros(self.matrix.n()));
        matrix.copy_from(&self.matrix);
        let (factor, model) = Self::solve_in(self, matrix, lambda)?;
        self.work = Some(factor);
        Ok(model)
    }

    /// The model for λ, without a second matrix.
    ///
    /// # Errors
    /// As [`RidgeSystem::solve`].
    pub fn into_solution<T: Scalar>(mut self, lambda: f64) -> Result<LinearModel<T>> {
        let matrix = std::mem::replace(&mut self.matrix, SymmetricTiles::zeros(0));
        self.work = None;
        Ok(self.solve_in(matrix, lambda)?.1)
    }

    fn solve_in<T: Scalar>(&self, mut matrix: SymmetricTiles, lambda: f64) -> Result<(SymmetricTiles, LinearModel<T>)> {
        matrix.add_diagonal(self.n * lambda);
        let cholesky = Cholesky::new(matrix)
            .ok_or_else(|| Error::NotPositiveDefinite { context: format!("ridge with lambda {lambda}") })?;
        let mut weights = cholesky.solve(self.right.view());
        if let Some(rows) = &self.rows {
            let mut turned = Array2::zeros((rows.nrows(), weights.ncols()));
            matmul_into(rows.view(), weights.view(), turned.view_mut(), Update::Set);
            weights = turned;
        }
        let intercept = |(column, y): (ndarray::ArrayView1<'_, f64>, &f64)| {
            T::from_f64(y - column.iter().zip(&self.mean).map(|(w, z)| w * z).sum::<f64>())
        };
        let intercept = weights.columns().into_iter().zip(&self.target_mean).map(intercept).collect();
        Ok((cholesky.into_tiles(), LinearModel::new(weights.mapv(T::from_f64), intercept)?))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn data(n: usize, d: usize) -> (Array2<f64>, Array2<f64>) {
        let z = Array2::from_shape_fn((n, d), |(i, j)| ((i * 7 + j * 13 + i * j) as f64).sin() + 0.3);
        let y = Array2::from_shape_fn((n, 2), |(i, t)| ((i * (t + 2)) as f64 * 0.1).cos() + t as f64);
        (z, y)
    }

    fn statistics(z: &Array2<f64>, y: &Array2<f64>) -> RidgeStatistics {
        let mut statistics = RidgeStatistics::new(z.ncols(), y.ncols());
        for (z, y) in z.axis_chunks_iter(Axis(0), 50).zip(y.axis_chunks_iter(Axis(0), 50)) {
            statistics.add(z, y);
        }
        statistics
    }

    #[test]
    fn one_feature_by_hand() {
        // z = −1, 0, 1; y = 0, 1, 2: slope = (2/3)/(2/3 + λ), intercept 1.
        let (z, y) = (array![[-1.0], [0.0], [1.0]], array![[0.0], [1.0], [2.0]]);
        let model: LinearModel<f64> = statistics(&z, &y).into_system().unwrap().solve(1.0 / 3.0).unwrap();
        assert!((model.weights()[[0, 0]] - 2.0 / 3.0).abs() < 1e-14);
        assert!((model.intercept()[0] - 1.0).abs() < 1e-14);
    }

    /// The gradient of the objective vanishes at the solution, for every λ, weights and intercept alike.
    #[test]
    fn the_solution_is_a_minimum() {
        let (z, y) = data(400, 30);
        let mut system = statistics(&z, &y).into_system().unwrap();
        for lambda in [1.0, 1e-3, 1e-6] {
            let model: LinearModel<f64> = system.solve(lambda).unwrap();
            let mut residual = z.dot(&model.weights()) - &y;
            residual += &Array2::from_shape_fn((400, 2), |(_, t)| model.intercept()[t]);
            let gradient = z.t().dot(&residual) / 400.0 + lambda * &model.weights();
            assert!(gradient.iter().all(|g| g.abs() < 1e-9), "{lambda}");
            assert!(residual.sum_axis(Axis(0)).iter().all(|g| g.abs() < 1e-8), "{lambda}");
        }
        let again: LinearModel<f64> = system.into_solution(1e-3).unwrap();
        assert_eq!(again, statistics(&z, &y).into_system().unwrap().solve(1e-3).unwrap());
    }

    #[test]
    fn merge_and_subtract_equal_the_rows_they_stand_for() {
        let (z, y) = data(300, 20);
        let of = |from: usize, to: usize| {
            statistics(&z.slice(s![from..to, ..]).to_owned(), &y.slice(s![from..to, ..]).to_owned())
        };
        let solve = |s: RidgeStatistics| s.into_system().unwrap().solve::<f64>(1e-2).unwrap().weights().to_owned();
        let mut merged = of(0, 100);
        merged.merge(&of(100, 300));
        let mut reduced = of(100, 300);
        reduced.subtract_from(&of(0, 300));
        assert_eq!((merged.n_rows(), reduced.n_rows()), (300, 100));
        assert!((solve(merged) - solve(of(0, 300))).iter().all(|e| e.abs() < 1e-10));
        assert!((solve(reduced) - solve(of(0, 100))).iter().all(|e| e.abs() < 1e-10));
    }

    #[test]
    fn refuses_no_rows() {
        assert!(RidgeStatistics::new(3, 1).into_system().is_err());
    }
}
