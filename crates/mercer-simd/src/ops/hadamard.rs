//! The fast Walsh-Hadamard transform x ↦ Hx, in place: n log₂ n additions.
//!
//! H₁ = (1), H₂ₙ = (Hₙ Hₙ; Hₙ −Hₙ): the natural (Sylvester) order, entries ±1, so that H·H = n·I. Lengths are powers of
//! two; [`padded_len`] gives the next one for rows to be filled up with zeros, [`split_lens`] the powers of two whose sum
//! is any length, for a transform by blocks.
//!
//! A stage of stride h replaces pairs (a, b) that are h apart by (a + b, a − b). Stages come in ascending strides, 1, 2,
//! 4, …, whatever the instruction set, the blocks and the threads: each result is the same tree of additions, and so the
//! same bits.
//!
//! How it is done, for vectors of w values:
//! - strides below w: within a register, as it is loaded (`Vector::butterflies`);
//! - the next up to 4 stages among the 8 or 16 registers loaded together: one reading and one writing for 8 stages of f32
//!   in 512 bits;
//! - then passes of up to 4 stages over parts of `FIRST_CACHE` bytes; at strides of `ALIASED` bytes and more, where
//!   lines a stride apart compete for the same ways of the first-level cache, of up to 3;
//! - beyond that, passes of up to 3 stages joining neighbouring parts as soon as all of them are ready, so that they are
//!   found in the nearest cache that holds them.
//!
//! [`rounds`](super::rounds) chains transforms with diagonals and permutations, for the projections built of them.
//!
//! References: Fino and Algazi, "Unified matrix treatment of the fast Walsh-Hadamard transform", IEEE Trans. Computers
//! 25, 1976; Andoni, Indyk, Laarhoven, Razenshteyn and Schmidt, "Practical and optimal LSH for angular distance", NIPS
//! 2015 (the library FFHT, which the benches measure beside this one).
//!
//! ```
//! use mercer_simd::InstructionSet;
//! use mercer_simd::ops::hadamard::fwht;
//!
//! let mut x = [1.0_f32, 2.0, 3.0, 4.0];
//! fwht(InstructionSet::best(), &mut x);
//! assert_eq!(x, [10.0, -2.0, -4.0, 0.0]);
//! ```

use ndarray::{ArrayViewMut2, Axis};

use crate::arch::Single;
use crate::dispatch::VectorOp;
use crate::vector::Vector;
use crate::{InstructionSet, Scalar};

/// Bytes of a part that stays in the first-level cache over all its stages (16 KB was measured beside it: slower at 2^16
/// and 2^19 values of f32, faster by some percent at 2^17 and 2^18).
const FIRST_CACHE: usize = 1 << 15;
/// Stages of a pass over values in registers, at most.
const STAGES: u32 = 4;
/// From this stride on, in bytes, lines a stride apart share the places of a cache of 4 KiB a way: 8 to 12 of them fit.
const ALIASED: usize = 1 << 12;
/// Stages of a pass at such strides, at most.
const ALIASED_STAGES: u32 = 3;

/// x ↦ Hx.
///
/// # Panics
/// When the length is no power of two.
pub fn fwht<T: Scalar>(isa: InstructionSet, x: &mut [T]) {
    check_len(x.len());
    isa.run_vectors(Row(x));
}

/// Each row of x, transformed; rows may be apart from one another.
///
/// # Panics
/// When the length of a row is no power of two, or the values of a row are not neighbours.
pub fn fwht_rows<T: Scalar>(isa: InstructionSet, x: ArrayViewMut2<'_, T>) {
    check_len(x.ncols());
    assert!(x.ncols() == 1 || x.strides()[1] == 1, "the values of a row are neighbours");
    isa.run_vectors(Rows(x));
}

/// Each column of x, transformed; rows may be apart from one another.
///
/// # Panics
/// When the number of rows is no power of two, or the values of a row are not neighbours.
pub fn fwht_columns<T: Scalar>(isa: InstructionSet, x: ArrayViewMut2<'_, T>) {
    check_len(x.nrows());
    assert!(x.ncols() <= 1 || x.strides()[1] == 1, "the values of a row are neighbours");
    assert!(x.nrows() <= 1 || x.strides()[0] >= 0, "rows follow one another");
    isa.run_vectors(Columns(x));
}

/// Transforms the first values of x, as many as registers hold, `times` times over without leaving the registers; returns
/// the number of additions. What a processor can do at most, for measurements.
///
/// # Panics
/// When x has fewer than 256 values.
pub fn add_in_registers<T: Scalar>(isa: InstructionSet, x: &mut [T], times: usize) -> usize {
    assert!(x.len() >= 256, "registers hold more than {} values", x.len());
    let mut n_added = 0;
    isa.run_vectors(InRegisters { x, times, n_added: &mut n_added });
    n_added
}

struct InRegisters<'a, T> {
    x: &'a mut [T],
    times: usize,
    n_added: &'a mut usize,
}

impl<T: Scalar> VectorOp<T> for InRegisters<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(self) {
        // SAFETY: x has 256 values, and 8 or 16 vectors no more.
        unsafe {
            match V::HELD {
                16 => repeat::<V, 16>(self.x.as_mut_ptr(), self.times),
                _ => repeat::<V, 8>(self.x.as_mut_ptr(), self.times),
            }
        }
        *self.n_added = self.times * V::HELD * V::LANES * V::HELD.ilog2() as usize;
    }
}

/// The stages among `R` vectors, `times` times over.
///
/// # Safety
/// `R` vectors from `x` on can be read and written.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "k names a register")]
unsafe fn repeat<V: Vector, const R: usize>(x: *mut V::Value, times: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut held = [V::load(x); R];
        for k in 1..R {
            held[k] = V::load(x.add(k * V::LANES));
        }
        for _ in 0..times {
            butterflies(&mut held);
        }
        for k in 0..R {
            held[k].store(x.add(k * V::LANES));
        }
    }
}

/// The shortest length of a transform that holds `n` values.
pub fn padded_len(n: usize) -> usize {
    n.next_power_of_two()
}

/// Powers of two, descending, whose sum is `n`.
pub fn split_lens(n: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS).rev().map(|bit| 1 << bit).filter(move |len| n & len > 0)
}

fn check_len(n: usize) {
    assert!(n.is_power_of_two(), "a Walsh-Hadamard transform of length {n}: needs a power of two");
}

struct Row<'a, T>(&'a mut [T]);

impl<T: Scalar> VectorOp<T> for Row<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(self) {
        transform::<V>(self.0);
    }
}

struct Rows<'a, T>(ArrayViewMut2<'a, T>);

impl<T: Scalar> VectorOp<T> for Rows<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(mut self) {
        for mut row in self.0.axis_iter_mut(Axis(0)) {
            transform::<V>(row.as_slice_mut().expect("the values of a row are neighbours"));
        }
    }
}

struct Columns<'a, T>(ArrayViewMut2<'a, T>);

impl<T: Scalar> VectorOp<T> for Columns<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(self) {
        let width = self.0.ncols();
        let (mut whole, mut rest) = self.0.split_at(Axis(1), width - width % V::LANES);
        transform_columns::<V>(&mut whole);
        transform_columns::<Single<T>>(&mut rest);
    }
}

/// All stages of all columns; their number is a multiple of a vector.
#[inline(always)]
fn transform_columns<V: Vector>(x: &mut ArrayViewMut2<'_, V::Value>) {
    let (rows, width) = x.dim();
    let mut grid = Grid { stride: x.strides()[0] as usize, rows, spacing: 1, width };
    while grid.spacing < rows && width > 0 {
        let stages = even_stages((rows / grid.spacing).ilog2(), ALIASED_STAGES);
        // SAFETY: `x` has `rows` rows a stride apart, each of `width` values that are neighbours.
        unsafe { pass::<V>(x.as_mut_ptr(), grid, stages) };
        grid.spacing <<= stages;
    }
}

/// All stages of a row whose length is a power of two.
#[inline(always)]
pub(crate) fn transform<V: Vector>(x: &mut [V::Value]) {
    let n = x.len();
    if n < V::LANES {
        // SAFETY: a power of two, and a vector of one value.
        return unsafe { transform_part::<Single<V::Value>>(x.as_mut_ptr(), n) };
    }
    let part = n.min(FIRST_CACHE / size_of::<V::Value>());
    let n_parts = n / part;
    let x = x.as_mut_ptr();
    for done in 1..=n_parts {
        // SAFETY: a part lies in `x`, and has whole vectors: powers of two, neither below a vector.
        unsafe { transform_part::<V>(x.add((done - 1) * part), part) };
        // Parts are joined, some at a time, when the last of them is ready.
        let mut joined = 1;
        while joined < n_parts {
            let stages = even_stages((n_parts / joined).ilog2(), ALIASED_STAGES);
            let join = joined << stages;
            if !done.is_multiple_of(join) {
                break;
            }
            let stride = joined * part;
            let grid = Grid { stride, rows: 1 << stages, spacing: 1, width: stride };
            // SAFETY: the parts done-join .. done lie in `x`.
            unsafe { pass::<V>(x.add((done - join) * part), grid, stages) };
            joined = join;
        }
    }
}

/// All stages of `n` values in cache.
///
/// # Safety
/// `n` values from `x` on can be read and written; `n` is a power of two, at least a vector.
#[inline(always)]
unsafe fn transform_part<V: Vector>(x: *mut V::Value, n: usize) {
    let held = V::HELD.min(n / V::LANES);
    // SAFETY: the caller's promise: blocks of `held` vectors, then rows of `stride` values, fill the n values.
    unsafe {
        match held {
            16 => first_stages::<V, 16>(x, n),
            8 => first_stages::<V, 8>(x, n),
            4 => first_stages::<V, 4>(x, n),
            2 => first_stages::<V, 2>(x, n),
            _ => first_stages::<V, 1>(x, n),
        }
        let mut stride = held * V::LANES;
        while stride < n {
            let aliased = stride * size_of::<V::Value>() >= ALIASED;
            let most = if aliased { ALIASED_STAGES } else { STAGES.min(V::HELD.ilog2()) };
            let stages = even_stages((n / stride).ilog2(), most);
            pass::<V>(x, Grid { stride, rows: n / stride, spacing: 1, width: stride }, stages);
            stride <<= stages;
        }
    }
}

/// Stages of the next pass when `left` remain, at most `most` in one: as even as can be.
#[inline(always)]
fn even_stages(left: u32, most: u32) -> u32 {
    left.div_ceil(left.div_ceil(most))
}

/// `rows` rows of `width` values, `stride` values apart, of which those `spacing` apart are joined.
#[derive(Clone, Copy)]
struct Grid {
    stride: usize,
    rows: usize,
    spacing: usize,
    width: usize,
}

/// `stages` stages over the rows of a grid: 1 to 4.
///
/// # Safety
/// The grid from `x` on can be read and written, its width is a multiple of a vector, and its rows are a multiple of
/// 2^stages times the spacing.
#[inline(always)]
unsafe fn pass<V: Vector>(x: *mut V::Value, grid: Grid, stages: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match stages {
            1 => pass_of::<V, 2>(x, grid),
            2 => pass_of::<V, 4>(x, grid),
            3 => pass_of::<V, 8>(x, grid),
            _ => pass_of::<V, 16>(x, grid),
        }
    }
}

/// log₂ R stages: R vectors at a time, one of each of R rows.
///
/// # Safety
/// As for [`pass`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "k names a register")]
unsafe fn pass_of<V: Vector, const R: usize>(x: *mut V::Value, grid: Grid) {
    let Grid { stride, rows, spacing, width } = grid;
    let step = spacing * stride;
    for high in (0..rows).step_by(R * spacing) {
        for row in high..high + spacing {
            for column in (0..width).step_by(V::LANES) {
                // SAFETY: row + k·spacing < rows and column + a vector ≤ width.
                unsafe {
                    let x = x.add(row * stride + column);
                    let mut held = [V::load(x); R];
                    for k in 1..R {
                        held[k] = V::load(x.add(k * step));
                    }
                    butterflies(&mut held);
                    for k in 0..R {
                        held[k].store(x.add(k * step));
                    }
                }
            }
        }
    }
}

/// The stages within vectors and among `R` neighbouring ones.
///
/// # Safety
/// `n` values from `x` on can be read and written; `n` is a multiple of `R` vectors.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "k names a register")]
unsafe fn first_stages<V: Vector, const R: usize>(x: *mut V::Value, n: usize) {
    for start in (0..n).step_by(R * V::LANES) {
        // SAFETY: start + R vectors ≤ n.
        unsafe {
            let x = x.add(start);
            let mut held = [V::load(x).butterflies(); R];
            for k in 1..R {
                held[k] = V::load(x.add(k * V::LANES)).butterflies();
            }
            butterflies(&mut held);
            for k in 0..R {
                held[k].store(x.add(k * V::LANES));
            }
        }
    }
}

/// All stages among `R` vectors: at most 16.
#[inline(always)]
fn butterflies<V: Vector, const R: usize>(held: &mut [V; R]) {
    stage::<V, R, 1>(held);
    stage::<V, R, 2>(held);
    stage::<V, R, 4>(held);
    stage::<V, R, 8>(held);
}

#[inline(always)]
fn stage<V: Vector, const R: usize, const STRIDE: usize>(held: &mut [V; R]) {
    if STRIDE < R {
        for pair in 0..R / 2 {
            let a = pair / STRIDE * 2 * STRIDE + pair % STRIDE;
            let (left, right) = (held[a], held[a + STRIDE]);
            (held[a], held[a + STRIDE]) = (left.add(right), left.sub(right));
        }
    }
}
