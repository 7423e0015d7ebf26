//! Test errors on MNIST by maps of polynomial kernels: the columns RFM, TS, CM RFM and CM TS of table 1 of `LaRP`, and maps that are not there.
//!
//! The kernel is (½ + ½⟨x,y⟩)^g of rows of length 1, the learner a squared hinge. g (`larp degrees`) and λ (`larp 12 DEGREE`) are those with the fewest
//! errors on a tenth of the training rows, with 2^12 features; the test rows choose nothing. 2^15 features take 8 GB, and their λ is
//! given (`larp 15 DEGREE MAP=LAMBDA`).

use mercer::dataset::{Dataset, Task};
use mercer::feature_maps::{Allocation, DotProduct, Gamma, MaclaurinSpec, MapSpec, TensorSketchSpec, TensorSrhtSpec};
use mercer::learners::{Lambda, LearnerSpec, Loss, Stopping};
use mercer::model::Model;
use mercer::pipeline::{Evaluation, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Dtype, Silent};

use crate::rows::load_labelled;

/// Bytes of features that are kept.
const MEMORY: u64 = 9 << 30;
/// log₂ of the features, and what is printed for them.
const SIZES: [u32; 2] = [12, 15];
/// Features of the first map of a chain for each of the second.
const UP: usize = 4;

struct Line {
    key: &'static str,
    name: &'static str,
    printed: Option<[f64; 2]>,
    spec: fn(usize, u32) -> MapSpec,
}

const LINES: [Line; 7] = [
    Line {
        key: "rm",
        name: "Random Maclaurin",
        printed: Some([3.17, 1.62]),
        spec: |n, g| maclaurin(n, g, Allocation::Random, false),
    },
    Line { key: "ts", name: "TensorSketch", printed: Some([3.25, 1.65]), spec: sketch },
    Line {
        key: "cm-rm",
        name: "CRAFTMaps of Random Maclaurin",
        printed: Some([3.09, 1.52]),
        spec: |n, g| craft(maclaurin(UP * n, g, Allocation::Random, false), n),
    },
    Line {
        key: "cm-ts",
        name: "CRAFTMaps of TensorSketch",
        printed: Some([2.90, 1.44]),
        spec: |n, g| craft(sketch(UP * n, g), n),
    },
    Line {
        key: "rm-best",
        name: "Random Maclaurin, complex, of the least variance",
        printed: None,
        spec: |n, g| maclaurin(n, g, Allocation::Optimal, true),
    },
    Line { key: "srht", name: "TensorSRHT, complex", printed: None, spec: |n, g| transforms(n, g, false) },
    Line { key: "tree", name: "TensorSRHT, complex, tree", printed: None, spec: |n, g| transforms(n, g, true) },
];

fn maclaurin(n: usize, degree: u32, allocation: Allocation, complex: bool) -> MapSpec {
    let spec = MaclaurinSpec::new(n, DotProduct::Polynomial { degree, c: 0.5 });
    MapSpec::Maclaurin(MaclaurinSpec { gamma: Gamma::Value(0.5), allocation, complex, ..spec })
}

fn sketch(n: usize, degree: u32) -> MapSpec {
    MapSpec::TensorSketch(TensorSketchSpec { gamma: Gamma::Value(0.5), c: 0.5, ..TensorSketchSpec::new(n, degree) })
}

fn transforms(n: usize, degree: u32, tree: bool) -> MapSpec {
    MapSpec::TensorSrht(TensorSrhtSpec { gamma: Gamma::Value(0.5), c: 0.5, tree, ..TensorSrhtSpec::new(n, degree) })
}

fn craft(first: MapSpec, n_components: usize) -> MapSpec {
    MapSpec::Chain { first: Box::new(first), then: Box::new(MapSpec::Srht { n_components }) }
}

/// `degrees`, or log₂ of the features, the degree, and the keys of maps, or all of them.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let data = Data::load()?;
    let number = |text: &String| text.parse::<u32>().map_err(|_| format!("{text} is no number"));
    match arguments {
        [word] if word == "degrees" => data.degrees(),
        [size, degree, keys @ ..] => data.table(number(size)?, number(degree)?, keys),
        _ => Err("usage: larp degrees | larp 12 DEGREE [MAP…] | larp 15 DEGREE [MAP=LAMBDA…]".to_owned()),
    }
}

struct Data {
    train: Dataset,
    test: Dataset,
}

/// % of wrong classes, in test rows and rows held out.
struct Errors {
    test: f64,
    held_out: Option<f64>,
    lambda: f64,
    passes: usize,
}

impl Data {
    fn load() -> Result<Self, String> {
        let part = |part: &str| {
            let labels = format!("mnist/{part}-labels-idx1-ubyte.gz");
            load_labelled(&format!("mnist/{part}-images-idx3-ubyte.gz"), &labels)
        };
        Ok(Self { train: part("train")?, test: part("t10k")? })
    }

    /// Errors of rows held out by the degree.
    fn degrees(&self) -> Result<(), String> {
        println!("| degree | TensorSRHT, complex: rows held out | λ |\n|---|---|---|");
        for degree in 2..=7 {
            let errors = self.errors(transforms(1 << SIZES[0], degree, false), Lambda::Auto)?;
            println!("| {degree} | {:.2} | {:.0e} |", errors.held_out.unwrap_or(f64::NAN), errors.lambda);
        }
        Ok(())
    }

    fn table(&self, size: u32, degree: u32, keys: &[String]) -> Result<(), String> {
        let column = SIZES.iter().position(|&other| other == size);
        println!(
            "| map | test error, 2^{size} features, degree {degree} | printed | rows held out | λ | passes |\n|---|---|---|---|---|---|"
        );
        for line in &LINES {
            let asked = keys.iter().find(|key| key.split('=').next() == Some(line.key));
            if asked.is_none() && !keys.is_empty() {
                continue;
            }
            let given = asked.and_then(|key| key.split_once('=')).map(|(_, lambda)| lambda.parse());
            let lambda = given.transpose().map_err(|_| "a λ that is no number")?.map_or(Lambda::Auto, Lambda::Value);
            let errors = self.errors((line.spec)(1 << size, degree), lambda)?;
            let printed = line.printed.zip(column).map_or("–".to_owned(), |(all, at)| format!("{:.2}", all[at]));
            let held_out = errors.held_out.map_or("–".to_owned(), |error| format!("{error:.2}"));
            let Errors { test, lambda, passes, .. } = errors;
            println!("| {} | {test:.2} | {printed} | {held_out} | {lambda:.0e} | {passes} |", line.name);
        }
        Ok(())
    }

    fn errors(&self, map: MapSpec, lambda: Lambda) -> Result<Errors, String> {
        let text = |error: mercer::Error| error.to_string();
        let driver = Driver::new(0, &Silent).map_err(text)?.with_memory(MEMORY);
        let stopping = Stopping { tol: 1e-3, ..Stopping::default() };
        let spec = PipelineSpec {
            preprocess: PreprocessSpec::UnitNorm,
            map,
            learner: LearnerSpec { stopping, ..LearnerSpec::new(Loss::SquaredHinge, lambda) },
            task: Some(Task::Classification),
            cv: None,
            probabilities: false,
            seed: 0,
        };
        let (model, report) = Model::fit(&self.train, &spec, Dtype::Float32, &driver).map_err(text)?;
        let Evaluation::Classification(scores) = model.evaluate(&driver, &self.test).map_err(text)? else {
            return Err("real targets".to_owned());
        };
        let best = |choice: mercer::selection::LambdaChoice| {
            let of_best = choice.candidates.iter().find(|candidate| candidate.lambda == choice.lambda);
            of_best.and_then(|candidate| candidate.error_rate)
        };
        Ok(Errors {
            test: 100.0 * (1.0 - scores.accuracy),
            held_out: report.lambda.and_then(best).map(|rate| 100.0 * rate),
            lambda: model.header().spec.learner.lambda,
            passes: report.convergence.map_or(0, |convergence| convergence.iterations),
        })
    }
}
