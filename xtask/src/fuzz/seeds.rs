//! The files that a target starts from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Target;
use crate::Failure;
use crate::project::root;

/// Bytes before each file that a target takes for options; zeros are the default.
const OPTIONS: [u8; 8] = [0; 8];

/// Writes the fixtures of the readers' tests that `target` can read into `corpus`. Models are written by their target.
pub(super) fn write(target: &Target, corpus: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("{}: {error}", corpus.display()));
    for file in fixtures(target.seeds).map_err(failed)? {
        let seed = corpus.join(file.file_name().unwrap_or_default());
        let content = fs::read(&file).map_err(failed)?;
        fs::write(seed, [&OPTIONS[..], &content].concat()).map_err(failed)?;
    }
    Ok(())
}

/// Fixtures whose names end so; what unpacks to megabytes would leave no time for others.
fn fixtures(endings: &[&str]) -> io::Result<Vec<PathBuf>> {
    let folder = root().join("crates").join("mercer-io").join("tests").join("fixtures");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)?.chain(fs::read_dir(folder.join("arrow"))?) {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if endings.iter().any(|ending| name.ends_with(ending)) && !name.starts_with("bomb") {
            files.push(path);
        }
    }
    Ok(files)
}
