//! A pipeline that learns from rows as they come.

use std::sync::OnceLock;

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView1, s};

use super::{Features, Outputs, Pipeline, ResolvedSpec, learning_targets};
use crate::dataset::{PanelRows, PanelTargets, Rows, TargetBlock, TargetEncoder, panel_rows};
use crate::driver::Driver;
use crate::learners::{
    AveragedSgd, ClassWeight, Lambda, LearnerSpec, Loss, MOST_DIRECT, Objective, OnlineLearner, OnlineRidge,
    ResolvedLearner, Solver, check_finite, check_targets,
};
use crate::{Error, Result};

/// Fitted features, what is predicted, and a learner that goes on with each batch of rows.
///
/// By the solver of the spec: `direct` keeps the sums of a ridge model ([`OnlineRidge`]), `sgd` takes a step for each
/// row ([`AveragedSgd`]), and `auto` is `direct` for squared loss with an intercept, else `sgd`. λ must be a number.
/// Real targets are learned as they are, so δ of Huber and ε of support vector regression are in units of the target.
///
/// ```
/// use mercer::dataset::{ClassLabel, TargetBlock};
/// use mercer::feature_maps::{Gamma, MapSpec};
/// use mercer::learners::{Lambda, LearnerSpec, Loss};
/// use mercer::pipeline::{Features, OnlinePipeline, Outputs};
/// use mercer::preprocess::{ColumnStatistics, Preprocess, PreprocessSpec};
/// use mercer::{Driver, Silent};
/// use ndarray::array;
///
/// let driver = Driver::new(1, &Silent)?;
/// let scaling = Preprocess::<f32>::fit(PreprocessSpec::None, &ColumnStatistics::new(2), 0);
/// let map = MapSpec::fourier(64, Gamma::Value(0.5)).resolve(0.5, 2, 7);
/// let classes = vec![ClassLabel::Text("far".into()), ClassLabel::Text("near".into())];
/// let spec = LearnerSpec::new(Loss::Logistic, Lambda::Value(1e-4));
/// let outputs = Outputs::Classification { classes };
/// let mut online = OnlinePipeline::new(Features::from_parts(scaling, map, None)?, outputs, &spec, 7)?;
///
/// let labels = TargetBlock::Text(vec!["near".into(), "far".into()]);
/// online.partial_fit(&driver, array![[0.1, -0.2], [2.0, 1.5]].view().into(), &labels, None)?;
/// let pipeline = online.pipeline()?;
/// assert_eq!((online.n_rows(), pipeline.model().n_outputs()), (2, 1));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone)]
pub struct OnlinePipeline<T> {
    spec: ResolvedSpec,
    outputs: Outputs,
    encoder: TargetEncoder,
    features: Features<T>,
    learner: OnlineLearner,
}

impl<T: Scalar> OnlinePipeline<T> {
    /// Of no rows yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a λ that is not a number, classes weighed by shares that are not known, or another
    /// solver; [`Error::Targets`] for fewer than two classes.
    pub fn new(features: Features<T>, outputs: Outputs, learner: &LearnerSpec, seed: u64) -> Result<Self> {
        learner.validate()?;
        let encoder = outputs.encoder()?;
        learner.check_task(encoder.task())?;
        let (d, k) = (features.spec().n_components(), outputs.n_outputs());
        let learner = resolve(learner, d, k)?;
        let state = match learner.solver {
            Solver::Direct => OnlineLearner::Ridge(OnlineRidge::new(learner.lambda, d, k)?),
            _ => OnlineLearner::Sgd(AveragedSgd::new(objective(&learner), d, k)?),
        };
        let (preprocess, map) = (features.preprocess().kind(), features.spec().clone());
        let spec = ResolvedSpec { preprocess, map, learner, dtype: T::DTYPE, seed, calibration: None };
        Ok(Self { spec, outputs, encoder, features, learner: state })
    }

    /// Goes on from a fitted pipeline by stochastic gradients, with its loss and λ, as if behind `n_rows` rows
    /// ([`AveragedSgd::from_model`]). Real targets, and so δ and ε, are in units of the target from here on.
    ///
    /// # Errors
    /// A model that does not fit its spec.
    pub fn resume(pipeline: &Pipeline<T>, n_rows: u64) -> Result<Self> {
        let Pipeline { spec, outputs, features, model, .. } = pipeline;
        // Not that of the pipeline: it centres targets, and the model does so itself.
        let encoder = outputs.encoder()?;
        let loss = joined(spec.learner.loss, outputs.n_outputs());
        let learner = ResolvedLearner { loss, class_weight: ClassWeight::Uniform, solver: Solver::Sgd, ..spec.learner };
        let state = OnlineLearner::Sgd(AveragedSgd::from_model(objective(&learner), model, n_rows)?);
        let spec = ResolvedSpec { learner, calibration: None, ..spec.clone() };
        Ok(Self { spec, outputs: outputs.clone(), encoder, features: features.clone(), learner: state })
    }

    /// Learns from rows of inputs with their labels or values, and what each row counts, 1 where nothing is given. On
    /// an error nothing was learned; a batch of more than one panel is learned by a copy of the learner for that.
    ///
    /// # Errors
    /// Rows of another width, values that are not finite, labels that are none of the classes, targets or weights that
    /// are not one for each row, or [`Error::Interrupted`].
    pub fn partial_fit(
        &mut self,
        driver: &Driver<'_>,
        rows: Rows<'_, T>,
        targets: &TargetBlock,
        weights: Option<ArrayView1<'_, T>>,
    ) -> Result<()> {
        let targets = self.check(rows, targets, weights)?;
        let map = self.features.map()?;
        let (n_rows, n_panel) = (rows.n_rows(), panel_rows(map.n_components().max(map.n_inputs())));
        let mut learner = if n_rows > n_panel { Some(self.learner.clone()) } else { None };
        for start in (0..n_rows).step_by(n_panel) {
            driver.check_interrupted()?;
            let end = n_rows.min(start + n_panel);
            let panel = self.map_rows(driver, rows.slice(start, end)).map_err(|error| behind(error, start))?;
            let (targets, weights) = (targets.slice(s![start..end, ..]), weights.map(|w| w.slice_move(s![start..end])));
            let learner = learner.as_mut().unwrap_or(&mut self.learner);
            let result = driver.time("learn", || learner.partial_fit(panel.view(), targets, weights));
            result.map_err(|error| behind(error, start))?;
        }
        if let Some(learner) = learner {
            self.learner = learner;
        }
        Ok(())
    }

    /// Takes over what another pipeline learned from other rows: exact for ridge, close for stochastic gradients
    /// ([`AveragedSgd::merge`]).
    ///
    /// # Errors
    /// [`Error::Parameter`] when features, outputs or learners differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let scaling = |pipeline: &Self| pipeline.features.preprocess().clone();
        if self.spec != other.spec || self.outputs != other.outputs || scaling(self) != scaling(other) {
            let expected = "a pipeline of the same scaling, map, outputs and learner";
            return Err(Error::parameter("merge", "a pipeline of other parts", expected));
        }
        self.learner.merge(&other.learner)
    }

    /// The model of the rows so far, whole: it can predict and be saved.
    ///
    /// # Errors
    /// As [`OnlineLearner::model`].
    pub fn pipeline(&self) -> Result<Pipeline<T>> {
        Ok(Pipeline {
            spec: self.spec.clone(),
            outputs: self.outputs.clone(),
            encoder: self.encoder.clone(),
            features: self.features.clone(),
            model: self.learner.model()?,
            folded: OnceLock::new(),
        })
    }

    /// Rows learned from.
    pub fn n_rows(&self) -> u64 {
        self.learner.n_rows()
    }

    /// The pipeline in numbers.
    pub fn spec(&self) -> &ResolvedSpec {
        &self.spec
    }

    /// What is learned from the targets, after all was looked at.
    fn check(&self, rows: Rows<'_, T>, targets: &TargetBlock, weights: Option<ArrayView1<'_, T>>) -> Result<Array2<T>> {
        let (got, expected) = (rows.n_inputs(), self.features.spec().n_inputs());
        if got != expected && !(matches!(rows, Rows::Sparse(_)) && got < expected) {
            return Err(Error::Inputs { context: "partial_fit".to_owned(), got, expected });
        }
        let n_rows = rows.n_rows();
        if targets.n_rows() != n_rows {
            return Err(Error::Targets(format!("{} targets for {n_rows} rows", targets.n_rows())));
        }
        if let Some(weights) = weights.filter(|weights| weights.len() != n_rows) {
            let got = format!("{} numbers for {n_rows} rows", weights.len());
            return Err(Error::parameter("weights", got, "one for each row"));
        }
        check_finite(rows)?;
        let targets = match &self.encoder {
            TargetEncoder::Classes { .. } => PanelTargets::Classes(self.encoder.class_numbers(targets)?),
            TargetEncoder::Real { .. } => PanelTargets::Real(self.encoder.real_values(targets)?),
        };
        let targets = learning_targets(&self.encoder, &targets);
        check_targets(targets.view())?;
        Ok(targets)
    }

    /// Scales and maps rows.
    fn map_rows(&self, driver: &Driver<'_>, rows: Rows<'_, T>) -> Result<PanelRows<T>> {
        match self.features.map()?.keeps_rows() {
            true => Ok(self.features.scaled(rows)),
            false => self.features.transform(driver, rows).map(PanelRows::Dense),
        }
    }
}

/// The error of a row in a panel, counted from the first row of the batch.
fn behind(error: Error, n_rows: usize) -> Error {
    match error {
        Error::TooLarge { row, dtype } => Error::TooLarge { row: row + n_rows as u64, dtype },
        other => other,
    }
}

/// The softmax of 0 and a score is the logistic function of it.
fn joined(loss: Loss, n_outputs: usize) -> Loss {
    if loss == Loss::Softmax && n_outputs == 1 { Loss::Logistic } else { loss }
}

fn objective(learner: &ResolvedLearner) -> Objective {
    Objective { loss: learner.loss, lambda: learner.lambda, intercept: learner.intercept }
}

/// The learner in numbers.
fn resolve(spec: &LearnerSpec, n_components: usize, n_outputs: usize) -> Result<ResolvedLearner> {
    let Lambda::Value(lambda) = spec.lambda else {
        return Err(Error::parameter("lambda", spec.lambda, "a number for rows that come in batches"));
    };
    if spec.class_weight != ClassWeight::Uniform {
        let expected = "uniform for rows that come in batches; give each row its weight";
        return Err(Error::parameter("class_weight", "balanced", expected));
    }
    let solver = match spec.solver {
        Solver::Auto if spec.loss == Loss::Squared && spec.intercept && n_components <= MOST_DIRECT => Solver::Direct,
        Solver::Auto | Solver::Sgd => Solver::Sgd,
        Solver::Direct => Solver::Direct,
        Solver::Iterative => return Err(Error::parameter("solver", "iterative", "auto, direct or sgd for batches")),
        Solver::Dual => return Err(Error::parameter("solver", "dual", "auto, direct or sgd for batches")),
    };
    let loss = joined(spec.loss, n_outputs);
    Ok(ResolvedLearner { loss, lambda, class_weight: ClassWeight::Uniform, intercept: spec.intercept, solver })
}
