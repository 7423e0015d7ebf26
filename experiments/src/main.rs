//! The tables of the source documents, computed anew beside what is printed.
//!
//! ```text
//! MERCER_DATA=… cargo run --release -- distortion    LS19 tables 3.1, 3.2, 4.2, 4.3, 4.8 and 4.9
//! MERCER_DATA=… cargo run --release -- degree        a polynomial kernel of degree 7 on MNIST
//! ```
//!
//! Results are Markdown on standard output; `README.md` keeps them.

mod degree;
mod distortion;
mod rows;

use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let result = match name.as_str() {
        "distortion" => distortion::run(),
        "degree" => degree::run(),
        _ => Err("usage: mercer-experiments distortion | degree".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("mercer-experiments: {text}");
            ExitCode::FAILURE
        }
    }
}
