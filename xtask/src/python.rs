//! Python: environments of pinned packages, and the tests of our own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::project::{root, run, target, works};

/// The interpreter of the competitors, and of independent readers and writers.
pub(crate) fn environment() -> Result<PathBuf, String> {
    environment_of("bench-venv", &root().join("benches").join("requirements.txt"))
}

/// Builds the package as a wheel, installs it into an environment of its own, and runs its tests and examples.
pub(crate) fn test() -> Result<(), Failure> {
    let folder = root().join("python");
    let python = environment_of("python-venv", &folder.join("requirements.txt")).map_err(|reason| {
        Failure::new(format!("the Python package cannot be tested: {reason}; it needs Python 3.11 or later and PyPI"))
    })?;
    install_package(&python, &[])?;
    // Built for its own tests, which come before.
    let mercer = target().join("debug").join(format!("mercer{}", env::consts::EXE_SUFFIX));
    let mut tests = Command::new(&python);
    tests.args([
        "-m",
        "pytest",
        "--quiet",
        "-p",
        "no:cacheprovider",
        "tests",
        "--doctest-modules",
        "--pyargs",
        "mercer",
    ]);
    run(tests.current_dir(folder).env("MERCER_BIN", mercer))
}

/// Builds the wheel with these arguments and installs it.
pub(crate) fn install_package(python: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let wheels = target().join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| Failure::new(format!("{}: {error}", wheels.display())))?;
    }
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--locked"]).args(arguments).arg("--out").arg(&wheels).arg("--manifest-path");
    build.arg(root().join("python").join("Cargo.toml")).current_dir(root()).env("CARGO_TARGET_DIR", target());
    run(&mut build)?;
    let wheel = fs::read_dir(&wheels).ok().and_then(|mut files| files.next()?.ok());
    let wheel = wheel.ok_or_else(|| Failure::new(format!("there is no wheel in {}", wheels.display())))?;
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]);
    run(install.arg(wheel.path()))
}

/// The interpreter of an environment with what a file pins, made or renewed when needed.
fn environment_of(name: &str, requirements: &Path) -> Result<PathBuf, String> {
    let folder = target().join(name);
    let python =
        if cfg!(windows) { folder.join("Scripts").join("python.exe") } else { folder.join("bin").join("python") };
    let wanted = fs::read_to_string(requirements).map_err(|error| format!("{}: {error}", requirements.display()))?;
    // Written last, so that an installation broken off is started again.
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) && works(Command::new(&python).arg("--version"))
    {
        return Ok(python);
    }
    println!("installing Python packages from PyPI");
    install(&folder, &python, requirements)?;
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
