//! Sums of absolute differences of a row and many others, ‖x−y‖₁, in the float type.
//!
//! The many lie side by side, input by input; `LANES` of their sums stay in registers while the inputs go by. Sums of `CHUNK` inputs are added
//! up: for d inputs the relative error is at most (CHUNK + d/CHUNK + 1)·ε/2, where one sum would have d·ε/2. The order of the sums is fixed: the same
//! bits on every instruction set.

use crate::dispatch::Op;
use crate::{InstructionSet, Scalar};

/// Sums at a time: four registers of AVX-512 in f32.
const LANES: usize = 64;
/// Inputs summed before they are added to the rest.
const CHUNK: usize = 32;

/// `out[l] = Σⱼ |row[j] − columns[j·m + l]|` for the m = `out.len()` others.
///
/// # Panics
/// When `columns` has not `row.len()` × `out.len()` values.
pub fn manhattan_into<T: Scalar>(isa: InstructionSet, row: &[T], columns: &[T], out: &mut [T]) {
    assert_eq!(columns.len(), row.len() * out.len(), "a value for each input of each row");
    isa.run(Manhattan { row, columns, out });
}

struct Manhattan<'a, T> {
    row: &'a [T],
    columns: &'a [T],
    out: &'a mut [T],
}

impl<T: Scalar> Op for Manhattan<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let m = self.out.len();
        for (at, out) in self.out.chunks_mut(LANES).enumerate() {
            let (first, n) = (at * LANES, out.len());
            let mut all = [T::zero(); LANES];
            for (chunk, row) in self.row.chunks(CHUNK).enumerate() {
                let mut sums = [T::zero(); LANES];
                for (j, &x) in row.iter().enumerate() {
                    let start = (chunk * CHUNK + j) * m + first;
                    add(&mut sums, x, &self.columns[start..start + n]);
                }
                all.iter_mut().zip(&sums).for_each(|(all, &sum)| *all = *all + sum);
            }
            out.copy_from_slice(&all[..n]);
        }
    }
}

/// A whole block has a length that the compiler knows.
#[inline(always)]
fn add<T: Scalar>(sums: &mut [T; LANES], x: T, values: &[T]) {
    match <&[T; LANES]>::try_from(values) {
        Ok(values) => sums.iter_mut().zip(values).for_each(|(sum, &y)| *sum = *sum + (x - y).abs()),
        Err(_) => sums.iter_mut().zip(values).for_each(|(sum, &y)| *sum = *sum + (x - y).abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(i: usize) -> f64 {
        ((i * 7919) % 1000) as f64 / 137.0 - 3.0
    }

    fn check<T: Scalar>(epsilon: f64) {
        for (d, m) in [(1, 1), (31, 63), (32, 64), (33, 65), (100, 200), (784, 3)] {
            let row: Vec<T> = (0..d).map(|j| T::from_f64(number(j))).collect();
            let columns: Vec<T> = (0..d * m).map(|i| T::from_f64(number(i + 17))).collect();
            let mut first: Option<Vec<T>> = None;
            for isa in InstructionSet::available() {
                let mut out = vec![T::one(); m];
                manhattan_into(isa, &row, &columns, &mut out);
                for (l, &sum) in out.iter().enumerate() {
                    let term = |j: usize| (Scalar::to_f64(row[j]) - Scalar::to_f64(columns[j * m + l])).abs();
                    let exact: f64 = (0..d).map(term).sum();
                    let bound = (CHUNK + d / CHUNK + 2) as f64 * epsilon / 2.0 * exact;
                    assert!((Scalar::to_f64(sum) - exact).abs() <= bound, "{d} x {m}, {l}: {sum} for {exact}");
                }
                assert_eq!(first.get_or_insert_with(|| out.clone()), &out, "the same bits by {isa:?}");
            }
        }
    }

    #[test]
    fn close_to_the_sum_in_f64_on_every_instruction_set() {
        check::<f32>(f64::from(f32::EPSILON));
        check::<f64>(f64::EPSILON);
    }

    #[test]
    #[should_panic(expected = "a value for each input")]
    fn shapes_must_fit() {
        manhattan_into(InstructionSet::best(), &[1.0_f32; 2], &[1.0; 3], &mut [0.0; 2]);
    }
}
