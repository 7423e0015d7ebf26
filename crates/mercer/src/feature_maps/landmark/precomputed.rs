//! The Nyström method for kernel values that are given: of graphs, texts, or any objects that are no rows.
//!
//! φ(x) = R⁻ᵀ·k(L, x), K(L, L) = RᵀR, as [`super::Landmarks`] has it; but a row *is* k(x, L), its kernel values with the landmarks. Hence
//! ⟨φ(x),φ(y)⟩ = k(x, L)·K(L, L)⁻¹·k(L, y).
//!
//! Steps: the matrix of those columns that are chosen ([`crate::budget::choose_columns`]), its Cholesky factor with pivots, and of the pivots R⁻¹.
//! Landmarks that the others give already are left out.
//!
//! Cost: p³ to fit, p²/2 multiply-adds for a row. Memory: p².

use mercer_simd::{Dtype, Scalar};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::super::FeatureMap;
use super::{epsilon, tolerance};
use crate::dataset::Rows;
use crate::pivoted::{PivotedCholesky, multiply};
use crate::room::check_room;
use crate::{Error, Result};

/// Whitened kernel values: see the module's head.
///
/// ```
/// use mercer::feature_maps::{FeatureMap, PrecomputedMap};
/// use ndarray::{Array2, array};
///
/// let gram = array![[2.0, 1.0, 0.5], [1.0, 2.0, 0.25], [0.5, 0.25, 1.0]];
/// let map = PrecomputedMap::fit(gram.view(), &[0, 1])?;
/// // Kernel values with the landmarks, in the order of `landmarks`.
/// let values = gram.select(ndarray::Axis(1), map.landmarks());
/// let mut features = Array2::<f64>::zeros((3, 2));
/// map.transform_into(values.view().into(), features.view_mut(), &mut [])?;
/// assert!((features.row(0).dot(&features.row(2)) - 0.5).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PrecomputedMap<T> {
    landmarks: Vec<usize>,
    whitening: Array2<T>,
}

impl<T: Scalar> PrecomputedMap<T> {
    /// Of K, of all rows with all or of the landmarks with themselves, and of the numbers of the landmarks in it.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a matrix that is not square or not of a kernel, or without landmarks; [`Error::Overflow`] for values that
    /// are not finite, [`Error::Memory`] where memory is short.
    pub fn fit(gram: ArrayView2<'_, T>, landmarks: &[usize]) -> Result<Self> {
        let p = landmarks.len();
        check_shape(gram, landmarks)?;
        check_room(16 * (p as u128).pow(2), || format!("kernel values of {p} landmarks"))?;
        let chosen = Array2::from_shape_fn((p, p), |(i, j)| gram[[landmarks[i], landmarks[j]]].to_f64());
        check_kernel(&chosen, epsilon::<T>().sqrt(), landmarks)?;
        let factored = PivotedCholesky::new(chosen, tolerance::<T>(p), p);
        if factored.rank() == 0 {
            return Ok(Self { landmarks: vec![landmarks[0]], whitening: Array2::zeros((1, 1)) });
        }
        let whitening = factored.inverse().mapv(T::from_f64);
        Ok(Self { landmarks: factored.pivots().iter().map(|&at| landmarks[at]).collect(), whitening })
    }

    /// Puts learned parts together.
    ///
    /// # Errors
    /// [`Error::Model`] when they do not fit each other.
    pub fn from_parts(landmarks: Vec<usize>, whitening: Array2<T>) -> Result<Self> {
        if landmarks.is_empty() || whitening.dim() != (landmarks.len(), landmarks.len()) {
            return Err(Error::Model(format!("whitening is {:?} for {} landmarks", whitening.dim(), landmarks.len())));
        }
        Ok(Self { landmarks, whitening })
    }

    /// The numbers of those that are left, in the order of what they add: whose kernel values a row has.
    pub fn landmarks(&self) -> &[usize] {
        &self.landmarks
    }

    /// R⁻¹
    pub fn whitening(&self) -> ArrayView2<'_, T> {
        self.whitening.view()
    }
}

fn check_shape<T: Scalar>(gram: ArrayView2<'_, T>, landmarks: &[usize]) -> Result<()> {
    if !gram.is_square() {
        let got = format!("{} x {}", gram.nrows(), gram.ncols());
        return Err(Error::parameter("kernel matrix", got, "square: of all rows with all"));
    }
    if landmarks.is_empty() {
        return Err(Error::parameter("landmarks", "empty", "one or more"));
    }
    match landmarks.iter().find(|&&at| at >= gram.nrows()) {
        Some(at) => Err(Error::parameter("landmarks", at, "numbers of rows of the kernel matrix, from 0 on")),
        None => Ok(()),
    }
}

/// Whether it may be of a kernel: finite, symmetric up to a share of its largest entry, and nothing below 0 on its diagonal.
fn check_kernel(k: &Array2<f64>, share: f64, landmarks: &[usize]) -> Result<()> {
    if !k.iter().all(|value| value.is_finite()) {
        return Err(Error::Overflow { context: "kernel matrix".to_owned(), dtype: Dtype::Float64 });
    }
    let largest = k.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for ((i, j), &value) in k.indexed_iter() {
        let place = format!("{value} at row {}, column {}", landmarks[i], landmarks[j]);
        if i == j && value < 0.0 {
            return Err(Error::parameter("kernel matrix", place, "at least 0 on its diagonal"));
        }
        if (value - k[[j, i]]).abs() > share * largest {
            let got = format!("{place} and {} across", k[[j, i]]);
            return Err(Error::parameter("kernel matrix", got, "symmetric"));
        }
    }
    Ok(())
}

impl<T: Scalar> FeatureMap<T> for PrecomputedMap<T> {
    fn n_inputs(&self) -> usize {
        self.landmarks.len()
    }

    fn n_components(&self) -> usize {
        self.landmarks.len()
    }

    fn scratch_len(&self, _n_rows: usize) -> usize {
        0
    }

    fn transform_into(&self, rows: Rows<'_, T>, out: ArrayViewMut2<'_, T>, _scratch: &mut [T]) -> Result<()> {
        let (got, expected) = (rows.n_inputs(), self.landmarks.len());
        if got != expected {
            return Err(Error::Inputs { context: "kernel values".to_owned(), got, expected });
        }
        multiply(rows.to_dense().view(), self.whitening.view(), out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array, s};

    use super::*;
    use crate::budget::{BudgetMethod, choose_columns};
    use crate::dataset::PanelRows;
    use crate::feature_maps::{LandmarkMap, Landmarks};
    use crate::kernels::Kernel;
    use crate::random::{Purpose, normal_columns};

    fn gram_of(x: &Array2<f64>) -> Array2<f64> {
        let mut gram = Array2::zeros((x.nrows(), x.nrows()));
        Kernel::Rbf { gamma: 0.3 }.gram_into(x.view().into(), x.view().into(), gram.view_mut()).unwrap();
        gram
    }

    /// By any budget, from all of K or from that of the landmarks: the features of the rows themselves, to rounding.
    #[test]
    fn as_the_rows_have_it() {
        let x = normal_columns::<f64>(1, Purpose::Projection, 60, 0..4);
        let gram = gram_of(&x);
        for method in [
            BudgetMethod::Uniform,
            BudgetMethod::RandomCholesky,
            BudgetMethod::Leverage,
            BudgetMethod::Columns,
            BudgetMethod::Farthest,
            BudgetMethod::KmeansPp,
            BudgetMethod::Dbh,
        ] {
            let chosen = choose_columns(method, gram.view(), 12, 5).unwrap();
            assert_eq!(chosen.len(), 12, "{method:?}");
            let map = PrecomputedMap::fit(gram.view(), &chosen).unwrap();
            let values = gram.select(Axis(1), map.landmarks());
            let mut got = Array2::zeros((60, 12));
            map.transform_into(values.view().into(), got.view_mut(), &mut []).unwrap();
            let kernel = Kernel::Rbf { gamma: 0.3 };
            let landmarks = Landmarks::fit(kernel, &PanelRows::Dense(x.select(Axis(0), &chosen))).unwrap();
            let of_rows = LandmarkMap::new(kernel, &landmarks).unwrap();
            let mut expected = Array2::zeros((60, 12));
            let mut scratch = vec![0.0; of_rows.scratch_len(60)];
            of_rows.transform_into(x.view().into(), expected.view_mut(), &mut scratch).unwrap();
            let worst = (&got - &expected).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            assert!(worst < 1e-9, "{method:?}: off by {worst}");
            let own = gram.select(Axis(0), &chosen).select(Axis(1), &chosen);
            let small = PrecomputedMap::fit(own.view(), &(0..12).collect::<Vec<_>>()).unwrap();
            assert_eq!(small.whitening(), map.whitening());
            // A batch is its rows one by one.
            let mut one = Array2::zeros((1, 12));
            map.transform_into(values.slice(s![7..8, ..]).into(), one.view_mut(), &mut []).unwrap();
            assert_eq!(one.row(0), got.row(7));
        }
        assert_eq!(choose_columns(BudgetMethod::Uniform, gram.view(), 60, 0).unwrap(), (0..60).collect::<Vec<_>>());
    }

    #[test]
    fn landmarks_that_add_nothing_are_left_out() {
        let twice = array![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!(PrecomputedMap::fit(twice.view(), &[0, 1, 2]).unwrap().landmarks().len(), 2);
        let none = PrecomputedMap::fit(Array2::<f32>::zeros((3, 3)).view(), &[1, 2]).unwrap();
        assert_eq!((none.landmarks(), none.whitening()), (&[1][..], array![[0.0]].view()));
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        let fit =
            |k: Array2<f64>, landmarks: &[usize]| PrecomputedMap::fit(k.view(), landmarks).unwrap_err().to_string();
        for (k, landmarks, says) in [
            (Array2::zeros((2, 3)), &[0][..], "kernel matrix is 2 x 3, must be square"),
            (Array2::eye(2), &[], "landmarks is empty"),
            (Array2::eye(2), &[2], "landmarks is 2"),
            (array![[1.0, 0.5], [0.2, 1.0]], &[0, 1], "0.5 at row 0, column 1 and 0.2 across, must be symmetric"),
            (array![[1.0, 0.0], [0.0, -1.0]], &[0, 1], "-1 at row 1, column 1, must be at least 0"),
            (array![[1.0, f64::NAN], [0.0, 1.0]], &[0, 1], "kernel matrix"),
        ] {
            let error = fit(k, landmarks);
            assert!(error.contains(says), "{error}");
        }
        let gram = Array2::<f64>::eye(3);
        assert!(choose_columns(BudgetMethod::Kmeans, gram.view(), 2, 0).is_err());
        assert!(choose_columns(BudgetMethod::Uniform, gram.view(), 0, 0).is_err());
        assert!(choose_columns(BudgetMethod::Uniform, gram.slice(s![..2, ..]), 1, 0).is_err());
        let map = PrecomputedMap::fit(gram.view(), &[0, 1]).unwrap();
        let error = map.transform_into(gram.view().into(), Array2::zeros((3, 2)).view_mut(), &mut []).unwrap_err();
        assert!(matches!(error, Error::Inputs { got: 3, expected: 2, .. }));
    }
}
