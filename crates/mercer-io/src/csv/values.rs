//! What one field is, by all rules: an input, a target, or an error with its place.

use super::levels::Levels;
use crate::error::shown;
use crate::value::{FILL_IN, IMPUTE, Value, is_missing, is_missing_word, parse_number};
use crate::{Error, Place, Result};

/// A field without the blanks around it, all that [`str::trim`] knows: those beyond ASCII and the vertical tab, too.
pub(super) fn trimmed(field: &[u8]) -> &[u8] {
    let text = field.trim_ascii();
    let graphic = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_graphic);
    if graphic(text.first()) && graphic(text.last()) {
        return text;
    }
    str::from_utf8(text).map_or(text, |text| text.trim().as_bytes())
}

/// An input that is a number; NaN stands for a missing one where those are kept.
pub(super) fn parse_input<T: Value>(field: &[u8], keep_missing: bool, at: impl Fn() -> Box<Place>) -> Result<T> {
    let text = trimmed(field);
    if keep_missing && is_missing(text) {
        return Ok(T::nan());
    }
    parse_number(text, &at).map_err(|error| match error {
        Error::NotFinite { at, value, .. } if is_missing(text) => Error::NotFinite { at, value, remedy: IMPUTE },
        Error::Missing { at } => Error::MissingInput { at, value: String::new() },
        Error::NotANumber { at, value } if is_missing(text) => Error::MissingInput { at, value },
        Error::NotANumber { at, value } => Error::Word { at, value },
        other => other,
    })
}

/// An input that is a word: the number of its level.
pub(super) fn parse_word<T: Value>(
    field: &[u8],
    levels: &mut Levels,
    keep_missing: bool,
    at: impl Fn() -> Box<Place>,
) -> Result<T> {
    let word = trimmed(field);
    match is_missing(word) {
        true if keep_missing => Ok(T::nan()),
        true => Err(Error::MissingInput { at: at(), value: shown(word) }),
        false => match levels.number(word) {
            Ok(number) => Ok(T::from_f64(number as f64)),
            Err(_) => Err(Error::NotUtf8 { at: at(), value: shown(field) }),
        },
    }
}

/// The target that a field is: a finite number or a word for a class.
pub(super) fn parse_text(field: &[u8], at: impl Fn() -> Box<Place>) -> Result<String> {
    match str::from_utf8(field).map(str::trim) {
        Ok("") => Err(Error::Missing { at: at() }),
        Ok(text) if is_missing_word(text) => Err(Error::MissingWord { at: at(), value: text.to_owned() }),
        Ok(text) if !is_target(text) => Err(Error::NotFinite { at: at(), value: shown(field), remedy: FILL_IN }),
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(Error::NotUtf8 { at: at(), value: shown(field) }),
    }
}

/// Whether this can be a target: one NaN or NA among numbers would make classes of them all.
pub(super) fn is_target(text: &str) -> bool {
    text.parse::<f64>().map_or(!text.is_empty() && !is_missing_word(text), f64::is_finite)
}

/// One of several targets, which are numbers.
pub(super) fn parse_target(field: &[u8], at: impl Fn() -> Box<Place>) -> Result<f64> {
    parse_number(field, &at).map_err(|error| match error {
        Error::NotANumber { at, value } if is_missing_word(&value) => Error::MissingWord { at, value },
        other => other,
    })
}
