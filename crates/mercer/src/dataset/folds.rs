//! Seeded, stratified parts of a dataset, found while its rows go by.

use crate::random::{Purpose, Stream};

/// Deals rows to `n_folds` parts: every run of `n_folds` consecutive rows of one class is dealt one row to each part,
/// in an order that is a pure function of the seed, the class and the run. So each part has each class in the right
/// share up to one row, and no memory is needed but a counter for each class.
#[derive(Clone, Debug)]
pub struct Folds {
    stream: Stream,
    n_folds: usize,
    seen: Vec<u64>,
    dealt: Vec<Vec<usize>>,
}

impl Folds {
    /// Starts at the first row.
    pub fn new(seed: u64, purpose: Purpose, n_folds: usize) -> Self {
        Self { stream: Stream::new(seed, purpose), n_folds, seen: Vec::new(), dealt: Vec::new() }
    }

    /// The part of the next row, which is of class `class` (0 where there are no classes).
    pub fn next_fold(&mut self, class: u32) -> usize {
        let at = class as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, 0);
            self.dealt.resize(at + 1, Vec::new());
        }
        let place = (self.seen[at] % self.n_folds as u64) as usize;
        if place == 0 {
            let lane = self.stream.lane(at);
            let mut order: Vec<usize> = (0..self.n_folds).collect();
            order.sort_by_key(|&fold| (lane.bits(self.seen[at] + fold as u64), fold));
            self.dealt[at] = order;
        }
        self.seen[at] += 1;
        self.dealt[at][place]
    }
}

/// Which rows of a dataset a pass takes.
#[derive(Clone, Debug)]
pub enum Selection {
    /// All.
    All,
    /// Those of one part.
    Fold {
        /// fresh, at the first row
        folds: Folds,
        /// the part
        fold: usize,
    },
    /// Those of every part but one.
    AllBut {
        /// fresh, at the first row
        folds: Folds,
        /// the part left out
        fold: usize,
    },
    /// Those of these numbers.
    Rows {
        /// the first is row 0; ascending
        rows: std::iter::Peekable<std::vec::IntoIter<u64>>,
        /// the next row to be asked for
        next: u64,
    },
}

impl Selection {
    /// Those of these numbers, in the order of the dataset.
    pub fn rows(mut rows: Vec<u64>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        Self::Rows { rows: rows.into_iter().peekable(), next: 0 }
    }

    /// Whether the next row, of class `class`, is taken. Must be asked once for each row, in order.
    pub fn takes(&mut self, class: u32) -> bool {
        match self {
            Self::All => true,
            Self::Fold { folds, fold } => folds.next_fold(class) == *fold,
            Self::AllBut { folds, fold } => folds.next_fold(class) != *fold,
            Self::Rows { rows, next } => {
                *next += 1;
                rows.next_if(|&row| row + 1 == *next).is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_dealt_evenly_and_by_the_seed() {
        let classes: Vec<u32> = (0..1003).map(|i| u32::from(i % 7 == 0)).collect();
        let deal = |seed| {
            let mut folds = Folds::new(seed, Purpose::Fold, 5);
            classes.iter().map(|&class| folds.next_fold(class)).collect::<Vec<_>>()
        };
        let dealt = deal(1);
        for class in 0..2 {
            let mut counts = [0_usize; 5];
            classes.iter().zip(&dealt).filter(|(c, _)| **c == class).for_each(|(_, &fold)| counts[fold] += 1);
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        assert_eq!(dealt, deal(1));
        assert_ne!(dealt, deal(2));
    }
}
