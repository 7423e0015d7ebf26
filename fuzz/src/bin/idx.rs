//! IDX arrays.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a.idx", Some(mercer_io::Format::Idx), data));
