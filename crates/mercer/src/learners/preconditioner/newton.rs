//! The Hessian of every output, from all rows.
//!
//! With the centred features z̃ of the n rows, their weights ω of mean one and the second derivatives h of the loss at their
//! scores, the Hessian by the weights of one output is
//!
//! H = AᵀA + 2λ·I,  A = diag(√(ωh/n))·Z̃.
//!
//! Rows without curvature (those beyond the margin of a support vector machine) take no part. Where the rows left are at
//! least as many as the features, H itself is factorised; where they are fewer, it is inverted by Woodbury's identity,
//! H⁻¹ = (I − Aᵀ·(AAᵀ + 2λ·I)⁻¹·A) / 2λ. The intercept, which is not penalised, is one more unknown of a bordered system;
//! without one features are not centred. Of sparse rows H is the sum of their own small products.
//!
//! Cost for r rows left: r·D² + D³/3 multiply-adds, or r³/3; memory: 8·n·D bytes, 8·n² where n < D, and 4·min(r, D)²
//! for each output. Sparse rows of q values: r·q²/2 multiply-adds and 16·D² bytes for each output; where
//! curvatures are known already, r is the number of rows whose have changed. All in f64.
//!
//! Chapelle, "Training a support vector machine in the primal", Neural Computation 19, 2007.

use std::borrow::Cow;
use std::sync::Arc;

use mercer_simd::ops::dot::{sparse_add_products, sparse_add_scaled_widened};
use mercer_simd::{CsrMatrix, IndexSlice, Scalar};
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::{centre, product};
use crate::learners::cholesky::Cholesky;
use crate::learners::rows::{RowAccess, SparseRows};
use crate::learners::tiles::SymmetricTiles;
use crate::{Error, Result};

/// All rows.
pub(crate) struct Newton<'a, T: Scalar> {
    rows: AllRows<'a, T>,
    centre: Vec<f64>,
}

/// n × D
enum AllRows<'a, T: Scalar> {
    /// Centred.
    Dense {
        rows: Array2<f64>,
        /// Z̃Z̃ᵀ, where n < D
        products: Option<Array2<f64>>,
    },
    /// As they are; what they lose by the centre is subtracted from what is made of them.
    Sparse(Cow<'a, CsrMatrix<T>>),
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
    /// of sparse rows
    products: Option<SparseProducts>,
    /// of the intercept: H⁻¹c, c = Aᵀ√(ωh/n), and what is left of its curvature
    border: Option<(Vec<f64>, f64)>,
}

/// Sums over sparse rows z.
#[derive(Clone)]
struct SparseProducts {
    /// Σ ωh/n·zzᵀ, the upper half
    products: Vec<f64>,
    /// Σ ωh/n·z
    sums: Vec<f64>,
    /// Σ ωh/n
    total: f64,
}

impl SparseProducts {
    /// By one thread; from those of an earlier factor where fewer rows have changed since than have a curvature.
    fn new<T: Scalar>(rows: &CsrMatrix<T>, active: &[usize], roots: &[f64], earlier: Option<&Factor>) -> Self {
        let d = rows.n_columns();
        if let Some((products, before)) = earlier.and_then(|earlier| Some((earlier.products.as_ref()?, &earlier.roots)))
        {
            let changed: Vec<usize> = (0..roots.len()).filter(|&i| roots[i] != before[i]).collect();
            if changed.len() < active.len() {
                let mut products = products.clone();
                products.add(rows, &changed, |i| roots[i] * roots[i] - before[i] * before[i]);
                return products;
            }
        }
        let mut products = Self { products: vec![0.0; d * d], sums: vec![0.0; d], total: 0.0 };
        products.add(rows, active, |i| roots[i] * roots[i]);
        products
    }

    fn add<T: Scalar>(&mut self, rows: &CsrMatrix<T>, chosen: &[usize], h: impl Fn(usize) -> f64) {
        let (d, rows) = (rows.n_columns(), sparse_rows(rows));
        for &i in chosen {
            let ((columns, values), h) = (rows.row(i), h(i));
            sparse_add_products(&mut self.products, d, h, columns, values);
            sparse_add_scaled_widened(&mut self.sums, h, columns, values);
            self.total += h;
        }
    }

    /// AᵀA of the centred rows.
    fn matrix(&self, c: &[f64]) -> SymmetricTiles {
        let Self { products, sums, total } = self;
        SymmetricTiles::from_fn(c.len(), |i, j| {
            let (i, j) = (i.min(j), i.max(j));
            products[i * c.len() + j] - c[i] * sums[j] - sums[i] * c[j] + total * c[i] * c[j]
        })
    }
}

impl<'a, T: Scalar> Newton<'a, T> {
    /// From the features of all rows, centred where there is an intercept.
    pub(crate) fn new(mut rows: Array2<f64>, intercept: bool) -> Self {
        let centre = centre(&mut rows, intercept);
        let products = (rows.nrows() < rows.ncols()).then(|| {
            let turned = rows.t().as_standard_layout().into_owned();
            product(rows.view(), turned.view())
        });
        Self { rows: AllRows::Dense { rows, products }, centre }
    }

    /// From sparse rows.
    pub(crate) fn of_sparse(rows: Cow<'a, CsrMatrix<T>>, intercept: bool) -> Self {
        let mut centre = vec![0.0; rows.n_columns()];
        if intercept {
            let view = rows.view();
            (0..rows.n_rows()).flat_map(|i| view.row(i)).for_each(|(j, x)| centre[j] += x.to_f64());
            centre.iter_mut().for_each(|sum| *sum /= rows.n_rows().max(1) as f64);
        }
        Self { rows: AllRows::Sparse(rows), centre }
    }

    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn n_rows(&self) -> usize {
        match &self.rows {
            AllRows::Dense { rows, .. } => rows.nrows(),
            AllRows::Sparse(rows) => rows.n_rows(),
        }
    }

    /// Z̃ᵀ·factors, factors n × k.
    fn turned_product(&self, factors: ArrayView2<'_, f64>) -> Array2<f64> {
        let rows = match &self.rows {
            AllRows::Dense { rows, .. } => return product(rows.t(), factors),
            AllRows::Sparse(rows) => sparse_rows(rows),
        };
        let mut out = Array2::zeros((factors.ncols(), self.centre.len()));
        for (factors, mut out) in factors.columns().into_iter().zip(out.outer_iter_mut()) {
            let out = out.as_slice_mut().expect("row-major");
            factors.iter().enumerate().for_each(|(i, &factor)| rows.add_scaled(i, factor, out));
            let sum = factors.sum();
            out.iter_mut().zip(&self.centre).for_each(|(out, c)| *out -= sum * c);
        }
        out.reversed_axes()
    }

    /// What a factor for these curvatures ωh costs, about, in passes by one output: f64 is half as fast as f32, and a
    /// factorisation half as fast as products. Sums of sparse products are a dozen times slower than those.
    pub(crate) fn cost(&self, curvatures: &[f64]) -> f64 {
        let d = self.centre.len() as f64;
        match &self.rows {
            AllRows::Dense { rows, .. } => {
                let r = curvatures.iter().filter(|h| **h > 0.0).count() as f64;
                let flops = if r < d { 4.0 * r.powi(3) / 3.0 } else { 2.0 * r * d * d + 4.0 * d.powi(3) / 3.0 };
                flops / (4.0 * rows.nrows() as f64 * d)
            }
            AllRows::Sparse(rows) => {
                let active = curvatures.iter().enumerate().filter(|(_, h)| **h > 0.0);
                let products: f64 = active.map(|(i, _)| rows.row_range(i).len().pow(2) as f64 / 2.0).sum();
                (products + d.powi(3) / 36.0) / (3.0 * rows.nnz().max(1) as f64)
            }
        }
    }

    /// H for each of these curvatures ωh. With an earlier factor, sums of sparse rows are those of its rows and what has
    /// changed since.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] where rounding leaves no factor.
    pub(crate) fn factors(
        &self,
        curvatures: &[(Vec<f64>, Option<Arc<Factor>>)],
        lambda: f64,
        intercept: bool,
    ) -> Result<Vec<Factor>> {
        let factors =
            curvatures.par_iter().map(|(curvatures, earlier)| self.factor(curvatures, earlier.as_deref(), lambda));
        let mut factors: Vec<Factor> = factors.collect::<Result<_>>()?;
        if intercept {
            let borders = self.borders(&factors);
            factors.iter_mut().zip(borders).for_each(|(factor, border)| factor.border = Some(border));
        }
        Ok(factors)
    }

    fn factor(&self, curvatures: &[f64], earlier: Option<&Factor>, lambda: f64) -> Result<Factor> {
        let (n, d) = (self.n_rows(), self.centre.len());
        let roots: Vec<f64> = curvatures.iter().map(|h| (h / n as f64).sqrt()).collect();
        let active: Vec<usize> = (0..n).filter(|&i| roots[i] > 0.0).collect();
        let mut products = None;
        let (mut matrix, of_rows) = match &self.rows {
            AllRows::Sparse(rows) => {
                let products = products.insert(SparseProducts::new(rows, &active, &roots, earlier));
                (products.matrix(&self.centre), false)
            }
            AllRows::Dense { products: Some(products), .. } => {
                let product = |i: usize, j: usize| {
                    let (i, j) = (active[i], active[j]);
                    roots[i] * roots[j] * products[[i, j]]
                };
                (SymmetricTiles::from_fn(active.len(), product), true)
            }
            AllRows::Dense { rows, .. } if active.len() < d => {
                let turned = Array2::from_shape_fn((d, active.len()), |(j, i)| rows[[active[i], j]] * roots[active[i]]);
                let mut matrix = SymmetricTiles::zeros(active.len());
                matrix.add_gram(turned.view());
                (matrix, true)
            }
            AllRows::Dense { rows, .. } => (gram(rows, &active, &roots), false),
        };
        let shift = 2.0 * lambda;
        matrix.add_diagonal(shift);
        let cholesky = Cholesky::new(matrix)
            .ok_or_else(|| Error::NotPositiveDefinite { context: format!("the Hessian of lambda {lambda}") })?;
        Ok(Factor { roots, active, shift, cholesky, of_rows, products, border: None })
    }

    /// H⁻¹c and the curvature of the intercept that the weights leave it, c the products of features and intercept.
    fn borders(&self, factors: &[Factor]) -> Vec<(Vec<f64>, f64)> {
        let squares =
            Array2::from_shape_fn((self.n_rows(), factors.len()), |(i, column)| factors[column].roots[i].powi(2));
        let c = self.turned_product(squares.view());
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
        let inner = match &self.rows {
            AllRows::Dense { rows, .. } if factors.iter().any(|factor| factor.of_rows) => {
                product(rows.view(), g.as_standard_layout().view())
            }
            _ => Array2::zeros((0, 0)),
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
        let taken = if back.is_empty() { back } else { self.turned_product(back.view()) };
        Array2::from_shape_fn(g.dim(), |(i, column)| match factors[column] {
            factor if factor.of_rows => (g[[i, column]] - taken[[i, column]]) / factor.shift,
            _ => solved[column][[i, 0]],
        })
    }
}

fn sparse_rows<T: Scalar>(rows: &CsrMatrix<T>) -> SparseRows<'_, T, i32> {
    let IndexSlice::I32(indices) = rows.view().indices() else { unreachable!("owned indices have 32 bits") };
    SparseRows::new(rows.view(), indices)
}

/// AᵀA, in panels of rows.
fn gram(rows: &Array2<f64>, active: &[usize], roots: &[f64]) -> SymmetricTiles {
    const PANEL: usize = 2048;
    let mut matrix = SymmetricTiles::zeros(rows.ncols());
    let mut panel = Array2::zeros((PANEL.min(active.len()), rows.ncols()));
    for active in active.chunks(PANEL) {
        let mut panel = panel.slice_mut(s![..active.len(), ..]);
        for (mut to, &i) in panel.outer_iter_mut().zip(active) {
            let (to, row) = (to.as_slice_mut().expect("row-major"), rows.row(i));
            to.iter_mut().zip(row.to_slice().expect("row-major")).for_each(|(to, x)| *to = x * roots[i]);
        }
        matrix.add_gram(panel.view());
    }
    matrix
}

#[cfg(test)]
mod tests {
    use ndarray::Axis;

    use super::*;

    fn sparse(x: &Array2<f64>) -> CsrMatrix<f64> {
        let mut rows = CsrMatrix::new(x.ncols());
        for row in x.outer_iter() {
            row.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(j, &x)| rows.push(j, x).unwrap());
            rows.finish_row();
        }
        rows
    }

    /// H⁻¹·H = I, with H by the definition, for all forms: few rows, many rows, few active rows of many; sparse; with an
    /// intercept and without.
    #[test]
    fn inverts_what_it_says() {
        let (d, lambda) = (23, 1e-2);
        for (n, every) in [(10, 1), (60, 1), (60, 5), (300, 2)] {
            let value = |i: usize, j: usize| ((i * 7 + j * 13 + i * j) as f64).sin() + 0.3;
            let x = Array2::from_shape_fn((n, d), |(i, j)| if (i + 3 * j) % 4 == 0 { 0.0 } else { value(i, j) });
            let curvatures: Vec<f64> =
                (0..n).map(|i| if i % every == 0 { 0.5 + (i as f64).cos().abs() } else { 0.0 }).collect();
            for intercept in [true, false] {
                // The bordered matrix, dense: the last unknown is the intercept.
                let centred = if intercept { &x - &x.mean_axis(Axis(0)).unwrap() } else { x.clone() };
                let one = |i: usize, j: usize| if j < d { centred[[i, j]] } else { 1.0 };
                let rows = Array2::from_shape_fn((n, d + 1), |(i, j)| one(i, j) * (curvatures[i] / n as f64).sqrt());
                let mut h = rows.t().dot(&rows);
                (0..d).for_each(|i| h[[i, i]] += 2.0 * lambda);
                let unknown = |i: usize, j: usize| (i as f64 * 0.7 + j as f64).cos();
                let unknown =
                    Array2::from_shape_fn((d + 1, 2), |(i, j)| if i < d || intercept { unknown(i, j) } else { 0.0 });
                let g = h.dot(&unknown);
                for newton in [Newton::new(x.clone(), intercept), Newton::of_sparse(Cow::Owned(sparse(&x)), intercept)]
                {
                    // What was summed for other curvatures is changed to these.
                    let other = curvatures.iter().enumerate().map(|(i, h)| if i % 7 == 3 { 0.7 } else { *h }).collect();
                    let other = newton.factors(&[(other, None)], lambda, intercept).unwrap().remove(0);
                    for earlier in [None, Some(Arc::new(other))] {
                        let factor =
                            newton.factors(&[(curvatures.clone(), earlier)], lambda, intercept).unwrap().remove(0);
                        let (w, b) = newton.solve(&[&factor, &factor], g.slice(s![..d, ..]), &[g[[d, 0]], g[[d, 1]]]);
                        let worst =
                            (&w - &unknown.slice(s![..d, ..])).iter().fold(0.0_f64, |worst, e| worst.max(e.abs()));
                        // Condition numbers are below 1e4 here.
                        assert!(worst < 1e-9, "{n}, {every}, {intercept}: {worst}");
                        assert!((0..2).all(|j| (b[j] - unknown[[d, j]]).abs() < 1e-9), "{b:?}");
                    }
                }
            }
        }
    }
}
