//! Dense matrix products, the same bits for any batch split, thread count and x86 instruction set.
//!
//! Every element of C is computed as the contract says and no other way:
//!
//! ```text
//! for each panel of K_PANEL indices, in order:      acc = 0
//!     for each index k of the panel, in order:      acc = fma(a[i,k], b[k,j], acc)
//!     c[i,j] = c[i,j] + acc   (= acc for the first panel of Update::Set, − acc for Update::Subtract)
//! ```
//!
//! The `gemm` crate does the work (level with OpenBLAS: see `bench-record/`). Left to itself it picks
//! its own panels, and other loops for one row, one column or fewer than three indices; this door takes those
//! choices away from it: panels are cut here, and small shapes padded with zeros, which change no bit (but the sign
//! of a zero: a panel of one or two indices whose sum underflows to −0 gives +0, for every shape alike).

use gemm::Parallelism;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, s};

use crate::Scalar;

/// Length of a panel of the inner dimension: sums restart at its multiples.
pub const K_PANEL: usize = 512;

/// `gemm` uses unfused arithmetic below this inner length, and dot-product loops below two rows or columns.
const MIN_K: usize = 3;
const MIN_ROWS_COLUMNS: usize = 2;

/// What a product does to its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// C = A·B
    Set,
    /// C = C + A·B
    Add,
    /// C = C − A·B
    Subtract,
}

/// C = A·B, C + A·B or C − A·B, on the calling thread.
///
/// A (m × k) may have any strides; B (k × n) and C (m × n) are stored row by row (unit stride along a row, rows may
/// be padded), or B's bits would depend on the shape.
///
/// # Panics
/// When the shapes do not fit, or B or C is not stored row by row: a fault of the calling code, never of data.
pub fn matmul_into<T: Scalar>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>, update: Update) {
    let ((m, k), n) = (a.dim(), b.ncols());
    assert!(b.nrows() == k && c.dim() == (m, n), "matmul of {:?} by {:?} into {:?}", a.dim(), b.dim(), c.dim());
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if update == Update::Set {
            c.fill(T::zero());
        }
        return;
    }
    assert!(n < 2 || (b.strides()[1] == 1 && c.strides()[1] == 1), "matmul needs row-major B and C");
    if m < MIN_ROWS_COLUMNS || n < MIN_ROWS_COLUMNS {
        let mut padded = Array2::zeros((m.max(MIN_ROWS_COLUMNS), n.max(MIN_ROWS_COLUMNS)));
        padded.slice_mut(s![..m, ..n]).assign(&c);
        let b =
            if n < MIN_ROWS_COLUMNS { CowArray::from(zero_padded(b, k, padded.ncols())) } else { CowArray::from(b) };
        let a =
            if m < MIN_ROWS_COLUMNS { CowArray::from(zero_padded(a, padded.nrows(), k)) } else { CowArray::from(a) };
        multiply(a.view(), b.view(), padded.view_mut(), update);
        c.assign(&padded.slice(s![..m, ..n]));
    } else {
        multiply(a, b, c, update);
    }
}

fn multiply<T: Scalar>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>, update: Update) {
    for (panel, (a, b)) in a.axis_chunks_iter(Axis(1), K_PANEL).zip(b.axis_chunks_iter(Axis(0), K_PANEL)).enumerate() {
        let update = if panel > 0 && update == Update::Set { Update::Add } else { update };
        if a.ncols() < MIN_K {
            let (a, b) = (zero_padded(a, a.nrows(), MIN_K), zero_padded(b, MIN_K, b.ncols()));
            multiply_panel(a.view(), b.view(), c.view_mut(), update);
        } else {
            multiply_panel(a, b, c.view_mut(), update);
        }
    }
}

fn zero_padded<T: Scalar>(x: ArrayView2<'_, T>, rows: usize, columns: usize) -> Array2<T> {
    let mut padded = Array2::zeros((rows, columns));
    padded.slice_mut(s![..x.nrows(), ..x.ncols()]).assign(&x);
    padded
}

fn multiply_panel<T: Scalar>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>, update: Update) {
    let ((m, k), n) = (a.dim(), b.ncols());
    let beta = if update == Update::Subtract { -T::one() } else { T::one() };
    // SAFETY: the views are live for the whole call, their shapes were checked to fit by `matmul_into`, and C, being
    // a mutable view, overlaps neither A nor B nor itself.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            c.strides()[1],
            c.strides()[0],
            update != Update::Set,
            a.as_ptr(),
            a.strides()[1],
            a.strides()[0],
            b.as_ptr(),
            b.strides()[1],
            b.strides()[0],
            T::one(),
            beta,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
