//! A random matrix of normal numbers, beside numpy's generators.

use mercer::random::{Purpose, normal_columns};

use crate::measure::{Case, fastest};

pub(crate) const CONDITIONS: &str = "a fresh 784 x 4,096 float32 matrix of standard normals, one thread. mercer: Philox \
    and Box-Muller in float64, every column a function of (seed, column), rounded; numpy: Generator.standard_normal \
    with dtype float32 (ziggurat, numbers in sequence) over Philox and over PCG64, its fastest";

const SHAPE: (usize, usize) = (784, 4_096);

pub(crate) fn run() {
    let (d, n) = SHAPE;
    let timing = fastest(|| normal_columns::<f32>(1, Purpose::Projection, d, 0..n));
    let work = (d * n) as f64;
    Case { name: "normals", variant: format!("{d} x {n}, f32"), threads: 1, work, unit: "element" }.report(timing);
}
