//! Pipelines that are compared: all but their size, which grows while they are.

use mercer_simd::Dtype;
use serde::{Deserialize, Serialize};

use super::Objective;
use crate::budget::{BudgetMethod, BudgetSpec};
use crate::dataset::{Layout, Task};
use crate::feature_maps::{
    Distance, Frequencies, Gamma, LandmarkSpec, MapSpec, SpectralKernel, SpectralSpec, TensorSrhtSpec,
};
use crate::kernels::KernelFamily;
use crate::learners::{ClassWeight, Lambda, LearnerSpec, Loss, Solver, Stopping};
use crate::pipeline::PipelineSpec;
use crate::preprocess::PreprocessSpec;

/// Distance from the minimum that is near enough: on MNIST with 16,384 waves 1e-3 took twice the passes of 1e-2 for 0.05 points of accuracy.
const TOL: f64 = 3e-3;
/// The same where a class is rare, of whose rows there are few among those with a loss.
const TOL_OF_RARE: f64 = 3e-4;
/// Multiply-adds that take the time in which a feature that is kept comes from memory, of a pass.
const STREAMED: f64 = 12.0;
/// Multiply-adds in the time of an absolute difference.
const ABSOLUTE: f64 = 6.0;
/// From one penalty to the next: paths of λ go by tens.
const PENALTY: f64 = 3.2;
/// Multiply-adds in the time in which a feature that is kept is first written: fresh memory is cleared by the system.
const FRESH: f64 = 150.0;
/// Matrices of few columns take longer for each multiply-add, as if they had so many more.
const NARROW: f64 = 1_000.0;
/// How landmarks are chosen. Already by the plain law, without a choice among proposals, 2,048 of them had 2.6 % of ijcnn1 wrong and not 3.2 % as by chance, 15.6 % of
/// covertype and not 16.0 %, 11.9 % of Fashion-MNIST and not 12.0 %; one run each.
const BUDGET: BudgetMethod = BudgetMethod::RandomCholesky;
/// Passes for a model, and for a path of λ with its model.
const PASSES: (f64, f64) = (20.0, 60.0);

/// How a kernel becomes features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// By landmarks: of any kernel, and of few features the best.
    Landmarks,
    /// By waves or products of Walsh-Hadamard transforms, whose cost for a row does not grow with features times inputs.
    Transforms,
}

/// A pipeline but for its number of features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// scaling of the inputs
    pub preprocess: PreprocessSpec,
    /// the kernel; linear stands for the inputs themselves
    pub kernel: KernelFamily,
    /// γ in units of the rule `scale`
    pub width: f64,
    /// how the kernel becomes features
    pub means: Means,
    /// whether each class has as many landmarks
    #[serde(default)]
    pub balanced: bool,
    /// of the learner
    pub loss: Loss,
    /// of the learner
    pub class_weight: ClassWeight,
    /// λ in units of that found for the rest of it
    #[serde(default = "as_found")]
    pub penalty: f64,
}

impl Contender {
    /// The inputs themselves.
    pub fn linear(loss: Loss) -> Self {
        Self {
            preprocess: PreprocessSpec::Auto,
            kernel: KernelFamily::Linear,
            width: 1.0,
            means: Means::Landmarks,
            balanced: false,
            loss,
            class_weight: ClassWeight::Uniform,
            penalty: as_found(),
        }
    }

    /// Whether it is a linear model.
    pub fn is_linear(&self) -> bool {
        self.kernel == KernelFamily::Linear
    }

    /// What γ multiplies.
    pub(super) fn distance(&self) -> Distance {
        if self.kernel.is_of_absolute_distance() { Distance::L1 } else { Distance::SquaredL2 }
    }

    /// The same by waves or products of transforms, where the kernel has them.
    pub(super) fn by_transforms(self) -> Option<Self> {
        let has = matches!(self.kernel, KernelFamily::Polynomial { .. }) || spectral(self.kernel).is_some();
        has.then_some(Self { means: Means::Transforms, balanced: false, ..self })
    }

    /// Its map of so many features, for a γ in numbers.
    pub(super) fn map(&self, n_components: usize, gamma: f64) -> MapSpec {
        // A kernel without a width has none in numbers.
        let gamma = if self.kernel.has_gamma() { Gamma::Value(gamma) } else { Gamma::Scale };
        match (self.means, self.kernel) {
            (_, KernelFamily::Linear) => MapSpec::Identity,
            (Means::Transforms, KernelFamily::Polynomial { degree, c }) => {
                // Complex numbers have two parts.
                let n_components = n_components.next_multiple_of(2);
                MapSpec::TensorSrht(TensorSrhtSpec { gamma, c, ..TensorSrhtSpec::new(n_components, degree) })
            }
            (Means::Transforms, kernel) if spectral(kernel).is_some() => {
                let kernel = spectral(kernel).unwrap_or_default();
                let frequencies =
                    if kernel == SpectralKernel::Laplace { Frequencies::Independent } else { Frequencies::Sorf };
                let n_components = n_components.next_multiple_of(2);
                MapSpec::Spectral(SpectralSpec { kernel, ..SpectralSpec::new(frequencies, n_components, gamma) })
            }
            (_, kernel) => {
                let budget = self.budget();
                MapSpec::Landmark(LandmarkSpec { kernel, gamma, budget, ..LandmarkSpec::new(n_components) })
            }
        }
    }

    fn budget(&self) -> BudgetSpec {
        BudgetSpec { method: BUDGET, balanced: self.balanced }
    }

    /// The whole pipeline.
    pub(super) fn pipeline(
        &self,
        map: MapSpec,
        lambda: Lambda,
        (task, objective): (Task, Objective),
        seed: u64,
    ) -> PipelineSpec {
        let tol = if objective == Objective::F1 { TOL_OF_RARE } else { TOL };
        let stopping = Stopping { tol, ..Stopping::default() };
        let learner = LearnerSpec { class_weight: self.class_weight, stopping, ..LearnerSpec::new(self.loss, lambda) };
        let (preprocess, task) = (self.preprocess, Some(task));
        PipelineSpec { preprocess, map, learner, task, cv: None, probabilities: false, seed }
    }

    /// What rung 0 compares: the linear model, then kernels from the likeliest on.
    pub fn all(layout: Layout, task: Task, objective: Objective) -> Vec<Self> {
        let loss = match (task, objective) {
            // Few rows of a class: squares of the others' distances would drown it.
            (Task::Classification, Objective::F1) => Loss::SquaredHinge,
            _ => Loss::Squared,
        };
        let linear = Self::linear(loss);
        // Of few rows of a class, chance would choose next to none.
        let of = |kernel, width| Self { kernel, width, balanced: objective == Objective::F1, ..linear };
        let scaled = |kernel, width| Self { preprocess: other_scaling(layout), ..of(kernel, width) };
        let (rbf, laplace, matern) = (KernelFamily::Rbf, KernelFamily::Laplace, KernelFamily::Matern { nu: 1.5 });
        let arc_cosine = KernelFamily::ArcCosine { degree: 1 };
        let poly = |degree| KernelFamily::Polynomial { degree, c: 1.0 };
        let kernels = match layout {
            // Words and other marks: what two rows have in common says more than their distance.
            Layout::Sparse => vec![
                of(rbf, 1.0),
                scaled(arc_cosine, 1.0),
                of(poly(2), 1.0),
                of(arc_cosine, 1.0),
                scaled(poly(2), 1.0),
                of(rbf, 0.25),
                of(laplace, 1.0),
                scaled(rbf, 4.0),
                scaled(laplace, 4.0),
                of(poly(3), 1.0),
                of(laplace, 4.0),
                of(matern, 1.0),
                of(rbf, 4.0),
            ],
            // No arc-cosine kernel: few rows of images prefer it, many do not, and its minima take twice the passes (docs/decisions/0018).
            Layout::Bytes | Layout::Dense => vec![
                of(rbf, 1.0),
                of(laplace, 1.0),
                of(rbf, 4.0),
                of(poly(2), 1.0),
                scaled(rbf, 4.0),
                of(rbf, 0.25),
                scaled(laplace, 4.0),
                of(laplace, 4.0),
                of(poly(3), 1.0),
                scaled(rbf, 32.0),
                of(matern, 1.0),
            ],
        };
        std::iter::once(linear).chain(kernels).collect()
    }

    /// Narrower and wider by a factor, with other penalties where they are asked for, and the same kernel of other scaled inputs.
    pub(super) fn near(&self, layout: Layout, factor: f64, with_penalties: bool) -> Vec<Self> {
        let preprocess = match self.preprocess {
            PreprocessSpec::Auto => other_scaling(layout),
            _ => PreprocessSpec::Auto,
        };
        let scaled = Self { preprocess, penalty: as_found(), ..*self };
        let penalties = [self.penalty / PENALTY, self.penalty * PENALTY];
        let others = penalties.into_iter().filter(|_| with_penalties).map(|penalty| Self { penalty, ..*self });
        if !self.kernel.has_gamma() || matches!(self.kernel, KernelFamily::Polynomial { .. }) {
            return others.chain([scaled]).collect();
        }
        let wide = |width| Self { width, ..*self };
        [wide(factor * self.width), wide(self.width / factor)].into_iter().chain(others).chain([scaled]).collect()
    }

    /// With penalties of a tenth and a hundredth of what was found.
    pub(super) fn with_less_penalty(&self) -> [Self; 2] {
        // As `near` divides, so that none is met twice.
        let tenth = as_found() / PENALTY / PENALTY;
        [tenth, tenth / PENALTY / PENALTY].map(|penalty| Self { penalty, ..*self })
    }

    /// The same with the other losses for its task.
    pub(super) fn other_losses(&self, task: Task, objective: Objective) -> Vec<Self> {
        let losses: &[Loss] = match task {
            Task::Classification => &[Loss::SquaredHinge, Loss::Squared],
            Task::Regression => &[Loss::Huber { delta: 1.345 }, Loss::Squared],
        };
        let mut others: Vec<Self> =
            losses.iter().filter(|loss| **loss != self.loss).map(|&loss| Self { loss, ..*self }).collect();
        if objective == Objective::F1 && self.class_weight == ClassWeight::Uniform {
            others.insert(0, Self { class_weight: ClassWeight::Balanced, ..*self });
        }
        others
    }

    /// Multiply-adds, about, that a training takes, with a path of λ or for one, with features kept between passes or not: to reckon from one size to
    /// another. Those in f64 count four.
    pub(super) fn cost(&self, size: Size, classes: &[u64], has_path: bool, is_kept: bool) -> Parts {
        let Size { n_rows, n_inputs, n_components, .. } = size;
        let [n, d, k] = [n_rows as f64, n_inputs as f64, n_components as f64];
        let map = self.map(n_components, 1.0);
        let (row, fit) = match &map {
            MapSpec::Identity => (0.0, 0.0),
            MapSpec::Landmark(_) => {
                let inputs = if self.distance() == Distance::L1 { ABSOLUTE * d } else { d };
                // All that there are need no choice.
                let choices = self.budget().choices(n_components, n_rows, classes);
                let choices = choices.into_iter().filter(|(n, k)| n > k).map(|(n, k)| (n as f64, k as f64));
                let chosen: f64 = choices.map(|(n, k)| n * k * (inputs + k / 2.0)).sum();
                (k * inputs, chosen + 2.0 * k * k * inputs + 2.0 * k * k * k)
            }
            MapSpec::TensorSrht(spec) => (k * f64::from(spec.degree) * (d.log2() + 4.0), 0.0),
            MapSpec::Spectral(spec) if spec.frequencies == Frequencies::Sorf => (k * (1.5 * d.log2() + 20.0), 0.0),
            _ => (k * d, 0.0),
        };
        let narrow = 1.0 + NARROW / k;
        if self.is_direct(size, has_path, is_kept) {
            let [sums, factors] = self.of_sums(size, has_path);
            return [narrow * fit, narrow * factors, n * row + sums];
        }
        let mapped = if is_kept { 1.0 } else { passes(has_path) };
        let [streamed, sampled] = of_passes(size, has_path, is_kept);
        [narrow * fit, narrow * sampled, mapped * n * row + streamed]
    }

    /// Whether the learner sums products of features and factorises them, not passes over the features. Of many features that can be kept passes for one λ take less.
    pub(super) fn is_direct(&self, size: Size, has_path: bool, is_kept: bool) -> bool {
        let usual = LearnerSpec::new(self.loss, Lambda::Auto).solver_for(size.n_rows, size.n_components);
        let total = |parts: [f64; 2]| parts.iter().sum::<f64>();
        let is_cheaper = || total(of_passes(size, has_path, is_kept)) < total(self.of_sums(size, has_path));
        usual == Solver::Direct && (has_path || !is_kept || self.is_linear() || !is_cheaper())
    }

    /// Products of features, which of landmarks are whitened for it; and a factor for each λ of a path and one for the model.
    fn of_sums(&self, size: Size, has_path: bool) -> [f64; 2] {
        let (n, k) = (size.n_rows as f64, size.n_components as f64);
        let unknowns = if 2.0 * n <= k { n } else { k };
        let whitened = if self.means == Means::Landmarks && !self.is_linear() { n * k * k / 2.0 } else { 0.0 };
        [whitened + n * k * unknowns / 2.0, if has_path { 12.0 } else { 1.5 } * unknowns.powi(3)]
    }

    /// In words.
    pub fn describe(&self, gamma: f64) -> String {
        let weighted = if self.class_weight == ClassWeight::Balanced { ", balanced classes" } else { "" };
        let scaled = match self.preprocess {
            PreprocessSpec::Auto => String::new(),
            preprocess => format!(", {}", preprocess.name().replace('_', " ")),
        };
        let kernel = match self.kernel {
            KernelFamily::Linear => "linear".to_owned(),
            KernelFamily::Polynomial { degree, .. } => format!("polynomial of degree {degree}"),
            KernelFamily::Rbf => format!("RBF, gamma {gamma:.4}"),
            KernelFamily::Laplace => format!("Laplace, gamma {gamma:.4}"),
            KernelFamily::Matern { nu } => format!("Matérn {nu}, gamma {gamma:.4}"),
            KernelFamily::ArcCosine { .. } => "arc-cosine".to_owned(),
            other => format!("{other:?}"),
        };
        let loss = if self.loss == Loss::SquaredHinge { "svm" } else { self.loss.learner() };
        let means = if self.means == Means::Transforms { ", by transforms" } else { "" };
        format!("{kernel}{scaled}{means}; {loss}{weighted}")
    }
}

/// Passes over the features; and the sample that preconditions them.
fn of_passes(size: Size, has_path: bool, is_kept: bool) -> [f64; 2] {
    let [n, k, m] = [size.n_rows as f64, size.n_components as f64, size.n_outputs as f64];
    let fresh = if is_kept { n * k * FRESH } else { 0.0 };
    let sample = n.min(if k <= 4096.0 { (4.0 * k).max(4096.0) } else { 4096.0 }) * k * k.min(4096.0);
    [fresh + passes(has_path) * n * k * (2.0 * m).max(STREAMED), sample]
}

fn passes(has_path: bool) -> f64 {
    if has_path { PASSES.1 } else { PASSES.0 }
}

/// Of a training: its landmarks, chosen and whitened; the factors of what it solves; and its features, with the passes over them. Their multiply-adds take different times.
pub(super) type Parts = [f64; 3];

/// What [`Parts`] take by the stages that a driver has timed, of so many seconds in all.
pub(super) fn parts(stages: &[(&str, f64)], seconds: f64) -> Parts {
    let of = |names: &[&str]| stages.iter().filter(|(name, _)| names.contains(name)).map(|stage| stage.1).sum::<f64>();
    let (map, solve) = (of(&["budget", "fit map"]), of(&["solve"]));
    [map, solve, (seconds - map - solve).max(0.0)]
}

/// How large a training is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) n_rows: u64,
    pub(super) n_inputs: usize,
    pub(super) n_components: usize,
    pub(super) n_outputs: usize,
}

fn as_found() -> f64 {
    1.0
}

/// What inputs are scaled by beside the default of their layout.
fn other_scaling(layout: Layout) -> PreprocessSpec {
    match layout {
        Layout::Bytes | Layout::Sparse => PreprocessSpec::UnitNorm,
        Layout::Dense => PreprocessSpec::MinMax,
    }
}

/// The kernels that have waves.
fn spectral(kernel: KernelFamily) -> Option<SpectralKernel> {
    match kernel {
        KernelFamily::Rbf => Some(SpectralKernel::Rbf),
        KernelFamily::Laplace => Some(SpectralKernel::Laplace),
        KernelFamily::Matern { nu } => Some(SpectralKernel::Matern { nu }),
        KernelFamily::Cauchy => Some(SpectralKernel::Cauchy),
        _ => None,
    }
}

/// Bytes that a training takes beside its rows: without features, which need not be kept, and those of the features.
pub(super) fn bytes(spec: &PipelineSpec, size: Size, dtype: Dtype) -> (u64, u64) {
    let memory = spec.memory(size.n_rows, size.n_inputs, size.n_outputs, dtype);
    (memory.total(), memory.features)
}
