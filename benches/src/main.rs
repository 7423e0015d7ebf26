//! Measures mercer, and the competitors written in Rust, one bench a call; `competitors.py` measures the others.
//!
//! ```text
//! mercer-bench list      every bench and its conditions, separated by a tab
//! mercer-bench about     what is measured, in one line
//! mercer-bench <name>    one JSON object a line: see [`measure::Case`]
//! ```
//!
//! `cargo xtask bench` builds and runs both sides in turn and writes the record.

mod accuracy;
mod auto;
mod cholesky;
mod csr;
mod falkon;
mod gram;
mod hadamard;
mod kernels;
mod landmarks;
mod linear;
mod map;
mod matmul;
mod measure;
mod normals;
mod products;
mod python;
mod read;
mod scale;
mod sincos;
mod spectral;
mod train;

use std::process::ExitCode;

/// A bench: its name, what both sides do, and our side of it.
struct Bench {
    name: &'static str,
    conditions: &'static str,
    run: fn(),
}

const BENCHES: [Bench; 20] = [
    Bench { name: "hadamard", conditions: hadamard::CONDITIONS, run: hadamard::run },
    Bench { name: "spectral", conditions: spectral::CONDITIONS, run: spectral::run },
    Bench { name: "products", conditions: products::CONDITIONS, run: products::run },
    Bench { name: "landmarks", conditions: landmarks::CONDITIONS, run: landmarks::run },
    Bench { name: "map", conditions: map::CONDITIONS, run: map::run },
    Bench { name: "matmul", conditions: matmul::CONDITIONS, run: matmul::run },
    Bench { name: "sincos", conditions: sincos::CONDITIONS, run: sincos::run },
    Bench { name: "csr", conditions: csr::CONDITIONS, run: csr::run },
    Bench { name: "normals", conditions: normals::CONDITIONS, run: normals::run },
    Bench { name: "cholesky", conditions: cholesky::CONDITIONS, run: cholesky::run },
    Bench { name: "gram", conditions: gram::CONDITIONS, run: gram::run },
    Bench { name: "read", conditions: read::CONDITIONS, run: read::run },
    Bench { name: "kernels", conditions: kernels::CONDITIONS, run: kernels::run },
    Bench { name: "train", conditions: train::CONDITIONS, run: train::run },
    Bench { name: "linear", conditions: linear::CONDITIONS, run: linear::run },
    Bench { name: "accuracy", conditions: accuracy::CONDITIONS, run: accuracy::run },
    Bench { name: "falkon", conditions: falkon::CONDITIONS, run: falkon::run },
    Bench { name: "auto", conditions: auto::CONDITIONS, run: auto::run },
    Bench { name: "scale", conditions: scale::CONDITIONS, run: scale::run },
    Bench { name: "python", conditions: python::CONDITIONS, run: python::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [word] = arguments.as_slice() else {
        eprintln!("usage: mercer-bench list | about | <name>");
        return ExitCode::from(2);
    };
    match word.as_str() {
        "list" => BENCHES.iter().for_each(|bench| println!("{}\t{}", bench.name, bench.conditions)),
        "about" => println!("mercer, instruction set {:?}", mercer_simd::InstructionSet::best()),
        name => match BENCHES.iter().find(|bench| bench.name == name) {
            Some(bench) => (bench.run)(),
            None => {
                eprintln!("mercer-bench: no bench is called {name}; `mercer-bench list` has them");
                return ExitCode::from(2);
            }
        },
    }
    ExitCode::SUCCESS
}
