//! Rows against a few vectors, shared among the threads of the current pool: the same bits for any number of them.

use mercer_simd::ops::cross::{add_cross, score_rows};
use mercer_simd::ops::widen::add_widened;
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

/// Rows whose products are summed in T, by one thread; across groups sums are in f64, in the order of the rows.
pub(super) const GROUP: usize = 256;
/// Sums that a thread adds up.
const SHARE: usize = 4096;

/// rows·weightsᵀ
pub(super) fn scores<T: Scalar>(rows: ArrayView2<'_, T>, weights: ArrayView2<'_, T>) -> Array2<T> {
    let k = weights.nrows();
    let mut out = Array2::zeros((rows.nrows(), k));
    out.as_slice_mut().expect("row-major").par_chunks_mut(GROUP * k.max(1)).enumerate().for_each(|(group, out)| {
        let n_rows = out.len() / k;
        let rows = rows.slice(s![group * GROUP..group * GROUP + n_rows, ..]);
        let out = ArrayViewMut2::from_shape((n_rows, k), out).expect("whole rows");
        score_rows(InstructionSet::best(), rows, weights, out);
    });
    out
}

/// factorsᵀ·rows
pub(super) fn cross_sums<T: Scalar>(rows: ArrayView2<'_, T>, factors: ArrayView2<'_, T>) -> Array2<f64> {
    let shape = (factors.ncols(), rows.ncols());
    let groups: Vec<_> = rows.axis_chunks_iter(Axis(0), GROUP).zip(factors.axis_chunks_iter(Axis(0), GROUP)).collect();
    let mut sums = Array2::zeros(shape);
    // A few groups for each thread at a time: their sums are kept until they are added.
    for groups in groups.chunks(4 * rayon::current_num_threads()) {
        let parts: Vec<Array2<T>> = groups
            .par_iter()
            .map(|(rows, factors)| {
                let mut part = Array2::zeros(shape);
                add_cross(InstructionSet::best(), part.view_mut(), *factors, *rows);
                part
            })
            .collect();
        add_parts(&mut sums, &parts.iter().collect::<Vec<_>>());
    }
    sums
}

/// Adds the parts, one after the other.
pub(super) fn add_parts<T: Scalar>(sums: &mut Array2<f64>, parts: &[&Array2<T>]) {
    let sums = sums.as_slice_mut().expect("row-major");
    sums.par_chunks_mut(SHARE).enumerate().for_each(|(at, sums)| {
        for part in parts {
            let part = part.as_slice().expect("row-major");
            add_widened(InstructionSet::best(), sums, &part[at * SHARE..at * SHARE + sums.len()]);
        }
    });
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn sums_are_products_on_any_number_of_threads() {
        // Small whole numbers, of which every sum is exact; more groups than are summed at once.
        let rows = Array2::from_shape_fn((15 * GROUP + 7, 33), |(i, j)| ((i * 5 + j * 3) % 7) as f32 - 3.0);
        let factors = Array2::from_shape_fn((rows.nrows(), 4), |(i, j)| ((i + j * j) % 5) as f32 - 2.0);
        let weights = Array2::from_shape_fn((4, 33), |(i, j)| ((i * 2 + j) % 3) as f32);
        // Of these every order of sums has its own bits.
        let uneven = rows.mapv(|x| (x + 0.1) / 3.0);
        let one = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let expected = one.install(|| cross_sums(uneven.view(), uneven.slice(s![.., ..4])));
        for threads in [1, 2, 3] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (sums, scores) =
                pool.install(|| (cross_sums(rows.view(), factors.view()), scores(rows.view(), weights.view())));
            assert_eq!(sums.mapv(|x| x as f32), factors.t().dot(&rows));
            assert_eq!(scores, rows.dot(&weights.t()));
            assert_eq!(pool.install(|| cross_sums(uneven.view(), uneven.slice(s![.., ..4]))), expected);
        }
    }
}
