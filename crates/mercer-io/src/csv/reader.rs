//! Rows of numbers and their targets out of CSV records.

use memchr::memchr;
use mercer::Result as MercerResult;
use mercer::dataset::{Block, BlockReader, TargetBlock};
use ndarray::Array2;

use super::records::Records;
use crate::columns::{Columns, Role};
use crate::error::shown;
use crate::value::{FILL_IN, Value, is_missing_word, parse_number};
use crate::{Error, Place, Result};

/// One reading of a CSV file.
pub(super) struct CsvReader<'a, T> {
    records: Records,
    columns: &'a Columns,
    first_line: u64,
    block_rows: usize,
    n_rows: usize,
    /// The rows of the block so far, all inputs of a row together.
    inputs: Vec<T>,
    /// The targets of the block so far, where there are several columns of them.
    numbers: Vec<f64>,
    /// The targets of the block so far, where there is one column of them.
    text: Vec<String>,
}

impl<T: Value> BlockReader for CsvReader<'_, T> {
    fn next_block(&mut self) -> MercerResult<Option<Block>> {
        self.n_rows = 0;
        while self.n_rows < self.block_rows && self.records.advance()? {
            self.read_row()?;
            self.n_rows += 1;
        }
        if self.n_rows == 0 {
            return Ok(None);
        }
        let inputs = std::mem::take(&mut self.inputs);
        let rows = T::dense(matrix(self.n_rows, self.columns.n_inputs, inputs));
        let targets = match self.columns.n_targets {
            0 => None,
            1 => Some(TargetBlock::Text(std::mem::take(&mut self.text))),
            n => Some(TargetBlock::Numbers(matrix(self.n_rows, n, std::mem::take(&mut self.numbers)))),
        };
        Ok(Some(Block::new(rows, targets)))
    }
}

fn matrix<U>(n_rows: usize, n_columns: usize, values: Vec<U>) -> Array2<U> {
    Array2::from_shape_vec((n_rows, n_columns), values).expect("whole rows")
}

impl<'a, T: Value> CsvReader<'a, T> {
    pub(super) fn new(records: Records, columns: &'a Columns, first_line: u64, block_rows: usize) -> Self {
        let (inputs, numbers, text) = (Vec::new(), Vec::new(), Vec::new());
        Self { records, columns, first_line, block_rows, n_rows: 0, inputs, numbers, text }
    }

    fn read_row(&mut self) -> Result<()> {
        let columns = self.columns;
        if let (Some(line), 1) = (self.records.blank(), columns.roles.len()) {
            return Err(Error::Missing { at: Place::column(self.records.file(), line, 1, columns.names.first()) });
        }
        let start = self.inputs.len();
        self.inputs.resize(start + columns.n_inputs, T::zero());
        let (line, delimiter) = (self.records.line(), self.records.delimiter);
        let plain = columns.n_targets <= 1 && memchr(b'"', line).is_none();
        if plain && let Some(target) = parse_plain(line, delimiter, &columns.roles, &mut self.inputs[start..]) {
            self.text.extend(target.map(str::to_owned));
            return Ok(());
        }
        self.read_fields(start)
    }

    /// Reads the row field by field, by all rules; `start` is where its inputs begin.
    fn read_fields(&mut self, start: usize) -> Result<()> {
        let columns = self.columns;
        let got = self.records.split()?.len();
        let (file, line) = (self.records.file(), self.records.number());
        if got != columns.roles.len() {
            let (at, expected) = (Place::line(file, line), columns.roles.len());
            let remedy =
                if got < expected { "fill the missing fields in" } else { "quote fields that hold a delimiter" };
            return Err(Error::Ragged { at, got, expected, first_line: self.first_line, remedy });
        }
        let first_number = self.numbers.len();
        if columns.n_targets > 1 {
            self.numbers.resize(first_number + columns.n_targets, 0.0);
        }
        for (i, (field, role)) in self.records.fields().iter().zip(&columns.roles).enumerate() {
            let at = || Place::column(file, line, i + 1, columns.names.get(i));
            match *role {
                Role::Input(input) => self.inputs[start + input] = parse_number(field, at)?,
                Role::Target(_) if columns.n_targets == 1 => self.text.push(parse_text(field, at)?),
                Role::Target(target) => self.numbers[first_number + target] = parse_target(field, at)?,
                Role::Ignored => {}
            }
        }
        Ok(())
    }
}

/// The target that a field is: a finite number or a word for a class.
fn parse_text(field: &[u8], at: impl Fn() -> Box<Place>) -> Result<String> {
    match str::from_utf8(field).map(str::trim) {
        Ok("") => Err(Error::Missing { at: at() }),
        Ok(text) if is_missing_word(text) => Err(Error::MissingWord { at: at(), value: text.to_owned() }),
        Ok(text) if !is_target(text) => Err(Error::NotFinite { at: at(), value: shown(field), remedy: FILL_IN }),
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(Error::NotUtf8 { at: at(), value: shown(field) }),
    }
}

/// Whether this can be a target: one NaN or NA among numbers would make classes of them all.
fn is_target(text: &str) -> bool {
    text.parse::<f64>().map_or(!text.is_empty() && !is_missing_word(text), f64::is_finite)
}

/// One of several targets, which are numbers.
fn parse_target(field: &[u8], at: impl Fn() -> Box<Place>) -> Result<f64> {
    parse_number(field, &at).map_err(|error| match error {
        Error::NotANumber { at, value } if is_missing_word(&value) => Error::MissingWord { at, value },
        other => other,
    })
}

/// Reads a line without quotes into `inputs` and gives its target; `None` when anything is unusual.
fn parse_plain<'a, T: Value>(
    line: &'a [u8],
    delimiter: u8,
    roles: &[Role],
    inputs: &mut [T],
) -> Option<Option<&'a str>> {
    let mut rest = Some(line);
    let mut target = None;
    for role in roles {
        let field = rest?;
        let end = match *role {
            Role::Input(input) => {
                let (value, len) = fast_float2::parse_partial::<T, _>(field).ok()?;
                inputs[input] = value;
                value.is_finite().then_some(len)?
            }
            Role::Target(_) | Role::Ignored => memchr(delimiter, field).unwrap_or(field.len()),
        };
        if matches!(role, Role::Target(_)) {
            target = Some(str::from_utf8(&field[..end]).ok()?.trim()).filter(|text| is_target(text));
            target?;
        }
        rest = match field.get(end) {
            Some(&byte) if byte == delimiter => Some(&field[end + 1..]),
            Some(_) => return None,
            None => None,
        };
    }
    rest.is_none().then_some(target)
}
