//! The Hessian of every output, from all rows.
//!
//! With the centred features z̃ of the n rows, their weights ω of mean one and the second derivatives h of the loss at their
//! scores, the Hessian by the weights of one output is
//!
//! H = AᵀA + 2λ·I,  A = diag(√(ωh/n))·Z̃.
//!
//! Rows without curvature (those beyond the margin of a support vector machine) take no part, and of very many dense rows only
//! some do, for all. Where the rows left are at
//! least as many as the features, H itself is factorised; where they are fewer, it is inverted by Woodbury's identity,
//! H⁻¹ = (I − Aᵀ·(AAᵀ + 2λ·I)⁻¹·A) / 2λ. The intercept, which is not penalised, is one more unknown of a bordered system;
//! without one features are not centred. Of sparse rows H is the sum of their own small products.
//!
//! Cost for r rows left, max(8·D, 2²²/D) at most where they are dense: r·D² + D³/3 multiply-adds, or r³/3; memory: 8·n² bytes where n < D, and 4·min(r, D)² for each
//! output; the rows, where they are not kept already. Sparse rows of q values: r·q²/2 multiply-adds and 16·D² bytes for each output; where
//! curvatures are known already, r is the number of rows whose have changed. All in f64.
//!
//! Chapelle, "Training a support vector machine in the primal", Neural Computation 19, 2007.

use std::borrow::Cow;
use std::sync::Arc;

use mercer_simd::ops::dot::{sparse_add_products, sparse_add_scaled_widened};
use mercer_simd::{CsrMatrix, IndexSlice, Scalar};
use ndarray::{Array2, ArrayView2, CowArray, Ix2, s};
use rayon::prelude::*;

use super::product;
use crate::learners::cholesky::Cholesky;
use crate::learners::lbfgs::dot;
use crate::learners::rows::{DenseRows, RowAccess, SparseRows};
use crate::learners::tiles::{SymmetricTiles, TILE};
use crate::{Error, Result};

/// All rows.
pub(crate) struct Newton<'a, T: Scalar> {
    rows: AllRows<'a, T>,
    centre: Vec<f64>,
    /// Z̃Z̃ᵀ of dense rows, where n < D
    products: Option<Array2<f64>>,
}

/// n × D, as they are: what they lose by the centre is subtracted where they are used.
pub(crate) enum AllRows<'a, T: Scalar> {
    Dense(CowArray<'a, T, Ix2>),
    Sparse(Cow<'a, CsrMatrix<T>>),
}

impl<T: Scalar> AllRows<'_, T> {
    fn n_rows(&self) -> usize {
        match self {
            Self::Dense(rows) => rows.nrows(),
            Self::Sparse(rows) => rows.n_rows(),
        }
    }

    fn n_columns(&self) -> usize {
        match self {
            Self::Dense(rows) => rows.ncols(),
            Self::Sparse(rows) => rows.n_columns(),
        }
    }

    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        match self {
            Self::Dense(rows) => DenseRows::new(rows.view()).dot(i, w),
            Self::Sparse(rows) => sparse_rows(rows).dot(i, w),
        }
    }

    fn add_scaled(&self, i: usize, a: f64, w: &mut [f64]) {
        match self {
            Self::Dense(rows) => DenseRows::new(rows.view()).add_scaled(i, a, w),
            Self::Sparse(rows) => sparse_rows(rows).add_scaled(i, a, w),
        }
    }
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
    /// Features are centred where there is an intercept.
    pub(crate) fn new(rows: AllRows<'a, T>, intercept: bool) -> Self {
        let (n, d) = (rows.n_rows(), rows.n_columns());
        let mut centre = vec![0.0; d];
        if intercept {
            (0..n).for_each(|i| rows.add_scaled(i, 1.0, &mut centre));
            centre.iter_mut().for_each(|sum| *sum /= n.max(1) as f64);
        }
        let products = match &rows {
            AllRows::Dense(rows) if n < d => {
                let centred = Array2::from_shape_fn((n, d), |(i, j)| rows[[i, j]].to_f64() - centre[j]);
                let turned = centred.t().as_standard_layout().into_owned();
                Some(product(centred.view(), turned.view()))
            }
            _ => None,
        };
        Self { rows, centre, products }
    }

    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Z̃·weights, weights D × k: the scores of the rows.
    fn scores(&self, weights: ArrayView2<'_, f64>) -> Array2<f64> {
        let vectors: Vec<Vec<f64>> = weights.columns().into_iter().map(|column| column.to_vec()).collect();
        let shifts: Vec<f64> = vectors.iter().map(|w| dot(w, &self.centre)).collect();
        let k = vectors.len();
        let mut out = Array2::zeros((self.rows.n_rows(), k));
        let chunks = out.as_slice_mut().expect("row-major").par_chunks_mut(k.max(1)).with_min_len(TILE);
        chunks.enumerate().for_each(|(i, out)| {
            out.iter_mut().zip(&vectors).zip(&shifts).for_each(|((out, w), shift)| *out = self.rows.dot(i, w) - shift);
        });
        out
    }

    /// Z̃ᵀ·factors, factors n × k; each column by one thread.
    fn turned_product(&self, factors: ArrayView2<'_, f64>) -> Array2<f64> {
        let d = self.centre.len();
        let mut out = Array2::zeros((factors.ncols(), d));
        out.as_slice_mut().expect("row-major").par_chunks_mut(d.max(1)).enumerate().for_each(|(column, out)| {
            let factors = factors.column(column);
            let rows = factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0);
            rows.for_each(|(i, &factor)| self.rows.add_scaled(i, factor, out));
            let sum = factors.sum();
            out.iter_mut().zip(&self.centre).for_each(|(out, c)| *out -= sum * c);
        });
        out.reversed_axes()
    }

    /// What a factor for these curvatures ωh costs, about, in passes by one output: f64 is half as fast as f32, and a
    /// factorisation half as fast as products. Sums of sparse products are a dozen times slower than those.
    pub(crate) fn cost(&self, curvatures: &[f64]) -> f64 {
        let d = self.centre.len() as f64;
        match &self.rows {
            AllRows::Dense(rows) => {
                let r = curvatures.iter().filter(|h| **h > 0.0).count().min(most_summed(self.centre.len())) as f64;
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
        let (n, d) = (self.rows.n_rows(), self.centre.len());
        let mut roots: Vec<f64> = curvatures.iter().map(|h| (h / n as f64).sqrt()).collect();
        let mut active: Vec<usize> = (0..n).filter(|&i| roots[i] > 0.0).collect();
        if matches!(self.rows, AllRows::Dense(_)) {
            thin(&mut active, &mut roots, most_summed(d));
        }
        let mut products = None;
        let (mut matrix, of_rows) = match (&self.rows, &self.products) {
            (AllRows::Sparse(rows), _) => {
                let products = products.insert(SparseProducts::new(rows, &active, &roots, earlier));
                (products.matrix(&self.centre), false)
            }
            (AllRows::Dense(_), Some(products)) => {
                let product = |i: usize, j: usize| {
                    let (i, j) = (active[i], active[j]);
                    roots[i] * roots[j] * products[[i, j]]
                };
                (SymmetricTiles::from_fn(active.len(), product), true)
            }
            (AllRows::Dense(rows), None) if active.len() < d => {
                let centred = |i: usize, j: usize| rows[[i, j]].to_f64() - self.centre[j];
                let turned =
                    Array2::from_shape_fn((d, active.len()), |(j, i)| centred(active[i], j) * roots[active[i]]);
                let mut matrix = SymmetricTiles::zeros(active.len());
                matrix.add_gram(turned.view());
                (matrix, true)
            }
            (AllRows::Dense(rows), None) => (gram(rows.view(), &self.centre, &active, &roots), false),
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
            Array2::from_shape_fn((self.rows.n_rows(), factors.len()), |(i, column)| factors[column].roots[i].powi(2));
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
        let of_rows = factors.iter().any(|factor| factor.of_rows);
        let inner = if of_rows { self.scores(g) } else { Array2::zeros((0, 0)) };
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

/// Rows of D features that are summed at most: so many are enough for a Hessian whose inverse is about right.
fn most_summed(d: usize) -> usize {
    const ROWS_OF_FEATURE: usize = 8;
    const PRODUCTS_OF_FEATURE: usize = 1 << 22;
    (ROWS_OF_FEATURE * d).max(PRODUCTS_OF_FEATURE / d.max(1))
}

/// Leaves `most` of the rows, about, and gives them the weight of all. Multiples of the golden ratio choose them: as many
/// of any that return after some rows.
fn thin(active: &mut Vec<usize>, roots: &mut [f64], most: usize) {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let n = active.len();
    if n <= most {
        return;
    }
    let share = most as f64 / n as f64;
    let is_kept = |at: usize| ((at + 1) as f64 * GOLDEN).fract() < share;
    let kept: Vec<usize> = (0..n).filter(|&at| is_kept(at)).map(|at| active[at]).collect();
    let factor = (n as f64 / kept.len() as f64).sqrt();
    let mut thinned = vec![0.0; roots.len()];
    kept.iter().for_each(|&i| thinned[i] = factor * roots[i]);
    roots.copy_from_slice(&thinned);
    *active = kept;
}

fn sparse_rows<T: Scalar>(rows: &CsrMatrix<T>) -> SparseRows<'_, T, i32> {
    let IndexSlice::I32(indices) = rows.view().indices() else { unreachable!("owned indices have 32 bits") };
    SparseRows::new(rows.view(), indices)
}

/// AᵀA, in panels of rows.
fn gram<T: Scalar>(rows: ArrayView2<'_, T>, centre: &[f64], active: &[usize], roots: &[f64]) -> SymmetricTiles {
    const PANEL: usize = 2048;
    let mut matrix = SymmetricTiles::zeros(rows.ncols());
    let mut panel = Array2::zeros((PANEL.min(active.len()), rows.ncols()));
    for active in active.chunks(PANEL) {
        let mut panel = panel.slice_mut(s![..active.len(), ..]);
        for (mut to, &i) in panel.outer_iter_mut().zip(active) {
            let (row, root) = (rows.row(i), roots[i]);
            let (to, row) = (to.as_slice_mut().expect("row-major"), row.to_slice().expect("row-major"));
            to.iter_mut().zip(row).zip(centre).for_each(|((to, &x), c)| *to = (Scalar::to_f64(x) - c) * root);
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

    /// The sums of some rows stand for those of all: of rows that come in turns of 7, each has its share.
    #[test]
    fn thinned_rows_stand_for_all() {
        let (mut active, mut roots): (Vec<usize>, Vec<f64>) = ((0..7_000).collect(), vec![0.5; 8_000]);
        thin(&mut active, &mut roots, 1_000);
        assert!((990..1_010).contains(&active.len()), "{}", active.len());
        let total: f64 = roots.iter().map(|root| root * root).sum();
        assert!((total - 7_000.0 * 0.25).abs() < 1e-9 * total);
        for turn in 0..7 {
            let of_turn = active.iter().filter(|i| *i % 7 == turn).count();
            assert!((130..156).contains(&of_turn), "{turn}: {of_turn}");
        }
        let before = active.clone();
        thin(&mut active, &mut roots, 1_100);
        assert_eq!(active, before);
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
                let rows = [AllRows::Dense(x.view().into()), AllRows::Sparse(Cow::Owned(sparse(&x)))];
                for newton in rows.map(|rows| Newton::new(rows, intercept)) {
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
