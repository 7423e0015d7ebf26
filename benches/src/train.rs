//! The whole command on MNIST, beside a scikit-learn pipeline.
//!
//! The environment says where things are: `MERCER_BIN` is the command, `MERCER_DATA` the folder that holds `mnist/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::measure::{Case, THREADS, Timing, skip};

pub(crate) const CONDITIONS: &str = "MNIST from its gzipped files to the accuracy on the 10,000 test images, D = 4,096, \
    gamma = scale. mercer: wall time of the whole `mercer train` command, streaming, paired features; scikit-learn: \
    pixels / 255 in float32, RBFSampler, RidgeClassifier(solver=cholesky, copy_X=False) with alpha = n lambda, timed \
    in a process of its own, without the imports. Peak memory is that of the process. \"lambda auto\" is mercer's \
    default, which chooses among 8 on rows held out: scikit-learn has no counterpart of equal work";

/// Name of the variant, and what it adds to the command.
const VARIANTS: [(&str, &[&str]); 2] = [("lambda 1e-6", &["--lambda", "1e-6"]), ("lambda auto", &[])];
const N_ROWS: f64 = 60_000.0;
const FILES: [&str; 4] = [
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
];

pub(crate) fn run() {
    let (binary, files) = match places() {
        Ok(places) => places,
        Err(reason) => return skip("train", &reason),
    };
    for (variant, further) in VARIANTS {
        for threads in THREADS {
            match train(&binary, &files, threads, further) {
                Ok(result) => result.report("train", format!("MNIST, D = 4096, {variant}"), threads),
                Err(reason) => return skip("train", &reason),
            }
        }
    }
}

/// The command and the four files.
pub(crate) fn places() -> Result<(PathBuf, [PathBuf; 4]), String> {
    let variable = |name: &str| std::env::var_os(name).ok_or(format!("{name} is not set"));
    let binary = PathBuf::from(variable("MERCER_BIN")?);
    let folder = Path::new(&variable("MERCER_DATA")?).join("mnist");
    match FILES.iter().find(|name| !folder.join(name).is_file()) {
        Some(missing) => Err(format!("MERCER_DATA names no folder with mnist/{missing} in it")),
        None => Ok((binary, FILES.map(|name| folder.join(name)))),
    }
}

pub(crate) struct Trained {
    seconds: f64,
    accuracy: f64,
    peak_memory_bytes: f64,
}

impl Trained {
    pub(crate) fn report(&self, name: &'static str, variant: String, threads: usize) {
        let case = Case { name, variant, threads, work: N_ROWS, unit: "row" };
        let further = [("accuracy", self.accuracy), ("peak_memory_bytes", self.peak_memory_bytes)];
        case.report_of("mercer", Timing { seconds: self.seconds, repeats: 1 }, &further);
    }
}

pub(crate) fn train(binary: &Path, files: &[PathBuf; 4], threads: usize, further: &[&str]) -> Result<Trained, String> {
    let [images, labels, test_images, test_labels] = files;
    let mut command = Command::new(binary);
    command.arg("train").arg(images).arg("--labels").arg(labels);
    command.arg("--test").arg(test_images).arg("--test-labels").arg(test_labels);
    command.args(["--threads", &threads.to_string(), "--json"]).args(further);
    let start = Instant::now();
    let output = command.output().map_err(|error| format!("the command mercer cannot be started: {error}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("`mercer train` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    parse(&output.stdout, seconds).ok_or("`mercer train --json` printed no accuracy and peak memory".to_owned())
}

fn parse(stdout: &[u8], seconds: f64) -> Option<Trained> {
    let report: Value = serde_json::from_slice(stdout).ok()?;
    let number = |pointer: &str| report.pointer(pointer)?.as_f64();
    Some(Trained { seconds, accuracy: number("/test/accuracy")?, peak_memory_bytes: number("/peak_memory_bytes")? })
}
