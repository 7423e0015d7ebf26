//! Small files that unpack to much more than they should take of memory. Alone in its process, whose peak it measures.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use mercer_io::{ReadOptions, open_bytes};

const MEBIBYTE: u64 = 1 << 20;

/// The most memory this process had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// The peak is that of the process, so the smallest bound comes first.
#[test]
fn bombs_take_little_memory() {
    many_rows_stream();
    pages_are_unpacked_to_their_size();
    rows_without_end_are_refused();
    long_lines_are_refused();
}

/// 4 MiB a member, 256 MiB in all.
fn bomb(extension: &str) -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let bomb = fs::read(fixtures.join(format!("bomb.libsvm.{extension}"))).unwrap().repeat(64);
    assert!((bomb.len() as u64) < MEBIBYTE, "{extension}: {} bytes", bomb.len());
    bomb
}

fn many_rows_stream() {
    for extension in ["gz", "xz"] {
        let bomb = bomb(extension);
        let source = open_bytes("bomb", bomb, &ReadOptions::default()).unwrap();
        let mut reader = source.read().unwrap();
        let mut n_rows = 0;
        while let Some(block) = reader.next_block().unwrap() {
            n_rows += block.rows.n_rows();
        }
        assert_eq!(n_rows, 64 * 1024, "{extension}");
        assert!(peak() < 64 * MEBIBYTE, "{extension}: {} MiB at most", peak() / MEBIBYTE);
    }
}

/// 1 kB of a Parquet page, and 256 MiB unpacked.
#[cfg(feature = "arrow")]
fn pages_are_unpacked_to_their_size() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/arrow/bomb_brotli.parquet");
    let source = open_bytes("bomb", fs::read(path).unwrap(), &ReadOptions::default()).unwrap();
    let error = source.read().unwrap().next_block().unwrap_err().to_string();
    assert!(error.contains("unpacks to more than the 912 bytes it declares"), "{error}");
    assert!(peak() < 64 * MEBIBYTE, "{} MiB at most", peak() / MEBIBYTE);
}

#[cfg(not(feature = "arrow"))]
fn pages_are_unpacked_to_their_size() {}

/// More than 8,192 bytes in each packed one.
fn rows_without_end_are_refused() {
    for extension in ["zst", "bz2"] {
        let source = open_bytes("bomb", bomb(extension), &ReadOptions::default()).unwrap();
        let mut reader = source.read().unwrap();
        let error = loop {
            match reader.next_block() {
                Ok(block) => assert!(block.is_some(), "{extension}"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("unpacks to thousands of times its size"), "{error}");
        assert!(peak() < 64 * MEBIBYTE, "{extension}: {} MiB at most", peak() / MEBIBYTE);
    }
}

/// A zstd frame of `mebibytes` of one byte: magic, a window of 128 KiB, and runs as long as that in 4 bytes each.
fn run(byte: u8, mebibytes: usize) -> Vec<u8> {
    let run = |last: u32| [&(128 << 10 << 3 | 1 << 1 | last).to_le_bytes()[..3], &[byte]].concat();
    [&b"\x28\xb5\x2f\xfd\0\x38"[..], &run(0).repeat(8 * mebibytes - 1), &run(1)].concat()
}

/// A zstd frame that decoders skip.
fn skipped(len: u32) -> Vec<u8> {
    [&b"\x50\x2a\x4d\x18"[..], &len.to_le_bytes(), &vec![0; len as usize]].concat()
}

fn long_lines_are_refused() {
    let quoted = [run(b'"', 1), run(b'a', 200)].concat();
    let lines: [(&str, Vec<u8>, &str); 4] = [
        ("delimiters", run(b',', 200), "longer than 33554432 bytes"),
        ("fewer delimiters", [skipped(4096), run(b',', 20), run(b'\n', 1)].concat(), "more than 1048576 fields"),
        ("a word", run(b'a', 200), "longer than 33554432 bytes"),
        ("quotes", quoted, "longer than 33554432 bytes"),
    ];
    for (what, bytes, says) in lines {
        let error = open_bytes("bomb.csv", bytes, &ReadOptions::default()).err().expect(what).to_string();
        assert!(error.contains(says), "{what}: {error}");
        assert!(peak() < 256 * MEBIBYTE, "{what}: {} MiB at most", peak() / MEBIBYTE);
    }
}
