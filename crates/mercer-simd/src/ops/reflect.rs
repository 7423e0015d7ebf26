//! Householder reflections of a few columns: P ↦ P − β·v·(vᵀP).
//!
//! Every element is a fixed chain of fused multiply-adds over the entries of v in ascending order, columns apart from one
//! another: the same bits on every instruction set and however many columns are worked on together.

use crate::InstructionSet;
use crate::dispatch::Op;

/// Columns of a panel.
pub const PANEL: usize = 32;

/// Reflects the last `v.len()` rows of a panel: rows of [`PANEL`] values.
///
/// # Panics
/// When v is longer than the panel.
pub fn reflect(isa: InstructionSet, v: &[f64], beta: f64, panel: &mut [[f64; PANEL]]) {
    let first = panel.len().checked_sub(v.len()).expect("an entry for a row");
    isa.run(Reflect { v, beta, panel: &mut panel[first..] });
}

struct Reflect<'a> {
    v: &'a [f64],
    beta: f64,
    panel: &'a mut [[f64; PANEL]],
}

impl Op for Reflect<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut products = [0.0; PANEL];
        for (&v, row) in self.v.iter().zip(&*self.panel) {
            for (product, &x) in products.iter_mut().zip(row) {
                *product = v.mul_add(x, *product);
            }
        }
        for product in &mut products {
            *product *= -self.beta;
        }
        for (&v, row) in self.v.iter().zip(self.panel) {
            for (x, &product) in row.iter_mut().zip(&products) {
                *x = v.mul_add(product, *x);
            }
        }
    }
}
