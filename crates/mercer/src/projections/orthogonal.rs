//! Columns with the law of normal vectors, but orthogonal to one another, as many at a time as there are inputs.
//!
//! A block is Q·diag(χ₁ … χ_d): Q uniform over the orthogonal matrices, the lengths independent χ(d). Q is a product of d
//! reflections of normal vectors of lengths d, d − 1, … 1 and a diagonal of signs, which is uniform exactly (Stewart). Each
//! column alone is N(0, I): random features made of them are unbiased, and less varied than independent ones (Yu et al.).
//!
//! Cost of a block: 2·d³ flops, panels of columns at a time, each element a fixed chain of operations in f64: the same bits
//! everywhere. Reflections are drawn again for each block of which columns are asked for.
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
    /// The block that was drawn last, and its number.
    last: Option<(usize, Vec<Reflection>)>,
}

/// x ↦ x − β·v·⟨v, x⟩ of the last `v.len()` entries, the first of them times `sign` before.
struct Reflection {
    v: Vec<f64>,
    beta: f64,
    sign: f64,
}

impl Blocks {
    pub(super) fn new(seed: u64, n_inputs: usize) -> Self {
        Self { seed, n_inputs, last: None }
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
            self.panel_into(block, first, &mut panel);
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

    /// The columns of Q of a block from `first` on: the reflections applied to unit vectors, the shortest first.
    fn panel_into(&mut self, block: usize, first: usize, panel: &mut [[f64; PANEL]]) {
        for (i, row) in panel.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = if i == first + j { 1.0 } else { 0.0 };
            }
        }
        let isa = InstructionSet::best();
        for reflection in self.reflections(block).iter().rev() {
            let row = panel.len() - reflection.v.len();
            panel[row].iter_mut().for_each(|x| *x *= reflection.sign);
            reflect(isa, &reflection.v, reflection.beta, panel);
        }
    }

    fn reflections(&mut self, block: usize) -> &[Reflection] {
        if self.last.as_ref().is_none_or(|(number, _)| *number != block) {
            let drawn = (0..self.n_inputs).map(|k| Reflection::draw(self.seed, self.n_inputs, block, k)).collect();
            self.last = Some((block, drawn));
        }
        &self.last.as_ref().expect("it was just drawn").1
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
