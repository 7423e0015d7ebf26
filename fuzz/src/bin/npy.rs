//! NPY arrays.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a.npy", Some(mercer_io::Format::Npy), data));
