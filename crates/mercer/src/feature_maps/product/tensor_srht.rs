//! TensorSRHT: products of coordinates of signed Walsh-Hadamard transforms, real or complex.
//!
//! φⱼ(x) = n^-½ · Πₗ (H·Dₗ·Πₗx)ⱼ with a diagonal Dₗ of signs for each block of p coordinates and each of the g factors, and
//! a permutation Πₗ of the inputs among the p places for each factor but the first; p is the next power of two from d on.
//! The coordinates of a last block that is not whole are chosen without replacement, for each factor anew. The kernel is ⟨x,y⟩^g, or (γ⟨x,y⟩ + c)^g by the
//! [module's](super) offsets: E⟨φ(x),φ(y)⟩ = k(x,y).
//!
//! Permuted inputs make two coordinates of a block as dependent as any other two (with one factor that is not permuted that
//! holds for their mean), so the variance has a closed form. With
//! N = ‖x‖²‖y‖², κ = ⟨x,y⟩, S = Σxᵢ²yᵢ² of rows √γ·x, and N′, κ′, S′ of those with √c behind them, a block of m coordinates adds
//!
//! m·[(κ′² + N′ + κ′² − 2S′)^g − κ′^2g] + m(m−1)·[(κ′² − (N + κ² − 2S)/(p−1))^g − κ′^2g], all over n².
//!
//! **Complex** signs 1, i, −1, −i, of which n/2 products give n features: real parts of the inner products of complex
//! numbers are inner products of their parts. A block of m coordinates adds, over (n/2)²,
//!
//! m·[½(κ′² + N′ − S′)^g + ½(2κ′² − S′)^g − κ′^2g] + m(m−1)·[½(κ′² − (N−S)/(p−1))^g + ½(κ′² − (κ²−S)/(p−1))^g − κ′^2g].
//!
//! Along x = y that is 2^g in place of 3^g for g factors of many inputs, at the same cost for each feature: the default.
//!
//! Cost of a row: g·n·log d additions; memory g·n numbers. For degrees beyond about 4 the variance still grows as 2^g: there
//! a [tree](super::TreeMap) is better.
//!
//! The permutations are ours: without them smooth rows, as of images, have coordinates that depend on each other in all
//! factors alike.
//!
//! References: Ahle, Kapralov, Knudsen, Pagh, Velingker, Woodruff and Zandieh, "Oblivious sketching of high-degree polynomial
//! kernels", SODA 2020 (TensorSRHT); Wacker, Kanagawa and Filippone, "Improved random features for dot product kernels",
//! 2022, and Wacker, Ohana and Filippone, "Complex-to-real sketches for tensor products", AISTATS 2023.
//!
//! ```
//! use mercer::feature_maps::{FeatureMap, Gamma, TensorSrhtSpec};
//! use ndarray::{Array2, array};
//!
//! let map = TensorSrhtSpec::new(4_096, 2).map::<f64>(1.0, 3, 0)?;
//! let mut features = Array2::zeros((2, 4_096));
//! let mut scratch = vec![0.0; map.scratch_len(2)];
//! map.transform_into(array![[1.0, 0.0, 1.0], [1.0, 2.0, 0.0]].view().into(), features.view_mut(), &mut scratch)?;
//! // (⟨x,y⟩ + 1)² = 4; the standard deviation is about 0.3.
//! assert!((features.row(0).dot(&features.row(1)) - 4.0).abs() < 1.0);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::Scalar;
use mercer_simd::ops::hadamard::padded_len;
use serde::{Deserialize, Serialize};

use super::{Factor, Order, Part, ProductMap, check_polynomial};
use crate::feature_maps::Gamma;
use crate::projections::{Diagonal, HadamardProjection};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Products of coordinates of transforms: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | number of features | at least 1; even for complex numbers |
/// | `degree` | 2 | g | 1 to 64 |
/// | `gamma` | `scale` | γ | above 0 |
/// | `c` | 1 | the constant of the kernel | at least 0 |
/// | `complex` | true | whether signs are complex | |
/// | `tree` | false | whether products are sketched pair by pair, for high degrees | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorSrhtSpec {
    /// number of features
    pub n_components: usize,
    /// factors of a product
    pub degree: u32,
    /// what inner products are multiplied by
    pub gamma: Gamma,
    /// what is added to them
    pub c: f64,
    /// whether signs are fourth roots of one
    pub complex: bool,
    /// whether products are sketched pair by pair: [`TreeMap`](super::TreeMap)
    pub tree: bool,
}

/// The first lane of the signs of offsets: those before it are of diagonals.
const OFFSET_LANE: usize = 1 << 16;

impl TensorSrhtSpec {
    /// With every other parameter at its default.
    pub fn new(n_components: usize, degree: u32) -> Self {
        Self { n_components, degree, gamma: Gamma::Scale, c: 1.0, complex: true, tree: false }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        check_polynomial(self.degree, self.c)?;
        self.gamma.validate()?;
        if self.n_components == 0 || self.complex && !self.n_components.is_multiple_of(2) {
            let expected = "at least 1, and even for complex numbers: a real and an imaginary part each";
            return Err(Error::parameter("n_components", self.n_components, expected));
        }
        Ok(())
    }

    /// Draws the map of whole products, whatever `tree` says.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    pub fn map<T: Scalar>(&self, gamma: f64, n_inputs: usize, seed: u64) -> Result<ProductMap<T>> {
        self.validate()?;
        let n_outputs = if self.complex { self.n_components / 2 } else { self.n_components };
        let drawn = |number: usize| {
            // The first factor carries the scale of the product.
            let scale = if number == 0 { (1.0 / n_outputs as f64).sqrt() } else { 1.0 };
            let (constant, scale) = (scale * self.c.sqrt(), scale * gamma.sqrt());
            Drawn { seed, number, is_first: number == 0, n_inputs, n_outputs, scale, constant }
        };
        let degree = self.degree as usize;
        let part = if self.complex {
            Part::Complex((0..degree).map(|number| drawn(number).complex()).collect::<Result<_>>()?)
        } else {
            Part::Real((0..degree).map(|number| drawn(number).real()).collect::<Result<_>>()?)
        };
        Ok(ProductMap::new(n_inputs, vec![part]))
    }
}

/// A factor that is to be drawn.
pub(super) struct Drawn {
    pub(super) seed: u64,
    pub(super) number: usize,
    /// whether it is the first of its product: its inputs stay in their places
    pub(super) is_first: bool,
    pub(super) n_inputs: usize,
    pub(super) n_outputs: usize,
    /// of the inputs
    pub(super) scale: f64,
    /// behind them
    pub(super) constant: f64,
}

impl Drawn {
    /// Of real signs.
    pub(super) fn real<T: Scalar>(&self) -> Result<Factor<T>> {
        self.part(Diagonal::Real, self.order())
    }

    /// The real and the imaginary part of one of complex signs.
    pub(super) fn complex<T: Scalar>(&self) -> Result<(Factor<T>, Factor<T>)> {
        let order = self.order();
        Ok((self.part(Diagonal::RealPart, order.clone())?, self.part(Diagonal::ImaginaryPart, order)?))
    }

    /// The place of each input in a block.
    fn order(&self) -> Option<Order> {
        (!self.is_first).then(|| {
            let n_places = padded_len(self.n_inputs);
            let mut places = vec![0; n_places];
            Stream::new(self.seed, Purpose::Permutation).lane(2 * self.number + 1).permutation_into(&mut places);
            places.truncate(self.n_inputs);
            Order { places: places.into(), n_places }
        })
    }

    fn part<T: Scalar>(&self, diagonal: Diagonal, order: Option<Order>) -> Result<Factor<T>> {
        let &Self { seed, number, n_outputs, scale, constant, .. } = self;
        let n_inputs = order.as_ref().map_or(self.n_inputs, |order| order.n_places);
        let projection = HadamardProjection::factor(seed, number, diagonal, n_inputs, n_outputs, scale)?;
        let offsets = offsets(seed, number, diagonal, n_outputs, constant);
        Ok(Factor { projection: Box::new(projection), order, offsets })
    }
}

/// The entries of the vectors of a factor for the constant behind a row, times that constant.
fn offsets<T: Scalar>(seed: u64, number: usize, diagonal: Diagonal, n: usize, constant: f64) -> Vec<T> {
    if constant == 0.0 {
        return Vec::new();
    }
    let (mut signs, mut kinds) = (vec![0.0; n], vec![0.0; n]);
    let stream = Stream::new(seed, Purpose::Sign);
    stream.lane(OFFSET_LANE + 2 * number).sign_into(0, &mut signs);
    stream.lane(OFFSET_LANE + 2 * number + 1).sign_into(0, &mut kinds);
    let part = |kind: f64| match diagonal {
        Diagonal::Real => true,
        Diagonal::RealPart => kind > 0.0,
        Diagonal::ImaginaryPart => kind < 0.0,
    };
    signs.iter().zip(kinds).map(|(sign, kind)| T::from_f64(if part(kind) { sign * constant } else { 0.0 })).collect()
}
