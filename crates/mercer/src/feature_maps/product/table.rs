//! Products that share their projections: a table says which coordinates of xV each feature multiplies and sums.
//!
//! All p coordinates of a batch of rows are projected once. Sixteen rows at a time are turned, so that a coordinate is
//! sixteen neighbouring values, and every product is of whole vectors: no gathers, and nothing is read twice from memory.
//! Cost of a row: that of the projection, and g·t multiplications for each of k features.

use mercer_simd::ops::products::{LANES, ProductTable, add};
use mercer_simd::{ALIGNMENT_SLACK, InstructionSet, Scalar, aligned_part};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use super::{check_gradients, check_inputs};
use crate::Result;
use crate::dataset::Rows;
use crate::feature_maps::FeatureMap;
use crate::projections::Projection;

/// Values of the projections of a batch, about: they stay in the second-level cache.
const BATCH_VALUES: usize = 1 << 17;
/// Features turned back together.
const OUTPUTS: usize = 64;

/// Features by a table of products: see the module's head.
pub struct TableMap<T> {
    projection: Box<dyn Projection<T>>,
    /// Added to the coordinates; empty where they are zero.
    offsets: Vec<T>,
    table: ProductTable,
    scale: T,
}

impl<T: Scalar> TableMap<T> {
    pub(super) fn new(projection: Box<dyn Projection<T>>, offsets: Vec<T>, table: ProductTable, scale: f64) -> Self {
        Self { projection, offsets, table, scale: T::from_f64(scale) }
    }

    /// Whole groups of lanes.
    fn rows_at_once(&self) -> usize {
        (BATCH_VALUES / self.projection.n_outputs()).next_multiple_of(LANES).clamp(LANES, 256)
    }

    /// xV and its offsets.
    fn coordinates_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        let (p, tile, isa) = (self.projection.n_outputs(), self.projection.tile(), InstructionSet::best());
        for start in (0..p).step_by(tile) {
            let columns = start..p.min(start + tile);
            self.projection.project_into(rows, columns.clone(), out.slice_mut(s![.., columns]), scratch)?;
        }
        if !self.offsets.is_empty() {
            for mut row in out.outer_iter_mut() {
                add(isa, row.as_slice_mut().expect("row-major"), &self.offsets);
            }
        }
        Ok(())
    }

    /// The features of up to `LANES` rows of coordinates.
    fn products_into(&self, coordinates: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) {
        let (turned, outputs) = scratch.split_at_mut(self.projection.n_outputs() * LANES);
        let ((turned, _), (outputs, _)) = (turned.as_chunks_mut::<LANES>(), outputs.as_chunks_mut::<LANES>());
        for (lane, row) in coordinates.outer_iter().enumerate() {
            turned.iter_mut().zip(row).for_each(|(turned, &value)| turned[lane] = value);
        }
        // Lanes without a row hold anything: none looks at another.
        let isa = InstructionSet::best();
        for start in (0..out.ncols()).step_by(OUTPUTS) {
            let end = out.ncols().min(start + OUTPUTS);
            let outputs = &mut outputs[..end - start];
            self.table.sums_into(isa, self.scale, turned, start, outputs);
            for (lane, mut row) in out.outer_iter_mut().enumerate() {
                let row = &mut row.as_slice_mut().expect("features are row-major")[start..end];
                row.iter_mut().zip(&*outputs).for_each(|(to, lanes)| *to = lanes[lane]);
            }
        }
    }

    /// The gradient with respect to the rows of any function with the gradient `grad_out` with respect to their features.
    ///
    /// # Errors
    /// [`crate::Error::Inputs`] when the rows have another length.
    ///
    /// # Panics
    /// When `grad_out` is not as large as the features, or `grad_rows` as the rows.
    pub fn backward_into(
        &self,
        rows: Rows<'_, T>,
        grad_out: ArrayView2<'_, T>,
        grad_rows: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        check_gradients(self, rows, &grad_out, &grad_rows)?;
        let mut values = Array2::zeros((rows.n_rows(), self.projection.n_outputs()));
        let mut scratch = vec![T::zero(); self.projection.scratch_len(rows.n_rows())];
        self.coordinates_into(rows, values.view_mut(), &mut scratch)?;
        let mut weights = Array2::zeros(values.dim());
        for ((grad, values), mut weights) in
            grad_out.outer_iter().zip(values.outer_iter()).zip(weights.outer_iter_mut())
        {
            for (output, &grad) in grad.iter().enumerate() {
                for indices in self.table.terms(output) {
                    let grad = grad * self.scale;
                    for (at, &index) in indices.iter().enumerate() {
                        let others = indices.iter().enumerate().filter(|(other, _)| *other != at);
                        let rest = others.fold(grad, |product, (_, &other)| product * values[other as usize]);
                        weights[index as usize] = weights[index as usize] + rest;
                    }
                }
            }
        }
        self.projection.project_back_into(weights.view(), grad_rows)
    }
}

impl<T: Scalar> FeatureMap<T> for TableMap<T> {
    fn n_inputs(&self) -> usize {
        self.projection.n_inputs()
    }

    fn n_components(&self) -> usize {
        self.table.n_outputs()
    }

    /// The coordinates of a batch, those of sixteen rows turned, their outputs, and what the projection needs.
    fn scratch_len(&self, n_rows: usize) -> usize {
        let (p, n_rows) = (self.projection.n_outputs(), n_rows.min(self.rows_at_once()));
        n_rows * p + (p + OUTPUTS) * LANES + ALIGNMENT_SLACK + self.projection.scratch_len(n_rows)
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        check_inputs(rows, self.n_inputs())?;
        let (p, at_once) = (self.projection.n_outputs(), self.rows_at_once());
        let (lanes, scratch) = scratch.split_at_mut((p + OUTPUTS) * LANES + ALIGNMENT_SLACK);
        let lanes = aligned_part(lanes, (p + OUTPUTS) * LANES);
        for first in (0..rows.n_rows()).step_by(at_once) {
            let n = at_once.min(rows.n_rows() - first);
            let (coordinates, scratch) = scratch.split_at_mut(n * p);
            let mut coordinates = super::matrix(coordinates, (n, p));
            self.coordinates_into(rows.slice(first, first + n), coordinates.view_mut(), scratch)?;
            for start in (0..n).step_by(LANES) {
                let end = n.min(start + LANES);
                let out = out.slice_mut(s![first + start..first + end, ..]);
                self.products_into(coordinates.slice(s![start..end, ..]), out, lanes);
            }
        }
        Ok(())
    }
}
