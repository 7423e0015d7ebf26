//! Training and test rows of one table: seeded, stratified by class, found while the rows go by.

use std::sync::Arc;

use super::{Block, BlockReader, Blocks, Source, SourceInfo, Table, TargetEncoder, TargetScan, Task};
use crate::driver::Progress;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// How to split a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// share of the rows that are test rows, above 0 and below 1
    pub test_size: f64,
    /// whether each class has the same share; real targets have no classes
    pub stratify: bool,
    /// what the targets are; found by looking if not given
    pub task: Option<Task>,
    /// names the choice of rows
    pub seed: u64,
}

/// What to do where classes cannot share out the test rows.
const NO_STRATA: &str = "take test rows from all rows alike with --no-stratify";

impl Split {
    /// Splits `table` into training and test rows, each in their order. Each class keeps a training row.
    ///
    /// Parts of a table that is in memory are in memory; of another, those that take at most `cache_bytes`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for the share, [`Error::TooFewRows`] when a part would be empty, [`Error::Targets`] when
    /// classes leave no test row, and what the source finds.
    pub fn apply(&self, table: Table, cache_bytes: usize, progress: &dyn Progress) -> Result<(Table, Table)> {
        let plan = self.plan(&table)?;
        let cache_bytes = if table.is_in_memory() { usize::MAX } else { cache_bytes };
        let whole = Arc::new(table);
        let part = |test: bool| {
            let mut info = whole.info().clone();
            let n_test = plan.n_test();
            info.n_rows = Some(if test { n_test } else { whole.n_rows() - n_test });
            info.name = format!("{}, {} rows", info.name, if test { "test" } else { "training" });
            let source: Arc<dyn Source> = Arc::new(Part { info, whole: whole.clone(), plan: plan.clone(), test });
            Table::scan_with(source, cache_bytes, progress)
        };
        Ok((part(false)?, part(true)?))
    }

    /// For each row of the table in turn, whether it is a test row.
    ///
    /// # Errors
    /// As [`Split::apply`].
    pub fn plan(&self, table: &Table) -> Result<SplitPlan> {
        if !(self.test_size > 0.0 && self.test_size < 1.0) {
            return Err(Error::parameter("test_size", self.test_size, "above 0 and below 1"));
        }
        let name = &table.info().name;
        let stratified =
            |targets: &&TargetScan| self.stratify && self.is_classes(targets.task()) && !targets.is_constant();
        let encoder = table.targets().filter(stratified).map(|targets| targets.encoder(Some(Task::Classification)));
        let encoder = encoder.transpose().map_err(|error| match error {
            Error::Targets(text) => Error::Targets(format!("{name}: {text}; or {NO_STRATA}")),
            other => other,
        })?;
        let counts = match &encoder {
            Some(TargetEncoder::Classes { counts, .. }) => counts.clone(),
            _ => vec![table.n_rows()],
        };
        let strata = strata(&counts, self.test_size);
        let n_test: u64 = strata.iter().map(|stratum| stratum.n_test).sum();
        if n_test == 0 && encoder.is_some() && table.n_rows() as f64 * self.test_size >= 0.5 {
            let (rows, classes) = (table.n_rows(), counts.len());
            let text =
                format!("{name}: {rows} rows of {classes} classes leave no test row: each class keeps a training row");
            return Err(Error::Targets(format!("{text}; {NO_STRATA}")));
        }
        if n_test == 0 || n_test == table.n_rows() {
            let (context, got) = (format!("{name} split by {}", self.test_size), table.n_rows());
            return Err(Error::TooFewRows { context, got, expected: 2.max(got + 1) });
        }
        Ok(SplitPlan { stream: Stream::new(self.seed, Purpose::Split), strata, row: 0, encoder: encoder.map(Arc::new) })
    }

    fn is_classes(&self, found: Task) -> bool {
        self.task.unwrap_or(found) == Task::Classification
    }
}

/// Rows of one class that are still to come.
#[derive(Clone, Copy, Debug)]
struct Stratum {
    n_rows: u64,
    n_test: u64,
}

/// Shares `test_size` of all rows out over the classes, the largest remainders rounded up.
fn strata(counts: &[u64], test_size: f64) -> Vec<Stratum> {
    let n_rows: u64 = counts.iter().sum();
    let share = |n: u64| (n as f64 * test_size).floor() as u64;
    let at_most = |n: u64| n.saturating_sub(1);
    let mut strata: Vec<_> = counts.iter().map(|&n| Stratum { n_rows: n, n_test: share(n).min(at_most(n)) }).collect();
    let wanted = (n_rows as f64 * test_size).round() as u64;
    let remainder = |&i: &usize| counts[i] as f64 * test_size - share(counts[i]) as f64;
    let mut order: Vec<usize> = (0..counts.len()).filter(|&i| strata[i].n_test < at_most(counts[i])).collect();
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(b)));
    let missing = wanted.saturating_sub(strata.iter().map(|stratum| stratum.n_test).sum());
    order.into_iter().take(usize::try_from(missing).unwrap_or(usize::MAX)).for_each(|i| strata[i].n_test += 1);
    strata
}

/// Tells test rows from training rows, row by row, in order: each is drawn with the share of test rows that its class
/// still lacks, so that the numbers come out exactly (Knuth, *The Art of Computer Programming* 2, algorithm 3.4.2 S).
#[derive(Clone, Debug)]
pub struct SplitPlan {
    stream: Stream,
    strata: Vec<Stratum>,
    row: u64,
    encoder: Option<Arc<TargetEncoder>>,
}

impl SplitPlan {
    /// Test rows that are still to come.
    pub fn n_test(&self) -> u64 {
        self.strata.iter().map(|stratum| stratum.n_test).sum()
    }

    /// The rows of the next block that are for training, and those that are for testing.
    ///
    /// # Errors
    /// [`Error::Targets`] when the source has other targets than when it was scanned.
    pub fn divide(&mut self, block: &Block) -> Result<(Vec<usize>, Vec<usize>)> {
        let classes = match (&self.encoder, &block.targets) {
            (Some(encoder), Some(targets)) => Some(encoder.class_numbers(targets)?),
            _ => None,
        };
        let is_training = |i: &usize| !self.is_test(classes.as_ref().map_or(0, |classes| classes[*i] as usize));
        Ok((0..block.rows.n_rows()).partition(is_training))
    }

    fn is_test(&mut self, class: usize) -> bool {
        let stratum = &mut self.strata[class];
        let draw = (u128::from(self.stream.bits(self.row)) * u128::from(stratum.n_rows)) >> 64;
        let is_test = draw < u128::from(stratum.n_test);
        self.row += 1;
        stratum.n_rows = stratum.n_rows.saturating_sub(1);
        stratum.n_test -= u64::from(is_test);
        is_test
    }
}

/// The training or test rows of a table.
struct Part {
    info: SourceInfo,
    whole: Arc<Table>,
    plan: SplitPlan,
    test: bool,
}

impl Source for Part {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> Result<Box<dyn BlockReader + '_>> {
        Ok(Box::new(PartReader { blocks: self.whole.blocks(None)?, plan: self.plan.clone(), test: self.test }))
    }
}

struct PartReader<'a> {
    blocks: Blocks<'a>,
    plan: SplitPlan,
    test: bool,
}

impl BlockReader for PartReader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        while let Some(block) = self.blocks.next_block()? {
            let (training, test) = self.plan.divide(&block)?;
            let rows = if self.test { test } else { training };
            if !rows.is_empty() {
                return Ok(Some(block.select(&rows)));
            }
        }
        Ok(None)
    }
}
