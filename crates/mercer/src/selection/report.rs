//! What a search tried, and why it chose what it chose.

use serde::{Deserialize, Serialize};

use super::{Contender, Objective};
use crate::pipeline::PipelineSpec;

/// One pipeline that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// what was tried
    pub contender: Contender,
    /// the same in words
    pub description: String,
    /// all of it
    pub spec: PipelineSpec,
    /// in which round, from 0
    pub rung: usize,
    /// rows learned from
    pub n_rows: u64,
    /// rows that judged
    pub n_judges: u64,
    /// features
    pub n_components: usize,
    /// λ found
    pub lambda: Option<f64>,
    /// of the judges' predictions; absent where the trial failed
    pub score: Option<f64>,
    /// the standard error of that
    pub error: Option<f64>,
    /// the score above which a row is of the second class, where it is not 0: that of the largest F1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// from rows to score
    pub seconds: f64,
    /// why it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A training of the chosen pipeline on all rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// features
    pub n_components: usize,
    /// what it took
    pub seconds: f64,
    /// what it was reckoned to take
    pub reckoned: f64,
    /// whether it gave a model before the time was over
    pub is_kept: bool,
}

/// A score of rows that neither taught nor judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// of the chosen pipeline's last trial
    pub score: f64,
    /// its standard error
    pub error: f64,
    /// rows
    pub n_rows: u64,
    /// of classes: rows that were right
    pub n_right: Option<u64>,
}

/// What a search tried and chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchReport {
    /// what was to be as large as possible
    pub objective: Objective,
    /// all trials, in their order
    pub trials: Vec<Trial>,
    /// the place of the one chosen
    pub chosen: usize,
    /// the place of the best linear model of the same round
    pub linear: Option<usize>,
    /// how much better than that, and the standard error of it; absent where it is the linear one
    pub beyond_linear: Option<(f64, f64)>,
    /// of rows held out from all of it
    pub confirmation: Option<Confirmation>,
    /// pipelines that were not tried, as the time was over
    pub n_skipped: usize,
    /// trainings on all rows: the model is that of the last that was kept
    #[serde(default)]
    pub trainings: Vec<Training>,
    /// whether the time ended the final training before its minimum
    pub ended_by_time: bool,
    /// whether no model of all rows could be had in time: it is then that of the last trial
    pub is_of_trial: bool,
    /// the score above which the model takes a row for one of the second class, where it was moved from 0
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// of the search, without the final training
    pub seconds: f64,
}

impl SearchReport {
    /// The trial that was chosen.
    pub fn chosen(&self) -> &Trial {
        &self.trials[self.chosen]
    }

    /// Whether nothing was better than the inputs themselves, by more than chance.
    pub fn nothing_beats_linear(&self) -> bool {
        self.chosen().contender.is_linear() && self.trials.iter().any(|trial| !trial.contender.is_linear())
    }
}
