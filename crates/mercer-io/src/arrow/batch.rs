//! Columns of a record batch into row-major blocks.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, RecordBatch};
use mercer::dataset::TargetBlock;
use ndarray::Array2;

use super::layout::{Part, PartRole};
use super::lists::{self, OtherLength};
use super::numbers::{Numbers, whole};
use super::words::{Words, class};
use crate::value::{FILL_IN, IMPUTE, TOO_BIG, Value, is_rounded};
use crate::{Error, Place, Result};

/// Values of a tile of rows, into which one column after the other is written: it stays in the first-level cache.
const TILE: usize = 1 << 13;
/// The first float64 that stands for several whole numbers.
const FIRST_ROUNDED: f64 = (1_u64 << 53) as f64;

/// What the columns of a batch are, for messages and to tell what may be missing.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) file: &'a str,
    pub(super) parts: &'a [Part],
    pub(super) n_inputs: usize,
    pub(super) n_targets: usize,
    /// Whether a missing input is NaN; else it is an error.
    pub(super) keep_missing: bool,
}

/// A record batch whose columns are numbers or words.
pub(super) struct Batch<'a> {
    reading: Reading<'a>,
    /// Rows of the file before this batch.
    first_row: u64,
    n_rows: usize,
    columns: Vec<Values>,
}

enum Values {
    Numbers(Numbers, ArrayRef),
    Words(Words),
}

impl<'a> Batch<'a> {
    /// `batch` has the columns of the reading's parts, in their order.
    pub(super) fn new(reading: Reading<'a>, first_row: u64, batch: &RecordBatch) -> Result<Self> {
        let mut prepared = Self { reading, first_row, n_rows: batch.num_rows(), columns: Vec::new() };
        for (part, array) in reading.parts.iter().zip(batch.columns()) {
            let values = match part.role {
                PartRole::Words(_) | PartRole::Class => Words::of(array).map(Values::Words),
                _ => prepared.numbers(part, array)?.map(|numbers| Values::Numbers(numbers, ArrayRef::clone(array))),
            };
            prepared.columns.push(values.ok_or_else(|| Error::Malformed {
                file: reading.file.to_owned(),
                format: "column",
                reason: format!("{:?} holds {} here", part.name, array.data_type()),
            })?);
        }
        Ok(prepared)
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Whether all columns are bytes without nulls.
    pub(super) fn holds_bytes(&self) -> bool {
        self.columns.iter().all(|values| matches!(values, Values::Numbers(Numbers::Bytes(_), _)))
    }

    fn numbers(&self, part: &Part, array: &ArrayRef) -> Result<Option<Numbers>> {
        let Some(len) = part.list else { return Ok(Numbers::of(array.as_ref())) };
        lists::numbers(array.as_ref(), len).map_err(|OtherLength { row, got }| {
            let at = Place { name: Some(part.name.clone()), ..*self.place(part, row, 0) };
            Error::ListLength { at: Box::new(at), got, expected: len }
        })
    }

    /// The inputs of `rows`, row by row, and the levels of the categorical ones.
    pub(super) fn inputs<T: Value>(&self, rows: Range<usize>) -> Result<(Array2<T>, Vec<Vec<String>>)> {
        let width = self.reading.n_inputs;
        let mut out = vec![T::zero(); rows.len() * width];
        let mut levels: Vec<(usize, Vec<String>)> = Vec::new();
        for (part, values) in self.parts() {
            if let (PartRole::Words(input), Values::Words(words)) = (part.role, values) {
                let (codes, words) = words.levels(rows.clone());
                let code = |code: Option<usize>| code.map_or(T::nan(), |code| T::from_f64(code as f64));
                scatter(&codes, 1, &mut out, width, input, code);
                levels.push((input, words));
            }
        }
        levels.sort_by_key(|(input, _)| *input);
        let tile = (TILE / width.max(1)).max(1);
        for (i, out) in out.chunks_mut((tile * width).max(1)).enumerate() {
            let start = rows.start + i * tile;
            self.fill_tile(start, out, width, Part::input);
            let keep = self.reading.keep_missing;
            self.check(start, out, width, Part::input, |value| value.is_finite() || keep && value.is_nan())?;
        }
        Ok((matrix(rows.len(), width, out), levels.into_iter().map(|(_, words)| words).collect()))
    }

    /// Inputs that are all bytes.
    pub(super) fn bytes(&self, rows: Range<usize>) -> Result<Array2<u8>> {
        let width = self.reading.n_inputs;
        let mut out = vec![0; rows.len() * width];
        for (part, values) in self.parts() {
            let (PartRole::Numbers(input), Values::Numbers(numbers, _)) = (part.role, values) else { continue };
            let Numbers::Bytes(bytes) = numbers else {
                // Bytes with nulls have become floats with NaN; of one in a later block it is told already here.
                let at = (0..numbers.len()).find(|&i| numbers.get(i).is_nan()).unwrap_or(0);
                let at = self.place(part, at / part.width(), at % part.width());
                return Err(Error::MissingInput { at, value: String::new() });
            };
            let bytes = &bytes[rows.start * part.width()..rows.end * part.width()];
            scatter(bytes, part.width(), &mut out, width, input, |byte| byte);
        }
        Ok(matrix(rows.len(), width, out))
    }

    /// The targets of `rows`, none where the file has none.
    pub(super) fn targets(&self, rows: Range<usize>) -> Result<Option<TargetBlock>> {
        let width = self.reading.n_targets;
        for (part, values) in self.parts() {
            if let (PartRole::Class, Values::Words(words)) = (part.role, values) {
                let words = words.trimmed(rows.clone()).into_iter().enumerate();
                let classes = words.map(|(i, word)| class(word, || self.place(part, rows.start + i, 0)));
                return Ok(Some(TargetBlock::Text(classes.collect::<Result<_>>()?)));
            }
        }
        if width == 0 {
            return Ok(None);
        }
        let mut out = vec![0.0; rows.len() * width];
        self.fill_tile(rows.start, &mut out, width, Part::target);
        self.check(rows.start, &out, width, Part::target, |value: f64| value.is_finite())?;
        if width == 1 {
            self.check_exact(rows.start, &out)?;
        }
        Ok(Some(TargetBlock::Numbers(matrix(rows.len(), width, out))))
    }

    fn parts(&self) -> impl Iterator<Item = (&'a Part, &Values)> {
        self.reading.parts.iter().zip(&self.columns)
    }

    /// Writes the numbers of the rows from `start` on, column by column; `first` tells where in a row.
    fn fill_tile<T: Value>(&self, start: usize, out: &mut [T], width: usize, first: impl Fn(&Part) -> Option<usize>) {
        let n_rows = out.len().checked_div(width).unwrap_or(0);
        for (part, values) in self.parts() {
            let (Some(at), Values::Numbers(numbers, _)) = (first(part), values) else { continue };
            let each = part.width();
            let range = start * each..(start + n_rows) * each;
            match numbers {
                Numbers::Bytes(x) => scatter(&x[range], each, out, width, at, |x| T::from_f64(f64::from(x))),
                Numbers::Float32(x) => scatter(&x[range], each, out, width, at, |x| T::from_f64(f64::from(x))),
                Numbers::Float64(x) => scatter(&x[range], each, out, width, at, T::from_f64),
            }
        }
    }

    /// Refuses the first value that is not good, with its place and why.
    fn check<T: Value>(
        &self,
        start: usize,
        values: &[T],
        width: usize,
        first: impl Fn(&Part) -> Option<usize>,
        good: impl Fn(T) -> bool,
    ) -> Result<()> {
        // Without a branch for each value, so that it is done for several at once.
        if values.iter().fold(true, |all, &value| all & good(value)) {
            return Ok(());
        }
        let Some(bad) = values.iter().position(|&value| !good(value)) else { return Ok(()) };
        let (row, place) = (start + bad / width, bad % width);
        for (part, values) in self.parts() {
            let Some(item) = first(part).and_then(|first| place.checked_sub(first)) else { continue };
            if item < part.width() {
                return Err(self.bad_value(part, values, row, item));
            }
        }
        Ok(())
    }

    /// Refuses the first of the only targets, from row `start` on, that is a whole number and not the float64 it became:
    /// two classes could be one.
    fn check_exact(&self, start: usize, targets: &[f64]) -> Result<()> {
        let Some((part, Values::Numbers(_, array))) = self.parts().find(|(part, _)| part.target().is_some()) else {
            return Ok(());
        };
        for row in (0..targets.len()).filter(|&row| targets[row].abs() >= FIRST_ROUNDED) {
            let row = start + row;
            let exact = match lists::items(array.as_ref(), row) {
                Some(items) => whole(items.as_ref(), 0),
                None => whole(array.as_ref(), row),
            };
            if let Some(exact) = exact.filter(|&exact| is_rounded(exact)) {
                return Err(Error::RoundedTarget { at: self.place(part, row, 0), value: exact });
            }
        }
        Ok(())
    }

    fn bad_value(&self, part: &Part, values: &Values, row: usize, item: usize) -> Error {
        let at = self.place(part, row, item);
        let is_input = part.input().is_some();
        match values {
            Values::Numbers(numbers, array) if !is_null(array.as_ref(), row, item) => {
                let value = numbers.get(row * part.width() + item);
                let remedy = match value {
                    value if value.is_finite() => TOO_BIG,
                    value if value.is_nan() && is_input => IMPUTE,
                    _ => FILL_IN,
                };
                Error::NotFinite { at, value: value.to_string(), remedy }
            }
            _ if is_input => Error::MissingInput { at, value: String::new() },
            _ => Error::Missing { at },
        }
    }

    fn place(&self, part: &Part, row: usize, item: usize) -> Box<Place> {
        let row = self.first_row + row as u64 + 1;
        Box::new(Place { name: Some(part.name_of(item)), ..*Place::row(self.reading.file, row, part.column + 1) })
    }
}

fn is_null(array: &dyn Array, row: usize, item: usize) -> bool {
    let own = array.logical_nulls().is_some_and(|nulls| nulls.is_null(row));
    own || lists::items(array, row).is_some_and(|items| is_null(items.as_ref(), item, 0))
}

impl Part {
    /// The first input it becomes.
    fn input(&self) -> Option<usize> {
        match self.role {
            PartRole::Numbers(input) | PartRole::Words(input) => Some(input),
            _ => None,
        }
    }

    /// The first target it becomes.
    fn target(&self) -> Option<usize> {
        match self.role {
            PartRole::Targets(target) => Some(target),
            _ => None,
        }
    }
}

/// Writes a column, `each` values a row, to place `at` of the rows of `out`.
fn scatter<S: Copy, T>(from: &[S], each: usize, out: &mut [T], width: usize, at: usize, convert: impl Fn(S) -> T) {
    if each == 1 {
        for (out, &value) in out[at..].iter_mut().step_by(width).zip(from) {
            *out = convert(value);
        }
        return;
    }
    for (row, values) in out.chunks_exact_mut(width).zip(from.chunks_exact(each)) {
        for (out, &value) in row[at..].iter_mut().zip(values) {
            *out = convert(value);
        }
    }
}

fn matrix<T>(n_rows: usize, width: usize, values: Vec<T>) -> Array2<T> {
    Array2::from_shape_vec((n_rows, width), values).expect("whole rows")
}
