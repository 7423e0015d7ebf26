//! D2PK-RP: a random projection from the feature space of the polynomial kernel of degree two, by squares.
//!
//! φⱼ(x) = (2·t·k)^-½ · Σᵢ ±⟨x, v₍ⱼᵢ₎⟩², the signs of t squares, an even number, alternating. The entries of the k·t vectors are ±√s with
//! probability 1/(2s) each, else zero, or normal, for which s = 3 below. With γ for √γ·x,
//!
//! E⟨φ(x),φ(y)⟩ = γ²·(⟨x,y⟩² + ((s−3)/2)·Σxᵢ²yᵢ²),
//!
//! the kernel [`quadratic`](crate::kernels::Kernel::Quadratic) with squares of weight (s−1)/2: for s = 3 the polynomial kernel itself, for
//! s = 1, LS19's choice, the kernel without squares of inputs, (12) of LS18. In the thesis the term with s is called negligible.
//!
//! With N = ‖x‖²‖y‖² and κ = ⟨x,y⟩ of rows √γ·x, normal entries have
//!
//! Var⟨φ(x),φ(y)⟩ = (N² + κ⁴ + (8Nκ² + 4κ⁴)/t)/k:
//!
//! with a and b the squares along one vector, less their means, E a²b² = 4N² + 32Nκ² + 24κ⁴, E a² · E b² = 4N² and E ab = 2κ².
//!
//! Of sparse entries the variance is exact by a recursion over the inputs. With A = ⟨x,v⟩ and B = ⟨y,v⟩ of the inputs before input i,
//!
//! E(A + xᵢvᵢ)ᵖ(B + yᵢvᵢ)ᵍ = Σᵤᵥ C(p,u)·C(q,v)·xᵢᵘyᵢᵛ·E vᵢᵘ⁺ᵛ·E Aᵖ⁻ᵘBᵍ⁻ᵛ, p and q up to 4, E v²ⁿ = sⁿ⁻¹.
//!
//! The same rule adds up t squares with their signs, F = Σ±A² and G = Σ±B², and Var⟨φ(x),φ(y)⟩ = (E F²G² − (E FG)²)/(4t²k).
//!
//! t is even: an odd number leaves a square that none is subtracted from, and with it means of squares, E A² · E B². One square alone
//! would have ½‖x‖²‖y‖² more than the kernel.
//!
//! Cost of a row: 2·d·k·t flops (d·k·t/s additions), t times that of a projection to k features; [`pk_rp`](super::PkRpSpec) shares its
//! projections. It is here to be compared with.
//!
//! References: LS18, López-Sánchez, Corchado and González Arrieta, "Data-independent random projections from the feature-map of the
//! homogeneous polynomial kernel of degree two", Information Sciences 2018, equations (12) and (17); LS19, D. López-Sánchez, *Low Computational
//! Cost Machine Learning: Random Projections and Polynomial Kernels*, PhD thesis, Universidad de Salamanca 2019, chapter 3, whose algorithm 1 prints
//! √s/√(2t) where √s/(2t)^¼ is meant.

use mercer_simd::Scalar;
use serde::{Deserialize, Serialize};

use super::{Factor, Part, ProductMap, VectorLaw};
use crate::feature_maps::Gamma;
use crate::feature_maps::projection::check_n_components;
use crate::kernels::Kernel;
use crate::{Error, Result};

/// Alternating sums of squares: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | k, number of features | at least 1 |
/// | `gamma` | `scale` | γ | above 0 |
/// | `n_terms` | 10 | t, squares of a feature | even, at least 2 |
/// | `law` | sparse, s = 3 | of the entries of the vectors | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct D2pkRpSpec {
    /// number of features
    pub n_components: usize,
    /// what inner products are multiplied by
    pub gamma: Gamma,
    /// squares of a feature
    pub n_terms: usize,
    /// of the entries of the vectors
    pub law: VectorLaw,
}

impl D2pkRpSpec {
    /// With every other parameter at its default.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, gamma: Gamma::Scale, n_terms: 10, law: VectorLaw::Sparse(3.0) }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        check_n_components(self.n_components)?;
        self.gamma.validate()?;
        if self.n_terms == 0 || !self.n_terms.is_multiple_of(2) {
            let expected = "even and at least 2: as many squares are subtracted as added";
            return Err(Error::parameter("n_terms", self.n_terms, expected));
        }
        self.law.validate()
    }

    /// The kernel of this γ.
    pub(in crate::feature_maps) fn kernel(&self, gamma: f64) -> Kernel {
        let s = if let VectorLaw::Sparse(s) = self.law { s } else { 3.0 };
        Kernel::Quadratic { gamma, squares: (s - 1.0) / 2.0 }
    }

    /// Draws the map.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    pub fn map<T: Scalar>(&self, gamma: f64, n_inputs: usize, seed: u64) -> Result<ProductMap<T>> {
        self.validate()?;
        let (k, t) = (self.n_components, self.n_terms);
        let factor = gamma.sqrt() * (2.0 * t as f64 * k as f64).powf(-0.25);
        let projections = (0..t).map(|i| {
            let columns = i * k..(i + 1) * k;
            let projection = self.law.projection(seed, n_inputs, columns, factor)?;
            Ok(Factor { projection, order: None, offsets: Vec::new() })
        });
        Ok(ProductMap::new(n_inputs, vec![Part::Squares(projections.collect::<Result<_>>()?)]))
    }
}
