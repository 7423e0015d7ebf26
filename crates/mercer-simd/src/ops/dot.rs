//! Rows of data against weights in f64: w·x and w += a·x, dense or sparse.
//!
//! The order of the sums is fixed. Dense: element i goes to sum i mod 32; these are added to 8 sums, which take the rest
//! behind the last 32 elements. Sparse: stored value k goes to sum k mod 4, without fused operations, so that short rows
//! are spared the jump into code of another instruction set.

use crate::dispatch::Op;
use crate::{Index, InstructionSet, Scalar};

/// Sums of a dense product: 4 registers of AVX-512, as many as hide the latency of a fused multiply-add.
const LANES: usize = 32;
const NARROW: usize = 8;
/// Sums of a sparse product.
const SPARSE_LANES: usize = 4;

/// `Σᵢ w[i]·x[i]` in f64.
///
/// # Panics
/// When the slices differ in length.
#[inline]
pub fn dot_widened<T: Scalar>(isa: InstructionSet, w: &[f64], x: &[T]) -> f64 {
    assert_eq!(w.len(), x.len(), "one weight for each value");
    isa.run(Dot { w, x })
}

/// `w[i] += a·x[i]` in f64, rounded once.
///
/// # Panics
/// When the slices differ in length.
#[inline]
pub fn add_scaled_widened<T: Scalar>(isa: InstructionSet, w: &mut [f64], a: f64, x: &[T]) {
    assert_eq!(w.len(), x.len(), "one weight for each value");
    isa.run(AddScaled { w, a, x });
}

struct Dot<'a, T> {
    w: &'a [f64],
    x: &'a [T],
}

impl<T: Scalar> Op for Dot<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sums = [0.0; LANES];
        let (w, w_rest) = self.w.as_chunks::<LANES>();
        let (x, x_rest) = self.x.as_chunks::<LANES>();
        w.iter().zip(x).for_each(|(w, x)| add_products(&mut sums, w, x));
        let mut sums = halved(sums);
        let ((w, w_rest), (x, x_rest)) = (w_rest.as_chunks::<NARROW>(), x_rest.as_chunks::<NARROW>());
        w.iter().zip(x).for_each(|(w, x)| add_products(&mut sums, w, x));
        for ((sum, &w), &x) in sums.iter_mut().zip(w_rest).zip(x_rest) {
            *sum = w.mul_add(x.to_f64(), *sum);
        }
        let [a, b, c, d, e, f, g, h] = sums;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

#[inline(always)]
fn add_products<T: Scalar, const N: usize>(sums: &mut [f64; N], w: &[f64; N], x: &[T; N]) {
    for ((sum, &w), &x) in sums.iter_mut().zip(w).zip(x) {
        *sum = w.mul_add(x.to_f64(), *sum);
    }
}

/// 32 sums to 8, by halves.
#[inline(always)]
fn halved(sums: [f64; LANES]) -> [f64; NARROW] {
    let mut out = [0.0; NARROW];
    for (i, out) in out.iter_mut().enumerate() {
        *out = (sums[i] + sums[i + 16]) + (sums[i + 8] + sums[i + 24]);
    }
    out
}

struct AddScaled<'a, T> {
    w: &'a mut [f64],
    a: f64,
    x: &'a [T],
}

impl<T: Scalar> Op for AddScaled<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (w, &x) in self.w.iter_mut().zip(self.x) {
            *w = self.a.mul_add(x.to_f64(), *w);
        }
    }
}

/// `Σₖ w[indices[k]]·values[k]` in f64.
///
/// # Panics
/// When an index is outside the weights.
#[inline(always)]
pub fn sparse_dot_widened<T: Scalar, I: Index>(w: &[f64], indices: &[I], values: &[T]) -> f64 {
    let (index_chunks, index_rest) = indices.as_chunks::<SPARSE_LANES>();
    let (value_chunks, value_rest) = values.as_chunks::<SPARSE_LANES>();
    let mut sums = [0.0; SPARSE_LANES];
    for (indices, values) in index_chunks.iter().zip(value_chunks) {
        for ((sum, &j), &x) in sums.iter_mut().zip(indices).zip(values) {
            *sum += w[j.position()] * x.to_f64();
        }
    }
    for ((sum, &j), &x) in sums.iter_mut().zip(index_rest).zip(value_rest) {
        *sum += w[j.position()] * x.to_f64();
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// `w[indices[k]] += a·values[k]` in f64.
///
/// # Panics
/// When an index is outside the weights.
#[inline(always)]
pub fn sparse_add_scaled_widened<T: Scalar, I: Index>(w: &mut [f64], a: f64, indices: &[I], values: &[T]) {
    for (&j, &x) in indices.iter().zip(values) {
        w[j.position()] += a * x.to_f64();
    }
}

/// `products[[indices[k], indices[l]]] += a·values[k]·values[l]` in f64 for all k ≤ l, of a square matrix of `d` rows.
///
/// # Panics
/// When an index is outside the matrix, or `products` is not d × d.
pub fn sparse_add_products<T: Scalar, I: Index>(products: &mut [f64], d: usize, a: f64, indices: &[I], values: &[T]) {
    assert!(d.checked_mul(d) == Some(products.len()), "a square matrix");
    assert!(indices.len() == values.len(), "a value for each index");
    assert!(indices.iter().all(|j| j.position() < d), "an index outside the matrix");
    for (k, (&i, &x)) in indices.iter().zip(values).enumerate() {
        let (row, x) = (i.position() * d, a * x.to_f64());
        for (&j, &y) in indices[k..].iter().zip(&values[k..]) {
            // SAFETY: both indices are below d, so this is below d·d.
            let product = unsafe { products.get_unchecked_mut(row + j.position()) };
            *product += x * y.to_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::random::normal_into;

    fn numbers(n: usize) -> (Vec<f64>, Vec<f32>) {
        let mut w = vec![0.0; 2 * n];
        normal_into(InstructionSet::best(), 1, (0, 0), 0, &mut w);
        let x = w.split_off(n).into_iter().map(|x| x as f32).collect();
        (w, x)
    }

    /// Σ|w·x|·(n + 1)·ε: the bound of any order of the sum.
    fn check_sum(got: f64, w: &[f64], x: &[f32]) {
        let products = || w.iter().zip(x).map(|(w, x)| w * f64::from(*x));
        let bound = products().map(f64::abs).sum::<f64>() * (w.len() + 1) as f64 * f64::EPSILON;
        let sum: f64 = products().sum();
        assert!((got - sum).abs() <= bound, "{got} for {sum}");
    }

    #[test]
    fn dense_is_the_definition_in_the_same_bits_on_every_instruction_set() {
        for n in [0, 1, 7, 8, 9, 31, 32, 33, 54, 64, 300] {
            let (w, x) = numbers(n);
            let portable = InstructionSet::available()[0];
            let dot = dot_widened(portable, &w, &x);
            check_sum(dot, &w, &x);
            let expected: Vec<f64> = w.iter().zip(&x).map(|(w, x)| 0.3_f64.mul_add(f64::from(*x), *w)).collect();
            for isa in InstructionSet::available() {
                assert_eq!(dot_widened(isa, &w, &x).to_bits(), dot.to_bits(), "{isa:?}, {n}");
                let mut sum = w.clone();
                add_scaled_widened(isa, &mut sum, 0.3, &x);
                assert_eq!(sum, expected, "{isa:?}, {n}");
            }
        }
    }

    #[test]
    fn sparse_is_the_definition() {
        for n in [0, 1, 3, 4, 5, 8, 50] {
            let (w, x) = numbers(n);
            let spread: Vec<f64> = w.iter().flat_map(|&w| [w, 1e9]).collect();
            let indices: Vec<i32> = (0..n as i32).map(|j| 2 * j).collect();
            check_sum(sparse_dot_widened(&spread, &indices, &x), &w, &x);
            let mut sum = spread.clone();
            sparse_add_scaled_widened(&mut sum, 0.3, &indices, &x);
            for j in 0..n {
                assert_eq!((sum[2 * j], sum[2 * j + 1]), (w[j] + 0.3 * f64::from(x[j]), 1e9));
            }
            let mut products = vec![1.0; 4 * n * n];
            sparse_add_products(&mut products, 2 * n, 0.3, &indices, &x);
            for (at, product) in products.into_iter().enumerate() {
                let (i, j) = (at / (2 * n), at % (2 * n));
                let is_added = i <= j && i % 2 == 0 && j % 2 == 0;
                let added = if is_added { 0.3 * f64::from(x[i / 2]) * f64::from(x[j / 2]) } else { 0.0 };
                assert_eq!(product, 1.0 + added);
            }
        }
    }

    #[test]
    #[should_panic(expected = "an index outside the matrix")]
    fn products_outside_the_matrix() {
        sparse_add_products(&mut [0.0; 4], 2, 1.0, &[0, 2], &[1.0_f32, 1.0]);
    }
}
