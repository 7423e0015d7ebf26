//! The Hessian of every output, from all rows.
//!
//! With the centred features z̃ of the n rows, their weights ω of mean one and the second derivatives h of the loss at their
//! scores, the Hessian by the weights of one output is
//!
//! H = AᵀA + 2λ·I,  A = diag(√(ωh/n))·Z̃.
//!
//! Rows without curvature (those beyond the margin of a support vector machine) take no part. Where the rows left are at
//! least as many as the features, H itself is factorised; where they are fewer, it is inverted by Woodbury's identity,
//! H⁻¹ = (I − Aᵀ·(AAᵀ + 2λ·I)⁻¹·A) / 2λ. The intercept, which is not penalised, is one more unknown of a bordered system.
//!
//! Cost for r rows left: r·D² + D³/3 multiply-adds, or r³/3; memory: 8·n·D bytes, 8·n² where n < D, and 4·min(r, D)²
//! for each output. All in f64.
//!
//! Chapelle, "Training a support vector machine in the primal", Neural Computation 19, 2007.

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::{centre, product};
use crate::learners::cholesky::Cholesky;
use crate::learners::tiles::SymmetricTiles;
use crate::{Error, Result};

/// All rows.
pub(crate) struct Newton {
    /// n × D, centred
    rows: Array2<f64>,
    centre: Vec<f64>,
    /// Z̃Z̃ᵀ, where n < D
    products: Option<Array2<f64>>,
}

/// H of one output.
pub(crate) struct Factor {
    /// √(ωh/n) of every row
    roots: Vec<f64>,
    /// the rows where it is not zero
    active: Vec<usize>,
    /// 2λ
    shift: f64,
    cholesky: Cholesky,
    /// whether it is a factor of AAᵀ + 2λI
    of_rows: bool,
    /// of the intercept: H⁻¹c, c = Aᵀ√(ωh/n), and what is left of its curvature
    border: Option<(Vec<f64>, f64)>,
}

impl Newton {
    /// From the features of all rows.
    pub(crate) fn new(mut rows: Array2<f64>) -> Self {
        let centre = centre(&mut rows);
        let products = (rows.nrows() < rows.ncols()).then(|| {
            let turned = rows.t().as_standard_layout().into_owned();
            product(rows.view(), turned.view())
        });
        Self { rows, centre, products }
    }

    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The scores of the rows by weights (D × k) of centred features.
    pub(crate) fn scores(&self, weights: ArrayView2<'_, f64>) -> Array2<f64> {
        product(self.rows.view(), weights)
    }

    /// What a factor for these curvatures ωh costs, about, in passes by one output: f64 is half as fast as f32, and a
    /// factorisation half as fast as products.
    pub(crate) fn cost(&self, curvatures: &[f64]) -> f64 {
        let (n, d) = (self.rows.nrows() as f64, self.rows.ncols() as f64);
        let r = curvatures.iter().filter(|h| **h > 0.0).count() as f64;
        let flops = if r < d { 4.0 * r.powi(3) / 3.0 } else { 2.0 * r * d * d + 4.0 * d.powi(3) / 3.0 };
        flops / (4.0 * n * d)
    }

    /// H for each of these curvatures ωh.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] where rounding leaves no factor.
    pub(crate) fn factors(&self, curvatures: &[Vec<f64>], lambda: f64, intercept: bool) -> Result<Vec<Factor>> {
        let factors = curvatures.par_iter().map(|curvatures| self.factor(curvatures, lambda));
        let mut factors: Vec<Factor> = factors.collect::<Result<_>>()?;
        if intercept {
            let borders = self.borders(&factors);
            factors.iter_mut().zip(borders).for_each(|(factor, border)| factor.border = Some(border));
        }
        Ok(factors)
    }

    fn factor(&self, curvatures: &[f64], lambda: f64) -> Result<Factor> {
        let (n, d) = self.rows.dim();
        let roots: Vec<f64> = curvatures.iter().map(|h| (h / n as f64).sqrt()).collect();
        let active: Vec<usize> = (0..n).filter(|&i| roots[i] > 0.0).collect();
        let of_rows = active.len() < d;
        let mut matrix = match &self.products {
            Some(products) => SymmetricTiles::from_fn(active.len(), |i, j| {
                let (i, j) = (active[i], active[j]);
                roots[i] * roots[j] * products[[i, j]]
            }),
            None if of_rows => {
                let turned =
                    Array2::from_shape_fn((d, active.len()), |(j, i)| self.rows[[active[i], j]] * roots[active[i]]);
                let mut matrix = SymmetricTiles::zeros(active.len());
                matrix.add_gram(turned.view());
                matrix
            }
            None => self.gram(&active, &roots),
        };
        let shift = 2.0 * lambda;
        matrix.add_diagonal(shift);
        let cholesky = Cholesky::new(matrix)
            .ok_or_else(|| Error::NotPositiveDefinite { context: format!("the Hessian of lambda {lambda}") })?;
        Ok(Factor { roots, active, shift, cholesky, of_rows, border: None })
    }

    /// AᵀA, in panels of rows.
    fn gram(&self, active: &[usize], roots: &[f64]) -> SymmetricTiles {
        const PANEL: usize = 2048;
        let mut matrix = SymmetricTiles::zeros(self.rows.ncols());
        for active in active.chunks(PANEL) {
            let mut panel = self.rows.select(ndarray::Axis(0), active);
            for (mut row, &i) in panel.outer_iter_mut().zip(active) {
                row *= roots[i];
            }
            matrix.add_gram(panel.view());
        }
        matrix
    }

    /// H⁻¹c and the curvature of the intercept that the weights leave it, c the products of features and intercept.
    fn borders(&self, factors: &[Factor]) -> Vec<(Vec<f64>, f64)> {
        let squares =
            Array2::from_shape_fn((self.rows.nrows(), factors.len()), |(i, column)| factors[column].roots[i].powi(2));
        let c = product(self.rows.t(), squares.view());
        let solved = self.solve_weights(&factors.iter().collect::<Vec<_>>(), c.view());
        let border = |column: usize| {
            let own: f64 = squares.column(column).sum();
            let taken = c.column(column).dot(&solved.column(column));
            // All of it is taken where the intercept is a mixture of features; then it stays where it is.
            // Where no row has any curvature, as of far outliers only, one of about the right size will do.
            let left = if own > 0.0 { (own - taken).max(1e-9 * own) } else { 1.0 };
            (solved.column(column).to_vec(), left)
        };
        (0..factors.len()).map(border).collect()
    }

    /// H⁻¹ of the gradients by the weights (D × outputs) and by the intercepts, with the factor of each output.
    pub(crate) fn solve(
        &self,
        factors: &[&Factor],
        g: ArrayView2<'_, f64>,
        intercepts: &[f64],
    ) -> (Array2<f64>, Vec<f64>) {
        let mut out = self.solve_weights(factors, g);
        let mut solved = vec![0.0; intercepts.len()];
        for (column, factor) in factors.iter().enumerate() {
            let Some((border, left)) = &factor.border else { continue };
            // cᵀH⁻¹g = (H⁻¹c)ᵀg
            let taken: f64 = border.iter().zip(g.column(column)).map(|(a, b)| a * b).sum();
            solved[column] = (intercepts[column] - taken) / left;
            let mut out = out.column_mut(column);
            out.iter_mut().zip(border).for_each(|(x, b)| *x -= solved[column] * b);
        }
        (out, solved)
    }

    fn solve_weights(&self, factors: &[&Factor], g: ArrayView2<'_, f64>) -> Array2<f64> {
        let inner = if factors.iter().any(|factor| factor.of_rows) {
            product(self.rows.view(), g.as_standard_layout().view())
        } else {
            Array2::zeros((0, 0))
        };
        let solve = |column: usize| {
            let factor = factors[column];
            if !factor.of_rows {
                return factor.cholesky.solve(g.slice(s![.., column..column + 1]));
            }
            let right = Array2::from_shape_fn((factor.active.len(), 1), |(i, _)| {
                factor.roots[factor.active[i]] * inner[[factor.active[i], column]]
            });
            factor.cholesky.solve(right.view())
        };
        let solved: Vec<Array2<f64>> = (0..factors.len()).into_par_iter().map(solve).collect();
        let mut back = Array2::zeros(inner.dim());
        for (column, factor) in factors.iter().enumerate().filter(|(_, factor)| factor.of_rows) {
            for (i, &row) in factor.active.iter().enumerate() {
                back[[row, column]] = factor.roots[row] * solved[column][[i, 0]];
            }
        }
        let taken = product(self.rows.t(), back.view());
        Array2::from_shape_fn(g.dim(), |(i, column)| match factors[column] {
            factor if factor.of_rows => (g[[i, column]] - taken[[i, column]]) / factor.shift,
            _ => solved[column][[i, 0]],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H⁻¹·H = I, with H by the definition, for all forms: few rows, many rows, few active rows of many.
    #[test]
    fn inverts_what_it_says() {
        let (d, lambda) = (23, 1e-2);
        for (n, every) in [(10, 1), (60, 1), (60, 5), (300, 2)] {
            let x = Array2::from_shape_fn((n, d), |(i, j)| ((i * 7 + j * 13 + i * j) as f64).sin() + 0.3);
            let curvatures: Vec<f64> =
                (0..n).map(|i| if i % every == 0 { 0.5 + (i as f64).cos().abs() } else { 0.0 }).collect();
            let newton = Newton::new(x.clone());
            let factor = newton.factors(std::slice::from_ref(&curvatures), lambda, true).unwrap().remove(0);
            // The bordered matrix, dense: the last unknown is the intercept.
            let centred = &x - &x.mean_axis(ndarray::Axis(0)).unwrap();
            let one = |i: usize, j: usize| if j < d { centred[[i, j]] } else { 1.0 };
            let rows = Array2::from_shape_fn((n, d + 1), |(i, j)| one(i, j) * (curvatures[i] / n as f64).sqrt());
            let mut h = rows.t().dot(&rows);
            (0..d).for_each(|i| h[[i, i]] += 2.0 * lambda);
            let unknown = Array2::from_shape_fn((d + 1, 2), |(i, j)| (i as f64 * 0.7 + j as f64).cos());
            let g = h.dot(&unknown);
            let (w, b) = newton.solve(&[&factor, &factor], g.slice(s![..d, ..]), &[g[[d, 0]], g[[d, 1]]]);
            let worst = (&w - &unknown.slice(s![..d, ..])).iter().fold(0.0_f64, |worst, e| worst.max(e.abs()));
            // Condition numbers are below 1e4 here.
            assert!(worst < 1e-9, "{n}, {every}: {worst}");
            assert!((0..2).all(|j| (b[j] - unknown[[d, j]]).abs() < 1e-9), "{b:?}");
        }
    }
}
