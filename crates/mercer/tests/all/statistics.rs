//! The statistics that compare methods: distortion, distance correlation, Friedman's test and what follows it.

use mercer::dataset::CsrMatrix;
use mercer::kernels::{Kernel, squared_distances_into};
use mercer::metrics::{
    Adjustment, Best, Comparison, FriedmanReport, Moments, distance_correlations, distance_correlations_of_columns,
    distance_distortion, distortion, friedman,
};
use mercer::random::{Purpose, Stream, normal_columns};
use mercer::{Error, Scalar};
use ndarray::{Array2, ArrayView2, Axis, array, concatenate, s};

fn normal(seed: u64, n_rows: usize, n_columns: usize) -> Array2<f64> {
    normal_columns(seed, Purpose::Start, n_rows, 0..n_columns)
}

fn assert_close(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{what}: {got:e} for {expected:e}");
}

// Distortion

/// Distances of all pairs at once, with nothing streamed.
fn distortion_of_matrices<T: Scalar>(kernel: Kernel, x: ArrayView2<'_, T>, z: ArrayView2<'_, T>) -> [f64; 2] {
    let (mut exact, mut approximate) = (Array2::zeros((x.nrows(), x.nrows())), Array2::zeros((x.nrows(), x.nrows())));
    kernel.squared_distances_into(x.into(), x.into(), exact.view_mut()).unwrap();
    squared_distances_into(z.into(), z.into(), approximate.view_mut()).unwrap();
    let report = distance_distortion(exact.view(), approximate.view()).unwrap();
    [report.mean, report.standard_deviation]
}

/// 600 rows are two whole blocks and a part of one.
#[test]
fn streamed_distortion_has_the_bits_of_whole_matrices() {
    fn check<T: Scalar>(x: &Array2<f64>, z: &Array2<f64>) {
        let (x, z) = (x.mapv(T::from_f64), z.mapv(T::from_f64));
        for kernel in [Kernel::Rbf { gamma: 0.1 }, Kernel::Polynomial { degree: 2, gamma: 1.0, c: 0.5 }] {
            let report = distortion(kernel, x.view().into(), z.view()).unwrap();
            assert_eq!([report.mean, report.standard_deviation], distortion_of_matrices(kernel, x.view(), z.view()));
            assert_eq!((report.n_pairs, report.n_skipped), (600 * 599 / 2 - 1, 1));
        }
    }
    let (mut x, z) = (normal(1, 600, 7), normal(2, 600, 5));
    let first = x.row(3).to_owned();
    x.row_mut(590).assign(&first);
    check::<f32>(&x, &z);
    check::<f64>(&x, &z);
}

/// A Gaussian projection to D components makes ‖z‖²/‖x‖² a χ² of D degrees over D, whose mean absolute deviation from 1
/// is 2·a^(a−1)e^(−a)/Γ(a) with a = D/2. It is 0.1777 for D = 40; LS18 measured 0.177 and 0.174 (tables 1 and 2).
#[test]
fn distortion_of_a_gaussian_projection_is_the_deviation_of_chi_squared() {
    let x = normal(3, 12, 9);
    for (n_components, expected) in [(4, 4.0 * (-2.0_f64).exp()), (40, 0.177_670_634_784_170_4)] {
        let mut runs = Moments::default();
        for seed in 0..400 {
            let projection = normal_columns::<f64>(seed, Purpose::Projection, 9, 0..n_components);
            let z = x.dot(&projection) / (n_components as f64).sqrt();
            runs.add(distortion(Kernel::Linear, x.view().into(), z.view()).unwrap().mean).unwrap();
        }
        let error = runs.standard_deviation().unwrap() / 20.0;
        assert!((runs.mean().unwrap() - expected).abs() < 4.0 * error, "{runs:?} for {expected}");
    }
}

#[test]
fn sparse_rows_have_the_distortion_of_dense_ones() {
    let (x, z) = (normal(4, 30, 6).mapv(|value| if value > 0.0 { value } else { 0.0 }), normal(5, 30, 4));
    let mut sparse = CsrMatrix::new(6);
    for row in x.outer_iter() {
        row.iter()
            .enumerate()
            .filter(|(_, value)| **value != 0.0)
            .for_each(|(at, &value)| sparse.push(at, value).unwrap());
        sparse.finish_row();
    }
    let of = |rows| distortion(Kernel::Rbf { gamma: 0.2 }, rows, z.view()).unwrap();
    assert_eq!(of(sparse.view().into()), of(x.view().into()));
}

// Distance correlation

/// By the other form of dCov²: mean(ab) + mean(a)·mean(b) − 2·Σₖ āₖ·b̄ₖ/n (Székely, Rizzo and Bakirov 2007).
fn naive_distance_correlation(x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) -> f64 {
    let distances = |x: ArrayView2<'_, f64>| {
        Array2::from_shape_fn((x.nrows(), x.nrows()), |(k, l)| {
            (&x.row(k) - &x.row(l)).mapv(|difference| difference.powi(2)).sum().sqrt()
        })
    };
    let covariance = |a: &Array2<f64>, b: &Array2<f64>| {
        let mean_of_rows = |a: &Array2<f64>| a.mean_axis(Axis(1)).unwrap();
        let third = (mean_of_rows(a) * mean_of_rows(b)).mean().unwrap();
        (a * b).mean().unwrap() + a.mean().unwrap() * b.mean().unwrap() - 2.0 * third
    };
    let (a, b) = (distances(x), distances(y));
    (covariance(&a, &b) / (covariance(&a, &a) * covariance(&b, &b)).sqrt()).sqrt()
}

#[test]
fn distance_correlation_as_its_other_form() {
    let x = normal(6, 60, 3);
    let y = x.slice(s![.., ..2]).mapv(|value| value * value) + normal(7, 60, 2);
    let samples = [x.view(), y.view(), x.slice(s![.., 1..2])];
    let matrix = distance_correlations(&samples).unwrap();
    for (i, &first) in samples.iter().enumerate() {
        for (j, &second) in samples.iter().enumerate() {
            let expected = naive_distance_correlation(first, second);
            assert!((matrix[[i, j]] - expected).abs() < 1e-12, "{i}, {j}: {} for {expected}", matrix[[i, j]]);
        }
    }
    assert_eq!(matrix, matrix.t());
    let both = concatenate![Axis(1), x, y];
    let columns = distance_correlations_of_columns(both.view()).unwrap();
    for (i, j) in [(0, 3), (1, 4), (2, 3)] {
        let column = |at| both.slice(s![.., at..=at]);
        assert!((columns[[i, j]] - naive_distance_correlation(column(i), column(j))).abs() < 1e-12);
    }
}

/// dCor = 1 is what a similarity leaves: y = shift + factor·(x turned).
#[test]
fn a_similarity_keeps_all_of_the_dependence() {
    let x = normal(8, 40, 2);
    let turned = x.dot(&array![[0.6, -0.8], [0.8, 0.6]]) * -3.0 + 7.0;
    let r = distance_correlations(&[x.view(), turned.view()]).unwrap();
    assert!((r[[0, 1]] - 1.0).abs() < 1e-12, "{r}");
}

/// E n·dCor² tends to 1/(1 − √3 + π/3) for independent normal columns; at n = 200 the terms of order 1/n are about 1 %.
#[test]
fn independent_columns_fall_to_zero_at_their_rate() {
    let (n, mut squares) = (200, Moments::default());
    for seed in 0..20 {
        let r = distance_correlations_of_columns(normal(seed, n, 12).view()).unwrap();
        for (_, r) in r.indexed_iter().filter(|((i, j), _)| i < j) {
            squares.add(n as f64 * r * r).unwrap();
        }
    }
    let expected = 1.0 / (1.0 - 3.0_f64.sqrt() + std::f64::consts::PI / 3.0);
    let error = squares.standard_deviation().unwrap() / (squares.n() as f64).sqrt();
    assert!((squares.mean().unwrap() - expected).abs() < 4.0 * error + 0.02 * expected, "{squares:?} for {expected}");
}

/// LS19's figure 4.3: entries of r⊗w, r = (r₀, r₁), w = (w₂, w₃), are uncorrelated; yet those that share a factor
/// depend on each other, and others do not more than products of other numbers. z-scores over seeds.
#[test]
fn entries_that_share_a_factor_are_dependent() {
    let [mut product, mut sharing, mut apart] = [Moments::default(); 3];
    for seed in 0..200 {
        let r = normal(seed, 200, 6);
        let entry = |i: usize, j: usize| (&r.column(i) * &r.column(j)).insert_axis(Axis(1));
        let entries = [entry(0, 2), entry(0, 3), entry(1, 3), entry(4, 5)];
        let matrix = distance_correlations(&entries.each_ref().map(|entry| entry.view())).unwrap();
        let by_chance = matrix[[0, 3]].powi(2);
        product.add((&entries[0] * &entries[1]).mean().unwrap()).unwrap();
        sharing.add(matrix[[0, 1]].powi(2) - by_chance).unwrap();
        apart.add(matrix[[0, 2]].powi(2) - by_chance).unwrap();
    }
    let z = |sums: Moments| sums.mean().unwrap() / sums.standard_deviation().unwrap() * (sums.n() as f64).sqrt();
    assert!(z(product).abs() < 4.0, "the correlation: {product:?}");
    assert!(z(apart).abs() < 4.0, "no factor shared: {apart:?}");
    assert!(z(sharing) > 8.0, "a factor shared: {sharing:?}");
}

// Friedman's test

/// `scipy.stats.friedmanchisquare(*scores.T)` of SciPy 1.17.1, then F = (n−1)χ²/(n(k−1) − χ²) and `scipy.stats.f.sf(F,
/// k-1, (k-1)*(n-1))`; the first two tables have ties.
#[test]
fn friedman_as_scipy() {
    let first = array![
        [9.0, 7.0, 6.0],
        [9.5, 6.5, 8.0],
        [5.0, 7.0, 4.0],
        [8.5, 7.5, 6.0],
        [9.5, 5.0, 7.0],
        [7.5, 8.0, 6.5],
        [8.0, 6.0, 6.0],
        [7.0, 6.5, 4.0],
        [8.5, 7.0, 6.5],
        [6.0, 7.0, 3.0]
    ];
    let second = Array2::from_shape_fn((12, 5), |(i, j)| ((7 * i * i + 3 * j * i + 5 * j) % 11) as f64);
    let third = Array2::from_shape_fn((15, 6), |(i, j)| ((37 * i * i + 31 * j * j + 13 * i * j + 5 * j) % 101) as f64);
    let table = [
        (first, 10.820_512_820_512_832, 0.004_470_493_783_919_299, 10.608_938_547_486_058, 0.000_903_848_862_050_823_5),
        (second, 0.727_272_727_272_717, 0.947_923_538_725_745, 0.169_230_769_230_766_8, 0.952_940_973_867_991_7),
        (third, 3.355_899_419_729_263_8, 0.645_294_979_156_620_5, 0.655_777_537_796_988, 0.658_092_080_510_260_5),
    ];
    for (scores, chi_squared, p_value, f, f_p_value) in table {
        let report = friedman(scores.view(), Best::Lowest).unwrap();
        // SciPy takes χ² as a difference from 3n(k+1); ours has no rounding before the division.
        let rounding = 4.0 * f64::EPSILON * (3 * scores.nrows() * (scores.ncols() + 1)) as f64;
        assert!((report.chi_squared - chi_squared).abs() < rounding, "{report:?}");
        assert!((report.iman_davenport.unwrap() - f).abs() < 1e-12 * (1.0 + f), "{report:?}");
        assert_close(report.p_value, p_value, "p of χ²");
        assert_close(report.iman_davenport_p_value, f_p_value, "p of F");
    }
}

#[test]
fn ranks_with_ties() {
    let scores = array![[1.0, 2.0, 2.0, 3.0], [0.0, -0.0, 5.0, 5.0], [4.0, 4.0, 4.0, 1.0]];
    let report = friedman(scores.view(), Best::Lowest).unwrap();
    let sums = [1.0 + 1.5 + 3.0, 2.5 + 1.5 + 3.0, 2.5 + 3.5 + 3.0, 4.0 + 3.5 + 1.0];
    assert_eq!(report.average_ranks, sums.map(|sum| sum / 3.0));
    let highest = friedman(scores.view(), Best::Highest).unwrap();
    for (high, low) in highest.average_ranks.iter().zip(&report.average_ranks) {
        assert!((high + low - 5.0).abs() < 1e-15, "the best is the worst");
    }
    assert_eq!((highest.chi_squared, highest.p_value), (report.chi_squared, report.p_value));
}

/// Average distortions of LS18's tables 1 to 3 (CIFAR-10, ISOLET, STL-10; k = 40, 80, 120, 160), methods as rows: φ+RP,
/// P-RP with m = 1, 2, 10, 30, KG-RP with p = 3√n, 6√n, 9√n. φ+RP was not measured on STL-10; the statistic of LS18 is
/// that of its being the best.
const LS18_DISTORTIONS: [[f64; 12]; 8] = [
    [0.177, 0.122, 0.103, 0.090, 0.174, 0.123, 0.102, 0.089, 0.0, 0.0, 0.0, 0.0],
    [0.386, 0.277, 0.239, 0.239, 0.361, 0.245, 0.215, 0.179, 0.360, 0.254, 0.215, 0.179],
    [0.294, 0.212, 0.170, 0.147, 0.279, 0.192, 0.155, 0.139, 0.279, 0.192, 0.155, 0.139],
    [0.204, 0.145, 0.119, 0.101, 0.196, 0.139, 0.114, 0.100, 0.196, 0.139, 0.114, 0.100],
    [0.188, 0.132, 0.109, 0.091, 0.181, 0.132, 0.107, 0.092, 0.181, 0.132, 0.107, 0.092],
    [0.438, 0.431, 0.430, 0.424, 0.344, 0.349, 0.348, 0.335, 0.559, 0.546, 0.544, 0.541],
    [0.357, 0.348, 0.335, 0.339, 0.283, 0.250, 0.257, 0.269, 0.495, 0.485, 0.479, 0.482],
    [0.323, 0.305, 0.292, 0.291, 0.243, 0.222, 0.219, 0.204, 0.469, 0.452, 0.445, 0.434],
];

fn ls18(n_rows: usize) -> FriedmanReport {
    let distortions = Array2::from_shape_fn((n_rows, 8), |(i, method)| LS18_DISTORTIONS[method][i]);
    friedman(distortions.view(), Best::Lowest).unwrap()
}

/// LS18's table 4 (LS19's 3.4), whose digits are cut, not rounded: 0.00204 is 0.002047.
///
/// Two of its figures are no results of its data. The p-value of χ² = 80.805 with 7 degrees is 9.4·10⁻¹⁵, not the
/// 4.3258·10⁻¹¹ of the text. Hochberg's value of KG-RP with 6√n is Holm's 3.25985·10⁻⁸, not ·10⁻⁵: it cannot exceed
/// that of a larger p.
#[test]
fn ls18_table_4() {
    let report = ls18(12);
    assert!((report.chi_squared - 80.805).abs() < 1e-3, "{report:?}");
    assert_close(report.p_value, 9.435_666_766_686e-15, "p of χ²");
    // Methods 1 to 7 of our order: unadjusted p, Bonferroni-Dunn (not cut at 1), Holm, Hochberg.
    let table = [
        [6.79534e-6, 4.75674e-5, 2.71813e-5, 2.71813e-5],
        [0.00204, 0.014328, 0.00614, 0.00614],
        [0.04550, 0.31850, 0.09100, 0.09100],
        [0.31731, 2.22117, 0.31731, 0.31731],
        [4.62394e-12, 3.23676e-11, 3.23676e-11, 3.23676e-11],
        [5.43308e-9, 3.80316e-8, 3.25985e-8, 3.25985e-8],
        [3.06125e-6, 2.142877e-5, 1.53062e-5, 1.53062e-5],
    ];
    for (comparison, printed) in report.against(0).unwrap().iter().zip(table) {
        let Comparison { p_value, bonferroni, holm, hochberg, .. } = *comparison;
        for (got, printed) in [p_value, bonferroni, holm, hochberg].into_iter().zip(printed) {
            let printed = f64::min(printed, 1.0);
            // 0.00204 has three digits, the least.
            assert!(got >= printed * (1.0 - 1e-6) && got < printed * 1.004, "{comparison:?}: {printed}");
        }
    }
}

/// Without the data set on which the control was not measured, the order stays and Bonferroni no longer tells P-RP with
/// m = 2 apart.
#[test]
fn ls18_where_all_methods_were_measured() {
    let report = ls18(8);
    assert_close(report.chi_squared, 53.0 + 5.0 / 24.0, "χ²");
    assert_close(report.p_value, 3.372_077_732_413_6e-9, "p of χ²");
    let to_control = report.against(0).unwrap();
    assert!(to_control[1].bonferroni > 0.05 && to_control[1].holm < 0.05, "m = 2: {:?}", to_control[1]);
    assert!(to_control[2].hochberg > 0.05, "m = 10: {:?}", to_control[2]);
}

/// Of the 6⁴ equally likely orders of three methods in four rows, 90, 54 and 6 reach χ² of 6, 6.5 and 8 (Friedman 1937,
/// table of exact chances: 0.069, 0.042, 0.0046).
#[test]
fn every_order_of_a_small_table() {
    let orders = [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0], [3.0, 2.0, 1.0]];
    let reports: Vec<FriedmanReport> = (0..6_usize.pow(4))
        .map(|number| {
            let scores = Array2::from_shape_fn((4, 3), |(i, j)| orders[number / 6_usize.pow(i as u32) % 6][j]);
            friedman(scores.view(), Best::Lowest).unwrap()
        })
        .collect();
    for (statistic, count) in [(6.0, 90), (6.5, 54), (8.0, 6), (8.1, 0)] {
        assert_eq!(reports.iter().filter(|report| report.chi_squared >= statistic).count(), count, "{statistic}");
    }
    let mean = reports.iter().map(|report| report.chi_squared).sum::<f64>() / 1296.0;
    let variance = reports.iter().map(|report| (report.chi_squared - 2.0).powi(2)).sum::<f64>() / 1296.0;
    assert!((mean - 2.0).abs() < 1e-12 && (variance - 3.0).abs() < 1e-12, "k−1 and 2(k−1)(n−1)/n: {mean}, {variance}");
    let alike = reports.iter().filter(|report| report.iman_davenport.is_none());
    assert!(alike.clone().all(|report| report.chi_squared == 8.0 && report.iman_davenport_p_value == 0.0));
    assert_eq!(alike.count(), 6);
}

/// Scores of equal methods, 50 rows × 6 methods. Of N tests αN ± √(α(1−α)N) reject at level α; the statistic has steps
/// of a chance of up to 0.0024 (and the laws are limits), for which 0.004 is allowed. The first two moments of χ² are
/// exact.
#[test]
fn equal_methods_are_rejected_at_the_level() {
    let (n_tests, n, k) = (4000_u32, 50, 6);
    let (mut statistics, mut p_values, mut any_pair) = (Moments::default(), Vec::new(), 0.0);
    for seed in 0..u64::from(n_tests) {
        let report = friedman(normal(seed, n, k).view(), Best::Highest).unwrap();
        statistics.add(report.chi_squared).unwrap();
        any_pair += f64::from(u8::from(report.all_pairs().unwrap().iter().any(|pair| pair.holm <= 0.05)));
        p_values.push([report.p_value, report.iman_davenport_p_value]);
    }
    let tests = f64::from(n_tests);
    let (variance, error) = (9.8_f64, (9.8 / tests).sqrt());
    assert!((statistics.mean().unwrap() - 5.0).abs() < 4.0 * error, "{statistics:?}");
    // The variance of a variance is (kurtosis − 1)·σ⁴/N, and the kurtosis of χ² of 5 degrees 3 + 12/5.
    let deviation = statistics.standard_deviation().unwrap();
    assert!((deviation.powi(2) - variance).abs() < 4.0 * variance * (4.4 / tests).sqrt(), "{statistics:?}");
    for level in [0.01, 0.05, 0.1, 0.5, 0.9] {
        for which in 0..2 {
            let rejected = p_values.iter().filter(|p| p[which] <= level).count() as f64 / tests;
            let tolerance = 4.0 * (level * (1.0 - level) / tests).sqrt() + 0.004;
            assert!((rejected - level).abs() < tolerance, "{which}: {rejected} at {level}");
        }
    }
    let tolerance = 4.0 * (0.05_f64 * 0.95 / tests).sqrt() + 0.004;
    assert!(any_pair / tests < 0.05 + tolerance, "Holm keeps the chance of one wrong pair: {any_pair}");
    assert!(any_pair > 0.0, "and is not idle");
}

#[test]
fn the_order_of_rows_and_methods_does_not_matter() {
    let scores = normal(10, 9, 5);
    let report = friedman(scores.view(), Best::Highest).unwrap();
    let mut reversed = scores.slice(s![..;-1, ..;-1]).to_owned();
    reversed.mapv_inplace(f64::exp); // any increasing function leaves the ranks
    let again = friedman(reversed.view(), Best::Highest).unwrap();
    let ranks: Vec<f64> = again.average_ranks.iter().rev().copied().collect();
    assert_eq!(FriedmanReport { average_ranks: ranks, ..again }, report);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<FriedmanReport>(&text).unwrap(), report);
}

#[test]
fn equal_scores_differ_in_nothing() {
    let report = friedman(Array2::from_elem((4, 3), 0.7).view(), Best::Highest).unwrap();
    assert_eq!(report.average_ranks, [2.0; 3]);
    assert_eq!((report.chi_squared, report.p_value), (0.0, 1.0));
    assert_eq!((report.iman_davenport, report.iman_davenport_p_value), (Some(0.0), 1.0));
    for pair in report.all_pairs().unwrap() {
        assert_eq!([pair.z, pair.p_value, pair.bonferroni, pair.holm, pair.hochberg], [0.0, 1.0, 1.0, 1.0, 1.0]);
    }
}

/// With two methods χ² = (wins − losses)²/n, the square of the sign test's z; the only pair has the same p.
#[test]
fn two_methods_are_a_sign_test() {
    let scores = Array2::from_shape_fn((10, 2), |(i, j)| if (j == 0) == (i < 8) { 1.0 } else { 0.0 });
    let report = friedman(scores.view(), Best::Highest).unwrap();
    assert_close(report.chi_squared, 3.6, "(8 − 2)²/10");
    let pair = report.all_pairs().unwrap()[0];
    assert_close(pair.z, 3.6_f64.sqrt(), "z");
    for p in [pair.p_value, pair.bonferroni, pair.holm, pair.hochberg] {
        assert_close(p, report.p_value, "p");
    }
    assert_eq!((pair.first, pair.second), (0, 1));
    let other_way = report.against(1).unwrap()[0];
    assert_eq!((other_way.first, other_way.second, other_way.z), (1, 0, -pair.z));
}

#[test]
fn friedman_rejects_what_it_cannot_test() {
    let error = friedman(array![[1.0, 2.0]].view(), Best::Highest).unwrap_err();
    assert_eq!(error.to_string(), "Friedman's test has 1 rows, needs at least 2");
    assert!(matches!(friedman(Array2::zeros((0, 3)).view(), Best::Lowest), Err(Error::TooFewRows { got: 0, .. })));
    let error = friedman(array![[1.0], [2.0]].view(), Best::Highest).unwrap_err();
    assert_eq!(error.to_string(), "n_methods is 1, must be at least 2");
    let result = friedman(array![[1.0, 2.0], [f64::NAN, 1.0]].view(), Best::Highest);
    assert!(matches!(result, Err(Error::NotFinite { row: 1, input: 0, .. })));
    let report = friedman(array![[1.0, 2.0], [2.0, 1.0]].view(), Best::Highest).unwrap();
    assert!(matches!(report.against(2), Err(Error::Parameter { name: "control", .. })));
}

// Adjusted p-values

/// Whether each test is rejected at a level, as the procedures are told.
fn rejected(adjustment: Adjustment, p_values: &[f64], level: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let m = sorted.len();
    let passes = |&place: &usize| sorted[place] * (m - place) as f64 <= level;
    let n_rejected = match adjustment {
        Adjustment::Bonferroni => sorted.iter().filter(|p| *p * m as f64 <= level).count(),
        Adjustment::Holm => (0..m).take_while(passes).count(),
        Adjustment::Hochberg => (0..m).rev().find(passes).map_or(0, |last| last + 1),
    };
    p_values.iter().map(|p| sorted[..n_rejected].contains(p)).collect()
}

/// An adjusted p-value is at most α just where the procedure rejects at level α, in the order of p, and
/// p ≤ Hochberg ≤ Holm ≤ Bonferroni.
#[test]
fn adjusted_p_values_are_the_levels_of_the_procedures() {
    for seed in 0..200 {
        let mut p_values = vec![0.0; 1 + seed as usize % 9];
        Stream::new(seed, Purpose::Start).uniform_into(0, &mut p_values);
        p_values.iter_mut().for_each(|p| *p = p.powi(3)); // more of them small
        let [bonferroni, holm, hochberg] =
            [Adjustment::Bonferroni, Adjustment::Holm, Adjustment::Hochberg].map(|by| by.adjusted(&p_values).unwrap());
        for i in 0..p_values.len() {
            assert!(
                p_values[i] <= hochberg[i]
                    && hochberg[i] <= holm[i]
                    && holm[i] <= bonferroni[i]
                    && bonferroni[i] <= 1.0
            );
            for j in (0..p_values.len()).filter(|&j| p_values[i] <= p_values[j]) {
                assert!(bonferroni[i] <= bonferroni[j] && holm[i] <= holm[j] && hochberg[i] <= hochberg[j]);
            }
        }
        for level in [0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8, 0.99] {
            for (by, adjusted) in
                [(Adjustment::Bonferroni, &bonferroni), (Adjustment::Holm, &holm), (Adjustment::Hochberg, &hochberg)]
            {
                let ours: Vec<bool> = adjusted.iter().map(|&p| p <= level).collect();
                assert_eq!(ours, rejected(by, &p_values, level), "{by:?} of {p_values:?} at {level}");
            }
        }
    }
    assert!(matches!(Adjustment::Holm.adjusted(&[0.5, 1.5]), Err(Error::Parameter { name: "p_values", .. })));
    assert!(matches!(Adjustment::Holm.adjusted(&[f64::NAN]), Err(Error::Parameter { .. })));
    assert!(Adjustment::Hochberg.adjusted(&[]).unwrap().is_empty());
}
