//! Every refusal: exit status 2, one line that names the place and the remedy, and no trace in the folder.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Folder, Table, gzip, npy, npz};

/// All files of a folder with their content; directories with none.
fn snapshot(folder: &Folder) -> Vec<(String, Option<Vec<u8>>)> {
    let content = |name: &String| folder.file(name).is_file().then(|| folder.read(name));
    folder.names().into_iter().map(|name| (name.clone(), content(&name))).collect()
}

fn refuse_with(status: i32, folder: &Folder, arguments: &str, says: &[&str]) {
    let before = snapshot(folder);
    let run = folder.run(arguments);
    assert_eq!(run.status, Some(status), "mercer {arguments}: {run:?}");
    assert_eq!(run.stdout, "", "mercer {arguments}");
    assert!(run.stderr.starts_with("mercer: ") && run.stderr.ends_with('\n'), "mercer {arguments}: {run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "mercer {arguments}: {run:?}");
    for part in says {
        assert!(run.stderr.contains(part), "mercer {arguments} should say {part:?}: {}", run.stderr);
    }
    assert!(snapshot(folder) == before, "mercer {arguments} left {:?}", folder.names());
}

fn refuse(folder: &Folder, arguments: &str, says: &[&str]) {
    refuse_with(2, folder, arguments, says);
}

/// Training on this content is refused; an older model stays as it was.
fn refuse_data(name: &str, content: impl AsRef<[u8]>, says: &[&str]) {
    let folder = Folder::new();
    folder.write(name, content);
    folder.write("old.mercer", "as it was");
    refuse(&folder, &format!("train {name} --n-components 16 -o old.mercer"), &[&[name], says].concat());
    refuse(&folder, &format!("train {name} --n-components 16 --cache 0 --block-rows 1 -o new.mercer"), &[name]);
}

#[test]
fn bad_csv() {
    refuse_data("a.csv", "a,b,y\n1,2,0\n1,2,3,1\n", &["line 3", "4 fields", "expected 3"]);
    refuse_data("a.csv", "a,b,y\n1,2,0\n1\n", &["line 3", "1 fields", "fill the missing fields in"]);
    refuse_data("a.csv", "a,b,y\n1,2,0\n1,x2,1\n", &["line 3", "column 2 (\"b\")", "\"x2\"", "write numbers like"]);
    refuse_data("a.csv", "1;2,5;0\n1;2;1\n", &["line 1", "column 2", "\"2,5\"", "decimal point"]);
    for value in ["nan", "NaN", "inf", "-inf", "1e999"] {
        let text = format!("a,b,y\n1,2,0\n1,{value},1\n");
        refuse_data("a.csv", text, &["line 3", "column 2 (\"b\")", value, "not a finite number", "remove its row"]);
    }
    refuse_data("a.csv", "a,b,y\n1,2,0\n1,1e39,1\n", &["1e39", "too large for float32", "float64"]);
    refuse_data("a.csv", "a,b,y\n1,2,0\n1,,1\n", &["line 3", "column 2 (\"b\")", "missing", "fill it in"]);
    refuse_data("a.csv", "a,b,y\n1,2,0\n1,2,\n", &["line 3", "column 3 (\"y\")", "missing"]);
    refuse_data("a.csv", "", &["is empty"]);
    refuse_data("a.csv", "\n\n", &["no rows"]);
    refuse_data("a.csv", "a,b,y\n", &["a header but no rows"]);
    refuse_data("a.csv", "a,y\n1,\"0\n2,1\n", &["line 2", "quote", "never closed"]);
    refuse_data("a.csv", "a,y\n1,0\n2,0\n", &["one class 0", "two"]);
    refuse_data("a.csv", "0\n1\n", &["1 column(s)", "nothing is left for the inputs"]);
    refuse_data("a.csv", b"a,y\n1,x\xff\n2,z\n", &["line 2", "UTF-8"]);
    refuse_data("a.csv", "a,y\r1,0\r2,1\r", &["line 1", "lone CR", "line ends"]);
}

/// Not one of them may turn numbers into classes.
#[test]
fn bad_targets() {
    let not_finite = ["nan", "NaN", "inf", "-inf", "1e999"].map(|value| (value, "not a finite number; replace it"));
    let missing = ["NA", "N/A", "null", "?"].map(|value| (value, "stands for a missing value; fill it in"));
    for (value, says) in not_finite.into_iter().chain(missing) {
        let place = ["line 3", "column 3 (\"y\")", value, says];
        refuse_data("a.csv", format!("a,b,y\n1,2,0.5\n1,3,{value}\n2,2,1.5\n"), &place);
        refuse_data("a.csv", format!("a,b,y\n1,2,0.5\n1,3,\"{value}\"\n2,2,1.5\n"), &place);
        let folder = Folder::new();
        folder.write("x.csv", "1,2\n1,3\n2,2\n");
        folder.write("y.csv", format!("0.5\n{value}\n1.5\n"));
        refuse(&folder, "train x.csv --labels y.csv", &["y.csv, line 2, column 1", value, says]);
        folder.write("first.csv", format!("{value}\n0.5\n1.5\n"));
        refuse(&folder, "train x.csv --labels first.csv", &["first.csv, line 1, column 1", value, says]);
        folder.write("a.csv", format!("a,b,c,d\n1,2,3,4\n1,3,{value},4\n"));
        refuse(&folder, "train a.csv --target c,d", &["a.csv, line 3, column 3 (\"c\")", value, says]);
    }
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.csv("who", &["none", "Nan Goldin", "-"]));
    folder.train("a.csv");
}

#[test]
fn bad_libsvm() {
    refuse_data("a.svm", "1 1:2\n0 1:2 1:3\n", &["line 2", "index 1 occurs twice", "keep one"]);
    refuse_data("a.svm", "1 1:2\n0 3:2 2:3\n", &["line 2", "index 2 comes after 3", "sort"]);
    refuse_data("a.svm", "1 1:2\n0 99999999999:2\n", &["line 2", "99999999999:2", "number the inputs from 1"]);
    refuse_data("a.svm", "1 1:2\n0 2000000000:2\n", &["2000000000 inputs", "without gaps"]);
    refuse_data("a.svm", "1 1:2\n0 0:2\n", &["line 2", "0:2", "add 1"]);
    refuse_data("a.svm", "1 1:2\n0 1:nan\n", &["line 2", "1:nan", "not a finite number"]);
    refuse_data("a.svm", "1 1:2\n0 1:x\n", &["line 2", "1:x", "not a number"]);
    refuse_data("a.svm", "1 1:2\n0 1:2 foo\n", &["line 2", "\"foo\"", "index:value"]);
    refuse_data("a.svm", "1 1:2\nx 1:2\n", &["line 2", "\"x\"", "labels are numbers"]);
    refuse_data("a.svm", "1 1:2\n1 1:3\n", &["one class 1"]);
    refuse_data("a.svm", "# nothing\n", &["no rows"]);
}

#[test]
fn bad_containers() {
    refuse_data("a.bin", b"\x7fELF\0\0\0\0", &["begins with \"\\x7fELF", "expected LIBSVM, CSV, NPY, NPZ or IDX"]);
    let table = Table::new(200, 4, 2);
    let packed = gzip(table.headerless());
    refuse_data("a.csv.gz", &packed[..packed.len() - 20], &["gzip", "cut off"]);
    refuse_data("a.csv.gz", &packed[..5], &["gzip"]);
    let array = table.npy();
    refuse_data("a.npy", &array[..array.len() - 3], &["200 rows", "row 200", "cut off"]);
    refuse_data("a.npy", &array[..40], &["header"]);
    refuse_data("a.npy", npy("<c8", "(1, 1)", [0; 8]), &["<c8", "float32"]);
    refuse_data("a.idx", &table.idx()[..100], &["200 rows", "cut off"]);
    let folder = Folder::new();
    folder.write("a.npz", npz(&[("x.npy", table.npy()), ("y.npy", table.npy_labels())]));
    folder.ok("train a.npz::x --labels a.npz::y --n-components 16");
    refuse(&folder, "train a.npz::z --labels a.npz::y", &["a.npz has no array \"z\"", "x, y"]);
    folder.write("b.npz", npz(&[("first.npy", table.npy()), ("second.npy", table.npy())]));
    refuse(&folder, "train b.npz --labels a.npz::y", &["b.npz has the arrays first, second", "b.npz::first"]);
    refuse(&folder, "train a.npz::x", &["a.npz::x has no targets", "--labels"]);
    folder.write("nan.npy", npy("<f4", "(2, 1)", [1.0_f32, f32::NAN].into_iter().flat_map(f32::to_le_bytes)));
    folder.write("y.csv", "0\n1\n");
    refuse(&folder, "train nan.npy --labels y.csv", &["nan.npy", "row 2", "column 1", "NaN"]);
}

#[test]
fn files_that_do_not_fit() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.csv("who", &["ann", "bob", "cy"]));
    folder.write("x.csv", table.inputs_only());
    folder.write("y.csv", "0\n1\n2\n");
    folder.write("narrow.csv", "x0,x1,who\n1,2,ann\n");
    folder.write("unseen.csv", "x0,x1,x2,x3,who\n1,2,3,4,ann\n1,2,3,4,dan\n");
    folder.write("few.csv", "a,y\n1,0\n2,1\n3,0\n4,1\n");
    refuse(&folder, "train a.csv --target nope", &["a.csv has no column \"nope\"", "x0, x1, x2, x3, who"]);
    refuse(&folder, "train a.csv --target 9", &["a.csv has no column 9"]);
    refuse(&folder, "train x.csv --target nope", &["x.csv has no column \"nope\"", "from 1 to 4"]);
    refuse(&folder, "train a.csv --target who,who", &["column 5 who", "twice"]);
    refuse(&folder, "train x.csv --labels y.csv", &["x.csv has 60 rows", "y.csv has 3 labels"]);
    refuse(&folder, "train a.csv --task regression", &["a.csv", "is not a number", "regression"]);
    refuse(&folder, "train nowhere.csv", &["nowhere.csv", "no such file"]);
    refuse(&folder, "train .", &[". is a directory"]);
    refuse(&folder, "train part-*.csv", &["part-*.csv matches no file", "check the folder"]);
    refuse(
        &folder,
        "train [an]*.csv",
        &["narrow.csv does not fit a.csv, which is read before it: it has 2 inputs, not 4"],
    );
    refuse(&folder, "train -", &["standard input is empty"]);
    refuse(&folder, "train - --labels -", &["standard input (-) is given twice", "save one of the two to a file"]);
    refuse(&folder, "train a.csv --test - --test-labels -", &["standard input (-) is given twice"]);
    if cfg!(unix) {
        refuse(&folder, "train /dev/null", &["/dev/null is empty"]);
    }
    refuse(&folder, "train a.csv --test narrow.csv", &["narrow.csv has no column \"x2\""]);
    refuse(&folder, "train x.csv --target 4 --test a.csv --n-components 16", &["a.csv"]);
    let unseen = "train a.csv --test unseen.csv --n-components 16 -o new.mercer";
    refuse(&folder, unseen, &["unseen.csv", "label dan", "ann, bob, cy"]);
    refuse(&folder, "train a.csv --test nowhere.csv", &["nowhere.csv", "no such file"]);
    refuse(&folder, "train a.csv --test x.csv", &["x.csv has no targets", "--test-labels"]);
    refuse(&folder, "train few.csv --cv 5 --n-components 4", &["--cv is 5 for 4 rows of few.csv", "fewer folds"]);
}

#[test]
fn bad_flags() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.headerless());
    refuse(&folder, "train a.csv --n-components 5", &["--n-components is 5", "even"]);
    refuse(&folder, "train a.csv --n-components 0", &["--n-components is 0", "at least 2"]);
    refuse(&folder, "train a.csv --n-components -4", &["'-4'", "--n-components", "whole number"]);
    refuse(&folder, "train a.csv --n-components 1000000000000", &["--n-components is 1000000000000", "memory"]);
    refuse(&folder, "train a.csv --gamma -1", &["--gamma", "-1", "above 0, scale or median"]);
    refuse(&folder, "train a.csv --gamma wide", &["--gamma", "wide", "above 0, scale or median"]);
    refuse(&folder, "train a.csv --lambda 0", &["--lambda", "0", "auto or a number from 1e-100 to 1e100"]);
    refuse(&folder, "train a.csv --lambda inf", &["--lambda", "inf", "auto or a number from 1e-100 to 1e100"]);
    refuse(&folder, "train a.csv --cv 1", &["--cv is 1", "2 to 100"]);
    refuse(&folder, "train a.csv --cv 1000", &["--cv is 1000", "2 to 100"]);
    refuse(&folder, "train a.csv --preprocess fancy", &["fancy", "standardize, min-max"]);
    refuse(&folder, "train a.csv --header maybe", &["maybe", "yes or no"]);
    refuse(&folder, "train a.csv --delimiter ab", &["ab", "one character, or tab"]);
    refuse(&folder, "train a.csv --block-rows 0", &["--block-rows", "0"]);
    refuse(&folder, "train a.csv --threads many", &["--threads", "many", "whole number"]);
    refuse(&folder, "train a.csv --n-component 4", &["--n-component'", "--n-components", "mercer --help"]);
    refuse(&folder, "train a.csv --frobnicate", &["--frobnicate", "mercer --help"]);
    refuse(&folder, "train", &["<DATA>"]);
    refuse(&folder, "train a.csv --sample digits", &["--sample"]);
    refuse(&folder, "train --sample digits --target 1", &["--sample", "--target"]);
    for flag in ["--impute mean", "--max-levels 4", "--header no", "--delimiter ;", "--no-stratify"] {
        refuse(&folder, &format!("train --sample digits {flag}"), &["--sample", flag.split(' ').next().unwrap()]);
    }
    refuse(&folder, "train a.csv --no-stratify", &["--test-size"]);
    refuse(&folder, "train a.csv --test-labels a.csv", &["--test"]);
    refuse(&folder, "train a.csv --threads 4000", &["--threads is 4000, must be 0 to 1024"]);
    folder.train("a.csv");
    for flag in ["--impute mean", "--max-levels 4", "--categorical none", "--n-inputs 4"] {
        let name = flag.split(' ').next().unwrap();
        refuse(&folder, &format!("transform a.csv --model trained.mercer {flag}"), &["--model", name]);
    }
    for flag in ["--target 1", "--labels a.csv", "--n-components 16", "--all", "--cache 1", "--header no"] {
        let name = flag.split(' ').next().unwrap();
        refuse(&folder, &format!("inspect trained.mercer {flag}"), &[name, "trained.mercer is a model"]);
    }
    folder.ok("inspect trained.mercer --json --quiet");
    refuse(&folder, "retrain a.csv", &["retrain"]);
    refuse(&folder, "predict a.csv", &["<DATA>"]);
}

/// The flag at fault is named, and no other.
#[test]
fn sizes_and_widths_beyond_all_numbers() {
    let folder = Folder::new();
    folder.write("a.csv", Table::new(20, 3, 2).headerless());
    for map in ["fourier --n-components 800000000", "sorf --n-components 200000000", "srht --n-components 200000000"] {
        let size = map.split(' ').next_back().unwrap();
        let flag = format!("--n-components is {size}, must be at most");
        refuse(&folder, &format!("transform a.csv --map {map} -o out.npy"), &[&flag, "memory"]);
        refuse(&folder, &format!("train a.csv --map {map}"), &[&flag]);
    }
    let map = |flags: &str, says: &str| {
        refuse(&folder, &format!("train a.csv --n-components 8 {flags}"), &[says, "in float32"]);
        let flags = format!("a.csv --target none --maps fourier --n-components 8 --no-learner {flags}");
        refuse(&folder, &format!("compare {}", flags.replace("1,2,1e-320", "1,2,1e-320,1")), &[says]);
    };
    map("--kernel matern --gamma 1e308", "--gamma is 1e308, must be");
    map("--kernel matern --gamma 1e308 --dtype float64", "--gamma is 1e308, must be");
    map("--gamma 1e100", "--gamma is 1e100, must be");
    map("--gamma 1e-100", "--gamma is 1e-100, must be");
    map("--kernel laplace --gamma 1e39", "--gamma is 1e39, must be");
    map("--length-scales 1,2,1e-320", "--length-scales is 1e-320, must be");
    folder.ok("train a.csv --n-components 8 --gamma 1e100 --dtype float64");
}

#[test]
fn outputs_that_cannot_be() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.csv("who", &["ann", "bob", "cy"]));
    folder.train("a.csv");
    std::fs::create_dir(folder.file("sub")).unwrap();
    std::fs::create_dir(folder.file("sub.csv")).unwrap();
    refuse_with(1, &folder, "train a.csv -o nowhere/m.mercer", &["nowhere/m.mercer", "no folder nowhere"]);
    refuse_with(1, &folder, "predict trained.mercer a.csv -o nowhere/p.csv", &["nowhere/p.csv", "no folder nowhere"]);
    refuse(&folder, "train a.csv -o sub", &["sub is a directory"]);
    refuse(&folder, "predict trained.mercer a.csv -o sub.csv", &["sub.csv is a directory"]);
    refuse(&folder, "predict trained.mercer a.csv -o p.txt", &["p.txt", ".csv, .tsv, .npy"]);
    refuse(&folder, "predict trained.mercer a.csv -o p", &[".csv, .tsv, .npy"]);
    refuse(&folder, "predict trained.mercer a.csv -o p.npy", &["text", "--scores"]);
    refuse(&folder, "predict trained.mercer a.csv -o trained.mercer", &["trained.mercer", ".csv, .tsv, .npy"]);
    refuse(&folder, "predict trained.mercer a.csv -o a.csv", &["a.csv is read by this command", "another file"]);
    refuse(&folder, "train a.csv -o ./a.csv", &["a.csv is read by this command"]);
    refuse(&folder, "train *.csv -o a.csv", &["a.csv is read by this command"]);
}

#[test]
fn data_that_does_not_fit_the_model() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("named.csv", table.csv("who", &["ann", "bob", "cy"]));
    folder.write("plain.csv", table.headerless());
    folder.write("narrow.csv", "1,2,3\n4,5,6\n");
    folder.write("wide.csv", "1,2,3,4,5,6\n4,5,6,7,8,9\n");
    folder.write("wide.svm", "0 1:2 9:1\n");
    folder.write("late.csv", "x0,x1,x2,x3\n1,2,3,4\n1,2,oops,4\n");
    folder.write("unseen.csv", "x0,x1,x2,x3,who\n1,2,3,4,dan\n");
    folder.write("none.csv", "x0,x1,x2,x3\n1,2,3,4\n");
    folder.write("old.csv", "as it was");
    folder.train("plain.csv");
    for data in ["narrow.csv", "wide.csv"] {
        let says = [data, "trained on 4", "same columns"];
        refuse(&folder, &format!("predict trained.mercer {data} -o old.csv"), &says);
        refuse(&folder, &format!("evaluate trained.mercer {data}"), &says);
    }
    folder.write("inputs.csv", table.inputs_only());
    folder.write("labels.csv", table.classes.iter().map(|class| format!("{class}\n")).collect::<String>());
    for (trained, remedy) in [("named.csv", "add the header"), ("inputs.csv --labels labels.csv", "leave only")] {
        folder.train(trained);
        for command in ["predict", "evaluate"] {
            let says = ["plain.csv has 5 columns", "trained on 4 inputs", remedy];
            refuse(&folder, &format!("{command} trained.mercer plain.csv"), &says);
        }
        assert_eq!(folder.ok("predict trained.mercer inputs.csv").lines().count(), 61);
    }
    folder.train("plain.csv");
    refuse(&folder, "predict trained.mercer wide.svm", &["wide.svm", "line 1", "9:1", "4 inputs"]);
    folder.train("named.csv");
    refuse(&folder, "predict trained.mercer late.csv", &["late.csv, line 3, column 3 (\"x2\")", "oops"]);
    refuse(&folder, "predict trained.mercer late.csv -o old.csv --block-rows 1 --cache 0", &["late.csv, line 3"]);
    refuse(&folder, "evaluate trained.mercer unseen.csv", &["unseen.csv", "dan"]);
    refuse(&folder, "evaluate trained.mercer none.csv", &["none.csv has no targets", "--labels"]);
    refuse(&folder, "predict trained.mercer nowhere.csv", &["nowhere.csv", "no such file"]);
}

#[test]
fn bad_models() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.csv("who", &["ann", "bob", "cy"]));
    let model = folder.train("a.csv");
    let refuse_model = |bytes: &[u8], says: &[&str]| {
        folder.write("bad.mercer", bytes);
        let says = [&["bad.mercer is no usable model"], says].concat();
        refuse(&folder, "predict bad.mercer a.csv", &says);
    };
    for length in (0..model.len()).step_by(61).chain([model.len() - 1]) {
        refuse_model(&model[..length], &[]);
        refuse(&folder, "inspect bad.mercer", &["bad.mercer is no usable model"]);
    }
    refuse_model(&[model.as_slice(), b"more"].concat(), &[]);
    refuse_model(b"x0,x1\n1,2\n", &[]);
    let replaced = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = model.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        [&model[..at], to.as_bytes(), &model[at + from.len()..]].concat()
    };
    refuse_model(&replaced(r#"format_version\":1"#, r#"format_version\":9"#), &["format version 9", "reads version 1"]);
    refuse_model(&replaced(r#"n_inputs\":4"#, r#"n_inputs\":5"#), &[]);
    refuse_model(&replaced(r#"n_components\":64"#, r#"n_components\":66"#), &["(64, 3)", "(66, 3)"]);
    refuse_model(&replaced(r#"\"bob\""#, r#"\"ann\""#), &["all different"]);
    refuse_model(&replaced("\"mercer\":", "\"other_\":"), &["mercer did not write"]);
    refuse_model(&replaced("learner.weights", "learner.height_"), &[]);
    let header = br#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  "#;
    let other = [&(header.len() as u64).to_le_bytes(), header.as_slice(), &[0; 4]].concat();
    refuse_model(&other, &["a safetensors file that mercer did not write"]);
    refuse(&folder, "predict nowhere.mercer a.csv", &["nowhere.mercer", "no such file"]);
    refuse(&folder, "inspect .", &[". is a directory"]);
}

#[test]
fn flags_of_other_maps() {
    let folder = Folder::new();
    folder.write("a.csv", Table::new(20, 3, 2).headerless());
    let map = |flags: &str, says: &[&str]| refuse(&folder, &format!("train a.csv --n-components 8 {flags}"), says);
    map("--nu 2.5", &["--nu is of use with --kernel matern only"]);
    map("--alpha 2 --kernel cauchy", &["--alpha is of use with --kernel rational-quadratic only"]);
    map("--map srht --gamma 1", &["--gamma is of use with maps of a kernel only"]);
    map(
        "--degree 3",
        &["--degree is of use with --map tensor-srht, tensor-sketch, pk-rp, maclaurin and expansion only"],
    );
    map("--map sorf --coef0 1", &["--coef0 is of use with --map tensor-srht"]);
    map("--map pk-rp --signs real", &["--signs is of use with --map tensor-srht and maclaurin only"]);
    map("--map tensor-srht --n-terms 2", &["--n-terms is of use with --map pk-rp, d2pk-rp and kg-rp only"]);
    map("--map tensor-srht --kernel rbf", &["--kernel is of use with --map fourier"]);
    map("--map tensor-sketch --degree 0", &["--degree is 0", "1 to 64"]);
    map("--map pk-rp --n-vectors 1", &["--n-vectors is 1"]);
    map("--map sorf --kernel poly", &["--kernel poly is of use with --map tensor-srht"]);
    map("--map pk-rp --kernel exponential", &["--kernel exponential is of use with --map maclaurin and nystroem only"]);
    map("--kernel exponential --degree 2", &["--degree is of use with --kernel poly only"]);
    map("--kernel poly --coefficients 1,1", &["--coefficients is of use with --map maclaurin only"]);
    map("--map maclaurin --kernel poly --coefficients 1,1", &["--coefficients is of use with a map without --kernel"]);
    map("--map maclaurin --degree 2 --coefficients 1,1", &["--degree is of use with maps without --coefficients only"]);
    map("--map maclaurin --coefficients 1,-1", &["--coefficients is -1, must be finite and at least 0"]);
    map("--map maclaurin --coefficients 1", &["--coefficients is [1.0], must be above 0 for a power of 1 or more"]);
    map("--map d2pk-rp --degree 2", &["--degree is of use with --map tensor-srht"]);
    map("--map d2pk-rp --kernel poly", &["--kernel poly is of use with --map tensor-srht"]);
    map("--map d2pk-rp --n-terms 3", &["--n-terms is 3", "even"]);
    map("--map tensor-sketch --tree", &["--tree is of use with --map tensor-srht only"]);
    map("--kernel poly --allocation random", &["--allocation is of use with --map maclaurin only"]);
    map("--map expansion", &["--n-components is of no use with --map expansion"]);
    folder.write("wide.csv", Table::new(4, 784, 2).headerless());
    let says = ["all products of 3 of 784 inputs are 80931145 features", "324048304580 bytes", "use a smaller degree"];
    refuse(&folder, "train wide.csv --map expansion --degree 3 --project-to 1000 --projection gaussian", &says);
    map("--projection srht", &["--project-to"]);
    refuse(&folder, "train a.csv --eps 0.5", &["--eps is of use with --map gaussian-projection"]);
    refuse(&folder, "train a.csv --map srht --eps 1.5", &["--eps is 1.5", "above 0 and below 1"]);
    map("--map binning --kernel rbf", &["--kernel is of use with --map fourier"]);
    map("--map sorf --n-bins 4", &["--n-bins is of use with --map binning only"]);
    map("--s 3", &["--s is of use with --map sparse-projection, pk-rp and d2pk-rp only"]);
    map("--map sorf --blocks split", &["--blocks is of use with --map hadamard only"]);
    map("--map sorf --kernel laplace", &["laplace has fourier and quasi"]);
    map("--length-scales 1,2", &["2 numbers for 3 inputs"]);
    map("--length-scales 1,2,0", &["--length-scales is 0"]);
    map("--length-scales 1,2,3 --gamma scale", &["--gamma is scale", "0.5"]);
    map("--map binning --n-bins 3", &["--n-bins is 3"]);
    for (name, says) in [("hadamard", "--map hadamard"), ("identity", "--map identity")] {
        map(&format!("--map {name}"), &["--n-components is of no use with", says, "inputs"]);
        folder.ok(&format!("train a.csv --map {name}"));
        let flags = format!("a.csv --map {name} --n-components 8 -o out.csv");
        refuse(&folder, &format!("transform {flags}"), &["--n-components is of no use with", says]);
    }
    let run = folder.command("train a.csv").env("MERCER_INSTRUCTION_SET", "sse9").output().unwrap();
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.code() == Some(2) && error.contains("\"sse9\"") && error.contains("portable"), "{error}");
}

#[test]
fn learners_that_cannot_work() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.csv("who", &["ann", "bob", "cy"]));
    folder.write("r.csv", table.csv("length", &["0.5", "1.75", "4"]));
    let cases = [
        ("a.csv --learner huber", "--learner is huber"),
        ("r.csv --learner svm", "ridge, huber or svr"),
        ("r.csv --class-weight balanced", "--class-weight"),
        ("a.csv --loss hinge", "--learner svm"),
        ("a.csv --delta 1", "--learner huber"),
        ("a.csv --epsilon 1", "--learner svr"),
        ("a.csv --learner svm --C -1", "--C"),
        ("a.csv --learner svm --tol 0", "--tol"),
        ("a.csv --learner svm --max-iter 0", "--max-iter"),
        ("a.csv --learner svm --solver direct", "--solver"),
        ("a.csv --solver direct --class-weight balanced", "uniform class weights"),
        ("a.csv --learner softmax --solver dual", "--solver"),
        ("a.csv --learner svm --loss hinge --solver iterative", "--solver"),
        ("a.csv --learner svm --loss hinge --memory 10", "--memory"),
        ("a.csv --solver sgd --memory 10", "--lambda is auto, must be a number for sgd"),
        ("a.csv --solver sgd --memory 10 --lambda 1 --cv 3", "--cv is 3"),
        ("a.csv --solver sgd --max-iter 0", "--max-iter"),
    ];
    for (arguments, says) in cases {
        refuse(&folder, &format!("train {arguments} --n-components 16"), &[says]);
    }
    for arguments in ["--memory much", "--memory -1", "--C 1 --lambda 1"] {
        let run = folder.run(&format!("train a.csv {arguments}"));
        assert_eq!(run.status, Some(2), "{arguments}: {run:?}");
    }
}
