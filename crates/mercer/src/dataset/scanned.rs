//! Rows of numbers, ready to be learned from.

use std::sync::Arc;

use super::{
    BlockRows, Blocks, Encoding, Selection, Source, SourceInfo, Table, TargetBlock, TargetEncoder, TargetScan,
};
use crate::driver::{Progress, Silent};
use crate::{Error, Result};

/// Rows ready for any number of passes: their number, width and targets are known, every value was checked, and words
/// and missing values have become numbers by an [`Encoding`].
pub struct Dataset {
    table: Table,
    encoding: Option<Encoding>,
}

impl Dataset {
    /// Reads a source of numbers once: [`Table::scan`].
    ///
    /// # Errors
    /// As [`Table::scan`], and [`Error::Column`] for words or missing values, which need an [`Encoding`].
    pub fn scan(source: impl Into<Arc<dyn Source>>, cache_bytes: usize) -> Result<Self> {
        Self::scan_with(source, cache_bytes, &Silent)
    }

    /// [`Dataset::scan`], telling and asking `progress`.
    ///
    /// # Errors
    /// As [`Dataset::scan`], and [`Error::Interrupted`].
    pub fn scan_with(source: impl Into<Arc<dyn Source>>, cache_bytes: usize, progress: &dyn Progress) -> Result<Self> {
        Self::encoded(Table::scan_with(source, cache_bytes, progress)?, None)
    }

    /// The rows of `table` as `encoding` makes them numbers; without one they must be numbers.
    ///
    /// # Errors
    /// [`Error::Inputs`] and [`Error::Column`] where the encoding does not fit, or is needed.
    pub fn encoded(table: Table, encoding: Option<Encoding>) -> Result<Self> {
        match &encoding {
            Some(encoding) => encoding.check(&table)?,
            None => check_numbers(&table)?,
        }
        Ok(Self { table, encoding })
    }

    /// Rows that are in memory already, with a target for each where there are targets.
    ///
    /// # Errors
    /// Values that are not finite, no rows, or another number of targets than rows.
    pub fn from_memory(name: &str, rows: BlockRows, targets: Option<TargetBlock>) -> Result<Self> {
        check_finite(&rows)?;
        Ok(Self { table: Table::from_memory(name, rows, targets)?, encoding: None })
    }

    /// The rows of these numbers, the first being 0, in memory and in their order. Their targets are taken for those of all rows:
    /// classes that no chosen row has are known.
    ///
    /// # Errors
    /// What the source finds wrong, or [`Error::TooFewRows`] for none of its rows.
    pub fn subset(&self, name: &str, rows: Vec<u64>) -> Result<Self> {
        let table = self.table.subset(name, Selection::rows(rows))?;
        Ok(Self { table, encoding: self.encoding.clone() })
    }

    /// What the source says of itself, before any encoding.
    pub fn info(&self) -> &SourceInfo {
        self.table.info()
    }

    /// The rows before any encoding.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How words and missing values became numbers, where there may be any.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.encoding.as_ref()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> u64 {
        self.table.n_rows()
    }

    /// Inputs of a row, encoded.
    pub fn n_inputs(&self) -> usize {
        self.encoding.as_ref().map_or(self.table.n_inputs(), Encoding::n_outputs)
    }

    /// How many of the inputs, the last ones, are 0 or 1 for a level of a categorical column.
    pub fn n_indicators(&self) -> usize {
        self.encoding.as_ref().map_or(0, Encoding::n_indicators)
    }

    /// Number of stored values: rows × inputs, or the explicit values of sparse rows.
    pub fn n_stored(&self) -> u64 {
        match &self.encoding {
            Some(_) => self.n_rows() * self.n_inputs() as u64,
            None => self.table.n_stored(),
        }
    }

    /// What was seen of the targets, where the source has them.
    pub fn targets(&self) -> Option<&TargetScan> {
        self.table.targets()
    }

    /// Checks that every target fits `encoder`: [`Table::check_targets`].
    ///
    /// # Errors
    /// As [`Table::check_targets`].
    pub fn check_targets(&self, encoder: &TargetEncoder) -> Result<()> {
        self.table.check_targets(encoder)
    }

    /// Whether passes read memory, not the source.
    pub fn is_in_memory(&self) -> bool {
        self.table.is_in_memory()
    }

    /// Starts a pass over the blocks, encoded.
    ///
    /// # Errors
    /// When the source cannot be opened again.
    pub fn blocks(&self) -> Result<Blocks<'_>> {
        self.table.blocks(self.encoding.as_ref())
    }
}

fn check_numbers(table: &Table) -> Result<()> {
    let missing = table.n_missing().iter().position(|&n| n > 0).map(|input| (input, "misses values; impute them"));
    let words = table.info().categorical.first().map(|&input| (input, "holds words; encode them"));
    let Some((input, reason)) = missing.or(words) else { return Ok(()) };
    let context = table.info().name.clone();
    Err(Error::Column { context, column: table.column_name(input), reason: reason.to_owned() })
}

fn check_finite(rows: &BlockRows) -> Result<()> {
    let bad = match rows {
        BlockRows::Bytes(_) => None,
        BlockRows::Dense32(x) => x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, f64::from(v))),
        BlockRows::Dense64(x) => x.indexed_iter().find(|(_, v)| !v.is_finite()).map(|(at, &v)| (at, v)),
        BlockRows::Sparse32(x) => first_not_finite(&x.map(f64::from)),
        BlockRows::Sparse64(x) => first_not_finite(x),
    };
    bad.map_or(Ok(()), |((row, input), value)| Err(Error::NotFinite { row: row as u64, input, value }))
}

fn first_not_finite(rows: &super::CsrMatrix<f64>) -> Option<((usize, usize), f64)> {
    let rows = rows.view();
    (0..rows.n_rows()).find_map(|i| rows.row(i).find(|(_, v)| !v.is_finite()).map(|(j, v)| ((i, j), v)))
}
