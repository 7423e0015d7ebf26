//! Linear models of every loss: that the minimum is the minimum, and that nothing but data, spec and seed changes a bit.

use std::sync::atomic::{AtomicU64, Ordering};

use mercer::dataset::{BlockRows, CsrMatrix, TargetBlock, Task};
use mercer::feature_maps::{Gamma, MapSpec};
use mercer::learners::{ClassWeight, Convergence, Lambda, LearnerSpec, Loss, Solver, Stopping};
use mercer::pipeline::{Evaluation, FitReport, Pipeline, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Error, Progress, Scalar, Silent};
use ndarray::{Array1, Array2, Axis, concatenate};

use crate::data::{Data, bits, normal, rings, signs, sparse_signs, waves};

const CLASS_LOSSES: [Loss; 4] = [Loss::Squared, Loss::SquaredHinge, Loss::Logistic, Loss::Softmax];
const REAL_LOSSES: [Loss; 3] =
    [Loss::Squared, Loss::Huber { delta: 0.3 }, Loss::SquaredEpsilonInsensitive { epsilon: 0.2 }];

/// A linear model of the inputs as they are.
fn spec(loss: Loss, lambda: f64) -> PipelineSpec {
    let learner = LearnerSpec { solver: Solver::Iterative, ..LearnerSpec::new(loss, Lambda::Value(lambda)) };
    PipelineSpec {
        preprocess: PreprocessSpec::None,
        map: MapSpec::Identity,
        learner: LearnerSpec { stopping: Stopping { tol: 1e-12, max_iter: 500 }, ..learner },
        task: None,
        cv: None,
        probabilities: false,
        seed: 4,
    }
}

fn fit<T: Scalar>(data: &Data, spec: &PipelineSpec) -> (Pipeline<T>, FitReport) {
    Pipeline::fit(&data.dataset(), spec, &Driver::new(2, &Silent).unwrap()).unwrap()
}

/// Three classes of ten inputs, overlapping.
fn blobs(lane: usize, n_rows: usize, n_classes: usize) -> Data {
    let mut x = normal(lane, n_rows, 10);
    for (i, mut row) in x.outer_iter_mut().enumerate() {
        row[i % n_classes] += 1.5;
        row[9] += 3.0;
    }
    let y = Array2::from_shape_fn((n_rows, 1), |(i, _)| (i % n_classes) as f64);
    Data::dense(x, y)
}

fn classes(n_rows: usize, n_classes: usize) -> Vec<usize> {
    (0..n_rows).map(|i| i % n_classes).collect()
}

/// J by the textbook.
fn objective(loss: Loss, lambda: f64, z: &Array2<f64>, y: &Array2<f64>, (w, b): (&Array2<f64>, &Array1<f64>)) -> f64 {
    let scores = z.dot(w) + b;
    let one = |s: f64, y: f64| match loss {
        Loss::Squared => (s - y).powi(2),
        Loss::SquaredHinge => (1.0 - y * s).max(0.0).powi(2),
        Loss::Logistic => (-y * s).exp().ln_1p(),
        Loss::Huber { delta } if (s - y).abs() > delta => 2.0 * delta * (s - y).abs() - delta * delta,
        Loss::Huber { .. } => (s - y).powi(2),
        Loss::SquaredEpsilonInsensitive { epsilon } => ((s - y).abs() - epsilon).max(0.0).powi(2),
        Loss::Softmax | Loss::Hinge => unreachable!("not of one score"),
    };
    let total: f64 = if loss == Loss::Softmax {
        let row = |(s, y): (ndarray::ArrayView1<'_, f64>, ndarray::ArrayView1<'_, f64>)| {
            let class = y.iter().position(|y| *y > 0.0).unwrap();
            s.iter().map(|s| s.exp()).sum::<f64>().ln() - s[class]
        };
        scores.outer_iter().zip(y.outer_iter()).map(row).sum()
    } else {
        scores.iter().zip(y).map(|(&s, &y)| one(s, y)).sum()
    };
    total / z.nrows() as f64 + lambda * w.iter().map(|w| w * w).sum::<f64>()
}

fn parameters<T: Scalar>(pipeline: &Pipeline<T>) -> (Array2<f64>, Array1<f64>) {
    let model = pipeline.model();
    let intercept = model.intercept().iter().map(|&b| Scalar::to_f64(b)).collect();
    (model.weights().mapv(Scalar::to_f64), intercept)
}

/// No small step in any coordinate, nor in the intercept, decreases J: with a step h and curvature up to c the gain of
/// a step from a point whose gradient is g is at most |g|·h; J is within 1e-12 of its minimum, so |g| ≤ √(2c·1e-12).
fn check_minimum(loss: Loss, lambda: f64, z: &Array2<f64>, y: &Array2<f64>, pipeline: &Pipeline<f64>) {
    let (w, b) = parameters(pipeline);
    let least = objective(loss, lambda, z, y, (&w, &b));
    for output in 0..w.ncols() {
        for coordinate in 0..=w.nrows() {
            for step in [1e-3, -1e-3] {
                let (mut w, mut b) = (w.clone(), b.clone());
                if coordinate < w.nrows() {
                    w[[coordinate, output]] += step;
                } else {
                    b[output] += step;
                }
                let there = objective(loss, lambda, z, y, (&w, &b));
                // The gradient's length is bounded by √(2·30·1e-12) < 1e-5: rows have lengths² of about 20.
                assert!(there > least - 1e-8, "{loss:?}, output {output}, {coordinate}: {least} > {there}");
                assert!(there > least, "{loss:?}: flat at output {output}, {coordinate}");
            }
        }
    }
}

#[test]
fn no_step_from_the_minimum_goes_down() {
    let lambda = 1e-3;
    for loss in CLASS_LOSSES {
        let data = blobs(0, 700, 3);
        let (pipeline, report) = fit::<f64>(&data, &spec(loss, lambda));
        let convergence = report.convergence.unwrap();
        assert!(convergence.converged, "{loss:?}: {convergence:?}");
        let (z, y) = (data.dense_rows(), signs(&classes(700, 3), 3));
        let (w, b) = parameters(&pipeline);
        let by_hand = objective(loss, lambda, &z, &y, (&w, &b));
        assert!((convergence.objective - by_hand).abs() < 1e-12 * by_hand.max(1.0), "{loss:?}: {by_hand}");
        check_minimum(loss, lambda, &z, &y, &pipeline);
    }
}

/// Targets are learned in units of their spread, which here is known: the losses are those of targets divided by it.
#[test]
fn no_step_from_the_minimum_of_a_regression_goes_down() {
    let lambda = 1e-3;
    let x = normal(5, 501, 6);
    let mut y = Array2::from_shape_fn((501, 1), |(i, _)| x[[i, 0]] - 2.0 * x[[i, 1]] + 0.3 * x[[i, 2]] * x[[i, 3]]);
    (0..20).for_each(|i| y[[i * 25, 0]] += 40.0);
    // The encoder centres by the mean; the spread does not change.
    let mean = y.mean().unwrap();
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let mut values: Vec<f64> = y.iter().copied().collect();
    let centre = median(&mut values);
    let spread = 1.4826 * median(&mut values.iter().map(|y| (y - centre).abs()).collect());
    for loss in REAL_LOSSES {
        let (pipeline, report) = fit::<f64>(&Data::dense(x.clone(), y.clone()), &spec(loss, lambda));
        assert!(report.convergence.unwrap().converged, "{loss:?}");
        let (w, b) = parameters(&pipeline);
        let (w, b) = (w / spread, b.mapv(|b| (b - mean) / spread));
        let scaled = y.mapv(|y| (y - mean) / spread);
        let least = objective(loss, lambda, &x, &scaled, (&w, &b));
        assert!((report.convergence.unwrap().objective - least).abs() < 1e-11 * least, "{loss:?}: {least}");
        for coordinate in 0..=6 {
            for step in [1e-3, -1e-3] {
                let (mut w, mut b) = (w.clone(), b.clone());
                if coordinate < 6 {
                    w[[coordinate, 0]] += step;
                } else {
                    b[0] += step;
                }
                assert!(objective(loss, lambda, &x, &scaled, (&w, &b)) > least, "{loss:?}, {coordinate}");
            }
        }
    }
}

#[test]
fn passes_reach_the_ridge_model_of_the_sums() {
    for data in [blobs(0, 900, 4), waves(3, 900)] {
        let by_passes = fit::<f64>(&data, &spec(Loss::Squared, 1e-4)).0;
        let mut direct = spec(Loss::Squared, 1e-4);
        direct.learner.solver = Solver::Direct;
        let direct = fit::<f64>(&data, &direct).0;
        let ((w, b), (v, c)) = (parameters(&by_passes), parameters(&direct));
        // J is within 1e-12 of the minimum and its curvature at least 2λ: weights within √(1e-12/1e-4) = 1e-4.
        assert!((&w - &v).iter().all(|e| e.abs() < 1e-4), "{}", &w - &v);
        assert!((&b - &c).iter().all(|e| e.abs() < 1e-3));
    }
}

/// Whether features are kept or mapped again, by how many threads, in what blocks.
#[test]
fn nothing_but_the_data_changes_a_bit() {
    let data = rings(7, 1_300, &["a", "b", "c"]);
    for loss in [Loss::SquaredHinge, Loss::Softmax] {
        let mut spec = spec(loss, 1e-5);
        spec.map = MapSpec::fourier(70, Gamma::Value(1.0));
        spec.learner.stopping = Stopping::default();
        spec.learner.lambda = Lambda::Auto;
        let fit = |threads, memory, block_rows, in_memory| {
            let driver = Driver::new(threads, &Silent).unwrap().with_memory(memory);
            Pipeline::<f32>::fit(&data.delivered(block_rows, in_memory), &spec, &driver).unwrap()
        };
        let (expected, report) = fit(1, u64::MAX, 1_300, true);
        assert!(report.convergence.unwrap().converged);
        let expected = bits(&expected.model().weights().to_owned());
        for (threads, memory, block_rows, in_memory) in
            [(2, u64::MAX, 1_300, true), (1, 0, 1_300, true), (2, 0, 100, false), (3, u64::MAX, 77, false)]
        {
            let (again, _) = fit(threads, memory, block_rows, in_memory);
            assert_eq!(bits(&again.model().weights().to_owned()), expected, "{loss:?}, {threads} threads, {memory}");
        }
    }
}

#[test]
fn sparse_rows_give_the_model_of_dense_ones() {
    let sparse = sparse_signs(2, 600);
    let TargetBlock::Numbers(y) = &sparse.targets else { unreachable!("numbers") };
    let dense = Data { rows: BlockRows::Dense64(sparse.dense_rows()), targets: TargetBlock::Numbers(y.clone()) };
    for loss in [Loss::SquaredHinge, Loss::Logistic] {
        let (a, b) = (fit::<f64>(&sparse, &spec(loss, 1e-3)).0, fit::<f64>(&dense, &spec(loss, 1e-3)).0);
        let ((w, _), (v, _)) = (parameters(&a), parameters(&b));
        // Both within 1e-12 of the minimum: weights within √(1e-12/1e-3).
        assert!((&w - &v).iter().all(|e| e.abs() < 1e-4), "{loss:?}");
    }
}

/// Balanced weights of classes of 1 and 3 parts are those of rows of the first class given three times.
#[test]
fn balanced_classes_count_alike() {
    let x = normal(9, 400, 5);
    let class = |i: usize| f64::from(u8::from(!i.is_multiple_of(4)));
    let y = Array2::from_shape_fn((400, 1), |(i, _)| class(i));
    let rare: Vec<usize> = (0..400).step_by(4).collect();
    let (more_x, more_y) = (x.select(Axis(0), &rare), y.select(Axis(0), &rare));
    let thrice = Data::dense(
        concatenate(Axis(0), &[x.view(), more_x.view(), more_x.view()]).unwrap(),
        concatenate(Axis(0), &[y.view(), more_y.view(), more_y.view()]).unwrap(),
    );
    let mut balanced = spec(Loss::Logistic, 1e-2);
    balanced.learner.class_weight = ClassWeight::Balanced;
    let a = parameters(&fit::<f64>(&Data::dense(x.clone(), y.clone()), &balanced).0);
    let b = parameters(&fit::<f64>(&thrice, &spec(Loss::Logistic, 1e-2)).0);
    assert!((&a.0 - &b.0).iter().all(|e| e.abs() < 1e-4), "{a:?}, {b:?}");
    let plain = parameters(&fit::<f64>(&Data::dense(x, y), &spec(Loss::Logistic, 1e-2)).0);
    assert!((plain.1[0] - a.1[0]).abs() > 0.5, "the intercept knows the classes' shares");
}

#[test]
fn c_is_one_over_two_n_lambda() {
    let data = blobs(3, 500, 2);
    let mut by_c = spec(Loss::SquaredHinge, 1.0);
    by_c.learner.lambda = Lambda::OfC(0.1);
    let a = fit::<f64>(&data, &by_c).0;
    let b = fit::<f64>(&data, &spec(Loss::SquaredHinge, 1.0 / (2.0 * 500.0 * 0.1))).0;
    assert_eq!(parameters(&a), parameters(&b));
    assert_eq!(a.spec().learner.lambda, 0.01);
}

/// softmax of (0, s) is the logistic function of s.
#[test]
fn softmax_of_two_classes_is_logistic_regression() {
    let data = blobs(4, 500, 2);
    let (a, b) = (fit::<f64>(&data, &spec(Loss::Softmax, 1e-2)).0, fit::<f64>(&data, &spec(Loss::Logistic, 1e-2)).0);
    assert_eq!(parameters(&a), parameters(&b));
}

#[test]
fn outliers_bend_a_ridge_model_and_not_huber() {
    let x = normal(11, 400, 3);
    let truth = |i: usize| 3.0 * x[[i, 0]] - x[[i, 2]];
    let y = Array2::from_shape_fn((400, 1), |(i, _)| truth(i) + if i % 10 == 0 { 50.0 * x[[i, 1]].abs() } else { 0.0 });
    let worst = |loss| {
        let (w, b) = parameters(&fit::<f64>(&Data::dense(x.clone(), y.clone()), &spec(loss, 1e-6)).0);
        let scores = x.dot(&w) + &b;
        (0..400).map(|i| (scores[[i, 0]] - truth(i)).abs()).fold(0.0, f64::max)
    };
    let (ridge, huber) = (worst(Loss::Squared), worst(Loss::Huber { delta: 0.05 }));
    assert!(ridge > 3.0 && huber < 0.3, "{ridge}, {huber}");
}

#[test]
fn every_loss_learns_what_lines_cannot() {
    let (train, test) = (rings(0, 900, &["a", "b", "c"]), rings(1, 600, &["a", "b", "c"]));
    let driver = Driver::new(2, &Silent).unwrap();
    for loss in CLASS_LOSSES {
        let mut spec = spec(loss, 1.0);
        spec.map = MapSpec::fourier(150, Gamma::Scale);
        spec.learner.lambda = Lambda::Auto;
        spec.learner.stopping = Stopping::default();
        let (pipeline, report) = Pipeline::<f32>::fit(&train.dataset(), &spec, &driver).unwrap();
        let Evaluation::Classification(scores) = pipeline.evaluate(&driver, &test.dataset()).unwrap() else {
            panic!("not a classification")
        };
        assert!(scores.accuracy > 0.98, "{loss:?}: {}", scores.accuracy);
        let choice = report.lambda.unwrap();
        assert!(choice.candidates.iter().any(|candidate| candidate.lambda == choice.lambda));
        assert_eq!(choice.folds.len(), 1);
    }
}

#[test]
fn cross_validation_judges_every_row() {
    let data = blobs(6, 300, 3);
    let mut spec = spec(Loss::SquaredHinge, 1e-3);
    spec.cv = Some(5);
    let (_, report) = fit::<f64>(&data, &spec);
    let choice = report.lambda.unwrap();
    assert_eq!(choice.folds.iter().map(|fold| fold.n_rows).sum::<u64>(), 300);
    let accuracy = 1.0 - choice.candidates[0].error_rate.unwrap();
    assert!((0.6..0.95).contains(&accuracy), "{accuracy}");
}

#[test]
fn what_did_not_converge_says_so() {
    let mut spec = spec(Loss::Logistic, 1e-8);
    spec.learner.stopping.max_iter = 2;
    let Convergence { converged, iterations, .. } = fit::<f64>(&blobs(0, 200, 2), &spec).1.convergence.unwrap();
    assert!(!converged);
    assert_eq!(iterations, 2);
}

#[test]
fn losses_refuse_targets_they_cannot_learn() {
    let driver = Driver::new(1, &Silent).unwrap();
    for (data, loss) in [(waves(0, 100), Loss::Logistic), (blobs(0, 100, 3), Loss::Huber { delta: 1.0 })] {
        let error = Pipeline::<f32>::fit(&data.dataset(), &spec(loss, 1e-3), &driver).err().unwrap();
        assert!(matches!(error, Error::Parameter { name: "learner", .. }), "{error}");
    }
    let mut balanced = spec(Loss::Squared, 1e-3);
    balanced.learner.class_weight = ClassWeight::Balanced;
    let error = Pipeline::<f32>::fit(&waves(0, 100).dataset(), &balanced, &driver).err().unwrap();
    assert!(matches!(error, Error::Parameter { name: "class_weight", .. }), "{error}");
    for (tol, max_iter) in [(0.0, 10), (f64::NAN, 10), (1e-3, 0)] {
        let mut bad = spec(Loss::Logistic, 1e-3);
        bad.learner.stopping = Stopping { tol, max_iter };
        assert!(Pipeline::<f32>::fit(&blobs(0, 100, 2).dataset(), &bad, &driver).is_err());
    }
}

/// Interrupts when it was asked often enough.
struct Impatient {
    asked: AtomicU64,
    limit: u64,
}

impl Progress for Impatient {
    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.limit
    }
}

/// Wherever it is interrupted a training ends with an error while there is no model, and with one from then on.
#[test]
fn an_interrupted_training_keeps_its_model_if_asked() {
    let data = blobs(0, 400, 3).dataset();
    for (loss, lambda) in
        [(Loss::SquaredHinge, Lambda::Value(1e-4)), (Loss::SquaredHinge, Lambda::Auto), (Loss::Hinge, Lambda::Auto)]
    {
        let spec = PipelineSpec { learner: LearnerSpec::new(loss, lambda), ..spec(loss, 1e-4) };
        let (mut n_errors, mut n_kept) = (0, 0);
        for limit in (0..).step_by(3) {
            let progress = Impatient { asked: AtomicU64::new(0), limit };
            let driver = Driver::new(1, &progress).unwrap().keeping_interrupted(true);
            match Pipeline::<f64>::fit(&data, &spec, &driver) {
                Err(error) => {
                    assert!(matches!(error, Error::Interrupted) && n_kept == 0, "{loss:?} {limit}: {error}");
                    n_errors += 1;
                }
                Ok((pipeline, report)) if !report.convergence.unwrap().converged => {
                    let Evaluation::Classification(scores) = pipeline.evaluate(&driver, &data).unwrap() else {
                        panic!("classes")
                    };
                    assert!(scores.accuracy > 0.5, "{loss:?} {limit}: {}", scores.accuracy);
                    if let Some(choice) = report.lambda {
                        assert_eq!(pipeline.spec().learner.lambda, choice.lambda, "{loss:?} {limit}");
                        assert!(choice.candidates.iter().any(|one| one.lambda == choice.lambda && one.loss.is_some()));
                    }
                    n_kept += 1;
                }
                Ok(_) => break,
            }
        }
        assert!(n_errors > 1 && n_kept > 1, "{loss:?}: {n_errors} errors, {n_kept} kept");
    }
}

/// Along a path of λ too, where each model starts from the last.
#[test]
fn without_an_intercept_there_is_none() {
    for (loss, data) in [(Loss::Logistic, blobs(0, 300, 3)), (Loss::Huber { delta: 0.5 }, waves(0, 300))] {
        let spec = spec(loss, 1e-3);
        let learner = LearnerSpec { intercept: false, lambda: Lambda::Auto, ..spec.learner };
        let (pipeline, _) = fit::<f64>(&data, &PipelineSpec { learner, ..spec });
        assert!(pipeline.model().intercept().iter().all(|&b| b == 0.0), "{loss:?}: {:?}", pipeline.model().intercept());
    }
}

/// No row lies within δ of the start, so that none has any curvature there.
#[test]
fn huber_learns_two_values() {
    let x = normal(0, 200, 4);
    let y = Array2::from_shape_fn((200, 1), |(i, _)| if i % 10 < 7 { 1.0 } else { 0.0 });
    let spec = PipelineSpec { task: Some(Task::Regression), ..spec(Loss::Huber { delta: 0.5 }, 1e-3) };
    let (pipeline, report) = fit::<f32>(&Data::dense(x, y), &spec);
    assert!(report.convergence.unwrap().objective.is_finite());
    let b = f64::from(pipeline.model().intercept()[0]);
    assert!((0.5..=1.0).contains(&b), "{b}");
}

/// Rows whose mean is far from zero, and a loose tolerance: passes and coordinate descent end within it of each other.
#[test]
fn without_an_intercept_passes_and_coordinates_agree() {
    let (lambda, tol) = (1e-4, 1e-3);
    for data in [blobs(8, 900, 3), sparse_blobs(8, 900, 40)] {
        let objective = |solver| {
            let mut spec = spec(Loss::SquaredHinge, lambda);
            spec.learner = LearnerSpec { solver, intercept: false, ..spec.learner };
            spec.learner.stopping = Stopping { tol, max_iter: 10_000 };
            fit::<f64>(&data, &spec).1.convergence.unwrap().objective
        };
        let (passes, coordinates) = (objective(Solver::Iterative), objective(Solver::Dual));
        // The gap of coordinate descent is a bound; what passes have left is estimated, here within a factor of two.
        assert!((passes - coordinates).abs() < 2.0 * tol * coordinates, "{passes}, {coordinates}");
    }
}

/// Two classes of rows with four of `n_inputs` values each, near one.
fn sparse_blobs(lane: usize, n_rows: usize, n_inputs: usize) -> Data {
    let noise = normal(lane, n_rows, 4);
    let (mut rows, width) = (CsrMatrix::new(n_inputs), (n_inputs - 2) / 3);
    for i in 0..n_rows {
        for (at, &x) in noise.row(i).iter().enumerate() {
            // The first tells the class, but for noise.
            let column = if at == 0 { i % 2 } else { 2 + (at - 1) * width + (i * 7 + i / 3 * at) % width };
            rows.push(column, 1.0 + 0.5 * x).unwrap();
        }
        rows.finish_row();
    }
    let labels = Array2::from_shape_fn((n_rows, 1), |(i, _)| if i % 11 == 0 { 0.0 } else { (i % 2) as f64 });
    Data { rows: BlockRows::Sparse64(rows), targets: TargetBlock::Numbers(labels) }
}

/// All forms of the Hessian that sparse rows have: their products, dense products, its diagonal.
#[test]
fn sparse_rows_of_any_width_reach_the_minimum() {
    let lambda = 1e-3;
    for (n_inputs, n_rows) in [(8, 900), (40, 900), (2060, 2100)] {
        let data = sparse_blobs(6, n_rows, n_inputs);
        let class = |i: usize| if i.is_multiple_of(11) { 0 } else { i % 2 };
        let y = signs(&(0..n_rows).map(class).collect::<Vec<_>>(), 2);
        for loss in [Loss::SquaredHinge, Loss::Logistic] {
            let (pipeline, report) = fit::<f64>(&data, &spec(loss, lambda));
            assert!(report.convergence.unwrap().converged, "{loss:?}, {n_inputs}");
            let (z, (w, b)) = (data.dense_rows(), parameters(&pipeline));
            let by_hand = objective(loss, lambda, &z, &y, (&w, &b));
            assert!((report.convergence.unwrap().objective - by_hand).abs() < 1e-12, "{loss:?}, {n_inputs}: {by_hand}");
            // The gradient's length g bounds the distance to the minimum by g²/4λ; scores are of lengths² of about 5.
            let norm = report.convergence.unwrap().gradient_norm.unwrap();
            assert!(norm * norm / (4.0 * lambda) < 1e-8, "{loss:?}, {n_inputs}: {norm}");
        }
    }
}
