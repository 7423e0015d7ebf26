//! Files with damage anywhere, read with any options, are read by the rules or refused. The damage is the same in every
//! run; `cargo xtask fuzz` looks for more.

mod contract;

use std::fs;
use std::path::Path;

use contract::{Care, N_BYTES, check_model, check_rows, options_from, small_models};

/// Damaged forms of a file.
const MUTATIONS: u64 = 300;

/// A small generator: xorshift64*.
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }
}

/// The content with one to four changes: cut, a byte flipped, set, inserted, removed, or a part doubled.
fn mutate(content: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    // Bytes on which formats turn.
    const TELLING: &[u8] = b"\0\x01\x7f\x80\xff,;:\t\n\r \"-.e019#(){}'";
    let mut bytes = content.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        let telling = TELLING[numbers.below(TELLING.len())];
        match numbers.below(7) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
            2 if at < bytes.len() => bytes[at] = telling,
            3 => bytes.insert(at, telling),
            4 if at < bytes.len() => drop(bytes.remove(at)),
            // Headers are at the beginning: damage there is the most telling.
            5 if bytes.len() > 8 => {
                let near = numbers.below(bytes.len().min(96));
                bytes[near] = numbers.next() as u8;
            }
            _ => bytes.extend_from_within(at..(at + 64).min(bytes.len())),
        }
    }
    bytes
}

#[test]
fn rows_are_read_by_the_rules_or_refused() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folders = [fixtures.join("arrow"), fixtures];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let mut n_read = 0;
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("bomb") {
            continue;
        }
        let content = fs::read(&path).unwrap();
        for seed in 0..MUTATIONS {
            let mut numbers = Numbers::new(seed);
            let options = if seed % 3 == 0 { 0 } else { numbers.next() & numbers.next() & numbers.next() };
            let options = options_from(options.to_le_bytes(), None);
            let bytes = mutate(&content, &mut numbers);
            let outcome = std::panic::catch_unwind(|| check_rows(&name, &bytes, &options, Care::Always));
            n_read += usize::from(outcome.unwrap_or_else(|_| panic!("{name}, seed {seed}")));
        }
    }
    assert!(n_read > 500, "only {n_read} were read");
}

/// What fuzzing found, once each.
#[test]
fn files_that_were_not_read_by_the_rules() {
    let found: [(&str, [u8; N_BYTES], &[u8]); 1] = [(
        "a vertical tab is a blank around words as it is around targets",
        [0, 0, 0, 0, 0, 0, 1, 0],
        b"w,y\n\x0bx,1\nx,2\n",
    )];
    for (what, options, bytes) in found {
        let outcome =
            std::panic::catch_unwind(|| check_rows("a.csv", bytes, &options_from(options, None), Care::Always));
        assert!(outcome.is_ok(), "{what}");
    }
}

#[test]
fn models_are_loaded_by_the_rules_or_refused() {
    let mut n_loaded = 0;
    for model in small_models() {
        assert!(check_model(&model));
        for seed in 0..20 * MUTATIONS {
            n_loaded += usize::from(check_model(&mutate(&model, &mut Numbers::new(seed))));
        }
    }
    assert!(n_loaded > 100, "only {n_loaded} were loaded");
}
