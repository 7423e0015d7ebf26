//! Files with damage anywhere are read or refused: never a panic, never an abort.

mod support;

use support::{Folder, Numbers, Table, gzip, npz};

const MUTATIONS: usize = 200;
const FLAGS: &str = "--n-components 4 --lambda 0.01 --threads 1";

/// The content with one to three changes: cut, a byte flipped, set, inserted, removed, or a part doubled.
fn mutate(content: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    // Bytes on which formats turn.
    const TELLING: &[u8] = b"\0\x01\x7f\x80\xff,;:\t\n\r \"-.e019#(){}'";
    let mut bytes = content.to_vec();
    for _ in 0..1 + numbers.below(3) {
        let at = numbers.below(bytes.len().max(1));
        match numbers.below(7) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
            2 if at < bytes.len() => bytes[at] = TELLING[numbers.below(TELLING.len())],
            3 => bytes.insert(at, TELLING[numbers.below(TELLING.len())]),
            4 if at < bytes.len() => drop(bytes.remove(at)),
            // Headers are at the beginning: damage there is the most telling.
            5 if bytes.len() > 8 => {
                let near = numbers.below(bytes.len().min(96));
                bytes[near] = numbers.next() as u8;
            }
            _ => bytes.extend_from_within(at..),
        }
    }
    bytes
}

fn check(folder: &Folder, arguments: &str, seed: usize) {
    let output = folder.command(arguments).output().expect("the command starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)), "seed {seed}, mercer {arguments}: {} {stderr}", output.status);
    assert!(!stderr.contains("panicked"), "seed {seed}, mercer {arguments}: {stderr}");
    assert!(stderr.lines().count() <= 1, "seed {seed}, mercer {arguments}: {stderr}");
}

/// Trains on, and predicts for, damaged forms of `content`; `labels` are the flags for its labels.
fn damage(content: &[u8], labels: &str, array: &str) {
    let (folder, table) = (Folder::new(), Table::new(24, 4, 2));
    folder.write("y.npy", table.npy_labels());
    folder.write("good", content);
    folder.ok(&format!("train good{array} {labels} {FLAGS} -o trained.mercer"));
    for seed in 0..MUTATIONS {
        folder.write("bad", mutate(content, &mut Numbers(seed as u64)));
        check(&folder, &format!("train bad{array} {labels} {FLAGS}"), seed);
        check(&folder, &format!("predict trained.mercer bad{array} --threads 1"), seed);
    }
}

fn table() -> Table {
    Table::new(24, 4, 2)
}

#[test]
fn csv() {
    damage(table().csv("y", &["no", "\"y,\"\"es\""]).as_bytes(), "", "");
}

#[test]
fn libsvm() {
    damage(table().libsvm().as_bytes(), "", "");
}

#[test]
fn npy() {
    damage(&table().npy(), "--labels y.npy", "");
}

#[test]
fn npz_archives() {
    damage(&npz(&[("x.npy", table().npy()), ("y.npy", table().npy_labels())]), "--labels y.npy", "::x");
}

#[test]
fn idx() {
    damage(&table().idx(), "--labels y.npy", "");
}

#[test]
fn gzipped() {
    damage(&gzip(table().headerless()), "", "");
}

#[test]
fn models() {
    let (folder, table) = (Folder::new(), table());
    folder.write("a.csv", table.csv("y", &["no", "yes"]));
    folder.ok(&format!("train a.csv {FLAGS} -o good.mercer"));
    let model = folder.read("good.mercer");
    for seed in 0..MUTATIONS {
        folder.write("bad.mercer", mutate(&model, &mut Numbers(seed as u64)));
        check(&folder, "predict bad.mercer a.csv --threads 1", seed);
        check(&folder, "inspect bad.mercer", seed);
    }
    // Every byte of the header once.
    for at in 0..model.len().min(1_000) {
        let mut bytes = model.clone();
        bytes[at] ^= 1 << (at % 7);
        folder.write("bad.mercer", bytes);
        check(&folder, "predict bad.mercer a.csv --threads 1", at);
    }
}
