//! The instruction set that the environment names, in a process of its own.

// A test that fails may panic, also in its helpers.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

use mercer_simd::InstructionSet;

fn with(set: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "print_the_best", "--ignored", "--nocapture"]);
    command.env(InstructionSet::VARIABLE, set).output().unwrap()
}

#[test]
#[ignore = "run by the tests below"]
fn print_the_best() {
    println!("best: {}", InstructionSet::best().name());
}

#[test]
fn every_set_of_the_processor_can_be_asked_for() {
    for set in InstructionSet::available() {
        let output = String::from_utf8(with(set.name()).stdout).unwrap();
        assert!(output.contains(&format!("best: {}\n", set.name())), "{output}");
    }
}

#[test]
fn a_set_that_there_is_not_is_not_passed_over() {
    let output = with("avx1024");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(error.contains("MERCER_INSTRUCTION_SET is \"avx1024\"; this processor has portable"), "{error}");
}
