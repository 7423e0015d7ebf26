//! Where in a file something was found.

use std::fmt;

/// A place in a file, for messages: `data.csv, line 17, column 3 ("width")`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The path as the user gave it.
    pub file: String,
    /// The line of a text file, counted from 1; of a record over several lines, the first.
    pub line: Option<u64>,
    /// The row of an array, counted from 1.
    pub row: Option<u64>,
    /// The column, counted from 1.
    pub column: Option<usize>,
    /// The name of the column, where the file has a header.
    pub name: Option<String>,
}

impl Place {
    pub(crate) fn line(file: &str, line: u64) -> Box<Self> {
        Box::new(Self { file: file.to_owned(), line: Some(line), ..Self::default() })
    }

    pub(crate) fn row(file: &str, row: u64, column: usize) -> Box<Self> {
        Box::new(Self { file: file.to_owned(), row: Some(row), column: Some(column), ..Self::default() })
    }

    pub(crate) fn column(file: &str, line: u64, column: usize, name: Option<&String>) -> Box<Self> {
        Box::new(Self { column: Some(column), name: name.cloned(), ..*Self::line(file, line) })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        match &self.name {
            Some(name) => write!(f, " ({name:?})"),
            None => Ok(()),
        }
    }
}
