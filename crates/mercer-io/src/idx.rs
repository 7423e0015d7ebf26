//! IDX, the format of the MNIST files: `0 0 type n_dims`, the dimensions as big-endian u32, the elements.

use crate::array::{ArrayHeader, Element, Kind};
use crate::error::preview;
use crate::input::Input;
use crate::{Error, Result};

/// Reads the header, up to the first element.
pub(crate) fn read_header(input: &mut Input) -> Result<ArrayHeader> {
    let magic = input.take(4)?;
    let (kind, n_dims) = match magic[..] {
        [0, 0, kind, n_dims] if n_dims > 0 => (kind, usize::from(n_dims)),
        _ => {
            let (file, start) = (input.name().to_owned(), preview(&magic));
            return Err(Error::WrongMagic { file, format: "IDX", start });
        }
    };
    let kind = kind_of(kind)
        .ok_or_else(|| Error::ElementType { file: input.name().to_owned(), found: format!("0x{kind:02x}") })?;
    let bytes = input.take(4 * n_dims)?;
    if bytes.len() < 4 * n_dims {
        let reason = format!("it declares {n_dims} dimensions and ends within them");
        return Err(Error::ArrayHeader { file: input.name().to_owned(), format: "IDX", reason });
    }
    let dims: Vec<u64> = bytes.as_chunks().0.iter().map(|&dim| u64::from(u32::from_be_bytes(dim))).collect();
    ArrayHeader::new(input.name(), magic.len() + bytes.len(), &dims, Element { kind, big_endian: true }, false)
}

fn kind_of(code: u8) -> Option<Kind> {
    Some(match code {
        0x08 => Kind::U8,
        0x09 => Kind::I8,
        0x0b => Kind::I16,
        0x0c => Kind::I32,
        0x0d => Kind::F32,
        0x0e => Kind::F64,
        _ => return None,
    })
}
