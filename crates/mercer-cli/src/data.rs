//! From paths and flags to datasets.

use std::path::Path;

use mercer::Dtype;
use mercer::dataset::Dataset;
use mercer::model::Header;
use mercer_io::{ColumnRef, InputChoice, ReadOptions, TargetChoice, list_files, open, open_with_labels};

use crate::args::{ColumnArgs, ReadingArgs};
use crate::failure::Failure;
use crate::progress::Bar;

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

/// The columns a model was trained on.
pub(crate) struct TrainedColumns {
    pub(crate) n_inputs: usize,
    input_names: Vec<String>,
    target_names: Vec<String>,
    dtype: Dtype,
}

impl TrainedColumns {
    /// Those of rows that will be trained on.
    pub(crate) fn of_dataset(dataset: &Dataset, dtype: Dtype) -> Self {
        let info = dataset.info();
        let (input_names, target_names) = (info.input_names.clone(), info.target_names.clone());
        Self { n_inputs: dataset.n_inputs(), input_names, target_names, dtype }
    }

    /// Those a saved model names.
    pub(crate) fn of_model(header: &Header) -> Self {
        let (input_names, target_names) = (header.input_names.clone(), header.target_names.clone());
        Self { n_inputs: header.spec.map.n_inputs(), input_names, target_names, dtype: header.spec.dtype }
    }

    fn inputs(&self) -> InputChoice {
        if self.input_names.is_empty() { InputChoice::All } else { InputChoice::Names(self.input_names.clone()) }
    }

    /// The targets, to be read or passed over where a file has them.
    fn target_if_present(&self, keep: bool) -> TargetChoice {
        let (names, n_inputs, positions) = (self.target_names.clone(), self.n_inputs, self.target_positions());
        TargetChoice::IfPresent { names, n_inputs, positions, keep }
    }

    /// Where the targets stood in a training file without a header; none where that is unknown.
    fn target_positions(&self) -> Vec<usize> {
        let positions = self.target_names.iter().map(|name| target_position(name)).collect::<Option<_>>();
        positions.filter(|_| self.input_names.is_empty()).unwrap_or_default()
    }
}

/// How to read rows for a model that need no targets: the same columns, targets passed over where they are there.
pub(crate) fn prediction_options(reading: &ReadingArgs, columns: &TrainedColumns) -> ReadOptions {
    ReadOptions { target: columns.target_if_present(false), ..model_options(reading, columns, &[]) }
}

/// How to read rows for a model: the same columns, the target where it is there.
pub(crate) fn model_options(reading: &ReadingArgs, columns: &TrainedColumns, target: &[String]) -> ReadOptions {
    ReadOptions {
        target: chosen(target).unwrap_or_else(|| columns.target_if_present(true)),
        n_inputs: Some(columns.n_inputs),
        inputs: columns.inputs(),
        ..base_options(reading, columns.dtype)
    }
}

/// Where a target without a name stood: "column 5" is 4, counted from 0.
fn target_position(name: &str) -> Option<usize> {
    name.strip_prefix("column ")?.parse::<usize>().ok()?.checked_sub(1)
}

fn base_options(reading: &ReadingArgs, dtype: Dtype) -> ReadOptions {
    ReadOptions {
        dtype: Some(dtype),
        block_rows: reading.block_rows as usize,
        header: reading.header,
        delimiter: reading.delimiter,
        ..ReadOptions::default()
    }
}

/// Refuses to write over a file that is read.
pub(crate) fn refuse_overwriting(output: &Path, inputs: &[Option<&str>]) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(target) = real(output) else { return Ok(()) };
    for input in inputs.iter().flatten().flat_map(|input| list_files(&[input]).unwrap_or_default()) {
        let file = input.split_once("::").map_or(input.as_str(), |(file, _)| file);
        if real(Path::new(&input)).or_else(|| real(Path::new(file))).as_ref() == Some(&target) {
            let output = output.display();
            return Err(Failure::Usage(format!("{output} is read by this command; write to another file")));
        }
    }
    Ok(())
}

/// Reads and checks a file once (`-` is standard input), and keeps it in memory where it is small enough.
pub(crate) fn load(
    path: &str,
    labels: Option<&str>,
    options: &ReadOptions,
    reading: &ReadingArgs,
    bar: &Bar,
) -> Result<Dataset, Failure> {
    let source = bar.opening(|| match labels {
        Some(labels) => open_with_labels(&[path], &[labels], options),
        None => open(path, options),
    })??;
    Ok(Dataset::scan_with(source, reading.cache.saturating_mul(1 << 20), bar)?)
}
