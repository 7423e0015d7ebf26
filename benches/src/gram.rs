//! The sums of ridge regression, beside numpy's `Z.T @ Z`.

use mercer::dataset::panel_rows;
use mercer::learners::RidgeStatistics;
use mercer::random::{Purpose, normal_columns};
use ndarray::{Array2, Axis};

use crate::measure::{Case, THREADS, fastest, pool};

pub(crate) const CONDITIONS: &str = "Z'Z of 10,000 x 2,048 float32 rows; every run starts from fresh memory. mercer: \
    RidgeStatistics::add in the panels of the driver (2,048 rows), summed in float64, and Z'Y of 10 targets with it; numpy: Z.T @ Z, \
    which it recognises as symmetric (ssyrk), all in float32. Work is counted as n D (D + 1)";

const SHAPE: (usize, usize) = (10_000, 2_048);
const N_TARGETS: usize = 10;

pub(crate) fn run() {
    let (n, d) = SHAPE;
    let features = normal_columns::<f32>(1, Purpose::Projection, n, 0..d);
    let targets = normal_columns::<f32>(2, Purpose::Projection, n, 0..N_TARGETS);
    for threads in THREADS {
        let timing = pool(threads).install(|| fastest(|| sums(&features, &targets)));
        let work = (n * d * (d + 1)) as f64;
        Case { name: "gram", variant: format!("{n} x {d}, f32"), threads, work, unit: "flop" }.report(timing);
    }
}

fn sums(features: &Array2<f32>, targets: &Array2<f32>) -> RidgeStatistics {
    let mut statistics = RidgeStatistics::new(features.ncols(), targets.ncols());
    let size = panel_rows(features.ncols());
    let targets = targets.axis_chunks_iter(Axis(0), size);
    for (features, targets) in features.axis_chunks_iter(Axis(0), size).zip(targets) {
        statistics.add(features, targets);
    }
    statistics
}
