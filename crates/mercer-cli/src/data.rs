//! From paths and flags to tables and datasets.

use std::path::{Path, PathBuf};

use mercer::Dtype;
use mercer::dataset::{Dataset, Encoding, Table};
use mercer::model::Header;
use mercer_io::{
    CategoricalChoice, ColumnRef, InputChoice, ReadOptions, TargetChoice, list_files, open_many, open_with_labels,
};

use crate::args::{ColumnArgs, EncodingArgs, ReadingArgs};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::text::count;

fn columns(texts: &[String]) -> Vec<ColumnRef> {
    texts.iter().filter_map(|text| text.parse::<ColumnRef>().ok()).collect()
}

/// The columns a user named.
fn chosen(target: &[String]) -> Option<TargetChoice> {
    match target {
        [] => None,
        [none] if none == "none" => Some(TargetChoice::None),
        _ => Some(TargetChoice::Columns(columns(target))),
    }
}

fn inputs(reading: &ReadingArgs) -> Option<InputChoice> {
    match (reading.inputs.as_slice(), reading.drop.as_slice()) {
        ([], []) => None,
        ([], drop) => Some(InputChoice::AllBut(columns(drop))),
        (inputs, _) => Some(InputChoice::Columns(columns(inputs))),
    }
}

/// How to read rows of which nothing is known; `dtype` none: as stored.
pub(crate) fn table_options(
    reading: &ReadingArgs,
    columns: &ColumnArgs,
    labels: bool,
    dtype: Option<Dtype>,
) -> ReadOptions {
    let default = if labels { TargetChoice::None } else { TargetChoice::Auto };
    let categorical = match columns.categorical.as_slice() {
        [one] if one == "auto" => CategoricalChoice::Auto,
        [one] if one == "none" => CategoricalChoice::None,
        named => CategoricalChoice::Columns(self::columns(named)),
    };
    ReadOptions {
        target: chosen(&columns.target).unwrap_or(default),
        n_inputs: columns.n_inputs,
        categorical,
        keep_missing: true,
        ..base_options(reading, dtype)
    }
}

/// How to read training rows.
pub(crate) fn training_options(
    reading: &ReadingArgs,
    columns: &ColumnArgs,
    encoding: &EncodingArgs,
    labels: bool,
    dtype: Dtype,
) -> ReadOptions {
    let keep_missing = encoding.spec().impute != mercer::dataset::Impute::Refuse;
    ReadOptions { keep_missing, ..table_options(reading, columns, labels, Some(dtype)) }
}

/// Training rows in numbers: words and gaps as the flags say.
pub(crate) fn encode(table: Table, args: &EncodingArgs, bar: &Bar) -> Result<Dataset, Failure> {
    let encoding = Encoding::fit(&table, args.spec(), bar)?;
    Ok(Dataset::encoded(table, encoding)?)
}

/// The columns a model was trained on.
pub(crate) struct TrainedColumns {
    /// Columns of the data that are inputs.
    pub(crate) n_inputs: usize,
    input_names: Vec<String>,
    target_names: Vec<String>,
    encoding: Option<Encoding>,
    dtype: Dtype,
}

impl TrainedColumns {
    /// Those of rows that will be trained on.
    pub(crate) fn of_dataset(dataset: &Dataset, dtype: Dtype) -> Self {
        let info = dataset.info();
        let (input_names, target_names) = (info.input_names.clone(), info.target_names.clone());
        let (n_inputs, encoding) = (dataset.table().n_inputs(), dataset.encoding().cloned());
        Self { n_inputs, input_names, target_names, encoding, dtype }
    }

    /// Those a saved model names.
    pub(crate) fn of_model(header: &Header) -> Self {
        let (input_names, target_names) = (header.input_names.clone(), header.target_names.clone());
        let (n_inputs, encoding) = (header.n_columns(), header.encoding.clone());
        Self { n_inputs, input_names, target_names, encoding, dtype: header.spec.dtype }
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

    /// The rows of a table as the model takes them; levels that it does not know are told on standard error.
    pub(crate) fn encode(&self, table: Table, quiet: bool) -> Result<Dataset, Failure> {
        mercer_io::check_inputs(self.n_inputs, &table)?;
        if let (Some(encoding), false) = (&self.encoding, quiet) {
            for unknown in encoding.unknown_levels(&table) {
                let (file, column, rows) = (&table.info().name, &unknown.column, count(unknown.n_rows));
                let taken = if unknown.other { "taken as other" } else { "taken as none of them" };
                let examples: Vec<String> = unknown.examples.iter().map(|level| format!("{level:?}")).collect();
                let examples = examples.join(", ");
                eprintln!(
                    "mercer: {file}: column {column}, {rows} rows with levels unknown to the model ({examples}): {taken}"
                );
            }
        }
        Ok(Dataset::encoded(table, self.encoding.clone())?)
    }
}

/// How to read rows for a model that need no targets: the same columns, targets passed over where they are there.
pub(crate) fn prediction_options(reading: &ReadingArgs, columns: &TrainedColumns) -> ReadOptions {
    ReadOptions { target: columns.target_if_present(false), ..model_options(reading, columns, &[]) }
}

/// The landmarks of a file: read, and made numbers, as the rows they are to stand for.
pub(crate) fn load_landmarks(
    file: &str,
    rows: &Dataset,
    dtype: Dtype,
    reading: &ReadingArgs,
    (bar, quiet): (&Bar, bool),
) -> Result<Dataset, Failure> {
    let columns = TrainedColumns::of_dataset(rows, dtype);
    let table = load(&[file.to_owned()], &[], &prediction_options(reading, &columns), reading, bar)?;
    columns.encode(table, quiet)
}

/// How to read rows for a model: the same columns, the target where it is there.
pub(crate) fn model_options(reading: &ReadingArgs, columns: &TrainedColumns, target: &[String]) -> ReadOptions {
    let base = base_options(reading, Some(columns.dtype));
    let categorical = columns.encoding.as_ref().map(|encoding| CategoricalChoice::Inputs(encoding.categorical()));
    ReadOptions {
        target: chosen(target).unwrap_or_else(|| columns.target_if_present(true)),
        n_inputs: Some(columns.n_inputs),
        inputs: inputs(reading).unwrap_or_else(|| columns.inputs()),
        categorical: categorical.unwrap_or_default(),
        keep_missing: columns.encoding.as_ref().is_some_and(Encoding::imputes),
        ..base
    }
}

/// Where a target without a name stood: "column 5" is 4, counted from 0.
fn target_position(name: &str) -> Option<usize> {
    name.strip_prefix("column ")?.parse::<usize>().ok()?.checked_sub(1)
}

fn base_options(reading: &ReadingArgs, dtype: Option<Dtype>) -> ReadOptions {
    ReadOptions {
        dtype,
        block_rows: reading.block_rows as usize,
        header: reading.header,
        delimiter: reading.delimiter,
        inputs: inputs(reading).unwrap_or_default(),
        ..ReadOptions::default()
    }
}

/// Refuses to write over a file that is read, and to write a file twice.
pub(crate) fn refuse_overwriting<'a>(
    outputs: &[impl AsRef<Path>],
    inputs: impl IntoIterator<Item = &'a String>,
) -> Result<(), Failure> {
    let outputs: Vec<&Path> = outputs.iter().map(AsRef::as_ref).collect();
    let places: Vec<Option<PathBuf>> = outputs.iter().map(|output| place(output)).collect();
    let at = |place: Option<PathBuf>| places.iter().position(|output| place.is_some() && *output == place);
    for (i, output) in outputs.iter().enumerate() {
        if let Some(first) = at(places[i].clone()).filter(|&first| first < i) {
            let (first, output) = (outputs[first].display(), output.display());
            return Err(Failure::Usage(format!("{first} and {output} are the same file; write to two files")));
        }
    }
    for input in inputs.into_iter().flat_map(|input| list_files(&[input]).unwrap_or_default()) {
        let file = input.rsplit_once("::").filter(|_| !Path::new(&input).exists()).map_or(&*input, |(file, _)| file);
        if let Some(output) = at(place(Path::new(file))) {
            let output = outputs[output].display();
            return Err(Failure::Usage(format!("{output} is read by this command; write to another file")));
        }
    }
    Ok(())
}

/// Where a path leads, whether there is a file yet or not; none where there is no folder.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.canonicalize().ok().or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
}

/// Reads and checks files once (`-` is standard input), and keeps them in memory where they are small enough.
pub(crate) fn load(
    paths: &[String],
    labels: &[String],
    options: &ReadOptions,
    reading: &ReadingArgs,
    bar: &Bar,
) -> Result<Table, Failure> {
    let source = bar.opening(|| match labels {
        [] => open_many(paths, options),
        labels => open_with_labels(paths, labels, options),
    })??;
    Ok(Table::scan_with(source, cache_bytes(reading), bar)?)
}

/// How much of a table is kept in memory.
pub(crate) fn cache_bytes(reading: &ReadingArgs) -> usize {
    reading.cache.saturating_mul(1 << 20)
}
