//! What can be wrong with a file.

use thiserror::Error;

use crate::Place;
use crate::locate::STANDARD_INPUT;

/// The result of opening and reading files.
pub type Result<T> = std::result::Result<T, Error>;

/// Each variant is one rejection; its text names the file, the place, what was found and the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are what the message shows, under the same names")]
pub enum Error {
    /// The path leads nowhere.
    #[error("{file}: no such file; check the path")]
    NotFound { file: String },

    /// The path leads to a directory.
    #[error("{file} is a directory; give the path of a file in it")]
    Directory { file: String },

    /// A list of files is empty.
    #[error("no file is given; give the path of one")]
    NoFiles,

    /// A pattern matches nothing.
    #[error("{pattern} matches no file; check the folder and the pattern")]
    NoMatch { pattern: String },

    /// One of several files is another table than the first.
    #[error("{file} does not fit {first}, which is read before it: {what}; give files with the same columns")]
    PartDiffers { file: String, first: String, what: String },

    /// `-` was given twice.
    #[error("standard input (-) is given twice, and it can be read but once; save one of the two to a file")]
    StandardInputTwice,

    /// What can be read but once is too long to be kept.
    #[error(
        "{file} has more than {}, the most that is kept in a temporary file; save it to a file and give that", size(*.limit)
    )]
    SpoolLimit { file: String, limit: u64 },

    /// What can be read but once cannot be kept.
    #[error("cannot keep {file} in a temporary file: {source}; set TMPDIR to a folder with more space")]
    Spool { file: String, source: std::io::Error },

    /// The operating system failed.
    #[error("cannot read {file}: {source}")]
    Io { file: String, source: std::io::Error },

    /// There is not one byte.
    #[error("{file} is empty; expected rows in LIBSVM, CSV, Parquet, Arrow, NPY, NPZ or IDX format")]
    Empty { file: String },

    /// There are bytes but no row.
    #[error("{file} has {found} but no rows; add at least one row of data")]
    NoRows { file: String, found: &'static str },

    /// No format begins like this.
    #[error(
        "{file} begins with {start}, which is {looks}; expected LIBSVM, CSV, NPY, NPZ or IDX, plain or packed by gzip, xz, zstd or bzip2, or Parquet or Arrow"
    )]
    UnknownFormat { file: String, start: String, looks: &'static str },

    /// The format that was asked for begins otherwise.
    #[error("{file} is no {format} file: it begins with {start}; leave the format out to have it detected")]
    WrongMagic { file: String, format: &'static str, start: String },

    /// The packed data ends early.
    #[error("{file}: the {packing} data ends early; the file was cut off, copy or download it again")]
    PackedTruncated { file: String, packing: &'static str },

    /// The packed data is damaged.
    #[error("{file}: the {packing} data is corrupt ({reason}); copy or download the file again")]
    PackedCorrupt { file: String, packing: &'static str, reason: String },

    /// The packed data declares more than a decoder may keep in memory.
    #[error("{file}: the {packing} data needs more than {limit} MiB of memory to unpack; unpack it to a file first")]
    PackedTooLarge { file: String, packing: &'static str, limit: u32 },

    /// Few packed bytes unpack to far more than rows would.
    #[error(
        "{file}: the {packing} data unpacks to thousands of times its size; unpack it to a file first if it is to be trusted"
    )]
    PackedExpands { file: String, packing: &'static str },

    /// A row has another number of fields than the first.
    #[error("{at} has {got} fields, expected {expected} as in line {first_line}; {remedy}")]
    Ragged { at: Box<Place>, got: usize, expected: usize, first_line: u64, remedy: &'static str },

    /// A value is not a number.
    #[error("{at}: {value:?} is not a number; write numbers like 1.5 or -2e3{}", hint(.value))]
    NotANumber { at: Box<Place>, value: String },

    /// A value is NaN or infinite.
    #[error("{at}: {value} is not a finite number; {remedy}")]
    NotFinite { at: Box<Place>, value: String, remedy: &'static str },

    /// An input is a word where numbers are expected.
    #[error("{at}: {value:?} is not a number; write numbers like 1.5 or -2e3{}", words_hint(.at, .value))]
    Word { at: Box<Place>, value: String },

    /// An input is missing.
    #[error("{at}: the value is missing{}; fill it in, remove the row, or train with --impute mean|median|most-frequent", written(.value))]
    MissingInput { at: Box<Place>, value: String },

    /// A field is empty.
    #[error("{at}: the value is missing; fill it in or remove the row or the column")]
    Missing { at: Box<Place> },

    /// A target is a word for a missing value.
    #[error("{at}: {value:?} stands for a missing value; fill it in, remove the row, or rename the class")]
    MissingWord { at: Box<Place>, value: String },

    /// A target is a whole number that float64 has not, so that two classes could become one.
    #[error(
        "{at}: the target {value} is {} as float64; number or name the classes otherwise, or save a quantity as float64",
        *.value as f64
    )]
    RoundedTarget { at: Box<Place>, value: i128 },

    /// Text that is kept (a name, a class) is not UTF-8.
    #[error("{at}: {value:?} is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 { at: Box<Place>, value: String },

    /// A quoted field never ends.
    #[error("{at}: a quote (\") opens here and is never closed; close it, or double it inside a quoted field")]
    UnclosedQuote { at: Box<Place> },

    /// A line or record is absurdly long.
    #[error("{at} is longer than {limit} bytes; is the file text with line ends?")]
    LineTooLong { at: Box<Place>, limit: usize },

    /// Lines end in CR alone.
    #[error("{at} holds a lone CR (\\r); save the file with LF or CRLF line ends")]
    LoneCr { at: Box<Place> },

    /// A record has absurdly many fields.
    #[error("{at} has more than {limit} fields; write data that wide in LIBSVM or NPY format")]
    TooManyFields { at: Box<Place>, limit: usize },

    /// A LIBSVM label is not one number.
    #[error("{at}: the label {value:?} is not a number; LIBSVM labels are numbers, number the classes")]
    Label { at: Box<Place>, value: String },

    /// A LIBSVM entry is not `index:value`.
    #[error("{at}: {value:?} is not index:value; write entries like 3:0.5, separated by spaces")]
    Entry { at: Box<Place>, value: String },

    /// A LIBSVM index is 0.
    #[error("{at}: {value:?} has index 0; LIBSVM indices start at 1, add 1 to every index of the file")]
    ZeroIndex { at: Box<Place>, value: String },

    /// A LIBSVM index is absurd.
    #[error("{at}: the index of {value:?} is above {limit}; is it an identifier? number the inputs from 1")]
    IndexTooLarge { at: Box<Place>, value: String, limit: u64 },

    /// A LIBSVM index is beyond the declared width.
    #[error("{at}: {value:?} has an index beyond the {n_inputs} inputs expected; remove it or read more inputs")]
    IndexBeyond { at: Box<Place>, value: String, n_inputs: usize },

    /// A LIBSVM index occurs twice in a row.
    #[error("{at}: index {index} occurs twice; keep one entry or add them up")]
    IndexTwice { at: Box<Place>, index: u64 },

    /// The LIBSVM indices of a row descend.
    #[error("{at}: index {index} comes after {previous}; sort the entries of each line by index")]
    IndexDescends { at: Box<Place>, index: u64, previous: u64 },

    /// A column that was asked for is not there.
    #[error("{file} has no column {wanted}; {}", available(.columns, *.n_columns))]
    NoColumn { file: String, wanted: String, columns: Vec<String>, n_columns: usize },

    /// A name fits several columns.
    #[error("{file}: {wanted} fits {} columns ({}); choose the target column by its number", .columns.len(), .columns.join(", "))]
    AmbiguousColumn { file: String, wanted: String, columns: Vec<String> },

    /// A column is chosen twice.
    #[error("{file}: column {column} is chosen twice; a column is one input or one target")]
    ColumnTwice { file: String, column: String },

    /// There are more columns than inputs, and nothing tells which are the inputs.
    #[error(
        "{file} has {n_columns} columns, the model was trained on {n_inputs} inputs, and nothing tells which columns they are; {remedy}"
    )]
    ExtraColumns { file: String, n_columns: usize, n_inputs: usize, remedy: &'static str },

    /// All columns are targets.
    #[error("{file} has {n_columns} column(s), all of them targets; nothing is left for the inputs")]
    NoInputs { file: String, n_columns: usize },

    /// Target columns were chosen in a format without them.
    #[error("{file} is {format}, where no column can be chosen as target; give the targets in a file of their own")]
    NoTargetColumns { file: String, format: String },

    /// The header of an array is malformed.
    #[error("{file}: the {format} header is malformed ({reason}); write the file again")]
    ArrayHeader { file: String, format: &'static str, reason: String },

    /// The elements of an array are no real numbers.
    #[error("{file} holds elements of type {found}; convert to a numeric type such as float32 before saving")]
    ElementType { file: String, found: String },

    /// The declared shape cannot be.
    #[error("{file} declares the shape {shape}, more than memory can address; the header is corrupt")]
    TooLarge { file: String, shape: String },

    /// An array ends before its declared size.
    #[error("{file} declares {declared} rows but ends in row {found}; the file was cut off, copy or write it again")]
    ArrayTruncated { file: String, declared: u64, found: u64 },

    /// Bytes follow the last declared row.
    #[error("{file} has bytes after the {declared} rows it declares; the header or the data is wrong, write it again")]
    TrailingBytes { file: String, declared: u64 },

    /// An NPZ archive lacks the array.
    #[error("{file} has no array {wanted:?}; it has {}", .names.join(", "))]
    NoArray { file: String, wanted: String, names: Vec<String> },

    /// An NPZ archive has several arrays.
    #[error("{file} has the arrays {}; choose one as {}::{}", .names.join(", "), given(.file), .names.first().map_or("name", |x| x))]
    ChooseArray { file: String, names: Vec<String> },

    /// `::name` was given for a file without named arrays.
    #[error("{file} is {format}, and only NPZ archives have named arrays; leave out ::{array}")]
    NoNamedArrays { file: String, format: String, array: String },

    /// The archive is damaged or uses what NumPy never writes.
    #[error("{file}: the NPZ archive cannot be read ({reason}); write it again with numpy.savez")]
    Archive { file: String, reason: String },

    /// A Parquet or Arrow file within a packed one.
    #[error("{file} is {format}, packed as a whole; unpack it, {format} files are compressed within")]
    PackedTable { file: String, format: &'static str },

    /// A format that the build has not.
    #[error("{file} is {format}, which this build leaves out; build with the feature \"arrow\", or save it as CSV")]
    LeftOut { file: String, format: &'static str },

    /// A Parquet or Arrow file is damaged.
    #[error("{file}: the {format} data is malformed ({reason}); copy, download or write the file again")]
    Malformed { file: String, format: &'static str, reason: String },

    /// A program gives no table, or breaks off.
    #[error("{name} gives no table of columns: {reason}")]
    Table { name: String, reason: String },

    /// More rows than memory holds.
    #[error("{name} has {n_rows} rows, which take {bytes} bytes, more than the system gives; take fewer at a time")]
    Room { name: String, n_rows: usize, bytes: u128 },

    /// A column cannot be what it is to be.
    #[error("{file}: column {column} holds {found}; {remedy}")]
    ColumnType { file: String, column: String, found: String, remedy: &'static str },

    /// A list of numbers is longer or shorter than the first one.
    #[error("{at} holds a list of {got} numbers, expected {expected} as in the first row; make all lists equally long")]
    ListLength { at: Box<Place>, got: usize, expected: usize },

    /// Some inputs of a list column are asked for, or in another order.
    #[error(
        "{file}: column {column} holds lists of {len} numbers and is taken as a whole, in order; {asked} are asked for"
    )]
    ListPart { file: String, column: String, len: usize, asked: usize },

    /// A label file with several columns, none chosen.
    #[error("{file} has {n_columns} columns, but a label file has one; choose the target column by name or number")]
    LabelColumns { file: String, n_columns: usize },

    /// Rows and labels do not pair up.
    #[error("{rows_file} has {n_rows} rows but {labels_file} has {n_labels} labels; each row needs one label{}", header_hint(*.n_rows, *.n_labels))]
    Lengths { rows_file: String, n_rows: u64, labels_file: String, n_labels: u64 },

    /// No format is known by this extension.
    #[error(
        "{file}: its extension names no format that is written: {}; text and NPY also with .gz, .xz, .zst or .bz2",
        crate::write::WRITTEN
    )]
    WriteFormat { file: String },

    /// The format has no place for something.
    #[error("{file}: {format} cannot hold {what}; {remedy}")]
    CannotHold { file: String, format: &'static str, what: String, remedy: &'static str },

    /// More columns than a table of columns should have.
    #[error("{file}: {n_columns} columns are more than the {limit} that are written as a table; {remedy}")]
    TooManyColumns { file: String, n_columns: usize, limit: usize, remedy: &'static str },

    /// A file cannot be written.
    #[error("cannot write {file}: {source}; check the folder and its permissions")]
    Write { file: String, source: std::io::Error },

    /// A model file cannot be used.
    #[error("{file} is no usable model: {reason}; train it again or check the path")]
    Model { file: String, reason: String },

    /// Rows do not fit the model.
    #[error("{file} {reason}; use data with the same columns")]
    Data { file: String, reason: String },
}

impl From<Error> for mercer::Error {
    fn from(error: Error) -> Self {
        Self::Source(Box::new(error))
    }
}

/// The first bytes of a file, for messages.
pub(crate) fn preview(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes[..bytes.len().min(16)].escape_ascii())
}

/// A value as text, cut to a length that fits a message.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// What a user writes for a file.
fn given(file: &str) -> &str {
    if file == STANDARD_INPUT { "-" } else { file }
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) {
        format!("{} GiB", bytes >> 30)
    } else {
        format!("{bytes} bytes")
    }
}

fn hint(value: &str) -> &'static str {
    if value.contains(',') {
        ", with a decimal point"
    } else if value.split_ascii_whitespace().count() > 1 {
        ", separated by commas, semicolons or tabs"
    } else {
        ""
    }
}

/// What to do about a word, with the column as it is chosen: by its name, or by its number where that is no name.
fn words_hint(at: &Place, value: &str) -> String {
    let column = match &at.name {
        Some(name) if name.is_empty() || name.parse::<i64>().is_ok() => None,
        Some(name) if name.contains(char::is_whitespace) => Some(format!("{name:?}")),
        name => name.clone(),
    };
    let column = column.unwrap_or_else(|| at.column.unwrap_or_default().to_string());
    let hint = hint(value);
    format!("{hint}, or take the column as words with --categorical {column} or leave it out with --drop {column}")
}

fn written(value: &str) -> String {
    if value.is_empty() { String::new() } else { format!(" ({value:?})") }
}

fn available(columns: &[String], n_columns: usize) -> String {
    match columns {
        [] => format!("it has no header and {n_columns} columns, choose one by number from 1 to {n_columns}"),
        _ => format!("it has {}", columns.join(", ")),
    }
}

fn header_hint(n_rows: u64, n_labels: u64) -> &'static str {
    if n_rows.abs_diff(n_labels) == 1 { ", and a header only where it is meant" } else { "" }
}
