//! Kernel values of many rows with the same few: the landmarks of a map.
//!
//! [`Kernel::gram_into`] takes every inner product in f64. Against landmarks that stay, RBF, polynomial, exponential and linear
//! kernels are taken in the float type instead, from one matrix product with the landmarks stored input by input: three times as
//! fast in f32. So are Laplace kernels, from sums of absolute differences: of d inputs an exponent t is off by (d/32 + 33)·ε·t/2 at most, e^(−t) by 0.4 of that for t = 1. Where that would cost digits, a row goes the way of `gram_into`: an RBF kernel of squared
//! lengths that γ makes large (γ·(‖x‖² + ‖y‖²)·ε above [`LEAST_DIGITS`] for a landmark that is near enough to matter), which are
//! rows far from the origin or a narrow kernel.
//! All other kernels, and landmarks of so many inputs that they stay sparse, go that way too.
//!
//! A row's values do not depend on the rows beside it, nor on whether it is dense or sparse.

use mercer_simd::ops::exp::{exp_in_place, rbf_in_place};
use mercer_simd::ops::manhattan::manhattan_into;
use mercer_simd::{Dtype, InstructionSet, Scalar};
use ndarray::{Array2, ArrayViewMut2, s};

use super::Kernel;
use super::distances::squared_norms;
use crate::dataset::{PanelRows, Rows};
use crate::{Error, Result};

/// Error of an exponent that the float type may add.
const LEAST_DIGITS: f64 = 2e-6;
/// exp(−20) = 2e-9
const NOTHING: f64 = 20.0;
/// Values of landmarks that are stored input by input, at most.
const MOST_VALUES: usize = 1 << 27;

/// A kernel of rows and landmarks: `n_rows` × `n_landmarks` values.
pub struct KernelColumns<T> {
    kernel: Kernel,
    landmarks: PanelRows<T>,
    fast: Option<Fast<T>>,
}

/// What products in the float type need.
struct Fast<T> {
    /// inputs × landmarks
    by_input: Array2<T>,
    /// ‖y‖²
    norms: Vec<T>,
    largest_norm: f64,
}

impl<T: Scalar> KernelColumns<T> {
    /// Of valid landmarks and parameters.
    ///
    /// # Errors
    /// As [`Kernel::gram_into`].
    pub fn new(kernel: Kernel, landmarks: PanelRows<T>) -> Result<Self> {
        kernel.diagonal(landmarks.view())?;
        let rows = landmarks.view();
        let is_fast = matches!(
            kernel,
            Kernel::Linear
                | Kernel::Polynomial { .. }
                | Kernel::Exponential { .. }
                | Kernel::Rbf { .. }
                | Kernel::Laplace { .. }
        );
        let fast = (is_fast && rows.n_rows().saturating_mul(rows.n_inputs()) <= MOST_VALUES).then(|| {
            let norms = squared_norms(rows);
            let largest_norm = norms.iter().copied().fold(0.0, f64::max);
            let norms = norms.into_iter().map(T::from_f64).collect();
            Fast { by_input: rows.to_dense().t().as_standard_layout().into_owned(), norms, largest_norm }
        });
        Ok(Self { kernel, landmarks, fast })
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The landmarks.
    pub fn landmarks(&self) -> Rows<'_, T> {
        self.landmarks.view()
    }

    /// out = k(rows, landmarks), on the calling thread; `out` row-major.
    ///
    /// # Errors
    /// [`Error::Inputs`] when the rows have another length, [`Error::Negative`] for a χ² kernel of values below 0.
    pub fn values_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>) -> Result<()> {
        let (got, expected) = (rows.n_inputs(), self.landmarks.view().n_inputs());
        if got != expected {
            return Err(Error::Inputs { context: "rows".to_owned(), got, expected });
        }
        let Some(fast) = &self.fast else { return self.kernel.gram_into(rows, self.landmarks.view(), out) };
        let isa = InstructionSet::best();
        let row_of = |row| ndarray::ArrayViewMut1::into_slice(row).expect("row-major");
        if let Kernel::Laplace { gamma } = self.kernel {
            for (i, out) in out.outer_iter_mut().enumerate() {
                fast.laplace(isa, T::from_f64(gamma), rows.slice(i, i + 1), row_of(out));
            }
            return Ok(());
        }
        rows.product_into(fast.by_input.view(), out.view_mut());
        match self.kernel {
            Kernel::Rbf { gamma } => {
                let norms = squared_norms(rows);
                for (row, &norm) in out.outer_iter_mut().zip(&norms) {
                    rbf_in_place(isa, T::from_f64(gamma), T::from_f64(norm), &fast.norms, row_of(row));
                }
                for i in (0..rows.n_rows()).filter(|&i| fast.loses_digits(gamma, norms[i])) {
                    self.kernel.gram_into(rows.slice(i, i + 1), self.landmarks.view(), out.slice_mut(s![i..=i, ..]))?;
                }
            }
            Kernel::Polynomial { degree, gamma, c } => {
                let (gamma, c, degree) = (T::from_f64(gamma), T::from_f64(c), degree as i32);
                out.mapv_inplace(|product| product.mul_add(gamma, c).powi(degree));
            }
            Kernel::Exponential { gamma } => {
                let gamma = T::from_f64(gamma);
                for row in out.outer_iter_mut() {
                    let row = row_of(row);
                    row.iter_mut().for_each(|product| *product = *product * gamma);
                    exp_in_place(isa, row);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl<T: Scalar> Fast<T> {
    /// exp(−γ‖x−y‖₁) of one row with all landmarks.
    fn laplace(&self, isa: InstructionSet, gamma: T, row: Rows<'_, T>, out: &mut [T]) {
        let row = row.to_dense();
        let (row, columns) = (row.as_slice().expect("row-major"), self.by_input.as_slice().expect("row-major"));
        manhattan_into(isa, row, columns, out);
        out.iter_mut().for_each(|distance| *distance = -gamma * *distance);
        exp_in_place(isa, out);
    }

    /// Whether the distances of a row of this squared length from landmarks that matter lose digits.
    fn loses_digits(&self, gamma: f64, norm: f64) -> bool {
        // Of a landmark whose length differs by more, the kernel is nothing.
        let reach = (norm.sqrt() + (NOTHING / gamma).sqrt()).powi(2);
        gamma * (norm + self.largest_norm.min(reach)) * epsilon::<T>() > LEAST_DIGITS
    }
}

fn epsilon<T: Scalar>() -> f64 {
    match T::DTYPE {
        Dtype::Float32 => f64::from(f32::EPSILON),
        Dtype::Float64 => f64::EPSILON,
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::random::{Purpose, normal_columns};

    fn columns(kernel: Kernel, length: f32) -> (Array2<f32>, Array2<f32>, Array2<f32>) {
        let all = normal_columns::<f32>(3, Purpose::Projection, 40, 0..20).mapv(|x| x * length);
        let (x, y) = (all.slice(s![..25, ..]).to_owned(), all.slice(s![20.., ..]).to_owned());
        let columns = KernelColumns::new(kernel, PanelRows::Dense(y.clone())).unwrap();
        let (mut got, mut exact) = (Array2::zeros((25, 20)), Array2::zeros((25, 20)));
        columns.values_into(x.view().into(), got.view_mut()).unwrap();
        kernel.gram_into(x.view().into(), y.view().into(), exact.view_mut()).unwrap();
        let mut alone = Array2::zeros((1, 20));
        columns.values_into(x.slice(s![7..8, ..]).into(), alone.view_mut()).unwrap();
        assert_eq!(alone.row(0), got.row(7));
        (got, exact, y)
    }

    #[test]
    fn close_to_the_exact_kernel() {
        for kernel in [
            Kernel::Rbf { gamma: 0.02 },
            Kernel::Rbf { gamma: 3.0 },
            Kernel::Polynomial { degree: 3, gamma: 0.05, c: 1.0 },
            Kernel::Exponential { gamma: 0.02 },
            Kernel::Linear,
            Kernel::Laplace { gamma: 0.02 },
            Kernel::ArcCosine { degree: 1 },
        ] {
            let (got, exact, _) = columns(kernel, 1.0);
            let largest = exact.iter().fold(1.0_f32, |a, b| a.max(b.abs()));
            // A product of 20 terms in f32, its power, the exponential.
            let worst = got.iter().zip(&exact).fold(0.0_f32, |a, (x, y)| a.max((x - y).abs()));
            assert!(worst <= 4e-6 * largest, "{kernel:?}: off by {worst}");
        }
    }

    /// Where the squared lengths would swallow the distance.
    #[test]
    fn rows_far_from_the_origin_keep_their_digits() {
        let (got, exact, _) = columns(Kernel::Rbf { gamma: 3e-4 }, 100.0);
        assert_eq!(got, exact);
    }
}
