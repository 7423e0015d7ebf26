//! LIBSVM (`SVMlight`) text: `label index:value index:value … # comment`, indices from 1, ascending.
//!
//! `qid:` entries, blank lines and comments are skipped; values stored as 0 are kept. Cost: one pass over the bytes.

use memchr::memchr;
use mercer::dataset::{Block, BlockReader, CsrMatrix, Layout, Source, SourceInfo, TargetBlock};
use mercer::{Dtype, Result as MercerResult};
use ndarray::Array2;

use crate::error::shown;
use crate::input::Origin;
use crate::lines::Lines;
use crate::number::{parse_digits, parse_prefix};
use crate::value::{Value, parse_number};
use crate::{Error, Place, ReadOptions, Result, TargetChoice};

/// Columns are stored in 31 bits.
const LARGEST_INDEX: u64 = (1 << 31) - 2;

/// A LIBSVM file.
pub(crate) struct LibsvmSource {
    info: SourceInfo,
    origin: Origin,
    dtype: Dtype,
    block_rows: usize,
}

impl LibsvmSource {
    pub(crate) fn open(path: &str, format: String, origin: Origin, options: &ReadOptions) -> Result<Self> {
        let target_names = match options.target {
            TargetChoice::None | TargetChoice::IfPresent { keep: false, .. } => Vec::new(),
            TargetChoice::Columns(_) => return Err(Error::NoTargetColumns { file: path.to_owned(), format }),
            TargetChoice::Auto | TargetChoice::IfPresent { .. } => vec!["label".to_owned()],
        };
        let (n_inputs, n_bytes) = (options.n_inputs, origin.n_bytes());
        let info = SourceInfo { n_inputs, n_bytes, target_names, ..SourceInfo::new(path, format, Layout::Sparse) };
        let dtype = options.dtype.unwrap_or(Dtype::Float64);
        Ok(Self { info, origin, dtype, block_rows: options.block_rows.max(1) })
    }

    fn reader<T: Value>(&self) -> Result<LibsvmReader<T>> {
        Ok(LibsvmReader {
            lines: Lines::new(self.origin.open(&self.info.name)?)?,
            rows: CsrMatrix::new(self.info.n_inputs.unwrap_or(0)),
            labels: Vec::new(),
            keep_labels: !self.info.target_names.is_empty(),
            n_inputs: self.info.n_inputs,
            block_rows: self.block_rows,
            any: false,
        })
    }
}

impl Source for LibsvmSource {
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

struct LibsvmReader<T> {
    lines: Lines,
    rows: CsrMatrix<T>,
    labels: Vec<f64>,
    keep_labels: bool,
    n_inputs: Option<usize>,
    block_rows: usize,
    any: bool,
}

impl<T: Value> BlockReader for LibsvmReader<T> {
    fn next_block(&mut self) -> MercerResult<Option<Block>> {
        while self.rows.n_rows() < self.block_rows && self.lines.advance()? {
            self.parse_line()?;
        }
        if self.rows.n_rows() == 0 {
            let file = self.lines.file().to_owned();
            return if self.any { Ok(None) } else { Err(Error::NoRows { file, found: NO_ROWS }.into()) };
        }
        self.any = true;
        let next = CsrMatrix::new(self.rows.n_columns());
        let rows = std::mem::replace(&mut self.rows, next);
        let n_rows = rows.n_rows();
        let labels = std::mem::take(&mut self.labels);
        let targets = self
            .keep_labels
            .then(|| TargetBlock::Numbers(Array2::from_shape_vec((n_rows, 1), labels).expect("a label for each row")));
        Ok(Some(Block::new(T::sparse(rows), targets)))
    }
}

const NO_ROWS: &str = "comments and blank lines";

impl<T: Value> LibsvmReader<T> {
    fn parse_line(&mut self) -> Result<()> {
        let Self { lines, rows, labels, keep_labels, n_inputs, .. } = self;
        let line = lines.line();
        let line = memchr(b'#', line).map_or(line, |at| &line[..at]).trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let label = first_token(line);
        if *keep_labels {
            labels.push(parse_label(lines, label)?);
        }
        // Without labels wanted, a file that has none reads too: its lines begin with an entry.
        let unlabelled = !*keep_labels && memchr(b':', label).is_some();
        let entries = if unlabelled { line } else { &line[label.len()..] };
        parse_entries(entries, rows, n_inputs.map_or(LARGEST_INDEX, |n| n as u64))
            .map_err(|(entry, previous)| entry_error(lines, entry, previous, *n_inputs))?;
        rows.finish_row();
        Ok(())
    }
}

fn first_token(text: &[u8]) -> &[u8] {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    &text[..end]
}

fn parse_label(lines: &Lines, label: &[u8]) -> Result<f64> {
    let at = || Place::line(lines.file(), lines.number());
    parse_number(label, at).map_err(|error| match error {
        Error::NotANumber { at, value } => Error::Label { at, value },
        other => other,
    })
}

/// Adds the entries to the row being built. The error is the rest of the line from the bad entry on, and the index
/// before it: what is wrong is found out by [`entry_error`], off the fast path.
fn parse_entries<'a, T: Value>(
    mut text: &'a [u8],
    rows: &mut CsrMatrix<T>,
    largest: u64,
) -> std::result::Result<(), (&'a [u8], u64)> {
    let mut previous = 0;
    loop {
        text = text.trim_ascii_start();
        if text.is_empty() {
            return Ok(());
        }
        if text[0] == b'q' && text.starts_with(b"qid:") {
            text = &text[first_token(text).len()..];
            continue;
        }
        let bad = (text, previous);
        let (index, digits) = parse_digits(text, 0, 0);
        let value = text.get(digits + 1..).ok_or(bad)?;
        let (number, len) = parse_prefix::<T>(value).ok_or(bad)?;
        let ends = value.get(len).is_none_or(u8::is_ascii_whitespace);
        if text[digits] != b':' || index <= previous || index > largest || digits > MOST_DIGITS || !ends {
            return Err(bad);
        }
        rows.push(index as usize - 1, number).map_err(|_| bad)?;
        (previous, text) = (index, &value[len..]);
    }
}

/// An index of more digits may have wrapped.
const MOST_DIGITS: usize = 18;

/// The digits `text` begins with: their number, saturated far above any index, and how many they are.
fn parse_index(text: &[u8]) -> (u64, usize) {
    let mut index: u64 = 0;
    for (at, byte) in text.iter().enumerate() {
        if !byte.is_ascii_digit() {
            return (index, at);
        }
        index = index.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
    }
    (index, text.len())
}

/// Why the entry that `text` begins with was refused.
fn entry_error(lines: &Lines, text: &[u8], previous: u64, n_inputs: Option<usize>) -> Error {
    let entry = first_token(text);
    let (index, digits) = parse_index(entry);
    let value = shown(entry);
    let at = Place::line(lines.file(), lines.number());
    if digits == 0 || entry.get(digits) != Some(&b':') {
        return Error::Entry { at, value };
    }
    match n_inputs {
        _ if index == 0 => Error::ZeroIndex { at, value },
        _ if index > LARGEST_INDEX => Error::IndexTooLarge { at, value, limit: LARGEST_INDEX },
        Some(n_inputs) if index > n_inputs as u64 => Error::IndexBeyond { at, value, n_inputs },
        _ if index == previous => Error::IndexTwice { at, index },
        _ if index < previous => Error::IndexDescends { at, index, previous },
        _ => value_error(&entry[digits + 1..], at, value),
    }
}

/// Why the value of an entry is refused; the message shows the whole entry. What f64 refuses, f32 refuses too.
fn value_error(text: &[u8], at: Box<Place>, entry: String) -> Error {
    match parse_number::<f32>(text, || at.clone()) {
        Err(Error::NotFinite { at, remedy, .. }) => Error::NotFinite { at, value: entry, remedy },
        Err(Error::NotANumber { at, .. }) => Error::NotANumber { at, value: entry },
        _ => Error::Entry { at, value: entry },
    }
}
