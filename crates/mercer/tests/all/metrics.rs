//! Scores against scikit-learn's.

use mercer::kernels::Kernel;
use mercer::metrics::approximation;
use mercer::metrics::{
    ApproximationReport, ClassificationReport, ConfusionMatrix, ProbabilityReport, ProbabilityScores, RegressionReport,
    RegressionScores,
};
use ndarray::{Array2, array};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[derive(Deserialize)]
struct Fixture {
    classification: Classification,
    regression: Regression,
    probabilities: Probabilities,
}

#[derive(Deserialize)]
struct Probabilities {
    truth: Vec<usize>,
    shares: Vec<[f64; 3]>,
    log_loss: f64,
    brier_score: f64,
    truth_of_two: Vec<usize>,
    shares_of_two: Vec<[f64; 2]>,
    log_loss_of_two: f64,
    brier_score_of_two: f64,
}

#[derive(Deserialize)]
struct Classification {
    n_classes: usize,
    truth: Vec<usize>,
    predicted: Vec<usize>,
    confusion: Vec<Vec<u64>>,
    precision: Vec<f64>,
    recall: Vec<f64>,
    f1: Vec<f64>,
    support: Vec<u64>,
    accuracy: f64,
    precision_macro: f64,
    recall_macro: f64,
    f1_macro: f64,
    f1_micro: f64,
}

#[derive(Deserialize)]
struct Regression {
    truth: Vec<[f64; 3]>,
    predicted: Vec<[f64; 3]>,
    rmse: f64,
    mae: f64,
    r2: f64,
    mse_of_targets: [f64; 3],
    r2_of_targets: [f64; 3],
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/metrics.json")).unwrap()
}

fn classification_report(case: &Classification) -> ClassificationReport {
    let mut counts = ConfusionMatrix::new(case.n_classes).unwrap();
    counts.add(&case.truth, &case.predicted).unwrap();
    counts.report().unwrap()
}

fn regression_report(case: &Regression) -> RegressionReport {
    let mut scores = RegressionScores::new(3).unwrap();
    scores.add(Array2::from(case.truth.clone()).view(), Array2::from(case.predicted.clone()).view()).unwrap();
    scores.report().unwrap()
}

fn assert_close(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{what}: {got} for {expected}");
}

#[test]
fn classification_as_scikit_learn() {
    let case = fixture().classification;
    let report = classification_report(&case);
    assert_eq!(report.confusion, case.confusion);
    for (class, scores) in report.classes.iter().enumerate() {
        assert_close(scores.precision, case.precision[class], "precision");
        assert_close(scores.recall, case.recall[class], "recall");
        assert_close(scores.f1, case.f1[class], "f1");
        assert_eq!(scores.support, case.support[class]);
    }
    assert_close(report.accuracy, case.accuracy, "accuracy");
    assert_close(report.precision_macro, case.precision_macro, "macro precision");
    assert_close(report.recall_macro, case.recall_macro, "macro recall");
    assert_close(report.f1_macro, case.f1_macro, "macro F1");
    assert_close(report.f1_micro, case.f1_micro, "micro F1");
}

#[test]
fn regression_as_scikit_learn() {
    let case = fixture().regression;
    let report = regression_report(&case);
    assert_close(report.rmse, case.rmse, "RMSE");
    assert_close(report.mae, case.mae, "MAE");
    assert_close(report.r2, case.r2, "R²");
    for (target, scores) in report.targets.iter().enumerate() {
        assert_close(scores.rmse.powi(2), case.mse_of_targets[target], "MSE of a target");
        assert_close(scores.r2, case.r2_of_targets[target], "R² of a target");
    }
}

fn probability_report<const N: usize>(truth: &[usize], shares: &[[f64; N]]) -> ProbabilityReport {
    let mut scores = ProbabilityScores::new(N).unwrap();
    scores.add(truth, Array2::from(shares.to_vec()).view()).unwrap();
    scores.report().unwrap()
}

#[test]
fn probabilities_as_scikit_learn() {
    let case = fixture().probabilities;
    let three = probability_report(&case.truth, &case.shares);
    assert_close(three.log_loss, case.log_loss, "log loss");
    assert_close(three.brier_score, case.brier_score, "Brier score");
    let two = probability_report(&case.truth_of_two, &case.shares_of_two);
    assert_close(two.log_loss, case.log_loss_of_two, "log loss of two classes");
    assert_close(two.brier_score, case.brier_score_of_two, "Brier score of two classes");
}

#[test]
fn reports_survive_json() {
    fn round_trip<R: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(report: &R) {
        let text = serde_json::to_string(report).unwrap();
        assert_eq!(&serde_json::from_str::<R>(&text).unwrap(), report);
    }
    let Fixture { classification, regression, probabilities } = fixture();
    let without = classification_report(&classification);
    round_trip(&without);
    let probabilities = Some(probability_report(&probabilities.truth, &probabilities.shares));
    round_trip(&ClassificationReport { probabilities, ..without });
    round_trip(&regression_report(&regression));
    let (x, z) = (array![[1.0, 2.0], [0.3, 0.1]], array![[0.9], [0.2]]);
    let report: ApproximationReport = approximation(Kernel::Rbf { gamma: 0.7 }, x.view().into(), z.view()).unwrap();
    round_trip(&report);
}
