//! Kernel values with landmarks, times a matrix: the Nyström method, and the random projections and principal components of kernels.
//!
//! φ(x) = Wᵀ·k(L, x) for the p landmarks L, some rows of the data. What W is, is the form:
//!
//! | form | W | ⟨φ(x),φ(y)⟩ | features |
//! |---|---|---|---|
//! | `nystroem` | R⁻¹, K = RᵀR | k(x,L)·K⁻¹·k(L,y) | p |
//! | `nystroem_symmetric` | K^(−½) | the same | p |
//! | `kg_rp` | K^(−½)·V, V sparse signs ([`kg_rp`]) | the same in expectation | any |
//! | `korp` | R⁻¹·V, V orthonormal ([`kg_rp`]) | the same in expectation | at most p |
//! | `kernel_pca` | principal components ([`kernel_pca`]) | the part of the centred kernel along them | at most p |
//!
//! with K = k(L, L). For every W with W·Wᵀ = K⁻¹,
//!
//! ⟨φ(x),φ(y)⟩ = k(x, L)·K⁻¹·k(L, y),
//!
//! the inner product of what is left of x and y in the span of the landmarks: exact where x or y is a landmark, never above k(x,x) for
//! x = y, and better with every landmark. It is no matter of chance but for the choice of landmarks ([`crate::budget`]).
//!
//! Steps:
//! 1. K of the landmarks in f64, and its Cholesky factor with pivots: K = RᵀR. Landmarks whose part beyond the span of those before
//!    is below [`tolerance`] add nothing but noise and are left out: the rank is revealed.
//! 2. W = R⁻¹, upper triangular; other forms go on from here.
//! 3. Of each batch of rows the kernel values ([`KernelColumns`]), then their product with W, by blocks of columns: what is below
//!    the diagonal of a triangle is not multiplied.
//!
//! Cost: p²·d + p³ to fit, 10p³ by eigenvectors; p·(d + p/2) multiply-adds for a row, p·(d + k) for a full W of k features. Memory: p·(d + k), and p² in f64
//! a few times while it is fitted.
//!
//! Where the float type rounds k(L, x) by ε, a feature is off by ε·√(p/τ) for a smallest pivot τ, and what a pivot below τ would add
//! is τ: both are equal for τ = (ε√p)^⅔, the tolerance.
//!
//! References: Williams and Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000; those of [`kg_rp`] and [`kernel_pca`].

mod kernel_pca;
mod kg_rp;
mod pre_image;
mod precomputed;

pub use pre_image::PreImage;
pub use precomputed::PrecomputedMap;

use mercer_simd::{Dtype, Scalar, Update, matmul_into};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
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

/// What kernel values with landmarks are multiplied by: see the module's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum LandmarkForm {
    /// R⁻¹ of the Cholesky factor: the cheapest.
    #[default]
    Nystroem,
    /// K^(−½) by eigenvectors: the same inner products, and features that treat all landmarks alike.
    NystroemSymmetric,
    /// Sums of a few whitened landmarks with random signs (Kulis and Grauman).
    KgRp {
        /// landmarks of a sum, at least 1
        n_terms: usize,
    },
    /// Random orthonormal directions in the span of the landmarks.
    Korp,
    /// Principal components of the landmarks in feature space.
    KernelPca,
}

impl LandmarkForm {
    /// The name of the map in specs and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nystroem | Self::NystroemSymmetric => "nystroem",
            Self::KgRp { .. } => "kg_rp",
            Self::Korp => "korp",
            Self::KernelPca => "kernel_pca",
        }
    }

    /// Whether there are as many features as landmarks.
    fn is_square(self) -> bool {
        matches!(self, Self::Nystroem | Self::NystroemSymmetric)
    }
}

/// A landmark map as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LandmarkSpec {
    /// number of features; where the landmarks depend on each other, fewer may be left
    pub n_components: usize,
    /// number of landmarks, where it may be another
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_landmarks: Option<usize>,
    /// of which kernel
    pub kernel: KernelFamily,
    /// its width; of no use to a kernel without one
    pub gamma: Gamma,
    /// how landmarks are chosen
    pub budget: BudgetSpec,
    /// what becomes of their kernel values
    #[serde(default)]
    pub form: LandmarkForm,
}

impl LandmarkSpec {
    /// The Nyström method for the RBF kernel, landmarks chosen by chance.
    pub fn new(n_components: usize) -> Self {
        Self {
            n_components,
            n_landmarks: None,
            kernel: KernelFamily::Rbf,
            gamma: Gamma::Scale,
            budget: BudgetSpec::default(),
            form: LandmarkForm::Nystroem,
        }
    }

    /// Number of landmarks unless given: as many as features, of KG-RP at most 1,024, for principal components twice as many and at least
    /// 1,024.
    pub fn n_landmarks(&self) -> usize {
        self.n_landmarks.unwrap_or(match self.form {
            LandmarkForm::KernelPca => self.n_components.saturating_mul(2).max(1024),
            LandmarkForm::KgRp { .. } => self.n_components.min(1024),
            _ => self.n_components,
        })
    }

    /// The same for landmarks that are given, so many of them: of a form with a feature for each as many features, of others at most.
    #[must_use]
    pub fn around(mut self, n_landmarks: usize) -> Self {
        if self.form.is_square() {
            self.n_components = n_landmarks;
        } else {
            self.n_landmarks = Some(n_landmarks);
        }
        self
    }

    /// As many as are asked for of what a rank may cut: components, else landmarks.
    pub fn n_asked(&self) -> usize {
        if self.form == LandmarkForm::KernelPca { self.n_components } else { self.n_landmarks() }
    }

    pub(super) fn validate(&self) -> Result<()> {
        if self.n_components == 0 {
            return Err(Error::parameter("n_components", 0, "1 or more"));
        }
        let p = self.n_landmarks();
        if self.form.is_square() && p != self.n_components {
            let expected = "left out, or n_components: the Nyström method has a feature for each landmark";
            return Err(Error::parameter("n_landmarks", p, expected));
        }
        if !matches!(self.form, LandmarkForm::KgRp { .. }) && self.n_components > p {
            return Err(Error::parameter("n_components", self.n_components, "at most n_landmarks, or kg_rp"));
        }
        if let LandmarkForm::KgRp { n_terms } = self.form
            && (n_terms == 0 || n_terms > p)
        {
            return Err(Error::parameter("n_terms", n_terms, "1 or more, and at most n_landmarks"));
        }
        self.gamma.validate()?;
        self.kernel.validate()
    }

    /// The same with as many landmarks and features as there are.
    pub(super) fn with_shape(&mut self, n_landmarks: usize, n_components: usize) {
        self.n_components = n_components;
        self.n_landmarks = (!self.form.is_square()).then_some(n_landmarks);
        if let LandmarkForm::KgRp { n_terms } = &mut self.form {
            *n_terms = (*n_terms).min(n_landmarks);
        }
    }

    /// Numbers that the map keeps.
    pub(super) fn n_entries(&self, n_inputs: usize) -> u64 {
        let (p, k) = (self.n_landmarks() as u64, self.n_components as u64);
        p.saturating_mul((2 * n_inputs as u64).saturating_add(k))
    }

    /// Numbers in f64 while it is fitted.
    pub(super) fn n_fitted_from(&self) -> u64 {
        let p = self.n_landmarks() as u64;
        p.saturating_mul(p).saturating_mul(self.n_copies())
    }

    /// Matrices of landmarks × landmarks that are there at a time.
    fn n_copies(&self) -> u64 {
        if self.form == LandmarkForm::Nystroem { 2 } else { 4 }
    }

    /// Learns the map of rows that were chosen, on the threads of the current pool; `seed` names what a form draws.
    ///
    /// # Errors
    /// As [`Kernel::gram_into`], [`Error::Memory`] where memory is short, [`Error::Overflow`] where kernel values are not finite.
    pub fn fit<T: Scalar>(&self, kernel: Kernel, rows: &PanelRows<T>, seed: u64) -> Result<Landmarks<T>> {
        let view = rows.view();
        let p = view.n_rows();
        check_room(8 * self.n_copies() as u128 * (p as u128).pow(2), || format!("kernel values of {p} landmarks"))?;
        let mut gram = gram(kernel, view)?;
        if !gram.iter().all(|value| value.is_finite()) {
            return Err(Error::Overflow {
                context: "kernel values of the landmarks".to_owned(),
                dtype: Dtype::Float64,
            });
        }
        drop_nothings(&mut gram);
        self.fit_gram(gram, view, seed)
    }

    /// [`LandmarkSpec::fit`] from the upper half of K.
    fn fit_gram<T: Scalar>(&self, gram: Array2<f64>, rows: Rows<'_, T>, seed: u64) -> Result<Landmarks<T>> {
        let p = rows.n_rows();
        if self.form == LandmarkForm::KernelPca {
            let found = kernel_pca::components(mirrored(&gram, None), self.n_components, epsilon::<T>());
            return Ok(match found {
                Some((weights, offset)) => Landmarks::new(rows, &(0..p).collect::<Vec<_>>(), weights, &offset),
                None => Landmarks::nothing(rows, true),
            });
        }
        let copy = (self.form != LandmarkForm::Nystroem && self.form != LandmarkForm::Korp).then(|| gram.clone());
        let factored = PivotedCholesky::new(gram, tolerance::<T>(p), p);
        if factored.rank() == 0 {
            return Ok(Landmarks::nothing(rows, false));
        }
        let root = || kg_rp::inverse_root(mirrored(copy.as_ref().expect("it was kept"), Some(factored.pivots())));
        let weights = match self.form {
            LandmarkForm::NystroemSymmetric => root(),
            LandmarkForm::KgRp { n_terms } => kg_rp::signed_sums(&root(), n_terms, self.n_components, seed),
            LandmarkForm::Korp => kg_rp::orthonormal(&factored.inverse(), self.n_components, seed),
            LandmarkForm::Nystroem | LandmarkForm::KernelPca => factored.inverse(),
        };
        Ok(Landmarks::new(rows, factored.pivots(), weights, &[]))
    }
}

/// Sets to 0 what is below 2⁻⁶³ of the largest value: far below its last digit, and its products would be subnormal numbers, which are slow.
fn drop_nothings(values: &mut Array2<f64>) {
    let least = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs())) * 2.0_f64.powi(-63);
    values.mapv_inplace(|value| if value.abs() < least { 0.0 } else { value });
}

/// All of a symmetric matrix from its upper half, or of some of its rows and columns.
fn mirrored(upper: &Array2<f64>, chosen: Option<&[usize]>) -> Array2<f64> {
    let n = chosen.map_or(upper.nrows(), <[usize]>::len);
    let at = |i: usize| chosen.map_or(i, |chosen| chosen[i]);
    Array2::from_shape_fn((n, n), |(i, j)| upper[[at(i).min(at(j)), at(i).max(at(j))]])
}

/// What a landmark map learned: rows, what their kernel values are multiplied by, and what is added.
#[derive(Clone, Debug)]
pub struct Landmarks<T> {
    rows: PanelRows<T>,
    /// landmarks × features
    whitening: Array2<T>,
    /// one for each feature, or empty
    offset: Vec<T>,
    /// whether the whitening is square and upper triangular
    is_upper: bool,
    /// which rows of the data they are; empty where that is not known
    numbers: Vec<u64>,
}

impl<T: Scalar> Landmarks<T> {
    /// By the Nyström method, of those rows that the others do not give already, in the order of what they add. On the threads of the
    /// current pool.
    ///
    /// # Errors
    /// As [`LandmarkSpec::fit`].
    pub fn fit(kernel: Kernel, rows: &PanelRows<T>) -> Result<Self> {
        LandmarkSpec::new(rows.view().n_rows()).fit(kernel, rows, 0)
    }

    /// Those of the rows that are left.
    fn new(rows: Rows<'_, T>, left: &[usize], mut weights: Array2<f64>, offset: &[f64]) -> Self {
        drop_nothings(&mut weights);
        let whitening = weights.mapv(T::from_f64);
        let offset = offset.iter().map(|&x| T::from_f64(x)).collect();
        let numbers = left.iter().map(|&i| i as u64).collect();
        Self { rows: select(rows, left), is_upper: is_upper(&whitening), whitening, offset, numbers }
    }

    /// Every kernel value, or its part that is not the mean, is 0, and so is the only feature.
    fn nothing(rows: Rows<'_, T>, centred: bool) -> Self {
        let offset: &[f64] = if centred { &[0.0] } else { &[] };
        Self::new(rows, &[0], Array2::zeros((1, 1)), offset)
    }

    /// Puts learned parts together; an empty offset is none.
    ///
    /// # Errors
    /// [`Error::Model`] when they do not fit each other.
    pub fn from_parts(rows: PanelRows<T>, whitening: Array2<T>, offset: Vec<T>) -> Result<Self> {
        let m = rows.view().n_rows();
        if m == 0 || whitening.nrows() != m || whitening.ncols() == 0 {
            return Err(Error::Model(format!("whitening is {:?} for {m} landmarks", whitening.dim())));
        }
        if !offset.is_empty() && offset.len() != whitening.ncols() {
            let (got, expected) = (offset.len(), whitening.ncols());
            return Err(Error::Model(format!("an offset of {got} features, the whitening has {expected}")));
        }
        let finite = match rows.view() {
            Rows::Dense(x) => x.iter().all(|x| x.is_finite()),
            Rows::Sparse(x) => x.values().iter().all(|x| x.is_finite()),
        };
        if !finite || !whitening.iter().chain(&offset).all(|x| x.is_finite()) {
            return Err(Error::Model("landmarks or whitening that are not finite".to_owned()));
        }
        Ok(Self { rows, is_upper: is_upper(&whitening), whitening, offset, numbers: Vec::new() })
    }

    /// Whether these are landmarks of such a map: of this form, and of so many inputs.
    ///
    /// # Errors
    /// [`Error::Model`] where they are not.
    pub(super) fn check(&self, spec: &LandmarkSpec, n_inputs: usize) -> Result<()> {
        let found = (self.rows.view().n_rows(), self.rows.view().n_inputs(), self.whitening.ncols());
        let expected = (spec.n_landmarks(), n_inputs, spec.n_components);
        if found != expected {
            let shape = |(p, d, k)| format!("{p} of {d} inputs and {k} features");
            return Err(Error::Model(format!("landmarks: {}, the spec has {}", shape(found), shape(expected))));
        }
        if spec.form == LandmarkForm::Nystroem && !self.is_upper {
            return Err(Error::Model("a whitening that is not upper triangular".to_owned()));
        }
        if (spec.form == LandmarkForm::KernelPca) == self.offset.is_empty() {
            return Err(Error::Model(format!("an offset of {} features for {}", self.offset.len(), spec.form.name())));
        }
        Ok(())
    }

    /// The landmarks.
    pub fn rows(&self) -> Rows<'_, T> {
        self.rows.view()
    }

    /// Which rows they are of those that they were chosen from or, of your own, of these; empty for centres, which are no rows, and for
    /// landmarks put together from parts.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// The same as rows of other numbers: of those that they were fitted to, `of` has the numbers where they have any.
    pub(crate) fn renumbered(mut self, of: Option<&[u64]>) -> Self {
        self.numbers = of.map_or_else(Vec::new, |of| self.numbers.iter().map(|&i| of[i as usize]).collect());
        self
    }

    /// W, landmarks × features.
    pub fn whitening(&self) -> ArrayView2<'_, T> {
        self.whitening.view()
    }

    /// What is added to the features, where that is anything.
    pub fn offset(&self) -> &[T] {
        &self.offset
    }

    /// Of the kernel values: as many landmarks are left, or as many principal components.
    pub fn rank(&self) -> usize {
        if self.offset.is_empty() { self.rows.view().n_rows() } else { self.whitening.ncols() }
    }

    /// The same in another float type.
    pub fn to_type<O: Scalar>(&self) -> Landmarks<O> {
        let convert = |x: T| O::from_f64(x.to_f64());
        let rows = match &self.rows {
            PanelRows::Dense(x) => PanelRows::Dense(x.mapv(convert)),
            PanelRows::Sparse(x) => PanelRows::Sparse(x.map(convert)),
        };
        let offset = self.offset.iter().map(|&x| convert(x)).collect();
        let (whitening, numbers) = (self.whitening.mapv(convert), self.numbers.clone());
        Landmarks { rows, whitening, offset, is_upper: self.is_upper, numbers }
    }
}

fn is_upper<T: Scalar>(w: &Array2<T>) -> bool {
    w.is_square() && (1..w.nrows()).all(|i| w.slice(s![i, ..i]).iter().all(|x| *x == T::zero()))
}

fn epsilon<T: Scalar>() -> f64 {
    match T::DTYPE {
        Dtype::Float32 => f64::from(f32::EPSILON),
        Dtype::Float64 => f64::EPSILON,
    }
}

/// The smallest pivot, as a share of the largest, that is taken: see the module's head.
fn tolerance<T: Scalar>(n_landmarks: usize) -> f64 {
    (epsilon::<T>() * (n_landmarks as f64).sqrt()).powf(2.0 / 3.0)
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

/// Kernel values with landmarks times a matrix: see the module's head.
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
    offset: Array1<T>,
    is_upper: bool,
}

impl<T: Scalar> LandmarkMap<T> {
    /// Of a kernel and what was learned with it.
    ///
    /// # Errors
    /// As [`Kernel::gram_into`].
    pub fn new(kernel: Kernel, landmarks: &Landmarks<T>) -> Result<Self> {
        let columns = KernelColumns::new(kernel, landmarks.rows.clone())?;
        let (whitening, offset) = (landmarks.whitening.clone(), landmarks.offset.clone().into());
        Ok(Self { columns, whitening, offset, is_upper: landmarks.is_upper })
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
        let offset = self.offset.as_slice().expect("contiguous");
        Some(Factored { first: &self.columns, then: self.whitening.view(), is_upper: self.is_upper, offset })
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
            let mut out = out.slice_mut(s![first..last, ..]);
            if self.is_upper {
                multiply(values.view(), self.whitening.view(), out.view_mut());
            } else {
                matmul_into(values.view(), self.whitening.view(), out.view_mut(), Update::Set);
            }
            for mut row in out.outer_iter_mut() {
                row.iter_mut().zip(&self.offset).for_each(|(feature, &offset)| *feature = *feature + offset);
            }
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
        let upper = array![[1.0, 2.0], [0.0, 1.0]];
        let fits = |whitening: &Array2<f64>, offset: &[f64], form| {
            let landmarks = Landmarks::from_parts(rows(), whitening.clone(), offset.to_vec())?;
            let n_landmarks = (form == LandmarkForm::KernelPca).then_some(2);
            landmarks.check(&LandmarkSpec { form, n_landmarks, ..LandmarkSpec::new(2) }, 2)
        };
        fits(&upper, &[], LandmarkForm::Nystroem).unwrap();
        fits(&upper.t().to_owned(), &[], LandmarkForm::NystroemSymmetric).unwrap();
        fits(&upper, &[1.0, 2.0], LandmarkForm::KernelPca).unwrap();
        for (whitening, offset, form, reason) in [
            (array![[1.0]], vec![], LandmarkForm::Nystroem, "(1, 1) for 2 landmarks"),
            (upper.t().to_owned(), vec![], LandmarkForm::Nystroem, "upper triangular"),
            (array![[f64::NAN, 0.0], [0.0, 1.0]], vec![], LandmarkForm::Nystroem, "not finite"),
            (upper.clone(), vec![f64::NAN, 0.0], LandmarkForm::KernelPca, "not finite"),
            (upper.clone(), vec![1.0], LandmarkForm::KernelPca, "an offset of 1 features, the whitening has 2"),
            (upper.clone(), vec![], LandmarkForm::KernelPca, "an offset of 0 features for kernel_pca"),
            (upper.clone(), vec![1.0, 2.0], LandmarkForm::Nystroem, "an offset of 2 features for nystroem"),
            (array![[1.0], [0.0]], vec![], LandmarkForm::Nystroem, "2 of 2 inputs and 1 features"),
        ] {
            let error = fits(&whitening, &offset, form).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
