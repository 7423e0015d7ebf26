//! The door to real Fourier transforms, of the `realfft` crate.
//!
//! It chooses its instructions at run time: the same bits on one machine, not on all.

use std::fmt;
use std::sync::Arc;

pub use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

use crate::Scalar;

/// Transforms of rows of one length, there and back.
#[derive(Clone)]
pub struct RealFft<T> {
    forward: Arc<dyn RealToComplex<T>>,
    inverse: Arc<dyn ComplexToReal<T>>,
}

/// Numbers that a transform needs beside its arguments.
pub type Scratch<T> = Vec<Complex<T>>;

const LENGTHS: &str = "values, spectrum and scratch of the planned lengths";

impl<T: Scalar> RealFft<T> {
    /// Plans transforms of `len` values.
    pub fn new(len: usize) -> Self {
        T::plan_fft(len)
    }

    pub(crate) fn planned(mut planner: RealFftPlanner<T>, len: usize) -> Self
    where
        T: realfft::FftNum,
    {
        Self { forward: planner.plan_fft_forward(len), inverse: planner.plan_fft_inverse(len) }
    }

    /// Values of a row.
    #[allow(clippy::len_without_is_empty, reason = "a transform of nothing is none")]
    pub fn len(&self) -> usize {
        self.forward.len()
    }

    /// A spectrum of zeros: the first half of the frequencies, the others being their conjugates.
    pub fn spectrum(&self) -> Vec<Complex<T>> {
        vec![Complex::new(T::zero(), T::zero()); self.forward.len() / 2 + 1]
    }

    /// Room for either transform.
    pub fn scratch(&self) -> Scratch<T> {
        let len = self.forward.get_scratch_len().max(self.inverse.get_scratch_len());
        vec![Complex::new(T::zero(), T::zero()); len]
    }

    /// The spectrum of `values`, which are lost.
    ///
    /// # Panics
    /// When a length is another one.
    pub fn forward(&self, values: &mut [T], spectrum: &mut [Complex<T>], scratch: &mut Scratch<T>) {
        let scratch = &mut scratch[..self.forward.get_scratch_len()];
        self.forward.process_with_scratch(values, spectrum, scratch).expect(LENGTHS);
    }

    /// The values of `spectrum`, which is lost, times their number.
    ///
    /// # Panics
    /// When a length is another one.
    pub fn inverse(&self, spectrum: &mut [Complex<T>], values: &mut [T], scratch: &mut Scratch<T>) {
        // Of real values these are real: rounding has no say in it.
        spectrum[0].im = T::zero();
        if values.len().is_multiple_of(2) {
            spectrum[values.len() / 2].im = T::zero();
        }
        let scratch = &mut scratch[..self.inverse.get_scratch_len()];
        self.inverse.process_with_scratch(spectrum, values, scratch).expect(LENGTHS);
    }
}

impl<T> fmt::Debug for RealFft<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RealFft({})", self.forward.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A circular convolution by the definition, for even and odd lengths.
    #[test]
    fn products_of_spectra_are_convolutions() {
        for len in [1, 2, 5, 12, 300] {
            let fft = RealFft::<f64>::new(len);
            let (x, y): (Vec<f64>, Vec<f64>) = (0..len).map(|i| ((i as f64).sin(), (i * i) as f64 % 7.0)).unzip();
            let (mut a, mut b, mut scratch) = (fft.spectrum(), fft.spectrum(), fft.scratch());
            fft.forward(&mut x.clone(), &mut a, &mut scratch);
            fft.forward(&mut y.clone(), &mut b, &mut scratch);
            a.iter_mut().zip(b).for_each(|(a, b)| *a *= b);
            let mut out = vec![0.0; len];
            fft.inverse(&mut a, &mut out, &mut scratch);
            for (k, out) in out.iter().enumerate() {
                let expected: f64 = (0..len).map(|i| x[i] * y[(k + len - i) % len]).sum();
                assert!((out / len as f64 - expected).abs() < 1e-11, "{len}, {k}");
            }
        }
    }
}
