//! Eigenvalues and eigenvectors of a symmetric matrix: A = Σ λⱼ·vⱼvⱼᵀ, the largest first.
//!
//! 1. Reflections make A tridiagonal: QᵀAQ = T.
//! 2. Implicit QL steps with Wilkinson's shifts make T diagonal; their rotations are kept and applied to columns of the
//!    eigenvectors, block by block.
//! 3. The reflections take the eigenvectors of T back to those of A.
//!
//! An eigenvector's largest entry, the first of equals, is positive. Threads share rows or columns of the work, so any number of them gives the same bits.
//!
//! Cost: about 9n³ multiply-adds; memory: twice the matrix. Eigenvalues are exact to n·ε of the largest.
//!
//! Reference: Golub and Van Loan, *Matrix Computations*, 2013, algorithms 8.3.1 to 8.3.3.

use mercer_simd::InstructionSet;
use mercer_simd::ops::dot::{add_scaled_widened, dot_widened};
use ndarray::{Array2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

/// Columns of eigenvectors, or rows of the matrix, that a thread takes.
const BLOCK: usize = 64;
/// Rotations that are applied together.
const ROTATIONS: usize = 1 << 14;
/// QL steps for an eigenvalue; two or three are usual.
const MOST_STEPS: usize = 60;

/// The eigenvalues of a symmetric matrix, the largest first, and its eigenvectors.
#[derive(Debug)]
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    /// eigenvector j is row j
    pub(crate) vectors: Array2<f64>,
}

impl Eigen {
    /// Of a symmetric matrix of finite values, on the threads of the current pool.
    pub(crate) fn new(mut a: Array2<f64>) -> Self {
        let n = a.nrows();
        let (mut diagonal, mut beside) = tridiagonal(&mut a);
        // Below, an entry is of the size of what the steps round.
        let largest = diagonal.iter().chain(&beside).fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let mut vectors = Rotated::identity(n);
        for first in 0..n {
            diagonalise((&mut diagonal, &mut beside), first, f64::EPSILON * largest, &mut vectors);
        }
        let mut vectors = vectors.into_rows();
        let rows = vectors.axis_chunks_iter_mut(Axis(0), BLOCK).collect::<Vec<_>>();
        rows.into_par_iter().for_each(|rows| reflect(&a, rows));
        sorted(diagonal, &vectors)
    }
}

/// Makes `a` tridiagonal, and gives its diagonal and what is beside it. The unit vector of reflection k is left in row k, from
/// k + 1 on.
fn tridiagonal(a: &mut Array2<f64>) -> (Vec<f64>, Vec<f64>) {
    let (n, isa) = (a.nrows(), InstructionSet::best());
    let mut beside = vec![0.0; n];
    for (k, beside) in beside.iter_mut().enumerate().take(n.saturating_sub(1)) {
        let (mut above, mut rest) = a.view_mut().split_at(Axis(0), k + 1);
        let mut row = above.row_mut(k);
        let u = &mut row.as_slice_mut().expect("row-major")[k + 1..];
        *beside = reflection(u);
        let mut w: Vec<f64> = vec![0.0; u.len()];
        let mut rest = rest.slice_mut(s![.., k + 1..]);
        let chunks = rest.axis_chunks_iter(Axis(0), BLOCK).collect::<Vec<_>>().into_par_iter();
        chunks.zip(w.par_chunks_mut(BLOCK)).for_each(|(rows, w)| {
            for (w, row) in w.iter_mut().zip(rows.outer_iter()) {
                *w = 2.0 * dot_widened(isa, u, row.to_slice().expect("row-major"));
            }
        });
        let half = dot_widened(isa, u, &w);
        add_scaled_widened(isa, &mut w, -half, u);
        // A − u·wᵀ − w·uᵀ
        let chunks = rest.axis_chunks_iter_mut(Axis(0), BLOCK).collect::<Vec<_>>().into_par_iter().enumerate();
        chunks.for_each(|(at, mut rows)| {
            for (i, row) in rows.outer_iter_mut().enumerate() {
                let (i, row) = (at * BLOCK + i, row.into_slice().expect("row-major"));
                add_scaled_widened(isa, row, -u[i], &w);
                add_scaled_widened(isa, row, -w[i], u);
            }
        });
    }
    (a.diag().to_vec(), beside)
}

/// Turns x into the unit vector u of the reflection I − 2uuᵀ that leaves only its first entry, which is returned.
fn reflection(x: &mut [f64]) -> f64 {
    let largest = x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if x[1..].iter().all(|x| *x == 0.0) {
        let first = x[0];
        x[0] = 0.0;
        return first;
    }
    x.iter_mut().for_each(|x| *x /= largest);
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let left = if x[0] > 0.0 { -norm } else { norm };
    x[0] -= left;
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.iter_mut().for_each(|x| *x /= length);
    left * largest
}

/// QL steps until nothing above `least` is beside the diagonal at `first`.
fn diagonalise((d, e): (&mut [f64], &mut [f64]), first: usize, least: f64, vectors: &mut Rotated) {
    for _ in 0..MOST_STEPS {
        let last = (first..d.len() - 1).find(|&i| e[i].abs() <= least).unwrap_or(d.len() - 1);
        if last == first {
            return;
        }
        step(d, e, first, last, vectors);
    }
}

/// One implicit QL step of rows `first` to `last`.
fn step(d: &mut [f64], e: &mut [f64], first: usize, last: usize, vectors: &mut Rotated) {
    let slope = (d[first + 1] - d[first]) / (2.0 * e[first]);
    let mut g = d[last] - d[first] + e[first] / (slope + slope.hypot(1.0).copysign(slope));
    let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
    for i in (first..last).rev() {
        let (f, b) = (sine * e[i], cosine * e[i]);
        let length = f.hypot(g);
        e[i + 1] = length;
        if length == 0.0 {
            // It falls apart here.
            d[i + 1] -= moved;
            e[last] = 0.0;
            return;
        }
        (sine, cosine) = (f / length, g / length);
        g = d[i + 1] - moved;
        let r = (d[i] - g) * sine + 2.0 * cosine * b;
        moved = sine * r;
        d[i + 1] = g + moved;
        g = cosine * r - b;
        vectors.rotate(i, cosine, sine);
    }
    d[first] -= moved;
    e[first] = g;
    e[last] = 0.0;
}

/// Vectors in rows, in blocks of columns, behind rotations that wait.
struct Rotated {
    blocks: Vec<Array2<f64>>,
    waiting: Vec<(usize, f64, f64)>,
}

impl Rotated {
    fn identity(n: usize) -> Self {
        let block = |start: usize| {
            Array2::from_shape_fn((n, BLOCK.min(n - start)), |(i, j)| f64::from(u8::from(i == start + j)))
        };
        Self { blocks: (0..n).step_by(BLOCK).map(block).collect(), waiting: Vec::new() }
    }

    /// Rotates rows i and i + 1.
    fn rotate(&mut self, i: usize, cosine: f64, sine: f64) {
        self.waiting.push((i, cosine, sine));
        if self.waiting.len() >= ROTATIONS {
            self.apply();
        }
    }

    fn apply(&mut self) {
        let waiting = &self.waiting;
        self.blocks.par_iter_mut().for_each(|block| {
            let (width, values) = (block.ncols(), block.as_slice_mut().expect("row-major"));
            for &(i, cosine, sine) in waiting {
                let (upper, lower) = values[i * width..(i + 2) * width].split_at_mut(width);
                for (x, y) in upper.iter_mut().zip(lower) {
                    (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                }
            }
        });
        self.waiting.clear();
    }

    fn into_rows(mut self) -> Array2<f64> {
        self.apply();
        let n = self.blocks.first().map_or(0, Array2::nrows);
        let mut rows = Array2::zeros((n, n));
        for (at, block) in self.blocks.iter().enumerate() {
            rows.slice_mut(s![.., at * BLOCK..at * BLOCK + block.ncols()]).assign(block);
        }
        rows
    }
}

/// Applies the reflections, the last one first, to every row.
fn reflect(reflections: &Array2<f64>, mut rows: ArrayViewMut2<'_, f64>) {
    let isa = InstructionSet::best();
    for k in (0..reflections.nrows().saturating_sub(1)).rev() {
        let u = &reflections.row(k).to_slice().expect("row-major")[k + 1..];
        for mut row in rows.outer_iter_mut() {
            let row = &mut row.as_slice_mut().expect("row-major")[k + 1..];
            let along = dot_widened(isa, u, row);
            add_scaled_widened(isa, row, -2.0 * along, u);
        }
    }
}

/// The largest first, equal ones as they came, with signs that do not depend on the machine's rounding.
fn sorted(values: Vec<f64>, vectors: &Array2<f64>) -> Eigen {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    let mut vectors = vectors.select(Axis(0), &order);
    for mut row in vectors.outer_iter_mut() {
        let largest = row.iter().fold(0.0_f64, |largest, x| if x.abs() > largest.abs() { *x } else { largest });
        if largest < 0.0 {
            row.mapv_inplace(|x| -x);
        }
    }
    Eigen { values: order.iter().map(|&i| values[i]).collect(), vectors }
}

/// Orthonormal rows that span what the rows of `v` do, where these are independent; others become zero. Twice by Gram and
/// Schmidt, which keeps them orthogonal to a few ε.
pub(crate) fn orthonormal_rows(v: &mut Array2<f64>) {
    let isa = InstructionSet::best();
    for k in 0..v.nrows() {
        let (above, mut rest) = v.view_mut().split_at(Axis(0), k);
        let mut row = rest.row_mut(0);
        let before = row.dot(&row).sqrt();
        for _ in 0..2 {
            let along: Vec<f64> = {
                let row = row.as_slice().expect("row-major");
                above.outer_iter().map(|other| dot_widened(isa, row, other.to_slice().expect("row-major"))).collect()
            };
            let row = row.as_slice_mut().expect("row-major");
            for (other, along) in above.outer_iter().zip(along) {
                add_scaled_widened(isa, row, -along, other.to_slice().expect("row-major"));
            }
        }
        let length = row.dot(&row).sqrt();
        let factor = if length > 1e-10 * before { 1.0 / length } else { 0.0 };
        row *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal_columns};

    fn check(a: &Array2<f64>, name: &str) {
        let n = a.nrows();
        let Eigen { values, vectors } = Eigen::new(a.clone());
        let scale = a.iter().fold(0.0_f64, |a, b| a.max(b.abs())) * n as f64;
        let worst = |a: &Array2<f64>| a.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let unit = vectors.dot(&vectors.t()) - Array2::<f64>::eye(n);
        assert!(worst(&unit) < 1e-14 * (n as f64 + 10.0), "{name}: vectors are off by {}", worst(&unit));
        let scaled = Array2::from_shape_fn((n, n), |(j, i)| values[j] * vectors[[j, i]]);
        let again = vectors.t().dot(&scaled) - a;
        assert!(worst(&again) <= 1e-14 * scale, "{name}: the matrix is off by {}", worst(&again));
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{name}: {values:?}");
    }

    #[test]
    fn eigenvectors_give_the_matrix_back() {
        for n in [1, 2, 3, 63, 64, 65, 150] {
            let x = normal_columns::<f64>(n as u64, Purpose::Projection, n, 0..n);
            check(&(&x + &x.t()), &format!("{n} × {n}"));
            check(&x.slice(s![.., ..n.div_ceil(3)]).dot(&x.slice(s![.., ..n.div_ceil(3)]).t()), "of low rank");
        }
        for (name, a) in [
            ("zero", Array2::zeros((5, 5))),
            ("one", Array2::ones((40, 40))),
            ("unit", Array2::eye(70)),
            ("tiny", Array2::from_shape_fn((9, 9), |(i, j)| 1e-200 / (1.0 + (i + j) as f64))),
            ("huge", Array2::from_shape_fn((9, 9), |(i, j)| 1e150 / (1.0 + (i + j) as f64))),
            ("Hilbert", Array2::from_shape_fn((12, 12), |(i, j)| 1.0 / (1.0 + (i + j) as f64))),
        ] {
            check(&a, name);
        }
    }

    /// 2 beside −1: λⱼ = 2 − 2cos(πj/(n + 1)).
    #[test]
    fn eigenvalues_in_closed_form() {
        let n = 100;
        let a = Array2::from_shape_fn((n, n), |(i, j)| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        for (j, value) in Eigen::new(a).values.iter().rev().enumerate() {
            let expected = 2.0 - 2.0 * (std::f64::consts::PI * (j + 1) as f64 / (n + 1) as f64).cos();
            assert!((value - expected).abs() < 1e-13, "{j}: {value}, not {expected}");
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let x = normal_columns::<f64>(3, Purpose::Projection, 200, 0..200);
        let a = &x + &x.t();
        let of = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let Eigen { values, vectors } = pool.install(|| Eigen::new(a.clone()));
            values.into_iter().chain(vectors).map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(4));
    }

    #[test]
    fn rows_become_orthonormal() {
        let mut v = normal_columns::<f64>(4, Purpose::Projection, 20, 0..30);
        v.row_mut(7).fill(0.0);
        let copy = v.row(2).to_owned();
        v.row_mut(11).assign(&copy);
        orthonormal_rows(&mut v);
        let products = v.dot(&v.t());
        for ((i, j), product) in products.indexed_iter() {
            let expected = f64::from(u8::from(i == j && i != 11 && i != 7));
            assert!((product - expected).abs() < 1e-14, "({i}, {j}): {product}");
        }
    }
}
