//! Pipelines found by trials.

use mercer::dataset::{BlockRows, Dataset, TargetBlock};
use mercer::pipeline::Evaluation;
use mercer::random::{Purpose, Stream, normal_columns};
use mercer::selection::{Contender, Objective, SearchSpec, Strategy, search, tune};
use mercer::{Driver, Dtype, Error, Progress, Silent};
use ndarray::Array2;

fn spec(trials: usize) -> SearchSpec {
    SearchSpec {
        contenders: Vec::new(),
        strategy: Strategy::Halving,
        objective: None,
        task: None,
        trials: Some(trials),
        memory: 1 << 30,
        confirm: true,
        probabilities: false,
        seed: 5,
    }
}

/// Normal rows with a label of each.
fn dataset(n: usize, d: usize, seed: u64, label: impl Fn(usize, &[f32]) -> f64) -> Dataset {
    let x = normal_columns::<f32>(seed, Purpose::Projection, d, 0..n).reversed_axes().as_standard_layout().into_owned();
    let y = Array2::from_shape_fn((n, 1), |(i, _)| label(i, x.row(i).as_slice().unwrap()));
    Dataset::from_memory("rows", BlockRows::Dense32(x), Some(TargetBlock::Numbers(y))).unwrap()
}

fn ring(_: usize, x: &[f32]) -> f64 {
    f64::from(u8::from(x[0] * x[0] + x[1] * x[1] > 1.4))
}

#[test]
fn a_ring_needs_a_kernel_and_says_so() {
    let driver = Driver::new(2, &Silent).unwrap();
    let found = search(&dataset(1200, 2, 1, ring), &spec(10), Dtype::Float32, None, &driver).unwrap();
    assert!(!found.search.chosen().contender.is_linear());
    let (gain, error) = found.search.beyond_linear.unwrap();
    assert!(gain > 0.2 && error < 0.1, "{gain} ± {error}");
    // 240 rows of the 1,200 confirm: of a model that is right for 0.97 of all, 0.94 is 2.7 standard errors below.
    assert!(found.search.confirmation.unwrap().score > 0.94);
    let Evaluation::Classification(report) = found.model.evaluate(&driver, &dataset(1000, 2, 2, ring)).unwrap() else {
        panic!("classes")
    };
    assert!(report.accuracy > 0.95, "{}", report.accuracy);
}

/// A line is found to be one: kernels gain nothing beyond the error of the difference, and the cheapest is taken.
#[test]
fn a_line_is_not_bent() {
    let driver = Driver::new(2, &Silent).unwrap();
    let line = |_: usize, x: &[f32]| f64::from(x[0] + 2.0 * x[1] - x[2]);
    let found = search(&dataset(600, 3, 3, line), &spec(8), Dtype::Float64, None, &driver).unwrap();
    assert!(found.search.chosen().contender.is_linear());
    assert!(found.search.nothing_beats_linear());
    assert_eq!(found.search.objective, Objective::R2);
    assert!(found.search.confirmation.unwrap().score > 0.999);
}

/// Labels by chance: the best of many trials is lucky, the rows that took no part are not. Their accuracy is within 3.3 standard
/// errors of ½ with a probability of 0.999.
#[test]
fn noise_is_reported_as_noise() {
    let driver = Driver::new(2, &Silent).unwrap();
    for seed in 0..3 {
        let coin = Stream::new(seed, Purpose::Start);
        let noise = dataset(1000, 4, 10 + seed, |i, _| f64::from((coin.bits(i as u64) & 1) as u32));
        let found = search(&noise, &spec(9), Dtype::Float32, None, &driver).unwrap();
        let confirmation = found.search.confirmation.unwrap();
        let bound = 3.3 * (0.25 / confirmation.n_rows as f64).sqrt();
        assert!((confirmation.score - 0.5).abs() < bound, "{} of {}", confirmation.score, confirmation.n_rows);
    }
}

#[test]
fn the_same_trials_give_the_same_bits() {
    let data = dataset(700, 3, 4, ring);
    let run = |threads| {
        let driver = Driver::new(threads, &Silent).unwrap();
        let found = search(&data, &spec(8), Dtype::Float32, None, &driver).unwrap();
        let tried: Vec<_> = found.search.trials.iter().map(|t| (t.description.clone(), t.score, t.lambda)).collect();
        let mut scores = Vec::new();
        found
            .model
            .for_each_scores(&driver, &data, |rows| {
                scores.extend(rows.iter().map(|x| x.to_bits()));
                Ok(())
            })
            .unwrap();
        (tried, found.spec, scores)
    };
    let (first, second) = (run(1), run(2));
    assert_eq!(first.0, second.0);
    assert_eq!(first.1, second.1);
    assert_eq!(first.2, second.2);
}

/// One in thirty: accuracy would be content with nothing found.
#[test]
fn a_rare_class_is_judged_by_f1() {
    let driver = Driver::new(2, &Silent).unwrap();
    let rare = |_: usize, x: &[f32]| f64::from(u8::from(x[0] > 1.3 && x[1].abs() < 0.5));
    let (_, report) = tune(&dataset(3000, 2, 6, rare), &spec(8), Dtype::Float32, None, &driver).unwrap();
    assert_eq!(report.objective, Objective::F1);
    assert!(report.chosen().score.unwrap() > 0.6, "{:?}", report.chosen());
}

/// A class whose probability hardly anywhere reaches ½: its F1 is largest where a row is taken for one of it well below that.
#[test]
fn f1_moves_the_threshold_of_a_rare_class() {
    let driver = Driver::new(2, &Silent).unwrap();
    let rows = |n, seed| {
        let chance = Stream::new(seed, Purpose::Start);
        dataset(n, 2, seed, move |i, x| {
            let p = 1.0 / (1.0 + (4.2 - 1.5 * f64::from(x[0])).exp());
            f64::from(u8::from(((chance.bits(i as u64) >> 11) as f64) < p * (1_u64 << 53) as f64))
        })
    };
    let f1 = |asked: &SearchSpec| {
        let found = search(&rows(6000, 21), asked, Dtype::Float32, None, &driver).unwrap();
        let report = found.model.evaluate(&driver, &rows(20_000, 22)).unwrap();
        let Evaluation::Classification(report) = report else { panic!("classes") };
        (found.search.threshold, report.classes[1].f1)
    };
    let (threshold, moved) = f1(&spec(3));
    assert!(threshold.is_some_and(|threshold| threshold < 0.0), "{threshold:?}");
    let (none, at_zero) = f1(&SearchSpec { probabilities: true, ..spec(3) });
    assert_eq!(none, None);
    assert!(moved > at_zero + 0.05, "{moved} and {at_zero}");
}

#[test]
fn a_grid_tries_each_once_on_all_rows() {
    let driver = Driver::new(2, &Silent).unwrap();
    let data = dataset(400, 2, 7, ring);
    let mut asked = SearchSpec { strategy: Strategy::Grid, trials: None, confirm: false, ..spec(1) };
    let linear = Contender::linear(mercer::learners::Loss::Squared);
    let rbf = |width| Contender { kernel: mercer::kernels::KernelFamily::Rbf, width, ..linear };
    asked.contenders = vec![rbf(0.5), rbf(1.0), rbf(2.0)];
    let (_, report) = tune(&data, &asked, Dtype::Float32, None, &driver).unwrap();
    // The linear model is always among them.
    assert_eq!(report.trials.len(), 4);
    assert!(report.trials[0].contender.is_linear());
    // Four folds, dealt by class: each has a quarter but for a row or two of each class and part.
    assert!(report.trials.iter().all(|trial| trial.n_rows.abs_diff(300) <= 10 && trial.n_judges == 400));
}

#[test]
fn refusals() {
    let driver = Driver::new(1, &Silent).unwrap();
    let data = dataset(300, 2, 8, ring);
    let refused = |asked: &SearchSpec, data: &Dataset| tune(data, asked, Dtype::Float32, None, &driver).unwrap_err();
    assert!(refused(&spec(0), &data).to_string().contains("trials is 0"));
    let r2 = SearchSpec { objective: Some(Objective::R2), ..spec(3) };
    assert!(refused(&r2, &data).to_string().contains("objective is r2"));
    assert!(matches!(refused(&spec(3), &dataset(3, 2, 9, |i, _| (i % 2) as f64)), Error::TooFewRows { .. }));
    let tiny = SearchSpec { memory: 1000, ..spec(3) };
    assert!(refused(&tiny, &data).to_string().contains("no trial could be finished"));
}

/// Asks for an end from the start.
struct Never;

impl Progress for Never {
    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn the_user_ends_it() {
    let driver = Driver::new(1, &Never).unwrap();
    let error = search(&dataset(300, 2, 8, ring), &spec(3), Dtype::Float32, None, &driver).err().unwrap();
    assert!(matches!(error, Error::Interrupted));
}

/// Two seconds for what would take longer: there is a model of all that was asked, the linear one was tried, and a kernel where the machine had time for one. No line
/// tells a ring from what is in it, any kernel does better than 0.6.
#[test]
fn a_deadline_ends_with_a_model() {
    let driver = Driver::new(2, &Silent).unwrap();
    let data = dataset(4000, 8, 11, ring);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(2);
    let asked = SearchSpec { trials: None, ..spec(1) };
    let found = search(&data, &asked, Dtype::Float32, Some(deadline), &driver).unwrap();
    assert!(found.search.trials[0].contender.is_linear());
    let Evaluation::Classification(report) = found.model.evaluate(&driver, &data).unwrap() else { panic!("classes") };
    assert_eq!(report.n_rows, 4000);
    assert_eq!(report.accuracy > 0.6, !found.search.chosen().contender.is_linear(), "{}", report.accuracy);
}
