//! The tables of the source documents, computed anew beside what is printed.
//!
//! ```text
//! MERCER_DATA=… cargo run --release -- distortion    LS19 tables 3.1, 3.2, 4.2, 4.3, 4.8 and 4.9, or those named behind it, and their methods
//! MERCER_DATA=… cargo run --release -- cost          seconds of KG-RP beside PK-RP, LS19 table 4.2
//! MERCER_DATA=… cargo run --release -- accuracy      LS19 tables 4.4, 4.10 and 3.6 (3.6a, 3.6b, 3.6c), or those named behind it
//! MERCER_DATA=… cargo run --release -- larp          MNIST by maps of polynomial kernels, LaRP table 1: `larp` tells what may follow
//! MERCER_DATA=… cargo run --release -- budget        landmarks by randomly pivoted Cholesky beside chance
//! MERCER_DATA=… cargo run --release -- small-budgets  10 to 40 landmarks by hashing and by chance, by what is learned with them
//! MERCER_DATA=… cargo run --release -- degree        a polynomial kernel of degree 7 on MNIST
//! ```
//!
//! Results are Markdown on standard output; `README.md` keeps them.

mod accuracy;
mod budget;
mod cost;
mod degree;
mod distortion;
mod explicit;
mod larp;
mod rows;
mod small_budgets;

use std::process::ExitCode;

const USAGE: &str = "usage: mercer-experiments distortion [TABLE… METHOD…] | cost | accuracy [TABLE…] | larp … | budget | small-budgets | degree";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((name, words)) if name == "distortion" => distortion::run(words),
        Some((name, numbers)) if name == "accuracy" => accuracy::run(numbers),
        Some((name, words)) if name == "larp" => larp::run(words),
        Some((name, [])) if name == "cost" => cost::run(),
        Some((name, [])) if name == "budget" => budget::run(),
        Some((name, [])) if name == "small-budgets" => small_budgets::run(),
        Some((name, [])) if name == "degree" => degree::run(),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("mercer-experiments: {text}");
            ExitCode::FAILURE
        }
    }
}
