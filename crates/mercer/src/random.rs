//! Random numbers as pure functions of (seed, purpose, lane, index): nothing is drawn "next".
//!
//! A [`Stream`] is named by a seed, a [`Purpose`] and a lane (a column, a fold, an epoch). Its element `i` is 64 bits:
//! half of the Philox4x32-10 block whose key is the seed and whose counter is (i / 2, lane, purpose). So any part of
//! a random matrix can be drawn by any thread in any order, 1,024 columns are a prefix of 2,048, and a model file
//! stores a seed in place of the numbers.
//!
//! | law | element i | expectation, variance |
//! |---|---|---|
//! | [uniform](Stream::uniform_into) | u = (top 52 bits + ½)·2^-52, in (0, 1) | 1/2, 1/12 |
//! | [normal](Stream::normal_into) | Box and Muller on the pair of elements 2⌊i/2⌋, 2⌊i/2⌋ + 1 | 0, 1 |
//! | [sign](Stream::sign_into) | ±1 by bit 0 | 0, 1 |
//! | [sparse sign](Stream::sparse_sign_into) | ±√s by bit 0 where u < 1/s, else 0 | 0, 1 |
//! | [Cauchy](Stream::cauchy_into) | cot(πu) | none, none |
//! | [hyperbolic secant](Stream::sech_into) | ln(tan(πu/2))/π, of density sech(πw) | 0, 1/4 |
//! | [chi](Stream::chi) | Marsaglia and Tsang, over the elements 512i .. 512i + 511 | E χ² = degrees, Var χ² = 2·degrees |
//! | [below](Stream::below) | Lemire's exact integers, over the elements 256i .. 256i + 255 | (bound − 1)/2 |
//!
//! Laws share the elements: give each law its own purpose or lane. All is computed in f64 with software functions,
//! so every machine, instruction set and thread count gets the same bits, and a matrix in f32 is the f64 one rounded.
//!
//! Cost: O(1) for each element and no memory; [`permutation`] sorts, [`sample`] is O(n) time and O(k) memory.
//!
//! ```
//! use mercer::random::{Purpose, Stream, normal_columns};
//!
//! let column = Stream::new(7, Purpose::Projection).lane(3);
//! let (mut all, mut tail) = ([0.0; 10], [0.0; 5]);
//! column.normal_into(0, &mut all);
//! column.normal_into(5, &mut tail);
//! assert_eq!(all[5..], tail);
//!
//! let matrix = normal_columns::<f64>(7, Purpose::Projection, 10, 0..4);
//! assert_eq!(matrix.column(3).to_vec(), all);
//! ```
//!
//! References: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox);
//! Achlioptas, "Database-friendly random projections", JCSS 66, 2003 (sparse signs, s = 1 and 3); Li, Hastie and
//! Church, "Very sparse random projections", KDD 2006 (s = √d); Marsaglia and Tsang, "A simple method for generating
//! gamma variables", ACM TOMS 26, 2000; Lemire, "Fast random integer generation in an interval", ACM TOMACS 29, 2019.

use std::f64::consts::{LN_2, LOG2_E, PI};
use std::ops::Range;

use mercer_simd::ops::philox::{PhiloxBlock, philox_into};
use mercer_simd::ops::random::{ln, normal_into, open_unit, uniform_into};
use mercer_simd::ops::sincos::cos_sin_into;
use mercer_simd::{InstructionSet, Scalar};
use ndarray::Array2;

#[cfg(test)]
mod tests;

/// The version of everything said above: a model file carries it, because its seeds mean nothing under another one.
pub const LAYOUT_VERSION: u32 = 1;

/// What numbers are drawn for; part of the counter, so two purposes never share a number. Numbers are only added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// Entries of a random matrix; lane = column.
    Projection = 1,
    /// Lengths of the rows of a structured or orthogonal projection; index = row.
    RowLength = 2,
    /// Phases of cosines, shifts of quasi-random points.
    Phase = 3,
    /// Diagonals of signs (Hadamard projections, sketches); lane = factor.
    Sign = 4,
    /// Permutations inside a map (Fastfood).
    Permutation = 5,
    /// Rows chosen for statistics or as candidates for landmarks; index = row of the data.
    Sample = 6,
    /// Rows dealt to the folds of cross-validation; index = row of the data.
    Fold = 7,
    /// Rows held out for testing; index = row of the data.
    Split = 8,
    /// Buckets of a count sketch; lane = factor.
    Bucket = 9,
    /// The degrees and indices of a random polynomial (Random Maclaurin); lane = component.
    Degree = 10,
    /// Starting values of an iteration (k-means, power method).
    Start = 11,
    /// The order in which a learner takes the rows; lane = epoch.
    Order = 12,
    /// Rows dealt to the parts whose scores become probabilities; index = row of the data.
    Calibration = 13,
    /// Seeds of maps that follow others; index = place.
    Chain = 14,
    /// Which candidates become landmarks; lane = round.
    Landmark = 15,
    /// Rows that judge pipelines, and the order in which the others are learned from; index = row of the data.
    Search = 16,
}

/// The random numbers of one (seed, purpose, lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    seed: u64,
    /// lane, purpose: the high half of the counter
    stream: (u32, u32),
}

/// Blocks drawn together.
const BLOCKS: usize = 64;

/// Counters set aside for the attempts of one rejection; one fails with probability below ½, so running out has
/// probability below 2^-128.
const ATTEMPTS: u64 = 128;

impl Stream {
    /// Lane 0 of a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self { seed, stream: (0, purpose as u32) }
    }

    /// Lane `j` of the same purpose.
    ///
    /// # Panics
    /// When `j` is 2^32 or more.
    #[must_use]
    pub fn lane(self, j: usize) -> Self {
        let lane = u32::try_from(j).expect("fewer than 2^32 lanes");
        Self { stream: (lane, self.stream.1), ..self }
    }

    /// Element `index`: 64 random bits.
    pub fn bits(&self, index: u64) -> u64 {
        let mut block = [[0; 4]];
        philox_into(InstructionSet::best(), self.seed, self.stream, index / 2, &mut block);
        elements(block[0])[(index % 2) as usize]
    }

    /// `out[i]` = uniform number `first + i`, in (0, 1).
    pub fn uniform_into(&self, first: u64, out: &mut [f64]) {
        self.pairs_into(uniform_into, first, out);
    }

    /// `out[i]` = standard normal number `first + i`; |z| < 8.6.
    pub fn normal_into(&self, first: u64, out: &mut [f64]) {
        self.pairs_into(normal_into, first, out);
    }

    /// `out[i]` = sign number `first + i`, ±1.
    pub fn sign_into(&self, first: u64, out: &mut [f64]) {
        self.sparse_sign_into(1.0, first, out);
    }

    /// `out[i]` = sparse sign number `first + i`: +√s and −√s with probability 1/(2s) each, else 0.
    ///
    /// # Panics
    /// When `s` is below 1 or NaN.
    pub fn sparse_sign_into(&self, s: f64, first: u64, out: &mut [f64]) {
        let (threshold, root) = (probability(s), s.sqrt());
        self.for_each_bits(first..first + out.len() as u64, |i, bits| {
            let sign = if is_positive(bits) { root } else { -root };
            out[(i - first) as usize] = if unit(bits) < threshold { sign } else { 0.0 };
        });
    }

    /// The nonzero ones of the sparse signs 0 .. `len`: positions, ascending, and whether each is +√s.
    ///
    /// # Panics
    /// When `s` is below 1 or NaN.
    pub fn sparse_sign_entries(&self, s: f64, len: u32) -> Vec<(u32, bool)> {
        let threshold = probability(s);
        let mut entries = Vec::new();
        self.for_each_bits(0..u64::from(len), |i, bits| {
            if unit(bits) < threshold {
                entries.push((i as u32, is_positive(bits)));
            }
        });
        entries
    }

    /// `out[i]` = standard Cauchy number `first + i`.
    pub fn cauchy_into(&self, first: u64, out: &mut [f64]) {
        self.uniform_into(first, out);
        let mut cos = [0.0; 2 * BLOCKS];
        for out in out.chunks_mut(cos.len()) {
            let cos = &mut cos[..out.len()];
            // cot has period π: u − 1 is exact, and keeps the far tail of both signs accurate.
            out.iter_mut().for_each(|u| *u = PI * if *u < 0.5 { *u } else { *u - 1.0 });
            cos_sin_into(InstructionSet::best(), 1.0, out, cos);
            out.iter_mut().zip(cos).for_each(|(sin, cos)| *sin = *cos / *sin);
        }
    }

    /// `out[i]` = number `first + i` of the hyperbolic secant law; |w| < 12.
    pub fn sech_into(&self, first: u64, out: &mut [f64]) {
        self.uniform_into(first, out);
        let mut cos = [0.0; 2 * BLOCKS];
        for out in out.chunks_mut(cos.len()) {
            let cos = &mut cos[..out.len()];
            // The law is symmetric: u − 1 is exact, and its sign that of the number.
            out.iter_mut().for_each(|u| *u = 0.5 * PI * if *u < 0.5 { *u } else { *u - 1.0 });
            cos_sin_into(InstructionSet::best(), 1.0, out, cos);
            out.iter_mut().zip(cos).for_each(|(sin, cos)| {
                let below_0 = ln(sin.abs() / *cos) / PI;
                *sin = if *sin < 0.0 { -below_0 } else { below_0 };
            });
        }
    }

    /// Chi number `index`: the length of a standard normal vector of `degrees` entries, in O(1) for any `degrees`.
    ///
    /// χ² = 2·Gamma(degrees/2), by the paper's rejection: x normal, v = (1 + cx)³, accepted when
    /// ln u < x²/2 + d − dv + d·ln v; shapes below 1 by Gamma(a) = Gamma(a + 1)·u^(1/a) (its section 6).
    ///
    /// # Panics
    /// When `degrees` is below 0.2 or not finite, or `index` is 2^55 or more.
    pub fn chi(&self, degrees: f64, index: u64) -> f64 {
        assert!((0.2..f64::INFINITY).contains(&degrees), "chi of {degrees} degrees, needs at least 0.2");
        assert!(index < 1 << 55, "chi number {index}, numbers end at 2^55");
        let shape = degrees / 2.0;
        let boost = shape < 1.0;
        let d = if boost { shape + 1.0 } else { shape } - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        for attempt in 0..ATTEMPTS {
            let counter = 2 * (ATTEMPTS * index + attempt);
            let (x, [u, u_boost]) = (self.pair(normal_into, counter)[0], self.pair(uniform_into, counter + 1));
            let base = c.mul_add(x, 1.0);
            let v = base * base * base;
            if base > 0.0 && ln(u) < 0.5 * x * x + d * (1.0 - v + ln(v)) {
                let factor = if boost { exp(ln(u_boost) / shape) } else { 1.0 };
                return (2.0 * d * v * factor).sqrt();
            }
        }
        unreachable!("an attempt is accepted with probability above 0.95")
    }

    /// Integer number `index`, exactly uniform on 0 .. `bound`.
    ///
    /// # Panics
    /// When `bound` is 0 or `index` is 2^56 or more.
    pub fn below(&self, bound: u64, index: u64) -> u64 {
        assert!(bound > 0, "no integer is below 0");
        assert!(index < 1 << 56, "integer number {index}, numbers end at 2^56");
        // Of the 2^64 values, 2^64 mod bound are refused: the rest falls into equal shares.
        let refused = bound.wrapping_neg() % bound;
        (0..2 * ATTEMPTS)
            .map(|attempt| u128::from(self.bits(2 * ATTEMPTS * index + attempt)) * u128::from(bound))
            .find(|product| *product as u64 >= refused)
            .map(|product| (product >> 64) as u64)
            .expect("an attempt is accepted with probability above 1/2")
    }

    /// The numbers 0 .. `out.len()` in a random order: by their elements, ties by number. Cost: a sort.
    ///
    /// # Panics
    /// When there are 2^32 or more.
    pub fn permutation_into(&self, out: &mut [u32]) {
        let len = u32::try_from(out.len()).expect("fewer than 2^32 numbers");
        let mut keyed = Vec::with_capacity(out.len());
        self.for_each_bits(0..u64::from(len), |i, key| keyed.push((key, i as u32)));
        keyed.sort_unstable();
        out.iter_mut().zip(keyed).for_each(|(out, (_, i))| *out = i);
    }

    /// The law's elements, two from a counter, wherever they start.
    fn pairs_into(&self, law: PairLaw, first: u64, out: &mut [f64]) {
        let isa = InstructionSet::best();
        let counter = first / 2;
        if first.is_multiple_of(2) {
            law(isa, self.seed, self.stream, counter, out);
        } else if let Some((head, tail)) = out.split_first_mut() {
            *head = self.pair(law, counter)[1];
            law(isa, self.seed, self.stream, counter + 1, tail);
        }
    }

    fn pair(&self, law: PairLaw, counter: u64) -> [f64; 2] {
        let mut pair = [0.0; 2];
        law(InstructionSet::best(), self.seed, self.stream, counter, &mut pair);
        pair
    }

    /// Shows `visit` the elements of a range in order, each with its number.
    fn for_each_bits(&self, range: Range<u64>, mut visit: impl FnMut(u64, u64)) {
        let mut blocks: [PhiloxBlock; BLOCKS] = [[0; 4]; BLOCKS];
        let end = range.end.div_ceil(2);
        for first in (range.start / 2..end).step_by(BLOCKS) {
            let blocks = &mut blocks[..BLOCKS.min((end - first) as usize)];
            philox_into(InstructionSet::best(), self.seed, self.stream, first, blocks);
            for (counter, block) in (first..).zip(blocks) {
                for (index, bits) in (2 * counter..).zip(elements(*block)) {
                    if range.contains(&index) {
                        visit(index, bits);
                    }
                }
            }
        }
    }
}

/// A law that makes two numbers of a counter.
type PairLaw = fn(InstructionSet, u64, (u32, u32), u64, &mut [f64]);

/// The two elements of a counter.
fn elements(block: PhiloxBlock) -> [u64; 2] {
    let words = block.map(u64::from);
    [words[1] << 32 | words[0], words[3] << 32 | words[2]]
}

/// The uniform number of an element.
fn unit(bits: u64) -> f64 {
    open_unit(bits as u32, (bits >> 32) as u32)
}

/// The sign of an element: by bit 0, which its uniform number does not use.
fn is_positive(bits: u64) -> bool {
    bits & 1 == 0
}

fn probability(s: f64) -> f64 {
    assert!(s >= 1.0, "sparsity s is {s}, must be at least 1");
    1.0 / s
}

/// e^x for −700 < x ≤ 0 to 3 ulp: x = k·ln 2 + r, and the Taylor series of e^r.
fn exp(x: f64) -> f64 {
    const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17; // ln 2 − LN_2
    const DEGREE: u32 = 14; // 0.347^15 / 15! < 2^-58
    let k = (x * LOG2_E).round_ties_even();
    let r = (-k).mul_add(LN_2_REST, (-k).mul_add(LN_2, x));
    let series = (1..=DEGREE).rev().fold(1.0, |sum, i| (sum * r / f64::from(i)) + 1.0);
    series * f64::from_bits(((1023 + k as i64) as u64) << 52)
}

/// The law of the entries of a random matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Standard normal.
    Normal,
    /// Standard Cauchy.
    Cauchy,
    /// Hyperbolic secant, of density sech(πw).
    Sech,
    /// ±1.
    Sign,
    /// ±√s with probability 1/(2s) each, else 0.
    SparseSign {
        /// at least 1
        s: f64,
    },
}

impl Law {
    /// `out[i]` = number `first + i` of this law in `stream`.
    pub fn fill_into(self, stream: Stream, first: u64, out: &mut [f64]) {
        match self {
            Self::Normal => stream.normal_into(first, out),
            Self::Cauchy => stream.cauchy_into(first, out),
            Self::Sech => stream.sech_into(first, out),
            Self::Sign => stream.sign_into(first, out),
            Self::SparseSign { s } => stream.sparse_sign_into(s, first, out),
        }
    }
}

/// The columns `columns` of the random matrix with `n_inputs` rows: `n_inputs × columns.len()`, row by row. Column
/// `j` is lane `j`, drawn in f64 and rounded.
pub fn columns<T: Scalar>(law: Law, seed: u64, purpose: Purpose, n_inputs: usize, columns: Range<usize>) -> Array2<T> {
    // A cache line of f32 by rows that keep the buffer within the L2 cache.
    const TILE: (usize, usize) = (1024, 16);
    let stream = Stream::new(seed, purpose);
    let mut buffer = vec![0.0; TILE.1 * TILE.0.min(n_inputs)];
    let mut matrix = Array2::zeros((n_inputs, columns.len()));
    for (tile, mut rows) in matrix.axis_chunks_iter_mut(ndarray::Axis(0), TILE.0).enumerate() {
        let n_rows = rows.nrows();
        for (tile_column, mut out) in rows.axis_chunks_iter_mut(ndarray::Axis(1), TILE.1).enumerate() {
            let first_column = columns.start + tile_column * TILE.1;
            for (column, buffer) in buffer.chunks_exact_mut(n_rows).take(out.ncols()).enumerate() {
                law.fill_into(stream.lane(first_column + column), (tile * TILE.0) as u64, buffer);
            }
            for (i, mut row) in out.outer_iter_mut().enumerate() {
                for (column, out) in row.iter_mut().enumerate() {
                    *out = T::from_f64(buffer[column * n_rows + i]);
                }
            }
        }
    }
    matrix
}

/// [`columns`] of the normal law.
pub fn normal_columns<T: Scalar>(seed: u64, purpose: Purpose, n_inputs: usize, range: Range<usize>) -> Array2<T> {
    columns(Law::Normal, seed, purpose, n_inputs, range)
}

/// The numbers 0 .. n in a random order: [`Stream::permutation_into`] of lane 0.
///
/// # Panics
/// When n is 2^32 or more.
pub fn permutation(seed: u64, purpose: Purpose, n: usize) -> Vec<usize> {
    let mut order = vec![0; n];
    Stream::new(seed, purpose).permutation_into(&mut order);
    order.into_iter().map(|i| i as usize).collect()
}

/// `k` of the numbers 0 .. n without replacement: the first `k` of their [`permutation`] (all, when k ≥ n).
///
/// Whether a number is among them depends on its element alone, so parts of the range can be sampled apart and
/// merged by the k smallest [`Stream::bits`]. Cost: O(n + k log k) time, O(k) memory.
pub fn sample(seed: u64, purpose: Purpose, n: u64, k: usize) -> Vec<u64> {
    if k == 0 {
        return Vec::new();
    }
    let mut keyed: Vec<(u64, u64)> = Vec::new();
    let mut largest = (u64::MAX, u64::MAX);
    Stream::new(seed, purpose).for_each_bits(0..n, |i, key| {
        if (key, i) < largest {
            keyed.push((key, i));
        }
        // Halving a buffer of 2k costs O(k) once in k pushes.
        if keyed.len() == k.saturating_mul(2) {
            largest = *keyed.select_nth_unstable(k - 1).1;
            keyed.truncate(k);
        }
    });
    keyed.sort_unstable();
    keyed.truncate(k);
    keyed.into_iter().map(|(_, i)| i).collect()
}
