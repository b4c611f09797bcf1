//! The binary quipu.

use std::process::ExitCode;

fn main() -> ExitCode {
    quipu_cli::main()
}
