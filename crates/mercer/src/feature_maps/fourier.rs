//! Random Fourier features of the RBF kernel, as pairs of cosine and sine.
//!
//! k(x, y) = exp(−γ‖x−y‖²) = E cos⟨v, x−y⟩ for v ~ N(0, 2γ·I), hence with m = n_components/2 draws v₁ … vₘ
//!
//! φ(x) = √(1/m) · [cos⟨v₁,x⟩ … cos⟨vₘ,x⟩, sin⟨v₁,x⟩ … sin⟨vₘ,x⟩],  ⟨φ(x), φ(y)⟩ = (1/m)·Σⱼ cos⟨vⱼ, x−y⟩.
//!
//! - Expectation: E⟨φ(x), φ(y)⟩ = k(x, y), exactly; ‖φ(x)‖ = 1 for every draw.
//! - Variance: (1 − k²)² / (2m), since Var cos⟨v, z⟩ = (1 + k⁴)/2 − k² and E cos⟨v, 2z⟩ = k⁴ for the RBF kernel. It
//!   vanishes for equal rows, unlike the variant with a random phase, which needs twice the projections for as many
//!   features and has variance 1/2 + (1 − k²)²/2 for each of them.
//!
//! Steps: rows (n × d) times a tile of V (d × 1,024) into the sine half of `out`, then cosine and sine in place while
//! the tile is in cache. Cost of a row: d·n_components flops and n_components sines or cosines; of fitting: drawing V;
//! memory: V, d·n_components/2 values, rebuilt from the seed when a model is loaded.
//!
//! Use it as the default for dense rows of up to some thousand inputs.
//!
//! References: Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007; Sutherland and
//! Schneider, "On the error of random Fourier features", UAI 2015 (the variances).
//!
//! ```
//! use mercer::feature_maps::{FeatureMap, FourierMap};
//! use ndarray::{Array2, array};
//!
//! let map = FourierMap::<f64>::new(2, 4_096, 0.5, 0)?;
//! let mut features = Array2::zeros((2, 4_096));
//! map.transform_into(array![[0.0, 0.0], [1.0, 1.0]].view().into(), features.view_mut(), &mut [])?;
//! let approximation = features.row(0).dot(&features.row(1));
//! assert!((approximation - (-1.0_f64).exp()).abs() < 0.05);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::ops::sincos::cos_sin_into;
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{ArrayViewMut2, Axis, s};

use super::{FeatureMap, check_entries};
use crate::dataset::Rows;
use crate::projections::{DenseProjection, Projection};
use crate::{Error, Result};

/// Random Fourier features: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | number of features | even, at least 2 |
/// | `gamma` | `scale` | the kernel's width | above 0 |
/// | `seed` | 0 | names the draw of V | any |
#[derive(Clone, Debug)]
pub struct FourierMap<T, P = DenseProjection<T>> {
    projection: P,
    scale: T,
}

/// Refuses numbers of features that are not pairs.
pub(super) fn check_n_components(n_components: usize) -> Result<()> {
    if n_components >= 2 && n_components.is_multiple_of(2) {
        return Ok(());
    }
    Err(Error::parameter("n_components", n_components, "even and at least 2: a cosine and a sine each"))
}

impl<T: Scalar> FourierMap<T> {
    /// Draws V.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range.
    pub fn new(n_inputs: usize, n_components: usize, gamma: f64, seed: u64) -> Result<Self> {
        check_n_components(n_components)?;
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::parameter("gamma", gamma, "finite and above 0"));
        }
        check_entries(n_inputs, n_components / 2)?;
        let projection = DenseProjection::gaussian(seed, n_inputs, n_components / 2, (2.0 * gamma).sqrt());
        Ok(Self::over(projection))
    }
}

impl<T: Scalar, P: Projection<T>> FourierMap<T, P> {
    /// The map over any projection whose columns follow the kernel's spectral law.
    pub fn over(projection: P) -> Self {
        let scale = T::from_f64((1.0 / projection.n_outputs() as f64).sqrt());
        Self { projection, scale }
    }
}

impl<T: Scalar, P: Projection<T>> FeatureMap<T> for FourierMap<T, P> {
    fn n_inputs(&self) -> usize {
        self.projection.n_inputs()
    }

    fn n_components(&self) -> usize {
        2 * self.projection.n_outputs()
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        self.projection.scratch_len(n_rows)
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let isa = InstructionSet::best();
        let m = self.projection.n_outputs();
        for start in (0..m).step_by(self.projection.tile()) {
            let end = m.min(start + self.projection.tile());
            self.projection.project_into(rows, start..end, out.slice_mut(s![.., m + start..m + end]), scratch)?;
            for mut row in out.axis_iter_mut(Axis(0)) {
                let row = row.as_slice_mut().expect("features are row-major");
                let (cos, sin) = row.split_at_mut(m);
                cos_sin_into(isa, self.scale, &mut sin[start..end], &mut cos[start..end]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::random::{Purpose, normal_columns};

    #[test]
    fn equals_the_definition() {
        let (n_inputs, m, gamma, seed) = (3, 5, 0.7, 9);
        let map = FourierMap::<f64>::new(n_inputs, 2 * m, gamma, seed).unwrap();
        let x = array![[0.3, -1.0, 2.0], [0.0, 0.0, 0.0]];
        let mut out = Array2::from_elem((2, 2 * m), f64::NAN);
        map.transform_into(x.view().into(), out.view_mut(), &mut []).unwrap();
        let v = normal_columns::<f64>(seed, Purpose::Projection, n_inputs, 0..m) * (2.0 * gamma).sqrt();
        let angles = x.dot(&v);
        for ((i, j), &angle) in angles.indexed_iter() {
            let scale = (1.0 / m as f64).sqrt();
            assert!((out[[i, j]] - scale * angle.cos()).abs() < 1e-14);
            assert!((out[[i, m + j]] - scale * angle.sin()).abs() < 1e-14);
        }
    }

    #[test]
    fn rejects_parameters_outside_their_ranges() {
        let message = |n_inputs, n_components, gamma| {
            FourierMap::<f32>::new(n_inputs, n_components, gamma, 0).unwrap_err().to_string()
        };
        assert!(message(3, 5, 1.0).contains("n_components is 5"));
        assert!(message(3, 0, 1.0).contains("n_components is 0"));
        assert!(message(3, 4, 0.0).contains("gamma is 0"));
        assert!(message(3, 4, f64::NAN).contains("gamma is NaN"));
        assert!(message(0, 4, 1.0).contains("n_inputs is 0"));
        assert!(message(usize::MAX / 2, 4, 1.0).contains("n_inputs"));
    }

    #[test]
    fn rows_of_another_width_are_refused() {
        let map = FourierMap::<f32>::new(3, 4, 1.0, 0).unwrap();
        let error = map.transform_into(Array2::zeros((1, 2)).view().into(), Array2::zeros((1, 4)).view_mut(), &mut []);
        assert!(matches!(error, Err(Error::Inputs { got: 2, expected: 3, .. })));
    }
}
