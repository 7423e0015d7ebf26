//! `cargo xtask test`: every check a change must pass, cheapest first.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::project::{cargo, run, shown, target, works};

/// A check: what it is called, and the arguments of cargo.
const STEPS: [(&str, &[&str]); 6] = [
    ("format", &["fmt", "--all", "--check"]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    ("benches", &["clippy", "--manifest-path", "benches/Cargo.toml", "--locked", "--", "-D", "warnings"]),
    ("experiments", &["clippy", "--manifest-path", "experiments/Cargo.toml", "--locked", "--", "-D", "warnings"]),
    // Without a choice of targets this includes the doc tests of the libraries. The Python package has none here, but with
    // it the crates are compiled with the features that its wheel needs, once for both.
    ("tests", &["test", "--workspace", "--locked"]),
    ("documentation", &["doc", "--workspace", "--no-deps", "--locked"]),
];

/// Components of the toolchain that cargo itself does not bring.
const COMPONENTS: [(&str, &str); 2] = [("fmt", "rustfmt"), ("clippy", "clippy")];

/// What `--thorough` adds to the tests: those marked `#[ignore]` because they are long.
const THOROUGH: [&str; 2] = ["--", "--include-ignored"];

/// Runs the checks in order, up to the first that fails.
pub(crate) fn run_all(thorough: bool) -> Result<(), Failure> {
    check_components()?;
    let start = Instant::now();
    let mut times = Vec::new();
    for (name, arguments) in STEPS {
        let long: &[&str] = if thorough && name == "tests" { &THOROUGH } else { &[] };
        times.push((name, timed_step(name, &[arguments, long].concat())?));
    }
    println!("\n== python");
    let python = Instant::now();
    crate::python::test()?;
    times.push(("python", python.elapsed()));
    let times: Vec<String> = times.iter().map(|(name, time)| format!("{name} {}", seconds(*time))).collect();
    println!("\nall checks passed in {}: {}", seconds(start.elapsed()), times.join(", "));
    Ok(())
}

fn check_components() -> Result<(), Failure> {
    for (subcommand, component) in COMPONENTS {
        if !works(cargo().args([subcommand, "--version"])) {
            let remedy = format!("add it with `rustup component add {component}`");
            return Err(Failure::new(format!("{component} is missing from the toolchain; {remedy}")));
        }
    }
    Ok(())
}

fn timed_step(name: &str, arguments: &[&str]) -> Result<Duration, Failure> {
    let mut command = step(arguments);
    println!("\n== {name}: {}", shown(&command));
    let start = Instant::now();
    let result = run(&mut command);
    let outcome = if result.is_ok() { "passed" } else { "FAILED" };
    println!("== {name} {outcome} in {}", seconds(start.elapsed()));
    result.map(|()| start.elapsed())
}

fn step(arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.args(arguments);
    if arguments[0] == "doc" {
        command.env("RUSTDOCFLAGS", "-D warnings");
    }
    if arguments.contains(&"--manifest-path") {
        // What the workspaces depend on is looked at once.
        command.env("CARGO_TARGET_DIR", target());
    }
    command
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
