//! Flags of a search.

use std::time::Duration;

use clap::{Args, ValueEnum};
use mercer::selection::Objective;

use super::whole;

/// Flags that say what a search finds.
const FOUND: [&str; 36] = [
    "map",
    "kernel",
    "gamma",
    "nu",
    "alpha",
    "skewedness",
    "waves",
    "length_scales",
    "degree",
    "coef0",
    "signs",
    "tree",
    "allocation",
    "n_terms",
    "n_vectors",
    "project_to",
    "projection",
    "budget",
    "balanced",
    "landmarks",
    "n_components",
    "eps",
    "n_bins",
    "s",
    "blocks",
    "preprocess",
    "learner",
    "loss",
    "lambda",
    "C",
    "class_weight",
    "delta",
    "epsilon",
    "solver",
    "cv",
    "no_intercept",
];

/// How a pipeline is found.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct AutoArgs {
    /// Find scaling, kernel, map, number of features and learner by the data: trials of growing size, judged by rows that
    /// they did not learn from. The plain linear model is always among them
    #[arg(long, conflicts_with_all = FOUND)]
    pub(crate) auto: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What a search may take, and what it looks for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct LimitArgs {
    /// Time for all of it, such as 60s, 5m or 1h: as many trials, rows and features as it allows. Results then depend on
    /// the machine
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    /// Trials at most; without --time the same seed gives the same model [default: 24 without --time]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) trials: Option<usize>,
    /// What is to be as large as possible [default: accuracy; f1 where one of two classes is rarer than one row in twenty; r2
    /// of real values]
    #[arg(long, value_enum)]
    pub(crate) objective: Option<ObjectiveName>,
}

impl LimitArgs {
    /// Whether any of them is given.
    pub(crate) fn any(&self) -> bool {
        self.time.is_some() || self.trials.is_some() || self.objective.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectiveName {
    /// Share of right classes
    Accuracy,
    /// F1 of the rarer of two classes, or the mean of all
    F1,
    /// Share of the variance that is explained
    R2,
}

impl From<ObjectiveName> for Objective {
    fn from(name: ObjectiveName) -> Self {
        match name {
            ObjectiveName::Accuracy => Self::Accuracy,
            ObjectiveName::F1 => Self::F1,
            ObjectiveName::R2 => Self::R2,
        }
    }
}

/// A time: 90, 90s, 1.5m, 1h.
fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    match digits.parse::<f64>() {
        Ok(number) if number * unit >= 1.0 && number * unit <= 1e7 => Ok(Duration::from_secs_f64(number * unit)),
        _ => Err("must be a time of a second or more, such as 60s, 5m or 1h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, seconds) in [("60s", 60.0), ("90", 90.0), ("1.5m", 90.0), ("2h", 7200.0)] {
            assert_eq!(duration(text).unwrap(), Duration::from_secs_f64(seconds), "{text}");
        }
        for text in ["", "s", "0", "-3s", "0.5s", "nan", "3d", "inf"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
