//! Whole pipelines on generated data: how well they learn, that nothing but data, spec and seed changes a bit, and that
//! whatever cannot work is an error.

use std::sync::atomic::{AtomicU64, Ordering};

use mercer::dataset::{BlockRows, ClassLabel, Dataset, Folds, PanelRows, TargetBlock, Task};
use mercer::feature_maps::{Gamma, MapSpec, ResolvedMap, SpectralSpec};
use mercer::learners::{Lambda, LearnerSpec, LinearModel, RidgeStatistics};
use mercer::model::{Header, Model, Tensor, TensorValues};
use mercer::pipeline::{Evaluation, Features, FitReport, Outputs, Pipeline, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::random::{Purpose, permutation};
use mercer::{Driver, Dtype, Error, Progress, Scalar, Silent};
use ndarray::{Array2, Axis, s};
use serde::Deserialize;

use crate::data::{Data, Naive, bits, class_of, normal, rings, signs, sparse_signs, waves};

const THREE: [&str; 3] = ["inner", "middle", "outer"];

fn spec(n_components: usize) -> PipelineSpec {
    PipelineSpec {
        preprocess: PreprocessSpec::Auto,
        map: MapSpec::fourier(n_components, Gamma::Scale),
        learner: LearnerSpec::ridge(Lambda::Auto),
        task: None,
        cv: None,
        probabilities: false,
        seed: 4,
    }
}

fn with_lambda(lambda: f64, spec: PipelineSpec) -> PipelineSpec {
    PipelineSpec { learner: LearnerSpec::ridge(Lambda::Value(lambda)), ..spec }
}

fn with_gamma(gamma: Gamma, n_components: usize) -> PipelineSpec {
    PipelineSpec { map: MapSpec::fourier(n_components, gamma), ..spec(0) }
}

fn driver() -> Driver<'static> {
    Driver::new(2, &Silent).unwrap()
}

fn fit(dataset: &Dataset, spec: &PipelineSpec) -> mercer::Result<(Model, FitReport)> {
    Model::fit(dataset, spec, Dtype::Float32, &driver())
}

fn fit_error(dataset: &Dataset, spec: &PipelineSpec) -> Error {
    fit(dataset, spec).err().expect("must be refused")
}

fn accuracy(model: &Model, data: &Data) -> f64 {
    match model.evaluate(&driver(), &data.dataset()).unwrap() {
        Evaluation::Classification(report) => report.accuracy,
        Evaluation::Regression(report) => panic!("a regression: {report:?}"),
    }
}

fn scores(model: &Model, dataset: &Dataset) -> Array2<f64> {
    let mut panels = Vec::new();
    let keep = |scores: ndarray::ArrayView2<'_, f64>| {
        panels.push(scores.to_owned());
        Ok(())
    };
    model.for_each_scores(&driver(), dataset, keep).unwrap();
    let views: Vec<_> = panels.iter().map(|scores| scores.view()).collect();
    ndarray::concatenate(Axis(0), &views).unwrap()
}

/// The share of rows that a ridge model on the inputs themselves gets right.
fn linear_accuracy(train: &Data, test: &Data, n_classes: usize, class: impl Fn(usize) -> usize) -> f64 {
    let of = |data: &Data| (0..data.n_rows()).map(&class).collect::<Vec<_>>();
    let model = Naive::fit(&train.dense_rows(), &signs(&of(train), n_classes), 1e-6);
    let scores = model.scores(&test.dense_rows());
    let right = scores.outer_iter().zip(of(test)).filter(|(row, class)| class_of(*row) == *class);
    right.count() as f64 / test.n_rows() as f64
}

// How well it learns.

#[test]
fn rings_are_learned_where_lines_fail() {
    let (train, test) = (rings(0, 900, &THREE), rings(1, 600, &THREE));
    let line = linear_accuracy(&train, &test, 3, |i| i % 3);
    assert!(line < 0.5, "{line}");
    for dtype in [Dtype::Float32, Dtype::Float64] {
        let (model, report) = Model::fit(&train.dataset(), &spec(200), dtype, &driver()).unwrap();
        assert!(accuracy(&model, &test) > 0.98, "{dtype}");
        assert_eq!((report.n_rows, report.n_constant_inputs), (900, 0));
        assert_eq!(model.header().outputs.classes(), THREE.map(|x| ClassLabel::Text(x.to_owned())));
        // The mean error of a kernel value is 1/√n_components at most.
        let approximation = model.approximation(&driver(), &train.dataset()).unwrap();
        assert!(approximation.unwrap().kernel.rmse < (1.0_f64 / 200.0).sqrt());
    }
    let (model, _) = fit(&train.dataset(), &with_gamma(Gamma::Median, 200)).unwrap();
    assert!(accuracy(&model, &test) > 0.98);
}

#[test]
fn two_classes_have_one_score() {
    let (train, test) = (rings(0, 400, &["a", "b"]), rings(1, 400, &["a", "b"]));
    let (model, _) = fit(&train.dataset(), &spec(100)).unwrap();
    assert!(accuracy(&model, &test) > 0.98);
    let scores = scores(&model, &test.dataset());
    assert_eq!(scores.ncols(), 1);
    let right = scores.iter().enumerate().filter(|(i, score)| (**score > 0.0) == (i % 2 == 1)).count();
    assert_eq!(right as f64 / 400.0, accuracy(&model, &test));
}

/// The noise is 0.5 % of the variance of the targets, and a line explains at most 15 %.
#[test]
fn two_waves_are_learned_together() {
    let (train, test) = (waves(0, 1_500), waves(1, 500));
    for dtype in [Dtype::Float32, Dtype::Float64] {
        let (model, _) = Model::fit(&train.dataset(), &spec(200), dtype, &driver()).unwrap();
        let Evaluation::Regression(report) = model.evaluate(&driver(), &test.dataset()).unwrap() else {
            panic!("not a regression")
        };
        assert_eq!(report.targets.len(), 2);
        assert!(report.targets.iter().all(|target| target.r2 > 0.95), "{dtype}: {report:?}");
        assert_eq!(model.header().outputs, Outputs::Regression { n_targets: 2 });
    }
}

#[test]
fn sparse_rows_are_learned() {
    let (train, test) = (sparse_signs(0, 1_000), sparse_signs(1, 500));
    let truth = |data: &Data| match &data.targets {
        TargetBlock::Numbers(y) => y.iter().map(|&y| usize::from(y > 0.0)).collect::<Vec<_>>(),
        TargetBlock::Text(_) => unreachable!(),
    };
    let line = Naive::fit(&train.dense_rows(), &signs(&truth(&train), 2), 1e-6).scores(&test.dense_rows());
    let right = line.outer_iter().zip(truth(&test)).filter(|(row, class)| class_of(*row) == *class).count();
    assert!((right as f64) < 0.6 * 500.0, "{right}");
    let (model, _) = fit(&train.dataset(), &with_gamma(Gamma::Value(0.5), 400)).unwrap();
    assert!(accuracy(&model, &test) > 0.95);
    assert_eq!(model.header().spec.preprocess, PreprocessSpec::MaxAbs);

    // The same rows stored densely are the same model, but for the scaling asked for.
    let dense = Data { rows: BlockRows::Dense64(train.dense_rows()), ..train.clone() };
    let asked = PipelineSpec { preprocess: PreprocessSpec::MaxAbs, ..with_gamma(Gamma::Value(0.5), 400) };
    assert_eq!(parts(&fit(&dense.dataset(), &asked).unwrap().0), parts(&model));
}

#[test]
fn bytes_are_divided_by_255() {
    let x = normal(0, 300, 4).mapv(|x| (128.0 + 50.0 * x).clamp(0.0, 255.0) as u8);
    let labels = x.outer_iter().map(|row| if row[0].abs_diff(128) > 30 { "far" } else { "near" }.to_owned()).collect();
    let dataset = Dataset::from_memory("bytes", BlockRows::Bytes(x), Some(TargetBlock::Text(labels))).unwrap();
    let (model, _) = fit(&dataset, &spec(200)).unwrap();
    assert_eq!(model.header().spec.preprocess, PreprocessSpec::Bytes);
    let Evaluation::Classification(report) = model.evaluate(&driver(), &dataset).unwrap() else { panic!("classes") };
    assert!(report.accuracy > 0.9, "{report:?}");
}

// Nothing else changes a bit.

/// Header and tensors to the bit.
fn parts(model: &Model) -> (String, Vec<(String, Vec<u64>)>) {
    let header = serde_json::to_string(&model.header()).unwrap();
    fn tensors<T: Scalar>(tensors: Vec<Tensor<T>>) -> Vec<(String, Vec<u64>)> {
        let values = |values| match values {
            TensorValues::Floats(values) => bits(&values),
            TensorValues::Integers(values) => values.iter().map(|&value| value as u64).collect(),
        };
        tensors.into_iter().map(|tensor| (tensor.name, values(tensor.values))).collect()
    }
    let tensors = match model.pipeline() {
        mercer::model::AnyPipeline::Float32(pipeline) => tensors(pipeline.tensors()),
        mercer::model::AnyPipeline::Float64(pipeline) => tensors(pipeline.tensors()),
    };
    (header, tensors)
}

fn check_identical(data: &Data, spec: &PipelineSpec, dtype: Dtype) {
    let (model, report) = Model::fit(&data.dataset(), spec, dtype, &Driver::new(1, &Silent).unwrap()).unwrap();
    for threads in [1, 2, 3] {
        let driver = Driver::new(threads, &Silent).unwrap();
        for block_rows in [1, 7, 512, 1_000, 5_000] {
            for in_memory in [true, false] {
                let dataset = data.delivered(block_rows, in_memory);
                let (other, other_report) = Model::fit(&dataset, spec, dtype, &driver).unwrap();
                let context = format!("{threads} threads, blocks of {block_rows}, in memory: {in_memory}");
                assert_eq!(parts(&other), parts(&model), "{context}");
                assert_eq!(other_report, report, "{context}");
            }
        }
    }
    let other_seed = PipelineSpec { seed: spec.seed + 1, ..spec.clone() };
    let (other, _) = Model::fit(&data.dataset(), &other_seed, dtype, &driver()).unwrap();
    assert_ne!(parts(&other).1, parts(&model).1, "the seed is ignored");
}

/// 270 components are two tiles of the sums, 4,500 rows three panels.
#[test]
fn the_same_model_for_any_threads_and_blocks() {
    check_identical(&rings(0, 4_500, &THREE), &spec(270), Dtype::Float32);
}

#[test]
fn the_same_model_for_any_threads_and_blocks_of_sparse_rows() {
    check_identical(&sparse_signs(0, 1_300), &with_gamma(Gamma::Median, 60), Dtype::Float32);
}

#[test]
fn the_same_model_for_any_threads_and_blocks_cross_validated_in_f64() {
    check_identical(&waves(0, 1_300), &PipelineSpec { cv: Some(3), ..spec(40) }, Dtype::Float64);
}

#[test]
fn rows_score_alike_alone_and_together() {
    let cases = [(rings(0, 300, &THREE), rings(1, 600, &THREE)), (sparse_signs(0, 300), sparse_signs(1, 600))];
    for (train, test) in cases {
        for dtype in [Dtype::Float32, Dtype::Float64] {
            let (model, _) = Model::fit(&train.dataset(), &spec(70), dtype, &driver()).unwrap();
            let together = scores(&model, &test.dataset());
            assert_eq!(together.nrows(), 600);
            for i in (0..600).step_by(13).chain([511, 512, 599]) {
                let alone = scores(&model, &test.slice(i, i + 1).dataset());
                assert_eq!(bits(&alone), bits(&together.slice(s![i..=i, ..]).to_owned()), "row {i}, {dtype}");
            }
            assert_eq!(bits(&scores(&model, &test.delivered(17, false))), bits(&together));
        }
    }
}

// A model from its parts.

fn fitted_parts() -> (Model, Header, Vec<Tensor<f32>>) {
    let (model, _) = fit(&rings(0, 300, &THREE).dataset(), &with_lambda(1e-4, spec(20))).unwrap();
    let (header, tensors) = (model.header(), tensors_of(&model));
    (model, header, tensors)
}

fn tensors_of(model: &Model) -> Vec<Tensor<f32>> {
    match model.pipeline() {
        mercer::model::AnyPipeline::Float32(pipeline) => pipeline.tensors(),
        mercer::model::AnyPipeline::Float64(_) => panic!("fitted in f32"),
    }
}

#[test]
fn a_model_from_its_parts_scores_alike() {
    let (model, header, tensors) = fitted_parts();
    let header: Header = serde_json::from_str(&serde_json::to_string(&header).unwrap()).unwrap();
    let test = rings(1, 100, &THREE).dataset();
    let reversed = tensors.iter().rev().cloned().collect();
    for tensors in [tensors, reversed] {
        let again = Model::from_parts(header.clone(), tensors).unwrap();
        assert_eq!(bits(&scores(&again, &test)), bits(&scores(&model, &test)));
        assert_eq!(parts(&again), parts(&model));
    }
}

type Tampering = (&'static str, fn(&mut Header, &mut Vec<Tensor<f32>>));

fn named<'a>(tensors: &'a mut [Tensor<f32>], name: &str) -> &'a mut Array2<f32> {
    match &mut tensors.iter_mut().find(|tensor| tensor.name == name).unwrap().values {
        TensorValues::Floats(values) => values,
        TensorValues::Integers(_) => panic!("{name} is of integers"),
    }
}

fn fourier(header: &mut Header) -> (&mut usize, &mut Gamma, &mut usize, &mut u32) {
    let ResolvedMap { spec, n_inputs, random_layout, .. } = &mut header.spec.map;
    let MapSpec::Spectral(SpectralSpec { n_components, gamma, .. }) = spec else { panic!("a spectral map") };
    (n_components, gamma, n_inputs, random_layout)
}

fn classes(header: &mut Header) -> &mut Vec<ClassLabel> {
    let Outputs::Classification { classes } = &mut header.outputs else { panic!("a classification") };
    classes
}

const TAMPERINGS: [Tampering; 41] = [
    ("no weights", |_, t| t.retain(|t| t.name != "learner.weights")),
    ("no intercept", |_, t| t.retain(|t| t.name != "learner.intercept")),
    ("no shift", |_, t| t.retain(|t| t.name != "preprocess.shift")),
    ("no scale", |_, t| t.retain(|t| t.name != "preprocess.scale")),
    ("no tensors", |_, t| t.clear()),
    ("unknown tensor", |_, t| t.push(Tensor { name: "extra".to_owned(), values: Array2::zeros((1, 1)).into() })),
    ("weights twice", |_, t| t.push(t[0].clone())),
    ("weights transposed", |_, t| *named(t, "learner.weights") = named(t, "learner.weights").t().to_owned()),
    ("a row of weights less", |_, t| *named(t, "learner.weights") = Array2::zeros((19, 3))),
    ("a column of weights less", |_, t| *named(t, "learner.weights") = Array2::zeros((20, 2))),
    ("an output less", |_, t| {
        *named(t, "learner.weights") = Array2::zeros((20, 2));
        *named(t, "learner.intercept") = Array2::zeros((1, 2));
    }),
    ("empty weights", |_, t| *named(t, "learner.weights") = Array2::zeros((0, 0))),
    ("intercept as a column", |_, t| *named(t, "learner.intercept") = Array2::zeros((3, 1))),
    ("an intercept more", |_, t| *named(t, "learner.intercept") = Array2::zeros((1, 4))),
    ("a shift more", |_, t| *named(t, "preprocess.shift") = Array2::zeros((1, 3))),
    ("a scale less", |_, t| *named(t, "preprocess.scale") = Array2::zeros((1, 1))),
    ("scales as a matrix", |_, t| *named(t, "preprocess.scale") = Array2::zeros((2, 1))),
    ("NaN weight", |_, t| named(t, "learner.weights")[[7, 1]] = f32::NAN),
    ("infinite intercept", |_, t| named(t, "learner.intercept")[[0, 2]] = f32::INFINITY),
    ("NaN scale", |_, t| named(t, "preprocess.scale")[[0, 1]] = f32::NAN),
    ("infinite shift", |_, t| named(t, "preprocess.shift")[[0, 0]] = f32::NEG_INFINITY),
    ("preprocess none", |h, _| h.spec.preprocess = PreprocessSpec::None),
    ("preprocess auto", |h, _| h.spec.preprocess = PreprocessSpec::Auto),
    ("preprocess max_abs", |h, _| h.spec.preprocess = PreprocessSpec::MaxAbs),
    ("dtype", |h, _| h.spec.dtype = Dtype::Float64),
    ("format version 0", |h, _| h.format_version = 0),
    ("format version 2", |h, _| h.format_version = 2),
    ("random layout 0", |h, _| *fourier(h).3 = 0),
    ("random layout 2", |h, _| *fourier(h).3 = 2),
    ("gamma by a rule", |h, _| *fourier(h).1 = Gamma::Median),
    ("gamma NaN", |h, _| *fourier(h).1 = Gamma::Value(f64::NAN)),
    ("gamma 0", |h, _| *fourier(h).1 = Gamma::Value(0.0)),
    ("components", |h, _| *fourier(h).0 = 22),
    ("inputs", |h, _| *fourier(h).2 = 3),
    ("no inputs", |h, _| *fourier(h).2 = 0),
    ("one class", |h, _| classes(h).truncate(1)),
    ("a class twice", |h, _| classes(h)[1] = ClassLabel::Text("outer".to_owned())),
    ("a class more", |h, _| classes(h).push(ClassLabel::Text("outermost".to_owned()))),
    ("a regression of no targets", |h, _| h.outputs = Outputs::Regression { n_targets: 0 }),
    ("input names", |h, _| h.input_names = vec!["x".to_owned(); 3]),
    ("target names", |h, _| h.target_names = vec!["y".to_owned(); 2]),
];

#[test]
fn every_tampering_is_refused() {
    for (what, tamper) in TAMPERINGS {
        let (_, mut header, mut tensors) = fitted_parts();
        tamper(&mut header, &mut tensors);
        let result = Model::from_parts(header, tensors);
        assert!(matches!(result, Err(Error::Model(_) | Error::Parameter { .. } | Error::Targets(_))), "{what}");
    }
    let (_, header, tensors) = fitted_parts();
    let wide = |values| match values {
        TensorValues::Floats(values) => TensorValues::Floats(values.mapv(f64::from)),
        TensorValues::Integers(values) => TensorValues::Integers(values),
    };
    let wide = tensors.into_iter().map(|t| Tensor { name: t.name, values: wide(t.values) }).collect();
    assert!(matches!(Model::from_parts::<f64>(header, wide), Err(Error::Model(_))));
}

#[test]
fn unknown_fields_of_a_header_are_refused() {
    let (_, header, _) = fitted_parts();
    let text = serde_json::to_string(&header).unwrap();
    let with_field = text.replacen('{', "{\"colour\":1,", 1);
    assert!(serde_json::from_str::<Header>(&with_field).unwrap_err().to_string().contains("colour"));
}

// Validation.

/// Scaled rows through the map of a fitted pipeline.
fn features(pipeline: &Pipeline<f64>, data: &Data) -> Array2<f64> {
    let mut rows = PanelRows::Dense(data.dense_rows());
    pipeline.features().preprocess().apply_in_place(&mut rows);
    let mut out = Array2::zeros((data.n_rows(), pipeline.features().map().unwrap().n_components()));
    let mut scratch = vec![0.0; pipeline.features().map().unwrap().scratch_len(data.n_rows())];
    pipeline.features().map().unwrap().transform_into(rows.view(), out.view_mut(), &mut scratch).unwrap();
    out
}

struct NaiveFold {
    n_rows: u64,
    n_wrong: usize,
    squared_error: f64,
}

/// Every judging part of `n_parts`, by a model fitted to all other rows.
fn naive_folds(
    z: &Array2<f64>,
    y: &Array2<f64>,
    classes: Option<&[usize]>,
    (n_parts, n_judging): (usize, usize),
    lambda: f64,
) -> Vec<NaiveFold> {
    let mut folds = Folds::new(spec(0).seed, Purpose::Fold, n_parts);
    let part_of: Vec<_> = (0..z.nrows()).map(|i| folds.next_fold(classes.map_or(0, |c| c[i] as u32))).collect();
    let judge = |fold| {
        let (judges, rest): (Vec<_>, Vec<_>) = (0..z.nrows()).partition(|&i| part_of[i] == fold);
        let model = Naive::fit(&z.select(Axis(0), &rest), &y.select(Axis(0), &rest), lambda);
        let scores = model.scores(&z.select(Axis(0), &judges));
        let wrong = |at: usize, i: usize| classes.is_some_and(|c| class_of(scores.row(at)) != c[i]);
        NaiveFold {
            n_rows: judges.len() as u64,
            n_wrong: judges.iter().enumerate().filter(|(at, i)| wrong(*at, **i)).count(),
            squared_error: (&scores - &y.select(Axis(0), &judges)).mapv(|e| e * e).mean().unwrap(),
        }
    };
    (0..n_judging).map(judge).collect()
}

/// Every candidate and every fold of the report against models fitted from scratch, in f64.
fn check_validation(data: &Data, y: &Array2<f64>, classes: Option<&[usize]>, cv: Option<usize>) {
    let spec = PipelineSpec { cv, ..spec(40) };
    let (pipeline, report) = Pipeline::<f64>::fit(&data.dataset(), &spec, &driver()).unwrap();
    let z = features(&pipeline, data);
    let choice = report.lambda.unwrap();
    let parts = cv.map_or((10, 1), |k| (k, k));
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs();
    assert_eq!(choice.candidates.iter().map(|c| c.lambda).collect::<Vec<_>>(), Lambda::CANDIDATES);
    let mut best = (f64::INFINITY, f64::INFINITY, 0.0);
    for candidate in &choice.candidates {
        let folds = naive_folds(&z, y, classes, parts, candidate.lambda);
        let n: u64 = folds.iter().map(|fold| fold.n_rows).sum();
        let squared = folds.iter().map(|fold| fold.squared_error * fold.n_rows as f64).sum::<f64>() / n as f64;
        let wrong = folds.iter().map(|fold| fold.n_wrong).sum::<usize>() as f64 / n as f64;
        assert!(close(candidate.loss.unwrap(), squared), "{candidate:?}: {squared}");
        assert_eq!(candidate.error_rate, classes.map(|_| wrong), "{candidate:?}");
        if (wrong, squared) < (best.0, best.1) {
            best = (wrong, squared, candidate.lambda);
        }
    }
    assert_eq!(choice.lambda, best.2);
    assert_eq!(pipeline.spec().learner.lambda, best.2);
    let folds = naive_folds(&z, y, classes, parts, choice.lambda);
    assert_eq!(folds.len(), choice.folds.len());
    for (naive, fold) in folds.iter().zip(&choice.folds) {
        assert_eq!(fold.n_rows, naive.n_rows);
        let accuracy = 1.0 - naive.n_wrong as f64 / naive.n_rows as f64;
        assert_eq!(fold.accuracy, classes.map(|_| accuracy));
        assert!(close(fold.rmse, naive.squared_error.sqrt()), "{fold:?}");
    }
    // The model itself is fitted to all rows.
    let naive = Naive::fit(&z, y, choice.lambda).scores(&z);
    let mut got = Array2::zeros(naive.dim());
    pipeline.model().scores_into(z.view().into(), got.view_mut());
    assert!((&got - &naive).iter().all(|e| e.abs() < 1e-6));
}

#[test]
fn folds_of_classes_equal_models_fitted_from_scratch() {
    let data = rings(0, 700, &THREE);
    let classes: Vec<usize> = (0..700).map(|i| i % 3).collect();
    check_validation(&data, &signs(&classes, 3), Some(&classes), Some(4));
    check_validation(&data, &signs(&classes, 3), Some(&classes), None);
}

#[test]
fn folds_of_real_targets_equal_models_fitted_from_scratch() {
    let data = waves(0, 600);
    let TargetBlock::Numbers(y) = &data.targets else { unreachable!() };
    check_validation(&data, y, None, Some(3));
    check_validation(&data, y, None, None);
}

/// One row in ten is of the rare class, and so is one judge in ten: exactly, as both counts divide by ten.
#[test]
fn rows_held_out_are_stratified() {
    let classes: Vec<usize> = (0..500).map(|i| usize::from(i % 10 == 0)).collect();
    for seed in 0..20 {
        let mut folds = Folds::new(seed, Purpose::Fold, 10);
        let judges: Vec<_> = classes.iter().filter(|&&class| folds.next_fold(class as u32) == 0).collect();
        assert_eq!((judges.len(), judges.iter().filter(|class| ***class == 1).count()), (50, 5));
    }
    let labels = Array2::from_shape_fn((500, 1), |(i, _)| classes[i] as f64);
    let data = Data::dense(normal(0, 500, 3), labels);
    let choice = fit(&data.dataset(), &spec(20)).unwrap().1.lambda.unwrap();
    assert_eq!(choice.folds.iter().map(|fold| fold.n_rows).collect::<Vec<_>>(), [50]);
}

#[test]
fn a_given_lambda_is_only_judged_when_asked() {
    let data = rings(0, 300, &THREE).dataset();
    let given = with_lambda(3e-3, spec(40));
    let (model, report) = fit(&data, &given).unwrap();
    assert_eq!(model.header().spec.learner.lambda, 3e-3);
    assert!(report.lambda.is_none());
    let (judged, report) = fit(&data, &PipelineSpec { cv: Some(5), ..given }).unwrap();
    assert_eq!(parts(&judged), parts(&model));
    let choice = report.lambda.unwrap();
    assert_eq!((choice.lambda, choice.candidates.len(), choice.folds.len()), (3e-3, 1, 5));
    assert!(choice.folds.iter().all(|fold| fold.n_rows == 60 && fold.accuracy.unwrap() > 0.8));
}

// Tasks and targets.

fn column(values: impl IntoIterator<Item = f64>) -> Array2<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    Array2::from_shape_vec((values.len(), 1), values).unwrap()
}

#[test]
fn the_task_is_found_or_given() {
    let x = normal(0, 60, 2);
    let whole = Data::dense(x.clone(), column((0..60).map(|i| f64::from(i % 3)))).dataset();
    let fractions = Data::dense(x, column((0..60).map(|i| f64::from(i % 3) / 2.0))).dataset();
    let real = Outputs::Regression { n_targets: 1 };
    let outputs = |data: &Dataset, task| fit(data, &PipelineSpec { task, ..spec(10) }).unwrap().0.header().outputs;
    assert_eq!(outputs(&whole, None).classes().len(), 3);
    assert_eq!(outputs(&whole, Some(Task::Regression)), real);
    assert_eq!(outputs(&fractions, None), real);
    assert_eq!(outputs(&fractions, Some(Task::Classification)).classes()[1], ClassLabel::Number(0.5));
}

#[test]
fn targets_that_cannot_be_learned() {
    let x = normal(0, 30, 2);
    let message = |targets, task| {
        let dataset = Dataset::from_memory("data", BlockRows::Dense64(x.clone()), targets).unwrap();
        fit_error(&dataset, &PipelineSpec { task, ..spec(10) }).to_string()
    };
    assert!(message(None, None).contains("no targets"));
    let one = TargetBlock::Text(vec!["cat".to_owned(); 30]);
    assert!(message(Some(one.clone()), None).contains("one class cat"));
    assert!(message(Some(one), Some(Task::Regression)).contains("\"cat\" is not a number"));
    assert!(message(Some(TargetBlock::Numbers(Array2::ones((30, 1)))), None).contains("one class 1"));
    let two = TargetBlock::Numbers(Array2::from_shape_fn((30, 2), |(i, j)| (i * j) as f64));
    assert!(message(Some(two), Some(Task::Classification)).contains("2 columns of classes"));
}

#[test]
fn targets_that_cannot_be_evaluated() {
    let (model, _) = fit(&rings(0, 200, &THREE).dataset(), &spec(20)).unwrap();
    let message = |model: &Model, data: &Data| model.evaluate(&driver(), &data.dataset()).unwrap_err().to_string();
    let text = message(&model, &rings(1, 20, &["inner", "square"]));
    assert!(text.contains("square") && text.contains("inner, middle, outer"), "{text}");
    let numbers = Data::dense(normal(1, 20, 2), Array2::zeros((20, 1)));
    assert!(message(&model, &numbers).contains("none of the trained classes"));
    let without = Dataset::from_memory("data", BlockRows::Dense64(normal(1, 20, 2)), None).unwrap();
    assert!(model.evaluate(&driver(), &without).unwrap_err().to_string().contains("no targets"));

    // Two columns of known labels are no column of labels.
    let labels = column((0..60).map(|i| f64::from(i % 3)));
    let (numeric, _) = fit(&Data::dense(normal(0, 60, 2), labels).dataset(), &spec(20)).unwrap();
    let two = Data::dense(normal(1, 20, 2), Array2::ones((20, 2)));
    assert!(message(&numeric, &two).contains("2 targets"));

    let (real, _) = fit(&waves(0, 200).dataset(), &spec(20)).unwrap();
    assert!(message(&real, &Data::dense(normal(1, 20, 2), Array2::zeros((20, 3)))).contains("3 targets"));
}

#[test]
fn rows_of_another_width_are_refused() {
    let (dense, _) = fit(&rings(0, 100, &THREE).dataset(), &spec(20)).unwrap();
    let (sparse, _) = fit(&sparse_signs(0, 100).dataset(), &spec(20)).unwrap();
    let mut wide = mercer::dataset::CsrMatrix::new(0);
    wide.push(40, 1.0).unwrap();
    wide.finish_row();
    let cases = [
        (&dense, BlockRows::Dense64(normal(0, 5, 1))),
        (&dense, BlockRows::Dense64(normal(0, 5, 3))),
        (&sparse, BlockRows::Sparse64(wide)),
    ];
    for (model, rows) in cases {
        let dataset = Dataset::from_memory("data", rows, None).unwrap();
        let error = model.for_each_scores(&driver(), &dataset, |_| Ok(())).unwrap_err();
        assert!(matches!(error, Error::Inputs { .. }), "{error}");
    }
}

// Small and odd data.

#[test]
fn constant_columns_are_ignored() {
    let data = rings(0, 300, &THREE);
    let beside = |value: f64| {
        let x = data.dense_rows();
        let x = Array2::from_shape_fn((300, 3), |(i, j)| if j == 0 { value } else { x[[i, j - 1]] });
        Data { rows: BlockRows::Dense64(x), targets: data.targets.clone() }
    };
    for dtype in [Dtype::Float32, Dtype::Float64] {
        // The mean of many 0.1 is rounded, in f64 at least; the column is constant all the same.
        let (model, report) = Model::fit(&beside(0.1).dataset(), &spec(100), dtype, &driver()).unwrap();
        assert_eq!(report.n_constant_inputs, 1, "{dtype}");
        assert!(accuracy(&model, &beside(0.1)) > 0.98, "{dtype}");
        let (seen, unseen) = (beside(0.1).dataset(), beside(1e6).dataset());
        assert_eq!(bits(&scores(&model, &seen)), bits(&scores(&model, &unseen)), "{dtype}");
    }
}

#[test]
fn rows_all_alike_need_a_gamma() {
    let alike = Data::dense(Array2::from_elem((50, 3), 0.1), column((0..50).map(|i| f64::from(i % 2))));
    for rule in [Gamma::Scale, Gamma::Median] {
        let error = fit_error(&alike.dataset(), &with_gamma(rule, 10));
        assert!(matches!(error, Error::Parameter { name: "gamma", .. }), "{error}");
        assert!(error.to_string().contains("all alike"), "{error}");
    }
    // With one, all that can be learned is the mean.
    let (model, report) = fit(&alike.dataset(), &with_gamma(Gamma::Value(1.0), 10)).unwrap();
    let approximation = model.approximation(&driver(), &alike.dataset()).unwrap();
    assert_eq!((report.n_constant_inputs, approximation), (3, None));
    assert!(scores(&model, &alike.dataset()).iter().all(|score| score.abs() < 1e-5));
}

#[test]
fn few_rows() {
    for n_rows in [2, 3, 5, 19] {
        let data = rings(0, n_rows, &["a", "b"]);
        let (model, report) = fit(&data.dataset(), &with_gamma(Gamma::Value(1.0), 50)).unwrap();
        assert_eq!(model.header().spec.learner.lambda, 1e-3);
        assert!(report.lambda.is_none());
        assert_eq!(accuracy(&model, &data), 1.0, "{n_rows} rows");
    }
    let (_, report) = fit(&rings(0, 20, &["a", "b"]).dataset(), &spec(50)).unwrap();
    assert!(report.lambda.is_some());
    let one = Data::dense(Array2::ones((1, 2)), column([0.5])).dataset();
    let (model, _) = fit(&one, &with_gamma(Gamma::Value(1.0), 10)).unwrap();
    assert_eq!(scores(&model, &one)[[0, 0]], 0.5);
}

/// With a row or two of each class, dealing by class may leave no row to judge: λ is then the one of few rows.
#[test]
fn few_rows_of_many_classes() {
    for seed in 0..20 {
        let labels = column(permutation(seed, Purpose::Start, 20).into_iter().map(|i| i as f64));
        let data = Data::dense(normal(seed as usize, 20, 3), labels).dataset();
        let spec = PipelineSpec { seed, ..spec(50) };
        let (model, _) = fit(&data, &spec).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(model.header().outputs.classes().len(), 20);
    }
}

#[test]
fn one_and_two_inputs() {
    for n_inputs in [1, 2] {
        let x = normal(0, 400, n_inputs);
        let y = column(x.column(0).iter().map(|x| (2.0 * x).sin()));
        let data = Data::dense(x, y);
        for (dtype, n_components) in [(Dtype::Float32, 64), (Dtype::Float64, 64), (Dtype::Float64, 2)] {
            let (model, _) = Model::fit(&data.dataset(), &spec(n_components), dtype, &driver()).unwrap();
            let Evaluation::Regression(report) = model.evaluate(&driver(), &data.dataset()).unwrap() else {
                panic!("not a regression")
            };
            assert!(report.r2 > if n_components == 2 { 0.0 } else { 0.95 }, "{n_inputs} inputs, {dtype}: {report:?}");
        }
    }
}

/// Targets far from zero: their mean must not cost the digits of what is learned.
#[test]
fn targets_far_from_zero() {
    let waves = waves(0, 1_000);
    let TargetBlock::Numbers(y) = &waves.targets else { unreachable!() };
    let far = Data { targets: TargetBlock::Numbers(y + 1e6), ..waves.clone() };
    let (model, _) = fit(&far.dataset(), &spec(200)).unwrap();
    let Evaluation::Regression(report) = model.evaluate(&driver(), &far.dataset()).unwrap() else {
        panic!("not a regression")
    };
    assert!(report.r2 > 0.9, "{report:?}");
}

/// Rows are checked in the type of their source; what overflows in the type of the model is no score.
#[test]
fn rows_too_large_for_the_float_type() {
    let train = rings(0, 100, &THREE).dataset();
    let mut x = normal(1, 600, 2);
    x[[555, 1]] = 1e39;
    let test = Dataset::from_memory("data", BlockRows::Dense64(x), None).unwrap();
    let (model, _) = fit(&train, &spec(20)).unwrap();
    let error = model.for_each_scores(&driver(), &test, |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::TooLarge { row: 555, dtype: Dtype::Float32 }), "{error}");
    let (model, _) = Model::fit(&train, &spec(20), Dtype::Float64, &driver()).unwrap();
    assert!(scores(&model, &test).iter().all(|score| score.is_finite()));
}

// What is asked for wrongly, and being asked to stop.

#[test]
fn parameters_outside_their_range() {
    let data = rings(0, 40, &THREE).dataset();
    let cases = [
        ("n_components", spec(5)),
        ("n_components", spec(0)),
        ("gamma", with_gamma(Gamma::Value(-1.0), 4)),
        ("gamma", with_gamma(Gamma::Value(f64::NAN), 4)),
        ("lambda", with_lambda(0.0, spec(4))),
        ("lambda", with_lambda(f64::INFINITY, spec(4))),
        ("cv", PipelineSpec { cv: Some(1), ..spec(4) }),
        ("cv", PipelineSpec { cv: Some(101), ..spec(4) }),
    ];
    for (parameter, spec) in cases {
        let error = fit_error(&data, &spec);
        assert!(matches!(error, Error::Parameter { name, .. } if name == parameter), "{parameter}: {error}");
    }
    let more_folds_than_rows = PipelineSpec { cv: Some(50), ..spec(4) };
    let error = fit_error(&data, &more_folds_than_rows);
    assert!(matches!(error, Error::Parameter { name: "cv", .. }) && error.to_string().contains("50 for"), "{error}");
    let filled = PipelineSpec { preprocess: PreprocessSpec::Standardize, ..spec(4) };
    let error = fit_error(&sparse_signs(0, 40).dataset(), &filled);
    assert!(matches!(error, Error::Parameter { name: "preprocess", .. }), "{error}");
}

#[derive(Default)]
struct Patience {
    asked: AtomicU64,
    limit: u64,
    started: AtomicU64,
    finished: AtomicU64,
    announced: AtomicU64,
    advanced: AtomicU64,
}

impl Progress for Patience {
    fn start(&self, _stage: &str, n_rows: u64) {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.announced.fetch_add(n_rows, Ordering::Relaxed);
    }

    fn advance(&self, n_rows: u64) {
        self.advanced.fetch_add(n_rows, Ordering::Relaxed);
    }

    fn finish(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.limit
    }
}

/// Fitting can be stopped wherever it asks, and every pass that was started is finished.
#[test]
fn fitting_can_be_interrupted_anywhere() {
    let data = rings(0, 600, &THREE).dataset();
    let mut limit = 0;
    loop {
        let patience = Patience { limit, ..Patience::default() };
        let result = Model::fit(&data, &spec(20), Dtype::Float32, &Driver::new(2, &patience).unwrap());
        assert_eq!(patience.started.into_inner(), patience.finished.into_inner());
        match result {
            Ok(_) => break,
            Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
        }
        limit += 1;
    }
    // Scaling, gamma, sums and validation: several passes.
    assert!(limit > 10, "{limit}");
}

#[test]
fn progress_counts_every_row() {
    let data = rings(0, 1_234, &THREE).dataset();
    let patience = Patience { limit: u64::MAX, ..Patience::default() };
    let driver = Driver::new(2, &patience).unwrap();
    let (model, _) = Model::fit(&data, &with_lambda(1e-3, spec(20)), Dtype::Float32, &driver).unwrap();
    let before = patience.advanced.load(Ordering::Relaxed);
    model.evaluate(&driver, &data).unwrap();
    assert_eq!(patience.advanced.load(Ordering::Relaxed) - before, 1_234);
    assert!(before <= patience.announced.load(Ordering::Relaxed));
}

// Ridge against scikit-learn.

#[derive(Deserialize)]
struct Fixture {
    z: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    classes: Vec<usize>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    lambda: f64,
    real: Reference,
    three: Reference,
    two: Reference,
}

#[derive(Deserialize)]
struct Reference {
    weights: Vec<Vec<f64>>,
    intercept: Vec<f64>,
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

/// Fitted from panels of 16 rows. `tolerance` is relative to the largest weight or intercept.
fn check_reference<T: Scalar>(z: &Array2<f64>, y: &Array2<f64>, lambda: f64, expected: &Reference, tolerance: f64) {
    let mut statistics = RidgeStatistics::new(z.ncols(), y.ncols());
    for (z, y) in z.axis_chunks_iter(Axis(0), 16).zip(y.axis_chunks_iter(Axis(0), 16)) {
        statistics.add(z.mapv(T::from_f64).view(), y.mapv(T::from_f64).view());
    }
    let model: LinearModel<T> = statistics.into_system().unwrap().into_solution(lambda).unwrap();
    let got = model.weights().iter().chain(model.intercept()).map(|&x| Scalar::to_f64(x)).collect::<Vec<_>>();
    let expected: Vec<f64> = expected.weights.iter().flatten().chain(&expected.intercept).copied().collect();
    let scale = expected.iter().fold(0.0_f64, |scale, x| scale.max(x.abs()));
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() <= tolerance * scale, "lambda {lambda}: {got} for {expected}");
    }
}

#[test]
fn ridge_as_scikit_learn() {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/ridge.json")).unwrap();
    let (z, y) = (matrix(&fixture.z), matrix(&fixture.y));
    let three = signs(&fixture.classes, 3);
    let two = three.slice(s![.., 2..]).to_owned();
    for case in &fixture.cases {
        for (y, expected) in [(&y, &case.real), (&three, &case.three), (&two, &case.two)] {
            check_reference::<f64>(&z, y, case.lambda, expected, 1e-10);
        }
        // The sums of a panel are rounded to f32, which centring magnifies by mean²/variance < 500 here.
        check_reference::<f32>(&z, &three, case.lambda, &case.three, 500.0 * f64::from(f32::EPSILON));
    }
}

/// Without targets, too, and for sparse rows that do not reach the last input.
#[test]
fn features_are_compared_with_their_kernel_and_timed() {
    for data in [rings(0, 300, &THREE), sparse_signs(1, 300)] {
        let (dataset, spec) = (data.dataset(), spec(64));
        let features = Features::<f32>::fit(&dataset, spec.preprocess, &spec.map, spec.seed, &driver()).unwrap();
        let compared = features.approximation(&dataset, spec.seed, &driver()).unwrap();
        assert_eq!(compared, fit(&dataset, &spec).unwrap().0.approximation(&driver(), &dataset).unwrap());
        let seconds = features.seconds_per_row(&dataset, spec.seed, &driver()).unwrap();
        assert!(seconds > 0.0 && seconds < 0.1, "{seconds}");
        let one = data.slice(0, 1).dataset();
        assert!(features.seconds_per_row(&one, spec.seed, &driver()).unwrap() > 0.0);
        assert_eq!(features.approximation(&one, spec.seed, &driver()).unwrap(), None);
    }
}
