//! Dense products on one thread, beside numpy (`OpenBLAS`).

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::Array2;

use crate::measure::{Case, fastest};

pub(crate) const CONDITIONS: &str = "C = A B, row-major, into an array already there (numpy: matmul with out=). mercer \
    cuts the inner dimension into panels of 512, so that results do not depend on the shape";

pub(crate) fn run() {
    for shape in [(10_000, 784, 4_096), (2_048, 2_048, 2_048)] {
        measure::<f32>("f32", shape);
        measure::<f64>("f64", shape);
    }
}

fn measure<T: Scalar>(dtype: &str, (m, k, n): (usize, usize, usize)) {
    let (a, b) = (filled::<T>(m, k), filled::<T>(k, n));
    let mut c = Array2::<T>::zeros((m, n));
    let timing = fastest(|| matmul_into(a.view(), b.view(), c.view_mut(), Update::Set));
    let variant = format!("{m} x {k} x {n}, {dtype}");
    Case { name: "matmul", variant, threads: 1, work: 2.0 * (m * k * n) as f64, unit: "flop" }.report(timing);
}

fn filled<T: Scalar>(rows: usize, columns: usize) -> Array2<T> {
    Array2::from_shape_fn((rows, columns), |(i, j)| T::from_f64(((i * 31 + j * 17) % 101) as f64 / 101.0 - 0.5))
}
