//! The additive χ² kernel by few waves of the logarithm of every input.
//!
//! Σ 2xᵢyᵢ/(xᵢ+yᵢ) = Σ √(xᵢyᵢ)·sech(½ ln(xᵢ/yᵢ)), whose spectrum is sech(πω). Sampled at ω = 0, L, 2L, …, (n−1)L, each input becomes 2n − 1 features:
//!
//! √(Lx), and √(2Lx·sech(πjL))·cos(jL ln x), √(2Lx·sech(πjL))·sin(jL ln x) for j = 1 … n−1.
//!
//! Nothing is random. An input of 0 has features of 0, so sparse rows stay as sparse. The value of a pair of inputs is off by what the sum over samples
//! differs from the integral: a ratio xᵢ/yᵢ of r has it periodic in ln r with period 2π/L. For ratios up to e² the largest error is 20 % (n = 1), 10.2 % (2) and
//! 5 % (3) of √(xᵢyᵢ) with the L of the paper, 0.8, 0.5 and 0.4.
//!
//! Features stand in blocks of d: all first ones, all cosines of j = 1, all sines, and so on, as scikit-learn has them.
//!
//! Cost of a row: a logarithm, a root and n − 1 pairs of sine and cosine for each stored value.
//!
//! Reference: Vedaldi and Zisserman, "Efficient additive kernels via explicit feature maps", PAMI 34, 2012.

use std::f64::consts::PI;

use mercer_simd::Scalar;
use ndarray::{ArrayViewMut1, ArrayViewMut2};

use super::FeatureMap;
use crate::dataset::Rows;
use crate::{Error, Result};

/// Waves of logarithms: see the module's head.
///
/// ```
/// use mercer::feature_maps::{AdditiveChi2Map, FeatureMap};
/// use ndarray::{Array2, array};
///
/// let map = AdditiveChi2Map::new(2, 3, None)?;
/// let mut features = Array2::<f64>::zeros((2, 10));
/// map.transform_into(array![[0.2, 0.8], [0.5, 0.5]].view().into(), features.view_mut(), &mut [])?;
/// let kernel = 2.0 * 0.2 * 0.5 / 0.7 + 2.0 * 0.8 * 0.5 / 1.3;
/// assert!((features.row(0).dot(&features.row(1)) - kernel).abs() < 0.05);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AdditiveChi2Map {
    n_inputs: usize,
    interval: f64,
    /// √(2·sech(πjL)), j = 1 …
    factors: Vec<f64>,
}

/// Features of an input.
pub(super) fn n_components(n_inputs: usize, n_steps: usize) -> usize {
    n_inputs.saturating_mul(n_steps.saturating_mul(2).saturating_sub(1))
}

/// L as it is given, or as the paper has it for this number of steps.
pub(super) fn interval(n_steps: usize, interval: Option<f64>) -> Result<f64> {
    if n_steps == 0 || n_steps > 64 {
        return Err(Error::parameter("n_steps", n_steps, "1 to 64"));
    }
    match (interval, n_steps) {
        (Some(given), _) if given > 0.0 && given.is_finite() => Ok(given),
        (Some(given), _) => Err(Error::parameter("interval", given, "finite and above 0")),
        (None, 1) => Ok(0.8),
        (None, 2) => Ok(0.5),
        (None, 3) => Ok(0.4),
        (None, _) => Err(Error::parameter("interval", "left out", "given for more than 3 steps")),
    }
}

impl AdditiveChi2Map {
    /// Of `n_steps` samples of the spectrum, `interval` apart.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range.
    pub fn new(n_inputs: usize, n_steps: usize, interval: Option<f64>) -> Result<Self> {
        let interval = self::interval(n_steps, interval)?;
        let factors = (1..n_steps).map(|j| (2.0 / (PI * j as f64 * interval).cosh()).sqrt()).collect();
        Ok(Self { n_inputs, interval, factors })
    }

    /// The features of one value above 0.
    fn write<T: Scalar>(&self, input: usize, value: f64, out: &mut ArrayViewMut1<'_, T>) {
        let (d, root, angle) = (self.n_inputs, (self.interval * value).sqrt(), self.interval * value.ln());
        out[input] = T::from_f64(root);
        for (at, factor) in self.factors.iter().enumerate() {
            let (sin, cos) = ((at + 1) as f64 * angle).sin_cos();
            out[(2 * at + 1) * d + input] = T::from_f64(root * factor * cos);
            out[(2 * at + 2) * d + input] = T::from_f64(root * factor * sin);
        }
    }
}

impl<T: Scalar> FeatureMap<T> for AdditiveChi2Map {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_components(&self) -> usize {
        n_components(self.n_inputs, self.factors.len() + 1)
    }

    fn scratch_len(&self, _n_rows: usize) -> usize {
        0
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, _scratch: &mut [T]) -> Result<()> {
        if rows.n_inputs() != self.n_inputs {
            let (got, expected) = (rows.n_inputs(), self.n_inputs);
            return Err(Error::Inputs { context: "rows".to_owned(), got, expected });
        }
        out.fill(T::zero());
        for (i, mut out) in out.outer_iter_mut().enumerate() {
            let mut one = |(input, value): (usize, T)| {
                let value = value.to_f64();
                if value < 0.0 {
                    return Err(Error::Negative { row: i as u64, input, value });
                }
                if value != 0.0 {
                    self.write(input, value, &mut out);
                }
                Ok(())
            };
            match rows {
                Rows::Dense(x) => x.row(i).iter().copied().enumerate().try_for_each(&mut one)?,
                Rows::Sparse(x) => x.row(i).try_for_each(&mut one)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array, s};

    use super::*;
    use crate::dataset::CsrMatrix;

    fn product(n_steps: usize, x: f64, y: f64) -> f64 {
        let map = AdditiveChi2Map::new(1, n_steps, None).unwrap();
        let mut out = Array2::<f64>::zeros((2, n_components(1, n_steps)));
        map.transform_into(array![[x], [y]].view().into(), out.view_mut(), &mut []).unwrap();
        out.row(0).dot(&out.row(1))
    }

    /// The bounds of the module's head.
    #[test]
    fn errors_are_those_stated() {
        for (n_steps, bound) in [(1, 0.2001), (2, 0.102), (3, 0.05)] {
            for i in -100..=100 {
                let ratio = (f64::from(i) / 50.0).exp();
                let (x, y) = (3.0 * ratio.sqrt(), 3.0 / ratio.sqrt());
                let (got, exact) = (product(n_steps, x, y), 2.0 * x * y / (x + y));
                assert!((got - exact).abs() < bound * 3.0, "{n_steps}, {ratio}: {got} for {exact}");
            }
        }
    }

    #[test]
    fn dense_sparse_batches_and_types_agree() {
        let x = array![[0.0, 0.5, 2.0], [1.0, 0.0, 0.0], [0.25, 0.25, 8.0]];
        let mut sparse = CsrMatrix::new(3);
        for row in x.outer_iter() {
            for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                sparse.push(j, value).unwrap();
            }
            sparse.finish_row();
        }
        let map = AdditiveChi2Map::new(3, 3, Some(0.3)).unwrap();
        let of = |rows: Rows<'_, f64>| {
            let mut out = Array2::from_elem((rows.n_rows(), 15), f64::NAN);
            map.transform_into(rows, out.view_mut(), &mut []).unwrap();
            out
        };
        let all = of(x.view().into());
        assert_eq!(all, of(sparse.view().into()));
        assert_eq!(all.slice(s![1..2, ..]), of(x.slice(s![1..2, ..]).into()));
        let x32 = x.mapv(|x: f64| x as f32);
        let mut out = Array2::<f32>::zeros((3, 15));
        map.transform_into(x32.view().into(), out.view_mut(), &mut []).unwrap();
        assert_eq!(out, all.mapv(|x| x as f32));
    }

    #[test]
    fn what_has_no_logarithm_is_refused() {
        let map = AdditiveChi2Map::new(2, 2, None).unwrap();
        let mut out = Array2::<f32>::zeros((2, 6));
        let rows = array![[1.0, 0.0], [2.0, -0.5]];
        let error = map.transform_into(rows.view().into(), out.view_mut(), &mut []).unwrap_err();
        assert!(error.to_string().contains("row 1, input 1 is -0.5"), "{error}");
        assert!(AdditiveChi2Map::new(2, 0, None).is_err());
        assert!(AdditiveChi2Map::new(2, 4, None).is_err() && AdditiveChi2Map::new(2, 4, Some(0.3)).is_ok());
        assert!(AdditiveChi2Map::new(2, 2, Some(0.0)).is_err());
    }
}
