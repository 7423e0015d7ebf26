//! V as a dense matrix: independent entries, orthogonal columns, or quasi-random ones.

use std::ops::Range;

use mercer_simd::{InstructionSet, Scalar, Update, csr_matmul_into, huge_pages, matmul_into};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

use super::{Projection, Spectrum, check_columns, check_drawing, check_rows, orthogonal, quasi};
use crate::dataset::Rows;
use crate::random::{Law, Purpose, columns, normal_columns};
use crate::{Error, Result};

/// V as a matrix. Memory O(n_inputs · n_outputs); a product costs 2·n_inputs·n_outputs flops a
/// row at the speed of a matrix product.
///
/// E⟨xV, yV⟩ = n_outputs · σ² · ⟨x, y⟩ for [normal entries](DenseProjection::gaussian) of standard deviation σ.
#[derive(Clone, Debug)]
pub struct DenseProjection<T> {
    matrix: Array2<T>,
}

/// Columns asked for at once (measured for 784 inputs, panels of 2,048 rows and 2,048 columns, one thread: a map took 201
/// to 206 ms with 1,024, 207 to 215 ms with 512, 212 ms with 256).
const TILE: usize = 1024;

impl<T: Scalar> DenseProjection<T> {
    /// Entries ~ N(0, σ²), column j a pure function of (seed, j): fewer outputs are a prefix of more.
    ///
    /// # Errors
    /// [`Error::Parameter`] without inputs or outputs, [`Error::Memory`] where memory is short.
    pub fn gaussian(seed: u64, n_inputs: usize, n_outputs: usize, standard_deviation: f64) -> Result<Self> {
        Self::check(n_inputs, n_outputs, 0)?;
        let (inputs, outputs) = (vec![1.0; n_inputs], vec![standard_deviation; n_outputs]);
        Ok(Self::drawn(&inputs, &outputs, |columns| normal_columns(seed, Purpose::Projection, n_inputs, columns)))
    }

    /// Entries of any law, times `factor`: the columns of this range of a matrix whose column j is a pure function of
    /// (seed, j).
    ///
    /// # Errors
    /// As [`DenseProjection::gaussian`].
    pub fn of_law(law: Law, seed: u64, n_inputs: usize, range: Range<usize>, factor: f64) -> Result<Self> {
        Self::check(n_inputs, range.len(), 0)?;
        let (inputs, outputs) = (vec![1.0; n_inputs], vec![factor; range.len()]);
        Ok(Self::drawn(&inputs, &outputs, |tile| {
            columns(law, seed, Purpose::Projection, n_inputs, range.start + tile.start..range.start + tile.end)
        }))
    }

    /// Frequencies of a kernel, independent of one another; column j is a pure function of (seed, j).
    ///
    /// # Errors
    /// As [`DenseProjection::gaussian`], and [`Error::Parameter`] when there is not a length scale for each input.
    pub fn independent(seed: u64, n_inputs: usize, n_outputs: usize, spectrum: &Spectrum) -> Result<Self> {
        Self::check(n_inputs, n_outputs, 0)?;
        let law = if spectrum.is_radial() { Law::Normal } else { Law::Cauchy };
        let (inputs, outputs) = (spectrum.input_factors(n_inputs)?, spectrum.factors(seed, n_outputs));
        Ok(Self::drawn(&inputs, &outputs, |range| columns(law, seed, Purpose::Projection, n_inputs, range)))
    }

    /// Frequencies of a radial kernel whose directions are orthogonal, `n_inputs` at a time.
    ///
    /// # Errors
    /// As [`DenseProjection::independent`], and [`Error::Parameter`] when the frequencies are not radial.
    pub fn orthogonal(seed: u64, n_inputs: usize, n_outputs: usize, spectrum: &Spectrum) -> Result<Self> {
        if !spectrum.is_radial() {
            return Err(Error::parameter("kernel", "laplace", "a radial one for orthogonal frequencies"));
        }
        Self::check(n_inputs, n_outputs, orthogonal::Blocks::bytes_of_an_input(n_inputs, n_outputs))?;
        let (inputs, outputs) = (spectrum.input_factors(n_inputs)?, spectrum.factors(seed, n_outputs));
        let mut blocks = orthogonal::Blocks::new(seed, n_inputs);
        Ok(Self::drawn(&inputs, &outputs, |columns| blocks.columns(columns)))
    }

    /// Frequencies of a kernel at points that fill the space evenly.
    ///
    /// # Errors
    /// As [`DenseProjection::independent`].
    pub fn quasi(seed: u64, n_inputs: usize, n_outputs: usize, spectrum: &Spectrum) -> Result<Self> {
        Self::check(n_inputs, n_outputs, quasi::Halton::BYTES_OF_AN_INPUT)?;
        let (inputs, outputs) = (spectrum.input_factors(n_inputs)?, spectrum.factors(seed, n_outputs));
        let points = quasi::Halton::new(seed, n_inputs);
        let quantile = if spectrum.is_radial() { quasi::normal_quantile } else { quasi::cauchy_quantile };
        Ok(Self::drawn(&inputs, &outputs, |columns| points.columns(columns).mapv_into(quantile)))
    }

    /// Refuses a matrix that memory does not hold together with a tile in f64, and as many bytes more for each input.
    fn check(n_inputs: usize, n_outputs: usize, more: u128) -> Result<()> {
        let (d, n, tile) = (n_inputs as u128, n_outputs as u128, n_outputs.min(TILE) as u128);
        let of_an_input = n * size_of::<T>() as u128 + 8 * (tile + 1) + more;
        check_drawing(n_inputs, n_outputs, d.saturating_mul(of_an_input).saturating_add(8 * n))
    }

    /// Entry (i, j) is that of `draw`, times `inputs[i]` and `outputs[j]`; rounded once, so that the f32 matrix is the f64
    /// one rounded.
    fn drawn(inputs: &[f64], outputs: &[f64], mut draw: impl FnMut(Range<usize>) -> Array2<f64>) -> Self {
        let mut matrix = huge_pages::zeros((inputs.len(), outputs.len()));
        for start in (0..outputs.len()).step_by(TILE) {
            let columns = start..outputs.len().min(start + TILE);
            let drawn = draw(columns.clone());
            let mut places = matrix.slice_mut(s![.., columns.clone()]);
            for ((mut place, drawn), input) in places.outer_iter_mut().zip(drawn.outer_iter()).zip(inputs) {
                let entries = place.iter_mut().zip(drawn).zip(&outputs[columns.clone()]);
                entries.for_each(|((v, &z), output)| *v = T::from_f64(z * output * input));
            }
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

    fn rows_at_once(&self) -> usize {
        usize::MAX
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
        check_rows(rows, self.n_inputs())?;
        let matrix = self.matrix.slice(s![.., columns]);
        match rows {
            Rows::Dense(x) => matmul_into(x, matrix, out, Update::Set),
            Rows::Sparse(x) => csr_matmul_into(InstructionSet::best(), x, matrix, out),
        }
        Ok(())
    }

    fn project_back_into(&self, weights: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) -> Result<()> {
        check_columns(weights.ncols(), self.n_outputs())?;
        // A product needs the rows of its right side in one piece: a tile of V is turned at a time.
        for (tile, (weights, matrix)) in
            weights.axis_chunks_iter(Axis(1), TILE).zip(self.matrix.axis_chunks_iter(Axis(1), TILE)).enumerate()
        {
            let update = if tile == 0 { Update::Set } else { Update::Add };
            matmul_into(weights, matrix.t().as_standard_layout().view(), out.view_mut(), update);
        }
        Ok(())
    }
}
