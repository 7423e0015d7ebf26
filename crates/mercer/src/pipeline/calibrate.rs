//! Sigmoids fitted to the scores of rows by models that did not learn from them.
//!
//! The rows are dealt to five parts. For each part that judges, a model of the other four is learned with the λ chosen
//! and the part's rows are scored by it. All parts judge in turn where the rows are few, and their scores, which come
//! from five models, are taken together; of many rows one part is enough for two numbers. The final model is not touched: it is
//! learned from all rows, and so a little better than the models behind the sigmoids.

use mercer_simd::Scalar;
use ndarray::Array2;
use rayon::prelude::*;

use crate::dataset::{Folds, PanelTargets, Selection, TargetEncoder};
use crate::driver::Driver;
use crate::learners::{LinearModel, Link, Loss, Sigmoid};
use crate::random::Purpose;
use crate::selection::lambda::Fitting;
use crate::{Error, Result};

/// Parts that the rows are dealt to.
const N_PARTS: usize = 5;
/// From this many rows on one part judges: it has 10,000 rows.
const MANY_ROWS: u64 = 50_000;
/// Fewer rows are not divided.
const MIN_ROWS: u64 = 20;

/// Which parts judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrossFit {
    n_judging: usize,
}

/// What was fitted.
pub(super) struct Calibration {
    /// one for each output
    pub(super) sigmoids: Vec<Sigmoid>,
    /// rows that judged
    pub(super) n_rows: u64,
}

impl CrossFit {
    /// For probabilities of a model of `loss`; nothing where its scores are probabilities already.
    ///
    /// # Errors
    /// [`Error::Parameter`] for real values, for fewer than 20 rows, and for a class of one row: of two or more, some are
    /// always learned from.
    pub(super) fn of(encoder: &TargetEncoder, loss: Loss, n_rows: u64) -> Result<Option<Self>> {
        let TargetEncoder::Classes { labels, counts, .. } = encoder else {
            return Err(Error::parameter("probabilities", "on", "off for real values: only classes have them"));
        };
        if Link::native(loss, encoder.n_outputs()).is_some() {
            return Ok(None);
        }
        if n_rows < MIN_ROWS {
            let expected = "off for fewer than 20; or use the logistic or softmax learner";
            return Err(Error::parameter("probabilities", format!("on for {n_rows} rows"), expected));
        }
        if let Some(class) = counts.iter().position(|&count| count < 2) {
            let got = format!("on with one row of the class {}", labels[class]);
            let expected = "off unless each class has two rows; or use the logistic or softmax learner";
            return Err(Error::parameter("probabilities", got, expected));
        }
        Ok(Some(Self { n_judging: if n_rows < MANY_ROWS { N_PARTS } else { 1 } }))
    }

    /// The sigmoid of each output, with the models that `learn` makes of all rows but those of a part.
    pub(super) fn calibrate<T: Scalar>(
        self,
        fitting: &Fitting<'_, T>,
        mut learn: impl FnMut(Folds, usize) -> Result<LinearModel<T>>,
    ) -> Result<Calibration> {
        let mut held_out = HeldOut { scores: vec![Vec::new(); fitting.encoder.n_outputs()], classes: Vec::new() };
        for part in 0..self.n_judging {
            let folds = || Folds::new(fitting.seed, Purpose::Calibration, N_PARTS);
            let model = learn(folds(), part)?;
            held_out.score(fitting, &model, Selection::Fold { folds: folds(), fold: part })?;
        }
        Ok(Calibration { n_rows: held_out.classes.len() as u64, sigmoids: held_out.sigmoids(fitting.driver)? })
    }
}

/// Scores of rows that were not learned from.
struct HeldOut<T> {
    /// for each output
    scores: Vec<Vec<T>>,
    classes: Vec<u32>,
}

impl<T: Scalar> HeldOut<T> {
    fn score(&mut self, fitting: &Fitting<'_, T>, model: &LinearModel<T>, selection: Selection) -> Result<()> {
        let overflow = || Error::Overflow { context: fitting.dataset.info().name.clone(), dtype: T::DTYPE };
        fitting.for_each("calibrate", selection, |features, targets| {
            let PanelTargets::Classes(classes) = targets else { unreachable!("classes were asked for") };
            let mut scores = Array2::zeros((features.n_rows(), model.n_outputs()));
            model.scores_into(features, scores.view_mut());
            if !scores.iter().all(|score| score.is_finite()) {
                return Err(overflow());
            }
            self.classes.extend_from_slice(classes);
            for (all, column) in self.scores.iter_mut().zip(scores.columns()) {
                all.extend(column);
            }
            Ok(())
        })
    }

    /// An output for each thread.
    fn sigmoids(&self, driver: &Driver<'_>) -> Result<Vec<Sigmoid>> {
        let one = |output: usize| {
            let class = if self.scores.len() == 1 { 1 } else { output as u32 };
            let positive: Vec<bool> = self.classes.iter().map(|&of_row| of_row == class).collect();
            Sigmoid::fit(&self.scores[output], &positive)
        };
        driver.check_interrupted()?;
        driver.time("calibrate", || (0..self.scores.len()).into_par_iter().map(one).collect())
    }
}
