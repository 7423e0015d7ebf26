//! What learners that go row by row do with a row, dense or sparse.

use mercer_simd::ops::dot::{add_scaled_widened, dot_widened, sparse_add_scaled_widened, sparse_dot_widened};
use mercer_simd::{CsrView, Index, InstructionSet, Scalar, prefetch};
use ndarray::{ArrayView2, Axis};

/// Rows against weights in f64.
pub(super) trait RowAccess: Copy + Sync {
    /// The length of a row.
    fn n_inputs(self) -> usize;
    /// w·xᵢ
    fn dot(self, i: usize, w: &[f64]) -> f64;
    /// w += a·xᵢ
    fn add_scaled(self, i: usize, a: f64, w: &mut [f64]);
    /// ‖xᵢ‖², summed in the order of the inputs
    fn squared_norm(self, i: usize) -> f64;
    /// Row `i` is read soon.
    fn prefetch(self, i: usize);
    /// Where row `i` is will be asked soon.
    fn prefetch_place(self, i: usize);
}

#[derive(Clone, Copy)]
pub(super) struct DenseRows<'a, T> {
    rows: ArrayView2<'a, T>,
    isa: InstructionSet,
}

impl<'a, T: Scalar> DenseRows<'a, T> {
    pub(super) fn new(rows: ArrayView2<'a, T>) -> Self {
        Self { rows, isa: InstructionSet::best() }
    }

    #[inline(always)]
    fn row(self, i: usize) -> &'a [T] {
        self.rows.index_axis_move(Axis(0), i).to_slice().expect("row-major rows")
    }
}

impl<T: Scalar> RowAccess for DenseRows<'_, T> {
    fn n_inputs(self) -> usize {
        self.rows.ncols()
    }

    #[inline(always)]
    fn dot(self, i: usize, w: &[f64]) -> f64 {
        dot_widened(self.isa, w, self.row(i))
    }

    #[inline(always)]
    fn add_scaled(self, i: usize, a: f64, w: &mut [f64]) {
        add_scaled_widened(self.isa, w, a, self.row(i));
    }

    fn squared_norm(self, i: usize) -> f64 {
        squared_norm(self.row(i))
    }

    #[inline(always)]
    fn prefetch(self, i: usize) {
        prefetch(self.row(i));
    }

    #[inline(always)]
    fn prefetch_place(self, _: usize) {}
}

#[derive(Clone, Copy)]
pub(super) struct SparseRows<'a, T, I> {
    rows: CsrView<'a, T>,
    indices: &'a [I],
}

impl<'a, T: Scalar, I: Index> SparseRows<'a, T, I> {
    /// Of the rows and their indices, whose type is known here.
    pub(super) fn new(rows: CsrView<'a, T>, indices: &'a [I]) -> Self {
        Self { rows, indices }
    }

    /// The columns and values of row `i`.
    #[inline(always)]
    pub(super) fn row(self, i: usize) -> (&'a [I], &'a [T]) {
        let range = self.rows.row_range(i);
        (&self.indices[range.clone()], &self.rows.values()[range])
    }
}

impl<T: Scalar, I: Index> RowAccess for SparseRows<'_, T, I> {
    fn n_inputs(self) -> usize {
        self.rows.n_columns()
    }

    #[inline(always)]
    fn dot(self, i: usize, w: &[f64]) -> f64 {
        let (indices, values) = self.row(i);
        sparse_dot_widened(w, indices, values)
    }

    #[inline(always)]
    fn add_scaled(self, i: usize, a: f64, w: &mut [f64]) {
        let (indices, values) = self.row(i);
        sparse_add_scaled_widened(w, a, indices, values);
    }

    fn squared_norm(self, i: usize) -> f64 {
        squared_norm(self.row(i).1)
    }

    #[inline(always)]
    fn prefetch(self, i: usize) {
        let (indices, values) = self.row(i);
        prefetch(indices);
        prefetch(values);
    }

    #[inline(always)]
    fn prefetch_place(self, i: usize) {
        self.rows.prefetch_range(i);
    }
}

fn squared_norm<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|&x| Scalar::to_f64(x).powi(2)).sum()
}
