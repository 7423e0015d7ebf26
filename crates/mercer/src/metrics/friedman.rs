//! Friedman's test: do k methods differ over n rows (data sets, folds, settings), by their ranks in each row?
//!
//! In each row the best method has rank 1, the worst rank k, equal ones the mean of theirs. With sums of ranks Rⱼ over
//! the rows, and rᵢⱼ the single ranks,
//!
//! ```text
//! χ² = (k−1)·Σⱼ(Rⱼ − n(k+1)/2)² / Σᵢⱼ(rᵢⱼ − (k+1)/2)²        about χ² of k−1 degrees
//! F  = (n−1)·χ² / (n(k−1) − χ²)                              about F of k−1 and (k−1)(n−1) degrees
//! ```
//!
//! if all orders of a row are equally likely. The first is Friedman's statistic with the correction for ties; without
//! ties it is 12/(nk(k+1))·ΣRⱼ² − 3n(k+1), with E χ² = k−1 and Var χ² = 2(k−1)(n−1)/n exactly. The second is Iman and
//! Davenport's, whose p-value is the closer one: prefer it. Both are approximations, good from about 10 rows and 5
//! methods (Demšar). If every row ranks alike, F is infinite and its p-value 0, though such rows have chance
//! (k!)^(1−n).
//!
//! Where methods differ, [`FriedmanReport::against`] compares all with a control and [`FriedmanReport::all_pairs`] each
//! with each. Ranks are kept doubled as whole numbers, so the statistics do not depend on the order of the rows. Cost:
//! n·k·log k.
//!
//! References: Friedman, JASA 32, 1937; Conover, *Practical Nonparametric Statistics*, 3rd edition 1999, section 5.8
//! (ties); Iman and Davenport, Communications in Statistics A9, 1980; Demšar, JMLR 7, 2006; LS18, section 5.4:
//! López-Sánchez, Corchado and González Arrieta, "Data-independent random projections from the feature-map of the
//! homogeneous polynomial kernel of degree two", Information Sciences 2018; LS19, section 3.4.4, as in
//! [`distortion`](super::distortion()).
//!
//! ```
//! use mercer::metrics::{Best, friedman};
//! use ndarray::array;
//!
//! // Accuracies of three methods on four data sets.
//! let accuracies = array![[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.95, 0.9, 0.91], [0.7, 0.6, 0.5]];
//! let report = friedman(accuracies.view(), Best::Highest)?;
//! assert_eq!(report.average_ranks, [1.0, 2.25, 2.75]);
//! assert_eq!(report.chi_squared, 6.5);
//! let to_first = report.against(0)?;
//! assert!(to_first[1].z > to_first[0].z && to_first[1].holm < 0.05);
//! # Ok::<(), mercer::Error>(())
//! ```

use std::cmp::Ordering;

use ndarray::{ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

use super::check_finite;
use super::tails::{chi_squared_tail, f_tail};
use crate::{Error, Result};

/// Which score of a row is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Best {
    /// Accuracies and the like.
    Highest,
    /// Errors, distortions, times.
    Lowest,
}

/// The outcome of Friedman's test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FriedmanReport {
    /// Rows of scores: n.
    pub n_rows: u64,
    /// Mean rank of each method, from 1 for the best to k.
    pub average_ranks: Vec<f64>,
    /// Friedman's statistic, corrected for ties; 0 where all scores of every row are equal.
    pub chi_squared: f64,
    /// Chance of a `chi_squared` at least as large between equal methods.
    pub p_value: f64,
    /// Iman and Davenport's statistic; none where every row ranks alike, which makes it infinite.
    pub iman_davenport: Option<f64>,
    /// Chance of an `iman_davenport` at least as large between equal methods.
    pub iman_davenport_p_value: f64,
}

/// Tests whether methods differ by their scores, rows (n ≥ 2) × methods (k ≥ 2).
///
/// # Errors
/// [`Error::TooFewRows`] when there are fewer than two rows, [`Error::Parameter`] when there are fewer than two
/// methods, [`Error::NotFinite`].
pub fn friedman(scores: ArrayView2<'_, f64>, best: Best) -> Result<FriedmanReport> {
    let (n, k) = scores.dim();
    if k < 2 {
        return Err(Error::parameter("n_methods", k, "at least 2"));
    }
    if n < 2 {
        return Err(Error::TooFewRows { context: "Friedman's test".into(), got: n as u64, expected: 2 });
    }
    check_finite(scores)?;
    let ranks = DoubledRanks::of(scores, best);
    let (between, total) = (ranks.between(n), ranks.total);
    let (rows, degrees) = (n as f64, (k - 1) as f64);
    let chi_squared = if total == 0 { 0.0 } else { degrees * between as f64 / total as f64 };
    let within = n as i128 * total - between; // 4n times the sum of squares that the methods do not explain
    let iman_davenport = match (between, within) {
        (0, _) => Some(0.0),
        (_, 0) => None,
        _ => Some((rows - 1.0) * between as f64 / within as f64),
    };
    Ok(FriedmanReport {
        n_rows: n as u64,
        average_ranks: ranks.sums.iter().map(|&sum| sum as f64 / 2.0 / rows).collect(),
        chi_squared,
        p_value: chi_squared_tail(chi_squared, degrees),
        iman_davenport,
        iman_davenport_p_value: iman_davenport.map_or(0.0, |f| f_tail(f, degrees, degrees * (rows - 1.0))),
    })
}

/// Ranks times two, which are whole also where scores are equal.
struct DoubledRanks {
    /// 2Rⱼ
    sums: Vec<i128>,
    /// Σᵢⱼ(2rᵢⱼ − (k+1))²
    total: i128,
}

impl DoubledRanks {
    fn of(scores: ArrayView2<'_, f64>, best: Best) -> Self {
        let middle = scores.ncols() as i128 + 1;
        let mut ranks = Self { sums: vec![0; scores.ncols()], total: 0 };
        let mut order = Vec::new();
        for row in scores.outer_iter() {
            for_each_tie(row, best, &mut order, |methods, doubled_rank| {
                methods.iter().for_each(|&method| ranks.sums[method] += doubled_rank);
                ranks.total += methods.len() as i128 * (doubled_rank - middle).pow(2);
            });
        }
        ranks
    }

    /// Σⱼ(2Rⱼ − n(k+1))²
    fn between(&self, n_rows: usize) -> i128 {
        let expected = n_rows as i128 * (self.sums.len() as i128 + 1);
        self.sums.iter().map(|sum| (sum - expected).pow(2)).sum()
    }
}

/// Visits the methods of a row that have equal scores, from the best, with twice their rank: those at the places first,
/// …, last (counted from 1) have the mean rank (first + last)/2. `order` is scratch.
fn for_each_tie(row: ArrayView1<'_, f64>, best: Best, order: &mut Vec<usize>, mut visit: impl FnMut(&[usize], i128)) {
    let ascending = |&i: &usize, &j: &usize| row[i].partial_cmp(&row[j]).unwrap_or(Ordering::Equal);
    order.clear();
    order.extend(0..row.len());
    match best {
        Best::Lowest => order.sort_by(ascending),
        Best::Highest => order.sort_by(|i, j| ascending(j, i)),
    }
    let mut before = 0;
    for methods in order.chunk_by(|&i, &j| row[i] == row[j]) {
        let last = before + methods.len();
        visit(methods, (before + 1 + last) as i128);
        before = last;
    }
}
