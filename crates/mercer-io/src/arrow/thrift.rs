//! Thrift's compact protocol, in which Parquet's footer and page headers are written, passed over before they are believed.

/// Structs within structs, at most.
pub(super) const DEPTH: usize = 16;

/// Thrift's compact protocol, as far as it takes to find a field.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    /// The type of a struct, and of a number of 32 bits.
    pub(super) const STRUCT: u8 = 12;
    pub(super) const I32: u8 = 5;

    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes passed so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    fn varint(&mut self) -> Option<u64> {
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

    /// A number whose sign is in its last bit.
    pub(super) fn i32(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The type of the next field, whose number becomes `id`; none at the end of the struct.
    pub(super) fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.i32()?,
            step => *id + i64::from(step),
        };
        Some(Some(byte & 15))
    }

    /// Passes over a value of this type; none where it is malformed or deeper than `depth`.
    pub(super) fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => {}
            3 => self.advance(1)?,
            4..=6 => drop(self.varint()?),
            7 => self.advance(8)?,
            8 => {
                let len = self.varint()?;
                self.advance(len)?;
            }
            9 | 10 => self.skip_list(depth)?,
            Self::STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn skip_list(&mut self, depth: usize) -> Option<()> {
        let byte = self.byte()?;
        let len = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        // Neither footers nor page headers have lists of truth values. The parquet crate passes over those without
        // reading a byte for each, so that some bytes could keep it busy for minutes.
        let kind = Some(byte & 15).filter(|kind| !matches!(kind, 1 | 2))?;
        (0..len).try_for_each(|_| self.skip(kind, depth))
    }

    fn advance(&mut self, len: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(len).ok()?)?;
        (self.at <= self.bytes.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(bytes: &[u8]) -> bool {
        Thrift::new(bytes).skip(Thrift::STRUCT, DEPTH).is_some()
    }

    #[test]
    fn lists_end_with_their_bytes() {
        assert!(passes(&[0x19, 0x25, 2, 4, 0]), "a list of two numbers");
        assert!(!passes(&[0x19, 0x25, 2]), "cut off");
        assert!(!passes(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 7, 2, 0]), "two billion numbers in no bytes");
        assert!(!passes(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]), "two billion truth values");
        let deep = [[0x19, 0x19].as_slice(), &[0x19; 40], &[0]].concat();
        assert!(!passes(&deep), "lists in lists");
    }
}
