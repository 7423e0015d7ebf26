//! Random binning features of the Laplace kernel: rows that fall into the same bin of a random grid share a feature.
//!
//! A grid has for every input a pitch δ with density γ²δ·exp(−γδ) and a shift u, uniform on (0, δ); x falls into the bin
//! ⌊(xᵢ − uᵢ)/δᵢ⌋, i = 1 … d. Two rows share it with probability Πᵢ max(0, 1 − |xᵢ−yᵢ|/δᵢ), whose expectation over the
//! pitches is exp(−γ‖x−y‖₁).
//!
//! The bins of a grid are endless; they are hashed to `n_bins` = b features of the grid, and to a sign each:
//!
//! φ(x) = √(1/m)·[0 … ±1 … 0 | … | 0 … ±1 … 0], m = n_components/b grids, one nonzero value in the b features of each.
//!
//! So the output is dense here, with m nonzero values a row, and works wherever other maps do.
//!
//! - Expectation: E⟨φ(x), φ(y)⟩ = k(x, y), exactly: the signs of different bins are independent, so that bins that meet by
//!   chance cancel on average. ‖φ(x)‖ = 1.
//! - Variance: (k + (1−k)/b − k²)/m, as a grid contributes ±1 with probability k + (1−k)/b, else 0. For as many features
//!   b = 1 has the least, (1 − k²)/n_components, that of random Fourier features of this kernel; a larger b makes a row
//!   cheaper at the same number of features.
//! - Hash: h = c + Σᵢ rᵢ·binᵢ mod 2⁶⁴ with random c and rᵢ; the top bit is the sign, the next ones the feature. For bins that
//!   differ, the difference of their hashes is uniform on the multiples of a power of two, which leaves the top bits
//!   independent.
//!
//! Cost of a row: 3·d·m operations in f64, for both float types, so that both have the same bins. Memory: 3·d·m numbers.
//! Use it for the Laplace kernel on few inputs, or where a linear model profits from features that are 0 or ±1.
//!
//! References: Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007, section 4; Castellanos
//! Martínez, *Scalable Kernel Methods using Randomized Numerical Linear Algebra*, 2021; Dietzfelbinger, "Universal hashing and
//! k-wise independent random variables via integer arithmetic without primes", STACS 1996.

use mercer_simd::Scalar;
use ndarray::{Array2, ArrayViewMut2};

use super::FeatureMap;
use crate::dataset::Rows;
use crate::random::{Purpose, Stream};
use crate::room::check_room;
use crate::{Error, Result};

/// Features of bins: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | number of features | a multiple of `n_bins` |
/// | `n_bins` | 16 | features of a grid | a power of two up to 2^16 |
/// | `gamma` | `scale` | the kernel's width | above 0 |
/// | `seed` | 0 | names the draw of the grids | any |
#[derive(Clone, Debug)]
pub struct BinningMap<T> {
    n_bins: usize,
    /// n_inputs × grids: 1/δ, u/δ, r.
    frequencies: Array2<f64>,
    shifts: Array2<f64>,
    factors: Array2<u64>,
    /// c of each grid.
    addends: Vec<u64>,
    scale: T,
}

const MAX_BINS: usize = 1 << 16;

/// Refuses a number of features that grids cannot share.
pub(super) fn check_shape(n_components: usize, n_bins: usize) -> Result<()> {
    if !(n_bins.is_power_of_two() && n_bins <= MAX_BINS) {
        return Err(Error::parameter("n_bins", n_bins, "a power of two from 1 to 65536"));
    }
    if n_components == 0 || !n_components.is_multiple_of(n_bins) {
        return Err(Error::parameter("n_components", n_components, "a multiple of n_bins, above 0"));
    }
    Ok(())
}

impl<T: Scalar> BinningMap<T> {
    /// Draws the grids; grid j is a pure function of (seed, j).
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    pub fn new(n_inputs: usize, n_components: usize, n_bins: usize, gamma: f64, seed: u64) -> Result<Self> {
        check_shape(n_components, n_bins)?;
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::parameter("gamma", gamma, "finite and above 0"));
        }
        let m = n_components / n_bins;
        if n_inputs == 0 {
            return Err(Error::parameter("n_inputs", 0, "at least 1"));
        }
        let bytes = (n_inputs as u128 + 1).saturating_mul(24 * (m as u128 + 1));
        check_room(bytes, || format!("{m} grids of {n_inputs} inputs"))?;
        let (mut frequencies, mut shifts) = (Array2::zeros((n_inputs, m)), Array2::zeros((n_inputs, m)));
        let (mut factors, mut addends) = (Array2::zeros((n_inputs, m)), vec![0; m]);
        let mut uniform = vec![0.0; n_inputs];
        for (j, addend) in addends.iter_mut().enumerate() {
            let [lengths, phases, buckets] =
                [Purpose::RowLength, Purpose::Phase, Purpose::Bucket].map(|purpose| Stream::new(seed, purpose).lane(j));
            phases.uniform_into(0, &mut uniform);
            for i in 0..n_inputs {
                // δ ~ Gamma(2, 1/γ) = χ²(4)/(2γ); u = δ·uniform.
                frequencies[[i, j]] = 2.0 * gamma / lengths.chi(4.0, i as u64).powi(2);
                shifts[[i, j]] = uniform[i];
                factors[[i, j]] = buckets.bits(i as u64);
            }
            *addend = buckets.bits(n_inputs as u64);
        }
        let scale = T::from_f64((1.0 / m as f64).sqrt());
        Ok(Self { n_bins, frequencies, shifts, factors, addends, scale })
    }
}

impl<T: Scalar> FeatureMap<T> for BinningMap<T> {
    fn n_inputs(&self) -> usize {
        self.frequencies.nrows()
    }

    fn n_components(&self) -> usize {
        self.addends.len() * self.n_bins
    }

    /// A row written out.
    fn scratch_len(&self, _n_rows: usize) -> usize {
        self.frequencies.nrows()
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let n_inputs = self.frequencies.nrows();
        if rows.n_inputs() != n_inputs {
            return Err(Error::Inputs { context: "binning map".to_owned(), got: rows.n_inputs(), expected: n_inputs });
        }
        out.fill(T::zero());
        let x = &mut scratch[..n_inputs];
        let mut hashes = self.addends.clone();
        let bits = self.n_bins.ilog2();
        for (i, mut out) in out.outer_iter_mut().enumerate() {
            rows.slice(i, i + 1).write_dense(ArrayViewMut2::from_shape((1, n_inputs), &mut *x).expect("one row"));
            hashes.copy_from_slice(&self.addends);
            let grids = self.frequencies.outer_iter().zip(self.shifts.outer_iter()).zip(self.factors.outer_iter());
            for (&x, ((frequencies, shifts), factors)) in x.iter().zip(grids) {
                let x = x.to_f64();
                for (j, hash) in hashes.iter_mut().enumerate() {
                    let bin = x.mul_add(frequencies[j], -shifts[j]).floor();
                    *hash = hash.wrapping_add((bin as i64 as u64).wrapping_mul(factors[j]));
                }
            }
            for (grid, &hash) in hashes.iter().enumerate() {
                let feature = ((hash << 1) >> 1 >> (63 - bits)) as usize;
                out[grid * self.n_bins + feature] = if hash >> 63 == 0 { self.scale } else { -self.scale };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_row_has_one_value_in_each_grid() {
        let map = BinningMap::<f32>::new(2, 24, 8, 0.5, 3).unwrap();
        let mut out = Array2::from_elem((3, 24), f32::NAN);
        let x = array![[0.0, 0.0], [1e30, -1e30], [0.5, 7.0]];
        map.transform_into(x.view().into(), out.view_mut(), &mut [0.0; 2]).unwrap();
        for row in out.outer_iter() {
            let grids = row.as_slice().unwrap().chunks(8);
            assert!(grids.clone().all(|grid| grid.iter().filter(|x| **x != 0.0).count() == 1), "{row}");
            assert!((row.dot(&row) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn shapes_outside_their_ranges_are_refused() {
        let message = |n_components, n_bins, gamma| {
            BinningMap::<f64>::new(2, n_components, n_bins, gamma, 0).unwrap_err().to_string()
        };
        assert!(message(24, 3, 1.0).contains("n_bins is 3"));
        assert!(message(20, 8, 1.0).contains("n_components is 20"));
        assert!(message(0, 8, 1.0).contains("n_components is 0"));
        assert!(message(8, 8, -1.0).contains("gamma is -1"));
        assert!(message(1 << 60, 1, 1.0).contains("1152921504606846976 grids of 2 inputs"));
    }
}
