//! The format of a file, told by its first bytes.

use memchr::memchr;

use crate::error::preview;
use crate::packing::split_extension;
use crate::{Error, Format, Result};

/// Bytes looked at.
pub(crate) const HEAD: usize = 1 << 16;

/// The format of the file that begins with `head`; the extension of `path` decides only between label-only LIBSVM
/// lines and a CSV file of one column.
pub(crate) fn detect(path: &str, head: &[u8]) -> Result<Format> {
    match head {
        [] => Err(Error::Empty { file: path.to_owned() }),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Ok(Format::Npy),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Ok(Format::Npz),
        [b'P', b'A', b'R', b'1', ..] => Ok(Format::Parquet),
        // The stream format begins with a marker and the length of a message.
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..] => Ok(Format::Arrow),
        [0, 0, 8 | 9 | 11..=14, 1..=255, ..] => Ok(Format::Idx),
        _ => detect_text(path, head),
    }
}

fn detect_text(path: &str, head: &[u8]) -> Result<Format> {
    if memchr(0, head).is_some() {
        let looks = match head {
            [b'F', b'E', b'A', b'1', ..] => "Feather version 1, save it as version 2",
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16 text, save it as UTF-8",
            _ => "binary data of another kind",
        };
        return Err(Error::UnknownFormat { file: path.to_owned(), start: preview(head), looks });
    }
    // The last token of a longer file may be cut off.
    let end = if head.len() < HEAD { None } else { head.iter().rposition(u8::is_ascii_whitespace) };
    let told = head[..end.unwrap_or(head.len())].split(|&byte| byte == b'\n').find_map(detect_line);
    let extension = split_extension(path).0.rsplit('.').next().unwrap_or_default();
    let libsvm = matches!(extension.to_ascii_lowercase().as_str(), "libsvm" | "svm" | "svmlight");
    Ok(told.unwrap_or(if libsvm { Format::Libsvm } else { Format::Csv }))
}

/// What one line tells, a comment aside: an `index:` after the label is LIBSVM, a separator is CSV, a lone value tells
/// nothing. Between tabs, where a time may stand, all must be LIBSVM.
fn detect_line(line: &[u8]) -> Option<Format> {
    let line = memchr(b'#', line).map_or(line, |at| &line[..at]).trim_ascii();
    let label = line.split(u8::is_ascii_whitespace).next()?;
    let entries = line[label.len()..].trim_ascii_start();
    let mut tokens = entries.split(u8::is_ascii_whitespace);
    let looks = is_label(label) && is_entry(tokens.next()?) && !entries.contains(&b',');
    let mut throughout = || are_numbers(label) && tokens.all(|token| token.is_empty() || is_entry(token));
    if looks && (!line.contains(&b'\t') || throughout()) {
        return Some(Format::Libsvm);
    }
    line.iter().any(|byte| matches!(byte, b',' | b';' | b'\t')).then_some(Format::Csv)
}

/// A label, or the comma-separated labels of a multi-label file, which must not pass for CSV.
fn is_label(token: &[u8]) -> bool {
    !token.contains(&b',') || are_numbers(token)
}

fn are_numbers(token: &[u8]) -> bool {
    token.split(|&byte| byte == b',').all(|part| fast_float2::parse::<f64, _>(part).is_ok())
}

/// `index:` or `qid:` with something behind.
fn is_entry(token: &[u8]) -> bool {
    let Some(colon) = memchr(b':', token) else { return false };
    let index = token[..colon].strip_prefix(b"-").unwrap_or(&token[..colon]);
    index == b"qid" || (!index.is_empty() && index.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        let cases: [(&[u8], Format); 19] = [
            (b"\x93NUMPY\x01\x00", Format::Npy),
            (b"PK\x03\x04..", Format::Npz),
            (b"\0\0\x08\x03\0\0", Format::Idx),
            (b"PAR1\x15\x04", Format::Parquet),
            (b"ARROW1\0\0", Format::Arrow),
            (b"\xff\xff\xff\xff\x70\0\0\0\x10", Format::Arrow),
            (b"+1 3:1 5:2\n", Format::Libsvm),
            (b"# comment, with comma\n-1 \n-1\n1 qid:4 2:0.5 # x, y\n", Format::Libsvm),
            (b"1,3 1:0.5\n", Format::Libsvm),
            (b"abc 1:0.5\n", Format::Libsvm),
            (b"1,2,3\n", Format::Csv),
            (b"a;b\n1;2\n", Format::Csv),
            (b"a\tb\n1\t2\n", Format::Csv),
            (b"2020-01-01 12:30,5\n", Format::Csv),
            (b"5.0,2020-01-01 12:30\n", Format::Csv),
            (b"a\t12:30\t1\n", Format::Csv),
            (b"5\t12:30\t1\n", Format::Csv),
            (b"1,2\t3:1\t5:2\n", Format::Libsvm),
            (b"1\n2\n3\n", Format::Csv),
        ];
        for (head, format) in cases {
            assert_eq!(detect("file.dat", head).unwrap(), format, "{}", head.escape_ascii());
        }
        let cut = [b"1".as_slice(), &b"\t3:1".repeat(HEAD)].concat();
        assert_eq!(detect("file.dat", &cut[..HEAD]).unwrap(), Format::Libsvm);
        for name in ["rows.svm.gz", "rows.svm.zst"] {
            assert_eq!(detect(name, b"-1\n-1\n").unwrap(), Format::Libsvm);
        }
    }

    #[test]
    fn binary_data_is_unknown() {
        let error = detect("a.bin", b"\x7fELF\0\0").unwrap_err().to_string();
        assert!(error.starts_with("a.bin begins with \"\\x7fELF"), "{error}");
        let error = detect("a.csv", b"\xff\xfea\0,\0").unwrap_err().to_string();
        assert!(error.contains("save it as UTF-8"), "{error}");
    }
}
