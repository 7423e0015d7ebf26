//! Borrowed rows, dense or sparse.

use mercer_simd::{CsrView, InstructionSet, Scalar, Update, csr_matmul_into, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, CowArray, Ix2, s};

/// A batch of rows as maps, kernels and learners see it.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a, T> {
    /// Row-major.
    Dense(ArrayView2<'a, T>),
    /// Compressed sparse rows.
    Sparse(CsrView<'a, T>),
}

impl<'a, T: Scalar> Rows<'a, T> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Sparse(x) => x.n_rows(),
        }
    }

    /// Number of inputs: the length of a row.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Sparse(x) => x.n_columns(),
        }
    }

    /// The same rows, borrowed for a shorter time.
    pub fn view(&self) -> Rows<'_, T> {
        match self {
            Self::Dense(x) => Rows::Dense(x.view()),
            Self::Sparse(x) => Rows::Sparse(*x),
        }
    }

    /// Rows `start..end`.
    pub fn slice(&self, start: usize, end: usize) -> Self {
        match self {
            Self::Dense(x) => Self::Dense(x.slice_move(s![start..end, ..])),
            Self::Sparse(x) => Self::Sparse(x.rows(start, end)),
        }
    }

    /// The rows in dense form: borrowed where they are.
    pub fn to_dense(&self) -> CowArray<'a, T, Ix2> {
        match self {
            Self::Dense(x) => CowArray::from(*x),
            Self::Sparse(x) => {
                let mut dense = Array2::zeros((x.n_rows(), x.n_columns()));
                self.write_dense(dense.view_mut());
                CowArray::from(dense)
            }
        }
    }

    /// out = rows·b on the calling thread, the same bits for dense and sparse rows; b and out are row-major.
    ///
    /// # Panics
    /// When the shapes do not fit: a fault of the calling code.
    pub fn product_into(&self, b: ArrayView2<'_, T>, out: ArrayViewMut2<'_, T>) {
        match self {
            Self::Dense(x) => matmul_into(*x, b, out, Update::Set),
            Self::Sparse(x) => csr_matmul_into(InstructionSet::best(), *x, b, out),
        }
    }

    /// Writes the rows out densely.
    ///
    /// # Panics
    /// When `out` has another shape.
    pub fn write_dense(&self, mut out: ArrayViewMut2<'_, T>) {
        match self {
            Self::Dense(x) => out.assign(x),
            Self::Sparse(x) => {
                out.fill(T::zero());
                for i in 0..x.n_rows() {
                    for (j, value) in x.row(i) {
                        out[[i, j]] = value;
                    }
                }
            }
        }
    }
}

impl<'a, T> From<ArrayView2<'a, T>> for Rows<'a, T> {
    fn from(x: ArrayView2<'a, T>) -> Self {
        Self::Dense(x)
    }
}

impl<'a, T> From<CsrView<'a, T>> for Rows<'a, T> {
    fn from(x: CsrView<'a, T>) -> Self {
        Self::Sparse(x)
    }
}
