//! PK-RP: a random projection from the feature space of a polynomial kernel, whose vectors are used again and again.
//!
//! φⱼ(x) = (k·t)^-½ · Σᵢ Πₗ ⟨x, v₍ⱼᵢₗ₎⟩: each of k features is the sum of t products of g projections, along vectors taken from
//! p ≤ g·t·k ones. The entries of the vectors are normal, or ±√s with probability 1/(2s) each. By the [module's](super)
//! offsets the kernel is (γ⟨x,y⟩ + c)^g.
//!
//! E⟨φ(x),φ(y)⟩ = k(x,y), for any p: the vectors of a product are different ones. With N = ‖x‖²‖y‖² and κ = ⟨x,y⟩ of rows
//! √γ·x with √c behind them, k(x,x)·k(y,y) = N^g, and M = (N + 2κ² + (s−3)·Σxᵢ²yᵢ²)^g, s = 3 for normal entries, features without
//! common vectors, as for p = g·t·k, have the variance
//!
//! Var⟨φ(x),φ(y)⟩ = (N^g + κ^2g + (M − N^g − 2κ^2g)/t)/k.
//!
//! Fewer vectors make features depend on each other, which costs variance: no closed form of it is known here.
//!
//! **Which vectors.** All p are shuffled into a deck, from which g·t are dealt to a feature; an emptied deck is followed by
//! another one, in which those that the feature has already go back. So all vectors of a feature are different, and no
//! vector is used more than once more often than another. LS19's repetition minimization (section 4.4.5, pseudocode 2)
//! shuffles all uses at once, after which a product may have a vector twice: E⟨x,v⟩²⟨y,v⟩² = 2κ² + N, a bias.
//!
//! For t = 1, s = 1 and p = g·k this is Random Maclaurin for the polynomial kernel. t > 1 makes features nearly normal, so that
//! the variance is that of a random projection; it costs t times the products, and no more projections.
//!
//! Cost of a row: 2·d·p flops at the speed of a matrix product (d·p/s additions from s = 2 on), and g·t·k multiplications.
//! Memory d·p/s numbers and g·t·k indices.
//!
//! References: LS19, D. López-Sánchez, *Low Computational Cost Machine Learning: Random Projections and Polynomial Kernels*, PhD
//! thesis, Universidad de Salamanca 2019, chapter 4 and appendix A; Kar and Karnick, "Random feature maps for dot product kernels", AISTATS 2012.
//!
//! ```
//! use mercer::feature_maps::{FeatureMap, PkRpSpec};
//! use ndarray::{Array2, array};
//!
//! let map = PkRpSpec { c: 0.0, ..PkRpSpec::new(2_000, 2) }.map::<f64>(1.0, 3, 0)?;
//! let mut features = Array2::zeros((2, 2_000));
//! let mut scratch = vec![0.0; map.scratch_len(2)];
//! map.transform_into(array![[1.0, 0.0, 1.0], [1.0, 2.0, 0.0]].view().into(), features.view_mut(), &mut scratch)?;
//! // ⟨x,y⟩² = 1, and the lengths are √2 and √5.
//! assert!((features.row(0).dot(&features.row(1)) - 1.0).abs() < 3.0);
//! # Ok::<(), mercer::Error>(())
//! ```

use std::ops::Range;

use mercer_simd::Scalar;
use mercer_simd::ops::products::ProductTable;
use serde::{Deserialize, Serialize};

use super::{TableMap, check_polynomial};
use crate::feature_maps::Gamma;
use crate::projections::{DenseProjection, Projection, check_s, n_sparse_signs, sparse_signs};
use crate::random::{Law, Purpose, Stream};
use crate::room::check_room;
use crate::{Error, Result};

/// Sums of products of shared projections: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | k, number of features | at least 1 |
/// | `degree` | 2 | g | 1 to 64 |
/// | `gamma` | `scale` | γ | above 0 |
/// | `c` | 1 | the constant of the kernel | at least 0 |
/// | `n_terms` | 1 | t, products of a feature | at least 1 |
/// | `n_vectors` | k, or g·t where that is more | p | g·t to g·t·k |
/// | `law` | normal | of the entries of the vectors | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PkRpSpec {
    /// number of features
    pub n_components: usize,
    /// factors of a product
    pub degree: u32,
    /// what inner products are multiplied by
    pub gamma: Gamma,
    /// what is added to them
    pub c: f64,
    /// products of a feature
    pub n_terms: usize,
    /// different vectors; as many as features when absent
    pub n_vectors: Option<usize>,
    /// of the entries of the vectors
    pub law: VectorLaw,
}

/// How the entries of random vectors are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorLaw {
    /// Standard normal.
    Gaussian,
    /// ±√s with probability 1/(2s) each, else zero.
    Sparse(f64),
}

impl VectorLaw {
    /// Refuses a law that is none.
    pub(super) fn validate(self) -> Result<()> {
        match self {
            Self::Gaussian => Ok(()),
            Self::Sparse(s) => check_s(s),
        }
    }

    pub(super) fn law(self) -> Law {
        match self {
            Self::Gaussian => Law::Normal,
            Self::Sparse(s) => Law::SparseSign { s },
        }
    }

    /// V of these columns of a matrix, times `factor`.
    pub(super) fn projection<T: Scalar>(
        self,
        seed: u64,
        n_inputs: usize,
        columns: Range<usize>,
        factor: f64,
    ) -> Result<Box<dyn Projection<T>>> {
        match self {
            Self::Gaussian => Ok(Box::new(DenseProjection::of_law(self.law(), seed, n_inputs, columns, factor)?)),
            Self::Sparse(s) => sparse_signs(seed, n_inputs, columns, s, factor),
        }
    }

    /// Numbers of such a V, about.
    pub(in crate::feature_maps) fn n_entries(self, n_inputs: u64, n_columns: u64) -> u64 {
        match self {
            Self::Gaussian => n_inputs.saturating_mul(n_columns),
            Self::Sparse(s) => n_sparse_signs(s, n_inputs, n_columns),
        }
    }
}

/// More products are a slip of the hand.
const MAX_INDICES: u128 = 1 << 31;

impl PkRpSpec {
    /// With every other parameter at its default.
    pub fn new(n_components: usize, degree: u32) -> Self {
        let (gamma, law) = (Gamma::Scale, VectorLaw::Gaussian);
        Self { n_components, degree, gamma, c: 1.0, n_terms: 1, n_vectors: None, law }
    }

    /// p.
    pub fn n_vectors(&self) -> usize {
        let of_feature = self.n_terms.saturating_mul(self.degree as usize);
        let most = of_feature.saturating_mul(self.n_components);
        self.n_vectors.unwrap_or(self.n_components.max(of_feature).min(most))
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        check_polynomial(self.degree, self.c)?;
        self.gamma.validate()?;
        for (name, n) in [("n_components", self.n_components), ("n_terms", self.n_terms)] {
            if n == 0 {
                return Err(Error::parameter(name, 0, "at least 1"));
            }
        }
        let n_indices = u128::from(self.degree) * self.n_terms as u128 * self.n_components as u128;
        if n_indices > MAX_INDICES {
            return Err(Error::parameter(
                "n_terms",
                self.n_terms,
                "fewer: at most 2^31 factors of all features together",
            ));
        }
        let (least, p) = (self.degree as usize * self.n_terms, self.n_vectors());
        if !(least..=n_indices as usize).contains(&p) {
            let expected = "degree × n_terms, as those of a feature are different, to n_components times that";
            return Err(Error::parameter("n_vectors", p, expected));
        }
        self.law.validate()
    }

    /// Draws the map.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    pub fn map<T: Scalar>(&self, gamma: f64, n_inputs: usize, seed: u64) -> Result<TableMap<T>> {
        self.validate()?;
        let (p, root) = (self.n_vectors(), gamma.sqrt());
        let indices = self.deal(seed)?;
        let table = ProductTable::new(p, self.degree as usize, self.n_terms, indices);
        let scale = 1.0 / ((self.n_components * self.n_terms) as f64).sqrt();
        let offsets = offsets(self.law.law(), seed, n_inputs, p, self.c.sqrt());
        Ok(TableMap::new(self.law.projection(seed, n_inputs, 0..p, root)?, offsets, table, scale))
    }

    /// The vectors of all factors of all features: g·t at a time from shuffled decks of all vectors.
    fn deal(&self, seed: u64) -> Result<Vec<u32>> {
        let (p, of_feature) = (self.n_vectors(), self.degree as usize * self.n_terms);
        let n_indices = of_feature * self.n_components;
        check_room(4 * (n_indices + p) as u128, || format!("a table of {n_indices} factors"))?;
        let stream = Stream::new(seed, Purpose::Degree);
        let mut indices: Vec<u32> = Vec::with_capacity(n_indices);
        let mut deck = vec![0; p];
        let (mut at, mut n_decks) = (p, 0);
        while indices.len() < n_indices {
            let feature = indices.len() / of_feature * of_feature;
            if at == p {
                stream.lane(n_decks).permutation_into(&mut deck);
                (at, n_decks) = (0, n_decks + 1);
                // Those that the feature has already are dealt after all that it still needs.
                let missing = (feature + of_feature - indices.len()) % of_feature;
                put_back(&mut deck, &indices[feature..], missing);
            }
            indices.push(deck[at]);
            at += 1;
        }
        Ok(indices)
    }
}

/// Swaps the vectors of a feature that are among the first `n` of a deck with others behind those.
fn put_back(deck: &mut [u32], held: &[u32], n: usize) {
    let mut behind = n;
    for at in 0..n {
        while held.contains(&deck[at]) {
            deck.swap(at, behind);
            behind += 1;
        }
    }
}

/// The entries of the vectors for the constant behind a row, times that constant.
fn offsets<T: Scalar>(law: Law, seed: u64, n_inputs: usize, p: usize, constant: f64) -> Vec<T> {
    if constant == 0.0 {
        return Vec::new();
    }
    let stream = Stream::new(seed, Purpose::Projection);
    let entry = |column: usize| {
        let mut entry = [0.0];
        law.fill_into(stream.lane(column), n_inputs as u64, &mut entry);
        T::from_f64(entry[0] * constant)
    };
    (0..p).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different vectors in a feature, all used equally often but for one use.
    #[test]
    fn vectors_are_dealt_evenly_and_never_twice_to_a_feature() {
        for (k, degree, n_terms, p) in
            [(1, 1, 1, 1), (7, 2, 1, 2), (50, 3, 2, 6), (50, 3, 2, 7), (40, 2, 5, 33), (20, 2, 1, 40)]
        {
            let spec = PkRpSpec { n_terms, n_vectors: Some(p), ..PkRpSpec::new(k, degree) };
            spec.validate().unwrap();
            for seed in 0..20 {
                let indices = spec.deal(seed).unwrap();
                assert_eq!(indices.len(), k * degree as usize * n_terms);
                let mut uses = vec![0_usize; p];
                for feature in indices.chunks_exact(degree as usize * n_terms) {
                    let mut vectors = feature.to_vec();
                    vectors.sort_unstable();
                    vectors.dedup();
                    assert_eq!(vectors.len(), feature.len(), "{feature:?}");
                    feature.iter().for_each(|&vector| uses[vector as usize] += 1);
                }
                assert!(uses.iter().max().unwrap() - uses.iter().min().unwrap() <= 1, "{uses:?}");
            }
        }
    }

    #[test]
    fn parameters_outside_their_ranges_are_named() {
        let spec = PkRpSpec::new(10, 2);
        for (spec, text) in [
            (PkRpSpec { degree: 0, ..spec.clone() }, "degree is 0"),
            (PkRpSpec { c: -1.0, ..spec.clone() }, "c is -1"),
            (PkRpSpec { n_terms: 0, ..spec.clone() }, "n_terms is 0"),
            (PkRpSpec { n_vectors: Some(1), ..spec.clone() }, "n_vectors is 1, must be degree"),
            (PkRpSpec { n_vectors: Some(21), ..spec.clone() }, "n_vectors is 21"),
            (PkRpSpec { n_terms: usize::MAX, ..spec.clone() }, "n_terms is"),
            (PkRpSpec { law: VectorLaw::Sparse(0.5), ..spec }, "s is 0.5"),
        ] {
            let error = spec.validate().unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
