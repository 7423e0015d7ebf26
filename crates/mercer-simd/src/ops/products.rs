//! Products of projections, the arithmetic of product maps: along a row, or by a table with a row in each lane.
//!
//! Every value is a fixed chain of products and fused multiply-adds of values of its own row: the same bits on every
//! instruction set and in any batch.

use crate::dispatch::Op;
use crate::{InstructionSet, Scalar};

/// Rows worked on together by a [`ProductTable`].
pub const LANES: usize = 16;

/// `values[j] += terms[j]`.
///
/// # Panics
/// When the slices differ in length.
pub fn add<T: Scalar>(isa: InstructionSet, values: &mut [T], terms: &[T]) {
    assert_eq!(values.len(), terms.len(), "a term for each value");
    isa.run(Add { values, terms });
}

/// `values[j] *= factors[j]`.
///
/// # Panics
/// When the slices differ in length.
pub fn multiply<T: Scalar>(isa: InstructionSet, values: &mut [T], factors: &[T]) {
    assert_eq!(values.len(), factors.len(), "a factor for each value");
    isa.run(Multiply { values, factors });
}

/// `sums[j] += sign · values[j]²`.
///
/// # Panics
/// When the slices differ in length.
pub fn add_squares<T: Scalar>(isa: InstructionSet, sums: &mut [T], sign: T, values: &[T]) {
    assert_eq!(sums.len(), values.len(), "a value for each sum");
    isa.run(AddSquares { sums, sign, values });
}

/// `values[j] *= factors[j]` of complex numbers: (real parts, imaginary parts).
///
/// # Panics
/// When the slices differ in length.
pub fn multiply_complex<T: Scalar>(isa: InstructionSet, values: (&mut [T], &mut [T]), factors: (&[T], &[T])) {
    let n = values.0.len();
    assert!(values.1.len() == n && factors.0.len() == n && factors.1.len() == n, "two parts of each number");
    isa.run(MultiplyComplex { values, factors });
}

struct Add<'a, T> {
    values: &'a mut [T],
    terms: &'a [T],
}

impl<T: Scalar> Op for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (value, &term) in self.values.iter_mut().zip(self.terms) {
            *value = *value + term;
        }
    }
}

struct Multiply<'a, T> {
    values: &'a mut [T],
    factors: &'a [T],
}

impl<T: Scalar> Op for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (value, &factor) in self.values.iter_mut().zip(self.factors) {
            *value = *value * factor;
        }
    }
}

struct AddSquares<'a, T> {
    sums: &'a mut [T],
    sign: T,
    values: &'a [T],
}

impl<T: Scalar> Op for AddSquares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, &value) in self.sums.iter_mut().zip(self.values) {
            *sum = (self.sign * value).mul_add(value, *sum);
        }
    }
}

struct MultiplyComplex<'a, T> {
    values: (&'a mut [T], &'a mut [T]),
    factors: (&'a [T], &'a [T]),
}

impl<T: Scalar> Op for MultiplyComplex<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let values = self.values.0.iter_mut().zip(self.values.1);
        for ((re, im), (&a, &b)) in values.zip(self.factors.0.iter().zip(self.factors.1)) {
            let (x, y) = (*re, *im);
            *re = x.mul_add(a, -(y * b));
            *im = x.mul_add(b, y * a);
        }
    }
}

/// Which values are multiplied and summed: output j is the sum over its terms of the product of `degree` values.
#[derive(Clone, Debug)]
pub struct ProductTable {
    n_values: usize,
    degree: usize,
    n_terms: usize,
    /// All below `n_values`: outputs × terms × factors.
    indices: Vec<u32>,
}

impl ProductTable {
    /// Of `n_terms` products of `degree` values an output.
    ///
    /// # Panics
    /// When the indices are not whole outputs, or one is not below `n_values`.
    pub fn new(n_values: usize, degree: usize, n_terms: usize, indices: Vec<u32>) -> Self {
        assert!(degree > 0 && n_terms > 0 && indices.len().is_multiple_of(degree * n_terms), "whole outputs");
        assert!(indices.iter().all(|&index| (index as usize) < n_values), "indices of {n_values} values");
        Self { n_values, degree, n_terms, indices }
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.indices.len() / (self.degree * self.n_terms)
    }

    /// Factors of a product.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The products of an output: the indices of each.
    pub fn terms(&self, output: usize) -> impl Iterator<Item = &[u32]> {
        let len = self.degree * self.n_terms;
        self.indices[output * len..(output + 1) * len].chunks_exact(self.degree)
    }

    /// `out` = scale · the outputs from `first` on, each lane by itself.
    ///
    /// # Panics
    /// When there are fewer values or outputs than that.
    pub fn sums_into<T: Scalar>(
        &self,
        isa: InstructionSet,
        scale: T,
        values: &[[T; LANES]],
        first: usize,
        out: &mut [[T; LANES]],
    ) {
        assert!(values.len() >= self.n_values && first + out.len() <= self.n_outputs());
        isa.run(Sums { table: self, scale, values, first, out });
    }
}

struct Sums<'a, T> {
    table: &'a ProductTable,
    scale: T,
    values: &'a [[T; LANES]],
    first: usize,
    out: &'a mut [[T; LANES]],
}

impl<T: Scalar> Op for Sums<'_, T> {
    type Output = ();

    // Loops, not closures: a closure would be compiled without the instruction set.
    #[inline(always)]
    fn run(self) {
        let (degree, len) = (self.table.degree, self.table.degree * self.table.n_terms);
        let indices = self.table.indices[self.first * len..].chunks_exact(len);
        for (out, indices) in self.out.iter_mut().zip(indices) {
            let mut sums = [T::zero(); LANES];
            for product in indices.chunks_exact(degree) {
                let mut partial = [T::one(); LANES];
                for &index in &product[..degree - 1] {
                    // SAFETY: `ProductTable::new` saw that indices are below `n_values`, `sums_into` that so many values are there.
                    let factors = unsafe { self.values.get_unchecked(index as usize) };
                    for lane in 0..LANES {
                        partial[lane] = partial[lane] * factors[lane];
                    }
                }
                // SAFETY: as above.
                let factors = unsafe { self.values.get_unchecked(product[degree - 1] as usize) };
                for lane in 0..LANES {
                    sums[lane] = partial[lane].mul_add(factors[lane], sums[lane]);
                }
            }
            for lane in 0..LANES {
                out[lane] = sums[lane] * self.scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On every instruction set, by the definition: small whole numbers have no rounding.
    #[test]
    fn sums_of_products_by_the_definition() {
        let values: Vec<[f32; LANES]> =
            (0..5).map(|i| std::array::from_fn(|lane| ((i * 7 + lane * 3) % 11) as f32 - 5.0)).collect();
        for (degree, n_terms) in [(1, 1), (2, 3), (2, 4), (3, 2), (4, 2)] {
            let indices: Vec<u32> = (0..7 * degree * n_terms).map(|i| (i * i % 5) as u32).collect();
            let table = ProductTable::new(5, degree, n_terms, indices);
            assert_eq!(table.n_outputs(), 7);
            for isa in InstructionSet::available() {
                let mut out = vec![[0.0; LANES]; 4];
                table.sums_into(isa, 2.0, &values, 3, &mut out);
                for (j, out) in out.iter().enumerate() {
                    for lane in 0..LANES {
                        let product =
                            |indices: &[u32]| indices.iter().map(|&i| values[i as usize][lane]).product::<f32>();
                        let sum: f32 = table.terms(3 + j).map(product).sum();
                        assert_eq!(out[lane], 2.0 * sum, "degree {degree}, output {j}, lane {lane}, {isa:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn complex_numbers_are_multiplied() {
        let ((mut re, mut im), (a, b)) = (([1.0, 2.0, -3.0], [4.0, 0.0, 1.0]), ([2.0, 1.0, 1.0], [1.0, 3.0, -1.0]));
        multiply_complex(InstructionSet::best(), (&mut re, &mut im), (&a, &b));
        assert_eq!((re, im), ([-2.0, 2.0, -2.0], [9.0, 6.0, 4.0]));
    }

    #[test]
    #[should_panic(expected = "indices of 3 values")]
    fn indices_beyond_the_values_are_refused() {
        let _ = ProductTable::new(3, 1, 1, vec![0, 3]);
    }
}
