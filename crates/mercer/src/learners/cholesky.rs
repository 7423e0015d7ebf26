//! Cholesky factorisation of a symmetric positive definite matrix, by tiles.
//!
//! A = RᵀR, R upper triangular, row of tiles by row of tiles (left-looking):
//! R(i,j) = R(i,i)⁻ᵀ · (A(i,j) − Σ_{k<i} R(k,i)ᵀ·R(k,j)). The tiles of a row are independent: threads share them, and
//! since every product goes through `matmul_into`, any number of threads gives the same bits. That is why this is
//! our own and not a library's (`docs/decisions/0003-own-cholesky.md` has the speeds).
//!
//! Cost: n³/3 multiply-adds for the factor, n² for each right-hand side; memory: in place.

use mercer_simd::{Update, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use super::tiles::{SymmetricTiles, TILE, view_mut};

/// The factor R, and the inverses of its diagonal tiles.
#[derive(Debug)]
pub(super) struct Cholesky {
    factor: SymmetricTiles,
    inverses: Vec<Array2<f64>>,
}

impl Cholesky {
    /// Factorises; `None` when the matrix is not positive definite in f64.
    pub(super) fn new(mut a: SymmetricTiles) -> Option<Self> {
        let mut inverses = Vec::with_capacity(a.n_blocks());
        for i in 0..a.n_blocks() {
            // What lies beyond n, in the last tile, is left out.
            let lens: Vec<usize> = (i..a.n_blocks()).map(|j| a.block(j).len()).collect();
            let (above, row) = a.split_at_row(i);
            row.par_chunks_mut(TILE * TILE).zip(&lens).enumerate().for_each(|(at, (tile, &len))| {
                let mut tile = view_mut(tile);
                let mut tile = tile.slice_mut(s![..lens[0], ..len]);
                for k in 0..i {
                    let (left, right) = (above.tile(k, i), above.tile(k, i + at));
                    let (left, right) = (left.slice(s![.., ..lens[0]]), right.slice(s![.., ..len]));
                    matmul_into(left.t(), right, tile.view_mut(), Update::Subtract);
                }
            });
            let (diagonal, rest) = row.split_at_mut(TILE * TILE);
            let inverse = factorize_tile(diagonal, lens[0])?;
            rest.par_chunks_mut(TILE * TILE).zip(&lens[1..]).for_each(|(tile, &len)| {
                let mut tile = view_mut(tile);
                let mut tile = tile.slice_mut(s![.., ..len]);
                let right = tile.to_owned();
                matmul_into(inverse.t(), right.view(), tile.view_mut(), Update::Set);
            });
            inverses.push(inverse);
        }
        Some(Self { factor: a, inverses })
    }

    /// The tiles, to be used again.
    pub(super) fn into_tiles(self) -> SymmetricTiles {
        self.factor
    }

    /// X with A·X = B, for every column of B (n × c).
    pub(super) fn solve(&self, b: ArrayView2<'_, f64>) -> Array2<f64> {
        let blocks = self.factor.n_blocks();
        let mut x = b.as_standard_layout().into_owned();
        for i in 0..blocks {
            self.substitute(&mut x, i, 0..i, true);
        }
        for i in (0..blocks).rev() {
            self.substitute(&mut x, i, i + 1..blocks, false);
        }
        x
    }

    /// Solves for block `i` of x once the blocks `known` are: forward with Rᵀ, backward with R.
    fn substitute(&self, x: &mut Array2<f64>, i: usize, known: std::ops::Range<usize>, forward: bool) {
        let place = self.factor.block(i);
        let mut rest = x.slice(s![place.clone(), ..]).to_owned();
        for k in known {
            let (of_k, solved) = (self.factor.block(k).len(), x.slice(s![self.factor.block(k), ..]));
            if forward {
                let tile = self.factor.tile(k, i);
                matmul_into(tile.slice(s![..of_k, ..place.len()]).t(), solved, rest.view_mut(), Update::Subtract);
            } else {
                let tile = self.factor.tile(i, k);
                matmul_into(tile.slice(s![..place.len(), ..of_k]), solved, rest.view_mut(), Update::Subtract);
            }
        }
        let inverse = self.inverses[i].slice(s![..place.len(), ..place.len()]);
        let inverse = if forward { inverse.t() } else { inverse };
        matmul_into(inverse, rest.view(), x.slice_mut(s![place, ..]), Update::Set);
    }
}

/// Factorises the leading `size` × `size` part of a diagonal tile in place (the upper half) and inverts it; the rest of
/// the inverse is zero.
fn factorize_tile(tile: &mut [f64], size: usize) -> Option<Array2<f64>> {
    let mut inverse = Array2::zeros((TILE, TILE));
    factorize(view_mut(tile).slice_mut(s![..size, ..size]), inverse.slice_mut(s![..size, ..size]))?;
    Some(inverse)
}

/// R in the upper half of `a`, and R⁻¹, by halves, so that all but small blocks is matrix products:
///
/// R₁₂ = R₁₁⁻ᵀ·A₁₂, A₂₂ − R₁₂ᵀ·R₁₂ = R₂₂ᵀ·R₂₂, and the inverse has −R₁₁⁻¹·R₁₂·R₂₂⁻¹ in its corner.
fn factorize(a: ArrayViewMut2<'_, f64>, inverse: ArrayViewMut2<'_, f64>) -> Option<()> {
    const SMALL: usize = 32;
    let n = a.nrows();
    if n <= SMALL {
        return factorize_small(a, inverse);
    }
    let ([a11, mut a12, mut a22], [mut x11, mut x12, mut x22]) = (upper_quarters(a), upper_quarters(inverse));
    factorize(a11, x11.view_mut())?;
    let right = a12.to_owned();
    matmul_into(x11.t(), right.view(), a12.view_mut(), Update::Set);
    matmul_into(a12.t(), a12.view(), a22.view_mut(), Update::Subtract);
    factorize(a22, x22.view_mut())?;
    let mut corner = Array2::zeros(a12.dim());
    matmul_into(a12.view(), x22.view(), corner.view_mut(), Update::Set);
    matmul_into(x11.view(), corner.view(), x12.view_mut(), Update::Subtract);
    Some(())
}

/// The quarters 11, 12 and 22 of a square matrix.
fn upper_quarters(a: ArrayViewMut2<'_, f64>) -> [ArrayViewMut2<'_, f64>; 3] {
    let half = a.nrows() / 2;
    let (top, bottom) = a.split_at(Axis(0), half);
    let (a11, a12) = top.split_at(Axis(1), half);
    let (_, a22) = bottom.split_at(Axis(1), half);
    [a11, a12, a22]
}

fn factorize_small(mut a: ArrayViewMut2<'_, f64>, mut inverse: ArrayViewMut2<'_, f64>) -> Option<()> {
    let n = a.nrows();
    for k in 0..n {
        if !(a[[k, k]] > 0.0 && a[[k, k]].is_finite()) {
            return None;
        }
        let root = a[[k, k]].sqrt();
        a.slice_mut(s![k, k..]).mapv_inplace(|x| x / root);
        for i in k + 1..n {
            let factor = a[[k, i]];
            for j in i..n {
                a[[i, j]] -= factor * a[[k, j]];
            }
        }
    }
    // From the last row up: X[i,:] = (e_i − Σ_{k>i} R[i,k]·X[k,:]) / R[i,i].
    for i in (0..n).rev() {
        for j in i..n {
            let sum: f64 = (i + 1..=j).map(|k| a[[i, k]] * inverse[[k, j]]).sum();
            inverse[[i, j]] = (f64::from(u8::from(i == j)) - sum) / a[[i, i]];
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positive_definite(n: usize) -> (SymmetricTiles, Array2<f64>) {
        let z = Array2::from_shape_fn((n + 3, n), |(i, j)| ((i * 37 + j * 101 + i * j) as f64).sin());
        let mut tiles = SymmetricTiles::zeros(n);
        tiles.add_gram(z.view());
        tiles.add_diagonal(0.1);
        (tiles, z.t().dot(&z) + 0.1 * Array2::<f64>::eye(n))
    }

    #[test]
    fn solves_what_it_is_given() {
        for n in [1, 2, 30, TILE - 1, TILE, TILE + 1, 2 * TILE + 88] {
            let (tiles, a) = positive_definite(n);
            let x = Array2::from_shape_fn((n, 3), |(i, j)| (i as f64 - j as f64).cos());
            let solved = Cholesky::new(tiles).unwrap().solve(a.dot(&x).view());
            // Backward stability: the error is bounded by a small multiple of n·ε·cond(A), here below 1e-7.
            let error = (&solved - &x).fold(0.0_f64, |worst, e| worst.max(e.abs()));
            assert!(error < 1e-7, "n = {n}: {error}");
        }
    }

    #[test]
    fn the_same_bits_with_any_number_of_threads() {
        let solve = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (tiles, a) = positive_definite(2 * TILE + 10);
                Cholesky::new(tiles).unwrap().solve(a.slice(s![.., ..2]))
            })
        };
        assert_eq!(solve(1), solve(2));
        assert_eq!(solve(1), solve(3));
    }

    #[test]
    fn refuses_an_indefinite_matrix() {
        let mut tiles = positive_definite(TILE + 5).0;
        tiles.add_diagonal(-1.0e4);
        assert!(Cholesky::new(tiles).is_none());
        let mut tiles = SymmetricTiles::zeros(3);
        tiles.add_diagonal(f64::NAN);
        assert!(Cholesky::new(tiles).is_none());
    }
}
