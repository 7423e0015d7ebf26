//! Bytes of any format.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a", None, data));
