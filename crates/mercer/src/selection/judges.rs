//! Which rows teach, which judge, and which do neither.

use super::deadline::Deadline;
use crate::dataset::{Dataset, Folds, TargetEncoder};
use crate::driver::Progress;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Parts that rows are dealt to.
const PARTS: usize = 20;
/// Fewer rows than this are dealt to as many parts as there are turns, and none is left to confirm anything.
const TOO_FEW_TO_CONFIRM: u64 = 200;
/// Fewer rows than this judge all in turn.
const FEW_ROWS: u64 = 6_000;
/// Turns of few rows.
const FOLDS: usize = 4;

/// Rows by what they are for. Parts are dealt by class ([`Folds`]), and within a part's rows nothing is ordered: the first rows of a
/// list are a sample of it, and smaller samples are parts of larger ones.
pub(super) struct Judges {
    /// rows of each fold, judged by turns where there are several
    folds: Vec<Vec<u64>>,
    /// rows that only teach
    others: Vec<u64>,
    /// rows that do neither
    pub(super) confirming: Vec<u64>,
}

impl Judges {
    /// Deals the rows of a dataset, with some for a confirmation where they are asked for. Where a class is rare
    /// twice as many of many rows judge.
    pub(super) fn deal(
        dataset: &Dataset,
        encoder: &TargetEncoder,
        seed: u64,
        (confirms, is_rare): (bool, bool),
    ) -> Result<Self> {
        let n = dataset.n_rows();
        let confirms = confirms && n >= TOO_FEW_TO_CONFIRM;
        let confirming = if confirms { share(n) } else { 0 };
        let n_parts = if n < TOO_FEW_TO_CONFIRM { FOLDS } else { PARTS };
        let parts = parts(dataset, encoder, seed, n_parts)?;
        let mut of_part: Vec<Vec<u64>> = vec![Vec::new(); n_parts];
        for (row, part) in parts.into_iter().enumerate() {
            of_part[part].push(row as u64);
        }
        let order = Stream::new(seed, Purpose::Search);
        let shuffled = |parts: &[Vec<u64>]| {
            let mut rows = parts.concat();
            rows.sort_by_key(|&row| (order.bits(row), row));
            rows
        };
        let (first, rest) = of_part.split_at(confirming);
        let confirming = shuffled(first);
        let (folds, others) = if n < FEW_ROWS {
            let size = rest.len().div_ceil(FOLDS);
            (rest.chunks(size).map(shuffled).collect(), Vec::new())
        } else {
            let (judging, others) = rest.split_at(if is_rare { 2 * share(n) } else { share(n) });
            (vec![shuffled(judging)], shuffled(others))
        };
        let judges = Self { folds, others, confirming };
        if judges.folds.iter().any(Vec::is_empty) || judges.n_teaching(0) == 0 {
            let context = format!("{}: rows to learn from and to judge by", dataset.info().name);
            return Err(Error::TooFewRows { context, got: n, expected: 2 * FOLDS as u64 });
        }
        Ok(judges)
    }

    pub(super) fn n_folds(&self) -> usize {
        self.folds.len()
    }

    /// Rows there are to learn from, while a fold judges.
    pub(super) fn n_teaching(&self, fold: usize) -> usize {
        self.others.len()
            + self.folds.iter().enumerate().filter(|(at, _)| *at != fold).map(|(_, f)| f.len()).sum::<usize>()
    }

    /// So many rows to learn from and to judge by.
    pub(super) fn rows(&self, fold: usize, n_teaching: usize, n_judging: usize) -> (Vec<u64>, Vec<u64>) {
        let mut teaching: Vec<u64> = self.others.iter().take(n_teaching).copied().collect();
        let others: Vec<&Vec<u64>> = (0..self.folds.len()).filter(|at| *at != fold).map(|at| &self.folds[at]).collect();
        // As many of each.
        let longest = others.iter().map(|rows| rows.len()).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|i| others.iter().filter_map(move |rows| rows.get(i).copied()));
        teaching.extend(turns.take(n_teaching.saturating_sub(teaching.len())));
        (teaching, self.folds[fold].iter().take(n_judging).copied().collect())
    }
}

/// Parts of all that judge, or confirm: fewer of many rows.
fn share(n_rows: u64) -> usize {
    match n_rows {
        0..6_000 => 4,
        6_000..50_000 => 3,
        50_000..200_000 => 2,
        _ => 1,
    }
}

/// The part of every row.
fn parts(dataset: &Dataset, encoder: &TargetEncoder, seed: u64, n_parts: usize) -> Result<Vec<usize>> {
    let mut folds = Folds::new(seed, Purpose::Search, n_parts);
    let mut parts = Vec::new();
    let mut blocks = dataset.table().blocks(None)?;
    while let Some(block) = blocks.next_block()? {
        let classes = match (encoder, &block.targets) {
            (TargetEncoder::Classes { .. }, Some(targets)) => encoder.class_numbers(targets)?,
            _ => vec![0; block.rows.n_rows()],
        };
        parts.extend(classes.into_iter().map(|class| folds.next_fold(class)));
    }
    Ok(parts)
}

/// Whether the time is over, not the patience of the user.
pub(super) fn is_late(deadline: &Deadline<'_>, progress: &dyn Progress) -> bool {
    deadline.interrupted() && !progress.interrupted()
}
