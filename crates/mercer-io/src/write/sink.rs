//! Where the bytes of a table go: a file, perhaps packed, or a stream.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};

use crate::packing::Packing;
use crate::{Error, OutputFile, Result};

/// The presets that the commands `xz` and `zstd` default to.
const XZ_PRESET: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

pub(super) struct Sink {
    name: String,
    to: To,
}

enum To {
    File(OutputFile),
    Packed(Box<dyn Packed>),
    Stream(BufWriter<Box<dyn Write + Send>>),
}

/// A file whose bytes are packed on the way.
trait Packed: Write + Send {
    /// Writes what is left and gives the file back.
    fn finish(self: Box<Self>) -> io::Result<OutputFile>;
}

impl Packed for GzEncoder<OutputFile> {
    fn finish(self: Box<Self>) -> io::Result<OutputFile> {
        (*self).finish()
    }
}

impl Packed for BzEncoder<OutputFile> {
    fn finish(self: Box<Self>) -> io::Result<OutputFile> {
        (*self).finish()
    }
}

impl Packed for XzWriter<OutputFile> {
    fn finish(self: Box<Self>) -> io::Result<OutputFile> {
        (*self).finish()
    }
}

impl Packed for zstd::Encoder<'static, OutputFile> {
    fn finish(self: Box<Self>) -> io::Result<OutputFile> {
        (*self).finish()
    }
}

fn packed(file: OutputFile, packing: Packing) -> io::Result<To> {
    Ok(match packing {
        Packing::Gzip => To::Packed(Box::new(GzEncoder::new(file, flate2::Compression::default()))),
        Packing::Bzip2 => To::Packed(Box::new(BzEncoder::new(file, bzip2::Compression::default()))),
        Packing::Xz => To::Packed(Box::new(XzWriter::new(file, XzOptions::with_preset(XZ_PRESET))?)),
        Packing::Zstd => To::Packed(Box::new(zstd::Encoder::new(file, ZSTD_LEVEL)?)),
        Packing::None | Packing::Zip => To::File(file),
    })
}

impl Sink {
    pub(super) fn file(path: &Path, packing: Packing) -> Result<Self> {
        let name = path.display().to_string();
        let to = packed(OutputFile::create(path)?, packing);
        let to = to.map_err(|source| Error::Write { file: name.clone(), source })?;
        Ok(Self { name, to })
    }

    pub(super) fn stream(name: &str, stream: Box<dyn Write + Send>) -> Self {
        Self { name: name.to_owned(), to: To::Stream(BufWriter::new(stream)) }
    }

    /// For messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Writes what is left; a file moves to its place.
    pub(super) fn finish(self) -> Result<()> {
        let fault = |source| Error::Write { file: self.name.clone(), source };
        match self.to {
            To::File(file) => file.finish(),
            To::Packed(packed) => packed.finish().map_err(fault)?.finish(),
            To::Stream(mut stream) => stream.flush().map_err(fault),
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.to {
            To::File(file) => file,
            To::Packed(packed) => packed,
            To::Stream(stream) => stream,
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}
