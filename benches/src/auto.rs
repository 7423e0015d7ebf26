//! A pipeline found by the data within a minute, beside scikit-learn's `HalvingRandomSearchCV`.
//!
//! The environment says where things are, as for `train`. COIL-100 is divided by its angles and covertype into two classes, in a temporary folder
//! that the Python side reads too and removes.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use mercer::dataset::{BlockRows, Dataset};
use mercer_io::{ReadOptions, TargetChoice};
use serde_json::Value;

use crate::measure::{Case, Timing, skip};
use crate::scale::header;

pub(crate) const CONDITIONS: &str = "`mercer train --auto --time 60s`, two threads, wall time and peak memory of the whole command, from files to the score \
    on test rows that took no part. covertype: class 2 against the rest, a fifth of the rows (seed 0) as test; COIL-100: colours, views at multiples of 10 degrees train. \
    scikit-learn: HalvingRandomSearchCV (12 candidates, factor 3, 3 stratified folds, n_jobs = 2, the last round with all rows) over scaling, Nystroem or RBFSampler (200 to 2,000 components), \
    gamma from 0.05 to 20 times the rule scale, RidgeClassifier and LinearSVC (up to 20,000 rows, or two classes and 100,000) or SGDClassifier, float32, \
    refitted to all rows; ended after 240 s, four times what mercer is given. \
    Its time is that of fit and score, without reading and imports. One run each. Scores are accuracies; of w8a F1 of the rare class";

/// Seconds that are given.
const GIVEN: &str = "60s";

/// A set of rows, by the files of its training and test part: those without a folder are made here.
struct Set {
    name: &'static str,
    train: &'static [&'static str],
    test: &'static [&'static str],
    further: &'static [&'static str],
    /// whether F1 of its second class counts, not the accuracy
    is_f1: bool,
    n_rows: f64,
}

const SETS: [Set; 7] = [
    Set {
        name: "MNIST",
        train: &["mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz"],
        test: &["mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"],
        further: &[],
        is_f1: false,
        n_rows: 60_000.0,
    },
    Set {
        name: "Fashion-MNIST",
        train: &["fashion-mnist/train-images-idx3-ubyte.gz", "fashion-mnist/train-labels-idx1-ubyte.gz"],
        test: &["fashion-mnist/t10k-images-idx3-ubyte.gz", "fashion-mnist/t10k-labels-idx1-ubyte.gz"],
        further: &[],
        is_f1: false,
        n_rows: 60_000.0,
    },
    Set {
        name: "ISOLET",
        train: &["isolet/isolet.npz::X_train", "isolet/isolet.npz::y_train"],
        test: &["isolet/isolet.npz::X_test", "isolet/isolet.npz::y_test"],
        further: &["--task", "classification"],
        is_f1: false,
        n_rows: 6_238.0,
    },
    Set {
        name: "ijcnn1",
        train: &["ijcnn1/ijcnn1.gz"],
        test: &["ijcnn1/ijcnn1.t.gz"],
        further: &[],
        is_f1: false,
        n_rows: 49_990.0,
    },
    Set { name: "w8a", train: &["w8a/w8a.gz"], test: &["w8a/w8a.t.gz"], further: &[], is_f1: true, n_rows: 49_749.0 },
    Set {
        name: "covertype",
        train: &["covertype-train.csv"],
        test: &["covertype-test.csv"],
        further: &["--target", "class", "--task", "classification"],
        is_f1: false,
        n_rows: 464_809.0,
    },
    Set {
        name: "COIL-100",
        train: &["coil-train.npy", "coil-train-labels.npy"],
        test: &["coil-test.npy", "coil-test-labels.npy"],
        further: &["--task", "classification"],
        is_f1: false,
        n_rows: 3_600.0,
    },
];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

pub(crate) fn run() {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(binary), Some(data)) = (variable("MERCER_BIN"), variable("MERCER_DATA")) else {
        return skip("auto", "MERCER_BIN or MERCER_DATA is not set");
    };
    let made = std::env::temp_dir().join("mercer-bench-auto");
    if let Err(error) = prepare(&binary, &data, &made) {
        skip("auto", &format!("covertype and COIL-100 cannot be divided: {error}"));
    }
    for set in &SETS {
        let place = |name: &&str| if name.contains('/') { data.join(name) } else { made.join(name) };
        let (train, test) = (set.train.iter().map(place).collect(), set.test.iter().map(place).collect());
        if let Err(error) = measure(set, &binary, train, test) {
            skip("auto", &format!("{}: {error}", set.name));
        }
    }
}

fn measure(set: &Set, binary: &Path, train: Vec<PathBuf>, test: Vec<PathBuf>) -> Outcome<()> {
    let mut command = Command::new(binary);
    command.arg("train").arg(&train[0]).arg("--test").arg(&test[0]).args(set.further);
    if let ([_, labels], [_, test_labels]) = (train.as_slice(), test.as_slice()) {
        command.arg("--labels").arg(labels).arg("--test-labels").arg(test_labels);
    }
    command.args(["--auto", "--time", GIVEN, "--threads", "2", "--json"]);
    let start = Instant::now();
    let output = command.output()?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).ok_or(format!("no {pointer}"));
    let score = number(if set.is_f1 { "/test/classes/1/f1" } else { "/test/accuracy" })?;
    let case = Case { name: "auto", variant: set.name.to_owned(), threads: 2, work: set.n_rows, unit: "row" };
    let further = [("score", score), ("peak_memory_bytes", number("/peak_memory_bytes")?)];
    case.report_of("mercer", Timing { seconds, repeats: 1 }, &further);
    Ok(())
}

/// Files of the two sets that come undivided.
fn prepare(binary: &Path, data: &Path, made: &Path) -> Outcome<()> {
    std::fs::create_dir_all(made)?;
    divide_coil(&data.join("coil100/coil100_32x32_rgb.npz"), made)?;
    let all = made.join("covertype.csv");
    two_classes(&data.join("covtype/covtype.data.gz"), &all)?;
    let mut split = Command::new(binary);
    split.arg("split").arg(&all).args(["--target", "class", "--test-size", "0.2", "--seed", "0"]);
    split.arg("--train").arg(made.join("covertype-train.csv")).arg("--test").arg(made.join("covertype-test.csv"));
    let output = split.output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
}

/// Class 2 against the rest, with a head of names.
fn two_classes(from: &Path, to: &Path) -> Outcome<()> {
    let lines = BufReader::new(flate2::read::GzDecoder::new(File::open(from)?)).lines();
    let mut out = BufWriter::new(File::create(to)?);
    let names: Vec<String> = (1..=54).map(|i| format!("x{i}")).collect();
    writeln!(out, "{},class", names.join(","))?;
    for line in lines {
        let line = line?;
        let (inputs, class) = line.rsplit_once(',').ok_or("a line without commas")?;
        writeln!(out, "{inputs},{}", u8::from(class == "2"))?;
    }
    Ok(out.flush()?)
}

/// Views at multiples of ten degrees, and the others.
fn divide_coil(from: &Path, made: &Path) -> Outcome<()> {
    let array = |name: &str| numbers(&format!("{}::{name}", from.display()));
    let (images, objects, angles) = (array("images")?, array("object_id")?, array("angle_deg")?);
    for (part, is_train) in [("train", true), ("test", false)] {
        let rows: Vec<usize> =
            (0..angles.len()).filter(|&i| (angles[i][0] as u32).is_multiple_of(10) == is_train).collect();
        let create = |name: String| File::create(made.join(name)).map(BufWriter::new);
        let mut out = create(format!("coil-{part}.npy"))?;
        header(&mut out, "|u1", &format!("({}, {})", rows.len(), images[0].len()))?;
        let bytes = |row: &[f64]| row.iter().map(|&x| x as u8).collect::<Vec<u8>>();
        rows.iter().try_for_each(|&i| out.write_all(&bytes(&images[i])))?;
        out.flush()?;
        let mut out = create(format!("coil-{part}-labels.npy"))?;
        header(&mut out, "|u1", &format!("({},)", rows.len()))?;
        rows.iter().try_for_each(|&i| out.write_all(&bytes(&objects[i])))?;
        out.flush()?;
    }
    Ok(())
}

/// The rows of an array.
fn numbers(place: &str) -> Outcome<Vec<Vec<f64>>> {
    let options = ReadOptions { target: TargetChoice::None, ..ReadOptions::default() };
    let dataset = Dataset::scan(mercer_io::open(place, &options)?, usize::MAX)?;
    let mut blocks = dataset.table().blocks(None)?;
    let mut rows = Vec::new();
    while let Some(block) = blocks.next_block()? {
        match &block.rows {
            BlockRows::Bytes(x) => rows.extend(x.outer_iter().map(|row| row.iter().map(|&x| f64::from(x)).collect())),
            BlockRows::Dense32(x) => rows.extend(x.outer_iter().map(|row| row.iter().map(|&x| f64::from(x)).collect())),
            BlockRows::Dense64(x) => rows.extend(x.outer_iter().map(|row| row.to_vec())),
            BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => return Err("a sparse array".into()),
        }
    }
    Ok(rows)
}
