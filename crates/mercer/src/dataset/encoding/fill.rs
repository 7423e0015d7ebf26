//! What stands in for a missing number: mean, median or the most frequent, exactly, in passes of bounded memory.
//!
//! The median is found by radix selection: numbers are ordered as unsigned integers are when the sign of their bits is
//! turned, so each pass counts by the next 11 bits and keeps to the part that holds the middle one. At most seven
//! passes, mostly two or three: a part of equal numbers ends the search. Memory: 16 KB for each column.

use std::collections::HashMap;

use super::Impute;
use crate::dataset::{BlockRows, Table};
use crate::driver::Progress;
use crate::{Error, Result};

/// More different numbers than this have no most frequent one worth the name.
const MAX_VALUES: usize = 1 << 17;

/// The fill of each of these columns, which hold numbers.
pub(super) fn of_numbers(
    table: &Table,
    columns: &[usize],
    impute: Impute,
    progress: &dyn Progress,
) -> Result<Vec<Option<f64>>> {
    Ok(match impute {
        Impute::Refuse => vec![None; columns.len()],
        Impute::Mean => columns.iter().map(|&j| Some(table.columns()[j].mean)).collect(),
        Impute::Median => medians(table, columns, progress)?.into_iter().map(Some).collect(),
        Impute::MostFrequent => most_frequent(table, columns, progress)?.into_iter().map(Some).collect(),
    })
}

/// Hands `each` the place in `columns` and the value of every number that is there.
fn for_each_number(
    table: &Table,
    columns: &[usize],
    progress: &dyn Progress,
    mut each: impl FnMut(usize, f64) -> Result<()>,
) -> Result<()> {
    progress.start("impute", table.n_rows());
    let mut blocks = table.blocks(None)?;
    while let Some(block) = blocks.next_block()? {
        if progress.interrupted() {
            return Err(Error::Interrupted);
        }
        progress.advance(block.rows.n_rows() as u64);
        for (at, &j) in columns.iter().enumerate() {
            match &block.rows {
                BlockRows::Dense32(x) => {
                    x.column(j).iter().filter(|x| !x.is_nan()).try_for_each(|&x| each(at, f64::from(x)))?;
                }
                BlockRows::Dense64(x) => x.column(j).iter().filter(|x| !x.is_nan()).try_for_each(|&x| each(at, x))?,
                _ => (),
            }
        }
    }
    progress.finish();
    Ok(())
}

fn most_frequent(table: &Table, columns: &[usize], progress: &dyn Progress) -> Result<Vec<f64>> {
    let mut counts = vec![HashMap::<u64, u64>::new(); columns.len()];
    for_each_number(table, columns, progress, |at, value| {
        *counts[at].entry(key(value)).or_default() += 1;
        if counts[at].len() <= MAX_VALUES {
            return Ok(());
        }
        let reason = format!("has more than {MAX_VALUES} different numbers; impute by mean or median");
        Err(Error::Column { context: table.info().name.clone(), column: table.column_name(columns[at]), reason })
    })?;
    let best = |counts: HashMap<u64, u64>| {
        let best = counts.into_iter().max_by(|(a, n), (b, m)| n.cmp(m).then(b.cmp(a)));
        best.map_or(0.0, |(key, _)| value(key))
    };
    Ok(counts.into_iter().map(best).collect())
}

const DIGIT: u32 = 11;

/// The search for the number of one rank.
#[derive(Clone)]
struct Search {
    /// Its leading bits, as far as known, and how many are not.
    prefix: u64,
    open: u32,
    /// Its rank among the numbers with these bits.
    rank: u64,
    /// How many have them; their least and greatest.
    count: u64,
    least: u64,
    greatest: u64,
    digits: Vec<u64>,
}

impl Search {
    fn new(rank: u64) -> Self {
        Self { prefix: 0, open: 64, rank, count: 0, least: u64::MAX, greatest: 0, digits: Vec::new() }
    }

    fn is_over(&self) -> bool {
        self.least == self.greatest
    }

    fn shift(&self) -> u32 {
        self.open.saturating_sub(DIGIT)
    }

    fn begin(&mut self) {
        (self.count, self.least, self.greatest) = (0, u64::MAX, 0);
        self.digits = vec![0; 1 << (self.open - self.shift())];
    }

    fn add(&mut self, key: u64) {
        if self.open < 64 && key >> self.open != self.prefix {
            return;
        }
        let mask = self.digits.len() as u64 - 1;
        let digit = key >> self.shift() & mask;
        self.digits[digit as usize] += 1;
        self.count += 1;
        self.least = self.least.min(key);
        self.greatest = self.greatest.max(key);
    }

    /// Keeps to the digit that holds the rank, unless all numbers are equal.
    fn end(&mut self) {
        if self.is_over() {
            return;
        }
        let digit = self.digits.iter().position(|&n| {
            let found = self.rank < n;
            self.rank -= if found { 0 } else { n };
            found
        });
        self.prefix = self.prefix << (self.open - self.shift()) | digit.unwrap_or(0) as u64;
        self.open = self.shift();
    }
}

fn medians(table: &Table, columns: &[usize], progress: &dyn Progress) -> Result<Vec<f64>> {
    let n = |at: usize| table.columns()[columns[at]].n_present;
    let mut searches: Vec<_> = (0..columns.len()).map(|at| Search::new((n(at) - 1) / 2)).collect();
    while searches.iter().any(|search| !search.is_over()) {
        let open: Vec<bool> = searches.iter().map(|search| !search.is_over()).collect();
        searches.iter_mut().filter(|search| !search.is_over()).for_each(Search::begin);
        for_each_number(table, columns, progress, |at, value| {
            if open[at] {
                searches[at].add(key(value));
            }
            Ok(())
        })?;
        searches.iter_mut().zip(open).filter(|(_, open)| *open).for_each(|(search, _)| search.end());
    }
    // Of an even number there are two in the middle: the second is equal to the first or the next greater.
    let mut upper: Vec<u64> = searches.iter().map(|search| search.least).collect();
    let needs_next = |at: usize| n(at).is_multiple_of(2) && searches[at].rank + 1 == searches[at].count;
    if (0..columns.len()).any(needs_next) {
        (0..columns.len()).filter(|&at| needs_next(at)).for_each(|at| upper[at] = u64::MAX);
        for_each_number(table, columns, progress, |at, value| {
            let key = key(value);
            if needs_next(at) && key > searches[at].least {
                upper[at] = upper[at].min(key);
            }
            Ok(())
        })?;
    }
    let middle = |(search, upper): (&Search, u64)| match (value(search.least), value(upper)) {
        (low, high) if low == high => low,
        (low, high) => low / 2.0 + high / 2.0,
    };
    Ok(searches.iter().zip(upper).map(middle).collect())
}

/// The bits of a number, turned so that they are ordered as the numbers are; −0 counts as 0.
fn key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}
