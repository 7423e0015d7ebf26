//! Binary arrays: what NPY, NPZ and IDX share once their headers are read.

mod element;
mod fortran;
mod header;

use mercer::dataset::{Block, BlockReader, BlockRows, Layout, Source, SourceInfo};
use mercer::{Dtype, Result as MercerResult};
use ndarray::Array2;

pub(crate) use element::{Element, Kind};
use fortran::FortranArray;
pub(crate) use header::ArrayHeader;

use crate::input::{Input, Origin};
use crate::open::Purpose;
use crate::value::{FILL_IN, IMPUTE, TOO_BIG, Value};
use crate::{Error, Place, ReadOptions, Result};

/// The array of an NPY or IDX file or of an NPZ entry.
pub(crate) struct ArraySource {
    info: SourceInfo,
    origin: Origin,
    header: ArrayHeader,
    purpose: Purpose,
    dtype: Dtype,
    block_rows: usize,
}

impl ArraySource {
    pub(crate) fn new(
        path: &str,
        format: String,
        origin: Origin,
        header: ArrayHeader,
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Self {
        let layout = if header.element.kind == Kind::U8 { Layout::Bytes } else { Layout::Dense };
        let info = SourceInfo {
            n_inputs: Some(header.n_inputs),
            n_rows: Some(header.n_rows as u64),
            missing: options.keep_missing && layout == Layout::Dense,
            ..SourceInfo::new(path, format, layout)
        };
        let stored = match header.element.kind {
            Kind::F16 | Kind::F32 => Dtype::Float32,
            _ => Dtype::Float64,
        };
        let dtype = options.dtype.unwrap_or(stored);
        Self { info, origin, header, purpose, dtype, block_rows: options.block_rows.max(1) }
    }
}

impl Source for ArraySource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> MercerResult<Box<dyn BlockReader + '_>> {
        let mut input = self.origin.open(&self.info.name)?;
        input.take(self.header.data_start)?;
        Ok(Box::new(ArrayReader { source: self, input, fortran: None, row: 0 }))
    }
}

struct ArrayReader<'a> {
    source: &'a ArraySource,
    input: Input,
    fortran: Option<FortranArray>,
    /// Rows given so far.
    row: usize,
}

impl BlockReader for ArrayReader<'_> {
    fn next_block(&mut self) -> MercerResult<Option<Block>> {
        let header = &self.source.header;
        let (start, end) = (self.row, header.n_rows.min(self.row.saturating_add(self.source.block_rows)));
        if start == end {
            return Ok(None);
        }
        let bytes = self.rows(start, end)?;
        self.row = end;
        let rows = match (header.element.kind, self.source.dtype) {
            (Kind::U8, _) => BlockRows::Bytes(matrix(end - start, bytes)),
            (_, Dtype::Float32) => f32::dense(self.decode(start, &bytes)?),
            (_, Dtype::Float64) => f64::dense(self.decode(start, &bytes)?),
        };
        Ok(Some(Block::new(rows, None)))
    }
}

impl ArrayReader<'_> {
    /// The bytes of rows `start..end` in C order.
    fn rows(&mut self, start: usize, end: usize) -> Result<Vec<u8>> {
        let header = &self.source.header;
        let Some(row_dims) = &header.fortran_dims else { return self.read_rows(start, end) };
        if self.fortran.is_none() {
            let bytes = self.read_rows(0, header.n_rows)?;
            self.fortran = Some(FortranArray::new(bytes, header.element.size(), header.n_rows, row_dims));
        }
        Ok(self.fortran.as_ref().map(|array| array.rows(start, end)).unwrap_or_default())
    }

    /// The bytes of rows `start..end` as they stand in the file, which must end with the last row.
    fn read_rows(&mut self, start: usize, end: usize) -> Result<Vec<u8>> {
        let header = &self.source.header;
        let declared = header.n_rows as u64;
        let len = (end - start) * header.row_bytes();
        let bytes = self.input.take(len)?;
        if bytes.len() < len {
            let found = (start + bytes.len() / header.row_bytes() + 1) as u64;
            return Err(Error::ArrayTruncated { file: self.source.info.name.clone(), declared, found });
        }
        if end == header.n_rows && !self.input.take(1)?.is_empty() {
            return Err(Error::TrailingBytes { file: self.source.info.name.clone(), declared });
        }
        Ok(bytes)
    }

    fn decode<T: Value>(&self, start: usize, bytes: &[u8]) -> Result<Array2<T>> {
        let ArrayHeader { element, n_inputs, .. } = self.source.header;
        let keep_missing = self.source.info.missing;
        let values = element.decode::<T>(bytes);
        let place =
            |at: usize| Place::row(&self.source.info.name, (start + at / n_inputs + 1) as u64, at % n_inputs + 1);
        if let Some(at) = values.iter().position(|x| !(x.is_finite() || keep_missing && x.is_nan())) {
            let found = element.decode::<f64>(&bytes[at * element.size()..(at + 1) * element.size()])[0];
            let remedy = match (found, self.source.purpose) {
                (found, _) if found.is_finite() => TOO_BIG,
                (found, Purpose::Rows) if found.is_nan() => IMPUTE,
                _ => FILL_IN,
            };
            return Err(Error::NotFinite { at: place(at), value: found.to_string(), remedy });
        }
        // Two classes could become one.
        if self.source.purpose == Purpose::Labels
            && n_inputs == 1
            && let Some((at, value)) = element.first_rounded(bytes)
        {
            return Err(Error::RoundedTarget { at: place(at), value });
        }
        Ok(matrix(values.len() / n_inputs, values))
    }
}

fn matrix<T>(n_rows: usize, values: Vec<T>) -> Array2<T> {
    let n_inputs = values.len() / n_rows;
    Array2::from_shape_vec((n_rows, n_inputs), values).expect("whole rows")
}
