//! The words of a column, numbered in the order in which a block meets them.

use std::collections::HashMap;
use std::str::Utf8Error;

use foldhash::fast::RandomState;

/// Rows of a block with words: every number of a level is exact in f32.
pub(super) const MOST_ROWS: usize = 1 << 24;

/// The levels of a categorical input in one block. Cost of a word: a comparison with the one before it, else a look
/// into a hash table.
#[derive(Debug, Default)]
pub(super) struct Levels {
    names: Vec<String>,
    numbers: HashMap<Box<[u8]>, usize, RandomState>,
    /// The level that was met last.
    last: usize,
}

impl Levels {
    /// The number of a word, a new one where the block has not met it yet.
    pub(super) fn number(&mut self, word: &[u8]) -> Result<usize, Utf8Error> {
        if self.names.get(self.last).is_some_and(|name| name.as_bytes() == word) {
            return Ok(self.last);
        }
        self.last = match self.numbers.get(word) {
            Some(&number) => number,
            None => self.add(word)?,
        };
        Ok(self.last)
    }

    fn add(&mut self, word: &[u8]) -> Result<usize, Utf8Error> {
        let number = self.names.len();
        self.names.push(str::from_utf8(word)?.to_owned());
        self.numbers.insert(word.into(), number);
        Ok(number)
    }

    /// The words of the block by their numbers; the next block begins anew.
    pub(super) fn take(&mut self) -> Vec<String> {
        self.numbers.clear();
        self.last = 0;
        std::mem::take(&mut self.names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_as_they_come_and_anew_in_each_block() {
        let mut levels = Levels::default();
        let mut numbers = |words: &[&str]| -> (Vec<usize>, Vec<String>) {
            (words.iter().map(|word| levels.number(word.as_bytes()).expect("UTF-8")).collect(), levels.take())
        };
        assert_eq!(numbers(&["b", "b", "a", "b"]), (vec![0, 0, 1, 0], vec!["b".to_owned(), "a".to_owned()]));
        assert_eq!(numbers(&["a", "b"]), (vec![0, 1], vec!["a".to_owned(), "b".to_owned()]));
        assert!(levels.number(b"\xff").is_err());
    }
}
