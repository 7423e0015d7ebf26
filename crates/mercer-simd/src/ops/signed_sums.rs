//! Sums of a few values with signs, the product with a matrix whose entries are 1, −1 and mostly 0.
//!
//! Rows lie in lanes: a value is [`LANES`] neighbours, one of each row, so that a sum is of whole vectors and its entries are
//! read once for all rows. A sum is one chain in the order of its entries, each rounded once: the same bits on every instruction
//! set, and for a row whatever is beside it. A zero adds nothing, so that one may leave it out: sparse rows go by their values.

use std::ops::Range;

use num_traits::Zero;

use crate::dispatch::VectorOp;
use crate::vector::Vector;
use crate::{InstructionSet, Scalar};

/// Rows worked on together: enough independent sums to hide the latency of an addition.
pub const LANES: usize = 64;

/// Which values are added and subtracted for each output.
#[derive(Clone, Debug)]
pub struct SignTable {
    n_values: usize,
    /// End of each output in `entries`.
    ends: Vec<usize>,
    /// Twice the index of a value, below `n_values`, and 1 where it is subtracted.
    entries: Vec<u32>,
}

impl SignTable {
    /// Without outputs, of values of which there are fewer than 2³¹.
    ///
    /// # Panics
    /// When there are more.
    pub fn new(n_values: usize) -> Self {
        assert!(n_values < 1 << 31, "indices have 31 bits");
        Self { n_values, ends: Vec::new(), entries: Vec::new() }
    }

    /// One more output: the sum of the values of these indices, negative where they are not positive.
    ///
    /// # Panics
    /// When an index is not below the number of values.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (u32, bool)>) {
        for (index, is_positive) in entries {
            assert!((index as usize) < self.n_values, "indices of {} values", self.n_values);
            self.entries.push(2 * index + u32::from(!is_positive));
        }
        self.ends.push(self.entries.len());
    }

    /// Number of values.
    pub fn n_values(&self) -> usize {
        self.n_values
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.ends.len()
    }

    /// The indices of an output's values, and whether they are added, in the order they were given.
    pub fn entries(&self, output: usize) -> impl Iterator<Item = (usize, bool)> {
        self.of_output(output).iter().map(|&entry| ((entry / 2) as usize, entry.is_multiple_of(2)))
    }

    /// The same with values and outputs exchanged: for each value its outputs, ascending.
    ///
    /// # Panics
    /// When there are 2³¹ outputs or more.
    pub fn turned(&self) -> Self {
        assert!(self.n_outputs() < 1 << 31, "indices have 31 bits");
        let mut ends = vec![0; self.n_values + 1];
        self.entries.iter().for_each(|&entry| ends[(entry / 2) as usize + 1] += 1);
        (0..self.n_values).for_each(|value| ends[value + 1] += ends[value]);
        let mut entries = vec![0; self.entries.len()];
        // Each start moves to the end of its value.
        for output in 0..self.n_outputs() {
            for &entry in self.of_output(output) {
                let place = &mut ends[(entry / 2) as usize];
                entries[*place] = 2 * output as u32 + entry % 2;
                *place += 1;
            }
        }
        ends.pop();
        Self { n_values: self.n_outputs(), ends, entries }
    }

    fn of_output(&self, output: usize) -> &[u32] {
        let start = if output == 0 { 0 } else { self.ends[output - 1] };
        &self.entries[start..self.ends[output]]
    }

    /// `out` = scale · the sums of these outputs, each lane by itself.
    ///
    /// # Panics
    /// When there are fewer values or outputs than that.
    pub fn sums_into<T: Scalar>(
        &self,
        isa: InstructionSet,
        scale: T,
        values: &[[T; LANES]],
        outputs: Range<usize>,
        out: &mut [[T; LANES]],
    ) {
        assert!(values.len() >= self.n_values && outputs.end <= self.n_outputs() && outputs.len() == out.len());
        isa.run_vectors(Sums { table: self, scale, values, outputs, out });
    }

    /// `sums[j] ±= value` for the entries j of an output that are in `range`, which ascend; `sums[0]` is that of its start.
    ///
    /// # Panics
    /// When the range is longer than the sums.
    pub fn scatter<T: Scalar>(&self, output: usize, value: T, range: Range<usize>, sums: &mut [T]) {
        assert!(range.len() <= sums.len(), "a sum for each of the range");
        let entries = self.of_output(output);
        let first = entries.partition_point(|&entry| ((entry / 2) as usize) < range.start);
        let signed = [value, -value];
        for &entry in &entries[first..] {
            let at = (entry / 2) as usize;
            if at >= range.end {
                break;
            }
            sums[at - range.start] = sums[at - range.start] + signed[(entry % 2) as usize];
        }
    }
}

struct Sums<'a, T> {
    table: &'a SignTable,
    scale: T,
    values: &'a [[T; LANES]],
    outputs: Range<usize>,
    out: &'a mut [[T; LANES]],
}

impl<T: Scalar> VectorOp<T> for Sums<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(self) {
        for (output, out) in self.outputs.zip(self.out) {
            let entries = self.table.of_output(output);
            // SAFETY: `SignTable::push` saw that indices are below `n_values`, `sums_into` that so many values are there.
            unsafe {
                match LANES / V::LANES {
                    4 => sum::<V, 4>(self.scale, self.values, entries, out),
                    _ => sum::<V, 8>(self.scale, self.values, entries, out),
                }
            }
        }
    }
}

/// The sums of all lanes, N vectors of them at a time.
///
/// # Safety
/// Entries are of indices of `values`, and N vectors are no more than the lanes.
#[inline(always)]
unsafe fn sum<V: Vector, const N: usize>(
    scale: V::Value,
    values: &[[V::Value; LANES]],
    entries: &[u32],
    out: &mut [V::Value; LANES],
) {
    // A sign by a product, which the sum is fused with: no branch on a coin, and no rounding.
    let (one, zero) = (num_traits::one::<V::Value>(), V::Value::zero());
    let signs = [V::splat(one), V::splat(-one)];
    for start in (0..LANES).step_by(N * V::LANES) {
        let mut sums = [V::splat(zero); N];
        for &entry in entries {
            let sign = signs[(entry % 2) as usize];
            // SAFETY: the caller's promise.
            let from = unsafe { values.as_ptr().add((entry / 2) as usize) }.cast::<V::Value>();
            for (n, sum) in sums.iter_mut().enumerate() {
                // SAFETY: a vector of the lanes; the last starts at LANES − V::LANES.
                *sum = unsafe { V::load(from.add(start + n * V::LANES)) }.mul_add(sign, *sum);
            }
        }
        for (n, sum) in sums.iter().enumerate() {
            let scaled = sum.mul_add(V::splat(scale), V::splat(zero));
            // SAFETY: as above.
            unsafe { scaled.store(out.as_mut_ptr().add(start + n * V::LANES)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> SignTable {
        let mut table = SignTable::new(5);
        table.push([]);
        table.push([(4, false)]);
        table.push([(0, true), (1, false), (3, true)]);
        table.push([(1, true), (3, false)]);
        table
    }

    /// On every instruction set and of both types: small whole numbers have no rounding.
    fn check<T: Scalar>() {
        let value = |i: usize, lane: usize| ((i * 7 + lane * 3) % 11) as f64 - 5.0;
        let values: Vec<[T; LANES]> = (0..5).map(|i| std::array::from_fn(|lane| T::from_f64(value(i, lane)))).collect();
        for isa in InstructionSet::available() {
            let mut out = vec![[T::zero(); LANES]; 3];
            table().sums_into(isa, T::from_f64(2.0), &values, 1..4, &mut out);
            for lane in 0..LANES {
                let x = |i| value(i, lane);
                let expected = [-x(4), x(0) - x(1) + x(3), x(1) - x(3)];
                for (out, expected) in out.iter().zip(expected) {
                    assert_eq!(Scalar::to_f64(out[lane]), 2.0 * expected, "lane {lane}, {isa:?}");
                }
            }
        }
    }

    #[test]
    fn sums_by_hand() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn turned_tables_have_the_same_entries() {
        let turned = table().turned();
        assert_eq!((turned.n_values(), turned.n_outputs()), (4, 5));
        let entries: Vec<Vec<(usize, bool)>> = (0..5).map(|value| turned.entries(value).collect()).collect();
        let expected =
            [vec![(2, true)], vec![(2, false), (3, true)], vec![], vec![(2, true), (3, false)], vec![(1, false)]];
        assert_eq!(entries, expected);
        let mut sums = [1.0, 1.0];
        turned.scatter(1, 0.5, 2..4, &mut sums);
        assert_eq!(sums, [0.5, 1.5]);
        turned.scatter(1, 0.5, 3..4, &mut sums);
        assert_eq!(sums, [1.0, 1.5]);
    }

    #[test]
    #[should_panic(expected = "indices of 5 values")]
    fn indices_beyond_the_values_are_refused() {
        table().push([(5, true)]);
    }
}
