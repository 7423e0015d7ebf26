//! `transform`, `split`, `convert` and `inspect` of data, and training on words, gaps, several files and held-out rows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, Run, Table, npy};

const WORDS: &str =
    "age,job,income,y\n31,clerk,1.5,yes\n,nurse,2.5,no\n45,clerk,,no\n28,\"teacher, retired\",3.5,yes\n";

/// The rows of [`WORDS`] again and again.
fn many_words(n: usize) -> String {
    let (header, rows) = WORDS.split_once('\n').unwrap();
    format!("{header}\n{}", rows.repeat(n))
}

fn refused(folder: &Folder, arguments: &str, says: &str) {
    let Run { status, stdout, stderr } = folder.run(arguments);
    assert_eq!((status, stdout.as_str()), (Some(2), ""), "mercer {arguments}: {stderr}");
    assert!(stderr.contains(says), "mercer {arguments} should say {says:?}: {stderr}");
}

#[test]
fn words_and_gaps_are_learned_and_predicted() {
    let folder = Folder::new();
    folder.write("a.csv", many_words(12));
    refused(&folder, "train a.csv", "line 3, column 1 (\"age\"): the value is missing");
    refused(&folder, "train a.csv --impute median --categorical none", "is not a number");
    let report = folder.json("train a.csv --impute median --n-components 64 -o a.mercer");
    assert_eq!((report["dataset"]["n_columns"].as_u64(), report["dataset"]["n_inputs"].as_u64()), (Some(3), Some(5)));
    assert_eq!(report["encoding"]["columns"][0]["fill"], 31.0);
    assert_eq!(report["encoding"]["columns"][1]["levels"][2], "teacher, retired");
    let evaluated = folder.json("evaluate a.mercer a.csv");
    assert_eq!(evaluated["test"]["accuracy"], 1.0);
    // The same row, whole and with the gap that is filled with its value.
    folder.write("b.csv", "job,income,age\nnurse,2.5,\nnurse,2.5,31\n");
    let labels = folder.ok("predict a.mercer b.csv --scores");
    let lines: Vec<_> = labels.lines().collect();
    assert_eq!(lines[1], lines[2]);
    // A level that training did not see is said, and no error.
    folder.write("b.csv", "job,income,age\npilot,2.5,3\n");
    let run = folder.run("predict a.mercer b.csv");
    assert_eq!(run.status, Some(0));
    let says =
        "mercer: b.csv: column \"job\", 1 rows with levels unknown to the model (\"pilot\"): taken as none of them\n";
    assert_eq!(run.stderr, says);
    // Without imputation a gap is refused at prediction too.
    folder.write("whole.csv", many_words(12).replace(",,", ",1,").replace("\n,", "\n9,"));
    folder.train("whole.csv");
    folder.write("b.csv", "job,income,age\nnurse,2.5,\n");
    refused(&folder, "predict trained.mercer b.csv", "column 3 (\"age\"): the value is missing");
}

#[test]
fn rare_levels_share_an_input() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},w{},{}\n", i, i % 20, i % 2);
    folder.write("a.csv", format!("x,w,y\n{}", (0..200).map(row).collect::<String>()));
    let report = folder.json("train a.csv --max-levels 4 --n-components 64");
    assert_eq!(report["dataset"]["n_inputs"], 5);
    assert_eq!(report["encoding"]["columns"][1]["other"], true);
    assert_eq!(folder.json("train a.csv --drop w --n-components 64")["dataset"]["n_inputs"], 1);
    assert_eq!(folder.json("train a.csv --inputs w --n-components 64")["dataset"]["n_inputs"], 20);
    let numbers = folder.json("train a.csv --drop w --categorical x --max-levels 7 --n-components 64");
    assert_eq!(numbers["dataset"]["n_inputs"], 7);
    refused(&folder, "train a.csv --max-levels 1", "--max-levels is 1, must be at least 2");
}

#[test]
fn rows_held_out_are_the_same_for_train_and_split() {
    let (folder, table) = (Folder::new(), Table::new(120, 5, 3));
    folder.write("a.csv", table.csv("who", &["ann", "bob", "cy"]));
    let flags = "--test-size 0.25 --seed 5";
    let report = folder.json(&format!("train a.csv {flags} --n-components 64 -o a.mercer"));
    assert_eq!((report["dataset"]["n_rows"].as_u64(), report["test"]["n_rows"].as_u64()), (Some(90), Some(30)));
    let split = folder.json(&format!("split a.csv {flags} --train train.csv --test test.csv"));
    assert_eq!((split["n_train"].as_u64(), split["n_test"].as_u64()), (Some(90), Some(30)));
    let again = folder.json("train train.csv --test test.csv --seed 5 --n-components 64 -o b.mercer");
    assert_eq!(report["test"], again["test"]);
    assert_eq!(folder.read("a.mercer"), folder.read("b.mercer"), "the same rows, the same model");
    for share in ["0", "1", "-0.5", "nan"] {
        refused(&folder, &format!("train a.csv --test-size {share}"), "--test-size");
    }
    refused(&folder, "split a.csv --train a.csv --test b.csv", "is read by this command");
    refused(&folder, "split a.csv --train b.csv --test b.csv", "the same file");
}

#[test]
fn several_files_are_one() {
    let (folder, table) = (Folder::new(), Table::new(90, 4, 3));
    let text = table.csv("who", &["ann", "bob", "cy"]);
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    folder.write("all.csv", &text);
    for (i, part) in rows.chunks(30).enumerate() {
        folder.write(&format!("part-{i}.csv"), format!("{header}\n{}\n", part.join("\n")));
    }
    let whole = folder.train("all.csv");
    assert_eq!(folder.train("part-*.csv"), whole);
    assert_eq!(folder.train("part-0.csv part-1.csv part-2.csv"), whole);
    let predicted = folder.ok("predict trained.mercer all.csv");
    assert_eq!(folder.ok("predict trained.mercer part-0.csv part-1.csv part-2.csv"), predicted);
    refused(&folder, "train nothing-*.csv", "nothing-*.csv");
}

#[test]
fn converting_there_and_back_gives_the_same_file() {
    let (folder, table) = (Folder::new(), Table::new(40, 5, 3));
    folder.write("x.npy", table.npy());
    folder.write("y.npy", table.npy_labels());
    folder.ok("convert x.npy --labels y.npy -o a.csv");
    for chain in [["b.svm", "c.csv"], ["b.csv.gz", "c.csv"], ["b.tsv.zst", "c.csv"], ["b.svm.xz", "c.csv"]] {
        folder.ok(&format!("convert a.csv -o {}", chain[0]));
        folder.ok(&format!("convert {} -o {}", chain[0], chain[1]));
        let names = |text: String| text.split_once('\n').unwrap().1.to_owned();
        assert_eq!(names(folder.text("c.csv")), names(folder.text("a.csv")), "{chain:?}");
    }
    let said = folder.ok("convert a.csv --dtype float32 -o d.npy");
    assert_eq!(said, "40 rows of 5 inputs written to d.npy and d-labels.npy\n");
    folder.ok("convert d.npy --labels d-labels.npy -o e.csv");
    assert_eq!(folder.text("e.csv"), folder.text("a.csv"));
    // Bytes too get the type that is asked for.
    folder.write("x.idx", table.idx());
    folder.ok("convert x.idx --dtype float32 -o f.npy");
    assert_eq!(folder.read("f.npy"), folder.read("x.npy"));
    folder.ok("convert x.idx -o g.npy");
    assert_eq!(folder.read("g.npy"), npy("|u1", "(40, 5)", table.rows.concat()));
    // Words stay words.
    folder.write("w.csv", WORDS);
    folder.ok("convert w.csv -o v.csv.bz2");
    folder.ok("convert v.csv.bz2 -o u.csv");
    assert_eq!(folder.text("u.csv"), WORDS);
    refused(&folder, "convert w.csv -o w.csv", "is read by this command");
    refused(&folder, "convert w.csv -o v.npy", "NPY cannot hold job, which holds words");
    refused(&folder, "convert w.csv -o v.xyz", "names no format");
    assert!(!folder.names().iter().any(|name| name.starts_with('.') || name == "v.npy"), "{:?}", folder.names());
}

/// The scores are the features times the weights: read from the files that mercer writes.
#[test]
fn features_are_those_of_the_model() {
    let (folder, table) = (Folder::new(), Table::new(50, 4, 2));
    folder.write("a.csv", table.csv("who", &["0", "1"]));
    folder.train("a.csv --dtype float64");
    folder.ok("transform a.csv --model trained.mercer -o z.csv");
    let text = folder.text("z.csv");
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!((rows.len(), rows[0].len()), (50, 65), "64 features and the target");
    for (row, class) in rows.iter().zip(&table.classes) {
        let length: f64 = row[..64].iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-12, "pairs of cosine and sine");
        assert_eq!(row[64], f64::from(u32::try_from(*class).unwrap()));
    }
    // A linear model of the features predicts what the model predicts.
    let fitted = folder.ok("transform a.csv --n-components 64 --dtype float64");
    assert_eq!(fitted, text, "fitted to the same rows with the same seed");
    folder.ok("transform a.csv --fit a.csv --n-components 64 --dtype float64 -o y.csv");
    assert_eq!(folder.text("y.csv"), text);
    let one = folder.json("transform a.csv --model trained.mercer -o z.npy --threads 1");
    assert_eq!((one["n_components"].as_u64(), one["n_rows"].as_u64()), (Some(64), Some(50)));
    let bytes = folder.read("z.npy");
    folder.ok("transform a.csv --model trained.mercer -o z.npy --threads 2 --block-rows 3");
    assert_eq!(folder.read("z.npy"), bytes);
    refused(&folder, "transform a.csv --model trained.mercer --n-components 8", "cannot be used with");
    refused(&folder, "transform a.csv --json", "--json needs -o");
    refused(&folder, "transform a.csv --map sparse-projection --s 0.5", "--s is 0.5");
}

#[test]
fn projections_keep_inner_products_on_average() {
    let (folder, table) = (Folder::new(), Table::new(30, 6, 2));
    folder.write("a.csv", table.csv("who", &["0", "1"]));
    for map in ["gaussian-projection", "sparse-projection"] {
        let flags = format!("--map {map} --n-components 4000 --preprocess none --dtype float64");
        let text = folder.ok(&format!("transform a.csv {flags}"));
        let z: Vec<f64> = text.lines().nth(1).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
        let (got, expected): (f64, f64) =
            (z[..4000].iter().map(|x| x * x).sum(), table.rows[0].iter().map(|&x| f64::from(x) * f64::from(x)).sum());
        // Var = (2‖x‖⁴ + (s − 3)Σx⁴)/D: five deviations.
        assert!((got / expected - 1.0).abs() < 5.0 * (2.0 / 4000.0_f64).sqrt(), "{map}: {got} for {expected}");
    }
}

#[test]
fn data_is_inspected() {
    let folder = Folder::new();
    folder.write("a.csv", WORDS);
    let text = folder.ok("inspect a.csv");
    for says in
        ["rows        4", "3 columns, dense float64; 1 hold words", "2 missing", "y: 2 classes", "3 levels: clerk"]
    {
        assert!(text.contains(says), "{says:?} in {text}");
    }
    let report = folder.json("inspect a.csv --n-components 1000");
    assert_eq!((&report["n_rows"], &report["n_columns"], &report["n_inputs"]), (&4.into(), &3.into(), &5.into()));
    let income = &report["columns"][2];
    assert_eq!((&income["min"], &income["max"], &income["mean"]), (&1.5.into(), &3.5.into(), &2.5.into()));
    assert_eq!((&income["n_missing"], &report["columns"][1]["n_levels"]), (&1.into(), &3.into()));
    assert_eq!(report["targets"]["counts"], serde_json::json!([2, 2]));
    assert!(report["memory"]["total"].as_u64().unwrap() > 0);
    folder.write("b.svm", "1 1:2 5:-3\n-1 2:0.5\n1 1:2\n");
    let report = folder.json("inspect b.svm");
    assert_eq!((&report["layout"], &report["n_stored"], &report["n_zero"]), (&"sparse".into(), &4.into(), &11.into()));
    let deviation = report["columns"][0]["standard_deviation"].as_f64().unwrap();
    assert!((deviation - (8.0_f64 / 9.0).sqrt()).abs() < 1e-12, "2, 0, 2: {deviation}");
}

#[test]
fn no_file_is_written_twice_or_over_what_is_read() {
    let (folder, table) = (Folder::new(), Table::new(40, 3, 2));
    folder.write("a.csv", table.headerless());
    folder.write("x.npy", table.npy());
    folder.write("z-labels.npy", table.npy_labels());
    let before = folder.names();
    refused(&folder, "split a.csv --train s.csv --test ./s.csv", "s.csv and ./s.csv are the same file");
    let twice = "t-labels.npy and t-labels.npy are the same file";
    refused(&folder, "split a.csv --train t.npy --test t.npy.gz", twice);
    let read = "z-labels.npy is read by this command";
    refused(&folder, "split x.npy --labels z-labels.npy --train z.npy --test zz.npy", read);
    refused(&folder, "convert x.npy --labels z-labels.npy -o ./z.npy", read);
    refused(&folder, "transform x.npy --labels z-labels.npy --n-components 16 -o z.npy.xz", read);
    assert_eq!(folder.names(), before);
    // Only the last extension is left out.
    folder.ok("convert x.npy --labels z-labels.npy -o a.npy.b.npy");
    assert!(folder.names().contains(&"a.npy.b-labels.npy".to_owned()), "{:?}", folder.names());
}

/// The rows fitted to have as many inputs as those transformed, where labels stand in a file.
#[test]
fn labels_beside_the_rows_leave_all_columns_to_the_fit() {
    let (folder, table) = (Folder::new(), Table::new(40, 3, 2));
    folder.write("x.csv", table.inputs_only());
    folder.write("y.npy", table.npy_labels());
    let whole = folder.ok("transform x.csv --labels y.npy --n-components 16");
    assert_eq!(folder.ok("transform x.csv --fit x.csv --labels y.npy --n-components 16"), whole);
}

#[test]
fn a_class_called_like_a_target_makes_no_header() {
    let folder = Folder::new();
    folder.write("a.csv", "red,y\nblue,n\ngreen,y\nred,n\n");
    let report = folder.json("inspect a.csv");
    assert_eq!((&report["n_rows"], &report["columns"][0]["n_levels"]), (&4.into(), &3.into()));
    folder.write("a.csv", "colour,class\nred,y\nblue,n\n");
    assert_eq!(folder.json("inspect a.csv")["n_rows"], 2);
}

#[test]
fn targets_without_classes_to_share_out_are_split() {
    let folder = Folder::new();
    let rows = |target: &dyn Fn(usize) -> String| (0..100).map(|i| format!("{i},{}\n", target(i))).collect::<String>();
    folder.write("same.csv", format!("x,y\n{}", rows(&|_| "7".to_owned())));
    assert_eq!(folder.json("split same.csv --train a.csv --test b.csv")["n_test"], 25);
    folder.write("ids.csv", format!("x,y\n{}", rows(&|i| format!("w{i}"))));
    let says = "ids.csv: 100 rows of 100 classes leave no test row: each class keeps a training row; take test rows";
    refused(&folder, "split ids.csv --train a.csv --test b.csv", says);
    assert_eq!(folder.json("split ids.csv --no-stratify --train a.csv --test b.csv")["n_test"], 25);
}

/// Thirty bytes may name two thousand million inputs.
#[test]
fn an_input_far_away_takes_no_memory() {
    let folder = Folder::new();
    folder.write("a.svm", "1 2147483646:1\n-1 3:2\n");
    let report = folder.json("inspect a.svm");
    assert_eq!((&report["n_columns"], &report["n_zero"]), (&2_147_483_646_u64.into(), &4_294_967_290_u64.into()));
    let columns = report["columns"].as_array().unwrap();
    assert_eq!((&columns[0]["name"], &columns[1]["name"], columns.len()), (&"3".into(), &"2147483646".into(), 2));
    assert!(folder.ok("inspect a.svm").contains("range       0 to 2;"));
    assert!(folder.ok("inspect a.svm --all").contains("2,147,483,644 more columns, 0 in every row"));
    for output in ["b.csv", "b.npy", "b.parquet"] {
        refused(&folder, &format!("convert a.svm -o {output}"), "write LIBSVM");
    }
    assert_eq!(folder.names(), ["a.svm"]);
    folder.ok("convert a.svm -o b.svm");
    assert_eq!(folder.text("b.svm"), folder.text("a.svm"));
}
