//! The lines of a text file, as slices of one buffer.

use memchr::memchr;

use crate::input::Input;
use crate::{Error, Place, Result};

/// A line longer than this is no line of text. A record is kept a few times over while it is split: 32 MiB of it, which
/// a hundred packed bytes can declare, stay below 256 MiB of memory.
pub(crate) const LONGEST_LINE: usize = 1 << 25;
/// A small file costs a small buffer; it doubles while reads fill it, up to a size at which their cost is nothing.
const FIRST_BUFFER: usize = 1 << 14;
const READ_BUFFER: usize = 1 << 18;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One pass over the lines. LF and CRLF end a line, the last needs neither; a UTF-8 byte order mark is skipped.
pub(crate) struct Lines {
    input: Input,
    buffer: Vec<u8>,
    /// Bytes of the buffer that hold text.
    filled: usize,
    /// The current line, its end of line included.
    start: usize,
    end: usize,
    number: u64,
    limit: usize,
}

impl Lines {
    pub(crate) fn new(input: Input) -> Result<Self> {
        Self::with_limit(input, FIRST_BUFFER, LONGEST_LINE)
    }

    fn with_limit(mut input: Input, buffer: usize, limit: usize) -> Result<Self> {
        if input.peek(BOM.len())? == BOM {
            input.take(BOM.len())?;
        }
        Ok(Self { input, buffer: vec![0; buffer], filled: 0, start: 0, end: 0, number: 0, limit })
    }

    pub(crate) fn file(&self) -> &str {
        self.input.name()
    }

    /// The number of the current line, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Moves to the next line; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.start = self.end;
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.filled]) {
                self.end = searched + at + 1;
                break;
            }
            let unfinished = self.filled - self.start;
            if !self.fill()? {
                self.end = self.filled;
                break;
            }
            searched = self.start + unfinished;
        }
        self.number += 1;
        if self.number == 1 && holds_lone_cr(self.line()) {
            return Err(Error::LoneCr { at: Place::line(self.file(), 1) });
        }
        Ok(self.end > self.start)
    }

    /// The current line without its end.
    pub(crate) fn line(&self) -> &[u8] {
        let line = &self.buffer[self.start..self.end];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Reads more text behind the unfinished line, which moves to the front of the buffer; false at the end.
    fn fill(&mut self) -> Result<bool> {
        if self.filled == self.buffer.len() {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.start = 0;
            let len = (2 * self.buffer.len()).min(READ_BUFFER).min(self.limit);
            self.buffer.resize(len.max(self.buffer.len()), 0);
        }
        if self.filled == self.buffer.len() {
            if self.filled >= self.limit {
                let at = Place::line(self.file(), self.number + 1);
                return Err(Error::LineTooLong { at, limit: self.limit });
            }
            self.buffer.resize(2 * self.filled, 0);
        }
        let got = self.input.read(&mut self.buffer[self.filled..])?;
        self.filled += got;
        Ok(got > 0)
    }
}

/// Whether what should be a line end stands inside a line, quotes aside: CR alone ended lines once.
fn holds_lone_cr(line: &[u8]) -> bool {
    let text = line.trim_ascii_end();
    memchr(b'\r', text).is_some_and(|at| memchr(b'"', &text[..at]).is_none())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::input::Packing;

    fn lines(text: &[u8], buffer: usize, limit: usize) -> Result<Vec<String>> {
        let input = Input::new("a.txt", Packing::None, Box::new(Cursor::new(text.to_vec())));
        let mut lines = Lines::with_limit(input, buffer, limit)?;
        let mut found = Vec::new();
        while lines.advance()? {
            found.push(format!("{} {}", lines.number(), String::from_utf8_lossy(lines.line())));
        }
        Ok(found)
    }

    #[test]
    fn lines_end_in_lf_crlf_or_nothing_at_any_buffer_size() {
        for buffer in 1..20 {
            let found = lines(b"\xef\xbb\xbfone\r\n\n\nfour and more\nlast", buffer, 100).unwrap();
            assert_eq!(found, ["1 one", "2 ", "3 ", "4 four and more", "5 last"], "buffer {buffer}");
        }
        assert_eq!(lines(b"", 4, 100).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn lines_that_end_in_cr_alone_are_refused() {
        let error = lines(b"a,y\r1,0\r2,1\r", 4, 64).unwrap_err().to_string();
        assert_eq!(error, "a.txt, line 1 holds a lone CR (\\r); save the file with LF or CRLF line ends");
        assert_eq!(lines(b"a\r\r\n\"b\rc\"\n", 4, 64).unwrap().len(), 2);
        assert_eq!(lines(b"\"b\rc\"\n", 4, 64).unwrap().len(), 1);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let error = lines(&[b'a'; 1000], 4, 64).unwrap_err().to_string();
        assert_eq!(error, "a.txt, line 1 is longer than 64 bytes; is the file text with line ends?");
    }
}
