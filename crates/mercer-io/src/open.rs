//! Opening a file of any format.

use std::path::Path;

use mercer::dataset::Source;

use crate::array::{ArrayHeader, ArraySource};
use crate::csv::CsvSource;
use crate::detect::{HEAD, detect};
use crate::input::Origin;
use crate::libsvm::LibsvmSource;
use crate::{Error, Format, ReadOptions, Result, TargetChoice, idx, npy, npz};

/// What the columns of a file are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Inputs, perhaps with targets among them.
    Rows,
    /// Targets only.
    Labels,
}

/// Opens a file of rows: `path`, or `archive.npz::name` for an array in an archive.
///
/// # Errors
/// When there is no such file, its format is unknown, or its beginning is malformed or does not fit the options.
pub fn open(path: &str, options: &ReadOptions) -> Result<Box<dyn Source>> {
    open_for(Purpose::Rows, path, options)
}

pub(crate) fn open_for(purpose: Purpose, path: &str, options: &ReadOptions) -> Result<Box<dyn Source>> {
    let (file, array) = split_array_name(path);
    let origin = Origin::File(file.to_owned());
    let mut input = origin.open(path)?;
    let gzip = input.is_gzip();
    let found = detect(file, input.peek(HEAD)?);
    let format = options.format.map_or(found, Ok)?;
    if let (Some(array), false) = (array, format == Format::Npz) {
        let array = array.to_owned();
        return Err(Error::NoNamedArrays { file: file.to_owned(), format: format.name().to_owned(), array });
    }
    let name = format_name(format, gzip);
    match format {
        Format::Libsvm => Ok(Box::new(LibsvmSource::open(path, name, origin, options)?)),
        Format::Csv => Ok(Box::new(CsvSource::open(path, name, origin, options, purpose)?)),
        Format::Npy => open_array(path, name, origin, npy::read_header(&mut input)?, options),
        Format::Idx => open_array(path, name, origin, idx::read_header(&mut input)?, options),
        Format::Npz => {
            let (array, entry) = npz::find(path, file, array, gzip)?;
            let origin = Origin::Entry(entry);
            let header = npy::read_header(&mut origin.open(path)?)?;
            open_array(path, format!("{name} array {array}"), origin, header, options)
        }
        Format::Parquet | Format::Arrow if gzip => {
            Err(Error::PackedTable { file: path.to_owned(), format: format.name() })
        }
        #[cfg(feature = "arrow")]
        Format::Parquet | Format::Arrow => {
            Ok(Box::new(crate::arrow::ArrowSource::open(path, format, origin, options, purpose)?))
        }
        #[cfg(not(feature = "arrow"))]
        Format::Parquet | Format::Arrow => Err(Error::LeftOut { file: path.to_owned(), format: format.name() }),
    }
}

fn open_array(
    path: &str,
    format: String,
    origin: Origin,
    header: ArrayHeader,
    options: &ReadOptions,
) -> Result<Box<dyn Source>> {
    if matches!(options.target, TargetChoice::Columns(_)) {
        return Err(Error::NoTargetColumns { file: path.to_owned(), format });
    }
    Ok(Box::new(ArraySource::new(path, format, origin, header, options)))
}

/// The file and the array of `archive.npz::name`; a file whose own name has `::` stays whole.
fn split_array_name(path: &str) -> (&str, Option<&str>) {
    match path.rsplit_once("::") {
        Some((file, array)) if !Path::new(path).exists() => (file, Some(array)),
        _ => (path, None),
    }
}

fn format_name(format: Format, gzip: bool) -> String {
    format!("{}{}", format.name(), if gzip { ", gzip" } else { "" })
}
