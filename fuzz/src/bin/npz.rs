//! NPZ archives.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a.npz", Some(mercer_io::Format::Npz), data));
