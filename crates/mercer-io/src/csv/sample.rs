//! Which columns hold words, told by the first records.

use super::records::Records;
use super::values::trimmed;
use crate::Result;
use crate::value::is_missing;

/// Records looked at, and bytes of them.
const MOST_RECORDS: usize = 1000;
const MOST_BYTES: usize = 1 << 20;

/// Values of a column that are there, and how many of them are no numbers.
#[derive(Clone, Copy, Default)]
struct Count {
    values: usize,
    words: usize,
}

/// Of each column, whether more than half of its first values are words, missing ones aside: `seen` are the first
/// records, `records` gives those after them.
pub(super) fn find_words(n_columns: usize, seen: &[&[Vec<u8>]], records: &mut Records) -> Result<Vec<bool>> {
    let mut counts = vec![Count::default(); n_columns];
    for record in seen {
        add(&mut counts, record.iter().map(Vec::as_slice));
    }
    let mut n_bytes = 0;
    for _ in seen.len()..MOST_RECORDS {
        if n_bytes > MOST_BYTES || !records.advance()? {
            break;
        }
        let fields = records.split()?;
        n_bytes += fields.size();
        add(&mut counts, fields.iter());
    }
    Ok(counts.iter().map(|count| 2 * count.words > count.values).collect())
}

fn add<'a>(counts: &mut [Count], fields: impl Iterator<Item = &'a [u8]>) {
    for (count, field) in counts.iter_mut().zip(fields) {
        let text = trimmed(field);
        if !is_missing(text) {
            count.values += 1;
            count.words += usize::from(fast_float2::parse::<f64, _>(text).is_err());
        }
    }
}
