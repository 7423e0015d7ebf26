//! Probabilities from the command line: asked for when training, written in every format, scored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, Table};

/// The numbers of a CSV text with a header, row by row, the first column left out.
fn numbers(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').skip(1).map(|x| x.parse().unwrap()).collect()).collect()
}

const LEARNERS: [&str; 6] = [
    "--learner ridge --probabilities",
    "--learner ridge --solver iterative --probabilities",
    "--learner svm --probabilities",
    "--learner svm --loss hinge --probabilities",
    "--learner logistic",
    "--learner softmax --probabilities",
];

#[test]
fn every_learner_gives_probabilities() {
    let (folder, table) = (Folder::new(), Table::new(120, 6, 3));
    folder.write("a.csv", table.csv("who", &["ann", "bob", "cy"]));
    for flags in LEARNERS {
        folder.train(&format!("a.csv {flags}"));
        let text = folder.ok("predict trained.mercer a.csv --probabilities");
        assert!(text.starts_with("prediction,probability ann,probability bob,probability cy\n"), "{text}");
        let labels = folder.ok("predict trained.mercer a.csv");
        for ((line, row), label) in text.lines().skip(1).zip(numbers(&text)).zip(labels.lines().skip(1)) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-15 * 3.0, "{flags}: {line}");
            assert!(line.starts_with(&format!("{label},")), "the labels are the same with and without");
        }
        let test = &folder.json("evaluate trained.mercer a.csv")["test"];
        for name in ["log_loss", "brier_score", "calibration_error"] {
            assert!(test[name].as_f64().is_some_and(|score| (0.0..0.5).contains(&score)), "{flags}: {name} of {test}");
        }
        let text = folder.ok("evaluate trained.mercer a.csv");
        assert!(text.contains("   log loss ") && text.contains("   calibration error "), "{text}");
    }
}

/// Training, its summary and JSON, and what `inspect` says of the model.
#[test]
fn the_summary_says_where_probabilities_come_from() {
    let folder = Folder::new();
    let flags = "--sample digits --n-components 64";
    let text = folder.ok(&format!("train {flags} --probabilities -o a.mercer"));
    for part in ["probabilities by a sigmoid of the scores of 1,438 rows held out", "   log loss "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(folder.ok("inspect a.mercer").contains("probabilities by a sigmoid of each score"));
    let report = folder.json(&format!("train {flags} --probabilities -o b.mercer"));
    assert_eq!(folder.read("a.mercer"), folder.read("b.mercer"));
    assert_eq!(report["calibration_rows"], 1_438);
    assert!(report["seconds"]["calibrate"].is_f64());
    assert_eq!(report["spec"]["calibration"].as_array().unwrap().len(), 10);
    assert!(report["test"]["log_loss"].as_f64().unwrap() > 0.0);

    let without = folder.json(&format!("train {flags} -o c.mercer"));
    assert!(without["calibration_rows"].is_null() && without["spec"]["calibration"].is_null());
    assert!(without["test"]["log_loss"].is_null());
    assert_eq!(without["test"]["confusion"], report["test"]["confusion"], "the same model");
    let native = folder.json(&format!("train {flags} --learner softmax --probabilities"));
    assert!(native["calibration_rows"].is_null() && native["test"]["log_loss"].as_f64().unwrap() > 0.0);
}

/// Both columns of two classes, the same numbers in every format.
#[test]
fn two_classes_in_every_format() {
    let (folder, table) = (Folder::new(), Table::new(80, 4, 2));
    folder.write("a.csv", table.csv("answer", &["no", "yes"]));
    folder.train("a.csv --learner svm --probabilities");
    let text = folder.ok("predict trained.mercer a.csv --probabilities");
    assert!(text.starts_with("prediction,probability no,probability yes\n"), "{text}");
    let expected = numbers(&text);
    assert!(expected.iter().all(|row| row.len() == 2 && (row[0] + row[1] - 1.0).abs() < 1e-15));
    folder.ok("predict trained.mercer a.csv --probabilities -o out.csv");
    assert_eq!(folder.text("out.csv"), text, "a file as a pipe");
    for name in ["out.npy", "out.tsv", "out.parquet"] {
        folder.ok(&format!("predict trained.mercer a.csv --probabilities -o {name}"));
    }
    assert_eq!(folder.text("out.tsv").replace('\t', ","), text);
    let bytes = folder.read("out.npy");
    let start = bytes.len() - 80 * 2 * 8;
    let values: Vec<f64> = bytes[start..].chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    assert_eq!(values, expected.concat());
    let columns = "convert out.parquet --target prediction -o back.csv";
    folder.ok(columns);
    for name in ["probability no", "probability yes"] {
        assert!(folder.text("back.csv").lines().next().unwrap().contains(name), "{}", folder.text("back.csv"));
    }
    let json = folder.json("predict trained.mercer a.csv --probabilities");
    let rows: Vec<Vec<f64>> = serde_json::from_value(json["probabilities"].clone()).unwrap();
    assert_eq!(rows, expected);
    assert!(json["scores"].is_null());
}

#[test]
fn numbered_classes_in_libsvm_files() {
    let (folder, table) = (Folder::new(), Table::new(80, 4, 3));
    folder.write("a.svm", table.libsvm());
    folder.train("a.svm --learner logistic");
    let expected = numbers(&folder.ok("predict trained.mercer a.svm --probabilities"));
    folder.ok("predict trained.mercer a.svm --probabilities -o out.svm");
    let text = folder.text("out.svm");
    for (line, row) in text.lines().zip(expected) {
        let entries = line.split(' ').skip(1).map(|entry| entry.split_once(':').unwrap().1.parse::<f64>().unwrap());
        assert_eq!(entries.collect::<Vec<_>>(), row);
    }
}

#[test]
fn what_has_none_says_how_to_get_them() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    let refuse = |arguments: &str, says: &[&str]| {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.lines().count()), (Some(2), "", 1), "{run:?}");
        says.iter().for_each(|part| assert!(run.stderr.contains(part), "{part}: {}", run.stderr));
    };
    folder.write("a.csv", table.headerless());
    folder.train("a.csv");
    let remedy = "train with --probabilities, or with the logistic or softmax learner";
    refuse("predict trained.mercer a.csv --probabilities -o out.csv", &["--probabilities is on for a ridge", remedy]);
    assert!(!folder.names().contains(&"out.csv".to_owned()));
    refuse("predict trained.mercer a.csv --probabilities --scores", &["--probabilities", "--scores"]);
    folder.write("r.csv", table.csv("length", &["0.5", "1.75", "4"]));
    refuse("train r.csv --probabilities", &["--probabilities is on, must be off for real values"]);
    folder.train("r.csv");
    refuse("predict trained.mercer r.csv --probabilities", &["off for real values"]);
    folder.write("few.csv", Table::new(12, 4, 2).headerless());
    refuse("train few.csv --probabilities", &["on for 12 rows", "fewer than 20", "softmax"]);
    folder.train("few.csv --probabilities --learner logistic");
}
