//! CSV: fields separated by commas, semicolons or tabs, with or without a header, quoted where they must be.
//!
//! Each line is first read straight from the bytes (`plain.rs`); a line with quotes, or one on which that fails, is
//! split with all the rules and either read or refused with the exact place. Cost: one pass over the bytes.
//!
//! An input holds numbers, or words: levels of a category, numbered anew in each block. Blanks around a field are no
//! part of it. A missing value is an empty field, quoted or not, a word for it (NA, null, ?, …) or NaN. There are no
//! comments: a line that begins with `#` is a header (`#id,width`) or data.

mod dialect;
mod fields;
mod levels;
mod plain;
mod reader;
mod records;
mod sample;
mod values;

use mercer::dataset::{BlockReader, Layout, Source, SourceInfo};
use mercer::{Dtype, Result as MercerResult};

use crate::columns::Columns;
use crate::detect::HEAD;
use crate::error::shown;
use crate::input::Origin;
use crate::lines::Lines;
use crate::open::Purpose;
use crate::value::{Value, is_missing_word};
use crate::{CategoricalChoice, Error, Place, ReadOptions, Result};
use dialect::{Sign, detect_delimiter, detect_header, shares_word};
use reader::CsvReader;
use records::Records;
use sample::find_words;

/// A CSV file.
pub(crate) struct CsvSource {
    info: SourceInfo,
    origin: Origin,
    columns: Columns,
    delimiter: u8,
    header: bool,
    /// The line of the first record, for messages on others that differ.
    first_line: u64,
    dtype: Dtype,
    block_rows: usize,
}

impl CsvSource {
    /// Reads the first records to learn delimiter, header and columns.
    pub(crate) fn open(
        path: &str,
        format: String,
        origin: Origin,
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self> {
        let delimiter = find_delimiter(path, &origin, options)?;
        let mut records = Records::new(Lines::new(origin.open(path)?)?, delimiter);
        let no_rows = |found| Error::NoRows { file: path.to_owned(), found };
        let first = next_record(&mut records)?.ok_or_else(|| no_rows("blank lines"))?;
        let first_line = records.number();
        let second = next_record(&mut records)?;
        let header = match options.header {
            Some(header) => header,
            None => match detect_header(&first, second.as_deref()) {
                None => false,
                Some(Sign::Form) if purpose == Purpose::Rows => true,
                Some(_) if purpose == Purpose::Labels && holds_missing(&first) => false,
                Some(_) => !first_recurs(Records::new(Lines::new(origin.open(path)?)?, delimiter))?,
            },
        };
        if header && second.is_none() {
            return Err(no_rows("a header"));
        }
        let names = if header { names(path, first_line, &first)? } else { Vec::new() };
        let holds_words = match options.categorical {
            CategoricalChoice::Auto => {
                let seen: Vec<&[Vec<u8>]> = (!header).then_some(&*first).into_iter().chain(second.as_deref()).collect();
                find_words(first.len(), &seen, &mut records)?
            }
            _ => vec![false; first.len()],
        };
        let columns = Columns::new(path, names, &holds_words, options, purpose)?;
        let info = SourceInfo {
            n_inputs: Some(columns.n_inputs),
            categorical: columns.categorical.clone(),
            missing: options.keep_missing,
            n_bytes: origin.n_bytes(),
            input_names: columns.input_names(),
            target_names: columns.target_names(),
            ..SourceInfo::new(path, format, Layout::Dense)
        };
        let (dtype, block_rows) = (options.dtype.unwrap_or(Dtype::Float64), options.block_rows.max(1));
        Ok(Self { info, origin, columns, delimiter, header, first_line, dtype, block_rows })
    }

    fn reader<T: Value>(&self) -> Result<CsvReader<'_, T>> {
        let lines = Lines::new(self.origin.open(&self.info.name)?)?;
        let mut records = Records::new(lines, self.delimiter);
        if self.header {
            next_record(&mut records)?;
        }
        Ok(CsvReader::new(records, &self.columns, self.info.missing, self.first_line, self.block_rows))
    }
}

impl Source for CsvSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> MercerResult<Box<dyn BlockReader + '_>> {
        Ok(match self.dtype {
            Dtype::Float32 => Box::new(self.reader::<f32>()?),
            Dtype::Float64 => Box::new(self.reader::<f64>()?),
        })
    }
}

fn find_delimiter(path: &str, origin: &Origin, options: &ReadOptions) -> Result<u8> {
    if let Some(delimiter) = options.delimiter {
        return Ok(delimiter);
    }
    let mut input = origin.open(path)?;
    let head = input.peek(HEAD)?;
    Ok(detect_delimiter(head, head.len() < HEAD))
}

fn next_record(records: &mut Records) -> Result<Option<Vec<Vec<u8>>>> {
    if !records.advance()? {
        return Ok(None);
    }
    Ok(Some(records.split()?.iter().map(<[u8]>::to_vec).collect()))
}

/// Whether a field is a word for a missing value, which is no name of a column.
fn holds_missing(fields: &[Vec<u8>]) -> bool {
    fields.iter().any(|field| str::from_utf8(field).is_ok_and(|text| is_missing_word(text.trim())))
}

/// Records looked through for the first one's words.
const RECURRENCE_SAMPLE: usize = 1000;

/// Whether a word of the first record recurs in its column: then it is a value, not a name.
fn first_recurs(mut records: Records) -> Result<bool> {
    let first = next_record(&mut records)?.unwrap_or_default();
    for _ in 0..RECURRENCE_SAMPLE {
        match next_record(&mut records)? {
            Some(record) if shares_word(&first, &record) => return Ok(true),
            Some(_) => {}
            None => break,
        }
    }
    Ok(false)
}

fn names(file: &str, line: u64, fields: &[Vec<u8>]) -> Result<Vec<String>> {
    let name = |(i, field): (usize, &Vec<u8>)| match str::from_utf8(field) {
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => Err(Error::NotUtf8 { at: Place::column(file, line, i + 1, None), value: shown(field) }),
    };
    fields.iter().enumerate().map(name).collect()
}
