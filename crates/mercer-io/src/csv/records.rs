//! The records of a CSV file, one after the other.

use super::fields::{Fields, MOST_FIELDS};
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
        if self.fields.len() > MOST_FIELDS {
            return Err(Error::TooManyFields { at: Place::line(self.file(), self.number), limit: MOST_FIELDS });
        }
        Ok(&self.fields)
    }

    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::input::{Input, Packing};

    fn ours(text: &[u8]) -> Result<Vec<Vec<Vec<u8>>>> {
        let input = Input::new("a.csv", Packing::None, Box::new(Cursor::new(text.to_vec())));
        let mut records = Records::new(Lines::new(input)?, b',');
        let mut found = Vec::new();
        while records.advance()? {
            found.push(records.split()?.iter().map(<[u8]>::to_vec).collect());
        }
        Ok(found)
    }

    fn theirs(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let records = reader.byte_records().map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect());
        records.collect()
    }

    /// Every text of up to 7 bytes over the bytes that matter, against the csv crate.
    #[test]
    fn records_split_as_the_csv_crate_splits_them() {
        const ALPHABET: [u8; 4] = *b"a\",\n";
        let mut compared = 0;
        for len in 0..=7 {
            for code in 0..1 << (2 * len) {
                let text: Vec<u8> = (0..len).map(|at| ALPHABET[code >> (2 * at) & 3]).collect();
                if let Ok(found) = ours(&text) {
                    assert_eq!(found, theirs(&text), "{}", text.escape_ascii());
                    compared += 1;
                }
            }
        }
        assert!(compared > 10_000, "unclosed quotes aside, {compared} texts");
    }
}
