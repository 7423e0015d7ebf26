//! Pipelines over landmarks: how well they learn, what their files hold, and that weights multiplied by the second factor of a map
//! score as its features do.

use mercer::budget::{BudgetMethod, BudgetSpec};
use mercer::dataset::{BlockRows, CsrMatrix, Dataset, TargetBlock};
use mercer::feature_maps::{Gamma, LandmarkSpec, MapSpec};
use mercer::kernels::KernelFamily;
use mercer::learners::{Lambda, LearnerSpec, Loss};
use mercer::model::{AnyPipeline, Model, Tensor, TensorValues};
use mercer::pipeline::{Evaluation, Features, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Dtype, Silent};
use ndarray::{Array2, Axis};

use crate::data::{Data, bits, rings};

const THREE: [&str; 3] = ["inner", "middle", "outer"];

fn driver(threads: usize) -> Driver<'static> {
    Driver::new(threads, &Silent).unwrap()
}

fn landmarks(n_components: usize, method: BudgetMethod) -> LandmarkSpec {
    let budget = BudgetSpec { method, balanced: false };
    LandmarkSpec { budget, gamma: Gamma::Value(1.0), ..LandmarkSpec::new(n_components) }
}

fn spec(map: LandmarkSpec, loss: Loss) -> PipelineSpec {
    PipelineSpec {
        preprocess: PreprocessSpec::Auto,
        map: MapSpec::Landmark(map),
        learner: LearnerSpec::new(loss, Lambda::Value(1e-5)),
        task: None,
        cv: None,
        probabilities: false,
        seed: 4,
    }
}

fn accuracy(model: &Model, data: &Data) -> f64 {
    match model.evaluate(&driver(2), &data.dataset()).unwrap() {
        Evaluation::Classification(report) => report.accuracy,
        Evaluation::Regression(report) => panic!("a regression: {report:?}"),
    }
}

fn scores(model: &Model, dataset: &Dataset, threads: usize) -> Array2<f64> {
    let mut panels = Vec::new();
    let keep = |scores: ndarray::ArrayView2<'_, f64>| {
        panels.push(scores.to_owned());
        Ok(())
    };
    model.for_each_scores(&driver(threads), dataset, keep).unwrap();
    let views: Vec<_> = panels.iter().map(|scores| scores.view()).collect();
    ndarray::concatenate(Axis(0), &views).unwrap()
}

fn tensors(model: &Model) -> Vec<Tensor<f32>> {
    match model.pipeline() {
        AnyPipeline::Float32(pipeline) => pipeline.tensors(),
        AnyPipeline::Float64(_) => panic!("fitted in f32"),
    }
}

#[test]
fn rings_are_learned_by_few_landmarks_of_any_method_and_loss() {
    let (train, test) = (rings(0, 900, &THREE), rings(1, 600, &THREE));
    for method in BudgetMethod::ALL {
        for dtype in [Dtype::Float32, Dtype::Float64] {
            let spec = spec(landmarks(60, method), Loss::Squared);
            let (model, _) = Model::fit(&train.dataset(), &spec, dtype, &driver(2)).unwrap();
            let found = accuracy(&model, &test);
            assert!(found > 0.97, "{method:?}, {dtype}: {found}");
        }
    }
    for loss in [Loss::SquaredHinge, Loss::Softmax, Loss::Hinge] {
        let spec = spec(landmarks(60, BudgetMethod::RandomCholesky), loss);
        let (model, _) = Model::fit(&train.dataset(), &spec, Dtype::Float32, &driver(2)).unwrap();
        let found = accuracy(&model, &test);
        assert!(found > 0.97, "{loss:?}: {found}");
    }
}

#[test]
fn balanced_landmarks_need_classes() {
    let train = rings(0, 300, &THREE);
    let balanced = |map: LandmarkSpec| {
        let budget = BudgetSpec { balanced: true, ..map.budget };
        spec(LandmarkSpec { budget, ..map }, Loss::Squared)
    };
    let spec = balanced(landmarks(30, BudgetMethod::Uniform));
    let (model, _) = Model::fit(&train.dataset(), &spec, Dtype::Float32, &driver(1)).unwrap();
    assert!(accuracy(&model, &rings(1, 300, &THREE)) > 0.95);
    let x = Array2::from_shape_fn((40, 2), |(i, j)| ((i * 7 + j * 3) % 11) as f32);
    let dataset = Dataset::from_memory("x", BlockRows::Dense32(x), None).unwrap();
    let error = Features::<f32>::fit(&dataset, PreprocessSpec::None, &spec.map, 0, &driver(1)).err().unwrap();
    assert!(error.to_string().contains("balanced is on, must be off for data without classes"), "{error}");
}

/// Dense and sparse landmarks: a model from its parts scores alike, and its tensors are those of a file.
#[test]
fn a_model_from_its_parts_scores_alike() {
    let train = rings(0, 300, &THREE);
    let mut sparse = CsrMatrix::<f32>::new(3);
    for row in train.dense_rows().outer_iter() {
        sparse.push(0, row[0] as f32).unwrap();
        sparse.push(2, row[1] as f32).unwrap();
        sparse.finish_row();
    }
    let labels = (0..300).map(|i| THREE[i % 3].to_owned()).collect();
    let sparse = Dataset::from_memory("sparse", BlockRows::Sparse32(sparse), Some(TargetBlock::Text(labels))).unwrap();
    for (dataset, names) in [
        (train.dataset(), vec!["map.whitening", "map.landmarks"]),
        (sparse, vec!["map.whitening", "map.landmarks", "map.landmarks.columns", "map.landmarks.starts"]),
    ] {
        let spec = spec(landmarks(40, BudgetMethod::RandomCholesky), Loss::Squared);
        let (model, _) = Model::fit(&dataset, &spec, Dtype::Float32, &driver(2)).unwrap();
        let parts = tensors(&model);
        let of_map: Vec<&str> = parts.iter().map(|t| t.name.as_str()).filter(|name| name.starts_with("map.")).collect();
        assert_eq!(of_map, names);
        let again = Model::from_parts(model.header(), parts.clone()).unwrap();
        assert_eq!(bits(&scores(&again, &dataset, 1)), bits(&scores(&model, &dataset, 2)));
        assert_eq!(tensors(&again), parts);
        // Parts that miss, or do not fit.
        for name in names {
            let missing = parts.iter().filter(|tensor| tensor.name != name).cloned().collect();
            let error = Model::from_parts::<f32>(model.header(), missing).err().unwrap();
            assert!(matches!(error, mercer::Error::Model(_)), "without {name}: {error}");
            let mut swapped = parts.clone();
            let tensor = swapped.iter_mut().find(|tensor| tensor.name == name).unwrap();
            tensor.values = match &tensor.values {
                TensorValues::Floats(_) => TensorValues::Integers(Array2::zeros((1, 1))),
                TensorValues::Integers(_) => TensorValues::Floats(Array2::zeros((1, 1))),
            };
            assert!(Model::from_parts::<f32>(model.header(), swapped).is_err(), "{name} of another type");
        }
        let mut header = model.header();
        let MapSpec::Landmark(map) = &mut header.spec.map.spec else { panic!("a map of landmarks") };
        map.n_components += 1;
        assert!(Model::from_parts::<f32>(header, parts).is_err());
    }
}

/// So many landmarks that passes read kernel values and the weights are multiplied instead: the model is that of the features.
#[test]
fn many_landmarks_are_learned_without_whitening_the_rows() {
    let (train, test) = (rings(0, 6000, &THREE), rings(1, 900, &THREE));
    let map = LandmarkSpec { kernel: KernelFamily::Laplace, ..landmarks(2200, BudgetMethod::Uniform) };
    let lambda = Lambda::Value(1e-4);
    let learner =
        LearnerSpec { solver: mercer::learners::Solver::Iterative, ..LearnerSpec::new(Loss::Squared, lambda) };
    let by_passes = PipelineSpec { learner, ..spec(map.clone(), Loss::Squared) };
    let directly = PipelineSpec { learner: LearnerSpec::new(Loss::Squared, lambda), ..by_passes.clone() };
    let (direct, _) = Model::fit(&train.dataset(), &directly, Dtype::Float64, &driver(2)).unwrap();
    let (passes, report) = Model::fit(&train.dataset(), &by_passes, Dtype::Float64, &driver(2)).unwrap();
    assert!(report.convergence.unwrap().converged);
    let (expected, got) = (scores(&direct, &test.dataset(), 2), scores(&passes, &test.dataset(), 2));
    // The objective is within 1e-4 of its minimum, so scores differ by about √(1e-4·objective) on average.
    let off = (&got - &expected).mapv(|x| x * x).mean().unwrap().sqrt();
    assert!(off < 0.02, "{off}");
    assert_eq!(bits(&scores(&passes, &test.dataset(), 1)), bits(&got));
    // What does not fit memory is made again at every pass: the same bits.
    let little = Driver::new(1, &Silent).unwrap().with_memory(1 << 20);
    let (streamed, _) = Model::fit(&train.dataset(), &by_passes, Dtype::Float64, &little).unwrap();
    assert_eq!(bits(&scores(&streamed, &test.dataset(), 1)), bits(&got));
}
