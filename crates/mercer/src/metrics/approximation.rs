//! How near a feature map comes to its kernel, on a sample of rows.
//!
//! Two questions, for features z(x) of a kernel k with feature space φ:
//!
//! 1. [`kernel_error`]: how far is ⟨z(x),z(y)⟩ from k(x,y)?
//! 2. [`distance_distortion`]: how far are distances from those of the feature space?
//!
//! Cost for n rows: 2n²·(d + D) multiply-adds, 2n² numbers of f64: take a sample of a few hundred to a few thousand.
//!
//! ```
//! use mercer::kernels::Kernel;
//! use mercer::metrics::approximation;
//! use ndarray::array;
//!
//! let x = array![[1.0, 2.0], [3.0, 0.0], [0.0, 1.0]];
//! let report = approximation(Kernel::Linear, x.view().into(), x.view())?; // z(x) = x
//! assert_eq!(report.kernel.rmse, 0.0);
//! assert_eq!(report.distances.n_pairs, 3);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2, Zip};
use serde::{Deserialize, Serialize};

use super::{DistanceDistortion, check_same_shape, distance_distortion};
use crate::dataset::Rows;
use crate::kernels::{Kernel, squared_distances_into};
use crate::{Error, Result};

/// How near features come to a kernel on a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApproximationReport {
    /// Rows of the sample.
    pub n_rows: u64,
    /// Features of a row: D.
    pub n_components: u64,
    /// Error of inner products.
    pub kernel: KernelError,
    /// Error of distances.
    pub distances: DistanceDistortion,
}

/// The error of an approximate Gram matrix, over all its entries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelError {
    /// Root of the mean squared error.
    pub rmse: f64,
    /// Largest absolute error.
    pub max_absolute: f64,
    /// ‖approximate − exact‖ / ‖exact‖ in the Frobenius norm; 0 where both matrices are zero, and the norm of the
    /// error itself where only the exact one is.
    pub relative_frobenius: f64,
}

/// Compares the features (`n_rows` × D) of a sample of rows with their kernel.
///
/// # Errors
/// [`Error::Parameter`] for a kernel outside its ranges, [`Error::Targets`] when there is not one row of features for
/// each row, [`Error::TooFewRows`] when no two rows are apart in feature space, [`Error::NotFinite`] for features, or
/// kernel values, that are not finite.
pub fn approximation<T: Scalar>(
    kernel: Kernel,
    rows: Rows<'_, T>,
    features: ArrayView2<'_, T>,
) -> Result<ApproximationReport> {
    let n = rows.n_rows();
    if features.nrows() != n {
        return Err(Error::Targets(format!("{} rows of features for {n} rows", features.nrows())));
    }
    let (mut exact, mut approximate) = (Array2::zeros((n, n)), Array2::zeros((n, n)));
    kernel.gram_into(rows, rows, exact.view_mut())?;
    Kernel::Linear.gram_into(features.into(), features.into(), approximate.view_mut())?;
    let error = kernel_error(exact.view(), approximate.view())?;
    kernel.squared_distances_into(rows, rows, exact.view_mut())?;
    squared_distances_into(features.into(), features.into(), approximate.view_mut())?;
    Ok(ApproximationReport {
        n_rows: n as u64,
        n_components: features.ncols() as u64,
        kernel: error,
        distances: distance_distortion(exact.view(), approximate.view())?,
    })
}

/// The error of an approximate Gram matrix of any shape, over all entries.
///
/// The diagonal of a square one counts like any entry, and is exact by construction for many maps: with n rows this
/// makes the RMSE smaller by a factor √(1 − 1/n).
///
/// # Errors
/// [`Error::Targets`] when the shapes differ, [`Error::TooFewRows`] when they are empty, [`Error::NotFinite`].
pub fn kernel_error(exact: ArrayView2<'_, f64>, approximate: ArrayView2<'_, f64>) -> Result<KernelError> {
    check_same_shape(exact, approximate)?;
    if exact.is_empty() {
        return Err(Error::TooFewRows { context: "the Gram matrix".into(), got: 0, expected: 1 });
    }
    let (mut squares, mut exact_squares, mut max_absolute) = (0.0, 0.0, 0.0_f64);
    Zip::from(exact).and(approximate).for_each(|&exact, &approximate| {
        let error = (approximate - exact).abs();
        squares += error * error;
        exact_squares += exact * exact;
        max_absolute = max_absolute.max(error);
    });
    let norm = if exact_squares > 0.0 { exact_squares.sqrt() } else { 1.0 };
    Ok(KernelError {
        rmse: (squares / exact.len() as f64).sqrt(),
        max_absolute,
        relative_frobenius: squares.sqrt() / norm,
    })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn kernel_error_by_hand() {
        let (exact, approximate) = (array![[3.0, 0.0], [0.0, 4.0]], array![[3.0, 1.0], [-1.0, 2.0]]);
        let error = kernel_error(exact.view(), approximate.view()).unwrap();
        assert_eq!((error.rmse, error.max_absolute), (1.5_f64.sqrt(), 2.0));
        assert_eq!(error.relative_frobenius, 6.0_f64.sqrt() / 5.0);
        let zero = Array2::zeros((2, 2));
        assert_eq!(kernel_error(zero.view(), zero.view()).unwrap().relative_frobenius, 0.0);
        assert_eq!(kernel_error(zero.view(), exact.view()).unwrap().relative_frobenius, 5.0);
    }

    /// φ(x) = (x₁², √2·x₁x₂, x₂²) is exact for ⟨x,y⟩²; √2 times as long it doubles every square.
    #[test]
    fn explicit_features_have_no_error() {
        let x = array![[1.0, 2.0], [-0.5, 3.0], [2.0, 0.25], [1.0, 2.0]];
        let kernel = Kernel::Polynomial { degree: 2, gamma: 1.0, c: 0.0 };
        let root = 2.0_f64.sqrt();
        let features = Array2::from_shape_fn((4, 3), |(i, j)| match j {
            0 => x[[i, 0]] * x[[i, 0]],
            1 => root * x[[i, 0]] * x[[i, 1]],
            _ => x[[i, 1]] * x[[i, 1]],
        });
        let report = approximation(kernel, x.view().into(), features.view()).unwrap();
        assert!(report.kernel.max_absolute < 1e-13 && report.distances.mean < 1e-13, "{report:?}");
        assert_eq!((report.distances.n_pairs, report.distances.n_skipped), (5, 1));
        let doubled = approximation(kernel, x.view().into(), (features * root).view()).unwrap();
        assert!((doubled.kernel.relative_frobenius - 1.0).abs() < 1e-13, "{doubled:?}");
        assert!((doubled.distances.mean - 1.0).abs() < 1e-13 && doubled.distances.standard_deviation < 1e-7);
    }

    #[test]
    fn f32_features_are_scored_in_f64() {
        let x = array![[1.0_f32, 2.0], [3.0, 0.5]];
        let report = approximation(Kernel::Linear, x.view().into(), x.view()).unwrap();
        assert_eq!((report.kernel.max_absolute, report.distances.mean, report.n_components), (0.0, 0.0, 2));
    }

    #[test]
    fn rejects_what_it_cannot_compare() {
        let (x, one, equal) = (array![[1.0], [2.0]], array![[1.0]], array![[1.0], [1.0]]);
        let compare = |x: &Array2<f64>, z: &Array2<f64>| approximation(Kernel::Linear, x.view().into(), z.view());
        assert!(matches!(compare(&x, &one), Err(Error::Targets(_))));
        assert!(matches!(compare(&one, &one), Err(Error::TooFewRows { got: 1, expected: 2, .. })));
        assert!(matches!(compare(&equal, &equal), Err(Error::TooFewRows { .. })));
        assert!(matches!(compare(&Array2::zeros((0, 1)), &Array2::zeros((0, 1))), Err(Error::TooFewRows { .. })));
        assert!(matches!(compare(&x, &array![[1.0], [f64::NAN]]), Err(Error::NotFinite { .. })));
        let result = approximation(Kernel::Rbf { gamma: 0.0 }, x.view().into(), x.view());
        assert!(matches!(result, Err(Error::Parameter { name: "gamma", .. })));
        assert!(matches!(kernel_error(x.view(), one.view()), Err(Error::Targets(_))));
    }
}
