//! `mercer compare`: its table, its JSON and its plot; the same numbers as a training.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::{Folder, Table};

fn results(report: &Value) -> &Vec<Value> {
    report["results"].as_array().unwrap()
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Exit status 2, one line that says why, and no file.
fn refuse(folder: &Folder, arguments: &str, says: &[&str]) {
    let before = folder.names();
    let run = folder.run(&format!("compare {arguments}"));
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "mercer compare {arguments}: {run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "mercer compare {arguments}: {run:?}");
    for part in says {
        assert!(run.stderr.contains(part), "mercer compare {arguments} should say {part:?}: {}", run.stderr);
    }
    assert_eq!(folder.names(), before, "mercer compare {arguments}");
}

/// Every element is closed in its order, and nothing is no number.
fn assert_svg(svg: &str, names: &[&str]) {
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("<{part} has no end"));
        assert!(!text.contains('>'), "{part}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split_whitespace().next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for part in svg.split('&').skip(1) {
        assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|name| part.starts_with(name)), "&{part}");
    }
    for name in names {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}: {svg}");
    }
    for bad in ["NaN", "inf"] {
        assert!(!svg.contains(bad), "{bad}: {svg}");
    }
}

#[test]
fn digits_as_a_training_has_them() {
    let folder = Folder::new();
    let flags = "--sample digits --seed 3";
    let report = folder.json(&format!("compare {flags} --maps fourier,sorf --n-components 64..128"));
    assert_eq!((&report["command"], &report["score"]), (&"compare".into(), &"accuracy".into()));
    assert_eq!((&report["seeds"], &report["n_test_rows"]), (&vec![3].into(), &360.into()));
    let found: Vec<_> = results(&report).iter().map(|r| (r["map"].as_str().unwrap(), &r["n_components"])).collect();
    assert_eq!(found, [("fourier", &64.into()), ("fourier", &128.into()), ("sorf", &64.into()), ("sorf", &128.into())]);
    for result in results(&report) {
        let (map, size) = (result["map"].as_str().unwrap(), &result["n_components"]);
        let trained = folder.json(&format!("train {flags} --map {map} --n-components {size}"));
        assert_eq!(result["kernel_rmse"], trained["approximation"]["kernel"]["rmse"], "{map} {size}");
        assert_eq!(result["distortion"], trained["approximation"]["distances"]["mean"], "{map} {size}");
        assert_eq!(result["accuracy"], trained["test"]["accuracy"], "{map} {size}");
        assert_eq!(result["spec"], trained["spec"]["map"]["spec"], "{map} {size}");
        assert!(result["kernel_rmse_deviation"].is_null(), "one seed has no deviation");
        let time = float(&result["microseconds_per_row"]);
        assert!(time > 0.0 && time < 1e5, "{time}");
    }
    // 64 inputs × 32 frequencies of float32; four vectors of 64 places.
    assert_eq!((&results(&report)[0]["map_bytes"], &results(&report)[2]["map_bytes"]), (&8192.into(), &1024.into()));
}

#[test]
fn the_table_and_the_plot() {
    let folder = Folder::new();
    let text = folder.ok("compare --sample digits --maps sorf,fourier,sorf --n-components 128,64 --plot maps.svg");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("1,438 rows × 64 inputs") && lines[0].contains("359"), "{text}");
    assert!(lines[1].contains("the RBF kernel, gamma ") && lines[1].contains("ridge"), "{text}");
    assert_eq!(lines[3].split_whitespace().next(), Some("map"));
    let rows: Vec<Vec<&str>> = lines[4..].iter().map(|line| line.split_whitespace().take(2).collect()).collect();
    let expected: [&[&str]; 5] = [&["sorf", "64"], &["sorf", "128"], &[], &["fourier", "64"], &["fourier", "128"]];
    assert_eq!(rows[..5], expected, "{text}");
    let widths: Vec<usize> = [3, 4, 5, 7, 8].map(|i| lines[i].chars().count()).into();
    assert!(widths.iter().all(|width| *width == widths[0]), "aligned: {text}");
    assert!(text.ends_with("plot        maps.svg\n"), "{text}");
    assert_eq!(folder.names(), ["maps.svg"]);
    let svg = folder.text("maps.svg");
    assert_svg(&svg, &["sorf", "fourier", "64", "128", "kernel RMSE"]);
    assert_eq!(svg.matches("<polyline ").count(), 4, "two lines in two panels");
    assert_eq!(svg.matches("<title>").count(), 8);
}

fn maps(report: &Value) -> Vec<&str> {
    results(report).iter().map(|result| result["map"].as_str().unwrap()).collect()
}

const LANDMARKS: [&str; 5] = ["nystroem", "nystroem-rpc", "kg-rp", "korp", "kernel-pca"];

/// Every map of the polynomial kernel, by a chain and by a tree among them, and those that suit one degree alone.
#[test]
fn maps_of_the_polynomial_kernel() {
    let folder = Folder::new();
    let products = |of_degree: &[&'static str]| {
        let all = ["tensor-srht", "tensor-srht-real", "tensor-tree", "tensor-sketch", "pk-rp", "d2pk-rp", "maclaurin"];
        let all = LANDMARKS.into_iter().chain(all).chain(["craft-maclaurin", "craft-tensor-sketch", "explicit"]);
        all.filter(|map| !of_degree.contains(map)).collect::<Vec<_>>()
    };
    for (degree, others) in [(2, &["tensor-tree"]), (3, &["d2pk-rp"])] {
        let report =
            folder.json(&format!("compare --sample digits --kernel poly --degree {degree} --n-components 256"));
        assert_eq!(maps(&report), products(others));
        for result in results(&report) {
            assert!(float(&result["accuracy"]) > 0.9, "{result}");
            assert_eq!(result["n_components"], 256);
            // Principal components have the centred kernel.
            let errors = (&result["kernel_rmse"], &result["distortion"]);
            let none = result["map"] == "kernel-pca";
            assert!(if none { errors.0.is_null() && errors.1.is_null() } else { float(errors.0) > 0.0 }, "{result}");
        }
    }
    refuse(
        &folder,
        "--sample digits --kernel poly --maps sorf",
        &["which has no features of the poly kernel", "tensor-srht"],
    );
    refuse(&folder, "--sample digits --degree 3", &["--degree is of use with --kernel poly only"]);
}

/// D2PK-RP has no constant: beside a kernel that has one it keeps its own, and the table says so.
#[test]
fn a_map_without_the_constant() {
    let folder = Folder::new();
    let flags = "compare --sample digits --kernel poly --degree 2 --n-components 64 --no-learner";
    let other = "d2pk-rp has the kernel without its constant, and that kernel's error; --coef0 0 gives it to all";
    let text = folder.ok(flags);
    assert!(text.lines().nth(2).unwrap().ends_with(other), "{text}");
    let own = folder.json(&format!("{flags} --maps d2pk-rp"));
    let same = folder.json(&format!("{flags} --maps d2pk-rp,pk-rp --coef0 0"));
    assert_eq!(results(&own)[0]["kernel_rmse"], results(&same)[0]["kernel_rmse"]);
    assert!(!folder.ok(&format!("{flags} --coef0 0")).contains("without its constant"));
    refuse(
        &folder,
        "--sample digits --kernel poly --degree 3 --maps d2pk-rp",
        &["which has no features of the poly kernel", "it needs --kernel poly --degree 2;"],
    );
}

/// 301 inputs have 45,753 products of degree 2, which take more than 256 MB from 2,048 features on.
#[test]
fn an_expansion_that_fills_the_memory_is_left_out() {
    let folder = Folder::new();
    folder.write("x.npy", Table::new(12, 301, 2).npy());
    let flags = "compare x.npy --no-learner --kernel poly --n-components 8,2048";
    let text = folder.ok(flags);
    assert!(text.contains("explicit is left out from 2,048 features on, which take 374.8 MB"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("explicit ")).count(), 1, "{text}");
}

/// Maps of kernels that are no kernel of waves, and of budgets that are asked for by name.
#[test]
fn maps_of_other_kernels() {
    let folder = Folder::new();
    let of = |flags: &str| {
        let report = folder.json(&format!("compare --sample digits --preprocess min-max --n-components 64 {flags}"));
        for result in results(&report) {
            assert!(float(&result["accuracy"]) > 0.8, "{result}");
        }
        report
    };
    for (kernel, own) in [
        ("additive-chi2", &["additive-chi2", "additive-chi2", "additive-chi2"][..]),
        ("skewed-chi2", &["skewed-chi2"]),
        ("arc-cosine", &["arc-cosine"]),
        ("exponential", &["maclaurin", "craft-maclaurin"]),
        ("chi2", &[]),
    ] {
        let report = of(&format!("--kernel {kernel}"));
        assert_eq!(maps(&report), [&LANDMARKS, own].concat(), "{kernel}");
    }
    let report = of("--kernel additive-chi2 --maps additive-chi2");
    let sizes: Vec<_> = results(&report).iter().map(|result| result["n_components"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [64, 3 * 64, 5 * 64]);
    let errors: Vec<f64> = results(&report).iter().map(|result| float(&result["kernel_rmse"])).collect();
    assert!(errors[0] > errors[1] && errors[1] > errors[2], "{errors:?}");
    let budgets =
        "nystroem-leverage,nystroem-columns,nystroem-farthest,nystroem-kmeans-pp,nystroem-kmeans,nystroem-dbh";
    let report = of(&format!("--maps {budgets}"));
    assert_eq!(maps(&report).join(","), budgets);
    for (result, method) in
        results(&report).iter().zip(["leverage", "columns", "farthest", "kmeans_pp", "kmeans", "dbh"])
    {
        assert_eq!(result["spec"]["budget"]["method"], method);
    }
    refuse(&folder, "--sample digits --maps skewed-chi2", &["the rbf kernel", "it needs --kernel skewed-chi2"]);
}

#[test]
fn a_regression_by_its_error() {
    let folder = Folder::new();
    folder.write("a&b.csv", Table::new(90, 4, 3).csv("length", &["0.5", "1.75", "4"]));
    let flags = "a&b.csv --maps orthogonal,quasi --n-components 32 --dtype float64";
    let report = folder.json(&format!("compare {flags} --plot r.svg"));
    assert_eq!((&report["score"], &report["n_test_rows"]), (&"rmse".into(), &18.into()));
    let trained = folder.json("train a&b.csv --test-size 0.2 --map quasi --n-components 32 --dtype float64");
    assert_eq!(results(&report)[1]["rmse"], trained["test"]["rmse"]);
    assert!(results(&report)[1]["accuracy"].is_null());
    assert_eq!(results(&report)[0]["map_bytes"], 4 * 16 * 8);
    assert_svg(&folder.text("r.svg"), &["orthogonal", "quasi", "RMSE on test rows"]);
    assert!(folder.text("r.svg").contains(">a&amp;b.csv"));
    assert!(folder.ok(&format!("compare {flags}")).contains("   RMSE\n"));
}

#[test]
fn rows_without_targets() {
    let folder = Folder::new();
    let table = Table::new(60, 5, 2);
    folder.write("x.npy", table.npy());
    folder.write("x.csv", table.inputs_only());
    // 64 times the features: an eighth of the error, beyond all chance.
    let flags = "--maps fourier,fastfood --n-components 16,128,1024";
    refuse(&folder, &format!("x.npy {flags} --plot x.svg"), &["x.npy", "no targets", "--labels"]);
    let report = folder.json(&format!("compare x.npy {flags} --no-learner --plot x.svg"));
    assert!(report["score"].is_null() && report["n_test_rows"].is_null());
    assert_eq!((&report["dataset"]["n_rows"], results(&report).len()), (&60.into(), 6));
    let errors: Vec<f64> = results(&report).iter().map(|result| float(&result["kernel_rmse"])).collect();
    assert!(errors[2] < errors[0] && errors[5] < errors[3], "more features, less error: {errors:?}");
    assert_svg(&folder.text("x.svg"), &["fourier", "fastfood", "Kernel error by time"]);
    let same = folder.json(&format!("compare x.csv --target none {flags} --no-learner"));
    assert_eq!(same["results"][4]["kernel_rmse"], report["results"][4]["kernel_rmse"]);
    assert!(folder.ok(&format!("compare x.npy {flags} --no-learner")).contains("memory\n"));
    // Equal rows have no distances to distort.
    folder.write("equal.csv", "1,2\n1,2\n1,2\n");
    let run = folder.json("compare equal.csv --target none --n-components 4 --gamma 1 --no-learner --plot equal.svg");
    assert!(run["results"][0]["kernel_rmse"].is_null());
    assert_svg(&folder.text("equal.svg"), &["no values to draw"]);
}

#[test]
fn several_seeds() {
    let folder = Folder::new();
    folder.write("x.npy", Table::new(80, 6, 2).npy());
    let flags = "x.npy --no-learner --maps fourier --n-components 32 --gamma median";
    let each: Vec<Value> = (5..8).map(|seed| folder.json(&format!("compare {flags} --seed {seed}"))).collect();
    let all = folder.json(&format!("compare {flags} --seed 5 --seeds 3"));
    assert_eq!(all["seeds"], serde_json::json!([5, 6, 7]));
    let values = |name: &str| -> Vec<f64> { each.iter().map(|report| float(&results(report)[0][name])).collect() };
    let result = &results(&all)[0];
    let near = |got: &Value, expected: f64| assert!((float(got) - expected).abs() < 1e-12, "{got} for {expected}");
    let deviation = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / 3.0;
        (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2.0).sqrt()
    };
    let rmse = values("kernel_rmse");
    near(&result["kernel_rmse"], (rmse.iter().map(|x| x * x).sum::<f64>() / 3.0).sqrt());
    near(&result["kernel_rmse_deviation"], deviation(&rmse));
    let distortion = values("distortion");
    near(&result["distortion"], distortion.iter().sum::<f64>() / 3.0);
    near(&result["distortion_deviation"], deviation(&distortion));
    let text = folder.ok(&format!("compare {flags} --seed 5 --seeds 3"));
    assert!(text.contains("seeds 5 to 7") && text.contains(" ± "), "{text}");
}

/// More rows than the median is taken of: each seed finds its own.
#[test]
fn widths_of_several_seeds() {
    let folder = Folder::new();
    folder.write("x.npy", Table::new(1_100, 3, 2).npy());
    let flags = "compare x.npy --no-learner --maps fourier --n-components 8 --seeds 3";
    for (kernel, start) in [("rbf", "the RBF kernel, gamma "), ("matern", "the Matérn kernel, nu 1.5, length scale ")]
    {
        let flags = format!("{flags} --kernel {kernel} --gamma median");
        let gammas: Vec<f64> = folder.json(&flags)["gammas"].as_array().unwrap().iter().map(float).collect();
        assert!(gammas.len() == 3 && gammas[0] != gammas[1], "{gammas:?}");
        let mut widths = if kernel == "rbf" { gammas } else { gammas.iter().map(|x| 1.0 / (2.0 * x).sqrt()).collect() };
        widths.sort_by(f64::total_cmp);
        let text = folder.ok(&flags);
        let heading = text.lines().nth(1).unwrap().strip_prefix(start).unwrap_or_else(|| panic!("{text}"));
        assert!(heading.contains(", the median of each seed; seeds 0 to 2"), "{text}");
        let range: Vec<f64> = heading.split(&[' ', ',']).filter_map(|word| word.parse().ok()).take(2).collect();
        let near = |got: f64, expected: f64| (got / expected - 1.0).abs() < 1e-3;
        assert!(near(range[0], widths[0]) && near(range[1], widths[2]), "{widths:?}: {text}");
    }
    assert!(!folder.ok(&format!("{flags} --gamma scale")).contains("median"));
}

/// What is not said of the maps is asked for: every parameter, and why some maps are missing.
#[test]
fn the_heading_says_all_parameters() {
    let folder = Folder::new();
    folder.write("x.csv", Table::new(30, 3, 2).inputs_only());
    let flags = "compare x.csv --target none --no-learner --n-components 8";
    let text = folder.ok(&format!("{flags} --maps sorf --waves phase --length-scales 1,2.5,3"));
    let heading = text.lines().nth(1).unwrap();
    assert!(heading.starts_with("the RBF kernel, gamma 0.5, length scales 1, 2.5, 3, waves phase; "), "{text}");
    let text = folder.ok(&format!("{flags} --kernel laplace --plot x.svg"));
    assert!(
        text.lines().nth(2).unwrap().contains(
            "fourier, quasi, nystroem, nystroem-rpc, kg-rp, korp, kernel-pca: the maps that suit the laplace kernel"
        ),
        "{text}"
    );
    for (map, shown) in [("fourier", true), ("quasi", true), ("sorf", false), ("orthogonal", false)] {
        assert_eq!(text.lines().any(|line| line.starts_with(&format!("{map} "))), shown, "{map}: {text}");
    }
    assert!(!folder.ok(&format!("{flags} --kernel laplace --maps quasi")).contains("suit"));
}

/// The work is done by the time the name is reported.
#[cfg(target_os = "linux")]
#[test]
fn a_plot_by_any_name() {
    let folder = Folder::new();
    folder.write("x.csv", Table::new(30, 3, 2).inputs_only());
    let mut command = folder.command("compare x.csv --target none --no-learner --maps fourier --n-components 8 --json");
    let run = support::Run::from(command.arg("--plot").arg(support::not_utf8(".svg")).output().unwrap());
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["plot"], "\u{fffd}.svg");
}

#[test]
fn refusals() {
    let folder = Folder::new();
    folder.write("a.csv", Table::new(40, 4, 2).csv("class", &["a", "b"]));
    folder.write("a.svg", "a,class\n1,b\n");
    std::fs::create_dir(folder.file("folder.svg")).unwrap();
    refuse(&folder, "a.csv --n-components 8..4", &["8..4", "doubles", "--n-components"]);
    refuse(&folder, "a.csv --n-components 64,x", &["whole number"]);
    refuse(&folder, "a.csv --n-components 63", &["--n-components is 63", "even"]);
    refuse(&folder, "a.csv --n-components 64 --maps fourier,fast", &["fast", "fastfood, quasi"]);
    let says = ["--maps has sorf", "the laplace kernel", "--maps fourier,quasi"];
    refuse(&folder, "a.csv --maps fourier,sorf --kernel laplace", &says);
    refuse(&folder, "a.csv --nu 2.5", &["--nu is of use with --kernel matern only"]);
    refuse(&folder, "a.csv --seeds 0", &["--seeds"]);
    refuse(&folder, &format!("a.csv --seed {} --seeds 2", u64::MAX), &["seeds"]);
    refuse(&folder, "a.csv --no-learner --test-size 0.5", &["--no-learner", "--test-size"]);
    refuse(&folder, "a.csv --test-size 1.5", &["--test-size is 1.5"]);
    refuse(&folder, "--sample digits a.csv", &["--sample"]);
    refuse(&folder, "a.svg --plot a.svg", &["a.svg is read by this command"]);
    refuse(&folder, "a.csv --plot a.csv", &["the plot is SVG", ".svg"]);
    refuse(&folder, "a.csv --plot folder.svg", &["folder.svg"]);
    assert_eq!(folder.run("compare a.csv --plot nowhere/a.svg").status, Some(1));
    refuse(&folder, "none.csv --plot new.svg", &["none.csv"]);
}
