//! How a command ends when it does not succeed.

use std::io;
use std::process::ExitCode;

/// What went wrong, and so which exit status it gives.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused: bad data or parameters, or an interruption.
    Library(mercer::Error),
    /// A file was refused or could not be written.
    File(mercer_io::Error),
    /// The flags do not go together.
    Usage(String),
    /// Standard output failed.
    Output(io::Error),
}

impl Failure {
    /// Prints one error and gives the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let (text, status) = match self {
            Self::Library(mercer::Error::Interrupted) => ("interrupted; nothing was written".to_owned(), 130),
            Self::Library(error) => (error.to_string(), 2),
            Self::File(error @ mercer_io::Error::Write { .. }) => (error.to_string(), 1),
            Self::File(error) => (error.to_string(), 2),
            Self::Usage(text) => (text.clone(), 2),
            // A reader that has seen enough (`mercer … | head`) is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Output(error) => (format!("cannot write to standard output: {error}"), 1),
        };
        eprintln!("mercer: {text}");
        ExitCode::from(status)
    }
}

impl From<mercer::Error> for Failure {
    fn from(error: mercer::Error) -> Self {
        Self::Library(error)
    }
}

impl From<mercer_io::Error> for Failure {
    fn from(error: mercer_io::Error) -> Self {
        Self::File(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
