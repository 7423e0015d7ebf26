//! A table in memory, which a program gives batch by batch, as rows.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use mercer::dataset::BlockRows;
use ndarray::Array2;

use super::batch::{Batch, Reading};
use super::guard::guarded;
use super::kinds::{Holds, Kind, described};
use super::layout::{Part, PartRole};
use super::{BATCH_VALUES, LONGEST_LIST, lists};
use crate::value::Value;
use crate::{Error, Result};

const ENCODE: &str = "encode it as numbers, or leave it out";

/// The rows of a table, and the names of their inputs.
#[derive(Clone, Debug)]
pub struct TableRows {
    /// One name for each input; a column of lists of k numbers is k inputs, `name[0]` to `name[k-1]`.
    pub names: Vec<String>,
    /// Bytes where all inputs are and none is null; float32 where it holds all types of the columns exactly; else float64.
    /// A null is NaN.
    pub rows: BlockRows,
}

/// The rows of the table that `open` starts to read; `name` stands for it in messages.
///
/// Columns are numbers of any type, or lists of them of one length. All batches are read before the first is converted:
/// of a table in memory they are views, of another source they take its memory beside that of the rows.
///
/// # Errors
///
/// What the reader says, a column that is no number, lists of several lengths, values that are infinite, no room.
pub fn table_rows<R: RecordBatchReader>(
    name: &str,
    open: impl FnOnce() -> std::result::Result<R, ArrowError>,
) -> Result<TableRows> {
    let read = || {
        let reader = open()?;
        Ok((reader.schema(), reader.collect::<std::result::Result<Vec<_>, _>>()?))
    };
    let (schema, batches) = guarded(|| read().map_err(|error: ArrowError| error.to_string()))
        .map_err(|reason| Error::Table { name: name.to_owned(), reason })?;
    let parts = parts(name, &schema, &batches)?;
    let names: Vec<String> = parts.iter().flat_map(|part| (0..part.width()).map(|i| part.name_of(i))).collect();
    let reading = Reading { file: name, parts: &parts, n_inputs: names.len(), n_targets: 0, keep_missing: true };
    let rows = if all_bytes(reading, &batches)? {
        BlockRows::Bytes(collected(reading, batches, |batch| batch.bytes(0..batch.n_rows()))?)
    } else if schema.fields().iter().all(|field| fits_float32(field.data_type())) {
        BlockRows::Dense32(dense(reading, batches)?)
    } else {
        BlockRows::Dense64(dense(reading, batches)?)
    };
    Ok(TableRows { names, rows })
}

/// What is read of each column: all of it.
fn parts(name: &str, schema: &Schema, batches: &[RecordBatch]) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut n_inputs = 0;
    for (column, field) in schema.fields().iter().enumerate() {
        let refused = |found| {
            let column = format!("{:?}", field.name());
            Error::ColumnType { file: name.to_owned(), column, found, remedy: ENCODE }
        };
        let holds = Holds::of(field.data_type()).filter(|holds| holds.kind != Kind::Words);
        let Holds { kind, list } = holds.ok_or_else(|| refused(described(field.data_type())))?;
        let length = list.then(|| list_length(field, column, batches));
        let list = length.map(|length| length.ok_or_else(|| refused("no list with numbers".to_owned()))).transpose()?;
        let role = PartRole::Numbers(n_inputs);
        let part = Part { column, name: field.name().clone(), role, kind, list, nullable: true };
        n_inputs += part.width();
        parts.push(part);
    }
    Ok(parts)
}

/// The length of the lists of a column: the declared one, or that of the first list.
fn list_length(field: &Field, column: usize, batches: &[RecordBatch]) -> Option<usize> {
    let length = match field.data_type() {
        DataType::FixedSizeList(_, length) => usize::try_from(*length).ok(),
        _ => batches.iter().find_map(|batch| lists::first_length(batch.column(column).as_ref())),
    };
    length.filter(|length| (1..=LONGEST_LIST).contains(length))
}

fn all_bytes(reading: Reading<'_>, batches: &[RecordBatch]) -> Result<bool> {
    if reading.parts.is_empty() || reading.parts.iter().any(|part| part.kind != Kind::Byte) {
        return Ok(false);
    }
    for batch in batches {
        if !Batch::new(reading, 0, batch)?.holds_bytes() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether float32 holds every number of a type.
fn fits_float32(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean | DataType::Float16 | DataType::Float32 => true,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16 => true,
        DataType::Dictionary(_, values) => fits_float32(values),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            fits_float32(item.data_type())
        }
        _ => false,
    }
}

fn dense<T: Value>(reading: Reading<'_>, batches: Vec<RecordBatch>) -> Result<Array2<T>> {
    collected(reading, batches, |batch| batch.inputs(0..batch.n_rows()).map(|(rows, _)| rows))
}

/// What `convert` makes of all batches, a piece at a time; each is given back once it is converted.
fn collected<T: Copy>(
    reading: Reading<'_>,
    batches: Vec<RecordBatch>,
    convert: impl Fn(&Batch<'_>) -> Result<Array2<T>>,
) -> Result<Array2<T>> {
    let (width, n_rows) = (reading.n_inputs, batches.iter().map(RecordBatch::num_rows).sum::<usize>());
    let mut values: Vec<T> = Vec::new();
    let bytes = n_rows as u128 * width as u128 * size_of::<T>() as u128;
    if values.try_reserve_exact(n_rows.saturating_mul(width)).is_err() {
        return Err(Error::Room { name: reading.file.to_owned(), n_rows, bytes });
    }
    // A piece of a column of lists would be made of the numbers of all of them.
    let has_lists = reading.parts.iter().any(|part| part.list.is_some());
    let most = if has_lists { usize::MAX } else { (BATCH_VALUES / width.max(1)).max(1) };
    let mut first_row = 0;
    for batch in batches {
        let mut start = 0;
        while start < batch.num_rows() {
            let piece = batch.slice(start, most.min(batch.num_rows() - start));
            let rows = convert(&Batch::new(reading, first_row + start as u64, &piece)?)?;
            values.extend(rows.iter());
            start += piece.num_rows();
        }
        first_row += batch.num_rows() as u64;
    }
    Ok(Array2::from_shape_vec((n_rows, width), values).expect("whole rows"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float32Array, Int16Array, Int32Array, RecordBatchIterator, StringArray, UInt8Array};
    use ndarray::array;

    use super::*;

    /// Of a table of these columns, and of its first row once more.
    fn rows<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<TableRows> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let (schema, first) = (batch.schema(), batch.slice(0, 1));
        table_rows("X", || Ok(RecordBatchIterator::new([Ok(batch), Ok(first)], schema)))
    }

    #[test]
    fn the_narrowest_type_holds_all_columns() {
        let bytes: ArrayRef = Arc::new(UInt8Array::from(vec![1, 255]));
        let short: ArrayRef = Arc::new(Int16Array::from(vec![Some(-7), None]));
        let whole: ArrayRef = Arc::new(Int32Array::from(vec![1 << 30, 3]));
        let floats: ArrayRef = Arc::new(Float32Array::from(vec![0.5, 2.0]));
        let two = rows([("a", Arc::clone(&bytes)), ("b", Arc::clone(&bytes))]).unwrap();
        assert_eq!(two.rows, BlockRows::Bytes(array![[1, 1], [255, 255], [1, 1]]));
        let two = rows([("a", Arc::clone(&bytes)), ("b", Arc::clone(&floats))]).unwrap();
        assert_eq!(two.rows, BlockRows::Dense32(array![[1.0, 0.5], [255.0, 2.0], [1.0, 0.5]]));
        let two = rows([("a", whole), ("b", floats)]).unwrap();
        assert_eq!(
            two.rows,
            BlockRows::Dense64(array![[f64::from(1 << 30), 0.5], [3.0, 2.0], [f64::from(1 << 30), 0.5]])
        );
        let BlockRows::Dense32(one) = rows([("gaps", short)]).unwrap().rows else { panic!("16 bits fit float32") };
        assert!(one[[0, 0]] == -7.0 && one[[1, 0]].is_nan() && one[[2, 0]] == -7.0);
        assert_eq!(two.names, ["a", "b"]);
    }

    #[test]
    fn what_is_no_number_is_named() {
        let text = rows([("colour", Arc::new(StringArray::from(vec!["red"])))]).unwrap_err().to_string();
        assert_eq!(text, r#"X: column "colour" holds words; encode it as numbers, or leave it out"#);
        let text = rows([("a", Arc::new(Float32Array::from(vec![f32::INFINITY])))]).unwrap_err().to_string();
        assert!(text.starts_with(r#"X, row 1, column 1 ("a")"#), "{text}");
    }

    #[test]
    fn a_reader_that_fails_is_an_error() {
        let refused = || Err::<RecordBatchIterator<[_; 0]>, _>(ArrowError::CDataInterface("released".to_owned()));
        assert!(table_rows("X", refused).unwrap_err().to_string().contains("released"));
        let odd = std::iter::from_fn(|| panic!("odd batch"));
        let text =
            table_rows("X", || Ok(RecordBatchIterator::new(odd, Arc::new(Schema::empty())))).unwrap_err().to_string();
        assert_eq!(text, "X gives no table of columns: odd batch");
    }
}
