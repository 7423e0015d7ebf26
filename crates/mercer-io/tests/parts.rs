//! Several files as one: the same rows as one file of them all, columns by name, every file that does not fit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use mercer::Dtype;
use mercer::dataset::{BlockRows, Dataset, Layout, Source, TargetBlock};
use mercer_io::{ColumnRef, ReadOptions, TargetChoice, list_files, open, open_many, open_with_labels};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = Self(TempDir::new().unwrap());
        files.iter().for_each(|(name, content)| fs::write(folder.0.path().join(name), content).unwrap());
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn paths(&self, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| self.path(name)).collect()
    }

    /// What opening or reading these files says, without the path of the folder.
    fn refusal(&self, names: &[&str], options: &ReadOptions) -> String {
        let result = open_many(&self.paths(names), options).map_err(mercer::Error::from).and_then(|x| rows(&*x));
        self.local(&result.expect_err(&format!("{names:?}")).to_string())
    }

    fn local(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn options() -> ReadOptions {
    ReadOptions { block_rows: 2, dtype: Some(Dtype::Float64), ..ReadOptions::default() }
}

/// Each row as text: inputs, then targets.
fn rows(source: &dyn Source) -> mercer::Result<Vec<String>> {
    let (mut rows, mut reader) = (Vec::new(), source.read()?);
    while let Some(block) = reader.next_block()? {
        let inputs: Vec<String> = match &block.rows {
            BlockRows::Bytes(x) => x.outer_iter().map(|x| x.to_string()).collect(),
            BlockRows::Dense32(x) => x.outer_iter().map(|x| x.to_string()).collect(),
            BlockRows::Dense64(x) => x.outer_iter().map(|x| x.to_string()).collect(),
            BlockRows::Sparse32(x) => {
                (0..x.n_rows()).map(|i| format!("{:?}", x.view().row(i).collect::<Vec<_>>())).collect()
            }
            BlockRows::Sparse64(x) => {
                (0..x.n_rows()).map(|i| format!("{:?}", x.view().row(i).collect::<Vec<_>>())).collect()
            }
        };
        let targets: Vec<String> = match &block.targets {
            Some(TargetBlock::Text(x)) => x.clone(),
            Some(TargetBlock::Numbers(x)) => x.outer_iter().map(|x| x.to_string()).collect(),
            None => vec![String::new(); inputs.len()],
        };
        rows.extend(inputs.iter().zip(&targets).map(|(inputs, target)| format!("{inputs} {target}")));
    }
    Ok(rows)
}

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name).to_str().unwrap().to_owned()
}

#[test]
fn files_are_read_one_after_the_other() {
    let folder = Folder::new(&[
        ("part-1.csv", b"a,b,y\n1,2,x\n3,4,z\n5,6,x\n"),
        ("part-10.csv", b"y,b,a\nx,8,7\n"),
        ("part-2.csv", b"a;b;y\n9;10;z\n"),
        ("other.csv", b"no"),
        (".part-0.csv", b"hidden"),
    ]);
    let expected = ["[1, 2] x", "[3, 4] z", "[5, 6] x", "[7, 8] x", "[9, 10] z"];
    let by_pattern = open(&folder.path("part-*.csv"), &options()).unwrap();
    let by_name = open_many(&folder.paths(&["part-1.csv", "part-10.csv", "part-2.csv"]), &options()).unwrap();
    for source in [by_pattern, by_name] {
        for _ in 0..2 {
            assert_eq!(rows(&*source).unwrap(), expected);
        }
        let info = source.info();
        assert_eq!(folder.local(&info.name), "part-1.csv and 2 more");
        assert_eq!((info.format.as_str(), info.layout, info.n_inputs), ("CSV", Layout::Dense, Some(2)));
        assert_eq!((info.input_names.join(","), info.target_names.join(",")), ("a,b".to_owned(), "y".to_owned()));
    }
    let one = open_many(&folder.paths(&["part-1.csv"]), &options()).unwrap();
    assert_eq!(folder.local(&one.info().name), "part-1.csv");
}

#[test]
fn formats_and_packings_may_differ() {
    let files = ["rows_v1.npy", "rows_v1.npy.zst", "fortran.npy", "stored.npz::X", "rows_f64.idx"].map(fixture);
    let none = ReadOptions { target: TargetChoice::None, ..options() };
    let source = open_many(&files, &none).unwrap();
    let once = rows(&*open(&files[0], &none).unwrap()).unwrap();
    assert_eq!(rows(&*source).unwrap(), vec![once; 5].concat());
    assert_eq!(source.info().n_rows, Some(35));
    assert_eq!(source.info().format, "IDX and NPY and NPY, zstd and NPZ array X");
    let files = ["rows.csv", "rows.csv.bz2", "rows.csv.xz"].map(fixture);
    let once = rows(&*open(&files[0], &options()).unwrap()).unwrap();
    let source = open_many(&files, &options()).unwrap();
    assert_eq!(rows(&*source).unwrap(), vec![once; 3].concat());
    assert_eq!(source.info().n_rows, None);
}

#[test]
fn sparse_rows_may_be_wider() {
    let folder = Folder::new(&[("a.svm", b"1 1:1 3:2\n0 2:5\n"), ("b.svm", b"1 9:1\n"), ("c.svm", b"0 1:4\n")]);
    let source = open(&folder.path("?.svm"), &options()).unwrap();
    let expected = ["[(0, 1.0), (2, 2.0)] [1]", "[(1, 5.0)] [0]", "[(8, 1.0)] [1]", "[(0, 4.0)] [0]"];
    assert_eq!(rows(&*source).unwrap(), expected);
    let dataset = Dataset::scan(source, 0).unwrap();
    assert_eq!((dataset.n_rows(), dataset.n_inputs(), dataset.is_in_memory()), (4, 9, false));
}

#[test]
fn targets_and_inputs_are_those_of_the_first_file() {
    let folder = Folder::new(&[("a.csv", b"id,a,t\n1,2,3\n"), ("b.csv", b"t,a,id\n6,5,4\n"), ("c.csv", b"4,5,6\n")]);
    let with = |target| ReadOptions { target, ..options() };
    let number = |number| TargetChoice::Columns(vec![ColumnRef::Number(number)]);
    let read = |options| rows(&*open_many(&folder.paths(&["a.csv", "b.csv"]), &options).unwrap()).unwrap();
    assert_eq!(read(with(number(1))), ["[2, 3] 1", "[5, 6] 4"]);
    assert_eq!(read(with(TargetChoice::Auto)), ["[1, 2] 3", "[4, 5] 6"]);
    assert_eq!(read(with(TargetChoice::None)), ["[1, 2, 3] ", "[4, 5, 6] "]);
    let names = mercer_io::InputChoice::Names(vec!["t".to_owned(), "id".to_owned()]);
    assert_eq!(read(ReadOptions { inputs: names, ..with(TargetChoice::None) }), ["[3, 1] ", "[6, 4] "]);
    let present = TargetChoice::IfPresent { names: vec!["id".to_owned()], n_inputs: 2, positions: vec![], keep: true };
    assert_eq!(read(with(present)), ["[2, 3] 1", "[5, 6] 4"]);
    let same = folder.paths(&["c.csv", "c.csv"]);
    assert_eq!(rows(&*open_many(&same, &with(number(1))).unwrap()).unwrap(), ["[5, 6] 4", "[5, 6] 4"]);
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let folder = Folder::new(&[
        ("a.csv", b"a,b,y\n1,2,0\n"),
        ("less.csv", b"a,y\n1,0\n"),
        ("more.csv", b"a,b,c,y\n1,2,3,0\n"),
        ("other.csv", b"a,c,y\n1,2,0\n"),
        ("untitled.csv", b"1,2,0\n"),
        ("wide.csv", b"1,2,3,0\n"),
        ("unnamed.csv", b"a,b,z\n1,2,0\n"),
        ("late.csv", b"a,b,y\n1,2,0\n1,oops,0\n"),
        ("empty.csv", b""),
        ("a.svm", b"1 1:2 2:3\n"),
        ("one.csv", b"4,1\n"),
        ("bytes.idx", b"\0\0\x08\x02\0\0\0\x01\0\0\0\x01\x05"),
    ]);
    let refused = |names: &[&str], says: &[&str]| {
        let error = folder.refusal(names, &options());
        let both = format!("{} does not fit {}, which is read before it: ", names[1], names[0]);
        assert!(error.starts_with(&both), "{error}");
        says.iter().for_each(|part| assert!(error.contains(part), "{part}: {error}"));
    };
    refused(&["a.csv", "less.csv"], &["it has 1 inputs, not 2; give files with the same columns"]);
    refused(&["a.csv", "more.csv"], &["it has 3 inputs, not 2"]);
    refused(&["a.csv", "other.csv"], &["its inputs are a, c, not a, b"]);
    refused(&["a.csv", "untitled.csv"], &["it has no column \"y\""]);
    refused(&["untitled.csv", "a.csv"], &["its inputs are a, b, not without names"]);
    refused(&["untitled.csv", "wide.csv"], &["it has 3 inputs, not 2"]);
    refused(&["a.csv", "unnamed.csv"], &["it has no column \"y\""]);
    refused(&["one.csv", "a.svm"], &["its rows are sparse, not numbers"]);
    refused(&["one.csv", "bytes.idx"], &["its rows are bytes, not numbers"]);
    let error = folder.refusal(&["a.csv", "late.csv"], &options());
    assert!(error.starts_with("late.csv, line 3, column 2 (\"b\"): \"oops\""), "{error}");
    let error = folder.refusal(&["a.csv", "empty.csv"], &options());
    assert!(error.starts_with("empty.csv is empty"), "{error}");
    let error = folder.refusal(&["a.csv", "none.csv"], &options());
    assert!(error.starts_with("none.csv: no such file"), "{error}");
    assert_eq!(folder.refusal(&[], &options()), "no file is given; give the path of one");
}

#[test]
fn labels_of_several_files_join_rows_of_several() {
    let folder = Folder::new(&[
        ("x1.csv", b"1,2\n3,4\n5,6\n"),
        ("x2.csv", b"7,8\n"),
        ("y1.txt", b"no\n"),
        ("y2.txt", b"yes\nno\nyes\n"),
        ("y3.svm", b"1 1:1\n1 1:1\n0 1:1\n"),
        ("z1.txt", b"2\n"),
    ]);
    let join = |rows_of: &[&str], labels: &[&str]| {
        let source = open_with_labels(&folder.paths(rows_of), &folder.paths(labels), &options())
            .map_err(|error| folder.local(&error.to_string()))?;
        rows(&*source).map_err(|error| folder.local(&error.to_string()))
    };
    let expected = ["[1, 2] no", "[3, 4] yes", "[5, 6] no", "[7, 8] yes"].map(str::to_owned);
    assert_eq!(join(&["x?.csv"], &["y1.txt", "y2.txt"]), Ok(expected.to_vec()));
    let error = join(&["x1.csv", "x2.csv"], &["y2.txt"]).unwrap_err();
    assert!(error.starts_with("x1.csv and 1 more has 4 rows but y2.txt has 3 labels"), "{error}");
    let error = join(&["x?.csv"], &["z1.txt", "y3.svm"]).unwrap_err();
    assert!(error.starts_with("y3.svm does not fit z1.txt, which is read before it: "), "{error}");
    let (x, y) = (fixture("rows_v1.npy"), fixture("labels.npy"));
    let source = open_with_labels(&[&x, &x], &[&y, &y], &options()).unwrap();
    assert_eq!((source.info().n_rows, rows(&*source).unwrap().len()), (Some(14), 14));
    let error = open_with_labels(&[&x, &x], &[&y], &options()).err().unwrap().to_string();
    assert!(error.contains("rows_v1.npy and 1 more has 14 rows but"), "{error}");
}

#[test]
fn patterns_name_files() {
    let folder = Folder::new(&[("b[1].csv", b""), ("b1.csv", b""), ("a.npz", b""), ("b.npz", b"")]);
    let list = |pattern: &str| {
        let files = list_files(&[folder.path(pattern)]).map_err(|error| folder.local(&error.to_string()));
        files.map(|files| files.iter().map(|file| folder.local(file)).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(list("b[1].csv").unwrap(), "b[1].csv", "a file of this name is itself");
    assert_eq!(list("b[12].csv").unwrap(), "b1.csv");
    assert_eq!(list("*.npz::X").unwrap(), "a.npz::X b.npz::X");
    assert_eq!(list("plain.csv").unwrap(), "plain.csv", "opening tells that there is none");
    assert_eq!(list("c*.csv").unwrap_err(), "c*.csv matches no file; check the folder and the pattern");
    assert_eq!(list("b[.csv").unwrap_err(), "b[.csv: no such file; check the path");
    let twice = list_files(&["-", "a", "-::x"]).unwrap_err().to_string();
    assert!(twice.starts_with("standard input (-) is given twice"), "{twice}");
}
