//! What holds for any bytes taken for rows.

use mercer::dataset::{Block, Layout, Source, SourceInfo, TargetBlock};
use mercer_io::{ReadOptions, open_bytes};

use super::transcript::Transcript;

/// How much is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Every reading with others.
    Always,
    /// One file in four: what is fuzzed is read far more often than it is compared.
    Sometimes,
}

/// Reads all rows; where they are compared, twice and again in blocks of one row: the rows are the same, or refused each
/// time. Returns whether there were any.
///
/// # Panics
/// When that is not so, or a block breaks a rule of [`Source`].
pub(crate) fn check_rows(name: &str, bytes: &[u8], options: &ReadOptions, care: Care) -> bool {
    let source = match open_bytes(name, bytes, options) {
        Ok(source) => source,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    check_info(source.info());
    let first = read(&*source, options);
    if care == Care::Sometimes && bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte)) % 4 > 0 {
        return first.1.is_none();
    }
    assert_eq!(first, read(&*source, options), "a second reading");
    let single = ReadOptions { block_rows: if options.block_rows == 1 { 4096 } else { 1 }, ..options.clone() };
    let other = open_bytes(name, bytes, &single).expect("the size of blocks decides nothing");
    let other = read(&*other, &single);
    assert_eq!(first.1.is_some(), other.1.is_some(), "{:?} and {:?}", first.1, other.1);
    let both = first.0.rows.len().min(other.0.rows.len());
    assert!(first.0.rows[..both] == other.0.rows[..both], "the same rows in blocks of another size");
    if first.1.is_none() {
        assert_eq!(first.0.n_rows, other.0.n_rows);
        assert!(source.info().n_rows.is_none_or(|n| n == first.0.n_rows), "as many rows as declared");
    }
    first.1.is_none()
}

fn check_info(info: &SourceInfo) {
    assert!(info.n_inputs.is_none_or(|n| n > 0) || info.layout == Layout::Sparse);
    assert!(info.input_names.is_empty() || info.n_inputs == Some(info.input_names.len()));
    assert!(info.categorical.is_sorted_by(|a, b| a < b));
    assert!(info.categorical.last().is_none_or(|&last| info.n_inputs.is_some_and(|n| last < n)));
    assert!(!info.missing || info.layout == Layout::Dense);
}

/// The rows up to the end, or up to what is refused.
fn read(source: &dyn Source, options: &ReadOptions) -> (Transcript, Option<String>) {
    let mut transcript = Transcript::default();
    let outcome = source.read().and_then(|mut reader| {
        while let Some(block) = reader.next_block()? {
            check_block(&block, source.info(), options);
            transcript.add(&block, source.info());
        }
        Ok(())
    });
    (transcript, outcome.err().map(|error| error.to_string()))
}

fn check_block(block: &Block, info: &SourceInfo, options: &ReadOptions) {
    let (n_rows, width) = (block.rows.n_rows(), block.rows.n_inputs());
    assert!(n_rows <= options.block_rows.max(1), "{n_rows} rows in a block of {}", options.block_rows);
    assert!(info.n_inputs.is_none_or(|n| n == width), "{width} inputs, {:?} declared", info.n_inputs);
    let n_targets = block.targets.as_ref().map_or(0, |targets| {
        assert_eq!(targets.n_rows(), n_rows, "a target for each row");
        match targets {
            TargetBlock::Text(_) => 1,
            TargetBlock::Numbers(x) => x.ncols(),
        }
    });
    assert_eq!(n_targets, info.target_names.len(), "a name for each target");
}
