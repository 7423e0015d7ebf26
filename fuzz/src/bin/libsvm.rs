//! LIBSVM text.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mercer_fuzz::read("a.svm", Some(mercer_io::Format::Libsvm), data));
