//! Opening a file of any format.

use std::sync::Arc;

use mercer::dataset::Source;

use crate::array::{ArrayHeader, ArraySource};
use crate::csv::CsvSource;
use crate::detect::{HEAD, detect};
use crate::input::{Origin, Packing};
use crate::libsvm::LibsvmSource;
use crate::locate::Located;
use crate::parts::open_parts;
use crate::{Error, Format, ReadOptions, Result, TargetChoice, idx, list_files, npy, npz};

/// What the columns of a file are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Inputs, perhaps with targets among them.
    Rows,
    /// Targets only.
    Labels,
}

/// Opens a file of rows: `path`, `-` for standard input, or `archive.npz::name` for an array in an archive; or several
/// files by a pattern such as `part-*.csv`, as [`open_many`] does.
///
/// Standard input, pipes and devices are first read to their end into a temporary file of at most
/// [`ReadOptions::spool_bytes`], since rows are read more than once.
///
/// # Errors
/// When there is no such file, its format is unknown, or its beginning is malformed or does not fit the options; when
/// standard input is opened a second time.
pub fn open(path: &str, options: &ReadOptions) -> Result<Box<dyn Source>> {
    open_many(&[path], options)
}

/// Opens files of the same columns, which are read one after the other as one. Each of `paths` is what [`open`] takes;
/// [`list_files`] tells the files and their order.
///
/// The first file decides what the columns are. Columns with names may be in another order in the others; formats and
/// packings may differ where the layout is the same; LIBSVM rows may be wider.
///
/// # Errors
/// As [`open`] for each file; when a pattern matches nothing; when a file has other columns than the first.
pub fn open_many(paths: &[impl AsRef<str>], options: &ReadOptions) -> Result<Box<dyn Source>> {
    open_for(Purpose::Rows, &list_files(paths)?, options)
}

/// Opens rows that are in memory, as [`open`] opens those of a file of this content. `name` is for messages; `::array`
/// at its end chooses an array of an archive, and its extension counts where that of a file would.
///
/// # Errors
/// As [`open`].
pub fn open_bytes(name: &str, bytes: impl Into<Arc<[u8]>>, options: &ReadOptions) -> Result<Box<dyn Source>> {
    open_located(Purpose::Rows, &Located::memory(name, bytes.into()), options)
}

/// Opens files that were listed.
pub(crate) fn open_for(purpose: Purpose, files: &[String], options: &ReadOptions) -> Result<Box<dyn Source>> {
    let locate = |file: &String| Located::path(file, options.spool_bytes);
    open_parts(purpose, &files.iter().map(locate).collect::<Result<Vec<_>>>()?, options)
}

pub(crate) fn open_located(purpose: Purpose, located: &Located, options: &ReadOptions) -> Result<Box<dyn Source>> {
    let Located { name, file, array, .. } = located;
    let origin = located.origin.clone();
    let mut input = origin.open(name)?;
    let packing = input.packing();
    let found = detect(file, input.peek(HEAD)?);
    let format = options.format.map_or(found, Ok)?;
    if let (Some(array), false) = (array, format == Format::Npz) {
        let (file, array) = (file.clone(), array.clone());
        return Err(Error::NoNamedArrays { file, format: format.name().to_owned(), array });
    }
    let shown = format_name(format, packing);
    match format {
        Format::Libsvm => Ok(Box::new(LibsvmSource::open(name, shown, origin, options)?)),
        Format::Csv => Ok(Box::new(CsvSource::open(name, shown, origin, options, purpose)?)),
        Format::Npy => open_array(name, shown, origin, npy::read_header(&mut input)?, options, purpose),
        Format::Idx => open_array(name, shown, origin, idx::read_header(&mut input)?, options, purpose),
        Format::Npz => {
            let (array, entry) = npz::find(located, options.spool_bytes)?;
            let origin = Origin::Entry(entry);
            let header = npy::read_header(&mut origin.open(name)?)?;
            open_array(name, format!("{shown} array {array}"), origin, header, options, purpose)
        }
        Format::Parquet | Format::Arrow if packing != Packing::None => {
            Err(Error::PackedTable { file: name.clone(), format: format.name() })
        }
        #[cfg(feature = "arrow")]
        Format::Parquet | Format::Arrow => {
            Ok(Box::new(crate::arrow::ArrowSource::open(name, format, origin, options, purpose)?))
        }
        #[cfg(not(feature = "arrow"))]
        Format::Parquet | Format::Arrow => Err(Error::LeftOut { file: name.clone(), format: format.name() }),
    }
}

fn open_array(
    path: &str,
    format: String,
    origin: Origin,
    header: ArrayHeader,
    options: &ReadOptions,
    purpose: Purpose,
) -> Result<Box<dyn Source>> {
    if matches!(options.target, TargetChoice::Columns(_)) {
        return Err(Error::NoTargetColumns { file: path.to_owned(), format });
    }
    Ok(Box::new(ArraySource::new(path, format, origin, header, options, purpose)))
}

fn format_name(format: Format, packing: Packing) -> String {
    packing.name().map_or_else(|| format.name().to_owned(), |packing| format!("{}, {packing}", format.name()))
}
