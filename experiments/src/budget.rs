//! Landmarks by randomly pivoted Cholesky beside landmarks by chance: the error of the kernel matrix of 3,000 rows, ten seeds each.
//!
//! The trace error is the share of the trace that landmarks do not explain, the Frobenius error that of the whole matrix. "Landmarks for equal error"
//! are those that random Cholesky needs for the trace error that chance has with the most, as a share of them, by a line between sizes
//! in logarithms.

use mercer::budget::{BudgetMethod, choose, score};
use mercer::dataset::Rows;
use mercer::feature_maps::{FeatureMap, LandmarkMap, Landmarks};
use mercer::kernels::Kernel;
use mercer::random::{Purpose, Stream, sample};
use ndarray::{Array2, Axis};

use crate::distortion::mean_and_deviation;
use crate::rows::Labelled;

const N_ROWS: usize = 3_000;
const N_SEEDS: u64 = 10;
const SIZES: [usize; 6] = [25, 50, 100, 200, 400, 800];

type Loaded = fn() -> Result<Array2<f32>, String>;

const DATA: [(&str, Loaded); 5] = [
    ("MNIST", || Ok(Labelled::load("mnist/train-images-idx3-ubyte.gz", Some("mnist/train-labels-idx1-ubyte.gz"))?.x)),
    ("w8a", || Ok(Labelled::load("w8a/w8a.gz", None)?.x)),
    ("ISOLET", || Ok(Labelled::load("isolet/isolet.npz::X_train", Some("isolet/isolet.npz::y_train"))?.x)),
    ("covertype", || Ok(Labelled::load("covtype/covtype.data.gz", None)?.scaled_to_unit().x)),
    ("rare clusters", || Ok(rare_clusters())),
];

pub(crate) fn run() -> Result<(), String> {
    println!(
        "| data | gamma | landmarks | trace error: chance | random Cholesky | Frobenius error: chance | random Cholesky |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut needed = Vec::new();
    for (name, load) in DATA {
        let x = some(&load()?);
        let variance = x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / x.len() as f64 - mean(&x).powi(2);
        for (rule, divisor) in [("scale", 1.0), ("scale / 10", 10.0)] {
            let kernel = Kernel::Rbf { gamma: 1.0 / (x.ncols() as f64 * variance * divisor) };
            let mut exact = Array2::<f32>::zeros((x.nrows(), x.nrows()));
            kernel.gram_into(Rows::Dense(x.view()), Rows::Dense(x.view()), exact.view_mut()).map_err(text)?;
            let mut curves = [Vec::new(), Vec::new()];
            for m in SIZES {
                let mut cells = Vec::new();
                for (at, method) in [BudgetMethod::Uniform, BudgetMethod::RandomCholesky].into_iter().enumerate() {
                    let errors = errors(kernel, &x, &exact, method, m)?;
                    curves[at].push(mean_and_deviation(&errors.0).0);
                    cells.push(errors);
                }
                let shown = |values: &[f64]| {
                    let (mean, deviation) = mean_and_deviation(values);
                    format!("{mean:.2e} ± {deviation:.0e}")
                };
                let [chance, cholesky] = cells.as_slice() else { return Err("two methods".to_owned()) };
                let (trace, whole) = ((shown(&chance.0), shown(&cholesky.0)), (shown(&chance.1), shown(&cholesky.1)));
                println!("| {name} | {rule} | {m} | {} | {} | {} | {} |", trace.0, trace.1, whole.0, whole.1);
            }
            needed.push((name, rule, landmarks_for(&curves[1], curves[0][SIZES.len() - 1])));
        }
    }
    println!("\n| data | gamma | landmarks for equal error |\n|---|---|---|");
    for (name, rule, share) in needed {
        println!("| {name} | {rule} | {:.0} % |", 100.0 * share);
    }
    Ok(())
}

/// Trace and Frobenius errors of every seed.
fn errors(
    kernel: Kernel,
    x: &Array2<f32>,
    exact: &Array2<f32>,
    method: BudgetMethod,
    m: usize,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let rows = Rows::Dense(x.view());
    let length = exact.iter().map(|k| f64::from(*k).powi(2)).sum::<f64>().sqrt();
    let (mut of_trace, mut of_all) = (Vec::new(), Vec::new());
    for seed in 0..N_SEEDS {
        let landmarks = Landmarks::fit(kernel, &choose(method, kernel, rows, m, seed).map_err(text)?).map_err(text)?;
        of_trace.push((1.0 - score(kernel, &landmarks, rows).map_err(text)?).max(1e-7));
        let map = LandmarkMap::new(kernel, &landmarks).map_err(text)?;
        let mut features = Array2::zeros((x.nrows(), map.n_components()));
        let mut scratch = vec![0.0; map.scratch_len(x.nrows())];
        map.transform_into(rows, features.view_mut(), &mut scratch).map_err(text)?;
        let off = features.dot(&features.t()) - exact;
        of_all.push(off.iter().map(|error| f64::from(*error).powi(2)).sum::<f64>().sqrt() / length);
    }
    Ok((of_trace, of_all))
}

/// The share of the most landmarks at which a curve of errors comes to `error`.
fn landmarks_for(curve: &[f64], error: f64) -> f64 {
    let most = SIZES[SIZES.len() - 1] as f64;
    for at in 1..SIZES.len() {
        if curve[at] <= error {
            let (few, many) = ((SIZES[at - 1] as f64).ln(), (SIZES[at] as f64).ln());
            let share = (curve[at - 1].ln() - error.ln()) / (curve[at - 1].ln() - curve[at].ln());
            return (few + share.clamp(0.0, 1.0) * (many - few)).exp() / most;
        }
    }
    1.0
}

/// Half of the rows in one cluster, the others in a hundred small ones.
fn rare_clusters() -> Array2<f32> {
    let (n, d) = (N_ROWS, 20);
    let normal = |lane: usize, n: usize| {
        let mut values = vec![0.0; n];
        Stream::new(9, Purpose::Start).lane(lane).normal_into(0, &mut values);
        values
    };
    let (centres, noise) = (normal(0, 100 * d), normal(1, n * d));
    Array2::from_shape_fn((n, d), |(i, j)| {
        let centre = if i < n / 2 { 0.0 } else { 3.0 * centres[(i % 100) * d + j] };
        (centre + 0.1 * noise[i * d + j]) as f32
    })
}

fn some(x: &Array2<f32>) -> Array2<f32> {
    let chosen = sample(0, Purpose::Sample, x.nrows() as u64, N_ROWS.min(x.nrows()));
    x.select(Axis(0), &chosen.into_iter().map(|i| i as usize).collect::<Vec<_>>())
}

fn mean(x: &Array2<f32>) -> f64 {
    x.iter().map(|x| f64::from(*x)).sum::<f64>() / x.len() as f64
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
