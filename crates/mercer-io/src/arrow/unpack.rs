//! Pages packed by gzip or Brotli, unpacked to the size that they declare and no further.
//!
//! The parquet crate unpacks these two to their end and compares sizes afterwards: 31 kB took 3 GB. Its other codecs stop
//! at the declared size.

use std::io::Read;

use brotli_decompressor::Decompressor;
use flate2::bufread::MultiGzDecoder;
use parquet::basic::Compression;

use super::Decoded;

/// Bytes that Brotli is given at once.
const INPUT: usize = 1 << 16;
/// The first bits of Brotli with a window of up to 1 GiB, which the format's standard has not.
const LARGE_WINDOW: u8 = 0x11;

/// A codec that is unpacked here.
#[derive(Clone, Copy, Debug)]
pub(super) enum Codec {
    Gzip,
    Brotli,
}

impl Codec {
    /// None for what the parquet crate unpacks.
    pub(super) fn of(compression: Compression) -> Option<Self> {
        match compression {
            Compression::GZIP(_) => Some(Self::Gzip),
            Compression::BROTLI(_) => Some(Self::Brotli),
            _ => None,
        }
    }

    /// The page of `size` bytes that `bytes` are, the first `plain` of them as they stand.
    pub(super) fn unpack(self, bytes: &[u8], plain: usize, size: usize) -> Decoded<Vec<u8>> {
        let (Some((head, packed)), Some(left)) = (bytes.split_at_checked(plain), size.checked_sub(plain)) else {
            return Err(format!("a page of {size} bytes has levels of {plain}"));
        };
        let mut page = Vec::with_capacity(size);
        page.extend_from_slice(head);
        // A page of nulls only may have no bytes at all.
        if left > 0 {
            self.read(packed, left as u64 + 1, &mut page)?;
        }
        if page.len() != size {
            let relation = if page.len() > size { "more" } else { "less" };
            return Err(format!("a page unpacks to {relation} than the {size} bytes it declares"));
        }
        Ok(page)
    }

    /// Appends at most `most` unpacked bytes.
    fn read(self, packed: &[u8], most: u64, page: &mut Vec<u8>) -> Decoded<usize> {
        let read = match self {
            Self::Gzip => MultiGzDecoder::new(packed).take(most).read_to_end(page),
            Self::Brotli if packed.first().is_some_and(|byte| byte & 127 == LARGE_WINDOW) => {
                return Err("a page is packed by Brotli with a large window".to_owned());
            }
            Self::Brotli => Decompressor::new(packed, packed.len().clamp(1, INPUT)).take(most).read_to_end(page),
        };
        read.map_err(|error| format!("a page cannot be unpacked: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn a_page_has_the_size_that_it_declares() {
        let packed = [b"levels", gzip(b"values").as_slice()].concat();
        assert_eq!(Codec::Gzip.unpack(&packed, 6, 12).unwrap(), b"levelsvalues");
        let refused = |plain, size| Codec::Gzip.unpack(&packed, plain, size).unwrap_err();
        assert!(refused(6, 11).contains("more than the 11 bytes"), "{}", refused(6, 11));
        assert!(refused(6, 13).contains("less than the 13 bytes"), "{}", refused(6, 13));
        assert!(refused(6, 5).contains("levels of 6") && refused(99, 100).contains("levels of 99"));
        assert_eq!(Codec::Gzip.unpack(b"levels", 6, 6).unwrap(), b"levels", "nulls only");
    }

    #[test]
    fn brotli_has_its_usual_window() {
        let mut packed = *b"\x8f\x02\x80hello\n\x03";
        assert_eq!(Codec::Brotli.unpack(&packed, 0, 6).unwrap(), b"hello\n");
        assert!(Codec::Brotli.unpack(&packed, 0, 5).unwrap_err().contains("more than the 5 bytes"));
        assert!(Codec::Brotli.unpack(&packed[..6], 0, 6).is_err(), "cut off");
        packed[0] = LARGE_WINDOW;
        assert!(Codec::Brotli.unpack(&packed, 0, 6).unwrap_err().contains("large window"));
    }

    #[test]
    fn no_more_is_unpacked_than_declared() {
        let packed = gzip(&vec![0; 1 << 20]);
        let mut page = Vec::new();
        assert_eq!(Codec::Gzip.read(&packed, 101, &mut page).unwrap(), 101);
        assert!(page.capacity() < 1 << 12, "{}", page.capacity());
    }
}
