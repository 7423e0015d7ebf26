//! The counts within the delta encodings of a Parquet page, checked before they are believed.
//!
//! The parquet crate takes memory for the number of lengths that such a page declares, up to 2⁶³. Lengths are written as
//! a run: size of a block, parts of a block, number of values, first value; then for each block its smallest delta, the
//! bits of a delta in each part, and the deltas. `DELTA_LENGTH_BYTE_ARRAY` begins with a run, `DELTA_BYTE_ARRAY` with two.

use parquet::basic::Encoding;

use super::pages::{BELIEVED_VALUES, VALUES_OF_BYTE};
use super::thrift::Thrift;

/// Bits of a length, at most.
const WIDEST: u64 = 32;

/// Runs of lengths that an encoding begins with.
pub(super) fn n_runs(encoding: Encoding) -> usize {
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => 0,
    }
}

/// Whether the bytes begin with so many runs, none of more than `n_values` values or than these bytes can stand for.
pub(super) fn are_runs(bytes: &[u8], n_runs: usize, n_values: u64) -> bool {
    let most = n_values.min(BELIEVED_VALUES.max((bytes.len() as u64).saturating_mul(VALUES_OF_BYTE)));
    // Numbers are written as in Thrift.
    let mut numbers = Thrift::new(bytes);
    (0..n_runs).all(|_| pass_run(&mut numbers, most).is_some())
}

/// Passes over a run; none where it is malformed or has more than `most` values.
fn pass_run(numbers: &mut Thrift, most: u64) -> Option<()> {
    let (block, n_parts, count) = (numbers.varint()?, numbers.varint()?, numbers.varint()?);
    numbers.varint()?;
    let part = block.checked_div(n_parts).filter(|&part| part > 0 && part.is_multiple_of(32))?;
    if count > most || part > u64::from(u32::MAX) || !block.is_multiple_of(128) || !block.is_multiple_of(n_parts) {
        return None;
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        numbers.varint()?;
        let mut bits = *numbers;
        numbers.advance(n_parts)?;
        for _ in 0..n_parts {
            let width = Some(u64::from(bits.byte()?)).filter(|&width| width <= WIDEST)?;
            numbers.advance(width * part / 8)?;
            left = left.saturating_sub(part);
            // Parts after the last value are not written.
            if left == 0 {
                break;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 128 in 4 parts; 3 values, the first 5, deltas from 1 on, of 2 bits; 8 bytes of them.
    const RUN: [u8; 18] = [128, 1, 4, 3, 10, 2, 2, 0, 0, 0, 0b0110, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn runs_have_no_more_values_than_the_page() {
        assert!(are_runs(&RUN, 1, 3) && are_runs(&RUN, 1, 4));
        assert!(!are_runs(&RUN, 1, 2), "three values of two");
        assert!(are_runs(&[RUN, RUN].concat(), 2, 3));
        assert!(!are_runs(&RUN, 2, 3), "a second run is missing");
        for len in 0..RUN.len() {
            assert!(!are_runs(&RUN[..len], 1, 3), "{len}");
        }
        assert!(are_runs(&[128, 1, 4, 0, 0], 1, 0), "no values, no block");
        assert!(are_runs(&[128, 1, 4, 1, 8, 128, 1, 4, 1, 8], 2, 1), "one value, no block");
    }

    #[test]
    fn runs_have_no_more_values_than_their_bytes_can_stand_for() {
        // One part of 2⁴⁰ values, of deltas of no bits.
        let size = [128, 128, 128, 128, 128, 32];
        let huge = [&size[..], &[1], &size, &[0, 0, 0]].concat();
        assert!(!are_runs(&huge, 1, u64::MAX));
        let million = [128, 128, 128, 1, 1, 128, 128, 64, 0, 0, 0];
        assert!(are_runs(&million, 1, 1 << 20), "2²⁰ of the same length");
    }

    #[test]
    fn blocks_are_of_the_format() {
        for (at, byte) in [(0, 129), (2, 0), (2, 3), (2, 8), (6, 33)] {
            let mut run = RUN;
            run[at] = byte;
            assert!(!are_runs(&run, 1, 3), "{byte} at {at}");
        }
        assert!(!are_runs(&[0, 4, 3, 10, 2, 2, 0, 0, 0], 1, 3), "blocks of nothing");
    }
}
