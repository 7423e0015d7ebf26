//! (½ + ½⟨x,y⟩)^7 of 1,000 rows of MNIST of length 1 with 10,240 features, by ten seeds: relative Frobenius errors.

use std::time::Instant;

use mercer::feature_maps::{Gamma, MapSpec, PkRpSpec, TensorSketchSpec, TensorSrhtSpec};
use mercer_io::TargetChoice;
use ndarray::Array2;

use crate::rows::{Range, features, load_dense, some_rows};

const DEGREE: u32 = 7;
const N_COMPONENTS: usize = 10_240;
const N_ROWS: usize = 1_000;
const N_SEEDS: u64 = 10;

pub(crate) fn run() -> Result<(), String> {
    let all = load_dense("mnist/train-images-idx3-ubyte.gz", TargetChoice::None)?;
    let mut rows = some_rows(&all, N_ROWS, Range::AsTheyAre, 0);
    for mut row in rows.outer_iter_mut() {
        let length = row.dot(&row).sqrt();
        row /= length;
    }
    let exact = gram(&rows).mapv(|x| (0.5 * x + 0.5).powi(DEGREE as i32));
    let srht = |complex, tree| {
        let spec = TensorSrhtSpec::new(N_COMPONENTS, DEGREE);
        MapSpec::TensorSrht(TensorSrhtSpec { gamma: Gamma::Value(0.5), c: 0.5, complex, tree, ..spec })
    };
    let n_vectors = Some(DEGREE as usize * N_COMPONENTS);
    let products = PkRpSpec { gamma: Gamma::Value(0.5), c: 0.5, n_vectors, ..PkRpSpec::new(N_COMPONENTS, DEGREE) };
    let sketch = TensorSketchSpec { gamma: Gamma::Value(0.5), c: 0.5, ..TensorSketchSpec::new(N_COMPONENTS, DEGREE) };
    let maps = [
        ("products of normal projections", MapSpec::PkRp(products)),
        ("TensorSketch", MapSpec::TensorSketch(sketch)),
        ("TensorSRHT, real", srht(false, false)),
        ("TensorSRHT, complex", srht(true, false)),
        ("TensorSRHT, real, tree", srht(false, true)),
        ("TensorSRHT, complex, tree", srht(true, true)),
    ];
    println!("| map | relative Frobenius error | seconds for 1,000 rows, with drawing |\n|---|---|---|");
    for (name, spec) in maps {
        let mut errors = Vec::new();
        let start = Instant::now();
        for seed in 0..N_SEEDS {
            let got = gram(&features(&spec, 0.5, &rows, seed)?);
            errors.push(norm(&(got - &exact)) / norm(&exact));
        }
        let seconds = start.elapsed().as_secs_f64() / N_SEEDS as f64;
        let (mean, deviation) = crate::distortion::mean_and_deviation(&errors);
        println!("| {name} | {mean:.3} ± {deviation:.3} | {seconds:.2} |");
    }
    Ok(())
}

fn gram(x: &Array2<f32>) -> Array2<f64> {
    let x = x.mapv(f64::from);
    x.dot(&x.t())
}

fn norm(x: &Array2<f64>) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
