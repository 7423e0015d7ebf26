//! The mean and the standard deviation of numbers that come one by one, such as a score over runs.
//!
//! ```text
//! mean = Σv/n,   standard deviation = √(Σ(v−mean)²/(n−1))
//! ```
//!
//! The divisor n − 1 makes the variance unbiased over runs that are drawn independently. Sums are updated as Welford
//! (1962) does and merged as Chan, Golub and LeVeque (1979) do, so numbers far from zero lose no digits. Cost: O(1) for
//! each number, three numbers of memory.
//!
//! ```
//! use mercer::metrics::Moments;
//!
//! let mut runs = Moments::default();
//! for distortion in [0.10, 0.12, 0.14] {
//!     runs.add(distortion)?;
//! }
//! assert!((runs.mean()? - 0.12).abs() < 1e-15);
//! assert!((runs.standard_deviation()? - 0.02).abs() < 1e-15);
//! # Ok::<(), mercer::Error>(())
//! ```

use crate::{Error, Result};

/// What the mean and the deviation need to know of the numbers seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    n: u64,
    mean: f64,
    /// Σ(v−mean)²
    squares: f64,
}

impl Moments {
    /// Adds one number.
    ///
    /// # Errors
    /// [`Error::NotFinite`], with the numbers before it as the row; nothing is added then.
    pub fn add(&mut self, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Err(Error::NotFinite { row: self.n, input: 0, value });
        }
        self.n += 1;
        let from_old_mean = value - self.mean;
        self.mean += from_old_mean / self.n as f64;
        self.squares += from_old_mean * (value - self.mean);
        Ok(())
    }

    /// Adds the numbers of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        let (ours, theirs) = (self.n as f64, other.n as f64);
        let (between, part) = (other.mean - self.mean, theirs / (ours + theirs));
        self.mean += between * part;
        self.squares += other.squares + between * between * ours * part;
        self.n += other.n;
    }

    /// How many numbers were added.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Their mean.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when there is none.
    pub fn mean(&self) -> Result<f64> {
        self.at_least(1, "the mean")?;
        Ok(self.mean)
    }

    /// Their standard deviation as a sample, with the divisor n − 1.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] when there are fewer than two.
    pub fn standard_deviation(&self) -> Result<f64> {
        self.at_least(2, "the standard deviation")?;
        Ok((self.squares / (self.n - 1) as f64).sqrt())
    }

    /// Their standard deviation where they are all there is, with the divisor n; 0 where there are none.
    pub(super) fn deviation_of_all(&self) -> f64 {
        (self.squares / self.n.max(1) as f64).sqrt()
    }

    fn at_least(&self, expected: u64, of: &str) -> Result<()> {
        if self.n < expected {
            return Err(Error::TooFewRows { context: of.into(), got: self.n, expected });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&value| moments.add(value).unwrap());
        moments
    }

    /// Deviations −3, −1, 0, 4 from 5: Σ squares = 26.
    #[test]
    fn by_hand() {
        let moments = of(&[2.0, 4.0, 5.0, 9.0]);
        assert_eq!((moments.n(), moments.mean().unwrap()), (4, 5.0));
        assert!((moments.standard_deviation().unwrap() - (26.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((moments.deviation_of_all() - 6.5_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn merging_is_one_pass() {
        let values: Vec<f64> = (0..50).map(|i| 1e6 + f64::from(i * 37 % 101) / 7.0).collect();
        let whole = of(&values);
        for cut in [0, 1, 17, 50] {
            let mut first = of(&values[..cut]);
            first.merge(&of(&values[cut..]));
            assert_eq!(first.n(), 50);
            assert!((first.mean().unwrap() - whole.mean().unwrap()).abs() < 1e-9);
            assert!((first.standard_deviation().unwrap() - whole.standard_deviation().unwrap()).abs() < 1e-9);
        }
    }

    #[test]
    fn rejects_too_few_and_not_finite() {
        let mut moments = Moments::default();
        assert!(matches!(moments.mean(), Err(Error::TooFewRows { got: 0, expected: 1, .. })));
        moments.add(1.0).unwrap();
        assert!(matches!(moments.standard_deviation(), Err(Error::TooFewRows { got: 1, expected: 2, .. })));
        assert!(matches!(moments.add(f64::NAN), Err(Error::NotFinite { row: 1, .. })));
        assert_eq!(moments.n(), 1, "a rejected number leaves no trace");
    }
}
