//! Philox4x32-10: 128 random bits as a pure function of a 64-bit key and a 128-bit counter.
//!
//! Ten rounds of two 32×32→64-bit products each, vectorised over consecutive counters.
//!
//! Reference: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

use crate::InstructionSet;
use crate::dispatch::Op;

/// One output of the generator.
pub type PhiloxBlock = [u32; 4];

const ROUNDS: usize = 10;
const MULTIPLIERS: (u64, u64) = (0xD251_1F53, 0xCD9E_8D57);
const WEYL: (u32, u32) = (0x9E37_79B9, 0xBB67_AE85);

/// Counters computed side by side.
pub(crate) const LANES: usize = 16;

/// `out[i]` = the block of the counter `(first + i, stream.0, stream.1)`, first as its low 64 bits.
pub fn philox_into(isa: InstructionSet, key: u64, stream: (u32, u32), first: u64, out: &mut [PhiloxBlock]) {
    isa.run(Fill { key, stream, first, out });
}

struct Fill<'a> {
    key: u64,
    stream: (u32, u32),
    first: u64,
    out: &'a mut [PhiloxBlock],
}

impl Op for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (chunk, out) in self.out.chunks_mut(LANES).enumerate() {
            let words = philox_lanes(self.key, self.stream, self.first.wrapping_add((chunk * LANES) as u64));
            for (lane, out) in out.iter_mut().enumerate() {
                *out = [words[0][lane], words[1][lane], words[2][lane], words[3][lane]];
            }
        }
    }
}

/// The blocks of `LANES` consecutive counters, word by word.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "one counter across four arrays")]
pub(crate) fn philox_lanes(key: u64, stream: (u32, u32), first: u64) -> [[u32; LANES]; 4] {
    let mut x = [[0; LANES], [0; LANES], [stream.0; LANES], [stream.1; LANES]];
    for lane in 0..LANES {
        let counter = first.wrapping_add(lane as u64);
        x[0][lane] = counter as u32;
        x[1][lane] = (counter >> 32) as u32;
    }
    let (mut k0, mut k1) = (key as u32, (key >> 32) as u32);
    for _ in 0..ROUNDS {
        for lane in 0..LANES {
            let p0 = MULTIPLIERS.0 * u64::from(x[0][lane]);
            let p1 = MULTIPLIERS.1 * u64::from(x[2][lane]);
            x[0][lane] = (p1 >> 32) as u32 ^ x[1][lane] ^ k0;
            x[1][lane] = p1 as u32;
            x[2][lane] = (p0 >> 32) as u32 ^ x[3][lane] ^ k1;
            x[3][lane] = p0 as u32;
        }
        k0 = k0.wrapping_add(WEYL.0);
        k1 = k1.wrapping_add(WEYL.1);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with the Random123 library.
    #[test]
    fn known_answers() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for isa in InstructionSet::available() {
            for (counter, key, answer) in cases {
                let mut out = [[0; 4]];
                let first = u64::from(counter[0]) | u64::from(counter[1]) << 32;
                let key = u64::from(key[0]) | u64::from(key[1]) << 32;
                philox_into(isa, key, (counter[2], counter[3]), first, &mut out);
                assert_eq!(out[0], answer, "{isa:?}");
            }
        }
    }

    #[test]
    fn a_block_does_not_depend_on_where_a_fill_starts() {
        let isa = InstructionSet::best();
        let mut all = [[0; 4]; 100];
        philox_into(isa, 7, (1, 2), u64::MAX - 40, &mut all);
        for start in [1, 15, 16, 17, 60] {
            let mut part = [[0; 4]; 20];
            philox_into(isa, 7, (1, 2), (u64::MAX - 40).wrapping_add(start as u64), &mut part);
            assert_eq!(part, all[start..start + 20]);
        }
    }
}
