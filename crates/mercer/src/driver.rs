//! The block driver: the one owner of threads, of the row-block size, and of progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mercer_simd::{CsrMatrix, Scalar, huge_pages};
use ndarray::{Array2, ArrayViewMut2, s};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::dataset::{Panel, PanelRows, PanelTargets, Panels, Rows, panel_rows};
use crate::feature_maps::FeatureMap;
use crate::preprocess::Preprocess;
use crate::room::check_features;
use crate::{Error, Result};

/// Told how long work goes on; asked whether to stop.
pub trait Progress: Send + Sync {
    /// A pass over `n_rows` rows starts; 0 where their number is not known yet.
    fn start(&self, _stage: &str, _n_rows: u64) {}

    /// Some rows of it are done.
    fn advance(&self, _n_rows: u64) {}

    /// The pass is over.
    fn finish(&self) {}

    /// Whether the work should end with [`Error::Interrupted`].
    fn interrupted(&self) -> bool {
        false
    }
}

/// Says nothing, never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// More threads than this stall a machine before they help.
const MOST_THREADS: usize = 1024;

/// Runs passes over data on its threads.
pub struct Driver<'p> {
    pool: Arc<ThreadPool>,
    progress: &'p dyn Progress,
    seconds: Mutex<Vec<(&'static str, Duration)>>,
    memory: u64,
    keeps_interrupted: bool,
    /// whether there is a model to end with
    has_model: AtomicBool,
}

/// Bytes for features that are kept, unless the caller knows better.
const DEFAULT_MEMORY: u64 = 2 << 30;

impl<'p> Driver<'p> {
    /// A driver with this many threads; 0 means one for each core.
    ///
    /// # Errors
    /// [`Error::Parameter`] for more than 1024 threads, or when they cannot be started.
    pub fn new(threads: usize, progress: &'p dyn Progress) -> Result<Self> {
        Ok(Self::on(Arc::new(Self::pool(threads)?), progress))
    }

    /// A driver on threads that outlive it.
    pub fn on(pool: Arc<ThreadPool>, progress: &'p dyn Progress) -> Self {
        let (seconds, has_model) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        Self { pool, progress, seconds, memory: DEFAULT_MEMORY, keeps_interrupted: false, has_model }
    }

    /// A driver on the same threads and with as much memory, which tells and asks another.
    #[must_use]
    pub fn telling<'q>(&self, progress: &'q dyn Progress) -> Driver<'q> {
        Driver::on(self.pool.clone(), progress).with_memory(self.memory)
    }

    /// Counts the stages of a driver that worked for this one.
    pub fn absorb(&self, other: &Driver<'_>) {
        other.stages().iter().for_each(|&(stage, time)| self.count(stage, time));
    }

    /// Whom it tells and asks.
    pub(crate) fn progress(&self) -> &'p dyn Progress {
        self.progress
    }

    /// Whether a training that is interrupted ends with the model it has.
    pub(crate) fn keeps_interrupted(&self) -> bool {
        self.keeps_interrupted
    }

    /// The threads of a driver.
    ///
    /// # Errors
    /// As [`Driver::new`].
    pub fn pool(threads: usize) -> Result<ThreadPool> {
        if threads > MOST_THREADS {
            return Err(Error::parameter("threads", threads, "0 to 1024"));
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|_| Error::parameter("threads", threads, "a number of threads that can be started"))
    }

    /// The same driver, for which a training that is interrupted ends with the best model so far, once there is one.
    #[must_use]
    pub fn keeping_interrupted(mut self, keeps: bool) -> Self {
        self.keeps_interrupted = keeps;
        self
    }

    /// There is no model yet.
    pub(crate) fn start_training(&self) {
        self.has_model.store(false, Ordering::Relaxed);
    }

    /// There is a model that an interrupted training could end with.
    pub(crate) fn has_model(&self) {
        self.has_model.store(true, Ordering::Relaxed);
    }

    /// Whether the training is to end with the model it has.
    pub(crate) fn ends_early(&self) -> bool {
        self.keeps_interrupted && self.has_model.load(Ordering::Relaxed) && self.progress.interrupted()
    }

    /// The same driver with so many bytes for features that are kept between passes; what does not fit is mapped again
    /// at every pass.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Bytes for features that are kept.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Seconds spent in each stage so far, in the order they were first met.
    pub fn seconds(&self) -> Vec<(&'static str, f64)> {
        self.stages().iter().map(|(stage, time)| (*stage, time.as_secs_f64())).collect()
    }

    /// To be asked between long steps that are no passes.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the work should end.
    pub fn check_interrupted(&self) -> Result<()> {
        if self.progress.interrupted() && !self.ends_early() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Hands `each` panels of rows that are kept, with the number of their first rows.
    pub(crate) fn for_each_kept<T: Scalar>(
        &self,
        stage: &'static str,
        rows: Rows<'_, T>,
        each: &mut (dyn FnMut(usize, Rows<'_, T>) -> Result<()> + Send),
    ) -> Result<()> {
        let (n_rows, size) = (rows.n_rows(), panel_rows(rows.n_inputs()));
        self.progress.start(stage, n_rows as u64);
        let result = (0..n_rows).step_by(size).try_for_each(|first| {
            self.check_interrupted()?;
            let end = n_rows.min(first + size);
            self.time(stage, || each(first, rows.slice(first, end)))?;
            self.progress.advance((end - first) as u64);
            Ok(())
        });
        self.progress.finish();
        result
    }

    /// Runs `work`, which is of many small parts, on the threads: they need not be woken for each.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Runs `work` on the threads and counts its time to `stage`.
    pub fn time<R: Send>(&self, stage: &'static str, work: impl FnOnce() -> R + Send) -> R {
        let start = Instant::now();
        let result = self.pool.install(work);
        self.count(stage, start.elapsed());
        result
    }

    /// Hands `each` every panel of a pass, scaled by `preprocess` where one is given.
    ///
    /// # Errors
    /// What the source finds wrong, what `each` returns, or [`Error::Interrupted`].
    pub fn for_each_panel<T: Scalar>(
        &self,
        stage: &'static str,
        n_rows: u64,
        panels: Panels<'_, T>,
        preprocess: Option<&Preprocess<T>>,
        mut each: impl FnMut(Panel<T>) -> Result<()> + Send,
    ) -> Result<()> {
        self.progress.start(stage, n_rows);
        let result = self.run(panels, preprocess, |panel| self.time(stage, || each(panel)));
        self.progress.finish();
        result
    }

    /// Hands `each` the features of every panel of a pass, with its targets: dense, unless the map keeps sparse rows.
    /// The time of the map is counted to "map", that of `each` to `stage`.
    ///
    /// # Errors
    /// As [`Driver::for_each_panel`].
    pub fn for_each_features<T: Scalar>(
        &self,
        stage: &'static str,
        n_rows: u64,
        panels: Panels<'_, T>,
        (preprocess, map): (&Preprocess<T>, &dyn FeatureMap<T>),
        mut each: impl FnMut(Rows<'_, T>, &PanelTargets) -> Result<()> + Send,
    ) -> Result<()> {
        if map.keeps_rows() {
            return self.for_each_panel(stage, n_rows, panels, Some(preprocess), |panel| {
                each(panel.rows.view(), &panel.targets)
            });
        }
        let panels = panels.sized_for(map.n_components());
        let n_panel = panel_rows(map.n_components().max(map.n_inputs())).min(n_rows as usize);
        check_features::<T>(n_panel, map.n_components())?;
        let mut features = huge_pages::zeros((n_panel, map.n_components()));
        let mut n_before = 0;
        self.progress.start(stage, n_rows);
        let result = self.run(panels, Some(preprocess), |panel| {
            let rows = panel.rows.view();
            let mut features = features.slice_mut(s![..rows.n_rows(), ..]);
            self.transform(map, rows, features.view_mut()).map_err(|error| error.behind(n_before))?;
            n_before += rows.n_rows();
            self.time(stage, || each(features.view().into(), &panel.targets))
        });
        self.progress.finish();
        result
    }

    /// The features of all rows of a pass, kept, sparse ones where it is known how many values they store; `each` is told
    /// the targets.
    ///
    /// # Errors
    /// As [`Driver::for_each_panel`].
    pub(crate) fn collect_features<T: Scalar>(
        &self,
        n_rows: u64,
        n_stored: Option<u64>,
        panels: Panels<'_, T>,
        (preprocess, map): (&Preprocess<T>, &dyn FeatureMap<T>),
        mut each: impl FnMut(&PanelTargets) -> Result<()> + Send,
    ) -> Result<PanelRows<T>> {
        let panels = panels.sized_for(map.n_components());
        let mut dense = Array2::zeros((0, 0));
        let mut sparse: Option<CsrMatrix<T>> = None;
        let mut filled = 0;
        self.progress.start("map", n_rows);
        let result = self.run(panels, Some(preprocess), |panel| {
            each(&panel.targets)?;
            let rows = panel.rows.view();
            if let (Some(n_stored), Rows::Sparse(rows)) = (n_stored, rows) {
                let kept = sparse.get_or_insert_with(|| {
                    let mut kept = CsrMatrix::new(rows.n_columns());
                    kept.reserve(n_rows as usize, n_stored as usize);
                    kept
                });
                kept.push_rows_of(rows);
                return Ok(());
            }
            if dense.is_empty() {
                check_features::<T>(n_rows as usize, map.n_components())?;
                dense = huge_pages::zeros((n_rows as usize, map.n_components()));
            }
            let out = dense.slice_mut(s![filled..filled + rows.n_rows(), ..]);
            let n_before = filled;
            filled += rows.n_rows();
            self.transform(map, rows, out).map_err(|error| error.behind(n_before))
        });
        self.progress.finish();
        result.map(|()| sparse.map_or(PanelRows::Dense(dense), PanelRows::Sparse))
    }

    /// out = φ(rows), rows shared among the threads; counted to "map".
    ///
    /// # Errors
    /// As [`FeatureMap::transform_into`].
    pub fn transform<T: Scalar>(
        &self,
        map: &dyn FeatureMap<T>,
        rows: Rows<'_, T>,
        out: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        self.time("map", || transform_on(self.threads(), map, rows, out))
    }

    fn run<T: Scalar>(
        &self,
        mut panels: Panels<'_, T>,
        preprocess: Option<&Preprocess<T>>,
        mut each: impl FnMut(Panel<T>) -> Result<()>,
    ) -> Result<()> {
        loop {
            self.check_interrupted()?;
            let start = Instant::now();
            let Some(mut panel) = panels.next_panel()? else { return Ok(()) };
            if let Some(preprocess) = preprocess {
                preprocess.apply_in_place(&mut panel.rows);
            }
            self.count("read", start.elapsed());
            let n_passed = panel.n_passed;
            each(panel)?;
            self.progress.advance(n_passed);
        }
    }

    fn stages(&self) -> std::sync::MutexGuard<'_, Vec<(&'static str, Duration)>> {
        self.seconds.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Counts time to `stage`.
    pub(crate) fn count(&self, stage: &'static str, time: Duration) {
        let mut stages = self.stages();
        match stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sum)) => *sum += time,
            None => stages.push((stage, time)),
        }
    }
}

/// out = φ(rows), rows shared among the threads of the current pool: a row's features do not depend on its neighbours.
fn transform_on<T: Scalar>(
    threads: usize,
    map: &dyn FeatureMap<T>,
    rows: Rows<'_, T>,
    out: ArrayViewMut2<'_, T>,
) -> Result<()> {
    let (n_rows, width) = out.dim();
    let share = n_rows.div_ceil(threads);
    let out = out.into_slice().expect("features are row-major");
    out.par_chunks_mut(share * width).enumerate().try_for_each(|(part, out)| {
        let (start, end) = (part * share, n_rows.min((part + 1) * share));
        let out = ArrayViewMut2::from_shape((end - start, width), out).expect("whole rows");
        let mut scratch = vec![T::zero(); map.scratch_len(end - start)];
        map.transform_into(rows.slice(start, end), out, &mut scratch).map_err(|error| error.behind(start))
    })
}
