//! A record without quotes, straight from the bytes of its line.

use memchr::memchr;

use super::levels::Levels;
use super::values::{is_target, trimmed};
use crate::columns::{Columns, Role};
use crate::number::parse_prefix;
use crate::value::{Value, is_missing};

/// What the reader does with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// This input of the row.
    Number(usize),
    /// This input of the row, with the words of this categorical input.
    Word { input: usize, levels: usize },
    /// This target of the row.
    Target(usize),
    /// Nothing.
    Ignored,
}

impl Field {
    /// Of each column.
    pub(super) fn all(columns: &Columns) -> Vec<Self> {
        let of_role = |role: &Role| match *role {
            Role::Input(input) => match columns.categorical.binary_search(&input) {
                Ok(levels) => Self::Word { input, levels },
                Err(_) => Self::Number(input),
            },
            Role::Target(target) => Self::Target(target),
            Role::Ignored => Self::Ignored,
        };
        columns.roles.iter().map(of_role).collect()
    }
}

/// Lines of plain values.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    pub(super) fields: &'a [Field],
    pub(super) delimiter: u8,
    pub(super) keep_missing: bool,
}

impl Plain<'_> {
    /// Reads a line without quotes into `inputs` and gives its target; `None` when anything is unusual, which is then
    /// read or refused by all rules. There is one target at most.
    pub(super) fn parse<'a, T: Value>(
        &self,
        line: &'a [u8],
        inputs: &mut [T],
        levels: &mut [Levels],
    ) -> Option<Option<&'a str>> {
        let mut rest = Some(line);
        let mut target = None;
        for field in self.fields {
            let text = rest?;
            let len = match *field {
                Field::Number(input) => {
                    let (value, len) = match parse_prefix(text) {
                        Some(found) => found,
                        None => self.parse_unusual(text)?,
                    };
                    inputs[input] = value;
                    len
                }
                Field::Word { input, levels: at } => {
                    let word = self.until_delimiter(text);
                    inputs[input] = self.parse_word(trimmed(word), &mut levels[at])?;
                    word.len()
                }
                Field::Target(_) => {
                    let word = self.until_delimiter(text);
                    target = Some(str::from_utf8(word).ok()?.trim()).filter(|text| is_target(text));
                    target?;
                    word.len()
                }
                Field::Ignored => self.until_delimiter(text).len(),
            };
            rest = match text.get(len) {
                Some(&byte) if byte == self.delimiter => Some(&text[len + 1..]),
                Some(_) => return None,
                None => None,
            };
        }
        rest.is_none().then_some(target)
    }

    fn until_delimiter<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        memchr(self.delimiter, text).map_or(text, |end| &text[..end])
    }

    /// A number behind blanks, or a missing one, and the length of all that.
    #[inline(never)]
    fn parse_unusual<T: Value>(&self, text: &[u8]) -> Option<(T, usize)> {
        let field = self.until_delimiter(text);
        let number = field.trim_ascii_start();
        if self.keep_missing && is_missing(number.trim_ascii_end()) {
            return Some((T::nan(), field.len()));
        }
        let n_blanks = field.len() - number.len();
        parse_prefix(number).filter(|_| n_blanks > 0).map(|(value, len)| (value, n_blanks + len))
    }

    fn parse_word<T: Value>(&self, word: &[u8], levels: &mut Levels) -> Option<T> {
        if is_missing(word) {
            return self.keep_missing.then(T::nan);
        }
        levels.number(word).ok().map(|number| T::from_f64(number as f64))
    }
}
