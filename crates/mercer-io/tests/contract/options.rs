//! Options out of bytes, so that whatever makes up bytes makes up options too.

use mercer::Dtype;
use mercer_io::{CategoricalChoice, ColumnRef, Format, InputChoice, ReadOptions, TargetChoice};

/// Bytes that options are made of; zeros are the default.
pub(crate) const N_BYTES: usize = 8;

/// Any options, but for the format.
pub(crate) fn options_from(bytes: [u8; N_BYTES], format: Option<Format>) -> ReadOptions {
    let [numbers, blocks, target, table, width, inputs, categorical, column] = bytes;
    let dtypes = [Some(Dtype::Float32), Some(Dtype::Float64), None];
    let default = ReadOptions::default();
    ReadOptions {
        dtype: dtypes[usize::from(numbers & 15) % 3],
        keep_missing: numbers & 16 != 0,
        block_rows: if blocks == 0 { default.block_rows } else { usize::from(blocks) },
        target: target_from(target, column),
        header: [None, Some(false), Some(true)][usize::from(table & 15) % 3],
        delimiter: [None, Some(b','), Some(b';'), Some(b'\t'), Some(b' ')][usize::from(table >> 4) % 5],
        n_inputs: (width != 0).then_some(usize::from(width)),
        inputs: match inputs % 5 {
            1 => InputChoice::AllBut(vec![column_from(inputs / 5)]),
            2 => InputChoice::Columns(vec![column_from(inputs / 5)]),
            3 => InputChoice::Columns(vec![column_from(inputs / 5), column_from(column)]),
            4 => InputChoice::Names(vec!["a".to_owned(), "b".to_owned()]),
            _ => InputChoice::All,
        },
        categorical: match categorical % 4 {
            1 => CategoricalChoice::Auto,
            2 => CategoricalChoice::Columns(vec![column_from(categorical / 4)]),
            3 => CategoricalChoice::Inputs(vec![0, usize::from(categorical / 4)]),
            _ => CategoricalChoice::None,
        },
        format,
        spool_bytes: 1 << 20,
    }
}

fn target_from(target: u8, column: u8) -> TargetChoice {
    match target % 5 {
        1 => TargetChoice::None,
        2 => TargetChoice::Columns(vec![column_from(target / 5)]),
        3 => TargetChoice::Columns(vec![column_from(target / 5), column_from(column)]),
        4 => TargetChoice::IfPresent {
            names: [vec![], vec!["y".to_owned()]][usize::from(target / 5) % 2].clone(),
            n_inputs: usize::from(column),
            positions: [vec![], vec![0], vec![usize::from(column)]][usize::from(target / 10) % 3].clone(),
            keep: (target / 30).is_multiple_of(2),
        },
        _ => TargetChoice::Auto,
    }
}

fn column_from(byte: u8) -> ColumnRef {
    match byte {
        0 => ColumnRef::Name("y".to_owned()),
        1 => ColumnRef::Name("a".to_owned()),
        _ => ColumnRef::Number(i64::from(byte as i8)),
    }
}
