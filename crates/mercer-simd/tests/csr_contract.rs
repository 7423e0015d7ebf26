//! Sparse products have the bits of the dense ones; malformed arrays are refused, each for its reason.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mercer_simd::ops::philox::philox_into;
use mercer_simd::{CsrError, CsrMatrix, CsrView, InstructionSet, Scalar, Update, csr_matmul_into, matmul_into};
use ndarray::{Array2, ArrayView2, s};

fn random_words(n: usize, seed: u64) -> Vec<[u32; 4]> {
    let mut blocks = vec![[0; 4]; n];
    philox_into(InstructionSet::best(), seed, (0, 0), 0, &mut blocks);
    blocks
}

fn value<T: Scalar>(word: [u32; 4]) -> T {
    let bits = u64::from(word[0]) << 32 | u64::from(word[1]);
    T::from_f64(bits as i64 as f64 / 9_223_372_036_854_775_808.0)
}

/// Nonzero with the given probability; every fifth row empty, the last one full if any is.
fn sparse_matrix<T: Scalar>(rows: usize, columns: usize, density: f64) -> Array2<T> {
    let words = random_words(rows * columns, 31);
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        let word = words[i * columns + j];
        let kept = f64::from(word[2]) < density * 4_294_967_296.0 && !i.is_multiple_of(5);
        if kept || (density > 0.0 && i + 1 == rows) { value(word) } else { T::zero() }
    })
}

fn dense_matrix<T: Scalar>(rows: usize, columns: usize) -> Array2<T> {
    let words = random_words(rows * columns, 32);
    Array2::from_shape_fn((rows, columns), |(i, j)| value(words[i * columns + j]))
}

/// The arrays of a matrix with 64-bit indices.
fn compressed<T: Scalar>(dense: ArrayView2<'_, T>) -> (Vec<i64>, Vec<i64>, Vec<T>) {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in dense.outer_iter() {
        for (j, &x) in row.iter().enumerate().filter(|&(_, &x)| x != T::zero()) {
            indices.push(j as i64);
            values.push(x);
        }
        indptr.push(values.len() as i64);
    }
    (indptr, indices, values)
}

fn narrow(indices: &[i64]) -> Vec<i32> {
    indices.iter().map(|&i| i32::try_from(i).unwrap()).collect()
}

fn assert_same_bits<T: Scalar>(got: ArrayView2<'_, T>, expected: ArrayView2<'_, T>, what: &str) {
    assert_eq!(got.dim(), expected.dim());
    for ((at, x), y) in got.indexed_iter().zip(expected) {
        assert!(x.bits() == y.bits(), "{what}: {x:?} at {at:?}, expected {y:?}");
    }
}

fn equals_the_dense_product<T: Scalar>() {
    let b_wide = dense_matrix::<T>(1300, 310);
    for k in [1, 2, 3, 17, 511, 512, 513, 784, 1300] {
        for density in [0.0, 0.01, 0.3, 1.0] {
            let a = sparse_matrix::<T>(23, k, density);
            let (indptr, indices, values) = compressed(a.view());
            let (indptr_32, indices_32) = (narrow(&indptr), narrow(&indices));
            let views = [
                CsrView::new(k, &indptr[..], &indices[..], &values).unwrap(),
                CsrView::new(k, &indptr_32[..], &indices_32[..], &values).unwrap(),
                CsrView::new(k, &indptr[..], &indices_32[..], &values).unwrap(),
            ];
            for n in [1, 2, 15, 16, 17, 127, 128, 129, 300] {
                let b = b_wide.slice(s![..k, ..n]);
                let mut expected = Array2::zeros((23, n));
                matmul_into(a.view(), b, expected.view_mut(), Update::Set);
                for (isa, view) in InstructionSet::available().into_iter().flat_map(|isa| views.map(|view| (isa, view)))
                {
                    let what = format!("{isa:?} {} {k} × {n}, density {density}", T::DTYPE);
                    let mut c = Array2::from_elem((23, n + 3), T::nan());
                    csr_matmul_into(isa, view, b, c.slice_mut(s![.., ..n]));
                    assert_same_bits(c.slice(s![.., ..n]), expected.view(), &what);
                    assert!(c.slice(s![.., n..]).iter().all(|x| x.is_nan()), "{what}: wrote beside C");
                    // A part of the rows is the same part of the product.
                    let mut part = Array2::from_elem((7, n), T::nan());
                    csr_matmul_into(isa, view.rows(9, 16), b, part.view_mut());
                    assert_same_bits(part.view(), expected.slice(s![9..16, ..]), &what);
                }
            }
        }
    }
}

#[test]
fn f32_equals_the_dense_product() {
    equals_the_dense_product::<f32>();
}

#[test]
fn f64_equals_the_dense_product() {
    equals_the_dense_product::<f64>();
}

#[test]
fn empty_products() {
    let view = CsrView::<f32>::new(4, &[0_i32][..], &[][..] as &[i32], &[]).unwrap();
    assert_eq!((view.n_rows(), view.n_columns(), view.nnz()), (0, 4, 0));
    csr_matmul_into(InstructionSet::best(), view, Array2::zeros((4, 2)).view(), Array2::zeros((0, 2)).view_mut());
    let rows = CsrView::<f32>::new(0, &[0_i32, 0, 0][..], &[][..] as &[i32], &[]).unwrap();
    let mut c = Array2::from_elem((2, 3), 7.0);
    csr_matmul_into(InstructionSet::best(), rows, Array2::zeros((0, 3)).view(), c.view_mut());
    assert_eq!(c, Array2::zeros((2, 3)));
    csr_matmul_into(InstructionSet::best(), rows, Array2::zeros((0, 0)).view(), Array2::zeros((2, 0)).view_mut());
}

#[test]
#[should_panic(expected = "sparse matmul of (1, 4) by (3, 2)")]
fn shapes_must_fit() {
    let view = CsrView::<f32>::new(4, &[0_i32, 0][..], &[][..] as &[i32], &[]).unwrap();
    csr_matmul_into(InstructionSet::best(), view, Array2::zeros((3, 2)).view(), Array2::zeros((1, 2)).view_mut());
}

#[test]
#[should_panic(expected = "row-major B")]
fn b_by_columns_is_refused() {
    let view = CsrView::new(2, &[0_i32, 1][..], &[1_i32][..], &[1.0]).unwrap();
    csr_matmul_into(InstructionSet::best(), view, Array2::zeros((3, 2)).t(), Array2::zeros((1, 3)).view_mut());
}

/// Every malformed input, with 32- and with 64-bit indices.
#[test]
fn malformed_arrays_are_refused() {
    let refused = |columns: usize, indptr: &[i64], indices: &[i64], error: &CsrError| {
        let values = vec![1.0_f64; 3];
        let wide = CsrView::new(columns, indptr, indices, &values).unwrap_err();
        assert_eq!(wide, *error, "{indptr:?} {indices:?}");
        let (indptr, indices) = (narrow(indptr), narrow(indices));
        assert_eq!(CsrView::new(columns, &indptr[..], &indices[..], &values).unwrap_err(), *error);
        assert!(!error.to_string().is_empty());
    };
    let good: [i64; 3] = [0, 2, 1];
    refused(3, &[0, 2, 3], &good[..2], &CsrError::Lengths { indices: 2, values: 3 });
    refused(3, &[0, 2, 3], &[0, 2, 1, 1], &CsrError::Lengths { indices: 4, values: 3 });
    for indptr in
        [&[][..], &[0], &[3], &[1, 3], &[0, 2], &[0, 4], &[-1, 3], &[0, -1], &[0, 2, 1, 3], &[0, 5, 3], &[0, -2, 3]]
    {
        refused(3, indptr, &good, &CsrError::Pointers);
    }
    refused(3, &[0, 2, 3], &[0, 3, 1], &CsrError::OutOfRange { row: 0 });
    refused(3, &[0, 2, 3], &[0, 2, 3], &CsrError::OutOfRange { row: 1 });
    refused(3, &[0, 2, 3], &[-1, 2, 1], &CsrError::OutOfRange { row: 0 });
    refused(3, &[0, 2, 2, 3], &[0, 2, -5], &CsrError::OutOfRange { row: 2 });
    refused(0, &[0, 3], &good, &CsrError::OutOfRange { row: 0 });
    refused(3, &[0, 2, 3], &[2, 0, 1], &CsrError::Unsorted { row: 0 });
    refused(3, &[0, 1, 3], &[2, 1, 1], &CsrError::Unsorted { row: 1 });
    CsrView::new(3, &[0_i64, 2, 3][..], &good[..], &[1.0; 3]).expect("what they differ from is well-formed");
}

#[test]
fn views_read_back() {
    let (indptr, indices, values) = ([0_i32, 2, 2, 3], [1_i64, 4, 0], [1.0, 2.0, 3.0]);
    let view = CsrView::new(5, &indptr[..], &indices[..], &values).unwrap();
    let rows: Vec<Vec<_>> = (0..3).map(|i| view.row(i).collect()).collect();
    assert_eq!(rows, [vec![(1, 1.0), (4, 2.0)], vec![], vec![(0, 3.0)]]);
    let tail = view.rows(1, 3);
    assert_eq!((tail.n_rows(), tail.n_columns(), tail.nnz()), (2, 5, 1));
    assert_eq!(tail.row(1).collect::<Vec<_>>(), [(0, 3.0)]);
    assert_eq!(view.rows(1, 1).n_rows(), 0);
}

#[test]
fn the_builder_builds() {
    let mut matrix = CsrMatrix::new(2);
    matrix.push(0, 1.0_f32).unwrap();
    matrix.push(6, 2.0).unwrap();
    assert_eq!(matrix.push(6, 9.0), Err(CsrError::Unsorted { row: 0 }));
    assert_eq!(matrix.push(3, 9.0), Err(CsrError::Unsorted { row: 0 }));
    matrix.finish_row();
    matrix.finish_row();
    assert_eq!(matrix.push(1 << 31, 9.0), Err(CsrError::OutOfRange { row: 2 }));
    matrix.push(3, 4.0).unwrap();
    matrix.finish_row();
    assert_eq!((matrix.n_rows(), matrix.n_columns(), matrix.nnz()), (3, 7, 3), "refused values leave no trace");
    assert_eq!((matrix.row_range(0), matrix.row_range(1), matrix.row_range(2)), (0..2, 2..2, 2..3));
    assert_eq!(matrix.view().row(0).collect::<Vec<_>>(), [(0, 1.0), (6, 2.0)]);
    assert_eq!(matrix.view().row(2).collect::<Vec<_>>(), [(3, 4.0)]);

    matrix.entries_mut().for_each(|(column, value)| *value *= column as f32);
    matrix.values_mut()[0] = 5.0;
    let doubled = matrix.map(f64::from);
    assert_eq!(doubled.view().row(0).collect::<Vec<_>>(), [(0, 5.0), (6, 12.0)]);

    let mut copy = CsrMatrix::default();
    (0..3).for_each(|i| copy.push_row_of(matrix.view(), i));
    assert_eq!(copy, matrix);
    copy.clear();
    assert_eq!((copy.n_rows(), copy.n_columns(), copy.nnz()), (0, 7, 0));
    copy.widen(3);
    assert_eq!(copy.n_columns(), 7);
    copy.widen(9);
    assert_eq!(copy.n_columns(), 9);
}

/// A built matrix passes the check that borrowed arrays go through.
#[test]
fn built_matrices_are_well_formed() {
    let dense = sparse_matrix::<f64>(40, 600, 0.05);
    let mut matrix = CsrMatrix::new(600);
    for row in dense.outer_iter() {
        for (j, &x) in row.iter().enumerate().filter(|&(_, &x)| x != 0.0) {
            matrix.push(j, x).unwrap();
        }
        matrix.finish_row();
    }
    let (indptr, indices, values) = compressed(dense.view());
    let view = CsrView::new(600, &indptr[..], &indices[..], &values).unwrap();
    assert_eq!(matrix.nnz(), view.nnz());
    for i in 0..40 {
        assert!(matrix.view().row(i).eq(view.row(i)));
    }
}

#[test]
#[should_panic(expected = "31 bits")]
fn columns_beyond_31_bits_are_not_truncated() {
    let view = CsrView::new(1 << 40, &[0_i64, 1][..], &[1_i64 << 33][..], &[1.0]).unwrap();
    CsrMatrix::new(0).push_row_of(view, 0);
}
