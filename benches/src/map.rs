//! Random Fourier features of 10,000 rows of 784, beside scikit-learn's `RBFSampler`.

use mercer::dataset::{Rows, panel_rows};
use mercer::feature_maps::{FeatureMap, FourierMap};
use mercer::random::{Purpose, Stream, normal_columns};
use mercer_simd::{Update, huge_pages, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::measure::{Case, THREADS, Timing, fastest, pool};

pub(crate) const CONDITIONS: &str = "features of 10,000 x 784 float32 rows. mercer: FourierMap in the panels of the library's driver (2,048 rows; D = 8,192: 1,024); \
    scikit-learn: RBFSampler.transform, fitted on float32 so that all stays float32. \"array\" returns a fresh n x D \
    array, in huge pages on both sides (numpy and mercer ask the system for them); \"blocks\" lets each block go after use (mercer \
    reuses one panel; scikit-learn gets the better of 512 and 2,048 rows a call). mercer pairs cosine and sine, \
    so D features need D/2 projections: half the product for the same D, with the smaller variance. product_share is \
    the time of the bare 784 x D/2 product (whole, into memory already there) over the time of the map";

const N_ROWS: usize = 10_000;
pub(crate) const N_INPUTS: usize = 784;

pub(crate) fn run() {
    let rows = uniform_rows();
    for n_components in [2_048, 4_096, 8_192] {
        let map = FourierMap::<f32>::new(N_INPUTS, n_components, 0.01, 0).expect("parameters in range");
        for threads in THREADS {
            let pool = pool(threads);
            let product = pool.install(|| product_alone(threads, rows.view(), n_components / 2));
            let array = pool.install(|| fastest(|| to_array(threads, &map, rows.view())));
            report("array", n_components, threads, array, product);
            let blocks = pool.install(|| to_blocks(threads, &map, rows.view()));
            report("blocks", n_components, threads, blocks, product);
        }
    }
}

fn report(form: &str, n_components: usize, threads: usize, timing: Timing, product: Timing) {
    let variant = format!("D = {n_components}, {form}, f32");
    let case = Case { name: "map", variant, threads, work: N_ROWS as f64, unit: "row" };
    case.report_of("mercer", timing, &[("product_share", product.seconds / timing.seconds)]);
}

pub(crate) fn uniform_rows() -> Array2<f32> {
    let mut values = vec![0.0; N_ROWS * N_INPUTS];
    Stream::new(1, Purpose::Sample).uniform_into(0, &mut values);
    Array2::from_shape_vec((N_ROWS, N_INPUTS), values).expect("as many values").mapv(|x| x as f32)
}

pub(crate) fn to_array(threads: usize, map: &dyn FeatureMap<f32>, rows: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut out = huge_pages::zeros((rows.nrows(), map.n_components()));
    let size = panel_rows(map.n_components());
    for (rows, out) in rows.axis_chunks_iter(Axis(0), size).zip(out.axis_chunks_iter_mut(Axis(0), size)) {
        transform_on(threads, map, rows, out);
    }
    out
}

fn to_blocks(threads: usize, map: &FourierMap<f32>, rows: ArrayView2<'_, f32>) -> Timing {
    let size = panel_rows(map.n_components());
    let mut block = Array2::zeros((size, map.n_components()));
    fastest(|| {
        for rows in rows.axis_chunks_iter(Axis(0), size) {
            transform_on(threads, map, rows, block.slice_mut(s![..rows.nrows(), ..]));
        }
        block[[0, 0]]
    })
}

/// The library's driver does the same: the rows of a panel are shared among the threads.
fn transform_on(threads: usize, map: &dyn FeatureMap<f32>, rows: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    let share = rows.nrows().div_ceil(threads);
    let parts = rows.axis_chunks_iter(Axis(0), share).zip(out.axis_chunks_iter_mut(Axis(0), share));
    parts.collect::<Vec<_>>().into_par_iter().for_each(|(rows, out)| {
        let mut scratch = vec![0.0; map.scratch_len(rows.nrows())];
        map.transform_into(Rows::Dense(rows), out, &mut scratch).expect("rows of the map's width");
    });
}

fn product_alone(threads: usize, rows: ArrayView2<'_, f32>, n_outputs: usize) -> Timing {
    let matrix = normal_columns::<f32>(0, Purpose::Projection, N_INPUTS, 0..n_outputs);
    let mut out = Array2::zeros((rows.nrows(), n_outputs));
    let share = rows.nrows().div_ceil(threads);
    fastest(|| {
        let parts = rows.axis_chunks_iter(Axis(0), share).zip(out.axis_chunks_iter_mut(Axis(0), share));
        parts.collect::<Vec<_>>().into_par_iter().for_each(|(rows, out)| {
            matmul_into(rows, matrix.view(), out, Update::Set);
        });
    })
}
