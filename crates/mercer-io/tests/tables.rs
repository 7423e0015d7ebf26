//! CSV tables of words and missing values: by hand, at every block size, against what pandas wrote, every rejection.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use mercer::dataset::{BlockRows, Source, Table, TargetBlock};
use mercer_io::CategoricalChoice::{self, Auto};
use mercer_io::{ColumnRef, InputChoice, ReadOptions, TargetChoice, open};
use tempfile::TempDir;

/// Rows as text: numbers as written by Rust, words in quotes, `-` for what is missing, the target last.
type Rows = Vec<Vec<String>>;

fn options(categorical: CategoricalChoice) -> ReadOptions {
    ReadOptions { categorical, keep_missing: true, ..ReadOptions::default() }
}

fn columns(names: &[&str]) -> Vec<ColumnRef> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn decoded(source: &dyn Source) -> mercer::Result<Rows> {
    let mut rows = Vec::new();
    let mut reader = source.read()?;
    while let Some(block) = reader.next_block()? {
        let BlockRows::Dense32(values) = block.rows else { panic!("dense float32") };
        let Some(TargetBlock::Text(targets)) = block.targets else { panic!("targets as text") };
        assert_eq!(block.levels.len(), source.info().categorical.len());
        for (row, target) in values.outer_iter().zip(targets) {
            let value = |(input, &value): (usize, &f32)| match source.info().categorical.binary_search(&input) {
                _ if value.is_nan() => "-".to_owned(),
                Ok(at) => format!("{:?}", block.levels[at][value as usize]),
                Err(_) => value.to_string(),
            };
            rows.push(row.iter().enumerate().map(value).chain([target]).collect());
        }
    }
    Ok(rows)
}

fn read(text: &[u8], options: &ReadOptions) -> mercer::Result<Rows> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, text).unwrap();
    decoded(&*open(path.to_str().unwrap(), options)?)
}

/// Reads the same rows at every block size.
fn rows(text: &str, options: &ReadOptions) -> Vec<String> {
    let read = |block_rows| read(text.as_bytes(), &ReadOptions { block_rows, ..options.clone() }).unwrap();
    let whole = read(4096);
    for block_rows in [1, 7] {
        assert_eq!(read(block_rows), whole, "{block_rows} rows a block");
    }
    whole.iter().map(|row| row.join(" ")).collect()
}

fn refuse(text: &[u8], options: &ReadOptions, parts: &[&str]) {
    let error = read(text, options).expect_err(&text.escape_ascii().to_string()).to_string();
    for part in [&["a.csv"], parts].concat() {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

#[test]
fn words_and_numbers_and_gaps() {
    let text = "colour,size,code,y\nred,1.5,7,a\nblue,,x,b\n,2,z,a\nred,NA,y,b\n NaN ,3,?,a\n";
    let expected = ["\"red\" 1.5 \"7\" a", "\"blue\" - \"x\" b", "- 2 \"z\" a", "\"red\" - \"y\" b", "- 3 - a"];
    assert_eq!(rows(text, &options(Auto)), expected);
    let headless: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows(&headless.join("\n"), &options(Auto)), expected);
    let crlf = format!("\u{feff}{}\r\n\r\n", text.replace('\n', "\r\n").replace("\r\nred,NA", "\r\n  \r\n\r\nred,NA"));
    assert_eq!(rows(&crlf, &options(Auto)), expected);
    assert_eq!(rows(&text.replace(',', " ; "), &options(Auto)), expected);
    assert_eq!(rows(&text.replace(',', "\t"), &options(Auto)), expected);
}

#[test]
fn quoted_words_are_the_words_they_quote() {
    let text =
        "w,x,y\n\"red\", 1,a\nred ,\"2\",b\n\"deep, \"\"dark\"\"\nred\",\" 3\",a\n\"\",\"\",b\n\"NA\",\"nan\",\"a\"\n";
    let expected = ["\"red\" 1 a", "\"red\" 2 b", "\"deep, \\\"dark\\\"\\nred\" 3 a", "- - b", "- - a"];
    assert_eq!(rows(text, &options(Auto)), expected);
}

#[test]
fn blanks_of_any_script_are_no_part_of_a_word() {
    let text = "w,x,y\n\u{a0}grün\u{2003},1,a\ngrün,2,b\n\u{a0},3,a\n";
    assert_eq!(rows(text, &options(Auto)), ["\"grün\" 1 a", "\"grün\" 2 b", "- 3 a"]);
}

#[test]
fn half_of_the_values_decide_gaps_aside() {
    let categorical = |text: &str| {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, text).unwrap();
        open(path.to_str().unwrap(), &options(Auto)).unwrap().info().categorical.clone()
    };
    assert_eq!(categorical("a,b,c,y\n1,1,,1\nx,x,,1\n2,x,NA,1\n,,,1\n"), [1]);
    assert_eq!(categorical("a,y\n1,u\n2,v\n"), [] as [usize; 0]);
    // Only the beginning is looked at.
    let late = format!("a,y\n{}{}", "1,1\n".repeat(1000), "x,1\n".repeat(2000));
    assert_eq!(categorical(&late), [] as [usize; 0]);
    refuse(
        late.as_bytes(),
        &options(Auto),
        &["line 1002, column 1 (\"a\")", "\"x\" is not a number", "--categorical a"],
    );
    let wide = format!("a,y\n{},1\nx,1\nx,1\n", "1".repeat(1 << 21));
    assert_eq!(categorical(&wide), [0], "the record that passes the limit counts, and those before it");
}

#[test]
fn categories_are_those_chosen() {
    let text = "id,zip,size,y\n7,10,1,a\n8,20,2,b\n";
    let zip = options(CategoricalChoice::Columns(columns(&["zip"])));
    assert_eq!(rows(text, &zip), ["7 \"10\" 1 a", "8 \"20\" 2 b"]);
    assert_eq!(rows(text, &options(CategoricalChoice::Inputs(vec![0, 2]))), ["\"7\" 10 \"1\" a", "\"8\" 20 \"2\" b"]);
    assert_eq!(rows(text, &options(CategoricalChoice::None)), ["7 10 1 a", "8 20 2 b"]);
    let dropped = ReadOptions { inputs: InputChoice::AllBut(columns(&["id"])), ..zip.clone() };
    assert_eq!(rows(text, &dropped), ["\"10\" 1 a", "\"20\" 2 b"]);
    let turned = ReadOptions { inputs: InputChoice::Columns(columns(&["size", "zip"])), ..zip };
    assert_eq!(rows(text, &turned), ["1 \"10\" a", "2 \"20\" b"]);
    let absent = options(CategoricalChoice::Columns(columns(&["zap"])));
    refuse(text.as_bytes(), &absent, &["no column \"zap\"", "it has id, zip, size, y"]);
}

#[test]
fn prediction_finds_the_inputs_of_training() {
    let target = TargetChoice::IfPresent { names: vec!["y".into()], n_inputs: 2, positions: vec![2], keep: true };
    let inputs = InputChoice::Names(vec!["colour".into(), "size".into()]);
    let options = ReadOptions { inputs, target, ..options(CategoricalChoice::Inputs(vec![0])) };
    let expected = ["\"12\" 1 a", "\"unseen\" - b"];
    assert_eq!(rows("y,size,more,colour\na,1,?,12\nb,,x,unseen\n", &options), expected);
    assert_eq!(rows("12,1,a\nunseen,,b\n", &options), expected, "without a header");
    refuse(b"y,size,colour\na,large,12\n", &options, &["line 2, column 2 (\"size\")", "\"large\" is not a number"]);
}

#[test]
fn a_long_table_is_the_same_at_every_block_size() {
    let written = ["red", "green", "\"a \"\"b\"\", c\"", "", "blue\u{a0}"];
    let meant = ["\"red\"", "\"green\"", "\"a \\\"b\\\", c\"", "-", "\"blue\""];
    let word = |i: usize| (i / 3 + i * i) % 5;
    let number = |i: usize, gap: &str| if i % 7 == 3 { gap.to_owned() } else { (i * 3).to_string() };
    let line = |i: usize| format!("{},{},{}\n", written[word(i)], number(i, "NA"), i % 3);
    let text: String = (0..5000).map(line).collect();
    let expected = |i: usize| format!("{} {} {}", meant[word(i)], number(i, "-"), i % 3);
    assert_eq!(rows(&format!("w,x,y\n{text}"), &options(Auto)), (0..5000).map(expected).collect::<Vec<_>>());
}

/// As make.py defines it.
#[test]
fn pandas_writes_what_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/table.csv");
    let words = ["red", "a \"b\" c", "d, e", "f\ng", "grün", "12", "-"];
    for block_rows in [1, 7, 4096] {
        let options = ReadOptions { block_rows, ..options(Auto) };
        let source = open(path.to_str().unwrap(), &options).unwrap();
        assert_eq!(source.info().categorical, [0, 2]);
        let expected = (0..40).map(|i| {
            let quoted = |word: &str| if word == "-" { "-".to_owned() } else { format!("{word:?}") };
            let number = if i % 5 == 2 { "-".to_owned() } else { (i as f32 / 4.0 - 3.0).to_string() };
            vec![quoted(words[i % 7]), number, quoted(words[i * i % 7]), ["no", "yes, or so"][i % 2].to_owned()]
        });
        assert_eq!(decoded(&*source).unwrap(), expected.collect::<Rows>());
    }
}

#[test]
fn a_table_counts_levels_and_gaps_across_blocks() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "w,x,y\nb,1,u\na,,v\nb,2,u\n,NA,v\nc,3,u\na,4,v\nb,5,u\n").unwrap();
    for block_rows in [1, 3, 4096] {
        let options = ReadOptions { block_rows, ..options(Auto) };
        let table = Table::scan(open(path.to_str().unwrap(), &options).unwrap(), 0).unwrap();
        assert_eq!(table.levels(0), [("b", 3), ("a", 2), ("c", 1)]);
        assert_eq!((table.n_missing(), table.n_rows()), (vec![1, 2], 7));
    }
}

#[test]
fn without_missing_values_kept_each_is_refused() {
    let refused = |text: &str, parts: &[&str]| {
        let options = ReadOptions { keep_missing: false, ..options(Auto) };
        refuse(text.as_bytes(), &options, parts);
    };
    let impute = "--impute mean|median|most-frequent";
    refused("w,x,y\nred,1,a\nblue,,b\n", &["line 3, column 2 (\"x\")", "the value is missing;", impute]);
    refused("w,x,y\nred,1,a\nblue,NA,b\n", &["line 3, column 2 (\"x\")", "the value is missing (\"NA\");", impute]);
    refused("w,x,y\nred,1,a\nblue,nan,b\n", &["line 3, column 2 (\"x\")", "nan is not a finite number", impute]);
    refused("w,x,y\nred,1,a\n,2,b\n", &["line 3, column 1 (\"w\")", "the value is missing;", impute]);
    refused("w,x,y\nred,1,a\n\"?\",2,b\n", &["line 3, column 1 (\"w\")", "the value is missing (\"?\");", impute]);
}

#[test]
fn a_target_is_never_missing() {
    for target in ["", "NA", "\"\"", "nan"] {
        let text = format!("w,x,y\nred,1,a\nblue,2,{target}\n");
        let error = read(text.as_bytes(), &options(Auto)).unwrap_err().to_string();
        assert!(error.contains("line 3, column 3 (\"y\")") && !error.contains("--impute"), "{error}");
    }
}

#[test]
fn words_where_numbers_are_expected_are_refused() {
    let none = options(CategoricalChoice::None);
    refuse(b"w,y\n1,a\nred,b\n", &none, &["line 3, column 1 (\"w\")", "\"red\"", "--categorical w", "--drop w"]);
    refuse(b"1,a\nred,b\n", &none, &["line 2, column 1:", "--categorical 1", "--drop 1"]);
    refuse(b"1,0,y\n5,1,a\nred,1,b\n", &ReadOptions { header: Some(true), ..none.clone() }, &["--drop 1"]);
    refuse(b"0,1,y\n5,1,a\nred,1,b\n", &none, &["column 1 (\"0\")", "--drop 1"]);
    refuse(b"my x,y\n1,a\nred,b\n", &none, &["--categorical \"my x\"", "--drop \"my x\""]);
    refuse(b"x,y\n1,a\n-inf,b\n", &none, &["line 3, column 1 (\"x\")", "-inf is not a finite"]);
    refuse(b"w,x,y\nred,1,a\n\xff,2,b\n", &options(Auto), &["line 3, column 1 (\"w\")", "UTF-8"]);
    refuse(b"w,x,y\nred,1,a\nblue,2\n", &options(Auto), &["line 3 has 2 fields"]);
}
