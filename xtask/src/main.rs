//! The developer's commands: `cargo xtask help` lists them.

mod bench;
mod fuzz;
mod host;
mod interop;
mod project;
mod python;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
The developer's commands of mercer.

  cargo xtask test [--thorough]
      Format, lints, all tests (unit, contract, command line, doc), documentation, and the Python
      package in an environment of its own (needs python3 and, the first time, PyPI); stops at the
      first failure. --thorough includes the long tests, marked #[ignore].

  cargo xtask bench [--rounds N] [NAME...]
      Measures mercer and its competitors in turn, N times (3), on the named benches (all), prints
      a table and writes it to bench-record/. The competitors need python3 and, the first time,
      PyPI; what is missing is skipped and said. The bench `train` reads MNIST from the folder
      MERCER_DATA, or from ../shared/data.

  cargo xtask fuzz [--executions N] [NAME...]
      Lets libFuzzer make up N files (10000000) for each of the named targets (all): libsvm, csv, npy,
      npz, idx, packed, detect, parquet, arrow_ipc, model. Stops at the first that panics, takes more
      than a second or 256 MiB, or is read otherwise a second time. Needs a C++ compiler.
  cargo xtask interop
      Files of NumPy, pandas, scikit-learn and PyArrow through `mercer convert`, `transform`, `predict`
      and `split`, and back to them, compared to the bit. Needs python3 and, the first time, PyPI.

  cargo xtask help
      This text.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        [] | ["help" | "--help" | "-h", ..] => {
            print!("{HELP}");
            Ok(())
        }
        ["test"] => test::run_all(false),
        ["test", "--thorough"] => test::run_all(true),
        ["interop"] => interop::run_all(),
        ["bench", rest @ ..] => bench::run_all(rest),
        ["fuzz", rest @ ..] => fuzz::run_all(rest),
        _ => Err(Failure::usage(format!("cannot run `cargo xtask {}`; try `cargo xtask help`", arguments.join(" ")))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {}", failure.message);
            ExitCode::from(failure.code)
        }
    }
}

/// Why a command ended early, and the exit code to hand on.
struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// Something went wrong.
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// The command was called wrongly.
    fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }
}
