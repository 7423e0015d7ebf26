//! Rows of numbers and words and their targets out of CSV records.

use memchr::memchr;
use mercer::Result as MercerResult;
use mercer::dataset::{Block, BlockReader, TargetBlock};
use ndarray::Array2;

use super::levels::{Levels, MOST_ROWS};
use super::plain::{Field, Plain};
use super::records::Records;
use super::values::{parse_input, parse_target, parse_text, parse_word};
use crate::columns::Columns;
use crate::value::Value;
use crate::{Error, Place, Result};

/// One reading of a CSV file.
pub(super) struct CsvReader<'a, T> {
    records: Records,
    columns: &'a Columns,
    fields: Vec<Field>,
    keep_missing: bool,
    first_line: u64,
    block_rows: usize,
    n_rows: usize,
    /// The rows of the block so far, all inputs of a row together.
    inputs: Vec<T>,
    /// The words of the block so far, for each categorical input.
    levels: Vec<Levels>,
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
        let rows = T::dense(matrix(self.n_rows, self.columns.n_inputs, renewed(&mut self.inputs)));
        let targets = match self.columns.n_targets {
            0 => None,
            1 => Some(TargetBlock::Text(renewed(&mut self.text))),
            n => Some(TargetBlock::Numbers(matrix(self.n_rows, n, renewed(&mut self.numbers)))),
        };
        let levels = self.levels.iter_mut().map(Levels::take).collect();
        Ok(Some(Block { levels, ..Block::new(rows, targets) }))
    }
}

fn matrix<U>(n_rows: usize, n_columns: usize, values: Vec<U>) -> Array2<U> {
    Array2::from_shape_vec((n_rows, n_columns), values).expect("whole rows")
}

/// What was gathered for a block; the next has room for as much at once.
fn renewed<U>(gathered: &mut Vec<U>) -> Vec<U> {
    let next = Vec::with_capacity(gathered.len());
    std::mem::replace(gathered, next)
}

impl<'a, T: Value> CsvReader<'a, T> {
    pub(super) fn new(
        records: Records,
        columns: &'a Columns,
        keep_missing: bool,
        first_line: u64,
        block_rows: usize,
    ) -> Self {
        let (inputs, numbers, text) = (Vec::new(), Vec::new(), Vec::new());
        let fields = Field::all(columns);
        let levels: Vec<Levels> = columns.categorical.iter().map(|_| Levels::default()).collect();
        let block_rows = if levels.is_empty() { block_rows } else { block_rows.min(MOST_ROWS) };
        Self {
            records,
            columns,
            fields,
            keep_missing,
            first_line,
            block_rows,
            n_rows: 0,
            inputs,
            levels,
            numbers,
            text,
        }
    }

    fn read_row(&mut self) -> Result<()> {
        let columns = self.columns;
        if let (Some(line), 1) = (self.records.blank(), columns.roles.len()) {
            return Err(Error::Missing { at: Place::column(self.records.file(), line, 1, columns.names.first()) });
        }
        let start = self.inputs.len();
        self.inputs.resize(start + columns.n_inputs, T::zero());
        let (line, delimiter) = (self.records.line(), self.records.delimiter);
        if columns.n_targets <= 1 && memchr(b'"', line).is_none() {
            let plain = Plain { fields: &self.fields, delimiter, keep_missing: self.keep_missing };
            if let Some(target) = plain.parse(line, &mut self.inputs[start..], &mut self.levels) {
                self.text.extend(target.map(str::to_owned));
                return Ok(());
            }
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
        let inputs = &mut self.inputs[start..];
        for (i, (text, field)) in self.records.fields().iter().zip(&self.fields).enumerate() {
            let at = || Place::column(file, line, i + 1, columns.names.get(i));
            match *field {
                Field::Number(input) => inputs[input] = parse_input(text, self.keep_missing, at)?,
                Field::Word { input, levels } => {
                    inputs[input] = parse_word(text, &mut self.levels[levels], self.keep_missing, at)?;
                }
                Field::Target(_) if columns.n_targets == 1 => self.text.push(parse_text(text, at)?),
                Field::Target(target) => self.numbers[first_number + target] = parse_target(text, at)?,
                Field::Ignored => {}
            }
        }
        Ok(())
    }
}
