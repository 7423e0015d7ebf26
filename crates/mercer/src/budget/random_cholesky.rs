//! Randomly pivoted Cholesky: the next landmark is drawn in proportion to what those before do not explain.
//!
//! One by one it would read the factor once for each landmark. Instead a block is proposed from the law before it, and each proposal
//! kept with the probability by which those kept before it in the block have lowered its weight: the same law as one by one
//! (EET24), at the speed of matrix products.

use mercer_simd::{Dtype, Scalar, Update, matmul_into};
use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

use super::candidates::{CHUNK, Candidates};
use crate::Result;
use crate::pivoted::inverse_of_tile;
use crate::random::{Purpose, Stream};

/// Proposals of a block, at most; a tenth of what is wanted, at least so many.
const MOST: usize = 256;
const LEAST: usize = 8;

/// Up to `m` candidates, fewer where nothing is left to explain; a smaller budget is a prefix of a larger one where their blocks are
/// of the same size.
pub(super) fn pivots<T: Scalar>(candidates: &Candidates<'_, T>, m: usize, seed: u64) -> Result<Vec<usize>> {
    let n = candidates.len();
    let mut rest = candidates.diagonal().to_vec();
    let nothing = rest.iter().sum::<f64>() * if T::DTYPE == Dtype::Float32 { 1e-6 } else { 1e-14 };
    // K is about factor·factorᵀ.
    let mut factor = Array2::<T>::zeros((n, m));
    let mut chosen: Vec<usize> = Vec::new();
    let block = (m / 10).clamp(LEAST, MOST);
    for round in 0.. {
        let total: f64 = rest.iter().sum();
        // Rounds without a pivot have probability zero while anything is left but rounding.
        if chosen.len() == m || total <= nothing || round > 10 * m {
            break;
        }
        let draws = draws(seed, round, 2 * block);
        let proposals = proportional(&rest, total, &draws[..block]);
        let accepted = accept(candidates, &factor, &rest, &chosen, (&proposals, &draws[block..]), m - chosen.len())?;
        if accepted.pivots.is_empty() {
            continue;
        }
        extend(candidates, &mut factor, &mut rest, chosen.len(), &accepted)?;
        for &pivot in &accepted.pivots {
            rest[pivot] = 0.0;
        }
        chosen.extend(&accepted.pivots);
    }
    Ok(chosen)
}

/// Uniform numbers of a round.
fn draws(seed: u64, round: usize, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n];
    Stream::new(seed, Purpose::Landmark).lane(round).uniform_into(0, &mut out);
    out
}

/// An index for each uniform number, in proportion to the weights.
pub(super) fn proportional(weights: &[f64], total: f64, draws: &[f64]) -> Vec<usize> {
    let mut sums = Vec::with_capacity(weights.len());
    let mut sum = 0.0;
    for weight in weights {
        sum += weight.max(0.0);
        sums.push(sum);
    }
    let last = weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
    draws.iter().map(|u| sums.partition_point(|sum| *sum <= u * total).min(last)).collect()
}

struct Accepted {
    pivots: Vec<usize>,
    /// R of their part that is not explained yet, upper triangular
    factor: Array2<f64>,
}

/// Those of the proposals that a choice one by one would keep.
fn accept<T: Scalar>(
    candidates: &Candidates<'_, T>,
    factor: &Array2<T>,
    rest: &[f64],
    chosen: &[usize],
    (proposals, draws): (&[usize], &[f64]),
    most: usize,
) -> Result<Accepted> {
    let known = factor.slice(s![.., ..chosen.len()]).select(Axis(0), proposals).mapv(Scalar::to_f64);
    let mut left = candidates.block(proposals, proposals)?;
    if !chosen.is_empty() {
        let transposed = known.t().as_standard_layout().into_owned();
        matmul_into(known.view(), transposed.view(), left.view_mut(), Update::Subtract);
    }
    let (mut kept, mut rows): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for (i, (&proposal, u)) in proposals.iter().zip(draws).enumerate() {
        let is_new = !kept.iter().any(|&k| proposals[k] == proposal);
        if kept.len() == most || !is_new || u * rest[proposal] >= left[[i, i]] || left[[i, i]] <= 0.0 {
            continue;
        }
        let root = left[[i, i]].sqrt();
        let row: Vec<f64> = left.row(i).iter().map(|x| x / root).collect();
        for (j, mut other) in left.outer_iter_mut().enumerate() {
            let factor = row[j];
            other.iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
        kept.push(i);
        rows.push(row);
    }
    let factor = Array2::from_shape_fn((kept.len(), kept.len()), |(i, j)| if j < i { 0.0 } else { rows[i][kept[j]] });
    Ok(Accepted { pivots: kept.iter().map(|&i| proposals[i]).collect(), factor })
}

/// Columns of the factor for the new pivots, behind the `known` first ones: (k(·, A) − F·F_Aᵀ)·R⁻¹.
fn extend<T: Scalar>(
    candidates: &Candidates<'_, T>,
    factor: &mut Array2<T>,
    rest: &mut [f64],
    known: usize,
    accepted: &Accepted,
) -> Result<()> {
    let n_new = accepted.pivots.len();
    let mut columns = candidates.columns(&accepted.pivots)?;
    let of_pivots = factor.slice(s![.., ..known]).select(Axis(0), &accepted.pivots);
    let of_pivots = of_pivots.t().as_standard_layout().into_owned();
    let inverse = inverse_of_tile(accepted.factor.view()).mapv(T::from_f64);
    let factor = factor.axis_chunks_iter_mut(Axis(0), CHUNK).collect::<Vec<_>>().into_par_iter();
    let columns = columns.axis_chunks_iter_mut(Axis(0), CHUNK).collect::<Vec<_>>().into_par_iter();
    factor.zip(columns).zip(rest.par_chunks_mut(CHUNK)).for_each(|((mut factor, mut columns), rest)| {
        let (before, mut new) = factor.view_mut().split_at(Axis(1), known);
        if known > 0 {
            matmul_into(before.view(), of_pivots.view(), columns.view_mut(), Update::Subtract);
        }
        let mut new = new.slice_mut(s![.., ..n_new]);
        matmul_into(columns.view(), inverse.view(), new.view_mut(), Update::Set);
        for (rest, row) in rest.iter_mut().zip(new.outer_iter()) {
            *rest = (*rest - row.iter().map(|&x| Scalar::to_f64(x).powi(2)).sum::<f64>()).max(0.0);
        }
    });
    Ok(())
}
