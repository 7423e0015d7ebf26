//! From columns of words and of missing values to numbers: levels become indicators, gaps are filled.
//!
//! A categorical column of k levels becomes k inputs that are 1 for their level and 0 for the others. Two rows that
//! differ in it are then √2 apart, as two rows are in root mean square in a standardized number: so indicators are not scaled
//! ([`Preprocess::fit`](crate::preprocess::Preprocess::fit)). Of more than `max_levels` levels the most frequent are
//! kept and the others share one input, `other`. A level that training did not keep becomes `other`, or, where
//! there is no such input, 0 in all of them.
//!
//! Numbers come first, in their order, then the indicators of each categorical column in turn.

mod fill;

use std::collections::HashMap;

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::{Block, BlockRows, Table};
use crate::driver::Progress;
use crate::{Error, Result};

/// What to do about missing values.
///
/// | name | a number becomes | a word becomes |
/// |---|---|---|
/// | `refuse` | an error | an error |
/// | `mean` | the mean of its column | the most frequent level |
/// | `median` | the median (of an even number, the middle of two) | the most frequent level |
/// | `most_frequent` | the most frequent number, of equals the least | the most frequent level, of equals the first |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impute {
    /// An error.
    #[default]
    Refuse,
    /// The mean of the column.
    Mean,
    /// The median of the column.
    Median,
    /// The most frequent value of the column.
    MostFrequent,
}

/// How columns are to become numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodingSpec {
    /// what to do about missing values
    pub impute: Impute,
    /// most inputs that a categorical column becomes, at least 2
    pub max_levels: usize,
}

impl Default for EncodingSpec {
    fn default() -> Self {
        Self { impute: Impute::Refuse, max_levels: 64 }
    }
}

/// Columns fitted to training rows; part of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    columns: Vec<ColumnEncoding>,
}

/// What one column becomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ColumnEncoding {
    /// Stays one number.
    Number {
        /// for a missing value
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<f64>,
    },
    /// Becomes an indicator for each level.
    Categorical {
        /// in the order of the indicators
        levels: Vec<String>,
        /// whether one more indicator stands for all other levels
        other: bool,
        /// the level of a missing value
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<usize>,
    },
}

/// Levels of a column that the encoding does not keep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnknownLevels {
    /// the column's name in quotes, or its number counted from 1
    pub column: String,
    /// rows that have one
    pub n_rows: u64,
    /// some of them, the most frequent first
    pub examples: Vec<String>,
    /// whether they are taken as `other`; else all indicators of the column are 0
    pub other: bool,
}

impl Encoding {
    /// Fits `spec` to a table; none is needed where there are no words and nothing may be missing.
    ///
    /// # Errors
    /// [`Error::Parameter`] for `max_levels` below 2; [`Error::Column`] where values are missing and `refuse` was
    /// asked for, where all values of a column are missing, or where `most_frequent` finds too many values.
    pub fn fit(table: &Table, spec: EncodingSpec, progress: &dyn Progress) -> Result<Option<Self>> {
        if spec.max_levels < 2 {
            return Err(Error::parameter("max_levels", spec.max_levels, "at least 2"));
        }
        if table.columns().is_empty() || (table.info().categorical.is_empty() && spec.impute == Impute::Refuse) {
            return Ok(None);
        }
        let numbers: Vec<usize> = (0..table.n_inputs()).filter(|j| !table.info().categorical.contains(j)).collect();
        for (input, column) in table.columns().iter().enumerate() {
            check_column(table, input, column.n_missing, column.n_present, spec.impute)?;
        }
        let fills = fill::of_numbers(table, &numbers, spec.impute, progress)?;
        let mut columns = vec![ColumnEncoding::Number { fill: None }; table.n_inputs()];
        for (&input, fill) in numbers.iter().zip(fills) {
            columns[input] = ColumnEncoding::Number { fill };
        }
        for &input in &table.info().categorical {
            columns[input] = categorical(&table.levels(input), spec);
        }
        Ok(Some(Self { columns }))
    }

    /// What each column of the data becomes.
    pub fn columns(&self) -> &[ColumnEncoding] {
        &self.columns
    }

    /// Columns that hold words.
    pub fn categorical(&self) -> Vec<usize> {
        let is_categorical = |j: &usize| matches!(self.columns[*j], ColumnEncoding::Categorical { .. });
        (0..self.columns.len()).filter(is_categorical).collect()
    }

    /// Whether missing values are filled in.
    pub fn imputes(&self) -> bool {
        let fills = |column: &ColumnEncoding| match column {
            ColumnEncoding::Number { fill } => fill.is_some(),
            ColumnEncoding::Categorical { fill, .. } => fill.is_some(),
        };
        self.columns.iter().any(fills)
    }

    /// Indicators, which follow the numbers.
    pub fn n_indicators(&self) -> usize {
        self.columns.iter().map(ColumnEncoding::n_indicators).sum()
    }

    /// Inputs of an encoded row.
    pub fn n_outputs(&self) -> usize {
        let numbers = self.columns.iter().filter(|column| matches!(column, ColumnEncoding::Number { .. }));
        numbers.count() + self.n_indicators()
    }

    /// Names of the inputs of an encoded row: `age`, `colour=red`, `colour=(other)`, from the names of the columns.
    pub fn output_names(&self, input_names: &[String]) -> Vec<String> {
        let name = |j: usize| input_names.get(j).cloned().unwrap_or_else(|| format!("column {}", j + 1));
        let (mut names, mut indicators) = (Vec::new(), Vec::new());
        for (j, column) in self.columns.iter().enumerate() {
            match column {
                ColumnEncoding::Number { .. } => names.push(name(j)),
                ColumnEncoding::Categorical { levels, other, .. } => {
                    let kept = levels.iter().map(String::as_str).chain(other.then_some("(other)"));
                    indicators.extend(kept.map(|level| format!("{}={level}", name(j))));
                }
            }
        }
        names.append(&mut indicators);
        names
    }

    /// Levels of `table` that are none of those kept.
    pub fn unknown_levels(&self, table: &Table) -> Vec<UnknownLevels> {
        const EXAMPLES: usize = 3;
        let of_column = |(input, column): (usize, &ColumnEncoding)| {
            let ColumnEncoding::Categorical { levels, other, .. } = column else { return None };
            let mut unknown = table.levels(input);
            unknown.retain(|(level, _)| !levels.iter().any(|kept| kept == level));
            let examples = unknown.iter().take(EXAMPLES).map(|(level, _)| (*level).to_owned()).collect();
            let (column, n_rows) = (table.column_name(input), unknown.iter().map(|(_, n)| n).sum());
            (!unknown.is_empty()).then_some(UnknownLevels { column, n_rows, examples, other: *other })
        };
        self.columns.iter().enumerate().filter_map(of_column).collect()
    }

    /// Checks what a model file says.
    ///
    /// # Errors
    /// [`Error::Model`] for levels that are not all different, fills that are none of them or not finite.
    pub fn validate(&self) -> Result<()> {
        for column in &self.columns {
            let good = match column {
                ColumnEncoding::Number { fill } => fill.is_none_or(f64::is_finite),
                ColumnEncoding::Categorical { levels, fill, .. } => {
                    let mut sorted: Vec<_> = levels.iter().collect();
                    sorted.sort_unstable();
                    sorted.dedup();
                    !levels.is_empty() && sorted.len() == levels.len() && fill.is_none_or(|fill| fill < levels.len())
                }
            };
            if !good {
                return Err(Error::Model("levels of a column are not all different, or its fill is none".to_owned()));
            }
        }
        Ok(())
    }

    /// Checks that `table` has these columns, and nothing missing that is not filled.
    pub(super) fn check(&self, table: &Table) -> Result<()> {
        let (context, got) = (table.info().name.clone(), table.n_inputs());
        if got != self.columns.len() {
            return Err(Error::Inputs { context, got, expected: self.columns.len() });
        }
        for (input, column) in self.columns.iter().enumerate() {
            let words = table.info().categorical.contains(&input);
            let missing = table.columns().get(input).is_some_and(|tally| tally.n_missing > 0);
            let reason = match column {
                ColumnEncoding::Number { .. } if words => "held numbers in training and holds words here",
                ColumnEncoding::Categorical { .. } if !words => "held words in training and holds numbers here",
                ColumnEncoding::Number { fill: None } | ColumnEncoding::Categorical { fill: None, .. } if missing => {
                    "misses values, which the model was not trained to fill in"
                }
                _ => continue,
            };
            return Err(Error::Column { context, column: table.column_name(input), reason: reason.to_owned() });
        }
        Ok(())
    }

    /// The rows of a block in numbers.
    pub(super) fn apply(&self, block: &Block, categorical: &[usize]) -> Block {
        let steps = self.steps(block, categorical);
        let rows = match &block.rows {
            BlockRows::Dense32(x) => BlockRows::Dense32(self.apply_to(x.view(), &steps)),
            BlockRows::Dense64(x) => BlockRows::Dense64(self.apply_to(x.view(), &steps)),
            other => other.clone(),
        };
        Block::new(rows, block.targets.clone())
    }

    fn apply_to<T: Scalar>(&self, rows: ArrayView2<'_, T>, steps: &[Step]) -> Array2<T> {
        let mut out = Array2::zeros((rows.nrows(), self.n_outputs()));
        for (row, mut out) in rows.outer_iter().zip(out.outer_iter_mut()) {
            for (&value, step) in row.iter().zip(steps) {
                match step {
                    Step::Number { output, fill } => {
                        out[*output] = if value.is_nan() { T::from_f64(*fill) } else { value }
                    }
                    Step::Levels { outputs, fill } => {
                        // NaN becomes 0 as an index, so it is asked for first.
                        let output = if value.is_nan() { *fill } else { outputs[value.to_f64() as usize] };
                        if let Some(output) = output {
                            out[output] = T::one();
                        }
                    }
                }
            }
        }
        out
    }

    /// Where the values of each column go in this block.
    fn steps(&self, block: &Block, categorical: &[usize]) -> Vec<Step> {
        let (mut number, mut indicator) = (0, self.n_outputs() - self.n_indicators());
        let mut steps = Vec::with_capacity(self.columns.len());
        for (input, column) in self.columns.iter().enumerate() {
            match column {
                ColumnEncoding::Number { fill } => {
                    steps.push(Step::Number { output: number, fill: fill.unwrap_or(f64::NAN) });
                    number += 1;
                }
                ColumnEncoding::Categorical { levels, other, fill } => {
                    let numbers: HashMap<&str, usize> = levels.iter().map(String::as_str).zip(indicator..).collect();
                    let other = other.then_some(indicator + levels.len());
                    let here = categorical.binary_search(&input).map_or(&[][..], |at| &block.levels[at]);
                    let outputs = here.iter().map(|level| numbers.get(level.as_str()).copied().or(other)).collect();
                    steps.push(Step::Levels { outputs, fill: fill.map(|fill| indicator + fill) });
                    indicator += column.n_indicators();
                }
            }
        }
        steps
    }
}

/// Where a value goes.
enum Step {
    Number {
        output: usize,
        fill: f64,
    },
    /// By the level's number in the block; none for a level that is not kept.
    Levels {
        outputs: Vec<Option<usize>>,
        fill: Option<usize>,
    },
}

impl ColumnEncoding {
    /// Inputs that the column's levels become.
    pub fn n_indicators(&self) -> usize {
        match self {
            Self::Number { .. } => 0,
            Self::Categorical { levels, other, .. } => levels.len() + usize::from(*other),
        }
    }
}

fn check_column(table: &Table, input: usize, n_missing: u64, n_present: u64, impute: Impute) -> Result<()> {
    let reason = match impute {
        Impute::Refuse if n_missing > 0 => format!("misses {n_missing} values; fill them in, or impute them"),
        _ if n_present == 0 => "has no value at all; leave it out".to_owned(),
        _ => return Ok(()),
    };
    Err(Error::Column { context: table.info().name.clone(), column: table.column_name(input), reason })
}

/// `counted`: levels, the most frequent first.
fn categorical(counted: &[(&str, u64)], spec: EncodingSpec) -> ColumnEncoding {
    let other = counted.len() > spec.max_levels;
    let kept = if other { &counted[..spec.max_levels - 1] } else { counted };
    let mut levels: Vec<String> = kept.iter().map(|(level, _)| (*level).to_owned()).collect();
    levels.sort_unstable();
    let most_frequent = kept.first().and_then(|(level, _)| levels.iter().position(|kept| kept == level));
    let fill = most_frequent.filter(|_| spec.impute != Impute::Refuse);
    ColumnEncoding::Categorical { levels, other, fill }
}
