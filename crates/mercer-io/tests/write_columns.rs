//! Parquet and Arrow files that are written: read back they hold the same bits. That PyArrow reads them too is checked
//! by `cargo xtask interop`.

#![cfg(feature = "arrow")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::slice::from_ref;

use mercer::Dtype;
use mercer::dataset::{Block, BlockRows, CsrMatrix, Layout, TargetBlock};
use mercer_io::{BlockWriter, CategoricalChoice, ReadOptions, Result, Schema, TargetChoice, open};
use ndarray::{Array2, arr2};

/// Where the files are left.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn schema(layout: Layout, dtype: Dtype, n_inputs: usize) -> Schema {
    Schema {
        layout,
        dtype,
        n_rows: 0,
        n_inputs,
        input_names: Vec::new(),
        categorical: Vec::new(),
        target_names: Vec::new(),
        target_words: false,
        targets_first: false,
    }
}

fn create(name: &str, schema: &Schema) -> Result<Box<dyn BlockWriter>> {
    mercer_io::create(&path(name), schema)
}

fn write(name: &str, schema: &Schema, blocks: &[Block]) {
    let mut writer = create(name, schema).unwrap();
    blocks.iter().for_each(|block| writer.write(block).unwrap());
    writer.finish().unwrap();
}

fn read(name: &str, options: &ReadOptions) -> Vec<Block> {
    let source = open(path(name).to_str().unwrap(), options).unwrap();
    let mut reader = source.read().unwrap();
    std::iter::from_fn(|| reader.next_block().unwrap()).collect()
}

/// Everything as it is stored; all columns are inputs unless `target` says otherwise.
fn stored(target: TargetChoice) -> ReadOptions {
    ReadOptions { dtype: None, target, block_rows: 1 << 20, ..ReadOptions::default() }
}

#[test]
fn numbers_words_and_gaps() {
    let names = ["a", "colour", "b"].map(str::to_owned).to_vec();
    let target_names = vec!["class".to_owned()];
    let schema = Schema {
        input_names: names.clone(),
        categorical: vec![1],
        target_names,
        target_words: true,
        ..schema(Layout::Dense, Dtype::Float32, 3)
    };
    let block = |rows: Array2<f32>, levels: &[&str], classes: &[&str]| Block {
        rows: BlockRows::Dense32(rows),
        targets: Some(TargetBlock::Text(classes.iter().map(|&class| class.to_owned()).collect())),
        levels: vec![levels.iter().map(|&level| level.to_owned()).collect()],
    };
    let blocks = [
        block(arr2(&[[0.1, 1.0, -0.0], [f32::NAN, 0.0, 1e-40]]), &["red", "blue"], &["yes", "no"]),
        block(arr2(&[[3e38, 0.0, 7.0], [2.0, f32::NAN, 8.0]]), &["blue"], &["no", "perhaps, \"so\""]),
    ];
    for name in ["words.parquet", "words.arrow"] {
        write(name, &schema, &blocks);
        let options =
            ReadOptions { keep_missing: true, categorical: CategoricalChoice::Auto, ..stored(TargetChoice::Auto) };
        let read = read(name, &options);
        let n_rows: usize = read.iter().map(|block| block.rows.n_rows()).sum();
        assert_eq!(n_rows, 4, "{name}");
        let source = open(path(name).to_str().unwrap(), &options).unwrap();
        assert_eq!((&source.info().input_names, &source.info().categorical), (&names, &vec![1]));
        let cell = |block: &Block, i: usize| {
            let BlockRows::Dense32(x) = &block.rows else { panic!("{name}: not float32") };
            let word = (!x[[i, 1]].is_nan()).then(|| block.levels[0][x[[i, 1]] as usize].clone());
            let Some(TargetBlock::Text(classes)) = &block.targets else { panic!("{name}: no classes") };
            (x[[i, 0]].to_bits(), word, x[[i, 2]].to_bits(), classes[i].clone())
        };
        let cells = |blocks: &[Block]| -> Vec<_> {
            blocks
                .iter()
                .flat_map(|block| (0..block.rows.n_rows()).map(|i| cell(block, i)).collect::<Vec<_>>())
                .collect()
        };
        assert_eq!(cells(&read), cells(&blocks), "{name}");
    }
}

#[test]
fn bytes_doubles_and_several_targets() {
    let bytes = Array2::from_shape_fn((5, 3), |(i, j)| (50 * i + j) as u8);
    let doubles = Array2::from_shape_fn((5, 3), |(i, j)| 0.1 * i as f64 - j as f64);
    let targets = Array2::from_shape_fn((5, 2), |(i, j)| i as f64 / 3.0 + j as f64);
    for kind in ["parquet", "arrow"] {
        let name = format!("bytes.{kind}");
        let block = Block::new(BlockRows::Bytes(bytes.clone()), None);
        write(&name, &schema(Layout::Bytes, Dtype::Float32, 3), from_ref(&block));
        assert_eq!(read(&name, &stored(TargetChoice::None)), [block]);
        let name = format!("targets.{kind}");
        let target_names = vec!["u".to_owned(), "v".to_owned()];
        let target = TargetChoice::Columns(target_names.iter().map(|name| name.parse().unwrap()).collect());
        let schema = Schema { target_names, targets_first: true, ..schema(Layout::Dense, Dtype::Float64, 3) };
        let block = Block::new(BlockRows::Dense64(doubles.clone()), Some(TargetBlock::Numbers(targets.clone())));
        write(&name, &schema, from_ref(&block));
        assert_eq!(read(&name, &stored(target)), [block]);
        let source = open(path(&name).to_str().unwrap(), &stored(TargetChoice::None)).unwrap();
        assert_eq!(source.info().input_names, ["u", "v", "x1", "x2", "x3"]);
    }
}

#[test]
fn numbers_as_text_are_numbers() {
    let schema = Schema { target_names: vec!["y".to_owned()], ..schema(Layout::Dense, Dtype::Float32, 1) };
    let block = |targets: [&str; 2]| {
        let targets = targets.map(str::to_owned).to_vec();
        Block::new(BlockRows::Dense32(arr2(&[[1.0], [2.0]])), Some(TargetBlock::Text(targets)))
    };
    write("text.parquet", &schema, &[block(["0.1", " -3 "])]);
    let read = read("text.parquet", &stored(TargetChoice::Auto));
    assert_eq!(read[0].targets, Some(TargetBlock::Numbers(arr2(&[[0.1], [-3.0]]))));
    let mut writer = create("dropped.parquet", &schema).unwrap();
    let error = writer.write(&block(["1", "two"])).unwrap_err().to_string();
    assert!(error.contains("row 2") && error.contains("\"two\" is not a number"), "{error}");
    drop(writer);
    assert!(!path("dropped.parquet").exists());
}

#[test]
fn sparse_rows_are_written_densely_up_to_a_width() {
    let mut rows = CsrMatrix::<f32>::new(4);
    rows.push(1, 2.5).unwrap();
    rows.push(3, -1.0).unwrap();
    rows.finish_row();
    rows.finish_row();
    let block = Block::new(BlockRows::Sparse32(rows), None);
    write("sparse.parquet", &schema(Layout::Sparse, Dtype::Float32, 4), &[block]);
    let read = read("sparse.parquet", &stored(TargetChoice::None));
    assert_eq!(read[0].rows, BlockRows::Dense32(arr2(&[[0.0, 2.5, 0.0, -1.0], [0.0; 4]])));
    let wide = create("wide.parquet", &schema(Layout::Sparse, Dtype::Float32, 5000)).err().unwrap().to_string();
    assert!(wide.contains("5000 columns are more than the 4096") && wide.contains("write LIBSVM"), "{wide}");
    let wide = create("wide.arrow", &schema(Layout::Dense, Dtype::Float32, 40_000)).err().unwrap().to_string();
    assert!(wide.contains("write NPY"), "{wide}");
    assert!(!path("wide.parquet").exists() && !path("wide.arrow").exists());
}

#[test]
fn many_rows_are_several_row_groups() {
    let block = |start: usize| {
        let rows = Array2::from_shape_fn((50_000, 2), |(i, j)| ((start + i) * (j + 1)) as f64);
        Block::new(BlockRows::Dense64(rows), None)
    };
    let blocks = [block(0), block(50_000), block(100_000)];
    write("long.parquet", &schema(Layout::Dense, Dtype::Float64, 2), &blocks);
    let read = read("long.parquet", &stored(TargetChoice::None));
    let groups: Vec<usize> = read.iter().map(|block| block.rows.n_rows()).collect();
    assert_eq!(groups, [65_536, 65_536, 150_000 - 2 * 65_536]);
    let values = read.iter().flat_map(|block| match &block.rows {
        BlockRows::Dense64(x) => x.iter().copied().collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    });
    assert!(values.enumerate().all(|(at, value)| value == ((at / 2) * (at % 2 + 1)) as f64));
}
