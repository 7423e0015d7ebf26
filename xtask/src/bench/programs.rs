//! The programs that measure: `mercer-bench`, and the Python script in an environment of its own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Bench;
use crate::Failure;
use crate::project::{cargo, mercer_binary, output, root, run, target};
use crate::python;

/// What can be run.
pub(super) struct Programs {
    bench: PathBuf,
    /// The interpreter of the environment, when there is one.
    python: Option<PathBuf>,
}

/// Settings of the caller's environment that would change how many threads the competitors use.
const THREAD_VARIABLES: [&str; 4] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"];

impl Programs {
    /// Builds and installs what is needed; the notes say what had to be left out.
    pub(super) fn set_up() -> Result<(Self, Vec<String>), Failure> {
        let folder = target().join("benches");
        let manifest = root().join("benches").join("Cargo.toml");
        println!("building the bench program");
        run(cargo()
            .args(["build", "--release", "--locked", "--manifest-path"])
            .arg(manifest)
            .env("CARGO_TARGET_DIR", &folder))?;
        let bench = folder.join("release").join(format!("mercer-bench{}", env::consts::EXE_SUFFIX));
        let (python, notes) = match python::environment() {
            Ok(python) => (Some(python), Vec::new()),
            Err(reason) => {
                let note = format!("competitors in Python: skipped: {reason}");
                println!("{note}");
                (None, vec![note])
            }
        };
        Ok((Self { bench, python }, notes))
    }

    /// The interpreter of the competitors, when there is one.
    pub(super) fn python(&self) -> Option<&Path> {
        self.python.as_deref()
    }

    /// Every bench there is.
    pub(super) fn benches(&self) -> Result<Vec<Bench>, Failure> {
        let list = output(Command::new(&self.bench).arg("list"))?;
        let of_line = |line: &str| {
            let (name, conditions) = line.split_once('\t').unwrap_or((line, ""));
            Bench { name: name.to_owned(), conditions: conditions.to_owned() }
        };
        Ok(list.lines().map(of_line).collect())
    }

    /// The commands of one round of a bench, ours first.
    pub(super) fn turn(&self, name: &str) -> Vec<Command> {
        let mut commands = self.commands(name);
        for command in &mut commands {
            THREAD_VARIABLES.iter().for_each(|variable| {
                command.env_remove(variable);
            });
            command.env("MERCER_BIN", mercer_binary()).env("MERCER_DATA", data_folder());
        }
        commands
    }

    /// A line from each program on what it measures.
    pub(super) fn about(&self) -> Vec<String> {
        self.commands("about").iter_mut().filter_map(|command| output(command).ok()).collect()
    }

    fn commands(&self, argument: &str) -> Vec<Command> {
        let mut ours = Command::new(&self.bench);
        ours.arg(argument);
        let theirs = self.python.as_ref().map(|python| {
            let mut command = Command::new(python);
            command.arg(Path::new("benches").join("competitors.py")).arg(argument).current_dir(root());
            command
        });
        std::iter::once(ours).chain(theirs).collect()
    }
}

/// `MERCER_DATA`, or the folder beside the project that developers share.
fn data_folder() -> PathBuf {
    let folder =
        env::var_os("MERCER_DATA").map_or_else(|| root().join("..").join("shared").join("data"), PathBuf::from);
    fs::canonicalize(&folder).unwrap_or(folder)
}
