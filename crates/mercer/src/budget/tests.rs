//! Every method gives as many landmarks as asked for, the same for any number of threads, and what it is made for.

use ndarray::{Array2, s};

use super::*;
use crate::random::normal_columns;

const KERNEL: Kernel = Kernel::Rbf { gamma: 0.5 };
/// So small that what is left of the largest cluster, once it has a landmark, is about one row.
const NOISE: f64 = 0.01;

/// Rows around the corners of a simplex, few around the last ones: cluster i has 2^(9−i) rows.
fn clusters() -> (Array2<f64>, Vec<usize>) {
    let of_row: Vec<usize> = (0..10).flat_map(|i| std::iter::repeat_n(i, 1 << (9 - i))).collect();
    let mut x = normal_columns::<f64>(4, Purpose::Projection, 10, 0..of_row.len()).reversed_axes().mapv(|x| NOISE * x);
    for (i, &cluster) in of_row.iter().enumerate() {
        x[[i, cluster]] += 10.0;
    }
    (x, of_row)
}

fn dense<T: Scalar>(rows: &PanelRows<T>) -> Array2<T> {
    rows.view().to_dense().into_owned()
}

fn sparse(x: &Array2<f64>) -> CsrMatrix<f64> {
    let mut sparse = CsrMatrix::new(x.ncols());
    for row in x.outer_iter() {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            sparse.push(j, value).unwrap();
        }
        sparse.finish_row();
    }
    sparse
}

/// Which rows of x the landmarks are; none for centres.
fn places(x: &Array2<f64>, landmarks: &Array2<f64>) -> Vec<Option<usize>> {
    landmarks.outer_iter().map(|l| x.outer_iter().position(|row| row == l)).collect()
}

fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn as_many_different_rows_as_asked_for() {
    let (x, _) = clusters();
    for method in BudgetMethod::ALL {
        for m in [1, 2, 3, 7, 16, 100, 1022, 1023, 5000] {
            let got = dense(&choose(method, KERNEL, x.view().into(), m, 3).unwrap());
            assert_eq!(got.nrows(), m.min(1023), "{method:?}");
            if method != BudgetMethod::Kmeans {
                let mut places: Vec<usize> = places(&x, &got).into_iter().map(Option::unwrap).collect();
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), m.min(1023), "{method:?}: rows twice");
            }
        }
    }
}

#[test]
fn equal_rows_and_a_constant_kernel_are_no_trouble() {
    for x in [Array2::<f32>::ones((60, 3)), Array2::zeros((60, 3))] {
        for method in BudgetMethod::ALL {
            for kernel in [KERNEL, Kernel::Linear] {
                let got = dense(&choose(method, kernel, x.view().into(), 20, 1).unwrap());
                assert_eq!(got, x.slice(s![..20, ..]), "{method:?}");
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_landmarks_and_the_seed_another() {
    let (x, _) = clusters();
    for method in BudgetMethod::ALL {
        let with = |threads, seed| on(threads, || dense(&choose(method, KERNEL, x.view().into(), 30, seed).unwrap()));
        assert_eq!(with(1, 5), with(3, 5), "{method:?}");
        // The largest pivots are no matter of chance.
        assert_eq!(with(1, 5) == with(1, 6), method == BudgetMethod::Columns, "{method:?}");
    }
}

#[test]
fn sparse_rows_give_the_same_landmarks() {
    let (x, _) = clusters();
    let x = x.mapv(|v| if v < 1.0 { 0.0 } else { v });
    let sparse = sparse(&x);
    for method in BudgetMethod::ALL {
        let got = |rows| dense(&choose(method, KERNEL, rows, 12, 2).unwrap());
        let (of_dense, of_sparse) = (got(x.view().into()), got(sparse.view().into()));
        let worst = (&of_dense - &of_sparse).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(worst < 1e-12, "{method:?}: off by {worst}");
    }
}

/// Ten clusters, the last of one row: chance finds the large ones, the others all of them.
#[test]
fn rare_clusters_are_found() {
    let (x, of_row) = clusters();
    let found = |method, seed| {
        let got = dense(&choose(method, KERNEL, x.view().into(), 14, seed).unwrap());
        let mut clusters: Vec<usize> = places(&x, &got).into_iter().flatten().map(|i| of_row[i]).collect();
        clusters.sort_unstable();
        clusters.dedup();
        clusters.len()
    };
    for method in [BudgetMethod::RandomCholesky, BudgetMethod::Farthest, BudgetMethod::KmeansPp, BudgetMethod::Columns]
    {
        for seed in 0..5 {
            assert!(found(method, seed) >= 9, "{method:?}: {}", found(method, seed));
        }
    }
    assert!((0..5).all(|seed| found(BudgetMethod::Uniform, seed) < 9));
    // Scores of the rare ones are near 1, those of the many small: drawn in proportion.
    let mean = (0..10).map(|seed| found(BudgetMethod::Leverage, seed)).sum::<usize>() as f64 / 10.0;
    let by_chance = (0..10).map(|seed| found(BudgetMethod::Uniform, seed)).sum::<usize>() as f64 / 10.0;
    assert!(mean > by_chance + 1.0, "{mean} by leverage, {by_chance} by chance");
}

#[test]
fn centres_are_means_of_clusters() {
    let (x, _) = clusters();
    let centres = dense(&choose(BudgetMethod::Kmeans, KERNEL, x.view().into(), 10, 0).unwrap());
    // Where k-means++ started in every large cluster, its centre is near the corner.
    for corner in 0..4 {
        let nearest = centres
            .outer_iter()
            .map(|c| (0..10).map(|j| (c[j] - if j == corner { 10.0 } else { 0.0 }).powi(2)).sum::<f64>())
            .fold(f64::INFINITY, f64::min);
        // Of n rows the mean is NOISE/√n off in each of ten inputs; the fourth cluster has 64.
        assert!(nearest < 10.0 * NOISE.powi(2) / 8.0, "corner {corner}: {nearest}");
    }
}

/// With two clusters of rows that are all alike, one landmark explains the larger, and the second is of the other one.
#[test]
fn the_most_is_explained_first() {
    let x = Array2::from_shape_fn((40, 1), |(i, _)| if i < 30 { 0.0 } else { 100.0 });
    for seed in 0..50 {
        let got = dense(&choose(BudgetMethod::RandomCholesky, KERNEL, x.view().into(), 2, seed).unwrap());
        assert_eq!(got, ndarray::arr2(&[[0.0], [100.0]]));
    }
}

/// Evenly spread rows, where nothing can be won by rare ones: the trace that is left is below that by chance, for each seed.
#[test]
fn random_pivots_explain_more_than_chance() {
    let x = normal_columns::<f64>(8, Purpose::Projection, 6, 0..600).reversed_axes().as_standard_layout().into_owned();
    for (gamma, m) in [(0.5, 20), (0.5, 150), (0.02, 20), (0.02, 150)] {
        let kernel = Kernel::Rbf { gamma };
        let left = |method, seed| {
            let chosen = choose(method, kernel, x.view().into(), m, seed).unwrap();
            1.0 - score(kernel, &Landmarks::fit(kernel, &chosen).unwrap(), x.view().into()).unwrap()
        };
        for seed in 0..5 {
            let (pivots, chance) = (left(BudgetMethod::RandomCholesky, seed), left(BudgetMethod::Uniform, seed));
            assert!(pivots < chance, "gamma {gamma}, {m} landmarks: {pivots} and {chance} by chance");
        }
    }
}

/// Rows as they are and sparse ones: of some classes k-means makes dense centres, of those with few rows sparse rows are left.
#[test]
fn balanced_budgets_have_as_many_of_each_class() {
    let (x, of_row) = clusters();
    let x = x.mapv(|v| if v < 1.0 { 0.0 } else { v });
    let sparse = sparse(&x);
    let classes: Vec<u32> = of_row.iter().map(|&i| i as u32).collect();
    for method in BudgetMethod::ALL {
        for rows in [Rows::from(x.view()), sparse.view().into()] {
            let got = dense(&choose_balanced(method, KERNEL, (rows, &classes), 50, 1).unwrap());
            let mut counts = [0; 10];
            // Of one cluster only one input is not 0, of its centres as of its rows.
            got.outer_iter().for_each(|row| counts[row.iter().position(|&v| v > 1.0).unwrap()] += 1);
            // 1, 2 and 4 rows are all that the last three have; the first ones take turns for what is left.
            assert_eq!(counts, [7, 6, 6, 6, 6, 6, 6, 4, 2, 1], "{method:?}");
        }
    }
    assert_eq!(shares(&[1, 2], 10), [1, 2]);
    assert_eq!(shares(&[100, 2, 100], 11), [5, 2, 4]);
    // Of 10,000 rows the least number of candidates, 4,096: 1 % of them are all that the rare class can give.
    let plain = BudgetSpec { method: BudgetMethod::RandomCholesky, balanced: false };
    let balanced = BudgetSpec { balanced: true, ..plain };
    assert_eq!(plain.choices(200, 10_000, &[9_900, 100]), [(4_096, 200)]);
    assert_eq!(balanced.choices(200, 10_000, &[9_900, 100]), [(4_055, 159), (41, 41)]);
    assert_eq!(balanced.choices(200, 10_000, &[]), [(4_096, 200)]);
}

/// Of so many rows that no address reaches the end of what a method would compute.
#[test]
fn what_no_system_gives_is_refused() {
    let x = Array2::<f32>::zeros((1 << 24, 1));
    for (method, bytes) in [
        (BudgetMethod::RandomCholesky, 4_u128 << 47),
        (BudgetMethod::Leverage, 8 * ((2 << 47) + (3 << 46))),
        (BudgetMethod::Columns, 8 << 48),
    ] {
        let error = choose(method, KERNEL, x.view().into(), 1 << 23, 0).unwrap_err().to_string();
        let start =
            format!("budget {} takes {bytes} bytes to choose 8388608 landmarks of 16777216 rows", method.name());
        assert!(error.starts_with(&start) && error.ends_with("or budget uniform, which takes none"), "{error}");
    }
    check_choice::<f32>(BudgetMethod::RandomCholesky, 8000, 1000).unwrap();
    check_choice::<f64>(BudgetMethod::Farthest, 1 << 40, 1 << 30).unwrap();
}

/// Each class has room for its centres, all together have none.
#[test]
fn centres_of_all_classes_are_counted_together() {
    let rows = CsrMatrix::<f32>::new(1 << 26);
    let rows = (0..8).fold(rows, |mut rows, _| {
        rows.finish_row();
        rows
    });
    let error = choose_balanced(BudgetMethod::Kmeans, KERNEL, (rows.view().into(), &[0, 0, 0, 0, 1, 1, 1, 1]), 6, 0);
    assert!(error.unwrap_err().to_string().contains("kmeans for 6 landmarks"));
}

#[test]
fn the_score_is_the_explained_share() {
    let (x, _) = clusters();
    let score_of = |method, m| {
        let chosen = choose(method, KERNEL, x.view().into(), m, 7).unwrap();
        score(KERNEL, &Landmarks::fit(KERNEL, &chosen).unwrap(), x.view().into()).unwrap()
    };
    let all = score_of(BudgetMethod::Uniform, 1023);
    assert!((1.0 - 1e-6..=1.0 + 1e-9).contains(&all), "{all}");
    let (few, more) = (score_of(BudgetMethod::RandomCholesky, 5), score_of(BudgetMethod::RandomCholesky, 50));
    assert!(few < more && more < 1.0, "{few} {more}");
    // One landmark explains k(x,l)² of each row.
    let one = score_of(BudgetMethod::Uniform, 1);
    let landmark = dense(&choose(BudgetMethod::Uniform, KERNEL, x.view().into(), 1, 7).unwrap());
    let mut k = Array2::<f64>::zeros((1023, 1));
    KERNEL.gram_into(x.view().into(), landmark.view().into(), k.view_mut()).unwrap();
    assert!((one - k.iter().map(|k| k * k).sum::<f64>() / 1023.0).abs() < 1e-9);
}
