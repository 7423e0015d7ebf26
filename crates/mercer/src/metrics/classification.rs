//! Scores of predicted classes, all from the counts of (true, predicted) pairs.
//!
//! For class c, with tp rows of c predicted as c:
//!
//! | score | definition |
//! |---|---|
//! | precision | tp / rows predicted as c |
//! | recall | tp / rows of c (its *support*) |
//! | F1 | 2·tp / (rows predicted as c + rows of c), the harmonic mean of the two |
//! | accuracy | Σ tp / rows; also the micro average of precision, recall and F1 |
//! | macro average | the mean over the classes that occur, as a truth or as a prediction |
//!
//! 0/0 is 0. Both conventions, and so every figure, are scikit-learn's defaults. Cost: one count a row; memory n².
//!
//! ```
//! use mercer::metrics::ConfusionMatrix;
//!
//! let mut counts = ConfusionMatrix::new(3)?;
//! counts.add(&[0, 0, 1, 1], &[0, 1, 1, 1])?;
//! assert_eq!(counts.accuracy()?, 0.75);
//! let report = counts.report()?;
//! assert_eq!(report.classes[1].recall, 1.0);
//! assert_eq!(report.classes[2].support, 0);
//! # Ok::<(), mercer::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::ProbabilityReport;
use crate::{Error, Result};

/// Above this many classes the counts take more than 2 GB.
const MAX_CLASSES: usize = 16_384;

/// How often each class was predicted for rows of each class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfusionMatrix {
    n_classes: usize,
    /// `n_classes` × `n_classes`; rows are true classes, columns predicted ones
    counts: Vec<u64>,
}

/// The scores of a [`ConfusionMatrix`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassificationReport {
    /// Rows that were scored.
    pub n_rows: u64,
    /// Part of the rows predicted rightly.
    pub accuracy: f64,
    /// 1 − accuracy.
    pub error_rate: f64,
    /// Mean precision of the classes that occur.
    pub precision_macro: f64,
    /// Mean recall of the classes that occur.
    pub recall_macro: f64,
    /// Mean F1 of the classes that occur.
    pub f1_macro: f64,
    /// F1 of all rows counted together: equal to the accuracy where, as here, every row has one class.
    pub f1_micro: f64,
    /// The scores of the probabilities; absent where there are none.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<ProbabilityReport>,
    /// One entry for each class.
    pub classes: Vec<ClassScores>,
    /// The counts: `confusion[true][predicted]`.
    pub confusion: Vec<Vec<u64>>,
}

/// The scores of one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassScores {
    /// Of the rows predicted as this class, the part that is.
    pub precision: f64,
    /// Of the rows of this class, the part found.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// Rows of this class.
    pub support: u64,
}

impl ConfusionMatrix {
    /// No rows yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] when there is no class or more than 16,384.
    pub fn new(n_classes: usize) -> Result<Self> {
        if !(1..=MAX_CLASSES).contains(&n_classes) {
            return Err(Error::parameter("n_classes", n_classes, "from 1 to 16384"));
        }
        Ok(Self { n_classes, counts: vec![0; n_classes * n_classes] })
    }

    /// Counts rows by their true and predicted classes, numbered from 0.
    ///
    /// # Errors
    /// [`Error::Targets`] when the lengths differ or a class is out of range; nothing is counted then.
    pub fn add(&mut self, truth: &[usize], predicted: &[usize]) -> Result<()> {
        if truth.len() != predicted.len() {
            return Err(Error::Targets(format!("{} predictions for {} true classes", predicted.len(), truth.len())));
        }
        for (name, classes) in [("true", truth), ("predicted", predicted)] {
            if let Some((row, class)) = classes.iter().enumerate().find(|(_, class)| **class >= self.n_classes) {
                let n = self.n_classes;
                return Err(Error::Targets(format!("row {row}: {name} class {class}, expected 0 to {}", n - 1)));
            }
        }
        for (truth, predicted) in truth.iter().zip(predicted) {
            self.counts[truth * self.n_classes + predicted] += 1;
        }
        Ok(())
    }

    /// Adds the rows of `other`.
    ///
    /// # Errors
    /// [`Error::Targets`] when it has another number of classes.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.n_classes != other.n_classes {
            let (ours, theirs) = (self.n_classes, other.n_classes);
            return Err(Error::Targets(format!("confusion matrices of {ours} and {theirs} classes cannot be merged")));
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        Ok(())
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Number of rows counted.
    pub fn n_rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many rows of class `truth` were predicted as `predicted`; 0 for classes out of range.
    pub fn count(&self, truth: usize, predicted: usize) -> u64 {
        if truth.max(predicted) < self.n_classes { self.counts[truth * self.n_classes + predicted] } else { 0 }
    }

    /// Part of the rows predicted rightly.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when nothing was counted.
    pub fn accuracy(&self) -> Result<f64> {
        match self.n_rows() {
            0 => Err(Error::TooFewRows { context: "the evaluation".into(), got: 0, expected: 1 }),
            n_rows => Ok(ratio((0..self.n_classes).map(|class| self.count(class, class)).sum(), n_rows)),
        }
    }

    /// Every score, but for those of probabilities.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when nothing was counted.
    pub fn report(&self) -> Result<ClassificationReport> {
        let accuracy = self.accuracy()?;
        let supports: Vec<u64> = self.counts.chunks(self.n_classes).map(|row| row.iter().sum()).collect();
        let predictions = self.predictions();
        let score = |class: usize| self.class_scores(class, supports[class], predictions[class]);
        let classes: Vec<ClassScores> = (0..self.n_classes).map(score).collect();
        let occurring = (0..self.n_classes).filter(|&class| supports[class] + predictions[class] > 0);
        let occurring: Vec<ClassScores> = occurring.map(|class| classes[class]).collect();
        let mean = |score: fn(&ClassScores) -> f64| occurring.iter().map(score).sum::<f64>() / occurring.len() as f64;
        Ok(ClassificationReport {
            n_rows: self.n_rows(),
            accuracy,
            error_rate: 1.0 - accuracy,
            precision_macro: mean(|class| class.precision),
            recall_macro: mean(|class| class.recall),
            f1_macro: mean(|class| class.f1),
            f1_micro: accuracy,
            probabilities: None,
            confusion: self.counts.chunks(self.n_classes).map(<[u64]>::to_vec).collect(),
            classes,
        })
    }

    /// Rows predicted as each class.
    fn predictions(&self) -> Vec<u64> {
        let mut sums = vec![0; self.n_classes];
        for row in self.counts.chunks(self.n_classes) {
            sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    fn class_scores(&self, class: usize, support: u64, predictions: u64) -> ClassScores {
        let right = self.count(class, class);
        ClassScores {
            precision: ratio(right, predictions),
            recall: ratio(right, support),
            f1: ratio(2 * right, predictions + support),
            support,
        }
    }
}

/// part / whole, 0 for 0/0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class 2 is never predicted, class 3 does not occur.
    #[test]
    fn by_hand() {
        let mut counts = ConfusionMatrix::new(4).unwrap();
        counts.add(&[0, 0, 0, 1, 2], &[0, 0, 1, 1, 0]).unwrap();
        let report = counts.report().unwrap();
        assert_eq!((report.n_rows, report.accuracy, report.f1_micro), (5, 0.6, 0.6));
        assert_eq!(report.error_rate, 1.0 - 0.6);
        assert_eq!(report.confusion, [[2, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0; 4]]);
        let two_thirds = 2.0 / 3.0;
        let scores = |precision, recall, f1, support| ClassScores { precision, recall, f1, support };
        let none = scores(0.0, 0.0, 0.0, 0);
        let expected =
            [scores(two_thirds, two_thirds, two_thirds, 3), scores(0.5, 1.0, two_thirds, 1), scores(0.0, 0.0, 0.0, 1)];
        assert_eq!(report.classes[..3], expected);
        assert_eq!(report.classes[3], none);
        assert_eq!(report.f1_macro, 4.0 / 9.0, "over the three classes that occur");
    }

    #[test]
    fn merging_is_counting_together() {
        let (truth, predicted) = ([0, 1, 2, 2, 1, 0, 0], [0, 2, 2, 1, 1, 0, 2]);
        let [mut whole, mut first, mut second] = std::array::from_fn(|_| ConfusionMatrix::new(3).unwrap());
        whole.add(&truth, &predicted).unwrap();
        first.add(&truth[..3], &predicted[..3]).unwrap();
        second.add(&truth[3..], &predicted[3..]).unwrap();
        first.merge(&second).unwrap();
        assert_eq!(first, whole);
    }

    #[test]
    fn rejects_what_it_cannot_count() {
        assert!(matches!(ConfusionMatrix::new(0), Err(Error::Parameter { name: "n_classes", .. })));
        assert!(matches!(ConfusionMatrix::new(usize::MAX), Err(Error::Parameter { name: "n_classes", .. })));
        let mut counts = ConfusionMatrix::new(2).unwrap();
        assert!(matches!(counts.report(), Err(Error::TooFewRows { got: 0, .. })));
        assert!(matches!(counts.add(&[0, 1], &[0]), Err(Error::Targets(_))));
        let error = counts.add(&[0, 2], &[0, 1]).unwrap_err();
        assert_eq!(error.to_string(), "row 1: true class 2, expected 0 to 1");
        assert!(matches!(counts.add(&[0, 1], &[0, 2]), Err(Error::Targets(_))));
        assert!(matches!(counts.merge(&ConfusionMatrix::new(3).unwrap()), Err(Error::Targets(_))));
        assert_eq!(counts.n_rows(), 0, "a rejected panel leaves no trace");
        assert_eq!(counts.count(5, 0), 0);
    }
}
