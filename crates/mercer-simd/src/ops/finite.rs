//! Whether values are numbers.

use crate::dispatch::Op;
use crate::{InstructionSet, Scalar};

/// Sums of products with zero: each stays zero until it meets what is no number.
const LANES: usize = 32;

/// Whether no value is infinite or NaN.
pub fn all_finite<T: Scalar>(isa: InstructionSet, values: &[T]) -> bool {
    isa.run(AllFinite { values })
}

struct AllFinite<'a, T> {
    values: &'a [T],
}

impl<T: Scalar> Op for AllFinite<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (chunks, rest) = self.values.as_chunks::<LANES>();
        let mut sums = [T::zero(); LANES];
        for chunk in chunks {
            for lane in 0..LANES {
                sums[lane] = chunk[lane].mul_add(T::zero(), sums[lane]);
            }
        }
        let mut all = true;
        for value in sums.iter().chain(rest) {
            all &= value.is_finite();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_found_at_any_place() {
        for isa in InstructionSet::available() {
            for len in [0, 1, 31, 32, 33, 100] {
                let mut values = vec![f32::MAX; len];
                assert!(all_finite(isa, &values));
                for at in 0..len {
                    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                        values[at] = bad;
                        assert!(!all_finite(isa, &values), "{bad} at {at} of {len}");
                    }
                    values[at] = -1.0;
                }
            }
        }
    }
}
