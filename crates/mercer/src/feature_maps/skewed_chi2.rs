//! The skewed χ² kernel by random waves of logarithms.
//!
//! k(x, y) = Π 2√((xᵢ+c)(yᵢ+c))/(xᵢ+yᵢ+2c) = Π sech(½(ℓ(xᵢ) − ℓ(yᵢ))) with ℓ(x) = ln(1 + x/c), for inputs above −c: a
//! shift-invariant kernel of logarithms, whose spectrum is Π sech(πwᵢ). Hence with m draws w of independent entries of that law,
//! wᵢ = ln(tan(πu/2))/π for u ~ U(0, 1),
//!
//! φ(x) = √(1/m)·[cos⟨w₁,ℓ(x)⟩ … cos⟨wₘ,ℓ(x)⟩, sin⟨w₁,ℓ(x)⟩ … sin⟨wₘ,ℓ(x)⟩], m = D/2,
//!
//! or cosines with random phases ([`Waves::Phase`]), m = D.
//!
//! - E⟨φ(x), φ(y)⟩ = k(x, y).
//! - Variance of paired waves: (1 + k₂ − 2k²)/(2m), k₂ = Π 2aᵢbᵢ/(aᵢ²+bᵢ²) for a = x + c and b = y + c, the kernel at twice the
//!   distance of logarithms; 0 for equal rows. With phases: (1 + k₂/2 − k²)/m.
//!
//! A small c makes small inputs count as much as large ones: 0 and c are as far apart as c and 3c. For histograms, whose bins are
//! 0 to 1, the paper has 0.01 to 0.1. Unlike that of [additive χ²](super::AdditiveChi2Map), the kernel is a product: it has to see every
//! input alike, so that it is for few or for similar ones.
//!
//! Where we differ from the paper: ℓ is 0 for an input of 0, where it has ln(x + c). That is a shift of all logarithms, which the kernel does
//! not see, and leaves sparse rows sparse. And waves are paired, which has less error than phases.
//!
//! Cost of a row: a logarithm for each stored value, d·m multiply-adds, m pairs of sine and cosine. Memory: V, d·m values.
//!
//! Reference: Li, Ionescu and Sminchisescu, "Random Fourier approximations for skewed multiplicative histogram kernels", DAGM 2010,
//! section 3.

use mercer_simd::{CsrMatrix, CsrView, Scalar};
use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::{FeatureMap, FourierMap, Waves};
use crate::dataset::Rows;
use crate::projections::DenseProjection;
use crate::random::Law;
use crate::{Error, Result};

/// Rows whose logarithms are there at a time.
const BATCH: usize = 256;

/// Random waves of logarithms: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | number of features | even for paired waves, at least 2; else at least 1 |
/// | `skewedness` | 1 | c, what is added to every input | above 0 |
/// | `waves` | paired | what a frequency becomes | |
/// | `seed` | 0 | names the draw of V | any |
///
/// ```
/// use mercer::feature_maps::{FeatureMap, SkewedChi2Map, Waves};
/// use ndarray::{Array2, array};
///
/// let map = SkewedChi2Map::<f64>::new(2, 4_096, 0.1, Waves::Paired, 0)?;
/// let (x, mut features) = (array![[0.2, 0.8], [0.5, 0.5]], Array2::zeros((2, 4_096)));
/// map.transform_into(x.view().into(), features.view_mut(), &mut vec![0.0; map.scratch_len(2)])?;
/// let kernel = 2.0 * (0.3_f64 * 0.6).sqrt() / 0.9 * 2.0 * (0.9_f64 * 0.6).sqrt() / 1.5;
/// assert!((features.row(0).dot(&features.row(1)) - kernel).abs() < 0.05);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SkewedChi2Map<T> {
    skewedness: f64,
    waves: FourierMap<T>,
}

/// Refuses parameters outside their ranges.
pub(super) fn check(n_components: usize, skewedness: f64, waves: Waves) -> Result<()> {
    waves.check_n_components(n_components)?;
    if skewedness > 0.0 && skewedness.is_finite() {
        return Ok(());
    }
    Err(Error::parameter("skewedness", skewedness, "finite and above 0"))
}

impl<T: Scalar> SkewedChi2Map<T> {
    /// Draws the map.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    pub fn new(n_inputs: usize, n_components: usize, skewedness: f64, waves: Waves, seed: u64) -> Result<Self> {
        check(n_components, skewedness, waves)?;
        let n_frequencies = waves.n_frequencies(n_components);
        let frequencies = DenseProjection::of_law(Law::Sech, seed, n_inputs, 0..n_frequencies, 1.0)?;
        Ok(Self { skewedness, waves: FourierMap::over(frequencies, waves, seed) })
    }

    /// The waves of logarithms ℓ(x) = ln(1 + x/c).
    pub fn waves(&self) -> &FourierMap<T> {
        &self.waves
    }

    /// ℓ(x) of an input of a row.
    fn logarithm(&self, row: usize, input: usize, value: T) -> Result<T> {
        let (value, c) = (value.to_f64(), self.skewedness);
        if value + c > 0.0 {
            return Ok(T::from_f64((value / c).ln_1p()));
        }
        Err(Error::TooNegative { row: row as u64, input, value, skewedness: c })
    }

    fn transform_dense(&self, x: ArrayView2<'_, T>, out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let mut logarithms = ArrayViewMut2::from_shape(x.dim(), &mut scratch[..x.len()]).expect("as many values");
        for ((i, input), &value) in x.indexed_iter() {
            logarithms[[i, input]] = self.logarithm(i, input, value)?;
        }
        self.waves.transform_into(logarithms.view().into(), out, &mut [])
    }

    fn transform_sparse(&self, x: CsrView<'_, T>, out: ArrayViewMut2<'_, T>) -> Result<()> {
        let mut logarithms = CsrMatrix::new(x.n_columns());
        for i in 0..x.n_rows() {
            for (input, value) in x.row(i) {
                let logarithm = self.logarithm(i, input, value)?;
                logarithms.push(input, logarithm).map_err(|error| Error::Source(Box::new(error)))?;
            }
            logarithms.finish_row();
        }
        self.waves.transform_into(logarithms.view().into(), out, &mut [])
    }
}

impl<T: Scalar> FeatureMap<T> for SkewedChi2Map<T> {
    fn n_inputs(&self) -> usize {
        self.waves.n_inputs()
    }

    fn n_components(&self) -> usize {
        self.waves.n_components()
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        n_rows.min(BATCH) * self.n_inputs()
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let (got, expected) = (rows.n_inputs(), self.n_inputs());
        if got != expected {
            return Err(Error::Inputs { context: "rows".to_owned(), got, expected });
        }
        for first in (0..rows.n_rows()).step_by(BATCH) {
            let last = rows.n_rows().min(first + BATCH);
            let out = out.slice_mut(s![first..last, ..]);
            let done = match rows.slice(first, last) {
                Rows::Dense(x) => self.transform_dense(x, out, scratch),
                Rows::Sparse(x) => self.transform_sparse(x, out),
            };
            done.map_err(|error| error.behind(first))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::kernels::Kernel;
    use crate::random::{Purpose, columns};

    fn features(map: &SkewedChi2Map<f64>, rows: Rows<'_, f64>) -> Result<Array2<f64>> {
        let mut out = Array2::from_elem((rows.n_rows(), map.n_components()), f64::NAN);
        map.transform_into(rows, out.view_mut(), &mut vec![f64::NAN; map.scratch_len(rows.n_rows())])?;
        Ok(out)
    }

    /// Of the logarithms of the paper, ln(x + c), the inner products are the same.
    #[test]
    fn inner_products_are_those_of_the_paper() {
        let (c, m, seed) = (0.3, 7, 5);
        let x = array![[0.0, 1.0, -0.29], [4.0, 0.0, 0.1]];
        let map = SkewedChi2Map::new(3, 2 * m, c, Waves::Paired, seed).unwrap();
        let got = features(&map, x.view().into()).unwrap();
        let angles = x.mapv(|x| (x + c).ln()).dot(&columns::<f64>(Law::Sech, seed, Purpose::Projection, 3, 0..m));
        let expected = (&angles.row(0) - &angles.row(1)).mapv(f64::cos).mean().unwrap();
        assert!((got.row(0).dot(&got.row(1)) - expected).abs() < 1e-14);
        assert!((got.row(0).dot(&got.row(0)) - 1.0).abs() < 1e-14);
    }

    /// The statements of the module's head, for inputs whose ratios are up to e⁴; the contract has rows close together.
    #[test]
    fn expectation_and_variance_are_those_stated() {
        let (c, n_seeds) = (0.05, 4_000);
        let x = array![[0.0, 0.3, 1.0], [0.1, 0.3, 0.8], [2.5, 0.2, 1.0], [1.0, 1.0, 0.0]];
        for (waves, m) in [(Waves::Paired, 8.0), (Waves::Phase, 16.0)] {
            let mut products = Array2::zeros((n_seeds, 3));
            for (seed, mut products) in (0..).zip(products.outer_iter_mut()) {
                let y = features(&SkewedChi2Map::new(3, 16, c, waves, seed).unwrap(), x.view().into()).unwrap();
                (0..3).for_each(|i| products[i] = y.row(0).dot(&y.row(i + 1)));
            }
            for (i, products) in products.columns().into_iter().enumerate() {
                let k = Kernel::SkewedChi2 { skewedness: c }.value(x.row(0), x.row(i + 1)).unwrap();
                let pairs = x.row(0).into_iter().zip(x.row(i + 1)).map(|(x, y)| (x + c, y + c));
                let k_2: f64 = pairs.map(|(a, b)| 2.0 * a * b / (a * a + b * b)).product();
                let variance = match waves {
                    Waves::Paired => (1.0 + k_2 - 2.0 * k * k) / (2.0 * m),
                    Waves::Phase => (1.0 + 0.5 * k_2 - k * k) / m,
                };
                let n = n_seeds as f64;
                let moment = |power| products.iter().map(|x| (x - k).powi(power)).sum::<f64>() / n;
                assert!(moment(1).abs() < 4.5 * (variance / n).sqrt(), "k = {k}: off by {}", moment(1));
                let allowed = 4.5 * ((moment(4) - moment(2).powi(2)) / n).sqrt();
                assert!((moment(2) - variance).abs() < allowed, "k = {k}: {} for {variance}", moment(2));
            }
        }
    }

    #[test]
    fn what_has_no_logarithm_is_refused() {
        let map = SkewedChi2Map::new(2, 4, 0.5, Waves::Paired, 0).unwrap();
        let mut rows = Array2::<f64>::zeros((300, 2));
        rows[[280, 1]] = -0.5;
        let mut sparse = CsrMatrix::new(2);
        for row in rows.outer_iter() {
            row.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(j, &x)| sparse.push(j, x).unwrap());
            sparse.finish_row();
        }
        for rows in [Rows::Dense(rows.view()), sparse.view().into()] {
            let error = features(&map, rows).unwrap_err().to_string();
            assert!(error.contains("row 280, input 1 is -0.5") && error.contains("above -0.5"), "{error}");
        }
        assert!(SkewedChi2Map::<f32>::new(2, 4, 0.0, Waves::Paired, 0).is_err());
        assert!(SkewedChi2Map::<f32>::new(2, 4, f64::INFINITY, Waves::Paired, 0).is_err());
        assert!(SkewedChi2Map::<f32>::new(2, 3, 1.0, Waves::Paired, 0).is_err());
        assert!(SkewedChi2Map::<f32>::new(2, 3, 1.0, Waves::Phase, 0).is_ok());
    }
}
