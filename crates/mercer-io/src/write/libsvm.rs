//! LIBSVM: `label index:value …`, indices from 1, zeros left out.
//!
//! The first row names the last input even if it is zero there, so that the width is read back.

use std::io::Write;

use mercer::Scalar;
use mercer::dataset::{Block, BlockRows, CsrMatrix, TargetBlock};
use ndarray::ArrayView2;

use super::number::Number;
use super::sink::Sink;
use super::{BlockWriter, Schema, cannot_hold};
use crate::{Error, Result};

pub(super) struct LibsvmWriter {
    sink: Sink,
    n_inputs: usize,
    /// Rows written.
    n_rows: u64,
    line: Vec<u8>,
}

impl LibsvmWriter {
    pub(super) fn new(sink: Sink, schema: &Schema) -> Result<Self> {
        if let Some(&input) = schema.categorical.first() {
            let what = format!("{}, which holds words", super::input_name(schema, input));
            return Err(cannot_hold(sink.name(), "LIBSVM", &what, "write .csv or .parquet, or drop the column"));
        }
        if schema.target_words || schema.target_names.len() > 1 {
            let what = if schema.target_words { "labels that are words" } else { "several targets" };
            return Err(cannot_hold(sink.name(), "LIBSVM", what, "write .csv or .parquet"));
        }
        Ok(Self { sink, n_inputs: schema.n_inputs, n_rows: 0, line: Vec::new() })
    }

    fn write_row<T: Number>(&mut self, label: &Label<'_>, entries: impl Iterator<Item = (usize, T)>) -> Result<()> {
        self.line.clear();
        label.append(&mut self.line);
        let mut last = 0;
        for (input, value) in entries.filter(|(_, value)| !value.is_zero()) {
            if value.is_missing() {
                let what = format!("the missing value of row {}, column {}", self.n_rows + 1, input + 1);
                return Err(cannot_hold(self.sink.name(), "LIBSVM", &what, "fill it in first"));
            }
            last = input + 1;
            self.entry(last);
            value.append(&mut self.line);
        }
        if self.n_rows == 0 && last < self.n_inputs {
            self.entry(self.n_inputs);
            self.line.push(b'0');
        }
        self.line.push(b'\n');
        self.n_rows += 1;
        self.sink.write_all(&self.line).map_err(|source| Error::Write { file: self.sink.name().to_owned(), source })
    }

    fn entry(&mut self, index: usize) {
        self.line.push(b' ');
        self.line.extend_from_slice(index.to_string().as_bytes());
        self.line.push(b':');
    }

    fn write_dense<T: Number>(&mut self, rows: ArrayView2<'_, T>, block: &Block) -> Result<()> {
        let mut rows = rows.outer_iter().enumerate();
        rows.try_for_each(|(i, row)| self.write_row(&Label::of(block, i), row.iter().copied().enumerate()))
    }

    fn write_sparse<T: Number + Scalar>(&mut self, rows: &CsrMatrix<T>, block: &Block) -> Result<()> {
        (0..rows.n_rows()).try_for_each(|i| self.write_row(&Label::of(block, i), rows.view().row(i)))
    }
}

enum Label<'a> {
    Number(f64),
    Text(&'a str),
}

impl<'a> Label<'a> {
    /// The target of row `i`; 0 without one.
    fn of(block: &'a Block, i: usize) -> Self {
        match &block.targets {
            Some(TargetBlock::Numbers(numbers)) => Self::Number(numbers[[i, 0]]),
            Some(TargetBlock::Text(text)) => Self::Text(&text[i]),
            None => Self::Number(0.0),
        }
    }

    fn append(&self, out: &mut Vec<u8>) {
        match self {
            Self::Number(number) => number.append(out),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

impl BlockWriter for LibsvmWriter {
    fn write(&mut self, block: &Block) -> Result<()> {
        match &block.rows {
            BlockRows::Bytes(x) => self.write_dense(x.view(), block),
            BlockRows::Dense32(x) => self.write_dense(x.view(), block),
            BlockRows::Dense64(x) => self.write_dense(x.view(), block),
            BlockRows::Sparse32(x) => self.write_sparse(x, block),
            BlockRows::Sparse64(x) => self.write_sparse(x, block),
        }
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.sink.finish()
    }
}
