//! From what a user calls some rows to where their bytes are.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::input::{Origin, Packing, io_error};
use crate::spool::Spool;
use crate::{Error, Result};

/// What standard input is called in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";
/// Set once standard input was asked for: it comes but once.
static STANDARD_INPUT_TAKEN: AtomicBool = AtomicBool::new(false);

/// Where the bytes of a file are, and what they are called.
pub(crate) struct Located {
    /// The whole name, for messages.
    pub(crate) name: String,
    /// The name of the file.
    pub(crate) file: String,
    /// The array chosen in it.
    pub(crate) array: Option<String>,
    pub(crate) origin: Origin,
}

impl Located {
    /// The file of a path, `-` for standard input, `::array` of either. What is no regular file is kept in a temporary
    /// one of at most `spool_bytes`.
    pub(crate) fn path(path: &str, spool_bytes: u64) -> Result<Self> {
        let (file, array) = split_array_name(path);
        if file == "-" {
            let name = path.replacen('-', STANDARD_INPUT, 1);
            let origin = Origin::Spooled(spool_standard_input(spool_bytes)?);
            return Ok(Self { name, file: STANDARD_INPUT.to_owned(), array: array.map(str::to_owned), origin });
        }
        let metadata = std::fs::metadata(file).map_err(|source| io_error(path, source))?;
        if metadata.is_dir() {
            return Err(Error::Directory { file: path.to_owned() });
        }
        let origin = if metadata.is_file() {
            Origin::File(file.to_owned())
        } else {
            let pipe = File::open(file).map_err(|source| io_error(path, source))?;
            Origin::Spooled(spool(path, pipe, spool_bytes)?)
        };
        Ok(Self { name: path.to_owned(), file: file.to_owned(), array: array.map(str::to_owned), origin })
    }

    /// Bytes in memory under a name that is that of a file, or of an array in one.
    pub(crate) fn memory(name: &str, bytes: Arc<[u8]>) -> Self {
        let (file, array) = name.rsplit_once("::").map_or((name, None), |(file, array)| (file, Some(array)));
        let (file, array) = (file.to_owned(), array.map(str::to_owned));
        Self { name: name.to_owned(), file, array, origin: Origin::Memory(bytes) }
    }

    /// The bytes unpacked, to be read from any position with [`Origin::stored`]: packed ones go to a temporary file of at
    /// most `spool_bytes`.
    pub(crate) fn unpacked(&self, spool_bytes: u64) -> Result<Origin> {
        let mut input = self.origin.open(&self.name)?;
        Ok(match input.packing() {
            Packing::None => self.origin.clone(),
            _ => Origin::Spooled(Spool::fill(&self.name, spool_bytes, |out| input.read(out))?),
        })
    }
}

/// The file and the array of `archive.npz::name`; a file whose own name has `::` stays whole.
pub(crate) fn split_array_name(path: &str) -> (&str, Option<&str>) {
    match path.rsplit_once("::") {
        Some((file, array)) if !Path::new(path).exists() => (file, Some(array)),
        _ => (path, None),
    }
}

fn spool_standard_input(limit: u64) -> Result<Spool> {
    if STANDARD_INPUT_TAKEN.swap(true, Ordering::SeqCst) {
        return Err(Error::StandardInputTwice);
    }
    spool(STANDARD_INPUT, io::stdin().lock(), limit)
}

fn spool(name: &str, mut reader: impl Read, limit: u64) -> Result<Spool> {
    Spool::fill(name, limit, |out| {
        loop {
            match reader.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map_err(|source| io_error(name, source)),
            }
        }
    })
}
