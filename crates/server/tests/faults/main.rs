//! Faults × moments. Every fault that a server meets strikes at every step of a turn, and after each the
//! laws are checked: on everything that was said on the wire, on what is stored, and on the processes that
//! are left. It prints the matrix with what was tried and what held.
//!
//! The server under test is the whole program, which this binary becomes when started as `app-server`; or
//! the one that `QUIPU_BIN` names. `QUIPU_SOAK=1` repeats everything and adds a thousand rounds of
//! `kill -9`. Words on the command line choose faults and moments by name. `QUIPU_FAULTS_REPORT` names a
//! file for the result, `QUIPU_FAULTS_LOGS` a directory for what was said in each cell. This is a binary of its own, without the usual harness, because its output is a
//! product, and because the program under test must be its main function.
#![allow(clippy::unwrap_used, reason = "tests")]

#[cfg(target_os = "linux")]
mod cell;
#[cfg(target_os = "linux")]
mod chance;
#[cfg(target_os = "linux")]
mod chaos;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod fault;
#[cfg(target_os = "linux")]
mod ground;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod laws;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(target_os = "linux")]
mod moment;
#[cfg(target_os = "linux")]
mod privilege;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod wire;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    quipu_testkit::mcp::run_if_asked();
    let first = std::env::args().nth(1).unwrap_or_default();
    if first == "app-server"
        || std::env::args()
            .next()
            .is_some_and(|it| it == "quipu-zygote")
    {
        clock::follow();
        privilege::become_plain();
        return quipu_cli::main();
    }
    match first.as_str() {
        "limit" => privilege::limit(&std::env::args().skip(2).collect::<Vec<_>>()),
        _ => matrix::main(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("skipped: the faults are made with what only Linux has");
    ExitCode::SUCCESS
}
