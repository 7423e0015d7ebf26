//! Scaling of the inputs, fitted by streaming.

mod statistics;

pub use statistics::ColumnStatistics;

use mercer_simd::Scalar;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::dataset::{Layout, PanelRows};
use crate::{Error, Result};

/// The scaling asked for.
///
/// | name | x becomes | for |
/// |---|---|---|
/// | `auto` | bytes `bytes`, dense `standardize`, sparse `max_abs` | the default |
/// | `none` | x | |
/// | `bytes` | x / 255 | images |
/// | `standardize` | (x − mean) / standard deviation, by column | dense columns of any unit |
/// | `min_max` | (x − min) / (max − min), by column: [0, 1] | dense columns with hard limits |
/// | `max_abs` | x / max │x│, by column: zeros stay | sparse rows |
/// | `unit_norm` | x / ‖x‖, by row; a zero row stays | directions: text, spectra |
///
/// A column that is constant (for `max_abs`: zero) in training carries no information: it becomes 0, there and in
/// whatever is predicted later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreprocessSpec {
    /// By the layout of the data.
    #[default]
    Auto,
    /// As it is.
    None,
    /// Divided by 255.
    Bytes,
    /// Zero mean, unit variance.
    Standardize,
    /// Into [0, 1].
    MinMax,
    /// Into [−1, 1], zeros kept.
    MaxAbs,
    /// Rows of length 1.
    UnitNorm,
}

impl PreprocessSpec {
    /// The scaling for data of this layout: never `Auto`.
    ///
    /// # Errors
    /// A scaling that moves zeros, asked for sparse rows.
    pub fn resolve(self, layout: Layout) -> Result<Self> {
        match (self, layout) {
            (Self::Auto, Layout::Bytes) => Ok(Self::Bytes),
            (Self::Auto, Layout::Dense) => Ok(Self::Standardize),
            (Self::Auto, Layout::Sparse) => Ok(Self::MaxAbs),
            (Self::Standardize | Self::MinMax, Layout::Sparse) => Err(Error::parameter(
                "preprocess",
                self.name(),
                "max_abs, unit_norm or none for sparse rows: it would fill their zeros",
            )),
            (other, _) => Ok(other),
        }
    }

    /// Whether fitting needs the statistics of the columns.
    pub fn needs_statistics(self) -> bool {
        matches!(self, Self::Standardize | Self::MinMax | Self::MaxAbs)
    }

    /// The name in specs and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Bytes => "bytes",
            Self::Standardize => "standardize",
            Self::MinMax => "min_max",
            Self::MaxAbs => "max_abs",
            Self::UnitNorm => "unit_norm",
        }
    }
}

/// A fitted scaling: x ↦ (x − shift)·scale by column, x ↦ x·factor, or x ↦ x/‖x‖ by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Preprocess<T> {
    kind: PreprocessSpec,
    shift: Vec<T>,
    scale: Vec<T>,
}

impl<T: Scalar> Preprocess<T> {
    /// Fits a resolved `kind` to the statistics of the columns; the last `n_indicators` of them, which are 0 or 1 for
    /// the levels of categorical columns, stay as they are.
    pub fn fit(kind: PreprocessSpec, columns: &ColumnStatistics, n_indicators: usize) -> Self {
        let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        let numbers = columns.len() - n_indicators.min(columns.len());
        let of = |indicator: f64, f: &dyn Fn(usize) -> f64| -> Vec<T> {
            let fitted = (0..numbers).map(f).chain((numbers..columns.len()).map(|_| indicator));
            fitted.map(T::from_f64).collect()
        };
        let shift = |f: &dyn Fn(usize) -> f64| of(0.0, f);
        let scale = |f: &dyn Fn(usize) -> f64| of(1.0, f);
        let (shift, scale) = match kind {
            PreprocessSpec::Standardize => {
                (shift(&|j| columns.mean(j)), scale(&|j| inverse(columns.standard_deviation(j))))
            }
            PreprocessSpec::MinMax => {
                (shift(&|j| columns.min(j)), scale(&|j| inverse(columns.max(j) - columns.min(j))))
            }
            PreprocessSpec::MaxAbs => (Vec::new(), scale(&|j| inverse(columns.max(j).max(-columns.min(j))))),
            _ => (Vec::new(), Vec::new()),
        };
        Self { kind, shift, scale }
    }

    /// A fitted scaling from what a model stores.
    ///
    /// # Errors
    /// Numbers missing, superfluous or not finite.
    pub fn from_parts(kind: PreprocessSpec, n_inputs: usize, shift: Vec<T>, scale: Vec<T>) -> Result<Self> {
        let (shifts, scales) = match kind {
            PreprocessSpec::Standardize | PreprocessSpec::MinMax => (n_inputs, n_inputs),
            PreprocessSpec::MaxAbs => (0, n_inputs),
            PreprocessSpec::None | PreprocessSpec::Bytes | PreprocessSpec::UnitNorm => (0, 0),
            PreprocessSpec::Auto => return Err(Error::Model("preprocess is not resolved".to_owned())),
        };
        if shift.len() != shifts || scale.len() != scales || !shift.iter().chain(&scale).all(|x| x.is_finite()) {
            return Err(Error::Model(format!("preprocess.shift or preprocess.scale does not fit {}", kind.name())));
        }
        Ok(Self { kind, shift, scale })
    }

    /// The resolved spec.
    pub fn kind(&self) -> PreprocessSpec {
        self.kind
    }

    /// What is subtracted, by column; empty where nothing is.
    pub fn shift(&self) -> &[T] {
        &self.shift
    }

    /// What is multiplied, by column; empty where that is not by column.
    pub fn scale(&self) -> &[T] {
        &self.scale
    }

    /// Number of columns that were constant in training and are ignored.
    pub fn n_constant(&self) -> usize {
        self.scale.iter().filter(|scale| scale.is_zero()).count()
    }

    /// Scales the rows.
    pub fn apply_in_place(&self, rows: &mut PanelRows<T>) {
        match self.kind {
            PreprocessSpec::None | PreprocessSpec::Auto => (),
            PreprocessSpec::Bytes => self.multiply(rows, T::from_f64(1.0 / 255.0)),
            PreprocessSpec::UnitNorm => unit_norm(rows),
            PreprocessSpec::Standardize | PreprocessSpec::MinMax | PreprocessSpec::MaxAbs => self.by_column(rows),
        }
    }

    fn multiply(&self, rows: &mut PanelRows<T>, factor: T) {
        match rows {
            PanelRows::Dense(x) => x.mapv_inplace(|x| x * factor),
            PanelRows::Sparse(x) => x.values_mut().iter_mut().for_each(|x| *x = *x * factor),
        }
    }

    fn by_column(&self, rows: &mut PanelRows<T>) {
        if !self.shift.is_empty() && matches!(rows, PanelRows::Sparse(_)) {
            // Fitted to dense rows, applied to sparse ones: their zeros move too.
            let mut dense = Array2::zeros((rows.view().n_rows(), self.shift.len()));
            rows.view().write_dense(dense.view_mut());
            *rows = PanelRows::Dense(dense);
        }
        match rows {
            PanelRows::Dense(x) => {
                for mut row in x.outer_iter_mut() {
                    if self.shift.is_empty() {
                        row.iter_mut().zip(&self.scale).for_each(|(x, &scale)| *x = *x * scale);
                    } else {
                        let columns = self.shift.iter().zip(&self.scale);
                        row.iter_mut().zip(columns).for_each(|(x, (&shift, &scale))| *x = (*x - shift) * scale);
                    }
                }
            }
            PanelRows::Sparse(x) => x.entries_mut().for_each(|(column, x)| *x = *x * self.scale[column]),
        }
    }
}

fn unit_norm<T: Scalar>(rows: &mut PanelRows<T>) {
    let normalize = |row: &mut [T]| {
        let norm = row.iter().map(|&x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
        if norm > 0.0 {
            row.iter_mut().for_each(|x| *x = T::from_f64((*x).to_f64() / norm));
        }
    };
    match rows {
        PanelRows::Dense(x) => x.outer_iter_mut().for_each(|mut row| {
            normalize(row.as_slice_mut().expect("panels are row-major"));
        }),
        PanelRows::Sparse(x) => (0..x.n_rows()).for_each(|i| {
            let range = x.row_range(i);
            normalize(&mut x.values_mut()[range]);
        }),
    }
}

#[cfg(test)]
mod tests {
    use mercer_simd::CsrMatrix;
    use ndarray::array;

    use super::*;
    use crate::dataset::Rows;

    fn fitted(kind: PreprocessSpec, x: &Array2<f64>) -> Array2<f64> {
        let mut statistics = ColumnStatistics::new(x.ncols());
        statistics.add(Rows::Dense(x.view()));
        let mut rows = PanelRows::Dense(x.clone());
        Preprocess::fit(kind, &statistics, 0).apply_in_place(&mut rows);
        let PanelRows::Dense(rows) = rows else { panic!("dense stays dense") };
        rows
    }

    #[test]
    fn by_hand() {
        let x = array![[1.0, 5.0, -4.0], [3.0, 5.0, 0.0]];
        assert_eq!(fitted(PreprocessSpec::Standardize, &x), array![[-1.0, 0.0, -1.0], [1.0, 0.0, 1.0]]);
        assert_eq!(fitted(PreprocessSpec::MinMax, &x), array![[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]);
        assert_eq!(fitted(PreprocessSpec::MaxAbs, &x), array![[1.0 / 3.0, 1.0, -1.0], [1.0, 1.0, 0.0]]);
        assert_eq!(fitted(PreprocessSpec::Bytes, &x)[[1, 1]], 5.0 / 255.0);
        assert_eq!(fitted(PreprocessSpec::UnitNorm, &array![[3.0, 4.0], [0.0, 0.0]]), array![[0.6, 0.8], [0.0, 0.0]]);
        assert_eq!(fitted(PreprocessSpec::None, &x), x);
    }

    #[test]
    fn sparse_rows_scale_like_dense_ones() {
        let x = array![[0.0, 2.0, 0.0, -3.0], [0.0, 0.0, 0.0, 6.0], [0.0, 1.0, 0.0, 0.0]];
        let mut sparse = CsrMatrix::new(4);
        for row in x.outer_iter() {
            row.indexed_iter().filter(|(_, v)| **v != 0.0).for_each(|(j, &v)| sparse.push(j, v).unwrap());
            sparse.finish_row();
        }
        let mut statistics = ColumnStatistics::new(4);
        statistics.add(Rows::Sparse(sparse.view()));
        for kind in [PreprocessSpec::MaxAbs, PreprocessSpec::UnitNorm, PreprocessSpec::Bytes] {
            let preprocess = Preprocess::fit(kind, &statistics, 0);
            let mut rows = PanelRows::Sparse(sparse.clone());
            preprocess.apply_in_place(&mut rows);
            let mut dense = Array2::zeros((3, 4));
            rows.view().write_dense(dense.view_mut());
            assert_eq!(dense, fitted(kind, &x), "{kind:?}");
        }
    }

    #[test]
    fn a_shift_moves_the_zeros_of_sparse_rows() {
        let x = array![[0.0, 2.0], [4.0, 0.0], [0.0, 7.0]];
        let mut sparse = CsrMatrix::new(2);
        for row in x.outer_iter() {
            row.indexed_iter().filter(|(_, v)| **v != 0.0).for_each(|(j, &v)| sparse.push(j, v).unwrap());
            sparse.finish_row();
        }
        let mut statistics = ColumnStatistics::new(2);
        statistics.add(Rows::Dense(x.view()));
        for kind in [PreprocessSpec::Standardize, PreprocessSpec::MinMax] {
            let mut rows = PanelRows::Sparse(sparse.clone());
            Preprocess::fit(kind, &statistics, 0).apply_in_place(&mut rows);
            let PanelRows::Dense(rows) = rows else { panic!("still sparse") };
            assert_eq!(rows, fitted(kind, &x), "{kind:?}");
        }
    }

    #[test]
    fn sparse_rows_are_never_filled() {
        let error = PreprocessSpec::Standardize.resolve(Layout::Sparse).unwrap_err().to_string();
        assert!(error.contains("standardize") && error.contains("max_abs"), "{error}");
        assert_eq!(PreprocessSpec::Auto.resolve(Layout::Sparse).unwrap(), PreprocessSpec::MaxAbs);
        assert_eq!(PreprocessSpec::Auto.resolve(Layout::Bytes).unwrap(), PreprocessSpec::Bytes);
        assert_eq!(PreprocessSpec::Auto.resolve(Layout::Dense).unwrap(), PreprocessSpec::Standardize);
    }
}
