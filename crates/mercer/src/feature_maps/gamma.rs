//! The width of a radial kernel: a number, or a rule that finds one.

use std::fmt;
use std::str::FromStr;

use ndarray::{Array2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use crate::dataset::Rows;
use crate::kernels::squared_distances_into;
use crate::{Error, Result, Scalar};

/// γ of exp(−γ‖x−y‖²), or of exp(−γ‖x−y‖₁).
///
/// | value | γ of ‖x−y‖² | γ of ‖x−y‖₁ |
/// |---|---|---|
/// | a number | itself | itself |
/// | `scale` | 1/(n_inputs · variance of all entries of X): scikit-learn's rule | 1/(n_inputs · their standard deviation) |
/// | `median` | 1/(2·median²), over the distances of a seeded sample of rows | 1/median |
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "GammaText", try_from = "GammaText")]
pub enum Gamma {
    /// By the variance.
    #[default]
    Scale,
    /// By the median distance.
    Median,
    /// As given.
    Value(f64),
}

/// The distance in a kernel that falls with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// ‖x−y‖²
    SquaredL2,
    /// ‖x−y‖₁
    L1,
}

impl Gamma {
    /// Rows sampled for [`Gamma::Median`]: half a million distances.
    pub const MEDIAN_SAMPLE: usize = 1_000;

    /// Checks a given number.
    ///
    /// # Errors
    /// [`Error::Parameter`] when it is not finite and above 0.
    pub fn validate(self) -> Result<()> {
        match self {
            Self::Value(gamma) if !(gamma > 0.0 && gamma.is_finite()) => {
                Err(Error::parameter("gamma", gamma, "a number above 0, scale or median"))
            }
            _ => Ok(()),
        }
    }

    /// The rule `scale`.
    ///
    /// # Errors
    /// When all entries are equal.
    pub fn from_variance(distance: Distance, n_inputs: usize, variance: f64) -> Result<f64> {
        let spread = if distance == Distance::L1 { variance.sqrt() } else { variance };
        finite(1.0 / (n_inputs as f64 * spread), "scale")
    }

    /// The rule `median`, over all pairs of `sample`. Cost: n² distances.
    ///
    /// # Errors
    /// When more than half of the pairs are equal rows, or there is no pair.
    pub fn from_sample<T: Scalar>(distance: Distance, sample: Rows<'_, T>) -> Result<f64> {
        let n = sample.n_rows();
        let mut all = Array2::<f64>::zeros((n, n));
        match distance {
            Distance::SquaredL2 => squared_distances_into(sample, sample, all.view_mut())?,
            Distance::L1 => absolute_distances_into(sample, all.view_mut()),
        }
        let mut pairs: Vec<f64> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|at| all[at]).collect();
        if pairs.is_empty() {
            return Err(Error::TooFewRows { context: "gamma median".to_owned(), got: n as u64, expected: 2 });
        }
        let middle = pairs.len() / 2;
        let (_, median, _) = pairs.select_nth_unstable_by(middle, f64::total_cmp);
        finite(if distance == Distance::L1 { 1.0 / *median } else { 0.5 / *median }, "median")
    }
}

/// ‖x−y‖₁ of every pair below the diagonal.
fn absolute_distances_into<T: Scalar>(sample: Rows<'_, T>, mut out: ArrayViewMut2<'_, f64>) {
    let mut x = Array2::zeros((sample.n_rows(), sample.n_inputs()));
    sample.write_dense(x.view_mut());
    for (i, mut out) in out.outer_iter_mut().enumerate() {
        for (j, out) in out.iter_mut().take(i).enumerate() {
            *out = x.row(i).iter().zip(x.row(j)).map(|(&a, &b)| (a.to_f64() - b.to_f64()).abs()).sum();
        }
    }
}

fn finite(gamma: f64, rule: &str) -> Result<f64> {
    if gamma.is_finite() && gamma > 0.0 {
        return Ok(gamma);
    }
    let got = format!("{rule}, which finds {gamma} (the rows are all alike)");
    Err(Error::parameter("gamma", got, "a number above 0: give one"))
}

impl fmt::Display for Gamma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale => f.write_str("scale"),
            Self::Median => f.write_str("median"),
            Self::Value(gamma) => gamma.fmt(f),
        }
    }
}

impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let gamma = match text {
            "scale" => Self::Scale,
            "median" => Self::Median,
            _ => Self::Value(text.parse().unwrap_or(f64::NAN)),
        };
        gamma
            .validate()
            .map(|()| gamma)
            .map_err(|_| Error::parameter("gamma", text, "a number above 0, scale or median"))
    }
}

/// The form in JSON: a number or a word.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum GammaText {
    Value(f64),
    Rule(String),
}

impl From<Gamma> for GammaText {
    fn from(gamma: Gamma) -> Self {
        match gamma {
            Gamma::Value(value) => Self::Value(value),
            rule => Self::Rule(rule.to_string()),
        }
    }
}

impl TryFrom<GammaText> for Gamma {
    type Error = Error;

    fn try_from(text: GammaText) -> Result<Self> {
        match text {
            GammaText::Value(value) => Self::Value(value).validate().map(|()| Self::Value(value)),
            GammaText::Rule(rule) => rule.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn rules_by_hand() {
        assert_eq!(Gamma::from_variance(Distance::SquaredL2, 4, 0.5).unwrap(), 0.5);
        assert_eq!(Gamma::from_variance(Distance::L1, 4, 0.25).unwrap(), 0.5);
        // Distances 1, 2, 3: the median is 2.
        let sample = array![[0.0_f32], [1.0], [3.0]];
        assert_eq!(Gamma::from_sample(Distance::SquaredL2, Rows::Dense(sample.view())).unwrap(), 0.125);
        assert_eq!(Gamma::from_sample(Distance::L1, Rows::Dense(sample.view())).unwrap(), 0.5);
    }

    #[test]
    fn rows_all_alike_are_refused() {
        assert!(Gamma::from_variance(Distance::SquaredL2, 4, 0.0).unwrap_err().to_string().contains("give one"));
        let same = array![[1.0_f64, 2.0], [1.0, 2.0], [1.0, 2.0]];
        assert!(Gamma::from_sample(Distance::SquaredL2, Rows::Dense(same.view())).is_err());
        assert!(Gamma::from_sample(Distance::SquaredL2, Rows::Dense(same.slice(ndarray::s![..1, ..]))).is_err());
    }

    #[test]
    fn text_and_json() {
        for (text, gamma) in [("scale", Gamma::Scale), ("median", Gamma::Median), ("0.5", Gamma::Value(0.5))] {
            assert_eq!(text.parse::<Gamma>().unwrap(), gamma);
            let json = serde_json::to_string(&gamma).unwrap();
            assert_eq!(serde_json::from_str::<Gamma>(&json).unwrap(), gamma);
        }
        for bad in ["wide", "-1", "0", "nan", "inf"] {
            assert!(bad.parse::<Gamma>().unwrap_err().to_string().contains(bad), "{bad}");
        }
    }
}
