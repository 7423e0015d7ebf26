//! The bundled sample: 1,797 handwritten digits of 8 × 8 pixels, 0 to 16 each.
//!
//! The test part of "Optical recognition of handwritten digits", UCI Machine Learning Repository, CC BY 4.0.
//! Alpaydin and Kaynak, 1998, doi 10.24432/C50P49; Kaynak, "Methods of combining multiple classifiers and their
//! applications to handwritten digit recognition", MSc thesis, Bogazici University, 1995.

use std::io::Read;

use flate2::read::GzDecoder;
use mercer::dataset::{BlockRows, Dataset, Folds, TargetBlock};
use mercer::random::Purpose;
use ndarray::{Array2, Axis};

const IMAGES: &[u8] = include_bytes!("../data/digits-images-idx3-ubyte.gz");
const LABELS: &[u8] = include_bytes!("../data/digits-labels-idx1-ubyte.gz");
const N_ROWS: usize = 1_797;
const N_INPUTS: usize = 64;
/// One row in five is for testing.
const N_PARTS: usize = 5;

/// The digits, split into training and test rows: seeded, and every digit in the same share.
///
/// # Errors
/// None but a damaged build.
pub fn digits(seed: u64) -> mercer::Result<(Dataset, Dataset)> {
    let (images, labels) = (unpack(IMAGES, 16), unpack(LABELS, 8));
    let images = Array2::from_shape_vec((N_ROWS, N_INPUTS), images).expect("the bundled images are whole");
    let mut folds = Folds::new(seed, Purpose::Split, N_PARTS);
    let is_test: Vec<bool> = labels.iter().map(|&label| folds.next_fold(u32::from(label)) == 0).collect();
    let part = |name: &str, test: bool| {
        let rows: Vec<usize> = (0..N_ROWS).filter(|&i| is_test[i] == test).collect();
        let targets = Array2::from_shape_fn((rows.len(), 1), |(i, _)| f64::from(labels[rows[i]]));
        let rows = BlockRows::Bytes(images.select(Axis(0), &rows));
        Dataset::from_memory(name, rows, Some(TargetBlock::Numbers(targets)))
    };
    Ok((part("digits (bundled), training rows", false)?, part("digits (bundled), test rows", true)?))
}

/// The values of a gzipped IDX file behind its header.
fn unpack(file: &[u8], header: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes).expect("the bundled file is whole");
    bytes.split_off(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_digits_are_there_once() {
        let (train, test) = digits(0).unwrap();
        assert_eq!((train.n_rows() + test.n_rows(), train.n_inputs()), (1_797, 64));
        assert!((350..370).contains(&test.n_rows()));
        let sum = |dataset: &Dataset| {
            let block = dataset.blocks().unwrap().next_block().unwrap().unwrap().into_owned();
            let BlockRows::Bytes(rows) = block.rows else { panic!("bytes stay bytes") };
            rows.iter().map(|&x| u64::from(x)).sum::<u64>()
        };
        // The sum of all pixels, as scikit-learn's load_digits has it.
        assert_eq!(sum(&train) + sum(&test), 561_718);
    }

    #[test]
    fn the_split_is_stratified_and_seeded() {
        let (train, test) = digits(1).unwrap();
        let counts = |dataset: &Dataset| match dataset.targets().unwrap().encoder(None).unwrap() {
            mercer::dataset::TargetEncoder::Classes { counts, .. } => counts,
            mercer::dataset::TargetEncoder::Real { .. } => panic!("digits are classes"),
        };
        for (train, test) in counts(&train).into_iter().zip(counts(&test)) {
            assert!((4 * test).abs_diff(train) <= 4, "{train} rows to train, {test} to test");
        }
    }
}
