//! `mercer train`: its two reports, and the size of what it saves.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::json;
use support::{Folder, Table};

/// The one run with all defaults: 4,096 features, lambda found by the data.
#[test]
fn digits_with_all_defaults() {
    let folder = Folder::new();
    let report = folder.json("train --sample digits -o digits.mercer");
    assert_eq!(report["command"], "train");
    assert!(report["test"]["accuracy"].as_f64().unwrap() >= 0.98, "{}", report["test"]);
    assert!(report["test"]["f1_macro"].as_f64().unwrap() >= 0.98);
    assert_eq!(report["test"]["confusion"].as_array().unwrap().len(), 10);
    for stage in ["load", "map", "statistics", "solve", "save", "total"] {
        assert!(report["seconds"][stage].as_f64().unwrap() >= 0.0, "{stage}: {}", report["seconds"]);
    }
    assert!(report["threads"].as_u64().unwrap() >= 1);
    if cfg!(target_os = "linux") {
        assert!(report["peak_memory_bytes"].as_u64().unwrap() > 1_000_000);
    }
    let spec = &report["spec"];
    assert_eq!((&spec["preprocess"], &spec["dtype"], &spec["seed"]), (&"bytes".into(), &"float32".into(), &0.into()));
    let map = &spec["map"]["spec"];
    assert_eq!((&map["name"], &map["frequencies"]), (&"spectral".into(), &"fourier".into()));
    assert_eq!(map["n_components"], 4096);
    assert_eq!((&spec["map"]["n_inputs"], &spec["map"]["seed"]), (&64.into(), &0.into()));
    assert!(spec["map"]["spec"]["gamma"].as_f64().unwrap() > 0.0);
    assert!(spec["learner"]["lambda"].as_f64().unwrap() > 0.0);
    assert_eq!(report["lambda"]["candidates"].as_array().unwrap().len(), 8);
    assert!(report["cv"].is_null());

    // Ten classes: the weights and intercepts as float32, and little else.
    let size = folder.read("digits.mercer").len() as u64;
    assert_eq!(report["model_bytes"], size);
    assert!(size as f64 <= 1.1 * f64::from(4097 * 10 * 4) + 4096.0, "{size} bytes");
}

/// The polynomial kernel of degree 3 by every map of it.
#[test]
fn digits_by_maps_of_polynomial_kernels() {
    let folder = Folder::new();
    let accuracy = |flags: &str| {
        let report = folder.json(&format!("train --sample digits {flags}"));
        assert!(report["test"]["accuracy"].as_f64().unwrap() >= 0.96, "{flags}: {}", report["test"]);
        report["spec"]["map"]["spec"].clone()
    };
    for map in [
        "--kernel poly",
        "--map tensor-srht --signs real",
        "--map tensor-srht --tree",
        "--map tensor-sketch",
        "--map pk-rp --n-terms 2 --n-vectors 600 --s 3",
    ] {
        assert_eq!(accuracy(&format!("--n-components 1024 --degree 3 {map}"))["degree"], 3, "{map}");
    }
    assert_eq!(accuracy("--n-components 1024 --map maclaurin --degree 3")["kernel"]["degree"], 3);
    assert_eq!(accuracy("--n-components 1024 --kernel exponential")["kernel"]["name"], "exponential");
    let series = accuracy("--n-components 1024 --map maclaurin --coefficients 0.5,0.3,0.2");
    assert_eq!(series["kernel"], json!({ "name": "power_series", "coefficients": [0.5, 0.3, 0.2] }));
    assert_eq!(accuracy("--n-components 1024 --map d2pk-rp")["n_terms"], 10);
    assert_eq!(accuracy("--map expansion")["degree"], 2);
    let craft = accuracy("--n-components 4096 --map tensor-sketch --degree 3 --project-to 1024");
    assert_eq!((&craft["first"]["n_components"], &craft["then"]["name"]), (&json!(4096), &json!("srht")));
    let explicit = accuracy("--map expansion --project-to 1024 --projection gaussian");
    assert_eq!((&explicit["first"]["name"], &explicit["then"]["n_components"]), (&json!("expansion"), &json!(1024)));
}

/// 4·ln n / (ε²/2 − ε³/3)
#[test]
fn coordinates_by_the_bound_of_johnson_and_lindenstrauss() {
    let folder = Folder::new();
    let report = folder.json("train --sample digits --map gaussian-projection --eps 0.5");
    let n_rows = report["dataset"]["n_rows"].as_f64().unwrap();
    let expected = (4.0 * n_rows.ln() / (0.125 - 0.125 / 3.0)).ceil();
    assert_eq!(report["spec"]["map"]["spec"]["n_components"], expected as u64);
}

#[test]
fn cross_validation_is_reported() {
    let folder = Folder::new();
    let report = folder.json("train --sample digits --n-components 128 --cv 5");
    let (cv, folds) = (&report["cv"], report["cv"]["folds"].as_array().unwrap());
    assert_eq!(folds.len(), 5);
    let rows: u64 = folds.iter().map(|fold| fold["n_rows"].as_u64().unwrap()).sum();
    assert_eq!(report["dataset"]["n_rows"], rows, "each row judges once");
    assert!(cv["accuracy"].as_f64().unwrap() > 0.9 && cv["accuracy_deviation"].as_f64().unwrap() < 0.1, "{cv}");
    assert_eq!(folder.names(), [""; 0], "nothing is saved unless asked");
}

#[test]
fn cross_validation_of_a_regression() {
    let folder = Folder::new();
    let table = Table::new(90, 4, 3);
    folder.write("r.csv", table.csv("length", &["0.5", "1.75", "4"]));
    let report = folder.json("train r.csv --n-components 64 --cv 4");
    assert_eq!((&report["outputs"]["task"], &report["outputs"]["n_targets"]), (&"regression".into(), &1.into()));
    assert!(report["cv"]["rmse"].as_f64().unwrap() < 1.0 && report["cv"]["accuracy"].is_null());
    let text = folder.ok("train r.csv --n-components 64 --cv 4");
    for part in ["regression of length: one real value", "4-fold cv   RMSE "] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_summary_says_what_was_chosen_and_how_it_went() {
    let folder = Folder::new();
    let text = folder.ok("train --sample digits --n-components 128 --cv 5 -o model.mercer");
    let parts = [
        "data        digits (bundled), training rows: 1,438 rows × 64 inputs, bytes\n",
        "classification: 10 classes",
        "preprocess  bytes divided by 255 (the default",
        "map         fourier: 128 features of the RBF kernel, gamma ",
        "kernel error ",
        "learner     ridge: lambda ",
        "the best of 8 in 5-fold cross-validation",
        "5-fold cv   accuracy ",
        "test        accuracy ",
        "macro F1 ",
        "confusion (rows: truth, columns: predicted)",
        "class  precision  recall      F1     rows",
        "time        ",
        "total ",
        "model       model.mercer (",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.contains("memory      "), cfg!(target_os = "linux"));
}

#[test]
fn few_rows_of_many_classes_train() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("{},{},c{}\n", i, i % 7, i % 20)).collect();
    folder.write("few.csv", format!("a,b,class\n{rows}"));
    // For some seeds no row is held out.
    for seed in 0..12 {
        folder.train(&format!("few.csv --seed {seed}"));
    }
}

/// In the summary of a training and in that of its model.
#[test]
fn every_parameter_of_the_map_is_shown() {
    let folder = Folder::new();
    folder.write("a.csv", Table::new(40, 3, 2).headerless());
    let shown = [
        ("--waves phase --length-scales 1,2.5,3", "length scales 1, 2.5, 3; waves phase"),
        ("--length-scales 1,2,3", "length scales 1, 2, 3"),
        ("--map binning --n-bins 8", "n-bins 8"),
        ("--map sparse-projection --s 2.5", "s 2.5"),
    ];
    for (flags, part) in shown {
        let trained = folder.ok(&format!("train a.csv --n-components 8 {flags} -o m.mercer"));
        for text in [trained, folder.ok("inspect m.mercer")] {
            assert!(text.contains(&format!("\n            {part}\n")), "{flags} should show {part}: {text}");
        }
    }
    folder.ok("train a.csv --map hadamard --blocks split -o m.mercer");
    assert!(folder.ok("inspect m.mercer").contains("\n            blocks split\n"));
    assert!(!folder.ok("train a.csv --n-components 8").contains("waves"), "the default is not told");
}

/// The work is done by the time the name is reported.
#[cfg(target_os = "linux")]
#[test]
fn outputs_by_any_name() {
    let folder = Folder::new();
    folder.write("a.csv", Table::new(40, 3, 2).headerless());
    folder.train("a.csv");
    let named = |arguments: &str, flag: &str, ending: &str, key: &str| {
        let mut command = folder.command(&format!("{arguments} --json"));
        let run = support::Run::from(command.arg(flag).arg(support::not_utf8(ending)).output().unwrap());
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{arguments}");
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let output = if report[key].is_array() { &report[key][0] } else { &report[key] };
        assert_eq!(output, &format!("\u{fffd}{ending}"), "{arguments}");
        assert!(folder.path().join(support::not_utf8(ending)).is_file(), "{arguments}");
    };
    named("train a.csv --n-components 8", "-o", ".mercer", "output");
    named("predict trained.mercer a.csv", "-o", ".csv", "output");
    named("transform a.csv --n-components 8", "-o", ".tsv", "outputs");
    named("convert a.csv", "-o", ".svm", "outputs");
    named("split a.csv --test test.csv", "--train", ".parquet", "train");
}

/// Every learner of classes, by every solver that it has: how it ended is reported, and what is saved scores alike.
#[test]
fn learners_of_classes() {
    let folder = Folder::new();
    let cases = [
        ("svm", "squared_hinge", "iterative"),
        ("svm --solver dual", "squared_hinge", "dual"),
        ("svm --loss hinge", "hinge", "dual"),
        ("softmax", "softmax", "iterative"),
        ("logistic --class-weight balanced", "logistic", "iterative"),
        ("ridge --solver iterative", "squared", "iterative"),
    ];
    for (learner, loss, solver) in cases {
        let arguments = "train --sample digits --n-components 256 --lambda 1e-4 -o m.mercer --learner";
        let report = folder.json(&format!("{arguments} {learner}"));
        assert!(report["test"]["accuracy"].as_f64().unwrap() > 0.95, "{learner}: {}", report["test"]["accuracy"]);
        let spec = &report["spec"]["learner"];
        assert_eq!((&spec["loss"]["name"], &spec["solver"]), (&loss.into(), &solver.into()), "{learner}");
        assert_eq!(report["convergence"]["converged"], true, "{learner}: {}", report["convergence"]);
        assert!(report["convergence"]["objective"].as_f64().unwrap() > 0.0);
        assert_eq!(folder.json("inspect m.mercer")["header"]["spec"], report["spec"], "{learner}");
    }
}

/// Ten epochs at most unless more are asked for, with features kept or mapped again.
#[test]
fn stochastic_gradients() {
    let folder = Folder::new();
    for learner in ["ridge", "svm", "svm --loss hinge", "softmax", "logistic --class-weight balanced"] {
        let arguments = "train --sample digits --n-components 256 --lambda 1e-4 --solver sgd -o m.mercer --learner";
        let report = folder.json(&format!("{arguments} {learner}"));
        assert!(report["test"]["accuracy"].as_f64().unwrap() > 0.95, "{learner}: {}", report["test"]["accuracy"]);
        assert_eq!(report["spec"]["learner"]["solver"], "sgd");
        assert!((1..=10).contains(&report["convergence"]["iterations"].as_u64().unwrap()), "{learner}");
        assert_eq!(folder.json("inspect m.mercer")["header"]["spec"], report["spec"], "{learner}");
        // The digits are one panel: its shuffle is that of all rows.
        let streamed = folder.json(&format!("{arguments} {learner} --memory 0 --threads 1"));
        assert_eq!((&streamed["convergence"], &streamed["test"]), (&report["convergence"], &report["test"]));
    }
    let auto = folder.json("train --sample digits --n-components 64 --solver sgd --max-iter 2");
    assert_eq!(auto["convergence"]["iterations"], 2);
    assert!(auto["lambda"]["candidates"].as_array().unwrap().len() > 1);
    assert!(folder.ok("inspect m.mercer").contains("by stochastic gradients"));
}

#[test]
fn c_and_memory_change_what_they_say() {
    let folder = Folder::new();
    let train = |more: &str| folder.json(&format!("train --sample digits --n-components 128 --learner svm {more}"));
    let by_c = train("--C 2");
    let lambda = by_c["spec"]["learner"]["lambda"].as_f64().unwrap();
    assert_eq!(lambda, 1.0 / (2.0 * by_c["dataset"]["n_rows"].as_f64().unwrap() * 2.0));
    let streamed = train("--C 2 --memory 0 --threads 1");
    assert_eq!((&streamed["convergence"], &streamed["test"]), (&by_c["convergence"], &by_c["test"]));
    let short = train("--C 2 --max-iter 1");
    assert_eq!(short["convergence"]["converged"], false);
    let run = folder.run("train --sample digits --n-components 128 --learner svm --C 2 --max-iter 1");
    assert!(run.stdout.contains("NOT converged (see --max-iter and --tol) after 1 pass"), "{}", run.stdout);
}

#[test]
fn learners_of_real_values() {
    let folder = Folder::new();
    let table = Table::new(200, 4, 3);
    folder.write("r.csv", table.csv("length", &["0.5", "1.75", "4"]));
    for learner in ["ridge", "huber", "svr", "huber --delta 0.1", "svr --epsilon 0.01"] {
        let report = folder.json(&format!("train r.csv --n-components 64 --test-size 0.25 --learner {learner}"));
        assert!(report["test"]["r2"].as_f64().unwrap() > 0.8, "{learner}: {}", report["test"]);
    }
}
