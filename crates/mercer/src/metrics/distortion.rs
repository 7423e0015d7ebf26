//! How far a feature map moves the distances of a kernel's feature space (LS19 eq. 3.14, 4.18).
//!
//! For features z(x) of a kernel k with feature space φ,
//!
//! ```text
//! distortion(x,y) = | ‖z(x)−z(y)‖² − ‖φ(x)−φ(y)‖² | / ‖φ(x)−φ(y)‖²,   ‖φ(x)−φ(y)‖² = k(x,x) + k(y,y) − 2k(x,y)
//! ```
//!
//! averaged over all pairs i < j, as LS19 does. Pairs that the feature space does not tell apart (distance 0: equal
//! rows, for most kernels) have no distortion; they are skipped and counted. The deviations of LS19's tables are over
//! ten runs of the mean, which [`Moments`] gives; that of [`DistanceDistortion`] is over the pairs of one run.
//!
//! [`distortion`] takes rows and features, [`distance_distortion`] two matrices of distances; both visit the pairs in
//! the same order and give the same bits. Cost for n rows: n²·(d + D)/2 multiply-adds; [`distortion`] keeps the
//! distances of 256 rows to those after them, never n².
//!
//! Reference: LS19, D. López Sánchez, *Low Computational Cost Machine Learning: Random Projections and Polynomial
//! Kernels*, doctoral thesis, University of Salamanca 2019.
//!
//! ```
//! use mercer::kernels::Kernel;
//! use mercer::metrics::distortion;
//! use ndarray::array;
//!
//! let x = array![[1.0, 2.0], [3.0, 0.0], [0.0, 1.0]];
//! let halved = x.mapv(|value| value / 2.0); // a quarter of every squared distance is left
//! assert_eq!(distortion(Kernel::Linear, x.view().into(), halved.view())?.mean, 0.75);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::{Dtype, Scalar};
use ndarray::{Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};

use super::{Moments, check_same_shape};
use crate::dataset::Rows;
use crate::kernels::{Kernel, squared_distances_into};
use crate::{Error, Result};

/// Rows whose distances to all after them are kept at a time.
const BLOCK_ROWS: usize = 256;

/// The distortion of squared distances over pairs of rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistanceDistortion {
    /// Average over the pairs: 0.12 says that a squared distance grows or shrinks by 12 % on average.
    pub mean: f64,
    /// Standard deviation over the pairs (not over runs), with the divisor `n_pairs`.
    pub standard_deviation: f64,
    /// Pairs that were averaged.
    pub n_pairs: u64,
    /// Pairs of exact distance 0, left out.
    pub n_skipped: u64,
}

/// The distortion of the features (`n_rows` × D) of a sample of rows, over the pairs i < j of exact distance above 0.
///
/// # Errors
/// [`Error::Parameter`] for a kernel outside its ranges, [`Error::Targets`] when there is not one row of features for
/// each row, [`Error::TooFewRows`] when no two rows are apart in feature space, [`Error::NotFinite`] for features that
/// are not finite, [`Error::TooLarge`] for distances that are not, and what [`Kernel::gram_into`] refuses.
pub fn distortion<T: Scalar>(
    kernel: Kernel,
    rows: Rows<'_, T>,
    features: ArrayView2<'_, T>,
) -> Result<DistanceDistortion> {
    let n = rows.n_rows();
    if features.nrows() != n {
        return Err(Error::Targets(format!("{} rows of features for {n} rows", features.nrows())));
    }
    check_features(features)?;
    kernel.diagonal(rows)?; // values that the kernel does not take are found here, by the number of their row
    let mut pairs = Pairs::default();
    for start in (0..n).step_by(BLOCK_ROWS) {
        let end = n.min(start + BLOCK_ROWS);
        let (mut exact, mut approximate) =
            (Array2::zeros((end - start, n - start)), Array2::zeros((end - start, n - start)));
        kernel.squared_distances_into(rows.slice(start, end), rows.slice(start, n), exact.view_mut())?;
        let (of_block, to) = (features.slice(s![start..end, ..]), features.slice(s![start.., ..]));
        squared_distances_into(of_block.into(), to.into(), approximate.view_mut())?;
        pairs.add_above_diagonal(start, exact.view(), approximate.view())?;
    }
    pairs.report(n)
}

/// The distortion of squared distances, both n × n, over the pairs i < j of exact distance above 0.
///
/// Exact distances come from [`Kernel::squared_distances_into`], approximate ones from [`squared_distances_into`] of
/// the features.
///
/// # Errors
/// [`Error::Targets`] when the matrices are not square or differ in shape, [`Error::TooFewRows`] when there are no such
/// pairs, [`Error::NotFinite`] for distances that are not finite, [`Error::TooLarge`] for a distortion that is not.
pub fn distance_distortion(exact: ArrayView2<'_, f64>, approximate: ArrayView2<'_, f64>) -> Result<DistanceDistortion> {
    check_same_shape(exact, approximate)?;
    if !exact.is_square() {
        return Err(Error::Targets(format!("distances of {} × {} rows are not square", exact.nrows(), exact.ncols())));
    }
    let mut pairs = Pairs::default();
    pairs.add_above_diagonal(0, exact, approximate)?;
    pairs.report(exact.nrows())
}

fn check_features<T: Scalar>(features: ArrayView2<'_, T>) -> Result<()> {
    match features.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some(((row, input), &value)) => Err(Error::NotFinite { row: row as u64, input, value: Scalar::to_f64(value) }),
    }
}

/// The distortions of the pairs seen so far.
#[derive(Default)]
struct Pairs {
    distortions: Moments,
    n_skipped: u64,
}

impl Pairs {
    /// Adds the pairs of rows i = `start`, `start` + 1, … with rows j > i, whose columns are counted from `start` too.
    fn add_above_diagonal(
        &mut self,
        start: usize,
        exact: ArrayView2<'_, f64>,
        approximate: ArrayView2<'_, f64>,
    ) -> Result<()> {
        for (i, (exact, approximate)) in exact.outer_iter().zip(approximate.outer_iter()).enumerate() {
            for (&exact, &approximate) in exact.iter().zip(approximate).skip(i + 1) {
                if exact <= 0.0 {
                    self.n_skipped += 1;
                    continue;
                }
                let too_large = |_| Error::TooLarge { row: (start + i) as u64, dtype: Dtype::Float64 };
                self.distortions.add((approximate - exact).abs() / exact).map_err(too_large)?;
            }
        }
        Ok(())
    }

    fn report(&self, n_rows: usize) -> Result<DistanceDistortion> {
        let Ok(mean) = self.distortions.mean() else {
            let context = "the distance distortion, of rows that the kernel tells apart,".into();
            return Err(Error::TooFewRows { context, got: n_rows.min(1) as u64, expected: 2 });
        };
        Ok(DistanceDistortion {
            mean,
            standard_deviation: self.distortions.deviation_of_all(),
            n_pairs: self.distortions.n(),
            n_skipped: self.n_skipped,
        })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    /// Pairs (0,1), (0,2), (1,2) with distortions 0.5 and 0.1, and one of distance 0.
    #[test]
    fn distortion_by_hand() {
        let exact = array![[0.0, 2.0, 10.0], [2.0, 0.0, 0.0], [10.0, 0.0, 0.0]];
        let approximate = array![[9.0, 3.0, 9.0], [9.0, 9.0, 1.0], [9.0, 9.0, 9.0]];
        let distortion = distance_distortion(exact.view(), approximate.view()).unwrap();
        assert!((distortion.mean - 0.3).abs() < 1e-15);
        assert!((distortion.standard_deviation - 0.2).abs() < 1e-15);
        assert_eq!((distortion.n_pairs, distortion.n_skipped), (2, 1));
    }

    #[test]
    fn rejects_what_it_cannot_compare() {
        let (x, one, equal) = (array![[1.0], [2.0]], array![[1.0]], array![[1.0], [1.0]]);
        let of = |x: &Array2<f64>, z: &Array2<f64>| distortion(Kernel::Linear, x.view().into(), z.view());
        assert!(matches!(of(&x, &one), Err(Error::Targets(_))));
        assert!(matches!(of(&one, &one), Err(Error::TooFewRows { got: 1, expected: 2, .. })));
        assert!(matches!(of(&equal, &equal), Err(Error::TooFewRows { .. })));
        assert!(matches!(of(&Array2::zeros((0, 1)), &Array2::zeros((0, 1))), Err(Error::TooFewRows { got: 0, .. })));
        assert!(matches!(of(&x, &array![[1.0], [f64::NAN]]), Err(Error::NotFinite { row: 1, input: 0, .. })));
        assert!(matches!(of(&x, &array![[1.0], [1e200]]), Err(Error::TooLarge { row: 0, .. })));
        let result = distortion(Kernel::Rbf { gamma: 0.0 }, x.view().into(), x.view());
        assert!(matches!(result, Err(Error::Parameter { name: "gamma", .. })));
        assert!(matches!(distance_distortion(x.view(), x.view()), Err(Error::Targets(_))));
        assert!(matches!(distance_distortion(x.view(), one.view()), Err(Error::Targets(_))));
    }
}
