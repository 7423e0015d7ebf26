//! Sums over the inputs of one pair of rows, straight from a definition: for single values, and for the pairs where
//! the fast route loses its digits.

use mercer_simd::Scalar;

use crate::dataset::Rows;

/// Σ `term(xᵢ, yᵢ)` over the inputs of row `i` of x and row `j` of y, in order, for a term with `term(0, 0) = 0`. The
/// same bits dense or sparse. Cost: the stored values of both rows.
pub(super) fn sum_of_pairs<T: Scalar>(
    x: (Rows<'_, T>, usize),
    y: (Rows<'_, T>, usize),
    term: impl Fn(f64, f64) -> f64,
) -> f64 {
    fold_of_pairs(x, y, |sum, x, y| sum + term(x, y))
}

/// Combines the inputs of a pair of rows with what those before gave, 0 at first; two inputs of 0 change nothing.
pub(super) fn fold_of_pairs<T: Scalar>(
    (x, i): (Rows<'_, T>, usize),
    (y, j): (Rows<'_, T>, usize),
    combine: impl Fn(f64, f64, f64) -> f64,
) -> f64 {
    match (x, y) {
        (Rows::Dense(x), Rows::Dense(y)) => {
            x.row(i).iter().zip(y.row(j)).fold(0.0, |sum, (&x, &y)| combine(sum, x.to_f64(), y.to_f64()))
        }
        (Rows::Dense(x), Rows::Sparse(y)) => merged(x.row(i).iter().copied().enumerate(), y.row(j), combine),
        (Rows::Sparse(x), Rows::Dense(y)) => merged(x.row(i), y.row(j).iter().copied().enumerate(), combine),
        (Rows::Sparse(x), Rows::Sparse(y)) => merged(x.row(i), y.row(j), combine),
    }
}

/// Of two rows given as (input, value), inputs ascending, missing ones 0.
fn merged<T: Scalar>(
    x: impl Iterator<Item = (usize, T)>,
    y: impl Iterator<Item = (usize, T)>,
    combine: impl Fn(f64, f64, f64) -> f64,
) -> f64 {
    let (mut x, mut y) = (x.peekable(), y.peekable());
    let mut sum = 0.0;
    loop {
        let at = match (x.peek(), y.peek()) {
            (None, None) => return sum,
            (Some(&(at, _)), None) | (None, Some(&(at, _))) => at,
            (Some(&(of_x, _)), Some(&(of_y, _))) => of_x.min(of_y),
        };
        let of_x = x.next_if(|&(input, _)| input == at).map_or(0.0, |(_, value)| value.to_f64());
        let of_y = y.next_if(|&(input, _)| input == at).map_or(0.0, |(_, value)| value.to_f64());
        sum = combine(sum, of_x, of_y);
    }
}

/// Combines the values of every row, in order, into one number a row. The same bits dense or sparse, where a 0 changes
/// nothing.
pub(super) fn fold_rows<T: Scalar>(x: Rows<'_, T>, first: f64, combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let combine = |sum: f64, value: T| combine(sum, value.to_f64());
    match x {
        Rows::Dense(x) => x.outer_iter().map(|row| row.iter().copied().fold(first, combine)).collect(),
        Rows::Sparse(x) => (0..x.n_rows()).map(|i| x.row(i).map(|(_, value)| value).fold(first, combine)).collect(),
    }
}
