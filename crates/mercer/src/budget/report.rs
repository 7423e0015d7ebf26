//! What a budget is worth, before anything is learned with it.

use std::time::Instant;

use mercer_simd::Scalar;
use serde::Serialize;

use super::{BudgetMethod, choose, score};
use crate::Result;
use crate::dataset::{PanelRows, Rows};
use crate::feature_maps::{Landmarks, select};
use crate::kernels::Kernel;
use crate::random::{Purpose, sample};

/// One choice of landmarks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetReport {
    /// how they were chosen
    pub method: BudgetMethod,
    /// how many
    pub n_landmarks: usize,
    /// share of them that the others do not give already
    pub distinct: f64,
    /// share of the kernel's trace that they explain on rows held out: [`score`]
    pub score: f64,
    /// time to choose them
    pub seconds: f64,
    /// time to make their kernel values orthonormal
    pub fit_seconds: f64,
}

/// Chooses `m` landmarks among a sample of `rows` and scores them on `held_out`, on the threads of the current pool.
///
/// # Errors
/// As [`choose`].
pub fn report<T: Scalar>(
    method: BudgetMethod,
    kernel: Kernel,
    (rows, held_out): (Rows<'_, T>, Rows<'_, T>),
    m: usize,
    seed: u64,
) -> Result<BudgetReport> {
    let n_rows = rows.n_rows() as u64;
    let candidates = sample(seed, Purpose::Sample, n_rows, method.n_candidates(m, n_rows));
    let candidates = select(rows, &candidates.into_iter().map(|i| i as usize).collect::<Vec<_>>());
    let start = Instant::now();
    let chosen = choose(method, kernel, candidates.view(), m, seed)?;
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let landmarks = Landmarks::fit(kernel, &chosen)?;
    let fit_seconds = start.elapsed().as_secs_f64();
    let n_landmarks = chosen.view().n_rows();
    let distinct = landmarks.rows().n_rows() as f64 / n_landmarks as f64;
    Ok(BudgetReport {
        method,
        n_landmarks,
        distinct,
        score: score(kernel, &landmarks, held_out)?,
        seconds,
        fit_seconds,
    })
}

/// Deals rows to those that landmarks are chosen from and `n` that judge, every so many.
pub fn hold_out<T: Scalar>(rows: Rows<'_, T>, n: usize) -> (PanelRows<T>, PanelRows<T>) {
    let every = (rows.n_rows() / n.max(1)).max(2);
    let (judges, others): (Vec<usize>, Vec<usize>) = (0..rows.n_rows()).partition(|i| i % every == 0);
    (select(rows, &others), select(rows, &judges))
}
