//! `cargo xtask fuzz`: libFuzzer makes up files, and the readers must read or refuse them.
//!
//! The targets are the programs of `fuzz/`. They are built with the coverage that libFuzzer follows and without a
//! sanitizer, so that memory is what the readers take, with checks of overflow, for whatever toolchain is in use.

mod seeds;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Failure;
use crate::project::{cargo, output, root, run, target};

const EXECUTIONS: u64 = 10_000_000;

/// A program of `fuzz/src/bin`.
struct Target {
    name: &'static str,
    /// Bytes of the longest file made up.
    longest: usize,
    /// How the names of its seeds end: fixtures of the readers' tests.
    seeds: &'static [&'static str],
}

const TARGETS: [Target; 10] = [
    Target { name: "libsvm", longest: 512, seeds: &[".libsvm"] },
    Target { name: "csv", longest: 512, seeds: &[".csv", ".tsv", ".txt"] },
    Target { name: "npy", longest: 512, seeds: &[".npy"] },
    Target { name: "npz", longest: 1024, seeds: &[".npz"] },
    Target { name: "idx", longest: 256, seeds: &[".idx"] },
    Target { name: "packed", longest: 256, seeds: &[".csv.gz", ".csv.xz", ".csv.zst", ".csv.bz2"] },
    Target {
        name: "detect",
        longest: 1024,
        seeds: &[".libsvm", ".csv", ".tsv", ".npy", ".npz", ".idx", ".gz", ".zst", ".arrow", ".parquet"],
    },
    Target { name: "parquet", longest: 4096, seeds: &[".parquet"] },
    Target { name: "arrow_ipc", longest: 4096, seeds: &[".arrow", ".arrows", ".feather"] },
    Target { name: "model", longest: 4096, seeds: &[] },
];

/// What the compiler adds for libFuzzer: a counter for each edge, and the operands of comparisons.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// A file takes at most a second and the process at most 256 MiB.
const LIMITS: [&str; 3] = ["-timeout=1", "-rss_limit_mb=256", "-print_final_stats=1"];

/// Runs the named targets, all when none is named, up to the first file that breaks a rule.
pub(crate) fn run_all(arguments: &[&str]) -> Result<(), Failure> {
    let request = Request::parse(arguments)?;
    let programs = build()?;
    for target in &request.targets {
        let (corpus, found) = (folder(&["corpus", target.name])?, folder(&["found", target.name])?);
        seeds::write(target, &corpus)?;
        println!("\n== {}: {} executions", target.name, request.executions);
        let mut command = Command::new(programs.join(target.name));
        command.args(LIMITS).arg(format!("-runs={}", request.executions)).arg(format!("-max_len={}", target.longest));
        command.arg(format!("-artifact_prefix={}{}", found.display(), std::path::MAIN_SEPARATOR));
        let dictionary = root().join("fuzz").join("dictionaries").join(target.name);
        if dictionary.exists() {
            command.arg(format!("-dict={}", dictionary.display()));
        }
        command.env("MERCER_FUZZ_MODELS", &corpus);
        let program = command.get_program().to_string_lossy().into_owned();
        run(command.arg(&corpus)).map_err(|failure| {
            let again = format!("run `{program} FILE` with the file named above to see it again");
            Failure { message: format!("{} broke a rule: {}; {again}", target.name, failure.message), ..failure }
        })?;
    }
    Ok(())
}

/// Builds all targets; returns the folder of the programs. A target triple keeps the coverage out of build scripts.
fn build() -> Result<PathBuf, Failure> {
    let about = output(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| Failure::new("rustc -vV names no host"))?;
    let (manifest, built) = (root().join("fuzz").join("Cargo.toml"), target().join("fuzz"));
    println!("building the targets");
    run(cargo()
        .args(["build", "--release", "--locked", "--target", host, "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", &built)
        .env("RUSTFLAGS", COVERAGE.join(" ")))?;
    Ok(built.join(host).join("release"))
}

/// A folder for what the runs keep.
fn folder(names: &[&str]) -> Result<PathBuf, Failure> {
    let folder = names.iter().fold(target().join("fuzz"), |folder, name| folder.join(name));
    fs::create_dir_all(&folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

/// What the command line asks for.
struct Request {
    executions: u64,
    targets: Vec<&'static Target>,
}

impl Request {
    fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        let mut request = Self { executions: EXECUTIONS, targets: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(&argument) = arguments.next() {
            if argument == "--executions" {
                let number = arguments.next().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
                request.executions = number.ok_or_else(|| Failure::usage("--executions needs a number above 0"))?;
            } else if let Some(target) = TARGETS.iter().find(|target| target.name == argument) {
                request.targets.push(target);
            } else {
                let names = TARGETS.map(|target| target.name).join(", ");
                return Err(Failure::usage(format!("no target is called {argument}; there are {names}")));
            }
        }
        if request.targets.is_empty() {
            request.targets = TARGETS.iter().collect();
        }
        Ok(request)
    }
}
