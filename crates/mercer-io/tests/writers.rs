//! What is written is read back to the same bits, in every format and packing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use mercer::Dtype;
use mercer::dataset::{Block, BlockRows, CsrMatrix, Source, Table, TargetBlock};
use mercer_io::{CategoricalChoice, ReadOptions, Schema, TargetChoice, create, open};
use ndarray::{Array2, array};
use tempfile::TempDir;

/// Values of every size and sign: shortest texts, subnormals, whole numbers, both zeros.
fn values(n_rows: usize, n_inputs: usize) -> Array2<f64> {
    let stream = mercer::random::Stream::new(3, mercer::random::Purpose::Sample);
    let special = [0.0, -0.0, 1.0, -17.0, 0.1, 1e-310, 5e-324, 1.7e308, 123_456_789.0, 1.0 / 3.0];
    let mut normal = vec![0.0; n_rows * n_inputs];
    stream.normal_into(0, &mut normal);
    Array2::from_shape_fn((n_rows, n_inputs), |(i, j)| {
        let at = i * n_inputs + j;
        if at < special.len() { special[at] } else { normal[at] * 10_f64.powi(at as i32 % 40 - 20) }
    })
}

fn options(dtype: Option<Dtype>) -> ReadOptions {
    let categorical = CategoricalChoice::Auto;
    ReadOptions { dtype, categorical, keep_missing: true, block_rows: 7, ..ReadOptions::default() }
}

/// Writes a block in two pieces and reads the file.
fn written(path: &Path, schema: &Schema, block: &Block, options: &ReadOptions) -> Vec<Block> {
    let mut writer = create(path, schema).unwrap();
    let n_rows = block.rows.n_rows();
    let (first, second): (Vec<usize>, Vec<usize>) = (0..n_rows).partition(|&i| i < n_rows / 3);
    writer.write(&block.select(&first)).unwrap();
    writer.write(&block.select(&second)).unwrap();
    assert!(!path.exists(), "a file appears when it is finished");
    writer.finish().unwrap();
    let source = open(path.to_str().unwrap(), options).unwrap();
    blocks(&*source)
}

fn blocks(source: &dyn Source) -> Vec<Block> {
    let mut reader = source.read().unwrap();
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        blocks.push(block);
    }
    blocks
}

/// The bits of the rows, dense.
fn bits(blocks: &[Block]) -> Vec<u64> {
    let of = |block: &Block| -> Vec<u64> {
        let widen = |x: f32| f64::from(x).to_bits();
        match &block.rows {
            BlockRows::Bytes(x) => x.iter().map(|&x| f64::from(x).to_bits()).collect(),
            BlockRows::Dense32(x) => x.iter().map(|&x| widen(x)).collect(),
            BlockRows::Dense64(x) => x.iter().map(|x| x.to_bits()).collect(),
            BlockRows::Sparse32(x) => dense(x).iter().map(|&x| widen(x)).collect(),
            BlockRows::Sparse64(x) => dense(x).iter().map(|x| x.to_bits()).collect(),
        }
    };
    blocks.iter().flat_map(of).collect()
}

fn dense<T: mercer::Scalar>(x: &CsrMatrix<T>) -> Array2<T> {
    let mut out = Array2::zeros((x.n_rows(), x.n_columns()));
    mercer::dataset::Rows::Sparse(x.view()).write_dense(out.view_mut());
    out
}

fn schema(block: &Block, dtype: Dtype) -> Schema {
    let layout = match block.rows {
        BlockRows::Bytes(_) => mercer::dataset::Layout::Bytes,
        BlockRows::Dense32(_) | BlockRows::Dense64(_) => mercer::dataset::Layout::Dense,
        BlockRows::Sparse32(_) | BlockRows::Sparse64(_) => mercer::dataset::Layout::Sparse,
    };
    Schema {
        layout,
        dtype,
        n_rows: block.rows.n_rows() as u64,
        n_inputs: block.rows.n_inputs(),
        input_names: Vec::new(),
        categorical: Vec::new(),
        target_names: vec!["label".to_owned()],
        target_words: false,
        targets_first: false,
    }
}

const PACKINGS: [&str; 5] = ["", ".gz", ".xz", ".zst", ".bz2"];

#[test]
fn numbers_keep_their_bits() {
    let folder = TempDir::new().unwrap();
    let x = values(23, 4);
    let y = Array2::from_shape_fn((23, 1), |(i, _)| x[[i, 0]] / 3.0);
    let single = x.mapv(|x| x as f32).mapv(|x| if x.is_finite() { x } else { 1.5 });
    let double = Block::new(BlockRows::Dense64(x.clone()), Some(TargetBlock::Numbers(y.clone())));
    let single = Block::new(BlockRows::Dense32(single), Some(TargetBlock::Numbers(y.clone())));
    for (block, dtype) in [(&double, Dtype::Float64), (&single, Dtype::Float32)] {
        for format in ["csv", "tsv", "svm", "npy", "parquet", "arrow"] {
            let columns = matches!(format, "parquet" | "arrow");
            for packing in if columns { &PACKINGS[..1] } else { &PACKINGS[..] } {
                let path = folder.path().join(format!("{dtype}.{format}{packing}"));
                let target_names = if format == "npy" { Vec::new() } else { vec!["label".to_owned()] };
                let schema = Schema { target_names, ..schema(block, dtype) };
                let read = written(&path, &schema, block, &options(Some(dtype)));
                let mut expected = bits(std::slice::from_ref(block));
                if format == "svm" {
                    // A zero has no sign where it is not stored.
                    expected.iter_mut().filter(|x| f64::from_bits(**x) == 0.0).for_each(|x| *x = 0);
                }
                assert_eq!(bits(&read), expected, "{}", path.display());
                assert!(format == "npy" || targets(&read) == y.iter().copied().collect::<Vec<_>>(), "{format}");
                assert!(read.len() > 1, "more than one block");
                assert_eq!(read[0].rows.n_inputs(), 4);
            }
        }
    }
}

fn targets(blocks: &[Block]) -> Vec<f64> {
    let of = |block: &Block| -> Vec<f64> {
        match block.targets.as_ref().unwrap() {
            TargetBlock::Numbers(x) => x.iter().copied().collect(),
            TargetBlock::Text(text) => text.iter().map(|text| text.parse().unwrap()).collect(),
        }
    };
    blocks.iter().flat_map(of).collect()
}

#[test]
fn bytes_and_sparse_rows() {
    let folder = TempDir::new().unwrap();
    let bytes = Array2::from_shape_fn((9, 5), |(i, j)| (i * 31 + j * 7) as u8);
    let mut sparse = CsrMatrix::new(6);
    for i in 0..9 {
        (0..5).filter(|j| (i + j) % 3 == 0).for_each(|j| sparse.push(j, 0.5 * (i * j) as f64 + 0.1).unwrap());
        sparse.finish_row();
    }
    let y = Some(TargetBlock::Numbers(Array2::from_shape_fn((9, 1), |(i, _)| i as f64)));
    let blocks = [
        (Block::new(BlockRows::Bytes(bytes), y.clone()), Dtype::Float32),
        (Block::new(BlockRows::Sparse64(sparse), y), Dtype::Float64),
    ];
    for (n, (block, dtype)) in blocks.iter().enumerate() {
        for format in ["csv", "svm", "npy", "parquet", "arrow"] {
            let path = folder.path().join(format!("{n}.{format}"));
            let target_names = if format == "npy" { Vec::new() } else { vec!["label".to_owned()] };
            let read = written(&path, &Schema { target_names, ..schema(block, *dtype) }, block, &options(None));
            assert_eq!(bits(&read), bits(std::slice::from_ref(block)), "{}", path.display());
        }
    }
    let Block { rows: BlockRows::Bytes(_), .. } = written(
        &folder.path().join("again.npy"),
        &Schema { target_names: Vec::new(), ..schema(&blocks[0].0, Dtype::Float32) },
        &blocks[0].0,
        &options(None),
    )
    .remove(0) else {
        panic!("bytes stay bytes")
    };
}

#[test]
fn words_and_missing_values() {
    let folder = TempDir::new().unwrap();
    let levels = vec![vec!["New York, \"NY\"".to_owned(), "Rom\nund Umland".to_owned(), "b".to_owned()]];
    let rows = array![[1.5, 0.0], [f64::NAN, 1.0], [2.0, f64::NAN], [0.1, 2.0]];
    let targets = ["yes", "no, never", "yes", "\"so so\""].map(str::to_owned).to_vec();
    let block = Block { rows: BlockRows::Dense64(rows), targets: Some(TargetBlock::Text(targets)), levels };
    for format in ["csv", "tsv.zst", "parquet", "arrow"] {
        let path = folder.path().join(format!("words.{format}"));
        let schema = Schema {
            input_names: vec!["a".to_owned(), "c i t y".to_owned()],
            categorical: vec![1],
            target_words: true,
            ..schema(&block, Dtype::Float64)
        };
        let mut writer = create(&path, &schema).unwrap();
        writer.write(&block).unwrap();
        writer.finish().unwrap();
        let source = open(path.to_str().unwrap(), &options(Some(Dtype::Float64))).unwrap();
        assert_eq!(source.info().input_names, schema.input_names);
        let read = blocks(&*source).remove(0);
        assert_eq!((&read.targets, &read.levels), (&block.targets, &block.levels), "{format}");
        assert_eq!(format!("{:?}", read.rows), format!("{:?}", block.rows), "{format}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    let block = Block::new(BlockRows::Dense64(array![[1.0, f64::NAN]]), None);
    let plain = Schema { target_names: Vec::new(), ..schema(&block, Dtype::Float64) };
    let refused = |name: &str, schema: &Schema| match create(&folder.path().join(name), schema) {
        Ok(mut writer) => writer.write(&block).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(refused("a.txt", &plain).contains(".csv, .tsv"), "an unknown extension");
    assert!(refused("a.svm", &plain).contains("missing value of row 1, column 2"));
    let words = Schema { categorical: vec![1], ..plain.clone() };
    for name in ["a.npy", "a.svm.gz"] {
        assert!(refused(name, &words).contains("x2, which holds words"), "{name}");
    }
    let labels = Schema { target_names: vec!["y".to_owned()], target_words: true, ..plain };
    assert!(refused("a.svm", &labels).contains("labels that are words"));
    // What the reader of CSV takes for a gap.
    for word in ["", "NA", "nan", "?"] {
        let block = Block { levels: vec![vec!["b".to_owned(), word.to_owned()]], ..block.clone() };
        let error = create(&folder.path().join("a.csv"), &words).unwrap().write(&block).unwrap_err().to_string();
        assert!(error.contains(&format!("CSV cannot hold the word {word:?} of column \"x2\"")), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Blocks of sparse rows are as wide as their widest row; the file is as wide as all.
#[test]
fn narrow_blocks_of_a_wide_file() {
    let folder = TempDir::new().unwrap();
    let mut narrow = CsrMatrix::new(2);
    narrow.push(1, 7.0).unwrap();
    narrow.finish_row();
    let block = Block::new(BlockRows::Sparse64(narrow), None);
    for format in ["csv", "npy", "parquet", "arrow", "svm"] {
        let path = folder.path().join(format!("a.{format}"));
        let schema = Schema { n_inputs: 4, target_names: Vec::new(), ..schema(&block, Dtype::Float64) };
        let mut writer = create(&path, &schema).unwrap();
        writer.write(&block).unwrap();
        writer.finish().unwrap();
        let target = TargetChoice::None;
        let source = open(path.to_str().unwrap(), &ReadOptions { target, ..options(None) }).unwrap();
        let expected = [0.0, 7.0, 0.0, 0.0].map(f64::to_bits);
        assert_eq!(bits(&blocks(&*source)), expected, "{format}");
    }
}

/// A table that was scanned says by itself how it is written.
#[test]
fn the_schema_of_a_table() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "a,w,y\n1,x,0.5\n2,z,1\n").unwrap();
    let target = TargetChoice::Auto;
    let source = open(path.to_str().unwrap(), &ReadOptions { target, ..options(None) }).unwrap();
    let table = Table::scan(source, usize::MAX).unwrap();
    let schema = Schema::of_table(&table);
    assert_eq!((schema.n_rows, schema.n_inputs, &schema.categorical[..]), (2, 2, &[1][..]));
    assert_eq!((schema.dtype, schema.target_words), (Dtype::Float64, false));
    assert_eq!((schema.input_names.join(","), schema.target_names.join(",")), ("a,w".to_owned(), "y".to_owned()));
}
