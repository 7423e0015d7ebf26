//! Memory asked for before it is taken: an error with a remedy where the system would end the program.

use crate::{Error, Result};

/// Refuses what the system would not give now.
///
/// The memory is asked for as a whole and given back untouched, which takes microseconds. A system that promises more
/// than it has may still run short later.
pub(crate) fn check_room(bytes: u128, what: impl FnOnce() -> String) -> Result<()> {
    let given = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if given { Ok(()) } else { Err(Error::Memory { what: what(), bytes }) }
}

/// As [`check_room`], for rows of features.
pub(crate) fn check_features<T>(n_rows: usize, n_components: usize) -> Result<()> {
    let bytes = (n_rows as u128 * n_components as u128).saturating_mul(size_of::<T>() as u128);
    check_room(bytes, || format!("{n_rows} rows of {n_components} features"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_system_gives_is_refused() {
        check_features::<f64>(3, 1_000).unwrap();
        let message = |n_rows, n_components| check_features::<f32>(n_rows, n_components).unwrap_err().to_string();
        let text = "500 rows of 1125899906842624 features take 2251799813685248000 bytes, more than the system gives; \
                    use a smaller n_components, or degree of an expansion";
        assert_eq!(message(500, 1 << 50), text);
        assert!(message(usize::MAX, usize::MAX).contains("n_components"));
    }
}
