//! The files that paths and patterns name.

use std::path::Path;

use glob::{MatchOptions, glob_with};

use crate::input::io_error;
use crate::locate::split_array_name;
use crate::{Error, Result};

/// A star stops at a folder, and hidden files are asked for by their dot: as in a shell.
const AS_IN_A_SHELL: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that `paths` name, in this order. A path with `*`, `?` or `[…]` that is no file itself is a pattern, and
/// stands for all it matches in alphabetical order (`part-10` comes before `part-2`); `::array` behind it goes with each.
///
/// # Errors
/// A pattern that matches nothing; a folder that cannot be read; `-` more than once.
pub fn list_files(paths: &[impl AsRef<str>]) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let (file, array) = split_array_name(path);
        if !file.contains(['*', '?', '[']) || Path::new(file).exists() {
            files.push(path.to_owned());
            continue;
        }
        let array = array.map(|array| format!("::{array}")).unwrap_or_default();
        files.extend(matches(path, file)?.into_iter().map(|file| file + &array));
    }
    if files.iter().filter(|file| split_array_name(file).0 == "-").count() > 1 {
        return Err(Error::StandardInputTwice);
    }
    Ok(files)
}

fn matches(path: &str, pattern: &str) -> Result<Vec<String>> {
    let found = glob_with(pattern, AS_IN_A_SHELL).map_err(|_| Error::NotFound { file: path.to_owned() })?;
    let name = |found: glob::GlobResult| match found {
        Ok(file) => Ok(file.to_string_lossy().into_owned()),
        Err(error) => {
            let folder = error.path().to_string_lossy().into_owned();
            Err(io_error(&folder, error.into()))
        }
    };
    let mut files = found.map(name).collect::<Result<Vec<_>>>()?;
    files.sort();
    if files.is_empty() {
        return Err(Error::NoMatch { pattern: path.to_owned() });
    }
    Ok(files)
}
