//! Numbers of any type in three: bytes, float32, float64; a null is NaN.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;

/// The numbers of a column, all of a row together where it holds lists.
#[derive(Clone, Debug)]
pub(super) enum Numbers {
    Bytes(ScalarBuffer<u8>),
    Float32(ScalarBuffer<f32>),
    Float64(ScalarBuffer<f64>),
}

impl Numbers {
    /// The values of an array of numbers; whole numbers beyond 2⁵³ are rounded.
    pub(super) fn of(array: &dyn Array) -> Option<Self> {
        let numbers = match array.data_type() {
            DataType::UInt8 => Self::Bytes(array.as_primitive::<UInt8Type>().values().clone()),
            DataType::Float32 => Self::Float32(array.as_primitive::<Float32Type>().values().clone()),
            DataType::Float64 => Self::Float64(array.as_primitive::<Float64Type>().values().clone()),
            DataType::Dictionary(..) => return looked_up(array),
            _ => Self::Float64(widened(array)?.into()),
        };
        Some(match array.nulls() {
            Some(nulls) if nulls.null_count() > 0 => numbers.without(nulls),
            _ => numbers,
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes(x) => x.len(),
            Self::Float32(x) => x.len(),
            Self::Float64(x) => x.len(),
        }
    }

    pub(super) fn get(&self, i: usize) -> f64 {
        match self {
            Self::Bytes(x) => f64::from(x[i]),
            Self::Float32(x) => f64::from(x[i]),
            Self::Float64(x) => x[i],
        }
    }

    pub(super) fn slice(&self, start: usize, len: usize) -> Self {
        match self {
            Self::Bytes(x) => Self::Bytes(x.slice(start, len)),
            Self::Float32(x) => Self::Float32(x.slice(start, len)),
            Self::Float64(x) => Self::Float64(x.slice(start, len)),
        }
    }

    /// NaN in place of nulls.
    fn without(self, nulls: &NullBuffer) -> Self {
        let gap = |(value, valid)| if valid { value } else { f64::NAN };
        match self {
            Self::Float32(x) => {
                let gap = |(&value, valid)| if valid { value } else { f32::NAN };
                Self::Float32(x.iter().zip(nulls).map(gap).collect())
            }
            Self::Float64(x) => Self::Float64(x.iter().copied().zip(nulls).map(gap).collect()),
            Self::Bytes(x) => Self::Float64(x.iter().map(|&byte| f64::from(byte)).zip(nulls).map(gap).collect()),
        }
    }

    /// Rows of `len` values each, NaN where a row is null; `ends` of each row in `self`.
    pub(super) fn with_null_rows(&self, len: usize, ends: &[usize], nulls: &NullBuffer) -> Self {
        let row = |(&end, valid): (&usize, bool)| {
            let values = if valid { end - len..end } else { 0..0 };
            let gaps = if valid { 0 } else { len };
            values.map(|i| self.get(i)).chain(std::iter::repeat_n(f64::NAN, gaps))
        };
        let values = ends.iter().zip(nulls).flat_map(row);
        match self {
            Self::Float32(_) => Self::Float32(values.map(|value| value as f32).collect()),
            _ => Self::Float64(values.collect()),
        }
    }
}

/// The values that the keys of a dictionary stand for.
fn looked_up(array: &dyn Array) -> Option<Numbers> {
    let dictionary = array.as_any_dictionary();
    let values = Numbers::of(dictionary.values().as_ref())?;
    if values.len() == 0 {
        return Some(Numbers::Float64(vec![f64::NAN; array.len()].into()));
    }
    let keys = dictionary.normalized_keys();
    let value = |(row, &key): (usize, &usize)| if array.is_null(row) { f64::NAN } else { values.get(key) };
    let found = keys.iter().enumerate().map(value);
    Some(match values {
        Numbers::Float32(_) => Numbers::Float32(found.map(|value| value as f32).collect()),
        _ => Numbers::Float64(found.collect()),
    })
}

fn widened(array: &dyn Array) -> Option<Vec<f64>> {
    Some(match array.data_type() {
        DataType::Boolean => array.as_boolean().values().iter().map(|bit| f64::from(u8::from(bit))).collect(),
        DataType::Int8 => converted::<Int8Type>(array, f64::from),
        DataType::Int16 => converted::<Int16Type>(array, f64::from),
        DataType::Int32 => converted::<Int32Type>(array, f64::from),
        DataType::Int64 => converted::<Int64Type>(array, |x| x as f64),
        DataType::UInt16 => converted::<UInt16Type>(array, f64::from),
        DataType::UInt32 => converted::<UInt32Type>(array, f64::from),
        DataType::UInt64 => converted::<UInt64Type>(array, |x| x as f64),
        DataType::Float16 => converted::<Float16Type>(array, f64::from),
        DataType::Decimal32(_, scale) => converted::<Decimal32Type>(array, |x| decimal(i128::from(x), *scale)),
        DataType::Decimal64(_, scale) => converted::<Decimal64Type>(array, |x| decimal(i128::from(x), *scale)),
        DataType::Decimal128(_, scale) => converted::<Decimal128Type>(array, |x| decimal(x, *scale)),
        _ => return None,
    })
}

fn converted<A: ArrowPrimitiveType>(array: &dyn Array, to_f64: impl Fn(A::Native) -> f64) -> Vec<f64> {
    array.as_primitive::<A>().values().iter().map(|&x| to_f64(x)).collect()
}

/// `digits` with the point `scale` places from the right. A power of ten up to 10²² is a float64, so the quotient of
/// up to 2⁵³ is the one nearest to the decimal.
fn decimal(digits: i128, scale: i8) -> f64 {
    let power = 10f64.powi(i32::from(scale).abs());
    if scale < 0 { digits as f64 * power } else { digits as f64 / power }
}

/// A column of numbers as words: what categories may be stored as. NaN is none.
pub(super) fn in_words(array: &dyn Array) -> Option<Vec<Option<String>>> {
    Some(match array.data_type() {
        DataType::Boolean => array.as_boolean().values().iter().map(|flag| Some(flag.to_string())).collect(),
        DataType::Int64 => array.as_primitive::<Int64Type>().values().iter().map(|x| Some(x.to_string())).collect(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().values().iter().map(|x| Some(x.to_string())).collect(),
        _ => {
            let numbers = Numbers::of(array)?;
            let word = |number: f64| (!number.is_nan()).then(|| number.to_string());
            (0..numbers.len()).map(|i| word(numbers.get(i))).collect()
        }
    })
}

/// The whole number that a row holds exactly, of a column whose numbers float64 may round.
pub(super) fn whole(array: &dyn Array, row: usize) -> Option<i128> {
    match array.data_type() {
        DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row).into()),
        DataType::UInt64 => Some(array.as_primitive::<UInt64Type>().value(row).into()),
        DataType::Decimal64(_, 0) => Some(array.as_primitive::<Decimal64Type>().value(row).into()),
        DataType::Decimal128(_, 0) => Some(array.as_primitive::<Decimal128Type>().value(row)),
        DataType::Dictionary(..) => {
            let one = array.slice(row, 1);
            let dictionary = one.as_any_dictionary();
            whole(dictionary.values().as_ref(), *dictionary.normalized_keys().first()?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Decimal128Array, DictionaryArray, Float64Array, Int8Array, UInt64Array};

    use super::*;

    #[test]
    fn whole_numbers_are_exact() {
        let numbers = UInt64Array::from(vec![7, u64::MAX]);
        assert_eq!(whole(&numbers, 1), Some(i128::from(u64::MAX)));
        let coded = DictionaryArray::new(Int8Array::from(vec![0, 1, 0]), std::sync::Arc::new(numbers));
        assert_eq!([0, 1, 2].map(|row| whole(&coded, row)), [7, i128::from(u64::MAX), 7].map(Some));
        let decimals = Decimal128Array::from(vec![1 << 60]).with_precision_and_scale(20, 0).unwrap();
        assert_eq!(whole(&decimals, 0), Some(1 << 60));
        assert_eq!(whole(&decimals.with_precision_and_scale(20, 1).unwrap(), 0), None);
        assert_eq!(whole(&Float64Array::from(vec![1.0]), 0), None);
    }

    #[test]
    fn decimals_are_the_nearest_floats() {
        assert_eq!(decimal(12_345, 2), 123.45);
        assert_eq!(decimal(-1, 22), -1e-22);
        assert_eq!(decimal(7, -3), 7000.0);
    }
}
