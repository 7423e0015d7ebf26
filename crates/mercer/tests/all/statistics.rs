//! The statistics that compare methods: distortion and distance correlation.

use mercer::Scalar;
use mercer::dataset::CsrMatrix;
use mercer::kernels::{Kernel, squared_distances_into};
use mercer::metrics::{
    Moments, distance_correlations, distance_correlations_of_columns, distance_distortion, distortion,
};
use mercer::random::{Purpose, normal_columns};
use ndarray::{Array2, ArrayView2, Axis, array, concatenate, s};

fn normal(seed: u64, n_rows: usize, n_columns: usize) -> Array2<f64> {
    normal_columns(seed, Purpose::Start, n_rows, 0..n_columns)
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
