//! Fitting a pipeline: a few passes over the data, each block of rows scaled, mapped and summed while in cache.

use std::sync::OnceLock;

use mercer_simd::Scalar;
use serde::{Deserialize, Serialize};

use super::calibrate::CrossFit;
use super::learn::learn;
use super::{Features, Outputs, Pipeline, PipelineSpec, ResolvedSpec};
use crate::dataset::{Dataset, Layout, TargetEncoder};
use crate::driver::Driver;
use crate::feature_maps::MapSpec;
use crate::learners::{Convergence, ResolvedLearner, Solver};
use crate::room::check_room;
use crate::selection::LambdaChoice;
use crate::selection::lambda::Fitting;
use crate::{Error, Result};

/// What was chosen while fitting, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// rows learned from
    pub n_rows: u64,
    /// columns that were constant and are ignored
    pub n_constant_inputs: usize,
    /// the candidates for λ; absent where it was given and no cross-validation asked for
    pub lambda: Option<LambdaChoice>,
    /// how an iteration ended; absent where there was none
    pub convergence: Option<Convergence>,
    /// rows held out whose scores became probabilities; absent where that was not asked for or needs none
    pub calibration_rows: Option<u64>,
    /// of a map of landmarks
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landmarks: Option<LandmarkReport>,
}

/// How many of the landmarks add anything; of principal components how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandmarkReport {
    /// as many were asked for
    pub asked: usize,
    /// as many are left: the others are given by these
    pub rank: usize,
}

impl<T: Scalar> Pipeline<T> {
    /// Fits `spec` to all rows of `dataset`.
    ///
    /// # Errors
    /// Parameters outside their range, targets that cannot be learned, or what the source finds wrong.
    pub fn fit(dataset: &Dataset, spec: &PipelineSpec, driver: &Driver<'_>) -> Result<(Self, FitReport)> {
        Self::fit_around(dataset, spec, driver, None)
    }

    /// [`Pipeline::fit`], with these rows as landmarks where there are any.
    ///
    /// # Errors
    /// As [`Pipeline::fit`] and [`Features::fit_around`].
    pub fn fit_around(
        dataset: &Dataset,
        spec: &PipelineSpec,
        driver: &Driver<'_>,
        landmarks: Option<&Dataset>,
    ) -> Result<(Self, FitReport)> {
        spec.validate()?;
        let targets = dataset.targets().ok_or_else(|| {
            Error::Targets(format!("{} has no targets; name a column or a file of labels", dataset.info().name))
        })?;
        let mut encoder = targets.encoder(spec.task).map_err(|error| error.of_targets_in(&dataset.info().name))?;
        if let (TargetEncoder::Real { centre }, false) = (&mut encoder, spec.learner.intercept) {
            centre.fill(0.0);
        }
        driver.start_training();
        check_size::<T>(dataset, spec, encoder.n_outputs())?;
        let calibration =
            if spec.probabilities { CrossFit::of(&encoder, spec.learner.loss, dataset.n_rows())? } else { None };
        let features = Features::fit_around(dataset, spec.preprocess, &spec.map, spec.seed, driver, landmarks)?;
        driver.time("draw", || features.map().map(drop))?;

        let fitting = Fitting {
            driver,
            dataset,
            encoder: &encoder,
            preprocess: features.preprocess(),
            map: features.map()?,
            seed: spec.seed,
            calibration,
        };
        let learned = learn(&fitting, &spec.learner, spec.cv)?;
        let mut model = learned.model;
        if let TargetEncoder::Real { centre } = &encoder {
            model = model.shifted(centre)?;
        }

        let report = FitReport {
            n_rows: dataset.n_rows(),
            n_constant_inputs: features.preprocess().n_constant(),
            lambda: learned.choice,
            convergence: learned.convergence,
            calibration_rows: learned.calibration.as_ref().map(|calibration| calibration.n_rows),
            landmarks: spec
                .map
                .landmarks()
                .zip(features.landmarks())
                .map(|(asked, found)| LandmarkReport { asked: asked.n_asked(), rank: found.rank() }),
        };
        let resolved = ResolvedSpec {
            preprocess: features.preprocess().kind(),
            map: features.spec().clone(),
            learner: ResolvedLearner {
                loss: spec.learner.loss,
                lambda: learned.lambda,
                class_weight: spec.learner.class_weight,
                intercept: spec.learner.intercept,
                solver: learned.solver,
            },
            calibration: learned.calibration.map(|calibration| calibration.sigmoids),
            dtype: T::DTYPE,
            seed: spec.seed,
        };
        let outputs = Outputs::from(&encoder);
        Ok((Self { spec: resolved, outputs, encoder, features, model, folded: OnceLock::new() }, report))
    }
}

/// Refuses what memory cannot hold before it is asked for.
fn check_size<T: Scalar>(dataset: &Dataset, spec: &PipelineSpec, n_outputs: usize) -> Result<()> {
    let n_components = spec.map.n_components(dataset.n_inputs());
    let sparse = spec.map == MapSpec::Identity && dataset.info().layout == Layout::Sparse;
    let solver = spec.learner.solver_for(dataset.n_rows(), n_components);
    if sparse && matches!(solver, Solver::Dual | Solver::Iterative) {
        // They keep the rows as they are, and little else.
        return Ok(());
    }
    // The map and panels of rows are checked where they are made.
    let memory = spec.memory(dataset.n_rows(), dataset.n_inputs(), n_outputs, T::DTYPE);
    check_room(memory.learner.into(), || format!("sums or samples of {n_components} features"))
}
