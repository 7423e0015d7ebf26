//! How much memory a training takes, told before it starts.

use mercer_simd::Dtype;
use serde::Serialize;

use super::PipelineSpec;
use crate::dataset::panel_rows;

/// Bytes that the parts of a training take, the rows themselves aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TrainingMemory {
    /// The random matrix, and what it is drawn from.
    pub map: u64,
    /// A panel of rows with its features.
    pub panel: u64,
    /// What is learned from: sums of products for all rows and for those not held out, and a factor; or few rows.
    pub learner: u64,
}

impl TrainingMemory {
    /// All parts together.
    pub fn total(&self) -> u64 {
        self.map + self.panel + self.learner
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
        // Triangles of f64: see `selection::lambda` and, for few rows, `learners::RidgeRows`.
        let triangle = |n: u64| n * (n + 1) / 2 * 8;
        let learner = if 2 * n_rows <= components {
            2 * n_rows * components * 8 + 3 * triangle(n_rows)
        } else {
            3 * (triangle(components) + components * (outputs + 1) * 8)
        };
        TrainingMemory { map, panel, learner }
    }
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
        assert_eq!(memory.total(), memory.map + memory.panel + memory.learner);
        assert_eq!(spec.memory(100, 784, 10, Dtype::Float64).learner, 2 * 100 * 4096 * 8 + 3 * 5050 * 8);
    }
}
