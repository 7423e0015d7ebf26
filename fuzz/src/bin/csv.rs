//! CSV text.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a.csv", Some(mercer_io::Format::Csv), data));
