//! Damaged Parquet and Arrow files: cut anywhere, with bytes changed. They are read or refused; nothing panics, and no
//! memory is taken that the file does not stand for.

#![cfg(feature = "arrow")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use mercer_io::{CategoricalChoice, ReadOptions, TargetChoice, open};

/// Damaged versions of each file. A hundred times as many were read once, within 400 MB of memory.
const CASES: u64 = 150;
/// Values at the edges of what a length can be.
const EDGES: [u8; 6] = [0, 1, 0x7f, 0x80, 0xfe, 0xff];

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/arrow");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())).collect()
}

/// Reads what there is, up to some number of blocks; the error, if any, names the file. Whether there was one.
fn is_refused(path: &str) -> bool {
    let options = ReadOptions {
        categorical: CategoricalChoice::Auto,
        keep_missing: true,
        target: TargetChoice::None,
        ..ReadOptions::default()
    };
    let read = || -> mercer::Result<()> {
        let source = open(path, &options)?;
        let mut reader = source.read()?;
        for _ in 0..64 {
            if reader.next_block()?.is_none() {
                break;
            }
        }
        Ok(())
    };
    let result = read();
    if let Err(error) = &result {
        assert!(error.to_string().contains(path), "{error}");
    }
    result.is_err()
}

/// A sequence of numbers that is the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn damaged(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(bytes.len());
        match numbers.below(4) {
            0 => bytes[at] ^= 1 << numbers.below(8),
            1 => bytes[at] = EDGES[numbers.below(EDGES.len())],
            2 => bytes[at] = numbers.below(256) as u8,
            _ => {
                let end = bytes.len().min(at + 4);
                let edge = EDGES[numbers.below(EDGES.len())];
                bytes[at..end].fill(edge);
            }
        }
    }
    bytes
}

/// Whether a file of these bytes is refused. Each gets a name of its own: to write one file over and over is slow.
fn refuses(folder: &Path, name: &str, bytes: &[u8]) -> bool {
    static CASE: AtomicU64 = AtomicU64::new(0);
    let path = folder.join(format!("{}-{name}", CASE.fetch_add(1, Ordering::Relaxed)));
    fs::write(&path, bytes).unwrap();
    let refused = is_refused(path.to_str().unwrap());
    fs::remove_file(path).unwrap();
    refused
}

#[test]
fn changed_bytes_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for (name, bytes) in fixtures() {
        let mut numbers = Numbers(bytes.len() as u64);
        for _ in 0..CASES {
            refused += u64::from(refuses(folder.path(), &name, &damaged(&bytes, &mut numbers)));
        }
    }
    assert!(refused > 0);
}

#[test]
fn cut_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in fixtures() {
        // Fewer bytes than the magic are text.
        for len in (8..bytes.len()).step_by(1 + bytes.len() / 200) {
            // A stream may end after any message.
            let refused = refuses(folder.path(), &name, &bytes[..len]);
            assert!(refused || name.ends_with(".arrows"), "{name}, {len} bytes");
        }
    }
}

#[test]
fn declared_lengths_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in fixtures() {
        let tail = if name.ends_with(".parquet") { 8 } else { 10 };
        for length in [u32::MAX, i32::MAX as u32, bytes.len() as u32] {
            let mut bytes = bytes.clone();
            let at = bytes.len() - tail;
            bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
            assert!(refuses(folder.path(), &name, &bytes) || name.ends_with(".arrows"), "{name}");
        }
    }
}

#[test]
fn lists_of_truth_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in fixtures().into_iter().filter(|(name, _)| name.ends_with(".parquet")) {
        // Two billion of them in a new last field of the footer, which the parquet crate would count one by one.
        let (body, tail) = bytes.split_at(bytes.len() - 8);
        let field = [0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0];
        let len = u32::from_le_bytes(tail[..4].try_into().unwrap()) + field.len() as u32 - 1;
        let bytes = [&body[..body.len() - 1], &field, &len.to_le_bytes(), &tail[4..]].concat();
        assert!(refuses(folder.path(), &name, &bytes), "{name}");
    }
}
