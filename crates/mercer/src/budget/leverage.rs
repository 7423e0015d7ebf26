//! Ridge leverage scores by halves: those of few rows give a sample that estimates those of twice as many (MM17).
//!
//! The score of row i is lᵢ = [K(K + λI)⁻¹]ᵢᵢ, what it adds to the others. With landmarks S of weights w (the inverse roots of the
//! probabilities they were drawn with) it is at most, and about,
//!
//! lᵢ ≈ (k(i,i) − k(i,S)·(K_SS + λ·diag(w⁻²))⁻¹·k(S,i)) / λ.
//!
//! λ is the part of the trace that the s/(4 ln s) largest pivots of the weighted landmarks leave, divided by their number.

use mercer_simd::Scalar;
use ndarray::{Array2, Axis};

use super::candidates::Candidates;
use crate::Result;
use crate::pivoted::PivotedCholesky;
use crate::random::{Purpose, Stream, permutation};

/// Rows of which the first sample is all.
const FIRST: usize = 192;

/// `m` candidates, drawn in proportion to their scores, each once.
pub(super) fn sample<T: Scalar>(candidates: &Candidates<'_, T>, m: usize, seed: u64) -> Result<Vec<usize>> {
    let order = permutation(seed, Purpose::Landmark, candidates.len());
    let mut sizes = vec![order.len()];
    while let Some(&size) = sizes.last()
        && size > FIRST.max(m)
    {
        sizes.push(size.div_ceil(2));
    }
    let first = sizes.pop().unwrap_or(order.len());
    let mut landmarks: Vec<(usize, f64)> = order[..first].iter().map(|&i| (i, 1.0)).collect();
    let mut scores = vec![1.0; first];
    for (level, &size) in sizes.iter().rev().enumerate() {
        thin(&mut landmarks, m, seed, level);
        scores = level_scores(candidates, &landmarks, &order[..size])?;
        let total: f64 = scores.iter().sum();
        let stream = Stream::new(seed, Purpose::Landmark).lane(2 * level + 1);
        let mut draws = vec![0.0; size];
        stream.uniform_into(0, &mut draws);
        landmarks.clear();
        for ((&i, score), u) in order[..size].iter().zip(&scores).zip(draws) {
            let probability = (score * m as f64 / total).min(1.0);
            if u < probability {
                landmarks.push((i, probability.sqrt().recip()));
            }
        }
    }
    Ok(without_repeats(&scores, m, seed).into_iter().map(|at| order[at]).collect())
}

/// At most `m` landmarks, by chance.
fn thin(landmarks: &mut Vec<(usize, f64)>, m: usize, seed: u64, level: usize) {
    if landmarks.len() <= m {
        return;
    }
    let kept = crate::random::sample(seed.wrapping_add(level as u64), Purpose::Start, landmarks.len() as u64, m);
    let scale = (landmarks.len() as f64 / m as f64).sqrt();
    let mut kept: Vec<usize> = kept.into_iter().map(|i| i as usize).collect();
    kept.sort_unstable();
    *landmarks = kept.into_iter().map(|at| (landmarks[at].0, landmarks[at].1 * scale)).collect();
}

/// About the scores of some rows, none negative.
fn level_scores<T: Scalar>(
    candidates: &Candidates<'_, T>,
    landmarks: &[(usize, f64)],
    rows: &[usize],
) -> Result<Vec<f64>> {
    let diagonal: Vec<f64> = rows.iter().map(|&i| candidates.diagonal()[i]).collect();
    let chosen: Vec<usize> = landmarks.iter().map(|(i, _)| *i).collect();
    if chosen.is_empty() {
        return Ok(diagonal);
    }
    let gram = candidates.block(&chosen, &chosen)?;
    let lambda = ridge(&gram, landmarks);
    let mut system = gram;
    for (i, (_, weight)) in landmarks.iter().enumerate() {
        system[[i, i]] += lambda / (weight * weight);
    }
    let factored = PivotedCholesky::new(system, 1e-14, usize::MAX);
    let (pivots, inverse) = (factored.pivots(), factored.inverse());
    let columns = candidates.block(rows, &pivots.iter().map(|&at| chosen[at]).collect::<Vec<_>>())?;
    let mut explained = Array2::zeros(columns.dim());
    crate::pivoted::multiply(columns.view(), inverse.view(), explained.view_mut());
    let of_row = |(row, diagonal): (ndarray::ArrayView1<'_, f64>, &f64)| {
        ((diagonal - row.dot(&row)) / lambda).max(f64::MIN_POSITIVE)
    };
    Ok(explained.axis_iter(Axis(0)).zip(&diagonal).map(of_row).collect())
}

/// λ: see the head.
fn ridge(gram: &Array2<f64>, landmarks: &[(usize, f64)]) -> f64 {
    let s = landmarks.len();
    let weighted = Array2::from_shape_fn((s, s), |(i, j)| landmarks[i].1 * landmarks[j].1 * gram[[i, j]]);
    let trace: f64 = weighted.diag().sum();
    let k = (s as f64 / (4.0 * (s as f64).ln().max(0.25))).ceil().max(1.0) as usize;
    let captured = PivotedCholesky::new(weighted, 1e-14, k).captured();
    ((trace - captured) / k as f64).max(1e-12 * trace).max(f64::MIN_POSITIVE)
}

/// `m` different places, each next one in proportion to the weights of those left.
fn without_repeats(weights: &[f64], m: usize, seed: u64) -> Vec<usize> {
    // The m largest of ln(u)/w (Efraimidis and Spirakis, 2006).
    let mut draws = vec![0.0; weights.len()];
    Stream::new(seed, Purpose::Start).lane(1).uniform_into(0, &mut draws);
    let mut keys: Vec<(f64, usize)> = draws.iter().zip(weights).map(|(u, w)| u.ln() / w).zip(0..).collect();
    keys.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    keys.truncate(m);
    keys.into_iter().map(|(_, at)| at).collect()
}
