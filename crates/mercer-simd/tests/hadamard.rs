//! The Walsh-Hadamard transform beside its definition and, bit by bit, beside the plain loop.

use mercer_simd::ops::hadamard::{fwht, fwht_columns, fwht_rows, padded_len, split_lens};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{Array1, Array2, Axis, s};

/// Numbers of many sizes, no two alike.
fn noise<T: Scalar>(n: usize) -> Vec<T> {
    let mut state = n as u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..n).map(|_| T::from_f64(next() * (20.0 * next()).exp())).collect()
}

/// Ascending strides, one pair at a time.
fn plain<T: Scalar>(x: &mut [T]) {
    let mut stride = 1;
    while stride < x.len() {
        for pair in x.chunks_exact_mut(2 * stride) {
            let (left, right) = pair.split_at_mut(stride);
            left.iter_mut().zip(right).for_each(|(a, b)| (*a, *b) = (*a + *b, *a - *b));
        }
        stride *= 2;
    }
}

/// −1 to the number of bits that i and j share: entry (i, j) of H.
fn entry(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

#[test]
fn is_the_matrix_of_the_definition() {
    for log in 0..=9 {
        let n = 1 << log;
        // Small integers: every sum is exact.
        let x: Vec<f64> = (0..n).map(|i| f64::from((i * i % 17) as u32) - 8.0).collect();
        let expected: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum()).collect();
        for isa in InstructionSet::available() {
            let (mut double, mut single) = (x.clone(), x.iter().map(|&x| x as f32).collect::<Vec<_>>());
            fwht(isa, &mut double);
            fwht(isa, &mut single);
            assert_eq!(double, expected, "{isa:?}, {n}");
            assert!(single.iter().zip(&expected).all(|(&a, &b)| f64::from(a) == b), "{isa:?}, {n}");
            fwht(isa, &mut double);
            assert!(double.iter().zip(&x).all(|(&a, &b)| a == b * n as f64), "H·H = n·I, {isa:?}, {n}");
        }
    }
}

fn same_bits<T: Scalar>(logs: std::ops::RangeInclusive<u32>) {
    for log in logs {
        let x = noise::<T>(1 << log);
        let mut expected = x.clone();
        plain(&mut expected);
        for isa in InstructionSet::available() {
            let mut got = x.clone();
            fwht(isa, &mut got);
            let differs = got.iter().zip(&expected).position(|(a, b)| a.bits() != b.bits());
            assert_eq!(differs, None, "{isa:?}, 2^{log}");
        }
    }
}

#[test]
fn every_instruction_set_gives_the_bits_of_the_plain_loop() {
    same_bits::<f32>(0..=20);
    same_bits::<f64>(0..=19);
}

#[test]
#[ignore = "minutes and 1.6 GB: three copies of 2^26 values in f64"]
fn the_longest_give_the_bits_of_the_plain_loop() {
    same_bits::<f32>(21..=26);
    same_bits::<f64>(20..=26);
}

#[test]
fn unaligned_rows_a_stride_apart() {
    for isa in InstructionSet::available() {
        for n in [1, 2, 4, 8, 32, 256, 1024] {
            let (n_rows, gap) = (5, 3);
            let mut all = Array2::from_shape_vec((n_rows, n + gap), noise::<f32>(n_rows * (n + gap))).unwrap();
            let before = all.clone();
            fwht_rows(isa, all.slice_mut(s![.., 1..=n]));
            for (row, before) in all.axis_iter(Axis(0)).zip(before.axis_iter(Axis(0))) {
                let mut expected = before.to_vec();
                plain(&mut expected[1..=n]);
                assert_eq!(row.to_vec(), expected, "{isa:?}, {n}: nothing beside the row is touched");
            }
        }
    }
}

#[test]
fn columns_are_rows_turned() {
    for isa in InstructionSet::available() {
        for (rows, width, gap) in [(1, 5, 0), (2, 16, 1), (8, 33, 2), (64, 7, 0), (512, 19, 3), (2048, 4, 0)] {
            let x = Array2::from_shape_vec((rows, width + gap), noise::<f64>(rows * (width + gap))).unwrap();
            let (mut got, mut expected) = (x.clone(), x);
            fwht_columns(isa, got.slice_mut(s![.., ..width]));
            for mut column in expected.slice_mut(s![.., ..width]).columns_mut() {
                let mut values = column.to_vec();
                plain(&mut values);
                column.assign(&Array1::from(values));
            }
            assert_eq!(got, expected, "{isa:?}, {rows} × {width}");
        }
    }
}

/// A long transform is one of its rows and one of its columns: what threads share.
#[test]
fn long_transforms_fall_into_rows_and_columns() {
    let isa = InstructionSet::best();
    let x = noise::<f32>(1 << 16);
    let mut expected = x.clone();
    fwht(isa, &mut expected);
    for rows in [2, 16, 256] {
        let mut grid = Array2::from_shape_vec((rows, (1 << 16) / rows), x.clone()).unwrap();
        fwht_rows(isa, grid.view_mut());
        let (left, right) = grid.view_mut().split_at(Axis(1), 100);
        fwht_columns(isa, right);
        fwht_columns(isa, left);
        assert_eq!(grid.into_raw_vec_and_offset().0, expected, "{rows} rows");
    }
}

#[test]
fn lengths_of_any_row() {
    assert_eq!([1, 2, 3, 784, 1024].map(padded_len), [1, 2, 4, 1024, 1024]);
    assert_eq!(split_lens(784).collect::<Vec<_>>(), [512, 256, 16]);
    assert_eq!(split_lens(1).collect::<Vec<_>>(), [1]);
    assert_eq!(split_lens(0).count(), 0);
}

#[test]
#[should_panic(expected = "length 12: needs a power of two")]
fn other_lengths_are_refused() {
    fwht(InstructionSet::best(), &mut [0.0_f32; 12]);
}

#[test]
#[should_panic(expected = "neighbours")]
fn turned_rows_are_refused() {
    let mut x = Array2::<f32>::zeros((4, 4));
    fwht_rows(InstructionSet::best(), x.view_mut().reversed_axes());
}
