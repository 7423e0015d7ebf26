//! Random Fourier features of shift-invariant kernels.
//!
//! k(x, y) = E cos⟨v, x−y⟩ for a law of frequencies v ([`Spectrum`]), hence with draws v₁ … vₘ and phases b ~ U(0, 2π)
//!
//! | waves | φ(x) | m |
//! |---|---|---|
//! | [`Waves::Paired`] | √(1/m) · [cos⟨v₁,x⟩ … cos⟨vₘ,x⟩, sin⟨v₁,x⟩ … sin⟨vₘ,x⟩] | n_components/2 |
//! | [`Waves::Phase`] | √(2/m) · [cos(⟨v₁,x⟩+b₁) … cos(⟨vₘ,x⟩+bₘ)] | n_components |
//!
//! Frequencies of one law come from several projections ([`Frequencies`]):
//!
//! | map | frequencies | E⟨φ(x), φ(y)⟩ | a row costs |
//! |---|---|---|---|
//! | `fourier` | independent | k, exactly | d·m multiply-adds |
//! | `orthogonal` | orthogonal directions, independent lengths | k, exactly | d·m multiply-adds |
//! | `quasi` | a scrambled Halton sequence | k, exactly | d·m multiply-adds |
//! | `fastfood` | (1/√p)·S·H·G·Π·H·B | k, exactly | m·log p additions |
//! | `sorf` | (1/p)·H·D·H·D·H·D | k up to a bias of O(1/p) | m·log p additions |
//!
//! - Variance of independent paired waves: (1 + k₂ − 2k²)/(2m), k₂ = k(2x, 2y) the kernel at twice the distance, since
//!   Var cos⟨v, z⟩ = (1 + E cos⟨v, 2z⟩)/2 − k²; for the RBF kernel k₂ = k⁴ and this is (1 − k²)²/(2m). It vanishes for equal
//!   rows, unlike that of waves with phases, (1 + k₂/2 − k²)/m, which take twice the projections for as many features.
//! - Orthogonal frequencies have less variance for the RBF kernel (Yu et al.); SORF's are close to them. Fastfood's have
//!   more than independent ones: those of a block share G.
//! - SORF is biased because a row of its V has the length √p exactly, p the padded number of inputs and at least 64: by
//!   −k·r⁴/(4p) to first order, r² = 2γ‖x−y‖², as frequencies on a sphere are. Given two rounds of signs, the
//!   expectation over the third is Π cos wᵢ ≈ k·(1 − Σwᵢ⁴/12), w the row after two transforms, ‖w‖ = r, whose Σwᵢ⁴ is
//!   3r⁴/p on average. Where k = ½ that is −0.0038 up to 64 inputs, −0.00094 at 256 and −0.00023 at 1,024
//!   (`tests/all/spectral.rs`).
//!
//! Steps: rows (n × d) are projected into the sine half of `out`, a tile of columns or a few rows at a time, and cosine and
//! sine are taken in place while that is in cache. Memory: V, d·m values, or for `fastfood` and `sorf` some diagonals of m;
//! rebuilt from the seed when a model is loaded.
//!
//! Use `sorf` for many inputs, where its bias is small and its cost least; `fourier` for few, and wherever the expectation
//! must be exact; `orthogonal` where accuracy is worth a matrix product. `laplace` has `fourier` and `quasi` only.
//! `mercer compare` measures them on your rows.
//!
//! References: Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007; Sutherland and Schneider, "On
//! the error of random Fourier features", UAI 2015 (the variances); Yu, Suresh, Choromanski, Holtmann-Rice and Kumar,
//! "Orthogonal random features", NIPS 2016; and those of the [projections](crate::projections).
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

use std::f64::consts::TAU;

use mercer_simd::ops::sincos::{cos_into, cos_sin_into};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use serde::{Deserialize, Serialize};

use super::FeatureMap;
use crate::dataset::Rows;
use crate::projections::{DenseProjection, Projection, Spectrum};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Features of waves along random directions: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | number of features | even for paired waves, at least 2; else at least 1 |
/// | `gamma` | `scale` | the kernel's width | above 0 |
/// | `seed` | 0 | names the draw of V | any |
#[derive(Clone, Debug)]
pub struct FourierMap<T, P = DenseProjection<T>> {
    projection: P,
    scale: T,
    /// Of each wave; empty where they are paired.
    phases: Vec<T>,
}

/// What a frequency becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waves {
    /// A cosine and a sine.
    #[default]
    Paired,
    /// A cosine with a random phase.
    Phase,
}

impl Waves {
    /// Refuses numbers of features that are not pairs.
    pub(super) fn check_n_components(self, n_components: usize) -> Result<()> {
        match self {
            Self::Paired if n_components < 2 || !n_components.is_multiple_of(2) => {
                Err(Error::parameter("n_components", n_components, "even and at least 2: a cosine and a sine each"))
            }
            Self::Phase if n_components == 0 => Err(Error::parameter("n_components", 0, "at least 1")),
            _ => Ok(()),
        }
    }

    /// Frequencies for as many features.
    pub(crate) fn n_frequencies(self, n_components: usize) -> usize {
        match self {
            Self::Paired => n_components / 2,
            Self::Phase => n_components,
        }
    }
}

impl<T: Scalar> FourierMap<T> {
    /// Paired waves of independent frequencies of the RBF kernel.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range.
    pub fn new(n_inputs: usize, n_components: usize, gamma: f64, seed: u64) -> Result<Self> {
        Waves::Paired.check_n_components(n_components)?;
        let projection = DenseProjection::independent(seed, n_inputs, n_components / 2, &Spectrum::rbf(gamma)?)?;
        Ok(Self::over(projection, Waves::Paired, seed))
    }
}

impl<T: Scalar, P: Projection<T>> FourierMap<T, P> {
    /// V: its columns are the frequencies.
    pub fn projection(&self) -> &P {
        &self.projection
    }

    /// The phase of each wave; none where waves are paired.
    pub fn phases(&self) -> &[T] {
        &self.phases
    }

    /// The map over any projection whose columns follow the kernel's law; `seed` names the phases, where there are any.
    pub fn over(projection: P, waves: Waves, seed: u64) -> Self {
        let m = projection.n_outputs();
        let phases = match waves {
            Waves::Paired => Vec::new(),
            Waves::Phase => {
                let mut phases = vec![0.0; m];
                Stream::new(seed, Purpose::Phase).lane(PHASE_LANE).uniform_into(0, &mut phases);
                phases.into_iter().map(|u| T::from_f64(TAU * u)).collect()
            }
        };
        let power = if phases.is_empty() { 1.0 } else { 2.0 };
        Self { scale: T::from_f64((power / m as f64).sqrt()), projection, phases }
    }

    /// The gradient with respect to the rows of any function with the gradient `grad_out` with respect to their features.
    ///
    /// With paired waves, of features c and s and their gradients g and h, that of ⟨v, x⟩ is h·c − g·s; this times Vᵀ.
    /// Cost: that of the map, and of one more product by V. A row's gradient is the same bits whatever the batch.
    ///
    /// # Errors
    /// [`Error::Inputs`] when the rows have another length.
    ///
    /// # Panics
    /// When `grad_out` is not as large as the features, or `grad_rows` as the rows.
    pub fn backward_into(
        &self,
        rows: Rows<'_, T>,
        grad_out: ArrayView2<'_, T>,
        grad_rows: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        let (n, m) = (rows.n_rows(), self.projection.n_outputs());
        assert_eq!(grad_out.dim(), (n, self.n_components()), "a gradient for each feature");
        assert_eq!(grad_rows.dim(), (n, self.n_inputs()), "a gradient for each input");
        let mut weights = Array2::zeros((n, m));
        let mut scratch = vec![T::zero(); self.projection.scratch_len(n)];
        self.projection.project_into(rows, 0..m, weights.view_mut(), &mut scratch)?;
        let (isa, mut cos) = (InstructionSet::best(), vec![T::zero(); m]);
        for (mut weights, grad) in weights.outer_iter_mut().zip(grad_out.outer_iter()) {
            let sin = weights.as_slice_mut().expect("a new array is row-major");
            sin.iter_mut().zip(&self.phases).for_each(|(angle, &phase)| *angle = *angle + phase);
            cos_sin_into(isa, self.scale, sin, &mut cos);
            if self.phases.is_empty() {
                let (of_cos, of_sin) = grad.split_at(Axis(0), m);
                for (j, weight) in sin.iter_mut().enumerate() {
                    *weight = of_sin[j] * cos[j] - of_cos[j] * *weight;
                }
            } else {
                sin.iter_mut().zip(grad).for_each(|(weight, &grad)| *weight = -grad * *weight);
            }
        }
        self.projection.project_back_into(weights.view(), grad_rows)
    }
}

/// The lane of phases: the first ones shift quasi-random points, one for an input.
const PHASE_LANE: usize = u32::MAX as usize;

impl<T: Scalar, P: Projection<T>> FeatureMap<T> for FourierMap<T, P> {
    fn n_inputs(&self) -> usize {
        self.projection.n_inputs()
    }

    fn n_components(&self) -> usize {
        if self.phases.is_empty() { 2 * self.projection.n_outputs() } else { self.projection.n_outputs() }
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        self.projection.scratch_len(n_rows.min(self.projection.rows_at_once()))
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let isa = InstructionSet::best();
        let (n_rows, m, tile) = (rows.n_rows(), self.projection.n_outputs(), self.projection.tile());
        let at_once = self.projection.rows_at_once().min(n_rows.max(1));
        // Sines take the place of their angles, behind the cosines; cosines with phases that of theirs.
        let place = if self.phases.is_empty() { m } else { 0 };
        for first in (0..n_rows.max(1)).step_by(at_once) {
            let last = n_rows.min(first + at_once);
            let (rows, mut out) = (rows.slice(first, last), out.slice_mut(s![first..last, ..]));
            for start in (0..m).step_by(tile) {
                let end = m.min(start + tile);
                let angles = out.slice_mut(s![.., place + start..place + end]);
                self.projection.project_into(rows, start..end, angles, scratch)?;
                for mut row in out.axis_iter_mut(Axis(0)) {
                    let row = row.as_slice_mut().expect("features are row-major");
                    if self.phases.is_empty() {
                        let (cos, sin) = row.split_at_mut(m);
                        cos_sin_into(isa, self.scale, &mut sin[start..end], &mut cos[start..end]);
                    } else {
                        cos_into(isa, self.scale, &self.phases[start..end], &mut row[start..end]);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::random::normal_columns;

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
    fn waves_with_phases_equal_the_definition() {
        let (n_inputs, m, seed) = (3, 5, 9);
        let spectrum = Spectrum::rbf(0.7).unwrap();
        let projection = DenseProjection::<f64>::independent(seed, n_inputs, m, &spectrum).unwrap();
        let map = FourierMap::over(projection, Waves::Phase, seed);
        assert_eq!((map.n_inputs(), map.n_components()), (n_inputs, m));
        let x = array![[0.3, -1.0, 2.0], [0.0, 0.0, 0.0]];
        let mut out = Array2::from_elem((2, m), f64::NAN);
        map.transform_into(x.view().into(), out.view_mut(), &mut []).unwrap();
        let v = normal_columns::<f64>(seed, Purpose::Projection, n_inputs, 0..m) * 1.4_f64.sqrt();
        let mut phases = vec![0.0; m];
        Stream::new(seed, Purpose::Phase).lane(PHASE_LANE).uniform_into(0, &mut phases);
        for ((i, j), &angle) in x.dot(&v).indexed_iter() {
            let expected = (2.0 / m as f64).sqrt() * (angle + TAU * phases[j]).cos();
            assert!((out[[i, j]] - expected).abs() < 1e-14);
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
        assert!(message(usize::MAX / 2, 4, 1.0).contains("inputs to 2 outputs"));
    }

    #[test]
    fn rows_of_another_width_are_refused() {
        let map = FourierMap::<f32>::new(3, 4, 1.0, 0).unwrap();
        let error = map.transform_into(Array2::zeros((1, 2)).view().into(), Array2::zeros((1, 4)).view_mut(), &mut []);
        assert!(matches!(error, Err(Error::Inputs { got: 2, expected: 3, .. })));
    }
}
