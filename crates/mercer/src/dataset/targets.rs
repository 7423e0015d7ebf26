//! From targets as they stand in a file to class numbers or real values.
//!
//! Numbers that are all whole and take at most 100 values are class labels, and so is text that
//! is not a number throughout; anything else is a real target. The caller may say otherwise.

use std::collections::HashMap;
use std::fmt;

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::TargetBlock;
use crate::{Error, Result};

/// More distinct whole numbers than this are taken for quantities.
pub(super) const MAX_DETECTED_CLASSES: usize = 100;
/// Distinct values are counted up to here; a classification with more is refused.
const MAX_CLASSES: usize = 10_000;

/// What is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// One of a few labels.
    Classification,
    /// One or more real numbers.
    Regression,
}

/// A class as the user wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClassLabel {
    /// Labels that are numbers throughout.
    Number(f64),
    /// Any other labels.
    Text(String),
}

/// As many labels are compared one by one.
const FEW_LABELS: usize = 32;

impl fmt::Display for ClassLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => x.fmt(f),
            Self::Text(x) => f.pad(x),
        }
    }
}

/// What was seen of the targets of a source, block by block.
#[derive(Clone, Debug, Default)]
pub struct TargetScan {
    n_rows: u64,
    columns: usize,
    sums: Vec<f64>,
    numbers: HashMap<u64, u64>,
    texts: HashMap<String, u64>,
    overflow: bool,
    fractions: bool,
    not_numbers: bool,
}

impl TargetScan {
    /// Looks at more targets.
    ///
    /// # Errors
    /// A number that is not finite, or another number of columns than before.
    pub fn add(&mut self, block: &TargetBlock) -> Result<()> {
        let columns = if let TargetBlock::Numbers(x) = block { x.ncols() } else { 1 };
        if self.n_rows > 0 && columns != self.columns {
            return Err(Error::Targets(format!("{columns} targets in a row, {} before", self.columns)));
        }
        self.columns = columns;
        self.sums.resize(columns, 0.0);
        self.n_rows += block.n_rows() as u64;
        match block {
            TargetBlock::Numbers(x) => x.indexed_iter().try_for_each(|((_, j), &value)| self.add_number(j, value)),
            TargetBlock::Text(x) => x.iter().try_for_each(|text| self.add_text(text)),
        }
    }

    fn add_number(&mut self, column: usize, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Err(Error::Targets(format!("a target is {value}; every target must be finite")));
        }
        self.sums[column] += value;
        self.fractions |= value.fract() != 0.0;
        if self.columns == 1 {
            count(&mut self.numbers, bits(value), &mut self.overflow);
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Err(Error::Targets("a row has no target".to_owned()));
        }
        match parse(text) {
            Some(value) if !self.not_numbers => self.add_number(0, value)?,
            Some(_) => (),
            None => self.not_numbers = true,
        }
        if !self.texts.contains_key(text) {
            count(&mut self.texts, text.to_owned(), &mut self.overflow);
        } else if let Some(n) = self.texts.get_mut(text) {
            *n += 1;
        }
        Ok(())
    }

    /// What to learn, by the rule in the module's head.
    pub fn task(&self) -> Task {
        let few = !self.overflow && self.numbers.len() <= MAX_DETECTED_CLASSES;
        let labels = self.not_numbers || (self.columns == 1 && few && !self.fractions);
        if labels { Task::Classification } else { Task::Regression }
    }

    /// Whether all rows have the same target.
    pub(super) fn is_constant(&self) -> bool {
        let distinct = if self.not_numbers { self.texts.len() } else { self.numbers.len() };
        self.columns == 1 && distinct == 1 && !self.overflow
    }

    /// Whether some target is a word, not a number.
    pub fn holds_words(&self) -> bool {
        self.not_numbers
    }

    /// The encoding of these targets, for the task found or the one given.
    ///
    /// # Errors
    /// One class only, too many classes, several columns of classes, or text for a regression.
    pub fn encoder(&self, task: Option<Task>) -> Result<TargetEncoder> {
        match task.unwrap_or_else(|| self.task()) {
            Task::Regression if self.not_numbers => {
                let text = self.texts.keys().find(|text| parse(text).is_none()).map_or("", |text| text);
                Err(Error::Targets(format!("the target {text:?} is not a number; a regression needs numbers")))
            }
            Task::Regression => {
                let mean = self.sums.iter().map(|sum| sum / self.n_rows as f64);
                // Sums of huge targets may overflow; they are then learned as they are.
                let centre = mean.map(|mean| if mean.is_finite() { mean } else { 0.0 }).collect();
                Ok(TargetEncoder::Real { centre })
            }
            Task::Classification => self.classes(),
        }
    }

    fn classes(&self) -> Result<TargetEncoder> {
        if self.columns != 1 {
            return Err(Error::Targets(format!("{} columns of classes; name one target", self.columns)));
        }
        let mut counted: Vec<(ClassLabel, u64)> = if self.not_numbers {
            self.texts.iter().map(|(text, &n)| (ClassLabel::Text(text.clone()), n)).collect()
        } else {
            self.numbers.iter().map(|(&x, &n)| (ClassLabel::Number(f64::from_bits(x)), n)).collect()
        };
        counted.sort_by(|(a, _), (b, _)| order(a, b));
        if self.overflow {
            return Err(Error::Targets(format!("more than {MAX_CLASSES} classes; is this a regression?")));
        }
        if let [(label, n)] = counted.as_slice() {
            return Err(Error::Targets(format!("all {n} rows are of the one class {label}; training needs two")));
        }
        let (labels, counts) = counted.into_iter().unzip();
        TargetEncoder::classes(labels, counts)
    }
}

fn count<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u64>, key: K, overflow: &mut bool) {
    if counts.len() < MAX_CLASSES || counts.contains_key(&key) {
        *counts.entry(key).or_default() += 1;
    } else {
        *overflow = true;
    }
}

fn parse(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Bits of a number as a key: −0 is 0.
fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

fn order(a: &ClassLabel, b: &ClassLabel) -> std::cmp::Ordering {
    match (a, b) {
        (ClassLabel::Number(a), ClassLabel::Number(b)) => a.total_cmp(b),
        (ClassLabel::Text(a), ClassLabel::Text(b)) => a.cmp(b),
        (ClassLabel::Number(_), ClassLabel::Text(_)) => std::cmp::Ordering::Less,
        (ClassLabel::Text(_), ClassLabel::Number(_)) => std::cmp::Ordering::Greater,
    }
}

/// Turns targets into class numbers or real values.
#[derive(Clone, Debug)]
pub enum TargetEncoder {
    /// Class numbers, in ascending order of the labels.
    Classes {
        /// the labels
        labels: Vec<ClassLabel>,
        /// rows of each class when it was scanned; zero where that is not known
        counts: Vec<u64>,
        /// the number of each label
        numbers: HashMap<String, u32>,
    },
    /// Real values.
    Real {
        /// what is subtracted from each target of a row before it is learned: about its mean, so that f32 keeps the
        /// digits that differ; zeros where nothing is learned
        centre: Vec<f64>,
    },
}

impl TargetEncoder {
    /// An encoder of these classes.
    ///
    /// # Errors
    /// Fewer than two, or the same label twice.
    pub fn classes(labels: Vec<ClassLabel>, counts: Vec<u64>) -> Result<Self> {
        let numbers: HashMap<_, _> = labels.iter().zip(0..).map(|(label, i)| (key(label), i)).collect();
        if labels.len() < 2 || numbers.len() != labels.len() || counts.len() != labels.len() {
            return Err(Error::Targets("class labels must be two or more, all different".to_owned()));
        }
        Ok(Self::Classes { labels, counts, numbers })
    }

    /// What is learned.
    pub fn task(&self) -> Task {
        match self {
            Self::Classes { .. } => Task::Classification,
            Self::Real { .. } => Task::Regression,
        }
    }

    /// Scores that a learner gives to a row: one for each target or class; of two classes, only the second's.
    pub fn n_outputs(&self) -> usize {
        match self {
            Self::Classes { labels, .. } if labels.len() == 2 => 1,
            Self::Classes { labels, .. } => labels.len(),
            Self::Real { centre } => centre.len(),
        }
    }

    /// The class numbers of a block; classification only.
    ///
    /// # Errors
    /// A label that is none of the classes, or several targets in a row.
    pub fn class_numbers(&self, block: &TargetBlock) -> Result<Vec<u32>> {
        let Self::Classes { labels, numbers, .. } = self else {
            return Err(Error::Targets("real targets have no classes".to_owned()));
        };
        if let TargetBlock::Numbers(x) = block
            && x.ncols() != 1
        {
            return Err(Error::Targets(format!("{} targets in a row, trained on one column of classes", x.ncols())));
        }
        let number_of = |label: &ClassLabel| {
            numbers.get(&key(label)).copied().ok_or_else(|| {
                let known: Vec<_> = labels.iter().take(10).map(ToString::to_string).collect();
                Error::Targets(format!(
                    "the label {label} is none of the trained classes ({}); remove its rows or train with it",
                    known.join(", ")
                ))
            })
        };
        let numeric = matches!(labels[0], ClassLabel::Number(_));
        // Among few labels, a look at each is faster than the text that is their key.
        let of_number = |x: f64| {
            let is_x = |label: &ClassLabel| matches!(label, ClassLabel::Number(y) if *y == x);
            labels.iter().take(FEW_LABELS).position(is_x).map(|at| at as u32)
        };
        match block {
            TargetBlock::Numbers(x) if numeric => {
                x.iter().map(|&x| of_number(x).map_or_else(|| number_of(&ClassLabel::Number(x)), Ok)).collect()
            }
            TargetBlock::Numbers(x) => x.iter().map(|&x| number_of(&ClassLabel::Text(x.to_string()))).collect(),
            TargetBlock::Text(x) => x.iter().map(|text| number_of(&label_of(text, numeric))).collect(),
        }
    }

    /// The real values of a block; regression only.
    ///
    /// # Errors
    /// Text that is no number, or another number of targets than was fitted.
    pub fn real_values(&self, block: &TargetBlock) -> Result<Array2<f64>> {
        let Self::Real { centre } = self else {
            return Err(Error::Targets("classes have no real values".to_owned()));
        };
        let values = match block {
            TargetBlock::Numbers(x) => x.clone(),
            TargetBlock::Text(x) => {
                let numbers: Result<Vec<f64>> = x
                    .iter()
                    .map(|text| parse(text).ok_or_else(|| Error::Targets(format!("target {text:?} is no number"))))
                    .collect();
                ArrayView2::from_shape((x.len(), 1), &numbers?).map_err(|e| Error::Targets(e.to_string()))?.to_owned()
            }
        };
        if values.ncols() != centre.len() {
            return Err(Error::Targets(format!("{} targets in a row, trained on {}", values.ncols(), centre.len())));
        }
        Ok(values)
    }
}

fn label_of(text: &str, numeric: bool) -> ClassLabel {
    parse(text).filter(|_| numeric).map_or_else(|| ClassLabel::Text(text.to_owned()), ClassLabel::Number)
}

/// A key under which equal labels meet, numbers by value.
fn key(label: &ClassLabel) -> String {
    match label {
        ClassLabel::Number(x) => (x + 0.0).to_string(),
        ClassLabel::Text(x) => x.clone(),
    }
}
