//! Scores of predicted probabilities.
//!
//! For a row of class y whose classes c were given the probabilities p_c:
//!
//! | score | definition |
//! |---|---|
//! | log loss | mean of −log p_y, with p_y at least 2.2e-16 (the ε of float64), so that it is finite |
//! | Brier score | mean of Σ_c (p_c − [c = y])², half of that for two classes: from 0 to 1 there, else to 2 |
//! | calibration error | Σ_b (n_b / n)·\|accuracy of b − mean confidence of b\| over 15 bins b |
//!
//! The confidence of a row is its largest probability, and it is right where that is of y (the first of equals). Bin b
//! has the rows with a confidence from b/15 up to but without (b + 1)/15; the last has 1 too. Log loss and Brier score
//! are scikit-learn's; the calibration error is the ECE of Guo, Pleiss, Sun and Weinberger, "On calibration of modern
//! neural networks", ICML 2017, section 2. Cost: one logarithm a row.
//!
//! ```
//! use mercer::metrics::ProbabilityScores;
//! use ndarray::array;
//!
//! let mut scores = ProbabilityScores::new(2)?;
//! scores.add(&[1, 0], array![[0.25, 0.75], [0.5, 0.5]].view())?;
//! let report = scores.report()?;
//! assert_eq!(report.log_loss, -(0.75_f64.ln() + 0.5_f64.ln()) / 2.0);
//! assert_eq!(report.brier_score, (0.25_f64.powi(2) + 0.5_f64.powi(2)) / 2.0);
//! assert_eq!(report.calibration_error, (0.25 + 0.5) / 2.0);
//! # Ok::<(), mercer::Error>(())
//! ```

use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Bins of the calibration error.
const N_BINS: usize = 15;
/// How far a row's sum may be from 1: float32 rounds each of 10,000 probabilities by 6e-8 at most.
const SUM_TOLERANCE: f64 = 1e-3;

/// Sums over rows of probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbabilityScores {
    n_classes: usize,
    n_rows: u64,
    log_loss: f64,
    squares: f64,
    bins: [Bin; N_BINS],
}

/// Rows of about the same confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    n_rows: u64,
    n_right: u64,
    confidence: f64,
}

/// Rows of about the same confidence: a point of a reliability diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceBin {
    /// Rows with a confidence in this bin.
    pub n_rows: u64,
    /// Those of them whose most likely class is the true one.
    pub n_right: u64,
    /// Mean confidence of the rows; 0 where there are none.
    pub confidence: f64,
}

/// The scores of [`ProbabilityScores`]: see the module's head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbabilityReport {
    /// Mean of −log p of the true class.
    pub log_loss: f64,
    /// Mean squared distance from the truth.
    pub brier_score: f64,
    /// How far confidence and accuracy are apart, on average.
    pub calibration_error: f64,
    /// The bins of the calibration error, from the least confidence on.
    #[serde(default)]
    pub bins: Vec<ConfidenceBin>,
}

impl Bin {
    fn report(&self) -> ConfidenceBin {
        let confidence = self.confidence / self.n_rows.max(1) as f64;
        ConfidenceBin { n_rows: self.n_rows, n_right: self.n_right, confidence }
    }
}

impl ProbabilityScores {
    /// No rows yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] for fewer than two classes.
    pub fn new(n_classes: usize) -> Result<Self> {
        if n_classes < 2 {
            return Err(Error::parameter("n_classes", n_classes, "at least 2"));
        }
        Ok(Self { n_classes, n_rows: 0, log_loss: 0.0, squares: 0.0, bins: [Bin::default(); N_BINS] })
    }

    /// Adds rows by their true classes, numbered from 0, and the probabilities of all classes (rows × classes).
    ///
    /// # Errors
    /// [`Error::Targets`] when the shapes differ, a class is out of range or a row holds no probabilities; nothing is
    /// added then.
    pub fn add(&mut self, truth: &[usize], probabilities: ArrayView2<'_, f64>) -> Result<()> {
        self.check(truth, probabilities)?;
        for (&truth, row) in truth.iter().zip(probabilities.outer_iter()) {
            self.n_rows += 1;
            self.log_loss -= row[truth].max(f64::EPSILON).ln();
            let square = |(class, p): (usize, &f64)| (p - f64::from(class == truth)).powi(2);
            self.squares += row.iter().enumerate().map(square).sum::<f64>();
            let top = (0..row.len()).fold(0, |top, class| if row[class] > row[top] { class } else { top });
            let bin = &mut self.bins[((row[top] * N_BINS as f64) as usize).min(N_BINS - 1)];
            bin.n_rows += 1;
            bin.n_right += u64::from(top == truth);
            bin.confidence += row[top];
        }
        Ok(())
    }

    fn check(&self, truth: &[usize], probabilities: ArrayView2<'_, f64>) -> Result<()> {
        if probabilities.dim() != (truth.len(), self.n_classes) {
            let (got, n, k) = (probabilities.dim(), truth.len(), self.n_classes);
            return Err(Error::Targets(format!("probabilities are {got:?} for {n} rows of {k} classes")));
        }
        for (row, (&class, p)) in truth.iter().zip(probabilities.outer_iter()).enumerate() {
            if class >= self.n_classes {
                let most = self.n_classes - 1;
                return Err(Error::Targets(format!("row {row}: true class {class}, expected 0 to {most}")));
            }
            let is_share = |p: &f64| (0.0..=1.0).contains(p);
            if !p.iter().all(is_share) || (p.sum() - 1.0).abs() > SUM_TOLERANCE {
                return Err(Error::Targets(format!("row {row}: {p} are no probabilities, from 0 to 1 with the sum 1")));
            }
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
            return Err(Error::Targets(format!("probabilities of {ours} and {theirs} classes cannot be merged")));
        }
        self.n_rows += other.n_rows;
        self.log_loss += other.log_loss;
        self.squares += other.squares;
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.n_rows += other.n_rows;
            bin.n_right += other.n_right;
            bin.confidence += other.confidence;
        }
        Ok(())
    }

    /// Number of rows added.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Every score.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when nothing was added.
    pub fn report(&self) -> Result<ProbabilityReport> {
        if self.n_rows == 0 {
            return Err(Error::TooFewRows { context: "the evaluation".into(), got: 0, expected: 1 });
        }
        let n = self.n_rows as f64;
        // n_b·|accuracy − confidence| is the distance of two sums.
        let distance: f64 = self.bins.iter().map(|bin| (bin.n_right as f64 - bin.confidence).abs()).sum();
        let halves = if self.n_classes == 2 { 2.0 } else { 1.0 };
        Ok(ProbabilityReport {
            log_loss: self.log_loss / n,
            brier_score: self.squares / (halves * n),
            calibration_error: distance / n,
            bins: self.bins.iter().map(Bin::report).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::random::{Purpose, Stream};

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-14, "{got} for {expected}");
    }

    #[test]
    fn by_hand() {
        let mut scores = ProbabilityScores::new(3).unwrap();
        // Confidences 0.5 (right), 0.5 (wrong), 0.8 (right), 1 (wrong).
        let rows = array![[0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]];
        scores.add(&[0, 1, 1, 0], rows.view()).unwrap();
        let report = scores.report().unwrap();
        let eps = f64::EPSILON;
        close(report.log_loss, -(0.5_f64.ln() + 0.25_f64.ln() + 0.8_f64.ln() + eps.ln()) / 4.0);
        close(report.brier_score, (0.375 + 0.875 + 0.06 + 2.0) / 4.0);
        // Bins 7, 12 and 14: |1 − 1|, |1 − 0.8| and |0 − 1|.
        close(report.calibration_error, (0.0 + 0.2 + 1.0) / 4.0);
        let found = report.bins.iter().enumerate().filter(|(_, bin)| bin.n_rows > 0);
        let found: Vec<_> = found.map(|(i, bin)| (i, bin.n_rows, bin.n_right, bin.confidence)).collect();
        assert_eq!(found, [(7, 2, 1, 0.5), (12, 1, 1, 0.8), (14, 1, 0, 1.0)]);
    }

    #[test]
    fn certain_and_right_is_perfect() {
        let mut scores = ProbabilityScores::new(2).unwrap();
        scores.add(&[0, 1], array![[1.0, 0.0], [0.0, 1.0]].view()).unwrap();
        let mut bins = vec![ConfidenceBin::default(); N_BINS];
        bins[N_BINS - 1] = ConfidenceBin { n_rows: 2, n_right: 2, confidence: 1.0 };
        let zero = ProbabilityReport { log_loss: 0.0, brier_score: 0.0, calibration_error: 0.0, bins };
        assert_eq!(scores.report().unwrap(), zero);
    }

    /// −Σ log p by products: the logarithm of a product of the true classes' probabilities.
    #[test]
    fn log_loss_is_the_logarithm_of_the_likelihood() {
        let mut uniform = vec![0.0; 40];
        Stream::new(1, Purpose::Start).uniform_into(0, &mut uniform);
        let truth: Vec<usize> = (0..40).map(|i| i % 2).collect();
        let rows = Array2::from_shape_fn((40, 2), |(i, c)| if c == 0 { uniform[i] } else { 1.0 - uniform[i] });
        let likelihood: f64 = (0..40).map(|i| rows[[i, truth[i]]]).product();
        let mut scores = ProbabilityScores::new(2).unwrap();
        scores.add(&truth, rows.view()).unwrap();
        close(scores.report().unwrap().log_loss, -likelihood.ln() / 40.0);
    }

    /// Targets drawn by the probabilities themselves. The log loss has the mean entropy, its variance that of log p; the
    /// calibration error is Σ_b |Σ (right − confidence)| / n, where each sum has mean 0 and variance Σ p(1 − p).
    #[test]
    fn probabilities_that_are_true() {
        let n = 100_000;
        let (mut logits, mut uniform) = (vec![0.0; n], vec![0.0; n]);
        Stream::new(5, Purpose::Start).normal_into(0, &mut logits);
        Stream::new(5, Purpose::Start).lane(1).uniform_into(0, &mut uniform);
        let p: Vec<f64> = logits.iter().map(|z| 1.0 / (1.0 + (-2.0 * z).exp())).collect();
        let truth: Vec<usize> = p.iter().zip(&uniform).map(|(p, u)| usize::from(u < p)).collect();
        let rows = Array2::from_shape_fn((n, 2), |(i, c)| if c == 1 { p[i] } else { 1.0 - p[i] });
        let mut scores = ProbabilityScores::new(2).unwrap();
        scores.add(&truth, rows.view()).unwrap();
        let report = scores.report().unwrap();

        let (mut entropy, mut variance, mut brier, mut brier_variance) = (0.0, 0.0, 0.0, 0.0);
        let mut bins = [0.0; N_BINS];
        for &p in &p {
            let q = 1.0 - p;
            entropy -= p * p.ln() + q * q.ln();
            variance += p * q * (p.ln() - q.ln()).powi(2);
            brier += p * q;
            brier_variance += p * q * (q * q - p * p).powi(2);
            bins[((p.max(q) * 15.0) as usize).min(14)] += p * q;
        }
        let n = n as f64;
        assert!((report.log_loss - entropy / n).abs() < 4.0 * variance.sqrt() / n, "{report:?}");
        assert!((report.brier_score - brier / n).abs() < 4.0 * brier_variance.sqrt() / n, "{report:?}");
        // A normal sum of variance v has |sum| of mean √(2v/π) and variance v(1 − 2/π).
        let pi = std::f64::consts::PI;
        let mean: f64 = bins.iter().map(|v| (2.0 * v / pi).sqrt()).sum();
        let deviation = bins.iter().map(|v| v * (1.0 - 2.0 / pi)).sum::<f64>().sqrt();
        assert!((report.calibration_error - mean / n).abs() < 4.0 * deviation / n, "{report:?}, {}", mean / n);
    }

    #[test]
    fn merging_is_adding_together() {
        let rows = array![[0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [0.125, 0.75, 0.125], [0.0, 0.0, 1.0]];
        let truth = [0, 1, 1, 2];
        let [mut whole, mut first, mut second] = std::array::from_fn(|_| ProbabilityScores::new(3).unwrap());
        whole.add(&truth, rows.view()).unwrap();
        first.add(&truth[..2], rows.slice(ndarray::s![..2, ..])).unwrap();
        second.add(&truth[2..], rows.slice(ndarray::s![2.., ..])).unwrap();
        first.merge(&second).unwrap();
        let (first, whole) = (first.report().unwrap(), whole.report().unwrap());
        close(first.log_loss, whole.log_loss);
        assert_eq!((first.brier_score, first.calibration_error), (whole.brier_score, whole.calibration_error));
        assert_eq!(first.bins, whole.bins);
    }

    #[test]
    fn rejects_what_are_no_probabilities() {
        assert!(matches!(ProbabilityScores::new(1), Err(Error::Parameter { name: "n_classes", .. })));
        let mut scores = ProbabilityScores::new(2).unwrap();
        assert!(matches!(scores.report(), Err(Error::TooFewRows { .. })));
        for bad in [[0.5, 0.6], [1.5, -0.5], [f64::NAN, 0.5]] {
            let rows = ndarray::arr2(&[[0.5, 0.5], bad]);
            let error = scores.add(&[0, 1], rows.view()).unwrap_err();
            assert!(error.to_string().starts_with("row 1: "), "{error}");
        }
        assert!(scores.add(&[0, 2], array![[0.5, 0.5], [0.5, 0.5]].view()).is_err());
        assert!(scores.add(&[0], array![[0.5, 0.5], [0.5, 0.5]].view()).is_err());
        assert!(scores.merge(&ProbabilityScores::new(3).unwrap()).is_err());
        assert_eq!(scores.n_rows(), 0, "a rejected panel leaves no trace");
    }
}
