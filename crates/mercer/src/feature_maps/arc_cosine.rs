//! Random units of a wide network: features of the arc-cosine kernel.
//!
//! φᵢ(x) = √(2/D)·Θ(⟨vᵢ,x⟩)·⟨vᵢ,x⟩ⁿ with normal vᵢ, Θ the step, 0 for negative and 1 for positive numbers and ½ at 0: steps (n = 0), ramps (1)
//! or squared ramps (2). The kernel is defined by their expectation, so
//!
//! E⟨φ(x),φ(y)⟩ = kₙ(x,y) and Var⟨φ(x),φ(y)⟩ = (2·k₂ₙ(x,y) − kₙ(x,y)²)/D,
//!
//! as the square of 2ΘΘ⟨v,x⟩ⁿ⟨v,y⟩ⁿ is twice that of degree 2n.
//!
//! Cost of a row: 2·d·D flops at the speed of a matrix product. Memory: d·D.
//!
//! Reference: Cho and Saul, "Kernel methods for deep learning", NIPS 2009, eq. 1.

use mercer_simd::Scalar;
use ndarray::ArrayViewMut2;

use super::FeatureMap;
use super::projection::check_n_components;
use crate::dataset::Rows;
use crate::projections::{DenseProjection, Projection};
use crate::{Error, Result};

/// Random units: see the module's head.
///
/// ```
/// use mercer::feature_maps::{ArcCosineMap, FeatureMap};
/// use ndarray::{Array2, array};
///
/// let map = ArcCosineMap::<f64>::new(2, 20_000, 1, 0)?;
/// let mut features = Array2::zeros((1, 20_000));
/// map.transform_into(array![[3.0, 4.0]].view().into(), features.view_mut(), &mut [])?;
/// // k(x,x) = ‖x‖² for ramps, with a standard deviation of √(2·3 − 1)/√D of it.
/// assert!((features.row(0).dot(&features.row(0)) / 25.0 - 1.0).abs() < 0.08);
/// # Ok::<(), mercer::Error>(())
/// ```
pub struct ArcCosineMap<T> {
    projection: DenseProjection<T>,
    degree: u32,
    scale: T,
}

/// Refuses a degree that has no features here.
pub(super) fn check(n_components: usize, degree: u32) -> Result<()> {
    check_n_components(n_components)?;
    if degree > 2 { Err(Error::parameter("degree", degree, "0, 1 or 2")) } else { Ok(()) }
}

impl<T: Scalar> ArcCosineMap<T> {
    /// Draws the units.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range.
    pub fn new(n_inputs: usize, n_components: usize, degree: u32, seed: u64) -> Result<Self> {
        check(n_components, degree)?;
        let projection = DenseProjection::gaussian(seed, n_inputs, n_components, 1.0)?;
        Ok(Self { projection, degree, scale: T::from_f64((2.0 / n_components as f64).sqrt()) })
    }
}

impl<T: Scalar> FeatureMap<T> for ArcCosineMap<T> {
    fn n_inputs(&self) -> usize {
        self.projection.n_inputs()
    }

    fn n_components(&self) -> usize {
        self.projection.n_outputs()
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        self.projection.scratch_len(n_rows)
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        self.projection.project_into(rows, 0..self.n_components(), out.view_mut(), scratch)?;
        let (scale, half) = (self.scale, T::from_f64(0.5) * self.scale);
        match self.degree {
            0 => out.mapv_inplace(|x| {
                if x == T::zero() {
                    half
                } else if x > T::zero() {
                    scale
                } else {
                    T::zero()
                }
            }),
            1 => out.mapv_inplace(|x| x.max(T::zero()) * scale),
            _ => out.mapv_inplace(|x| {
                let ramp = x.max(T::zero());
                ramp * ramp * scale
            }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::kernels::Kernel;

    /// Steps, whose two float types may differ where a unit is nearly at right angles to the row: means of 4,000 units by themselves.
    #[test]
    fn steps_have_the_kernel_of_degree_0() {
        let map = ArcCosineMap::<f32>::new(3, 4_000, 0, 5).unwrap();
        let x = array![[1.0_f32, 2.0, -1.0], [0.5, 2.0, 0.0], [0.0, 0.0, 0.0], [-1.0, -2.0, 1.0]];
        let mut features = Array2::zeros((4, 4_000));
        map.transform_into(x.view().into(), features.view_mut(), &mut []).unwrap();
        let kernel = Kernel::ArcCosine { degree: 0 };
        for i in 0..4 {
            for j in 0..4 {
                let k = kernel.value(x.row(i), x.row(j)).unwrap();
                let got: f64 = features.row(i).iter().zip(features.row(j)).map(|(x, y)| f64::from(x * y)).sum();
                // √(2k − k²) ≤ 1: four and a half standard deviations, and the rounding of a sum of 4,000.
                assert!((got - k).abs() < 4.5 / 4_000_f64.sqrt() + 1e-4, "{i}, {j}: {got}, k = {k}");
            }
        }
    }

    #[test]
    fn other_degrees_are_refused() {
        assert!(ArcCosineMap::<f32>::new(3, 4, 3, 0).err().unwrap().to_string().contains("0, 1 or 2"));
        assert!(ArcCosineMap::<f32>::new(3, 0, 1, 0).is_err());
    }
}
