//! The fields of one record, quotes resolved.

/// More fields than this are no row of a table: a few bytes, packed, can be a line of a hundred million delimiters.
pub(super) const MOST_FIELDS: usize = 1 << 20;

/// Where the splitting of a record stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote within a quoted field: its end, or the first of two that stand for one.
    QuoteInQuoted,
}

/// A record split into fields. A field that begins with a quote ends at the next lone quote; within it, delimiters
/// and line ends are text and two quotes are one. A quote elsewhere is text.
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: Vec<u8>,
    ends: Vec<usize>,
    state: State,
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.state = State::FieldStart;
    }

    /// Adds a line to the record; false when a quoted field goes on in the next line.
    pub(super) fn push_line(&mut self, line: &[u8], delimiter: u8) -> bool {
        for &byte in line {
            self.push_byte(byte, delimiter);
        }
        if self.state == State::Quoted {
            self.text.push(b'\n');
            return false;
        }
        self.end_field();
        true
    }

    /// Of the fields beyond [`MOST_FIELDS`] one is kept, which tells.
    fn end_field(&mut self) {
        if self.ends.len() <= MOST_FIELDS {
            self.ends.push(self.text.len());
        }
    }

    fn push_byte(&mut self, byte: u8, delimiter: u8) {
        self.state = match (self.state, byte) {
            (State::FieldStart, b'"') => State::Quoted,
            (State::FieldStart, b' ') if delimiter != b' ' => State::FieldStart,
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::QuoteInQuoted, b'"') | (State::Quoted, _) => {
                self.text.push(byte);
                State::Quoted
            }
            (_, byte) if byte == delimiter => {
                self.end_field();
                State::FieldStart
            }
            _ => {
                self.text.push(byte);
                State::Plain
            }
        };
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of text held.
    pub(super) fn size(&self) -> usize {
        self.text.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_delimiters_and_line_ends() {
        let mut fields = Fields::default();
        assert!(!fields.push_line(b"1, \"a, \"\"b\"\"", b','));
        assert!(fields.push_line(b"c\" ,5\" pipe,\"\",", b','));
        let found: Vec<_> = fields.iter().map(String::from_utf8_lossy).collect();
        assert_eq!(found, ["1", "a, \"b\"\nc ", "5\" pipe", "", ""]);
    }

    #[test]
    fn an_empty_line_is_one_empty_field() {
        let mut fields = Fields::default();
        assert!(fields.push_line(b"", b','));
        assert_eq!(fields.len(), 1);
    }
}
