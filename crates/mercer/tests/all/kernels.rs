//! Gram matrices against the definition, and the properties every kernel has.

use mercer::dataset::{CsrMatrix, Rows};
use mercer::kernels::{Kernel, squared_distances_into};
use mercer::{Error, Scalar};
use mercer_simd::{InstructionSet, ops::random::normal_into};
use ndarray::{Array2, array};

const KERNELS: [Kernel; 24] = [
    Kernel::Linear,
    Kernel::Polynomial { degree: 2, gamma: 1.0, c: 0.0 },
    Kernel::Polynomial { degree: 3, gamma: 0.01, c: 1.0 },
    Kernel::Rbf { gamma: 0.02 },
    Kernel::Laplace { gamma: 0.02 },
    Kernel::Laplace { gamma: 1.0 },
    Kernel::Matern { nu: 0.5, length_scale: 8.0 },
    Kernel::Matern { nu: 1.5, length_scale: 8.0 },
    Kernel::Matern { nu: 2.5, length_scale: 8.0 },
    Kernel::Matern { nu: 0.3, length_scale: 8.0 },
    Kernel::Matern { nu: 2.0, length_scale: 3.0 },
    Kernel::Matern { nu: 7.3, length_scale: 20.0 },
    Kernel::Matern { nu: 60.0, length_scale: 8.0 },
    Kernel::Cauchy { gamma: 0.02 },
    Kernel::RationalQuadratic { alpha: 0.3, length_scale: 4.0 },
    Kernel::RationalQuadratic { alpha: 1e6, length_scale: 8.0 },
    Kernel::AdditiveChi2,
    Kernel::ExponentialChi2 { gamma: 0.02 },
    Kernel::ExponentialChi2 { gamma: 1.0 },
    Kernel::ArcCosine { degree: 0 },
    Kernel::ArcCosine { degree: 1 },
    Kernel::ArcCosine { degree: 2 },
    Kernel::Tanimoto,
    Kernel::SkewedChi2 { skewedness: 5.0 },
];

/// The rows as they are, or their absolute values for the kernels that take no others.
fn fit(kernel: Kernel, x: &Array2<f64>) -> Array2<f64> {
    match kernel {
        Kernel::AdditiveChi2 | Kernel::ExponentialChi2 { .. } | Kernel::SkewedChi2 { .. } => x.mapv(f64::abs),
        _ => x.clone(),
    }
}

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

/// More rows than a block, more inputs than a panel of the product. A sum of 600 terms is off by about 600ε ≈ 10⁻¹³ of its
/// size at worst, and no kernel here magnifies that by more than its degree.
#[test]
fn gram_is_the_definition() {
    let (x, y) = (normal(1, 300, 600), normal(2, 270, 600));
    for kernel in KERNELS {
        let (x, y) = (fit(kernel, &x), fit(kernel, &y));
        let scale = kernel.diagonal(x.view().into()).unwrap().into_iter().fold(0.0, f64::max);
        for ((i, j), &got) in gram::<_, f64>(kernel, x.view().into(), y.view().into()).indexed_iter() {
            let expected = kernel.value(x.row(i), y.row(j)).unwrap();
            assert!((got - expected).abs() <= 1e-13 * scale, "{kernel:?} at {i}, {j}: {got} for {expected}");
        }
    }
}

#[test]
fn symmetric_with_its_diagonal_and_positive_semi_definite() {
    let mut x = normal(3, 120, 40);
    x.row_mut(7).fill(0.0);
    x.row_mut(8).fill(0.0);
    let copy = x.row(1).to_owned();
    x.row_mut(9).assign(&copy);
    x.row_mut(10).assign(&(-2.0 * &copy));
    for kernel in KERNELS {
        let x = fit(kernel, &x);
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

/// ‖φ(x)−φ(y)‖² = k(x,x) + k(y,y) − 2k(x,y), and 0 for equal rows.
#[test]
fn distances_are_those_of_the_feature_space() {
    let (x, mut y) = (normal(16, 70, 30), normal(17, 66, 30));
    y.row_mut(5).assign(&x.row(40));
    y.row_mut(6).fill(0.0);
    for kernel in KERNELS {
        let (x, y) = (fit(kernel, &x), fit(kernel, &y));
        let (of_x, of_y) = (kernel.diagonal(x.view().into()).unwrap(), kernel.diagonal(y.view().into()).unwrap());
        let gram: Array2<f64> = gram(kernel, x.view().into(), y.view().into());
        let expected = Array2::from_shape_fn((70, 66), |(i, j)| of_x[i] + of_y[j] - 2.0 * gram[[i, j]]);
        let mut got = Array2::zeros((70, 66));
        kernel.squared_distances_into(x.view().into(), y.view().into(), got.view_mut()).unwrap();
        // The expectation adds three numbers of up to twice the scale.
        assert_close(&got, &expected, 1e-14, &format!("{kernel:?}"));
        assert_eq!(got[[40, 5]], 0.0, "{kernel:?}");
    }
}

/// Zero, equal, huge, tiny, parallel and opposite rows, dense and sparse: never NaN, and k = 1 stays 1.
#[test]
fn degenerate_rows_give_numbers() {
    let mut x = normal(18, 12, 6);
    x.row_mut(0).fill(0.0);
    x.row_mut(1).fill(0.0);
    for (to, factor) in [(3, 1.0), (4, 1e200), (5, 1e200), (6, -1e200), (7, 1e-200), (8, -3.0), (9, 1e-320)] {
        let row = factor * &x.row(2).to_owned();
        x.row_mut(to).assign(&row);
    }
    let next = x.row(2).mapv(f64::next_up);
    x.row_mut(10).assign(&next);
    for kernel in KERNELS {
        if matches!(kernel, Kernel::Linear | Kernel::Polynomial { .. }) {
            continue; // ∞ − ∞ of an overflowing product is NaN, as in any sum of products
        }
        let x = fit(kernel, &x);
        let dense: Array2<f64> = gram(kernel, x.view().into(), x.view().into());
        assert!(dense.iter().all(|value| !value.is_nan()), "{kernel:?}: {dense:?}");
        let sparse: Array2<f64> = gram(kernel, csr(&x).view().into(), csr(&x).view().into());
        assert_eq!(sparse, dense, "{kernel:?}");
        let mut distances = Array2::<f64>::zeros((12, 12));
        kernel.squared_distances_into(x.view().into(), x.view().into(), distances.view_mut()).unwrap();
        assert!(distances.iter().all(|value| *value >= 0.0), "{kernel:?}: {distances:?}");
        for (i, j) in [(0, 1), (2, 3), (4, 5)].into_iter().chain((0..12).map(|i| (i, i))) {
            assert_eq!(distances[[i, j]], 0.0, "{kernel:?} {i} {j}");
        }
        for ((i, j), &value) in dense.indexed_iter() {
            let definition = kernel.value(x.row(i), x.row(j)).unwrap();
            let same = (value - definition).abs() <= 1e-13 * definition.abs() || value == definition;
            assert!(same, "{kernel:?} {i} {j}: {value} for {definition}");
        }
    }
}

/// Angles and relative distances have no unit: rows of any size have them.
#[test]
fn directions_of_huge_and_tiny_rows() {
    let x = normal(19, 5, 8);
    for kernel in [Kernel::ArcCosine { degree: 0 }, Kernel::Tanimoto] {
        let expected: Array2<f64> = gram(kernel, x.view().into(), x.view().into());
        for factor in [1e-300, 1e-160, 1e150, 1e300] {
            let x = &x * factor;
            assert_close(
                &gram(kernel, x.view().into(), x.view().into()),
                &expected,
                1e-14,
                &format!("{kernel:?} {factor}"),
            );
        }
    }
}

#[test]
fn chi_squared_kernels_take_no_negative_value() {
    let (good, mut bad) = (normal(20, 6, 4).mapv(f64::abs), normal(21, 5, 4).mapv(f64::abs));
    bad[[3, 2]] = -0.5;
    let sparse = csr(&bad);
    for kernel in [Kernel::AdditiveChi2, Kernel::ExponentialChi2 { gamma: 1.0 }] {
        let refuses = |result: mercer::Result<()>| {
            assert!(matches!(result, Err(Error::Negative { row: 3, input: 2, value: -0.5 })), "{kernel:?}");
        };
        for bad in [Rows::Dense(bad.view()), sparse.view().into()] {
            let good = Rows::Dense(good.view());
            refuses(kernel.gram_into(good, bad, Array2::<f64>::zeros((6, 5)).view_mut()));
            refuses(kernel.gram_into(bad, good, Array2::<f64>::zeros((5, 6)).view_mut()));
            refuses(kernel.squared_distances_into(bad, good, Array2::<f64>::zeros((5, 6)).view_mut()));
            refuses(kernel.diagonal(bad).map(drop));
        }
        let result = kernel.value(good.row(0), bad.row(3));
        assert!(matches!(result, Err(Error::Negative { row: 0, input: 2, .. })));
        bad[[3, 2]] = f64::NAN;
        assert!(matches!(kernel.diagonal(Rows::Dense(bad.view())), Err(Error::Negative { row: 3, input: 2, .. })));
        bad[[3, 2]] = -0.5;
    }
}

#[test]
fn the_skewed_kernel_takes_values_above_its_shift_only() {
    let kernel = Kernel::SkewedChi2 { skewedness: 0.5 };
    for value in [-0.5, -3.0, f64::NAN] {
        let bad = array![[1.0, 2.0], [-0.4, value]];
        let sparse = csr(&bad);
        for rows in [Rows::Dense(bad.view()), sparse.view().into()] {
            let error = kernel.gram_into(rows, rows, Array2::<f64>::zeros((2, 2)).view_mut()).unwrap_err();
            assert!(matches!(error, Error::TooNegative { row: 1, input: 1, skewedness: 0.5, .. }), "{error}");
            assert!(error.to_string().contains("takes values above -0.5"), "{error}");
        }
    }
    // Beyond all numbers apart: 0, not NaN.
    let far = array![[1e300, 0.0, 1.0, 1e300], [1e-300, 1e300, 1.0, 0.0]];
    let gram: Array2<f64> = gram(Kernel::SkewedChi2 { skewedness: 1e-300 }, far.view().into(), far.view().into());
    assert_eq!(gram, array![[1.0, 0.0], [0.0, 1.0]]);
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
    for kernel in KERNELS {
        let (x, y) = (fit(kernel, &x), fit(kernel, &y));
        let (sparse_x, sparse_y) = (csr(&x), csr(&y));
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
    for kernel in KERNELS {
        let (x, y) = (fit(kernel, &x), fit(kernel, &y));
        let (sparse_x, sparse_y) = (csr(&x), csr(&y));
        let expected: Array2<f64> = gram(kernel, x.view().into(), y.view().into());
        for x in [x.view().into(), sparse_x.view().into()] {
            let got = gram::<_, f64>(kernel, x, sparse_y.view().into());
            assert_close(&got, &expected, 1e-13, &format!("{kernel:?}"));
            let of_itself = kernel.diagonal(x).unwrap()[8];
            assert!(of_itself != 1.0 || got[[8, 3]] == 1.0, "{kernel:?}");
        }
    }
}

#[test]
fn empty_sparse_rows() {
    for width in [4, 40_000] {
        let (x, none) = (sparse_normal(15, 3, width, 2), csr(&Array2::<f64>::zeros((2, width))));
        for kernel in KERNELS {
            let x = fit(kernel, &x);
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
    assert_eq!(got, array![[5.0, 1.0], [1.0, 5.0]]);
    let got: Array2<f32> = gram(Kernel::AdditiveChi2, x.view().into(), x.view().into());
    assert_eq!(got, array![[3.0, 1.0], [1.0, 3.0]]);
    let got: Array2<f32> = gram(Kernel::Laplace { gamma: 0.5 }, x.view().into(), x.view().into());
    assert_eq!(got, array![[1.0, (-2.0_f32).exp()], [(-2.0_f32).exp(), 1.0]]);
}

#[test]
fn the_same_bits_for_any_cut() {
    let (x, y) = (normal(8, 300, 530), normal(9, 300, 530));
    for kernel in KERNELS {
        let (x, y) = (fit(kernel, &x), fit(kernel, &y));
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

#[test]
fn f32_is_the_f64_gram_rounded_for_every_kernel() {
    let x = normal(22, 80, 50).mapv(|value| value as f32);
    for kernel in KERNELS {
        let wide = fit(kernel, &x.mapv(f64::from));
        let x = wide.mapv(|value| value as f32);
        let expected: Array2<f64> = gram(kernel, wide.view().into(), wide.view().into());
        let got: Array2<f32> = gram(kernel, x.view().into(), x.view().into());
        assert_eq!(got, expected.mapv(|value| value as f32), "{kernel:?}");
    }
}

/// The smooth kernels of rows a relative 10⁻⁸ apart: ‖φ(x)−φ(y)‖² has the digits that the differences have, where
/// k(x,x) + k(y,y) − 2k(x,y) would have none.
#[test]
fn close_rows_keep_their_distance_in_feature_space() {
    let x = normal(23, 1, 40).mapv(f64::abs) + 0.1;
    let y = &x + &(normal(24, 1, 40) * 1e-8);
    let sum = |term: fn(f64, f64) -> f64| x.iter().zip(&y).map(|(&x, &y)| term(x, y)).sum::<f64>();
    let (squared, norms) = (sum(|x, y| (x - y) * (x - y)), sum(|x, y| x * x + y * y));
    let (absolute, chi) = (sum(|x, y| (x - y).abs()), sum(|x, y| (x - y) * (x - y) / (x + y)));
    let skewed = sum(|x, y| ((x - y) / (x + 0.2)).powi(2) / 4.0);
    let leading = [
        (Kernel::Laplace { gamma: 0.3 }, 0.6 * absolute),
        (Kernel::Matern { nu: 0.5, length_scale: 2.0 }, 2.0 * squared.sqrt() / 2.0),
        (Kernel::Matern { nu: 1.5, length_scale: 2.0 }, 3.0 * squared / 4.0),
        (Kernel::Matern { nu: 4.2, length_scale: 2.0 }, 4.2 / 3.2 * squared / 4.0),
        (Kernel::Cauchy { gamma: 0.3 }, 0.6 * squared),
        (Kernel::RationalQuadratic { alpha: 2.0, length_scale: 2.0 }, squared / 4.0),
        (Kernel::AdditiveChi2, chi),
        (Kernel::ExponentialChi2 { gamma: 0.3 }, 0.6 * chi),
        (Kernel::Tanimoto, 4.0 * squared / norms),
        (Kernel::SkewedChi2 { skewedness: 0.2 }, skewed),
    ];
    for (kernel, expected) in leading {
        let mut out = Array2::<f64>::zeros((1, 1));
        kernel.squared_distances_into(x.view().into(), y.view().into(), out.view_mut()).unwrap();
        // The next term of the series is smaller by 10⁻⁷ for kernels with a kink at 0, 10⁻¹⁴ for others.
        assert!((out[[0, 0]] / expected - 1.0).abs() < 2e-7, "{kernel:?}: {} for {expected}", out[[0, 0]]);
    }
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
