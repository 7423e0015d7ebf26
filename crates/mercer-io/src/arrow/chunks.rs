//! The bytes of a file at any position.

use std::io::{self, BufReader, Read, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use crate::input::{Origin, ReadSeek};
use crate::{Error, Result};

/// Bytes of a page header that are read at once; a longer header is read on.
const HEADER: usize = 512;

/// Stored bytes, shared by the readers of several columns.
#[derive(Clone)]
pub(super) struct Chunks {
    stored: Arc<Mutex<Box<dyn ReadSeek>>>,
    len: u64,
}

impl Chunks {
    pub(super) fn open(origin: &Origin, name: &str) -> Result<Self> {
        let mut stored = origin.stored(name)?;
        let len = stored.seek(SeekFrom::End(0)).map_err(|source| Error::Io { file: name.to_owned(), source })?;
        Ok(Self { stored: Arc::new(Mutex::new(stored)), len })
    }

    /// Number of bytes.
    pub(super) fn size(&self) -> u64 {
        self.len
    }

    /// Fills `out` from position `at`. Whoever allocates `out` has compared it with the size of the file.
    pub(super) fn read_exact(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.seek(SeekFrom::Start(at))?;
        stored.read_exact(out)
    }

    /// `len` bytes from position `at`; no memory is taken for more bytes than there are.
    pub(super) fn bytes(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        if at.checked_add(len as u64).is_none_or(|end| end > self.len) {
            let reason = format!("{len} bytes at {at} are beyond the end, {}", self.len);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
        }
        let mut out = vec![0; len];
        self.read_exact(at, &mut out)?;
        Ok(out)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<ChunkRead>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::with_capacity(HEADER, ChunkRead { chunks: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        Ok(self.bytes(start, length).map_err(ParquetError::from)?.into())
    }
}

/// The bytes from a position on.
pub(super) struct ChunkRead {
    chunks: Chunks,
    at: u64,
}

impl Read for ChunkRead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.chunks.len.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let len = out.len().min(left);
        self.chunks.read_exact(self.at, &mut out[..len])?;
        self.at += len as u64;
        Ok(len)
    }
}
