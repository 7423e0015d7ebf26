//! Budgets of a few landmarks, by what is learned with them: a ridge classifier of Nyström features, landmarks by chance, by distance-based
//! hashing (CM21 algorithm 1) and by randomly pivoted Cholesky, 20 seeds each.
//!
//! The RBF kernel with gamma "scale", λ by rows held out. CM21 holds that hashing is the better choice of very few landmarks; the difference of the
//! means comes with the standard error of it.

use mercer::budget::{BudgetMethod, BudgetSpec};
use mercer::dataset::Dataset;
use mercer::feature_maps::{LandmarkSpec, MapSpec};
use mercer::learners::{Lambda, LearnerSpec};
use mercer::model::Model;
use mercer::pipeline::{Evaluation, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Dtype, Silent};

use crate::distortion::mean_and_deviation;
use crate::rows::load_labelled;

const N_SEEDS: u64 = 20;
const SIZES: [usize; 4] = [10, 20, 30, 40];
const METHODS: [BudgetMethod; 3] = [BudgetMethod::Uniform, BudgetMethod::Dbh, BudgetMethod::RandomCholesky];

pub(crate) fn run() -> Result<(), String> {
    println!("| data | landmarks | chance | hashing | random Cholesky | hashing − chance | random Cholesky − chance |");
    println!("|---|---|---|---|---|---|---|");
    for (name, folder) in [("MNIST", "mnist"), ("Fashion-MNIST", "fashion-mnist")] {
        let [train, test] = ["train", "t10k"].map(|part| {
            load_labelled(
                &format!("{folder}/{part}-images-idx3-ubyte.gz"),
                &format!("{folder}/{part}-labels-idx1-ubyte.gz"),
            )
        });
        let (train, test) = (train?, test?);
        for m in SIZES {
            let mut of_method = Vec::new();
            for method in METHODS {
                let accuracies: Result<Vec<f64>, String> =
                    (0..N_SEEDS).map(|seed| accuracy(&train, &test, method, m, seed)).collect();
                of_method.push(mean_and_deviation(&accuracies?));
            }
            println!("| {name} | {m} | {} |", cells(&of_method).join(" | "));
        }
    }
    Ok(())
}

/// Means with their standard deviations, then differences with their standard errors.
fn cells(of_method: &[(f64, f64)]) -> Vec<String> {
    let shown = |&(mean, deviation): &(f64, f64)| format!("{mean:.2} ± {deviation:.2}");
    let mut cells: Vec<String> = of_method.iter().map(shown).collect();
    let (chance, spread) = of_method[0];
    for (mean, deviation) in &of_method[1..] {
        let error = ((spread * spread + deviation * deviation) / N_SEEDS as f64).sqrt();
        cells.push(format!("{:+.2} ± {error:.2}", mean - chance));
    }
    cells
}

/// % right of rows that were not learned from.
fn accuracy(train: &Dataset, test: &Dataset, method: BudgetMethod, m: usize, seed: u64) -> Result<f64, String> {
    let budget = BudgetSpec { method, balanced: false };
    let spec = PipelineSpec {
        preprocess: PreprocessSpec::Auto,
        map: MapSpec::Landmark(LandmarkSpec { budget, ..LandmarkSpec::new(m) }),
        learner: LearnerSpec::ridge(Lambda::Auto),
        task: None,
        cv: None,
        probabilities: false,
        seed,
    };
    let text = |error: mercer::Error| error.to_string();
    let driver = Driver::new(1, &Silent).map_err(text)?;
    let (model, _) = Model::fit(train, &spec, Dtype::Float32, &driver).map_err(text)?;
    match model.evaluate(&driver, test).map_err(text)? {
        Evaluation::Classification(report) => Ok(100.0 * report.accuracy),
        Evaluation::Regression(_) => Err("classes were asked for".to_owned()),
    }
}
