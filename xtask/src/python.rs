//! The Python environment of the competitors and of the independent readers and writers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{root, run, target, works};

/// The interpreter of an environment with what `benches/requirements.txt` pins, made or renewed when needed.
pub(crate) fn environment() -> Result<PathBuf, String> {
    let folder = target().join("bench-venv");
    let python =
        if cfg!(windows) { folder.join("Scripts").join("python.exe") } else { folder.join("bin").join("python") };
    let requirements = root().join("benches").join("requirements.txt");
    let wanted = fs::read_to_string(&requirements).map_err(|error| format!("{}: {error}", requirements.display()))?;
    // Written last, so that an installation broken off is started again.
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) && works(Command::new(&python).arg("--version"))
    {
        return Ok(python);
    }
    println!("installing Python packages from PyPI");
    install(&folder, &python, &requirements)?;
    fs::write(&installed, wanted).map_err(|error| format!("{}: {error}", installed.display()))?;
    Ok(python)
}

fn install(folder: &Path, python: &Path, requirements: &Path) -> Result<(), String> {
    let system = if cfg!(windows) { "python" } else { "python3" };
    if !works(Command::new(system).arg("--version")) {
        return Err(format!("there is no {system}"));
    }
    let mut make = Command::new(system);
    run(make.args(["-m", "venv", "--clear"]).arg(folder)).map_err(|failure| failure.message)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    run(&mut pip).map_err(|failure| failure.message)
}
