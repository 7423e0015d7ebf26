//! Learning from rows as they come: that it comes close to the minimum, that batches change no bit, and that what is
//! refused leaves no trace.

use mercer::dataset::{BlockRows, ClassLabel, CsrMatrix, Rows, TargetBlock};
use mercer::feature_maps::{Gamma, MapSpec};
use mercer::learners::{
    AveragedSgd, ClassWeight, Convergence, Lambda, LearnerSpec, LinearModel, Loss, Objective, OnlineRidge,
    RidgeStatistics, Solver, Stopping,
};
use mercer::model::Model;
use mercer::pipeline::{Evaluation, Features, OnlinePipeline, Outputs, Pipeline, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Error, Scalar, Silent};
use ndarray::{Array1, Array2, ArrayView2, Axis, array, s};

use crate::data::{Data, bits, normal, rings, sparse_signs};

const LOSSES: [Loss; 7] = [
    Loss::Squared,
    Loss::SquaredHinge,
    Loss::Hinge,
    Loss::Logistic,
    Loss::Softmax,
    Loss::Huber { delta: 0.5 },
    Loss::SquaredEpsilonInsensitive { epsilon: 0.1 },
];

/// Three classes of ten inputs, overlapping, ±1 for each.
fn blobs<T: Scalar>(n_rows: usize) -> (Array2<T>, Array2<T>) {
    let mut x = normal(0, n_rows, 10);
    x.outer_iter_mut().enumerate().for_each(|(i, mut row)| row[i % 3] += 1.5);
    let y = Array2::from_shape_fn((n_rows, 3), |(i, c)| if i % 3 == c { T::one() } else { -T::one() });
    (x.mapv(T::from_f64), y)
}

fn sgd(loss: Loss, lambda: f64, n_components: usize, n_outputs: usize) -> AveragedSgd {
    AveragedSgd::new(Objective { loss, lambda, intercept: true }, n_components, n_outputs).unwrap()
}

fn learned<T: Scalar>(mut sgd: AveragedSgd, x: ArrayView2<'_, T>, y: ArrayView2<'_, T>) -> AveragedSgd {
    sgd.partial_fit(x.into(), y, None).unwrap();
    sgd
}

fn model(sgd: &AveragedSgd) -> (Array2<f64>, Vec<f64>) {
    let model: LinearModel<f64> = sgd.model().unwrap();
    (model.weights().to_owned(), model.intercept().to_vec())
}

/// The steps and the average as they are defined, for rows of length 1, whose size is known: 2L.
#[test]
fn lazy_scales_and_sums_are_the_definition() {
    let mut x = normal(1, 4_000, 6);
    x.outer_iter_mut().for_each(|mut row| row /= row.dot(&row).sqrt());
    let y = Array2::from_shape_fn((4_000, 1), |(i, _)| x[[i, 0]] - 0.5 * x[[i, 1]] + 0.3);
    // exp(−2·Σλη) passes 1e-6 about a hundred times for the first λ, never for the last.
    for lambda in [0.5, 0.05, 1e-4] {
        let (mut w, mut b) = (Array1::<f64>::zeros(6), 0.0);
        let (mut mean_w, mut mean_b, mut total) = (Array1::<f64>::zeros(6), 0.0, 0.0);
        let first = 1.0 / (4.0 + 4.0 * lambda);
        for (t, (row, target)) in x.outer_iter().zip(&y).enumerate() {
            let eta = first / (1.0 + 2.0 * lambda * first * t as f64).powf(0.75);
            let slope = 2.0 * (w.dot(&row) + b - target);
            w = &w * (1.0 - 2.0 * lambda * eta) - &row * (eta * slope);
            b -= eta * slope;
            let share = (t + 1) as f64;
            total += share;
            mean_w = &mean_w + &((&w - &mean_w) * (share / total));
            mean_b += (b - mean_b) * (share / total);
        }
        let (weights, intercept) = model(&learned(sgd(Loss::Squared, lambda, 6, 1), x.view(), y.view()));
        // Rounding of 4,000 steps, times what scales down to 1e-6 amplify: 4e3·1e-16·1e6.
        assert!((&weights.column(0) - &mean_w).iter().all(|e| e.abs() < 4e-7), "{lambda}: {weights} {mean_w}");
        assert!((intercept[0] - mean_b).abs() < 1e-10, "{lambda}");
    }
}

#[test]
fn any_split_into_batches_gives_the_same_bits() {
    let (x, y) = blobs::<f32>(700);
    for loss in LOSSES {
        let whole = learned(sgd(loss, 1e-3, 10, 3), x.view(), y.view());
        for size in [1, 7, 512] {
            let mut parts = sgd(loss, 1e-3, 10, 3);
            for (x, y) in x.axis_chunks_iter(Axis(0), size).zip(y.axis_chunks_iter(Axis(0), size)) {
                parts.partial_fit(x.into(), y, None).unwrap();
            }
            assert_eq!(parts, whole, "{loss:?}, batches of {size}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let x = normal(2, 300, 120);
    let y = Array2::from_shape_fn((300, 7), |(i, j)| if i % 7 == j { 1.0 } else { -1.0 });
    for loss in [Loss::SquaredHinge, Loss::Softmax] {
        let on = |threads| {
            let driver = Driver::new(threads, &Silent).unwrap();
            driver.time("learn", || learned(sgd(loss, 1e-4, 120, 7), x.view(), y.view()))
        };
        let expected = on(1);
        assert!([2, 3, 8].into_iter().all(|threads| on(threads) == expected), "{loss:?}");
    }
}

/// Steps contract distances, so roundings add up: 600 steps of 1e-16 each relative to weights of about 1.
#[test]
fn sparse_rows_are_learned_like_dense_ones() {
    let data = sparse_signs(3, 600);
    let BlockRows::Sparse64(sparse) = &data.rows else { unreachable!("sparse") };
    let TargetBlock::Numbers(y) = &data.targets else { unreachable!("numbers") };
    for loss in LOSSES.into_iter().filter(|loss| *loss != Loss::Softmax) {
        let mut of_sparse = sgd(loss, 1e-3, 40, 1);
        of_sparse.partial_fit(Rows::Sparse(sparse.view()), y.view(), None).unwrap();
        let of_dense = learned(sgd(loss, 1e-3, 40, 1), data.dense_rows().view(), y.view());
        let ((w, b), (v, c)) = (model(&of_sparse), model(&of_dense));
        assert!((&w - &v).iter().all(|e| e.abs() < 1e-12) && (b[0] - c[0]).abs() < 1e-12, "{loss:?}");
    }
}

/// Twice the unit of the features is a quarter of λ and half the weights.
#[test]
fn units_of_features_change_the_unit_of_lambda() {
    let (x, y) = blobs::<f64>(300);
    let (w, b) = model(&learned(sgd(Loss::Logistic, 1e-3, 10, 3), x.view(), y.view()));
    let (v, c) = model(&learned(sgd(Loss::Logistic, 4e-3, 10, 3), (2.0 * &x).view(), y.view()));
    assert!((&w - &(2.0 * v)).iter().all(|e| e.abs() < 1e-12));
    assert!(b.iter().zip(c).all(|(b, c)| (b - c).abs() < 1e-12));
}

#[test]
fn rows_without_weight_do_not_count() {
    let (x, y) = blobs::<f64>(300);
    let weights = Array1::from_shape_fn(300, |i| f64::from(u8::from(i < 200)));
    let mut weighted = sgd(Loss::Hinge, 1e-3, 10, 3);
    weighted.partial_fit(x.view().into(), y.view(), Some(weights.view())).unwrap();
    let first = learned(sgd(Loss::Hinge, 1e-3, 10, 3), x.slice(s![..200, ..]), y.slice(s![..200, ..]));
    assert_eq!(weighted, first);
    assert_eq!(weighted.n_rows(), 200);
}

#[test]
fn what_is_refused_leaves_no_trace() {
    let (x, y) = blobs::<f64>(20);
    let before = learned(sgd(Loss::Logistic, 1e-3, 10, 3), x.view(), y.view());
    let ridge = {
        let mut ridge = OnlineRidge::new(1e-3, 10, 3).unwrap();
        ridge.partial_fit(x.view().into(), y.view(), None).unwrap();
        ridge
    };
    let of_ridge = |ridge: &OnlineRidge| bits(&ridge.model::<f64>().unwrap().weights().to_owned());
    let at = |place: [usize; 2], value: f64| {
        let mut x = x.clone();
        x[place] = value;
        x
    };
    let mut bad_y = y.clone();
    bad_y[[11, 1]] = f64::INFINITY;
    let cases = [
        (at([7, 3], f64::NAN), y.clone(), None, "row 7, input 3 is NaN"),
        (at([9, 0], 1e200), y.clone(), None, "row 9"),
        (x.clone(), bad_y, None, "row 11 is inf"),
        (x.slice(s![.., ..9]).to_owned(), y.clone(), None, "9 inputs, expected 10"),
        (x.clone(), y.slice(s![..19, ..]).to_owned(), None, "(19, 3)"),
        (x.clone(), y.clone(), Some(Array1::from_elem(20, -1.0)), "weights is -1"),
        (x.clone(), y.clone(), Some(Array1::ones(3)), "3 numbers for 20 rows"),
    ];
    for (x, y, weights, says) in cases {
        let (mut sgd, mut sums) = (before.clone(), ridge.clone());
        let weights = weights.as_ref().map(|weights| weights.view());
        let error = sgd.partial_fit(x.view().into(), y.view(), weights).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(sgd, before, "{says}");
        assert!(sums.partial_fit(x.view().into(), y.view(), weights).is_err(), "{says}");
        assert_eq!((sums.n_rows(), of_ridge(&sums)), (20, of_ridge(&ridge)), "{says}");
    }
    let mut sparse = CsrMatrix::new(10);
    sparse.push(4, f64::NAN).unwrap();
    sparse.finish_row();
    let error = before.clone().partial_fit(Rows::Sparse(sparse.view()), y.slice(s![..1, ..]), None).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 0, input: 4, .. }), "{error}");
    for (lambda, loss) in [(0.0, Loss::Hinge), (f64::NAN, Loss::Hinge), (1.0, Loss::Huber { delta: -1.0 })] {
        assert!(AveragedSgd::new(Objective { loss, lambda, intercept: true }, 2, 1).is_err());
    }
    assert!(matches!(sgd(Loss::Hinge, 1.0, 2, 1).model::<f32>(), Err(Error::TooFewRows { .. })));
}

fn mean_loss(loss: Loss, lambda: f64, sgd: &AveragedSgd, x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let (w, b) = model(sgd);
    let scores = x.dot(&w) + &Array1::from(b);
    let one = |(s, y): (&f64, &f64)| match loss {
        Loss::Logistic => (-y * s).exp().ln_1p(),
        _ => (1.0 - y * s).max(0.0),
    };
    let total: f64 = scores.iter().zip(y).map(one).sum();
    total / x.nrows() as f64 + lambda * w.iter().map(|w| w * w).sum::<f64>()
}

/// J is convex: at the mean of parts it is at most the mean of J at the parts. Above one run it was by 0.5 % for
/// logistic loss and below for hinge; the bar is four times that.
#[test]
fn merged_parts_are_close_to_one_run() {
    let (x, y) = blobs::<f64>(8_000);
    for loss in [Loss::Logistic, Loss::Hinge] {
        let of = |x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>| learned(sgd(loss, 1e-3, 10, 3), x, y);
        let value = |sgd: &AveragedSgd| mean_loss(loss, 1e-3, sgd, &x, &y);
        let parts: Vec<AveragedSgd> =
            x.axis_chunks_iter(Axis(0), 2_000).zip(y.axis_chunks_iter(Axis(0), 2_000)).map(|(x, y)| of(x, y)).collect();
        let mut merged = sgd(loss, 1e-3, 10, 3);
        parts.iter().for_each(|part| merged.merge(part).unwrap());
        assert_eq!(merged.n_rows(), 8_000);
        let of_parts = parts.iter().map(value).sum::<f64>() / 4.0;
        let one = of(x.view(), y.view());
        assert!(value(&merged) <= of_parts, "{loss:?}");
        assert!(value(&merged) < 1.02 * value(&one), "{loss:?}: {}, {}", value(&merged), value(&one));
        // It goes on as a run of all these rows would.
        let more = learned(merged.clone(), x.slice(s![..500, ..]), y.slice(s![..500, ..]));
        assert!(value(&more) < 1.02 * value(&one) && more.n_rows() == 8_500, "{loss:?}");
        assert!(merged.merge(&sgd(loss, 1e-2, 10, 3)).is_err());
        assert!(merged.merge(&sgd(loss, 1e-3, 9, 3)).is_err());
    }
}

#[test]
fn ridge_in_batches_and_merged_is_ridge() {
    let (x, y) = blobs::<f64>(1_000);
    let mut sums = RidgeStatistics::new(10, 3);
    sums.add(x.view(), y.view());
    let expected: LinearModel<f64> = sums.into_system().unwrap().solve(1e-3).unwrap();
    let of = |from: usize, to: usize, size: usize| {
        let mut ridge = OnlineRidge::new(1e-3, 10, 3).unwrap();
        let (x, y) = (x.slice(s![from..to, ..]), y.slice(s![from..to, ..]));
        for (x, y) in x.axis_chunks_iter(Axis(0), size).zip(y.axis_chunks_iter(Axis(0), size)) {
            ridge.partial_fit(x.into(), y, None).unwrap();
        }
        ridge
    };
    let mut merged = of(0, 300, 1);
    merged.merge(&of(300, 1_000, 77)).unwrap();
    for ridge in [merged, of(0, 1_000, 1_000)] {
        let model: LinearModel<f64> = ridge.model().unwrap();
        // Sums of 1,000 products of size 1 keep 1e-13 of 1,000, over eigenvalues of about 1.
        assert!((&model.weights() - &expected.weights()).iter().all(|e| e.abs() < 1e-12));
        assert_eq!(ridge.n_rows(), 1_000);
    }
    assert!(of(0, 10, 10).merge(&OnlineRidge::new(1e-2, 10, 3).unwrap()).is_err());
    assert!(OnlineRidge::new(-1.0, 10, 3).is_err());
    let weights = Array1::ones(1);
    let weighted =
        of(0, 10, 10).partial_fit(array![[0.0; 10]].view().into(), array![[1.0; 3]].view(), Some(weights.view()));
    assert!(weighted.unwrap_err().to_string().contains("sgd"));
}

fn spec(loss: Loss, lambda: Lambda, solver: Solver) -> PipelineSpec {
    let stopping = Stopping { tol: 1e-6, max_iter: if solver == Solver::Sgd { 10 } else { 500 } };
    PipelineSpec {
        preprocess: PreprocessSpec::Standardize,
        map: MapSpec::fourier(100, Gamma::Scale),
        learner: LearnerSpec { solver, stopping, ..LearnerSpec::new(loss, lambda) },
        task: None,
        cv: None,
        probabilities: false,
        seed: 4,
    }
}

fn fit(data: &Data, spec: &PipelineSpec, memory: u64) -> (Pipeline<f32>, Convergence) {
    let driver = Driver::new(2, &Silent).unwrap().with_memory(memory);
    let (pipeline, report) = Pipeline::fit(&data.dataset(), spec, &driver).unwrap();
    (pipeline, report.convergence.unwrap())
}

/// Ten epochs of 3,000 rows, features of length 1, kept or in two panels. The largest excesses of 2,000 rows were
/// 0.0017 and
/// 0.046, of squared hinge and hinge: docs/decisions/0013. The bars are twice those.
#[test]
fn ten_epochs_come_close_to_the_minimum() {
    let classes = rings(0, 3_000, &["a", "b", "c"]);
    let x = normal(5, 3_000, 4);
    let noise = normal(6, 3_000, 1);
    let y = Array2::from_shape_fn((3_000, 1), |(i, _)| 7.0 + (2.0 * x[[i, 0]]).sin() + x[[i, 1]] + 0.1 * noise[[i, 0]]);
    let real = Data::dense(x, y);
    let cases = [
        (&classes, Loss::Squared),
        (&classes, Loss::SquaredHinge),
        (&classes, Loss::Hinge),
        (&classes, Loss::Logistic),
        (&classes, Loss::Softmax),
        (&real, Loss::Squared),
        (&real, Loss::Huber { delta: 0.5 }),
        (&real, Loss::SquaredEpsilonInsensitive { epsilon: 0.1 }),
    ];
    for (data, loss) in cases {
        for (lambda, bar) in [(1e-3, 0.004), (1e-4, 0.10)] {
            let lambda = Lambda::Value(lambda);
            // The dual penalises the intercept too: its objective is above the minimum.
            let solver = if loss == Loss::Hinge { Solver::Dual } else { Solver::Iterative };
            let least = fit(data, &spec(loss, lambda, solver), u64::MAX).1.objective;
            for memory in [u64::MAX, 0] {
                let end = fit(data, &spec(loss, lambda, Solver::Sgd), memory).1;
                assert!(end.objective < (1.0 + bar) * least, "{loss:?}, {lambda}: {end:?}, least {least}");
            }
        }
    }
}

/// All rows of a class before the next: kept features are shuffled as a whole.
#[test]
fn rows_sorted_by_class_are_shuffled() {
    let data = rings(0, 3_000, &["a", "b", "c"]);
    let order: Vec<usize> = (0..3).flat_map(|class| (class..3_000).step_by(3)).collect();
    let TargetBlock::Text(labels) = &data.targets else { unreachable!("labels") };
    let labels = order.iter().map(|&i| labels[i].clone()).collect();
    let rows = BlockRows::Dense64(data.dense_rows().select(Axis(0), &order));
    let sorted = Data { rows, targets: TargetBlock::Text(labels) };
    let spec = spec(Loss::Logistic, Lambda::Value(1e-4), Solver::Sgd);
    let (a, b) = (fit(&data, &spec, u64::MAX).1, fit(&sorted, &spec, u64::MAX).1);
    assert!((a.objective / b.objective - 1.0).abs() < 0.02, "{a:?}, {b:?}");
}

#[test]
fn nothing_but_the_data_changes_a_bit() {
    let data = rings(7, 1_300, &["a", "b", "c"]);
    let spec = spec(Loss::SquaredHinge, Lambda::Value(1e-4), Solver::Sgd);
    for memory in [0, u64::MAX] {
        let fit = |threads, block_rows, in_memory| {
            let driver = Driver::new(threads, &Silent).unwrap().with_memory(memory);
            let (pipeline, report) =
                Pipeline::<f32>::fit(&data.delivered(block_rows, in_memory), &spec, &driver).unwrap();
            (bits(&pipeline.model().weights().to_owned()), report.convergence)
        };
        let expected = fit(1, 1_300, true);
        assert_eq!(fit(2, 100, false), expected);
        assert_eq!(fit(3, 77, true), expected);
    }
}

/// λ is chosen on rows held out where features are kept; classes count alike on request; C is another λ.
#[test]
fn what_the_solver_is_asked_for() {
    let data = rings(0, 900, &["a", "b", "c"]);
    let driver = Driver::new(2, &Silent).unwrap();
    let auto = spec(Loss::Logistic, Lambda::Auto, Solver::Sgd);
    let (pipeline, report) = Pipeline::<f32>::fit(&data.dataset(), &auto, &driver).unwrap();
    assert_eq!(pipeline.spec().learner.lambda, report.lambda.unwrap().lambda);
    assert_eq!(pipeline.spec().learner.solver, Solver::Sgd);
    let small = Driver::new(2, &Silent).unwrap().with_memory(0);
    let refused = |spec: &PipelineSpec| Pipeline::<f32>::fit(&data.dataset(), spec, &small).err().unwrap().to_string();
    assert!(refused(&auto).contains("lambda is auto, must be a number"), "{}", refused(&auto));
    let cv = PipelineSpec { cv: Some(3), ..spec(Loss::Hinge, Lambda::Value(1e-3), Solver::Sgd) };
    assert!(refused(&cv).contains("cv is 3"));
    let by_c = spec(Loss::Logistic, Lambda::OfC(1.0), Solver::Sgd);
    assert_eq!(Pipeline::<f32>::fit(&data.dataset(), &by_c, &small).unwrap().0.spec().learner.lambda, 1.0 / 1_800.0);
    let rare = Data {
        rows: BlockRows::Dense64(data.dense_rows()),
        targets: TargetBlock::Numbers(Array2::from_shape_fn((900, 1), |(i, _)| f64::from(u8::from(i % 9 == 0)))),
    };
    let share = |class_weight, memory| {
        let mut spec = spec(Loss::Logistic, Lambda::Value(1e-1), Solver::Sgd);
        spec.learner.class_weight = class_weight;
        let model = fit(&rare, &spec, memory).0;
        model.model().intercept()[0]
    };
    for memory in [0, u64::MAX] {
        // log(1/8) for classes of 1 and 8 parts with a penalty that leaves little but the intercept; 0 where they count
        // alike.
        let (plain, balanced) = (share(ClassWeight::Uniform, memory), share(ClassWeight::Balanced, memory));
        assert!((plain + 8_f32.ln()).abs() < 0.3 && balanced.abs() < 0.3, "{plain}, {balanced}");
    }
}

fn online(data: &Data, loss: Loss, solver: Solver) -> OnlinePipeline<f32> {
    let driver = Driver::new(2, &Silent).unwrap();
    let spec = spec(loss, Lambda::Value(1e-5), solver);
    let features = Features::fit(&data.dataset(), spec.preprocess, &spec.map, 4, &driver).unwrap();
    let classes = ["a", "b", "c"].map(|label| ClassLabel::Text(label.to_owned())).to_vec();
    OnlinePipeline::new(features, Outputs::Classification { classes }, &spec.learner, 4).unwrap()
}

fn feed(online: &mut OnlinePipeline<f32>, data: &Data) -> mercer::Result<()> {
    let driver = Driver::new(2, &Silent).unwrap();
    let rows = data.dense_rows().mapv(|x| x as f32);
    online.partial_fit(&driver, rows.view().into(), &data.targets, None)
}

fn accuracy(pipeline: &Pipeline<f32>, data: &Data) -> f64 {
    match pipeline.evaluate(&Driver::new(2, &Silent).unwrap(), &data.dataset()).unwrap() {
        Evaluation::Classification(report) => report.accuracy,
        Evaluation::Regression(_) => panic!("not a classification"),
    }
}

#[test]
fn a_pipeline_learns_in_batches_and_is_saved() {
    let (train, test) = (rings(0, 3_000, &["a", "b", "c"]), rings(1, 600, &["a", "b", "c"]));
    for (loss, solver) in [(Loss::Squared, Solver::Auto), (Loss::Softmax, Solver::Auto), (Loss::Squared, Solver::Sgd)] {
        let mut whole = online(&train, loss, solver);
        let mut parts = whole.clone();
        feed(&mut whole, &train).unwrap();
        (0..30).for_each(|i| feed(&mut parts, &train.slice(100 * i, 100 * i + 100)).unwrap());
        assert_eq!((whole.n_rows(), parts.n_rows()), (3_000, 3_000));
        let (whole, parts) = (whole.pipeline().unwrap(), parts.pipeline().unwrap());
        let score = accuracy(&parts, &test);
        assert!(score > 0.97, "{loss:?}: {score}");
        if parts.spec().learner.solver == Solver::Sgd {
            assert_eq!(parts.model(), whole.model());
        }
        let tensors = parts.tensors();
        let saved = Model::from_parts(Model::new(parts).header(), tensors).unwrap();
        let mercer::model::AnyPipeline::Float32(loaded) = saved.pipeline() else { panic!("another type") };
        assert_eq!(accuracy(loaded, &test), score);
        // What was loaded goes on learning.
        let mut resumed = OnlinePipeline::resume(loaded, 3_000).unwrap();
        assert_eq!(resumed.pipeline().unwrap().model(), loaded.model());
        feed(&mut resumed, &train.slice(0, 50)).unwrap();
        assert_eq!(resumed.n_rows(), 3_050);
        assert!(accuracy(&resumed.pipeline().unwrap(), &test) > score - 0.02);
    }
}

#[test]
fn pipelines_are_merged() {
    let (train, test) = (rings(0, 3_000, &["a", "b", "c"]), rings(1, 600, &["a", "b", "c"]));
    for (loss, solver) in [(Loss::Squared, Solver::Direct), (Loss::SquaredHinge, Solver::Sgd)] {
        let empty = online(&train, loss, solver);
        let part = |start: usize| {
            let mut part = empty.clone();
            feed(&mut part, &train.slice(start, start + 1_000)).unwrap();
            part
        };
        let mut merged = part(0);
        merged.merge(&part(1_000)).unwrap();
        merged.merge(&part(2_000)).unwrap();
        assert_eq!(merged.n_rows(), 3_000);
        assert!(accuracy(&merged.pipeline().unwrap(), &test) > 0.97, "{loss:?}");
        assert!(merged.merge(&online(&train, Loss::Logistic, Solver::Sgd)).is_err());
        assert!(merged.merge(&online(&test, loss, solver)).is_err(), "another scaling");
    }
}

#[test]
fn pipelines_refuse_without_a_trace() {
    let train = rings(0, 3_000, &["a", "b", "c"]);
    let mut online = online(&train, Loss::Logistic, Solver::Sgd);
    feed(&mut online, &train.slice(0, 300)).unwrap();
    let before = online.pipeline().unwrap();
    let mut refused = |data: &Data, says: &[&str]| {
        let error = feed(&mut online, data).unwrap_err().to_string();
        assert!(says.iter().all(|says| error.contains(says)), "{error}");
        assert_eq!((online.n_rows(), online.pipeline().unwrap().model()), (300, before.model()), "{says:?}");
    };
    refused(&rings(0, 10, &["a", "d"]), &["label d", "a, b, c"]);
    let wide = Data { rows: BlockRows::Dense64(Array2::zeros((3_000, 3))), ..train.clone() };
    refused(&wide, &["3 inputs, expected 2"]);
    let with = |row: usize, value: f64| {
        let mut rows = train.dense_rows();
        rows[[row, 1]] = value;
        Data { rows: BlockRows::Dense64(rows), ..train.clone() }
    };
    refused(&with(2_900, f64::NAN), &["row 2900, input 1 is NaN"]);
    // Finite, but not the waves of it; in the second panel.
    refused(&with(2_900, 3e38), &["row 2900", "float64"]);
    let short = Data { targets: rings(0, 10, &["a", "b"]).targets, ..train.clone() };
    refused(&short, &["10 targets for 3000 rows"]);
}

#[test]
fn pipelines_refuse_what_batches_cannot_have() {
    let train = rings(0, 300, &["a", "b", "c"]);
    let empty = online(&train, Loss::Hinge, Solver::Auto);
    assert!(matches!(empty.pipeline(), Err(Error::TooFewRows { .. })));
    let classes = ["a", "b", "c"].map(|label| ClassLabel::Text(label.to_owned())).to_vec();
    let refused = |learner: LearnerSpec, says: &str| {
        let driver = Driver::new(1, &Silent).unwrap();
        let map = MapSpec::fourier(10, Gamma::Scale);
        let features = Features::<f32>::fit(&train.dataset(), PreprocessSpec::Auto, &map, 4, &driver).unwrap();
        let outputs = Outputs::Classification { classes: classes.clone() };
        let error = OnlinePipeline::new(features, outputs, &learner, 4).err().unwrap().to_string();
        assert!(error.contains(says), "{error}");
    };
    let given = LearnerSpec::new(Loss::Logistic, Lambda::Value(1e-3));
    refused(LearnerSpec { lambda: Lambda::Auto, ..given }, "lambda is auto");
    refused(LearnerSpec { lambda: Lambda::OfC(1.0), ..given }, "lambda is C = 1");
    refused(LearnerSpec { class_weight: ClassWeight::Balanced, ..given }, "give each row its weight");
    refused(LearnerSpec { solver: Solver::Iterative, ..given }, "solver is iterative");
    refused(LearnerSpec { loss: Loss::Huber { delta: 1.0 }, ..given }, "learner is huber");
}

/// Real targets far from zero are found, by rows of sparse inputs narrower than the pipeline.
#[test]
fn real_values_of_sparse_rows() {
    let mut rows = CsrMatrix::new(0);
    let x = normal(8, 2_000, 3);
    for row in x.outer_iter() {
        row.iter().enumerate().for_each(|(j, &x)| rows.push(j, x).unwrap());
        rows.finish_row();
    }
    let y = Array2::from_shape_fn((2_000, 1), |(i, _)| 50.0 + 2.0 * x[[i, 0]] - x[[i, 2]]);
    let driver = Driver::new(1, &Silent).unwrap();
    let preprocess = mercer::preprocess::Preprocess::from_parts(PreprocessSpec::None, 5, vec![], vec![]).unwrap();
    let features = Features::<f64>::from_parts(preprocess, MapSpec::Identity.resolve(f64::NAN, 5, 0), None).unwrap();
    let spec = LearnerSpec { solver: Solver::Sgd, ..LearnerSpec::new(Loss::Squared, Lambda::Value(1e-6)) };
    let mut online = OnlinePipeline::new(features, Outputs::Regression { n_targets: 1 }, &spec, 0).unwrap();
    online.partial_fit(&driver, Rows::Sparse(rows.view()), &TargetBlock::Numbers(y.clone()), None).unwrap();
    let pipeline = online.pipeline().unwrap();
    let expected = [2.0, 0.0, -1.0, 0.0, 0.0];
    // There is no noise: what is left is the way from zero, forgotten as 1/t².
    assert!(
        pipeline.model().weights().iter().zip(expected).all(|(w, v)| (w - v).abs() < 1e-2),
        "{:?}",
        pipeline.model()
    );
    assert!((pipeline.model().intercept()[0] - 50.0).abs() < 1e-1, "{:?}", pipeline.model());
    // A fitted regression goes on: its targets are not centred twice.
    let data = Data { rows: BlockRows::Sparse64(rows), targets: TargetBlock::Numbers(y.clone()) };
    let mut fitted =
        PipelineSpec { map: MapSpec::Identity, ..self::spec(Loss::Squared, Lambda::Value(1e-6), Solver::Direct) };
    fitted.preprocess = PreprocessSpec::None;
    let (fitted, _) = Pipeline::<f64>::fit(&data.dataset(), &fitted, &driver).unwrap();
    let mut resumed = OnlinePipeline::resume(&fitted, 100).unwrap();
    resumed.partial_fit(&driver, x.view().into(), &TargetBlock::Numbers(y), None).unwrap();
    assert!((resumed.pipeline().unwrap().model().intercept()[0] - 50.0).abs() < 1e-3);
}
