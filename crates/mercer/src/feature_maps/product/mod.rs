//! Products of projections: the maps of polynomial kernels, and of every kernel that is a series of them.
//!
//! A product of g projections along random vectors v with E vvᵀ = I has E Πₗ⟨x,vₗ⟩⟨y,vₗ⟩ = ⟨x,y⟩^g, if the vectors of a
//! product are independent. So a feature is a product, or a sum of products, of coordinates of xV:
//!
//! | map | features | vectors |
//! |---|---|---|
//! | [`tensor_srht`](TensorSrhtSpec) | one product each | coordinates of signed Walsh-Hadamard transforms |
//! | the same of complex numbers | real and imaginary parts of products | the same with fourth roots of one as signs |
//! | the same as a [tree](TreeMap) | products of two, transformed again before the next | the same |
//! | [`maclaurin`](MaclaurinSpec) | products of as many factors as the powers of a series | the same |
//! | [`pk_rp`](PkRpSpec) | t products each, summed | p normal or sparse ones, used again and again |
//! | [`d2pk_rp`](D2pkRpSpec) | t squares each, added and subtracted | normal or sparse ones, for each square another |
//!
//! The kernel (γ⟨x,y⟩ + c)^g is that of rows √γ·x with √c behind the last input: a projection of such a row is
//! √γ·⟨x,v⟩ + √c·ε, with an entry ε more for each vector, so that no row is ever written out longer.
//!
//! [`ProductMap`] multiplies whole rows of projections, which need not be turned; [`TableMap`] looks products up in a
//! table, with a row in each lane.

mod d2pk_rp;
mod maclaurin;
mod pk_rp;
mod table;
mod tensor_srht;
mod tree;

pub use d2pk_rp::D2pkRpSpec;
pub use maclaurin::{Allocation, DotProduct, MaclaurinSpec, PowerShare};
pub use pk_rp::{PkRpSpec, VectorLaw};
pub use table::TableMap;
pub use tensor_srht::TensorSrhtSpec;
pub use tree::TreeMap;

use std::sync::Arc;

use mercer_simd::ops::products::{add, add_squares, multiply, multiply_complex};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

use super::FeatureMap;
use crate::dataset::Rows;
use crate::projections::Projection;
use crate::{Error, Result};

/// Rows worked on together at most: their projections stay in cache.
const MOST_ROWS: usize = 256;
/// A product of more factors has no digits left.
const MAX_DEGREE: u32 = 64;

/// Features that are products of projections: see the module's head.
pub struct ProductMap<T> {
    n_inputs: usize,
    parts: Vec<Part<T>>,
}

/// Features that are made alike.
pub(super) enum Part<T> {
    /// One feature, the same for all rows.
    Constant(T),
    /// One product of real factors for each feature.
    Real(Vec<Factor<T>>),
    /// Products of complex factors (their real and imaginary parts): all real parts, then all imaginary ones.
    Complex(Vec<(Factor<T>, Factor<T>)>),
    /// The alternating sum of the squares of the factors.
    Squares(Vec<Factor<T>>),
}

/// xV and a number more for each column.
pub(super) struct Factor<T> {
    /// of rows in their order
    projection: Box<dyn Projection<T>>,
    /// where inputs are not in their places
    order: Option<Order>,
    /// empty where they are zero
    offsets: Vec<T>,
}

/// Other places for inputs.
#[derive(Clone)]
pub(super) struct Order {
    /// of each input
    places: Arc<[u32]>,
    /// those without an input are zero
    n_places: usize,
}

impl<T: Scalar> Factor<T> {
    /// Values of a row in its order, where that is another.
    fn n_places(&self) -> usize {
        self.order.as_ref().map_or(0, |order| order.n_places)
    }

    /// The rows in their order, written to `ordered` if that is another.
    fn ordered<'r>(&self, rows: &'r Rows<'_, T>, ordered: &'r mut [T]) -> Rows<'r, T> {
        let Some(Order { places, n_places }) = &self.order else { return rows.view() };
        let mut out = matrix(ordered, (rows.n_rows(), *n_places));
        out.fill(T::zero());
        for (i, mut out) in out.outer_iter_mut().enumerate() {
            let out = out.as_slice_mut().expect("row-major");
            match rows {
                Rows::Dense(rows) => rows.row(i).iter().zip(&**places).for_each(|(&x, &to)| out[to as usize] = x),
                Rows::Sparse(rows) => rows.row(i).for_each(|(input, x)| out[places[input] as usize] = x),
            }
        }
        Rows::Dense(
            ArrayView2::from_shape((rows.n_rows(), *n_places), &ordered[..rows.n_rows() * n_places]).expect("as many"),
        )
    }

    fn n_outputs(&self) -> usize {
        self.projection.n_outputs()
    }

    /// out = the columns from `start` on, of ordered rows.
    fn values_into(
        &self,
        rows: Rows<'_, T>,
        start: usize,
        mut out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        let columns = start..start + out.ncols();
        self.projection.project_into(rows, columns.clone(), out.view_mut(), scratch)?;
        if !self.offsets.is_empty() {
            let isa = InstructionSet::best();
            for mut row in out.outer_iter_mut() {
                add(isa, row.as_slice_mut().expect("outputs are neighbours"), &self.offsets[columns.clone()]);
            }
        }
        Ok(())
    }

    /// All columns, for gradients.
    fn values(&self, rows: Rows<'_, T>) -> Result<Array2<T>> {
        let mut out = Array2::zeros((rows.n_rows(), self.n_outputs()));
        let mut scratch = vec![T::zero(); self.projection.scratch_len(rows.n_rows())];
        let mut ordered = vec![T::zero(); rows.n_rows() * self.n_places()];
        self.values_into(self.ordered(&rows, &mut ordered), 0, out.view_mut(), &mut scratch)?;
        Ok(out)
    }
}

impl<T: Scalar> Part<T> {
    fn n_components(&self) -> usize {
        match self {
            Self::Constant(_) => 1,
            Self::Real(factors) | Self::Squares(factors) => factors[0].n_outputs(),
            Self::Complex(factors) => 2 * factors[0].0.n_outputs(),
        }
    }

    fn factors(&self) -> Vec<&Factor<T>> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Real(factors) | Self::Squares(factors) => factors.iter().collect(),
            Self::Complex(factors) => factors.iter().flat_map(|(re, im)| [re, im]).collect(),
        }
    }

    fn rows_at_once(&self) -> usize {
        self.factors().iter().map(|factor| factor.projection.rows_at_once()).fold(MOST_ROWS, usize::min)
    }

    /// Columns worked on together.
    fn tile(&self) -> usize {
        self.factors().first().map_or(0, |first| first.projection.tile().min(first.n_outputs()))
    }

    /// Values of a row that is ordered for a factor.
    fn n_places(&self) -> usize {
        self.factors().iter().map(|factor| factor.n_places()).max().unwrap_or(0)
    }

    /// Ordered rows, the values of one factor, or of two parts of one, and what projections need.
    fn scratch_len(&self, n_rows: usize) -> usize {
        let n_rows = n_rows.min(self.rows_at_once());
        let values = if matches!(self, Self::Complex(_)) { 2 } else { 1 };
        let inner = self.factors().iter().map(|factor| factor.projection.scratch_len(n_rows)).max().unwrap_or(0);
        n_rows * (values * self.tile() + self.n_places()) + inner
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        match self {
            Self::Constant(value) => {
                out.fill(*value);
                Ok(())
            }
            Self::Real(factors) => self.real_into(factors, rows, out, scratch),
            Self::Complex(factors) => self.complex_into(factors, rows, out, scratch),
            Self::Squares(factors) => self.squares_into(factors, rows, out, scratch),
        }
    }

    fn squares_into(
        &self,
        factors: &[Factor<T>],
        rows: Rows<'_, T>,
        mut out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        let isa = InstructionSet::best();
        let (n_rows, n, tile) = (rows.n_rows(), factors[0].n_outputs(), self.tile());
        let (values, scratch) = scratch.split_at_mut(n_rows * tile);
        out.fill(T::zero());
        for start in (0..n).step_by(tile) {
            let mut out = out.slice_mut(s![.., start..n.min(start + tile)]);
            for (number, factor) in factors.iter().enumerate() {
                let mut values = matrix(values, out.dim());
                factor.values_into(rows, start, values.view_mut(), scratch)?;
                let sign = if number % 2 == 0 { T::one() } else { -T::one() };
                for (mut out, values) in out.outer_iter_mut().zip(values.outer_iter()) {
                    let out = out.as_slice_mut().expect("row-major");
                    add_squares(isa, out, sign, values.as_slice().expect("row-major"));
                }
            }
        }
        Ok(())
    }

    fn real_into(
        &self,
        factors: &[Factor<T>],
        rows: Rows<'_, T>,
        mut out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        let isa = InstructionSet::best();
        let (n_rows, n, tile) = (rows.n_rows(), factors[0].n_outputs(), self.tile());
        let (values, scratch) = scratch.split_at_mut(n_rows * tile);
        let (ordered, scratch) = scratch.split_at_mut(n_rows * self.n_places());
        for start in (0..n).step_by(tile) {
            let mut out = out.slice_mut(s![.., start..n.min(start + tile)]);
            factors[0].values_into(factors[0].ordered(&rows, ordered), start, out.view_mut(), scratch)?;
            for factor in &factors[1..] {
                let mut values = matrix(values, out.dim());
                factor.values_into(factor.ordered(&rows, ordered), start, values.view_mut(), scratch)?;
                for (mut out, values) in out.outer_iter_mut().zip(values.outer_iter()) {
                    multiply(isa, out.as_slice_mut().expect("row-major"), values.as_slice().expect("row-major"));
                }
            }
        }
        Ok(())
    }

    fn complex_into(
        &self,
        factors: &[(Factor<T>, Factor<T>)],
        rows: Rows<'_, T>,
        out: ArrayViewMut2<'_, T>,
        scratch: &mut [T],
    ) -> Result<()> {
        let isa = InstructionSet::best();
        let (n_rows, n, tile) = (rows.n_rows(), factors[0].0.n_outputs(), self.tile());
        let (values, scratch) = scratch.split_at_mut(2 * n_rows * tile);
        let (re_values, im_values) = values.split_at_mut(n_rows * tile);
        let (ordered, scratch) = scratch.split_at_mut(n_rows * self.n_places());
        let (mut re_out, mut im_out) = out.split_at(Axis(1), n);
        for start in (0..n).step_by(tile) {
            let columns = start..n.min(start + tile);
            let mut re_out = re_out.slice_mut(s![.., columns.clone()]);
            let mut im_out = im_out.slice_mut(s![.., columns]);
            // Both parts of a factor have the same order.
            let first = factors[0].0.ordered(&rows, ordered);
            factors[0].0.values_into(first, start, re_out.view_mut(), scratch)?;
            factors[0].1.values_into(first, start, im_out.view_mut(), scratch)?;
            for (re_factor, im_factor) in &factors[1..] {
                let (mut re, mut im) = (matrix(re_values, re_out.dim()), matrix(im_values, re_out.dim()));
                let rows = re_factor.ordered(&rows, ordered);
                re_factor.values_into(rows, start, re.view_mut(), scratch)?;
                im_factor.values_into(rows, start, im.view_mut(), scratch)?;
                let out = re_out.outer_iter_mut().zip(im_out.outer_iter_mut());
                for ((mut x, mut y), (a, b)) in out.zip(re.outer_iter().zip(im.outer_iter())) {
                    let values = (x.as_slice_mut().expect("row-major"), y.as_slice_mut().expect("row-major"));
                    multiply_complex(isa, values, (a.as_slice().expect("row-major"), b.as_slice().expect("row-major")));
                }
            }
        }
        Ok(())
    }

    /// Adds the gradient with respect to the rows, given that with respect to these features.
    fn backward_into(&self, rows: Rows<'_, T>, grad: ArrayView2<'_, T>, grad_rows: &mut Array2<T>) -> Result<()> {
        match self {
            Self::Constant(_) => Ok(()),
            Self::Real(factors) => {
                let values: Vec<Array2<T>> = factors.iter().map(|factor| factor.values(rows)).collect::<Result<_>>()?;
                (0..factors.len()).try_for_each(|l| {
                    let weights = others(&values, l).fold(grad.to_owned(), |product, value| product * value);
                    add_back(&factors[l], &weights, grad_rows)
                })
            }
            Self::Complex(factors) => {
                let parts = |(re, im): &(Factor<T>, Factor<T>)| Ok((re.values(rows)?, im.values(rows)?));
                let values: Vec<(Array2<T>, Array2<T>)> = factors.iter().map(parts).collect::<Result<_>>()?;
                let (re, im) = grad.split_at(Axis(1), factors[0].0.n_outputs());
                (0..factors.len()).try_for_each(|l| {
                    // That by the product, times the conjugate of the other factors.
                    let (re, im) = others(&values, l)
                        .fold((re.to_owned(), im.to_owned()), |(x, y), (a, b)| (&x * a + &y * b, &y * a - &x * b));
                    add_back(&factors[l].0, &re, grad_rows)?;
                    add_back(&factors[l].1, &im, grad_rows)
                })
            }
            Self::Squares(factors) => factors.iter().enumerate().try_for_each(|(number, factor)| {
                let twice = T::from_f64(if number % 2 == 0 { 2.0 } else { -2.0 });
                add_back(factor, &(factor.values(rows)? * grad * twice), grad_rows)
            }),
        }
    }
}

/// All but number `l`.
fn others<V>(values: &[V], l: usize) -> impl Iterator<Item = &V> {
    values.iter().enumerate().filter(move |(at, _)| *at != l).map(|(_, value)| value)
}

fn add_back<T: Scalar>(factor: &Factor<T>, weights: &Array2<T>, grad_rows: &mut Array2<T>) -> Result<()> {
    let mut back = Array2::zeros((grad_rows.nrows(), factor.projection.n_inputs()));
    factor.projection.project_back_into(weights.view(), back.view_mut())?;
    match &factor.order {
        None => grad_rows.zip_mut_with(&back, |sum, &value| *sum = *sum + value),
        Some(order) => {
            for (mut sums, back) in grad_rows.outer_iter_mut().zip(back.outer_iter()) {
                sums.iter_mut().zip(&*order.places).for_each(|(sum, &place)| *sum = *sum + back[place as usize]);
            }
        }
    }
    Ok(())
}

/// The first values as a matrix.
fn matrix<T>(values: &mut [T], (n_rows, n_columns): (usize, usize)) -> ArrayViewMut2<'_, T> {
    ArrayViewMut2::from_shape((n_rows, n_columns), &mut values[..n_rows * n_columns]).expect("as many values")
}

impl<T: Scalar> ProductMap<T> {
    pub(super) fn new(n_inputs: usize, parts: Vec<Part<T>>) -> Self {
        Self { n_inputs, parts }
    }

    /// The gradient with respect to the rows of any function with the gradient `grad_out` with respect to their features.
    ///
    /// Cost: that of the map g times, and of a product by each Vᵀ. For one batch: a row's gradient is the same bits in any.
    ///
    /// # Errors
    /// [`Error::Inputs`] when the rows have another length.
    ///
    /// # Panics
    /// When `grad_out` is not as large as the features, or `grad_rows` as the rows.
    pub fn backward_into(
        &self,
        rows: Rows<'_, T>,
        grad_out: ArrayView2<'_, T>,
        mut grad_rows: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        check_gradients(self, rows, &grad_out, &grad_rows)?;
        let (mut sum, mut start) = (Array2::zeros(grad_rows.dim()), 0);
        for part in &self.parts {
            let end = start + part.n_components();
            part.backward_into(rows, grad_out.slice(s![.., start..end]), &mut sum)?;
            start = end;
        }
        grad_rows.assign(&sum);
        Ok(())
    }
}

impl<T: Scalar> FeatureMap<T> for ProductMap<T> {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_components(&self) -> usize {
        self.parts.iter().map(Part::n_components).sum()
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        self.parts.iter().map(|part| part.scratch_len(n_rows)).max().unwrap_or(0)
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        check_inputs(rows, self.n_inputs)?;
        let mut start = 0;
        for part in &self.parts {
            let end = start + part.n_components();
            let at_once = part.rows_at_once();
            for first in (0..rows.n_rows()).step_by(at_once) {
                let last = rows.n_rows().min(first + at_once);
                let out = out.slice_mut(s![first..last, start..end]);
                part.transform_into(rows.slice(first, last), out, scratch)?;
            }
            start = end;
        }
        Ok(())
    }
}

/// Refuses rows of another length; other gradients than those of its features and rows are faults of the calling code.
fn check_gradients<T: Scalar>(
    map: &impl FeatureMap<T>,
    rows: Rows<'_, T>,
    grad_out: &ArrayView2<'_, T>,
    grad_rows: &ArrayViewMut2<'_, T>,
) -> Result<()> {
    check_inputs(rows, map.n_inputs())?;
    assert_eq!(grad_out.dim(), (rows.n_rows(), map.n_components()), "a gradient for each feature");
    assert_eq!(grad_rows.dim(), (rows.n_rows(), map.n_inputs()), "a gradient for each input");
    Ok(())
}

pub(in crate::feature_maps) fn check_inputs<T: Scalar>(rows: Rows<'_, T>, expected: usize) -> Result<()> {
    let got = rows.n_inputs();
    if got == expected { Ok(()) } else { Err(Error::Inputs { context: "product map".to_owned(), got, expected }) }
}

/// Checks the numbers of (γ⟨x,y⟩ + c)^degree that are known without data.
pub(in crate::feature_maps) fn check_polynomial(degree: u32, c: f64) -> Result<()> {
    if !(1..=MAX_DEGREE).contains(&degree) {
        return Err(Error::parameter("degree", degree, "1 to 64"));
    }
    if !(c >= 0.0 && c.is_finite()) {
        return Err(Error::parameter("c", c, "finite and at least 0"));
    }
    Ok(())
}
