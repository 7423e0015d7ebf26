//! The statistics that compare methods: distortion.

use mercer::Scalar;
use mercer::dataset::CsrMatrix;
use mercer::kernels::{Kernel, squared_distances_into};
use mercer::metrics::{Moments, distance_distortion, distortion};
use mercer::random::{Purpose, normal_columns};
use ndarray::{Array2, ArrayView2};

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
