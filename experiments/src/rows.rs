//! Rows of real data, chosen by a seed.

use std::path::Path;

use mercer::dataset::{Dataset, Panels, Rows, Selection, TargetUse};
use mercer::feature_maps::MapSpec;
use mercer::random::{Purpose, sample};
use mercer_io::{ReadOptions, TargetChoice};
use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

/// A file of `MERCER_DATA`; LIBSVM files have targets.
pub(crate) fn load(file: &str, target: TargetChoice) -> Result<Dataset, String> {
    let folder =
        std::env::var("MERCER_DATA").map_err(|_| "MERCER_DATA does not name the folder of the data".to_owned())?;
    let path = Path::new(&folder).join(file).to_string_lossy().into_owned();
    let source =
        mercer_io::open(&path, &ReadOptions { target, ..ReadOptions::default() }).map_err(|error| error.to_string())?;
    Dataset::scan(source, usize::MAX).map_err(|error| error.to_string())
}

/// `n` rows, densely, divided by the largest of their values.
pub(crate) fn some_rows(dataset: &Dataset, n: usize, seed: u64) -> Result<Array2<f32>, String> {
    let mut chosen = sample(seed, Purpose::Sample, dataset.n_rows(), n);
    chosen.sort_unstable();
    let d = dataset.n_inputs();
    let panels = Panels::<f32>::new(dataset, d, TargetUse::None, Selection::rows(chosen));
    let mut panels = panels.map_err(|error| error.to_string())?;
    let (mut out, mut filled) = (Array2::zeros((n, d)), 0);
    while let Some(panel) = panels.next_panel().map_err(|error| error.to_string())? {
        let rows = panel.rows.view();
        rows.write_dense(out.slice_mut(s![filled..filled + rows.n_rows(), ..]));
        filled += rows.n_rows();
    }
    let largest = out.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    out.mapv_inplace(|x| x / largest);
    Ok(out)
}

/// The features of rows, on all threads: a row's do not depend on its neighbours.
pub(crate) fn features(spec: &MapSpec, gamma: f64, rows: &Array2<f32>, seed: u64) -> Result<Array2<f32>, String> {
    let map = spec.resolve(gamma, rows.ncols(), seed).build::<f32>().map_err(|error| error.to_string())?;
    let mut out = Array2::zeros((rows.nrows(), map.n_components()));
    let share = rows.nrows().div_ceil(rayon::current_num_threads());
    let parts: Vec<_> = out.axis_chunks_iter_mut(Axis(0), share).zip(rows.axis_chunks_iter(Axis(0), share)).collect();
    parts.into_par_iter().try_for_each(|(out, rows)| {
        let mut scratch = vec![0.0; map.scratch_len(rows.nrows())];
        map.transform_into(Rows::Dense(rows), out, &mut scratch).map_err(|error| error.to_string())
    })?;
    Ok(out)
}
