//! The delimiter of a CSV file and whether it has a header, told by its first lines.

use super::values::trimmed;
use crate::columns::is_target_name;
use crate::value::is_missing;

/// The name of the column of labels that mercer writes.
const WRITTEN: &str = "prediction";
/// Lines compared to find the delimiter.
const SAMPLE: usize = 20;

/// The delimiter that occurs equally often in each of the first lines, else the most frequent one. Tab and semicolon
/// come first: where they separate, commas are decimal commas or text.
pub(super) fn detect_delimiter(head: &[u8], head_is_whole: bool) -> u8 {
    let mut lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').take(SAMPLE + 1).collect();
    // The last line of a longer file may be cut off.
    if lines.len() > 1 && (lines.len() > SAMPLE || !head_is_whole) {
        lines.pop();
    }
    lines.retain(|line| !line.trim_ascii().is_empty());
    let counts = |delimiter| lines.iter().map(|line| count_unquoted(line, delimiter)).collect::<Vec<_>>();
    let candidates = [b'\t', b';', b','].map(|delimiter| (delimiter, counts(delimiter)));
    let steady = |counts: &[usize]| counts.first().is_some_and(|&n| n > 0 && counts.iter().all(|&m| m == n));
    let found = candidates.iter().find(|(_, counts)| steady(counts));
    let most = || candidates.iter().max_by_key(|(_, counts)| counts.iter().sum::<usize>());
    found.or_else(most).map_or(b',', |&(delimiter, _)| delimiter)
}

fn count_unquoted(line: &[u8], delimiter: u8) -> usize {
    let mut quoted = false;
    line.iter()
        .filter(|&&byte| {
            quoted ^= byte == b'"';
            byte == delimiter && !quoted
        })
        .count()
}

/// What tells that the first record holds column names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A word above a number, or nothing below.
    Form,
    /// The name of a target alone, which may be a class, too.
    Name,
}

/// Whether the first of two records holds column names: some column is a word there and a number below, or is called
/// like a target, and no field is a number, except names that count 0, 1, 2, … as data frames number their columns.
pub(super) fn detect_header(first: &[Vec<u8>], second: Option<&[Vec<u8>]>) -> Option<Sign> {
    let is_number = |field: &[u8]| fast_float2::parse::<f64, _>(field.trim_ascii()).is_ok();
    let numbers: Vec<&[u8]> = first.iter().map(|field| field.trim_ascii()).filter(|field| is_number(field)).collect();
    let whole = |field: &&[u8]| str::from_utf8(field).ok().and_then(|text| text.parse::<u64>().ok());
    let whole: Option<Vec<u64>> = numbers.iter().map(whole).collect();
    let counts_up = whole.is_some_and(|n| n.first().is_none_or(|&n| n <= 1) && n.windows(2).all(|n| n[0] + 1 == n[1]));
    if !counts_up {
        return None;
    }
    let Some(second) = second else { return (numbers.is_empty() && first.len() > 1).then_some(Sign::Form) };
    let named = first.iter().any(|name| str::from_utf8(name).is_ok_and(|name| is_target_name(name) || name == WRITTEN));
    let names =
        |(name, below): (&Vec<u8>, &Vec<u8>)| !is_number(name) && !is_missing(trimmed(name)) && is_number(below);
    if first.iter().zip(second).any(names) { Some(Sign::Form) } else { named.then_some(Sign::Name) }
}

/// Whether some column holds the same word in both records; numbers are none.
pub(super) fn shares_word(first: &[Vec<u8>], other: &[Vec<u8>]) -> bool {
    first.iter().zip(other).any(|(a, b)| {
        let word = a.trim_ascii();
        word == b.trim_ascii() && !word.is_empty() && fast_float2::parse::<f64, _>(word).is_err()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(first: &str, second: &str) -> bool {
        let split = |line: &str| line.split(',').map(|x| x.as_bytes().to_vec()).collect::<Vec<_>>();
        detect_header(&split(first), Some(&split(second))).is_some()
    }

    #[test]
    fn delimiters() {
        assert_eq!(detect_delimiter(b"a;b;c\n1,5;2;3\n", true), b';');
        assert_eq!(detect_delimiter(b"1,\"a;b\",2\n1,x,2\n", true), b',');
        assert_eq!(detect_delimiter(b"a b\tc\n1 2\t3\n", true), b'\t');
        assert_eq!(detect_delimiter(b"1,2,3\n1,2,3,4\n", true), b',');
        assert_eq!(detect_delimiter(b"1\n2\n", true), b',');
    }

    #[test]
    fn headers() {
        assert!(header("width,height,species", "1.5,2,setosa"));
        assert!(header("0,1,2,target", "5.1,3.5,1.4,setosa"));
        assert!(header("name,class", "x,a"));
        assert!(header("prediction", "setosa"));
        assert!(!header("5.1,3.5,setosa", "4.9,3.0,setosa"));
        assert!(!header("5.1,3.5,y", "4.9,3.0,n"));
        assert!(!header("1.5,abc", "1.5,2"));
        assert!(!header("1,2,3", "4,5,6"));
        assert!(!header("cat", "dog"));
        assert!(header("y", "1"));
        assert!(header(",width", "0,1.5"));
        assert!(!header("red,?,yes", "blue,3.5,no"));
    }
}
