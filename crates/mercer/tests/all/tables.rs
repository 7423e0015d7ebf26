//! Words, missing values and parts of tables.

use mercer::dataset::{
    Block, BlockReader, BlockRows, ColumnEncoding, Dataset, Encoding, EncodingSpec, Impute, Layout, Source, SourceInfo,
    Split, Table, TargetBlock,
};
use mercer::{Result, Silent};

use ndarray::{Array2, array};

const NAN: f64 = f64::NAN;

/// Rows of a number, a word ("" is missing) and a number, in blocks of `block_rows`.
struct Words {
    info: SourceInfo,
    rows: Vec<(f64, &'static str, f64)>,
    targets: Option<Vec<f64>>,
    block_rows: usize,
}

impl Words {
    fn new(rows: &[(f64, &'static str, f64)], block_rows: usize) -> Self {
        let mut info = SourceInfo::new("words", "test", Layout::Dense);
        info.input_names = ["a", "colour", "b"].map(str::to_owned).to_vec();
        (info.categorical, info.missing) = (vec![1], true);
        Self { info, rows: rows.to_vec(), targets: None, block_rows }
    }

    fn table(self, in_memory: bool) -> Table {
        let source: Box<dyn Source> = Box::new(self);
        Table::scan(source, if in_memory { usize::MAX } else { 0 }).unwrap()
    }
}

impl Source for Words {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> Result<Box<dyn BlockReader + '_>> {
        Ok(Box::new(WordReader { words: self, next: 0 }))
    }
}

struct WordReader<'a> {
    words: &'a Words,
    next: usize,
}

impl BlockReader for WordReader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let end = self.words.rows.len().min(self.next + self.words.block_rows);
        let rows = &self.words.rows[self.next..end];
        if rows.is_empty() {
            return Ok(None);
        }
        // The numbers of the levels are those of this block: the last one that occurs is number 0.
        let mut levels: Vec<String> = Vec::new();
        for (_, word, _) in rows.iter().rev().filter(|row| !row.1.is_empty()) {
            if !levels.contains(&(*word).to_owned()) {
                levels.push((*word).to_owned());
            }
        }
        let code = |word: &str| levels.iter().position(|level| level == word).map_or(NAN, |at| at as f64);
        let values = rows.iter().flat_map(|&(a, word, b)| [a, code(word), b]).collect();
        let values = Array2::from_shape_vec((rows.len(), 3), values).unwrap();
        let targets = self.words.targets.as_ref().map(|targets| {
            TargetBlock::Numbers(Array2::from_shape_fn((rows.len(), 1), |(i, _)| targets[self.next + i]))
        });
        self.next = end;
        Ok(Some(Block { rows: BlockRows::Dense64(values), targets, levels: vec![levels] }))
    }
}

fn rows(dataset: &Dataset) -> Array2<f64> {
    let mut all = Vec::new();
    let mut blocks = dataset.blocks().unwrap();
    while let Some(block) = blocks.next_block().unwrap() {
        let BlockRows::Dense64(rows) = &block.rows else { panic!("not dense") };
        assert!(block.levels.is_empty());
        all.extend(rows.iter().copied());
    }
    Array2::from_shape_vec((dataset.n_rows() as usize, dataset.n_inputs()), all).unwrap()
}

fn fit(table: &Table, impute: Impute, max_levels: usize) -> Result<Option<Encoding>> {
    Encoding::fit(table, EncodingSpec { impute, max_levels }, &Silent)
}

const SIX: [(f64, &str, f64); 6] =
    [(1.0, "red", NAN), (NAN, "green", 2.0), (4.0, "", -3.0), (2.0, "red", 8.0), (2.5, "blue", 2.0), (9.0, "red", 1.0)];

#[test]
fn by_hand_at_any_block_size() {
    for (impute, a, b) in [(Impute::Mean, 3.7, 2.0), (Impute::Median, 2.5, 2.0), (Impute::MostFrequent, 1.0, 2.0)] {
        let expected = array![
            [1.0, b, 0.0, 0.0, 1.0],
            [a, 2.0, 0.0, 1.0, 0.0],
            [4.0, -3.0, 0.0, 0.0, 1.0],
            [2.0, 8.0, 0.0, 0.0, 1.0],
            [2.5, 2.0, 1.0, 0.0, 0.0],
            [9.0, 1.0, 0.0, 0.0, 1.0],
        ];
        for (block_rows, in_memory) in [(1, true), (2, false), (5, true), (6, false)] {
            let table = Words::new(&SIX, block_rows).table(in_memory);
            let encoding = fit(&table, impute, 64).unwrap().unwrap();
            assert_eq!(
                encoding.output_names(&table.info().input_names),
                ["a", "b", "colour=blue", "colour=green", "colour=red"]
            );
            let dataset = Dataset::encoded(table, Some(encoding)).unwrap();
            assert_eq!((dataset.n_inputs(), dataset.n_indicators()), (5, 3));
            let got = rows(&dataset);
            assert!((&got - &expected).iter().all(|x| x.abs() < 1e-12), "{impute:?}: {got}");
        }
    }
}

#[test]
fn missing_values_are_refused_unless_imputation_is_asked_for() {
    let error = fit(&Words::new(&SIX, 3).table(true), Impute::Refuse, 64).unwrap_err().to_string();
    assert_eq!(error, "words: column \"a\" misses 1 values; fill them in, or impute them");
    let error = fit(&Words::new(&[(NAN, "x", 1.0), (NAN, "x", 1.0)], 3).table(true), Impute::Mean, 64);
    assert_eq!(error.unwrap_err().to_string(), "words: column \"a\" has no value at all; leave it out");
    let error = Dataset::encoded(Words::new(&SIX, 3).table(true), None).err().unwrap().to_string();
    assert!(error.contains("\"a\" misses values"), "{error}");
    let whole = Words::new(&[(1.0, "x", 1.0)], 3).table(true);
    let error = Dataset::encoded(whole, None).err().unwrap().to_string();
    assert!(error.contains("\"colour\" holds words"), "{error}");
    // Trained on whole rows, applied to others.
    let encoding = fit(&Words::new(&[(1.0, "x", 1.0)], 3).table(true), Impute::Refuse, 64).unwrap();
    let error = Dataset::encoded(Words::new(&SIX, 3).table(true), encoding).err().unwrap().to_string();
    assert!(error.contains("not trained to fill in"), "{error}");
}

#[test]
fn rare_and_unknown_levels_share_one_input() {
    let words = ["a", "a", "a", "b", "b", "c", "d", "e", "e"];
    let train: Vec<_> = words.iter().map(|&word| (0.0, word, 0.0)).collect();
    let encoding = fit(&Words::new(&train, 4).table(true), Impute::Refuse, 3).unwrap().unwrap();
    let expected = ColumnEncoding::Categorical { levels: vec!["a".into(), "b".into()], other: true, fill: None };
    assert_eq!(encoding.columns()[1], expected);
    let test = [(0.0, "b", 0.0), (0.0, "zz", 0.0), (0.0, "c", 0.0)];
    let table = Words::new(&test, 4).table(true);
    let unknown = encoding.unknown_levels(&table);
    assert_eq!((unknown[0].column.as_str(), unknown[0].n_rows, unknown[0].other), ("\"colour\"", 2, true));
    let dataset = Dataset::encoded(table, Some(encoding)).unwrap();
    assert_eq!(rows(&dataset).row(1), array![0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(rows(&dataset).row(2), array![0.0, 0.0, 0.0, 0.0, 1.0]);
    // Without a share for the others, an unknown level is none of those kept.
    let encoding = fit(&Words::new(&train, 4).table(true), Impute::Refuse, 64).unwrap().unwrap();
    let dataset = Dataset::encoded(Words::new(&test, 4).table(true), Some(encoding)).unwrap();
    assert_eq!(rows(&dataset).row(1).sum(), 0.0);
    assert!(fit(&Words::new(&train, 4).table(true), Impute::Refuse, 1).is_err());
}

/// Against sorting, for odd and even numbers of values, with ties, both signs and both ends of the range.
#[test]
fn medians_are_exact() {
    let stream = mercer::random::Stream::new(5, mercer::random::Purpose::Sample);
    for n in [1_usize, 2, 3, 4, 10, 101, 1000] {
        for spread in [1_i32, 300] {
            let mut values = vec![0.0; n];
            stream.lane(n).normal_into(0, &mut values);
            let values: Vec<f64> = values.iter().map(|x| (x * 4.0).round().powi(3) * 10_f64.powi(spread - 1)).collect();
            let given: Vec<_> = values.iter().map(|&x| (x, "w", 1.0)).chain([(NAN, "w", 1.0)]).collect();
            let encoding = fit(&Words::new(&given, 7).table(false), Impute::Median, 4).unwrap().unwrap();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let expected = sorted[(n - 1) / 2] / 2.0 + sorted[n / 2] / 2.0;
            let ColumnEncoding::Number { fill: Some(fill) } = encoding.columns()[0] else { panic!("no fill") };
            assert!((fill - expected).abs() <= 1e-15 * expected.abs(), "{n} values: {fill}, not {expected}");
        }
    }
}

fn labelled(n: usize) -> Words {
    let rows: Vec<_> = (0..n).map(|i| (i as f64, "x", 0.0)).collect();
    let mut words = Words::new(&rows, 13);
    words.targets = Some((0..n).map(|i| f64::from(u8::from(i % 7 == 0) + u8::from(i % 50 == 3))).collect());
    words.info.target_names = vec!["y".to_owned()];
    words
}

fn first_column(table: &Table) -> Vec<f64> {
    let mut all = Vec::new();
    let mut blocks = table.blocks(None).unwrap();
    while let Some(block) = blocks.next_block().unwrap() {
        let BlockRows::Dense64(rows) = &block.rows else { panic!("not dense") };
        all.extend(rows.column(0));
    }
    all
}

#[test]
fn parts_are_disjoint_complete_stratified_and_seeded() {
    let split = Split { test_size: 0.2, stratify: true, task: None, seed: 3 };
    let parts = |split: Split, in_memory| {
        let (train, test) = split.apply(labelled(1000).table(in_memory), 0, &Silent).unwrap();
        assert_eq!(train.is_in_memory(), in_memory);
        (first_column(&train), first_column(&test))
    };
    let (train, test) = parts(split, true);
    assert_eq!(test.len(), 200);
    let mut all = [train.clone(), test.clone()].concat();
    assert!(train.is_sorted() && test.is_sorted());
    all.sort_by(f64::total_cmp);
    assert_eq!(all, (0..1000).map(f64::from).collect::<Vec<_>>());
    // 837 rows of class 0, 141 of class 1, 22 of class 2: 167.4, 28.2 and 4.4 test rows, one remainder rounded up.
    let class = |x: &f64| usize::from(x % 7.0 == 0.0) + usize::from(x % 50.0 == 3.0);
    let mut counts = [0; 3];
    test.iter().for_each(|x| counts[class(x)] += 1);
    let mut totals = [0; 3];
    all.iter().for_each(|x| totals[class(x)] += 1);
    for (count, total) in counts.iter().zip(totals) {
        assert!((f64::from(*count) - 0.2 * f64::from(total)).abs() < 1.0, "{counts:?} of {totals:?}");
    }
    assert_eq!(parts(split, false), (train, test.clone()));
    assert_ne!(parts(Split { seed: 4, ..split }, true).1, test);
    assert_eq!(parts(Split { stratify: false, ..split }, true).1.len(), 200);
    for test_size in [0.0, 1.0, NAN, 0.0001] {
        assert!(Split { test_size, ..split }.apply(labelled(1000).table(true), 0, &Silent).is_err(), "{test_size}");
    }
}

/// Of a class of one row none is a test row, at any share.
#[test]
fn every_class_keeps_a_training_row() {
    let mut words = labelled(40);
    words.targets = Some((0..40).map(|i| f64::from(i.min(3))).collect());
    let split = Split { test_size: 0.9, stratify: true, task: None, seed: 0 };
    let (train, test) = split.apply(words.table(true), 0, &Silent).unwrap();
    let train = first_column(&train);
    assert!([0.0, 1.0, 2.0].iter().all(|x| train.contains(x)), "{train:?}");
    assert_eq!(train.len() + test.n_rows() as usize, 40);
}

/// A source that cannot fit is not kept for a while either; one that may is tried.
#[test]
fn what_cannot_fit_is_known_before_it_is_read() {
    let info = |layout, n_rows, n_inputs, n_bytes| {
        SourceInfo { n_rows, n_inputs, n_bytes, ..SourceInfo::new("a", "test", layout) }.least_memory()
    };
    assert_eq!(info(Layout::Bytes, Some(10), Some(784), None), 7840);
    assert_eq!(info(Layout::Dense, Some(10), Some(784), Some(1)), 4 * 7840);
    assert_eq!(info(Layout::Dense, None, Some(784), Some(8000)), 1000);
    assert_eq!(info(Layout::Sparse, Some(10), Some(784), Some(8000)), 1000);
    assert_eq!(info(Layout::Sparse, Some(10), Some(784), None), 0);
    assert_eq!(info(Layout::Dense, Some(u64::MAX), Some(usize::MAX), None), u64::MAX);
}

/// How often each row is a test row over many seeds: binomial with the share, so within 5 standard deviations.
#[test]
fn every_row_is_as_likely_a_test_row() {
    let mut times = [0_u32; 30];
    for seed in 0..400 {
        let split = Split { test_size: 0.3, stratify: false, task: None, seed };
        let (_, test) = split.apply(labelled(30).table(true), 0, &Silent).unwrap();
        first_column(&test).iter().for_each(|&x| times[x as usize] += 1);
    }
    let deviation = (400.0 * 0.3 * 0.7_f64).sqrt();
    assert!(times.iter().all(|&n| (f64::from(n) - 120.0).abs() < 5.0 * deviation), "{times:?}");
}
