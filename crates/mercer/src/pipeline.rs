//! From rows to predictions: preprocess, feature map and linear model, fitted together and applied together.

mod calibrate;
mod features;
mod fit;
mod learn;
mod memory;
mod online;

pub(crate) use calibrate::CrossFit;
pub use features::Features;
pub use fit::{FitReport, LandmarkReport};
pub use memory::TrainingMemory;
pub use online::OnlinePipeline;

use std::sync::OnceLock;

use mercer_simd::{Dtype, Scalar};
use ndarray::{Array2, ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::dataset::{ClassLabel, Dataset, PanelTargets, TargetEncoder, TargetUse, Task};
use crate::driver::Driver;
use crate::feature_maps::{FeatureMap, MapSpec, ResolvedMap};
use crate::learners::{LearnerSpec, LinearModel, Link, ResolvedLearner, Sigmoid};
use crate::metrics::{ClassificationReport, ConfusionMatrix, ProbabilityScores, RegressionReport, RegressionScores};
use crate::preprocess::PreprocessSpec;
use crate::{Error, Result};

/// A pipeline as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineSpec {
    /// scaling of the inputs
    pub preprocess: PreprocessSpec,
    /// the feature map
    pub map: MapSpec,
    /// the linear model
    pub learner: LearnerSpec,
    /// what to learn; found by the targets when absent
    pub task: Option<Task>,
    /// folds of a cross-validation; one part in ten is held out when absent
    pub cv: Option<usize>,
    /// whether the model must give probabilities of classes: costs up to five models more where its loss has none
    #[serde(default)]
    pub probabilities: bool,
    /// names every random choice
    pub seed: u64,
}

impl PipelineSpec {
    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first parameter outside its range.
    pub fn validate(&self) -> Result<()> {
        self.map.validate()?;
        self.learner.validate()?;
        match self.cv {
            Some(k) if !(2..=100).contains(&k) => Err(Error::parameter("cv", k, "2 to 100 folds")),
            _ => Ok(()),
        }
    }
}

/// A pipeline in numbers: with the learned tensors it is the whole model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedSpec {
    /// never `auto`
    pub preprocess: PreprocessSpec,
    /// the feature map
    pub map: ResolvedMap,
    /// the linear model
    pub learner: ResolvedLearner,
    /// from scores to probabilities, one for each output: where it was asked for and the loss has none of its own
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Vec<Sigmoid>>,
    /// the float type of everything computed
    pub dtype: Dtype,
    /// names every random choice
    pub seed: u64,
}

/// What a pipeline predicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outputs {
    /// One of these classes.
    Classification {
        /// in the order of their numbers
        classes: Vec<ClassLabel>,
    },
    /// Real values.
    Regression {
        /// values of a row
        n_targets: usize,
    },
}

impl Outputs {
    /// The encoder of targets for these outputs.
    ///
    /// # Errors
    /// Classes that are fewer than two or not all different.
    pub fn encoder(&self) -> Result<TargetEncoder> {
        match self {
            Self::Classification { classes } => TargetEncoder::classes(classes.clone(), vec![0; classes.len()]),
            Self::Regression { n_targets } => Ok(TargetEncoder::Real { centre: vec![0.0; *n_targets] }),
        }
    }

    /// Scores of a row: see [`TargetEncoder::n_outputs`].
    pub fn n_outputs(&self) -> usize {
        match self {
            Self::Classification { classes } if classes.len() == 2 => 1,
            Self::Classification { classes } => classes.len(),
            Self::Regression { n_targets } => *n_targets,
        }
    }

    /// The classes; none for a regression.
    pub fn classes(&self) -> &[ClassLabel] {
        match self {
            Self::Classification { classes } => classes,
            Self::Regression { .. } => &[],
        }
    }
}

impl From<&TargetEncoder> for Outputs {
    fn from(encoder: &TargetEncoder) -> Self {
        match encoder {
            TargetEncoder::Classes { labels, .. } => Self::Classification { classes: labels.clone() },
            TargetEncoder::Real { centre } => Self::Regression { n_targets: centre.len() },
        }
    }
}

/// A fitted pipeline.
pub struct Pipeline<T> {
    spec: ResolvedSpec,
    outputs: Outputs,
    encoder: TargetEncoder,
    features: Features<T>,
    model: LinearModel<T>,
    /// the model with the second factor of the map, where it has two: made when it first scores
    folded: OnceLock<LinearModel<T>>,
}

/// How well a pipeline does on some rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Evaluation {
    /// Of classes.
    Classification(ClassificationReport),
    /// Of real values.
    Regression(RegressionReport),
}

impl<T: Scalar> Pipeline<T> {
    /// Puts fitted parts together.
    ///
    /// # Errors
    /// [`Error::Model`] when they do not fit each other.
    pub fn from_parts(
        spec: ResolvedSpec,
        outputs: Outputs,
        features: Features<T>,
        model: LinearModel<T>,
    ) -> Result<Self> {
        if spec.dtype != T::DTYPE || spec.preprocess != features.preprocess().kind() || spec.map != *features.spec() {
            return Err(Error::Model(
                "the spec names another type, preprocessing or map than its tensors have".to_owned(),
            ));
        }
        // Before anything is built of these sizes: the weights are in the file, the numbers may be anything.
        let expected = (spec.map.n_components(), outputs.n_outputs());
        if expected != model.weights().dim() {
            let got = model.weights().dim();
            return Err(Error::Model(format!("weights are {got:?}, the spec needs {expected:?}")));
        }
        check_calibration(&spec, &outputs)?;
        let encoder = outputs.encoder()?;
        Ok(Self { spec, outputs, encoder, features, model, folded: OnceLock::new() })
    }

    /// The pipeline whose scores are larger by `shift`.
    ///
    /// # Errors
    /// As [`LinearModel::new`].
    pub(crate) fn shifted(self, shift: &[f64]) -> Result<Self> {
        Ok(Self { model: self.model.shifted(shift)?, folded: OnceLock::new(), ..self })
    }

    /// The pipeline in numbers.
    pub fn spec(&self) -> &ResolvedSpec {
        &self.spec
    }

    /// What it predicts.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    /// The fitted scaling and map.
    pub fn features(&self) -> &Features<T> {
        &self.features
    }

    /// The linear model.
    pub fn model(&self) -> &LinearModel<T> {
        &self.model
    }

    /// How its scores become probabilities.
    ///
    /// # Errors
    /// [`Error::Parameter`] for real values, and for a model that was not asked for probabilities when it was trained
    /// and whose loss has none of its own.
    pub fn link(&self) -> Result<Link> {
        if matches!(self.outputs, Outputs::Regression { .. }) {
            return Err(Error::parameter("probabilities", "on", "off for real values: only classes have them"));
        }
        let loss = self.spec.learner.loss;
        let fitted = || self.spec.calibration.clone().map(Link::Sigmoids);
        Link::native(loss, self.outputs.n_outputs()).or_else(fitted).ok_or_else(|| {
            let got = format!("on for a {} model without calibration", loss.learner());
            let expected = "off; or train with --probabilities, or with the logistic or softmax learner";
            Error::parameter("probabilities", got, expected)
        })
    }

    /// Hands `each` the probabilities of all classes (rows × classes) for every panel of rows, in order, and the targets
    /// if they were asked for. The class of a row is still that of its scores; where sigmoids were fitted, another one may
    /// be the most likely.
    ///
    /// # Errors
    /// As [`Pipeline::link`] and [`Pipeline::for_each_scores`].
    pub fn for_each_probabilities(
        &self,
        driver: &Driver<'_>,
        dataset: &Dataset,
        with_targets: bool,
        mut each: impl FnMut(ArrayView2<'_, f64>, &PanelTargets) -> Result<()> + Send,
    ) -> Result<()> {
        let link = self.link()?;
        self.for_each_scores(driver, dataset, with_targets, |scores, targets| {
            each(link.probabilities(scores).view(), targets)
        })
    }

    /// Hands `each` the scores of every panel of rows, in order, and the targets if they were asked for: the margin of
    /// the second of two classes, one score for each of more classes, or the predicted values.
    ///
    /// # Errors
    /// What the source finds wrong, rows of another width, targets that do not fit, [`Error::TooLarge`] for scores that
    /// are not finite, or what `each` returns.
    pub fn for_each_scores(
        &self,
        driver: &Driver<'_>,
        dataset: &Dataset,
        with_targets: bool,
        mut each: impl FnMut(ArrayView2<'_, T>, &PanelTargets) -> Result<()> + Send,
    ) -> Result<()> {
        let targets = if with_targets { TargetUse::Encoded(&self.encoder) } else { TargetUse::None };
        let mut first_row = 0;
        self.features.check_inputs(dataset)?;
        let (map, model) = self.scoring(driver)?;
        let result = self.features.for_each_by(map, "predict", driver, dataset, targets, |features, targets| {
            let mut scores = Array2::zeros((features.n_rows(), model.n_outputs()));
            model.scores_into(features, scores.view_mut());
            if let Some(at) = scores.outer_iter().position(|row| !row.iter().all(|score| score.is_finite())) {
                return Err(Error::TooLarge { row: first_row + at as u64, dtype: T::DTYPE });
            }
            first_row += scores.nrows() as u64;
            each(scores.view(), targets)
        });
        result.map_err(|error| error.of_targets_in(&dataset.info().name))
    }

    /// The map and the model that score: of a map of two factors the first alone, and a model that has the second.
    fn scoring(&self, driver: &Driver<'_>) -> Result<(&dyn FeatureMap<T>, &LinearModel<T>)> {
        let map = self.features.map()?;
        let Some(factored) = map.factored() else { return Ok((map, &self.model)) };
        if self.folded.get().is_none() {
            // Another thread may have been faster: both made the same.
            let _ = self.folded.set(driver.install(|| self.model.behind(factored))?);
        }
        Ok((factored.first, self.folded.get().expect("it was just set")))
    }

    /// The true and the predicted values of all rows, both rows × targets, as residuals need them.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a model of classes, else as [`Pipeline::for_each_scores`].
    pub fn true_and_predicted(&self, driver: &Driver<'_>, dataset: &Dataset) -> Result<(Array2<f64>, Array2<f64>)> {
        let Outputs::Regression { n_targets } = self.outputs else {
            return Err(Error::parameter("task", "classification", "regression: classes have no values to compare"));
        };
        let (mut truth, mut predicted) = (Vec::new(), Vec::new());
        self.for_each_scores(driver, dataset, true, |scores, targets| {
            let PanelTargets::Real(values) = targets else { unreachable!("real targets were asked for") };
            truth.extend(values.iter().copied());
            predicted.extend(scores.mapv(Scalar::to_f64));
            Ok(())
        })?;
        let shaped = |values: Vec<f64>| Array2::from_shape_vec((values.len() / n_targets, n_targets), values);
        let fit = "a row has a value for each target";
        Ok((shaped(truth).expect(fit), shaped(predicted).expect(fit)))
    }

    /// Compares predictions with the targets of `dataset`, and probabilities where the model gives them.
    ///
    /// # Errors
    /// As [`Pipeline::for_each_scores`].
    pub fn evaluate(&self, driver: &Driver<'_>, dataset: &Dataset) -> Result<Evaluation> {
        match &self.outputs {
            Outputs::Classification { classes } => {
                let mut confusion = ConfusionMatrix::new(classes.len())?;
                let link = self.link().ok();
                let mut probabilities = ProbabilityScores::new(classes.len())?;
                self.for_each_scores(driver, dataset, true, |scores, targets| {
                    let PanelTargets::Classes(truth) = targets else { unreachable!("classes were asked for") };
                    let truth: Vec<usize> = truth.iter().map(|&class| class as usize).collect();
                    let predicted: Vec<usize> = scores.outer_iter().map(|row| class_of(row) as usize).collect();
                    if let Some(link) = &link {
                        probabilities.add(&truth, link.probabilities(scores).view())?;
                    }
                    confusion.add(&truth, &predicted)
                })?;
                let probabilities = link.map(|_| probabilities.report()).transpose()?;
                Ok(Evaluation::Classification(ClassificationReport { probabilities, ..confusion.report()? }))
            }
            Outputs::Regression { n_targets } => {
                let mut sums = RegressionScores::new(*n_targets)?;
                self.for_each_scores(driver, dataset, true, |scores, targets| {
                    let PanelTargets::Real(truth) = targets else { unreachable!("real targets were asked for") };
                    sums.add(truth.view(), scores.mapv(Scalar::to_f64).view())
                })?;
                Ok(Evaluation::Regression(sums.report()?))
            }
        }
    }
}

/// A calibration is one finite sigmoid for each score of a loss that has no probabilities of its own.
fn check_calibration(spec: &ResolvedSpec, outputs: &Outputs) -> Result<()> {
    let Some(sigmoids) = &spec.calibration else { return Ok(()) };
    let n_outputs = outputs.n_outputs();
    if outputs.classes().is_empty() || Link::native(spec.learner.loss, n_outputs).is_some() {
        let learner = spec.learner.loss.learner();
        return Err(Error::Model(format!("a calibration of a {learner} model that takes none")));
    }
    if sigmoids.len() != n_outputs {
        return Err(Error::Model(format!("a calibration of {} outputs, the model has {n_outputs}", sigmoids.len())));
    }
    if !sigmoids.iter().all(|sigmoid| sigmoid.slope.is_finite() && sigmoid.intercept.is_finite()) {
        return Err(Error::Model("a calibration that is not finite".to_owned()));
    }
    Ok(())
}

/// The class number that a row of scores stands for: the sign of one, the largest of several, the first of equals.
pub fn class_of<T: Scalar>(scores: ArrayView1<'_, T>) -> u32 {
    if scores.len() == 1 {
        return u32::from(scores[0] > T::zero());
    }
    let mut best = 0;
    for (at, &score) in scores.iter().enumerate() {
        if score > scores[best] {
            best = at;
        }
    }
    best as u32
}

/// What the learner fits: ±1 for each class (one column for two classes), or the centred real values.
pub(crate) fn learning_targets<T: Scalar>(encoder: &TargetEncoder, targets: &PanelTargets) -> Array2<T> {
    match targets {
        PanelTargets::Classes(classes) => Array2::from_shape_fn((classes.len(), encoder.n_outputs()), |(i, output)| {
            let positive = if encoder.n_outputs() == 1 { 1 } else { output as u32 };
            if classes[i] == positive { T::one() } else { -T::one() }
        }),
        PanelTargets::Real(values) => {
            let TargetEncoder::Real { centre } = encoder else { unreachable!("real targets of classes") };
            Array2::from_shape_fn(values.dim(), |(i, j)| T::from_f64(values[[i, j]] - centre[j]))
        }
        PanelTargets::None | PanelTargets::AsStored(_) => Array2::zeros((0, encoder.n_outputs())),
    }
}
