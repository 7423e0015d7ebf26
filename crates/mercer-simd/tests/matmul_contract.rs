//! `matmul_into` computes what its contract says, to the bit: for any shape, batch split, thread count and storage,
//! and for both x86 instruction sets of the `gemm` crate.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mercer_simd::ops::philox::philox_into;
use mercer_simd::{InstructionSet, K_PANEL, Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

const M: [usize; 7] = [1, 2, 3, 63, 64, 65, 257];
const N: [usize; 8] = [1, 2, 5, 33, 64, 65, 256, 300];
const K: [usize; 12] = [1, 2, 3, 5, 63, 392, 511, 512, 513, 514, 784, 1025];
const UPDATES: [Update; 3] = [Update::Set, Update::Add, Update::Subtract];

/// Uniform values of (−1, 1), with all bits of the mantissa in use.
fn random_matrix<T: Scalar>(rows: usize, columns: usize, seed: u64) -> Array2<T> {
    let mut blocks = vec![[0; 4]; rows * columns];
    philox_into(InstructionSet::best(), seed, (0, 0), 0, &mut blocks);
    let value = |block: [u32; 4]| {
        let bits = u64::from(block[0]) << 32 | u64::from(block[1]);
        T::from_f64(bits as i64 as f64 / 9_223_372_036_854_775_808.0)
    };
    Array2::from_shape_vec((rows, columns), blocks.into_iter().map(value).collect()).unwrap()
}

/// The contract as the module states it.
#[inline(always)]
fn model_loops<T: Scalar>(a: &Array2<T>, b: &Array2<T>, c: &mut Array2<T>, update: Update) {
    for i in 0..a.nrows() {
        for panel in (0..a.ncols()).step_by(K_PANEL) {
            let mut acc = vec![T::zero(); b.ncols()];
            for k in panel..a.ncols().min(panel + K_PANEL) {
                let a = a[[i, k]];
                for (acc, &b) in acc.iter_mut().zip(b.row(k).to_slice().unwrap()) {
                    *acc = a.mul_add(b, *acc);
                }
            }
            for (c, acc) in c.row_mut(i).iter_mut().zip(acc) {
                *c = match update {
                    Update::Set if panel == 0 => acc,
                    Update::Set | Update::Add => *c + acc,
                    Update::Subtract => *c - acc,
                };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn model_avx2<T: Scalar>(a: &Array2<T>, b: &Array2<T>, c: &mut Array2<T>, update: Update) {
    model_loops(a, b, c, update);
}

fn model<T: Scalar>(a: &Array2<T>, b: &Array2<T>, mut c: Array2<T>, update: Update) -> Array2<T> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: both features were just seen. It only saves time: `mul_add` is fused either way.
        unsafe { model_avx2(a, b, &mut c, update) };
        return c;
    }
    model_loops(a, b, &mut c, update);
    c
}

fn assert_same_bits<T: Scalar>(got: ArrayView2<'_, T>, expected: ArrayView2<'_, T>, what: &str) {
    assert_eq!(got.dim(), expected.dim(), "{what}");
    for (i, (got, expected)) in got.outer_iter().zip(expected.outer_iter()).enumerate() {
        let (got, expected) = (got.to_slice().unwrap(), expected.to_slice().unwrap());
        if let Some(j) = (0..got.len()).find(|&j| got[j].bits() != expected[j].bits()) {
            panic!("{what}: {:?} at ({i}, {j}), expected {:?}", got[j], expected[j]);
        }
    }
}

/// The largest operands for one k, and what their product must be.
struct Case<T> {
    a: Array2<T>,
    a_transposed: Array2<T>,
    b: Array2<T>,
    c: Array2<T>,
    expected: Array2<T>,
    update: Update,
}

fn cases<T: Scalar>() -> impl Iterator<Item = Case<T>> {
    K.into_iter().flat_map(|k| {
        let a = random_matrix::<T>(257, k, 1);
        let b = random_matrix::<T>(k, 300, 2);
        let a_transposed = a.t().as_standard_layout().into_owned();
        UPDATES.into_iter().map(move |update| {
            // Set must not read C.
            let c = if update == Update::Set {
                Array2::from_elem((257, 300), T::nan())
            } else {
                random_matrix(257, 300, 3)
            };
            let expected = model(&a, &b, c.clone(), update);
            Case { a: a.clone(), a_transposed: a_transposed.clone(), b: b.clone(), c, expected, update }
        })
    })
}

/// An element depends on its row of A and its column of B alone, so every smaller product is a part of the largest.
fn every_shape<T: Scalar>() {
    for Case { a, a_transposed, b, c, expected, update } in cases::<T>() {
        let mut wide = c.clone();
        for m in M {
            for n in N {
                let what = format!("{} {update:?} {m} × {} × {n}", T::DTYPE, a.ncols());
                let expected = expected.slice(s![..m, ..n]);

                // B and C dense.
                let (mut dense, b_dense) = (c.slice(s![..m, ..n]).to_owned(), b.slice(s![.., ..n]).to_owned());
                matmul_into(a.slice(s![..m, ..]), b_dense.view(), dense.view_mut(), update);
                assert_same_bits(dense.view(), expected, &what);

                // A stored by columns, B and C parts of wider matrices.
                let (mut wide, a) = (wide.slice_mut(s![..m, ..n]), a_transposed.slice(s![.., ..m]));
                wide.assign(&c.slice(s![..m, ..n]));
                matmul_into(a.t(), b.slice(s![.., ..n]), wide.view_mut(), update);
                assert_same_bits(wide.view(), expected, &what);
            }
        }
    }
}

#[test]
fn f32_follows_the_contract() {
    every_shape::<f32>();
}

#[test]
fn f64_follows_the_contract() {
    every_shape::<f64>();
}

fn rows_one_by_one<T: Scalar>() {
    let (a, b) = (random_matrix::<T>(257, 784, 4), random_matrix::<T>(784, 300, 5));
    let mut batch = Array2::zeros((257, 300));
    matmul_into(a.view(), b.view(), batch.view_mut(), Update::Set);
    for rows in [1, 2, 7, 64, 100] {
        let mut parts = Array2::zeros((257, 300));
        for (a, c) in a.axis_chunks_iter(Axis(0), rows).zip(parts.axis_chunks_iter_mut(Axis(0), rows)) {
            matmul_into(a, b.view(), c, Update::Set);
        }
        assert_same_bits(parts.view(), batch.view(), &format!("{rows} rows at a time"));
    }
}

#[test]
fn only_c_is_written() {
    let (a, b) = (random_matrix::<f32>(65, 514, 8), random_matrix::<f32>(514, 300, 9));
    for (m, n) in M[..6].iter().flat_map(|&m| N[..7].iter().map(move |&n| (m, n))) {
        let mut c = Array2::from_elem((65, 300), 7.0);
        matmul_into(a.slice(s![..m, ..]), b.slice(s![.., ..n]), c.slice_mut(s![..m, ..n]), Update::Add);
        assert!(c.slice(s![m.., ..]).iter().chain(c.slice(s![..m, n..])).all(|&x| x == 7.0), "{m} × {n}");
    }
}

#[test]
fn a_row_does_not_depend_on_its_batch() {
    rows_one_by_one::<f32>();
    rows_one_by_one::<f64>();
}

/// Output tiles over threads, columns cut at odd places.
fn over_threads<T: Scalar>() {
    let (a, b) = (random_matrix::<T>(300, 1025, 6), random_matrix::<T>(1025, 257, 7));
    let mut one = Array2::zeros((300, 257));
    matmul_into(a.view(), b.view(), one.view_mut(), Update::Set);
    for tile in [33, 64, 129] {
        let mut two = Array2::zeros((300, 257));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.scope(|scope| {
            for (a, band) in a.axis_chunks_iter(Axis(0), tile).zip(two.axis_chunks_iter_mut(Axis(0), tile)) {
                for (b, tile) in b.axis_chunks_iter(Axis(1), tile).zip(column_chunks(band, tile)) {
                    scope.spawn(move |_| matmul_into(a, b, tile, Update::Set));
                }
            }
        });
        assert_same_bits(two.view(), one.view(), &format!("tiles of {tile}"));
    }
}

fn column_chunks<T>(mut band: ArrayViewMut2<'_, T>, width: usize) -> Vec<ArrayViewMut2<'_, T>> {
    let mut chunks = Vec::new();
    while band.ncols() > width {
        let (left, right) = band.split_at(Axis(1), width);
        chunks.push(left);
        band = right;
    }
    chunks.push(band);
    chunks
}

#[test]
fn threads_change_no_bit() {
    over_threads::<f32>();
    over_threads::<f64>();
}

#[test]
fn empty_products() {
    let mut c = Array2::from_elem((2, 3), 7.0);
    let (a, b) = (Array2::zeros((2, 0)), Array2::zeros((0, 3)));
    matmul_into(a.view(), b.view(), c.view_mut(), Update::Add);
    matmul_into(a.view(), b.view(), c.view_mut(), Update::Subtract);
    assert_eq!(c, Array2::from_elem((2, 3), 7.0));
    matmul_into(a.view(), b.view(), c.view_mut(), Update::Set);
    assert_eq!(c, Array2::zeros((2, 3)));
    matmul_into(
        Array2::zeros((0, 4)).view(),
        Array2::zeros((4, 3)).view(),
        Array2::<f64>::zeros((0, 3)).view_mut(),
        Update::Set,
    );
    matmul_into(
        Array2::zeros((3, 4)).view(),
        Array2::zeros((4, 0)).view(),
        Array2::<f64>::zeros((3, 0)).view_mut(),
        Update::Set,
    );
}

#[test]
#[should_panic(expected = "row-major")]
fn b_by_columns_is_refused() {
    let (a, b) = (Array2::<f64>::zeros((2, 3)), Array2::<f64>::zeros((4, 3)));
    matmul_into(a.view(), b.t(), Array2::zeros((2, 4)).view_mut(), Update::Set);
}

#[test]
#[should_panic(expected = "matmul of (2, 3) by (4, 5)")]
fn shapes_must_fit() {
    matmul_into(
        Array2::<f32>::zeros((2, 3)).view(),
        Array2::zeros((4, 5)).view(),
        Array2::zeros((2, 5)).view_mut(),
        Update::Set,
    );
}

/// `gemm` takes AVX-512 when the processor has it, without a switch: its AVX2 kernel is called here by hand.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use gemm_common::Parallelism;
    use gemm_common::gemm::gemm_basic_generic;
    use gemm_common::simd::{MixedSimd, V3};

    use super::*;

    trait Avx2: Scalar {
        /// The `gemm` crate's own call, with rows and columns exchanged as it does for a row-major C.
        fn multiply(a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>, c: ArrayViewMut2<'_, Self>, update: Update);
    }

    macro_rules! avx2 {
        ($type:ident, $kernels:path, $lanes:expr) => {
            impl Avx2 for $type {
                fn multiply(
                    a: ArrayView2<'_, Self>,
                    b: ArrayView2<'_, Self>,
                    mut c: ArrayViewMut2<'_, Self>,
                    update: Update,
                ) {
                    use $kernels::{H_M, H_N, H_UKR, MR_DIV_N, NR, UKR};
                    let ((m, k), n) = (a.dim(), b.ncols());
                    assert!(b.nrows() == k && c.dim() == (m, n));
                    let simd = <V3 as MixedSimd<Self, Self, Self, Self>>::try_new().unwrap();
                    // SAFETY: the views are live, their shapes were just checked, C overlaps neither A nor B, and
                    // `simd` proves the instruction set.
                    unsafe {
                        gemm_basic_generic::<_, Self, $lanes, { MR_DIV_N * $lanes }, NR, MR_DIV_N, H_M, H_N>(
                            simd,
                            n,
                            m,
                            k,
                            c.as_mut_ptr(),
                            c.strides()[0],
                            c.strides()[1],
                            update != Update::Set,
                            b.as_ptr(),
                            b.strides()[0],
                            b.strides()[1],
                            a.as_ptr(),
                            a.strides()[0],
                            a.strides()[1],
                            1.0,
                            if update == Update::Subtract { -1.0 } else { 1.0 },
                            false,
                            false,
                            false,
                            |a, b, c| a * b + c,
                            &UKR,
                            &H_UKR,
                            false,
                            Parallelism::None,
                        );
                    }
                }
            }
        };
    }
    avx2!(f32, gemm_f32::microkernel::fma::f32, 8);
    avx2!(f64, gemm_f64::microkernel::fma::f64, 4);

    /// Panels as `matmul_into` passes them on: 3 to 512 indices, at least 2 rows and columns.
    fn panels<T: Avx2>() {
        if !is_x86_feature_detected!("fma") {
            return;
        }
        for Case { a, a_transposed, b, c, expected, update } in cases::<T>() {
            let k = a.ncols();
            if !(3..=K_PANEL).contains(&k) {
                continue;
            }
            for (m, n) in M.into_iter().flat_map(|m| N.map(|n| (m, n))).filter(|&(m, n)| m > 1 && n > 1) {
                let what = format!("AVX2 {} {update:?} {m} × {k} × {n}", T::DTYPE);
                for a in [a.slice(s![..m, ..]), a_transposed.slice(s![.., ..m]).reversed_axes()] {
                    let mut c = c.slice(s![..m, ..n]).to_owned();
                    T::multiply(a, b.slice(s![.., ..n]), c.view_mut(), update);
                    assert_same_bits(c.view(), expected.slice(s![..m, ..n]), &what);
                }
            }
        }
    }

    #[test]
    fn f32_follows_the_contract() {
        panels::<f32>();
    }

    #[test]
    fn f64_follows_the_contract() {
        panels::<f64>();
    }
}
