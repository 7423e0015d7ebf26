//! Gram matrices against scikit-learn, the definition, and the properties every kernel has.

// A test that fails may panic, also in its helpers.
#![allow(clippy::unwrap_used)]

use mercer::dataset::{CsrMatrix, Rows};
use mercer::kernels::{Kernel, squared_distances_into};
use mercer::{Error, Scalar};
use mercer_simd::{InstructionSet, ops::random::normal_into};
use ndarray::Array2;
use serde::Deserialize;

const KERNELS: [Kernel; 4] = [
    Kernel::Linear,
    Kernel::Polynomial { degree: 2, gamma: 1.0, c: 0.0 },
    Kernel::Polynomial { degree: 3, gamma: 0.01, c: 1.0 },
    Kernel::Rbf { gamma: 0.02 },
];

fn normal(seed: u64, rows: usize, columns: usize) -> Array2<f64> {
    let mut values = vec![0.0; (rows * columns).next_multiple_of(2)];
    normal_into(InstructionSet::best(), seed, (0, 0), 0, &mut values);
    values.truncate(rows * columns);
    Array2::from_shape_vec((rows, columns), values).unwrap()
}

/// Normal rows with about one value in `keep` other than zero.
fn sparse_normal(seed: u64, rows: usize, columns: usize, keep: usize) -> Array2<f64> {
    let mut x = normal(seed, rows, columns);
    x.indexed_iter_mut().for_each(|((i, j), value)| *value *= f64::from((7 * i + j) % keep == 0));
    x
}

fn csr<T: Scalar>(x: &Array2<T>) -> CsrMatrix<T> {
    let mut out = CsrMatrix::new(x.ncols());
    for row in x.outer_iter() {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != T::zero()) {
            out.push(j, value).unwrap();
        }
        out.finish_row();
    }
    out
}

fn gram<T: Scalar, O: Scalar>(kernel: Kernel, x: Rows<'_, T>, y: Rows<'_, T>) -> Array2<O> {
    let mut out = Array2::zeros((x.n_rows(), y.n_rows()));
    kernel.gram_into(x, y, out.view_mut()).unwrap();
    out
}

fn assert_close(got: &Array2<f64>, expected: &Array2<f64>, relative: f64, what: &str) {
    let scale = expected.iter().fold(0.0_f64, |scale, x| scale.max(x.abs()));
    for (index, &expected) in expected.indexed_iter() {
        let error = (got[index] - expected).abs();
        assert!(error <= relative * scale, "{what} at {index:?}: {} for {expected}", got[index]);
    }
}

#[derive(Deserialize)]
struct Fixture {
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    squared_distances: Vec<Vec<f64>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kernel: Kernel,
    gram: Vec<Vec<f64>>,
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

#[test]
fn as_scikit_learn() {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/kernels.json")).unwrap();
    let (x, y) = (matrix(&fixture.x), matrix(&fixture.y));
    for Case { kernel, gram: expected } in &fixture.cases {
        let got = gram(*kernel, x.view().into(), y.view().into());
        assert_close(&got, &matrix(expected), 1e-14, &format!("{kernel:?}"));
    }
    let mut distances = Array2::zeros((x.nrows(), y.nrows()));
    squared_distances_into(x.view().into(), y.view().into(), distances.view_mut()).unwrap();
    assert_close(&distances, &matrix(&fixture.squared_distances), 1e-14, "distances");
}

/// More rows than a block, more inputs than a panel of the product.
#[test]
fn gram_is_the_definition() {
    let (x, y) = (normal(1, 300, 600), normal(2, 270, 600));
    for kernel in KERNELS {
        let expected = Array2::from_shape_fn((300, 270), |(i, j)| kernel.value(x.row(i), y.row(j)).unwrap());
        let got = gram(kernel, x.view().into(), y.view().into());
        assert_close(&got, &expected, 1e-13, &format!("{kernel:?}"));
    }
}

#[test]
fn symmetric_with_its_diagonal_and_positive_semi_definite() {
    let x = normal(3, 120, 40);
    for kernel in KERNELS {
        let gram: Array2<f64> = gram(kernel, x.view().into(), x.view().into());
        let diagonal = kernel.diagonal(x.view().into()).unwrap();
        let scale = diagonal.iter().fold(0.0_f64, |scale, &x| scale.max(x));
        for ((i, j), &value) in gram.indexed_iter() {
            assert!((value - gram[[j, i]]).abs() <= 1e-14 * scale, "{kernel:?}");
            assert!(i != j || (value - diagonal[i]).abs() <= 1e-14 * scale, "{kernel:?}");
        }
        assert!(smallest_pivot(gram) > -1e-12 * scale, "{kernel:?}");
    }
}

/// Of the factors L·D·Lᵀ with the largest pivot first, down to where rounding errors begin.
fn smallest_pivot(mut a: Array2<f64>) -> f64 {
    let (n, mut smallest) = (a.nrows(), f64::INFINITY);
    let mut left: Vec<usize> = (0..n).collect();
    let scale = a.diag().iter().fold(0.0_f64, |scale, &x| scale.max(x));
    while let Some(at) = (0..left.len()).max_by(|&i, &j| a[[left[i], left[i]]].total_cmp(&a[[left[j], left[j]]])) {
        let k = left.swap_remove(at);
        let pivot = a[[k, k]];
        smallest = smallest.min(pivot);
        if pivot <= 1e-10 * scale {
            // What is left has to be zero but for rounding.
            return left.iter().map(|&i| a[[i, i]]).fold(smallest, f64::min);
        }
        for &i in &left {
            let factor = a[[i, k]] / pivot;
            for &j in &left {
                a[[i, j]] -= factor * a[[k, j]];
            }
        }
    }
    smallest
}

#[test]
fn dense_and_sparse_are_the_same_bits() {
    let (x, y) = (sparse_normal(4, 280, 700, 5), sparse_normal(5, 260, 700, 3));
    let (sparse_x, sparse_y) = (csr(&x), csr(&y));
    for kernel in KERNELS {
        let expected: Array2<f64> = gram(kernel, x.view().into(), y.view().into());
        assert_eq!(gram::<_, f64>(kernel, sparse_x.view().into(), y.view().into()), expected, "{kernel:?}");
        assert_eq!(gram::<_, f64>(kernel, x.view().into(), sparse_y.view().into()), expected, "{kernel:?}");
        assert_eq!(gram::<_, f64>(kernel, sparse_x.view().into(), sparse_y.view().into()), expected, "{kernel:?}");
    }
}

/// Wide sparse rows go through panels of their own columns; one row of x equals one of y, others share no column.
#[test]
fn wide_sparse_rows() {
    let (x, mut y) = (sparse_normal(6, 9, 20_000, 50), sparse_normal(7, 7, 20_000, 31));
    y.row_mut(3).assign(&x.row(8));
    let (sparse_x, sparse_y) = (csr(&x), csr(&y));
    for kernel in KERNELS {
        let expected: Array2<f64> = gram(kernel, x.view().into(), y.view().into());
        for x in [x.view().into(), sparse_x.view().into()] {
            let got = gram::<_, f64>(kernel, x, sparse_y.view().into());
            assert_close(&got, &expected, 1e-13, &format!("{kernel:?}"));
            assert!(!matches!(kernel, Kernel::Rbf { .. }) || got[[8, 3]] == 1.0);
        }
    }
}

#[test]
fn empty_sparse_rows() {
    for width in [4, 40_000] {
        let (x, none) = (sparse_normal(15, 3, width, 2), csr(&Array2::<f64>::zeros((2, width))));
        for kernel in KERNELS {
            let expected = gram::<_, f64>(kernel, x.view().into(), Array2::zeros((2, width)).view().into());
            assert_eq!(gram::<_, f64>(kernel, x.view().into(), none.view().into()), expected, "{kernel:?}");
            assert_eq!(gram::<_, f64>(kernel, csr(&x).view().into(), none.view().into()), expected, "{kernel:?}");
        }
    }
}

/// A huge declared width costs nothing.
#[test]
fn memory_follows_the_stored_values() {
    let mut x = CsrMatrix::<f32>::new(0);
    for column in [5, 2_000_000_000] {
        x.push(3, 1.0).unwrap();
        x.push(column, 2.0).unwrap();
        x.finish_row();
    }
    let got: Array2<f32> = gram(Kernel::Linear, x.view().into(), x.view().into());
    assert_eq!(got, ndarray::array![[5.0, 1.0], [1.0, 5.0]]);
}

#[test]
fn the_same_bits_for_any_cut() {
    let (x, y) = (normal(8, 300, 530), normal(9, 300, 530));
    for kernel in KERNELS {
        let whole: Array2<f64> = gram(kernel, x.view().into(), y.view().into());
        for (i, j) in [(0, 0), (299, 17), (5, 299)] {
            let one: Array2<f64> =
                gram(kernel, Rows::Dense(x.view()).slice(i, i + 1), Rows::Dense(y.view()).slice(j, j + 1));
            assert_eq!(one[[0, 0]], whole[[i, j]], "{kernel:?}");
        }
    }
}

/// Rows of length 30 and γ = 1, some of them close together: where the formula in f32 is off by 6·10⁻⁴.
#[test]
fn f32_is_the_f64_gram_rounded() {
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let centre = normal(10, 1, 100) * 3.0;
    let x = (normal(11, 200, 100) * 0.07 + &centre).mapv(|value| value as f32);
    let wide = x.mapv(f64::from);
    let expected: Array2<f64> = gram(kernel, wide.view().into(), wide.view().into());
    let got: Array2<f32> = gram(kernel, x.view().into(), x.view().into());
    assert_eq!(got, expected.mapv(|value| value as f32));
    assert!(expected.iter().any(|&value| value > 0.3 && value < 0.5), "the case is not trivial");
    assert!(got.diag().iter().all(|&value| value == 1.0));
}

/// Rows 10⁻⁶ apart at length 30: the formula keeps 2 digits of their distance in f64, the differences all.
#[test]
fn close_rows_keep_their_distance() {
    let x = normal(12, 1, 100) * 3.0;
    let step = normal(13, 1, 100) * 1e-7;
    let y = &x + &step;
    let moved: f64 = x.iter().zip(&y).map(|(x, y)| (y - x).powi(2)).sum();
    for (x, y) in [(&x, &y), (&y, &x)] {
        let (sparse_x, sparse_y) = (csr(x), csr(y));
        for x in [Rows::Dense(x.view()), sparse_x.view().into()] {
            for y in [Rows::Dense(y.view()), sparse_y.view().into()] {
                let mut out = Array2::<f64>::zeros((1, 1));
                squared_distances_into(x, y, out.view_mut()).unwrap();
                assert!((out[[0, 0]] / moved - 1.0).abs() < 1e-14);
                Kernel::Rbf { gamma: 1.0 }.squared_distances_into(x, y, out.view_mut()).unwrap();
                assert!((out[[0, 0]] / (2.0 * moved) - 1.0).abs() < 1e-10);
            }
        }
    }
}

#[test]
fn distances_reject_shapes_that_do_not_fit() {
    let (x, narrow) = (normal(14, 2, 3), normal(14, 2, 2));
    let mut out = Array2::<f64>::zeros((2, 2));
    let result = squared_distances_into(x.view().into(), csr(&narrow).view().into(), out.view_mut());
    assert!(matches!(result, Err(Error::Inputs { got: 2, expected: 3, .. })));
    let mut out = Array2::<f64>::zeros((2, 1));
    let result = squared_distances_into(x.view().into(), x.view().into(), out.view_mut());
    assert!(matches!(result, Err(Error::Parameter { name: "out", .. })));
}
