//! Distance-based hashing: rows are halved along random lines of the feature space, and each bucket gives a middle row (CM21 Alg. 1).
//!
//! The line through φ(a) and φ(b) puts x at k(x,a) − k(x,b), up to a factor and a shift. The thesis takes b = 2^i buckets and
//! one medoid of each. Here any number is right: of ⌈log₂ m⌉ lines the halves are split at the median rank, so that ties do not leave a
//! half empty; buckets give a medoid each, the fullest first, and give further ones, again the fullest first, where there are
//! fewer buckets than m. A medoid is the row, of [`SAMPLE`] rows of the bucket by chance, that is nearest to all others of them.

use std::collections::BTreeMap;

use mercer_simd::Scalar;

use super::candidates::Candidates;
use crate::Result;
use crate::random::{Purpose, Stream};

/// w of the algorithm: rows of a bucket among which a medoid is looked for.
const SAMPLE: usize = 32;

pub(super) fn medoids<T: Scalar>(candidates: &Candidates<'_, T>, m: usize, seed: u64) -> Result<Vec<usize>> {
    let mut buckets = buckets(candidates, m, seed)?;
    let mut chosen = Vec::with_capacity(m);
    while chosen.len() < m {
        // The fullest first; of equals the one of the lower code.
        buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.len()));
        for bucket in &mut buckets {
            if chosen.len() < m && !bucket.is_empty() {
                let n = bucket.len().min(SAMPLE);
                let at = medoid(candidates, &bucket[..n])?;
                chosen.push(bucket.remove(at));
            }
        }
    }
    Ok(chosen)
}

/// The rows of every code, each bucket in an order of chance.
fn buckets<T: Scalar>(candidates: &Candidates<'_, T>, m: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    let n = candidates.len();
    let n_lines = m.next_power_of_two().trailing_zeros() as usize;
    let stream = Stream::new(seed, Purpose::Landmark);
    let mut order = vec![0; n];
    stream.permutation_into(&mut order);
    let order: Vec<usize> = order.into_iter().map(|i| i as usize).collect();
    let mut codes = vec![0_u64; n];
    if n_lines > 0 {
        let ends: Vec<usize> = (0..2 * n_lines).map(|i| order[i % n]).collect();
        let columns = candidates.columns(&ends)?;
        for line in 0..n_lines {
            let place = |i: usize| columns[[i, 2 * line]].to_f64() - columns[[i, 2 * line + 1]].to_f64();
            let mut ranked: Vec<usize> = (0..n).collect();
            ranked.sort_by(|&i, &j| place(i).total_cmp(&place(j)).then(i.cmp(&j)));
            for &i in &ranked[n / 2..] {
                codes[i] |= 1 << line;
            }
        }
    }
    let mut buckets: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &i in &order {
        buckets.entry(codes[i]).or_default().push(i);
    }
    Ok(buckets.into_values().collect())
}

/// The place of the row with the least sum of distances from the others.
fn medoid<T: Scalar>(candidates: &Candidates<'_, T>, rows: &[usize]) -> Result<usize> {
    let gram = candidates.block(rows, rows)?;
    let distance = |i: usize, j: usize| (gram[[i, i]] + gram[[j, j]] - 2.0 * gram[[i, j]]).max(0.0).sqrt();
    let sums: Vec<f64> = (0..rows.len()).map(|i| (0..rows.len()).map(|j| distance(i, j)).sum()).collect();
    let mut best = 0;
    for (at, sum) in sums.iter().enumerate() {
        if *sum < sums[best] {
            best = at;
        }
    }
    Ok(best)
}
