//! Cholesky factorisation with pivots: what a symmetric matrix is made of, its largest part first.
//!
//! PᵀAP = RᵀR + rest, R upper triangular with `rank` rows: in each step the largest diagonal entry of what is left is the next
//! pivot, until none is above the tolerance. By panels of [`PANEL`] rows: within a panel row by row, behind it one matrix product,
//! as LAPACK's `pstrf` goes. Threads share rows of the products, so any number of them gives the same bits.
//!
//! Cost: n·r² multiply-adds; memory: in place.
//!
//! Reference: Hammarling, Higham and Lucas, "LAPACK-style codes for pivoted Cholesky and QR updating", 2007.

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

/// Rows that are made one by one.
const PANEL: usize = 64;
/// Rows and columns of products that a thread takes.
const TILE: usize = 256;

/// The factor R of a symmetric matrix, and the order of its rows.
#[derive(Debug)]
pub(crate) struct PivotedCholesky {
    /// n × n; R is the upper triangle of the first `rank` rows
    factor: Array2<f64>,
    order: Vec<usize>,
    rank: usize,
}

impl PivotedCholesky {
    /// Factorises the upper triangle of `a` until nothing above `tolerance` times its largest diagonal entry is left, or `most`
    /// pivots were taken.
    pub(crate) fn new(mut a: Array2<f64>, tolerance: f64, most: usize) -> Self {
        let n = a.nrows();
        let mut order: Vec<usize> = (0..n).collect();
        let mut rest: Vec<f64> = a.diag().to_vec();
        let least = tolerance * rest.iter().copied().fold(0.0, f64::max);
        let most = most.min(n);
        let mut rank = 0;
        'panels: for start in (0..most).step_by(PANEL) {
            let end = most.min(start + PANEL);
            for k in start..end {
                let pivot = largest(&rest, k);
                // False for NaN too.
                let goes_on = rest[pivot] > least;
                if !goes_on {
                    break 'panels;
                }
                swap(&mut a, k, pivot);
                order.swap(k, pivot);
                rest.swap(k, pivot);
                make_row(a.view_mut(), start, k, rest[k].sqrt());
                for j in k + 1..n {
                    rest[j] -= a[[k, j]] * a[[k, j]];
                }
                rank = k + 1;
            }
            subtract_panel(&mut a, start..end);
            for j in end..n {
                rest[j] = a[[j, j]];
            }
        }
        Self { factor: a, order, rank }
    }

    /// Pivots that were taken.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// Which rows of the matrix they are.
    pub(crate) fn pivots(&self) -> &[usize] {
        &self.order[..self.rank]
    }

    /// The part of the trace that they explain: ‖R‖².
    pub(crate) fn captured(&self) -> f64 {
        let row =
            |(i, row): (usize, ndarray::ArrayView1<'_, f64>)| row.slice(s![i..]).iter().map(|x| x * x).sum::<f64>();
        self.factor.slice(s![..self.rank, ..]).outer_iter().enumerate().map(row).sum()
    }

    /// R of the pivots, rank × rank; what is below the diagonal is of no meaning.
    fn of_pivots(&self) -> ArrayView2<'_, f64> {
        self.factor.slice(s![..self.rank, ..self.rank])
    }

    /// R⁻¹ of the pivots, rank × rank and upper triangular.
    pub(crate) fn inverse(&self) -> Array2<f64> {
        let (n, r) = (self.rank, self.of_pivots());
        let mut inverse = Array2::zeros((n, n));
        for start in (0..n).step_by(TILE) {
            let end = n.min(start + TILE);
            let diagonal = inverse_of_tile(r.slice(s![start..end, start..end]));
            // Above the tile: −R⁻¹ of the rows above · R of this column · R⁻¹ of the tile.
            let (done, place) = (inverse.slice(s![..start, ..start]).to_owned(), s![..start, start..end]);
            let column = r.slice(place).to_owned();
            let mut above = inverse.slice_mut(place);
            above.axis_chunks_iter_mut(Axis(0), TILE).collect::<Vec<_>>().into_par_iter().enumerate().for_each(
                |(at, mut out)| {
                    let (first, last) = (at * TILE, at * TILE + out.nrows());
                    let mut product = Array2::zeros(out.dim());
                    let (left, right) = (done.slice(s![first..last, first..]), column.slice(s![first.., ..]));
                    matmul_into(left, right, product.view_mut(), Update::Subtract);
                    let mut behind = Array2::zeros(product.dim());
                    matmul_into(product.view(), diagonal.view(), behind.view_mut(), Update::Set);
                    out.assign(&behind);
                },
            );
            inverse.slice_mut(s![start..end, start..end]).assign(&diagonal);
        }
        inverse
    }
}

/// The first of the largest from `first` on.
fn largest(values: &[f64], first: usize) -> usize {
    let mut best = first;
    for (at, value) in values.iter().enumerate().skip(first + 1) {
        if *value > values[best] {
            best = at;
        }
    }
    best
}

/// Exchanges rows and columns k ≤ p of the upper triangle, and of the rows of R above.
fn swap(a: &mut Array2<f64>, k: usize, p: usize) {
    if k == p {
        return;
    }
    let n = a.nrows();
    for i in 0..k {
        a.swap([i, k], [i, p]);
    }
    a.swap([k, k], [p, p]);
    for i in k + 1..p {
        a.swap([k, i], [i, p]);
    }
    for j in p + 1..n {
        a.swap([k, j], [p, j]);
    }
}

/// Row k of R from what the panels before left of the matrix: less the rows of this panel, divided by its diagonal entry.
fn make_row(mut a: ArrayViewMut2<'_, f64>, start: usize, k: usize, diagonal: f64) {
    let (above, mut rest) = a.view_mut().split_at(Axis(0), k);
    let mut row = rest.row_mut(0);
    let row = &mut row.as_slice_mut().expect("row-major")[k + 1..];
    for above in above.slice(s![start.., ..]).outer_iter() {
        let above = above.to_slice().expect("row-major");
        let factor = above[k];
        row.iter_mut().zip(&above[k + 1..]).for_each(|(x, y)| *x -= factor * y);
    }
    row.iter_mut().for_each(|x| *x /= diagonal);
    rest[[0, k]] = diagonal;
}

/// A −= RᵀR of a panel, in the upper triangle behind it.
fn subtract_panel(a: &mut Array2<f64>, panel: std::ops::Range<usize>) {
    let end = panel.end;
    let (above, mut behind) = a.view_mut().split_at(Axis(0), end);
    let panel = above.slice(s![panel, ..]);
    behind.axis_chunks_iter_mut(Axis(0), TILE).collect::<Vec<_>>().into_par_iter().enumerate().for_each(
        |(at, mut rows)| {
            let (first, n_rows) = (end + at * TILE, rows.nrows());
            let left = panel.slice(s![.., first..first + n_rows]);
            matmul_into(left.t(), panel.slice(s![.., first..]), rows.slice_mut(s![.., first..]), Update::Subtract);
        },
    );
}

/// out = values·W for an upper triangular W, row-major both, on the calling thread: what is below its diagonal is not multiplied.
pub(crate) fn multiply<T: Scalar>(values: ArrayView2<'_, T>, w: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
    let n = w.ncols();
    for start in (0..n).step_by(TILE) {
        let end = n.min(start + TILE);
        let (values, w) = (values.slice(s![.., ..end]), w.slice(s![..end, start..end]));
        matmul_into(values, w, out.slice_mut(s![.., start..end]), Update::Set);
    }
}

/// values·W for an upper triangular W, in f64, by the threads of the current pool.
pub(crate) fn times<T: Scalar>(values: &Array2<f64>, w: ArrayView2<'_, T>) -> Array2<f64> {
    let mut out = Array2::zeros((values.nrows(), w.ncols()));
    out.axis_chunks_iter_mut(Axis(1), TILE).collect::<Vec<_>>().into_par_iter().enumerate().for_each(
        |(at, mut out)| {
            let (start, end) = (at * TILE, at * TILE + out.ncols());
            let block = w.slice(s![..end, start..end]).mapv(Scalar::to_f64);
            matmul_into(values.slice(s![.., ..end]), block.view(), out.view_mut(), Update::Set);
        },
    );
    out
}

/// values·Wᵀ for an upper triangular W, in f64, by the threads of the current pool.
pub(crate) fn times_transposed<T: Scalar>(values: &Array2<f64>, w: ArrayView2<'_, T>) -> Array2<f64> {
    let mut out = Array2::zeros((values.nrows(), w.nrows()));
    out.axis_chunks_iter_mut(Axis(1), TILE).collect::<Vec<_>>().into_par_iter().enumerate().for_each(
        |(at, mut out)| {
            let (start, end) = (at * TILE, at * TILE + out.ncols());
            let block = w.slice(s![start..end, start..]);
            let block = Array2::from_shape_fn((block.ncols(), block.nrows()), |(i, j)| block[[j, i]].to_f64());
            matmul_into(values.slice(s![.., start..]), block.view(), out.view_mut(), Update::Set);
        },
    );
    out
}

/// The inverse of a small upper triangular matrix.
pub(crate) fn inverse_of_tile(r: ArrayView2<'_, f64>) -> Array2<f64> {
    let n = r.nrows();
    let mut inverse = Array2::zeros((n, n));
    // Row i of the inverse from the rows below it: (R⁻¹)ᵢ = (eᵢ − Σ_{k>i} Rᵢₖ·(R⁻¹)ₖ) / Rᵢᵢ.
    for i in (0..n).rev() {
        let (mut above, below) = inverse.view_mut().split_at(Axis(0), i + 1);
        let mut row = above.row_mut(i);
        row[i] = 1.0;
        for (k, other) in below.outer_iter().enumerate() {
            row.scaled_add(-r[[i, i + 1 + k]], &other);
        }
        row.mapv_inplace(|x| x / r[[i, i]]);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal_columns};

    /// A = XXᵀ of n rows of d normal numbers.
    fn gram(n: usize, d: usize) -> Array2<f64> {
        let x = normal_columns::<f64>(5, Purpose::Projection, d, 0..n).reversed_axes();
        x.dot(&x.t())
    }

    #[test]
    fn the_factor_gives_the_matrix_back() {
        for n in [1, 2, 63, 64, 65, 200, 600] {
            let a = gram(n, n + 20);
            let factored = PivotedCholesky::new(a.clone(), 1e-12, usize::MAX);
            assert_eq!(factored.rank(), n);
            let mut r = factored.of_pivots().to_owned();
            for i in 0..n {
                r.slice_mut(s![i, ..i]).fill(0.0);
            }
            let scale = a.diag().iter().copied().fold(0.0, f64::max);
            let product = r.t().dot(&r);
            let order = factored.pivots();
            for i in 0..n {
                for j in 0..n {
                    let error = (product[[i, j]] - a[[order[i], order[j]]]).abs();
                    assert!(error < 1e-12 * scale, "{n}: ({i}, {j}) off by {error}");
                }
            }
            let unit = r.dot(&factored.inverse());
            let worst = (unit - Array2::<f64>::eye(n)).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            assert!(worst < 1e-9, "{n}: the inverse is off by {worst}");
        }
    }

    #[test]
    fn products_with_triangles() {
        let values = normal_columns::<f64>(8, Purpose::Projection, 3, 0..600);
        let mut w = normal_columns::<f64>(9, Purpose::Projection, 600, 0..600);
        for i in 0..600 {
            w.slice_mut(s![i, ..i]).fill(0.0);
        }
        let mut out = Array2::zeros((3, 600));
        multiply(values.view(), w.view(), out.view_mut());
        for (got, expected) in [
            (out, values.dot(&w)),
            (times(&values, w.view()), values.dot(&w)),
            (times_transposed(&values, w.view()), values.dot(&w.t())),
        ] {
            let worst = (got - expected).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            assert!(worst < 1e-11, "off by {worst}");
        }
    }

    #[test]
    fn the_rank_is_found() {
        for (n, d) in [(50, 7), (300, 100), (130, 64)] {
            let factored = PivotedCholesky::new(gram(n, d), 1e-10, usize::MAX);
            assert_eq!(factored.rank(), d);
        }
        assert_eq!(PivotedCholesky::new(Array2::zeros((5, 5)), 1e-10, usize::MAX).rank(), 0);
        assert_eq!(PivotedCholesky::new(Array2::ones((5, 5)), 1e-10, usize::MAX).pivots(), [0]);
        assert_eq!(PivotedCholesky::new(gram(90, 90), 1e-10, 70).rank(), 70);
    }

    #[test]
    fn the_largest_pivot_first() {
        let a = Array2::from_diag(&ndarray::arr1(&[1.0, 5.0, 3.0]));
        assert_eq!(PivotedCholesky::new(a, 1e-10, usize::MAX).pivots(), [1, 2, 0]);
    }
}
