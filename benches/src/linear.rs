//! Linear models of the inputs as they are, to the same objective, beside LIBLINEAR and scikit-learn.
//!
//! `MERCER_DATA` is the folder that holds the data.

use std::path::Path;
use std::time::Instant;

use mercer::dataset::Dataset;
use mercer::feature_maps::MapSpec;
use mercer::learners::{Lambda, LearnerSpec, Loss, Solver, Stopping};
use mercer::pipeline::{Pipeline, PipelineSpec};
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Silent};
use mercer_io::{ReadOptions, TargetChoice};

use crate::measure::{Case, THREADS, Timing, skip};

pub(crate) const CONDITIONS: &str = "time to an objective within 1e-3 of the least, float64, from rows in memory to weights, \
    C = 1: every side tries its solvers with smaller and smaller tolerances (mercer: the one it chooses by itself) until one is near \
    enough, by the objective of its final weights, and gives the fastest; of fits below a second the fastest of five; \
    fits of scikit-learn that take longer than its fastest that came near, or than 300 s, are ended. w8a (49,749 x 300) and ijcnn1 (49,990 x 22) have two classes and are sparse; covertype \
    (581,012 x 54, columns divided by their largest value) has 7, MNIST (60,000 x 784, pixels / 255) 10, one against the \
    rest, stored densely for mercer and sparsely for the others, where they are faster. Support vector machines have no \
    intercept, so that all minimise the same. scikit-learn: LinearSVC, which is LIBLINEAR (dual for both losses, primal for \
    the squared hinge); LogisticRegression by lbfgs, newton-cholesky, newton-cg or (two classes) liblinear, with an intercept";

/// A fit that takes less is timed a few times more, and the fastest counts: so does `competitors.py`.
const SHORT: f64 = 1.0;
const REPEATS: usize = 4;

/// How near to the least objective.
const NEAR: f64 = 1e-3;

struct Data {
    name: &'static str,
    file: &'static str,
    labels: Option<&'static str>,
    preprocess: PreprocessSpec,
    n_rows: f64,
    /// of hinge, squared hinge and softmax: the minima are numbers of the data, found once with small tolerances by whoever came lower
    least: [f64; 3],
}

const DATA: [Data; 4] = [
    Data {
        name: "w8a",
        file: "w8a/w8a.gz",
        labels: None,
        preprocess: PreprocessSpec::None,
        n_rows: 49_749.0,
        least: [0.132764, 0.157112, 0.0510740],
    },
    Data {
        name: "ijcnn1",
        file: "ijcnn1/ijcnn1.gz",
        labels: None,
        preprocess: PreprocessSpec::None,
        n_rows: 49_990.0,
        least: [0.171954, 0.220507, 0.187822],
    },
    Data {
        name: "covertype",
        file: "covtype/covtype.data.gz",
        labels: None,
        preprocess: PreprocessSpec::MaxAbs,
        n_rows: 581_012.0,
        least: [1.354271, 1.649921, 0.642365],
    },
    Data {
        name: "MNIST",
        file: "mnist/train-images-idx3-ubyte.gz",
        labels: Some("mnist/train-labels-idx1-ubyte.gz"),
        preprocess: PreprocessSpec::Bytes,
        n_rows: 60_000.0,
        least: [0.568438, 0.811648, 0.232225],
    },
];

const SOLVERS: [(Loss, &str, &[Solver]); 3] = [
    (Loss::Hinge, "hinge", &[Solver::Dual]),
    (Loss::SquaredHinge, "squared hinge", &[Solver::Iterative]),
    (Loss::Softmax, "softmax", &[Solver::Iterative]),
];
const TOLERANCES: [f64; 6] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5];

pub(crate) fn run() {
    for data in &DATA {
        match data.load() {
            Ok(dataset) => {
                for (&(loss, name, solvers), least) in SOLVERS.iter().zip(data.least) {
                    data.measure(&dataset, (loss, name, least), solvers);
                }
            }
            Err(reason) => skip("linear", &reason),
        }
    }
}

impl Data {
    fn load(&self) -> Result<Dataset, String> {
        let folder = std::env::var("MERCER_DATA").map_err(|_| "MERCER_DATA is not set".to_owned())?;
        let place = |name: &str| Path::new(&folder).join(name).to_string_lossy().into_owned();
        let source = match self.labels {
            None => mercer_io::open(&place(self.file), &ReadOptions::default()),
            Some(labels) => {
                let options = ReadOptions { target: TargetChoice::None, ..ReadOptions::default() };
                mercer_io::open_with_labels(&[place(self.file)], &[place(labels)], &options)
            }
        };
        let source = source.map_err(|error| error.to_string())?;
        Dataset::scan(source, usize::MAX).map_err(|error| error.to_string())
    }

    fn measure(&self, dataset: &Dataset, (loss, name, least): (Loss, &str, f64), solvers: &[Solver]) {
        let fit = |solver, tol, threads| {
            let stopping = Stopping { tol, max_iter: 100_000 };
            let learner = LearnerSpec { solver, stopping, ..LearnerSpec::new(loss, Lambda::OfC(1.0)) };
            let spec = PipelineSpec {
                preprocess: self.preprocess,
                map: MapSpec::Identity,
                learner: LearnerSpec { intercept: loss == Loss::Softmax, ..learner },
                task: Some(mercer::dataset::Task::Classification),
                cv: None,
                probabilities: false,
                seed: 0,
            };
            let driver = Driver::new(threads, &Silent).expect("threads can be started").with_memory(8 << 30);
            let once = || {
                let start = Instant::now();
                let (_, report) = Pipeline::<f64>::fit(dataset, &spec, &driver).expect("it can be learned");
                (start.elapsed().as_secs_f64(), report.convergence.expect("there were passes"))
            };
            let (mut seconds, convergence) = once();
            if seconds < SHORT {
                seconds = (0..REPEATS).map(|_| once().0).fold(seconds, f64::min);
            }
            eprintln!("{}, {name}, {solver:?}, {tol}, {threads} threads: {seconds:.3} s, {convergence:?}", self.name);
            eprintln!("    all fits by stage: {:.3?}", driver.seconds());
            (seconds, convergence.objective)
        };
        for threads in THREADS {
            // Of each solver the loosest tolerance that is near enough, which is the fastest.
            let near = solvers.iter().filter_map(|&solver| {
                let mut tried = TOLERANCES.iter().map(|&tol| fit(solver, tol, threads));
                tried.find(|(_, objective)| *objective <= least * (1.0 + NEAR))
            });
            let case = Case {
                name: "linear",
                variant: format!("{}, {name}", self.name),
                threads,
                work: self.n_rows,
                unit: "row",
            };
            match near.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((seconds, objective)) => {
                    let further = [("objective", objective), ("least_objective", least)];
                    case.report_of("mercer", Timing { seconds, repeats: 1 }, &further);
                }
                None => skip("linear", &format!("no tolerance came near the least objective of {}", case.variant)),
            }
        }
    }
}
