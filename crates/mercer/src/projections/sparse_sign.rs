//! V with few nonzero entries, all of one size: additions in place of products.

use std::ops::Range;

use mercer_simd::Scalar;
use ndarray::{ArrayView2, ArrayViewMut2};

use super::{Projection, check_columns, check_drawing, check_rows};
use crate::dataset::Rows;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// V with independent entries +√s and −√s, each with probability 1/(2s), else 0, times a common factor.
///
/// E⟨xV, yV⟩ = n_outputs · factor² · ⟨x, y⟩ for every s ≥ 1. s = 1 and 3 are Achlioptas' laws ("Database-friendly
/// random projections", JCSS 2003), s = √n_inputs is Li's ("Very sparse random projections", KDD 2006).
///
/// Stored as the positions of each column: memory and cost of a row O(n_inputs · n_outputs / s). Rows are worked on
/// 16 at a time, turned so that a position is 16 consecutive values: no gathers. Sparse rows are written out first.
/// Worth it from s = 3 on; for s = 1 a dense matrix is faster.
#[derive(Clone, Debug)]
pub struct SparseSignProjection<T> {
    n_inputs: usize,
    size: T,
    /// End of each column in `entries`.
    ends: Vec<usize>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    input: u32,
    positive: bool,
}

/// Rows worked on together.
const LANES: usize = 16;

impl<T: Scalar> SparseSignProjection<T> {
    /// Column j is a pure function of (seed, j): fewer outputs are a prefix of more.
    ///
    /// # Errors
    /// [`Error::Parameter`] when s is below 1 or not finite, without inputs or outputs, or when n_inputs does not fit
    /// in 32 bits; [`Error::Memory`] where memory is short.
    pub fn new(seed: u64, n_inputs: usize, n_outputs: usize, s: f64, factor: f64) -> Result<Self> {
        Self::of_columns(seed, n_inputs, 0..n_outputs, s, factor)
    }

    /// These columns of such a matrix.
    ///
    /// # Errors
    /// As [`SparseSignProjection::new`].
    pub fn of_columns(seed: u64, n_inputs: usize, columns: Range<usize>, s: f64, factor: f64) -> Result<Self> {
        let n_outputs = columns.len();
        if !(s >= 1.0 && s.is_finite()) {
            return Err(Error::parameter("s", s, "finite and at least 1"));
        }
        let rows = u32::try_from(n_inputs).map_err(|_| Error::parameter("n_inputs", n_inputs, "below 2^32"))?;
        // About d·n/s entries, and as many again while their vector grows.
        let bytes = 3.0 * size_of::<Entry>() as f64 * n_inputs as f64 * n_outputs as f64 / s;
        check_drawing(n_inputs, n_outputs, (bytes as u128).saturating_add(8 * n_outputs as u128))?;
        let stream = Stream::new(seed, Purpose::Projection);
        let (mut ends, mut entries) = (Vec::with_capacity(n_outputs), Vec::new());
        for column in columns {
            let signs = stream.lane(column).sparse_sign_entries(s, rows);
            entries.extend(signs.into_iter().map(|(input, positive)| Entry { input, positive }));
            ends.push(entries.len());
        }
        Ok(Self { n_inputs, size: T::from_f64(s.sqrt() * factor), ends, entries })
    }

    fn column(&self, j: usize) -> &[Entry] {
        let start = if j == 0 { 0 } else { self.ends[j - 1] };
        &self.entries[start..self.ends[j]]
    }

    /// Up to `LANES` rows side by side: `turned[input][lane]`.
    fn turn(rows: Rows<'_, T>, turned: &mut [[T; LANES]]) {
        turned.fill([T::zero(); LANES]);
        match rows {
            Rows::Dense(x) => x.indexed_iter().for_each(|((lane, input), &value)| turned[input][lane] = value),
            Rows::Sparse(x) => {
                let entries =
                    (0..x.n_rows()).flat_map(|lane| x.row(lane).map(move |(input, value)| (lane, input, value)));
                entries.for_each(|(lane, input, value)| turned[input][lane] = value);
            }
        }
    }
}

impl<T: Scalar> Projection<T> for SparseSignProjection<T> {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_outputs(&self) -> usize {
        self.ends.len()
    }

    fn tile(&self) -> usize {
        self.ends.len()
    }

    fn rows_at_once(&self) -> usize {
        usize::MAX
    }

    fn scratch_len(&self, _n_rows: usize) -> usize {
        self.n_inputs * LANES
    }

    fn project_into(
        &self,
        rows: Rows<'_, T>,
        columns: Range<usize>,
        mut out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        check_rows(rows, self.n_inputs)?;
        let (turned, _) = scratch[..self.n_inputs * LANES].as_chunks_mut::<LANES>();
        for start in (0..rows.n_rows()).step_by(LANES) {
            let end = rows.n_rows().min(start + LANES);
            Self::turn(rows.slice(start, end), turned);
            for (at, j) in columns.clone().enumerate() {
                let mut sum = [T::zero(); LANES];
                for entry in self.column(j) {
                    let sign = if entry.positive { T::one() } else { -T::one() };
                    let values = &turned[entry.input as usize];
                    sum.iter_mut().zip(values).for_each(|(sum, &value)| *sum = *sum + sign * value);
                }
                for (row, sum) in (start..end).zip(sum) {
                    out[[row, at]] = sum * self.size;
                }
            }
        }
        Ok(())
    }

    fn project_back_into(&self, weights: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) -> Result<()> {
        check_columns(weights.ncols(), self.n_outputs())?;
        out.fill(T::zero());
        for (weights, mut out) in weights.outer_iter().zip(out.outer_iter_mut()) {
            for (j, &weight) in weights.iter().enumerate() {
                for entry in self.column(j) {
                    let value = if entry.positive { weight } else { -weight };
                    out[entry.input as usize] = out[entry.input as usize] + value * self.size;
                }
            }
        }
        Ok(())
    }
}
