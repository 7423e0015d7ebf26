//! The budget: which few rows stand for all in a [`LandmarkMap`].
//!
//! Methods choose from candidates, a seeded sample of the rows, so that a million rows are no trouble:
//!
//! | method | choice | candidates | kernel values | reference |
//! |---|---|---|---|---|
//! | `uniform` | by chance | m | 0 | |
//! | `random_cholesky` | by chance in proportion to what those chosen do not explain | 8m, of many 2m | n·m | CETW24, EET24 |
//! | `leverage` | by ridge leverage scores, which halves of the rows estimate for the next | 8m, of many 2m | n·m | MM17 |
//! | `columns` | the largest pivots of the candidates' kernel matrix | 2m | n² | CM21 3.3.1 |
//! | `farthest` | the one farthest from those chosen | 8m | n·m | G85 |
//! | `kmeans_pp` | by chance in proportion to the squared distance from those chosen | 8m | n·m | AV07 |
//! | `kmeans` | centres of mini-batch k-means, which are no rows of the data | 8m | 0 | S10 |
//! | `dbh` | a middle row of each of m buckets by halves along random lines | 8m | 2n·log₂m | CM21 Alg. 1 |
//!
//! n is the number of candidates; distances are those of the kernel's feature space, but for `kmeans`. All but `kmeans`
//! give m different candidates; equal rows among the data may still be chosen together, and the map leaves one of them out.
//! A budget can be balanced: as many landmarks from each class as there are rows for.
//!
//! [`score`] tells before any training how much of the kernel a budget explains; [`report`] chooses, times and scores one.
//!
//! References: CETW24, Chen, Epperly, Tropp and Webber, "Randomly pivoted Cholesky", CPAM 2024. EET24, Epperly, Tropp and Webber,
//! "Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky", 2024. MM17, Musco and Musco, "Recursive
//! sampling for the Nyström method", NIPS 2017. G85, Gonzalez, "Clustering to minimize the maximum intercluster distance", TCS 1985.
//! AV07, Arthur and Vassilvitskii, "k-means++", SODA 2007. S10, Sculley, "Web-scale k-means clustering", WWW 2010. CM21, Castellanos
//! Martínez, *Scalable Kernel Methods using Randomized Numerical Linear Algebra*, 2021.

mod candidates;
mod dbh;
mod kmeans;
mod leverage;
mod one_by_one;
mod random_cholesky;
mod report;

pub use report::{BudgetReport, HeldOut, hold_out, report};

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayView2, Axis, concatenate};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::candidates::Candidates;
use crate::dataset::{CsrMatrix, PanelRows, Rows};
use crate::feature_maps::{FeatureMap, LandmarkMap, Landmarks, select};
use crate::kernels::Kernel;
use crate::pivoted::PivotedCholesky;
use crate::random::{Purpose, Stream, permutation, sample};
use crate::room::check_room;
use crate::{Error, Result};

/// Candidates of a balanced budget, at least: among fewer a rare class may be missing.
const BALANCED_CANDIDATES: usize = 4096;

/// How landmarks are chosen: see the module's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetMethod {
    /// By chance.
    #[default]
    Uniform,
    /// By chance in proportion to what those chosen do not explain.
    RandomCholesky,
    /// By ridge leverage scores.
    Leverage,
    /// The largest pivots.
    Columns,
    /// The farthest.
    Farthest,
    /// By chance in proportion to the squared distance from those chosen.
    KmeansPp,
    /// Centres of clusters.
    Kmeans,
    /// Middle rows of buckets.
    Dbh,
}

/// A budget as it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetSpec {
    /// how landmarks are chosen
    pub method: BudgetMethod,
    /// whether each class has as many; of data that has classes
    #[serde(default)]
    pub balanced: bool,
}

impl BudgetSpec {
    /// Rows of so many from which it chooses `m`: those of the method, and of a balanced budget a few thousand at least.
    pub fn n_candidates(self, m: usize, n_rows: u64) -> usize {
        let of_method = self.method.n_candidates(m, n_rows);
        let least = if self.balanced { BALANCED_CANDIDATES } else { 0 };
        of_method.max(least).min(usize::try_from(n_rows).unwrap_or(usize::MAX))
    }

    /// Candidates and landmarks of each choice of `m` among so many rows: of a balanced budget, about, those of each class by its rows.
    pub(crate) fn choices(self, m: usize, n_rows: u64, classes: &[u64]) -> Vec<(usize, usize)> {
        let n_candidates = self.n_candidates(m, n_rows);
        let all: u64 = classes.iter().sum();
        if !self.balanced || all == 0 {
            return vec![(n_candidates, m.min(n_candidates))];
        }
        let of_class = |&n: &u64| (n_candidates as f64 * n as f64 / all as f64).round() as usize;
        let of_class: Vec<usize> = classes.iter().map(of_class).collect();
        let landmarks = shares(&of_class, m);
        of_class.into_iter().zip(landmarks).collect()
    }
}

impl BudgetMethod {
    /// All methods, the plain one first.
    pub const ALL: [Self; 8] = [
        Self::Uniform,
        Self::RandomCholesky,
        Self::Leverage,
        Self::Columns,
        Self::Farthest,
        Self::KmeansPp,
        Self::Kmeans,
        Self::Dbh,
    ];

    /// The name in specs and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::RandomCholesky => "random_cholesky",
            Self::Leverage => "leverage",
            Self::Columns => "columns",
            Self::Farthest => "farthest",
            Self::KmeansPp => "kmeans_pp",
            Self::Kmeans => "kmeans",
            Self::Dbh => "dbh",
        }
    }

    /// Rows of so many from which it chooses `m`: a few thousand at least, else a few for each landmark.
    pub fn n_candidates(self, m: usize, n_rows: u64) -> usize {
        let wanted = match self {
            Self::Uniform => m,
            // Their whole kernel matrix is made.
            Self::Columns => (2 * m).max(1024),
            // Of many, fewer for each: the cost grows with n·m².
            Self::RandomCholesky | Self::Leverage => (8 * m).clamp(4096, (2 * m).max(16_384)),
            _ => (8 * m).max(4096),
        };
        wanted.min(usize::try_from(n_rows).unwrap_or(usize::MAX))
    }
}

/// Chooses `m` landmarks among candidates, on the threads of the current pool; all of them where there are no more.
///
/// # Errors
/// As [`Kernel::gram_into`]; [`Error::Parameter`] for centres of sparse rows that memory holds no m of, [`Error::BudgetMemory`] where
/// there is no room for what the method computes.
pub fn choose<T: Scalar>(
    method: BudgetMethod,
    kernel: Kernel,
    rows: Rows<'_, T>,
    m: usize,
    seed: u64,
) -> Result<PanelRows<T>> {
    choose_numbered(method, kernel, rows, m, seed).map(|chosen| chosen.rows)
}

/// Landmarks, and the numbers of the candidates that they are; none of centres, which are no rows.
pub(crate) struct Chosen<T> {
    pub(crate) rows: PanelRows<T>,
    pub(crate) numbers: Option<Vec<usize>>,
}

/// [`choose`] with the numbers.
pub(crate) fn choose_numbered<T: Scalar>(
    method: BudgetMethod,
    kernel: Kernel,
    rows: Rows<'_, T>,
    m: usize,
    seed: u64,
) -> Result<Chosen<T>> {
    if m == 0 {
        return Err(Error::parameter("n_components", 0, "1 or more landmarks"));
    }
    let numbers = if m >= rows.n_rows() {
        (0..rows.n_rows()).collect()
    } else if method == BudgetMethod::Kmeans {
        return Ok(Chosen { rows: PanelRows::Dense(kmeans::centres(rows, m, seed)?), numbers: None });
    } else {
        chosen(method, rows.n_rows(), || Candidates::new(kernel, rows), m, seed)?
    };
    Ok(Chosen { rows: select(rows, &numbers), numbers: Some(numbers) })
}

/// [`choose`] by kernel values that are given, K of all candidates with all: the numbers of those chosen.
///
/// # Errors
/// [`Error::Parameter`] without landmarks, for a matrix that is not square, and for `kmeans`, whose centres are made of rows.
pub fn choose_columns<T: Scalar>(
    method: BudgetMethod,
    gram: ArrayView2<'_, T>,
    m: usize,
    seed: u64,
) -> Result<Vec<usize>> {
    if m == 0 {
        return Err(Error::parameter("n_components", 0, "1 or more landmarks"));
    }
    if !gram.is_square() {
        let got = format!("{} x {}", gram.nrows(), gram.ncols());
        return Err(Error::parameter("kernel matrix", got, "square: of all rows with all"));
    }
    if method == BudgetMethod::Kmeans {
        let expected = "another for kernel values that are given: its centres are made of rows";
        return Err(Error::parameter("budget", "kmeans", expected));
    }
    if m >= gram.nrows() {
        return Ok((0..gram.nrows()).collect());
    }
    chosen(method, gram.nrows(), || Ok(Candidates::of_gram(gram)), m, seed)
}

/// The numbers of `m` of n candidates, which are only looked at where a method needs them.
fn chosen<'a, T: Scalar>(
    method: BudgetMethod,
    n: usize,
    candidates: impl Fn() -> Result<Candidates<'a, T>>,
    m: usize,
    seed: u64,
) -> Result<Vec<usize>> {
    check_choice::<T>(method, n, m)?;
    let mut chosen = match method {
        BudgetMethod::Uniform | BudgetMethod::Kmeans => uniform(n, m, seed),
        BudgetMethod::RandomCholesky => random_cholesky::pivots(&candidates()?, m, seed)?,
        BudgetMethod::Leverage => leverage::sample(&candidates()?, m, seed)?,
        BudgetMethod::Columns => PivotedCholesky::new(candidates()?.gram()?, 0.0, m).pivots().to_vec(),
        BudgetMethod::Farthest => one_by_one::farthest(&candidates()?, m, seed)?,
        BudgetMethod::KmeansPp => one_by_one::kmeans_pp(&candidates()?, m, seed)?,
        BudgetMethod::Dbh => dbh::medoids(&candidates()?, m, seed)?,
    };
    fill_up(&mut chosen, n, m, seed);
    Ok(chosen)
}

/// Refuses a choice whose kernel values and factors the system has no room for.
fn check_choice<T>(method: BudgetMethod, n: usize, m: usize) -> Result<()> {
    let (candidates, landmarks) = (n as u128, m as u128);
    let bytes = match method {
        // The factor in the float type.
        BudgetMethod::RandomCholesky => candidates * landmarks * size_of::<T>() as u128,
        // Kernel values of candidates before and after they are whitened; K of the landmarks, its weighted copy and its inverse.
        BudgetMethod::Leverage => 8 * landmarks * (2 * candidates + 3 * landmarks),
        BudgetMethod::Columns => 8 * candidates * candidates,
        _ => return Ok(()),
    };
    let refused = |_| Error::BudgetMemory { method: method.name(), n_candidates: n, n_landmarks: m, bytes };
    check_room(bytes, String::new).map_err(refused)
}

/// [`choose`] for each class, of which `classes` has the number of every row: as many landmarks of each as there are rows for.
///
/// # Errors
/// As [`choose`].
pub fn choose_balanced<T: Scalar>(
    method: BudgetMethod,
    kernel: Kernel,
    rows: (Rows<'_, T>, &[u32]),
    m: usize,
    seed: u64,
) -> Result<PanelRows<T>> {
    choose_balanced_numbered(method, kernel, rows, m, seed).map(|chosen| chosen.rows)
}

/// [`choose_balanced`] with the numbers.
pub(crate) fn choose_balanced_numbered<T: Scalar>(
    method: BudgetMethod,
    kernel: Kernel,
    (rows, classes): (Rows<'_, T>, &[u32]),
    m: usize,
    seed: u64,
) -> Result<Chosen<T>> {
    let n_classes = classes.iter().max().map_or(0, |&class| class as usize + 1);
    let mut of_class = vec![Vec::new(); n_classes];
    for (i, &class) in classes.iter().enumerate() {
        of_class[class as usize].push(i);
    }
    of_class.retain(|rows| !rows.is_empty());
    if method == BudgetMethod::Kmeans {
        kmeans::check_centres(m.min(rows.n_rows()), rows.n_inputs())?;
    }
    let (mut parts, mut numbers) = (Vec::new(), Some(Vec::new()));
    let sizes: Vec<usize> = of_class.iter().map(Vec::len).collect();
    for (at, (members, share)) in of_class.iter().zip(shares(&sizes, m)).enumerate() {
        if share > 0 {
            let seed = Stream::new(seed, Purpose::Landmark).bits(at as u64);
            let chosen = choose_numbered(method, kernel, select(rows, members).view(), share, seed)?;
            numbers = numbers.zip(chosen.numbers).map(|(mut all, own)| {
                all.extend(own.into_iter().map(|i| members[i]));
                all
            });
            parts.push(chosen.rows);
        }
    }
    Ok(Chosen { rows: joined(&parts, rows.n_inputs()), numbers })
}

/// As many for each as there are, m together: what the small ones leave goes to the others, one by one.
fn shares(sizes: &[usize], m: usize) -> Vec<usize> {
    let mut shares = vec![0; sizes.len()];
    let mut left = m.min(sizes.iter().sum());
    while left > 0 {
        for (share, &size) in shares.iter_mut().zip(sizes) {
            if *share < size && left > 0 {
                *share += 1;
                left -= 1;
            }
        }
    }
    shares
}

/// All parts, in their order: sparse where all are. Centres are dense; those classes that k-means leaves as they are, for they have no
/// more rows than their share, are then made dense too.
fn joined<T: Scalar>(parts: &[PanelRows<T>], n_inputs: usize) -> PanelRows<T> {
    let sparse = |part: &PanelRows<T>| matches!(part, PanelRows::Sparse(_));
    if !parts.is_empty() && parts.iter().all(sparse) {
        let mut all = CsrMatrix::new(n_inputs);
        for part in parts {
            if let Rows::Sparse(rows) = part.view() {
                all.push_rows_of(rows);
            }
        }
        return PanelRows::Sparse(all);
    }
    let views: Vec<_> = parts.iter().map(|part| part.view().to_dense()).collect();
    let views: Vec<_> = views.iter().map(|rows| rows.view()).collect();
    PanelRows::Dense(concatenate(Axis(0), &views).unwrap_or_else(|_| Array2::zeros((0, n_inputs))))
}

/// The share of the kernel that landmarks explain: Σ‖φ(x)‖² / Σk(x,x) over rows that they were not chosen from. 1 is all of
/// it; what is missing bounds the mean error of any kernel value. On the threads of the current pool.
///
/// # Errors
/// As [`FeatureMap::transform_into`].
pub fn score<T: Scalar>(kernel: Kernel, landmarks: &Landmarks<T>, rows: Rows<'_, T>) -> Result<f64> {
    let map = LandmarkMap::new(kernel, landmarks)?;
    let total: f64 = kernel.diagonal(rows)?.iter().sum();
    let explained: Result<Vec<f64>> = (0..rows.n_rows().div_ceil(candidates::CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let first = chunk * candidates::CHUNK;
            let rows = rows.slice(first, rows.n_rows().min(first + candidates::CHUNK));
            let mut features = Array2::zeros((rows.n_rows(), map.n_components()));
            let mut scratch = vec![T::zero(); map.scratch_len(rows.n_rows())];
            map.transform_into(rows, features.view_mut(), &mut scratch)?;
            Ok(features.iter().map(|&x| Scalar::to_f64(x).powi(2)).sum::<f64>())
        })
        .collect();
    let explained: f64 = explained?.iter().sum();
    Ok(if total > 0.0 { explained / total } else { 1.0 })
}

fn uniform(n: usize, m: usize, seed: u64) -> Vec<usize> {
    sample(seed, Purpose::Landmark, n as u64, m).into_iter().map(|i| i as usize).collect()
}

/// Where nothing was left to explain before m were chosen: others, by chance.
fn fill_up(chosen: &mut Vec<usize>, n: usize, m: usize, seed: u64) {
    chosen.truncate(m);
    if chosen.len() == m {
        return;
    }
    let mut taken = vec![false; n];
    chosen.iter().for_each(|&i| taken[i] = true);
    let order = permutation(seed, Purpose::Landmark, n);
    let others = order.into_iter().filter(|&i| !taken[i]);
    let missing: Vec<usize> = others.take(m - chosen.len()).collect();
    chosen.extend(missing);
}

#[cfg(test)]
mod tests;
