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

#[test]
fn bombs_stream_in_little_memory() {
    for extension in ["gz", "xz", "zst", "bz2"] {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        // 4 MiB a member, 256 MiB in all.
        let bomb = fs::read(fixtures.join(format!("bomb.libsvm.{extension}"))).unwrap().repeat(64);
        assert!((bomb.len() as u64) < MEBIBYTE, "{extension}: {} bytes", bomb.len());
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
