//! The fitted linear model that every learner ends in.

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2};

use crate::dataset::Rows;
use crate::feature_maps::Factored;
use crate::pivoted::times_transposed;
use crate::{Error, Result};

/// scores = features · weights + intercept.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel<T> {
    weights: Array2<T>,
    intercept: Vec<T>,
}

impl<T: Scalar> LinearModel<T> {
    /// A model of `weights` (n_components × n_outputs) and one intercept for each output.
    ///
    /// # Errors
    /// Shapes that do not fit, or numbers that are not finite.
    pub fn new(weights: Array2<T>, intercept: Vec<T>) -> Result<Self> {
        if weights.ncols() != intercept.len() || intercept.is_empty() {
            let text = format!("{} columns of weights, {} intercepts", weights.ncols(), intercept.len());
            return Err(Error::Model(text));
        }
        if !weights.iter().chain(&intercept).all(|x| x.is_finite()) {
            return Err(Error::Model("weights that are not finite; use a larger lambda".to_owned()));
        }
        Ok(Self { weights: weights.as_standard_layout().into_owned(), intercept })
    }

    /// The model whose scores are larger by `shift`.
    ///
    /// # Errors
    /// As [`LinearModel::new`].
    pub fn shifted(self, shift: &[f64]) -> Result<Self> {
        let intercept = self.intercept.iter().zip(shift).map(|(&b, shift)| T::from_f64(b.to_f64() + shift)).collect();
        Self::new(self.weights, intercept)
    }

    /// The model whose scores are larger by these factors, one for each output.
    ///
    /// # Errors
    /// As [`LinearModel::new`].
    pub fn scaled(mut self, factors: &[T]) -> Result<Self> {
        for (mut column, &factor) in self.weights.columns_mut().into_iter().zip(factors) {
            column.mapv_inplace(|w| w * factor);
        }
        let intercept = self.intercept.iter().zip(factors).map(|(&b, &factor)| b * factor).collect();
        Self::new(self.weights, intercept)
    }

    /// The model of ψ(x) that scores as this one does of ψ(x)·W + b; by the threads of the current pool.
    ///
    /// # Errors
    /// As [`LinearModel::new`].
    pub(crate) fn behind(&self, factored: Factored<'_, T>) -> Result<Self> {
        let Factored { then: w, is_upper, offset, .. } = factored;
        let by_output = self.weights.t().mapv(Scalar::to_f64).as_standard_layout().into_owned();
        let folded = if is_upper {
            times_transposed(&by_output, w)
        } else {
            let mut folded = Array2::zeros((by_output.nrows(), w.nrows()));
            let transposed = w.t().mapv(Scalar::to_f64).as_standard_layout().into_owned();
            matmul_into(by_output.view(), transposed.view(), folded.view_mut(), Update::Set);
            folded
        };
        let added =
            |weights: ArrayView1<'_, f64>| weights.iter().zip(offset).map(|(w, &b)| w * Scalar::to_f64(b)).sum::<f64>();
        let shift: Vec<f64> = by_output.outer_iter().map(added).collect();
        Self::new(folded.t().mapv(T::from_f64), self.intercept.clone())?.shifted(&shift)
    }

    /// n_components × n_outputs
    pub fn weights(&self) -> ArrayView2<'_, T> {
        self.weights.view()
    }

    /// One for each output.
    pub fn intercept(&self) -> &[T] {
        &self.intercept
    }

    /// Number of scores of a row.
    pub fn n_outputs(&self) -> usize {
        self.intercept.len()
    }

    /// Writes the scores of some rows of features: the same bits whatever rows are scored together.
    ///
    /// # Panics
    /// When the shapes do not fit: a fault of the calling code.
    pub fn scores_into(&self, features: Rows<'_, T>, mut scores: ArrayViewMut2<'_, T>) {
        features.product_into(self.weights.view(), scores.view_mut());
        for mut row in scores.outer_iter_mut() {
            row.iter_mut().zip(&self.intercept).for_each(|(score, &intercept)| *score = *score + intercept);
        }
    }
}
