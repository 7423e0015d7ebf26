//! `cargo xtask bench`: mercer and its competitors in turn, one table, one record.

mod json;
mod measurement;
mod programs;
mod record;

use crate::Failure;
use measurement::{Best, Line};
use programs::Programs;
use record::Record;

const ROUNDS: usize = 3;

/// Measures the named benches, all when none is named.
pub(crate) fn run_all(arguments: &[&str]) -> Result<(), Failure> {
    let request = Request::parse(arguments)?;
    let (programs, mut notes) = Programs::set_up()?;
    let benches = request.choose(programs.benches()?)?;
    if benches.iter().any(|bench| ["train", "accuracy", "auto", "falkon", "scale"].contains(&bench.name.as_str())) {
        crate::project::build_command()?;
    }
    if let (true, Some(python)) = (benches.iter().any(|bench| bench.name == "python"), programs.python()) {
        println!("building the Python package");
        crate::python::install_package(python, &["--release"])?;
    }
    let mut best = Best::default();
    for bench in &benches {
        for round in 1..=request.rounds {
            println!("{}, round {round} of {}", bench.name, request.rounds);
            measure(&programs, &bench.name, &mut best, &mut notes);
        }
    }
    notes.sort();
    notes.dedup();
    let record = Record::new(&request, benches, best, notes, programs.about());
    println!("\n{}", record.table());
    println!("\nwritten: {}", record.write()?);
    Ok(())
}

/// One turn of every program; what fails or is skipped is noted, and the rest goes on.
fn measure(programs: &Programs, name: &str, best: &mut Best, notes: &mut Vec<String>) {
    for mut command in programs.turn(name) {
        let lines = match crate::project::output(&mut command) {
            Ok(lines) => lines,
            Err(failure) => {
                notes.push(format!("{name}: {}", failure.message));
                continue;
            }
        };
        for line in lines.lines() {
            match Line::parse(line) {
                Some(Line::Measured(measurement)) => best.add(measurement),
                Some(Line::Skipped { by, reason }) => notes.push(format!("{name}: skipped by {by}: {reason}")),
                None => notes.push(format!("{name}: not understood: {line}")),
            }
        }
    }
}

/// What the command line asks for.
struct Request {
    rounds: usize,
    names: Vec<String>,
}

/// A bench, and what both sides do in it.
struct Bench {
    name: String,
    conditions: String,
}

impl Request {
    fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        let mut request = Self { rounds: ROUNDS, names: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(&argument) = arguments.next() {
            if argument == "--rounds" {
                let rounds = arguments.next().and_then(|text| text.parse().ok()).filter(|&rounds| rounds > 0);
                request.rounds = rounds.ok_or_else(|| Failure::usage("--rounds needs a number above 0"))?;
            } else if argument.starts_with('-') {
                return Err(Failure::usage(format!("bench has no option {argument}; try `cargo xtask help`")));
            } else {
                request.names.push(argument.to_owned());
            }
        }
        Ok(request)
    }

    /// The benches asked for, in their usual order.
    fn choose(&self, mut all: Vec<Bench>) -> Result<Vec<Bench>, Failure> {
        if let Some(unknown) = self.names.iter().find(|name| all.iter().all(|bench| bench.name != **name)) {
            let known: Vec<&str> = all.iter().map(|bench| bench.name.as_str()).collect();
            return Err(Failure::usage(format!("no bench is called {unknown}; there are {}", known.join(", "))));
        }
        all.retain(|bench| self.names.is_empty() || self.names.contains(&bench.name));
        Ok(all)
    }

    /// The command as typed.
    fn command(&self) -> String {
        let names: String = self.names.iter().map(|name| format!(" {name}")).collect();
        format!("cargo xtask bench --rounds {}{names}", self.rounds)
    }
}
