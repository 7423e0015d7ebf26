//! The first half of a pipeline: scaling and feature map, fitted without targets.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use mercer_simd::ops::finite::all_finite;
use mercer_simd::{Aligned, CsrMatrix, InstructionSet, Scalar, huge_pages};
use ndarray::{Array2, ArrayViewMut2, Axis, concatenate};
use rayon::prelude::*;

use crate::budget::{choose_balanced_numbered, choose_numbered};
use crate::dataset::{
    Dataset, Layout, PanelRows, PanelTargets, Panels, Rows, Selection, TargetEncoder, TargetUse, panel_rows,
};
use crate::driver::Driver;
use crate::feature_maps::{FeatureMap, Gamma, LandmarkSpec, Landmarks, MapSpec, ResolvedMap};
use crate::metrics::{ApproximationReport, approximation};
use crate::preprocess::{ColumnStatistics, Preprocess, PreprocessSpec};
use crate::random::{Purpose, Stream, sample};
use crate::room::check_features;
use crate::{Error, Result};

/// Rows on which the map is compared with its kernel.
const APPROXIMATION_SAMPLE: usize = 500;
/// Rows on which the map is timed.
const TIMED_SAMPLE: usize = 512;
/// Runs over them, and the time they take together, at least.
const TIMED_RUNS: (usize, Duration) = (5, Duration::from_millis(50));

/// A fitted scaling and feature map: from rows to features. Clones share a map that is drawn.
#[derive(Clone)]
pub struct Features<T> {
    preprocess: Preprocess<T>,
    spec: ResolvedMap,
    landmarks: Option<Arc<Landmarks<T>>>,
    /// Drawn when it is first used: a model file does not back the size of a random matrix, rows of its width do.
    map: OnceLock<Arc<dyn FeatureMap<T>>>,
}

impl<T: Scalar> Features<T> {
    /// Fits the scaling and the kernel's width to all rows of `dataset`, and draws the map.
    ///
    /// # Errors
    /// Parameters outside their range, or what the source finds wrong.
    pub fn fit(
        dataset: &Dataset,
        preprocess: PreprocessSpec,
        map: &MapSpec,
        seed: u64,
        driver: &Driver<'_>,
    ) -> Result<Self> {
        let features = Self::fit_undrawn(dataset, preprocess, map, seed, driver)?;
        driver.time("draw", || features.map().map(drop))?;
        Ok(features)
    }

    /// [`Features::fit`]; the map is drawn when it is first used.
    ///
    /// # Errors
    /// As [`Features::fit`].
    pub fn fit_undrawn(
        dataset: &Dataset,
        preprocess: PreprocessSpec,
        map: &MapSpec,
        seed: u64,
        driver: &Driver<'_>,
    ) -> Result<Self> {
        Self::fit_around(dataset, preprocess, map, seed, driver, None)
    }

    /// [`Features::fit_undrawn`], with these rows, scaled as the others are, as landmarks where there are any.
    ///
    /// # Errors
    /// As [`Features::fit`]; [`Error::Parameter`] for landmarks of a map that has none, [`Error::Inputs`] for those of another width.
    pub fn fit_around(
        dataset: &Dataset,
        preprocess: PreprocessSpec,
        map: &MapSpec,
        seed: u64,
        driver: &Driver<'_>,
        given: Option<&Dataset>,
    ) -> Result<Self> {
        map.validate()?;
        check_width(dataset, map)?;
        let preprocess = fit_preprocess(dataset, preprocess, driver)?;
        let gamma = resolve_gamma(dataset, &preprocess, map, seed, driver)?;
        let spec = map.resolve(gamma, dataset.n_inputs(), seed);
        let Some(wanted) = map.landmarks() else {
            return match given {
                None => Self::from_parts(preprocess, spec, None),
                Some(_) => Err(Error::parameter("landmarks", "given", "left out: this map has none")),
            };
        };
        spec.validate()?;
        let landmarks = match given {
            None => fit_landmarks(dataset, &preprocess, (wanted, &spec), driver)?,
            Some(given) => {
                check_inputs(given, dataset.n_inputs())?;
                let rows = scaled_rows(given, (&preprocess, dataset.n_inputs()), driver, Selection::All)?;
                driver.time("fit map", || wanted.fit(spec.kernel(), &rows, seed)).map_err(of_sample)?
            }
        };
        let spec = ResolvedMap { spec: spec.spec.with_landmarks(&landmarks), ..spec };
        Self::from_parts(preprocess, spec, Some(landmarks))
    }

    /// Puts fitted parts together.
    ///
    /// # Errors
    /// As [`ResolvedMap::validate`]; [`Error::Model`] for landmarks that the map has not, or has not of this shape.
    pub fn from_parts(preprocess: Preprocess<T>, spec: ResolvedMap, landmarks: Option<Landmarks<T>>) -> Result<Self> {
        spec.validate()?;
        spec.check_landmarks(landmarks.as_ref())?;
        Ok(Self { preprocess, spec, landmarks: landmarks.map(Arc::new), map: OnceLock::new() })
    }

    /// The fitted scaling.
    pub fn preprocess(&self) -> &Preprocess<T> {
        &self.preprocess
    }

    /// The map in numbers.
    pub fn spec(&self) -> &ResolvedMap {
        &self.spec
    }

    /// What the map learned of the rows, where that is anything.
    pub fn landmarks(&self) -> Option<&Landmarks<T>> {
        self.landmarks.as_deref()
    }

    /// The map, drawn when first asked for.
    ///
    /// # Errors
    /// Where memory is short.
    pub fn map(&self) -> Result<&dyn FeatureMap<T>> {
        if self.map.get().is_none() {
            // Another thread may have been faster: both drew the same.
            let _ = self.map.set(self.spec.build_with(self.landmarks())?.into());
        }
        Ok(&**self.map.get().expect("it was just set"))
    }

    /// Hands `each` the features of every panel of rows, in order, and their targets as `targets` says.
    ///
    /// # Errors
    /// What the source finds wrong, rows of another width, [`Error::TooLarge`] for features that are not finite, or
    /// what `each` returns.
    pub fn for_each(
        &self,
        stage: &'static str,
        driver: &Driver<'_>,
        dataset: &Dataset,
        targets: TargetUse<'_>,
        each: impl FnMut(Rows<'_, T>, &PanelTargets) -> Result<()> + Send,
    ) -> Result<()> {
        self.check_inputs(dataset)?;
        self.for_each_by(self.map()?, stage, driver, dataset, targets, each)
    }

    /// [`Features::for_each`] by another map of the same inputs.
    pub(super) fn for_each_by(
        &self,
        map: &dyn FeatureMap<T>,
        stage: &'static str,
        driver: &Driver<'_>,
        dataset: &Dataset,
        targets: TargetUse<'_>,
        each: impl FnMut(Rows<'_, T>, &PanelTargets) -> Result<()> + Send,
    ) -> Result<()> {
        let panels = Panels::new(dataset, self.spec.n_inputs(), targets, Selection::All)?;
        driver.for_each_features(stage, dataset.n_rows(), panels, (&self.preprocess, map), each)
    }

    /// The features of rows, scaled and mapped in panels.
    ///
    /// # Errors
    /// Rows of another width, [`Error::NotFinite`] for values that are no numbers, [`Error::TooLarge`] for features that are
    /// none, [`Error::Memory`] where there is no room for them, or [`Error::Interrupted`].
    pub fn transform(&self, driver: &Driver<'_>, rows: Rows<'_, T>) -> Result<Array2<T>> {
        let (n_rows, got, expected) = (rows.n_rows(), rows.n_inputs(), self.spec.n_inputs());
        if got != expected && !(matches!(rows, Rows::Sparse(_)) && got < expected) {
            return Err(Error::Inputs { context: "transform".to_owned(), got, expected });
        }
        let width = self.spec.n_components();
        check_features::<T>(n_rows, width)?;
        let mut out = huge_pages::zeros((n_rows, width));
        let n_panel = panel_rows(width.max(expected));
        for (at, mut out) in out.axis_chunks_iter_mut(Axis(0), n_panel).enumerate() {
            driver.check_interrupted()?;
            let start = at * n_panel;
            let panel = rows.slice(start, start + out.nrows());
            if self.preprocess.kind() == PreprocessSpec::None {
                driver.transform(self.map()?, panel, out.view_mut()).map_err(|error| error.behind(start))?;
            } else {
                let scaled = self.scaled(panel);
                driver.transform(self.map()?, scaled.view(), out.view_mut()).map_err(|error| error.behind(start))?;
            }
            let isa = InstructionSet::best();
            let is_finite = |i: usize| all_finite(isa, out.row(i).as_slice().expect("row-major"));
            let rows = (0..out.nrows()).into_par_iter().with_min_len(32);
            let bad = driver.install(|| rows.position_first(|i| !is_finite(i) || !values_are_finite(isa, panel, i)));
            if let Some(at) = bad {
                let row = (start + at) as u64;
                // What was finite before the map: name the row, not a feature.
                let too_large = Error::TooLarge { row, dtype: T::DTYPE };
                return Err(first_not_finite(panel, at).map_or(too_large, |(input, value)| Error::NotFinite {
                    row,
                    input,
                    value,
                }));
            }
        }
        Ok(out)
    }

    /// A copy of rows, scaled.
    pub(super) fn scaled(&self, rows: Rows<'_, T>) -> PanelRows<T> {
        let mut panel = match rows {
            Rows::Dense(x) => PanelRows::Dense(x.as_standard_layout().into_owned()),
            Rows::Sparse(x) => {
                let mut panel = CsrMatrix::new(self.spec.n_inputs());
                panel.push_rows_of(x);
                PanelRows::Sparse(panel)
            }
        };
        self.preprocess.apply_in_place(&mut panel);
        panel
    }

    /// Before the map is drawn: its size may be anything, that of rows is real.
    pub(super) fn check_inputs(&self, dataset: &Dataset) -> Result<()> {
        check_inputs(dataset, self.spec.n_inputs())
    }

    /// How well the map approximates its kernel on a sample of rows; none for fewer than two different rows, where the
    /// features are the inputs, and of principal components, which have the kernel without its mean.
    ///
    /// # Errors
    /// What the source finds wrong, or rows of another width.
    pub fn approximation(
        &self,
        dataset: &Dataset,
        seed: u64,
        driver: &Driver<'_>,
    ) -> Result<Option<ApproximationReport>> {
        let centres = self.landmarks().is_some_and(|landmarks| !landmarks.offset().is_empty());
        if self.map()?.keeps_rows() || centres {
            return Ok(None);
        }
        let sampled = self.sample_rows(dataset, seed, APPROXIMATION_SAMPLE, driver)?;
        let map = self.map()?;
        driver.time("compare", || compare(map, &self.spec, sampled.view()))
    }

    /// Seconds that the map takes for a row on one thread: the best of at least five runs over a sample of scaled rows.
    ///
    /// # Errors
    /// What the source finds wrong, rows of another width, or [`Error::Interrupted`].
    pub fn seconds_per_row(&self, dataset: &Dataset, seed: u64, driver: &Driver<'_>) -> Result<f64> {
        let sampled = self.sample_rows(dataset, seed, TIMED_SAMPLE, driver)?;
        let map = self.map()?;
        driver.time("time", || seconds_per_row(map, sampled.view(), driver))
    }

    /// A seeded sample of scaled rows, in their order.
    ///
    /// # Errors
    /// What the source finds wrong, rows of another width, or [`Error::Interrupted`].
    pub fn sample_rows(
        &self,
        dataset: &Dataset,
        seed: u64,
        n_rows: usize,
        driver: &Driver<'_>,
    ) -> Result<PanelRows<T>> {
        self.check_inputs(dataset)?;
        sample_rows(dataset, (&self.preprocess, self.spec.n_inputs()), driver, seed, n_rows)
    }

    /// [`Features::sample_rows`], the same rows, with the numbers of their classes.
    ///
    /// # Errors
    /// As [`Features::sample_rows`]; [`Error::Parameter`] for data without classes.
    pub fn sample_classes(
        &self,
        dataset: &Dataset,
        seed: u64,
        n_rows: usize,
        driver: &Driver<'_>,
    ) -> Result<(PanelRows<T>, Vec<u32>)> {
        self.check_inputs(dataset)?;
        let selection = Selection::rows(sample(seed, Purpose::Sample, dataset.n_rows(), n_rows));
        rows_with_classes(dataset, (&self.preprocess, self.spec.n_inputs()), driver, selection)
    }
}

/// Rows are as wide as those fitted to; sparse ones may end before.
fn check_inputs(dataset: &Dataset, expected: usize) -> Result<()> {
    let got = dataset.n_inputs();
    if got == expected || (dataset.info().layout == Layout::Sparse && got < expected) {
        return Ok(());
    }
    Err(Error::Inputs { context: dataset.info().name.clone(), got, expected })
}

/// Refuses a random matrix that no ordinary memory holds.
fn check_width(dataset: &Dataset, map: &MapSpec) -> Result<()> {
    let n_inputs = dataset.n_inputs();
    if !map.fits(n_inputs) {
        let n_components = map.n_components(n_inputs);
        return Err(Error::TooWide { context: dataset.info().name.clone(), n_inputs, n_components });
    }
    Ok(())
}

fn fit_preprocess<T: Scalar>(dataset: &Dataset, spec: PreprocessSpec, driver: &Driver<'_>) -> Result<Preprocess<T>> {
    let kind = spec.resolve(dataset.info().layout)?;
    let mut columns = ColumnStatistics::new(dataset.n_inputs());
    if kind.needs_statistics() {
        let panels = Panels::<T>::new(dataset, dataset.n_inputs(), TargetUse::None, Selection::All)?;
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
    map: &MapSpec,
    seed: u64,
    driver: &Driver<'_>,
) -> Result<f64> {
    let distance = map.distance();
    match map.gamma() {
        None => Ok(f64::NAN),
        Some(Gamma::Value(gamma)) => Ok(gamma),
        Some(Gamma::Scale) => {
            let mut columns = ColumnStatistics::new(dataset.n_inputs());
            let panels = Panels::<T>::new(dataset, dataset.n_inputs(), TargetUse::None, Selection::All)?;
            driver.for_each_panel("gamma", dataset.n_rows(), panels, Some(preprocess), |panel| {
                columns.add(panel.rows.view());
                Ok(())
            })?;
            Gamma::from_variance(distance, dataset.n_inputs(), columns.total_variance())
        }
        Some(Gamma::Median) => {
            let fitted = (preprocess, dataset.n_inputs());
            let rows = sample_rows(dataset, fitted, driver, seed, Gamma::MEDIAN_SAMPLE)?;
            driver.time("gamma", || Gamma::from_sample(distance, rows.view()))
        }
    }
}

/// Chooses landmarks among scaled rows, and learns what their kernel values are multiplied by.
fn fit_landmarks<T: Scalar>(
    dataset: &Dataset,
    preprocess: &Preprocess<T>,
    (wanted, spec): (&LandmarkSpec, &ResolvedMap),
    driver: &Driver<'_>,
) -> Result<Landmarks<T>> {
    let (m, method, kernel) = (wanted.n_landmarks(), wanted.budget.method, spec.kernel());
    // Of its own: the rows on which the map is compared with its kernel must not be the landmarks.
    let seed = Stream::new(spec.seed, Purpose::Landmark).bits(0);
    let n_candidates = wanted.budget.n_candidates(m, dataset.n_rows());
    let mut numbers = sample(seed, Purpose::Sample, dataset.n_rows(), n_candidates);
    numbers.sort_unstable();
    let selection = Selection::rows(numbers.clone());
    let chosen = if wanted.budget.balanced {
        let (rows, classes) = rows_with_classes(dataset, (preprocess, spec.n_inputs()), driver, selection)?;
        driver.time("budget", || choose_balanced_numbered(method, kernel, (rows.view(), &classes), m, seed))
    } else {
        let rows = scaled_rows(dataset, (preprocess, spec.n_inputs()), driver, selection)?;
        driver.time("budget", || choose_numbered(method, kernel, rows.view(), m, seed))
    }
    .map_err(of_sample)?;
    driver.check_interrupted()?;
    let landmarks = driver.time("fit map", || wanted.fit(kernel, &chosen.rows, spec.seed)).map_err(of_sample)?;
    let of_data = |chosen: Vec<usize>| chosen.into_iter().map(|i| numbers[i]).collect::<Vec<_>>();
    Ok(landmarks.renumbered(chosen.numbers.map(of_data).as_deref()))
}

/// Of rows that were sampled the number of a row says nothing.
fn of_sample(error: Error) -> Error {
    match error {
        Error::Negative { value, .. } => {
            let expected = "another, or for values of at least 0: shift or scale them (as min-max does)";
            Error::parameter("kernel", format!("a chi-squared one for a value of {value}"), expected)
        }
        Error::TooNegative { value, skewedness, .. } => {
            let expected = "larger than the lowest value is below 0: shift the values (as min-max does), or use more";
            Error::parameter("skewedness", format!("{skewedness} for a value of {value}"), expected)
        }
        other => other,
    }
}

/// Some rows, scaled, with the numbers of their classes.
fn rows_with_classes<T: Scalar>(
    dataset: &Dataset,
    (preprocess, n_inputs): (&Preprocess<T>, usize),
    driver: &Driver<'_>,
    selection: Selection,
) -> Result<(PanelRows<T>, Vec<u32>)> {
    let encoder = dataset.targets().map(|targets| targets.encoder(None)).transpose()?;
    let Some(encoder @ TargetEncoder::Classes { .. }) = encoder else {
        return Err(Error::parameter("balanced", "on", "off for data without classes"));
    };
    let panels = Panels::<T>::new(dataset, n_inputs, TargetUse::Encoded(&encoder), selection)?;
    let (mut taken, mut classes) = (Vec::new(), Vec::new());
    driver.for_each_panel("sample", dataset.n_rows(), panels, Some(preprocess), |panel| {
        taken.push(panel.rows);
        if let PanelTargets::Classes(of_panel) = panel.targets {
            classes.extend(of_panel);
        }
        Ok(())
    })?;
    Ok((join(&taken, n_inputs), classes))
}

/// A seeded sample of scaled rows: the same rows whatever the order of blocks, a smaller one is part of a larger one.
fn sample_rows<T: Scalar>(
    dataset: &Dataset,
    fitted: (&Preprocess<T>, usize),
    driver: &Driver<'_>,
    seed: u64,
    n_rows: usize,
) -> Result<PanelRows<T>> {
    let selection = Selection::rows(sample(seed, Purpose::Sample, dataset.n_rows(), n_rows));
    scaled_rows(dataset, fitted, driver, selection)
}

/// Some rows, scaled.
fn scaled_rows<T: Scalar>(
    dataset: &Dataset,
    (preprocess, n_inputs): (&Preprocess<T>, usize),
    driver: &Driver<'_>,
    selection: Selection,
) -> Result<PanelRows<T>> {
    let panels = Panels::<T>::new(dataset, n_inputs, TargetUse::None, selection)?;
    let mut taken = Vec::new();
    driver.for_each_panel("sample", dataset.n_rows(), panels, Some(preprocess), |panel| {
        taken.push(panel.rows);
        Ok(())
    })?;
    Ok(join(&taken, n_inputs))
}

fn join<T: Scalar>(panels: &[PanelRows<T>], n_inputs: usize) -> PanelRows<T> {
    if let Some(PanelRows::Sparse(_)) = panels.first() {
        let mut joined = CsrMatrix::new(n_inputs);
        for panel in panels {
            if let PanelRows::Sparse(rows) = panel {
                joined.push_rows_of(rows.view());
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
    spec: &ResolvedMap,
    rows: Rows<'_, T>,
) -> Result<Option<ApproximationReport>> {
    check_features::<T>(rows.n_rows(), map.n_components())?;
    let mut features = huge_pages::zeros((rows.n_rows(), map.n_components()));
    let mut scratch = vec![T::zero(); map.scratch_len(rows.n_rows())];
    map.transform_into(rows, features.view_mut(), &mut scratch)?;
    let report = match spec.length_scales() {
        None => approximation(spec.kernel(), rows, features.view()),
        Some(scales) => {
            let mut divided = Array2::zeros((rows.n_rows(), rows.n_inputs()));
            rows.write_dense(divided.view_mut());
            for (mut column, scale) in divided.columns_mut().into_iter().zip(scales) {
                column.mapv_inplace(|x| x / T::from_f64(*scale));
            }
            approximation(spec.kernel(), Rows::Dense(divided.view()), features.view())
        }
    };
    match report {
        Ok(report) => Ok(Some(report)),
        Err(Error::TooFewRows { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The smallest time of several runs into the same memory: the others were disturbed.
fn seconds_per_row<T: Scalar>(map: &dyn FeatureMap<T>, rows: Rows<'_, T>, driver: &Driver<'_>) -> Result<f64> {
    let (n_rows, width) = (rows.n_rows(), map.n_components());
    check_features::<T>(n_rows, width)?;
    let mut features = Aligned::<T>::zeros(n_rows * width);
    let mut scratch = Aligned::<T>::zeros(map.scratch_len(n_rows));
    let (start, mut best) = (Instant::now(), Duration::MAX);
    for run in 0.. {
        driver.check_interrupted()?;
        if run >= TIMED_RUNS.0 && start.elapsed() >= TIMED_RUNS.1 {
            break;
        }
        let out = ArrayViewMut2::from_shape((n_rows, width), &mut features).expect("whole rows");
        let begun = Instant::now();
        map.transform_into(rows, out, &mut scratch)?;
        best = best.min(begun.elapsed());
    }
    Ok(best.as_secs_f64() / n_rows as f64)
}

/// The first value of row `i` that is no number.
fn first_not_finite<T: Scalar>(rows: Rows<'_, T>, i: usize) -> Option<(usize, f64)> {
    let is_bad = |(_, value): &(usize, T)| !value.is_finite();
    let bad = match rows {
        Rows::Dense(x) => x.row(i).iter().copied().enumerate().find(is_bad),
        Rows::Sparse(x) => x.row(i).find(is_bad),
    };
    bad.map(|(input, value)| (input, value.to_f64()))
}

/// Whether row `i` has numbers only.
fn values_are_finite<T: Scalar>(isa: InstructionSet, rows: Rows<'_, T>, i: usize) -> bool {
    match rows {
        Rows::Dense(x) => {
            let row = x.row(i);
            row.as_slice().map_or_else(|| row.iter().all(|x| x.is_finite()), |row| all_finite(isa, row))
        }
        Rows::Sparse(x) => all_finite(isa, &x.values()[x.row_range(i)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    /// Of more features than any memory holds.
    struct Wide;

    impl FeatureMap<f32> for Wide {
        fn n_inputs(&self) -> usize {
            1
        }

        fn n_components(&self) -> usize {
            1 << 50
        }

        fn scratch_len(&self, _n_rows: usize) -> usize {
            0
        }

        fn transform_into(&self, _: Rows<'_, f32>, _: ArrayViewMut2<'_, f32>, _: &mut [f32]) -> Result<()> {
            unreachable!("there is no memory for it")
        }
    }

    #[test]
    fn features_that_memory_does_not_hold_are_refused() {
        let (rows, driver) = (Array2::zeros((3, 1)), Driver::new(1, &Silent).unwrap());
        let spec = MapSpec::Identity.resolve(f64::NAN, 1, 0);
        let rows = Rows::Dense(rows.view());
        for result in [compare(&Wide, &spec, rows).map(drop), seconds_per_row(&Wide, rows, &driver).map(drop)] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("3 rows of 1125899906842624 features") && error.contains("n_components"), "{error}");
        }
    }
}
