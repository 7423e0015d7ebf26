//! NPY: magic, version, length of the header, the header as a Python dictionary, the elements.
//!
//! The header is read by a parser of the few literals NumPy writes: a file must not be able to overflow a product or
//! a stack before its declared shape has been checked.

use crate::array::{ArrayHeader, Element, Kind};
use crate::error::{preview, shown};
use crate::input::Input;
use crate::{Error, Result};

const MAGIC: &[u8] = b"\x93NUMPY";
/// NumPy itself refuses longer headers by default.
const LONGEST_HEADER: usize = 10_000;

/// Reads the header, up to the first element.
pub(crate) fn read_header(input: &mut Input) -> Result<ArrayHeader> {
    let start = input.take(8)?;
    if !start.starts_with(MAGIC) {
        let (file, start) = (input.name().to_owned(), preview(&start));
        return Err(Error::WrongMagic { file, format: "NPY", start });
    }
    let file = input.name().to_owned();
    let malformed = |reason: String| Error::ArrayHeader { file: file.clone(), format: "NPY", reason };
    let length_bytes = match start.get(6) {
        Some(1) => 2,
        Some(2 | 3) => 4,
        Some(version) => return Err(malformed(format!("version {version} is not known"))),
        None => return Err(malformed("it ends in the version".to_owned())),
    };
    let length = input.take(length_bytes)?;
    let len = length.iter().rev().fold(0, |len, &byte| len << 8 | usize::from(byte));
    if length.len() < length_bytes || len > LONGEST_HEADER {
        return Err(malformed(format!("its length {len} is cut off or above {LONGEST_HEADER}")));
    }
    let text = input.take(len)?;
    if text.len() < len {
        return Err(malformed(format!("{len} bytes declared, {} there", text.len())));
    }
    let fields =
        parse_dict(&text).ok_or_else(|| malformed(format!("not the dictionary expected: {}", shown(&text))))?;
    let element = parse_element(&fields.descr)
        .ok_or_else(|| Error::ElementType { file: file.clone(), found: fields.descr.clone() })?;
    ArrayHeader::new(&file, start.len() + length.len() + len, &fields.shape, element, fields.fortran)
}

/// The three entries of the dictionary.
struct Fields {
    descr: String,
    fortran: bool,
    shape: Vec<u64>,
}

fn parse_dict(text: &[u8]) -> Option<Fields> {
    let text = str::from_utf8(text).ok()?.trim();
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?.trim();
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = parse_string(rest)?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" => parse_descr(value, &mut descr)?,
            "fortran_order" => parse_bool(value, &mut fortran)?,
            "shape" => parse_shape(value, &mut shape)?,
            _ => return None,
        };
        rest = rest.trim_start().strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(Fields { descr: descr?, fortran: fortran?, shape: shape? })
}

fn parse_string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|&c| c == '\'' || c == '"')?;
    text[1..].split_once(quote)
}

/// A type string, or the list of a structured type, which is kept for the message only.
fn parse_descr<'a>(text: &'a str, out: &mut Option<String>) -> Option<&'a str> {
    if text.starts_with('[') {
        let end = text.rfind(']')?;
        *out = Some(shown(&text.as_bytes()[..=end]));
        return Some(&text[end + 1..]);
    }
    let (descr, rest) = parse_string(text)?;
    *out = Some(descr.to_owned());
    Some(rest)
}

fn parse_bool<'a>(text: &'a str, out: &mut Option<bool>) -> Option<&'a str> {
    let (value, rest) = match text.strip_prefix("True") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("False")?),
    };
    *out = Some(value);
    Some(rest)
}

/// `()`, `(3,)` or `(3, 4)`; Python 2 wrote `3L`.
fn parse_shape<'a>(text: &'a str, out: &mut Option<Vec<u64>>) -> Option<&'a str> {
    let (inside, rest) = text.strip_prefix('(')?.split_once(')')?;
    let inside = inside.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    let dims = inside.split(',').filter(|_| !inside.is_empty());
    *out = Some(dims.map(|dim| dim.trim().trim_end_matches('L').parse().ok()).collect::<Option<_>>()?);
    Some(rest)
}

/// A type string such as `<f4`: byte order, kind, bytes.
fn parse_element(descr: &str) -> Option<Element> {
    let kind = descr.trim_start_matches(['<', '>', '=', '|']);
    if descr.len() - kind.len() > 1 {
        return None;
    }
    let big_endian = descr.starts_with('>') || (descr.starts_with('=') && cfg!(target_endian = "big"));
    let kind = match kind {
        "b1" => Kind::Bool,
        "u1" => Kind::U8,
        "u2" => Kind::U16,
        "u4" => Kind::U32,
        "u8" => Kind::U64,
        "i1" => Kind::I8,
        "i2" => Kind::I16,
        "i4" => Kind::I32,
        "i8" => Kind::I64,
        "f2" => Kind::F16,
        "f4" => Kind::F32,
        "f8" => Kind::F64,
        _ => return None,
    };
    Some(Element { kind, big_endian })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Option<Vec<u64>> {
        parse_dict(text.as_bytes()).map(|fields| fields.shape)
    }

    #[test]
    fn dictionaries_as_numpy_writes_them() {
        let fields = parse_dict(b"{'descr': '<f4', 'fortran_order': True, 'shape': (6238, 617), }    \n").unwrap();
        assert_eq!((fields.descr.as_str(), fields.fortran, fields.shape), ("<f4", true, vec![6238, 617]));
        assert_eq!(shape("{'shape': (), 'descr': 'f8', 'fortran_order': False}"), Some(vec![]));
        assert_eq!(
            shape("{\"shape\": (3L,), 'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False}"),
            Some(vec![3])
        );
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "{", "{}", "[1]", "{'shape': (1, -2), 'descr': 'f8', 'fortran_order': False}", "{'é"] {
            assert_eq!(shape(text), None, "{text}");
        }
    }
}
