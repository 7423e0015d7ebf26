//! `mercer predict`: the same row gives the same text, alone or among others, in every format.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, Table, npy};

const NAMES: [&str; 3] = ["ann", "bob", "cy, jr"];

fn quoted() -> [&'static str; 3] {
    ["ann", "bob", "\"cy, jr\""]
}

/// Predicts one row at a time, each from a file of its own, and compares with all at once.
fn check_row_by_row(folder: &Folder, flags: &str, all: &[u8], rows: impl Iterator<Item = Vec<u8>>) {
    folder.write("all", all);
    let together = folder.ok(&format!("predict trained.mercer all {flags}"));
    let (header, mut rest) = together.split_once('\n').unwrap();
    for row in rows {
        folder.write("one", row);
        let one = folder.ok(&format!("predict trained.mercer one {flags}"));
        let line = one.strip_prefix(header).and_then(|line| line.strip_prefix('\n')).unwrap();
        rest = rest.strip_prefix(line).unwrap_or_else(|| panic!("{line:?} is not how {rest:?} begins"));
    }
    assert_eq!(rest, "");
}

#[test]
fn row_by_row_csv() {
    let (folder, table) = (Folder::new(), Table::new(70, 6, 3));
    let text = table.csv("who", &quoted());
    folder.write("a.csv", &text);
    folder.train("a.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let files: Vec<_> = rows.lines().map(|row| format!("{header}\n{row}\n").into_bytes()).collect();
    check_row_by_row(&folder, "--scores", text.as_bytes(), files.iter().cloned());
    check_row_by_row(&folder, "--threads 1 --block-rows 3", text.as_bytes(), files.into_iter().take(70));
}

#[test]
fn row_by_row_libsvm() {
    let (folder, table) = (Folder::new(), Table::new(70, 6, 3));
    folder.write("a.svm", table.libsvm());
    folder.train("a.svm");
    let text = table.libsvm();
    check_row_by_row(&folder, "--scores", text.as_bytes(), text.lines().map(|line| line.as_bytes().to_vec()));
}

#[test]
fn row_by_row_arrays() {
    let (folder, table) = (Folder::new(), Table::new(40, 6, 3));
    folder.write("y.npy", table.npy_labels());
    let single = |row: &Vec<u8>| Table { rows: vec![row.clone()], classes: vec![0] };
    folder.write("x.npy", table.npy());
    folder.train("x.npy --labels y.npy");
    check_row_by_row(&folder, "--scores", &table.npy(), table.rows.iter().map(|row| single(row).npy()));
    folder.write("x.idx", table.idx());
    folder.train("x.idx --labels y.npy");
    check_row_by_row(&folder, "--scores", &table.idx(), table.rows.iter().map(|row| single(row).idx()));
}

#[test]
fn row_by_row_regression() {
    let (folder, table) = (Folder::new(), Table::new(40, 6, 3));
    let text = table.csv("length", &["0.5", "1.75", "4"]);
    folder.write("a.csv", &text);
    folder.train("a.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let files = rows.lines().map(|row| format!("{header}\n{row}\n").into_bytes());
    check_row_by_row(&folder, "", text.as_bytes(), files);
}

/// The float64 values of an NPY file that mercer wrote, with the shape as it stands in the header.
fn read_npy(bytes: &[u8]) -> (String, Vec<f64>) {
    let data = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00") && data.is_multiple_of(64));
    let header = str::from_utf8(&bytes[10..data]).unwrap();
    let shape = header.split_once('(').unwrap().1.split_once(')').unwrap().0;
    let values = bytes[data..].chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    (shape.to_owned(), values)
}

/// The numbers of a CSV text with a header, the first `from` columns left out.
fn csv_numbers(text: &str, from: usize) -> Vec<f64> {
    text.lines().skip(1).flat_map(|line| line.split(',').skip(from)).map(|x| x.parse().unwrap()).collect()
}

#[test]
fn csv_and_npy_hold_the_same_numbers() {
    let (folder, table) = (Folder::new(), Table::new(50, 6, 3));
    folder.write("a.csv", table.headerless());
    folder.train("a.csv");
    let text = folder.ok("predict trained.mercer a.csv --scores -o out.csv");
    assert_eq!(text, "50 predictions written to out.csv\n");
    assert_eq!(folder.text("out.csv"), folder.ok("predict trained.mercer a.csv --scores"), "a file as a pipe");
    assert_eq!(folder.ok("predict trained.mercer a.csv --scores -o out.npy -q"), "");
    let (shape, scores) = read_npy(&folder.read("out.npy"));
    assert_eq!((shape.as_str(), scores), ("50, 3", csv_numbers(&folder.text("out.csv"), 1)));

    let report = folder.json("predict trained.mercer a.csv -o labels.npy");
    assert_eq!((&report["n_rows"], &report["output"]), (&50.into(), &"labels.npy".into()));
    let (shape, labels) = read_npy(&folder.read("labels.npy"));
    assert_eq!((shape.as_str(), labels), ("50,", csv_numbers(&folder.ok("predict trained.mercer a.csv"), 0)));
}

#[test]
fn two_classes_have_one_score() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 2));
    folder.write("a.csv", table.csv("answer", &["no", "yes"]));
    folder.train("a.csv");
    let text = folder.ok("predict trained.mercer a.csv --scores");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("prediction,score yes"));
    for line in lines {
        let (label, score) = line.split_once(',').unwrap();
        assert_eq!(label == "yes", score.parse::<f64>().unwrap() > 0.0, "{line}");
    }
    let right = text.lines().skip(1).zip(&table.classes).filter(|(line, class)| line.starts_with(["n", "y"][**class]));
    assert!(right.count() > 55);
    folder.ok("predict trained.mercer a.csv --scores -o scores.npy");
    let (shape, scores) = read_npy(&folder.read("scores.npy"));
    assert_eq!((shape.as_str(), scores), ("60,", csv_numbers(&text, 1)));
}

#[test]
fn text_labels_are_quoted_where_they_must() {
    let (folder, table) = (Folder::new(), Table::new(90, 6, 3));
    folder.write("a.csv", table.csv("who", &quoted()));
    folder.train("a.csv");
    let text = folder.ok("predict trained.mercer a.csv --scores");
    assert!(text.starts_with("prediction,score ann,score bob,\"score cy, jr\"\n"), "{text}");
    let right = text.lines().skip(1).zip(&table.classes);
    assert!(right.filter(|(line, class)| line.trim_start_matches('"').starts_with(NAMES[**class])).count() > 80);
    // What was predicted can be read as a label file.
    folder.write("labels.csv", folder.ok("predict trained.mercer a.csv"));
    let report = folder.json("evaluate trained.mercer a.csv --labels labels.csv");
    assert_eq!(report["test"]["accuracy"], 1.0);
}

#[test]
fn several_targets() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{},{},{},{}.5\n", i % 9, i, i % 5, i % 4)).collect();
    folder.write("a.csv", format!("up,a,b,down\n{rows}"));
    folder.train("a.csv --target down,up");
    let text = folder.ok("predict trained.mercer a.csv");
    assert!(text.starts_with("prediction down,prediction up\n") && text.lines().count() == 61, "{text}");
    folder.ok("predict trained.mercer a.csv -o out.npy");
    let (shape, values) = read_npy(&folder.read("out.npy"));
    assert_eq!((shape.as_str(), values), ("60, 2", csv_numbers(&text, 0)));
    assert!(folder.ok("evaluate trained.mercer a.csv").starts_with("RMSE "));
    // Arrays of labels have several columns, too.
    let labels = (0..60).flat_map(|i| [f64::from(i % 9), f64::from(i % 4) + 0.5]).flat_map(f64::to_le_bytes);
    folder.write("y.npy", npy("<f8", "(60, 2)", labels));
    folder.write("x.csv", (0..60).map(|i| format!("{},{}\n", i, i % 5)).collect::<String>());
    folder.train("x.csv --labels y.npy");
    assert!(folder.ok("predict trained.mercer x.csv").starts_with("prediction label 1,prediction label 2\n"));
}

#[test]
fn columns_are_found_by_name() {
    let (folder, table) = (Folder::new(), Table::new(80, 3, 3));
    let mut tables = ["x0,x1,x2,who\n", "who,x2,id,x0,x1\n", "x2,x1,x0\n"].map(str::to_owned);
    for (row, &class) in table.rows.iter().zip(&table.classes) {
        let (a, b, c, who) = (row[0], row[1], row[2], ["ann", "bob", "cy"][class]);
        tables[0] += &format!("{a},{b},{c},{who}\n");
        tables[1] += &format!("{who},{c},id 7,{a},{b}\n");
        tables[2] += &format!("{c},{b},{a}\n");
    }
    for (name, text) in ["a.csv", "shuffled.csv", "inputs.csv"].into_iter().zip(tables) {
        folder.write(name, text);
    }
    folder.train("a.csv");
    let expected = folder.ok("predict trained.mercer a.csv --scores");
    for other in ["shuffled.csv", "inputs.csv"] {
        assert_eq!(folder.ok(&format!("predict trained.mercer {other} --scores")), expected, "{other}");
    }
    assert_eq!(
        folder.json("evaluate trained.mercer shuffled.csv")["test"],
        folder.json("evaluate trained.mercer a.csv")["test"]
    );
}

#[test]
fn columns_without_names_are_found_by_their_place() {
    let (folder, table) = (Folder::new(), Table::new(80, 3, 3));
    folder.write("last.csv", table.headerless());
    folder.write("inputs.csv", table.inputs_only());
    folder.write("named.csv", table.csv("who", &["0", "1", "2"]));
    let first = table.rows.iter().zip(&table.classes).map(|(x, y)| format!("{y},{},{},{}\n", x[0], x[1], x[2]));
    folder.write("first.csv", first.collect::<String>());
    folder.train("last.csv");
    let expected = folder.ok("predict trained.mercer last.csv --scores");
    assert_eq!(folder.ok("predict trained.mercer inputs.csv --scores"), expected, "no target column");
    assert_eq!(folder.ok("predict trained.mercer named.csv --scores"), expected, "a header the model never saw");
    folder.train("first.csv --target 1");
    assert_eq!(folder.ok("predict trained.mercer first.csv --scores"), expected, "the first column");
    assert_eq!(folder.ok("predict trained.mercer inputs.csv --scores"), expected);
    folder.train("named.csv");
    for other in ["named.csv", "inputs.csv"] {
        assert_eq!(folder.ok(&format!("predict trained.mercer {other} --scores")), expected, "{other}");
    }
}

#[test]
fn several_targets_without_names_are_found_by_their_places() {
    let folder = Folder::new();
    let columns = |i: u32| [i % 9, i, i % 5, i % 4].map(f64::from).map(|x| x + 0.5);
    let rows = |keep: &[usize]| {
        let line = |i| keep.iter().map(|&j| columns(i)[j].to_string()).collect::<Vec<_>>().join(",") + "\n";
        (0..60).map(line).collect::<String>()
    };
    folder.write("a.csv", rows(&[0, 1, 2, 3]));
    folder.write("inputs.csv", rows(&[1, 2]));
    folder.write("named.csv", format!("up,a,b,down\n{}", rows(&[0, 1, 2, 3])));
    for (numbers, names) in [("1,4", "up,down"), ("4,1", "down,up")] {
        folder.train(&format!("named.csv --target {names}"));
        let expected = folder.ok("predict trained.mercer named.csv");
        let (_, expected) = expected.split_once('\n').unwrap();
        let scores = folder.json("evaluate trained.mercer named.csv")["test"].clone();
        folder.train(&format!("a.csv --target {numbers}"));
        for file in ["a.csv", "inputs.csv"] {
            let text = folder.ok(&format!("predict trained.mercer {file}"));
            assert_eq!(text.split_once('\n').unwrap().1, expected, "{file} --target {numbers}");
        }
        assert_eq!(folder.json("evaluate trained.mercer a.csv")["test"], scores, "--target {numbers}");
    }
}

#[test]
fn targets_are_not_judged() {
    let (folder, table) = (Folder::new(), Table::new(60, 3, 3));
    folder.write("named.csv", table.csv("who", &["ann", "bob", "cy"]));
    folder.write("unknown.csv", table.csv("who", &["", "NA", "nan"]));
    folder.write("plain.csv", table.headerless());
    folder.write("plain_unknown.csv", table.headerless().replace(",0\n", ",\n").replace(",1\n", ",?\n"));
    for (trained, unknown) in [("named.csv", "unknown.csv"), ("plain.csv", "plain_unknown.csv")] {
        folder.train(trained);
        let expected = folder.ok(&format!("predict trained.mercer {trained} --scores"));
        assert_eq!(folder.ok(&format!("predict trained.mercer {unknown} --scores")), expected, "{unknown}");
        assert_eq!(folder.run(&format!("evaluate trained.mercer {unknown}")).status, Some(2), "{unknown}");
    }
}

#[test]
fn sparse_rows_may_end_early_and_have_no_label() {
    let (folder, table) = (Folder::new(), Table::new(60, 5, 2));
    folder.write("a.svm", table.libsvm());
    folder.train("a.svm");
    folder.write("short.svm", "0 1:3\n1\n0 2:200\n");
    assert_eq!(folder.ok("predict trained.mercer short.svm").lines().count(), 4);
    let labelled = table.libsvm();
    let unlabelled = labelled.lines().map(|line| format!("{}\n", line.split_once(' ').unwrap().1));
    folder.write("unlabelled.svm", unlabelled.collect::<String>());
    let expected = folder.ok("predict trained.mercer a.svm --scores");
    assert_eq!(folder.ok("predict trained.mercer unlabelled.svm --scores"), expected);
    assert_eq!(folder.run("evaluate trained.mercer unlabelled.svm").status, Some(2), "labels are missed");
}

#[test]
fn json_holds_the_predictions_of_the_table() {
    let (folder, table) = (Folder::new(), Table::new(50, 4, 3));
    folder.write("a.csv", table.csv("who", &quoted()));
    folder.train("a.csv");
    let json = folder.json("predict trained.mercer a.csv --scores");
    let text = folder.ok("predict trained.mercer a.csv");
    let labels = json["predictions"].as_array().unwrap();
    assert_eq!((json["n_rows"].as_u64(), labels.len()), (Some(50), 50));
    for (line, label) in text.lines().skip(1).zip(labels) {
        assert_eq!(line.trim_matches('"'), label.as_str().unwrap());
    }
    assert!(json["scores"].as_array().unwrap().iter().all(|row| row.as_array().unwrap().len() == 3));
}

/// A model of standardised dense columns, given the same rows as LIBSVM: the zeros are moved like any value.
#[test]
fn sparse_rows_for_a_model_of_dense_ones() {
    let (folder, mut table) = (Folder::new(), Table::new(60, 6, 3));
    let left_out = |i: usize, j: usize| (i + j).is_multiple_of(3);
    for (i, row) in table.rows.iter_mut().enumerate() {
        row.iter_mut().enumerate().filter(|(j, _)| left_out(i, *j)).for_each(|(_, x)| *x = 0);
    }
    folder.write("a.csv", table.headerless());
    folder.write("a.svm", table.libsvm());
    folder.train("a.csv");
    let scores = |data: &str| folder.ok(&format!("predict trained.mercer {data} --scores"));
    assert_eq!(scores("a.svm"), scores("a.csv"));
}
