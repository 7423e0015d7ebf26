//! How a command ends when it does not succeed.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::args::Cli;

/// What went wrong, and so which exit status it gives.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused: bad data or parameters, or an interruption.
    Library(mercer::Error),
    /// A file was refused or could not be written.
    File(mercer_io::Error),
    /// The flags do not go together.
    Usage(String),
    /// The flags cannot be read, or help was asked for.
    Flags(clap::Error),
    /// Standard output failed.
    Output(io::Error),
}

/// What a stream that fails is called.
pub(crate) const STANDARD_OUTPUT: &str = "standard output";

impl Failure {
    /// Prints one error and gives the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let (text, status) = match self {
            Self::Library(mercer::Error::Interrupted) => ("interrupted; no file was written".to_owned(), 130),
            Self::Library(mercer::Error::Parameter { name, got, expected }) if is_flag(name) => {
                (format!("--{} is {got}, must be {expected}", name.replace('_', "-")), 2)
            }
            Self::Library(error) => (error.to_string(), 2),
            Self::File(error @ mercer_io::Error::Write { .. }) => (error.to_string(), 1),
            Self::File(error) => (error.to_string(), 2),
            Self::Usage(text) => (text.clone(), 2),
            Self::Flags(error) if is_help(error) => {
                let _ = error.print();
                return ExitCode::from(error.exit_code() as u8);
            }
            Self::Flags(error) => (one_line(error), 2),
            // A reader that has seen enough (`mercer … | head`) is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Output(error) => (format!("cannot write to standard output: {error}"), 1),
        };
        eprintln!("mercer: {}", printable(&text));
        ExitCode::from(status)
    }
}

/// Whether a parameter of the library has a flag of its name. The inputs of a row have one for some files only, and are
/// what the data says otherwise.
fn is_flag(name: &str) -> bool {
    let has = |command: &clap::Command| command.get_arguments().any(|flag| flag.get_id() == name);
    name != "n_inputs" && Cli::command().get_subcommands().any(has)
}

/// Text of which parts come from files, on one line and without control characters.
fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

fn is_help(error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand | DisplayVersion)
}

/// What clap says on several lines, on one: what is wrong, the tip where there is one, and where to read on.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).filter(|line| {
        let told_below = line.starts_with("Usage:") || line.starts_with("For more information");
        // The tip to write `-- --flag` has never been what was meant.
        !(line.is_empty() || told_below || line.starts_with("tip: to pass"))
    });
    let text = lines.collect::<Vec<_>>().join(" ").replace(" tip: ", "; ");
    format!("{}; see mercer --help", text.trim_start_matches("error: "))
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Self::Flags(error)
    }
}

impl From<mercer::Error> for Failure {
    /// An error of a file that went through the library is one of that file.
    fn from(error: mercer::Error) -> Self {
        match error {
            mercer::Error::Source(inner) => match inner.downcast::<mercer_io::Error>() {
                Ok(error) => (*error).into(),
                Err(inner) => Self::Library(mercer::Error::Source(inner)),
            },
            error => Self::Library(error),
        }
    }
}

impl From<mercer_io::Error> for Failure {
    fn from(error: mercer_io::Error) -> Self {
        match error {
            mercer_io::Error::Write { file, source } if file == STANDARD_OUTPUT => Self::Output(source),
            error => Self::File(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
