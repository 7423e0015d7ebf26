//! Random projections in the span of landmarks: KG-RP and KORP.
//!
//! Let ψ(x) = K^(−½)·k(L, x) be the coordinates of x in an orthonormal basis of the span of p landmarks, so that ⟨ψ(x),ψ(y)⟩ is what the Nyström
//! method makes of k(x, y). Both forms project them: φ(x) = Vᵀψ(x), with V of p × k random entries and E[V·Vᵀ] = I, so
//!
//! E⟨φ(x),φ(y)⟩ = ⟨ψ(x),ψ(y)⟩ = k(x, L)·K⁻¹·k(L, y).
//!
//! **KG-RP**: a column of V has t signs ±√(p/(t·k)) at different places, the others are 0: a sum of t landmarks with random signs, whitened. With a = ψ(x),
//! b = ψ(y), s = Σ aᵢ²bᵢ² and c = p(t−1)/(t(p−1)),
//!
//! Var = (s·p/t + c·(‖a‖²‖b‖² + 2⟨a,b⟩² − 3s) − ⟨a,b⟩²) / k.
//!
//! **KORP**: the columns of V are √(p/k) times random orthonormal directions, all k-frames alike. With β = k(p−k)/(p(p+2)(p−1)) and α = k/p − (p+1)β,
//!
//! Var = (p/k)²·(α⟨a,b⟩² + β(‖a‖²‖b‖² + ⟨a,b⟩²)) − ⟨a,b⟩²,
//!
//! which is 0 for k = p.
//!
//! Where we differ: Kulis and Grauman take the mean of t landmarks, less that of all p, for V. Its expectation is (1 − t/p)·(I − 11ᵀ/p): all distances shrink
//! by t/p, a quarter for t = 30 of p = 122, and a direction is lost. Signs need no mean subtracted and lose nothing. KORP
//! turns a basis by chance, so that any will do: it takes the triangular one.
//!
//! Cost beside that of the Nyström method: 9p³ for K^(−½) and k·t·p for KG-RP, 3p·k² + p²·k for KORP.
//!
//! References: LS19, section 2.4 (2.18, 2.19) and 4.3.4, López-Sánchez, *Low Computational Cost Machine Learning*, Universidad de Salamanca 2019.
//! Kulis and Grauman, "Kernelized locality-sensitive hashing", PAMI 34, 2012. Alavi, Wiliem, Zhao, Lovell and Sanderson, "Random
//! projections on manifolds of symmetric positive definite matrices for image classification", WACV 2014.

use mercer_simd::{Update, matmul_into};
use ndarray::{Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

use crate::eigen::{Eigen, orthonormal_rows};
use crate::random::{Purpose, Stream, normal_columns};

/// Rows of products that a thread takes.
const TILE: usize = 256;

/// K^(−½) of a matrix whose pivots are all above the tolerance.
pub(super) fn inverse_root(k: Array2<f64>) -> Array2<f64> {
    let n = k.nrows() as f64;
    let Eigen { values, vectors } = Eigen::new(k);
    // No eigenvalue can be told from those of rounding below this.
    let least = n * f64::EPSILON * values[0];
    let mut scaled = vectors.clone();
    for (mut row, value) in scaled.outer_iter_mut().zip(&values) {
        row /= value.max(least).sqrt();
    }
    product(vectors.t(), scaled.view())
}

/// K^(−½)·V of signed sums.
pub(super) fn signed_sums(root: &Array2<f64>, n_terms: usize, n_components: usize, seed: u64) -> Array2<f64> {
    let (p, t) = (root.nrows(), n_terms.min(root.nrows()));
    let scale = (p as f64 / (t as f64 * n_components as f64)).sqrt();
    let mut by_component = Array2::<f64>::zeros((n_components, p));
    let rows = by_component.axis_chunks_iter_mut(Axis(0), 1).collect::<Vec<_>>().into_par_iter().enumerate();
    rows.for_each(|(j, mut out)| {
        let mut out = out.row_mut(0);
        for (i, sign) in terms(seed, j, p, t) {
            // The root is symmetric: its rows are its columns.
            out.scaled_add(sign * scale, &root.row(i));
        }
    });
    by_component.t().as_standard_layout().into_owned()
}

/// The places and signs of column j of V: t of p.
fn terms(seed: u64, j: usize, p: usize, t: usize) -> Vec<(usize, f64)> {
    let (mut order, mut signs) = (vec![0; p], vec![0.0; t]);
    Stream::new(seed, Purpose::Permutation).lane(j).permutation_into(&mut order);
    Stream::new(seed, Purpose::Sign).lane(j).sign_into(0, &mut signs);
    order.into_iter().map(|i| i as usize).zip(signs).collect()
}

/// R⁻¹·V of orthonormal directions, as many as there is room for.
pub(super) fn orthonormal(inverse: &Array2<f64>, n_components: usize, seed: u64) -> Array2<f64> {
    let p = inverse.nrows();
    let k = n_components.min(p);
    let normal = normal_columns::<f64>(seed, Purpose::Projection, p, 0..k);
    let mut directions = normal.t().as_standard_layout().into_owned();
    orthonormal_rows(&mut directions);
    directions *= (p as f64 / k as f64).sqrt();
    let v = directions.t().as_standard_layout().into_owned();
    product(inverse.view(), v.view())
}

/// a·b, by the threads of the current pool.
fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    let chunks = out.axis_chunks_iter_mut(Axis(0), TILE).collect::<Vec<_>>().into_par_iter().enumerate();
    chunks.for_each(|(at, out)| {
        let rows = a.slice(s![at * TILE..at * TILE + out.nrows(), ..]);
        matmul_into(rows, b, out, Update::Set);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random coordinates of two rows, and what K^(−½) = I or R⁻¹ = I makes of them.
    fn coordinates(p: usize) -> (Vec<f64>, Vec<f64>) {
        let both = normal_columns::<f64>(77, Purpose::Projection, p, 0..2);
        (both.column(0).to_vec(), both.column(1).iter().zip(both.column(0)).map(|(y, x)| y + 0.5 * x).collect())
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// Mean and variance of ⟨Vᵀa,Vᵀb⟩ over many seeds are within 4.5 standard errors of what the module's head states.
    fn check(p: usize, expected_variance: f64, v: impl Fn(u64) -> Array2<f64>) {
        const N: usize = 4000;
        let (a, b) = coordinates(p);
        let (a, b) = (ndarray::arr1(&a), ndarray::arr1(&b));
        let found: Vec<f64> = (0..N as u64).map(&v).map(|v| v.t().dot(&a).dot(&v.t().dot(&b))).collect();
        let mean = found.iter().sum::<f64>() / N as f64;
        let z = (mean - a.dot(&b)) / (expected_variance / N as f64).sqrt();
        assert!(z.abs() < 4.5, "the mean is {mean}, not {}: z = {z}", a.dot(&b));
        let squares: Vec<f64> = found.iter().map(|x| (x - a.dot(&b)).powi(2)).collect();
        let variance = squares.iter().sum::<f64>() / N as f64;
        let spread = (squares.iter().map(|x| (x - variance).powi(2)).sum::<f64>() / N as f64 / N as f64).sqrt();
        let z = (variance - expected_variance) / spread;
        assert!(z.abs() < 4.5, "the variance is {variance}, not {expected_variance}: z = {z}");
    }

    #[test]
    fn signed_sums_are_unbiased_and_vary_as_stated() {
        for (p, t, k) in [(12, 1, 3), (12, 5, 3), (12, 12, 7), (2, 1, 5)] {
            let (a, b) = coordinates(p);
            let (pf, tf) = (p as f64, t as f64);
            let s: f64 = a.iter().zip(&b).map(|(a, b)| (a * b).powi(2)).sum();
            let c = pf * (tf - 1.0) / (tf * (pf - 1.0));
            let (ab, lengths) = (dot(&a, &b), dot(&a, &a) * dot(&b, &b));
            let variance = (s * pf / tf + c * (lengths + 2.0 * ab * ab - 3.0 * s) - ab * ab) / k as f64;
            check(p, variance, |seed| signed_sums(&Array2::eye(p), t, k, seed));
        }
    }

    #[test]
    fn orthonormal_directions_are_unbiased_and_vary_as_stated() {
        for (p, k) in [(12, 1), (12, 5), (3, 2)] {
            let (a, b) = coordinates(p);
            let (pf, kf) = (p as f64, k as f64);
            let beta = kf * (pf - kf) / (pf * (pf + 2.0) * (pf - 1.0));
            let alpha = kf / pf - (pf + 1.0) * beta;
            let (ab, lengths) = (dot(&a, &b), dot(&a, &a) * dot(&b, &b));
            let variance = (pf / kf).powi(2) * (alpha * ab * ab + beta * (lengths + ab * ab)) - ab * ab;
            check(p, variance, |seed| orthonormal(&Array2::eye(p), k, seed));
        }
        // All of them: a rotation.
        let v = orthonormal(&Array2::eye(9), 20, 3);
        let off = v.dot(&v.t()) - Array2::<f64>::eye(9);
        assert!(v.dim() == (9, 9) && off.iter().all(|x| x.abs() < 1e-14), "{off}");
    }

    #[test]
    fn the_root_undoes_the_matrix() {
        let x = normal_columns::<f64>(5, Purpose::Projection, 80, 0..60);
        let k = x.t().dot(&x);
        let root = inverse_root(k.clone());
        let off = root.dot(&k).dot(&root) - Array2::<f64>::eye(60);
        assert!(off.iter().all(|x| x.abs() < 1e-10), "{off}");
    }
}
