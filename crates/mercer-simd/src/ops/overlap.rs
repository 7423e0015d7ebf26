//! What a row has in common with many others, summed over their inputs: to |x−y| what x·y is to (x−y)².
//!
//! | overlap | of two values | distance Σx + Σy − 2·overlap |
//! |---|---|---|
//! | [`Common`] | min(\|x\|,\|y\|) where the signs agree, else 0 | ‖x−y‖₁, with \|x\| and \|y\| for x and y |
//! | [`Harmonic`] | 2xy/(x+y), 0 for 0/0; x, y ≥ 0 | Σ (xᵢ−yᵢ)²/(xᵢ+yᵢ) |
//!
//! An overlap with 0 is 0, so only the stored values of the row count, and dense rows give the same bits as sparse
//! ones: the sum goes over the inputs in order, one sum for each of the many rows, which lie side by side in a panel.

use std::marker::PhantomData;

use ndarray::{ArrayView2, ArrayViewMut1};

use crate::InstructionSet;
use crate::dispatch::Op;

/// A symmetric function of two values that is 0 where one of them is.
pub trait Overlap: Copy {
    /// What is prepared once for a value of the row.
    type Left: Copy;
    /// Prepares the value `x` of the row.
    fn left(x: f64) -> Self::Left;
    /// Adds the overlap of x and `y` to `sum`.
    fn add(sum: f64, x: Self::Left, y: f64) -> f64;
}

/// min(|x|,|y|) where the signs of x and y agree, else 0.
#[derive(Clone, Copy, Debug)]
pub struct Common;

impl Overlap for Common {
    /// The interval from 0 to x, and the sign of x.
    type Left = (f64, f64, f64);

    #[inline(always)]
    fn left(x: f64) -> Self::Left {
        (x.min(0.0), x.max(0.0), 1.0_f64.copysign(x))
    }

    #[inline(always)]
    fn add(sum: f64, (low, high, sign): Self::Left, y: f64) -> f64 {
        // The comparisons are those of the vector instructions; `clamp` and `max` also have to sort out NaN.
        let y = if y > low { y } else { low };
        let y = if y < high { y } else { high };
        y.mul_add(sign, sum)
    }
}

/// 2xy/(x+y), the harmonic mean; 0 for x = y = 0.
#[derive(Clone, Copy, Debug)]
pub struct Harmonic;

impl Overlap for Harmonic {
    /// x and 2x.
    type Left = (f64, f64);

    #[inline(always)]
    fn left(x: f64) -> Self::Left {
        (x, 2.0 * x)
    }

    #[inline(always)]
    fn add(sum: f64, (x, twice): Self::Left, y: f64) -> f64 {
        let total = x + y;
        let total = if total > 0.0 { total } else { 1.0 };
        twice.mul_add(y / total, sum) // not 2xy first: it may overflow
    }
}

/// `out[j]` = Σ overlap(`values[k]`, `panel[inputs[k], j]`): of one row, given by its stored values, with the columns of
/// the panel, which is stored row by row. Cost: a few operations for each stored value and column.
///
/// # Panics
/// When the shapes do not fit or the panel or `out` is not contiguous: a fault of the calling code.
pub fn overlaps_into<O: Overlap>(
    isa: InstructionSet,
    inputs: &[usize],
    values: &[f64],
    panel: ArrayView2<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
) {
    assert_eq!(inputs.len(), values.len(), "one input for each value");
    assert_eq!(panel.ncols(), out.len(), "one sum for each column of the panel");
    let panel = panel.to_slice().expect("overlaps need a contiguous panel");
    let out = out.as_slice_mut().expect("overlaps need contiguous sums");
    isa.run(Overlaps::<O> { inputs, values, panel, out, overlap: PhantomData });
}

struct Overlaps<'a, O> {
    inputs: &'a [usize],
    values: &'a [f64],
    panel: &'a [f64],
    out: &'a mut [f64],
    overlap: PhantomData<O>,
}

/// Columns a pass: 4 registers of AVX-512, 8 of AVX2, so that the sums never leave them.
const CHUNK: usize = 32;
const NARROW: usize = 8;

impl<O: Overlap> Op for Overlaps<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let n = self.out.len();
        let (wide, narrow) = (n - n % CHUNK, n - n % NARROW);
        for column in (0..wide).step_by(CHUNK) {
            self.chunk::<CHUNK>(column);
        }
        for column in (wide..narrow).step_by(NARROW) {
            self.chunk::<NARROW>(column);
        }
        for column in narrow..n {
            self.chunk::<1>(column);
        }
    }
}

impl<O: Overlap> Overlaps<'_, O> {
    #[inline(always)]
    fn chunk<const W: usize>(&mut self, column: usize) {
        let (mut sums, width) = ([0.0; W], self.out.len());
        for (&input, &value) in self.inputs.iter().zip(self.values) {
            let left = O::left(value);
            let first = input * width + column;
            let row: &[f64; W] = self.panel[first..first + W].try_into().expect("W columns");
            for (sum, &y) in sums.iter_mut().zip(row) {
                *sum = O::add(*sum, left, y);
            }
        }
        self.out[column..column + W].copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;
    use crate::ops::random::normal_into;

    fn definition(harmonic: bool, x: f64, y: f64) -> f64 {
        match harmonic {
            true if x + y > 0.0 => 2.0 * x * (y / (x + y)),
            false if x * y > 0.0 => x.abs().min(y.abs()),
            _ => 0.0,
        }
    }

    #[test]
    fn is_the_definition_in_the_same_bits_on_every_instruction_set() {
        let mut numbers = vec![0.0; 60 * 76];
        normal_into(InstructionSet::best(), 1, (0, 0), 0, &mut numbers);
        for harmonic in [false, true] {
            let sign = |x: f64| if harmonic { x.abs() } else { x };
            let x: Vec<f64> = (0..60).map(|k| sign(numbers[k * 76]) * f64::from(k % 3 > 0)).collect();
            for n in [1, 7, 8, 31, 32, 33, 75] {
                let panel = Array2::from_shape_fn((60, n), |(k, j)| sign(numbers[k * 76 + j + 1]));
                let stored: Vec<usize> = (0..60).filter(|k| k % 3 > 0).collect();
                let values: Vec<f64> = stored.iter().map(|&k| x[k]).collect();
                let all: Vec<usize> = (0..60).collect();
                let overlaps = |isa, inputs: &[usize], values: &[f64]| {
                    let mut out = Array1::from_elem(n, f64::NAN);
                    match harmonic {
                        true => overlaps_into::<Harmonic>(isa, inputs, values, panel.view(), out.view_mut()),
                        false => overlaps_into::<Common>(isa, inputs, values, panel.view(), out.view_mut()),
                    }
                    out
                };
                let expected = overlaps(InstructionSet::available()[0], &stored, &values);
                for isa in InstructionSet::available() {
                    assert_eq!(overlaps(isa, &stored, &values), expected, "{isa:?}");
                    assert_eq!(overlaps(isa, &all, &x), expected, "{isa:?}, zeros stored");
                }
                for (j, got) in expected.iter().enumerate() {
                    let sum: f64 = x.iter().zip(panel.column(j)).map(|(&x, &y)| definition(harmonic, x, y)).sum();
                    // 60 additions and, for the harmonic mean, 3 roundings a term.
                    assert!((got - sum).abs() <= 130.0 * f64::EPSILON * sum, "{got} for {sum}");
                }
            }
        }
    }

    #[test]
    fn zeros_and_extremes() {
        let overlap = |x: f64, y: f64| Harmonic::add(0.0, Harmonic::left(x), y);
        assert_eq!((overlap(0.0, 0.0), overlap(3.0, 0.0), overlap(0.0, 3.0)), (0.0, 0.0, 0.0));
        assert_eq!((overlap(1e200, 1e200), overlap(5e-324, 5e-324)), (1e200, 5e-324));
        let overlap = |x: f64, y: f64| Common::add(0.0, Common::left(x), y);
        assert_eq!(
            (overlap(-2.0, -3.0), overlap(-2.0, 3.0), overlap(2.0, 1.0), overlap(0.0, -1.0)),
            (2.0, 0.0, 1.0, 0.0)
        );
    }
}
