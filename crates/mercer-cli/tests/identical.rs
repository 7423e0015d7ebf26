//! The same data gives the same model, byte for byte, however it is read and however many threads work.

mod support;

use support::{Folder, Table, gzip};

const WAYS: [&str; 11] = [
    "",
    "--threads 1",
    "--threads 2",
    "--threads 3",
    "--block-rows 1",
    "--block-rows 7",
    "--block-rows 512",
    "--block-rows 4096",
    "--block-rows 100000",
    "--cache 0",
    "--cache 0 --block-rows 7 --threads 3",
];

/// More rows than two panels of 2,048, the last one not full.
fn table() -> Table {
    Table::new(4_500, 10, 3)
}

fn check(folder: &Folder, data: &str, gzipped: &str) {
    let model = folder.train(data);
    for way in WAYS {
        assert!(folder.train(&format!("{data} {way}")) == model, "{data} {way}");
    }
    assert!(folder.train(gzipped) == model, "gzipped {data}");
    assert!(folder.train(&format!("{gzipped} --cache 0")) == model, "gzipped {data}, streamed");
    assert!(folder.train(&format!("{data} --seed 1")) != model, "another seed");
}

#[test]
fn csv() {
    let (folder, text) = (Folder::new(), table().csv("who", &["ann", "bob", "cy"]));
    folder.write("a.csv.gz", gzip(&text));
    folder.write("a.csv", text);
    check(&folder, "a.csv", "a.csv.gz");
    check(&folder, "a.csv --dtype float64 --cv 3", "a.csv.gz --dtype float64 --cv 3");
}

/// Maps by transforms do not depend on the instruction set; nor on threads and blocks.
#[test]
fn instruction_sets() {
    let folder = Folder::new();
    folder.write("a.csv", Table::new(300, 37, 3).inputs_only());
    for map in
        ["sorf --kernel matern", "fastfood --kernel cauchy --waves phase", "srht", "hadamard --blocks split", "binning"]
    {
        for dtype in ["float32", "float64"] {
            let arguments = format!("transform a.csv --target none --map {map} --dtype {dtype} -o out.npy");
            let run = |set: &str, more: &str| {
                let output = folder.command(&format!("{arguments} {more}")).env("MERCER_INSTRUCTION_SET", set).output();
                let output = output.expect("mercer starts");
                // A processor without the set says so.
                let unknown = String::from_utf8_lossy(&output.stderr).contains("this processor has");
                assert!(output.status.success() || unknown, "{arguments}: {output:?}");
                (!unknown).then(|| folder.read("out.npy"))
            };
            let expected = run("portable", "").expect("every processor has it");
            for (set, more) in [("avx2", ""), ("avx512", ""), ("avx512", "--threads 3 --block-rows 7")] {
                assert!(run(set, more).is_none_or(|bytes| bytes == expected), "{map} {dtype} {set} {more}");
            }
        }
    }
}

/// Fewer rows than half the features are kept, not summed.
#[test]
fn few_rows() {
    let (folder, text) = (Folder::new(), Table::new(30, 10, 3).headerless());
    folder.write("a.csv.gz", gzip(&text));
    folder.write("a.csv", text);
    check(&folder, "a.csv", "a.csv.gz");
}

#[test]
fn libsvm() {
    let (folder, text) = (Folder::new(), table().libsvm());
    folder.write("a.svm.gz", gzip(&text));
    folder.write("a.svm", text);
    check(&folder, "a.svm", "a.svm.gz");
}

/// One file cut into three, the second packed.
#[test]
fn parts() {
    let (folder, text) = (Folder::new(), table().csv("who", &["ann", "bob", "cy"]));
    folder.write("a.csv", &text);
    let model = folder.train("a.csv");
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| format!("{}\n{}\n", lines[0], rows.join("\n"));
    folder.write("part-1.csv", part(&lines[1..1_000]));
    folder.write("part-2.csv", gzip(part(&lines[1_000..1_001])));
    folder.write("part-3.csv", part(&lines[1_001..]));
    for way in WAYS {
        assert!(folder.train(&format!("part-*.csv {way}")) == model, "part-*.csv {way}");
    }
}

#[test]
fn npy() {
    let (folder, table) = (Folder::new(), table());
    folder.write("x.npy.gz", gzip(table.npy()));
    folder.write("x.npy", table.npy());
    folder.write("y.npy", table.npy_labels());
    check(&folder, "x.npy --labels y.npy", "x.npy.gz --labels y.npy");
}

#[test]
fn idx() {
    let (folder, table) = (Folder::new(), table());
    folder.write("x.gz", gzip(table.idx()));
    folder.write("y.gz", gzip(table.idx_labels()));
    folder.write("x", table.idx());
    folder.write("y", table.idx_labels());
    check(&folder, "x --labels y --gamma median", "x.gz --labels y.gz --gamma median");
}

#[test]
fn digits() {
    let folder = Folder::new();
    let model = folder.train("--sample digits");
    for threads in 1..=3 {
        assert!(folder.train(&format!("--sample digits --threads {threads}")) == model, "{threads} threads");
    }
}
