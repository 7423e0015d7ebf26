//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile};

use crate::{Error, Result};

/// A file under a temporary name beside its place, renamed to it by [`OutputFile::finish`]. Dropped before that, it
/// vanishes, and what stood in its place before is untouched.
///
/// Where a device or a pipe stands, it is written to as it is, and opened at the first write.
///
/// [`remove_unfinished`] removes all that are open, for a process that ends without dropping them.
pub struct OutputFile {
    path: PathBuf,
    writer: BufWriter<To>,
}

enum To {
    Temporary(NamedTempFile),
    /// A device or a pipe.
    Special(PathBuf, Option<File>),
}

impl OutputFile {
    /// Opens the temporary file.
    ///
    /// # Errors
    /// [`Error::Write`] when the folder is not there or not writable, [`Error::Directory`] when the path is one.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.is_dir() {
            return Err(Error::Directory { file: path.display().to_string() });
        }
        if path.exists() && !path.is_file() {
            let to = To::Special(path.to_owned(), None);
            return Ok(Self { path: path.to_owned(), writer: BufWriter::new(to) });
        }
        if !folder.is_dir() {
            let source = io::Error::new(io::ErrorKind::NotFound, format!("there is no folder {}", folder.display()));
            return Err(write_error(path, source));
        }
        let file = temporary(folder).map_err(|source| write_error(path, without_path(source)))?;
        unfinished().push(file.path().to_owned());
        Ok(Self { path: path.to_owned(), writer: BufWriter::new(To::Temporary(file)) })
    }

    /// Moves the complete file to its place.
    ///
    /// # Errors
    /// [`Error::Write`]; nothing is left behind then.
    pub fn finish(self) -> Result<()> {
        let Self { path, writer } = self;
        let to = writer.into_inner().map_err(|error| write_error(&path, error.into_error()))?;
        if let To::Temporary(file) = to {
            file.as_file().sync_all().map_err(|source| write_error(&path, source))?;
            file.persist(&path).map_err(|error| write_error(&path, error.error))?;
        }
        Ok(())
    }
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary(file) => file.write(bytes),
            Self::Special(_, Some(file)) => file.write(bytes),
            Self::Special(path, file) => file.insert(File::options().write(true).open(path)?).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Self::Temporary(file) = self { file.flush() } else { Ok(()) }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The temporary files that may be open; names of finished ones do no harm, they are not used again.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file that was begun and not finished.
pub fn remove_unfinished() {
    for path in unfinished().drain(..) {
        // Gone already when it was finished or dropped.
        let _ = std::fs::remove_file(path);
    }
}

/// A temporary file with the permissions of an ordinary new file.
fn temporary(folder: &Path) -> io::Result<NamedTempFile<File>> {
    let mut builder = Builder::new();
    builder.prefix(".mercer-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// The error of the system alone: the name of a temporary file tells a user nothing.
fn without_path(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|error| error.source()).and_then(|error| error.downcast_ref::<io::Error>());
    inner.and_then(io::Error::raw_os_error).map_or(error, io::Error::from_raw_os_error)
}

/// The error of a failed write to `path`.
pub fn write_error(path: &Path, source: io::Error) -> Error {
    Error::Write { file: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        std::fs::write(&path, "old").unwrap();
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["model"]);
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_written_to_and_stay() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // To look whether a file can be written neither waits for a reader nor ends what one reads.
        drop(OutputFile::create(&path).unwrap());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || std::fs::read(path).unwrap()
        });
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"model").unwrap();
        file.finish().unwrap();
        assert!(std::fs::metadata(&path).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), b"model");
        assert_eq!(names(folder.path()), ["pipe"]);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("model");
        let error = OutputFile::create(&path).err().unwrap().to_string();
        assert!(error.contains("nowhere") && error.contains("folder"), "{error}");
        assert!(OutputFile::create(folder.path()).is_err());
    }
}
