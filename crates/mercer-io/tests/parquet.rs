//! Parquet and Arrow files against the tables that PyArrow wrote (fixtures/make_arrow.py), at every block size; every
//! rejection.

#![cfg(feature = "arrow")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use mercer::Dtype;
use mercer::dataset::{BlockRows, Layout, Source, TargetBlock};
use mercer_io::{
    CategoricalChoice, ColumnRef, InputChoice, ReadOptions, TargetChoice, open, open_bytes, open_with_labels,
};
use ndarray::{Array2, Axis, concatenate};

const BLOCKS: [usize; 3] = [1, 7, 4096];
const COLOURS: [&str; 3] = ["red", "green", "blue"];
const CLASSES: [&str; 3] = ["no", "perhaps", "yes"];

/// All blocks of a source put together; words are looked up.
#[derive(Debug)]
struct Table {
    rows: Array2<f64>,
    words: Vec<Vec<Option<String>>>,
    numbers: Option<Array2<f64>>,
    text: Vec<String>,
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/arrow").join(name);
    path.to_str().unwrap().to_owned()
}

fn read(source: &dyn Source) -> mercer::Result<Table> {
    let info = source.info().clone();
    let mut table = Table {
        rows: Array2::zeros((0, info.n_inputs.unwrap())),
        words: vec![Vec::new(); info.categorical.len()],
        numbers: None,
        text: Vec::new(),
    };
    let mut reader = source.read()?;
    while let Some(block) = reader.next_block()? {
        let rows = match block.rows {
            BlockRows::Bytes(x) => x.mapv(f64::from),
            BlockRows::Dense32(x) => x.mapv(f64::from),
            BlockRows::Dense64(x) => x,
            other => panic!("{other:?}"),
        };
        for ((words, levels), &input) in table.words.iter_mut().zip(&block.levels).zip(&info.categorical) {
            let word = |code: &f64| (!code.is_nan()).then(|| levels[*code as usize].clone());
            words.extend(rows.column(input).iter().map(word));
        }
        table.rows = concatenate![Axis(0), table.rows, rows];
        match block.targets {
            Some(TargetBlock::Text(text)) => table.text.extend(text),
            Some(TargetBlock::Numbers(y)) => {
                let before = table.numbers.take().unwrap_or_else(|| Array2::zeros((0, y.ncols())));
                table.numbers = Some(concatenate![Axis(0), before, y]);
            }
            None => {}
        }
    }
    Ok(table)
}

fn options(block_rows: usize) -> ReadOptions {
    ReadOptions { dtype: Some(Dtype::Float64), block_rows, ..ReadOptions::default() }
}

/// Reads at all block sizes; all give the same.
fn read_all(name: &str, options: &ReadOptions) -> Table {
    let mut tables = BLOCKS.map(|block_rows| {
        let source = open(&fixture(name), &ReadOptions { block_rows, ..options.clone() }).unwrap();
        assert_eq!(source.info().n_rows, Some(read(&*source).unwrap().rows.nrows() as u64), "{name}");
        read(&*source).unwrap_or_else(|error| panic!("{name}: {error}"))
    });
    let [one, seven, all] = &mut tables;
    for other in [one, seven] {
        let numbers = |table: &Table| table.words.is_empty().then(|| format!("{:?}", table.rows));
        assert_eq!(numbers(other), numbers(all), "{name}");
        assert_eq!((&other.words, &other.text), (&all.words, &all.text), "{name}");
        assert_eq!(format!("{:?}", other.numbers), format!("{:?}", all.numbers), "{name}");
    }
    let [_, _, all] = tables;
    all
}

/// The first error, of opening or of reading.
fn error(name: &str, options: &ReadOptions) -> String {
    match open(&fixture(name), options) {
        Err(error) => error.to_string(),
        Ok(source) => read(&*source).unwrap_err().to_string(),
    }
}

fn named(columns: &[&str]) -> Vec<ColumnRef> {
    columns.iter().map(|name| ColumnRef::Name((*name).to_owned())).collect()
}

fn inputs(columns: &[&str]) -> ReadOptions {
    ReadOptions { inputs: InputChoice::Columns(named(columns)), ..options(4096) }
}

fn column(values: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..7).map(values).collect()
}

fn targets() -> Array2<f64> {
    Array2::from_shape_fn((7, 1), |(i, _)| (i % 3) as f64 - 1.0)
}

fn colours() -> Vec<Option<String>> {
    (0..7).map(|i| Some(COLOURS[i % 3].to_owned())).collect()
}

#[test]
fn every_codec_page_version_and_container_holds_the_rows() {
    let expected = Array2::from_shape_fn((7, 4), |(i, j)| (i + 1) as f64 * (j as f64 - 1.5));
    let codecs = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"];
    let mut files: Vec<String> =
        codecs.iter().flat_map(|codec| [1, 2].map(|v| format!("rows_{codec}_v{v}.parquet"))).collect();
    let more = ["rows_small_pages.parquet", "rows.arrow", "rows.arrows", "rows_lz4.arrow", "rows_zstd.arrow"];
    let feather = ["rows_zstd.arrows", "rows_uncompressed.feather", "rows_lz4.feather", "rows_zstd.feather"];
    files.extend(more.iter().chain(&feather).map(|&name| name.to_owned()));
    for name in files {
        let table = read_all(&name, &options(4096));
        assert_eq!(table.rows, expected, "{name}");
        assert_eq!(table.numbers, Some(targets()), "{name}");
        let info = open(&fixture(&name), &options(4096)).unwrap().info().clone();
        assert_eq!((info.input_names, info.target_names), (strings(&["a", "b", "c", "d"]), strings(&["y"])));
        assert_eq!(info.format, if name.ends_with(".parquet") { "Parquet" } else { "Arrow" });
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn every_type_of_number() {
    let expected = Array2::from_shape_fn((7, 16), |(i, j)| match j {
        11 => (i % 2) as f64,
        8..=10 => (3 * i + j) as f64 + 0.5,
        12 | 13 => (3 * i + j) as f64 + 0.25,
        _ => (3 * i + j) as f64,
    });
    for name in ["types.parquet", "types.arrow", "types.arrows"] {
        for dtype in [Some(Dtype::Float32), Some(Dtype::Float64), None] {
            let table = read_all(name, &ReadOptions { dtype, ..options(1) });
            assert_eq!(table.rows, expected, "{name}");
        }
    }
    let table = read_all("encodings.parquet", &inputs(&["i", "l", "s", "t"]));
    assert_eq!(table.rows, expected.mapv(f64::floor).slice(ndarray::s![.., ..4]));
    let table = read_all("large_ints.parquet", &ReadOptions { target: TargetChoice::None, ..options(2) });
    let two = 2f64.powi(53);
    assert_eq!(table.rows, ndarray::arr2(&[[two, 2f64.powi(64)], [-(2f64.powi(63)), 1.0], [0.0, 2.0]]));
}

#[test]
fn delta_encodings_of_every_codec() {
    let columns = inputs(&["word", "long", "i", "e", "d"]);
    let chosen = ReadOptions { categorical: CategoricalChoice::Auto, keep_missing: true, ..columns };
    let gapped: Vec<_> = colours().into_iter().enumerate().map(|(i, word)| word.filter(|_| i != 3)).collect();
    let codecs =
        ["none_v1", "none_v2", "snappy_v1", "gzip_v1", "gzip_v2", "brotli_v1", "brotli_v2", "zstd_v2", "lz4_v1"];
    for codec in codecs {
        let table = read_all(&format!("deltas_{codec}.parquet"), &chosen);
        assert_eq!(table.words, [gapped.clone(), gapped.clone()], "{codec}");
        for i in 0..7 {
            let expected = [3 * i, 3 * i, 3 * i + 1, 3 * i + 2, 3 * i + 1].map(|value| value as f64);
            assert_eq!(table.rows.row(i).to_vec()[2..], expected, "{codec}");
        }
        assert_eq!(table.numbers, Some(targets()), "{codec}");
    }
}

/// Memory is not taken for counts within pages: 2⁴⁰ lengths would end the program.
#[test]
fn counts_within_pages_are_not_believed() {
    let whole = std::fs::read(fixture("deltas_none_v1.parquet")).unwrap();
    let huge = [128, 128, 128, 128, 128, 32];
    // Blocks of 128 in 4 parts, 6 lengths: of words, of prefixes and suffixes.
    let runs: Vec<usize> = (0..whole.len() - 4).filter(|&at| whole[at..].starts_with(&[128, 1, 4, 6])).collect();
    assert_eq!(runs.len(), 3);
    let categorical = ReadOptions { categorical: CategoricalChoice::Auto, keep_missing: true, ..options(7) };
    for at in runs {
        for count in [&huge[..], &[8], &[255, 255, 3]] {
            let mut bytes = whole.clone();
            bytes[at + 3..][..count.len()].copy_from_slice(count);
            let error =
                open_bytes("counts.parquet", bytes, &categorical).map(|source| read(&*source).unwrap_err()).unwrap();
            assert!(error.to_string().contains("more lengths than values"), "{error}");
        }
    }
}

#[test]
fn values_are_stored_as_small_as_they_are() {
    let layout = |name: &str, columns: &[&str]| {
        let source = open(&fixture(name), &ReadOptions { dtype: None, ..inputs(columns) }).unwrap();
        let block = source.read().unwrap().next_block().unwrap().unwrap();
        let stored = match block.rows {
            BlockRows::Bytes(_) => "bytes",
            BlockRows::Dense32(_) => "float32",
            _ => "float64",
        };
        assert_eq!(source.info().layout == Layout::Bytes, stored == "bytes");
        stored
    };
    for kind in ["parquet", "arrow"] {
        assert_eq!(layout(&format!("types.{kind}"), &["uint8"]), "bytes");
        assert_eq!(layout(&format!("types.{kind}"), &["float16", "float32"]), "float32");
        assert_eq!(layout(&format!("types.{kind}"), &["uint8", "float32"]), "float64");
        assert_eq!(layout(&format!("types.{kind}"), &["int8"]), "float64");
        assert_eq!(layout(&format!("bytes.{kind}"), &["image", "more"]), "bytes");
        assert_eq!(layout(&format!("lists.{kind}"), &["list"]), "float32");
        let table = read_all(&format!("bytes.{kind}"), &options(1));
        assert_eq!(table.rows, Array2::from_shape_fn((7, 4), |(i, j)| (3 * i + j % 3) as f64));
    }
}

#[test]
fn words_are_levels_or_classes() {
    let auto = ReadOptions { categorical: CategoricalChoice::Auto, ..options(4096) };
    for name in ["words.parquet", "words.arrow", "words.arrows"] {
        let table = read_all(name, &auto);
        assert_eq!(table.words, vec![colours(); 5], "{name}");
        assert_eq!(table.rows.column(0).to_vec(), column(|i| i as f64), "{name}");
        let classes: Vec<String> = (0..7).map(|i| CLASSES[i % 3].to_owned()).collect();
        assert_eq!(table.text, classes, "{name}");
        let info = open(&fixture(name), &auto).unwrap().info().clone();
        assert_eq!((info.categorical, info.missing), (vec![1, 2, 3, 4, 5], false));
        let refused = error(name, &options(4096));
        assert!(refused.contains("column \"string\" holds words; name it as categorical"), "{refused}");
    }
    let table = read_all("deltas.arrows", &auto);
    assert_eq!(table.words, [colours()]);
    let table = read_all("encodings.parquet", &ReadOptions { inputs: inputs(&["word", "long"]).inputs, ..auto });
    assert_eq!(table.words, vec![colours(); 2]);
}

#[test]
fn files_of_polars() {
    let auto = ReadOptions { categorical: CategoricalChoice::Auto, keep_missing: true, ..options(4096) };
    for name in ["polars.parquet", "polars.arrow", "polars.arrows"] {
        let table = read_all(name, &auto);
        let coded: Vec<_> = colours().into_iter().enumerate().map(|(i, word)| word.filter(|_| i != 3)).collect();
        assert_eq!(table.words, [colours(), coded], "{name}");
        for i in 0..7 {
            let expected = [i, 3 * i, 3 * i + 1, 3 * i + 2].map(|value| value as f64);
            assert_eq!([0, 2, 3, 4].map(|j| table.rows[[i, j]]), expected, "{name}");
        }
        assert_eq!(table.numbers, Some(targets()), "{name}");
    }
}

#[test]
fn numbers_can_be_categories() {
    let chosen =
        ReadOptions { categorical: CategoricalChoice::Columns(named(&["int8", "float64", "bool"])), ..options(1) };
    for name in ["types.parquet", "types.arrow"] {
        let table = read_all(name, &chosen);
        assert_eq!(table.words[0][..3], [Some("0".to_owned()), Some("3".to_owned()), Some("6".to_owned())]);
        assert_eq!(table.words[1][0], Some("10.5".to_owned()));
        assert_eq!(table.words[2][1], Some("true".to_owned()));
    }
    // A null and NaN are gaps.
    let chosen = ReadOptions { categorical: CategoricalChoice::Columns(named(&["f"])), ..inputs(&["f"]) };
    for name in ["nulls.parquet", "nulls.arrow"] {
        let table = read_all(name, &ReadOptions { keep_missing: true, ..chosen.clone() });
        let words = [Some("0"), Some("1"), None, Some("3"), None, Some("5"), Some("6")];
        assert_eq!(table.words[0], words.map(|word| word.map(str::to_owned)));
        assert!(error(name, &chosen).contains("row 3, column 2 (\"f\"): the value is missing"));
    }
}

#[test]
fn lists_are_as_many_inputs() {
    for kind in ["parquet", "arrow"] {
        let name = format!("lists.{kind}");
        let table = read_all(&name, &options(1));
        let expected = Array2::from_shape_fn((7, 13), |(i, j)| match j {
            3 => i as f64,
            0..=2 => (3 * i + j) as f64,
            _ => (3 * i + (j - 4) % 3) as f64,
        });
        assert_eq!(table.rows, expected, "{name}");
        let info = open(&fixture(&name), &options(1)).unwrap().info().clone();
        assert_eq!(info.input_names[..5], strings(&["list[0]", "list[1]", "list[2]", "x", "large[0]"]));
        // As columns: by name, by number, left out.
        let table = read_all(&name, &inputs(&["fixed", "x"]));
        assert_eq!(table.rows.row(1).to_vec(), [3.0, 4.0, 5.0, 1.0]);
        let numbers = [ColumnRef::Number(2), ColumnRef::Number(-2)].to_vec();
        let table = read_all(&name, &ReadOptions { inputs: InputChoice::Columns(numbers), ..options(1) });
        assert_eq!(table.rows.row(1).to_vec(), [1.0, 3.0, 4.0, 5.0]);
        let but = InputChoice::AllBut(named(&["list", "large", "bytes"]));
        let table = read_all(&name, &ReadOptions { inputs: but, ..options(1) });
        assert_eq!(table.rows.row(2).to_vec(), [2.0, 6.0, 7.0, 8.0]);
        let target = TargetChoice::Columns(named(&["large"]));
        let table = read_all(&name, &ReadOptions { target, ..inputs(&["x"]) });
        assert_eq!(table.numbers.unwrap().row(2).to_vec(), [6.0, 7.0, 8.0]);
    }
}

#[test]
fn lists_of_dictionary_numbers() {
    for name in ["coded_lists.arrow", "coded_lists.arrows"] {
        let expected = Array2::from_shape_fn((7, 3), |(i, k)| (3 * i + k) as f64);
        assert_eq!(read_all(name, &inputs(&["e"])).rows, expected, "{name}");
        assert_eq!(read_all(name, &options(1)).rows.slice(ndarray::s![.., 3..]), expected, "{name}");
    }
}

/// Classes that float64 would make one; of several targets, which are quantities, it may.
#[test]
fn targets_that_float64_rounds_are_refused() {
    let target = |columns: &[&str]| TargetChoice::Columns(named(columns));
    for (column, expected) in [
        ("x", "row 1, column 1 (\"x\"): the target 9007199254740993 is 9007199254740992 as float64; number"),
        ("u", "row 1, column 2 (\"u\"): the target 18446744073709551615 is 18446744073709552000 as float64; number"),
    ] {
        let refused = error("large_ints.parquet", &ReadOptions { target: target(&[column]), ..options(2) });
        assert!(refused.contains(expected), "{refused}");
    }
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv");
    std::fs::write(&rows, "1,2\n3,4\n5,6\n").unwrap();
    let chosen = ReadOptions { target: target(&["x", "u"]), ..options(2) };
    let both = open_with_labels(&[rows.to_str().unwrap()], &[&fixture("large_ints.parquet")], &chosen).unwrap();
    assert_eq!(read(&*both).unwrap().numbers.unwrap()[[0, 0]], 2f64.powi(53));
}

#[test]
fn a_model_finds_its_list_inputs_again() {
    let names = |names: &[&str]| ReadOptions {
        inputs: InputChoice::Names(strings(names)),
        target: TargetChoice::IfPresent {
            names: strings(&["y"]),
            n_inputs: names.len(),
            positions: vec![4],
            keep: true,
        },
        ..options(4096)
    };
    for kind in ["parquet", "arrow"] {
        let name = format!("lists.{kind}");
        let table = read_all(&name, &names(&["x", "fixed[0]", "fixed[1]", "fixed[2]"]));
        assert_eq!(table.rows.row(1).to_vec(), [1.0, 3.0, 4.0, 5.0]);
        assert_eq!(table.numbers, Some(targets()));
        let part = error(&name, &names(&["fixed[0]", "fixed[1]"]));
        assert!(
            part.contains("column \"fixed\" holds lists of 3 numbers") && part.contains("2 are asked for"),
            "{part}"
        );
        let order = error(&name, &names(&["fixed[1]", "fixed[0]", "fixed[2]"]));
        assert!(order.contains("in order"), "{order}");
        let longer = error(&name, &names(&["fixed[0]", "fixed[1]", "fixed[2]", "fixed[3]"]));
        assert!(longer.contains("has no column \"fixed[3]\""), "{longer}");
        // A column may itself be called so.
        let table = read_all(&format!("headings.{kind}"), &names(&["a[0]", "a"]));
        assert_eq!(table.rows.row(0).to_vec(), [2.0, 1.0]);
    }
}

#[test]
fn lists_that_are_no_inputs_are_refused() {
    for kind in ["parquet", "arrow"] {
        let ragged = error(&format!("ragged.{kind}"), &options(2));
        assert!(ragged.contains("row 6, column 1 (\"e\") holds a list of 1 numbers, expected 2"), "{ragged}");
        let part = ReadOptions { categorical: CategoricalChoice::Inputs(vec![1]), ..options(1) };
        assert!(error(&format!("lists.{kind}"), &part).contains("\"list\""), "no part of a list holds words");
        let empty = error(&format!("empty_lists.{kind}"), &options(2));
        assert!(empty.contains("column \"e\" holds lists that are empty or null"), "{empty}");
        assert_eq!(read_all(&format!("empty_lists.{kind}"), &inputs(&["x"])).rows.nrows(), 7);
    }
    let last = error("list_last.parquet", &options(2));
    assert!(last.contains("column \"e\" holds lists") && last.contains("choose the target column"), "{last}");
}

#[test]
fn missing_values_are_refused_or_nan() {
    let columns = ["x", "f", "colour", "coded", "e", "g", "h"];
    let auto = ReadOptions { categorical: CategoricalChoice::Auto, ..inputs(&columns) };
    let gap = |i: usize, at: usize, value: f64| if i == at { f64::NAN } else { value };
    for kind in ["parquet", "arrow"] {
        let name = format!("nulls.{kind}");
        for (column, place) in [
            ("x", "row 3, column 1 (\"x\")"),
            ("f", "row 3, column 2 (\"f\")"),
            ("colour", "row 4, column 3 (\"colour\")"),
            ("coded", "row 4, column 4 (\"coded\")"),
            ("e", "row 6, column 5 (\"e[0]\")"),
            ("g", "row 6, column 6 (\"g[0]\")"),
            ("h", "row 7, column 7 (\"h[1]\")"),
        ] {
            let missing = error(&name, &ReadOptions { inputs: inputs(&[column]).inputs, ..auto.clone() });
            assert!(missing.contains(&format!("{place}: the value is missing")), "{column}: {missing}");
            assert!(missing.ends_with("train with --impute mean|median|most-frequent"), "{column}: {missing}");
        }
        let kept = ReadOptions { keep_missing: true, ..auto.clone() };
        let info = open(&fixture(&name), &kept).unwrap().info().clone();
        assert!(info.missing && info.layout == Layout::Dense && info.categorical == [2, 3]);
        let table = read_all(&name, &kept);
        let same = |input: usize, value: &dyn Fn(usize) -> f64| {
            let values = table.rows.column(input).to_vec();
            assert_eq!(format!("{values:?}"), format!("{:?}", column(value)), "{name}, input {input}");
        };
        same(0, &|i| gap(i, 2, i as f64));
        same(1, &|i| gap(i, 2, gap(i, 4, i as f64)));
        for k in 0..3 {
            same(4 + k, &|i| gap(i, 5, (3 * i + k) as f64));
            same(7 + k, &|i| gap(i, 5, (3 * i + k) as f64));
            same(10 + k, &|i| if k == 1 { gap(i, 6, (3 * i + k) as f64) } else { (3 * i + k) as f64 });
        }
        let words: Vec<_> = colours().into_iter().enumerate().map(|(i, word)| word.filter(|_| i != 3)).collect();
        assert_eq!(table.words, [words.clone(), words]);
    }
}

#[test]
fn values_that_are_no_finite_numbers_are_refused() {
    for kind in ["parquet", "arrow"] {
        let cases = [
            ("null_target", "row 6, column 2 (\"y\"): the value is missing"),
            ("null_class", "row 6, column 2 (\"class\"): the value is missing"),
            ("null_bytes", "row 3, column 1 (\"a\"): the value is missing; fill it in, remove the row, or train with"),
            ("nan", "row 5, column 2 (\"e[1]\"): inf is not a finite number; replace it"),
            ("huge", "row 5, column 1 (\"x\"): 10000"),
        ];
        for (name, expected) in cases {
            for block_rows in BLOCKS {
                let single = ReadOptions { dtype: Some(Dtype::Float32), ..options(block_rows) };
                let found = error(&format!("{name}.{kind}"), &single);
                assert!(found.contains(expected), "{name}.{kind}: {found}");
            }
        }
        let kept = ReadOptions { keep_missing: true, ..options(2) };
        for name in ["null_target", "null_class"] {
            assert!(error(&format!("{name}.{kind}"), &kept).contains("the value is missing"));
        }
        assert!(error(&format!("nan.{kind}"), &kept).contains("inf is not a finite number"));
        let found = error(&format!("nan.{kind}"), &inputs(&["n"]));
        assert!(
            found.contains("row 6, column 3 (\"n\"): NaN is not") && found.contains("or train with --impute"),
            "{found}"
        );
        let target = TargetChoice::Columns(named(&["n"]));
        let found = error(&format!("nan.{kind}"), &ReadOptions { target, ..inputs(&["x"]) });
        assert!(found.contains("NaN is not a finite number; replace it") && !found.contains("--impute"), "{found}");
        assert!(
            error(&format!("huge.{kind}"), &ReadOptions { dtype: Some(Dtype::Float32), ..kept }).contains("float64")
        );
        let table = read_all(&format!("null_bytes.{kind}"), &ReadOptions { keep_missing: true, ..options(2) });
        assert!(table.rows[[2, 0]].is_nan() && table.rows[[3, 0]] == 3.0);
    }
}

#[test]
fn columns_of_other_types_are_refused_only_where_they_are_used() {
    let cases = [
        ("date", "dates"),
        ("time", "timestamps"),
        ("struct", "structs"),
        ("map", "maps"),
        ("binary", "binary data"),
        ("nothing", "nothing but nulls"),
        ("texts", "lists of words"),
    ];
    for kind in ["parquet", "arrow"] {
        let name = format!("others.{kind}");
        for (column, holds) in cases {
            let refused = error(&name, &inputs(&["x", column]));
            let expected = format!("column {column:?} holds {holds}; leave it out (--drop NAME)");
            assert!(refused.contains(&expected), "{refused}");
            let refused =
                error(&name, &ReadOptions { target: TargetChoice::Columns(named(&[column])), ..inputs(&["x"]) });
            assert!(refused.contains(&expected), "{refused}");
        }
        let but = named(&cases.map(|(column, _)| column));
        let table = read_all(&name, &ReadOptions { inputs: InputChoice::AllBut(but), ..options(3) });
        assert_eq!(table.rows.column(0).to_vec(), column(|i| i as f64));
        assert_eq!(table.numbers, Some(targets()));
        let two = ReadOptions { target: TargetChoice::Columns(named(&["x", "class"])), ..options(3) };
        assert!(error(&format!("null_class.{kind}"), &two).contains("all of them targets"));
    }
}

#[test]
fn labels_come_from_a_file_of_one_column() {
    for kind in ["parquet", "arrow"] {
        let rows = ReadOptions { target: TargetChoice::None, ..options(2) };
        let source =
            open_with_labels(&[fixture("rows_none_v1.parquet")], &[fixture(&format!("labels.{kind}"))], &rows).unwrap();
        let table = read(&*source).unwrap();
        assert_eq!(table.text, (0..7).map(|i| CLASSES[i % 3].to_owned()).collect::<Vec<_>>());
        assert_eq!(table.rows.ncols(), 5);
        let empty = error(&format!("empty.{kind}"), &options(2));
        assert!(empty.contains("has a schema but no rows"), "{empty}");
    }
    let several = open_with_labels(&[fixture("rows.arrow")], &[fixture("rows.arrow")], &options(2)).err().unwrap();
    assert!(several.to_string().contains("has 5 columns, but a label file has one"), "{several}");
}

#[test]
fn a_packed_file_is_to_be_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [("rows_none_v1.parquet", "Parquet"), ("rows.arrow", "Arrow"), ("rows.arrows", "Arrow")] {
        let path = folder.path().join(format!("{name}.gz"));
        let mut packed = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
        packed.write_all(&std::fs::read(fixture(name)).unwrap()).unwrap();
        packed.finish().unwrap();
        let error = open(path.to_str().unwrap(), &options(7)).err().unwrap().to_string();
        assert!(error.contains(&format!("is {format}, packed as a whole; unpack it")), "{error}");
    }
}
