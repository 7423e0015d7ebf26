//! φ + RP of long rows: all products of two inputs behind a random projection, neither of which is ever there as a whole.
//!
//! Products come in blocks, and the rows of the projection that belong to a block are drawn with it: entry (i, j) is a function of the seed, i and j. The
//! numbers are those of the chain of an expansion and a normal projection, in another order of summation. Fewer features are the
//! first of more, so one pass serves all sizes.

use mercer::random::{Purpose, Stream};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayViewMut1, Axis, s};
use rayon::prelude::*;

/// Products of a block, about.
const BLOCK: usize = 1 << 13;

/// The first `k` features, times √k.
pub(crate) fn projected(rows: &Array2<f32>, k: usize, seed: u64) -> Array2<f32> {
    let (n, d) = rows.dim();
    let stream = Stream::new(Stream::new(seed, Purpose::Chain).bits(0), Purpose::Projection);
    let mut out = Array2::zeros((n, k));
    let (mut first, mut n_before) = (0, 0);
    while first < d {
        let last = (first + BLOCK.div_ceil(d - first)).min(d);
        let products = products(rows, first, last);
        let projection = drawn(stream, n_before, products.ncols(), k);
        general_mat_mul(1.0, &products, &projection.t(), 1.0, &mut out);
        n_before += products.ncols() as u64;
        first = last;
    }
    out
}

/// Those of inputs `first` to `last` and of all from each of these on, as an expansion has them.
fn products(rows: &Array2<f32>, first: usize, last: usize) -> Array2<f32> {
    let d = rows.ncols();
    let n_products = (first..last).map(|i| d - i).sum();
    let mut out = Array2::zeros((rows.nrows(), n_products));
    let write = |(x, mut out): (ndarray::ArrayView1<'_, f32>, ArrayViewMut1<'_, f32>)| {
        let mut at = 0;
        for i in first..last {
            let factor = x[i] * std::f32::consts::SQRT_2;
            out.slice_mut(s![at..at + d - i]).zip_mut_with(&x.slice(s![i..]), |out, x| *out = factor * x);
            out[at] = x[i] * x[i];
            at += d - i;
        }
    };
    rows.outer_iter().zip(out.outer_iter_mut()).for_each(write);
    out
}

/// Rows `first` to `first + n` of V, a column of it in each row.
fn drawn(stream: Stream, first: u64, n: usize, k: usize) -> Array2<f32> {
    let mut out = Array2::zeros((k, n));
    let columns: Vec<_> = out.axis_iter_mut(Axis(0)).enumerate().collect();
    columns.into_par_iter().for_each(|(j, mut column)| {
        let mut values = vec![0.0; n];
        stream.lane(j).normal_into(first, &mut values);
        column.iter_mut().zip(&values).for_each(|(to, &value)| *to = value as f32);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::features;
    use mercer::feature_maps::{ExpansionSpec, Gamma, MapSpec};

    /// The chain of the library, in f32 sums of other orders: an error of some √(products)·2^-24 of the lengths.
    #[test]
    fn blocks_give_what_the_whole_chain_gives() {
        let mut values = vec![0.0; 5 * 300];
        Stream::new(1, Purpose::Start).normal_into(0, &mut values);
        let rows = Array2::from_shape_fn((5, 300), |(i, j)| values[i * 300 + j] as f32);
        let first = ExpansionSpec { gamma: Gamma::Value(1.0), c: 0.0, ..ExpansionSpec::new(2) };
        let then = Box::new(MapSpec::GaussianProjection { n_components: 16 });
        let chain = MapSpec::Chain { first: Box::new(MapSpec::Expansion(first)), then };
        let expected = features(&chain, 1.0, &rows, 7).expect("a map") * 4.0;
        let got = projected(&rows, 16, 7);
        let length = rows.outer_iter().map(|x| x.dot(&x)).fold(0.0, f32::max);
        for (got, expected) in got.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-4 * length, "{got}, {expected}");
        }
    }
}
