//! From paths and flags to datasets.

use mercer::Dtype;
use mercer::dataset::Dataset;
use mercer::model::Header;
use mercer_io::{ColumnRef, ReadOptions, TargetChoice, open, open_with_labels};

use crate::args::{ColumnArgs, ReadingArgs};
use crate::failure::Failure;

/// The columns a user named.
fn chosen(target: &[String]) -> Option<TargetChoice> {
    let columns = target.iter().filter_map(|text| text.parse::<ColumnRef>().ok()).collect();
    (!target.is_empty()).then_some(TargetChoice::Columns(columns))
}

/// How to read training rows.
pub(crate) fn training_options(reading: &ReadingArgs, columns: &ColumnArgs, labels: bool, dtype: Dtype) -> ReadOptions {
    let default = if labels { TargetChoice::None } else { TargetChoice::Auto };
    ReadOptions {
        target: chosen(&columns.target).unwrap_or(default),
        n_inputs: columns.n_inputs,
        ..base_options(reading, dtype)
    }
}

/// How to read rows for a model: the same columns, the target where it is there.
pub(crate) fn model_options(reading: &ReadingArgs, header: &Header, target: &[String]) -> ReadOptions {
    let n_inputs = header.spec.map.n_inputs();
    let present = TargetChoice::IfPresent {
        names: header.target_names.clone(),
        n_inputs,
        position: header.target_names.first().and_then(|name| target_position(name)).unwrap_or(n_inputs),
    };
    ReadOptions {
        target: chosen(target).unwrap_or(present),
        n_inputs: Some(n_inputs),
        input_names: (!header.input_names.is_empty()).then(|| header.input_names.clone()),
        ..base_options(reading, header.spec.dtype)
    }
}

/// Where a target without a name stood: "column 5" is 4, counted from 0.
fn target_position(name: &str) -> Option<usize> {
    name.strip_prefix("column ")?.parse::<usize>().ok()?.checked_sub(1)
}

fn base_options(reading: &ReadingArgs, dtype: Dtype) -> ReadOptions {
    ReadOptions {
        dtype,
        block_rows: reading.block_rows as usize,
        header: reading.header,
        delimiter: reading.delimiter,
        ..ReadOptions::default()
    }
}

/// Reads and checks a file once, and keeps it in memory where it is small enough.
pub(crate) fn load(
    path: &str,
    labels: Option<&str>,
    options: &ReadOptions,
    reading: &ReadingArgs,
) -> Result<Dataset, Failure> {
    let source = match labels {
        Some(labels) => open_with_labels(path, labels, options)?,
        None => open(path, options)?,
    };
    Ok(Dataset::scan(source, reading.cache.saturating_mul(1 << 20))?)
}
