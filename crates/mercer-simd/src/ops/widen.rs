//! Sums of panels, kept in f64.

use crate::dispatch::Op;
use crate::{InstructionSet, Scalar};

/// `sum[i] += panel[i]` in f64.
///
/// # Panics
/// When the slices differ in length.
pub fn add_widened<T: Scalar>(isa: InstructionSet, sum: &mut [f64], panel: &[T]) {
    assert_eq!(sum.len(), panel.len(), "one value for each sum");
    isa.run(AddWidened { sum, panel });
}

struct AddWidened<'a, T> {
    sum: &'a mut [f64],
    panel: &'a [T],
}

impl<T: Scalar> Op for AddWidened<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, &x) in self.sum.iter_mut().zip(self.panel) {
            *sum += x.to_f64();
        }
    }
}
