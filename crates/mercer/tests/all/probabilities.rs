//! Probabilities of classes: that they are right where the truth is known, are fitted to rows held out, and change nothing
//! else.

use mercer::dataset::Folds;
use mercer::feature_maps::{Gamma, MapSpec};
use mercer::learners::{Lambda, LearnerSpec, Link, Loss, Sigmoid, Solver};
use mercer::metrics::{ClassificationReport, ProbabilityScores};
use mercer::model::{AnyPipeline, Header, Model};
use mercer::pipeline::{Evaluation, Pipeline, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::random::{Purpose, Stream};
use mercer::{Driver, Dtype, Error, Scalar, Silent};
use ndarray::{Array2, Axis, concatenate};
use serde::Deserialize;

use crate::data::{Data, bits, normal, rings, waves};

/// Every solver, for losses without probabilities of their own.
const FITTED: [(Loss, Solver); 5] = [
    (Loss::Squared, Solver::Direct),
    (Loss::Squared, Solver::Iterative),
    (Loss::SquaredHinge, Solver::Iterative),
    (Loss::SquaredHinge, Solver::Dual),
    (Loss::Hinge, Solver::Dual),
];

/// A linear model of the inputs as they are.
fn spec((loss, solver): (Loss, Solver), lambda: f64) -> PipelineSpec {
    PipelineSpec {
        preprocess: PreprocessSpec::None,
        map: MapSpec::Identity,
        learner: LearnerSpec { solver, ..LearnerSpec::new(loss, Lambda::Value(lambda)) },
        task: None,
        cv: None,
        probabilities: true,
        seed: 4,
    }
}

fn driver() -> Driver<'static> {
    Driver::new(2, &Silent).unwrap()
}

fn fit<T: Scalar>(data: &Data, spec: &PipelineSpec) -> Pipeline<T> {
    Pipeline::fit(&data.dataset(), spec, &driver()).unwrap().0
}

fn fit_error(data: &Data, spec: &PipelineSpec) -> Error {
    Pipeline::<f64>::fit(&data.dataset(), spec, &driver()).err().unwrap()
}

fn evaluate<T: Scalar>(pipeline: &Pipeline<T>, data: &Data) -> ClassificationReport {
    match pipeline.evaluate(&driver(), &data.dataset()).unwrap() {
        Evaluation::Classification(report) => report,
        Evaluation::Regression(_) => panic!("not a classification"),
    }
}

/// All probabilities, or all scores.
fn rows_of<T: Scalar>(pipeline: &Pipeline<T>, data: &Data, probabilities: bool) -> Array2<f64> {
    let mut panels: Vec<Array2<f64>> = Vec::new();
    if probabilities {
        let each = |panel: ndarray::ArrayView2<'_, f64>, _: &_| {
            panels.push(panel.to_owned());
            Ok(())
        };
        pipeline.for_each_probabilities(&driver(), &data.dataset(), false, each).unwrap();
    } else {
        let each = |panel: ndarray::ArrayView2<'_, T>, _: &_| {
            panels.push(panel.mapv(Scalar::to_f64));
            Ok(())
        };
        pipeline.for_each_scores(&driver(), &data.dataset(), false, each).unwrap();
    }
    concatenate(Axis(0), &panels.iter().map(|x| x.view()).collect::<Vec<_>>()).unwrap()
}

/// P(y = 1 | x) = 1/(1 + exp(−0.3 − 1.5·x₀ + x₁)) for standard normal x, with those probabilities.
fn known(lane: usize, n_rows: usize) -> (Data, Vec<f64>) {
    let x = normal(lane, n_rows, 2);
    let mut uniform = vec![0.0; n_rows];
    Stream::new(9, Purpose::Start).lane(lane).uniform_into(0, &mut uniform);
    let logit = |i: usize| 0.3 + 1.5 * x[[i, 0]] - x[[i, 1]];
    let p: Vec<f64> = (0..n_rows).map(|i| 1.0 / (1.0 + (-logit(i)).exp())).collect();
    let y = Array2::from_shape_fn((n_rows, 1), |(i, _)| f64::from(uniform[i] < p[i]));
    (Data::dense(x, y), p)
}

/// Inputs that say nothing of the class.
fn noise(lane: usize, n_rows: usize) -> Data {
    let y = Array2::from_shape_fn((n_rows, 1), |(i, _)| (i % 2) as f64);
    Data::dense(normal(lane, n_rows, 5), y)
}

/// For normal inputs every loss here finds the direction of the true logits, so that a sigmoid of its score can be the
/// truth: of p parameters learned from n rows the log loss is above the entropy by p/(2n) on average, a χ² of p degrees
/// over 2n. The two of the sigmoid and three of the model are taken for 5; 1 in 10,000 is above 25.7.
#[test]
fn known_probabilities_are_found() {
    let (n, n_test) = (3_000, 40_000);
    let (train, (test, p)) = (known(0, n).0, known(1, n_test));
    let entropy = p.iter().map(|p| -p * p.ln() - (1.0 - p) * (1.0 - p).ln()).sum::<f64>() / n_test as f64;
    let variance = p.iter().map(|p| p * (1.0 - p) * (p / (1.0 - p)).ln().powi(2)).sum::<f64>() / n_test as f64;
    let (excess, deviation) = (25.7 / (2.0 * n as f64), (variance / n_test as f64).sqrt());
    let native = [(Loss::Logistic, Solver::Iterative), (Loss::Softmax, Solver::Iterative)];
    for which in FITTED.into_iter().chain(native) {
        let report = evaluate(&fit::<f64>(&train, &spec(which, 1e-5)), &test).probabilities.unwrap();
        let above = report.log_loss - entropy;
        assert!((-4.0 * deviation..excess + 4.0 * deviation).contains(&above), "{which:?}: {above}");
        // 15 bins add their noise, √(2/π·p(1 − p)/n) at most, and by Pinsker's inequality |p̂ − p| has a mean of at most
        // √(excess/2).
        let noise = 15.0_f64.sqrt() * 0.4 / (n_test as f64).sqrt();
        assert!(report.calibration_error < noise + (excess / 2.0).sqrt(), "{which:?}: {report:?}");
    }
}

/// Models that know their rows by heart, of classes that cannot be known. On scores of these rows the sigmoid would
/// part them; on others it finds no slope but by chance: the log loss is that of a coin and χ² of 2 degrees over 2n.
#[test]
fn sigmoids_are_fitted_to_rows_held_out() {
    let n = 300;
    for which in FITTED {
        let mut spec = spec(which, 1e-7);
        spec.map = MapSpec::fourier(800, Gamma::Value(1.0));
        let pipeline = fit::<f64>(&noise(0, n), &spec);
        assert!(evaluate(&pipeline, &noise(0, n)).accuracy > 0.99, "{which:?} should overfit");
        let report = evaluate(&pipeline, &noise(1, 4_000)).probabilities.unwrap();
        // 1 in 10,000 is above 18.4.
        let above = report.log_loss - 2.0_f64.ln();
        assert!(above < 18.4 / (2.0 * n as f64), "{which:?}: {above}");
    }
}

/// The definition: five models of the rows without a part each, one sigmoid for each class.
#[test]
fn the_calibration_is_that_of_five_models() {
    let data = rings(3, 200, &["a", "b", "c"]);
    for which in [FITTED[0], FITTED[3]] {
        let mut spec = spec(which, 1e-3);
        spec.learner.stopping.tol = 1e-13;
        let found = fit::<f64>(&data, &spec).spec().calibration.clone().unwrap();
        let mut folds = Folds::new(spec.seed, Purpose::Calibration, 5);
        let parts: Vec<usize> = (0..200).map(|i| folds.next_fold((i % 3) as u32)).collect();
        let (mut scores, mut classes) = (Vec::new(), Vec::new());
        let chosen = |part: usize, inside: bool| -> Data {
            let rows: Vec<usize> = (0..200).filter(|&i| (parts[i] == part) == inside).collect();
            let x = data.dense_rows().select(Axis(0), &rows);
            Data::dense(x, Array2::from_shape_fn((rows.len(), 1), |(i, _)| (rows[i] % 3) as f64))
        };
        for part in 0..5 {
            let model = fit::<f64>(&chosen(part, false), &PipelineSpec { probabilities: false, ..spec.clone() });
            scores.push(rows_of(&model, &chosen(part, true), false));
            classes.extend((0..200).filter(|&i| parts[i] == part).map(|i| i % 3));
        }
        let scores = concatenate(Axis(0), &scores.iter().map(|x| x.view()).collect::<Vec<_>>()).unwrap();
        for (class, found) in found.iter().enumerate() {
            let positive: Vec<bool> = classes.iter().map(|&c| c == class).collect();
            let expected = Sigmoid::fit(&scores.column(class).to_vec(), &positive).unwrap();
            // Rings have no direction: scores spread by 0.05, slopes err by 3. Objectives within 1e-13 are weights within
            // √(1e-13/1e-3) = 1e-5, a share of 2e-4 of the spread.
            let probabilities = |sigmoid: &Sigmoid| scores.column(class).mapv(|score| sigmoid.probability(score));
            let far = (probabilities(found) - probabilities(&expected)).fold(0.0, |far: f64, e| far.max(e.abs()));
            assert!(far < 2e-4, "{which:?}: {found:?}, {expected:?}");
        }
    }
}

#[derive(Deserialize)]
struct Case {
    scores: Vec<f64>,
    positive: Vec<bool>,
    slope: f64,
    intercept: f64,
}

/// scikit-learn ends at a gradient of 1e-6 and a Hessian of at least 8 for the fewest rows; we within 1e-6 standard errors,
/// which are below 2.
#[test]
fn sigmoids_as_scikit_learn() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("fixtures/calibration.json")).unwrap();
    for Case { scores, positive, slope, intercept } in cases {
        let found = Sigmoid::fit(&scores, &positive).unwrap();
        let far = (found.slope - slope).abs().max((found.intercept - intercept).abs());
        assert!(far < 3e-6, "{found:?} for {slope}, {intercept}: {far:e} apart");
    }
}

#[test]
fn the_model_is_the_same_with_and_without() {
    let data = rings(7, 400, &["a", "b", "c"]);
    for which in FITTED {
        let mut spec = spec(which, 1.0);
        spec.map = MapSpec::fourier(60, Gamma::Value(1.0));
        spec.learner.lambda = Lambda::Auto;
        let with = fit::<f32>(&data, &spec);
        let without = fit::<f32>(&data, &PipelineSpec { probabilities: false, ..spec });
        assert_eq!(with.spec().calibration.as_ref().map(Vec::len), Some(3));
        assert_eq!(without.spec().calibration, None);
        assert_eq!(with.spec().learner, without.spec().learner);
        assert_eq!(bits(&with.model().weights().to_owned()), bits(&without.model().weights().to_owned()), "{which:?}");
        assert_eq!(with.model().intercept(), without.model().intercept());
    }
}

/// Whether features are kept or mapped again, by how many threads, in what blocks.
#[test]
fn nothing_but_the_data_changes_a_bit() {
    let data = rings(7, 1_300, &["a", "b", "c"]);
    for which in FITTED {
        let mut spec = spec(which, 1e-4);
        spec.map = MapSpec::fourier(40, Gamma::Value(1.0));
        let fit = |threads, memory, block_rows, in_memory| {
            let driver = Driver::new(threads, &Silent).unwrap().with_memory(memory);
            Pipeline::<f32>::fit(&data.delivered(block_rows, in_memory), &spec, &driver).unwrap()
        };
        let (expected, report) = fit(1, u64::MAX, 1_300, true);
        assert_eq!(report.calibration_rows, Some(1_300));
        let probabilities = rows_of(&expected, &data, true);
        // The dual solver keeps its rows in memory.
        let little = if which.1 == Solver::Dual { u64::MAX } else { 0 };
        for (threads, memory, block_rows, in_memory) in [(2, little, 100, false), (3, u64::MAX, 77, false)] {
            let (again, _) = fit(threads, memory, block_rows, in_memory);
            assert_eq!(again.spec().calibration, expected.spec().calibration, "{which:?}, {threads} threads");
            assert_eq!(rows_of(&again, &data, true), probabilities);
        }
    }
}

/// Probabilities of all classes have the sum 1, are the link of the scores, and are what the evaluation scores.
#[test]
fn evaluation_scores_the_probabilities() {
    for labels in [&["a", "b"][..], &["a", "b", "c", "d"]] {
        for which in [FITTED[0], FITTED[2], (Loss::Logistic, Solver::Iterative), (Loss::Softmax, Solver::Iterative)] {
            let mut spec = spec(which, 1e-4);
            spec.map = MapSpec::fourier(100, Gamma::Value(1.0));
            let (train, test) = (rings(0, 600, labels), rings(1, 2_100, labels));
            let pipeline = fit::<f32>(&train, &spec);
            let probabilities = rows_of(&pipeline, &test, true);
            assert_eq!(probabilities.dim(), (2_100, labels.len()));
            // Quotients of four numbers by their sum err by a few roundings.
            assert!(probabilities.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-15 * 4.0));
            let scores = rows_of(&pipeline, &test, false);
            assert_eq!(pipeline.link().unwrap().probabilities(scores.view()), probabilities);
            let mut sums = ProbabilityScores::new(labels.len()).unwrap();
            let truth: Vec<usize> = (0..2_100).map(|i| i % labels.len()).collect();
            sums.add(&truth, probabilities.view()).unwrap();
            let (got, expected) = (evaluate(&pipeline, &test).probabilities.unwrap(), sums.report().unwrap());
            assert_eq!(got, expected, "{which:?}");
            assert!(got.log_loss < 0.3 && got.calibration_error < 0.15, "{which:?}: {got:?}");
        }
    }
}

#[test]
fn one_part_judges_where_rows_are_many() {
    let (data, _) = known(2, 50_000);
    let (pipeline, report) =
        Pipeline::<f32>::fit(&data.dataset(), &spec(FITTED[0], 1e-3), &Driver::new(2, &Silent).unwrap()).unwrap();
    assert!(report.calibration_rows.unwrap().abs_diff(10_000) <= 1, "{:?}", report.calibration_rows);
    let (data, _) = known(2, 49_999);
    let driver = Driver::new(2, &Silent).unwrap();
    let (_, report) = Pipeline::<f32>::fit(&data.dataset(), &spec(FITTED[0], 1e-3), &driver).unwrap();
    assert_eq!(report.calibration_rows, Some(49_999));
    assert_eq!(pipeline.spec().calibration.as_ref().map(Vec::len), Some(1));
}

#[test]
fn native_losses_store_nothing() {
    let data = rings(0, 60, &["a", "b", "c"]);
    for loss in [Loss::Logistic, Loss::Softmax] {
        let asked = spec((loss, Solver::Iterative), 1e-3);
        let (with, report) = Pipeline::<f64>::fit(&data.dataset(), &asked, &driver()).unwrap();
        let without = fit::<f64>(&data, &PipelineSpec { probabilities: false, ..asked });
        assert_eq!((&with.spec().calibration, report.calibration_rows), (&None, None));
        assert_eq!(with.spec(), without.spec());
        assert_eq!(rows_of(&with, &data, true), rows_of(&without, &data, true));
    }
}

#[test]
fn refusals_name_the_remedy() {
    let regression = fit_error(&waves(0, 100), &spec(FITTED[0], 1e-3)).to_string();
    assert_eq!(regression, "probabilities is on, must be off for real values: only classes have them");
    let few = fit_error(&rings(0, 19, &["a", "b"]), &spec(FITTED[0], 1e-3)).to_string();
    assert!(few.contains("on for 19 rows") && few.contains("fewer than 20"), "{few}");
    let y = Array2::from_shape_fn((40, 1), |(i, _)| [1.0, 2.0, 7.0][if i == 33 { 2 } else { i % 2 }]);
    let alone = Data::dense(normal(0, 40, 2), y);
    let error = fit_error(&alone, &spec(FITTED[0], 1e-3)).to_string();
    assert!(error.contains("one row of the class 7") && error.contains("softmax"), "{error}");
    fit::<f64>(&alone, &spec((Loss::Softmax, Solver::Iterative), 1e-3));

    let without = PipelineSpec { probabilities: false, ..spec(FITTED[2], 1e-3) };
    let pipeline = fit::<f64>(&rings(0, 60, &["a", "b"]), &without);
    let error = pipeline.link().unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "probabilities", .. }), "{error}");
    assert!(error.to_string().contains("train with --probabilities, or with the logistic or softmax learner"));
    assert_eq!(evaluate(&pipeline, &rings(0, 60, &["a", "b"])).probabilities, None);
    let real = PipelineSpec { probabilities: false, ..spec(FITTED[0], 1e-3) };
    assert!(fit::<f64>(&waves(0, 100), &real).link().unwrap_err().to_string().contains("real values"));
}

/// Few rows of many classes: parts without some class, or without rows.
#[test]
fn two_rows_of_each_class_are_enough() {
    let y = Array2::from_shape_fn((24, 1), |(i, _)| (i % 12) as f64);
    for seed in 0..10 {
        let spec = PipelineSpec { seed, ..spec(FITTED[(seed % 5) as usize], 1e-2) };
        let pipeline = fit::<f64>(&Data::dense(normal(1, 24, 3), y.clone()), &spec);
        let probabilities = rows_of(&pipeline, &Data::dense(normal(1, 24, 3), y.clone()), true);
        assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
    }
}

fn with_header(model: &Model, change: impl FnOnce(&mut Header)) -> mercer::Result<Model> {
    let text = serde_json::to_string(&model.header()).unwrap();
    let mut header: Header = serde_json::from_str(&text).unwrap();
    change(&mut header);
    let AnyPipeline::Float32(pipeline) = model.pipeline() else { panic!("of f32") };
    Model::from_parts(header, pipeline.tensors())
}

#[test]
fn a_loaded_model_gives_the_same_bits() {
    let data = rings(0, 300, &["a", "b", "c"]);
    let (model, _) = Model::fit(&data.dataset(), &spec(FITTED[2], 1e-3), Dtype::Float32, &driver()).unwrap();
    let loaded = with_header(&model, |_| ()).unwrap();
    assert_eq!(loaded.header(), model.header());
    let all = |model: &Model| {
        let mut values = Vec::new();
        model
            .for_each_probabilities(&driver(), &data.dataset(), |panel| {
                values.extend(panel.iter().map(|p| p.to_bits()));
                Ok(())
            })
            .unwrap();
        values
    };
    assert_eq!(all(&loaded), all(&model));
    assert_eq!(all(&loaded).len(), 900);
}

#[test]
fn bad_calibrations_are_refused() {
    let data = rings(0, 60, &["a", "b", "c"]);
    let fit = |which| Model::fit(&data.dataset(), &spec(which, 1e-3), Dtype::Float32, &driver()).unwrap().0;
    let (fitted, native) = (fit(FITTED[0]), fit((Loss::Softmax, Solver::Iterative)));
    let refused = |model: &Model, sigmoids: Vec<Sigmoid>, says: &str| {
        let error = with_header(model, |header| header.spec.calibration = Some(sigmoids)).err().unwrap();
        assert!(matches!(error, Error::Model(_)) && error.to_string().contains(says), "{error}");
    };
    refused(&fitted, vec![Sigmoid::LOGISTIC; 2], "2 outputs, the model has 3");
    for bad in [f64::NAN, f64::INFINITY] {
        refused(&fitted, vec![Sigmoid { slope: bad, intercept: 0.0 }; 3], "not finite");
        refused(&fitted, vec![Sigmoid { slope: 0.0, intercept: bad }; 3], "not finite");
    }
    refused(&native, vec![Sigmoid::LOGISTIC; 3], "takes none");
    // A file from before there were probabilities.
    let text = serde_json::to_string(&native.header()).unwrap();
    assert!(!text.contains("calibration"), "{text}");
    let old = with_header(&fitted, |header| header.spec.calibration = None).unwrap();
    assert!(old.link().is_err() && native.link().unwrap() == Link::Softmax);
}
