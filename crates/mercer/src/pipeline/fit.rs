//! Fitting a pipeline: a few passes over the data, each block of rows scaled, mapped and summed while in cache.

use mercer_simd::Scalar;
use serde::{Deserialize, Serialize};

use super::{Features, Outputs, Pipeline, PipelineSpec, ResolvedLearner, ResolvedSpec};
use crate::dataset::{Dataset, SUM_ROWS, Selection, TargetEncoder};
use crate::driver::Driver;
use crate::learners::{Lambda, LearnerSpec, LinearModel};
use crate::metrics::ApproximationReport;
use crate::selection::{LambdaChoice, Validation, lambda};
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
    /// how well the map approximates its kernel on a sample of rows; absent for fewer than two different rows
    pub approximation: Option<ApproximationReport>,
}

/// λ where the rows are too few to hold any out.
const LAMBDA_OF_FEW_ROWS: f64 = 1e-3;
/// Fewer rows than this are not divided.
const MIN_ROWS_TO_HOLD_OUT: u64 = 20;

impl<T: Scalar> Pipeline<T> {
    /// Fits `spec` to all rows of `dataset`.
    ///
    /// # Errors
    /// Parameters outside their range, targets that cannot be learned, or what the source finds wrong.
    pub fn fit(dataset: &Dataset, spec: &PipelineSpec, driver: &Driver<'_>) -> Result<(Self, FitReport)> {
        spec.validate()?;
        let targets = dataset.targets().ok_or_else(|| {
            Error::Targets(format!("{} has no targets; name a column or a file of labels", dataset.info().name))
        })?;
        let encoder = targets.encoder(spec.task).map_err(|error| error.of_targets_in(&dataset.info().name))?;
        check_size(dataset, spec)?;
        let features = Features::fit(dataset, spec.preprocess, &spec.map, spec.seed, driver)?;
        let approximation = features.approximation(dataset, spec.seed, driver)?;

        let LearnerSpec::Ridge { lambda } = spec.learner;
        let fitting = lambda::Fitting {
            driver,
            dataset,
            encoder: &encoder,
            preprocess: features.preprocess(),
            map: features.map()?,
            seed: spec.seed,
        };
        let gathered = fitting.gather(Selection::All)?;
        let choice = choose(&fitting, &gathered, lambda, spec.cv)?;
        let lambda = choice.as_ref().map_or(given_or_default(lambda), |choice| choice.lambda);
        let mut model: LinearModel<T> = driver.time("solve", || gathered.into_system()?.into_solution(lambda))?;
        if let TargetEncoder::Real { centre } = &encoder {
            model = model.shifted(centre)?;
        }

        let report = FitReport {
            n_rows: dataset.n_rows(),
            n_constant_inputs: features.preprocess().n_constant(),
            lambda: choice,
            approximation,
        };
        let resolved = ResolvedSpec {
            preprocess: features.preprocess().kind(),
            map: features.spec().clone(),
            learner: ResolvedLearner::Ridge { lambda },
            dtype: T::DTYPE,
            seed: spec.seed,
        };
        let outputs = Outputs::from(&encoder);
        Ok((Self { spec: resolved, outputs, encoder, features, model }, report))
    }
}

/// Refuses what memory cannot hold before it is asked for.
fn check_size(dataset: &Dataset, spec: &PipelineSpec) -> Result<()> {
    let n_components = spec.map.n_components(dataset.n_inputs());
    // Sums and factor are triangles of f64, or the rows are kept, and panels of rows in any case; the system knows
    // whether it has the memory.
    let kept = usize::try_from(dataset.n_rows()).map_or(n_components, |n| n_components.min(n.saturating_mul(2)));
    if Vec::<f64>::new().try_reserve_exact(n_components.saturating_mul(kept.max(2 * SUM_ROWS))).is_err() {
        let expected = "less: memory cannot hold what is learned from";
        return Err(Error::parameter("n_components", n_components, expected));
    }
    Ok(())
}

fn given_or_default(lambda: Lambda) -> f64 {
    match lambda {
        Lambda::Value(value) => value,
        Lambda::Auto => LAMBDA_OF_FEW_ROWS,
    }
}

/// Tries the candidates where there is a choice to make or a cross-validation to report.
fn choose<T: Scalar>(
    fitting: &lambda::Fitting<'_, T>,
    gathered: &lambda::Gathered,
    lambda: Lambda,
    cv: Option<usize>,
) -> Result<Option<LambdaChoice>> {
    let given;
    let candidates: &[f64] = match lambda {
        Lambda::Auto => &Lambda::CANDIDATES,
        Lambda::Value(value) => {
            given = [value];
            &given
        }
    };
    let validation = match (cv, lambda) {
        (Some(k), _) => Validation::CrossValidation { k },
        (None, Lambda::Value(_)) => return Ok(None),
        (None, Lambda::Auto) if fitting.dataset.n_rows() < MIN_ROWS_TO_HOLD_OUT => return Ok(None),
        (None, Lambda::Auto) => Validation::HoldOut,
    };
    lambda::validate(fitting, gathered, candidates, validation)
}
