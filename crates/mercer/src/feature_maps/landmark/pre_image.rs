//! From features back to rows: kernel ridge regression of the rows on their features.
//!
//! A point of feature space is the image of no row, as a rule. Its pre-image here is the value of the smooth function of features that is
//! closest to the landmarks at their own features Z = φ(L):
//!
//! x̂(z) = k(z, Z)·(k(Z, Z) + αI)⁻¹·L
//!
//! with the kernel of the map, as scikit-learn's `KernelPCA(fit_inverse_transform=True)` has it. The larger α, the smoother, and the more
//! every row is drawn towards 0.
//!
//! Steps: K = k(Z, Z) + αI in f64, its Cholesky factor with pivots, and the coefficients A = R⁻¹·R⁻ᵀ·L. Of a batch the kernel
//! values with Z times A, all in f64 and rounded once: coefficients are large where α is small.
//!
//! Cost: p²·(k + d) + p³ to fit, p·(k + d) multiply-adds for a row of k features and d inputs. Memory: p·(k + d).
//!
//! Reference: Bakır, Weston and Schölkopf, "Learning to find pre-images", NIPS 2003, section 3.

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use super::{BATCH, gram};
use crate::dataset::Rows;
use crate::kernels::Kernel;
use crate::pivoted::PivotedCholesky;
use crate::room::check_room;
use crate::{Error, Result};

/// Pre-images of features: see the module's head.
///
/// ```
/// use mercer::feature_maps::PreImage;
/// use mercer::kernels::Kernel;
/// use ndarray::{Array2, array};
///
/// // Features that are twice the rows.
/// let rows = array![[0.0], [1.0], [2.0]];
/// let back = PreImage::fit(Kernel::Rbf { gamma: 0.01 }, &rows * 2.0, rows.view().into(), 1e-6)?;
/// let mut found = Array2::zeros((1, 1));
/// back.inverse_into(array![[3.0]].view(), found.view_mut())?;
/// assert!((found[[0, 0]] - 1.5_f64).abs() < 0.05);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PreImage<T> {
    kernel: Kernel,
    features: Array2<T>,
    /// A, landmarks × inputs
    coefficients: Array2<f64>,
}

impl<T: Scalar> PreImage<T> {
    /// Of rows and their features, on the threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an α that is none, for as many rows as features are not of, and for a kernel that does not take features below 0;
    /// [`Error::Memory`] where memory is short.
    pub fn fit(kernel: Kernel, features: Array2<T>, rows: Rows<'_, T>, alpha: f64) -> Result<Self> {
        let p = features.nrows();
        if !(alpha >= 0.0 && alpha.is_finite()) {
            return Err(Error::parameter("alpha", alpha, "finite and at least 0"));
        }
        if p == 0 || rows.n_rows() != p {
            let got = format!("{} rows for {p} rows of features", rows.n_rows());
            return Err(Error::parameter("rows", got, "as many as have features, and one or more"));
        }
        check_room(16 * (p as u128).pow(2), || format!("kernel values of {p} landmarks"))?;
        let mut k = gram(kernel, features.view().into()).map_err(of_features)?;
        k.diag_mut().iter_mut().for_each(|value| *value += alpha);
        let coefficients = solved(k, &rows.to_dense().mapv(Scalar::to_f64));
        Self::from_parts(kernel, features, coefficients)
    }

    /// Puts learned parts together.
    ///
    /// # Errors
    /// [`Error::Model`] when they do not fit each other, or are not finite.
    pub fn from_parts(kernel: Kernel, features: Array2<T>, coefficients: Array2<f64>) -> Result<Self> {
        if features.nrows() != coefficients.nrows() || !coefficients.iter().all(|x| x.is_finite()) {
            let (got, expected) = (coefficients.dim(), features.nrows());
            return Err(Error::Model(format!("coefficients of shape {got:?} for {expected} rows, or not finite")));
        }
        Ok(Self { kernel, features, coefficients })
    }

    /// Z
    pub fn features(&self) -> ArrayView2<'_, T> {
        self.features.view()
    }

    /// A
    pub fn coefficients(&self) -> ArrayView2<'_, f64> {
        self.coefficients.view()
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// out = x̂(features), `n_rows × n_inputs`, on the threads of the current pool. A row does not depend on those beside it.
    ///
    /// # Errors
    /// [`Error::Inputs`] for features of another number, [`Error::Parameter`] as [`PreImage::fit`] and where `out` has another shape.
    pub fn inverse_into(&self, features: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) -> Result<()> {
        let (got, expected) = (features.ncols(), self.features.ncols());
        if got != expected {
            return Err(Error::Inputs { context: "inverse transform".to_owned(), got, expected });
        }
        if out.dim() != (features.nrows(), self.coefficients.ncols()) {
            return Err(Error::parameter("out", format!("{:?}", out.dim()), "rows of features × inputs"));
        }
        let batches: Vec<_> = out.axis_chunks_iter_mut(Axis(0), BATCH).collect();
        batches.into_par_iter().enumerate().try_for_each(|(at, mut out)| {
            let features = features.slice(s![at * BATCH..at * BATCH + out.nrows(), ..]);
            let mut values = Array2::<f64>::zeros((out.nrows(), self.features.nrows()));
            self.kernel
                .gram_into(features.into(), self.features.view().into(), values.view_mut())
                .map_err(of_features)?;
            let mut rows = Array2::zeros(out.dim());
            matmul_into(values.view(), self.coefficients.view(), rows.view_mut(), Update::Set);
            out.zip_mut_with(&rows, |out, &x| *out = T::from_f64(x));
            Ok(())
        })
    }
}

/// Features are of any sign.
fn of_features(error: Error) -> Error {
    match error {
        Error::Negative { .. } | Error::TooNegative { .. } => {
            let expected = "another for pre-images: features are below 0, too";
            Error::parameter("kernel", "a chi-squared one", expected)
        }
        other => other,
    }
}

/// K⁻¹·x of the upper half of K; rows that the others give already have coefficients of 0.
fn solved(k: Array2<f64>, x: &Array2<f64>) -> Array2<f64> {
    let p = k.nrows();
    let factored = PivotedCholesky::new(k, f64::EPSILON * p as f64, p);
    let mut out = Array2::zeros(x.dim());
    if factored.rank() == 0 {
        return out;
    }
    let inverse = factored.inverse();
    let ordered = x.select(Axis(0), factored.pivots());
    let transposed = inverse.t().as_standard_layout().into_owned();
    let mut half = Array2::zeros(ordered.dim());
    matmul_into(transposed.view(), ordered.view(), half.view_mut(), Update::Set);
    let mut whole = Array2::zeros(ordered.dim());
    matmul_into(inverse.view(), half.view(), whole.view_mut(), Update::Set);
    for (&pivot, row) in factored.pivots().iter().zip(whole.outer_iter()) {
        out.row_mut(pivot).assign(&row);
    }
    out
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::random::{Purpose, normal_columns};

    fn inverse<T: Scalar>(back: &PreImage<T>, features: ArrayView2<'_, T>) -> Array2<T> {
        let mut out = Array2::from_elem((features.nrows(), back.coefficients().ncols()), T::nan());
        back.inverse_into(features, out.view_mut()).unwrap();
        out
    }

    /// One row z: x̂ = k(z, z)/(k(z, z) + α)·x.
    #[test]
    fn by_hand() {
        let back = PreImage::fit(Kernel::Linear, array![[2.0]], array![[3.0, 5.0]].view().into(), 1.0).unwrap();
        assert_eq!(inverse(&back, array![[2.0], [-1.0]].view()), array![[2.4, 4.0], [-1.2, -2.0]]);
    }

    /// (K + αI)·A = L, more rows than a batch, and without a penalty the rows themselves.
    #[test]
    fn equals_the_definition() {
        let rows = normal_columns::<f64>(1, Purpose::Projection, 300, 0..4);
        let features = normal_columns::<f64>(2, Purpose::Projection, 300, 0..6);
        let kernel = Kernel::Rbf { gamma: 0.2 };
        let mut k = Array2::zeros((300, 300));
        kernel.gram_into(features.view().into(), features.view().into(), k.view_mut()).unwrap();
        let back = PreImage::fit(kernel, features.clone(), rows.view().into(), 0.3).unwrap();
        let shifted = &k + &(Array2::<f64>::eye(300) * 0.3);
        let off = (shifted.dot(&back.coefficients()) - &rows).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(off < 1e-10, "off by {off}");
        let got = inverse(&back, features.view());
        let off = (&got - &k.dot(&back.coefficients())).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(off < 1e-10, "off by {off}");
        assert_eq!(inverse(&back, features.slice(s![270..271, ..])), got.slice(s![270..271, ..]));
        let exact = PreImage::fit(Kernel::Laplace { gamma: 1.0 }, features.clone(), rows.view().into(), 0.0).unwrap();
        let off = (inverse(&exact, features.view()) - &rows).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(off < 1e-9, "off by {off}");
    }

    /// Features that are equal, and nothing to shrink: finite all the same.
    #[test]
    fn singular_kernels_give_numbers() {
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 1.0 }] {
            let rows = array![[1.0_f32], [1.0], [2.0]];
            let back = PreImage::fit(kernel, Array2::ones((3, 2)), rows.view().into(), 0.0).unwrap();
            assert!(inverse(&back, Array2::ones((1, 2)).view()).iter().all(|x| x.is_finite()), "{kernel:?}");
        }
        let back =
            PreImage::fit(Kernel::Linear, Array2::zeros((2, 1)), array![[1.0], [2.0]].view().into(), 0.0).unwrap();
        assert_eq!(inverse(&back, array![[4.0]].view()), array![[0.0]]);
    }

    #[test]
    fn refusals() {
        let rows = array![[1.0], [2.0]];
        let fit = |kernel, features: Array2<f64>, alpha| PreImage::fit(kernel, features, rows.view().into(), alpha);
        for alpha in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(fit(Kernel::Linear, array![[1.0], [2.0]], alpha).unwrap_err().to_string().contains("alpha is"));
        }
        assert!(fit(Kernel::Linear, array![[1.0]], 1.0).unwrap_err().to_string().contains("2 rows for 1 rows"));
        let error = fit(Kernel::AdditiveChi2, array![[1.0], [-1.0]], 1.0).unwrap_err().to_string();
        assert!(error.contains("features are below 0"), "{error}");
        let back = fit(Kernel::Linear, array![[1.0], [2.0]], 1.0).unwrap();
        assert!(matches!(
            back.inverse_into(array![[1.0, 2.0]].view(), Array2::zeros((1, 1)).view_mut()),
            Err(Error::Inputs { got: 2, expected: 1, .. })
        ));
        assert!(back.inverse_into(array![[1.0]].view(), Array2::zeros((1, 2)).view_mut()).is_err());
    }
}
