//! The mercer command in a folder of its own, and small files to feed it.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which commands run.
pub(crate) struct Folder(TempDir);

/// How a command ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.file(name), content).expect("a file in a temporary folder");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    /// All names in the folder, sorted: temporary files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string();
        let mut names: Vec<_> =
            fs::read_dir(self.path()).expect("the folder").map(|entry| name(entry).expect("UTF-8")).collect();
        names.sort();
        names
    }

    /// The command with its arguments separated by blanks, to be started in the folder.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mercer"));
        command.args(arguments.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.command(arguments).output().expect("the command starts").into()
    }

    /// Runs what must succeed, in silence on standard error; gives standard output.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!(run.status, Some(0), "mercer {arguments}: {run:?}");
        assert_eq!(run.stderr, "", "mercer {arguments} is quiet in a pipe");
        run.stdout
    }

    /// Runs what must succeed and print one JSON object.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        let text = self.ok(&format!("{arguments} --json"));
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(value.is_object(), "one object: {text}");
        value
    }

    /// Trains with a small map and gives the bytes of the model.
    pub(crate) fn train(&self, arguments: &str) -> Vec<u8> {
        self.ok(&format!("train {arguments} --n-components 64 -o trained.mercer"));
        self.read("trained.mercer")
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        }
    }
}

/// A name that is no text, which Linux allows.
#[cfg(target_os = "linux")]
pub(crate) fn not_utf8(ending: &str) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec([b"\xff", ending.as_bytes()].concat())
}

/// Numbers that look random and are the same everywhere: splitmix64.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// A table to learn from: whole inputs 0 to 255 and a class, counted from 0, that most of the inputs tell.
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<u8>>,
    pub(crate) classes: Vec<usize>,
}

impl Table {
    pub(crate) fn new(n_rows: usize, n_inputs: usize, n_classes: usize) -> Self {
        let mut numbers = Numbers(7);
        let classes: Vec<usize> = (0..n_rows).map(|_| numbers.below(n_classes)).collect();
        let value = |numbers: &mut Numbers, class: usize, input: usize| {
            let centre = 40 + 170 * usize::from(input % n_classes == class);
            (centre + numbers.below(45)) as u8
        };
        let row = |class| (0..n_inputs).map(|input| value(&mut numbers, class, input)).collect();
        let rows = classes.iter().copied().map(row).collect();
        Self { rows, classes }
    }

    pub(crate) fn n_inputs(&self) -> usize {
        self.rows[0].len()
    }

    /// Fields of a line: the inputs, then what `target` says of the class.
    fn lines(&self, target: impl Fn(usize) -> Option<String>) -> String {
        let mut text = String::new();
        for (row, &class) in self.rows.iter().zip(&self.classes) {
            let fields: Vec<String> = row.iter().map(u8::to_string).chain(target(class)).collect();
            text.push_str(&fields.join(","));
            text.push('\n');
        }
        text
    }

    /// CSV with a header x0, x1, … and `target` as the last column, the classes by these names.
    pub(crate) fn csv(&self, target: &str, names: &[&str]) -> String {
        let header: Vec<String> = (0..self.n_inputs()).map(|i| format!("x{i}")).collect();
        format!("{},{target}\n{}", header.join(","), self.lines(|class| Some(names[class].to_owned())))
    }

    /// CSV without a header, the class in the last column.
    pub(crate) fn headerless(&self) -> String {
        self.lines(|class| Some(class.to_string()))
    }

    /// CSV without a header and without the class.
    pub(crate) fn inputs_only(&self) -> String {
        self.lines(|_| None)
    }

    /// LIBSVM; a third of the entries is left out.
    pub(crate) fn libsvm(&self) -> String {
        let mut text = String::new();
        for (i, (row, class)) in self.rows.iter().zip(&self.classes).enumerate() {
            let entries = row.iter().enumerate().filter(|(j, _)| (i + j) % 3 != 0);
            let entries: Vec<String> = entries.map(|(j, x)| format!("{}:{x}", j + 1)).collect();
            text.push_str(&format!("{class} {}\n", entries.join(" ")));
        }
        text
    }

    /// NPY of float32.
    pub(crate) fn npy(&self) -> Vec<u8> {
        let values = self.rows.iter().flatten().flat_map(|&x| f32::from(x).to_le_bytes());
        npy("<f4", &format!("({}, {})", self.rows.len(), self.n_inputs()), values)
    }

    /// The classes as NPY of int64.
    pub(crate) fn npy_labels(&self) -> Vec<u8> {
        let values = self.classes.iter().flat_map(|&class| (class as i64).to_le_bytes());
        npy("<i8", &format!("({},)", self.rows.len()), values)
    }

    /// IDX of bytes, as the images of MNIST.
    pub(crate) fn idx(&self) -> Vec<u8> {
        let shape = [self.rows.len() as u32, self.n_inputs() as u32].map(u32::to_be_bytes).concat();
        [vec![0, 0, 8, 2], shape, self.rows.concat()].concat()
    }

    /// The classes as IDX.
    pub(crate) fn idx_labels(&self) -> Vec<u8> {
        let values = self.classes.iter().map(|&class| class as u8);
        [0, 0, 8, 1].into_iter().chain((self.rows.len() as u32).to_be_bytes()).chain(values).collect()
    }
}

/// Version 1.0 of the NPY format.
pub(crate) fn npy(descr: &str, shape: &str, values: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    let start = [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes()].concat();
    start.into_iter().chain(values).collect()
}

/// A zip archive of these entries, stored as they are, as `numpy.savez` writes it.
pub(crate) fn npz(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let (start, size) = (archive.len() as u32, (content.len() as u32).to_le_bytes());
        // Version, flags, method, time and date; checksum and sizes; lengths of the name and of the extra field.
        let fields = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0],
            crc.sum().to_le_bytes().as_slice(),
            &size,
            &size,
            &(name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        archive.extend([b"PK\x03\x04", fields.as_slice(), name.as_bytes(), content].concat());
        let place = start.to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\x00", fields.as_slice(), &[0; 10], &place, name.as_bytes()].concat());
    }
    let (count, start) = ((entries.len() as u16).to_le_bytes(), (archive.len() as u32).to_le_bytes());
    let size = (directory.len() as u32).to_le_bytes();
    archive.extend(directory);
    archive.extend([b"PK\x05\x06\0\0\0\0", count.as_slice(), &count, &size, &start, &[0, 0]].concat());
    archive
}

pub(crate) fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.as_ref()).expect("memory");
    encoder.finish().expect("memory")
}
