//! Distances of rows and many others in the float type, ‖x−y‖₁ and ‖x−y‖², from their differences: no digits are lost where rows are near each other and
//! far from the origin.
//!
//! The others lie in panels of `LANES`, input by input; the sums of `ROWS` rows with a panel stay in registers while the inputs go by,
//! and all rows meet a panel while it is in the cache. Sums of `CHUNK` inputs are added up: for d inputs the relative error is at most
//! (CHUNK + d/CHUNK + 3)·ε/2, where one sum would have d·ε/2. The order of the sums is fixed: the same bits on every instruction set, and
//! for a row whatever is beside it.

use ndarray::{ArrayView2, ArrayViewMut2};
use num_traits::Zero;

use crate::dispatch::VectorOp;
use crate::vector::Vector;
use crate::{InstructionSet, Scalar, huge_pages};

/// Others of a panel: a register of AVX-512 in f32.
const LANES: usize = 16;
/// Rows that meet a panel together.
const ROWS: usize = 4;
/// Inputs summed before they are added to the rest.
const CHUNK: usize = 32;

/// Rows whose distances from others are asked for.
pub struct Panels<T> {
    /// panel by panel, `LANES` values of each input; those beyond the last row are 0
    values: Vec<T>,
    n_rows: usize,
    n_inputs: usize,
}

impl<T: Scalar> Panels<T> {
    /// Of rows.
    pub fn new(rows: ArrayView2<'_, T>) -> Self {
        let (n_rows, n_inputs) = rows.dim();
        let mut values = huge_pages::zeros_vec(n_rows.div_ceil(LANES) * LANES * n_inputs);
        for (i, row) in rows.outer_iter().enumerate() {
            let first = i / LANES * LANES * n_inputs + i % LANES;
            row.iter().enumerate().for_each(|(j, &value)| values[first + j * LANES] = value);
        }
        Self { values, n_rows, n_inputs }
    }

    /// `out[i, l] = Σⱼ |rows[i, j] − these[l, j]|`, on the calling thread.
    ///
    /// # Panics
    /// When the rows have another number of inputs, `out` is not rows × these, or values of a row do not lie side by side.
    pub fn absolute_into(&self, isa: InstructionSet, rows: ArrayView2<'_, T>, out: ArrayViewMut2<'_, T>) {
        self.distances_into::<Absolute>(isa, rows, out);
    }

    /// `out[i, l] = Σⱼ (rows[i, j] − these[l, j])²`, on the calling thread.
    ///
    /// # Panics
    /// As [`Panels::absolute_into`].
    pub fn squared_into(&self, isa: InstructionSet, rows: ArrayView2<'_, T>, out: ArrayViewMut2<'_, T>) {
        self.distances_into::<Squared>(isa, rows, out);
    }

    fn distances_into<S: Summand>(&self, isa: InstructionSet, rows: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
        assert_eq!(rows.ncols(), self.n_inputs, "as many inputs");
        assert_eq!(out.dim(), (rows.nrows(), self.n_rows), "a sum for each pair");
        if self.n_inputs == 0 {
            return out.fill(T::zero());
        }
        let lie_side_by_side =
            (self.n_inputs < 2 || rows.strides()[1] == 1) && (self.n_rows < 2 || out.strides()[1] == 1);
        assert!(lie_side_by_side, "values side by side");
        isa.run_vectors(Distances { rows, panels: self, out, summand: std::marker::PhantomData::<S> });
    }
}

/// What is summed over the inputs.
trait Summand {
    fn add<V: Vector>(sum: V, x: V, y: V) -> V;
}

struct Absolute;

impl Summand for Absolute {
    #[inline(always)]
    fn add<V: Vector>(sum: V, x: V, y: V) -> V {
        sum.add(x.distance(y))
    }
}

struct Squared;

impl Summand for Squared {
    #[inline(always)]
    fn add<V: Vector>(sum: V, x: V, y: V) -> V {
        let difference = x.sub(y);
        difference.mul_add(difference, sum)
    }
}

struct Distances<'a, T, S> {
    rows: ArrayView2<'a, T>,
    panels: &'a Panels<T>,
    out: ArrayViewMut2<'a, T>,
    summand: std::marker::PhantomData<S>,
}

impl<T: Scalar, S: Summand> VectorOp<T> for Distances<'_, T, S> {
    #[inline(always)]
    fn run<V: Vector<Value = T>>(mut self) {
        let (n, d) = self.rows.dim();
        let (x, x_stride) = (self.rows.as_ptr(), self.rows.strides()[0]);
        let (out, out_stride) = (self.out.as_mut_ptr(), self.out.strides()[0]);
        for (at, panel) in self.panels.values.chunks_exact(LANES * d).enumerate() {
            let n_others = LANES.min(self.panels.n_rows - at * LANES);
            let mut i = 0;
            while i < n {
                let x = (x.wrapping_offset(i as isize * x_stride), x_stride);
                let out = (out.wrapping_offset(i as isize * out_stride).wrapping_add(at * LANES), out_stride);
                let n_rows = if i + ROWS <= n { ROWS } else { 1 };
                // SAFETY: so many rows of d values from row i on, and of sums with the others of this panel.
                unsafe {
                    match n_rows {
                        ROWS => meet::<V, S, ROWS>(x, panel, n_others, out),
                        _ => meet::<V, S, 1>(x, panel, n_others, out),
                    }
                }
                i += n_rows;
            }
        }
    }
}

/// Writes the sums of N rows with the first others of a panel. Pointers come with the strides of rows.
///
/// # Safety
/// N rows of as many values as the panel has inputs can be read, and of `n_others` values written.
#[inline(always)]
unsafe fn meet<V: Vector, S: Summand, const N: usize>(
    x: (*const V::Value, isize),
    panel: &[V::Value],
    n_others: usize,
    out: (*mut V::Value, isize),
) {
    let n_inputs = panel.len() / LANES;
    let rows: [*const V::Value; N] = std::array::from_fn(|r| x.0.wrapping_offset(r as isize * x.1));
    let mut all = [[V::Value::zero(); LANES]; N];
    for lane in (0..LANES).step_by(V::LANES) {
        // SAFETY: a vector is a part of the `LANES` that the panel has for each input.
        let sums = unsafe { sums::<V, S, N>(rows, panel.as_ptr().add(lane), n_inputs) };
        for (all, sums) in all.iter_mut().zip(sums) {
            // SAFETY: it has so many from here on.
            unsafe { sums.store(all.as_mut_ptr().add(lane)) };
        }
    }
    for (r, all) in all.iter().enumerate() {
        let out = out.0.wrapping_offset(r as isize * out.1);
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), out, n_others) };
    }
}

/// The sums of rows with the others of one vector.
///
/// # Safety
/// Rows have `n_inputs` values, and for each there is a vector at `panel`, `LANES` values apart.
#[inline(always)]
unsafe fn sums<V: Vector, S: Summand, const N: usize>(
    rows: [*const V::Value; N],
    panel: *const V::Value,
    n_inputs: usize,
) -> [V; N] {
    let zero = V::splat(V::Value::zero());
    let mut all = [zero; N];
    for start in (0..n_inputs).step_by(CHUNK) {
        let mut sums = [zero; N];
        for j in start..n_inputs.min(start + CHUNK) {
            // SAFETY: the caller's promise.
            let others = unsafe { V::load(panel.add(j * LANES)) };
            for (sum, row) in sums.iter_mut().zip(rows) {
                // SAFETY: the caller's promise.
                *sum = S::add(*sum, V::splat(unsafe { *row.add(j) }), others);
            }
        }
        all.iter_mut().zip(sums).for_each(|(all, sum)| *all = all.add(sum));
    }
    all
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis, s};

    use super::*;

    fn number(i: usize) -> f64 {
        ((i * 7919) % 1000) as f64 / 137.0 - 3.0
    }

    fn check<T: Scalar>(epsilon: f64) {
        for (n, d, m) in [(1, 1, 1), (3, 31, 15), (4, 32, 16), (9, 33, 17), (6, 100, 40), (2, 784, 3), (2, 0, 3)] {
            let x = Array2::from_shape_fn((n, d), |(i, j)| T::from_f64(number(i * d + j)));
            let y = Array2::from_shape_fn((m, d), |(l, j)| T::from_f64(number(l * d + j + 17)));
            let panels = Panels::new(y.view());
            let mut first: Option<Array2<T>> = None;
            for isa in InstructionSet::available() {
                // One above the other, in an array wider than they.
                let mut out = Array2::ones((2 * n, m + 1));
                let (mut absolute, mut squared) = out.slice_mut(s![.., ..m]).split_at(Axis(0), n);
                panels.absolute_into(isa, x.view(), absolute.view_mut());
                panels.squared_into(isa, x.view(), squared.view_mut());
                for ((i, l), &sum) in out.slice(s![.., ..m]).indexed_iter() {
                    let power = if i < n { 1 } else { 2 };
                    let term = |j: usize| (Scalar::to_f64(x[(i % n, j)]) - Scalar::to_f64(y[(l, j)])).abs().powi(power);
                    let exact: f64 = (0..d).map(term).sum();
                    // That of one sum in f64 beside it.
                    let bound = ((CHUNK + d / CHUNK + 4) as f64 * epsilon + d as f64 * f64::EPSILON) / 2.0 * exact;
                    assert!((Scalar::to_f64(sum) - exact).abs() <= bound, "{n} x {d} x {m}: {sum} for {exact}");
                }
                assert!(out.column(m).iter().all(|&x| x == T::one()), "nothing beside them is written");
                let mut alone = Array2::zeros((1, m));
                panels.absolute_into(isa, x.slice(s![n - 1.., ..]), alone.view_mut());
                assert_eq!(alone.row(0), out.slice(s![n - 1, ..m]), "a row alone");
                assert_eq!(first.get_or_insert_with(|| out.clone()), &out, "the same bits by {isa:?}");
            }
        }
    }

    #[test]
    fn close_to_the_sum_in_f64_on_every_instruction_set() {
        check::<f32>(f64::from(f32::EPSILON));
        check::<f64>(f64::EPSILON);
    }

    #[test]
    #[should_panic(expected = "as many inputs")]
    fn shapes_must_fit() {
        let panels = Panels::new(Array2::<f32>::zeros((3, 2)).view());
        panels.absolute_into(InstructionSet::best(), Array2::zeros((1, 3)).view(), Array2::zeros((1, 3)).view_mut());
    }
}
