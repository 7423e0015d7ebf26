//! `cargo xtask interop`: every reader against an independent writer, every writer by an independent reader.

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::project::{build_command, mercer_binary, root, run, target};
use crate::python;

/// Runs the Python script on the command line; the files stay in the target folder to be looked at.
pub(crate) fn run_all() -> Result<(), Failure> {
    let python = python::environment().map_err(Failure::new)?;
    build_command()?;
    let script = Path::new("crates").join("mercer-io").join("tests").join("interop").join("main.py");
    let mut command = Command::new(python);
    command.arg("-B").arg(script).arg(mercer_binary()).arg(target().join("interop")).current_dir(root());
    run(&mut command)
}
