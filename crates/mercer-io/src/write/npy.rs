//! NPY: one array of the rows, or of the targets where there are no inputs.

use std::io::Write;

use mercer::Dtype;
use mercer::dataset::{Block, Layout, TargetBlock};
use ndarray::ArrayView2;

use super::dense::{Dense, for_each_dense};
use super::sink::Sink;
use super::{BlockWriter, Schema, cannot_hold};
use crate::{Error, Result};

pub(super) struct NpyWriter {
    sink: Sink,
    targets: bool,
    n_inputs: usize,
    /// Whether values are float64; those of a block may be float32.
    wide: bool,
}

impl NpyWriter {
    pub(super) fn new(mut sink: Sink, schema: &Schema) -> Result<Self> {
        let targets = schema.n_inputs == 0;
        let words = schema.categorical.first().map(|&input| super::input_name(schema, input));
        if let Some(name) = words.or_else(|| (targets && schema.target_words).then(|| "a target".to_owned())) {
            let what = format!("{name}, which holds words");
            return Err(cannot_hold(sink.name(), "NPY", &what, "write .csv or .parquet"));
        }
        if schema.layout == Layout::Sparse {
            super::refuse_width(sink.name(), schema.n_inputs, "write LIBSVM")?;
        }
        let header = if targets {
            header("<f8", schema.n_rows, schema.target_names.len(), schema.target_names.len() > 1)
        } else {
            header(element(schema), schema.n_rows, schema.n_inputs, true)
        };
        sink.write_all(&header).map_err(|source| Error::Write { file: sink.name().to_owned(), source })?;
        Ok(Self { sink, targets, n_inputs: schema.n_inputs, wide: schema.dtype == Dtype::Float64 })
    }

    fn write_rows<T: Copy, const N: usize>(
        &mut self,
        rows: ArrayView2<'_, T>,
        encode: impl Fn(T) -> [u8; N],
    ) -> std::io::Result<()> {
        let mut bytes = Vec::with_capacity(rows.ncols() * N);
        for row in rows.outer_iter() {
            bytes.clear();
            bytes.extend(row.iter().flat_map(|&x| encode(x)));
            self.sink.write_all(&bytes)?;
        }
        Ok(())
    }

    fn write_targets(&mut self, block: &Block) -> std::io::Result<()> {
        match &block.targets {
            Some(TargetBlock::Numbers(numbers)) => {
                numbers.iter().try_for_each(|number| self.sink.write_all(&number.to_le_bytes()))
            }
            Some(TargetBlock::Text(text)) => text.iter().try_for_each(|text| {
                let number: f64 = text.parse().map_err(std::io::Error::other)?;
                self.sink.write_all(&number.to_le_bytes())
            }),
            None => Ok(()),
        }
    }
}

fn element(schema: &Schema) -> &'static str {
    match (schema.layout, schema.dtype) {
        (Layout::Bytes, _) => "|u1",
        (_, Dtype::Float32) => "<f4",
        (_, Dtype::Float64) => "<f8",
    }
}

impl BlockWriter for NpyWriter {
    fn write(&mut self, block: &Block) -> Result<()> {
        let written = if self.targets {
            self.write_targets(block)
        } else {
            for_each_dense(&block.rows, self.n_inputs, |_, rows| match rows {
                Dense::Bytes(x) => self.write_rows(x, |x| [x]),
                Dense::Float32(x) if self.wide => self.write_rows(x, |x| f64::from(x).to_le_bytes()),
                Dense::Float32(x) => self.write_rows(x, f32::to_le_bytes),
                Dense::Float64(x) => self.write_rows(x, f64::to_le_bytes),
            })
        };
        written.map_err(|source| Error::Write { file: self.sink.name().to_owned(), source })
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.sink.finish()
    }
}

/// Version 1.0 of the format: magic, length and a dictionary padded with blanks to a multiple of 64 bytes.
fn header(element: &str, n_rows: u64, n_columns: usize, matrix: bool) -> Vec<u8> {
    let shape = if matrix { format!("{n_rows}, {n_columns}") } else { format!("{n_rows},") };
    let mut dictionary = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': ({shape}), }}");
    let padding = 64 - (10 + dictionary.len() + 1) % 64;
    dictionary.extend(std::iter::repeat_n(' ', padding % 64));
    dictionary.push('\n');
    let length = u16::try_from(dictionary.len()).expect("two numbers are short");
    [b"\x93NUMPY\x01\x00", length.to_le_bytes().as_slice(), dictionary.as_bytes()].concat()
}
