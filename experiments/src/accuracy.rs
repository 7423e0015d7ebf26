//! The accuracy of a linear support vector machine on features of polynomial kernels of degree two: LS19 tables 3.6, 4.4
//! and 4.10, five seeds each.
//!
//! Features are standardised. C is the printed one where there is one; else it is chosen by five folds of the training rows for the first
//! seed and kept for the others. D2PK-RP with t = 1, which the thesis has besides, is biased and not built: its terms come in pairs.

use mercer::dataset::{BlockRows, Dataset, TargetBlock};
use mercer::feature_maps::{D2pkRpSpec, Gamma, MapSpec, PkRpSpec, VectorLaw};
use mercer::learners::{Lambda, LearnerSpec, Loss};
use mercer::model::Model;
use mercer::pipeline::{Evaluation, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Dtype, Silent};
use ndarray::Array2;

use crate::distortion::mean_and_deviation;
use crate::rows::{Labelled, features};

const N_SEEDS: u64 = 5;
/// That choose C where none is printed.
const N_FOLDS: usize = 5;

#[derive(Clone, Copy)]
enum Score {
    Accuracy,
    /// of the second class
    F1,
}

struct Table {
    number: &'static str,
    title: &'static str,
    load: fn() -> Result<(Labelled, Labelled), String>,
    score: Score,
    n_components: usize,
    c: Option<f64>,
    /// a method, what is printed for it, its standard deviation
    lines: &'static str,
}

const TABLES: [Table; 5] = [
    Table {
        number: "4.4",
        title: "MNIST, k = 2,000, % right",
        load: mnist,
        score: Score::Accuracy,
        n_components: 2000,
        c: None,
        lines: "\
d2pk 3 10|97.33 0.12
pk gaussian 10 488|97.31 0.05
pk 1 10 488|97.37 0.07
pk 3 10 488|97.30 0.14
pk gaussian 1 488|97.31 0.13
pk 1 1 488|97.33 0.08
pk 3 1 488|97.23 0.08",
    },
    Table {
        number: "4.10",
        title: "w8a, k = 2,000, F1",
        load: || Ok((Labelled::load("w8a/w8a.gz", None)?, Labelled::load("w8a/w8a.t.gz", None)?)),
        score: Score::F1,
        n_components: 2000,
        c: Some(1.0),
        lines: "\
d2pk 1 10|0.8496 0.001
pk gaussian 10 446|0.9003 0.004
pk 1 10 446|0.8972 0.003
pk 3 10 446|0.8988 0.002
pk gaussian 1 446|0.8973 0.002
pk 1 1 446|0.8999 0.003
pk 3 1 446|0.8972 0.002",
    },
    Table {
        number: "3.6a",
        title: "ijcnn1, k = 250, % right",
        load: || Ok((Labelled::load("ijcnn1/ijcnn1.gz", None)?, Labelled::load("ijcnn1/ijcnn1.t.gz", None)?)),
        score: Score::Accuracy,
        n_components: 250,
        c: Some(4.0),
        lines: "\
d2pk 3 2|97.29 0.08
d2pk 3 10|97.31 0.07
d2pk 3 20|97.32 0.09
d2pk 3 30|97.33 0.06",
    },
    Table {
        number: "3.6b",
        title: "MNIST38, k = 2,000, % right",
        load: || {
            let (train, test) = mnist()?;
            Ok((train.only(&[3, 8]), test.only(&[3, 8])))
        },
        score: Score::Accuracy,
        n_components: 2000,
        c: Some(4.0),
        lines: "\
d2pk 3 2|98.80 0.19
d2pk 3 10|98.90 0.20
d2pk 3 20|98.94 0.24
d2pk 3 30|98.95 0.20",
    },
    Table {
        number: "3.6c",
        title: "covertype, class 2 against the rest, every input in [0, 1], 20 % of the rows for the test, k = 500, % right",
        load: || Ok(Labelled::load("covtype/covtype.data.gz", None)?.scaled_to_unit().against_rest(1).split()),
        score: Score::Accuracy,
        n_components: 500,
        c: Some(0.1),
        lines: "\
d2pk 3 2|79.72 0.01
d2pk 3 10|79.72 0.03
d2pk 3 20|79.73 0.01
d2pk 3 30|79.73 0.02",
    },
];

fn mnist() -> Result<(Labelled, Labelled), String> {
    let load = |part: &str| {
        let labels = format!("mnist/{part}-labels-idx1-ubyte.gz");
        Labelled::load(&format!("mnist/{part}-images-idx3-ubyte.gz"), Some(&labels))
    };
    Ok((load("train")?, load("t10k")?))
}

/// The tables of these numbers, or all of them; of the methods that begin with the other words (`"pk gaussian"`, …), or all of them.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let is_number = |word: &&String| TABLES.iter().any(|table| table.number == word.as_str());
    let (numbers, methods): (Vec<&String>, Vec<&String>) = words.iter().partition(is_number);
    let is_wanted = |table: &&Table| numbers.is_empty() || numbers.iter().any(|number| *number == table.number);
    TABLES.iter().filter(is_wanted).try_for_each(|table| table.run(&methods))
}

impl Table {
    fn run(&self, methods: &[&String]) -> Result<(), String> {
        let is_wanted = |line: &&str| methods.is_empty() || methods.iter().any(|method| line.starts_with(*method));
        let (mut train, mut test) = (self.load)()?;
        let largest = train.largest();
        train.x /= largest;
        test.x /= largest;
        println!("\n### Table {}: {}\n", self.number, self.title);
        println!("| method | ours | printed | λ |\n|---|---|---|---|");
        for line in self.lines.lines().filter(is_wanted) {
            let (method, printed) = line.split_once('|').ok_or("a line of a table")?;
            let (expected, spread) = printed.split_once(' ').ok_or("a line of a table")?;
            let (scores, lambda) = self.scores(method, &train, &test)?;
            let (mean, deviation) = mean_and_deviation(&scores);
            let digits = if matches!(self.score, Score::F1) { 4 } else { 2 };
            println!(
                "| {} | {mean:.digits$} ± {deviation:.digits$} | {expected} ± {spread} | {lambda:.1e} |",
                named(method)
            );
        }
        Ok(())
    }

    /// One for each seed, and λ.
    fn scores(&self, method: &str, train: &Labelled, test: &Labelled) -> Result<(Vec<f64>, f64), String> {
        let spec = self.spec(method)?;
        let mut chosen = None;
        let mut scores = Vec::new();
        for seed in 0..N_SEEDS {
            let train = mapped(&spec, train, seed)?;
            let test = mapped(&spec, test, seed)?;
            let given = chosen.map_or_else(|| self.c.map_or(Lambda::Auto, Lambda::OfC), Lambda::Value);
            let (score, lambda) = self.score_of(&train, &test, given)?;
            chosen = Some(lambda);
            scores.push(score);
        }
        Ok((scores, chosen.unwrap_or(f64::NAN)))
    }

    fn score_of(&self, train: &Dataset, test: &Dataset, lambda: Lambda) -> Result<(f64, f64), String> {
        let driver = Driver::new(0, &Silent).map_err(text)?;
        let spec = PipelineSpec {
            preprocess: PreprocessSpec::Standardize,
            map: MapSpec::Identity,
            learner: LearnerSpec::new(Loss::SquaredHinge, lambda),
            task: Some(mercer::dataset::Task::Classification),
            cv: self.c.is_none().then_some(N_FOLDS),
            probabilities: false,
            seed: 0,
        };
        let (model, _) = Model::fit(train, &spec, Dtype::Float32, &driver).map_err(text)?;
        let Evaluation::Classification(scores) = model.evaluate(&driver, test).map_err(text)? else {
            return Err("real targets".to_owned());
        };
        let score = match self.score {
            Score::Accuracy => 100.0 * scores.accuracy,
            Score::F1 => scores.classes[1].f1,
        };
        Ok((score, model.header().spec.learner.lambda))
    }

    fn spec(&self, method: &str) -> Result<MapSpec, String> {
        let number = |text: &str| text.parse::<f64>().map_err(|_| format!("{text} in {method}"));
        let law = |law: &str| {
            Ok::<_, String>(if law == "gaussian" { VectorLaw::Gaussian } else { VectorLaw::Sparse(number(law)?) })
        };
        let (n_components, gamma) = (self.n_components, Gamma::Value(1.0));
        Ok(match method.split(' ').collect::<Vec<_>>().as_slice() {
            ["d2pk", of, t] => {
                MapSpec::D2pkRp(D2pkRpSpec { n_components, gamma, n_terms: number(t)? as usize, law: law(of)? })
            }
            ["pk", of, t, p] => MapSpec::PkRp(PkRpSpec {
                gamma,
                c: 0.0,
                n_terms: number(t)? as usize,
                n_vectors: Some(number(p)? as usize),
                law: law(of)?,
                ..PkRpSpec::new(n_components, 2)
            }),
            _ => return Err(format!("no method {method}")),
        })
    }
}

fn mapped(spec: &MapSpec, rows: &Labelled, seed: u64) -> Result<Dataset, String> {
    let features = BlockRows::Dense32(features(spec, 1.0, &rows.x, seed)?);
    let classes: Vec<f64> = rows.classes.iter().map(|&class| f64::from(class)).collect();
    let targets = Array2::from_shape_vec((classes.len(), 1), classes).map_err(text)?;
    Dataset::from_memory("features", features, Some(TargetBlock::Numbers(targets))).map_err(text)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn named(method: &str) -> String {
    let law = |law: &str| if law == "gaussian" { "normal".to_owned() } else { format!("s = {law}") };
    match method.split(' ').collect::<Vec<_>>().as_slice() {
        ["d2pk", of, t] => format!("D2PK-RP, {}, t = {t}", law(of)),
        ["pk", of, t, p] => format!("PK-RP, {}, t = {t}, p = {p}", law(of)),
        _ => method.to_owned(),
    }
}
