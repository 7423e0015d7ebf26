//! Kernel values with landmarks, made orthonormal: the Nyström method.
//!
//! φ(x) = Wᵀ·k(L, x) for the m landmarks L, some rows of the data, and W with W·Wᵀ = K⁻¹, K = k(L, L). Then
//!
//! ⟨φ(x),φ(y)⟩ = k(x, L)·K⁻¹·k(L, y),
//!
//! the inner product of what is left of x and y in the span of the landmarks: exact where x or y is a landmark, never above k(x,x) for
//! x = y, and better with every landmark. It is no matter of chance but for the choice of landmarks ([`crate::budget`]).
//!
//! Steps:
//! 1. K of the landmarks in f64, and its Cholesky factor with pivots: K = RᵀR. Landmarks whose part beyond the span of those before
//!    is below [`tolerance`] add nothing but noise and are left out: the rank is revealed.
//! 2. W = R⁻¹, upper triangular.
//! 3. Of each batch of rows the kernel values ([`KernelColumns`]), then their product with W, by blocks of columns: what is below
//!    the diagonal is not multiplied.
//!
//! Cost: m²·d + m³ to fit; m·(d + m/2) multiply-adds for a row, about half of what a full W takes. Memory: m·(d + m), and m² in f64
//! while it is fitted.
//!
//! Where the float type rounds k(L, x) by ε, a feature is off by ε·√(m/τ) for a smallest pivot τ, and what a pivot below τ would add
//! is τ: both are equal for τ = (ε√m)^⅔, the tolerance.
//!
//! References: Williams and Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000.

use mercer_simd::{Dtype, Scalar};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Factored, FeatureMap, Gamma};
use crate::budget::BudgetSpec;
use crate::dataset::{CsrMatrix, PanelRows, Rows};
use crate::kernels::{Kernel, KernelColumns, KernelFamily};
use crate::pivoted::{PivotedCholesky, multiply};
use crate::room::check_room;
use crate::{Error, Result};

/// Rows whose kernel values are there at a time.
const BATCH: usize = 256;
/// Landmarks whose kernel values a thread takes.
const BLOCK: usize = 256;

/// A landmark map as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LandmarkSpec {
    /// number of landmarks, and of features; where the landmarks depend on each other, fewer are left
    pub n_components: usize,
    /// of which kernel
    pub kernel: KernelFamily,
    /// its width; of no use to a kernel without one
    pub gamma: Gamma,
    /// how landmarks are chosen
    pub budget: BudgetSpec,
}

impl LandmarkSpec {
    /// Landmarks of the RBF kernel chosen by chance.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, kernel: KernelFamily::Rbf, gamma: Gamma::Scale, budget: BudgetSpec::default() }
    }

    pub(super) fn validate(&self) -> Result<()> {
        if self.n_components == 0 {
            return Err(Error::parameter("n_components", 0, "1 or more"));
        }
        self.gamma.validate()?;
        self.kernel.validate()
    }

    /// Numbers that the map keeps.
    pub(super) fn n_entries(&self, n_inputs: usize) -> u64 {
        let m = self.n_components as u64;
        m.saturating_mul(2 * n_inputs as u64 + m)
    }

    /// Numbers in f64 while it is fitted.
    pub(super) fn n_fitted_from(&self) -> u64 {
        let m = self.n_components as u64;
        2 * m.saturating_mul(m)
    }
}

/// What a landmark map learned: rows, and what their kernel values are multiplied by.
#[derive(Clone, Debug)]
pub struct Landmarks<T> {
    rows: PanelRows<T>,
    /// landmarks × features, upper triangular
    whitening: Array2<T>,
}

impl<T: Scalar> Landmarks<T> {
    /// Of those rows that the others do not give already, in the order of what they add. On the threads of the current pool.
    ///
    /// # Errors
    /// As [`Kernel::gram_into`], [`Error::Memory`] where memory is short, [`Error::Overflow`] where kernel values are not finite.
    pub fn fit(kernel: Kernel, rows: &PanelRows<T>) -> Result<Self> {
        let view = rows.view();
        let m = view.n_rows();
        check_room(16 * (m as u128) * (m as u128), || format!("kernel values of {m} landmarks"))?;
        let gram = gram(kernel, view)?;
        if !gram.iter().all(|value| value.is_finite()) {
            return Err(Error::Overflow {
                context: "kernel values of the landmarks".to_owned(),
                dtype: Dtype::Float64,
            });
        }
        let factored = PivotedCholesky::new(gram, tolerance::<T>(m), m);
        if factored.rank() == 0 {
            // Every kernel value is 0, and so is the only feature.
            return Ok(Self { rows: select(view, &[0]), whitening: Array2::zeros((1, 1)) });
        }
        let rows = select(view, factored.pivots());
        Ok(Self { rows, whitening: factored.inverse().mapv(T::from_f64) })
    }

    /// Puts learned parts together.
    ///
    /// # Errors
    /// [`Error::Model`] when they do not fit each other, or W is not upper triangular.
    pub fn from_parts(rows: PanelRows<T>, whitening: Array2<T>) -> Result<Self> {
        let m = rows.view().n_rows();
        if m == 0 || whitening.dim() != (m, m) {
            return Err(Error::Model(format!("whitening is {:?} for {m} landmarks", whitening.dim())));
        }
        let finite = match rows.view() {
            Rows::Dense(x) => x.iter().all(|x| x.is_finite()),
            Rows::Sparse(x) => x.values().iter().all(|x| x.is_finite()),
        };
        if !finite || !whitening.iter().all(|x| x.is_finite()) {
            return Err(Error::Model("landmarks or whitening that are not finite".to_owned()));
        }
        let is_upper = (1..m).all(|i| whitening.slice(s![i, ..i]).iter().all(|x| *x == T::zero()));
        if !is_upper {
            return Err(Error::Model("a whitening that is not upper triangular".to_owned()));
        }
        Ok(Self { rows, whitening })
    }

    /// The landmarks.
    pub fn rows(&self) -> Rows<'_, T> {
        self.rows.view()
    }

    /// W, landmarks × features.
    pub fn whitening(&self) -> ArrayView2<'_, T> {
        self.whitening.view()
    }

    /// The same in another float type.
    pub fn to_type<O: Scalar>(&self) -> Landmarks<O> {
        let convert = |x: T| O::from_f64(x.to_f64());
        let rows = match &self.rows {
            PanelRows::Dense(x) => PanelRows::Dense(x.mapv(convert)),
            PanelRows::Sparse(x) => PanelRows::Sparse(x.map(convert)),
        };
        Landmarks { rows, whitening: self.whitening.mapv(convert) }
    }
}

/// The smallest pivot, as a share of the largest, that is taken: see the module's head.
fn tolerance<T: Scalar>(n_landmarks: usize) -> f64 {
    let epsilon = match T::DTYPE {
        Dtype::Float32 => f64::from(f32::EPSILON),
        Dtype::Float64 => f64::EPSILON,
    };
    (epsilon * (n_landmarks as f64).sqrt()).powf(2.0 / 3.0)
}

/// k(x, x) in f64, by the threads of the current pool.
fn gram<T: Scalar>(kernel: Kernel, x: Rows<'_, T>) -> Result<Array2<f64>> {
    let m = x.n_rows();
    let mut gram = Array2::zeros((m, m));
    let rows = gram.axis_chunks_iter_mut(Axis(0), BLOCK).collect::<Vec<_>>().into_par_iter().enumerate();
    // Only the upper half is read.
    rows.try_for_each(|(at, mut out)| {
        let (first, last) = (at * BLOCK, at * BLOCK + out.nrows());
        kernel.gram_into(x.slice(first, last), x.slice(first, m), out.slice_mut(s![.., first..]))
    })?;
    Ok(gram)
}

/// Some rows, in this order.
pub(crate) fn select<T: Scalar>(rows: Rows<'_, T>, chosen: &[usize]) -> PanelRows<T> {
    match rows {
        Rows::Dense(x) => PanelRows::Dense(x.select(Axis(0), chosen)),
        Rows::Sparse(x) => {
            let mut rows = CsrMatrix::new(x.n_columns());
            chosen.iter().for_each(|&i| rows.push_row_of(x, i));
            PanelRows::Sparse(rows)
        }
    }
}

/// Kernel values with landmarks, made orthonormal: see the module's head.
///
/// ```
/// use mercer::dataset::PanelRows;
/// use mercer::feature_maps::{FeatureMap, LandmarkMap, Landmarks};
/// use mercer::kernels::Kernel;
/// use ndarray::{Array2, array};
///
/// let kernel = Kernel::Rbf { gamma: 0.5 };
/// let landmarks = Landmarks::fit(kernel, &PanelRows::Dense(array![[0.0], [1.0], [1.0]]))?;
/// let map = LandmarkMap::new(kernel, &landmarks)?;
/// // The third landmark is the second once more.
/// assert_eq!(map.n_components(), 2);
/// let mut features = Array2::zeros((2, 2));
/// map.transform_into(array![[0.0], [1.0]].view().into(), features.view_mut(), &mut [0.0; 4])?;
/// let product: f64 = features.row(0).dot(&features.row(1));
/// assert!((product - (-0.5_f64).exp()).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
pub struct LandmarkMap<T> {
    columns: KernelColumns<T>,
    whitening: Array2<T>,
}

impl<T: Scalar> LandmarkMap<T> {
    /// Of a kernel and what was learned with it.
    ///
    /// # Errors
    /// As [`Kernel::gram_into`].
    pub fn new(kernel: Kernel, landmarks: &Landmarks<T>) -> Result<Self> {
        let columns = KernelColumns::new(kernel, landmarks.rows.clone())?;
        Ok(Self { columns, whitening: landmarks.whitening.clone() })
    }
}

impl<T: Scalar> FeatureMap<T> for LandmarkMap<T> {
    fn n_inputs(&self) -> usize {
        self.columns.landmarks().n_inputs()
    }

    fn n_components(&self) -> usize {
        self.whitening.ncols()
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        n_rows.min(BATCH) * self.whitening.nrows()
    }

    fn factored(&self) -> Option<Factored<'_, T>> {
        Some(Factored { first: &self.columns, then: self.whitening.view() })
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let m = self.whitening.nrows();
        // No rows have a width to be checked too.
        for first in (0..rows.n_rows().max(1)).step_by(BATCH) {
            let last = rows.n_rows().min(first + BATCH);
            let values = &mut scratch[..(last - first) * m];
            let mut values = ArrayViewMut2::from_shape((last - first, m), values).expect("as many values");
            let filled = self.columns.values_into(rows.slice(first, last), values.view_mut());
            filled.map_err(|error| error.behind(first))?;
            multiply(values.view(), self.whitening.view(), out.slice_mut(s![first..last, ..]));
        }
        Ok(())
    }
}

/// Kernel values as they are.
impl<T: Scalar> FeatureMap<T> for KernelColumns<T> {
    fn n_inputs(&self) -> usize {
        self.landmarks().n_inputs()
    }

    fn n_components(&self) -> usize {
        self.landmarks().n_rows()
    }

    fn scratch_len(&self, _n_rows: usize) -> usize {
        0
    }

    fn transform_into(&self, rows: Rows<'_, T>, out: ArrayViewMut2<'_, T>, _scratch: &mut [T]) -> Result<()> {
        self.values_into(rows, out)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::random::{Purpose, normal_columns};

    fn features<T: Scalar>(kernel: Kernel, landmarks: &Landmarks<T>, x: ArrayView2<'_, T>) -> Array2<f64> {
        let map = LandmarkMap::new(kernel, landmarks).unwrap();
        let mut out = Array2::zeros((x.nrows(), map.n_components()));
        let mut scratch = vec![T::nan(); map.scratch_len(x.nrows())];
        map.transform_into(x.into(), out.view_mut(), &mut scratch).unwrap();
        out.mapv(Scalar::to_f64)
    }

    /// k(x,L)·K⁻¹·k(L,y) by a solver of its own.
    #[test]
    fn inner_products_are_those_of_the_span() {
        let all = normal_columns::<f64>(1, Purpose::Projection, 3, 0..60).reversed_axes();
        let (landmarks, x) = (all.slice(s![..20, ..]).to_owned(), all.slice(s![20.., ..]));
        let kernel = Kernel::Rbf { gamma: 0.3 };
        let fitted = Landmarks::fit(kernel, &PanelRows::Dense(landmarks.clone())).unwrap();
        assert_eq!(fitted.rows().n_rows(), 20);
        let got = features(kernel, &fitted, x);
        let (mut gram, mut columns) = (Array2::<f64>::zeros((20, 20)), Array2::<f64>::zeros((20, 40)));
        kernel.gram_into(landmarks.view().into(), landmarks.view().into(), gram.view_mut()).unwrap();
        kernel.gram_into(landmarks.view().into(), x.into(), columns.view_mut()).unwrap();
        let expected = columns.t().dot(&solved(gram, columns.clone()));
        let worst = (got.dot(&got.t()) - expected).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(worst < 1e-9, "off by {worst}");
    }

    /// Gauss and Jordan, with pivots.
    fn solved(mut a: Array2<f64>, mut b: Array2<f64>) -> Array2<f64> {
        let n = a.nrows();
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[[i, k]].abs().total_cmp(&a[[j, k]].abs())).unwrap();
            for j in 0..n {
                a.swap([k, j], [pivot, j]);
            }
            for j in 0..b.ncols() {
                b.swap([k, j], [pivot, j]);
            }
            for i in (0..n).filter(|i| *i != k) {
                let factor = a[[i, k]] / a[[k, k]];
                let (row_a, row_b) = (a.row(k).to_owned(), b.row(k).to_owned());
                a.row_mut(i).scaled_add(-factor, &row_a);
                b.row_mut(i).scaled_add(-factor, &row_b);
            }
        }
        for k in 0..n {
            let diagonal = a[[k, k]];
            b.row_mut(k).mapv_inplace(|x| x / diagonal);
        }
        b
    }

    #[test]
    fn landmarks_that_add_nothing_are_left_out() {
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let rank = |rows| Landmarks::<f32>::fit(kernel, &PanelRows::Dense(rows)).unwrap().rows().n_rows();
        assert_eq!(rank(array![[0.0], [0.0], [3.0], [0.0]]), 2);
        assert_eq!(rank(Array2::ones((50, 4))), 1);
        let of = |kernel: Kernel| {
            let rows = normal_columns::<f32>(2, Purpose::Projection, 5, 0..40).reversed_axes();
            let fitted = Landmarks::fit(kernel, &PanelRows::Dense(rows.clone())).unwrap();
            let features = features(kernel, &fitted, rows.view());
            assert!(features.iter().all(|x| x.is_finite()), "{kernel:?}");
            fitted.rows().n_rows()
        };
        assert_eq!(of(Kernel::Linear), 5);
        assert_eq!(of(Kernel::Rbf { gamma: 1e-30 }), 1);
        assert_eq!(of(Kernel::Rbf { gamma: 1e30 }), 40);
        // Rank 1, and nothing at all.
        assert_eq!(
            Landmarks::<f64>::fit(Kernel::Linear, &PanelRows::Dense(array![[1.0], [2.0]])).unwrap().rows().n_rows(),
            1
        );
        let none = Landmarks::<f64>::fit(Kernel::Linear, &PanelRows::Dense(array![[0.0], [0.0]])).unwrap();
        assert_eq!(features(Kernel::Linear, &none, array![[3.0]].view()), array![[0.0]]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let rows = || PanelRows::Dense(array![[0.0, 1.0], [2.0, 3.0]]);
        Landmarks::from_parts(rows(), array![[1.0, 2.0], [0.0, 1.0]]).unwrap();
        for (whitening, reason) in [
            (array![[1.0]], "(1, 1) for 2 landmarks"),
            (array![[1.0, 0.0], [1.0, 1.0]], "upper triangular"),
            (array![[f64::NAN, 0.0], [0.0, 1.0]], "not finite"),
        ] {
            let error = Landmarks::from_parts(rows(), whitening).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
