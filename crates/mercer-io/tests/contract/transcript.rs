//! Blocks written down row by row, to be compared whatever their size.

use mercer::Scalar;
use mercer::dataset::{Block, BlockRows, CsrMatrix, SourceInfo, TargetBlock};

/// The rows of one reading.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Transcript {
    /// Values in bits (NaN differs from itself), words and targets, in order.
    pub(super) rows: Vec<u8>,
    pub(super) n_rows: u64,
}

impl Transcript {
    /// Adds the rows of a block.
    ///
    /// # Panics
    /// When the block breaks a rule of [`Source`](mercer::dataset::Source).
    pub(super) fn add(&mut self, block: &Block, info: &SourceInfo) {
        let n_rows = block.rows.n_rows();
        assert!(n_rows > 0, "a block has a row");
        assert_eq!(block.levels.len(), info.categorical.len(), "levels of each categorical input");
        for row in 0..n_rows {
            match &block.rows {
                BlockRows::Bytes(x) => self.rows.extend(x.row(row)),
                BlockRows::Dense32(x) => {
                    x.row(row).iter().enumerate().for_each(|(j, &x)| self.dense(j, x, block, info));
                }
                BlockRows::Dense64(x) => {
                    x.row(row).iter().enumerate().for_each(|(j, &x)| self.dense(j, x, block, info));
                }
                BlockRows::Sparse32(x) => self.sparse(x, row),
                BlockRows::Sparse64(x) => self.sparse(x, row),
            }
            self.rows.push(b'|');
            match &block.targets {
                Some(TargetBlock::Text(text)) => self.text(&text[row]),
                Some(TargetBlock::Numbers(x)) => x.row(row).iter().for_each(|&x| self.finite(x)),
                None => (),
            }
            self.rows.push(b'\n');
        }
        self.n_rows += n_rows as u64;
    }

    fn dense<T: Scalar>(&mut self, input: usize, value: T, block: &Block, info: &SourceInfo) {
        let value = value.to_f64();
        if value.is_nan() {
            assert!(info.missing, "NaN only where values may be missing");
            return self.rows.push(b'?');
        }
        match info.categorical.binary_search(&input) {
            Ok(at) => {
                let levels = &block.levels[at];
                assert!(value >= 0.0 && value.fract() == 0.0 && value < levels.len() as f64, "{value} is a level");
                self.text(&levels[value as usize]);
            }
            Err(_) => self.finite(value),
        }
    }

    fn sparse<T: Scalar>(&mut self, matrix: &CsrMatrix<T>, row: usize) {
        let mut least = 0;
        for (column, value) in matrix.view().row(row) {
            assert!(column >= least && column < matrix.n_columns(), "indices ascend below the width");
            least = column + 1;
            self.rows.extend(column.to_le_bytes());
            self.finite(value.to_f64());
        }
    }

    fn finite(&mut self, value: f64) {
        assert!(value.is_finite(), "{value} is finite");
        self.rows.extend(value.to_bits().to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        assert!(!text.is_empty() && text.trim() == text, "{text:?} is trimmed text");
        self.rows.extend(text.len().to_le_bytes());
        self.rows.extend(text.as_bytes());
    }
}
