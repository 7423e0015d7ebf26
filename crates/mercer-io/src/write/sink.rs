//! Where the bytes of a table go: a file, perhaps packed, or a stream.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{Error, OutputFile, Result};

pub(super) struct Sink {
    name: String,
    to: To,
}

enum To {
    File(OutputFile),
    Gzip(Box<GzEncoder<OutputFile>>),
    Stream(BufWriter<Box<dyn Write + Send>>),
}

/// How a file is packed, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Gzip,
}

impl Packing {
    /// The packing that the last extension of a lower-case name says, and the name without it.
    pub(super) fn of(name: &str) -> (Self, &str) {
        match name.strip_suffix(".gz") {
            Some(name) => (Self::Gzip, name),
            None => (Self::None, name),
        }
    }
}

impl Sink {
    pub(super) fn file(path: &Path, packing: Packing) -> Result<Self> {
        let file = OutputFile::create(path)?;
        let to = match packing {
            Packing::None => To::File(file),
            Packing::Gzip => To::Gzip(Box::new(GzEncoder::new(file, Compression::default()))),
        };
        Ok(Self { name: path.display().to_string(), to })
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
            To::Gzip(packed) => packed.finish().map_err(fault)?.finish(),
            To::Stream(mut stream) => stream.flush().map_err(fault),
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.to {
            To::File(file) => file,
            To::Gzip(packed) => packed,
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
