//! A map after a map: features made shorter by a random projection.
//!
//! φ(x) = P(ψ(x)), with ψ any map and P a random projection of its features. As P keeps inner products, the kernel is ψ's, and
//! E⟨φ(x),φ(y)⟩ = k(x,y) where ψ has no bias. The variance is that of ψ and, on top of it, that of P for the rows ψ(x) and ψ(y):
//!
//! Var⟨φ(x),φ(y)⟩ = Var⟨ψ(x),ψ(y)⟩ + E[Var of P].
//!
//! With many features of [`maclaurin`](super::MaclaurinSpec) or [`tensor_sketch`](super::TensorSketchSpec) and
//! [`srht`](super::MapSpec::Srht) this is CRAFTMaps: many features first, fewer of them behind. With [`expansion`](super::ExpansionSpec) it is the random projection that LS19 compares its methods with.
//!
//! Cost: that of both maps. Rows pass through in batches, so that the long features of few rows are there at a time.
//!
//! References: Hamid, Xiao, Gittens and DeCoste, "Compact random feature maps", ICML 2014 (CRAFTMaps).

use mercer_simd::Scalar;
use ndarray::{ArrayViewMut2, s};

use super::{FeatureMap, MapSpec};
use crate::dataset::Rows;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Values of the first map's features that are there at a time, unless one row has more.
const BATCH_VALUES: usize = 1 << 22;
/// Rows of a batch at most.
const MOST_ROWS: usize = 256;

/// A map and a projection of its features: see the module's head.
pub struct ChainMap<T> {
    first: Box<dyn FeatureMap<T>>,
    then: Box<dyn FeatureMap<T>>,
}

impl<T: Scalar> ChainMap<T> {
    pub(super) fn new(first: Box<dyn FeatureMap<T>>, then: Box<dyn FeatureMap<T>>) -> Self {
        Self { first, then }
    }

    fn rows_at_once(&self) -> usize {
        (BATCH_VALUES / self.first.n_components()).clamp(1, MOST_ROWS)
    }
}

/// The seed of the map behind one of this seed: they share no number.
pub(super) fn seed_behind(seed: u64) -> u64 {
    Stream::new(seed, Purpose::Chain).bits(0)
}

/// Refuses what is no projection.
pub(super) fn check_then(then: &MapSpec) -> Result<()> {
    match then {
        MapSpec::GaussianProjection { .. } | MapSpec::SparseProjection { .. } | MapSpec::Srht { .. } => Ok(()),
        other => Err(Error::parameter(
            "then",
            other.name(),
            "gaussian_projection, sparse_projection or srht: only they keep the kernel",
        )),
    }
}

impl<T: Scalar> FeatureMap<T> for ChainMap<T> {
    fn n_inputs(&self) -> usize {
        self.first.n_inputs()
    }

    fn n_components(&self) -> usize {
        self.then.n_components()
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        let n_rows = n_rows.min(self.rows_at_once());
        n_rows * self.first.n_components() + self.first.scratch_len(n_rows).max(self.then.scratch_len(n_rows))
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let (at_once, n) = (self.rows_at_once(), self.first.n_components());
        // No rows have a width to be checked too.
        for first in (0..rows.n_rows().max(1)).step_by(at_once) {
            let last = rows.n_rows().min(first + at_once);
            let (features, scratch) = scratch.split_at_mut((last - first) * n);
            let mut features = ArrayViewMut2::from_shape((last - first, n), features).expect("as many values");
            self.first.transform_into(rows.slice(first, last), features.view_mut(), scratch)?;
            let out = out.slice_mut(s![first..last, ..]);
            self.then.transform_into(features.view().into(), out, scratch)?;
        }
        Ok(())
    }
}
