//! Kernels of the inner product that are series of its powers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::formula::Formula;
use super::polynomial::distance;
use super::readings::Reading;
use crate::{Error, Result};

/// Coefficients of a series at most, those of the powers 0 to 16: as many as a kernel may hold that is copied freely.
const MAX_COEFFICIENTS: usize = 17;

/// Coefficients a₀, a₁, … of a series Σ aₙzⁿ: finite, none below 0, and one behind the first above 0, as a constant tells rows
/// apart by nothing.
///
/// None below 0 is what makes Σ aₙ(γ⟨x,y⟩)ⁿ positive semi-definite in every number of inputs (Schoenberg). Zeros behind the last power
/// are no part of it.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct PowerSeries {
    /// Zero behind the last: an array, so that kernels can be copied.
    padded: [f64; MAX_COEFFICIENTS],
}

impl PowerSeries {
    /// Of a₀, a₁, …, 17 at most.
    ///
    /// # Errors
    /// [`Error::Parameter`] where they are no series.
    pub fn new(coefficients: &[f64]) -> Result<Self> {
        let refuse = |got: String, expected| Err(Error::parameter("coefficients", got, expected));
        if let Some(wrong) = coefficients.iter().find(|a| !(**a >= 0.0 && a.is_finite())) {
            return refuse(wrong.to_string(), "finite and at least 0, each of them");
        }
        if coefficients.len() > MAX_COEFFICIENTS {
            return refuse(format!("a list of {}", coefficients.len()), "17 numbers at most: of the powers 0 to 16");
        }
        if !coefficients.iter().skip(1).any(|a| *a > 0.0) {
            return refuse(format!("{coefficients:?}"), "above 0 for a power of 1 or more");
        }
        let mut padded = [0.0; MAX_COEFFICIENTS];
        // A zero has no sign here, so that equal series are the same bits.
        padded.iter_mut().zip(coefficients).for_each(|(to, &a)| *to = a + 0.0);
        Ok(Self { padded })
    }

    /// a₀ to that of the last power.
    pub fn coefficients(&self) -> &[f64] {
        let behind = self.padded.iter().rev().take_while(|a| **a == 0.0).count();
        &self.padded[..MAX_COEFFICIENTS - behind]
    }

    /// Σ aₙzⁿ, by Horner's rule.
    fn at(&self, z: f64) -> f64 {
        self.coefficients().iter().rev().fold(0.0, |sum: f64, &a| sum.mul_add(z, a))
    }
}

impl fmt::Debug for PowerSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.coefficients().fmt(f)
    }
}

impl TryFrom<Vec<f64>> for PowerSeries {
    type Error = Error;

    fn try_from(coefficients: Vec<f64>) -> Result<Self> {
        Self::new(&coefficients)
    }
}

impl From<PowerSeries> for Vec<f64> {
    fn from(series: PowerSeries) -> Self {
        series.coefficients().to_vec()
    }
}

/// Σ aₙ(γ⟨x,y⟩)ⁿ
pub(super) struct SeriesOfProduct {
    pub(super) series: PowerSeries,
    pub(super) gamma: f64,
}

impl Formula for SeriesOfProduct {
    fn reading(&self) -> Reading {
        Reading::Product
    }

    fn kernel(&self, product: f64, _: f64, _: f64) -> f64 {
        self.series.at(self.gamma * product)
    }

    fn distance(&self, product: f64, x: f64, y: f64) -> f64 {
        let of_product = |product: f64| self.series.at(self.gamma * product);
        distance(of_product(x), of_product(y), of_product(product))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let series = PowerSeries::new(&[0.5, 0.0, 3.0, 2.0, 0.0]).unwrap();
        assert_eq!(series.coefficients(), [0.5, 0.0, 3.0, 2.0]);
        assert_eq!([0.0, 2.0, -1.0].map(|z| series.at(z)), [0.5, 28.5, 1.5]);
        assert_eq!(series, PowerSeries::new(&[0.5, -0.0, 3.0, 2.0]).unwrap());
        PowerSeries::new(&[1.0; 17]).unwrap();
    }

    #[test]
    fn what_is_no_series_is_refused() {
        for (coefficients, text) in [
            (vec![1.0, -0.5], "coefficients is -0.5, must be finite and at least 0"),
            (vec![1.0, f64::NAN], "coefficients is NaN"),
            (vec![f64::INFINITY, 1.0], "coefficients is inf"),
            (vec![1.0; 18], "coefficients is a list of 18, must be 17 numbers at most"),
            (vec![2.0, 0.0], "coefficients is [2.0, 0.0], must be above 0 for a power of 1 or more"),
            (vec![], "coefficients is []"),
        ] {
            let error = PowerSeries::new(&coefficients).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn files_hold_a_list() {
        let series = PowerSeries::new(&[0.25, 1.0]).unwrap();
        assert_eq!(serde_json::to_string(&series).unwrap(), "[0.25,1.0]");
        assert_eq!(serde_json::from_str::<PowerSeries>("[0.25,1]").unwrap(), series);
        assert!(serde_json::from_str::<PowerSeries>("[0.25,-1]").unwrap_err().to_string().contains("at least 0"));
    }
}
