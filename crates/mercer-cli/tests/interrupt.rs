//! Ctrl-C in the middle of a training, and while waiting for data.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::{Folder, Run, Table};

/// Whether the process has a handler for the interrupt signal (number 2) yet.
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 0b10 != 0
}

fn start(folder: &Folder, arguments: &str) -> Child {
    let mut command = folder.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends an interrupt some time after the process listens, and waits for its end. Its standard input stays open.
fn interrupt_after(mut child: Child, wait: Duration) -> Run {
    while !listens(&child) {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be interrupted");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(wait);
    let input = child.stdin.take();
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let run = Run::from(child.wait_with_output().unwrap());
    drop(input);
    run
}

fn interrupt(child: Child) -> Run {
    interrupt_after(child, Duration::from_millis(300))
}

/// Nobody writes to the pipe, so that the command waits for ever.
#[test]
fn ctrl_c_ends_the_wait_for_data() {
    let (folder, table) = (Folder::new(), Table::new(60, 4, 3));
    folder.write("a.csv", table.headerless());
    folder.train("a.csv");
    folder.write("old.csv", "as it was");
    let before = folder.names();
    for arguments in ["train -", "train a.csv --test -", "predict trained.mercer - -o old.csv"] {
        let run = interrupt(start(&folder, arguments));
        let stderr = "mercer: interrupted; no file was written\n".to_owned();
        assert_eq!(run, Run { status: Some(130), stdout: String::new(), stderr }, "{arguments}");
        assert_eq!(folder.names(), before);
    }
    assert_eq!(folder.text("old.csv"), "as it was");
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let (folder, table) = (Folder::new(), Table::new(3_000, 6, 3));
    folder.write("a.csv", table.headerless());
    folder.write("old.mercer", "as it was");
    let before = folder.names();
    // 100 folds of 8 solutions each: it would take minutes.
    let child = start(&folder, "train a.csv --n-components 2048 --cv 100 --threads 1 -o old.mercer");
    let run = interrupt(child);
    let stderr = "mercer: interrupted; no file was written\n".to_owned();
    assert_eq!(run, Run { status: Some(130), stdout: String::new(), stderr });
    assert_eq!(folder.names(), before);
    assert_eq!(folder.text("old.mercer"), "as it was");
}

#[test]
fn ctrl_c_keeps_the_model_so_far_if_asked() {
    let (folder, table) = (Folder::new(), Table::new(2_000, 6, 3));
    folder.write("a.csv", table.headerless());
    // 100 folds of some solutions each: it would take minutes, and the first is there in a moment.
    let arguments = "train a.csv --learner svm --n-components 128 --cv 100 --keep-interrupted -o kept.mercer";
    let mut wait = Duration::from_secs(1);
    let run = loop {
        let run = interrupt_after(start(&folder, arguments), wait);
        // A slow machine may have no model yet.
        if run.status != Some(130) || wait > Duration::from_secs(20) {
            break run;
        }
        wait *= 2;
    };
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    assert!(run.stdout.contains("NOT converged: ended by Ctrl-C after"), "{}", run.stdout);
    let scores = folder.json("evaluate kept.mercer a.csv");
    assert!(scores["test"]["accuracy"].as_f64().unwrap() > 0.5, "{scores}");
}
