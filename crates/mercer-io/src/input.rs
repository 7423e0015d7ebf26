//! The bytes of a file, unpacked.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use crate::npz::Entry;
pub(crate) use crate::packing::Packing;
use crate::packing::{MAGIC, is_expansion};
use crate::spool::Spool;
use crate::{Error, Result};

/// A size declared by a file is believed only so far before the bytes arrive.
const BELIEVED: usize = 1 << 24;

/// Where bytes come from, again and again.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A regular file, perhaps packed.
    File(String),
    /// What would be a file's content.
    Memory(Arc<[u8]>),
    /// What came from a pipe.
    Spooled(Spool),
    /// An array in a zip archive.
    Entry(Entry),
}

impl Origin {
    /// Starts at the first byte; `name` is for messages.
    pub(crate) fn open(&self, name: &str) -> Result<Input> {
        match self {
            Self::Entry(entry) => entry.open(name),
            stored => Input::open(stored.stored(name)?, name),
        }
    }

    /// How many bytes are stored, where that is known at once.
    pub(crate) fn n_bytes(&self) -> Option<u64> {
        match self {
            Self::File(path) => std::fs::metadata(path).ok().map(|metadata| metadata.len()),
            Self::Memory(bytes) => Some(bytes.len() as u64),
            Self::Spooled(_) | Self::Entry(_) => None,
        }
    }

    /// The bytes as they are stored, packed or not, to be read from any position.
    pub(crate) fn stored(&self, name: &str) -> Result<Box<dyn ReadSeek>> {
        Ok(match self {
            Self::File(path) => Box::new(File::open(path).map_err(|source| io_error(name, source))?),
            Self::Memory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Self::Spooled(spool) => Box::new(spool.open()),
            Self::Entry(entry) => entry.archive(name)?,
        })
    }
}

/// Bytes that can be read from any position.
pub(crate) trait ReadSeek: Read + Seek + Send {}
impl<R: Read + Seek + Send> ReadSeek for R {}

/// One reading of unpacked bytes.
pub(crate) struct Input {
    name: String,
    packing: Packing,
    /// Bytes that were looked at and not yet read.
    ahead: Vec<u8>,
    reader: Box<dyn Read + Send>,
}

impl Input {
    /// Looks how the bytes are packed.
    fn open(mut stored: Box<dyn ReadSeek>, name: &str) -> Result<Self> {
        let mut magic = Vec::new();
        let read = stored.by_ref().take(MAGIC).read_to_end(&mut magic);
        read.and_then(|_| stored.seek(SeekFrom::Start(0))).map_err(|source| io_error(name, source))?;
        let packing = Packing::of(&magic);
        let reader = packing.unpack(stored).map_err(|source| io_error(name, source))?;
        Ok(Self::new(name, packing, reader))
    }

    pub(crate) fn new(name: &str, packing: Packing, reader: Box<dyn Read + Send>) -> Self {
        Self { name: name.to_owned(), packing, ahead: Vec::new(), reader }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn packing(&self) -> Packing {
        self.packing
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
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        let (file, reason) = (self.name.clone(), error.to_string());
        match (self.packing.name(), self.packing.exceeded(&error)) {
            (Some(packing), Some(limit)) => Error::PackedTooLarge { file, packing, limit },
            (Some(packing), _) if is_expansion(&error) => Error::PackedExpands { file, packing },
            (Some(packing), _) if error.kind() == UnexpectedEof => Error::PackedTruncated { file, packing },
            (Some(packing), _) if matches!(error.kind(), InvalidData | InvalidInput | Other) => {
                Error::PackedCorrupt { file, packing, reason }
            }
            (None, _) if self.packing == Packing::Zip => Error::Archive { file, reason },
            _ => Error::Io { file, source: error },
        }
    }
}

pub(crate) fn io_error(name: &str, source: io::Error) -> Error {
    let file = name.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => Error::NotFound { file },
        io::ErrorKind::IsADirectory => Error::Directory { file },
        _ => Error::Io { file, source },
    }
}
