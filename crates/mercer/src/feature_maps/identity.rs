//! The inputs themselves: a linear model of the scaled rows, and a map of the linear kernel without any error.
//!
//! φ(x) = x. Sparse rows stay sparse all the way to the learner ([`FeatureMap::keeps_rows`]); asked for dense features,
//! the map writes them out.

use mercer_simd::Scalar;
use ndarray::ArrayViewMut2;

use super::FeatureMap;
use crate::dataset::Rows;
use crate::{Error, Result};

/// φ(x) = x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityMap {
    n_inputs: usize,
}

impl IdentityMap {
    /// Of rows of `n_inputs` values.
    pub fn new(n_inputs: usize) -> Self {
        Self { n_inputs }
    }
}

impl<T: Scalar> FeatureMap<T> for IdentityMap {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_components(&self) -> usize {
        self.n_inputs
    }

    fn scratch_len(&self, _n_rows: usize) -> usize {
        0
    }

    fn transform_into(&self, rows: Rows<'_, T>, out: ArrayViewMut2<'_, T>, _scratch: &mut [T]) -> Result<()> {
        if rows.n_inputs() != self.n_inputs {
            let (got, expected) = (rows.n_inputs(), self.n_inputs);
            return Err(Error::Inputs { context: "identity map".to_owned(), got, expected });
        }
        rows.write_dense(out);
        Ok(())
    }

    fn keeps_rows(&self) -> bool {
        true
    }
}
