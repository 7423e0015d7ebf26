//! The rows of some files joined with the targets of others.

use std::collections::VecDeque;

use mercer::dataset::{Block, BlockReader, BlockRows, Source, SourceInfo, TargetBlock};
use mercer::{Dtype, Result as MercerResult};
use ndarray::Array2;

use crate::open::{Purpose, open_for};
use crate::{Error, ReadOptions, Result, TargetChoice, list_files};

/// Opens files of rows and files of their targets, each in any format; several as [`open_many`](crate::open_many) does.
///
/// All columns of `rows` are inputs. The targets are the one column of `labels`, the columns that
/// [`TargetChoice::Columns`] names in it, the labels of a LIBSVM file, or every column of an array. `options.header`
/// speaks of `rows`; whether a label file has a header is detected.
///
/// # Errors
/// As [`open_many`](crate::open_many); and when rows and labels declare different numbers of rows. Files that declare none
/// are compared at the end of a reading.
pub fn open_with_labels(
    rows: &[impl AsRef<str>],
    labels: &[impl AsRef<str>],
    options: &ReadOptions,
) -> Result<Box<dyn Source>> {
    let (rows, labels) = (list_files(rows)?, list_files(labels)?);
    list_files(&[rows.as_slice(), labels.as_slice()].concat())?;
    let target = match &options.target {
        TargetChoice::Columns(columns) => TargetChoice::Columns(columns.clone()),
        _ => TargetChoice::Auto,
    };
    let (block_rows, spool_bytes) = (options.block_rows, options.spool_bytes);
    let label_options =
        ReadOptions { dtype: Some(Dtype::Float64), block_rows, spool_bytes, target, ..ReadOptions::default() };
    let labels = open_for(Purpose::Labels, &labels, &label_options)?;
    let rows = open_for(Purpose::Rows, &rows, &ReadOptions { target: TargetChoice::None, ..options.clone() })?;
    let mut info = rows.info().clone();
    info.target_names = target_names(labels.info());
    let source = JoinedSource { info, rows, labels };
    if let (Some(n_rows), Some(n_labels)) = (source.rows.info().n_rows, source.labels.info().n_rows) {
        source.check_lengths(n_rows, n_labels)?;
    }
    Ok(Box::new(source))
}

fn target_names(labels: &SourceInfo) -> Vec<String> {
    match labels.n_inputs {
        _ if !labels.target_names.is_empty() => labels.target_names.clone(),
        Some(n) if n > 1 => (1..=n).map(|i| format!("label {i}")).collect(),
        _ => vec!["label".to_owned()],
    }
}

struct JoinedSource {
    info: SourceInfo,
    rows: Box<dyn Source>,
    labels: Box<dyn Source>,
}

impl JoinedSource {
    fn check_lengths(&self, n_rows: u64, n_labels: u64) -> Result<()> {
        if n_rows == n_labels {
            return Ok(());
        }
        let (rows_file, labels_file) = (self.info.name.clone(), self.labels.info().name.clone());
        Err(Error::Lengths { rows_file, n_rows, labels_file, n_labels })
    }
}

impl Source for JoinedSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> MercerResult<Box<dyn BlockReader + '_>> {
        let (rows, labels) = (self.rows.read()?, self.labels.read()?);
        Ok(Box::new(JoinedReader { source: self, rows, labels, pending: Pending::default(), n_rows: 0, n_labels: 0 }))
    }
}

struct JoinedReader<'a> {
    source: &'a JoinedSource,
    rows: Box<dyn BlockReader + 'a>,
    labels: Box<dyn BlockReader + 'a>,
    pending: Pending,
    /// Rows and labels read so far.
    n_rows: u64,
    n_labels: u64,
}

impl BlockReader for JoinedReader<'_> {
    fn next_block(&mut self) -> MercerResult<Option<Block>> {
        let Some(mut block) = self.rows.next_block()? else {
            while self.read_labels()? {}
            self.source.check_lengths(self.n_rows, self.n_labels)?;
            return Ok(None);
        };
        let n = block.rows.n_rows();
        self.n_rows += n as u64;
        while self.pending.n_rows() < n {
            if !self.read_labels()? {
                return Err(self.too_few_labels()?.into());
            }
        }
        block.targets = Some(self.pending.take(n));
        Ok(Some(block))
    }
}

impl JoinedReader<'_> {
    fn read_labels(&mut self) -> MercerResult<bool> {
        let Some(block) = self.labels.next_block()? else { return Ok(false) };
        let targets = block.targets.unwrap_or_else(|| TargetBlock::Numbers(numbers(block.rows)));
        self.n_labels += targets.n_rows() as u64;
        self.pending.extend(targets);
        Ok(true)
    }

    /// Counts the rows that are left, so that the error can name both numbers.
    fn too_few_labels(&mut self) -> MercerResult<Error> {
        while let Some(block) = self.rows.next_block()? {
            self.n_rows += block.rows.n_rows() as u64;
        }
        let lengths = self.source.check_lengths(self.n_rows, self.n_labels);
        Ok(lengths.expect_err("labels ran out before rows"))
    }
}

fn numbers(rows: BlockRows) -> Array2<f64> {
    match rows {
        BlockRows::Bytes(x) => x.mapv(f64::from),
        BlockRows::Dense32(x) => x.mapv(f64::from),
        BlockRows::Dense64(x) => x,
        BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => unreachable!("sparse rows come with their labels"),
    }
}

/// Targets read and not yet given to a row.
#[derive(Default)]
struct Pending {
    text: VecDeque<String>,
    numbers: VecDeque<f64>,
    /// Numbers of a row; 0 while the targets are text.
    width: usize,
}

impl Pending {
    fn n_rows(&self) -> usize {
        self.numbers.len().checked_div(self.width).unwrap_or(self.text.len())
    }

    fn extend(&mut self, targets: TargetBlock) {
        match targets {
            TargetBlock::Text(text) => self.text.extend(text),
            TargetBlock::Numbers(numbers) => {
                self.width = numbers.ncols();
                self.numbers.extend(numbers);
            }
        }
    }

    fn take(&mut self, n: usize) -> TargetBlock {
        if self.width == 0 {
            return TargetBlock::Text(self.text.drain(..n).collect());
        }
        let numbers = self.numbers.drain(..n * self.width).collect();
        TargetBlock::Numbers(Array2::from_shape_vec((n, self.width), numbers).expect("whole rows"))
    }
}
