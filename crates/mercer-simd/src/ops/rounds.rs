//! Rounds of a diagonal and a Walsh-Hadamard transform, one row at a time: the arithmetic of structured projections.
//!
//! A round is u ↦ H·D·Π·u on each block of p values, with a diagonal D, a permutation Π where there is one, and H of
//! [`hadamard`](super::hadamard). The rounds of a row run while its values are in the first-level cache, and every step is
//! one rounding a value, so that all instruction sets give the same bits.

use super::hadamard::transform;
use crate::dispatch::VectorOp;
use crate::vector::Vector;
use crate::{Aligned, InstructionSet, Scalar};

/// One round on blocks of [`Round::block_len`] values.
#[derive(Clone, Debug)]
pub struct Round<T> {
    block_len: usize,
    diagonal: Aligned<T>,
    /// Where each value comes from, within its block; all below `block_len`. Empty where values stay in their places.
    sources: Vec<u32>,
}

impl<T: Scalar> Round<T> {
    /// The factors of all blocks, one after another, and for each value where it comes from within its block.
    ///
    /// # Panics
    /// When the block length is no power of two, the diagonal is not whole blocks, or sources do not fit it.
    pub fn new(block_len: usize, diagonal: Aligned<T>, sources: Option<Vec<u32>>) -> Self {
        assert!(block_len.is_power_of_two(), "blocks of {block_len} values: needs a power of two");
        assert!(diagonal.len().is_multiple_of(block_len), "whole blocks");
        let sources = sources.inspect(|sources| {
            assert_eq!(sources.len(), diagonal.len(), "a source for each value");
            assert!(sources.iter().all(|&source| (source as usize) < block_len), "sources within the block");
        });
        Self { block_len, diagonal, sources: sources.unwrap_or_default() }
    }

    /// Values of a block.
    pub fn block_len(&self) -> usize {
        self.block_len
    }

    /// The factors, block by block.
    pub fn diagonal(&self) -> &[T] {
        &self.diagonal
    }

    /// Where each value comes from within its block, if they change places.
    pub fn sources(&self) -> Option<&[u32]> {
        (!self.sources.is_empty()).then_some(&self.sources)
    }
}

/// `out` = scale · rounds(x), the values from `first` on of all blocks; each block is given the same x, a row of its length.
///
/// `scratch` has the length of two blocks and may hold anything; it and x should start on a cache line.
///
/// # Panics
/// When there is no round, their lengths differ, `first` does not begin a block, or `out` is longer than the blocks.
pub fn rounds_into<T: Scalar>(
    isa: InstructionSet,
    x: &[T],
    rounds: &[Round<T>],
    scale: &[T],
    first: usize,
    out: &mut [T],
    scratch: &mut [T],
) {
    let block_len = x.len();
    assert!(!rounds.is_empty() && scratch.len() == 2 * block_len);
    assert!(first.is_multiple_of(block_len) && first + out.len() <= scale.len(), "places of the blocks");
    assert!(rounds.iter().all(|round| round.block_len == block_len && round.diagonal.len() == scale.len()));
    isa.run_vectors(Rounds { x, rounds, scale, first, out, scratch });
}

struct Rounds<'a, T> {
    x: &'a [T],
    rounds: &'a [Round<T>],
    scale: &'a [T],
    first: usize,
    out: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Scalar> VectorOp<T> for Rounds<'_, T> {
    // Loops, not closures: a closure would be compiled without the instruction set.
    #[inline(always)]
    fn run<V: Vector<Value = T>>(self) {
        let (x, block_len) = (self.x, self.x.len());
        let (mut values, mut others) = self.scratch.split_at_mut(block_len);
        for (number, out) in self.out.chunks_mut(block_len).enumerate() {
            let start = self.first + number * block_len;
            let places = start..start + block_len;
            for (number, round) in self.rounds.iter().enumerate() {
                let diagonal = &round.diagonal[places.clone()];
                if !round.sources.is_empty() {
                    let from = if number == 0 { x } else { &*values };
                    moved_product(from, &round.sources[places.clone()], diagonal, others);
                    std::mem::swap(&mut values, &mut others);
                } else if number == 0 {
                    product(x, diagonal, values);
                } else {
                    for (value, &factor) in values.iter_mut().zip(diagonal) {
                        *value = *value * factor;
                    }
                }
                transform::<V>(values);
            }
            product(values, &self.scale[places], out);
        }
    }
}

/// The values of x, as many as `out` holds, times the factors.
#[inline(always)]
fn product<T: Scalar>(x: &[T], factors: &[T], out: &mut [T]) {
    for ((out, &x), &factor) in out.iter_mut().zip(x).zip(factors) {
        *out = x * factor;
    }
}

/// The values of x at `sources`, times the factors.
#[inline(always)]
fn moved_product<T: Scalar>(x: &[T], sources: &[u32], factors: &[T], out: &mut [T]) {
    for ((out, &source), &factor) in out.iter_mut().zip(sources).zip(factors) {
        // SAFETY: `Round::new` saw that every source is below the length of a block, which `rounds_into` saw x to have.
        *out = unsafe { *x.get_unchecked(source as usize) } * factor;
    }
}

/// out = the transpose of the rounds of one block, applied to `values`: what a gradient goes through on its way back.
///
/// `values` are those of the block number `block`, not yet scaled, and are lost; `out` has the length of the block.
///
/// # Panics
/// When lengths do not fit.
pub fn rounds_back_into<T: Scalar>(
    isa: InstructionSet,
    rounds: &[Round<T>],
    scale: &[T],
    block: usize,
    values: &mut [T],
    out: &mut [T],
) {
    let block_len = out.len();
    let places = block * block_len..(block + 1) * block_len;
    for (value, &factor) in values.iter_mut().zip(&scale[places.clone()]) {
        *value = *value * factor;
    }
    for round in rounds.iter().rev() {
        super::hadamard::fwht(isa, values);
        for (value, &factor) in values.iter_mut().zip(&round.diagonal[places.clone()]) {
            *value = *value * factor;
        }
        if let Some(sources) = round.sources() {
            out.fill(T::zero());
            for (&source, &value) in sources[places.clone()].iter().zip(&*values) {
                out[source as usize] = out[source as usize] + value;
            }
            values.copy_from_slice(out);
        }
    }
    out.copy_from_slice(values);
}
