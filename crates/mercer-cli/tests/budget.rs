//! `mercer budget` and `mercer train --map nystroem`: their reports, plots and refusals.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, Table};

#[test]
fn digits_by_every_method() {
    let folder = Folder::new();
    let report = folder.json("budget --sample digits --sizes 10..80 --seeds 2 --plot digits.svg");
    assert_eq!((&report["command"], &report["kernel"]["name"]), (&"budget".into(), &"rbf".into()));
    let budgets = report["budgets"].as_array().unwrap();
    assert_eq!(budgets.len(), 8 * 4);
    for method in ["uniform", "random-cholesky", "leverage", "columns", "farthest", "kmeans-pp", "kmeans", "dbh"] {
        let of: Vec<_> = budgets.iter().filter(|budget| budget["method"] == method).collect();
        let scores: Vec<f64> = of.iter().map(|budget| budget["score"].as_f64().unwrap()).collect();
        assert!(scores.windows(2).all(|pair| pair[0] < pair[1]), "{method}: {scores:?}");
        assert!(scores.iter().all(|score| (0.0..1.0).contains(score)), "{method}: {scores:?}");
        assert!(of.iter().all(|budget| budget["runs"].as_array().unwrap().len() == 2));
    }
    let svg = folder.text("digits.svg");
    assert!(svg.starts_with("<svg ") && svg.contains(">random-cholesky</text>") && !svg.contains("NaN"), "{svg}");
    for title in ["Score by the number of landmarks", "Landmarks that the others do not give already", "Time to choose"]
    {
        assert!(svg.contains(title), "{title}: {svg}");
    }
    // Sizes double up to the last that there are rows for.
    let report = folder.json("budget --sample digits --kernel rbf --sizes 10..1280 --methods uniform");
    let sizes: Vec<u64> =
        report["budgets"].as_array().unwrap().iter().map(|cell| cell["n_landmarks"].as_u64().unwrap()).collect();
    assert_eq!(sizes[..7], [10, 20, 40, 80, 160, 320, 640]);
    for cell in report["budgets"].as_array().unwrap() {
        assert!(cell["distinct"].as_f64().unwrap() > 0.9 && cell["seconds"].as_f64().unwrap() > 0.0, "{cell}");
    }
    let table = folder.ok("budget --sample digits --sizes 10,2560 --methods uniform");
    assert!(table.contains("; 2,560 left out: there are 1,150 rows to choose from"), "{table}");
    let table = folder.ok("budget --sample digits --sizes 10,20 --methods uniform,kmeans");
    assert!(
        table.contains("landmarks") && table.lines().filter(|line| line.starts_with("kmeans")).count() == 2,
        "{table}"
    );
}

/// One row in 21 is of the second class, far from the others, among those that judge (every fifth) too: two landmarks explain both classes only where each has one.
#[test]
fn budgets_that_are_balanced() {
    let folder = Folder::new();
    let line = |i: usize| {
        let (at, class) = if i % 21 == 3 { (100.0, "rare") } else { (0.0, "often") };
        format!("{},{class}\n", at + (i as f64).sin() * 1e-3)
    };
    folder.write("rows.csv", "x,y\n".to_owned() + &(0..400).map(line).collect::<String>());
    let flags = "budget rows.csv --target y --preprocess none --gamma 1 --sizes 2 --seeds 5";
    let report = folder.json(&format!("{flags} --balanced"));
    assert_eq!(report["balanced"], true);
    for budget in report["budgets"].as_array().unwrap() {
        assert!(budget["score"].as_f64().unwrap() > 0.999, "{budget}");
        assert_eq!(budget["n_landmarks"], 2);
    }
    let plain = folder.json(&format!("{flags} --methods uniform"));
    assert!(plain["budgets"][0]["score"].as_f64().unwrap() < 0.999 && plain["balanced"] == false, "{plain}");
    assert!(folder.ok(&format!("{flags} --balanced")).contains("; as many landmarks from each class"));
    folder.write("none.csv", "x\n1\n2\n3\n");
    let run = folder.run("budget none.csv --target none --balanced --sizes 1");
    assert!(run.status == Some(2) && run.stderr.contains("data without classes"), "{run:?}");
}

#[test]
fn a_model_of_landmarks_is_saved_and_predicts() {
    let folder = Folder::new();
    let table = Table::new(200, 3, 3);
    folder.write("rows.csv", table.csv("y", &["a", "b", "c"]));
    let flags = "--target y --map nystroem --n-components 50 --budget random-cholesky --seed 2";
    let report = folder.json(&format!("train rows.csv {flags} -o model.mercer"));
    let spec = &report["spec"]["map"]["spec"];
    assert_eq!((&spec["name"], &spec["budget"]["method"]), (&"landmark".into(), &"random_cholesky".into()));
    let before = folder.json("evaluate model.mercer rows.csv");
    assert!(before["accuracy"].as_f64().or(before["test"]["accuracy"].as_f64()).is_some(), "{before}");
    assert!(folder.ok("inspect model.mercer").contains("nystroem"));
    // The same bits by one thread.
    folder.ok(&format!("train rows.csv {flags} --threads 1 -o again.mercer"));
    assert_eq!(folder.read("model.mercer"), folder.read("again.mercer"));
}

#[test]
fn landmarks_that_add_nothing_are_told() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{},{}\n", i % 3, ["p", "q"][i % 2])).collect();
    folder.write("three.csv", format!("x,y\n{rows}"));
    let summary = folder.ok("train three.csv --target y --map nystroem --n-components 20");
    assert!(summary.contains("rank 3 of 20 landmarks"), "{summary}");
    let report = folder.json("train three.csv --target y --map nystroem --n-components 20");
    assert_eq!((&report["landmarks"]["asked"], &report["landmarks"]["rank"]), (&20.into(), &3.into()));
}

/// Landmarks of a file are read, made numbers and scaled as the rows are.
#[test]
fn landmarks_of_a_file() {
    let folder = Folder::new();
    let table = Table::new(200, 3, 3);
    let rows = table.csv("y", &["a", "b", "c"]);
    folder.write("rows.csv", &rows);
    // With targets, which are passed over; the second is the first once more.
    let lines: Vec<&str> = rows.lines().collect();
    folder.write("some.csv", [&lines[..2], &lines[1..20]].concat().join("\n"));
    let train = |flags: &str| folder.json(&format!("train rows.csv --target y {flags}"));
    let report = train("--map nystroem --landmarks some.csv -o model.mercer");
    assert_eq!((&report["landmarks"]["asked"], &report["landmarks"]["rank"]), (&20.into(), &19.into()));
    assert_eq!(report["spec"]["map"]["spec"]["n_components"], 19);
    folder.ok("evaluate model.mercer rows.csv");
    for (flags, n_components) in [
        ("kg-rp --n-components 40", 40),
        ("korp", 19),
        ("korp --n-components 7", 7),
        ("kernel-pca", 18),
        ("nystroem --symmetric", 19),
    ] {
        let report = train(&format!("--map {flags} --landmarks some.csv"));
        assert_eq!(report["spec"]["map"]["spec"]["n_components"], n_components, "{flags}");
    }
    // As many features of a file as of the choice of all of its rows, whose order does not matter to the model.
    folder.write("all.csv", &rows);
    let (all, given) = (train("--map nystroem --n-components 200"), train("--map nystroem --landmarks all.csv"));
    assert_eq!(all["landmarks"], given["landmarks"]);
    folder.ok("transform rows.csv --target y --map korp --n-components 5 --landmarks some.csv -o features.csv");
    assert_eq!(folder.text("features.csv").lines().next().unwrap().split(',').count(), 6);
    folder.write("narrow.csv", "x0,x1\n1,2\n");
    folder.write("words.csv", "x0,x1,x2\n1,2,three\n");
    for (flags, says) in [
        ("--map nystroem --landmarks narrow.csv", "narrow.csv"),
        ("--map nystroem --landmarks words.csv", "words.csv, line 2, column 3"),
        ("--map nystroem --landmarks nowhere.csv", "nowhere.csv: no such file"),
        ("--map nystroem --landmarks some.csv --n-components 9", "each of them is a feature"),
        ("--map korp --landmarks some.csv --n-components 21", "--n-components is 21"),
        ("--map kg-rp --landmarks some.csv --n-terms 21", "--n-terms is 21"),
        (
            "--map fourier --landmarks some.csv",
            "--landmarks is of use with --map nystroem, kg-rp, korp and kernel-pca only",
        ),
        ("--map nystroem --landmarks some.csv --budget dbh", "--budget"),
        ("--auto --landmarks some.csv", "--landmarks"),
        ("--map nystroem --landmarks some.csv -o some.csv", "some.csv is read by this command"),
    ] {
        let run = folder.run(&format!("train rows.csv --target y {flags}"));
        assert_eq!(run.status, Some(2), "{flags}: {run:?}");
        assert!(run.stderr.contains(says), "{flags} should say {says:?}: {}", run.stderr);
    }
}

/// Bytes are histograms of a kind: the skewed kernel learns them, by waves and by landmarks, and says what it cannot take.
#[test]
fn the_skewed_chi_squared_kernel() {
    let folder = Folder::new();
    for flags in ["--map skewed-chi2 --n-components 512", "--kernel skewed-chi2 --n-components 512 --waves phase"] {
        let report = folder.json(&format!("train --sample digits {flags} --skewedness 0.1"));
        let kernel = &report["spec"]["map"]["spec"];
        assert_eq!((&kernel["name"], &kernel["skewedness"]), (&"skewed_chi2".into(), &0.1.into()));
        assert!(report["test"]["accuracy"].as_f64().unwrap() > 0.9, "{flags}: {report}");
    }
    let summary = folder.ok("train --sample digits --map nystroem --kernel skewed-chi2 --n-components 200");
    assert!(summary.contains("the skewed chi-squared kernel, skewedness 1"), "{summary}");
    let rows: String = (0..60).map(|i| format!("{},{}\n", i - 30, ["p", "q"][i as usize % 2])).collect();
    folder.write("signed.csv", format!("x,y\n{rows}"));
    for (flags, says) in [
        ("--map skewed-chi2 --preprocess none", "input 0 is -30; the skewed chi-squared kernel of skewedness 1"),
        (
            "--map nystroem --kernel skewed-chi2 --preprocess none --n-components 5",
            "--skewedness is 1 for a value of -",
        ),
        ("--map skewed-chi2 --skewedness 0", "--skewedness is 0, must be finite and above 0"),
        ("--map skewed-chi2 --gamma 2", "--gamma is of use with maps of a kernel only"),
        ("--map skewed-chi2 --kernel rbf", "--kernel is of use with other maps than skewed-chi2 only"),
        ("--map fourier --skewedness 2", "--skewedness is of use with --map skewed-chi2 and --kernel skewed-chi2 only"),
        ("--map skewed-chi2 --n-components 3", "even and at least 2"),
    ] {
        let run = folder.run(&format!("train signed.csv --target y {flags}"));
        assert_eq!(run.status, Some(2), "{flags}: {run:?}");
        assert!(run.stderr.contains(says), "{flags} should say {says:?}: {}", run.stderr);
    }
}

/// Nearly singular kernel matrices: features are finite, a model is learned, and the rank is told where it is less than was asked for.
#[test]
fn the_rank_of_singular_kernels_is_told() {
    let folder = Folder::new();
    let line = |i: usize, x: [f64; 2]| format!("{},{},{}\n", x[0], x[1], ["p", "q"][i % 2]);
    let of = |row: &dyn Fn(usize) -> [f64; 2]| -> String { (0..60).map(|i| line(i, row(i))).collect() };
    let wave = |i: usize| (i as f64 * 0.7).sin();
    folder.write("duplicates.csv", of(&|i| [(i % 5) as f64, 1.0 + (i % 5) as f64 * 0.3]));
    folder.write("constant.csv", of(&|_| [7.0, 3.0]));
    folder.write("line.csv", of(&|i| [wave(i), -2.0 * wave(i)]));
    folder.write("any.csv", of(&|i| [wave(i), wave(i + 17)]));
    for (file, flags, rank) in [
        ("duplicates.csv", "--gamma 1", 5),
        ("constant.csv", "--gamma 1", 1),
        ("line.csv", "--kernel linear", 1),
        ("any.csv", "--gamma 1e-30", 1),
        ("any.csv", "--gamma 1e30", 20),
    ] {
        let command = format!("train {file} --target 3 --preprocess none --map nystroem --n-components 20 {flags}");
        let report = folder.json(&format!("{command} --dtype float64"));
        let told = (&report["landmarks"]["asked"], &report["landmarks"]["rank"]);
        assert_eq!(told, (&20.into(), &rank.into()), "{file} {flags}");
        let summary = folder.ok(&command);
        assert_eq!(summary.contains(&format!("rank {rank} of 20 landmarks")), rank < 20, "{file} {flags}: {summary}");
        let kept =
            format!("transform {file} --target none --drop 3 --preprocess none --map nystroem --n-components 20");
        let features = folder.ok(&format!("{kept} {flags}"));
        let mut values = features.lines().skip(1).flat_map(|line| line.split(','));
        assert!(values.all(|x| x.parse::<f64>().unwrap().is_finite()), "{file} {flags}: {features}");
    }
}

/// Every form learns, is told by its name and parameters, and tells the rank of rows that repeat.
#[test]
fn forms_of_landmarks() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{},{}\n", i % 3, ["p", "q"][i % 2])).collect();
    folder.write("three.csv", format!("x,y\n{rows}"));
    for (flags, name, told, rank) in [
        ("nystroem --symmetric", "nystroem", "symmetric", "rank 3 of 20 landmarks"),
        ("kg-rp --n-landmarks 30 --n-terms 7", "kg_rp", "n-terms", "rank 3 of 30 landmarks"),
        ("korp --n-landmarks 30", "korp", "n-landmarks", "rank 3 of 30 landmarks"),
        ("kernel-pca --n-landmarks 50", "kernel_pca", "n-landmarks", "rank 2 of 20 components"),
    ] {
        let report = folder.json(&format!("train --sample digits --map {flags} --n-components 25"));
        assert!(report["test"]["accuracy"].as_f64().unwrap() > 0.6, "{flags}: {report}");
        let summary = folder.ok(&format!("train three.csv --target y --map {flags} --n-components 20"));
        let says = [format!("map         {name}: "), told.to_owned(), rank.to_owned()];
        assert!(says.iter().all(|text| summary.contains(text)), "{flags}: {summary}");
    }
}

#[test]
fn what_would_do_nothing_is_refused() {
    let folder = Folder::new();
    for (arguments, says) in [
        (
            "train --sample digits --budget dbh",
            "--budget is of use with --map nystroem, kg-rp, korp and kernel-pca only",
        ),
        (
            "train --sample digits --balanced",
            "--balanced is of use with --map nystroem, kg-rp, korp and kernel-pca only",
        ),
        (
            "train --sample digits --map nystroem --n-landmarks 20",
            "--n-landmarks is of use with --map kg-rp, korp and kernel-pca only",
        ),
        ("train --sample digits --map korp --symmetric", "--symmetric is of use with --map nystroem only"),
        ("train --sample digits --map kg-rp --n-landmarks 20 --n-terms 21", "--n-terms is 21"),
        ("train --sample digits --map korp --n-landmarks 20 --n-components 21", "--n-components is 21"),
        ("train --sample digits --map nystroem --waves phase", "--waves is of use with"),
        (
            "train --sample digits --map nystroem --degree 3",
            "--degree is of use with --kernel poly and arc-cosine only",
        ),
        (
            "train --sample digits --map nystroem --kernel tanimoto --gamma 2",
            "--gamma is of no use with --kernel tanimoto",
        ),
        ("train --sample digits --map nystroem --kernel arc-cosine --degree 3", "degree is 3, must be 0, 1 or 2"),
        ("train --sample digits --map sorf --kernel chi2", "--kernel chi2 is of use with --map nystroem only"),
        ("train --sample digits --map nystroem --n-components 0", "--n-components is 0"),
        ("budget rows.csv --test rows.csv", "--test is of no use to budget"),
        ("budget --sample digits --sizes 0", "--sizes has 0"),
        ("budget --sample digits --sizes 5000", "there are"),
        ("budget --sample digits --plot x.png", ".svg"),
    ] {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "mercer {arguments}: {run:?}");
        assert!(run.stderr.contains(says), "mercer {arguments} should say {says:?}: {}", run.stderr);
    }
    assert!(folder.names().is_empty());
}

/// Values below 0 have no χ² kernel.
#[test]
fn kernels_of_histograms() {
    let folder = Folder::new();
    let report = folder.json("train --sample digits --kernel chi2 --gamma 0.5 --n-components 100");
    assert!(report["test"]["accuracy"].as_f64().unwrap() > 0.9, "{report}");
    let run = folder.run("train --sample digits --kernel chi2 --preprocess standardize --n-components 100");
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("a chi-squared one for a value of"), "{}", run.stderr);
}
