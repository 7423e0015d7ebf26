//! Distance correlation: how much samples depend on each other, linearly or not.
//!
//! Of two samples x₁…xₙ and y₁…yₙ, drawn in pairs, with distances aₖₗ = ‖xₖ−xₗ‖ and bₖₗ = ‖yₖ−yₗ‖,
//!
//! ```text
//! Aₖₗ = aₖₗ − āₖ. − ā.ₗ + ā..          (rows, columns and the whole centred; B from b likewise)
//! dCov²(x,y) = Σₖₗ AₖₗBₖₗ / n²
//! dCor(x,y)  = √( dCov²(x,y) / √(dCov²(x,x)·dCov²(y,y)) ),   0 where a sample is constant
//! ```
//!
//! It is between 0 and 1. Over the population it is 0 only for independent variables, where the correlation is also 0
//! for many dependent ones; 1 says that y is x moved, turned, mirrored and scaled. Over a sample it is above 0 also for
//! independent variables: dCor² falls as 1/n only, for normal numbers as 1/(1 − √3 + π/3)/n = 3.17/n on average, which
//! makes dCor about 0.08 at n = 500. (E n·dCov² tends to E‖x−x′‖·E‖y−y′‖, theorem 5; dCov²(x,x) of a normal is
//! (4/π)·(1 − √3 + π/3), theorem 7.)
//!
//! LS19 (figures 3.2, 3.3, 4.2, 4.3) shows the matrix of it between the *columns* of 500 and 1,000 projection vectors,
//! which tells whether the entries of an implicit projection vector are independent:
//! [`distance_correlations_of_columns`]. Samples may also be the features that several methods give to the same rows:
//! [`distance_correlations`].
//!
//! Cost for n rows of c samples with d columns in all: n²·(2d + c²/2) multiply-adds; memory n·(d + 2c), never n².
//!
//! References: Székely, Rizzo and Bakirov, "Measuring and testing dependence by correlation of distances", Annals of
//! Statistics 35, 2007 (which LS19 cites); LS19 as in [`distortion`](super::distortion()).
//!
//! ```
//! use mercer::metrics::distance_correlations_of_columns;
//! use ndarray::Array2;
//!
//! // x, 3 − 2x and x²: the correlation of x and x² is 0.
//! let x = Array2::from_shape_fn((101, 3), |(i, j)| {
//!     let x = i as f64 / 50.0 - 1.0;
//!     [x, 3.0 - 2.0 * x, x * x][j]
//! });
//! let dependence = distance_correlations_of_columns(x.view())?;
//! assert!((dependence[[0, 1]] - 1.0).abs() < 1e-12);
//! assert!(dependence[[0, 2]] > 0.4);
//! # Ok::<(), mercer::Error>(())
//! ```

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use super::check_finite;
use crate::{Error, Result};

/// The distance correlations between samples of the same rows, each `n_rows` × any number of columns; samples ×
/// samples.
///
/// # Errors
/// [`Error::Targets`] when samples differ in rows, [`Error::TooFewRows`] when there are fewer than two rows,
/// [`Error::NotFinite`].
pub fn distance_correlations(samples: &[ArrayView2<'_, f64>]) -> Result<Array2<f64>> {
    let n = samples.first().map_or(0, ArrayView2::nrows);
    for (at, sample) in samples.iter().enumerate() {
        if sample.nrows() != n {
            return Err(Error::Targets(format!("sample {at} has {} rows, the first has {n}", sample.nrows())));
        }
        check_finite(*sample)?;
    }
    if n < 2 {
        return Err(Error::TooFewRows { context: "the distance correlation".into(), got: n as u64, expected: 2 });
    }
    let samples: Vec<Sample> = samples.iter().map(|&sample| Sample::new(sample)).collect();
    Ok(normalised(&covariances(&samples, n)))
}

/// The distance correlations between the columns of one sample; columns × columns.
///
/// # Errors
/// [`Error::TooFewRows`] when there are fewer than two rows, [`Error::NotFinite`].
pub fn distance_correlations_of_columns(x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
    check_finite(x)?; // the columns would be counted apart
    if x.ncols() == 0 {
        return Ok(Array2::zeros((0, 0)));
    }
    let columns: Vec<_> = x.axis_iter(Axis(1)).map(|column| column.insert_axis(Axis(1))).collect();
    distance_correlations(&columns)
}

/// A sample in units in which no distance overflows, with the means of its distances.
struct Sample {
    rows: Array2<f64>,
    /// āₖ.
    row_means: Vec<f64>,
    /// ā..
    mean: f64,
}

impl Sample {
    fn new(rows: ArrayView2<'_, f64>) -> Self {
        // A power of two, so that no digit changes.
        let largest = rows.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let unit = f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE);
        let rows = rows.mapv(|value| value / unit);
        let n = rows.nrows() as f64;
        let mean_from = |from| rows.outer_iter().map(|row| distance(from, row)).sum::<f64>() / n;
        let row_means: Vec<f64> = rows.outer_iter().map(mean_from).collect();
        let mean = row_means.iter().sum::<f64>() / n;
        Self { rows, row_means, mean }
    }

    /// Writes Aₖₗ of one k and all l.
    fn centred_into<'a>(&self, k: usize, out: impl Iterator<Item = &'a mut f64>) {
        let from = self.rows.row(k);
        for ((out, row), row_mean) in out.zip(self.rows.outer_iter()).zip(&self.row_means) {
            *out = distance(from, row) - self.row_means[k] - row_mean + self.mean;
        }
    }
}

fn distance(x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// n²·dCov² of all pairs of samples, of which the lower half is filled.
fn covariances(samples: &[Sample], n: usize) -> Array2<f64> {
    let mut sums = Array2::zeros((samples.len(), samples.len()));
    let mut centred = Array2::zeros((samples.len(), n));
    for k in 0..n {
        for (sample, mut row) in samples.iter().zip(centred.outer_iter_mut()) {
            sample.centred_into(k, row.iter_mut());
        }
        for i in 0..samples.len() {
            for j in 0..=i {
                sums[[i, j]] += centred.row(i).dot(&centred.row(j));
            }
        }
    }
    sums
}

/// dCor from the lower half of dCov². Rounding may take it out of 0 … 1, where it is put back.
fn normalised(sums: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn(sums.dim(), |(i, j)| {
        let scale = (sums[[i, i]] * sums[[j, j]]).sqrt();
        match scale > 0.0 {
            true => (sums[[i.max(j), i.min(j)]] / scale).clamp(0.0, 1.0).sqrt(),
            false => 0.0,
        }
    })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    /// x = (0, 1, 3), y = (0, 0, 1): A = (−4 0 4; 0 −2 2; 4 2 −6)/3, B = (−2 −2 4; −2 −2 4; 4 4 −8)/9, so that
    /// ΣA² = 32/3, ΣAB = 4, ΣB² = 16/9 and dCor⁴ = 16/(512/27) = 27/32.
    #[test]
    fn three_rows_by_hand() {
        let r = distance_correlations_of_columns(array![[0.0, 0.0], [1.0, 0.0], [3.0, 1.0]].view()).unwrap();
        let expected = (27.0_f64 / 32.0).powf(0.25);
        assert!((r[[0, 1]] - expected).abs() < 1e-15, "{r}");
        assert_eq!((r[[1, 0]], r[[0, 0]], r[[1, 1]]), (r[[0, 1]], 1.0, 1.0));
    }

    /// Distances of (0, 0), (3, 4), (0, 8) are 5, 8, 5: those of 0, 5 and −3 but for one.
    #[test]
    fn rows_of_several_columns_have_euclidean_distances() {
        let sample = Sample::new(array![[0.0, 0.0], [3.0, 4.0], [0.0, 8.0]].view());
        let sums = [13.0, 10.0, 13.0].map(|sum| sum / 3.0 / 8.0); // in units of 8
        assert_eq!(sample.row_means, sums);
    }

    #[test]
    fn units_and_places_do_not_matter() {
        let (x, y) = (array![[0.1], [0.4], [0.9], [0.2]], array![[3.0], [1.0], [4.0], [1.5]]);
        let expected = distance_correlations(&[x.view(), y.view()]).unwrap()[[0, 1]];
        for (factor, shift) in [(1e307, 0.0), (1e-320, 0.0), (-3.0, 1e3)] {
            let moved = y.mapv(|value| value * factor + shift);
            let got = distance_correlations(&[x.view(), moved.view()]).unwrap()[[0, 1]];
            let tolerance = if factor == 1e-320 { 1e-3 } else { 1e-12 }; // three digits are left there
            assert!((got - expected).abs() < tolerance, "{factor}: {got} for {expected}");
        }
    }

    #[test]
    fn a_constant_depends_on_nothing() {
        let r = distance_correlations_of_columns(array![[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]].view()).unwrap();
        assert_eq!(r, array![[0.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn rejects_what_it_cannot_compare() {
        let (one, two) = (array![[1.0]], array![[1.0], [2.0]]);
        assert!(matches!(distance_correlations(&[]), Err(Error::TooFewRows { got: 0, .. })));
        assert!(matches!(distance_correlations(&[one.view()]), Err(Error::TooFewRows { got: 1, expected: 2, .. })));
        assert!(matches!(distance_correlations(&[two.view(), one.view()]), Err(Error::Targets(_))));
        let bad = array![[1.0, 2.0], [1.0, f64::NAN]];
        assert!(matches!(distance_correlations_of_columns(bad.view()), Err(Error::NotFinite { row: 1, input: 1, .. })));
        assert!(distance_correlations_of_columns(Array2::zeros((3, 0)).view()).unwrap().is_empty());
    }
}
