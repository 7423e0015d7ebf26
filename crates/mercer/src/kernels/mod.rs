//! The exact kernels k(x, y): what every feature map approximates, and what its tests compare it with.
//!
//! | name | k(x, y) | parameters |
//! |---|---|---|
//! | `linear` | ⟨x,y⟩ | – |
//! | `polynomial` | (γ⟨x,y⟩ + c)^degree | degree ≥ 1, γ > 0, c ≥ 0 |
//! | `rbf` | exp(−γ‖x−y‖²) | γ > 0 |
//!
//! Within these ranges every Gram matrix is positive semi-definite: sums, products and limits of kernels are kernels.
//!
//! Inner products and distances are taken in f64 for both float types and rounded once, at the end, so that an f32
//! Gram matrix is the f64 one rounded. Measured: an RBF kernel from f32 products is off by up to 6·10⁻⁴ for rows of
//! length 30 and γ = 1; the price is 2.5 times the f32 product (4,096 × 1,024 rows of 784 inputs, one core).
//! [`squared_distances_into`] says how distances keep their digits.
//!
//! Cost of a Gram matrix of n × m rows: n·m·d multiply-adds and n·m exponentials, on the calling thread. Memory beside
//! the result: blocks of at most 256 rows of x and y, in f64.
//!
//! ```
//! use mercer::kernels::Kernel;
//! use ndarray::{Array2, array};
//!
//! let x = array![[1.0_f32, 0.0], [0.0, 2.0]];
//! let mut gram = Array2::<f32>::zeros((2, 2));
//! Kernel::Rbf { gamma: 0.5 }.gram_into(x.view().into(), x.view().into(), gram.view_mut())?;
//! assert_eq!(gram, array![[1.0, (-2.5_f32).exp()], [(-2.5_f32).exp(), 1.0]]);
//! # Ok::<(), mercer::Error>(())
//! ```

mod distances;
mod products;

use mercer_simd::Scalar;
use ndarray::{ArrayView1, ArrayViewMut2, Zip, s};
use serde::{Deserialize, Serialize};

pub use distances::squared_distances_into;

use crate::dataset::Rows;
use crate::{Error, Result};
use distances::{check_shape, for_each_distance_block, squared_distance_dense, squared_norms};
use products::{check_widths, for_each_product_block};

/// A kernel with its parameters; the ranges are checked by [`Kernel::validate`] and by every use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kernel {
    /// ⟨x,y⟩
    Linear,
    /// (γ⟨x,y⟩ + c)^degree; homogeneous for c = 0.
    Polynomial {
        /// at least 1
        degree: u32,
        /// γ, above 0
        gamma: f64,
        /// at least 0
        c: f64,
    },
    /// exp(−γ‖x−y‖²), the Gaussian kernel of width σ for γ = 1/(2σ²).
    Rbf {
        /// γ, above 0
        gamma: f64,
    },
}

/// Feature-space distances below this part of k(x,x) + k(y,y) are rounding errors of equal rows.
const ROUNDING: f64 = 1e-12;

impl Kernel {
    /// Checks that the parameters are finite and within their ranges.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first that is not.
    pub fn validate(&self) -> Result<()> {
        let positive = |gamma: f64| match gamma > 0.0 && gamma.is_finite() {
            true => Ok(()),
            false => Err(Error::parameter("gamma", gamma, "finite and above 0")),
        };
        match *self {
            Self::Linear => Ok(()),
            Self::Rbf { gamma } => positive(gamma),
            Self::Polynomial { degree: 0, .. } => Err(Error::parameter("degree", 0, "at least 1")),
            Self::Polynomial { c, .. } if !(c >= 0.0 && c.is_finite()) => {
                Err(Error::parameter("c", c, "finite and at least 0"))
            }
            Self::Polynomial { gamma, .. } => positive(gamma),
        }
    }

    /// k(x, y) of two rows, straight from the definition.
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Kernel::validate`], [`Error::Inputs`] when the rows differ in width.
    pub fn value<T: Scalar>(&self, x: ArrayView1<'_, T>, y: ArrayView1<'_, T>) -> Result<f64> {
        self.validate()?;
        check_widths(x.len(), y.len())?;
        Ok(match self {
            Self::Rbf { gamma } => (-gamma * squared_distance_dense(x, y)).exp(),
            _ => self.of_product(x.iter().zip(y).map(|(&x, &y)| x.to_f64() * y.to_f64()).sum()),
        })
    }

    /// Writes the Gram matrix k(xᵢ, yⱼ) into `out` (`n_rows` of x × `n_rows` of y), of either float type.
    ///
    /// Dense and sparse rows mix freely. Equal rows give exactly 1 for the RBF kernel.
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Kernel::validate`] and when `out` has another shape, [`Error::Inputs`] when the rows
    /// differ in width.
    pub fn gram_into<T: Scalar, O: Scalar>(
        &self,
        x: Rows<'_, T>,
        y: Rows<'_, T>,
        mut out: ArrayViewMut2<'_, O>,
    ) -> Result<()> {
        self.validate()?;
        check_shape(x, y, &out)?;
        match *self {
            Self::Rbf { gamma } => for_each_distance_block(x, y, |of_x, of_y, block| {
                let out = out.slice_mut(s![of_x, of_y]);
                Zip::from(out).and(&block).for_each(|out, &value| *out = O::from_f64((-gamma * value).exp()));
            }),
            _ => for_each_product_block(x, y, |of_x, of_y, block| {
                let out = out.slice_mut(s![of_x, of_y]);
                Zip::from(out).and(&block).for_each(|out, &value| *out = O::from_f64(self.of_product(value)));
            }),
        }
    }

    /// k(xᵢ, xᵢ) of every row: ‖φ(xᵢ)‖².
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Kernel::validate`].
    pub fn diagonal<T: Scalar>(&self, x: Rows<'_, T>) -> Result<Vec<f64>> {
        self.validate()?;
        Ok(match self {
            Self::Rbf { .. } => vec![1.0; x.n_rows()],
            _ => squared_norms(x).into_iter().map(|norm| self.of_product(norm)).collect(),
        })
    }

    /// Writes ‖φ(xᵢ)−φ(yⱼ)‖² = k(xᵢ,xᵢ) + k(yⱼ,yⱼ) − 2k(xᵢ,yⱼ) into `out` (`n_rows` of x × `n_rows` of y).
    ///
    /// Equal rows give exactly 0. The RBF kernel uses 2 − 2exp(−γ‖x−y‖²) = −2·expm1(−γ‖x−y‖²), which keeps its digits
    /// for close rows; the polynomial kernel gives 0 below 10⁻¹² of k(x,x) + k(y,y), where only rounding is left.
    ///
    /// # Errors
    /// As [`Kernel::gram_into`].
    pub fn squared_distances_into<T: Scalar, O: Scalar>(
        &self,
        x: Rows<'_, T>,
        y: Rows<'_, T>,
        mut out: ArrayViewMut2<'_, O>,
    ) -> Result<()> {
        self.validate()?;
        check_shape(x, y, &out)?;
        match *self {
            Self::Linear => squared_distances_into(x, y, out),
            Self::Rbf { gamma } => for_each_distance_block(x, y, |of_x, of_y, block| {
                let out = out.slice_mut(s![of_x, of_y]);
                Zip::from(out).and(&block).for_each(|out, &value| *out = O::from_f64(-2.0 * (-gamma * value).exp_m1()));
            }),
            Self::Polynomial { .. } => {
                let (diagonal_x, diagonal_y) = (self.diagonal(x)?, self.diagonal(y)?);
                for_each_product_block(x, y, |of_x, of_y, block| {
                    for ((i, j), &product) in block.indexed_iter() {
                        let (i, j) = (of_x.start + i, of_y.start + j);
                        let lengths = diagonal_x[i] + diagonal_y[j];
                        let distance = lengths - 2.0 * self.of_product(product);
                        out[[i, j]] = O::from_f64(if distance <= ROUNDING * lengths { 0.0 } else { distance });
                    }
                })
            }
        }
    }

    /// k as a function of ⟨x,y⟩, for the kernels that are one.
    fn of_product(&self, product: f64) -> f64 {
        match *self {
            // Powers by repeated squaring: the same bits on every machine, unlike `powi`.
            Self::Polynomial { degree, gamma, c } => num_traits::pow(gamma.mul_add(product, c), degree as usize),
            _ => product,
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    const KERNELS: [Kernel; 3] =
        [Kernel::Linear, Kernel::Polynomial { degree: 3, gamma: 0.5, c: 1.0 }, Kernel::Rbf { gamma: 0.25 }];

    fn gram(kernel: Kernel, x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
        let mut out = Array2::zeros((x.nrows(), y.nrows()));
        kernel.gram_into(x.view().into(), y.view().into(), out.view_mut()).unwrap();
        out
    }

    #[test]
    fn by_hand() {
        let (x, y) = (array![[1.0, 2.0], [0.0, -1.0]], array![[3.0, 0.5]]);
        assert_eq!(gram(KERNELS[0], &x, &y), array![[4.0], [-0.5]]);
        assert_eq!(gram(KERNELS[1], &x, &y), array![[27.0], [0.421875]]); // (4/2 + 1)³, (−0.5/2 + 1)³
        assert_eq!(gram(KERNELS[2], &x, &y), array![[(-6.25_f64 / 4.0).exp()], [(-11.25_f64 / 4.0).exp()]]);
        assert_eq!(KERNELS[1].diagonal(x.view().into()).unwrap(), [42.875, 3.375]); // (5/2 + 1)³, (1/2 + 1)³
        assert_eq!(KERNELS[2].diagonal(x.view().into()).unwrap(), [1.0, 1.0]);
    }

    #[test]
    fn feature_space_distances_by_hand() {
        let (x, y) = (array![[1.0, 2.0]], array![[3.0, 0.5], [1.0, 2.0]]);
        let expected = [
            array![[6.25, 0.0]],
            array![[42.875 + 5.625_f64.powi(3) - 54.0, 0.0]], // (9.25/2 + 1)³ = 5.625³
            array![[2.0 - 2.0 * (-6.25_f64 / 4.0).exp(), 0.0]],
        ];
        for (kernel, expected) in KERNELS.iter().zip(expected) {
            let mut out = Array2::<f64>::zeros((1, 2));
            kernel.squared_distances_into(x.view().into(), y.view().into(), out.view_mut()).unwrap();
            assert!((out[[0, 0]] - expected[[0, 0]]).abs() < 1e-12, "{kernel:?}: {out} for {expected}");
            assert_eq!(out[[0, 1]], 0.0, "{kernel:?}");
        }
    }

    #[test]
    fn huge_rows_are_far_apart_not_nan() {
        let x = array![[1e200, 0.0], [-1e200, 0.0]];
        assert_eq!(gram(Kernel::Rbf { gamma: 1.0 }, &x, &x), array![[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn no_rows_and_no_inputs() {
        let (none, x) = (Array2::zeros((0, 2)), array![[1.0, 2.0]]);
        let narrow = Array2::zeros((2, 0));
        for (kernel, of_nothing) in KERNELS.into_iter().zip([0.0, 1.0, 1.0]) {
            assert_eq!(gram(kernel, &none, &x).dim(), (0, 1));
            assert_eq!(gram(kernel, &x, &none).dim(), (1, 0));
            assert_eq!(gram(kernel, &narrow, &narrow), Array2::from_elem((2, 2), of_nothing));
        }
    }

    #[test]
    fn rejects_parameters_outside_their_ranges() {
        let polynomial = |degree, gamma, c| Kernel::Polynomial { degree, gamma, c };
        let bad = [
            (polynomial(0, 1.0, 0.0), "degree"),
            (polynomial(2, 0.0, 0.0), "gamma"),
            (polynomial(2, f64::NAN, 0.0), "gamma"),
            (polynomial(2, 1.0, -1.0), "c"),
            (polynomial(2, 1.0, f64::INFINITY), "c"),
            (Kernel::Rbf { gamma: -1.0 }, "gamma"),
            (Kernel::Rbf { gamma: f64::INFINITY }, "gamma"),
        ];
        let x = array![[1.0]];
        for (kernel, parameter) in bad {
            let mut out = Array2::<f64>::zeros((1, 1));
            let uses = [
                kernel.validate(),
                kernel.value(x.row(0), x.row(0)).map(drop),
                kernel.diagonal(x.view().into()).map(drop),
                kernel.gram_into(x.view().into(), x.view().into(), out.view_mut()),
                kernel.squared_distances_into(x.view().into(), x.view().into(), out.view_mut()),
            ];
            for result in uses {
                assert!(matches!(result, Err(Error::Parameter { name, .. }) if name == parameter), "{kernel:?}");
            }
        }
    }

    #[test]
    fn rejects_shapes_that_do_not_fit() {
        let (x, y) = (array![[1.0, 2.0]], array![[1.0, 2.0, 3.0]]);
        for kernel in KERNELS {
            let mut out = Array2::<f64>::zeros((1, 1));
            assert!(matches!(kernel.value(x.row(0), y.row(0)), Err(Error::Inputs { got: 3, expected: 2, .. })));
            let result = kernel.gram_into(x.view().into(), y.view().into(), out.view_mut());
            assert!(matches!(result, Err(Error::Inputs { got: 3, expected: 2, .. })));
            let mut wide = Array2::<f64>::zeros((1, 2));
            let result = kernel.gram_into(x.view().into(), x.view().into(), wide.view_mut());
            assert!(matches!(result, Err(Error::Parameter { name: "out", .. })));
            let result = kernel.squared_distances_into(x.view().into(), x.view().into(), wide.view_mut());
            assert!(matches!(result, Err(Error::Parameter { name: "out", .. })));
        }
    }

    #[test]
    fn is_a_small_tagged_object_in_json() {
        let text = r#"{"name":"polynomial","degree":3,"gamma":0.5,"c":1.0}"#;
        assert_eq!(serde_json::to_string(&KERNELS[1]).unwrap(), text);
        for kernel in KERNELS {
            let text = serde_json::to_string(&kernel).unwrap();
            assert_eq!(serde_json::from_str::<Kernel>(&text).unwrap(), kernel);
        }
        assert!(serde_json::from_str::<Kernel>(r#"{"name":"rbf","gamma":1.0,"degree":2}"#).is_err());
    }
}
