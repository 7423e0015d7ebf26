//! Spectral features of rows of 784 by every map, beside scikit-learn's `RBFSampler`.

use mercer::feature_maps::{FeatureMap, Frequencies, Gamma, MapSpec, SpectralSpec};
use mercer_simd::{Aligned, huge_pages};
use ndarray::s;

use crate::map::{N_INPUTS, uniform_rows};
use crate::measure::{Case, fastest};

pub(crate) const CONDITIONS: &str = "4,096 features of the RBF kernel of 2,048 x 784 float32 rows on one core, into memory already there. mercer: the map alone, paired waves, \
    so 2,048 frequencies; scikit-learn: RBFSampler.transform, fitted on float32, whose result is fresh memory (it has no way to reuse any) in calls of \
    512 or 2,048 rows, whichever is faster; scikit-learn-extra: Fastfood.transform, paired or with phases, whichever is faster (it computes in \
    float64). kept_bytes is what the map keeps";

const N_ROWS: usize = 2_048;
const N_COMPONENTS: usize = 4_096;

pub(crate) fn run() {
    let rows = uniform_rows();
    let rows = rows.slice(s![..N_ROWS, ..]);
    let mut out = huge_pages::zeros::<f32>((N_ROWS, N_COMPONENTS));
    for frequencies in Frequencies::ALL {
        let spec = MapSpec::Spectral(SpectralSpec::new(frequencies, N_COMPONENTS, Gamma::Value(0.01)));
        let map: Box<dyn FeatureMap<f32>> = spec.resolve(0.01, N_INPUTS, 0).build().expect("parameters in range");
        let mut scratch = Aligned::zeros(map.scratch_len(N_ROWS));
        let timing = fastest(|| map.transform_into(rows.into(), out.view_mut(), &mut scratch));
        let variant = format!("784 to 4,096, f32, {}", frequencies.name());
        let case = Case { name: "spectral", variant, threads: 1, work: N_ROWS as f64, unit: "row" };
        let bytes = 4.0 * spec.n_entries(N_INPUTS) as f64;
        case.report_of("mercer", timing, &[("kept_bytes", bytes)]);
    }
}
