//! Every format against the table an independent writer wrote, at every block size, cut anywhere; every rejection.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use mercer::Dtype;
use mercer::dataset::{BlockRows, Layout, Source, TargetBlock};
use mercer_io::{ColumnRef, Format, InputChoice, ReadOptions, TargetChoice, open, open_bytes, open_with_labels};
use ndarray::{Array2, concatenate};
use tempfile::TempDir;

/// All blocks of a source put together: rows as dense f64, targets as text.
#[derive(Debug, PartialEq)]
struct Table {
    rows: Array2<f64>,
    targets: Vec<String>,
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    path.to_str().unwrap().to_owned()
}

fn options(block_rows: usize) -> ReadOptions {
    ReadOptions { block_rows, dtype: Some(Dtype::Float64), ..ReadOptions::default() }
}

fn collect(source: &dyn Source, block_rows: usize) -> mercer::Result<Table> {
    let (mut blocks, mut targets) = (Vec::new(), Vec::new());
    let mut reader = source.read()?;
    while let Some(block) = reader.next_block()? {
        assert!((1..=block_rows).contains(&block.rows.n_rows()));
        assert!(block.targets.as_ref().is_none_or(|targets| targets.n_rows() == block.rows.n_rows()));
        blocks.push(dense(block.rows));
        match block.targets {
            Some(TargetBlock::Text(text)) => targets.extend(text),
            Some(TargetBlock::Numbers(y)) => targets.extend(y.outer_iter().map(|y| format!("{y}"))),
            None => {}
        }
    }
    let widest = blocks.iter().map(Array2::ncols).max().unwrap_or(0);
    let mut rows = Array2::zeros((0, widest));
    for block in blocks {
        let mut wide = Array2::zeros((block.nrows(), widest));
        wide.slice_mut(ndarray::s![.., ..block.ncols()]).assign(&block);
        rows = concatenate![ndarray::Axis(0), rows, wide];
    }
    Ok(Table { rows, targets })
}

fn dense(rows: BlockRows) -> Array2<f64> {
    fn sparse<T: mercer::Scalar>(x: &mercer::dataset::CsrMatrix<T>) -> Array2<f64> {
        let mut out = Array2::zeros((x.n_rows(), x.n_columns()));
        for i in 0..x.n_rows() {
            x.view().row(i).for_each(|(j, value)| out[[i, j]] = value.to_f64());
        }
        out
    }
    match rows {
        BlockRows::Bytes(x) => x.mapv(f64::from),
        BlockRows::Dense32(x) => x.mapv(f64::from),
        BlockRows::Dense64(x) => x,
        BlockRows::Sparse32(x) => sparse(&x),
        BlockRows::Sparse64(x) => sparse(&x),
    }
}

fn read(path: &str, options: &ReadOptions) -> mercer::Result<Table> {
    let source = open(path, options)?;
    collect(&*source, options.block_rows)
}

fn read_bytes(bytes: &[u8]) -> mercer::Result<Table> {
    collect(&*open_bytes("memory", bytes, &options(3))?, 3)
}

// The tables of make.py.

fn reals() -> Array2<f64> {
    Array2::from_shape_fn((7, 4), |(i, j)| (i + 1) as f64 * (j as f64 - 1.5))
}

fn wholes() -> Array2<f64> {
    Array2::from_shape_fn((7, 4), |(i, j)| (3 * i + j) as f64)
}

fn sparse() -> Array2<f64> {
    Array2::from_shape_fn((7, 4), |(i, j)| if (i + j) % 3 == 0 { 0.0 } else { reals()[[i, j]] })
}

fn images() -> Array2<f64> {
    Array2::from_shape_fn((7, 6), |(i, j)| (6 * i + j) as f64)
}

fn labels() -> Vec<String> {
    (0..7).map(|i| (i % 3 - 1).to_string()).collect()
}

fn bracketed(labels: &[String]) -> Vec<String> {
    labels.iter().map(|label| format!("[{label}]")).collect()
}

fn words() -> Vec<String> {
    (0..7).map(|i| ["no", "perhaps", "yes"][i % 3].to_owned()).collect()
}

/// Every fixture of rows with what it holds.
fn tables() -> Vec<(&'static str, Array2<f64>, Vec<String>)> {
    let mut tables = vec![
        ("rows.libsvm", sparse(), bracketed(&labels())),
        ("qid.libsvm", sparse(), bracketed(&labels())),
        ("rows.csv", reals(), labels()),
        ("rows.tsv", reals(), labels()),
        ("words.csv", reals(), words()),
        ("bool.npy", wholes().mapv(|x| x % 2.0), vec![]),
    ];
    let packings = ["gz", "xz", "zst", "bz2"];
    let packed = |name: &str| packings.map(|extension| &*format!("{name}.{extension}").leak());
    tables.extend(packed("rows.libsvm").map(|name| (name, sparse(), bracketed(&labels()))));
    tables
        .extend([packed("rows.csv"), packed("single.csv")].concat().into_iter().map(|name| (name, reals(), labels())));
    let arrays = ["rows_v1.npy", "rows_v2.npy", "rows_v3.npy", "fortran.npy", "rows_little_f2.npy"];
    let arrays = arrays.into_iter().chain(packed("rows_v1.npy")).chain(packed("stored.npz"));
    let more = ["rows_little_f4.npy", "rows_big_f2.npy", "rows_big_f4.npy", "rows_big_f8.npy", "fortran_big_f2.npy"];
    let more = more.into_iter().chain(["rows_f32.idx", "rows_f64.idx"]);
    let zipped = ["stored.npz", "stored.npz::X", "stored.npz.gz::X", "stored.npz.xz::X", "several.npz::X_train"];
    tables.extend(arrays.chain(more).chain(zipped).map(|name| (name, reals(), vec![])));
    let kinds = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"];
    let orders = ["little", "big"].map(|order| kinds.map(|kind| &*format!("whole_{order}_{kind}.npy").leak()));
    let names = orders
        .concat()
        .into_iter()
        .chain(["whole_fortran_big_i8.npy"])
        .chain(["whole.idx", "whole_i16.idx"])
        .chain(packed("whole.idx"));
    tables.extend(names.map(|name| (name, wholes(), vec![])));
    let names = ["images.npy", "images_fortran.npy", "images.idx"];
    tables.extend(names.map(|name| (name, images(), vec![])));
    tables
}

#[test]
fn every_format_holds_what_was_written_at_every_block_size() {
    for (name, rows, targets) in tables() {
        let expected = Table { rows, targets };
        for block_rows in [1, 2, 3, 4096] {
            let source = open(&fixture(name), &options(block_rows)).unwrap();
            for reading in ["first", "second"] {
                let found = collect(&*source, block_rows).unwrap();
                assert_eq!(found, expected, "{name}, {block_rows} rows a block, {reading} reading");
            }
        }
        let single = ReadOptions { dtype: Some(Dtype::Float32), ..options(4096) };
        assert_eq!(read(&fixture(name), &single).unwrap(), expected, "{name} in float32");
    }
}

#[test]
fn bytes_in_memory_read_as_their_file() {
    let folder = TempDir::new().unwrap();
    for (name, rows, targets) in tables() {
        let (file, array) = name.split_once("::").map_or((name, ""), |(file, _)| (file, &name[file.len()..]));
        let bytes = fs::read(fixture(file)).unwrap();
        let source = open_bytes(&format!("memory{array}"), bytes.clone(), &options(3)).unwrap();
        assert_eq!(collect(&*source, 3).unwrap(), Table { rows, targets }, "{name}");
        assert_eq!(source.info().format, open(&fixture(name), &options(3)).unwrap().info().format);
        let path = write(&folder, "cut", &bytes[..bytes.len() / 3]);
        let cut = open_bytes(&path, &bytes[..bytes.len() / 3], &options(3)).map_err(mercer::Error::from);
        let message = |result: mercer::Result<Table>| result.map_err(|error| error.to_string());
        assert_eq!(message(cut.and_then(|cut| collect(&*cut, 3))), message(read(&path, &options(3))), "{name}");
    }
}

#[test]
fn sources_say_what_they_are() {
    let info = |name: &str| open(&fixture(name), &ReadOptions::default()).unwrap().info().clone();
    let tsv = info("rows.tsv");
    assert_eq!((tsv.format.as_str(), tsv.layout, tsv.n_inputs, tsv.n_rows), ("CSV", Layout::Dense, Some(4), None));
    assert_eq!(
        (tsv.input_names, tsv.target_names),
        (vec!["a", "b", "c", "d"].into_iter().map(String::from).collect(), vec!["y".to_owned()])
    );
    assert_eq!(info("words.csv").input_names, ["a;b", "c", "d", "e \"e\""]);
    let libsvm = info("rows.libsvm.gz");
    assert_eq!((libsvm.format.as_str(), libsvm.layout, libsvm.n_inputs), ("LIBSVM, gzip", Layout::Sparse, None));
    let formats = ["rows.csv.xz", "rows.libsvm.zst", "rows_v1.npy.bz2", "stored.npz.zst"].map(|name| info(name).format);
    assert_eq!(formats, ["CSV, xz", "LIBSVM, zstd", "NPY, bzip2", "NPZ, zstd array X"]);
    let npz = info("several.npz::X_train");
    assert_eq!((npz.format.as_str(), npz.n_rows, npz.n_inputs), ("NPZ array X_train", Some(7), Some(4)));
    let idx = info("images.idx");
    assert_eq!((idx.format.as_str(), idx.layout, idx.n_rows, idx.n_inputs), ("IDX", Layout::Bytes, Some(7), Some(6)));
}

#[test]
fn labels_join_from_any_format() {
    let join = |rows: &str, labels: &str| {
        let mut tables = [1, 2, 3, 4096].map(|block_rows| {
            let source = open_with_labels(&[fixture(rows)], &[fixture(labels)], &options(block_rows)).unwrap();
            collect(&*source, block_rows).unwrap()
        });
        assert!(tables.windows(2).all(|two| two[0] == two[1]));
        std::mem::replace(&mut tables[0], Table { rows: Array2::zeros((0, 0)), targets: vec![] })
    };
    assert_eq!(join("rows_v1.npy", "labels.npy"), Table { rows: reals(), targets: bracketed(&labels()) });
    assert_eq!(join("fortran.npy", "labels.txt"), Table { rows: reals(), targets: words() });
    assert_eq!(join("images.idx", "labels.csv"), Table { rows: images(), targets: labels() });
    assert_eq!(join("whole.idx.gz", "rows.libsvm").targets, bracketed(&labels()));
    assert_eq!(join("stored.npz::X", "stored.npz::y"), Table { rows: reals(), targets: bracketed(&labels()) });
    assert_eq!(join("rows.libsvm", "two_targets.npy").targets[0], "[-1, -0.5]");
    assert_eq!(join("images.idx", "labels.idx").targets[..2], ["[0]", "[1]"]);
}

#[test]
fn target_columns_are_chosen_by_name_or_number() {
    let folder = TempDir::new().unwrap();
    let path = write(&folder, "a.csv", b"id,a,y\n7,2,cat\n8,3,dog\n");
    let with = |target| read(&path, &ReadOptions { target, ..options(9) });
    assert_eq!(
        with(TargetChoice::Columns(vec![ColumnRef::Number(1)])).unwrap_err().to_string().matches("\"cat\"").count(),
        1
    );
    let choice = TargetChoice::Columns(vec!["-2".parse().unwrap(), ColumnRef::Name("id".to_owned())]);
    let both = read(&write(&folder, "b.csv", b"id,a,b\n7,2,1\n8,3,1\n"), &ReadOptions { target: choice, ..options(9) });
    assert_eq!(both.unwrap().targets, ["[2, 7]", "[3, 8]"]);
    let names = vec!["a".to_owned(), "id".to_owned()];
    let table = read(&path, &ReadOptions { inputs: InputChoice::Names(names), ..options(9) }).unwrap();
    assert_eq!(
        (table.rows, table.targets),
        (ndarray::array![[2.0, 7.0], [3.0, 8.0]], vec!["cat".into(), "dog".into()])
    );
}

#[test]
fn a_label_that_recurs_is_no_header() {
    let folder = TempDir::new().unwrap();
    let rows = write(&folder, "x.csv", b"1\n2\n3\n4\n");
    let names = |labels: &[u8]| {
        let source = open_with_labels(&[&rows], &[write(&folder, "y.csv", labels)], &options(9)).unwrap();
        let mut reader = source.read().unwrap();
        while reader.next_block().unwrap().is_some() {}
        source.info().target_names.clone()
    };
    assert_eq!(names(b"y\nn\ny\nn\n"), ["label"]);
    assert_eq!(names(b"y\ny\nn\nn\n"), ["label"]);
    assert_eq!(names(b"n\ny\ny\nn\n"), ["label"]);
    assert_eq!(names(b"y\n1\n0\n0\n1\n"), ["y"]);
    assert_eq!(names(b"class\na\nb\nb\na\n"), ["class"]);
}

#[test]
fn prediction_takes_files_with_and_without_the_target() {
    let folder = TempDir::new().unwrap();
    let target = TargetChoice::IfPresent { names: vec!["t".to_owned()], n_inputs: 2, positions: vec![0], keep: true };
    let table = |text: &str| {
        read(&write(&folder, "a.csv", text.as_bytes()), &ReadOptions { target: target.clone(), ..options(9) }).unwrap()
    };
    let rows = ndarray::array![[1.0, 2.0]];
    assert_eq!(table("a,t,b\n1,x,2\n"), Table { rows: rows.clone(), targets: vec!["x".to_owned()] });
    assert_eq!(table("a,b\n1,2\n"), Table { rows: rows.clone(), targets: vec![] });
    assert_eq!(table("x,1,2\n"), Table { rows: rows.clone(), targets: vec!["x".to_owned()] });
    assert_eq!(table("1,2\n"), Table { rows, targets: vec![] });
}

#[test]
fn libsvm_without_targets_skips_labels_of_any_kind() {
    let folder = TempDir::new().unwrap();
    let none = ReadOptions { target: TargetChoice::None, n_inputs: Some(3), ..options(9) };
    let table = read(&write(&folder, "a", b"cat 1:1 # x\n\n2:5\n"), &none).unwrap();
    assert_eq!(table, Table { rows: ndarray::array![[1.0, 0.0, 0.0], [0.0, 5.0, 0.0]], targets: vec![] });
}

/// Byte order mark, ends of line, blanks and blank lines, as other systems and editors leave them.
#[test]
fn text_reads_the_same_however_it_is_ended() {
    let cases = [("a,b,y\n1,-2.5,x\n3,4,z\n", "csv"), ("1,-2.5,7\n3,4,8\n", "csv"), ("1 1:1 3:-2.5\n-1 2:4\n", "svm")];
    for (text, kind) in cases {
        let table = |text: String| collect(&*open_bytes(kind, text.into_bytes(), &options(2)).unwrap(), 2).unwrap();
        let expected = table(text.to_owned());
        assert_eq!(expected.rows.nrows(), 2);
        for end in ["\n", "\r\n", " \n", "\t \r\n"].into_iter().filter(|end| kind == "svm" || !end.contains('\t')) {
            let ended = text.replace('\n', end);
            for (start, rest) in [("", ""), ("\u{feff}", ""), ("", end), ("\u{feff}", "\n\r\n  \n\n")] {
                assert_eq!(
                    table(format!("{start}{ended}{rest}")),
                    expected,
                    "{text:?} with {start:?}, {end:?}, {rest:?}"
                );
            }
            assert_eq!(table(ended.trim_end().to_owned()), expected, "{text:?} without its last end of line");
        }
    }
    let none = ReadOptions { target: TargetChoice::None, ..options(2) };
    for column in ["1\n2", "1\r\n2\r\n", "\u{feff}1\n2\n\n\n", "1\n2 \r\n\r\n  \r\n"] {
        let source = open_bytes("column", column.as_bytes(), &none).unwrap();
        assert_eq!(collect(&*source, 2).unwrap().rows, ndarray::array![[1.0], [2.0]], "{column:?}");
    }
    assert_eq!(
        collect(&*open_bytes("a", &b" 1 , 2 ,x\n3, 4 , y \n"[..], &options(2)).unwrap(), 2).unwrap(),
        Table { rows: ndarray::array![[1.0, 2.0], [3.0, 4.0]], targets: vec!["x".to_owned(), "y".to_owned()] }
    );
}

#[test]
fn stored_zeros_stay() {
    let folder = TempDir::new().unwrap();
    let source = open(&write(&folder, "a", b"1 1:0 2:1\n"), &ReadOptions::default()).unwrap();
    let block = source.read().unwrap().next_block().unwrap().unwrap();
    assert_eq!(block.rows.n_stored(), 2);
}

/// As they are of the columns of Parquet files: float32 holds float16 exactly.
#[test]
fn arrays_are_stored_as_small_as_they_are() {
    let as_stored = |name: &str| {
        let source = open(&fixture(name), &ReadOptions { dtype: None, ..options(1) }).unwrap();
        match source.read().unwrap().next_block().unwrap().unwrap().rows {
            BlockRows::Bytes(_) => "bytes",
            BlockRows::Dense32(_) => "float32",
            _ => "float64",
        }
    };
    for name in ["rows_little_f2.npy", "fortran_big_f2.npy", "rows_big_f4.npy", "rows_f32.idx"] {
        assert_eq!(as_stored(name), "float32", "{name}");
    }
    for name in ["rows_v1.npy", "whole_little_i1.npy", "whole_big_u2.npy", "whole_i16.idx"] {
        assert_eq!(as_stored(name), "float64", "{name}");
    }
    assert_eq!([as_stored("whole_big_u1.npy"), as_stored("whole.idx")], ["bytes"; 2]);
}

#[test]
fn fixtures_cut_anywhere_never_panic() {
    let files = fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path());
    let is_cut = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        path.is_file() && !name.ends_with(".py") && !name.contains("bomb")
    };
    for path in files.filter(is_cut) {
        let bytes = fs::read(&path).unwrap();
        for len in 0..bytes.len() {
            let result = read_bytes(&bytes[..len]);
            let binary = !path.to_str().unwrap().contains(".csv") && !path.to_str().unwrap().contains(".libsvm");
            let text = matches!(path.extension().unwrap().to_str().unwrap(), "tsv" | "txt");
            assert!(!binary || text || result.is_err(), "{} cut to {len} bytes", path.display());
        }
    }
}

#[test]
fn fixtures_with_a_byte_changed_never_panic() {
    for name in ["rows_v1.npy", "several.npz", "whole.idx", "rows.csv", "words.csv"] {
        let bytes = fs::read(fixture(name)).unwrap();
        for at in 0..bytes.len().min(600) {
            for flip in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                let _ = read_bytes(&changed);
            }
        }
    }
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> String {
    let path: PathBuf = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Asserts that reading fails once with a message that names the file and holds the parts.
fn refuse_with(name: &str, bytes: &[u8], options: &ReadOptions, parts: &[&str]) {
    let folder = TempDir::new().unwrap();
    let path = write(&folder, name, bytes);
    let error = read(&path, options).expect_err(&format!("{name}: {}", bytes.escape_ascii())).to_string();
    check(&error, name, parts);
}

fn check(error: &str, name: &str, parts: &[&str]) {
    for part in [&[name], parts].concat() {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

fn refuse(name: &str, bytes: &[u8], parts: &[&str]) {
    refuse_with(name, bytes, &ReadOptions::default(), parts);
}

fn refuse_fixture(name: &str, parts: &[&str]) {
    check(
        &read(&fixture(name), &ReadOptions::default()).unwrap_err().to_string(),
        name.split("::").next().unwrap(),
        parts,
    );
}

#[test]
fn csv_rejections() {
    refuse("a.csv", b"1,2,3\n1,2\n", &["line 2", "2 fields", "expected 3", "fill the missing"]);
    refuse("a.csv", b"1,2,3\n1,2,3,4\n", &["line 2", "4 fields", "quote fields"]);
    refuse("a.csv", b"a,width,y\n1,2,x\n3,abc,x\n", &["line 3, column 2 (\"width\")", "\"abc\" is not a number"]);
    refuse("a.csv", b"\"a\nb\",y\n\n1,x\n\"1\n\n\",x\nbad,x\n", &["line 8, column 1 (\"a\\nb\")", "\"bad\""]);
    refuse("a.csv", b"1;2\n1,5;2\n", &["line 2, column 1", "\"1,5\"", "decimal point"]);
    refuse("a.csv", b"1 2 3\n4 5 6\n", &["1 column(s)"]);
    refuse("a.csv", b"1,nan,0\n", &["line 1, column 2", "nan is not a finite", "replace it"]);
    refuse("a.csv", b"1,-inf,0\n", &["-inf is not a finite"]);
    refuse("a.csv", b"1,1e39,0\n", &["1e39", "too large for float32", "float64"]);
    refuse("a.csv", b"a,b,y\n1,,0\n", &["line 2, column 2 (\"b\")", "missing", "fill it in"]);
    refuse("a.csv", b"a,b,y\n1,2,\n", &["line 2, column 3 (\"y\")", "missing"]);
    refuse("a.csv", b"", &["is empty"]);
    refuse("a.csv", b"\n \n", &["blank lines but no rows"]);
    refuse("a.csv", b"a,b,y\n", &["a header but no rows", "add at least one"]);
    refuse("a.csv", b"a,b,y\n1,\"2,0\n3,4,5\n", &["line 2", "never closed"]);
    refuse("a.csv", b"a,b,y\n1,2,\xff\n", &["line 2, column 3", "UTF-8"]);
    refuse("a.csv", b"x,y,label\n1,2,3\n", &["the target fits 2 columns (2 y, 3 label)", "number"]);
    refuse("a.csv", b"y\n1\n", &["1 column(s)", "nothing is left"]);
    let none = ReadOptions { target: TargetChoice::None, ..ReadOptions::default() };
    refuse_with("a.csv", b"1\n\n2\n", &none, &["line 2, column 1", "missing"]);
    let target = |column: &str| TargetChoice::Columns(vec![column.parse().unwrap()]);
    let with = |column: &str| ReadOptions { target: target(column), ..ReadOptions::default() };
    refuse_with("a.csv", b"a,b\n1,2\n", &with("c"), &["no column \"c\"", "it has a, b"]);
    refuse_with("a.csv", b"1,2\n", &with("c"), &["no column \"c\"", "no header and 2 columns"]);
    refuse_with("a.csv", b"1,2\n", &with("3"), &["no column 3", "from 1 to 2"]);
    refuse_with("a.csv", b"1,2\n", &with("0"), &["no column 0"]);
    let names = ReadOptions { inputs: InputChoice::Names(vec!["q".to_owned()]), ..ReadOptions::default() };
    refuse_with("a.csv", b"a,b\n1,2\n", &names, &["no column \"q\"", "it has a, b"]);
}

#[test]
fn libsvm_rejections() {
    refuse("a.svm", b"1 1:1\n1 1:1 3\n", &["line 2", "\"3\" is not index:value"]);
    refuse("a.svm", b"1 1:abc\n", &["line 1", "\"1:abc\" is not a number"]);
    refuse("a.svm", b"1 1:1\n\n# c\n1 2:1 2:3\n", &["line 4", "index 2 occurs twice", "keep one"]);
    refuse("a.svm", b"1 3:1 2:3\n", &["line 1", "index 2 comes after 3", "sort"]);
    refuse("a.svm", b"1 0:1 2:3\n", &["line 1", "\"0:1\" has index 0", "add 1"]);
    refuse("a.svm", b"1 2147483647:1\n", &["line 1", "2147483647:1", "above 2147483646"]);
    refuse("a.svm", b"1 99999999999999999999999:1\n", &["line 1", "above 2147483646"]);
    refuse("a.svm", b"1 1:nan\n", &["line 1", "1:nan is not a finite"]);
    refuse("a.svm", b"1 1:1e39\n", &["1:1e39", "float64"]);
    refuse("a.svm", b"1 1:\n", &["line 1", "\"1:\""]);
    refuse("a.svm", b"cat 1:1\n", &["line 1", "label \"cat\" is not a number", "number the classes"]);
    refuse("a.svm", b"1,2 1:1\n", &["line 1", "label \"1,2\" is not a number"]);
    refuse("a.svm", b"# only\n\n", &["comments and blank lines but no rows"]);
    let narrow = ReadOptions { n_inputs: Some(3), ..ReadOptions::default() };
    refuse_with("a.svm", b"1 1:1 4:1\n", &narrow, &["line 1", "\"4:1\"", "beyond the 3 inputs"]);
    let columns = TargetChoice::Columns(vec![ColumnRef::Number(1)]);
    let columns = ReadOptions { target: columns, ..ReadOptions::default() };
    refuse_with("a.svm", b"1 1:1\n", &columns, &["LIBSVM", "file of their own"]);
}

#[test]
fn array_rejections() {
    refuse_fixture("object.npy", &["|O", "convert to a numeric type"]);
    refuse_fixture("complex.npy", &["<c8", "convert to a numeric type"]);
    refuse_fixture("string.npy", &["<U1", "convert to a numeric type"]);
    refuse_fixture("record.npy", &["('a', '<f4')", "convert to a numeric type"]);
    refuse_fixture("nan.npy", &["row 5, column 3", "NaN is not a finite", "replace it", "train with --impute mean|"]);
    refuse_fixture("huge.npy", &["row 5, column 3", "too large for float32"]);
    refuse_fixture("several.npz", &["X_train, X_test, y_train", "several.npz::X_train"]);
    refuse_fixture("several.npz::Z", &["no array \"Z\"", "X_train, X_test, y_train"]);
    refuse_fixture("rows.csv::Z", &["only NPZ archives", "leave out ::Z"]);
    for name in ["rows_v1.npy", "fortran.npy", "rows_f32.idx", "whole.idx"] {
        let bytes = fs::read(fixture(name)).unwrap();
        refuse(name, &bytes[..bytes.len() - 1], &["declares 7 rows but ends in row 7", "copy or write it again"]);
        refuse(name, &[&bytes[..], b"x"].concat(), &["bytes after the 7 rows"]);
    }
    refuse("a.idx", b"\0\0\x08\x03\0\0", &["IDX header is malformed", "3 dimensions"]);
    refuse("a.idx", b"\0\0\x08\x01\0\0\0\0", &["size 0 but no rows"]);
    let huge = [&b"\0\0\x0e\x03"[..], &[0xff; 12]].concat();
    refuse("a.idx", &huge, &["4294967295, 4294967295, 4294967295", "header is corrupt"]);
    let large = [&b"\0\0\x08\x02\xff\xff\xff\xff\0\0\xff\xff"[..], &[1; 100]].concat();
    refuse("a.idx", &large, &["declares 4294967295 rows but ends in row 1"]);
    let archive = fs::read(fixture("stored.npz")).unwrap();
    let mut damaged = archive.clone();
    damaged[300] ^= 1;
    refuse("a.npz", &damaged, &["NPZ archive cannot be read", "write it again"]);
    refuse("a.npz", &archive[..archive.len() / 2], &["NPZ archive cannot be read"]);
}

#[test]
fn file_rejections() {
    let folder = TempDir::new().unwrap();
    let fail = |path: &str| read(path, &ReadOptions::default()).unwrap_err().to_string();
    check(&fail(folder.path().join("none.csv").to_str().unwrap()), "none.csv", &["no such file", "check the path"]);
    check(&fail(folder.path().to_str().unwrap()), "", &["is a directory", "path of a file"]);
    if cfg!(unix) {
        let little = ReadOptions { spool_bytes: 1 << 20, ..ReadOptions::default() };
        let error = read("/dev/zero", &little).unwrap_err().to_string();
        check(&error, "/dev/zero has more than 1048576 bytes", &["temporary file", "save it to a file"]);
    }
    refuse("a.bin", b"\x7fELF\x02\x01\0\0", &["\\x7fELF", "binary data", "expected LIBSVM, CSV, NPY"]);
    for (format, name) in [(Format::Npy, "NPY"), (Format::Idx, "IDX")] {
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        refuse_with("a.csv", b"1,2,3\n", &options, &[&format!("no {name} file"), "\"1,2,", "leave the format out"]);
    }
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let folder = TempDir::new().unwrap();
    let six = write(&folder, "six.txt", b"1\n2\n3\n4\n5\n6\n");
    let nine = write(&folder, "nine.txt", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    for block_rows in [1, 3, 4096] {
        let join = |rows: &str, labels: &str| {
            let source = open_with_labels(&[fixture(rows)], &[labels], &options(block_rows));
            source
                .map_err(mercer::Error::from)
                .and_then(|source| collect(&*source, block_rows))
                .unwrap_err()
                .to_string()
        };
        check(&join("rows_v1.npy", &six), "rows_v1.npy has 7 rows but", &["six.txt has 6 labels", "header"]);
        check(&join("rows.libsvm", &nine), "rows.libsvm has 7 rows but", &["nine.txt has 9 labels"]);
        check(&join("rows.csv", &six), "rows.csv has 7 rows but", &["six.txt has 6 labels"]);
    }
    let declared = open_with_labels(&[fixture("several.npz::X_test")], &[fixture("labels.npy")], &options(9));
    check(&declared.err().unwrap().to_string(), "X_test has 2 rows but", &["labels.npy has 7 labels"]);
    let labelled = |dtype: &str, bytes: [u8; 8]| {
        let head = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': (7,)}}");
        let head = [b"\x93NUMPY\x01\x00", &(head.len() as u16).to_le_bytes()[..], head.as_bytes()].concat();
        let labels = write(&folder, "y.npy", &[head, [[0; 8]; 6].concat(), bytes.to_vec()].concat());
        let source = open_with_labels(&[fixture("rows_v1.npy")], &[labels], &options(9)).unwrap();
        source.read().unwrap().next_block().map_err(|error| error.to_string())
    };
    let two = 1_i64 << 53;
    assert!(labelled("<i8", two.to_le_bytes()).is_ok() && labelled("<f8", 1e300_f64.to_le_bytes()).is_ok());
    let rounded = ["row 7, column 1: the target 9007199254740993 is 9007199254740992 as float64; number or name"];
    check(&labelled("<i8", (two + 1).to_le_bytes()).unwrap_err(), "y.npy", &rounded);
    check(&labelled(">u8", (two + 1).to_be_bytes()).unwrap_err(), "y.npy", &rounded);
    let nan = labelled("<f8", f64::NAN.to_le_bytes()).unwrap_err();
    assert!(nan.contains("NaN is not a finite number") && !nan.contains("--impute"), "{nan}");
    let wide = open_with_labels(&[fixture("rows_v1.npy")], &[fixture("rows.csv")], &options(9));
    check(&wide.err().unwrap().to_string(), "rows.csv", &["5 columns", "choose the target column"]);
}
