//! About the inverse of the Hessian of a linear model's objective, from a sample of rows.
//!
//! With the centred features z̃ of m of n rows, their weights ω and the second derivative h of the loss at their scores,
//! the Hessian of one output is about
//!
//! P = AᵀA + s·I,  A = diag(√(ωh/m))·Z̃,  s = 2λ + (t/m)·(1 − m/n),
//!
//! t the mean squared length of the rows √(ωh)·z̃. m rows know the Hessian's eigenvalues down to about t/m and no further: that is
//! what the last term stands for; of all rows they know all, and P is the Hessian. Rows without curvature (those beyond the
//! margin of a support vector machine) take no part. Where the rows left are at least as many as the features, P itself is factorised;
//! where they are fewer, it is inverted by Woodbury's identity,
//!
//! P⁻¹ = (I − Aᵀ·(AAᵀ + s·I)⁻¹·A) / s,
//!
//! so that the cost of large D is linear. The intercept, which is not penalised, is the one more unknown of a bordered
//! system. Each output has its own P, made anew from time to time as the scores move.
//!
//! Cost for r rows left: r·D² + D³/3 multiply-adds, or r³/3; memory: 4·m·D bytes in f32 and 4·min(r, D)² for an output.
//!
//! Rudi, Carratino and Rosasco, "FALKON: an optimal large scale kernel method", NIPS 2017, precondition by a sample;
//! Chapelle, "Training a support vector machine in the primal", Neural Computation 19, 2007, takes such Newton steps.

use mercer_simd::{Scalar, Update, matmul_into};
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::cholesky::Cholesky;
use super::tiles::{SymmetricTiles, TILE};
use crate::{Error, Result};

/// The sample.
pub(crate) struct Preconditioner<T> {
    /// m × D, centred
    rows: Array2<T>,
    /// D × m
    turned: Array2<T>,
    centre: Vec<f64>,
    /// Z̃Z̃ᵀ, where m < D
    products: Option<Array2<T>>,
    /// numbers of the rows
    chosen: Vec<usize>,
    n: usize,
}

/// P of one output.
pub(super) struct Factor {
    /// √(ωh/m) of every row of the sample
    roots: Vec<f64>,
    /// the rows where it is not zero
    active: Vec<usize>,
    shift: f64,
    cholesky: Cholesky,
    /// whether it is a factor of AAᵀ + sI
    of_rows: bool,
    /// of the intercept: P⁻¹c, c = Aᵀ√(ωh/m), and what is left of its curvature
    border: Option<(Vec<f64>, f64)>,
}

impl Factor {
    /// What making it costs, about, in passes over `n` rows of `d` features by one output: f64 is half as fast as f32, and a
    /// factor half as fast as products.
    pub(super) fn cost(&self, n: usize, d: usize) -> f64 {
        let r = self.active.len() as f64;
        let (d, n) = (d as f64, n as f64);
        let flops = if self.of_rows { 4.0 * r.powi(3) / 3.0 } else { r * d * d + 4.0 * d.powi(3) / 3.0 };
        flops / (4.0 * n * d)
    }
}

impl<T: Scalar> Preconditioner<T> {
    /// From the features of the rows `chosen` of `n` rows.
    pub(crate) fn new(mut rows: Array2<T>, chosen: Vec<usize>, n: usize) -> Self {
        let (m, d) = rows.dim();
        let centre: Vec<f64> =
            rows.columns().into_iter().map(|x| x.iter().map(|&x| x.to_f64()).sum::<f64>() / m as f64).collect();
        for mut row in rows.outer_iter_mut() {
            row.iter_mut().zip(&centre).for_each(|(x, c)| *x = T::from_f64(x.to_f64() - c));
        }
        let turned = rows.t().as_standard_layout().into_owned();
        let products = (m < d).then(|| product(rows.view(), turned.view()));
        Self { rows, turned, centre, products, chosen, n }
    }

    /// The mean of the features.
    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The numbers of the rows of the sample.
    pub(super) fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// The scores of the sample by weights (D × k) of centred features.
    pub(super) fn scores(&self, weights: ArrayView2<'_, T>) -> Array2<T> {
        product(self.rows.view(), weights)
    }

    /// P for rows of these curvatures ωh.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] where rounding leaves no factor.
    pub(super) fn factor(&self, curvatures: &[f64], lambda: f64, intercept: bool) -> Result<Factor> {
        let (m, d) = self.rows.dim();
        let roots: Vec<f64> = curvatures.iter().map(|h| (h / m as f64).sqrt()).collect();
        let active: Vec<usize> = (0..m).filter(|&i| roots[i] > 0.0).collect();
        let length = |i: usize| roots[i].powi(2) * self.rows.row(i).iter().map(|&x| x.to_f64().powi(2)).sum::<f64>();
        let lengths: f64 = active.iter().map(|&i| length(i)).sum();
        // t/m = Σ|√(ωh)z̃|²/m², and the roots have 1/m in them.
        let shift = 2.0 * lambda + lengths / m as f64 * (1.0 - m as f64 / self.n as f64);
        let of_rows = self.products.is_some() || active.len() < d;
        let mut matrix = match &self.products {
            Some(products) => SymmetricTiles::from_fn(active.len(), |i, j| {
                let (i, j) = (active[i], active[j]);
                roots[i] * roots[j] * products[[i, j]].to_f64()
            }),
            None if of_rows => {
                let mut matrix = SymmetricTiles::zeros(active.len());
                matrix.add_gram(Array2::from_shape_fn((d, active.len()), |(j, i)| self.scaled(active[i], j, &roots)).view());
                matrix
            }
            None => {
                let mut matrix = SymmetricTiles::zeros(d);
                matrix.add_gram(Array2::from_shape_fn((active.len(), d), |(i, j)| self.scaled(active[i], j, &roots)).view());
                matrix
            }
        };
        matrix.add_diagonal(shift);
        let cholesky = Cholesky::new(matrix)
            .ok_or_else(|| Error::NotPositiveDefinite { context: format!("the preconditioner of lambda {lambda}") })?;
        let mut factor = Factor { roots, active, shift, cholesky, of_rows, border: None };
        if intercept {
            factor.border = Some(self.border(&factor));
        }
        Ok(factor)
    }

    fn scaled(&self, row: usize, column: usize, roots: &[f64]) -> T {
        T::from_f64(self.rows[[row, column]].to_f64() * roots[row])
    }

    /// P⁻¹c and the curvature of the intercept that the weights leave it, c the products of features and intercept.
    fn border(&self, factor: &Factor) -> (Vec<f64>, f64) {
        let squares = Array2::from_shape_fn((self.rows.nrows(), 1), |(i, _)| T::from_f64(factor.roots[i].powi(2)));
        let c = product(self.turned.view(), squares.view()).mapv(Scalar::to_f64);
        let solved = self.solve_weights(&[factor], c.view());
        let own: f64 = factor.roots.iter().map(|root| root * root).sum();
        let taken: f64 = c.iter().zip(&solved).map(|(a, b)| a * b).sum();
        // All of it is taken where the intercept is a mixture of features; then it stays where it is.
        let left = (own - taken).max(1e-6 * own).max(f64::MIN_POSITIVE);
        (solved.into_iter().collect(), left)
    }

    /// P⁻¹·g, by the factor of each output: `g` has the gradients of weights (D × outputs), then of the intercepts.
    pub(super) fn solve(
        &self,
        factors: &[&Factor],
        g: ArrayView2<'_, f64>,
        intercepts: &[f64],
    ) -> (Array2<f64>, Vec<f64>) {
        let mut out = self.solve_weights(factors, g);
        let mut solved = vec![0.0; intercepts.len()];
        for (column, factor) in factors.iter().enumerate() {
            let Some((border, left)) = &factor.border else { continue };
            // cᵀP⁻¹g = (P⁻¹c)ᵀg
            let taken: f64 = border.iter().zip(g.column(column)).map(|(a, b)| a * b).sum();
            solved[column] = (intercepts[column] - taken) / left;
            let mut out = out.column_mut(column);
            out.iter_mut().zip(border).for_each(|(x, b)| *x -= solved[column] * b);
        }
        (out, solved)
    }

    fn solve_weights(&self, factors: &[&Factor], g: ArrayView2<'_, f64>) -> Array2<f64> {
        let k = factors.len();
        let mut out = Array2::zeros(g.dim());
        let by_rows: Vec<usize> = (0..k).filter(|&column| factors[column].of_rows).collect();
        let direct: Vec<Array2<f64>> = (0..k)
            .into_par_iter()
            .filter(|&column| !factors[column].of_rows)
            .map(|column| factors[column].cholesky.solve(g.slice(s![.., column..column + 1])))
            .collect();
        let others = (0..k).filter(|&column| !factors[column].of_rows);
        others.zip(direct).for_each(|(column, x)| out.column_mut(column).assign(&x.column(0)));
        if by_rows.is_empty() {
            return out;
        }
        // Columns of very different sizes lose nothing in T when each has length about one.
        let length = |column: usize| g.column(column).dot(&g.column(column)).sqrt().max(f64::MIN_POSITIVE);
        let lengths: Vec<f64> = by_rows.iter().map(|&column| length(column)).collect();
        let unit = Array2::from_shape_fn((g.nrows(), by_rows.len()), |(i, at)| {
            T::from_f64(g[[i, by_rows[at]]] / lengths[at])
        });
        let inner = product(self.rows.view(), unit.view());
        let solved: Vec<Array2<f64>> = by_rows
            .par_iter()
            .enumerate()
            .map(|(at, &column)| {
                let Factor { roots, active, cholesky, .. } = factors[column];
                let right = Array2::from_shape_fn((active.len(), 1), |(i, _)| {
                    roots[active[i]] * inner[[active[i], at]].to_f64()
                });
                cholesky.solve(right.view())
            })
            .collect();
        let mut back = Array2::zeros((self.rows.nrows(), by_rows.len()));
        for (at, &column) in by_rows.iter().enumerate() {
            let Factor { roots, active, .. } = factors[column];
            for (i, &row) in active.iter().enumerate() {
                back[[row, at]] = T::from_f64(roots[row] * solved[at][[i, 0]]);
            }
        }
        let taken = product(self.turned.view(), back.view());
        for (at, &column) in by_rows.iter().enumerate() {
            let shift = factors[column].shift;
            for i in 0..g.nrows() {
                out[[i, column]] = (g[[i, column]] - taken[[i, at]].to_f64() * lengths[at]) / shift;
            }
        }
        out
    }
}

/// a·b in parts of a's rows.
fn product<T: Scalar>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<T> {
    let k = b.ncols();
    let mut out = Array2::zeros((a.nrows(), k));
    if k == 0 {
        return out;
    }
    out.as_slice_mut().expect("row-major").par_chunks_mut(TILE * k).enumerate().for_each(|(at, out)| {
        let n_rows = out.len() / k;
        let out = ndarray::ArrayViewMut2::from_shape((n_rows, k), out).expect("whole rows");
        matmul_into(a.slice(s![at * TILE..at * TILE + n_rows, ..]), b, out, Update::Set);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P⁻¹·P = I, with P by the definition, for all forms: few rows, many rows, few active rows of many.
    #[test]
    fn inverts_what_it_says() {
        let (d, lambda) = (23, 1e-2);
        for (m, n, every) in [(10, 10, 1), (10, 40, 1), (60, 60, 1), (60, 200, 1), (60, 60, 5)] {
            let x = Array2::from_shape_fn((m, d), |(i, j)| ((i * 7 + j * 13 + i * j) as f64).sin() + 0.3);
            let curvatures: Vec<f64> =
                (0..m).map(|i| if i % every == 0 { 0.5 + (i as f64).cos().abs() } else { 0.0 }).collect();
            let preconditioner = Preconditioner::new(x.clone(), (0..m).collect(), n);
            let factor = preconditioner.factor(&curvatures, lambda, true).unwrap();
            // The bordered matrix, dense: the last unknown is the intercept.
            let centred = &x - &x.mean_axis(ndarray::Axis(0)).unwrap();
            let one = |i: usize, j: usize| if j < d { centred[[i, j]] } else { 1.0 };
            let rows = Array2::from_shape_fn((m, d + 1), |(i, j)| one(i, j) * (curvatures[i] / m as f64).sqrt());
            let t = rows.slice(s![.., ..d]).iter().map(|x| x * x).sum::<f64>();
            let shift = 2.0 * lambda + t / m as f64 * (1.0 - m as f64 / n as f64);
            let mut p = rows.t().dot(&rows);
            (0..d).for_each(|i| p[[i, i]] += shift);
            let unknown = Array2::from_shape_fn((d + 1, 1), |(i, _)| (i as f64 * 0.7).cos());
            let g = p.dot(&unknown);
            let (w, b) = preconditioner.solve(&[&factor], g.slice(s![..d, ..]), &[g[[d, 0]]]);
            let worst = (0..d).map(|i| (w[[i, 0]] - unknown[[i, 0]]).abs()).fold(0.0, f64::max);
            // Condition numbers are below 1e4 here.
            assert!(worst < 1e-9 && (b[0] - unknown[[d, 0]]).abs() < 1e-9, "{m} of {n}, {every}: {worst}, {b:?}");
        }
    }
}
