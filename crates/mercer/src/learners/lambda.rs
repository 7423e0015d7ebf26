//! The weight of the penalty.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What λ and C may be.
const RANGE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// λ: the weight of the penalty, relative to the mean loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "LambdaText", try_from = "LambdaText")]
pub enum Lambda {
    /// The best of [`Lambda::CANDIDATES`] on rows held out.
    #[default]
    Auto,
    /// As given.
    Value(f64),
    /// 1/(2·n·C): n rows that each cost C times their loss, beside half the squared length of the weights. So support
    /// vector machines are spoken of.
    OfC(f64),
}

impl Lambda {
    /// What [`Lambda::Auto`] tries, largest first. Features of length 1 in D dimensions have a mean eigenvalue of
    /// 1/D; below 1e-8 the rounding of f32 panels shows.
    pub const CANDIDATES: [f64; 8] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

    /// Checks a given number.
    ///
    /// # Errors
    /// [`Error::Parameter`] when it is not above 0, or so far from 1 that nothing could be computed with it.
    pub fn validate(self) -> Result<()> {
        match self {
            Self::Value(lambda) if !RANGE.contains(&lambda) => {
                Err(Error::parameter("lambda", lambda, "auto or a number from 1e-100 to 1e100"))
            }
            Self::OfC(c) if !RANGE.contains(&c) => Err(Error::parameter("C", c, "a number from 1e-100 to 1e100")),
            _ => Ok(()),
        }
    }
}

impl Lambda {
    /// The number for rows of this total weight, where it is given.
    pub(crate) fn given(self, n_rows: f64) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Value(lambda) => Some(lambda),
            Self::OfC(c) => Some(1.0 / (2.0 * n_rows * c)),
        }
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Value(lambda) => lambda.fmt(f),
            Self::OfC(c) => write!(f, "C = {c}"),
        }
    }
}

impl FromStr for Lambda {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lambda = if text == "auto" { Self::Auto } else { Self::Value(text.parse().unwrap_or(f64::NAN)) };
        lambda
            .validate()
            .map(|()| lambda)
            .map_err(|_| Error::parameter("lambda", text, "auto or a number from 1e-100 to 1e100"))
    }
}

/// The form in JSON: a number, a word, or C.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LambdaText {
    Value(f64),
    Rule(String),
    OfC {
        #[serde(rename = "C")]
        c: f64,
    },
}

impl From<Lambda> for LambdaText {
    fn from(lambda: Lambda) -> Self {
        match lambda {
            Lambda::Value(value) => Self::Value(value),
            Lambda::Auto => Self::Rule(lambda.to_string()),
            Lambda::OfC(c) => Self::OfC { c },
        }
    }
}

impl TryFrom<LambdaText> for Lambda {
    type Error = Error;

    fn try_from(text: LambdaText) -> Result<Self> {
        match text {
            LambdaText::Value(value) => Self::Value(value).validate().map(|()| Self::Value(value)),
            LambdaText::Rule(rule) => rule.parse(),
            LambdaText::OfC { c } => Self::OfC(c).validate().map(|()| Self::OfC(c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_bad_lambdas() {
        for bad in ["0", "-1", "nan", "inf", "small"] {
            assert!(bad.parse::<Lambda>().unwrap_err().to_string().contains(bad), "{bad}");
        }
        assert_eq!("auto".parse::<Lambda>().unwrap(), Lambda::Auto);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Lambda::OfC(bad).validate().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_form_survives_json() {
        for (lambda, text) in
            [(Lambda::Auto, "\"auto\""), (Lambda::Value(0.5), "0.5"), (Lambda::OfC(2.0), "{\"C\":2.0}")]
        {
            assert_eq!(serde_json::to_string(&lambda).unwrap(), text);
            assert_eq!(serde_json::from_str::<Lambda>(text).unwrap(), lambda);
        }
        assert!(serde_json::from_str::<Lambda>("{\"C\":-1}").is_err());
        assert_eq!(Lambda::OfC(5.0).given(60_000.0), Some(1.0 / 600_000.0));
    }
}
