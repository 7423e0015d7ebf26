//! How the bytes of a file are packed: told by the first of them, unpacked as they are read.
//!
//! Members that follow one another (`cat a.gz b.gz`) read as one. What a decoder may keep in memory is bounded, whatever
//! the file declares: [`XZ_MEMORY`] for xz, a window of 2^[`ZSTD_WINDOW_LOG`] bytes for zstd, some megabytes for the others.
//! So is what it may unpack: [`MOST_EXPANSION`] bytes for each that was read, so that a small file costs little time.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

const BUFFER: usize = 1 << 18;
/// `xz -9` needs 65 MiB.
const XZ_MEMORY: u32 = 256 << 20;
/// `zstd --ultra -22` needs 27, and so does `--long`.
const ZSTD_WINDOW_LOG: u32 = 27;
/// Unpacked bytes for a packed one. gzip and xz cannot hold more than 1,032 and about 7,000; bzip2 and zstd can, of
/// rows that are all alike.
const MOST_EXPANSION: u64 = 8192;
/// Unpacked bytes that any file may have.
const ALWAYS_UNPACKED: u64 = 1 << 20;
/// Bytes that tell the packing.
pub(crate) const MAGIC: u64 = 10;

/// How the bytes are packed, which decides what a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Xz,
    Zstd,
    Bzip2,
    /// An array in an archive.
    Zip,
}

impl Packing {
    /// The packing of bytes that begin like this.
    pub(crate) fn of(magic: &[u8]) -> Self {
        match magic {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            // A frame, or one that decoders skip.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', block @ ..] if is_bzip2_block(block) => Self::Bzip2,
            _ => Self::None,
        }
    }

    /// The name in messages; none where nothing needs to be said.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Gzip => Some("gzip"),
            Self::Xz => Some("xz"),
            Self::Zstd => Some("zstd"),
            Self::Bzip2 => Some("bzip2"),
            Self::None | Self::Zip => None,
        }
    }

    /// The bytes unpacked.
    pub(crate) fn unpack(self, packed: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        if self == Self::None {
            return Ok(Box::new(packed));
        }
        let n_packed = Arc::new(AtomicU64::new(0));
        let packed = BufReader::with_capacity(BUFFER, Counted { inner: packed, n_read: Arc::clone(&n_packed) });
        let unpacked: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Self::Xz => Box::new(XzReader::new_mem_limit(packed, true, XZ_MEMORY / 1024)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(packed)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(decoder)
            }
            Self::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
            Self::None | Self::Zip => return Ok(Box::new(packed)),
        };
        Ok(Box::new(Bounded { unpacked, n_unpacked: 0, n_packed }))
    }

    /// The memory, in MiB, that `error` says the decoder would need more than.
    pub(crate) fn exceeded(self, error: &io::Error) -> Option<u32> {
        match self {
            Self::Xz if error.kind() == io::ErrorKind::OutOfMemory => Some(XZ_MEMORY >> 20),
            Self::Zstd if error.to_string().contains("too much memory") => Some((1 << ZSTD_WINDOW_LOG) >> 20),
            _ => None,
        }
    }
}

/// Whether `error` says that little was unpacked to far more.
pub(crate) fn is_expansion(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

/// Counts the bytes that are read.
struct Counted<R> {
    inner: R,
    n_read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(out)?;
        self.n_read.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

/// Ends at what is more than the packed bytes may hold.
struct Bounded {
    unpacked: Box<dyn Read + Send>,
    n_unpacked: u64,
    n_packed: Arc<AtomicU64>,
}

impl Read for Bounded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.unpacked.read(out)?;
        self.n_unpacked += len as u64;
        if self.n_unpacked > ALWAYS_UNPACKED.saturating_add(self.n_packed.load(Ordering::Relaxed) * MOST_EXPANSION) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(len)
    }
}

/// The beginning of a first block, or of an end without blocks.
fn is_bzip2_block(start: &[u8]) -> bool {
    const BLOCK: &[u8] = b"1AY&SY";
    const END: &[u8] = b"\x17\x72\x45\x38\x50\x90";
    BLOCK.starts_with(&start[..start.len().min(6)]) || END.starts_with(&start[..start.len().min(6)])
}

const EXTENSIONS: [(&str, Packing); 4] =
    [(".gz", Packing::Gzip), (".xz", Packing::Xz), (".zst", Packing::Zstd), (".bz2", Packing::Bzip2)];

/// The packing that the extension of a path names, and the path without it.
pub(crate) fn split_extension(path: &str) -> (&str, Packing) {
    let named = |&(extension, packing)| path.strip_suffix(extension).map(|path| (path, packing));
    EXTENSIONS.iter().find_map(named).unwrap_or((path, Packing::None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_begins_like_a_packing_stays_text() {
        for text in ["BZh9,2,3\n", "BZh0\n", "P*M", "(1,2)\n", ""] {
            assert_eq!(Packing::of(text.as_bytes()), Packing::None, "{text}");
        }
        assert_eq!(Packing::of(b"BZh91AY&SY"), Packing::Bzip2);
        assert_eq!(Packing::of(b"BZh1\x17\x72"), Packing::Bzip2);
    }

    #[test]
    fn extensions_of_packings_are_left_out() {
        let names = ["a.svm", "a.svm.gz", "a.svm.xz", "a.svm.zst", "a.svm.bz2"];
        assert_eq!(names.map(|name| split_extension(name).0), ["a.svm"; 5]);
        assert_eq!(split_extension("a.svm.zst").1, Packing::Zstd);
    }
}
