//! The records of a CSV file, one after the other.

use super::fields::Fields;
use crate::lines::{LONGEST_LINE, Lines};
use crate::{Error, Place, Result};

/// One pass over the records. Blank lines are skipped.
pub(super) struct Records {
    lines: Lines,
    pub(super) delimiter: u8,
    fields: Fields,
    /// The line in which the current record begins.
    number: u64,
    /// The last blank line before the current record.
    blank: Option<u64>,
}

impl Records {
    pub(super) fn new(lines: Lines, delimiter: u8) -> Self {
        Self { lines, delimiter, fields: Fields::default(), number: 0, blank: None }
    }

    pub(super) fn file(&self) -> &str {
        self.lines.file()
    }

    /// The line in which the current record begins, counted from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// A blank line directly before the current record.
    pub(super) fn blank(&self) -> Option<u64> {
        self.blank
    }

    /// Moves to the first line of the next record; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.blank = None;
        while self.lines.advance()? {
            self.number = self.lines.number();
            if self.lines.line().iter().any(|&byte| byte != b' ') {
                return Ok(true);
            }
            self.blank = Some(self.number);
        }
        Ok(false)
    }

    /// The first line of the current record.
    pub(super) fn line(&self) -> &[u8] {
        self.lines.line()
    }

    /// Splits the current record, reading on while a quote is open.
    pub(super) fn split(&mut self) -> Result<&Fields> {
        self.fields.clear();
        while !self.fields.push_line(self.lines.line(), self.delimiter) {
            if self.fields.size() > LONGEST_LINE {
                return Err(Error::LineTooLong { at: Place::line(self.file(), self.number), limit: LONGEST_LINE });
            }
            if !self.lines.advance()? {
                return Err(Error::UnclosedQuote { at: Place::line(self.file(), self.number) });
            }
        }
        Ok(&self.fields)
    }

    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }
}
