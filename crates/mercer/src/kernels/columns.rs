//! Kernel values of many rows with the same few: the landmarks of a map.
//!
//! [`Kernel::gram_into`] takes every inner product in f64. Against landmarks that stay, RBF, polynomial, exponential, linear
//! and ramp (arc-cosine of degree 1) kernels are taken in the float type instead, from one matrix product with the landmarks stored input by input: three times as
//! fast in f32. That would cost digits of an RBF kernel of squared lengths that γ makes large (γ·(‖x‖² + ‖y‖²)·ε above [`LEAST_DIGITS`] for a landmark that is
//! near enough to matter), which are rows far from the origin or a narrow kernel: such rows, and Laplace kernels, are taken from sums of differences. Of d inputs
//! an exponent t is then off by (d/32 + 35)·ε·t/2 at most, and e^(−t) by at most 0.37 of that for t = 1. All other kernels, and landmarks of so many inputs that they stay
//! sparse, go the way of `gram_into`.
//!
//! A row's values do not depend on the rows beside it, nor on whether it is dense or sparse.

use std::ops::Range;
use std::sync::OnceLock;

use mercer_simd::ops::arc_cosine::arc_cosine_in_place;
use mercer_simd::ops::distances::Panels;
use mercer_simd::ops::exp::{exp_in_place, rbf_in_place};
use mercer_simd::{Dtype, InstructionSet, Scalar};
use ndarray::{Array2, ArrayViewMut2, s};

use super::Kernel;
use super::angles::norms as lengths;
use super::distances::squared_norms;
use crate::dataset::{PanelRows, Rows};
use crate::{Error, Result};

/// Error of an exponent that the float type may add.
const LEAST_DIGITS: f64 = 2e-6;
/// What is nothing beside 1, in f64 too; its square is a normal number of f32.
const LEAST: f64 = 1.2e-19;
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

/// The landmarks as the float type needs them.
enum Fast<T> {
    /// for a kernel of inner products
    Products(Products<T>),
    /// for a kernel of absolute distances
    Panels(Panels<T>),
}

struct Products<T> {
    /// inputs × landmarks
    by_input: Array2<T>,
    /// ‖y‖², or ‖y‖ where the kernel is of angles
    norms: Vec<T>,
    largest_norm: f64,
    /// for rows that would lose digits: made when the first of them comes
    panels: OnceLock<Panels<T>>,
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
                | Kernel::ArcCosine { degree: 1 }
        );
        let fast = (is_fast && rows.n_rows().saturating_mul(rows.n_inputs()) <= MOST_VALUES).then(|| {
            if matches!(kernel, Kernel::Laplace { .. }) {
                return Fast::Panels(Panels::new(rows.to_dense().view()));
            }
            let is_of_angles = matches!(kernel, Kernel::ArcCosine { .. });
            let norms = if is_of_angles { lengths(rows) } else { squared_norms(rows) };
            let largest_norm = norms.iter().copied().fold(0.0, f64::max);
            let norms = norms.into_iter().map(T::from_f64).collect();
            let by_input = rows.to_dense().t().as_standard_layout().into_owned();
            Fast::Products(Products { by_input, norms, largest_norm, panels: OnceLock::new() })
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
        let isa = InstructionSet::best();
        let row_of = |row| ndarray::ArrayViewMut1::into_slice(row).expect("row-major");
        let fast = match (&self.fast, self.kernel) {
            (Some(Fast::Products(fast)), _) => fast,
            (Some(Fast::Panels(panels)), Kernel::Laplace { gamma }) => {
                panels.absolute_into(isa, rows.to_dense().as_standard_layout().view(), out.view_mut());
                fall(isa, gamma, out);
                return Ok(());
            }
            _ => return self.exact_into(rows, out),
        };
        rows.product_into(fast.by_input.view(), out.view_mut());
        match self.kernel {
            Kernel::Rbf { gamma } => {
                let norms = squared_norms(rows);
                for (row, &norm) in out.outer_iter_mut().zip(&norms) {
                    rbf_in_place(isa, T::from_f64(gamma), T::from_f64(norm), &fast.norms, row_of(row));
                }
                for (is_lossy, run) in runs(norms.iter().map(|&norm| fast.loses_digits(gamma, norm))) {
                    if is_lossy {
                        let panels = fast.panels.get_or_init(|| Panels::new(self.landmarks.view().to_dense().view()));
                        let rows = rows.slice(run.start, run.end);
                        let mut out = out.slice_mut(s![run, ..]);
                        panels.squared_into(isa, rows.to_dense().as_standard_layout().view(), out.view_mut());
                        fall(isa, gamma, out);
                    }
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
            Kernel::ArcCosine { .. } => {
                for (row, norm) in out.outer_iter_mut().zip(lengths(rows)) {
                    arc_cosine_in_place(isa, T::from_f64(norm), &fast.norms, row_of(row));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl<T: Scalar> KernelColumns<T> {
    /// By inner products and distances in f64; what is nothing beside k(x,x) = 1 is 0, as products of such would be subnormal numbers, which are slow.
    fn exact_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>) -> Result<()> {
        self.kernel.gram_into(rows, self.landmarks.view(), out.view_mut())?;
        if matches!(self.kernel, Kernel::Rbf { .. } | Kernel::Matern { .. } | Kernel::ExponentialChi2 { .. }) {
            let least = T::from_f64(LEAST);
            out.mapv_inplace(|value| if value < least { T::zero() } else { value });
        }
        Ok(())
    }
}

impl<T: Scalar> Products<T> {
    /// Whether the distances of a row of this squared length from landmarks that matter lose digits.
    fn loses_digits(&self, gamma: f64, norm: f64) -> bool {
        // Of a landmark whose length differs by more, the kernel is nothing.
        let reach = (norm.sqrt() + (NOTHING / gamma).sqrt()).powi(2);
        gamma * (norm + self.largest_norm.min(reach)) * epsilon::<T>() > LEAST_DIGITS
    }
}

/// From distances to exp(−γ·distance).
fn fall<T: Scalar>(isa: InstructionSet, gamma: f64, mut distances: ArrayViewMut2<'_, T>) {
    let gamma = T::from_f64(gamma);
    for row in distances.outer_iter_mut() {
        let row = row.into_slice().expect("row-major");
        row.iter_mut().for_each(|distance| *distance = -gamma * *distance);
        exp_in_place(isa, row);
    }
}

/// Runs of equal values, with their places.
fn runs(values: impl Iterator<Item = bool>) -> Vec<(bool, Range<usize>)> {
    let mut runs: Vec<(bool, Range<usize>)> = Vec::new();
    for (i, value) in values.enumerate() {
        match runs.last_mut() {
            Some((last, run)) if *last == value => run.end = i + 1,
            _ => runs.push((value, i..i + 1)),
        }
    }
    runs
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
        // (20/32 + 35)·ε/2 of the exponent, and the exponential's own.
        let worst = got.iter().zip(&exact).fold(0.0_f32, |a, (x, y)| a.max((x - y).abs()));
        assert!(worst <= 0.37 * 36.0 * f32::EPSILON / 2.0 + 1.2e-7, "off by {worst}");
        assert_eq!(runs([true, false, false, true].into_iter()), [(true, 0..1), (false, 1..3), (true, 3..4)]);
    }
}
