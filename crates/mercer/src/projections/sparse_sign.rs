//! V with few nonzero entries, all of one size: additions in place of products.

use std::ops::Range;
use std::sync::OnceLock;

use mercer_simd::ops::signed_sums::{LANES, SignTable};
use mercer_simd::{ALIGNMENT_SLACK, InstructionSet, Scalar, aligned_part};
use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::{DenseProjection, Projection, check_columns, check_drawing, check_rows};
use crate::dataset::Rows;
use crate::random::{Law, Purpose, Stream};
use crate::{Error, Result};

/// V with independent entries +√s and −√s, each with probability 1/(2s), else 0, times a common factor.
///
/// E⟨xV, yV⟩ = n_outputs · factor² · ⟨x, y⟩ for every s ≥ 1. s = 1 and 3 are Achlioptas' laws ("Database-friendly
/// random projections", JCSS 2003), s = √n_inputs is Li's ("Very sparse random projections", KDD 2006).
///
/// Stored as the positions of each column: memory and cost of a row O(n_inputs · n_outputs / s). Rows are worked on
/// 64 at a time, turned so that a position is 64 consecutive values: no gathers. Rows of few values, and few rows, go by their
/// values: each is added to the outputs that have it. Both are the same sums in the same order.
///
/// [`sparse_signs`] takes a dense matrix where s is so small that it is faster.
#[derive(Clone, Debug)]
pub struct SparseSignProjection<T> {
    size: T,
    /// The inputs of each output, ascending.
    table: SignTable,
    /// The outputs of each input: made when the first rows need it.
    by_input: OnceLock<SignTable>,
}

/// Outputs turned back together.
const OUTPUTS: usize = 64;
/// Rows that go by their values have fewer of them, for each input, than this among 64.
const FEW_VALUES: usize = 4;
/// Rows of more inputs go by their values: turned, 64 of them would take 64 MB.
const WIDE: usize = 1 << 18;
/// One entry in so many, or fewer, is worth a loop of its own. Measured for 784 inputs, 2,000 outputs and batches of 256 rows in f32 (AMD
/// EPYC, one thread, a shared machine), a row took 100 to 140 µs as a matrix product, whatever s, and by sparsity
///
/// | s | 1 | 1.5 | 2 | 3 | 5 | 10 | 30 | 200 |
/// |---|---|---|---|---|---|---|---|---|
/// | µs with AVX-512 | 120 | 82 | 70 | 52 | 28 | 13 | 5.9 | 2.5 |
/// | µs with AVX2 | 135 | 125 | 91 | 66 | 36 | 17 | 7.3 | 2.7 |
const SPARSE_FROM: f64 = 2.0;

/// A projection of this law in the form that is faster: as [`DenseProjection`] where entries are many.
///
/// # Errors
/// As [`SparseSignProjection::new`].
pub fn sparse_signs<T: Scalar>(
    seed: u64,
    n_inputs: usize,
    columns: Range<usize>,
    s: f64,
    factor: f64,
) -> Result<Box<dyn Projection<T>>> {
    check_s(s)?;
    Ok(if s >= SPARSE_FROM {
        Box::new(SparseSignProjection::of_columns(seed, n_inputs, columns, s, factor)?)
    } else {
        Box::new(DenseProjection::of_law(Law::SparseSign { s }, seed, n_inputs, columns, factor)?)
    })
}

/// Numbers that [`sparse_signs`] keeps, about.
pub(crate) fn n_sparse_signs(s: f64, n_inputs: u64, n_outputs: u64) -> u64 {
    if s >= SPARSE_FROM {
        (2.0 * n_inputs as f64 * n_outputs as f64 / s) as u64
    } else {
        n_inputs.saturating_mul(n_outputs)
    }
}

/// Refuses a law that is none.
pub(crate) fn check_s(s: f64) -> Result<()> {
    if s >= 1.0 && s.is_finite() { Ok(()) } else { Err(Error::parameter("s", s, "finite and at least 1")) }
}

impl<T: Scalar> SparseSignProjection<T> {
    /// Column j is a pure function of (seed, j): fewer outputs are a prefix of more.
    ///
    /// # Errors
    /// [`Error::Parameter`] when s is below 1 or not finite, without inputs or outputs, or when n_inputs does not fit
    /// in 31 bits; [`Error::Memory`] where memory is short.
    pub fn new(seed: u64, n_inputs: usize, n_outputs: usize, s: f64, factor: f64) -> Result<Self> {
        Self::of_columns(seed, n_inputs, 0..n_outputs, s, factor)
    }

    /// These columns of such a matrix.
    ///
    /// # Errors
    /// As [`SparseSignProjection::new`].
    pub fn of_columns(seed: u64, n_inputs: usize, columns: Range<usize>, s: f64, factor: f64) -> Result<Self> {
        let n_outputs = columns.len();
        check_s(s)?;
        if n_inputs >= 1 << 31 {
            return Err(Error::parameter("n_inputs", n_inputs, "below 2^31"));
        }
        // About d·n/s entries, as many again while their vector grows, and once more by input.
        let bytes = 4.0 * size_of::<u32>() as f64 * n_inputs as f64 * n_outputs as f64 / s;
        let ends = 8 * (n_inputs as u128 + n_outputs as u128);
        check_drawing(n_inputs, n_outputs, (bytes as u128).saturating_add(ends))?;
        let stream = Stream::new(seed, Purpose::Projection);
        let mut table = SignTable::new(n_inputs);
        columns.for_each(|column| table.push(stream.lane(column).sparse_sign_entries(s, n_inputs as u32)));
        Ok(Self { size: T::from_f64(s.sqrt() * factor), table, by_input: OnceLock::new() })
    }

    /// Up to `LANES` rows by whole vectors.
    fn by_lanes(&self, rows: Rows<'_, T>, columns: Range<usize>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) {
        let scratch = aligned_part(scratch, (self.n_inputs() + OUTPUTS) * LANES);
        let (turned, outputs) = scratch.split_at_mut(self.n_inputs() * LANES);
        let ((turned, _), (outputs, _)) = (turned.as_chunks_mut::<LANES>(), outputs.as_chunks_mut::<LANES>());
        turn(rows, turned);
        for start in (0..columns.len()).step_by(OUTPUTS) {
            let end = columns.len().min(start + OUTPUTS);
            let outputs = &mut outputs[..end - start];
            let range = columns.start + start..columns.start + end;
            self.table.sums_into(InstructionSet::best(), self.size, turned, range, outputs);
            for (lane, mut row) in out.outer_iter_mut().enumerate() {
                let row = &mut row.as_slice_mut().expect("the outputs of a row are neighbours")[start..end];
                row.iter_mut().zip(&*outputs).for_each(|(to, lanes)| *to = lanes[lane]);
            }
        }
    }

    /// Rows by their values, each added to the outputs that have its input.
    fn by_values(&self, rows: Rows<'_, T>, columns: &Range<usize>, mut out: ArrayViewMut2<'_, T>) {
        let by_input = self.by_input.get_or_init(|| self.table.turned());
        out.fill(T::zero());
        for (i, mut out) in out.outer_iter_mut().enumerate() {
            let out = out.as_slice_mut().expect("the outputs of a row are neighbours");
            let mut add = |input: usize, value: T| by_input.scatter(input, value, columns.clone(), out);
            match rows {
                Rows::Dense(x) => x.row(i).iter().enumerate().for_each(|(input, &value)| add(input, value)),
                Rows::Sparse(x) => x.row(i).for_each(|(input, value)| add(input, value)),
            }
            out.iter_mut().for_each(|sum| *sum = *sum * self.size);
        }
    }
}

/// Up to `LANES` rows side by side: `turned[input][lane]`; zeros where there is no row.
fn turn<T: Scalar>(rows: Rows<'_, T>, turned: &mut [[T; LANES]]) {
    turned.fill([T::zero(); LANES]);
    for lane in 0..rows.n_rows() {
        match rows {
            Rows::Dense(x) => turned.iter_mut().zip(x.row(lane)).for_each(|(turned, &value)| turned[lane] = value),
            Rows::Sparse(x) => x.row(lane).for_each(|(input, value)| turned[input][lane] = value),
        }
    }
}

impl<T: Scalar> Projection<T> for SparseSignProjection<T> {
    fn n_inputs(&self) -> usize {
        self.table.n_values()
    }

    fn n_outputs(&self) -> usize {
        self.table.n_outputs()
    }

    fn tile(&self) -> usize {
        self.n_outputs()
    }

    fn rows_at_once(&self) -> usize {
        usize::MAX
    }

    /// Rows turned, and a few of their outputs.
    fn scratch_len(&self, _n_rows: usize) -> usize {
        if self.n_inputs() > WIDE { 0 } else { (self.n_inputs() + OUTPUTS) * LANES + ALIGNMENT_SLACK }
    }

    fn project_into(
        &self,
        rows: Rows<'_, T>,
        columns: Range<usize>,
        mut out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        check_rows(rows, self.n_inputs())?;
        for start in (0..rows.n_rows()).step_by(LANES) {
            let end = rows.n_rows().min(start + LANES);
            let (rows, out) = (rows.slice(start, end), out.slice_mut(s![start..end, ..]));
            if self.n_inputs() > WIDE || n_stored(rows) < FEW_VALUES * self.n_inputs() {
                self.by_values(rows, &columns, out);
            } else {
                self.by_lanes(rows, columns.clone(), out, scratch);
            }
        }
        Ok(())
    }

    fn project_back_into(&self, weights: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) -> Result<()> {
        check_columns(weights.ncols(), self.n_outputs())?;
        out.fill(T::zero());
        for (weights, mut out) in weights.outer_iter().zip(out.outer_iter_mut()) {
            for (j, &weight) in weights.iter().enumerate() {
                for (input, is_positive) in self.table.entries(j) {
                    let value = if is_positive { weight } else { -weight };
                    out[input] = out[input] + value * self.size;
                }
            }
        }
        Ok(())
    }
}

/// Values of all rows.
fn n_stored<T: Scalar>(rows: Rows<'_, T>) -> usize {
    match rows {
        Rows::Dense(x) => x.len(),
        Rows::Sparse(x) => x.nnz(),
    }
}
