//! Exact Gram matrices, beside scikit-learn.

use mercer::kernels::Kernel;
use mercer_simd::{InstructionSet, ops::random::uniform_into};
use ndarray::Array2;

use crate::measure::{Case, fastest};

pub(crate) const CONDITIONS: &str = "Gram matrix of 2,000 x 2,000 different rows of 784 inputs, uniform in [0, 1), float64, \
    into fresh memory; \"20 %\" has the values below 0.8 set to 0, stored densely. scikit-learn: rbf_kernel, laplacian_kernel, \
    chi2_kernel. Work is counted as pairs of values";

const SHAPE: (usize, usize) = (2_000, 784);
/// Values below it are set to 0 where the rows are sparse.
const SPARSE: f64 = 0.8;

pub(crate) fn run() {
    let kernels = [
        ("rbf", Kernel::Rbf { gamma: 0.01 }),
        ("laplace", Kernel::Laplace { gamma: 0.01 }),
        ("chi2", Kernel::ExponentialChi2 { gamma: 0.01 }),
    ];
    for (density, least) in [("dense", 0.0), ("20 %", SPARSE)] {
        let (x, y) = (rows(1, least), rows(2, least));
        for (name, kernel) in kernels {
            let timing = fastest(|| gram(kernel, &x, &y));
            let work = (SHAPE.0 * SHAPE.0 * SHAPE.1) as f64;
            let variant = format!("{name}, {density}, f64");
            Case { name: "kernels", variant, threads: 1, work, unit: "element" }.report(timing);
        }
    }
}

fn rows(seed: u64, least: f64) -> Array2<f64> {
    let mut rows = Array2::zeros(SHAPE);
    uniform_into(InstructionSet::best(), seed, (0, 0), 0, rows.as_slice_mut().expect("fresh rows"));
    rows.mapv_into(|value| if value < least { 0.0 } else { value })
}

fn gram(kernel: Kernel, x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    let mut gram = Array2::zeros((x.nrows(), y.nrows()));
    kernel.gram_into(x.view().into(), y.view().into(), gram.view_mut()).expect("rows of one width");
    gram
}
