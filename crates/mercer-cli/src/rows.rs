//! Training and test rows as the flags name them: files, a bundled sample, or a part held out.

use mercer::dataset::{Dataset, Split, Task};
use mercer::{Driver, Dtype};
use serde_json::{Value, json};

use crate::args::{ColumnArgs, EncodingArgs, ReadingArgs, RowsArgs, Sample};
use crate::data::{TrainedColumns, cache_bytes, encode, load, load_landmarks, model_options, training_options};
use crate::failure::Failure;
use crate::progress::Bar;

/// Which rows to read, and how.
pub(crate) struct TrainingRows<'a> {
    pub(crate) files: &'a RowsArgs,
    pub(crate) reading: &'a ReadingArgs,
    pub(crate) columns: &'a ColumnArgs,
    pub(crate) encoding: &'a EncodingArgs,
    /// Share held out of the files, where one is.
    pub(crate) test_size: Option<f64>,
    pub(crate) stratify: bool,
    pub(crate) task: Option<Task>,
    pub(crate) seed: u64,
    pub(crate) dtype: Dtype,
    pub(crate) quiet: bool,
    pub(crate) bar: &'a Bar,
}

impl TrainingRows<'_> {
    /// Rows with targets to learn, and test rows whose targets fit them: what cannot be used is said before the work.
    pub(crate) fn with_targets(&self, driver: &Driver<'_>) -> Result<(Dataset, Option<Dataset>), Failure> {
        let (dataset, held_out) = driver.time("load", || self.load())?;
        let name = &dataset.info().name;
        let Some(targets) = dataset.targets() else {
            return Err(Failure::Usage(format!("{name} has no targets to learn; give them with --labels FILE")));
        };
        let test = match (held_out, self.files.test.as_slice()) {
            (Some(test), _) => Some(test),
            (None, []) => None,
            (None, _) => Some(driver.time("load", || self.load_test(&dataset))?),
        };
        if let Some(test) = &test {
            test.check_targets(&targets.encoder(self.task).map_err(|error| error.of_targets_in(name))?)?;
        }
        Ok((dataset, test))
    }

    /// The training rows, and the test rows of a bundled sample or those held out.
    pub(crate) fn load(&self) -> Result<(Dataset, Option<Dataset>), Failure> {
        let Self { files, reading, columns, encoding, seed, dtype, bar, .. } = *self;
        if let Some(Sample::Digits) = files.sample {
            let (train, test) = mercer_io::digits(seed)?;
            return Ok((train, Some(test)));
        }
        let options = training_options(reading, columns, encoding, !files.labels.is_empty(), dtype);
        let table = load(&files.data, &files.labels, &options, reading, bar)?;
        let Some(test_size) = self.test_size else { return Ok((encode(table, encoding, bar)?, None)) };
        let split = Split { test_size, stratify: self.stratify, task: self.task, seed };
        let (train, test) = split.apply(table, cache_bytes(reading), bar)?;
        let train = encode(train, encoding, bar)?;
        let test = TrainedColumns::of_dataset(&train, dtype).encode(test, self.quiet)?;
        Ok((train, Some(test)))
    }

    /// The landmarks of a file, where one is given.
    pub(crate) fn landmarks(
        &self,
        file: Option<&String>,
        rows: &Dataset,
        driver: &Driver<'_>,
    ) -> Result<Option<Dataset>, Failure> {
        let load = |file: &String| load_landmarks(file, rows, self.dtype, self.reading, (self.bar, self.quiet));
        file.map(|file| driver.time("load", || load(file))).transpose()
    }

    fn load_test(&self, train: &Dataset) -> Result<Dataset, Failure> {
        let Self { files, reading, .. } = *self;
        let columns = TrainedColumns::of_dataset(train, self.dtype);
        let options = model_options(reading, &columns, &self.columns.target);
        let table = load(&files.test, &files.test_labels, &options, reading, self.bar)?;
        let test = columns.encode(table, self.quiet)?;
        if test.targets().is_none() {
            let name = &test.info().name;
            return Err(Failure::Usage(format!("{name} has no targets; give them with --test-labels FILE")));
        }
        Ok(test)
    }
}

/// What a report says of its rows.
pub(crate) fn described(dataset: &Dataset) -> Value {
    let info = dataset.info();
    json!({
        "name": info.name,
        "format": info.format,
        "n_rows": dataset.n_rows(),
        "n_columns": dataset.table().n_inputs(),
        "n_inputs": dataset.n_inputs(),
        "n_stored": dataset.n_stored(),
        "in_memory": dataset.is_in_memory(),
        "target_names": info.target_names,
    })
}
