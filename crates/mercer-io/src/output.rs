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
/// [`remove_unfinished`] removes all that are open, for a process that ends without dropping them.
pub struct OutputFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
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
        if !folder.is_dir() {
            let source = io::Error::new(io::ErrorKind::NotFound, format!("there is no folder {}", folder.display()));
            return Err(write_error(path, source));
        }
        let file = temporary(folder).map_err(|source| write_error(path, without_path(source)))?;
        unfinished().push(file.path().to_owned());
        Ok(Self { path: path.to_owned(), writer: BufWriter::new(file) })
    }

    /// Moves the complete file to its place.
    ///
    /// # Errors
    /// [`Error::Write`]; nothing is left behind then.
    pub fn finish(self) -> Result<()> {
        let Self { path, writer } = self;
        let file = writer.into_inner().map_err(|error| write_error(&path, error.into_error()))?;
        file.as_file().sync_all().map_err(|source| write_error(&path, source))?;
        file.persist(&path).map_err(|error| write_error(&path, error.error))?;
        Ok(())
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

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("model");
        let error = OutputFile::create(&path).err().unwrap().to_string();
        assert!(error.contains("nowhere") && error.contains("folder"), "{error}");
        assert!(OutputFile::create(folder.path()).is_err());
    }
}
