//! NPZ: a zip archive of NPY files, stored or deflated.
//!
//! The archive's directory says where an array is; the array itself is then streamed like any other file, its
//! checksum compared at the end.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use crate::input::{Input, Origin, Packing, ReadSeek};
use crate::locate::Located;
use crate::{Error, Result, npy};

/// Where an array lies in its archive.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    archive: Arc<Origin>,
    start: u64,
    len: u64,
    deflated: bool,
    checksum: u32,
}

impl Entry {
    /// The whole archive.
    pub(crate) fn archive(&self, name: &str) -> Result<Box<dyn ReadSeek>> {
        self.archive.stored(name)
    }

    pub(crate) fn open(&self, name: &str) -> Result<Input> {
        let mut archive = self.archive(name)?;
        archive.seek(SeekFrom::Start(self.start)).map_err(|source| Error::Io { file: name.to_owned(), source })?;
        let packed = BufReader::new(archive.take(self.len));
        let unpacked: Box<dyn Read + Send> =
            if self.deflated { Box::new(DeflateDecoder::new(packed)) } else { Box::new(packed) };
        let checked = Checked { reader: unpacked, crc: Crc::new(), expected: self.checksum };
        Ok(Input::new(name, Packing::Zip, Box::new(checked)))
    }
}

/// Compares the checksum at the end.
struct Checked {
    reader: Box<dyn Read + Send>,
    crc: Crc,
    expected: u32,
}

impl Read for Checked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read(out)?;
        self.crc.update(&out[..len]);
        if len == 0 && !out.is_empty() && self.crc.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an array does not match its checksum"));
        }
        Ok(len)
    }
}

/// The array that is asked for; without a name, the only one, or the only one of two dimensions or more. A packed archive
/// is unpacked into a temporary file of at most `spool_bytes`.
pub(crate) fn find(located: &Located, spool_bytes: u64) -> Result<(String, Entry)> {
    let (file, wanted) = (located.file.clone(), located.array.as_deref());
    // Zip needs its end first.
    let archive = Arc::new(located.unpacked(spool_bytes)?);
    let mut arrays = list(&located.name, &archive)?;
    let names: Vec<String> = arrays.iter().map(|(name, _)| name.clone()).collect();
    let chosen = match wanted {
        Some(wanted) => names.iter().position(|name| name == wanted.trim_end_matches(".npy")),
        None => only_matrix(&arrays),
    };
    match (chosen, wanted) {
        (Some(at), _) => Ok(arrays.swap_remove(at)),
        (None, _) if names.is_empty() => Err(Error::NoRows { file, found: "no arrays" }),
        (None, Some(wanted)) => Err(Error::NoArray { file, wanted: wanted.to_owned(), names }),
        (None, None) => Err(Error::ChooseArray { file, names }),
    }
}

fn only_matrix(arrays: &[(String, Entry)]) -> Option<usize> {
    let is_matrix = |(name, entry): &(String, Entry)| {
        let header = entry.open(name).and_then(|mut input| npy::read_header(&mut input));
        header.is_ok_and(|header| header.n_dims >= 2)
    };
    let mut candidates = (0..arrays.len()).filter(|&at| arrays.len() == 1 || is_matrix(&arrays[at]));
    candidates.next().filter(|_| candidates.next().is_none())
}

/// The arrays in the order of the archive.
fn list(name: &str, archive: &Arc<Origin>) -> Result<Vec<(String, Entry)>> {
    let fault = |reason: String| Error::Archive { file: name.to_owned(), reason };
    let mut zip = ZipArchive::new(BufReader::new(archive.stored(name)?)).map_err(|error| fault(error.to_string()))?;
    let mut arrays = Vec::new();
    for at in 0..zip.len() {
        let entry = zip.by_index_raw(at).map_err(|error| fault(error.to_string()))?;
        let entry_name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let Some(array) = entry_name.strip_suffix(".npy") else { continue };
        let deflated = match entry.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => return Err(fault(format!("{entry_name} is packed with {other}"))),
        };
        if entry.encrypted() {
            return Err(fault(format!("{entry_name} is encrypted")));
        }
        let start = entry.data_start().ok_or_else(|| fault(format!("{entry_name} has no data")))?;
        let (len, checksum) = (entry.compressed_size(), entry.crc32());
        arrays.push((array.to_owned(), Entry { archive: Arc::clone(archive), start, len, deflated, checksum }));
    }
    Ok(arrays)
}
