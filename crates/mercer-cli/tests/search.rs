//! `mercer train --auto` and `mercer tune`: their reports, models and refusals.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, Table};

/// Four clusters in the corners of a square, two classes across: no line divides them.
fn corners(folder: &Folder) {
    let mut numbers = support::Numbers(3);
    let rows: String = (0..320)
        .map(|i| {
            let (x, y) = (i % 2, i / 2 % 2);
            let mut near = |corner: usize| corner as f64 + numbers.below(60) as f64 / 100.0 - 0.3;
            format!("{:.2},{:.2},{}\n", near(x), near(y), ["same", "other"][(x + y) % 2])
        })
        .collect();
    folder.write("corners.csv", format!("a,b,class\n{rows}"));
}

#[test]
fn the_same_trials_give_the_same_model() {
    let folder = Folder::new();
    corners(&folder);
    let flags = "train corners.csv --auto --trials 20 --seed 4";
    let report = folder.json(&format!("{flags} -o first.mercer --threads 1"));
    folder.ok(&format!("{flags} -o second.mercer --threads 2"));
    assert_eq!(folder.read("first.mercer"), folder.read("second.mercer"));
    let search = &report["search"];
    let trials = search["trials"].as_array().unwrap();
    assert!(trials.iter().any(|trial| trial["contender"]["kernel"]["name"] == "linear"), "{search}");
    let chosen = &trials[search["chosen"].as_u64().unwrap() as usize];
    assert_ne!(chosen["contender"]["kernel"]["name"], "linear");
    assert!(search["confirmation"]["score"].as_f64().unwrap() > 0.9, "{search}");
    assert!(folder.ok("predict first.mercer corners.csv").lines().count() == 321);
}

/// Test rows are scored, and never asked before: nothing of the search changes with them.
#[test]
fn test_rows_take_no_part() {
    let folder = Folder::new();
    corners(&folder);
    let flags = "train corners.csv --auto --trials 6 --test";
    folder.write("right.csv", "a,b,class\n0,0,same\n1,0,other\n0,1,other\n1,1,same\n");
    folder.write("wrong.csv", "a,b,class\n0,0,other\n1,0,same\n0,1,same\n1,1,other\n");
    let right = folder.json(&format!("{flags} right.csv -o right.mercer"));
    let wrong = folder.json(&format!("{flags} wrong.csv -o wrong.mercer"));
    assert_eq!((&right["test"]["accuracy"], &wrong["test"]["accuracy"]), (&1.0.into(), &0.0.into()));
    assert_eq!(folder.read("right.mercer"), folder.read("wrong.mercer"));
    // With test rows no others are kept out.
    assert!(right["search"]["confirmation"].is_null());
}

#[test]
fn a_page_shows_the_search() {
    let folder = Folder::new();
    corners(&folder);
    let summary = folder.ok("train corners.csv --auto --trials 6 --report page.html");
    assert!(summary.contains("search      ") && summary.contains("better than the linear model by"), "{summary}");
    let page = folder.text("page.html");
    for words in ["The search", "Score by features", "Score by time", "linear; ridge"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains(">NaN") && !page.contains("\"NaN"), "a number that is none");
}

/// Limits as people write them; what is no number of bytes is refused.
#[test]
fn memory_in_every_unit() {
    let folder = Folder::new();
    corners(&folder);
    for memory in ["2GB", "2G", "1.5gib", "900000k", "2000000000"] {
        folder.ok(&format!("train corners.csv --auto --trials 2 --memory {memory}"));
    }
    for memory in ["2gigs", "GB", "-1G", "1XB"] {
        let refused = folder.run(&format!("train corners.csv --auto --trials 2 --memory={memory}"));
        assert!(refused.status != Some(0) && refused.stderr.contains("800MB or 2GB"), "{memory}: {refused:?}");
    }
}

/// What `tune` prints trains what it found.
#[test]
fn the_command_that_tune_prints_trains() {
    let folder = Folder::new();
    corners(&folder);
    let report = folder.json("tune corners.csv --kernels rbf,laplace --widths 0.5,2 --learners svm --strategy grid");
    let trials = report["search"]["trials"].as_array().unwrap();
    // Two kernels by two widths, and the linear model.
    assert_eq!(trials.len(), 5, "{report}");
    assert!(trials.iter().all(|trial| trial["rung"] == 2 && trial["score"].as_f64().unwrap() >= 0.0));
    let command = folder.ok("tune corners.csv --trials 5");
    let last = command.lines().last().unwrap();
    let flags = last.strip_prefix("mercer ").unwrap_or_else(|| panic!("{last}"));
    let trained = folder.json(&format!("{flags} --test corners.csv"));
    assert!(trained["test"]["accuracy"].as_f64().unwrap() > 0.9, "{last}");
}

/// Columns and files that need flags and quotes are in the command too, and what was of the search is not.
#[test]
fn what_was_found_trains_from_the_same_columns() {
    let folder = Folder::new();
    corners(&folder);
    folder.write("the corners.csv", folder.text("corners.csv").replace(",same", ",9").replace(",other", ",8"));
    let data = ["the corners.csv", "--target", "class", "--task", "classification"];
    let run = |before: &str, behind: &[&str]| {
        let output = folder.command(before).args(data).args(behind).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let found = run("tune", &["--trials=4", "--seed", "2"]);
    let last = found.lines().last().unwrap_or_default();
    let start = "mercer train 'the corners.csv' --target class --task classification --preprocess ";
    assert!(last.starts_with(start) && last.ends_with("--seed 2") && !last.contains("trials"), "{last}");
    run("train", &["--auto", "--trials", "4", "--report", "page.html"]);
    assert!(folder.text("page.html").contains("What was found, without the search"));
}

/// A range of widths: drawn from by chance, the same for a seed; in steps by the others.
#[test]
fn widths_of_a_range() {
    let folder = Folder::new();
    corners(&folder);
    let widths = |flags: &str| -> Vec<f64> {
        let report =
            folder.json(&format!("tune corners.csv --kernels rbf,poly --degrees 2,3 --widths 0.1..10 {flags}"));
        let trials = report["search"]["trials"].as_array().unwrap().clone();
        let kernels =
            trials.iter().filter(|trial| trial["contender"]["kernel"]["name"] != "linear" && trial["rung"] == 0);
        kernels.map(|trial| trial["contender"]["width"].as_f64().unwrap()).collect()
    };
    let (first, second) = (widths("--strategy random --trials 20"), widths("--strategy random --trials 20"));
    assert_eq!(first, second);
    assert_ne!(first, widths("--strategy random --trials 20 --seed 1"));
    assert!(first.iter().all(|width| (0.1..10.0).contains(width)), "{first:?}");
    assert!(first.len() >= 4 && first.windows(2).any(|pair| pair[0] != pair[1]), "{first:?}");
    let grid =
        folder.json("tune corners.csv --kernels rbf --widths 0.1..10 --class-weights uniform,balanced --strategy grid");
    // Five widths by two weights, and the linear model.
    assert_eq!(grid["search"]["trials"].as_array().unwrap().len(), 11, "{grid}");
}

/// Too few rows to keep some out: the score is called what it is.
#[test]
fn few_rows_confirm_nothing_and_say_so() {
    let folder = Folder::new();
    corners(&folder);
    let few: String = folder.text("corners.csv").lines().take(121).map(|line| format!("{line}\n")).collect();
    folder.write("few.csv", few);
    assert!(folder.ok("train few.csv --auto --trials 4").contains("no rows confirmed the choice"));
    assert!(!folder.ok("train corners.csv --auto --trials 4").contains("no rows confirmed the choice"));
}

#[test]
fn refusals() {
    let folder = Folder::new();
    folder.write("rows.csv", Table::new(60, 3, 2).csv("y", &["a", "b"]));
    for (arguments, words) in [
        ("train rows.csv --auto --map sorf", "--map"),
        ("train rows.csv --auto --C 1", "--C"),
        ("train rows.csv --time 60s", "add --auto"),
        ("train rows.csv --auto --time soon", "60s"),
        ("train rows.csv --auto --trials 0", "trials is 0"),
        ("train rows.csv --auto --objective r2", "objective is r2"),
        ("tune rows.csv --widths 0", "--widths has 0"),
        ("tune rows.csv --widths 3..1", "smaller to a larger"),
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.status, Some(2), "{arguments}: {run:?}");
        assert!(run.stderr.contains(words), "{arguments}: {}", run.stderr);
    }
    assert_eq!(folder.names(), ["rows.csv"]);
}
