//! What the targets of libFuzzer, the programs of this package, share.

use std::alloc::System;

use cap::Cap;
use mercer_io::Format;

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../../crates/mercer-io/tests/contract/mod.rs"]
mod contract;

use contract::{Care, N_BYTES, check_model, check_rows, options_from, small_models};

/// Memory that a target may ask for, touched or not; the process is ended where it asks for more.
const MOST_MEMORY: usize = 256 << 20;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, MOST_MEMORY);

/// Reads `data`: bytes that are options, then a file. `name` gives an extension, and perhaps an array.
///
/// # Panics
/// When a reading breaks a rule.
pub fn read(name: &str, format: Option<Format>, data: &[u8]) {
    if let Some((options, file)) = data.split_first_chunk::<N_BYTES>() {
        check_rows(name, file, &options_from(*options, format), Care::Sometimes);
    }
}

/// Loads `data` as a model.
///
/// # Panics
/// When what was loaded breaks a rule.
pub fn load(data: &[u8]) {
    check_model(data);
}

/// Lets decoders have the tables that a packed file may declare.
pub fn allow_decoders() {
    let _ = HEAP.set_limit(1 << 30);
}

/// Writes models to start from into the folder that `MERCER_FUZZ_MODELS` names, if it names one.
///
/// # Panics
/// When they cannot be written.
pub fn write_models() {
    let Some(folder) = std::env::var_os("MERCER_FUZZ_MODELS").map(std::path::PathBuf::from) else { return };
    for (number, model) in small_models().iter().enumerate() {
        std::fs::write(folder.join(format!("{number}.mercer")), model).expect("the folder can be written to");
    }
}
