//! Linear support vector machines by dual coordinate descent with shrinking.
//!
//! min over w of ½‖w‖² + Σᵢ Cᵢ·ℓ(yᵢ·w·xᵢ),  yᵢ = ±1,  ℓ(m) = max(0, 1 − m) or its square,
//!
//! through its dual: min over 0 ≤ αᵢ ≤ Uᵢ of ½·αᵀQ̄α − Σᵢ αᵢ, where Q̄ᵢⱼ = yᵢyⱼ·xᵢ·xⱼ plus Dᵢ on the diagonal, and
//! w = Σᵢ αᵢyᵢxᵢ is kept up to date:
//!
//! | loss | Uᵢ | Dᵢ |
//! |---|---|---|
//! | hinge | Cᵢ | 0 |
//! | squared hinge | ∞ | 1/(2Cᵢ) |
//!
//! An epoch takes the active rows in a random order. A step is the exact minimum over one αᵢ:
//! G = yᵢ·w·xᵢ − 1 + Dᵢαᵢ, αᵢ ← min(max(αᵢ − G/Q̄ᵢᵢ, 0), Uᵢ), w += Δαᵢ·yᵢxᵢ. A row whose αᵢ is at a bound, and whose G
//! keeps it there by more than any projected gradient of the epoch before, becomes inactive.
//!
//! We differ from the paper in when to stop and in which rows come back. The end is a relative duality gap: it bounds how
//! far the objective is above its minimum, whatever the scale of the data. The pass over all rows that measures it also
//! tells which rows are active from then on, so none is lost. With an intercept, every row has one more input, 1, whose
//! weight is penalised like the others.
//!
//! Cost: two passes over the values of the active rows for an epoch, one over all rows for a gap; memory: 36 bytes a
//! row. One thread, and the same bits on every machine. Dense and sparse rows agree up to rounding. The larger Cᵢ·‖xᵢ‖²,
//! the more epochs.
//!
//! Reference: Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for large-scale linear
//! SVM", ICML 2008, algorithm 3.
//!
//! ```
//! use mercer::learners::{DualLoss, DualParams, solve_dual};
//! use ndarray::array;
//!
//! // The rows 1 and -1 of opposite classes: w = 1 separates them with the margin 1.
//! let params = DualParams { loss: DualLoss::Hinge, intercept: false, max_epochs: 100, tol: 1e-6, seed: 0 };
//! let solution = solve_dual(array![[1.0], [-1.0]].view().into(), &[true, false], &[10.0; 2], &params, &|| false);
//! assert!(solution.converged && (solution.weights[0] - 1.0).abs() < 1e-3);
//! ```

mod descent;
#[cfg(test)]
mod tests;

use mercer_simd::{IndexSlice, Scalar};

use self::descent::Descent;
use super::rows::{DenseRows, RowAccess, SparseRows};
use crate::dataset::Rows;

/// ℓ(m), the loss of a margin m.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualLoss {
    /// max(0, 1 − m)
    Hinge,
    /// max(0, 1 − m)²
    SquaredHinge,
}

/// How to solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualParams {
    /// the loss of a row
    pub loss: DualLoss,
    /// whether rows have one more input, the constant 1
    pub intercept: bool,
    /// passes over the active rows at most
    pub max_epochs: usize,
    /// the gap relative to the objective that is small enough; 1e-3 serves classification
    pub tol: f64,
    /// of the order of the steps
    pub seed: u64,
}

/// The best weights seen.
#[derive(Clone, Debug, PartialEq)]
pub struct DualSolution {
    /// w, one for each input
    pub weights: Vec<f64>,
    /// the weight of the constant, 0 without an intercept
    pub intercept: f64,
    /// the primal objective
    pub objective: f64,
    /// primal less dual objective: the minimum is less than this below `objective`
    pub gap: f64,
    /// passes over the active rows
    pub epochs: usize,
    /// whether the gap is small enough
    pub converged: bool,
}

impl DualSolution {
    /// Of weights that are all 0.
    fn new(weights: Vec<f64>, objective: f64) -> Self {
        Self { weights, intercept: 0.0, objective, gap: objective, epochs: 0, converged: false }
    }
}

/// Solves one problem of two classes. Row `i` is of the class +1 where `positive[i]`, else −1; its C is `costs[i]`, and
/// rows of cost 0 are ignored. When `interrupted` says so (it is asked before every epoch), the result is the best of
/// what was measured until then.
///
/// # Panics
/// When the rows, classes and costs differ in number, rows are 2^32 or more or not row-major, or a cost is negative or
/// not finite: faults of the calling code.
pub fn solve_dual<T: Scalar>(
    rows: Rows<'_, T>,
    positive: &[bool],
    costs: &[f64],
    params: &DualParams,
    interrupted: &dyn Fn() -> bool,
) -> DualSolution {
    let n = rows.n_rows();
    assert!(positive.len() == n && costs.len() == n, "a class and a cost for each of {n} rows");
    assert!(u32::try_from(n).is_ok(), "{n} rows, at most 2^32 - 1");
    assert!(costs.iter().all(|cost| (0.0..f64::INFINITY).contains(cost)), "costs are finite and at least 0");
    match rows {
        Rows::Dense(x) => descend(DenseRows::new(x), positive, costs, params, interrupted),
        Rows::Sparse(x) => match x.indices() {
            IndexSlice::I32(indices) => descend(SparseRows::new(x, indices), positive, costs, params, interrupted),
            IndexSlice::I64(indices) => descend(SparseRows::new(x, indices), positive, costs, params, interrupted),
        },
    }
}

/// Chooses the code of the loss.
fn descend<R: RowAccess>(
    rows: R,
    positive: &[bool],
    costs: &[f64],
    params: &DualParams,
    interrupted: &dyn Fn() -> bool,
) -> DualSolution {
    match params.loss {
        DualLoss::Hinge => Descent::<R, false>::new(rows, positive, costs, params).run(params, interrupted),
        DualLoss::SquaredHinge => Descent::<R, true>::new(rows, positive, costs, params).run(params, interrupted),
    }
}
