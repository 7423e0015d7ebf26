//! Array elements of any numeric type into floats.

use crate::value::{Value, is_rounded};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

/// An element as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: Kind,
    pub(crate) big_endian: bool,
}

impl Element {
    /// Bytes of one element.
    pub(crate) fn size(self) -> usize {
        match self.kind {
            Kind::Bool | Kind::U8 | Kind::I8 => 1,
            Kind::U16 | Kind::I16 | Kind::F16 => 2,
            Kind::U32 | Kind::I32 | Kind::F32 => 4,
            Kind::U64 | Kind::I64 | Kind::F64 => 8,
        }
    }

    /// The elements in `bytes` as floats; whole numbers beyond the float's precision are rounded.
    pub(crate) fn decode<T: Value>(self, bytes: &[u8]) -> Vec<T> {
        match self.kind {
            Kind::Bool => self.convert(bytes, |[x]: [u8; 1]| f64::from(u8::from(x != 0))),
            Kind::U8 => self.convert(bytes, |x| f64::from(u8::from_le_bytes(x))),
            Kind::U16 => self.convert(bytes, |x| f64::from(u16::from_le_bytes(x))),
            Kind::U32 => self.convert(bytes, |x| f64::from(u32::from_le_bytes(x))),
            Kind::U64 => self.convert(bytes, |x| u64::from_le_bytes(x) as f64),
            Kind::I8 => self.convert(bytes, |x| f64::from(i8::from_le_bytes(x))),
            Kind::I16 => self.convert(bytes, |x| f64::from(i16::from_le_bytes(x))),
            Kind::I32 => self.convert(bytes, |x| f64::from(i32::from_le_bytes(x))),
            Kind::I64 => self.convert(bytes, |x| i64::from_le_bytes(x) as f64),
            Kind::F16 => self.convert(bytes, |x| half_to_f64(u16::from_le_bytes(x))),
            Kind::F32 => self.convert(bytes, |x| f64::from(f32::from_le_bytes(x))),
            Kind::F64 => self.convert(bytes, f64::from_le_bytes),
        }
    }

    /// The first whole number in `bytes` that float64 has not, and its place.
    pub(crate) fn first_rounded(self, bytes: &[u8]) -> Option<(usize, i128)> {
        let whole = |mut x: [u8; 8]| {
            if self.big_endian {
                x.reverse();
            }
            match self.kind {
                Kind::U64 => Some(i128::from(u64::from_le_bytes(x))),
                Kind::I64 => Some(i128::from(i64::from_le_bytes(x))),
                _ => None,
            }
        };
        let (elements, _) = bytes.as_chunks::<8>();
        let rounded = |(at, &x)| whole(x).filter(|&whole| is_rounded(whole)).map(|whole| (at, whole));
        elements.iter().enumerate().find_map(rounded)
    }

    fn convert<T: Value, const N: usize>(self, bytes: &[u8], to_f64: impl Fn([u8; N]) -> f64) -> Vec<T> {
        let (elements, _) = bytes.as_chunks::<N>();
        let convert = |mut x: [u8; N]| {
            if self.big_endian {
                x.reverse();
            }
            T::from_f64(to_f64(x))
        };
        elements.iter().map(|&x| convert(x)).collect()
    }
}

/// IEEE binary16: 1 sign, 5 exponent and 10 fraction bits.
fn half_to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        let cases =
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 2f64.powi(-24)), (0x3555, 0.333251953125)];
        for (bits, value) in cases {
            assert_eq!(half_to_f64(bits), value);
        }
        assert_eq!(half_to_f64(0xfc00), f64::NEG_INFINITY);
        assert!(half_to_f64(0x7e00).is_nan());
    }

    #[test]
    fn numbers_that_float64_has_not_are_found() {
        let signed = Element { kind: Kind::I64, big_endian: false };
        let bytes = |values: [i64; 3]| values.map(i64::to_le_bytes).concat();
        let two = 1 << 53;
        assert_eq!(signed.first_rounded(&bytes([two, -two - 2, i64::MIN])), None);
        assert_eq!(signed.first_rounded(&bytes([1, -two - 1, 0])), Some((1, i128::from(-two - 1))));
        assert_eq!(signed.first_rounded(&bytes([0, 0, i64::MAX])), Some((2, i128::from(i64::MAX))));
        let unsigned = Element { kind: Kind::U64, big_endian: true };
        assert_eq!(unsigned.first_rounded(&u64::MAX.to_be_bytes()), Some((0, i128::from(u64::MAX))));
        let float = Element { kind: Kind::F64, big_endian: false };
        assert_eq!(float.first_rounded(&bytes([two + 1, two + 1, two + 1])), None);
    }

    #[test]
    fn both_byte_orders_give_the_same() {
        let little = Element { kind: Kind::I16, big_endian: false };
        let big = Element { kind: Kind::I16, big_endian: true };
        assert_eq!(little.decode::<f32>(&[0xfe, 0xff, 1, 2]), [-2.0, 513.0]);
        assert_eq!(big.decode::<f32>(&[0xff, 0xfe, 2, 1]), [-2.0, 513.0]);
    }
}
