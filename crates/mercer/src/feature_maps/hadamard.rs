//! The Walsh-Hadamard transform of the inputs, scaled so that inner products stay: a rotation, and a map of the linear
//! kernel without any error.
//!
//! | blocks | φ(x) | n_components |
//! |---|---|---|
//! | [`HadamardBlocks::Padded`] | H·x/√p, x filled up with zeros to p values, the next power of two | p |
//! | [`HadamardBlocks::Split`] | H·x/√len of each block, of lengths that are the powers of two in n_inputs, largest first | n_inputs |
//!
//! Nothing is drawn. Cost of a row: n log n additions. Use it to spread what is in few inputs over all of them, before
//! rounding to few bits or choosing coordinates; `srht` is it with random signs and a choice.
//!
//! ```
//! use mercer::feature_maps::{FeatureMap, HadamardBlocks, HadamardMap};
//! use ndarray::{Array2, array};
//!
//! let map = HadamardMap::new(3, HadamardBlocks::Padded);
//! let mut features = Array2::<f64>::zeros((1, 4));
//! map.transform_into(array![[1.0, 2.0, 3.0]].view().into(), features.view_mut(), &mut [])?;
//! assert_eq!(features, array![[3.0, 1.0, 0.0, -2.0]]);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::ops::hadamard::{fwht, padded_len, split_lens};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{ArrayViewMut2, s};
use serde::{Deserialize, Serialize};

use super::FeatureMap;
use crate::dataset::Rows;
use crate::{Error, Result};

/// The transform of rows: see the module's head.
#[derive(Clone, Copy, Debug)]
pub struct HadamardMap {
    n_inputs: usize,
    blocks: HadamardBlocks,
}

/// What becomes of lengths that are no power of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HadamardBlocks {
    /// Zeros up to the next one.
    #[default]
    Padded,
    /// Blocks whose lengths are powers of two, each transformed alone.
    Split,
}

impl HadamardBlocks {
    /// Values of a transformed row.
    pub fn n_components(self, n_inputs: usize) -> usize {
        match self {
            Self::Padded => padded_len(n_inputs),
            Self::Split => n_inputs,
        }
    }
}

impl HadamardMap {
    /// The transform of rows of `n_inputs` values.
    pub fn new(n_inputs: usize, blocks: HadamardBlocks) -> Self {
        Self { n_inputs, blocks }
    }
}

impl<T: Scalar> FeatureMap<T> for HadamardMap {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_components(&self) -> usize {
        self.blocks.n_components(self.n_inputs)
    }

    fn scratch_len(&self, _n_rows: usize) -> usize {
        0
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, _scratch: &mut [T]) -> Result<()> {
        if rows.n_inputs() != self.n_inputs {
            let (got, expected) = (rows.n_inputs(), self.n_inputs);
            return Err(Error::Inputs { context: "hadamard map".to_owned(), got, expected });
        }
        out.slice_mut(s![.., self.n_inputs..]).fill(T::zero());
        rows.write_dense(out.slice_mut(s![.., ..self.n_inputs]));
        let isa = InstructionSet::best();
        for mut row in out.outer_iter_mut() {
            let mut rest = row.as_slice_mut().expect("features are row-major");
            for len in split_lens(rest.len()) {
                let (block, after) = rest.split_at_mut(len);
                fwht(isa, block);
                let scale = T::from_f64((1.0 / len as f64).sqrt());
                block.iter_mut().for_each(|x| *x = *x * scale);
                rest = after;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::dataset::CsrView;

    fn transformed(map: HadamardMap, rows: Rows<'_, f64>) -> Array2<f64> {
        let mut out = Array2::from_elem((rows.n_rows(), FeatureMap::<f64>::n_components(&map)), f64::NAN);
        map.transform_into(rows, out.view_mut(), &mut []).unwrap();
        out
    }

    #[test]
    fn split_blocks_are_transforms_of_their_own() {
        let map = HadamardMap::new(5, HadamardBlocks::Split);
        let out = transformed(map, array![[1.0, 2.0, 3.0, 4.0, 7.0]].view().into());
        assert_eq!(out, array![[5.0, -1.0, -2.0, 0.0, 7.0]]);
    }

    /// Inner products stay, to rounding, for dense and sparse rows alike.
    #[test]
    fn inner_products_stay() {
        let x = Array2::from_shape_fn((4, 37), |(i, j)| if (i + j) % 3 == 0 { (i * j) as f64 - 20.0 } else { 0.0 });
        let (mut indptr, mut indices, mut values) = (vec![0_i64], Vec::new(), Vec::new());
        for row in x.outer_iter() {
            for (j, &value) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as i64);
                values.push(value);
            }
            indptr.push(values.len() as i64);
        }
        let sparse = CsrView::new(37, indptr.as_slice(), indices.as_slice(), &values).unwrap();
        for (blocks, n_components) in [(HadamardBlocks::Padded, 64), (HadamardBlocks::Split, 37)] {
            let map = HadamardMap::new(37, blocks);
            let y = transformed(map, x.view().into());
            assert_eq!(y.ncols(), n_components);
            assert_eq!(transformed(map, sparse.into()), y);
            let off = (y.dot(&y.t()) - x.dot(&x.t())).iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(off < 1e-11, "{blocks:?}: {off}");
        }
    }

    #[test]
    fn rows_of_another_width_are_refused() {
        let map = HadamardMap::new(3, HadamardBlocks::Padded);
        let result =
            map.transform_into(Array2::<f32>::zeros((1, 4)).view().into(), Array2::zeros((1, 4)).view_mut(), &mut []);
        assert!(matches!(result, Err(Error::Inputs { got: 4, expected: 3, .. })));
    }
}
