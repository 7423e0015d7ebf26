//! Centring in feature space: the Gram matrix of φ(x) − mean φ, from that of φ(x).
//!
//! ```text
//! k̃(x, xⱼ) = k(x, xⱼ) − meanᵢ k(xᵢ, xⱼ) − meanⱼ k(x, xⱼ) + meanᵢⱼ k(xᵢ, xⱼ)
//! ```
//!
//! over n training rows; of the training Gram matrix itself this is HKH with H = I − 11ᵀ/n. scikit-learn calls it
//! `KernelCenterer`. What is fitted are n column means and their mean.
//!
//! It streams: [`GramSums`] takes the training Gram matrix in blocks of rows, in order, and [`GramCentring::apply_in_place`]
//! works row by row. The n × n matrix need never be whole, and how it is cut changes no bit. Sums are kept in f64.
//!
//! Cost: two passes over the Gram matrix. Reference: Schölkopf, Smola and Müller, "Nonlinear component analysis as a kernel
//! eigenvalue problem", Neural Computation 10, 1998, appendix A.
//!
//! ```
//! use mercer::kernels::{GramCentring, centre_in_place};
//! use ndarray::array;
//!
//! let mut gram = array![[1.0, 2.0], [2.0, 4.0]]; // of x = 1 and x = 2, linear
//! let centring = centre_in_place(gram.view_mut())?;
//! assert_eq!(gram, array![[0.25, -0.25], [-0.25, 0.25]]); // of x = ±½
//! let mut test = array![[3.0, 6.0]]; // x = 3 is 1.5 from the mean
//! centring.apply_in_place(test.view_mut())?;
//! assert_eq!(test, array![[-0.75, 0.75]]);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::Scalar;
use ndarray::{ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Centres a square training Gram matrix, K ↦ HKH, and keeps the means for rows to come.
///
/// # Errors
/// [`Error::Parameter`] when it is not square, [`Error::TooFewRows`] when it is empty.
pub fn centre_in_place<T: Scalar>(gram: ArrayViewMut2<'_, T>) -> Result<GramCentring> {
    let centring = GramCentring::fit(gram.view())?;
    centring.apply_in_place(gram)?;
    Ok(centring)
}

/// The means of a training Gram matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GramCentring {
    /// of each training row
    column_means: Vec<f64>,
    /// of all
    mean: f64,
}

impl GramCentring {
    /// The means of a square training Gram matrix.
    ///
    /// # Errors
    /// As [`centre_in_place`].
    pub fn fit<T: Scalar>(gram: ArrayView2<'_, T>) -> Result<Self> {
        let mut sums = GramSums::new(gram.ncols());
        sums.add(gram)?;
        sums.finish()
    }

    /// Centres rows k(x, xⱼ) of any x with the training rows, in place.
    ///
    /// # Errors
    /// [`Error::Inputs`] when there is not a column for each training row.
    pub fn apply_in_place<T: Scalar>(&self, mut gram: ArrayViewMut2<'_, T>) -> Result<()> {
        check_columns(gram.ncols(), self.column_means.len())?;
        let n = self.column_means.len() as f64;
        for mut row in gram.outer_iter_mut() {
            let shift = self.mean - row.iter().map(|&value| value.to_f64()).sum::<f64>() / n;
            for (value, mean) in row.iter_mut().zip(&self.column_means) {
                *value = T::from_f64(value.to_f64() - mean + shift);
            }
        }
        Ok(())
    }

    /// Number of training rows.
    pub fn n_rows(&self) -> usize {
        self.column_means.len()
    }
}

/// The sums of a training Gram matrix, taken in blocks of its rows.
#[derive(Clone, Debug)]
pub struct GramSums {
    columns: Vec<f64>,
    n_rows: usize,
}

impl GramSums {
    /// Of no rows yet, for a matrix of n × n.
    pub fn new(n: usize) -> Self {
        Self { columns: vec![0.0; n], n_rows: 0 }
    }

    /// Adds the next rows, with all their columns.
    ///
    /// # Errors
    /// [`Error::Inputs`] when there is not a column for each training row; nothing is added then.
    pub fn add<T: Scalar>(&mut self, rows: ArrayView2<'_, T>) -> Result<()> {
        check_columns(rows.ncols(), self.columns.len())?;
        for row in rows.outer_iter() {
            self.columns.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value.to_f64());
        }
        self.n_rows += rows.nrows();
        Ok(())
    }

    /// The means, once all rows were added.
    ///
    /// # Errors
    /// [`Error::Parameter`] when there were not as many rows as columns, [`Error::TooFewRows`] when there were none.
    pub fn finish(self) -> Result<GramCentring> {
        let n = self.columns.len();
        if self.n_rows != n {
            return Err(Error::parameter("gram", format!("{} × {n}", self.n_rows), "square"));
        }
        if n == 0 {
            return Err(Error::TooFewRows { context: "the Gram matrix".into(), got: 0, expected: 1 });
        }
        let column_means: Vec<f64> = self.columns.into_iter().map(|sum| sum / n as f64).collect();
        let mean = column_means.iter().sum::<f64>() / n as f64;
        Ok(GramCentring { column_means, mean })
    }
}

fn check_columns(got: usize, expected: usize) -> Result<()> {
    if got == expected {
        Ok(())
    } else {
        Err(Error::Inputs { context: "centring a Gram matrix".into(), got, expected })
    }
}
