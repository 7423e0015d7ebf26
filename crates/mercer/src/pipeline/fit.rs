//! Fitting a pipeline: a few passes over the data, each block of rows scaled, mapped and summed while in cache.

use mercer_simd::{CsrMatrix, Scalar};
use ndarray::{Array2, Axis, concatenate};
use serde::{Deserialize, Serialize};

use super::{Outputs, Pipeline, PipelineSpec, ResolvedLearner, ResolvedSpec};
use crate::dataset::{Dataset, PanelRows, Panels, Rows, SUM_ROWS, Selection, TargetEncoder};
use crate::driver::Driver;
use crate::feature_maps::{FeatureMap, Gamma, MAX_ENTRIES};
use crate::learners::{Lambda, LearnerSpec, LinearModel};
use crate::metrics::{ApproximationReport, approximation};
use crate::preprocess::{ColumnStatistics, Preprocess, PreprocessSpec};
use crate::random::{Purpose, sample};
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

/// Rows on which the map is compared with its kernel.
const APPROXIMATION_SAMPLE: usize = 500;
/// Wider rows are identifiers taken for inputs.
const MAX_INPUTS: usize = 1 << 26;
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
        let preprocess = fit_preprocess(dataset, spec.preprocess, driver)?;
        let gamma = resolve_gamma(dataset, &preprocess, spec, driver)?;
        let resolved_map = spec.map.resolve(gamma, dataset.n_inputs(), spec.seed);
        let map = driver.time("draw", || resolved_map.build::<T>())?;
        let sampled = sample_rows(dataset, &preprocess, driver, spec.seed, APPROXIMATION_SAMPLE)?;
        let compared = driver.time("compare", || compare(&*map, resolved_map.kernel(), sampled.view()))?;

        let LearnerSpec::Ridge { lambda } = spec.learner;
        let (preprocess_ref, map_ref) = (&preprocess, &*map);
        let fitting = lambda::Fitting {
            driver,
            dataset,
            encoder: &encoder,
            preprocess: preprocess_ref,
            map: map_ref,
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
            n_constant_inputs: preprocess.n_constant(),
            lambda: choice,
            approximation: compared,
        };
        let resolved = ResolvedSpec {
            preprocess: preprocess.kind(),
            map: resolved_map,
            learner: ResolvedLearner::Ridge { lambda },
            dtype: T::DTYPE,
            seed: spec.seed,
        };
        let outputs = Outputs::from(&encoder);
        Ok((Self { spec: resolved, outputs, encoder, preprocess, map, model }, report))
    }
}

/// Refuses what memory cannot hold before it is asked for.
fn check_size(dataset: &Dataset, spec: &PipelineSpec) -> Result<()> {
    let (n_inputs, n_components) = (dataset.n_inputs(), spec.map.n_components());
    // Sums and factor are triangles of f64, or the rows are kept, and panels of rows in any case; the system knows
    // whether it has the memory.
    let kept = usize::try_from(dataset.n_rows()).map_or(n_components, |n| n_components.min(n.saturating_mul(2)));
    if Vec::<f64>::new().try_reserve_exact(n_components.saturating_mul(kept.max(2 * SUM_ROWS))).is_err() {
        let expected = "less: memory cannot hold what is learned from";
        return Err(Error::parameter("n_components", n_components, expected));
    }
    if n_inputs > MAX_INPUTS || n_inputs.saturating_mul(n_components) > MAX_ENTRIES {
        return Err(Error::TooWide { context: dataset.info().name.clone(), n_inputs, n_components });
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

fn fit_preprocess<T: Scalar>(dataset: &Dataset, spec: PreprocessSpec, driver: &Driver<'_>) -> Result<Preprocess<T>> {
    let kind = spec.resolve(dataset.info().layout)?;
    let mut columns = ColumnStatistics::new(dataset.n_inputs());
    if kind.needs_statistics() {
        let panels = Panels::<T>::new(dataset, dataset.n_inputs(), None, Selection::All)?;
        driver.for_each_panel("preprocess", dataset.n_rows(), panels, None, |panel| {
            columns.add(panel.rows.view());
            Ok(())
        })?;
    }
    Ok(Preprocess::fit(kind, &columns, dataset.n_indicators()))
}

fn resolve_gamma<T: Scalar>(
    dataset: &Dataset,
    preprocess: &Preprocess<T>,
    spec: &PipelineSpec,
    driver: &Driver<'_>,
) -> Result<f64> {
    match spec.map.gamma() {
        Gamma::Value(gamma) => Ok(gamma),
        Gamma::Scale => {
            let mut columns = ColumnStatistics::new(dataset.n_inputs());
            let panels = Panels::<T>::new(dataset, dataset.n_inputs(), None, Selection::All)?;
            driver.for_each_panel("gamma", dataset.n_rows(), panels, Some(preprocess), |panel| {
                columns.add(panel.rows.view());
                Ok(())
            })?;
            Gamma::from_variance(dataset.n_inputs(), columns.total_variance())
        }
        Gamma::Median => {
            let rows = sample_rows(dataset, preprocess, driver, spec.seed, Gamma::MEDIAN_SAMPLE)?;
            driver.time("gamma", || Gamma::from_sample(rows.view()))
        }
    }
}

/// A seeded sample of scaled rows: the same rows whatever the order of blocks, a smaller one is part of a larger one.
fn sample_rows<T: Scalar>(
    dataset: &Dataset,
    preprocess: &Preprocess<T>,
    driver: &Driver<'_>,
    seed: u64,
    n_rows: usize,
) -> Result<PanelRows<T>> {
    let selection = Selection::rows(sample(seed, Purpose::Sample, dataset.n_rows(), n_rows));
    let panels = Panels::<T>::new(dataset, dataset.n_inputs(), None, selection)?;
    let mut taken = Vec::new();
    driver.for_each_panel("sample", dataset.n_rows(), panels, Some(preprocess), |panel| {
        taken.push(panel.rows);
        Ok(())
    })?;
    Ok(join(&taken, dataset.n_inputs()))
}

fn join<T: Scalar>(panels: &[PanelRows<T>], n_inputs: usize) -> PanelRows<T> {
    if let Some(PanelRows::Sparse(_)) = panels.first() {
        let mut joined = CsrMatrix::new(n_inputs);
        for panel in panels {
            if let PanelRows::Sparse(rows) = panel {
                (0..rows.n_rows()).for_each(|i| joined.push_row_of(rows.view(), i));
            }
        }
        return PanelRows::Sparse(joined);
    }
    let dense: Vec<_> = panels
        .iter()
        .filter_map(|panel| match panel {
            PanelRows::Dense(rows) => Some(rows.view()),
            PanelRows::Sparse(_) => None,
        })
        .collect();
    PanelRows::Dense(concatenate(Axis(0), &dense).unwrap_or_else(|_| Array2::zeros((0, n_inputs))))
}

fn compare<T: Scalar>(
    map: &dyn FeatureMap<T>,
    kernel: crate::kernels::Kernel,
    rows: Rows<'_, T>,
) -> Result<Option<ApproximationReport>> {
    let mut features = Array2::zeros((rows.n_rows(), map.n_components()));
    let mut scratch = vec![T::zero(); map.scratch_len(rows.n_rows())];
    map.transform_into(rows, features.view_mut(), &mut scratch)?;
    match approximation(kernel, rows, features.view()) {
        Ok(report) => Ok(Some(report)),
        Err(Error::TooFewRows { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
