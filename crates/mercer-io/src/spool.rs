//! Bytes that come but once, kept in a temporary file so that they can be read again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Error, Result};

const BUFFER: usize = 1 << 18;

/// A temporary file without a name, in the system's folder for them; it is gone with its last user.
#[derive(Clone, Debug)]
pub(crate) struct Spool(Arc<Mutex<File>>);

impl Spool {
    /// Keeps what `next` gives, until it gives 0; `name` is for messages.
    ///
    /// # Errors
    /// What `next` fails with, more than `limit` bytes, and a full disk.
    pub(crate) fn fill(name: &str, limit: u64, mut next: impl FnMut(&mut [u8]) -> Result<usize>) -> Result<Self> {
        let fault = |source| Error::Spool { file: name.to_owned(), source };
        let mut file = tempfile::tempfile().map_err(fault)?;
        let mut buffer = vec![0; BUFFER];
        let mut kept = 0;
        loop {
            let len = next(&mut buffer)?;
            if len == 0 {
                return Ok(Self(Arc::new(Mutex::new(file))));
            }
            kept += len as u64;
            if kept > limit {
                return Err(Error::SpoolLimit { file: name.to_owned(), limit });
            }
            file.write_all(&buffer[..len]).map_err(fault)?;
        }
    }

    /// Starts at the first byte.
    pub(crate) fn open(&self) -> SpoolReader {
        SpoolReader { file: Arc::clone(&self.0), position: 0 }
    }
}

/// One reading of a [`Spool`], at a position of its own.
pub(crate) struct SpoolReader {
    file: Arc<Mutex<File>>,
    position: u64,
}

impl Read for SpoolReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.position))?;
        let len = file.read(out)?;
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for SpoolReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.position))?;
        self.position = file.seek(to)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool(mut bytes: &[u8], limit: u64) -> Result<Spool> {
        Spool::fill("standard input", limit, |out| Ok(bytes.read(out).unwrap()))
    }

    #[test]
    fn readings_do_not_disturb_each_other() {
        let spool = spool(b"0123456789", 10).unwrap();
        let (mut first, mut second) = (spool.open(), spool.open());
        let mut two = [0; 2];
        first.read_exact(&mut two).unwrap();
        second.seek(SeekFrom::End(-3)).unwrap();
        second.read_exact(&mut two).unwrap();
        assert_eq!(&two, b"78");
        first.seek(SeekFrom::Current(1)).unwrap();
        first.read_exact(&mut two).unwrap();
        assert_eq!(&two, b"34");
    }

    #[test]
    fn the_limit_is_told() {
        let error = spool(b"0123456789", 9).unwrap_err().to_string();
        assert!(error.starts_with("standard input has more than 9 bytes"), "{error}");
    }
}
