//! Borrowed compressed sparse rows (CSR), and their product with a dense matrix.

use std::fmt;

use ndarray::{ArrayView2, ArrayViewMut2};

use crate::dispatch::Op;
use crate::matmul::K_PANEL;
use crate::{InstructionSet, Scalar, prefetch};

/// An index type of CSR data: `i32` or `i64`, as SciPy and Arrow store them.
pub trait Index: Copy + Send + Sync + 'static {
    /// The index as a position; negative ones become huge, so that a range check refuses them.
    fn position(self) -> usize;
}

impl Index for i32 {
    #[inline(always)]
    fn position(self) -> usize {
        self as usize
    }
}

impl Index for i64 {
    #[inline(always)]
    fn position(self) -> usize {
        self as usize
    }
}

/// Borrowed indices of either width.
#[derive(Clone, Copy, Debug)]
pub enum IndexSlice<'a> {
    /// 32-bit
    I32(&'a [i32]),
    /// 64-bit
    I64(&'a [i64]),
}

impl<'a> IndexSlice<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        match self {
            Self::I32(x) => x.len(),
            Self::I64(x) => x.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Index number `i`.
    #[inline(always)]
    pub fn at(self, i: usize) -> usize {
        match self {
            Self::I32(x) => x[i].position(),
            Self::I64(x) => x[i].position(),
        }
    }

    fn slice(self, start: usize, end: usize) -> Self {
        match self {
            Self::I32(x) => Self::I32(&x[start..end]),
            Self::I64(x) => Self::I64(&x[start..end]),
        }
    }
}

impl<'a> From<&'a [i32]> for IndexSlice<'a> {
    fn from(x: &'a [i32]) -> Self {
        Self::I32(x)
    }
}

impl<'a> From<&'a [i64]> for IndexSlice<'a> {
    fn from(x: &'a [i64]) -> Self {
        Self::I64(x)
    }
}

/// Borrowed sparse rows, checked once when made: row `i` has the values `values[indptr[i]..indptr[i + 1]]` in the
/// columns `indices[..]`, which ascend strictly.
#[derive(Clone, Copy, Debug)]
pub struct CsrView<'a, T> {
    n_columns: usize,
    indptr: IndexSlice<'a>,
    indices: IndexSlice<'a>,
    values: &'a [T],
}

/// Why arrays are no CSR matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CsrError {
    /// `indptr` is empty, does not start at 0, descends, or does not end at the number of values.
    Pointers,
    /// `indices` and `values` differ in length.
    Lengths {
        /// length of `indices`
        indices: usize,
        /// length of `values`
        values: usize,
    },
    /// An index is negative or at least the number of columns.
    OutOfRange {
        /// the row
        row: usize,
    },
    /// The indices of a row do not ascend strictly.
    Unsorted {
        /// the row
        row: usize,
    },
}

impl fmt::Display for CsrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pointers => f.write_str("indptr must start at 0, never descend, and end at the number of values"),
            Self::Lengths { indices, values } => write!(f, "{indices} indices for {values} values"),
            Self::OutOfRange { row } => write!(f, "row {row} has an index outside its columns"),
            Self::Unsorted { row } => write!(f, "row {row} has indices that do not ascend; sort them, sum duplicates"),
        }
    }
}

impl std::error::Error for CsrError {}

impl<'a, T: Copy> CsrView<'a, T> {
    /// Checks the arrays and borrows them. Cost: one pass over the indices.
    ///
    /// # Errors
    /// [`CsrError`] when the arrays are no CSR matrix of `n_columns` columns with ascending indices.
    pub fn new(
        n_columns: usize,
        indptr: impl Into<IndexSlice<'a>>,
        indices: impl Into<IndexSlice<'a>>,
        values: &'a [T],
    ) -> Result<Self, CsrError> {
        let (indptr, indices) = (indptr.into(), indices.into());
        if indices.len() != values.len() {
            return Err(CsrError::Lengths { indices: indices.len(), values: values.len() });
        }
        if indptr.is_empty() || indptr.at(0) != 0 || indptr.at(indptr.len() - 1) != values.len() {
            return Err(CsrError::Pointers);
        }
        for row in 0..indptr.len() - 1 {
            let (start, end) = (indptr.at(row), indptr.at(row + 1));
            if start > end || end > values.len() {
                return Err(CsrError::Pointers);
            }
            for at in start..end {
                if indices.at(at) >= n_columns {
                    return Err(CsrError::OutOfRange { row });
                }
                if at > start && indices.at(at - 1) >= indices.at(at) {
                    return Err(CsrError::Unsorted { row });
                }
            }
        }
        Ok(Self { n_columns, indptr, indices, values })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of stored values.
    pub fn nnz(&self) -> usize {
        self.indptr.at(self.n_rows()) - self.indptr.at(0)
    }

    /// The stored values of row `i` with their columns, ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, T)> + use<'a, T> {
        let (start, end) = (self.indptr.at(i), self.indptr.at(i + 1));
        let (indices, values) = (self.indices, self.values);
        (start..end).map(move |at| (indices.at(at), values[at]))
    }

    /// The columns of the stored values, all rows after another.
    pub fn indices(&self) -> IndexSlice<'a> {
        self.indices
    }

    /// The stored values, all rows after another.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// The positions in `indices` and `values` of row `i`.
    #[inline(always)]
    pub fn row_range(&self, i: usize) -> std::ops::Range<usize> {
        self.indptr.at(i)..self.indptr.at(i + 1)
    }

    /// Row `i` is asked for soon: fetches where its values are.
    #[inline(always)]
    pub fn prefetch_range(&self, i: usize) {
        match self.indptr {
            IndexSlice::I32(indptr) => prefetch(&indptr[i..i + 2]),
            IndexSlice::I64(indptr) => prefetch(&indptr[i..i + 2]),
        }
    }

    /// Rows `start..end`, borrowed from the same arrays.
    pub fn rows(&self, start: usize, end: usize) -> Self {
        Self { indptr: self.indptr.slice(start, end + 1), ..*self }
    }
}

/// Sparse rows that own their arrays, built row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrMatrix<T> {
    n_columns: usize,
    indptr: Vec<i64>,
    indices: Vec<i32>,
    values: Vec<T>,
}

impl<T: Copy> Default for CsrMatrix<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T: Copy> CsrMatrix<T> {
    /// No rows yet.
    pub fn new(n_columns: usize) -> Self {
        Self { n_columns, indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// Adds a value to the row being built; columns beyond `n_columns` widen the matrix.
    ///
    /// # Errors
    /// [`CsrError`] when `column` does not ascend within the row or does not fit in 31 bits; nothing is added then.
    pub fn push(&mut self, column: usize, value: T) -> Result<(), CsrError> {
        let row = self.n_rows();
        let start = self.indptr[row] as usize;
        let index = i32::try_from(column).map_err(|_| CsrError::OutOfRange { row })?;
        if self.indices[start..].last().is_some_and(|&last| last >= index) {
            return Err(CsrError::Unsorted { row });
        }
        self.n_columns = self.n_columns.max(column + 1);
        self.indices.push(index);
        self.values.push(value);
        Ok(())
    }

    /// Ends the row being built.
    pub fn finish_row(&mut self) {
        self.indptr.push(self.values.len() as i64);
    }

    /// Adds a copy of row `i` of `other`, which ends the row being built.
    ///
    /// # Panics
    /// When a column does not fit in 31 bits (only a view of 64-bit indices has one), or does not come after those of
    /// the row being built.
    pub fn push_row_of(&mut self, other: CsrView<'_, T>, i: usize) {
        self.widen(other.n_columns);
        for (column, value) in other.row(i) {
            self.push(column, value).expect("columns that ascend and fit in 31 bits");
        }
        self.finish_row();
    }

    /// Makes room for so many more rows and values.
    pub fn reserve(&mut self, n_rows: usize, nnz: usize) {
        self.indptr.reserve(n_rows);
        self.indices.reserve(nnz);
        self.values.reserve(nnz);
    }

    /// Adds copies of all rows of `other`, as [`CsrMatrix::push_row_of`] does of one.
    ///
    /// # Panics
    /// As [`CsrMatrix::push_row_of`].
    pub fn push_rows_of(&mut self, other: CsrView<'_, T>) {
        let (IndexSlice::I32(indices), true) = (other.indices, self.is_between_rows()) else {
            return (0..other.n_rows()).for_each(|i| self.push_row_of(other, i));
        };
        let (start, end) = (other.indptr.at(0), other.indptr.at(other.n_rows()));
        self.widen(other.n_columns);
        let before = self.values.len();
        self.indices.extend_from_slice(&indices[start..end]);
        self.values.extend_from_slice(&other.values[start..end]);
        self.indptr.extend((1..=other.n_rows()).map(|i| (before + other.indptr.at(i) - start) as i64));
    }

    /// Adds rows of a matrix of another type; columns that they store widen the matrix.
    ///
    /// # Panics
    /// When a row is being built, or there are fewer rows.
    pub fn push_converted<S: Copy>(
        &mut self,
        other: &CsrMatrix<S>,
        rows: std::ops::Range<usize>,
        convert: impl Fn(S) -> T,
    ) {
        assert!(self.is_between_rows(), "a row is being built");
        let (start, end) = (other.indptr[rows.start] as usize, other.indptr[rows.end] as usize);
        let last = other.indices[start..end].iter().max();
        self.widen(last.map_or(0, |&last| last as usize + 1));
        let before = self.values.len();
        self.indices.extend_from_slice(&other.indices[start..end]);
        self.values.extend(other.values[start..end].iter().map(|&value| convert(value)));
        self.indptr.extend(other.indptr[rows.start + 1..=rows.end].iter().map(|&at| at - start as i64 + before as i64));
    }

    fn is_between_rows(&self) -> bool {
        self.indptr.last().is_some_and(|&end| end as usize == self.values.len())
    }

    /// The same rows with at least `n_columns` columns.
    pub fn widen(&mut self, n_columns: usize) {
        self.n_columns = self.n_columns.max(n_columns);
    }

    /// The stored values, for changes that keep the zeros.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The columns of the stored values beside the values, for changes that keep the zeros.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.indices.iter().map(|&column| column as usize).zip(&mut self.values)
    }

    /// The positions in `entries_mut` and `values_mut` of row `i`.
    pub fn row_range(&self, i: usize) -> std::ops::Range<usize> {
        self.indptr[i] as usize..self.indptr[i + 1] as usize
    }

    /// Number of finished rows.
    pub fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of stored values.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Forgets the rows, keeps the columns and the memory.
    pub fn clear(&mut self) {
        self.indptr.truncate(1);
        self.indices.clear();
        self.values.clear();
    }

    /// The rows, borrowed; they were checked as they were built.
    pub fn view(&self) -> CsrView<'_, T> {
        CsrView {
            n_columns: self.n_columns,
            indptr: IndexSlice::I64(&self.indptr),
            indices: IndexSlice::I32(&self.indices),
            values: &self.values,
        }
    }

    /// The same rows in another type.
    pub fn map<U: Copy>(&self, convert: impl Fn(T) -> U) -> CsrMatrix<U> {
        CsrMatrix {
            n_columns: self.n_columns,
            indptr: self.indptr.clone(),
            indices: self.indices.clone(),
            values: self.values.iter().map(|&x| convert(x)).collect(),
        }
    }
}

/// C = A·B for sparse A, on the calling thread: bit for bit what [`crate::matmul_into`] gives for the same A stored
/// densely, if B is finite (but for the sign of a zero that underflow left). B and C are stored row by row. Cost:
/// nnz · n fused multiply-adds.
///
/// # Panics
/// When the shapes do not fit or B or C is not contiguous along rows: a fault of the calling code.
pub fn csr_matmul_into<T: Scalar>(
    isa: InstructionSet,
    a: CsrView<'_, T>,
    b: ArrayView2<'_, T>,
    mut c: ArrayViewMut2<'_, T>,
) {
    assert!(
        b.nrows() == a.n_columns && c.dim() == (a.n_rows(), b.ncols()),
        "sparse matmul of {:?} by {:?} into {:?}",
        (a.n_rows(), a.n_columns),
        b.dim(),
        c.dim()
    );
    for (i, mut c) in c.outer_iter_mut().enumerate() {
        let (start, end) = (a.indptr.at(i), a.indptr.at(i + 1));
        let values = &a.values[start..end];
        let c = c.as_slice_mut().expect("sparse matmul needs row-major C");
        match a.indices {
            IndexSlice::I32(x) => isa.run(RowProduct { indices: &x[start..end], values, b, c }),
            IndexSlice::I64(x) => isa.run(RowProduct { indices: &x[start..end], values, b, c }),
        }
    }
}

/// One row of the product, in chunks of columns whose sums stay in registers.
struct RowProduct<'a, T, I> {
    indices: &'a [I],
    values: &'a [T],
    b: ArrayView2<'a, T>,
    c: &'a mut [T],
}

/// Columns a pass: 8 registers of AVX-512 for f32, so that the sums of a row never leave them.
const CHUNK: usize = 128;
const NARROW: usize = 16;

impl<T: Scalar, I: Index> Op for RowProduct<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let n = self.c.len();
        let (wide, narrow) = (n - n % CHUNK, n - n % NARROW);
        for column in (0..wide).step_by(CHUNK) {
            self.chunk::<CHUNK>(column);
        }
        for column in (wide..narrow).step_by(NARROW) {
            self.chunk::<NARROW>(column);
        }
        for column in narrow..n {
            self.chunk::<1>(column);
        }
    }
}

impl<T: Scalar, I: Index> RowProduct<'_, T, I> {
    #[inline(always)]
    fn chunk<const W: usize>(&mut self, column: usize) {
        let mut total = [T::zero(); W];
        let mut at = 0;
        while at < self.indices.len() {
            let panel_end = (self.indices[at].position() / K_PANEL + 1) * K_PANEL;
            let mut sum = [T::zero(); W];
            while at < self.indices.len() && self.indices[at].position() < panel_end {
                let value = self.values[at];
                let row = self.b.row(self.indices[at].position());
                let row = row.to_slice().expect("sparse matmul needs row-major B");
                let row: &[T; W] = row[column..column + W].try_into().expect("W columns");
                for (sum, &b) in sum.iter_mut().zip(row) {
                    *sum = value.mul_add(b, *sum);
                }
                at += 1;
            }
            for (total, sum) in total.iter_mut().zip(sum) {
                *total = *total + sum;
            }
        }
        self.c[column..column + W].copy_from_slice(&total);
    }
}
