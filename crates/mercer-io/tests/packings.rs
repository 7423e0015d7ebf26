//! Packed files: the same blocks as the plain file, cut anywhere, damaged anywhere, with a declared size beyond reason.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use mercer::dataset::Block;
use mercer_io::{ReadOptions, TargetChoice, open, open_bytes};

const PACKINGS: [(&str, &str); 4] = [("gz", "gzip"), ("xz", "xz"), ("zst", "zstd"), ("bz2", "bzip2")];

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name).to_str().unwrap().to_owned()
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

/// All blocks of 3 rows, or what was refused.
fn blocks(name: &str, bytes: &[u8], target: TargetChoice) -> Result<Vec<Block>, String> {
    let options = ReadOptions { block_rows: 3, target, ..ReadOptions::default() };
    let source = open_bytes(name, bytes, &options).map_err(|error| error.to_string())?;
    let mut reader = source.read().map_err(|error| error.to_string())?;
    let next = || reader.next_block().map_err(|error| error.to_string()).transpose();
    std::iter::from_fn(next).collect()
}

fn plain(name: &str) -> Vec<Block> {
    blocks(name, &bytes(name), TargetChoice::Auto).unwrap()
}

#[test]
fn every_packing_of_every_format_gives_the_blocks_of_the_plain_file() {
    for name in ["rows.csv", "rows.libsvm", "rows_v1.npy", "stored.npz", "whole.idx"] {
        for (extension, _) in PACKINGS {
            let packed = bytes(&format!("{name}.{extension}"));
            // The content tells, whatever the name says.
            assert_eq!(blocks("packed", &packed, TargetChoice::Auto).unwrap(), plain(name), "{name}.{extension}");
        }
    }
}

#[test]
fn no_cut_is_silent() {
    for (extension, packing) in PACKINGS {
        let packed = bytes(&format!("single.csv.{extension}"));
        for len in 0..packed.len() {
            for target in [TargetChoice::Auto, TargetChoice::None] {
                let error = blocks("cut.csv", &packed[..len], target).expect_err(&format!("{packing} cut to {len}"));
                let says = format!("cut.csv: the {packing} data ends early; the file was cut off");
                assert!(len < 10 || error.starts_with(&says), "{packing} cut to {len}: {error}");
            }
        }
        let twice = [&packed[..], &packed[..packed.len() - 3]].concat();
        let error = blocks("cut.csv", &twice, TargetChoice::Auto).unwrap_err();
        assert!(error.contains("ends early"), "{packing}: {error}");
    }
}

/// A changed byte is refused, or changes what a header says that is no data (a time, a name).
#[test]
fn no_damage_changes_rows() {
    for (extension, packing) in PACKINGS {
        let packed = bytes(&format!("single.csv.{extension}"));
        for at in 0..packed.len() {
            for flip in [1, 2, 0x10, 0x80, 0xff] {
                let mut changed = packed.clone();
                changed[at] ^= flip;
                let found = blocks("bad.csv", &changed, TargetChoice::Auto);
                assert!(found.is_err() || found == Ok(plain("rows.csv")), "{packing}, byte {at} ^ {flip}");
            }
        }
        let mut middle = packed.clone();
        middle[packed.len() / 2] ^= 0xff;
        let error = blocks("bad.csv", &middle, TargetChoice::Auto).unwrap_err();
        assert!(error.starts_with("bad.csv: the "), "{error}");
        assert!(error.contains(packing) && error.ends_with("download the file again"), "{error}");
    }
}

#[test]
fn rubbish_after_the_last_member_is_refused() {
    for (extension, packing) in PACKINGS {
        let packed = [&bytes(&format!("single.csv.{extension}"))[..], b"and more that is no member of it\n"].concat();
        let error = blocks("bad.csv", &packed, TargetChoice::Auto).expect_err(packing);
        assert!(error.starts_with(&format!("bad.csv: the {packing} data is corrupt")), "{error}");
    }
}

#[test]
fn paddings_and_skipped_frames_are_passed_over() {
    let padded = [&bytes("single.csv.xz")[..], &[0; 8], &bytes("single.csv.xz")].concat();
    assert_eq!(blocks("a", &padded, TargetChoice::Auto).unwrap().len(), 5);
    let skipped = [b"\x50\x2a\x4d\x18\x03\0\0\0abc", &bytes("single.csv.zst")[..]].concat();
    assert_eq!(blocks("a", &skipped, TargetChoice::Auto).unwrap(), plain("rows.csv"));
}

#[test]
fn what_needs_too_much_memory_is_refused() {
    for (name, packing, limit) in [("wide.csv.xz", "xz", 256), ("wide.csv.zst", "zstd", 128)] {
        let error = blocks(name, &bytes(name), TargetChoice::Auto).unwrap_err();
        let says = format!("needs more than {limit} MiB of memory to unpack; unpack it to a file first");
        assert_eq!(error, format!("{name}: the {packing} data {says}"));
    }
}

#[test]
fn a_packed_archive_is_kept_only_so_far() {
    let options = ReadOptions { spool_bytes: 300, ..ReadOptions::default() };
    let error = open(&fixture("stored.npz.xz"), &options).err().unwrap().to_string();
    assert!(error.contains("stored.npz.xz has more than 300 bytes") && error.contains("save it to a file"), "{error}");
}

#[test]
fn nothing_packed_is_nothing() {
    let error =
        blocks("empty.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0", TargetChoice::Auto).unwrap_err();
    assert!(error.starts_with("empty.gz is empty"), "{error}");
}
