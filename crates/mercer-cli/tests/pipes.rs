//! Help, and good manners in a pipe.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use support::{Folder, Run, Table, gzip, npz};

#[test]
fn every_help_has_examples() {
    let folder = Folder::new();
    for command in ["train", "predict", "evaluate", "inspect"] {
        for flag in ["--help", "-h"] {
            let text = folder.ok(&format!("{command} {flag}"));
            assert!(text.contains("Examples:\n") && text.contains(&format!("\n  mercer {command} ")), "{text}");
        }
    }
    let text = folder.ok("--help");
    assert!(text.starts_with("Fast kernel learning") && text.contains("mercer train --sample digits"), "{text}");
    assert!(folder.ok("--version").starts_with("mercer "));
}

#[test]
fn mercer_alone_prints_help() {
    let run = Folder::new().run("");
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("Usage: mercer <COMMAND>") && run.stderr.contains("Examples:"), "{}", run.stderr);
}

/// `mercer … | head -1`.
#[test]
fn a_reader_may_leave_early() {
    let (folder, table) = (Folder::new(), Table::new(5_000, 4, 3));
    folder.write("a.csv", table.headerless());
    folder.train("a.csv");
    let mut child = folder
        .command("predict trained.mercer a.csv --scores")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    assert_eq!(line, "prediction,score 0,score 1,score 2\n");
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn nobody_listens() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.headerless());
    folder.train("a.csv");
    let commands = ["train a.csv --n-components 16", "evaluate trained.mercer a.csv --json", "inspect trained.mercer"];
    for command in commands {
        let mut child = folder.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "mercer {command}");
    }
}

/// `… | mercer …`
fn fed(folder: &Folder, arguments: &str, content: &[u8]) -> Run {
    let mut command = folder.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(content).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn standard_input_is_a_file_like_another() {
    let (folder, table) = (Folder::new(), Table::new(3_000, 4, 3));
    let text = table.csv("who", &["ann", "bob", "cy"]);
    folder.write("a.csv", &text);
    folder.write("x.csv", table.inputs_only());
    folder.write("y.npy", table.npy_labels());
    let model = folder.train("a.csv");
    for arguments in ["train - --n-components 64 -o fed.mercer", "train - --n-components 64 -o fed.mercer --cache 0"] {
        let run = fed(&folder, arguments, text.as_bytes());
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{arguments}");
        assert_eq!(folder.read("fed.mercer"), model, "{arguments}");
    }
    let expected = folder.ok("predict trained.mercer a.csv --scores");
    for content in [text.as_bytes(), &gzip(&text)] {
        for arguments in ["predict trained.mercer - --scores", "predict trained.mercer - --scores --cache 0"] {
            let run = fed(&folder, arguments, content);
            assert_eq!(run, Run { status: Some(0), stdout: expected.clone(), stderr: String::new() }, "{arguments}");
        }
    }
    let expected = folder.train("x.csv --labels y.npy");
    for (arguments, content) in [
        ("train x.csv --labels -", table.npy_labels()),
        ("train x.csv --labels -", gzip(table.npy_labels())),
        ("train x.csv --labels=-::y", npz(&[("x.npy", table.npy()), ("y.npy", table.npy_labels())])),
        ("train - --labels y.npy", table.inputs_only().into_bytes()),
    ] {
        let run = fed(&folder, &format!("{arguments} --n-components 64 -o fed.mercer"), &content);
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{arguments}");
        assert_eq!(folder.read("fed.mercer"), expected, "{arguments}");
    }
}

#[test]
fn errors_name_standard_input() {
    let folder = Folder::new();
    let two = npz(&[("u.npy", Table::new(9, 2, 2).npy()), ("v.npy", Table::new(9, 2, 2).npy())]);
    let cases: [(&[u8], &str); 5] = [
        (b"a,y\n1,0\nx,1\n", "mercer: standard input, line 3, column 1 (\"a\"): \"x\" is not a number"),
        (b"\x7fELF\0", "mercer: standard input begins with"),
        (&gzip("1,2,0\n3,4,1\n")[..20], "mercer: standard input: the gzip data ends early"),
        (b"", "mercer: standard input is empty"),
        (&two, "mercer: standard input has the arrays u, v; choose one as -::u"),
    ];
    for (content, says) in cases {
        let run = fed(&folder, "train - --n-components 16", content);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
        assert!(run.stderr.starts_with(says), "{}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_written_to_and_stays() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.headerless());
    let model = folder.train("a.csv");
    folder.ok("predict trained.mercer a.csv -o file.csv");
    for (arguments, name, expected) in [
        ("train a.csv --n-components 64 -o pipe", "pipe", model),
        ("predict trained.mercer a.csv -o pipe.csv", "pipe.csv", folder.read("file.csv")),
    ] {
        assert!(Command::new("mkfifo").arg(folder.file(name)).status().unwrap().success());
        let mut child = folder.command(arguments).stdout(Stdio::null()).spawn().unwrap();
        assert_eq!(folder.read(name), expected, "mercer {arguments}");
        assert!(child.wait().unwrap().success());
        assert!(!folder.file(name).is_file(), "still a pipe");
    }
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_a_file_like_another() {
    let (folder, table) = (Folder::new(), Table::new(3_000, 4, 3));
    folder.write("a.csv", table.headerless());
    folder.train("a.csv");
    let expected = folder.ok("predict trained.mercer a.csv");
    assert!(Command::new("mkfifo").arg(folder.file("pipe")).status().unwrap().success());
    let mut child = folder.command("predict trained.mercer pipe --cache 0").stdout(Stdio::piped()).spawn().unwrap();
    std::fs::write(folder.file("pipe"), table.headerless()).unwrap();
    let mut found = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut found).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(found, expected);
}
