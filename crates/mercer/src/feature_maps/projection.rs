//! Random projections: fewer coordinates that keep inner products and distances of the inputs themselves.
//!
//! φ(x) = xV with k = n_components columns whose entries have mean 0 and variance 1/k, so that
//!
//! E⟨φ(x), φ(y)⟩ = ⟨x, y⟩: these are maps of the linear kernel.
//!
//! | map | entries of V | variance of ⟨φ(x), φ(y)⟩ |
//! |---|---|---|
//! | `gaussian_projection` | N(0, 1/k) | (‖x‖²‖y‖² + ⟨x,y⟩²)/k |
//! | `sparse_projection` | ±√(s/k) with probability 1/(2s) each, else 0 | (‖x‖²‖y‖² + ⟨x,y⟩² + (s−3)·Σxᵢ²yᵢ²)/k |
//!
//! | `srht` | ±1/√k: rows of a signed Hadamard matrix, chosen without replacement | (‖x‖²‖y‖² + ⟨x,y⟩² − 2Σxᵢ²yᵢ²)·(k′/k²)·(p−k′)/(p−1) |
//!
//! The first two variances follow from the fourth moments of the entries, 3 and s times their squared variance. For the
//! third, p is the next power of two from d on, and k′ the number of rows chosen of the last transform, 1 to p, all others
//! being whole: a whole transform has no error, and a sample without replacement has the error of one with, times
//! (p−k′)/(p−1).
//!
//! Cost of a row: 2·d·k flops at the speed of a matrix product, d·k/s additions, or k·log d additions. Use them to make wide rows short
//! before a costlier step; s = 3 is Achlioptas' law, s = √d Li's.
//!
//! References: Johnson and Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert space", 1984; Achlioptas,
//! "Database-friendly random projections", JCSS 2003; Li, Hastie and Church, "Very sparse random projections", KDD 2006.
//!
//! ```
//! use mercer::feature_maps::{FeatureMap, ProjectionMap};
//! use ndarray::{Array2, array};
//!
//! let map = ProjectionMap::<f64, _>::gaussian(3, 2_000, 0)?;
//! let mut features = Array2::zeros((2, 2_000));
//! map.transform_into(array![[1.0, 0.0, 0.0], [1.0, 2.0, 0.0]].view().into(), features.view_mut(), &mut [])?;
//! assert!((features.row(0).dot(&features.row(1)) - 1.0).abs() < 0.25);
//! # Ok::<(), mercer::Error>(())
//! ```

use std::marker::PhantomData;

use mercer_simd::Scalar;
use ndarray::{ArrayViewMut2, s};

use super::FeatureMap;
use crate::dataset::Rows;
use crate::projections::{DenseProjection, HadamardProjection, Projection, sparse_signs};
use crate::{Error, Result};

/// A random projection: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | number of coordinates | at least 1 |
/// | `s` | 3 | of the sparse law: one entry in s is not zero | at least 1 |
/// | `seed` | 0 | names the draw of V | any |
#[derive(Clone, Debug)]
pub struct ProjectionMap<T, P> {
    projection: P,
    phantom: PhantomData<T>,
}

/// Refuses a map without components.
pub(super) fn check_n_components(n_components: usize) -> Result<()> {
    if n_components == 0 { Err(Error::parameter("n_components", 0, "at least 1")) } else { Ok(()) }
}

impl<T: Scalar> ProjectionMap<T, DenseProjection<T>> {
    /// Draws V of normal entries.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range.
    pub fn gaussian(n_inputs: usize, n_components: usize, seed: u64) -> Result<Self> {
        check_n_components(n_components)?;
        let deviation = (1.0 / n_components as f64).sqrt();
        let projection = DenseProjection::gaussian(seed, n_inputs, n_components, deviation)?;
        Ok(Self { projection, phantom: PhantomData })
    }
}

impl<T: Scalar> ProjectionMap<T, Box<dyn Projection<T>>> {
    /// Draws V of few entries, all of one size.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range.
    pub fn sparse(n_inputs: usize, n_components: usize, s: f64, seed: u64) -> Result<Self> {
        check_n_components(n_components)?;
        let factor = (1.0 / n_components as f64).sqrt();
        let projection = sparse_signs(seed, n_inputs, 0..n_components, s, factor)?;
        Ok(Self { projection, phantom: PhantomData })
    }
}

impl<T: Scalar> ProjectionMap<T, HadamardProjection<T>> {
    /// Draws the signs of a transform, and which of its coordinates are kept.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range.
    pub fn srht(n_inputs: usize, n_components: usize, seed: u64) -> Result<Self> {
        check_n_components(n_components)?;
        let projection = HadamardProjection::srht(seed, n_inputs, n_components)?;
        Ok(Self { projection, phantom: PhantomData })
    }
}

impl<T: Scalar, P: Projection<T>> FeatureMap<T> for ProjectionMap<T, P> {
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
        for start in (0..self.n_components()).step_by(self.projection.tile()) {
            let columns = start..self.n_components().min(start + self.projection.tile());
            let out = out.slice_mut(s![.., columns.clone()]);
            self.projection.project_into(rows, columns, out, scratch)?;
        }
        Ok(())
    }
}
