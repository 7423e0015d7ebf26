//! Principal components in feature space: kernel PCA, and so KPCA-RP.
//!
//! The landmarks, less their mean in feature space, have the Gram matrix K̃ = HKH with H = I − 11ᵀ/p. Of its eigenvectors vⱼ, the largest eigenvalues λⱼ first,
//!
//! φⱼ(x) = k̃(x, L)·vⱼ/√λⱼ,  k̃(x, ·) = k(x, ·) − mean of the rows of K − mean of k(x, L) + mean of K,
//!
//! is the coordinate of x, less the mean, along principal component j. As H·vⱼ = vⱼ, what does not depend on the landmark drops out: with W of the columns
//! H·vⱼ/√λⱼ and m the mean of the rows of K,
//!
//! φ(x) = Wᵀ·(k(L, x) − m) = Wᵀ·k(L, x) + b,  b = −Wᵀm.
//!
//! Of the landmarks themselves Σφⱼ² = λⱼ, and with all components ⟨φ(x),φ(y)⟩ = k̃(x, y). Components of eigenvalues below ε·p times the largest k(x,x) are
//! noise, ε the float type's, and are left out: kernel values rounded by ε move their features by as much as their features are. The sign of a component
//! is such that the largest entry of vⱼ is positive.
//!
//! Cost: p²·d + 9p³ to fit. Where p are all rows of the data this is kernel PCA; where they are some, KPCA-RP.
//!
//! References: Schölkopf, Smola and Müller, "Nonlinear component analysis as a kernel eigenvalue problem", Neural Computation 10, 1998. Zhao, Alavi, Wiliem and
//! Lovell, "Efficient clustering on Riemannian manifolds: a kernelised random projection approach", Pattern Recognition 51, 2016 (KPCA-RP).

use ndarray::{Array1, Array2, Axis, s};

use crate::eigen::Eigen;
use crate::kernels::centre_in_place;

/// W (landmarks × components) and b, of at most so many components; none where landmarks differ in nothing.
pub(super) fn components(mut k: Array2<f64>, most: usize, epsilon: f64) -> Option<(Array2<f64>, Vec<f64>)> {
    let p = k.nrows();
    let largest = k.diag().iter().copied().fold(0.0, f64::max);
    let means = k.mean_axis(Axis(0))?;
    centre_in_place(k.view_mut()).ok()?;
    let Eigen { values, vectors } = Eigen::new(k);
    let least = epsilon * p as f64 * largest;
    let n = values.iter().take(most).take_while(|value| **value > least).count();
    if n == 0 {
        return None;
    }
    let mut weights: Array2<f64> = vectors.slice(s![..n, ..]).to_owned();
    for (mut row, value) in weights.outer_iter_mut().zip(&values) {
        let mean = row.sum() / p as f64;
        row.mapv_inplace(|x| (x - mean) / value.sqrt());
    }
    let offset: Array1<f64> = -weights.dot(&means);
    Some((weights.t().as_standard_layout().into_owned(), offset.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal_columns};

    /// Of a linear kernel: the principal components of the rows.
    #[test]
    fn of_a_line_by_hand() {
        let x = ndarray::array![[1.0, 1.0], [2.0, 2.0], [6.0, 6.0]];
        let (w, b) = components(x.dot(&x.t()), 3, f64::EPSILON).unwrap();
        assert_eq!(w.dim(), (3, 1));
        let features = x.dot(&x.t()).dot(&w) + b[0];
        // √2 times the distance from the mean, 3; the largest entry of the eigenvector is that of the last row.
        for (feature, expected) in features.iter().zip([-2.0, -1.0, 3.0]) {
            assert!((feature - expected * 2.0_f64.sqrt()).abs() < 1e-12, "{features}");
        }
    }

    #[test]
    fn all_components_give_the_centred_kernel() {
        let x = normal_columns::<f64>(3, Purpose::Projection, 40, 0..6);
        let mut k = x.dot(&x.t()).mapv(|x| (1.0 + 0.3 * x).powi(2));
        let (w, b) = components(k.clone(), usize::MAX, f64::EPSILON).unwrap();
        // Squares, products and inputs, less nothing: a polynomial of degree 2 of 6 inputs without its constant.
        assert_eq!(w.ncols(), 27);
        let features = k.dot(&w) + &Array1::from(b);
        let means = features.mean_axis(Axis(0)).unwrap();
        assert!(means.iter().all(|mean| mean.abs() < 1e-10), "{means}");
        centre_in_place(k.view_mut()).unwrap();
        let off = (features.dot(&features.t()) - &k).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(off < 1e-10, "off by {off}");
    }

    #[test]
    fn equal_landmarks_have_no_component() {
        assert!(components(Array2::ones((7, 7)), 3, f64::EPSILON).is_none());
        assert!(components(Array2::zeros((1, 1)), 3, f64::EPSILON).is_none());
    }
}
