//! CSV text packed by gzip, xz, zstd or bzip2.

#![no_main]

libfuzzer_sys::fuzz_target!(init: mercer_fuzz::allow_decoders(), |data: &[u8]| {
    mercer_fuzz::read("a.csv", Some(mercer_io::Format::Csv), data);
});
