//! The command line of mercer: train, tune, predict, evaluate, inspect, transform, split, convert, compare, budget.
//!
//! Results go to standard output, progress and errors to standard error. Exit status: 0 done, 1 failed, 2 bad input or
//! flags, 130 interrupted.

mod args;
mod auto;
mod budget;
mod compare;
mod convert;
mod data;
mod evaluate;
mod failure;
mod inspect;
mod memory;
mod output;
mod plot;
mod predict;
mod progress;
mod report;
mod rows;
mod split;
mod text;
mod train;
mod transform;
mod tune;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<(), Failure> {
    let command = Cli::try_parse()?.command;
    mercer::InstructionSet::from_environment().map_err(Failure::Usage)?;
    match command {
        Command::Train(args) => train::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Transform(args) => transform::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Budget(args) => budget::run(&args),
    }
}
