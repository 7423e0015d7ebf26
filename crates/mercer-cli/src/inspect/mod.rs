//! `mercer inspect`: what a file of rows or a saved model holds.

mod dataset;
mod model;

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, CommandFactory};

use crate::args::{Cli, InspectArgs};
use crate::failure::Failure;

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    match args.data.as_slice() {
        [one] if one.ends_with(".mercer") || mercer_io::is_model(Path::new(one)) => {
            refuse_data_flags(one)?;
            model::run(Path::new(one), args.report.json)
        }
        _ => dataset::run(args),
    }
}

/// Refuses the flags that say how rows are read or shown.
fn refuse_data_flags(model: &str) -> Result<(), Failure> {
    let mut command = Cli::command();
    let all = command.try_get_matches_from_mut(std::env::args_os())?;
    let (Some(given), Some(inspect)) = (all.subcommand_matches("inspect"), command.find_subcommand("inspect")) else {
        return Ok(());
    };
    let of_rows = |flag: &&Arg| {
        let id = flag.get_id().as_str();
        !["data", "json", "quiet"].contains(&id) && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    match inspect.get_arguments().find(of_rows).and_then(Arg::get_long) {
        Some(flag) => Err(Failure::Usage(format!("--{flag} is for rows, and {model} is a model; leave it out"))),
        None => Ok(()),
    }
}
