//! Columns of text: levels of a category, or classes.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::numbers::in_words;
use crate::value::{FILL_IN, is_missing_word};
use crate::{Error, Place, Result};

/// A column of words.
#[derive(Debug)]
pub(super) enum Words {
    /// A text for each row.
    Text(ArrayRef),
    /// A place in the dictionary for each row, and the dictionary.
    Coded { keys: Vec<Option<usize>>, values: Vec<Option<String>> },
}

impl Words {
    /// Of text, of a dictionary, or of numbers, which are written out; NaN is missing.
    pub(super) fn of(array: &ArrayRef) -> Option<Self> {
        let key_of = |row: usize| Some(row).filter(|&row| array.is_valid(row));
        match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Self::Text(ArrayRef::clone(array))),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let entries = dictionary.values();
                let values = Self::of(entries)?.map(0..entries.len(), |word| word.map(str::to_owned));
                let keys = if values.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
                let keys = keys.iter().enumerate().map(|(row, &key)| key_of(row).map(|_| key)).collect();
                Some(Self::Coded { keys, values })
            }
            _ => {
                let values = in_words(array.as_ref())?;
                Some(Self::Coded { keys: (0..array.len()).map(key_of).collect(), values })
            }
        }
    }

    /// The words of `rows`, trimmed, none where there is a null.
    pub(super) fn trimmed(&self, rows: Range<usize>) -> Vec<Option<String>> {
        self.map(rows, |word| word.map(|word| word.trim().to_owned()))
    }

    /// The number of the word of each row, none where there is a null, and the words in the order of their numbers.
    pub(super) fn levels(&self, rows: Range<usize>) -> (Vec<Option<usize>>, Vec<String>) {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut levels = Vec::new();
        let codes = self.map(rows, |word| {
            let word = word?.trim();
            if let Some(&number) = numbers.get(word) {
                return Some(number);
            }
            numbers.insert(word.to_owned(), levels.len());
            levels.push(word.to_owned());
            Some(levels.len() - 1)
        });
        (codes, levels)
    }

    /// What `take` makes of the text of each row.
    fn map<T>(&self, rows: Range<usize>, mut take: impl FnMut(Option<&str>) -> T) -> Vec<T> {
        let array = match self {
            Self::Text(array) => array,
            Self::Coded { keys, values } => {
                let word = |key: usize| values.get(key).and_then(Option::as_deref);
                return keys[rows].iter().map(|key| take(key.and_then(word))).collect();
            }
        };
        let valid = |row: usize| Some(row).filter(|&row| array.is_valid(row));
        match array.data_type() {
            DataType::Utf8 => {
                let text = array.as_string::<i32>();
                rows.map(|row| take(valid(row).map(|row| text.value(row)))).collect()
            }
            DataType::LargeUtf8 => {
                let text = array.as_string::<i64>();
                rows.map(|row| take(valid(row).map(|row| text.value(row)))).collect()
            }
            _ => {
                let text = array.as_string_view();
                rows.map(|row| take(valid(row).map(|row| text.value(row)))).collect()
            }
        }
    }
}

/// The class that a target is, or why it is none.
pub(super) fn class(word: Option<String>, at: impl FnOnce() -> Box<Place>) -> Result<String> {
    match word {
        None => Err(Error::Missing { at: at() }),
        Some(word) if word.is_empty() => Err(Error::Missing { at: at() }),
        Some(word) if is_missing_word(&word) => Err(Error::MissingWord { at: at(), value: word }),
        Some(word) if word.parse::<f64>().is_ok_and(|number| !number.is_finite()) => {
            Err(Error::NotFinite { at: at(), value: word, remedy: FILL_IN })
        }
        Some(word) => Ok(word),
    }
}
