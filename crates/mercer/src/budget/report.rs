//! What a budget is worth, before anything is learned with it.

use std::time::Instant;

use mercer_simd::Scalar;
use serde::Serialize;

use super::{BudgetMethod, BudgetSpec, choose, choose_balanced, score};
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

/// Chooses `m` landmarks among a sample of `rows`, as many of each class where `classes` has their numbers, and scores them on `held_out`, on
/// the threads of the current pool.
///
/// # Errors
/// As [`choose`].
pub fn report<T: Scalar>(
    method: BudgetMethod,
    kernel: Kernel,
    (rows, classes, held_out): (Rows<'_, T>, Option<&[u32]>, Rows<'_, T>),
    m: usize,
    seed: u64,
) -> Result<BudgetReport> {
    let n_rows = rows.n_rows() as u64;
    let n_candidates = BudgetSpec { method, balanced: classes.is_some() }.n_candidates(m, n_rows);
    let numbers: Vec<usize> =
        sample(seed, Purpose::Sample, n_rows, n_candidates).into_iter().map(|i| i as usize).collect();
    let candidates = select(rows, &numbers);
    let start = Instant::now();
    let chosen = match classes {
        None => choose(method, kernel, candidates.view(), m, seed)?,
        Some(classes) => {
            let classes: Vec<u32> = numbers.iter().map(|&i| classes[i]).collect();
            choose_balanced(method, kernel, (candidates.view(), &classes), m, seed)?
        }
    };
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

/// Rows that landmarks are chosen from, their classes where they are given, and rows that judge.
pub type HeldOut<T> = (PanelRows<T>, Option<Vec<u32>>, PanelRows<T>);

/// Deals rows to those that landmarks are chosen from and `n` that judge, every so many.
pub fn hold_out<T: Scalar>(rows: Rows<'_, T>, classes: Option<&[u32]>, n: usize) -> HeldOut<T> {
    let every = (rows.n_rows() / n.max(1)).max(2);
    let (judges, others): (Vec<usize>, Vec<usize>) = (0..rows.n_rows()).partition(|i| i % every == 0);
    let classes = classes.map(|classes| others.iter().map(|&i| classes[i]).collect());
    (select(rows, &others), classes, select(rows, &judges))
}
