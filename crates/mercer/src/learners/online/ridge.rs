//! Ridge regression of rows as they come.
//!
//! The objective of [`RidgeStatistics`], from its sums: n·D² flops for n rows, D³/3 for a model; memory 4·D² bytes,
//! twice that while a model is solved. How rows fall into batches changes no more than the rounding of the sums, and a
//! merge adds them.

use mercer_simd::Scalar;
use ndarray::{ArrayView1, ArrayView2, Axis};

use super::check;
use crate::dataset::{Rows, SUM_ROWS};
use crate::learners::{Lambda, LinearModel, RidgeStatistics};
use crate::room::check_room;
use crate::{Error, Result};

/// The sums of the rows so far, and λ.
#[derive(Clone, Debug)]
pub struct OnlineRidge {
    sums: RidgeStatistics,
    shape: (usize, usize),
    lambda: f64,
}

impl OnlineRidge {
    /// Of no rows yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] when λ is not finite and above 0.
    pub fn new(lambda: f64, n_components: usize, n_outputs: usize) -> Result<Self> {
        Lambda::Value(lambda).validate()?;
        // A triangle, and its factor when the model is asked for.
        let bytes = (n_components as u128).saturating_mul(n_components as u128).saturating_mul(8);
        check_room(bytes, || format!("sums of {n_components} features"))?;
        Ok(Self { sums: RidgeStatistics::new(n_components, n_outputs), shape: (n_components, n_outputs), lambda })
    }

    /// Adds rows with their targets (rows × outputs); on an error nothing was added. The threads of the current pool
    /// share the sums; their number changes no bit.
    ///
    /// # Errors
    /// Shapes that do not fit, values that are not finite or whose products would not be, and weights, which the sums
    /// do not have.
    pub fn partial_fit<T: Scalar>(
        &mut self,
        rows: Rows<'_, T>,
        targets: ArrayView2<'_, T>,
        weights: Option<ArrayView1<'_, T>>,
    ) -> Result<()> {
        if weights.is_some() {
            return Err(Error::parameter("weights", "given", "left out for sums of ridge; use sgd for weighted rows"));
        }
        check(rows, targets, self.shape)?;
        let features = rows.to_dense();
        let largest = T::max_value().to_f64() / SUM_ROWS as f64;
        let squares = |row: ArrayView1<'_, T>| row.iter().map(|&x| x.to_f64() * x.to_f64()).sum::<f64>();
        let too_large = |(x, y): (ArrayView1<'_, T>, ArrayView1<'_, T>)| squares(x).max(squares(y)) > largest;
        if let Some(row) = features.outer_iter().zip(targets.outer_iter()).position(too_large) {
            return Err(Error::TooLarge { row: row as u64, dtype: T::DTYPE });
        }
        // As many at once as are summed in T.
        for (features, targets) in
            features.axis_chunks_iter(Axis(0), SUM_ROWS).zip(targets.axis_chunks_iter(Axis(0), SUM_ROWS))
        {
            self.sums.add(features, targets);
        }
        Ok(())
    }

    /// Adds the rows of another learner.
    ///
    /// # Errors
    /// [`Error::Parameter`] when λ or the sizes differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.shape != other.shape || self.lambda != other.lambda {
            let got = format!("ridge of {:?} weights with lambda {}", other.shape, other.lambda);
            return Err(Error::parameter("merge", got, "a learner of the same parameters and sizes"));
        }
        self.sums.merge(&other.sums);
        Ok(())
    }

    /// The minimum for the rows so far.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] before the first row, [`Error::NotPositiveDefinite`] when λ is too small for the rounding
    /// of the sums.
    pub fn model<T: Scalar>(&self) -> Result<LinearModel<T>> {
        self.sums.clone().into_system()?.into_solution(self.lambda)
    }

    /// Rows added.
    pub fn n_rows(&self) -> u64 {
        self.sums.n_rows()
    }
}
