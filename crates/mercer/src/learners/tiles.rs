//! Symmetric matrices as square tiles of their upper half.

use mercer_simd::ops::widen::add_widened;
use mercer_simd::{InstructionSet, Scalar, Update, huge_pages, matmul_into};
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::dataset::SUM_ROWS;

/// Side of a tile: its f32 product (256 KB) and f64 sum (512 KB) fit the second-level cache together.
pub(super) const TILE: usize = 256;
const AREA: usize = TILE * TILE;
/// Tiles of a row that are summed together.
const STRIP: usize = 4;

/// A symmetric n × n matrix in f64. Tile (i, j), i ≤ j, is TILE × TILE row by row; tiles follow each other row of
/// tiles by row of tiles. What lies beyond n is zero. Tiles are what threads share work by.
#[derive(Clone, Debug)]
pub(super) struct SymmetricTiles {
    n: usize,
    tiles: Vec<f64>,
}

impl SymmetricTiles {
    pub(super) fn zeros(n: usize) -> Self {
        let blocks = n.div_ceil(TILE);
        Self { n, tiles: huge_pages::zeros_vec(blocks * (blocks + 1) / 2 * AREA) }
    }

    /// With the upper half given.
    pub(super) fn from_fn(n: usize, value: impl Fn(usize, usize) -> f64 + Sync) -> Self {
        let mut all = Self::zeros(n);
        let places = all.places();
        all.tiles.par_chunks_mut(AREA).zip(places).for_each(|(tile, (i, j))| {
            for (row, values) in tile.chunks_exact_mut(TILE).enumerate().take(n.saturating_sub(i * TILE).min(TILE)) {
                let columns = n.saturating_sub(j * TILE).min(TILE);
                values[..columns].iter_mut().enumerate().for_each(|(c, x)| *x = value(i * TILE + row, j * TILE + c));
            }
        });
        all
    }

    pub(super) fn n(&self) -> usize {
        self.n
    }

    pub(super) fn n_blocks(&self) -> usize {
        self.n.div_ceil(TILE)
    }

    /// Columns of block `i` that lie within n.
    pub(super) fn block(&self, i: usize) -> std::ops::Range<usize> {
        i * TILE..self.n.min((i + 1) * TILE)
    }

    /// Position of tile (i, i) in the list of tiles.
    fn row_start(&self, i: usize) -> usize {
        row_start(i, self.n_blocks())
    }

    pub(super) fn tile(&self, i: usize, j: usize) -> ArrayView2<'_, f64> {
        let at = (self.row_start(i) + j - i) * AREA;
        view(&self.tiles[at..at + AREA])
    }

    /// The tiles of the rows of tiles before `i`, and those of row `i`: (i, i), (i, i + 1), …
    pub(super) fn split_at_row(&mut self, i: usize) -> (TileRows<'_>, &mut [f64]) {
        let (start, end, n_blocks) = (self.row_start(i) * AREA, self.row_start(i + 1) * AREA, self.n_blocks());
        let (before, rest) = self.tiles.split_at_mut(start);
        (TileRows { tiles: before, n_blocks }, &mut rest[..end - start])
    }

    /// self += ZᵀZ for a panel Z: for each group of [`SUM_ROWS`] rows the product of a strip of tiles in the type of Z, the
    /// sum in f64. Threads share strips; a strip takes all groups while it is in cache.
    pub(super) fn add_gram<T: Scalar>(&mut self, z: ArrayView2<'_, T>) {
        let n = self.n;
        self.strips().into_par_iter().for_each_init(
            || vec![T::zero(); TILE.min(n) * (STRIP * TILE).min(n)],
            |product, Strip { i, j, tiles }| {
                let (rows, columns) = (i * TILE..n.min((i + 1) * TILE), j * TILE..n.min(j * TILE + tiles.len() / TILE));
                let width = (STRIP * TILE).min(n);
                let mut product = ArrayViewMut2::from_shape((TILE.min(n), width), product).expect("a strip");
                let mut product = product.slice_mut(s![..rows.len(), ..columns.len()]);
                for z in z.axis_chunks_iter(Axis(0), SUM_ROWS) {
                    let (left, right) = (z.slice(s![.., rows.clone()]), z.slice(s![.., columns.clone()]));
                    matmul_into(left.t(), right, product.view_mut(), Update::Set);
                    add_strip(tiles, product.view());
                }
            },
        );
    }

    /// The tiles as runs of up to [`STRIP`] neighbours in a row of tiles: the left factor of a product is packed once
    /// for a run (measured for 4,096 features: packing takes 12 % of the time, tile by tile 19 %).
    fn strips(&mut self) -> Vec<Strip<'_>> {
        let blocks = self.n.div_ceil(TILE);
        let mut rest = self.tiles.as_mut_slice();
        let mut strips = Vec::new();
        for i in 0..blocks {
            for j in (i..blocks).step_by(STRIP) {
                let (tiles, behind) = rest.split_at_mut(STRIP.min(blocks - j) * AREA);
                strips.push(Strip { i, j, tiles });
                rest = behind;
            }
        }
        strips
    }

    /// self += other.
    pub(super) fn add(&mut self, other: &Self) {
        self.tiles.par_chunks_mut(AREA).zip(other.tiles.par_chunks(AREA)).for_each(|(tile, other)| {
            tile.iter_mut().zip(other).for_each(|(x, y)| *x += y);
        });
    }

    /// self *= factor.
    pub(super) fn scale(&mut self, factor: f64) {
        self.tiles.par_iter_mut().for_each(|x| *x *= factor);
    }

    /// self += factor · v vᵀ.
    pub(super) fn add_outer(&mut self, factor: f64, v: &[f64]) {
        let places = self.places();
        self.tiles.par_chunks_mut(AREA).zip(places).for_each(|(tile, (i, j))| {
            for (row, &a) in tile.chunks_exact_mut(TILE).zip(&v[i * TILE..]) {
                row.iter_mut().zip(&v[j * TILE..]).for_each(|(x, b)| *x += factor * a * b);
            }
        });
    }

    /// self += value · I.
    pub(super) fn add_diagonal(&mut self, value: f64) {
        for i in 0..self.n_blocks() {
            let (at, size) = (self.row_start(i) * AREA, self.block(i).len());
            self.tiles[at..at + AREA].iter_mut().step_by(TILE + 1).take(size).for_each(|x| *x += value);
        }
    }

    /// Copies `other`, of the same size.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.tiles.copy_from_slice(&other.tiles);
    }

    fn places(&self) -> Vec<(usize, usize)> {
        let blocks = self.n_blocks();
        (0..blocks).flat_map(|i| (i..blocks).map(move |j| (i, j))).collect()
    }
}

/// The tiles (i, j), (i, j + 1), …
struct Strip<'a> {
    i: usize,
    j: usize,
    tiles: &'a mut [f64],
}

/// Adds the product of a strip to its tiles.
fn add_strip<T: Scalar>(tiles: &mut [f64], product: ArrayView2<'_, T>) {
    let isa = InstructionSet::best();
    for (tile, product) in tiles.chunks_exact_mut(AREA).zip(product.axis_chunks_iter(Axis(1), TILE)) {
        for (sums, product) in tile.chunks_exact_mut(TILE).zip(product.outer_iter()) {
            add_widened(isa, &mut sums[..product.len()], product.to_slice().expect("row-major"));
        }
    }
}

/// Borrowed leading rows of tiles.
#[derive(Clone, Copy)]
pub(super) struct TileRows<'a> {
    tiles: &'a [f64],
    n_blocks: usize,
}

impl<'a> TileRows<'a> {
    pub(super) fn tile(self, i: usize, j: usize) -> ArrayView2<'a, f64> {
        let at = (row_start(i, self.n_blocks) + j - i) * AREA;
        view(&self.tiles[at..at + AREA])
    }
}

/// Position of tile (i, i) among the tiles of `n_blocks` rows of tiles.
fn row_start(i: usize, n_blocks: usize) -> usize {
    i * n_blocks - i * i.saturating_sub(1) / 2
}

fn view(tile: &[f64]) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape((TILE, TILE), tile).expect("a tile")
}

pub(super) fn view_mut(tile: &mut [f64]) -> ArrayViewMut2<'_, f64> {
    ArrayViewMut2::from_shape((TILE, TILE), tile).expect("a tile")
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    #[test]
    fn gram_outer_and_diagonal_equal_the_definition() {
        for n in [1, 5, TILE, TILE + 1, 2 * TILE + 77] {
            let z = Array2::from_shape_fn((9, n), |(i, j)| ((i * 31 + j * 17) % 13) as f64 - 6.0);
            let v: Vec<f64> = (0..n).map(|i| (i % 5) as f64).collect();
            let mut tiles = SymmetricTiles::zeros(n);
            tiles.add_gram(z.view());
            tiles.add_outer(-0.5, &v);
            tiles.add_diagonal(3.0);
            let mut double = tiles.clone();
            double.scale(-1.0);
            double.scale(-1.0);
            double.add(&tiles);
            let (gram, v) = (z.t().dot(&z), Array2::from_shape_vec((n, 1), v).unwrap());
            let expected = gram - 0.5 * v.dot(&v.t()) + 3.0 * Array2::<f64>::eye(n);
            for i in 0..n {
                for j in i..n {
                    let tile = double.tile(i / TILE, j / TILE);
                    let at = (i % TILE, j % TILE);
                    if i / TILE != j / TILE || at.0 <= at.1 {
                        assert_eq!(tile[at], 2.0 * expected[[i, j]], "n = {n}, ({i}, {j})");
                    }
                }
            }
        }
    }
}
