//! Rows against a few vectors as long as they: the scores of a linear model, and the gradient of what they cost.
//!
//! A product of matrices packs its operands into blocks; with few vectors that takes longer than the product, and the
//! rows come from memory twice. These ops pack nothing: a caller that takes some rows at a time, few enough to stay in
//! cache, reads them once for both.
//!
//! The order of the sums is fixed. Scores: value d of a row goes to sum d mod 16, those behind the last whole sixteen to
//! the last sums, and these are added by halves.
//! Gradients: every sum takes the rows one after the other, each in one fused operation, whatever rows come together.

use ndarray::{ArrayView2, ArrayViewMut2, s};

use crate::dispatch::VectorOp;
use crate::vector::Vector;
use crate::{InstructionSet, Scalar};

/// Partial sums of a score.
const LANES: usize = 16;
/// Vectors that are taken together at most.
const MOST: usize = 6;
/// Values of rows and vectors that are taken together: those of a dozen stay in the nearest cache.
const BLOCK: usize = 512;

/// As even shares of `k` vectors as can be, at most [`MOST`] each.
#[inline(always)]
fn share(k: usize) -> usize {
    k.div_ceil(k.div_ceil(MOST).max(1))
}

/// `scores[i, j] = Σ rows[i, d]·weights[j, d]` over d.
///
/// # Panics
/// When the shapes do not fit, or values of a row do not lie side by side.
pub fn score_rows<T: Scalar>(
    isa: InstructionSet,
    rows: ArrayView2<'_, T>,
    weights: ArrayView2<'_, T>,
    mut scores: ArrayViewMut2<'_, T>,
) {
    let ((n, d), k) = (rows.dim(), weights.nrows());
    assert!(weights.ncols() == d && scores.dim() == (n, k), "rows {:?}, weights {:?}", rows.dim(), weights.dim());
    if n == 0 || d == 0 || k == 0 {
        return scores.fill(T::zero());
    }
    assert!(d < 2 || (rows.strides()[1] == 1 && weights.strides()[1] == 1), "values side by side");
    isa.run_vectors(ScoreRows { rows, weights, scores });
}

struct ScoreRows<'a, T> {
    rows: ArrayView2<'a, T>,
    weights: ArrayView2<'a, T>,
    scores: ArrayViewMut2<'a, T>,
}

impl<T: Scalar> VectorOp<T> for ScoreRows<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(mut self) {
        // As many rows together as the registers hold sums for.
        match LANES / V::LANES {
            1 => self.all::<V, 1, 4>(),
            2 => self.all::<V, 2, 2>(),
            _ => self.all::<V, 4, 1>(),
        }
    }
}

impl<T: Scalar> ScoreRows<'_, T> {
    #[inline(always)]
    fn all<V: Vector<Value = T>, const P: usize, const R: usize>(&mut self) {
        let (n, k) = self.scores.dim();
        let d = self.rows.ncols();
        let whole = d - d % LANES;
        let mut partial = vec![T::zero(); n * k * LANES];
        for start in (0..whole).step_by(BLOCK) {
            let (x, w) = (self.rows.as_ptr().wrapping_add(start), self.weights.as_ptr().wrapping_add(start));
            let (x, w) = ((x, self.rows.strides()[0]), (w, self.weights.strides()[0]));
            // SAFETY: n rows and k rows of weights have these values, side by side; there are n·k·LANES partial sums.
            unsafe { add_block::<V, P, R>(x, w, BLOCK.min(whole - start), (n, k), partial.as_mut_ptr()) };
        }
        if whole < d {
            // The last sixteen values of a row, some of them for the second time: then their weights are zero.
            let short = if d < LANES { padded(self.rows, 0) } else { Vec::new() };
            let x = (self.rows.as_ptr().wrapping_add(d.saturating_sub(LANES)), self.rows.strides()[0]);
            let x = if d < LANES { (short.as_ptr(), LANES as isize) } else { x };
            let w = padded(self.weights, whole);
            let w = (w.as_ptr(), LANES as isize);
            // SAFETY: n and k rows of LANES values.
            unsafe { add_block::<V, P, R>(x, w, LANES, (n, k), partial.as_mut_ptr()) };
        }
        for (score, lanes) in self.scores.iter_mut().zip(partial.as_chunks::<LANES>().0) {
            let eight: [T; 8] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 8]);
            let four: [T; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
            *score = (four[0] + four[2]) + (four[1] + four[3]);
        }
    }
}

/// The values of each row from `start` on, with zeros before.
fn padded<T: Scalar>(rows: ArrayView2<'_, T>, start: usize) -> Vec<T> {
    let mut out = vec![T::zero(); rows.nrows() * LANES];
    for (out, row) in out.chunks_exact_mut(LANES).zip(rows.outer_iter()) {
        let row = row.to_slice().expect("values side by side");
        out[LANES + start - row.len()..].copy_from_slice(&row[start..]);
    }
    out
}

/// Adds the products of n rows with k rows of weights, of `d` values, to their partial sums. Pointers come with the
/// strides of rows.
///
/// # Safety
/// All of it can be read, and n·k·LANES sums written; d is a multiple of [`LANES`], which is that of P vectors.
#[inline(always)]
unsafe fn add_block<V: Vector, const P: usize, const R: usize>(
    x: (*const V::Value, isize),
    w: (*const V::Value, isize),
    d: usize,
    (n, k): (usize, usize),
    sums: *mut V::Value,
) {
    let share = share(k);
    let mut j = 0;
    while j < k {
        let (w, n_vectors) = ((w.0.wrapping_offset(j as isize * w.1), w.1), share.min(k - j));
        let mut i = 0;
        while i < n {
            let x = (x.0.wrapping_offset(i as isize * x.1), x.1);
            let sums = (sums.wrapping_add((i * k + j) * LANES), k * LANES);
            let whole = i + R <= n;
            // SAFETY: the caller's promise, for some of the rows.
            unsafe {
                match (n_vectors, whole) {
                    (1, true) => add_products::<V, P, R, 1>(x, w, d, sums),
                    (2, true) => add_products::<V, P, R, 2>(x, w, d, sums),
                    (3, true) => add_products::<V, P, R, 3>(x, w, d, sums),
                    (4, true) => add_products::<V, P, R, 4>(x, w, d, sums),
                    (5, true) => add_products::<V, P, R, 5>(x, w, d, sums),
                    (_, true) => add_products::<V, P, R, MOST>(x, w, d, sums),
                    (1, false) => add_products::<V, P, 1, 1>(x, w, d, sums),
                    (2, false) => add_products::<V, P, 1, 2>(x, w, d, sums),
                    (3, false) => add_products::<V, P, 1, 3>(x, w, d, sums),
                    (4, false) => add_products::<V, P, 1, 4>(x, w, d, sums),
                    (5, false) => add_products::<V, P, 1, 5>(x, w, d, sums),
                    (_, false) => add_products::<V, P, 1, MOST>(x, w, d, sums),
                }
            }
            i += if whole { R } else { 1 };
        }
        j += n_vectors;
    }
}

/// Adds the products of R rows with J rows of weights, of `d` values, to their partial sums. Pointers come with the
/// strides of rows.
///
/// # Safety
/// All of it can be read, and R rows of J·LANES sums written; d is a multiple of [`LANES`], which is that of P vectors.
#[inline(always)]
unsafe fn add_products<V: Vector, const P: usize, const R: usize, const J: usize>(
    (x, x_stride): (*const V::Value, isize),
    (w, w_stride): (*const V::Value, isize),
    d: usize,
    (out, out_stride): (*mut V::Value, usize),
) {
    let zero = V::splat(V::Value::default());
    let mut sums = [[[zero; J]; P]; R];
    for (r, sums) in sums.iter_mut().enumerate() {
        for (p, sums) in sums.iter_mut().enumerate() {
            for (j, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *sum = unsafe { V::load(out.add(r * out_stride + j * LANES + p * V::LANES)) };
            }
        }
    }
    let mut at = 0;
    while at < d {
        for p in 0..P {
            let mut weights = [zero; J];
            for (j, weight) in weights.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *weight = unsafe { V::load(w.offset(j as isize * w_stride).add(at + p * V::LANES)) };
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                let x = unsafe { V::load(x.offset(r as isize * x_stride).add(at + p * V::LANES)) };
                for (sum, weight) in sums[p].iter_mut().zip(weights) {
                    *sum = x.mul_add(weight, *sum);
                }
            }
        }
        at += LANES;
    }
    for (r, sums) in sums.iter().enumerate() {
        for (p, sums) in sums.iter().enumerate() {
            for (j, sum) in sums.iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { sum.store(out.add(r * out_stride + j * LANES + p * V::LANES)) };
            }
        }
    }
}

/// `sums[j, d] += Σᵢ factors[i, j]·rows[i, d]`, for each (j, d) in the order of the rows.
///
/// # Panics
/// When the shapes do not fit, or values of a row do not lie side by side.
pub fn add_cross<T: Scalar>(
    isa: InstructionSet,
    sums: ArrayViewMut2<'_, T>,
    factors: ArrayView2<'_, T>,
    rows: ArrayView2<'_, T>,
) {
    let (n, d) = rows.dim();
    assert!(factors.nrows() == n && sums.dim() == (factors.ncols(), d), "sums {:?}, rows {:?}", sums.dim(), rows.dim());
    if sums.is_empty() || n == 0 {
        return;
    }
    assert!(d < 2 || (rows.strides()[1] == 1 && sums.strides()[1] == 1), "values side by side");
    assert!(factors.ncols() < 2 || factors.strides()[1] == 1, "factors side by side");
    isa.run_vectors(AddCross { sums, factors, rows });
}

struct AddCross<'a, T> {
    sums: ArrayViewMut2<'a, T>,
    factors: ArrayView2<'a, T>,
    rows: ArrayView2<'a, T>,
}

impl<T: Scalar> VectorOp<T> for AddCross<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(mut self) {
        let k = self.factors.ncols();
        // Sums and values fit 16 registers.
        match share(k) {
            1 => self.all::<V, 1, 8>(),
            2 => self.all::<V, 2, 6>(),
            3 => self.all::<V, 3, 4>(),
            4 => self.all::<V, 4, 3>(),
            5 => self.all::<V, 5, 2>(),
            _ => self.all::<V, MOST, 2>(),
        }
    }
}

impl<T: Scalar> AddCross<'_, T> {
    /// `J` factors at a time, the last fewer.
    #[inline(always)]
    fn all<V: Vector<Value = T>, const J: usize, const M: usize>(&mut self) {
        let d = self.rows.ncols();
        let whole = d - d % (M * V::LANES);
        for at in (0..whole).step_by(M * V::LANES) {
            self.strip::<V, J, M>(at);
        }
        let vectors = d - d % V::LANES;
        for at in (whole..vectors).step_by(V::LANES) {
            self.strip::<V, J, 1>(at);
        }
        if vectors < d && d >= V::LANES {
            self.last::<V, J>(vectors);
        } else {
            self.singly(vectors);
        }
    }

    /// The sums of M vectors of values from `at` on.
    #[inline(always)]
    fn strip<V: Vector<Value = T>, const J: usize, const M: usize>(&mut self, at: usize) {
        let (n, k) = self.factors.dim();
        let (x, x_stride) = (self.rows.as_ptr(), self.rows.strides()[0]);
        let (f, f_stride) = (self.factors.as_ptr(), self.factors.strides()[0]);
        let (s, s_stride) = (self.sums.as_mut_ptr(), self.sums.strides()[0]);
        assert!(at + M * V::LANES <= self.rows.ncols());
        let mut first = 0;
        while first < k {
            // SAFETY: M vectors of values from `at` on are within the n rows and the rows of the sums from `first` on, of
            // which there are J, or fewer by those that are taken singly; so are the factors of each row.
            unsafe {
                let sums = (s.offset(first as isize * s_stride).add(at), s_stride);
                let (factors, values) = ((f.add(first), f_stride), (x.add(at), x_stride));
                if first + J <= k {
                    strips::<V, J, M>(sums, factors, values, n);
                    first += J;
                } else {
                    strips::<V, 1, M>(sums, factors, values, n);
                    first += 1;
                }
            }
        }
    }

    /// The sums from `start` on, fewer than a vector, by one that begins before; what was summed already is put back.
    #[inline(always)]
    fn last<V: Vector<Value = T>, const J: usize>(&mut self, start: usize) {
        let at = self.rows.ncols() - V::LANES;
        let summed = self.sums.slice(s![.., at..start]).to_owned();
        self.strip::<V, J, 1>(at);
        self.sums.slice_mut(s![.., at..start]).assign(&summed);
    }

    fn singly(&mut self, start: usize) {
        for at in start..self.rows.ncols() {
            for j in 0..self.factors.ncols() {
                let terms = self.factors.column(j).into_iter().zip(self.rows.column(at));
                self.sums[[j, at]] = terms.fold(self.sums[[j, at]], |sum, (&f, &x)| f.mul_add(x, sum));
            }
        }
    }
}

/// Adds `n` rows of M vectors, times J factors each, to J rows of M vectors. Pointers come with the strides of rows.
///
/// # Safety
/// All of it can be read, and the sums written.
#[inline(always)]
unsafe fn strips<V: Vector, const J: usize, const M: usize>(
    (s, s_stride): (*mut V::Value, isize),
    (f, f_stride): (*const V::Value, isize),
    (x, x_stride): (*const V::Value, isize),
    n: usize,
) {
    let zero = V::splat(V::Value::default());
    let mut sums = [[zero; M]; J];
    for (j, sums) in sums.iter_mut().enumerate() {
        for (v, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *sum = unsafe { V::load(s.offset(j as isize * s_stride).add(v * V::LANES)) };
        }
    }
    for i in 0..n as isize {
        let mut values = [zero; M];
        for (v, value) in values.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *value = unsafe { V::load(x.offset(i * x_stride).add(v * V::LANES)) };
        }
        for (j, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let factor = V::splat(unsafe { *f.offset(i * f_stride).add(j) });
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = value.mul_add(factor, *sum);
            }
        }
    }
    for (j, sums) in sums.iter().enumerate() {
        for (v, sum) in sums.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { sum.store(s.offset(j as isize * s_stride).add(v * V::LANES)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    fn values<T: Scalar>(rows: usize, columns: usize, seed: usize) -> Array2<T> {
        let value = |i: usize, j: usize| ((i * 7919 + j * 104_729 + seed * 31 + i * j) % 2003) as f64 / 1001.0 - 1.0;
        Array2::from_shape_fn((rows, columns), |(i, j)| T::from_f64(value(i, j) / 3.0))
    }

    fn scores_by_the_contract<T: Scalar>(rows: ArrayView2<'_, T>, weights: &Array2<T>) -> Array2<T> {
        Array2::from_shape_fn((rows.nrows(), weights.nrows()), |(i, j)| {
            let mut lanes = [T::zero(); LANES];
            for d in 0..rows.ncols() {
                let whole = rows.ncols() - rows.ncols() % LANES;
                let lane = if d < whole { d % LANES } else { LANES + d - rows.ncols() };
                lanes[lane] = rows[[i, d]].mul_add(weights[[j, d]], lanes[lane]);
            }
            for half in [8, 4, 2, 1] {
                (0..half).for_each(|lane| lanes[lane] = lanes[lane] + lanes[lane + half]);
            }
            lanes[0]
        })
    }

    const SHAPES: [(usize, usize, usize); 15] = [
        (20, 22, 1),
        (11, 54, 7),
        (1, 1, 1),
        (3, 15, 2),
        (4, 16, 3),
        (9, 17, 4),
        (6, 300, 5),
        (7, 129, 7),
        (5, 64, 13),
        (9, BLOCK, 6),
        (6, BLOCK + 1, 11),
        (5, 2 * BLOCK + 76, 10),
        (0, 5, 2),
        (3, 0, 2),
        (3, 5, 0),
    ];

    fn check<T: Scalar>() {
        for (n, d, k) in SHAPES {
            // Rows that do not follow each other at once.
            let wide = values::<T>(n, d + 3, 1);
            let rows = wide.slice(s![.., 1..d + 1]);
            let (weights, factors) = (values::<T>(k, d, 2), values::<T>(n, k, 3));
            let expected = scores_by_the_contract(rows, &weights);
            let start = values::<T>(k, d, 4);
            let mut sums = start.clone();
            for i in 0..n {
                for ((j, d), sum) in sums.indexed_iter_mut() {
                    *sum = factors[[i, j]].mul_add(rows[[i, d]], *sum);
                }
            }
            for isa in InstructionSet::available() {
                let mut scores = Array2::zeros((n, k));
                score_rows(isa, rows.view(), weights.view(), scores.view_mut());
                assert_eq!(scores, expected, "{isa:?} ({n}, {d}, {k})");
                let mut got = start.clone();
                let cut = n / 3;
                add_cross(isa, got.view_mut(), factors.slice(s![..cut, ..]), rows.slice(s![..cut, ..]));
                add_cross(isa, got.view_mut(), factors.slice(s![cut.., ..]), rows.slice(s![cut.., ..]));
                assert_eq!(got, sums, "{isa:?} ({n}, {d}, {k})");
            }
        }
    }

    #[test]
    fn every_instruction_set_keeps_the_contract() {
        check::<f32>();
        check::<f64>();
    }
}
