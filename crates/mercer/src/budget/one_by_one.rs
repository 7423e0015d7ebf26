//! Landmarks by their distance from those before: the farthest, or by chance in proportion to its square (k-means++).

use mercer_simd::Scalar;

use super::candidates::Candidates;
use super::random_cholesky::proportional;
use crate::Result;
use crate::random::{Purpose, Stream};

/// The farthest from all before, from a first one by chance.
pub(super) fn farthest<T: Scalar>(candidates: &Candidates<'_, T>, m: usize, seed: u64) -> Result<Vec<usize>> {
    one_by_one(candidates, m, seed, |distances, _| {
        let mut best = 0;
        for (at, distance) in distances.iter().enumerate() {
            if *distance > distances[best] {
                best = at;
            }
        }
        best
    })
}

/// In proportion to the squared distance from the nearest one before.
pub(super) fn kmeans_pp<T: Scalar>(candidates: &Candidates<'_, T>, m: usize, seed: u64) -> Result<Vec<usize>> {
    one_by_one(candidates, m, seed, |distances, u| proportional(distances, distances.iter().sum(), &[u])[0])
}

/// `next` is given the squared distances from the nearest landmark and a uniform number; ends where all distances are 0.
fn one_by_one<T: Scalar>(
    candidates: &Candidates<'_, T>,
    m: usize,
    seed: u64,
    next: impl Fn(&[f64], f64) -> usize,
) -> Result<Vec<usize>> {
    let mut draws = vec![0.0; m];
    Stream::new(seed, Purpose::Landmark).uniform_into(0, &mut draws);
    let n = candidates.len();
    let (mut chosen, mut distances) = (Vec::new(), vec![f64::INFINITY; n]);
    let mut at = ((draws[0] * n as f64) as usize).min(n - 1);
    for u in draws.into_iter().skip(1).chain([0.5]) {
        chosen.push(at);
        let column = candidates.columns(&[at])?;
        let own = candidates.diagonal()[at];
        for ((distance, &k), &of_row) in distances.iter_mut().zip(&column).zip(candidates.diagonal()) {
            *distance = distance.min((of_row + own - 2.0 * k.to_f64()).max(0.0));
        }
        distances[at] = 0.0;
        if distances.iter().all(|distance| *distance == 0.0) {
            break;
        }
        at = next(&distances, u);
    }
    Ok(chosen)
}
