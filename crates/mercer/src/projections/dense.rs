//! V as a dense matrix of independent entries.

use std::ops::Range;

use mercer_simd::{InstructionSet, Scalar, Update, csr_matmul_into, huge_pages, matmul_into};
use ndarray::{Array2, ArrayViewMut2, Zip, s};

use super::Projection;
use crate::dataset::Rows;
use crate::random::{Purpose, normal_columns};
use crate::{Error, Result};

/// V with independent normal entries. Memory O(n_inputs · n_outputs); a product costs 2·n_inputs·n_outputs flops a
/// row at the speed of a matrix product.
///
/// E⟨xV, yV⟩ = n_outputs · σ² · ⟨x, y⟩ for entries of standard deviation σ.
#[derive(Clone, Debug)]
pub struct DenseProjection<T> {
    matrix: Array2<T>,
}

/// Columns asked for at once (measured for 784 inputs, panels of 2,048 rows and 2,048 columns, one thread: a map took 201
/// to 206 ms with 1,024, 207 to 215 ms with 512, 212 ms with 256).
const TILE: usize = 1024;

impl<T: Scalar> DenseProjection<T> {
    /// Entries ~ N(0, σ²), column j a pure function of (seed, j): fewer outputs are a prefix of more.
    pub fn gaussian(seed: u64, n_inputs: usize, n_outputs: usize, standard_deviation: f64) -> Self {
        let mut matrix = huge_pages::zeros((n_inputs, n_outputs));
        for start in (0..n_outputs).step_by(TILE) {
            let columns = start..n_outputs.min(start + TILE);
            // Scaled before it is rounded: the f32 matrix is the f64 one rounded.
            let drawn = normal_columns::<f64>(seed, Purpose::Projection, n_inputs, columns.clone());
            let place = matrix.slice_mut(s![.., columns]);
            Zip::from(place).and(&drawn).for_each(|v, &z| *v = T::from_f64(z * standard_deviation));
        }
        Self { matrix }
    }
}

impl<T: Scalar> Projection<T> for DenseProjection<T> {
    fn n_inputs(&self) -> usize {
        self.matrix.nrows()
    }

    fn n_outputs(&self) -> usize {
        self.matrix.ncols()
    }

    fn tile(&self) -> usize {
        TILE
    }

    fn scratch_len(&self, _n_rows: usize) -> usize {
        0
    }

    fn project_into(
        &self,
        rows: Rows<'_, T>,
        columns: Range<usize>,
        out: ArrayViewMut2<'_, T>,
        _scratch: &mut [T],
    ) -> Result<()> {
        if rows.n_inputs() != self.n_inputs() {
            let (got, expected) = (rows.n_inputs(), self.n_inputs());
            return Err(Error::Inputs { context: "projection".to_owned(), got, expected });
        }
        let matrix = self.matrix.slice(s![.., columns]);
        match rows {
            Rows::Dense(x) => matmul_into(x, matrix, out, Update::Set),
            Rows::Sparse(x) => csr_matmul_into(InstructionSet::best(), x, matrix, out),
        }
        Ok(())
    }
}
