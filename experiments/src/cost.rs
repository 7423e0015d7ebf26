//! What KG-RP and PK-RP cost with as many landmarks as vectors: LS19 table 4.2, p = 976, where training and the transform of 500 rows of MNIST are one time.
//!
//! One thread, float32, the median of five runs.

use std::time::Instant;

use mercer::dataset::{PanelRows, Rows};
use mercer::feature_maps::{FeatureMap, Gamma, LandmarkForm, LandmarkMap, LandmarkSpec, PkRpSpec};
use mercer::kernels::{Kernel, KernelFamily};
use mercer_io::TargetChoice;
use ndarray::Array2;

use crate::rows::{Range, load_dense, some_rows};

const N_RUNS: usize = 5;
const P: usize = 976;
const T: usize = 30;
/// Features, and the seconds that are printed for PK-RP and KG-RP.
const PRINTED: [(usize, f64, f64); 3] = [(200, 0.039, 7.525), (500, 0.054, 8.602), (1000, 0.079, 10.509)];

/// Seconds to draw or learn a map, and to transform the rows.
type Seconds = (f64, f64);

pub(crate) fn run() -> Result<(), String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(text)?;
    let some = |file, n| {
        let all = load_dense(file, TargetChoice::None)?;
        Ok::<_, String>(some_rows(&all, n, Range::Symmetric, 0))
    };
    let rows = some("mnist/t10k-images-idx3-ubyte.gz", 500)?;
    let landmarks = some("mnist/train-images-idx3-ubyte.gz", P)?;
    println!("| k | PK-RP: draw, s | transform, s | KG-RP: fit, s | transform, s | ratio of the sums | printed |");
    println!("|---|---|---|---|---|---|---|");
    for (k, printed_pk, printed_kg) in PRINTED {
        let pk = median(|| pool.install(|| pk_rp(k, &rows)))?;
        let kg = median(|| pool.install(|| kg_rp(k, &landmarks, &rows)))?;
        let ratio = (kg.0 + kg.1) / (pk.0 + pk.1);
        let printed = printed_kg / printed_pk;
        println!("| {k} | {:.4} | {:.4} | {:.3} | {:.4} | {ratio:.0} | {printed:.0} |", pk.0, pk.1, kg.0, kg.1);
    }
    Ok(())
}

/// Of each of both, by itself.
fn median(measure: impl Fn() -> Result<Seconds, String>) -> Result<Seconds, String> {
    let seconds = (0..N_RUNS).map(|_| measure()).collect::<Result<Vec<_>, _>>()?;
    let middle = |part: fn(&Seconds) -> f64| {
        let mut seconds: Vec<f64> = seconds.iter().map(part).collect();
        seconds.sort_by(f64::total_cmp);
        seconds[N_RUNS / 2]
    };
    Ok((middle(|both| both.0), middle(|both| both.1)))
}

fn pk_rp(k: usize, rows: &Array2<f32>) -> Result<Seconds, String> {
    let spec = PkRpSpec { c: 0.0, n_terms: T, n_vectors: Some(P), ..PkRpSpec::new(k, 2) };
    timed(rows, || spec.map::<f32>(1.0, rows.ncols(), 0).map_err(text))
}

fn kg_rp(k: usize, landmarks: &Array2<f32>, rows: &Array2<f32>) -> Result<Seconds, String> {
    let kernel = Kernel::Polynomial { degree: 2, gamma: 1.0, c: 0.0 };
    let spec = LandmarkSpec {
        n_landmarks: Some(P),
        kernel: KernelFamily::Polynomial { degree: 2, c: 0.0 },
        gamma: Gamma::Value(1.0),
        form: LandmarkForm::KgRp { n_terms: T },
        ..LandmarkSpec::new(k)
    };
    let chosen = PanelRows::Dense(landmarks.clone());
    timed(rows, || LandmarkMap::new(kernel, &spec.fit(kernel, &chosen, 0).map_err(text)?).map_err(text))
}

fn timed<M: FeatureMap<f32>>(rows: &Array2<f32>, make: impl FnOnce() -> Result<M, String>) -> Result<Seconds, String> {
    let start = Instant::now();
    let map = make()?;
    let made = start.elapsed().as_secs_f64();
    let mut out = Array2::zeros((rows.nrows(), map.n_components()));
    let mut scratch = vec![0.0; map.scratch_len(rows.nrows())];
    let start = Instant::now();
    map.transform_into(Rows::Dense(rows.view()), out.view_mut(), &mut scratch).map_err(text)?;
    Ok((made, start.elapsed().as_secs_f64()))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
