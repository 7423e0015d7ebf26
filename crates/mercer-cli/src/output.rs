//! Tables as files, with labels beside them where a format has no place for both.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use mercer::dataset::{Block, BlockRows};
use mercer_io::{BlockWriter, Schema, create, csv_stream, holds_one_array};
use ndarray::Array2;

use crate::failure::{Failure, STANDARD_OUTPUT};

/// A table being written; without its `finish`, no file is.
pub(crate) struct TableFile {
    rows: Box<dyn BlockWriter>,
    labels: Option<Box<dyn BlockWriter>>,
    paths: Vec<PathBuf>,
}

impl TableFile {
    /// To a file in the format of its name, or to standard output as CSV.
    pub(crate) fn create(path: Option<&Path>, schema: &Schema) -> Result<Self, Failure> {
        let Some(path) = path else {
            let rows = csv_stream(STANDARD_OUTPUT, Box::new(std::io::stdout()), schema)?;
            return Ok(Self { rows, labels: None, paths: Vec::new() });
        };
        let paths = written_paths(path, schema)?;
        let [_, beside] = paths.as_slice() else {
            return Ok(Self { rows: create(path, schema)?, labels: None, paths });
        };
        let labels = create(beside, &Schema { n_inputs: 0, ..schema.clone() })?;
        let rows = create(path, &Schema { target_names: Vec::new(), ..schema.clone() })?;
        Ok(Self { rows, labels: Some(labels), paths })
    }

    /// Writes the next rows.
    pub(crate) fn write(&mut self, block: &Block) -> mercer_io::Result<()> {
        if let Some(labels) = &mut self.labels {
            let none = BlockRows::Dense64(Array2::zeros((block.rows.n_rows(), 0)));
            labels.write(&Block::new(none, block.targets.clone()))?;
        }
        self.rows.write(block)
    }

    /// Completes the files and gives their paths.
    pub(crate) fn finish(self) -> Result<Vec<PathBuf>, Failure> {
        self.rows.finish()?;
        self.labels.map_or(Ok(()), BlockWriter::finish)?;
        Ok(self.paths)
    }
}

/// The files that a table becomes: the labels have their own where one holds one array.
pub(crate) fn written_paths(path: &Path, schema: &Schema) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = vec![path.to_owned()];
    if !schema.target_names.is_empty() && holds_one_array(path)? {
        paths.push(labels_path(path, schema.target_words));
    }
    Ok(paths)
}

/// `rows.npy` and `rows.npy.gz` as `rows-labels.npy`; words go to `rows-labels.csv`.
fn labels_path(path: &Path, words: bool) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.to_ascii_lowercase().rfind(".npy").map_or(name.as_str(), |end| &name[..end]);
    path.with_file_name(format!("{stem}-labels.{}", if words { "csv" } else { "npy" }))
}

/// A path in JSON, which has no place for what is no text.
pub(crate) fn in_json(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// Paths in JSON.
pub(crate) fn all_in_json(paths: &[PathBuf]) -> Vec<Cow<'_, str>> {
    paths.iter().map(|path| in_json(path)).collect()
}

/// The paths of written files, for a sentence.
pub(crate) fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ")
}
