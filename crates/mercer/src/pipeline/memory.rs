//! How much memory a training takes, told before it starts.

use mercer_simd::Dtype;
use serde::Serialize;

use super::PipelineSpec;
use crate::dataset::panel_rows;
use crate::learners::{STEPS_KEPT, Scheme, Solver};

/// Bytes that the parts of a training take, the rows themselves aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TrainingMemory {
    /// The random matrix, and what it is drawn from.
    pub map: u64,
    /// A panel of rows with its features.
    pub panel: u64,
    /// What is learned from: sums of products for all rows and for those not held out, and a factor; or few rows; or the
    /// targets, a preconditioner and some steps.
    pub learner: u64,
    /// The features of all rows, where there are passes and memory allows; by stochastic gradients their targets too.
    pub features: u64,
}

impl TrainingMemory {
    /// All parts together, but for features that need not be kept.
    pub fn total(&self) -> u64 {
        self.map.saturating_add(self.panel).saturating_add(self.learner)
    }
}

impl PipelineSpec {
    /// What a training on so many rows, inputs and outputs takes.
    pub fn memory(&self, n_rows: u64, n_inputs: usize, n_outputs: usize, dtype: Dtype) -> TrainingMemory {
        let size = match dtype {
            Dtype::Float32 => 4,
            Dtype::Float64 => 8,
        };
        let (d, components, outputs) = (n_inputs as u64, self.map.n_components(n_inputs) as u64, n_outputs as u64);
        let (kept, drawn_from) = (self.map.n_entries(n_inputs), self.map.n_drawn_from(n_inputs));
        let map = kept.saturating_mul(size).saturating_add(drawn_from.saturating_mul(8));
        let panel = n_rows.min(panel_rows(n_inputs.max(components as usize)) as u64) * (d + components) * size;
        // Class numbers, and what they become for the solver and for its trials.
        let wide = |x: u64| u128::from(x);
        let targets = wide(n_rows) * wide(4 + 3 * outputs * size);
        let all = wide(n_rows) * wide(components * size);
        let (learner, features) = match self.learner.solver_for(n_rows, components as usize) {
            Solver::Direct => (direct(n_rows.into(), components.into(), outputs.into()), 0),
            Solver::Dual => (targets + all, 0),
            // Iterate and average in f64, and the model.
            Solver::Sgd => (32 * u128::from(components) * u128::from(outputs), targets + all),
            Solver::Auto | Solver::Iterative => (targets + iterative(n_rows, components, outputs, size), all),
        };
        let narrow = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        let (learner, features) = (narrow(learner), narrow(features));
        TrainingMemory { map, panel, learner, features }
    }
}

/// Triangles of f64: see `selection::lambda` and, for few rows, `learners::RidgeRows`.
fn direct(n_rows: u128, components: u128, outputs: u128) -> u128 {
    let triangle = |n: u128| n * (n + 1) / 2 * 8;
    if 2 * n_rows <= components {
        2 * n_rows * components * 8 + 3 * triangle(n_rows)
    } else {
        3 * (triangle(components) + components * (outputs + 1) * 8)
    }
}

/// The preconditioner, and the last steps with their gradients.
fn iterative(n_rows: u64, components: u64, outputs: u64, size: u64) -> u128 {
    const NOW: u64 = 6;
    let scheme = Scheme::of(n_rows as usize, components as usize, outputs as usize, false);
    let steps = u128::from(2 * STEPS_KEPT as u64 + NOW) * u128::from(components) * u128::from(outputs) * 8;
    u128::from(scheme.bytes(n_rows, components, outputs, size)) + steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_maps::{Gamma, MapSpec};
    use crate::learners::{Lambda, LearnerSpec};
    use crate::preprocess::PreprocessSpec;

    /// MNIST with 4,096 features: V 784 × 2,048, panels of 2,048 rows, triangles of 67 MB.
    #[test]
    fn by_hand() {
        let spec = PipelineSpec {
            preprocess: PreprocessSpec::Auto,
            map: MapSpec::fourier(4096, Gamma::Scale),
            learner: LearnerSpec::ridge(Lambda::Auto),
            task: None,
            cv: None,
            probabilities: false,
            seed: 0,
        };
        let memory = spec.memory(60_000, 784, 10, Dtype::Float32);
        assert_eq!(memory.map, 784 * 2048 * 4);
        assert_eq!(memory.panel, 2048 * (784 + 4096) * 4);
        assert_eq!(memory.learner, 3 * (4096 * 4097 / 2 * 8 + 4096 * 11 * 8));
        assert_eq!((memory.total(), memory.features), (memory.map + memory.panel + memory.learner, 0));
        // Passes by 32,768 features: a sample of 4,096 rows in two forms, its Gram matrix and factor.
        let spec = PipelineSpec { map: MapSpec::fourier(32_768, Gamma::Scale), ..spec };
        let memory = spec.memory(60_000, 784, 10, Dtype::Float32);
        let sampled = 2 * 4096 * 32_768 * 4 + 2 * (4096 * 4097 / 2 * 8);
        assert_eq!(memory.learner, 60_000 * 124 + sampled + 30 * 32_768 * 10 * 8);
        assert_eq!(memory.features, 60_000 * 32_768 * 4);
        let spec = PipelineSpec { map: MapSpec::fourier(4096, Gamma::Scale), ..spec };
        assert_eq!(spec.memory(100, 784, 10, Dtype::Float64).learner, 2 * 100 * 4096 * 8 + 3 * 5050 * 8);
    }
}
