//! The polynomial kernel of degree two, with squares of inputs weighed apart from their products.

use std::ops::Range;

use mercer_simd::{CsrMatrix, Scalar};
use ndarray::{Array2, ArrayViewMut2, Zip};

use super::formula::Formula;
use super::polynomial::distance;
use super::products::{Panel, for_each_product_block};
use super::readings::Reading;
use crate::Result;
use crate::dataset::Rows;

/// γ²·(Σ over i ≠ j of xᵢxⱼyᵢyⱼ + w·Σ xᵢ²yᵢ²) = γ²·(⟨x,y⟩² + (w−1)·Σ xᵢ²yᵢ²)
pub(super) struct Quadratic {
    pub(super) gamma: f64,
    pub(super) squares: f64,
}

impl Formula for Quadratic {
    fn reading(&self) -> Reading {
        Reading::Quadratic { squares: self.squares }
    }

    fn kernel(&self, pair: f64, _: f64, _: f64) -> f64 {
        self.gamma * self.gamma * pair
    }

    fn distance(&self, pair: f64, x: f64, y: f64) -> f64 {
        let k = |pair| self.kernel(pair, x, y);
        distance(k(x), k(y), k(pair))
    }
}

/// The number of a pair: ⟨x,y⟩² + (w−1)·Σ xᵢ²yᵢ².
pub(super) fn quadratic(squares: f64, product: f64, product_of_squares: f64) -> f64 {
    product.mul_add(product, (squares - 1.0) * product_of_squares)
}

/// The number of a row and itself.
pub(super) fn quadratic_norms<T: Scalar>(squares: f64, x: Rows<'_, T>) -> Vec<f64> {
    let (norms, fourths) = (super::distances::squared_norms(x), super::pairs::fold_rows(x, 0.0, |s, v| s + v.powi(4)));
    norms.into_iter().zip(fourths).map(|(norm, fourth)| quadratic(squares, norm, fourth)).collect()
}

/// Calls `visit` with the numbers of all pairs, block by block.
pub(super) fn for_each_quadratic_block<T: Scalar>(
    squares: f64,
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    let (x_squares, y_squares) = (Squares::of(x), Squares::of(y));
    let mut failed = Ok(());
    for_each_product_block(x, y, |of_x, of_y, mut products| {
        let panel = Panel::new(y_squares.rows().slice(of_y.start, of_y.end));
        match panel.multiply(x_squares.rows().slice(of_x.start, of_x.end)) {
            Ok(of_squares) => {
                Zip::from(&mut products).and(&of_squares).for_each(|pair, &q| *pair = quadratic(squares, *pair, q));
                visit(of_x, of_y, products);
            }
            Err(error) => failed = Err(error),
        }
    })?;
    failed
}

/// The squares of rows.
enum Squares {
    Dense(Array2<f64>),
    Sparse(CsrMatrix<f64>),
}

impl Squares {
    fn of<T: Scalar>(x: Rows<'_, T>) -> Self {
        match x {
            Rows::Dense(x) => Self::Dense(x.mapv(|x| x.to_f64().powi(2))),
            Rows::Sparse(x) => {
                let mut squares = CsrMatrix::new(x.n_columns());
                for i in 0..x.n_rows() {
                    x.row(i).for_each(|(j, value)| squares.push(j, value.to_f64().powi(2)).expect("columns ascend"));
                    squares.finish_row();
                }
                Self::Sparse(squares)
            }
        }
    }

    fn rows(&self) -> Rows<'_, f64> {
        match self {
            Self::Dense(x) => x.view().into(),
            Self::Sparse(x) => x.view().into(),
        }
    }
}
