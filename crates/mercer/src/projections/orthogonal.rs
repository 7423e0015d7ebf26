//! Columns with the law of normal vectors, but orthogonal to one another, as many at a time as there are inputs.
//!
//! A block is Q·diag(χ₁ … χ_d): Q uniform over the orthogonal matrices, the lengths independent χ(d). Q is a product of d
//! reflections of normal vectors of lengths d, d − 1, … 1 and a diagonal of signs, which is uniform exactly (Stewart). Each
//! column alone is N(0, I): random features made of them are unbiased, and less varied than independent ones (Yu et al.).
//!
//! Reflection k changes the rows from k on alone: column j, a unit vector at first, needs those up to j and no more. So
//! n columns of a block take n reflections of d numbers and 2·d·n² flops, less what is above the diagonal: d·n memory
//! beside the columns, at most d². Panels of columns are worked on at a time, each element a fixed chain of operations
//! in f64: the same bits everywhere. Reflections are kept until columns of another block are asked for.
//!
//! References: Stewart, "The efficient generation of random orthogonal matrices with an application to condition
//! estimators", SIAM J. Numerical Analysis 17, 1980; Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, "Orthogonal random
//! features", NIPS 2016.

use std::ops::Range;

use mercer_simd::InstructionSet;
use mercer_simd::ops::reflect::{PANEL, reflect};
use ndarray::{Array2, s};

use crate::random::{Purpose, Stream};

/// The blocks of a matrix of orthogonal columns.
pub(super) struct Blocks {
    seed: u64,
    n_inputs: usize,
    /// The block that was asked for last.
    block: usize,
    /// Its first reflections, as many as were needed.
    reflections: Vec<Reflection>,
}

/// x ↦ x − β·v·⟨v, x⟩ of the last `v.len()` entries, the first of them times `sign` before.
struct Reflection {
    v: Vec<f64>,
    beta: f64,
    sign: f64,
}

impl Blocks {
    pub(super) fn new(seed: u64, n_inputs: usize) -> Self {
        Self { seed, n_inputs, block: 0, reflections: Vec::new() }
    }

    /// Memory for each input while `n_outputs` columns are drawn: reflections, and a panel.
    pub(super) fn bytes_of_an_input(n_inputs: usize, n_outputs: usize) -> u128 {
        8 * (n_outputs.min(n_inputs) + PANEL) as u128
    }

    /// The columns of a range, n_inputs × as many.
    pub(super) fn columns(&mut self, range: Range<usize>) -> Array2<f64> {
        let mut out = Array2::zeros((self.n_inputs, range.len()));
        let lengths = Stream::new(self.seed, Purpose::RowLength);
        let mut panel = vec![[0.0; PANEL]; self.n_inputs];
        let mut start = range.start;
        while start < range.end {
            let (block, first) = (start / self.n_inputs, start % self.n_inputs);
            let end = range.end.min(start + PANEL).min((block + 1) * self.n_inputs);
            self.panel_into(block, first..first + (end - start), &mut panel);
            let columns = s![.., start - range.start..end - range.start];
            for (mut to, from) in out.slice_mut(columns).outer_iter_mut().zip(&panel) {
                for ((to, from), j) in to.iter_mut().zip(from).zip(start as u64..) {
                    *to = from * lengths.chi(self.n_inputs as f64, j);
                }
            }
            start = end;
        }
        out
    }

    /// Some columns of Q of a block, at most [`PANEL`]: the reflections applied to unit vectors, the shortest first.
    fn panel_into(&mut self, block: usize, columns: Range<usize>, panel: &mut [[f64; PANEL]]) {
        for (i, row) in panel.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = if i == columns.start + j { 1.0 } else { 0.0 };
            }
        }
        self.draw(block, columns.end);
        self.reflections[..columns.end].iter().rev().for_each(|reflection| reflection.apply(panel));
    }

    /// Sees that the first `n` reflections of a block are there.
    fn draw(&mut self, block: usize, n: usize) {
        if self.block != block {
            self.block = block;
            self.reflections.clear();
        }
        let missing = self.reflections.len()..n;
        self.reflections.extend(missing.map(|k| Reflection::draw(self.seed, self.n_inputs, block, k)));
    }
}

impl Reflection {
    /// Takes a normal vector x of n_inputs − k entries to ∓‖x‖·e₁: v = x ± ‖x‖·e₁, β = 2/‖v‖².
    fn draw(seed: u64, n_inputs: usize, block: usize, k: usize) -> Self {
        let mut v = vec![0.0; n_inputs - k];
        Stream::new(seed, Purpose::Projection).lane(block * n_inputs + k).normal_into(0, &mut v);
        let squared: f64 = v.iter().map(|x| x * x).sum();
        let sign = if v[0] < 0.0 { 1.0 } else { -1.0 };
        v[0] -= sign * squared.sqrt();
        let beta = 2.0 / v.iter().map(|x| x * x).sum::<f64>();
        Self { v, beta, sign }
    }

    fn apply(&self, panel: &mut [[f64; PANEL]]) {
        let row = panel.len() - self.v.len();
        panel[row].iter_mut().for_each(|x| *x *= self.sign);
        reflect(InstructionSet::best(), &self.v, self.beta, panel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Q = HₙΛₙ … of Stewart, whose R has positive diagonal: column 0 of Q is the first vector, of length 1.
    #[test]
    fn columns_are_orthogonal_and_the_first_is_the_first_vector() {
        let (seed, d) = (3, 45);
        let columns = Blocks::new(seed, d).columns(0..2 * d);
        for block in 0..2 {
            let q = columns.slice(s![.., block * d..(block + 1) * d]);
            let gram = q.t().dot(&q);
            for ((i, j), &value) in gram.indexed_iter() {
                let scale = (gram[[i, i]] * gram[[j, j]]).sqrt();
                assert!(i == j || value.abs() < 1e-13 * scale, "columns {i} and {j}: {value}");
            }
            let mut x = vec![0.0; d];
            Stream::new(seed, Purpose::Projection).lane(block * d).normal_into(0, &mut x);
            let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let chi = gram[[0, 0]].sqrt();
            for (got, x) in q.column(0).iter().zip(&x) {
                assert!((got / chi - x / length).abs() < 1e-13, "{got} {x}");
            }
        }
    }

    /// To the bit: a column is what all d reflections make of its unit vector, those beyond it included.
    #[test]
    fn later_reflections_change_nothing() {
        for (seed, d) in [(3, 1), (4, 2), (5, 33), (6, 75)] {
            let columns = Blocks::new(seed, d).columns(0..2 * d);
            let chi = Stream::new(seed, Purpose::RowLength);
            for (j, column) in columns.columns().into_iter().enumerate() {
                let mut panel = vec![[0.0; PANEL]; d];
                panel[j % d] = [1.0; PANEL];
                (0..d).rev().for_each(|k| Reflection::draw(seed, d, j / d, k).apply(&mut panel));
                let length = chi.chi(d as f64, j as u64);
                assert!(
                    column.iter().zip(&panel).all(|(x, row)| x.to_bits() == (row[0] * length).to_bits()),
                    "{d}: {j}"
                );
            }
        }
    }

    /// All d reflections would be 256 GB here.
    #[test]
    fn few_columns_of_many_inputs_take_few_reflections() {
        let d = 1 << 18;
        let columns = Blocks::new(1, d).columns(0..2);
        let (a, b) = (columns.column(0), columns.column(1));
        assert!(a.dot(&b).abs() < 1e-12 * d as f64, "{}", a.dot(&b));
        assert_eq!(columns, Blocks::new(1, d).columns(0..5).slice(s![.., ..2]));
    }

    #[test]
    fn any_range_gives_the_same_columns() {
        let whole = Blocks::new(7, 40).columns(0..130);
        for range in [0..1, 3..50, 39..41, 64..130] {
            assert_eq!(Blocks::new(7, 40).columns(range.clone()), whole.slice(s![.., range]));
        }
    }

    /// The lengths have the mean square of chi numbers: d ± 4.5 standard errors.
    #[test]
    fn lengths_follow_chi() {
        let (d, n) = (10, 4_000);
        let columns = Blocks::new(1, d).columns(0..n);
        let mean = columns.iter().map(|x| x * x).sum::<f64>() / n as f64;
        assert!((mean - d as f64).abs() < 4.5 * (2.0 * d as f64 / n as f64).sqrt(), "{mean}");
    }
}
