//! V made of diagonals and Walsh-Hadamard transforms: a row costs O(n log d), the matrix O(n) memory.
//!
//! d inputs are filled up with zeros to p, the next power of two, for frequencies at least 64; the outputs come in
//! blocks of p, each with diagonals of its own. H has entries ±1, B, D₁ … are diagonals of random signs, all times 1/ℓ
//! of the inputs at the first.
//!
//! | constructor | a block of Vᵀ | its rows |
//! |---|---|---|
//! | [`fastfood`](HadamardProjection::fastfood) | (1/√p)·S·H·G·Π·H·B, G normal, Π a permutation, Sⱼ = sⱼ/‖G‖, sⱼ ~ χ(p) | each N(0, I) in law; those of a block not independent |
//! | [`sorf`](HadamardProjection::sorf) | (1/p)·H·D₃·H·D₂·H·D₁ | orthogonal, of length √p |
//! | [`srht`](HadamardProjection::srht) | (1/√n)·R·H·D, R picks rows | orthogonal |
//! | [`factor`](HadamardProjection::factor) | the same times a number, of permuted inputs | orthogonal |
//!
//! The least length of 64 is for few inputs: all rows of SORF have the length √p, which biases its kernel by O(1/p)
//! whatever n is. Two inputs in blocks of two had a kernel RMSE of 0.34 at any number of features, in blocks of 64 it
//! is 0.008 at 4,096; and short transforms are mostly overhead.
//!
//! Zarza's thesis (sections 5.2 and 6.1) multiplies S by ‖G‖; divided by it, row j has the length sⱼ, as the tests show.
//!
//! A row's rounds run in the first-level cache, from an aligned copy of it, and end in its place in `out`.
//!
//! References: Le, Sarlós and Smola, "Fastfood: approximating kernel expansions in loglinear time", ICML 2013; Yu, Suresh,
//! Choromanski, Holtmann-Rice and Kumar, "Orthogonal random features", NIPS 2016 (SORF); Ailon and Chazelle, "The fast
//! Johnson-Lindenstrauss transform", SIAM J. Computing 39, 2009, and Tropp, "Improved analysis of the subsampled randomized
//! Hadamard transform", 2011; Zarza, *A Library for Fast Kernel
//! Expansions with Applications to Computer Vision and Deep Learning*, master's thesis, City University of Hong Kong 2014.

use std::ops::Range;

use mercer_simd::ops::hadamard::padded_len;
use mercer_simd::ops::rounds::{Round, rounds_back_into, rounds_into};
use mercer_simd::{ALIGNMENT_SLACK, Aligned, InstructionSet, Scalar, aligned_part};
use ndarray::{ArrayView2, ArrayViewMut2};

use super::{MAX_INPUTS, Projection, Spectrum, check_columns, check_drawing, check_rows};
use crate::dataset::Rows;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// A projection by Walsh-Hadamard transforms: see the module's head.
#[derive(Clone, Debug)]
pub struct HadamardProjection<T> {
    n_inputs: usize,
    n_outputs: usize,
    block_len: usize,
    rounds: Vec<Round<T>>,
    scale: Aligned<T>,
    /// The places of the last block that are outputs, where they are not its first.
    chosen: Option<Vec<u32>>,
}

/// Which diagonal of a factor: signs, or the parts of random fourth roots of one, one of which is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagonal {
    /// ±1.
    Real,
    /// The real parts of 1, i, −1, −i.
    RealPart,
    /// Their imaginary parts.
    ImaginaryPart,
}

/// Bytes of rows that are projected together: they stay in the second-level cache for what follows.
const ROWS_BYTES: usize = 1 << 17;
/// The least length of a block of frequencies: see the module's head.
const MIN_BLOCK: usize = 64;
/// Memory for each output while it is drawn, at most: four diagonals, and the numbers in f64 that two are made from.
const DRAWING_BYTES: u128 = 64;

/// Blocks of a projection.
struct Shape {
    n_inputs: usize,
    n_outputs: usize,
    block_len: usize,
    seed: u64,
}

/// Length of a block of frequencies.
pub(crate) fn frequency_block_len(n_inputs: usize) -> usize {
    padded_len(n_inputs).max(MIN_BLOCK)
}

impl Shape {
    fn new(n_inputs: usize, n_outputs: usize, seed: u64, block_len: fn(usize) -> usize) -> Result<Self> {
        if n_inputs > MAX_INPUTS {
            return Err(Error::parameter("n_inputs", n_inputs, "1 to 2^26 for transforms"));
        }
        let block_len = block_len(n_inputs);
        let n_places = (n_outputs as u128).next_multiple_of(block_len as u128);
        check_drawing(n_inputs, n_outputs, DRAWING_BYTES * n_places)?;
        Ok(Self { n_inputs, n_outputs, block_len, seed })
    }

    fn n_blocks(&self) -> usize {
        self.n_outputs.div_ceil(self.block_len)
    }

    /// Outputs, those of the last block that are not used among them.
    fn n_places(&self) -> usize {
        self.n_blocks() * self.block_len
    }

    /// The signs of a round: number j is a pure function of (seed, round, j).
    fn signs(&self, round: usize) -> Vec<f64> {
        let mut signs = vec![0.0; self.n_places()];
        Stream::new(self.seed, Purpose::Sign).lane(round).sign_into(0, &mut signs);
        signs
    }

    /// A round of signs, at the first also of the factors of the inputs.
    fn sign_round<T: Scalar>(&self, round: usize, input_factors: &[f64]) -> Round<T> {
        let factors = input_factors.iter().copied().chain(std::iter::repeat(1.0)).take(self.block_len);
        let factors: Vec<f64> = factors.collect();
        let signs = self.signs(round);
        let values = signs.iter().zip(factors.iter().cycle()).map(|(sign, factor)| T::from_f64(sign * factor));
        Round::new(self.block_len, Aligned::collect(values.collect::<Vec<_>>().into_iter()), None)
    }

    /// The places of the last block that are outputs, without replacement.
    fn chosen(&self, lane: usize) -> Vec<u32> {
        let mut places = vec![0; self.block_len];
        Stream::new(self.seed, Purpose::Permutation).lane(lane).permutation_into(&mut places);
        places.truncate(self.n_outputs - (self.n_blocks() - 1) * self.block_len);
        places
    }

    fn projection<T: Scalar>(self, rounds: Vec<Round<T>>, scale: impl Fn(usize) -> f64) -> HadamardProjection<T> {
        let scale = Aligned::collect((0..self.n_places()).map(|j| T::from_f64(scale(j))));
        let Self { n_inputs, n_outputs, block_len, .. } = self;
        HadamardProjection { n_inputs, n_outputs, block_len, rounds, scale, chosen: None }
    }
}

impl<T: Scalar> HadamardProjection<T> {
    /// Fastfood: columns that are each normal in law.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a size is outside its range, the frequencies are not radial, or there is not a length
    /// scale for each input; [`Error::Memory`] where memory is short.
    pub fn fastfood(seed: u64, n_inputs: usize, n_outputs: usize, spectrum: &Spectrum) -> Result<Self> {
        check_radial(spectrum)?;
        let shape = Shape::new(n_inputs, n_outputs, seed, frequency_block_len)?;
        let (block_len, n_places) = (shape.block_len, shape.n_places());
        let (mut normals, mut sources, mut lengths) = (vec![0.0; n_places], vec![0; n_places], Vec::new());
        let blocks = normals.chunks_exact_mut(block_len).zip(sources.chunks_exact_mut(block_len));
        for (block, (normals, sources)) in blocks.enumerate() {
            Stream::new(seed, Purpose::Projection).lane(block).normal_into(0, normals);
            Stream::new(seed, Purpose::Permutation).lane(block).permutation_into(sources);
            lengths.push(normals.iter().map(|g| g * g).sum::<f64>().sqrt());
        }
        let input_factors = spectrum.input_factors(n_inputs)?;
        let normals = Aligned::collect(normals.into_iter().map(T::from_f64));
        let rounds = vec![shape.sign_round(0, &input_factors), Round::new(block_len, normals, Some(sources))];
        let factors = spectrum.factors(seed, n_places);
        let stream = Stream::new(seed, Purpose::RowLength);
        let root = (block_len as f64).sqrt();
        Ok(shape.projection(rounds, |j| {
            factors[j] * stream.chi(block_len as f64, j as u64) / (root * lengths[j / block_len])
        }))
    }

    /// SORF: three rounds of signs.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a size is outside its range, the frequencies are not radial, or there is not a length
    /// scale for each input; [`Error::Memory`] where memory is short.
    pub fn sorf(seed: u64, n_inputs: usize, n_outputs: usize, spectrum: &Spectrum) -> Result<Self> {
        check_radial(spectrum)?;
        let shape = Shape::new(n_inputs, n_outputs, seed, frequency_block_len)?;
        let input_factors = spectrum.input_factors(n_inputs)?;
        let rounds = [&input_factors[..], &[], &[]].into_iter().enumerate();
        let rounds = rounds.map(|(round, factors)| shape.sign_round(round, factors)).collect();
        let (factors, block_len) = (spectrum.factors(seed, shape.n_places()), shape.block_len as f64);
        Ok(shape.projection(rounds, |j| factors[j] / block_len))
    }

    /// SRHT: coordinates of the signed transform, chosen without replacement.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a size is outside its range, [`Error::Memory`] where memory is short.
    pub fn srht(seed: u64, n_inputs: usize, n_outputs: usize) -> Result<Self> {
        let shape = Shape::new(n_inputs, n_outputs, seed, padded_len)?;
        let round = shape.sign_round(0, &[]);
        let factor = (1.0 / n_outputs as f64).sqrt();
        let places = shape.chosen(shape.n_blocks() - 1);
        Ok(Self { chosen: Some(places), ..shape.projection(vec![round], |_| factor) })
    }

    /// The factor number `number` of a product of transforms: `scale` times coordinates of the transform of signed inputs.
    /// Both parts of a complex factor have the same coordinates.
    ///
    /// # Errors
    /// As [`HadamardProjection::srht`].
    pub fn factor(
        seed: u64,
        number: usize,
        diagonal: Diagonal,
        n_inputs: usize,
        n_outputs: usize,
        scale: f64,
    ) -> Result<Self> {
        let shape = Shape::new(n_inputs, n_outputs, seed, padded_len)?;
        let (mut values, kinds) = (shape.signs(2 * number), shape.signs(2 * number + 1));
        if diagonal != Diagonal::Real {
            let other = if diagonal == Diagonal::RealPart { -1.0 } else { 1.0 };
            values.iter_mut().zip(kinds).filter(|(_, kind)| *kind == other).for_each(|(value, _)| *value = 0.0);
        }
        let values = Aligned::collect(values.into_iter().map(T::from_f64));
        let round = Round::new(shape.block_len, values, None);
        // Of a whole block all coordinates are taken, in their order.
        let chosen = (!n_outputs.is_multiple_of(shape.block_len)).then(|| shape.chosen(2 * number));
        Ok(Self { chosen, ..shape.projection(vec![round], |_| scale) })
    }

    /// With every output times `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.scale.iter_mut().for_each(|scale| *scale = *scale * T::from_f64(factor));
        self
    }

    /// Where the last block begins if only some of its places are outputs.
    fn first_chosen(&self) -> usize {
        if self.chosen.is_some() { self.scale.len() - self.block_len } else { self.n_outputs }
    }
}

fn check_radial(spectrum: &Spectrum) -> Result<()> {
    if spectrum.is_radial() {
        return Ok(());
    }
    Err(Error::parameter("kernel", "laplace", "a radial one for this projection: laplace needs fourier or quasi"))
}

impl<T: Scalar> Projection<T> for HadamardProjection<T> {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn tile(&self) -> usize {
        self.n_outputs
    }

    fn rows_at_once(&self) -> usize {
        (ROWS_BYTES / (self.n_outputs * size_of::<T>())).max(1)
    }

    /// The row, two blocks, and one to choose from.
    fn scratch_len(&self, _n_rows: usize) -> usize {
        4 * self.block_len + ALIGNMENT_SLACK
    }

    fn project_into(
        &self,
        rows: Rows<'_, T>,
        columns: Range<usize>,
        mut out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        check_rows(rows, self.n_inputs)?;
        let (isa, p) = (InstructionSet::best(), self.block_len);
        let (x, rest) = aligned_part(scratch, 4 * p).split_at_mut(p);
        let (work, whole) = rest.split_at_mut(2 * p);
        // The columns before `aligned` and from `chosen` on are taken from whole blocks.
        let chosen = self.first_chosen();
        let aligned = columns.start.next_multiple_of(p).min(columns.end);
        x.fill(T::zero());
        for i in 0..rows.n_rows() {
            let place = ArrayViewMut2::from_shape((1, self.n_inputs), &mut x[..self.n_inputs]).expect("one row");
            rows.slice(i, i + 1).write_dense(place);
            let mut out = out.row_mut(i);
            let out = out.as_slice_mut().expect("outputs of a row are neighbours");
            let mut block_of = |first: usize, whole: &mut [T]| {
                rounds_into(isa, x, &self.rounds, &self.scale, first, whole, work);
            };
            let head = aligned.min(chosen);
            if columns.start < head {
                block_of(columns.start / p * p, whole);
                let skipped = columns.start % p;
                out[..head - columns.start].copy_from_slice(&whole[skipped..skipped + head - columns.start]);
            }
            let tail = columns.end.min(chosen);
            if aligned < tail {
                block_of(aligned, &mut out[aligned - columns.start..tail - columns.start]);
            }
            if let Some(places) = &self.chosen
                && columns.end > chosen
            {
                block_of(chosen, whole);
                let first = columns.start.max(chosen);
                for (out, &place) in out[first - columns.start..].iter_mut().zip(&places[first - chosen..]) {
                    *out = whole[place as usize];
                }
            }
        }
        Ok(())
    }

    fn project_back_into(&self, weights: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) -> Result<()> {
        check_columns(weights.ncols(), self.n_outputs)?;
        let (isa, p) = (InstructionSet::best(), self.block_len);
        let (mut values, mut back) = (Aligned::zeros(p), Aligned::zeros(p));
        out.fill(T::zero());
        for (weights, mut out) in weights.outer_iter().zip(out.outer_iter_mut()) {
            for block in 0..self.scale.len() / p {
                let first = block * p;
                values.fill(T::zero());
                match &self.chosen {
                    Some(places) if first == self.first_chosen() => {
                        for (&place, &weight) in places.iter().zip(weights.iter().skip(first)) {
                            values[place as usize] = weight;
                        }
                    }
                    _ => values.iter_mut().zip(weights.iter().skip(first)).for_each(|(to, &weight)| *to = weight),
                }
                rounds_back_into(isa, &self.rounds, &self.scale, block, &mut values, &mut back);
                out.iter_mut().zip(&*back).for_each(|(out, &value)| *out = *out + value);
            }
        }
        Ok(())
    }
}
