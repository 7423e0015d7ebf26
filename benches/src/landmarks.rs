//! The Nyström method: landmarks fitted and rows mapped, beside scikit-learn's `Nystroem`.

use mercer::budget::{BudgetMethod, choose};
use mercer::feature_maps::{FeatureMap, LandmarkMap, Landmarks};
use mercer::kernels::Kernel;
use ndarray::{Array2, s};

use crate::map::{to_array, uniform_rows};
use crate::measure::{Case, THREADS, fastest, pool};

pub(crate) const CONDITIONS: &str = "the Nystroem method for the RBF kernel with gamma = 0.02 of 10,000 x 784 uniform float32 rows, landmarks by chance. \
    fit: from all rows to a map (mercer: choice, kernel matrix, factor and its inverse; scikit-learn: Nystroem.fit). transform: all rows into a fresh array. \
    kernel_rmse is over all pairs of the first 512 rows";

const GAMMA: f64 = 0.02;

pub(crate) fn run() {
    let rows = uniform_rows();
    let kernel = Kernel::Rbf { gamma: GAMMA };
    for m in [512, 2_048] {
        for threads in THREADS {
            pool(threads).install(|| {
                let fit = || {
                    let chosen =
                        choose(BudgetMethod::Uniform, kernel, rows.view().into(), m, 0).expect("rows of numbers");
                    let landmarks = Landmarks::fit(kernel, &chosen).expect("rows of numbers");
                    LandmarkMap::new(kernel, &landmarks).expect("rows of numbers")
                };
                let case = |part: &str| Case {
                    name: "landmarks",
                    variant: format!("m = {m}, {part}, f32"),
                    threads,
                    work: rows.nrows() as f64,
                    unit: "row",
                };
                case("fit").report(fastest(fit));
                let map = fit();
                let timing = fastest(|| to_array(threads, &map, rows.view()));
                let mut features = Array2::zeros((512, map.n_components()));
                let mut scratch = vec![0.0; map.scratch_len(512)];
                map.transform_into(rows.slice(s![..512, ..]).into(), features.view_mut(), &mut scratch)
                    .expect("rows of the right width");
                let mut exact = Array2::<f64>::zeros((512, 512));
                let first = rows.slice(s![..512, ..]);
                kernel.gram_into(first.into(), first.into(), exact.view_mut()).expect("rows of numbers");
                let features = features.mapv(f64::from);
                let errors = features.dot(&features.t()) - exact;
                let rmse = (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt();
                case("transform").report_of("mercer", timing, &[("kernel_rmse", rmse)]);
            });
        }
    }
}
