//! Model files.

#![no_main]

libfuzzer_sys::fuzz_target!(init: mercer_fuzz::write_models(), |data: &[u8]| {
    mercer_fuzz::load(data);
});
