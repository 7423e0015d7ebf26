//! Where things are, and how programs are started.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::Failure;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// The folder of everything built.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The command line, once [`build_command`] has built it.
pub(crate) fn mercer_binary() -> PathBuf {
    target().join("release").join(format!("mercer{}", env::consts::EXE_SUFFIX))
}

/// Builds the command line.
pub(crate) fn build_command() -> Result<(), Failure> {
    println!("building the command line");
    run(cargo().args(["build", "--release", "--locked", "--package", "mercer-cli"]))
}

/// The cargo that started us, working in the workspace.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// Runs a command with our input and output.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(failed(command, status)) }
}

/// Runs a command and returns what it printed; its errors are shown as they come.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        return Err(failed(command, output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Whether a command can be started and succeeds; its output is dropped.
pub(crate) fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// A command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot start `{}`: {error}", command.get_program().to_string_lossy()))
}

fn failed(command: &Command, status: ExitStatus) -> Failure {
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Failure { message: format!("`{}` failed ({status})", shown(command)), code }
}
