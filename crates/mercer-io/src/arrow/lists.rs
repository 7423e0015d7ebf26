//! Columns of lists: an embedding of k numbers is k inputs.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait};
use arrow_schema::DataType;

use super::numbers::Numbers;

/// A row whose list has another length than asked for.
pub(super) struct OtherLength {
    pub(super) row: usize,
    pub(super) got: usize,
}

/// The length of the first list that is not null.
pub(super) fn first_length(array: &dyn Array) -> Option<usize> {
    let row = (0..array.len()).find(|&row| array.is_valid(row))?;
    items(array, row).map(|items| items.len())
}

/// The numbers of lists of `len` each, one list after the other; a null list is `len` NaN.
pub(super) fn numbers(array: &dyn Array, len: usize) -> Result<Option<Numbers>, OtherLength> {
    match array.data_type() {
        DataType::List(_) => of_list(array.as_list::<i32>(), len),
        DataType::LargeList(_) => of_list(array.as_list::<i64>(), len),
        DataType::FixedSizeList(..) => {
            let ends: Vec<usize> = (1..=array.len()).map(|row| row * len).collect();
            let lists = array.as_fixed_size_list();
            if usize::try_from(lists.value_length()) != Ok(len) {
                return Err(OtherLength { row: 0, got: lists.value_length().unsigned_abs() as usize });
            }
            Ok(Numbers::of(lists.values().as_ref()).map(|values| with_null_rows(array, values, len, &ends)))
        }
        _ => Ok(None),
    }
}

fn of_list<O: OffsetSizeTrait>(lists: &GenericListArray<O>, len: usize) -> Result<Option<Numbers>, OtherLength> {
    let offsets = lists.value_offsets();
    for (row, ends) in offsets.windows(2).enumerate() {
        let got = ends[1].as_usize() - ends[0].as_usize();
        if got != len && lists.is_valid(row) {
            return Err(OtherLength { row, got });
        }
    }
    let Some(values) = Numbers::of(lists.values().as_ref()) else { return Ok(None) };
    if lists.null_count() > 0 {
        let ends: Vec<usize> = offsets[1..].iter().map(|end| end.as_usize()).collect();
        return Ok(Some(with_null_rows(lists, values, len, &ends)));
    }
    let start = offsets.first().map_or(0, |start| start.as_usize());
    Ok(Some(values.slice(start, lists.len() * len)))
}

fn with_null_rows(lists: &dyn Array, values: Numbers, len: usize, ends: &[usize]) -> Numbers {
    match lists.nulls() {
        Some(nulls) if nulls.null_count() > 0 => values.with_null_rows(len, ends, nulls),
        _ => values,
    }
}

/// The items of a row's list; none of other columns.
pub(super) fn items(array: &dyn Array, row: usize) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::List(_) => Some(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Some(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => Some(array.as_fixed_size_list().value(row)),
        _ => None,
    }
}
