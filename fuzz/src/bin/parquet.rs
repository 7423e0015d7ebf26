//! Parquet files.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a.parquet", Some(mercer_io::Format::Parquet), data));
