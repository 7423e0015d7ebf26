//! What the columns of a table hold.

use std::collections::HashMap;

use mercer_simd::{CsrMatrix, Scalar};
use ndarray::ArrayView2;
use serde::Serialize;

use super::{BlockRows, Layout, Table};
use crate::driver::Progress;
use crate::{Error, Result};

/// Ranges and moments of one input. Of words there are none: all numbers are 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Which input, counted from 0.
    #[serde(skip)]
    pub input: usize,
    /// Rows without a value.
    pub n_missing: u64,
    /// Rows whose value is 0.
    pub n_zero: u64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Population standard deviation of the values.
    pub standard_deviation: f64,
}

/// Running sums of one input, by Welford's update.
#[derive(Clone, Copy)]
struct Sums {
    n: u64,
    n_missing: u64,
    n_zero: u64,
    min: f64,
    max: f64,
    mean: f64,
    m2: f64,
}

const EMPTY: Sums =
    Sums { n: 0, n_missing: 0, n_zero: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, m2: 0.0 };

impl Sums {
    fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.n_missing += 1;
            return;
        }
        self.n += 1;
        self.n_zero += u64::from(value == 0.0);
        (self.min, self.max) = (self.min.min(value), self.max.max(value));
        let delta = value - self.mean;
        self.mean += delta / self.n as f64;
        self.m2 += delta * (value - self.mean);
    }

    /// Adds as many zeros as are missing to `n_rows` values: those that sparse rows do not store.
    fn fill(&mut self, n_rows: u64) {
        let zeros = n_rows.saturating_sub(self.n + self.n_missing);
        if zeros == 0 {
            return;
        }
        let n = self.n + zeros;
        self.m2 += self.mean * self.mean * self.n as f64 * (zeros as f64 / n as f64);
        self.mean *= self.n as f64 / n as f64;
        (self.n, self.n_zero) = (n, self.n_zero + zeros);
        (self.min, self.max) = (self.min.min(0.0), self.max.max(0.0));
    }

    fn summary(self, input: usize) -> ColumnSummary {
        let Self { n, n_missing, n_zero, min, max, mean, m2 } = self;
        let (min, max) = if n == 0 { (0.0, 0.0) } else { (min, max) };
        let standard_deviation = (m2 / n.max(1) as f64).sqrt();
        ColumnSummary { input, n_missing, n_zero, min, max, mean, standard_deviation }
    }
}

/// Sparse rows may name an input far beyond those that they store: up to this many have sums of their own each.
const MOST_DIRECT: usize = 1 << 20;

/// The sums of each input, or of each that rows store.
struct Columns {
    sums: Vec<Sums>,
    /// The place of an input in `sums`, where that is not its number.
    places: Option<HashMap<usize, usize>>,
}

impl Columns {
    fn new(n_inputs: usize, sparse: bool) -> Self {
        match sparse && n_inputs > MOST_DIRECT {
            true => Self { sums: Vec::new(), places: Some(HashMap::new()) },
            false => Self { sums: vec![EMPTY; n_inputs], places: None },
        }
    }

    fn of(&mut self, input: usize) -> &mut Sums {
        let Some(places) = &mut self.places else { return &mut self.sums[input] };
        let place = *places.entry(input).or_insert(self.sums.len());
        if place == self.sums.len() {
            self.sums.push(EMPTY);
        }
        &mut self.sums[place]
    }

    fn summaries(self, n_rows: u64) -> Vec<ColumnSummary> {
        let mut inputs: Vec<usize> = (0..self.sums.len()).collect();
        self.places.into_iter().flatten().for_each(|(input, place)| inputs[place] = input);
        let summary = |(input, mut sums): (usize, Sums)| {
            sums.fill(n_rows);
            sums.summary(input)
        };
        let mut summaries: Vec<ColumnSummary> = inputs.into_iter().zip(self.sums).map(summary).collect();
        summaries.sort_unstable_by_key(|column| column.input);
        summaries
    }
}

impl Table {
    /// Ranges and moments of every input, ascending, in one pass. Of sparse rows with more than 1,048,576 inputs only
    /// those that some row stores: the others are 0 throughout.
    ///
    /// # Errors
    /// What the source finds wrong, or [`Error::Interrupted`].
    pub fn summarize(&self, progress: &dyn Progress) -> Result<Vec<ColumnSummary>> {
        progress.start("summarize", self.n_rows());
        let mut columns = Columns::new(self.n_inputs(), self.info().layout == Layout::Sparse);
        let mut blocks = self.blocks(None)?;
        while let Some(block) = blocks.next_block()? {
            if progress.interrupted() {
                return Err(Error::Interrupted);
            }
            progress.advance(block.rows.n_rows() as u64);
            match &block.rows {
                BlockRows::Bytes(x) => add_dense(&mut columns.sums, x.view(), f64::from),
                BlockRows::Dense32(x) => add_dense(&mut columns.sums, x.view(), f64::from),
                BlockRows::Dense64(x) => add_dense(&mut columns.sums, x.view(), |x| x),
                BlockRows::Sparse32(x) => add_sparse(&mut columns, x),
                BlockRows::Sparse64(x) => add_sparse(&mut columns, x),
            }
        }
        progress.finish();
        let mut summaries = columns.summaries(self.n_rows());
        for &input in &self.info().categorical {
            summaries[input] = Sums { n_missing: summaries[input].n_missing, ..EMPTY }.summary(input);
        }
        Ok(summaries)
    }
}

fn add_dense<T: Copy>(columns: &mut [Sums], rows: ArrayView2<'_, T>, convert: impl Fn(T) -> f64) {
    for row in rows.outer_iter() {
        columns.iter_mut().zip(row).for_each(|(column, &value)| column.add(convert(value)));
    }
}

fn add_sparse<T: Scalar>(columns: &mut Columns, rows: &CsrMatrix<T>) {
    let rows = rows.view();
    for (j, value) in (0..rows.n_rows()).flat_map(|i| rows.row(i)) {
        columns.of(j).add(value.to_f64());
    }
}
