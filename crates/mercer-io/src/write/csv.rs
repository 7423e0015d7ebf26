//! CSV: a header, then a line for each row. Missing values are empty fields.

use csv::WriterBuilder;
use mercer::dataset::{Block, Layout, TargetBlock};
use ndarray::ArrayView2;

use super::dense::{Dense, for_each_dense};
use super::number::Number;
use super::sink::Sink;
use super::{BlockWriter, Schema, cannot_hold, input_name, refuse_width};
use crate::Result;
use crate::value::is_missing;

pub(super) struct CsvWriter {
    writer: csv::Writer<Sink>,
    schema: Schema,
    name: String,
    field: Vec<u8>,
}

impl CsvWriter {
    pub(super) fn new(sink: Sink, schema: &Schema, delimiter: u8) -> Result<Self> {
        let name = sink.name().to_owned();
        let remedy = if schema.layout == Layout::Sparse { "write LIBSVM" } else { "write NPY" };
        refuse_width(&name, schema.n_inputs.saturating_add(schema.target_names.len()), remedy)?;
        let writer = WriterBuilder::new().delimiter(delimiter).from_writer(sink);
        let mut written = Self { writer, schema: schema.clone(), name, field: Vec::new() };
        let inputs: Vec<String> = (0..schema.n_inputs).map(|j| input_name(schema, j)).collect();
        let (first, last) =
            if schema.targets_first { (&schema.target_names, &inputs) } else { (&inputs, &schema.target_names) };
        let failed = written.writer.write_record(first.iter().chain(last));
        failed.map_err(|error| written.fault(error))?;
        Ok(written)
    }

    fn fault(&self, error: csv::Error) -> crate::Error {
        // The error of the writer itself: its kind tells a closed pipe from a full disk.
        let source = match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => std::io::Error::other(format!("{other:?}")),
        };
        crate::Error::Write { file: self.name.clone(), source }
    }

    fn write_rows<T: Number>(
        &mut self,
        rows: ArrayView2<'_, T>,
        first: usize,
        block: &Block,
        code: impl Fn(T) -> usize,
    ) -> csv::Result<()> {
        for (i, row) in rows.outer_iter().enumerate() {
            if self.schema.targets_first {
                self.write_targets(first + i, block)?;
            }
            let mut categorical = self.schema.categorical.iter().zip(&block.levels).peekable();
            for (j, &value) in row.iter().enumerate() {
                self.field.clear();
                if let Some((_, levels)) = categorical.next_if(|(input, _)| **input == j) {
                    let level = levels.get(code(value)).filter(|_| !value.is_missing());
                    self.field.extend_from_slice(level.map_or(&[], |level| level.as_bytes()));
                } else if !value.is_missing() {
                    value.append(&mut self.field);
                }
                self.writer.write_field(&self.field)?;
            }
            if !self.schema.targets_first {
                self.write_targets(first + i, block)?;
            }
            self.writer.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    fn write_targets(&mut self, row: usize, block: &Block) -> csv::Result<()> {
        match &block.targets {
            Some(TargetBlock::Text(text)) => self.writer.write_field(&text[row]),
            Some(TargetBlock::Numbers(numbers)) => numbers.row(row).iter().try_for_each(|number| {
                self.field.clear();
                number.append(&mut self.field);
                self.writer.write_field(&self.field)
            }),
            None => Ok(()),
        }
    }
}

impl BlockWriter for CsvWriter {
    fn write(&mut self, block: &Block) -> Result<()> {
        for (&input, levels) in self.schema.categorical.iter().zip(&block.levels) {
            if let Some(level) = levels.iter().find(|level| is_missing(level.trim().as_bytes())) {
                let what =
                    format!("the word {level:?} of column {:?}: it stands for a gap", input_name(&self.schema, input));
                return Err(cannot_hold(&self.name, "CSV", &what, "write .parquet or .arrow, or drop the column"));
            }
        }
        let written = for_each_dense(&block.rows, self.schema.n_inputs, |first, rows| match rows {
            Dense::Bytes(x) => self.write_rows(x, first, block, usize::from),
            Dense::Float32(x) => self.write_rows(x, first, block, |x| x as usize),
            Dense::Float64(x) => self.write_rows(x, first, block, |x| x as usize),
        });
        written.map_err(|error| self.fault(error))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Self { writer, name, .. } = *self;
        let sink = writer.into_inner().map_err(|error| {
            let source = std::io::Error::from(error.error().kind());
            crate::Error::Write { file: name, source }
        })?;
        sink.finish()
    }
}
