//! What the columns of a schema hold.

use arrow_schema::DataType;

/// What a value is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// 0 to 255, which stays a byte where all inputs are.
    Byte,
    /// A number that float32 holds exactly.
    Float32,
    /// Any other number.
    Number,
    /// Text.
    Words,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holds {
    pub(super) kind: Kind,
    /// Whether a value is a list of them.
    pub(super) list: bool,
}

impl Holds {
    /// None for what is neither number nor text: dates, structs, binary data, ….
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                let kind = scalar(item.data_type()).filter(|&kind| kind != Kind::Words)?;
                Some(Self { kind, list: true })
            }
            other => scalar(other).map(|kind| Self { kind, list: false }),
        }
    }
}

fn scalar(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::UInt8 => Some(Kind::Byte),
        DataType::Float16 | DataType::Float32 => Some(Kind::Float32),
        DataType::Float64 | DataType::Boolean | DataType::Int8 | DataType::Int16 | DataType::Int32 => {
            Some(Kind::Number)
        }
        DataType::Int64 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(Kind::Number),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => Some(Kind::Number),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Words),
        DataType::Dictionary(_, values) => match values.as_ref() {
            DataType::Dictionary(..) => None,
            // Values of a dictionary are looked up, not taken over as they stand.
            values => scalar(values).map(|kind| if kind == Kind::Byte { Kind::Number } else { kind }),
        },
        _ => None,
    }
}

/// The type in words that a message can use.
pub(super) fn described(data_type: &DataType) -> String {
    match data_type {
        DataType::Date32 | DataType::Date64 => "dates".to_owned(),
        DataType::Timestamp(..) => "timestamps".to_owned(),
        DataType::Time32(_) | DataType::Time64(_) => "times of day".to_owned(),
        DataType::Duration(_) | DataType::Interval(_) => "durations".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "binary data".to_owned()
        }
        DataType::Struct(_) => "structs".to_owned(),
        DataType::Map(..) => "maps".to_owned(),
        DataType::Null => "nothing but nulls".to_owned(),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("lists of {}", described(item.data_type()))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "words".to_owned(),
        DataType::Dictionary(_, values) => described(values),
        other => format!("values of type {other}"),
    }
}
