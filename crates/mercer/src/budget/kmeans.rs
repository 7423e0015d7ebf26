//! Centres of mini-batch k-means, in the space of the inputs (S10).
//!
//! They start at rows chosen as k-means++ does. Each batch of rows is dealt to the nearest centres, then every row moves its centre
//! by one part in as many as the centre was given rows so far. Threads share the rows of a batch; centres move in the order of rows.

use mercer_simd::Scalar;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;

use super::candidates::{CHUNK, Candidates};
use super::{fill_up, one_by_one};
use crate::dataset::Rows;
use crate::feature_maps::select;
use crate::kernels::Kernel;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Passes over the candidates.
const EPOCHS: usize = 3;
/// Rows that are dealt together.
const BATCH: usize = 2048;
/// Values of centres, at most.
const MOST_VALUES: usize = 1 << 28;

/// Refuses more centres than an ordinary memory holds.
pub(super) fn check_centres(m: usize, n_inputs: usize) -> Result<()> {
    if m.saturating_mul(n_inputs) > MOST_VALUES {
        let got = format!("kmeans for {m} landmarks of {n_inputs} inputs");
        let expected = "another method: centres of sparse rows are dense and fill the memory";
        return Err(Error::parameter("budget", got, expected));
    }
    Ok(())
}

pub(super) fn centres<T: Scalar>(rows: Rows<'_, T>, m: usize, seed: u64) -> Result<Array2<T>> {
    check_centres(m, rows.n_inputs())?;
    // The feature space of the linear kernel is that of the inputs.
    let mut first = one_by_one::kmeans_pp(&Candidates::new(Kernel::Linear, rows)?, m, seed)?;
    fill_up(&mut first, rows.n_rows(), m, seed);
    let mut centres = select(rows, &first).view().to_dense().into_owned();
    let mut counts = vec![1.0; m];
    for epoch in 0..EPOCHS {
        let mut order = vec![0; rows.n_rows()];
        Stream::new(seed, Purpose::Order).lane(epoch).permutation_into(&mut order);
        for batch in order.chunks(BATCH) {
            let batch: Vec<usize> = batch.iter().map(|&i| i as usize).collect();
            let batch = select(rows, &batch);
            let batch = batch.view();
            for (i, centre) in nearest(batch, &centres).into_iter().enumerate() {
                counts[centre] += 1.0;
                move_towards(centres.row_mut(centre), batch.slice(i, i + 1), T::from_f64(1.0 / counts[centre]));
            }
        }
    }
    Ok(centres)
}

/// The centre nearest to each row, the first of equals: the least ‖c‖² − 2⟨x,c⟩.
fn nearest<T: Scalar>(rows: Rows<'_, T>, centres: &Array2<T>) -> Vec<usize> {
    let by_input = centres.t().as_standard_layout().into_owned();
    let norms: Array1<f64> = centres.outer_iter().map(|c| c.iter().map(|&x| Scalar::to_f64(x).powi(2)).sum()).collect();
    let n_chunks = rows.n_rows().div_ceil(CHUNK);
    let of_chunk = |chunk: usize| {
        let rows = rows.slice(chunk * CHUNK, rows.n_rows().min((chunk + 1) * CHUNK));
        let mut products = Array2::zeros((rows.n_rows(), centres.nrows()));
        rows.product_into(by_input.view(), products.view_mut());
        products.outer_iter().map(|row| least(row, &norms)).collect::<Vec<_>>()
    };
    let chunks: Vec<Vec<usize>> = (0..n_chunks).into_par_iter().map(of_chunk).collect();
    chunks.concat()
}

fn least<T: Scalar>(products: ArrayView1<'_, T>, norms: &Array1<f64>) -> usize {
    let mut best = (0, f64::INFINITY);
    for (at, (product, norm)) in products.iter().zip(norms).enumerate() {
        let distance = norm - 2.0 * Scalar::to_f64(*product);
        if distance < best.1 {
            best = (at, distance);
        }
    }
    best.0
}

/// c += (x − c)·share
fn move_towards<T: Scalar>(mut centre: ndarray::ArrayViewMut1<'_, T>, row: Rows<'_, T>, share: T) {
    match row {
        Rows::Dense(x) => centre.zip_mut_with(&x.index_axis_move(Axis(0), 0), |c, &x| *c = *c + (x - *c) * share),
        Rows::Sparse(x) => {
            centre.mapv_inplace(|c| c - c * share);
            for (j, value) in x.row(0) {
                centre[j] = centre[j] + value * share;
            }
        }
    }
}
