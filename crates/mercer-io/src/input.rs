//! The bytes of a file, unpacked.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use crate::npz::Entry;
use crate::{Error, Result};

const BUFFER: usize = 1 << 18;
/// A size declared by a file is believed only so far before the bytes arrive.
const BELIEVED: usize = 1 << 24;

/// Where bytes come from, again and again.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A file, perhaps gzipped.
    File(String),
    /// An array in a zip archive.
    Entry(Entry),
}

impl Origin {
    /// Starts at the first byte; `name` is for messages.
    pub(crate) fn open(&self, name: &str) -> Result<Input> {
        match self {
            Self::File(path) => Input::open(path, name),
            Self::Entry(entry) => entry.open(name),
        }
    }

    /// The bytes as they are stored, packed or not, to be read from any position.
    #[cfg(feature = "arrow")]
    pub(crate) fn stored(&self, name: &str) -> Result<Box<dyn ReadSeek>> {
        match self {
            Self::File(path) => Ok(Box::new(open_file(path, name)?)),
            Self::Entry(_) => Err(Error::NotAFile { file: name.to_owned() }),
        }
    }
}

/// Bytes that can be read from any position.
#[cfg(feature = "arrow")]
pub(crate) trait ReadSeek: Read + io::Seek + Send {}
#[cfg(feature = "arrow")]
impl<R: Read + io::Seek + Send> ReadSeek for R {}

/// How the bytes are packed, which decides what a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zip,
}

/// One reading of unpacked bytes.
pub(crate) struct Input {
    name: String,
    packing: Packing,
    /// Bytes that were looked at and not yet read.
    ahead: Vec<u8>,
    reader: Box<dyn Read + Send>,
}

impl Input {
    /// Opens a file and looks whether it is gzipped.
    fn open(path: &str, name: &str) -> Result<Self> {
        let mut file = open_file(path, name)?;
        let mut magic = Vec::new();
        file.by_ref().take(2).read_to_end(&mut magic).map_err(|source| io_error(name, source))?;
        let gzip = magic == [0x1f, 0x8b];
        let file = Cursor::new(magic).chain(file);
        if gzip {
            let file = BufReader::with_capacity(BUFFER, file);
            Ok(Self::new(name, Packing::Gzip, Box::new(MultiGzDecoder::new(file))))
        } else {
            Ok(Self::new(name, Packing::None, Box::new(file)))
        }
    }

    pub(crate) fn new(name: &str, packing: Packing, reader: Box<dyn Read + Send>) -> Self {
        Self { name: name.to_owned(), packing, ahead: Vec::new(), reader }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_gzip(&self) -> bool {
        self.packing == Packing::Gzip
    }

    /// The next bytes, up to `len`, without reading them.
    pub(crate) fn peek(&mut self, len: usize) -> Result<&[u8]> {
        let missing = len.saturating_sub(self.ahead.len());
        let got = self.reader.by_ref().take(missing as u64).read_to_end(&mut self.ahead);
        got.map_err(|error| self.fault(error))?;
        Ok(&self.ahead[..len.min(self.ahead.len())])
    }

    /// Fills some of `out`; 0 at the end.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if !self.ahead.is_empty() {
            let len = out.len().min(self.ahead.len());
            out[..len].copy_from_slice(&self.ahead[..len]);
            self.ahead.drain(..len);
            return Ok(len);
        }
        loop {
            match self.reader.read(out) {
                Ok(len) => return Ok(len),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.fault(error)),
            }
        }
    }

    /// The next `len` bytes, fewer only at the end. Memory grows as the bytes arrive.
    pub(crate) fn take(&mut self, len: usize) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(len.min(BELIEVED));
        out.extend(self.ahead.drain(..len.min(self.ahead.len())));
        let missing = (len - out.len()) as u64;
        let got = self.reader.by_ref().take(missing).read_to_end(&mut out);
        got.map_err(|error| self.fault(error))?;
        Ok(out)
    }

    fn fault(&self, error: io::Error) -> Error {
        let (file, reason) = (self.name.clone(), error.to_string());
        let damaged =
            matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other);
        match self.packing {
            Packing::Gzip if error.kind() == io::ErrorKind::UnexpectedEof => Error::GzipTruncated { file },
            Packing::Gzip if damaged => Error::GzipCorrupt { file, reason },
            Packing::Zip => Error::Archive { file, reason },
            _ => Error::Io { file, source: error },
        }
    }
}

/// Opens a regular file: a directory has no rows, and a pipe cannot be read twice.
pub(crate) fn open_file(path: &str, name: &str) -> Result<File> {
    if path == "-" {
        return Err(Error::NotAFile { file: "standard input".to_owned() });
    }
    let metadata = std::fs::metadata(path).map_err(|source| io_error(name, source))?;
    if metadata.is_dir() {
        return Err(Error::Directory { file: name.to_owned() });
    }
    if !metadata.is_file() {
        return Err(Error::NotAFile { file: name.to_owned() });
    }
    File::open(path).map_err(|source| io_error(name, source))
}

fn io_error(name: &str, source: io::Error) -> Error {
    let file = name.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => Error::NotFound { file },
        io::ErrorKind::IsADirectory => Error::Directory { file },
        _ => Error::Io { file, source },
    }
}
