//! The features of a polynomial kernel themselves: all products of inputs, of degree two or three.
//!
//! ⟨φ(x),φ(y)⟩ = (γ⟨x,y⟩ + c)^g without error, of rows √γ·x with √c behind them (where c is not zero), d′ long.
//!
//! | form | features | how many |
//! |---|---|---|
//! | triangular | each product once, times the root of the number of its orders | d′(d′+1)/2, or d′(d′+1)(d′+2)/6 |
//! | kronecker | every product of every order | d′², or d′³ |
//!
//! For small d, and as what other maps are compared with: behind a random projection ([`chain`](super::MapSpec::Chain)) it is the φ + RP of LS19.
//! Cost of a row: one multiplication for each feature. 784 inputs have 307,720 features of degree 2, and 80,622,640 of degree 3 (c = 0): rows that memory
//! does not hold, or whose projection it does not, are refused with the number of bytes that they would take.

use mercer_simd::Scalar;
use ndarray::ArrayViewMut2;
use serde::{Deserialize, Serialize};

use super::product::check_inputs;
use super::{FeatureMap, Gamma};
use crate::dataset::Rows;
use crate::room::check_room;
use crate::{Error, Result};

/// All products of inputs: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `degree` | 2 | g | 2 or 3 |
/// | `gamma` | `scale` | γ | above 0 |
/// | `c` | 1 | the constant of the kernel | at least 0 |
/// | `form` | triangular | whether a product in another order is another feature | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpansionSpec {
    /// inputs of a product
    pub degree: u32,
    /// what inner products are multiplied by
    pub gamma: Gamma,
    /// what is added to them
    pub c: f64,
    /// which products are features
    pub form: ExpansionForm,
}

/// Which products are features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpansionForm {
    /// Each once.
    #[default]
    Triangular,
    /// Each in every order.
    Kronecker,
}

impl ExpansionSpec {
    /// With every other parameter at its default.
    pub fn new(degree: u32) -> Self {
        Self { degree, gamma: Gamma::Scale, c: 1.0, form: ExpansionForm::Triangular }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        if !(2..=3).contains(&self.degree) {
            return Err(Error::parameter("degree", self.degree, "2 or 3 for all products of inputs"));
        }
        super::product::check_polynomial(self.degree, self.c)?;
        self.gamma.validate()
    }

    /// What is said of more products than memory holds.
    pub(super) fn too_large(&self, n_inputs: usize, what: &'static str, bytes: u128) -> Error {
        Error::Expansion { degree: self.degree, n_inputs, n_components: self.n_components(n_inputs), what, bytes }
    }

    /// Length of a row with the constant behind it.
    fn n_factors(&self, n_inputs: usize) -> usize {
        n_inputs.saturating_add(usize::from(self.c > 0.0))
    }

    /// Number of features of rows of `n_inputs`; as many as there can be where that is no number.
    pub fn n_components(&self, n_inputs: usize) -> usize {
        let d = self.n_factors(n_inputs) as u128;
        let n = match (self.form, self.degree) {
            (ExpansionForm::Triangular, 2) => d.saturating_mul(d + 1) / 2,
            (ExpansionForm::Triangular, _) => d.saturating_mul((d + 1).saturating_mul(d + 2)) / 6,
            (ExpansionForm::Kronecker, 2) => d.saturating_mul(d),
            (ExpansionForm::Kronecker, _) => d.saturating_mul(d.saturating_mul(d)),
        };
        usize::try_from(n).unwrap_or(usize::MAX)
    }

    /// The map of this γ.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Expansion`] where a row of features does not fit memory.
    pub fn map<T: Scalar>(&self, gamma: f64, n_inputs: usize) -> Result<ExpansionMap<T>> {
        self.validate()?;
        let bytes = self.n_components(n_inputs) as u128 * size_of::<T>() as u128;
        check_room(bytes, String::new).map_err(|_| self.too_large(n_inputs, "a row of them", bytes))?;
        let constant = (self.c > 0.0).then(|| T::from_f64(self.c.sqrt()));
        Ok(ExpansionMap { spec: self.clone(), n_inputs, factor: T::from_f64(gamma.sqrt()), constant })
    }
}

/// All products of inputs.
pub struct ExpansionMap<T> {
    spec: ExpansionSpec,
    n_inputs: usize,
    factor: T,
    constant: Option<T>,
}

impl<T: Scalar> ExpansionMap<T> {
    fn expand(&self, x: &[T], out: &mut [T]) {
        let ordered = self.spec.form == ExpansionForm::Triangular;
        let mut out = out.iter_mut();
        let mut put = |value: T| *out.next().expect("a place for each product") = value;
        for (i, &a) in x.iter().enumerate() {
            let first = if ordered { i } else { 0 };
            for (j, &b) in x.iter().enumerate().skip(first) {
                if self.spec.degree == 2 {
                    let orders = if ordered && j > i { 2.0 } else { 1.0 };
                    put(a * b * T::from_f64(f64::sqrt(orders)));
                    continue;
                }
                let first = if ordered { j } else { 0 };
                for (l, &c) in x.iter().enumerate().skip(first) {
                    let different = usize::from(i != j) + usize::from(j != l);
                    let orders = if ordered { [1.0, 3.0, 6.0][different] } else { 1.0 };
                    put(a * b * c * T::from_f64(f64::sqrt(orders)));
                }
            }
        }
    }
}

impl<T: Scalar> FeatureMap<T> for ExpansionMap<T> {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_components(&self) -> usize {
        self.spec.n_components(self.n_inputs)
    }

    /// A row, scaled, and the constant.
    fn scratch_len(&self, _n_rows: usize) -> usize {
        self.n_inputs + 1
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        check_inputs(rows, self.n_inputs)?;
        let x = &mut scratch[..self.spec.n_factors(self.n_inputs)];
        for (i, mut out) in out.outer_iter_mut().enumerate() {
            let row = ArrayViewMut2::from_shape((1, self.n_inputs), &mut x[..self.n_inputs]).expect("one row");
            rows.slice(i, i + 1).write_dense(row);
            x[..self.n_inputs].iter_mut().for_each(|x| *x = *x * self.factor);
            if let Some(constant) = self.constant {
                x[self.n_inputs] = constant;
            }
            self.expand(x, out.as_slice_mut().expect("features of a row are neighbours"));
        }
        Ok(())
    }
}
