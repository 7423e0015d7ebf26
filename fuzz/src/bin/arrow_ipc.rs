//! Arrow IPC files and streams.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a.arrow", Some(mercer_io::Format::Arrow), data));
