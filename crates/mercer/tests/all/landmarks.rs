//! Pipelines over landmarks: how well they learn, what their files hold, and that weights multiplied by the second factor of a map
//! score as its features do.

use mercer::budget::{BudgetMethod, BudgetSpec};
use mercer::dataset::{BlockRows, CsrMatrix, Dataset, PanelRows, Rows, TargetBlock};
use mercer::feature_maps::{FeatureMap, Gamma, LandmarkForm, LandmarkMap, LandmarkSpec, Landmarks, MapSpec};
use mercer::kernels::{Kernel, KernelFamily, centre_in_place};
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

const FORMS: [LandmarkForm; 5] = [
    LandmarkForm::Nystroem,
    LandmarkForm::NystroemSymmetric,
    LandmarkForm::KgRp { n_terms: 10 },
    LandmarkForm::Korp,
    LandmarkForm::KernelPca,
];

/// `n` features of twice as many landmarks where they may differ.
fn formed(form: LandmarkForm, n: usize) -> LandmarkSpec {
    let is_square = matches!(form, LandmarkForm::Nystroem | LandmarkForm::NystroemSymmetric);
    LandmarkSpec { form, n_landmarks: (!is_square).then_some(2 * n), ..landmarks(n, BudgetMethod::Uniform) }
}

fn features(kernel: Kernel, landmarks: &Landmarks<f64>, rows: Rows<'_, f64>) -> Array2<f64> {
    let map = LandmarkMap::new(kernel, landmarks).unwrap();
    let mut out = Array2::zeros((rows.n_rows(), map.n_components()));
    map.transform_into(rows, out.view_mut(), &mut vec![f64::NAN; map.scratch_len(rows.n_rows())]).unwrap();
    out
}

/// Of equal landmarks: both Nyström forms and all directions of KORP have the same inner products, which KG-RP has on average, and all
/// principal components those of the centred kernel.
#[test]
fn forms_agree_in_their_inner_products() {
    let (rows, kernel) = (PanelRows::Dense(rings(0, 40, &THREE).dense_rows()), Kernel::Rbf { gamma: 2.0 });
    let others = rings(1, 30, &THREE).dense_rows();
    let gram = |form, n_components: usize, seed| {
        let spec = LandmarkSpec { form, n_landmarks: Some(40), ..LandmarkSpec::new(n_components) };
        let fitted = spec.fit(kernel, &rows, seed).unwrap();
        let features = features(kernel, &fitted, Rows::Dense(others.view()));
        features.dot(&features.t())
    };
    let far = |a: &Array2<f64>, b: &Array2<f64>| (a - b).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let nystroem = gram(LandmarkForm::Nystroem, 40, 0);
    // Pivots above 3e-10 of the largest leave half of the digits at worst.
    for form in [LandmarkForm::NystroemSymmetric, LandmarkForm::Korp] {
        let off = far(&gram(form, 40, 1), &nystroem);
        assert!(off < 1e-6, "{form:?}: {off}");
    }
    let (n_seeds, k) = (400, 50);
    let mut mean = Array2::<f64>::zeros(nystroem.dim());
    for seed in 0..n_seeds {
        mean += &(gram(LandmarkForm::KgRp { n_terms: 10 }, k, seed) / n_seeds as f64);
    }
    // A product of signed sums has a variance of at most 2 + the fourth moment's 40/10 for rows of length 1: 4.5 standard errors.
    let off = far(&mean, &nystroem);
    assert!(off < 4.5 * (6.0 / (n_seeds as f64 * k as f64)).sqrt(), "{off}");
    let mut exact = Array2::<f64>::zeros((40, 40));
    kernel.gram_into(rows.view(), rows.view(), exact.view_mut()).unwrap();
    centre_in_place(exact.view_mut()).unwrap();
    let spec = LandmarkSpec { form: LandmarkForm::KernelPca, n_landmarks: Some(40), ..LandmarkSpec::new(40) };
    let features = features(kernel, &spec.fit(kernel, &rows, 0).unwrap(), rows.view());
    let off = far(&features.dot(&features.t()), &exact);
    assert!(off < 1e-10, "{off}");
}

#[test]
fn rings_are_learned_by_every_form() {
    let (train, test) = (rings(0, 900, &THREE), rings(1, 600, &THREE));
    for form in FORMS {
        for (loss, dtype) in [(Loss::Squared, Dtype::Float32), (Loss::SquaredHinge, Dtype::Float64)] {
            let spec = spec(formed(form, 60), loss);
            let (model, report) = Model::fit(&train.dataset(), &spec, dtype, &driver(2)).unwrap();
            let found = accuracy(&model, &test);
            assert!(found > 0.97, "{form:?}, {dtype}: {found}");
            // KG-RP has all its features whatever the rank; the others as many as it.
            let MapSpec::Landmark(resolved) = model.header().spec.map.spec else { panic!("a map of landmarks") };
            let landmarks = report.landmarks.unwrap();
            assert!(landmarks.rank <= landmarks.asked && resolved.n_components <= 60, "{form:?}");
            assert_eq!(resolved.form.name(), form.name());
            // A model from its parts scores alike, one thread or two.
            if dtype == Dtype::Float32 {
                let again = Model::from_parts(model.header(), tensors(&model)).unwrap();
                let expected = bits(&scores(&model, &test.dataset(), 2));
                assert_eq!(bits(&scores(&again, &test.dataset(), 1)), expected, "{form:?}");
            }
        }
    }
}

/// Duplicates, constant rows, one direction, widths of no and of all difference: finite features, and the rank is told.
#[test]
fn kernel_values_that_are_nearly_singular_are_no_trouble() {
    let line: fn(usize) -> f32 = |i| (i % 3) as f32;
    let index: fn(usize) -> f32 = |i| i as f32;
    let one: fn(usize) -> f32 = |_| 1.0;
    let cases = [
        ("duplicates", KernelFamily::Rbf, 1.0, line, 3),
        ("constant", KernelFamily::Rbf, 1.0, one, 1),
        ("one direction", KernelFamily::Linear, 1.0, index, 1),
        ("gamma of nothing", KernelFamily::Rbf, 1e-30, index, 1),
        ("gamma without end", KernelFamily::Rbf, 1e30, index, 40),
    ];
    for (name, kernel, gamma, value, rank) in cases {
        let x = Array2::from_shape_fn((40, 2), |(i, j)| value(i) * (j + 1) as f32);
        let targets = TargetBlock::Text((0..40).map(|i| THREE[i % 2].to_owned()).collect());
        let dataset = Dataset::from_memory("x", BlockRows::Dense32(x), Some(targets)).unwrap();
        for form in FORMS {
            let n_landmarks = (form.name() != "nystroem").then_some(40);
            let map = LandmarkSpec { kernel, n_landmarks, gamma: Gamma::Value(gamma), ..formed(form, 40) };
            let spec = PipelineSpec { preprocess: PreprocessSpec::None, ..spec(map, Loss::Squared) };
            let (model, report) = Model::fit(&dataset, &spec, Dtype::Float32, &driver(1)).unwrap();
            assert!(scores(&model, &dataset, 1).iter().all(|x| x.is_finite()), "{name}, {form:?}");
            // A component less than points differ in; of none one feature is left, which is 0.
            let expected = match (form, rank) {
                (LandmarkForm::KernelPca, 1) if name == "one direction" => 1,
                (LandmarkForm::KernelPca, rank) => (rank - 1).max(1),
                _ => rank,
            };
            assert_eq!(report.landmarks.unwrap().rank, expected, "{name}, {form:?}");
        }
    }
}

#[test]
fn forms_refuse_what_they_have_not() {
    let refused = |spec: LandmarkSpec| MapSpec::Landmark(spec).validate().unwrap_err().to_string();
    let of = |form, n_landmarks| LandmarkSpec { form, n_landmarks, ..LandmarkSpec::new(20) };
    assert!(refused(of(LandmarkForm::Nystroem, Some(30))).contains("n_landmarks is 30, must be left out"));
    assert!(refused(of(LandmarkForm::Korp, Some(10))).contains("n_components is 20, must be at most n_landmarks"));
    assert!(refused(of(LandmarkForm::KernelPca, Some(10))).contains("n_components is 20"));
    assert!(refused(of(LandmarkForm::KgRp { n_terms: 0 }, None)).contains("n_terms is 0"));
    assert!(refused(of(LandmarkForm::KgRp { n_terms: 30 }, None)).contains("n_terms is 30"));
    MapSpec::Landmark(of(LandmarkForm::KgRp { n_terms: 5 }, Some(10))).validate().unwrap();
    // A spec of a time before there were forms.
    let old = r#"{"n_components":3,"kernel":{"name":"rbf"},"gamma":0.5,"budget":{"method":"uniform"}}"#;
    let old: LandmarkSpec = serde_json::from_str(old).unwrap();
    assert_eq!((old.form, old.n_landmarks()), (LandmarkForm::Nystroem, 3));
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
