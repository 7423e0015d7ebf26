//! Numbers of either float type, from text and into blocks.

use fast_float2::FastFloat;
use mercer::Scalar;
use mercer::dataset::{BlockRows, CsrMatrix};
use ndarray::Array2;

use crate::error::shown;
use crate::{Error, Place};

/// A [`Scalar`] that files are read into.
pub(crate) trait Value: Scalar + FastFloat {
    /// The nearest number.
    fn from_whole(whole: i64) -> Self;
    /// The number nearest to `digits`, which are so many, over an exact power of ten; none where that is undecided.
    fn from_ratio(digits: u64, n_digits: usize, power: f64) -> Option<Self>;
    fn dense(rows: Array2<Self>) -> BlockRows;
    fn sparse(rows: CsrMatrix<Self>) -> BlockRows;
}

impl Value for f32 {
    #[inline(always)]
    fn from_whole(whole: i64) -> Self {
        whole as Self
    }

    /// The conversion to f64 and the division leave the quotient at most two units of its last place off. Rounding it
    /// to f32 is then right unless it is as near to the middle between two numbers of f32.
    #[inline(always)]
    fn from_ratio(digits: u64, _: usize, power: f64) -> Option<Self> {
        let quotient = digits as f64 / power;
        // The bits that f32 lacks: in the middle they are a one and zeros.
        let rest = quotient.to_bits() & 0x1fff_ffff;
        (rest.abs_diff(0x1000_0000) > 2).then_some(quotient as f32)
    }

    fn dense(rows: Array2<Self>) -> BlockRows {
        BlockRows::Dense32(rows)
    }

    fn sparse(rows: CsrMatrix<Self>) -> BlockRows {
        BlockRows::Sparse32(rows)
    }
}

impl Value for f64 {
    #[inline(always)]
    fn from_whole(whole: i64) -> Self {
        whole as Self
    }

    /// f64 holds any 15 digits.
    #[inline(always)]
    fn from_ratio(digits: u64, n_digits: usize, power: f64) -> Option<Self> {
        (n_digits <= 15).then(|| digits as f64 / power)
    }

    fn dense(rows: Array2<Self>) -> BlockRows {
        BlockRows::Dense64(rows)
    }

    fn sparse(rows: CsrMatrix<Self>) -> BlockRows {
        BlockRows::Sparse64(rows)
    }
}

/// What to do about a value that float32 cannot hold.
pub(crate) const TOO_BIG: &str = "it is too large for float32: scale it or choose the dtype float64";
/// What to do about a value that is not finite.
pub(crate) const FILL_IN: &str = "replace it or remove its row";

/// What to do about an input that is NaN.
pub(crate) const IMPUTE: &str = "replace it, remove its row, or train with --impute mean|median|most-frequent";

/// Whether float64 has another number in place of this one.
pub(crate) fn is_rounded(whole: i128) -> bool {
    whole.unsigned_abs() > 1 << 53 && whole as f64 as i128 != whole
}

/// Words for a missing value, as spreadsheets, data frames and databases write them.
const MISSING: [&str; 8] = ["NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "?"];

/// Whether this is a word for a missing value, not a class.
pub(crate) fn is_missing_word(text: &str) -> bool {
    MISSING.contains(&text)
}

/// Whether trimmed text stands for a missing value: nothing, a word for it, or NaN in any case.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    const LONGEST: usize = 4;
    let word = || text.eq_ignore_ascii_case(b"nan") || MISSING.iter().any(|word| word.as_bytes() == text);
    text.len() <= LONGEST && (text.is_empty() || word())
}

/// The finite number that `text` is, spaces around it aside; the error says why it is none.
pub(crate) fn parse_number<T: Value>(text: &[u8], place: impl FnOnce() -> Box<Place>) -> Result<T, Error> {
    let text = text.trim_ascii();
    match fast_float2::parse::<T, _>(text) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => {
            let fits_f64 = fast_float2::parse::<f64, _>(text).is_ok_and(f64::is_finite);
            let remedy = if fits_f64 { TOO_BIG } else { FILL_IN };
            Err(Error::NotFinite { at: place(), value: shown(text), remedy })
        }
        Err(_) if text.is_empty() => Err(Error::Missing { at: place() }),
        Err(_) => Err(Error::NotANumber { at: place(), value: shown(text) }),
    }
}
