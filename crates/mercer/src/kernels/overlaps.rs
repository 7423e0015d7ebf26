//! Distances that are sums of absolute or of χ² differences, by what rows have in common.
//!
//! ```text
//! ‖x−y‖₁            = Σ|xᵢ| + Σ|yᵢ| − 2 Σ min(|xᵢ|,|yᵢ|)·[signs agree]
//! Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ) = Σxᵢ + Σyᵢ − 2 Σ 2xᵢyᵢ/(xᵢ+yᵢ)
//! ```
//!
//! So both are to their [overlap](mercer_simd::ops::overlap) what ‖x−y‖² is to ⟨x,y⟩, and are taken the same way: a block of
//! y is laid out side by side in a panel, each row of x meets it with its stored values only, and a pair that cancels
//! more than four digits is taken again from its differences. Equal rows have distance exactly 0. The results are the
//! same bits dense or sparse, on every instruction set and for any cut of the rows: there is one sum, in order, for
//! every pair, and rows wider than a panel leave out terms that are 0.
//!
//! Cost for n × m rows: m operations (AVX-512: 3 for 8 pairs, χ²: a division for each pair) for every stored value of x.

use std::ops::Range;

use mercer_simd::ops::overlap::{Overlap, overlaps_into};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{Array2, ArrayViewMut2};

use super::distances::CLOSE;
use super::pairs::sum_of_pairs;
use super::products::{Panel, block_len, check_widths};
use crate::dataset::Rows;
use crate::{Error, Result};

/// Rows of y in a panel: 784 inputs of them are 400 KB, which stay in the second-level cache for a block of x.
const PANEL_ROWS: usize = 64;
/// Rows of x in a block: a panel is laid out once for all of them.
const BLOCK_ROWS: usize = 256;

/// Calls `visit(rows of x, rows of y, overlaps of those)` until every pair was visited once.
///
/// # Errors
/// [`Error::Inputs`] when the rows differ in width.
pub(super) fn for_each_overlap_block<T: Scalar, O: Overlap>(
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    check_widths(x.n_inputs(), y.n_inputs())?;
    for at in (0..x.n_rows()).step_by(BLOCK_ROWS) {
        let of_x = at..x.n_rows().min(at + BLOCK_ROWS);
        let (mut entries, mut start) = (None, 0);
        while start < y.n_rows() {
            let of_y = start..start + block_len(y, start, PANEL_ROWS);
            let panel = Panel::new(y.slice(of_y.start, of_y.end));
            let entries = match &mut entries {
                Some(entries) if panel.has_every_input() => entries,
                entries => entries.insert(Entries::new(x.slice(of_x.start, of_x.end), &panel)),
            };
            let mut block = Array2::zeros((of_x.len(), of_y.len()));
            for (i, out) in block.outer_iter_mut().enumerate() {
                let (inputs, values) = entries.row(i);
                overlaps_into::<O>(InstructionSet::best(), inputs, values, panel.values(), out);
            }
            visit(of_x.clone(), of_y.clone(), block.view_mut());
            start = of_y.end;
        }
    }
    Ok(())
}

/// The values other than 0 of a block of rows, and where a panel has their inputs; values it has no input for meet zeros.
struct Entries {
    ends: Vec<usize>,
    positions: Vec<usize>,
    values: Vec<f64>,
}

impl Entries {
    fn new<T: Scalar>(x: Rows<'_, T>, panel: &Panel) -> Self {
        let mut entries = Self { ends: vec![0], positions: Vec::new(), values: Vec::new() };
        for i in 0..x.n_rows() {
            match x {
                Rows::Dense(x) => {
                    panel.inputs(x.ncols()).for_each(|(at, input)| entries.push(at, x[[i, input]].to_f64()));
                }
                Rows::Sparse(x) => {
                    x.row(i).for_each(|(input, value)| {
                        panel.position(input).into_iter().for_each(|at| entries.push(at, value.to_f64()));
                    });
                }
            }
            entries.ends.push(entries.values.len());
        }
        entries
    }

    fn push(&mut self, at: usize, value: f64) {
        if value != 0.0 {
            self.positions.push(at);
            self.values.push(value);
        }
    }

    fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.ends[i]..self.ends[i + 1];
        (&self.positions[range.clone()], &self.values[range])
    }
}

/// The same with the distances: `sums_x`[i] + `sums_y`[j] − 2·overlap, or Σ `difference` where that cancels.
///
/// # Errors
/// [`Error::Inputs`] when the rows differ in width.
pub(super) fn for_each_overlap_distance_block<T: Scalar, O: Overlap>(
    (x, sums_x): (Rows<'_, T>, &[f64]),
    (y, sums_y): (Rows<'_, T>, &[f64]),
    difference: fn(f64, f64) -> f64,
    mut visit: impl FnMut(Range<usize>, Range<usize>, ArrayViewMut2<'_, f64>),
) -> Result<()> {
    for_each_overlap_block::<T, O>(x, y, |of_x, of_y, mut block| {
        for (i, mut row) in of_x.clone().zip(block.outer_iter_mut()) {
            for (j, value) in of_y.clone().zip(&mut row) {
                let sums = sums_x[i] + sums_y[j];
                *value = sums - 2.0 * *value;
                let precise = *value > CLOSE * sums; // false for NaN too
                if !precise {
                    *value = sum_of_pairs((x, i), (y, j), difference);
                }
            }
        }
        visit(of_x, of_y, block);
    })
}

/// |x−y|
pub(super) fn absolute_difference(x: f64, y: f64) -> f64 {
    (x - y).abs()
}

/// (x−y)²/(x+y), 0 for x = y = 0.
pub(super) fn chi_squared_difference(x: f64, y: f64) -> f64 {
    let (difference, sum) = (x - y, x + y);
    if sum > 0.0 { difference * (difference / sum) } else { difference }
}

/// 2xy/(x+y), 0 for x = y = 0.
pub(super) fn harmonic_mean(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if sum > 0.0 { 2.0 * x * (y / sum) } else { sum }
}

/// Every value is at least 0 (and none is NaN).
///
/// # Errors
/// [`Error::Negative`] with the first that is not.
pub(super) fn check_not_negative<T: Scalar>(x: Rows<'_, T>) -> Result<()> {
    let bad = |value: T| value < T::zero() || value.is_nan();
    let found = match x {
        Rows::Dense(x) => x.indexed_iter().find(|&(_, &value)| bad(value)).map(|(at, &value)| (at, value)),
        Rows::Sparse(x) => (0..x.n_rows())
            .find_map(|i| x.row(i).find(|&(_, value)| bad(value)).map(|(input, value)| ((i, input), value))),
    };
    match found {
        None => Ok(()),
        Some(((row, input), value)) => Err(Error::Negative { row: row as u64, input, value: value.to_f64() }),
    }
}
