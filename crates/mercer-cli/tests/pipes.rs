//! Help, and good manners in a pipe.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use support::{Folder, Run, Table};

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
