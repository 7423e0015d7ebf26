//! Thrift's compact protocol, in which Parquet's footer and page headers are written, passed over before they are believed.
//!
//! The parquet crate reads the fields it knows by their number and the others by their declared type, and some bytes
//! can keep it busy for seconds. Here fields follow a table of both, [`Wire`]: what passes, the crate reads to the same
//! positions, in time and memory that its bytes stand for.

/// Structs and lists within each other, at most; 9 are those of a footer.
pub(super) const DEPTH: usize = 16;

/// What a value must be written as.
pub(super) enum Wire {
    /// Anything but maps, sets, and lists of truth values, which are in neither footers nor page headers: the crate
    /// passes over such a list without reading a byte for each.
    Any,
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    /// Bytes, or text.
    Binary,
    List(&'static Wire),
    /// The fields 1, 2, …; later ones are unknown.
    Struct(&'static [Wire]),
}

impl Wire {
    fn takes(&self, kind: u8) -> bool {
        match self {
            Self::Any => true,
            Self::Bool => kind <= 2,
            Self::I8 => kind == 3,
            Self::I16 => kind == 4,
            Self::I32 => kind == 5,
            Self::I64 => kind == 6,
            Self::Double => kind == 7,
            Self::Binary => kind == 8,
            Self::List(_) => kind == 9,
            Self::Struct(_) => kind == 12,
        }
    }
}

/// Bytes, and the position in them.
#[derive(Clone, Copy)]
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    /// The type of a struct.
    pub(super) const STRUCT: u8 = 12;

    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes passed so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    /// A number whose sign is in its last bit; the crate would cut one off that is longer.
    pub(super) fn i32(&mut self) -> Option<i32> {
        let value = self.varint()?;
        i32::try_from((value >> 1) as i64 ^ -((value & 1) as i64)).ok()
    }

    /// The number that is field 1 of a struct.
    pub(super) fn first_i32(&mut self) -> Option<i32> {
        (self.byte()? == 0x15).then(|| self.i32())?
    }

    /// The type of the next field, whose number becomes `id`; none at the end of the struct.
    ///
    /// Numbers ascend. They are written as a step where it is short enough, and the end is a byte of zeros: writers do
    /// nothing else, though readers differ in what else they take.
    fn field(&mut self, id: &mut usize) -> Option<Option<u8>> {
        let byte = self.byte()?;
        *id = match (byte >> 4, byte & 15) {
            (0, 0) => return Some(None),
            (_, 0) => return None,
            (0, _) => usize::try_from(self.i32()?).ok().filter(|next| (*id + 16..1 << 15).contains(next))?,
            (step, _) => *id + usize::from(step),
        };
        Some(Some(byte & 15))
    }

    /// Passes over a value of type `kind`; none where it is malformed, not as the table has it, or deeper than `depth`.
    pub(super) fn pass(&mut self, wire: &Wire, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if !wire.takes(kind) {
            return None;
        }
        match (kind, wire) {
            (1 | 2, _) => Some(()),
            (3, _) => self.advance(1),
            (4..=6, _) => self.varint().map(drop),
            (7, _) => self.advance(8),
            (8, _) => self.varint().and_then(|len| self.advance(len)),
            (9, Wire::List(element)) => self.list(element, depth),
            (9, _) => self.list(&Wire::Any, depth),
            (Self::STRUCT, Wire::Struct(fields)) => self.fields(fields, depth, |_, _| ()),
            (Self::STRUCT, _) => self.fields(&[], depth, |_, _| ()),
            _ => None,
        }
    }

    /// Passes over a struct; `see` is given each field's number and the position of its value, before it is passed.
    pub(super) fn fields(&mut self, fields: &[Wire], depth: usize, mut see: impl FnMut(usize, Self)) -> Option<()> {
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            see(id, *self);
            self.pass(fields.get(id - 1).unwrap_or(&Wire::Any), kind, depth)?;
        }
        Some(())
    }

    fn list(&mut self, element: &Wire, depth: usize) -> Option<()> {
        let (kind, len) = self.list_start()?;
        (0..len).try_for_each(|_| self.pass(element, kind, depth))
    }

    /// The type and number of the elements of a list.
    pub(super) fn list_start(&mut self) -> Option<(u8, u64)> {
        let (kind, len) = match self.byte()? {
            // Some writers give no type to an empty list.
            0 => return Some((3, 0)),
            byte if byte >> 4 == 15 => (byte & 15, self.varint()?),
            byte => (byte & 15, u64::from(byte >> 4)),
        };
        let left = self.bytes.len() - self.at.min(self.bytes.len());
        (!matches!(kind, 1 | 2) && len <= left as u64).then_some((kind, len))
    }

    pub(super) fn advance(&mut self, len: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(len).ok()?)?;
        (self.at <= self.bytes.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(bytes: &[u8]) -> bool {
        Thrift::new(bytes).pass(&Wire::Any, Thrift::STRUCT, DEPTH).is_some()
    }

    #[test]
    fn lists_end_with_their_bytes() {
        assert!(passes(&[0x19, 0x25, 2, 4, 0]), "a list of two numbers");
        assert!(passes(&[0x19, 0, 0]), "an empty list without a type");
        assert!(!passes(&[0x19, 0x25, 2]), "cut off");
        assert!(!passes(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 7, 2, 0]), "two billion numbers in no bytes");
        assert!(!passes(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]), "two billion truth values");
        assert!(!passes(&[0x19, 0x12, 1, 0]), "one truth value");
        let deep = [[0x19, 0x19].as_slice(), &[0x19; 40], &[0]].concat();
        assert!(!passes(&deep), "lists in lists");
    }

    #[test]
    fn fields_are_numbered_in_one_way() {
        assert!(passes(&[0x11, 0x25, 2, 0]));
        assert!(!passes(&[0x05, 2, 8, 0]), "field 1 in the long form");
        assert!(!passes(&[0x15, 8, 0x05, 30, 8, 0]), "field 15 after field 1 in the long form");
        assert!(passes(&[0x15, 8, 0x05, 34, 8, 0]), "field 17 after field 1: the short form has no step of 16");
        assert!(!passes(&[0x15, 8, 0x05, 1, 8, 0]), "a negative number");
        assert!(!passes(&[0x10, 0]), "an end with a number");
        assert!(!passes(&[0x1b, 0, 0]) && !passes(&[0x1a, 0, 0]), "a map, a set");
    }

    #[test]
    fn known_fields_have_their_type() {
        let passes = |bytes: &[u8]| {
            let wire = Wire::Struct(&[Wire::I32, Wire::Bool, Wire::List(&Wire::Struct(&[Wire::Binary]))]);
            Thrift::new(bytes).pass(&wire, Thrift::STRUCT, DEPTH).is_some()
        };
        assert!(passes(&[0x15, 8, 0x11, 0x19, 0x1c, 0x18, 1, 7, 0, 0x16, 2, 0]), "and an unknown field 4");
        assert!(!passes(&[0x16, 8, 0]), "64 bits");
        assert!(!passes(&[0x25, 1, 0]), "a number for a truth value");
        assert!(!passes(&[0x39, 0x15, 2, 0]), "a list of numbers");
        assert!(!passes(&[0x39, 0x1c, 0x15, 2, 0, 0]), "a number for bytes");
    }
}
