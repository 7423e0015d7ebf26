//! The Walsh-Hadamard transform, on the threads of a [`Driver`].
//!
//! [`mercer_simd::ops::hadamard`] says what is computed and how; threads change no bit of it. Rows of a batch are shared
//! among them; of a single long row its blocks, then the columns of the matrix that the blocks are the rows of.
//!
//! ```
//! use mercer::{Driver, Silent, hadamard};
//!
//! let driver = Driver::new(0, &Silent)?;
//! let mut x = vec![1.0_f32, 2.0, 3.0, 4.0];
//! hadamard::transform(&driver, &mut x)?;
//! assert_eq!(x, [10.0, -2.0, -4.0, 0.0]);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::ops::hadamard::{fwht, fwht_columns, fwht_rows};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{ArrayViewMut2, Axis};
use rayon::prelude::*;

pub use mercer_simd::ops::hadamard::{padded_len, split_lens};

use crate::{Driver, Error, Result};

/// Values of a row that threads share; a shorter one is left to one of them. A cautious choice, not a measured one.
const SHARED: usize = 1 << 17;
/// Parts for each thread, so that none waits long for the last.
const PARTS: usize = 4;

/// x ↦ Hx in place.
///
/// # Errors
/// [`Error::Parameter`] when the length is no power of two; see [`padded_len`] and [`split_lens`].
pub fn transform<T: Scalar>(driver: &Driver<'_>, x: &mut [T]) -> Result<()> {
    check_len(x.len())?;
    let isa = InstructionSet::best();
    let n_parts = (PARTS * driver.threads()).next_power_of_two();
    if driver.threads() == 1 || x.len() < SHARED.max(n_parts) {
        fwht(isa, x);
        return Ok(());
    }
    driver.time("transform", || {
        let part = x.len() / n_parts;
        x.par_chunks_mut(part).for_each(|part| fwht(isa, part));
        let mut rows = ArrayViewMut2::from_shape((n_parts, part), x).expect("whole parts");
        let columns: Vec<_> = rows.axis_chunks_iter_mut(Axis(1), part.div_ceil(n_parts)).collect();
        columns.into_par_iter().for_each(|columns| fwht_columns(isa, columns));
    });
    Ok(())
}

/// Each row of x transformed in place; rows may be apart from one another.
///
/// # Errors
/// [`Error::Parameter`] when the length of a row is no power of two.
///
/// # Panics
/// When the values of a row are not neighbours.
pub fn transform_rows<T: Scalar>(driver: &Driver<'_>, mut x: ArrayViewMut2<'_, T>) -> Result<()> {
    check_len(x.ncols())?;
    let isa = InstructionSet::best();
    let share = x.nrows().div_ceil(PARTS * driver.threads()).max(1);
    driver.time("transform", || {
        let parts: Vec<_> = x.axis_chunks_iter_mut(Axis(0), share).collect();
        parts.into_par_iter().for_each(|rows| fwht_rows(isa, rows));
    });
    Ok(())
}

fn check_len(n: usize) -> Result<()> {
    if n.is_power_of_two() { Ok(()) } else { Err(Error::parameter("length", n, "a power of two")) }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::*;
    use crate::Silent;
    use crate::random::{Purpose, Stream};

    fn noise(n: usize) -> Vec<f64> {
        let mut values = vec![0.0; n];
        Stream::new(1, Purpose::Start).normal_into(0, &mut values);
        values
    }

    #[test]
    fn threads_change_no_bit() {
        for n in [1, 64, SHARED / 2, SHARED, 4 * SHARED] {
            let x = noise(n);
            let mut expected = x.clone();
            fwht(InstructionSet::best(), &mut expected);
            for threads in 1..=3 {
                let mut got = x.clone();
                transform(&Driver::new(threads, &Silent).unwrap(), &mut got).unwrap();
                assert!(got == expected, "{threads} threads, {n} values");
            }
        }
    }

    #[test]
    fn rows_of_a_batch() {
        let x = Array2::from_shape_vec((19, 40), noise(19 * 40)).unwrap();
        let mut expected = x.clone();
        for mut row in expected.slice_mut(s![.., 4..36]).outer_iter_mut() {
            fwht(InstructionSet::best(), row.as_slice_mut().unwrap());
        }
        for threads in 1..=3 {
            let mut got = x.clone();
            transform_rows(&Driver::new(threads, &Silent).unwrap(), got.slice_mut(s![.., 4..36])).unwrap();
            assert_eq!(got, expected, "{threads} threads");
        }
    }

    #[test]
    fn other_lengths_are_refused() {
        let driver = Driver::new(1, &Silent).unwrap();
        assert!(transform(&driver, &mut [0.0_f32; 12]).unwrap_err().to_string().contains("length is 12"));
        assert!(transform_rows(&driver, Array2::<f32>::zeros((2, 3)).view_mut()).is_err());
    }
}
