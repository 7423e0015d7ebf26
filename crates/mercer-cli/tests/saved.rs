//! What a saved model says of itself, and that it scores as the one that was trained.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, Table};

#[test]
fn a_loaded_model_scores_as_the_trained_one() {
    let (folder, table) = (Folder::new(), Table::new(400, 6, 3));
    let noisy = |i: usize| if i.is_multiple_of(9) { (table.classes[i] + 1) % 3 } else { table.classes[i] };
    let part = |rows: std::ops::Range<usize>| Table {
        rows: table.rows[rows.clone()].to_vec(),
        classes: rows.map(noisy).collect(),
    };
    let (train, test) = (part(0..300), part(300..400));
    let names = ["ann", "bob", "cy"];
    folder.write("train.csv", train.csv("who", &names));
    folder.write("test.csv", test.csv("who", &names));
    folder.write("train.svm", train.libsvm());
    folder.write("test.svm", test.libsvm());
    folder.write("train.npy", train.npy());
    folder.write("train-y.npy", train.npy_labels());
    folder.write("test.npy", test.npy());
    folder.write("test-y.npy", test.npy_labels());
    folder.write("train.idx", train.idx());
    folder.write("train-y.idx", train.idx_labels());
    folder.write("test.idx", test.idx());
    folder.write("test-y.idx", test.idx_labels());
    folder.write("length.csv", train.csv("length", &["0.5", "1.75", "4"]));
    folder.write("length-test.csv", test.csv("length", &["0.5", "1.75", "4"]));
    let cases = [
        ("train.csv --test test.csv", "test.csv"),
        ("train.csv --test test.csv --dtype float64 --preprocess min-max", "test.csv"),
        ("train.svm --test test.svm", "test.svm"),
        ("train.npy --labels train-y.npy --test test.npy --test-labels test-y.npy", "test.npy --labels test-y.npy"),
        ("train.idx --labels train-y.idx --test test.idx --test-labels test-y.idx", "test.idx --labels test-y.idx"),
        ("length.csv --test length-test.csv", "length-test.csv"),
    ];
    for (train, test) in cases {
        let trained = folder.json(&format!("train {train} --n-components 64 -o m.mercer"));
        let loaded = folder.json(&format!("evaluate m.mercer {test}"));
        assert!(!trained["test"].is_null());
        assert_eq!(trained["test"], loaded["test"], "{train}");
        for way in ["--threads 1", "--threads 3 --cache 0 --block-rows 7"] {
            assert_eq!(folder.json(&format!("evaluate m.mercer {test} {way}"))["test"], loaded["test"], "{way}");
        }
        let inspected = folder.json("inspect m.mercer");
        assert_eq!(inspected["header"]["spec"], trained["spec"], "{train}");
        assert_eq!(inspected["header"]["outputs"], trained["outputs"], "{train}");
        assert_eq!(inspected["model_bytes"], trained["model_bytes"], "{train}");
    }
}

/// A map is stored as its name and numbers, and drawn again.
#[test]
fn every_map_is_drawn_again_as_it_was() {
    let (folder, table) = (Folder::new(), Table::new(120, 6, 3));
    folder.write("a.csv", table.csv("who", &["ann", "bob", "cy"]));
    let sized = [
        "fourier --kernel laplace",
        "orthogonal --kernel matern --nu 2.5",
        "sorf --waves phase",
        "fastfood --length-scales 1,2,3,4,5,6",
        "quasi --kernel cauchy",
        "binning --n-bins 4",
        "gaussian-projection",
        "sparse-projection --s 2",
        "srht",
    ];
    let sized = sized.map(|map| format!("{map} --n-components 64"));
    let whole = ["hadamard", "hadamard --blocks split", "identity"].map(str::to_owned);
    for map in sized.iter().chain(&whole) {
        let trained = folder.json(&format!("train a.csv --test a.csv --map {map} --seed 3 -o m.mercer"));
        let loaded = folder.json("evaluate m.mercer a.csv");
        assert!(!trained["test"].is_null());
        assert_eq!(trained["test"], loaded["test"], "{map}");
        assert_eq!(folder.json("inspect m.mercer")["header"]["spec"], trained["spec"], "{map}");
    }
}

#[test]
fn inspect_says_what_a_model_is() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 2));
    folder.write("a.csv", table.csv("answer", &["no", "yes"]));
    folder.train("a.csv --seed 5 --gamma 0.25 --lambda 1e-4");
    let text = folder.ok("inspect trained.mercer");
    let size = folder.read("trained.mercer").len();
    let parts = [
        "trained.mercer\ninputs      4 (float32)\n            x0, x1, x2, x3\n",
        "predicts    one of 2 classes: no, yes\ntarget      answer\n",
        "preprocess  standardize\n",
        "map         fourier: 64 features of the RBF kernel, gamma 0.25\n",
        "learner     ridge: lambda 1e-4\nseed        5\n",
        "tensor      learner.weights  64 × 1\n",
        &format!("size        {},{:03} bytes, format 1, mercer ", size / 1000, size % 1000),
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = folder.json("inspect trained.mercer");
    assert_eq!(report["tensors"]["learner.weights"], serde_json::json!([64, 1]));
    assert_eq!(report["header"]["spec"]["learner"]["lambda"], 1e-4);
    assert_eq!(report["header"]["input_names"].as_array().unwrap().len(), 4);
}

#[test]
fn evaluate_prints_scores_and_tables() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 2));
    folder.write("a.csv", table.csv("answer", &["no", "yes"]));
    folder.train("a.csv");
    let text = folder.ok("evaluate trained.mercer a.csv");
    for part in ["accuracy ", "macro F1 ", " of 60 rows wrong", "confusion", "precision"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
