//! Mean, variance and range of every column, streamed and mergeable.

use mercer_simd::Scalar;

use crate::dataset::Rows;

/// Moments and ranges of columns.
///
/// A batch is summed in two passes, batches are joined by the pairwise update of Chan, Golub and LeVeque ("Updating
/// formulae and a pairwise algorithm for computing sample variances", 1979), all in f64: no cancellation.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnStatistics {
    n: u64,
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    mean: f64,
    /// Σ(x − mean)²
    m2: f64,
    min: f64,
    max: f64,
}

const EMPTY: Column = Column { mean: 0.0, m2: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

impl ColumnStatistics {
    /// Of no rows.
    pub fn new(n_columns: usize) -> Self {
        Self { n: 0, columns: vec![EMPTY; n_columns] }
    }

    /// Adds rows, which must have as many columns.
    pub fn add<T: Scalar>(&mut self, rows: Rows<'_, T>) {
        let batch = match rows {
            Rows::Dense(x) => {
                let rows = || x.outer_iter().map(|row| row.into_iter().map(|&v| v.to_f64()).enumerate());
                Self::of_batch(self.columns.len(), x.nrows(), rows)
            }
            Rows::Sparse(x) => {
                let rows = || (0..x.n_rows()).map(|i| x.row(i).map(|(j, v)| (j, v.to_f64())));
                Self::of_batch(self.columns.len(), x.n_rows(), rows)
            }
        };
        self.merge(&batch);
    }

    /// Statistics of rows given by their stored values; the others are zero.
    fn of_batch<R, I>(n_columns: usize, n_rows: usize, rows: impl Fn() -> R) -> Self
    where
        R: Iterator<Item = I>,
        I: Iterator<Item = (usize, f64)>,
    {
        let mut columns = vec![EMPTY; n_columns];
        let mut stored = vec![0_usize; n_columns];
        for (j, value) in rows().flatten() {
            let column = &mut columns[j];
            column.mean += value;
            column.min = column.min.min(value);
            column.max = column.max.max(value);
            stored[j] += 1;
        }
        columns.iter_mut().for_each(|column| column.mean /= (n_rows as f64).max(1.0));
        for (j, value) in rows().flatten() {
            let column = &mut columns[j];
            column.m2 += (value - column.mean) * (value - column.mean);
        }
        for (column, stored) in columns.iter_mut().zip(stored) {
            if stored < n_rows {
                column.m2 += (n_rows - stored) as f64 * column.mean * column.mean;
                column.min = column.min.min(0.0);
                column.max = column.max.max(0.0);
            }
        }
        Self { n: n_rows as u64, columns }
    }

    /// Joins the statistics of other rows to these.
    pub fn merge(&mut self, other: &Self) {
        let n = self.n + other.n;
        if other.n == 0 {
            return;
        }
        let share = other.n as f64 / n as f64;
        for (a, b) in self.columns.iter_mut().zip(&other.columns) {
            let delta = b.mean - a.mean;
            a.mean += delta * share;
            a.m2 += b.m2 + delta * delta * share * self.n as f64;
            a.min = a.min.min(b.min);
            a.max = a.max.max(b.max);
        }
        self.n = n;
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n
    }

    /// Mean of column `j`.
    pub fn mean(&self, j: usize) -> f64 {
        self.columns[j].mean
    }

    /// Population standard deviation of column `j`: exactly 0 where it is constant.
    pub fn standard_deviation(&self, j: usize) -> f64 {
        let column = self.columns[j];
        if column.min == column.max { 0.0 } else { (column.m2 / self.n as f64).sqrt() }
    }

    /// Least value of column `j`.
    pub fn min(&self, j: usize) -> f64 {
        self.columns[j].min
    }

    /// Greatest value of column `j`.
    pub fn max(&self, j: usize) -> f64 {
        self.columns[j].max
    }

    /// Variance of all entries of the matrix together.
    pub fn total_variance(&self) -> f64 {
        let d = self.columns.len() as f64;
        let mean = self.columns.iter().map(|column| column.mean).sum::<f64>() / d;
        let between = self.columns.iter().map(|column| (column.mean - mean).powi(2)).sum::<f64>() / d;
        let within = self.columns.iter().map(|column| column.m2).sum::<f64>() / (d * self.n.max(1) as f64);
        within + between
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::*;

    fn wavy(n: usize, d: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, d), |(i, j)| 1e6 + ((i * 7 + j * 3) as f64).sin() * (j + 1) as f64)
    }

    #[test]
    fn equals_the_definition_far_from_zero() {
        let x = wavy(1000, 3);
        let mut statistics = ColumnStatistics::new(3);
        x.exact_chunks((100, 3)).into_iter().for_each(|part| statistics.add(Rows::Dense(part)));
        for (j, column) in x.columns().into_iter().enumerate() {
            let mean = column.sum() / 1000.0;
            let variance = column.mapv(|v| (v - mean) * (v - mean)).sum() / 1000.0;
            assert!((statistics.mean(j) - mean).abs() < 1e-8);
            assert!((statistics.standard_deviation(j) - variance.sqrt()).abs() < 1e-9);
        }
        let mean = x.sum() / 3000.0;
        let total = x.mapv(|v| (v - mean) * (v - mean)).sum() / 3000.0;
        assert!((statistics.total_variance() - total).abs() < 1e-8);
    }

    #[test]
    fn merge_equals_one_pass() {
        let x = wavy(300, 4);
        let of = |from: usize, to: usize| {
            let mut statistics = ColumnStatistics::new(4);
            statistics.add(Rows::Dense(x.slice(s![from..to, ..])));
            statistics
        };
        let mut merged = of(0, 100);
        merged.merge(&ColumnStatistics::new(4));
        merged.merge(&of(100, 300));
        let whole = of(0, 300);
        for j in 0..4 {
            assert!((merged.mean(j) - whole.mean(j)).abs() < 1e-9);
            assert!((merged.standard_deviation(j) - whole.standard_deviation(j)).abs() < 1e-9);
            assert_eq!((merged.min(j), merged.max(j)), (whole.min(j), whole.max(j)));
        }
    }

    #[test]
    fn a_constant_column_has_no_deviation() {
        let mut statistics = ColumnStatistics::new(1);
        statistics.add(Rows::Dense(Array2::from_elem((777, 1), 0.1_f32).view()));
        assert_eq!(statistics.standard_deviation(0), 0.0);
    }
}
