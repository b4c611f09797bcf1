//! The project's chores in one program, so that a check runs the same way on every machine and
//! needs little but the Rust toolchain: `cargo xtask ci`, `tidy`, `codegen`, `chaos`, `typescript`, `console`, `clients`,
//! `dist`, `ports`.
#![expect(
    clippy::print_stdout,
    reason = "a command-line program speaks on stdout"
)]

mod cargo;
mod chaos;
mod ci;
#[cfg(unix)]
mod clients;
mod codegen;
mod console;
mod crate_map;
mod dist;
mod manifest;
mod npm;
mod ports;
mod rust_text;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cargo::Quipu;

/// A chore either works or says, for a person, why not.
type Outcome<T = ()> = Result<T, String>;

const USAGE: &str = "\
cargo xtask <chore>

  ci [ARGS]            everything that must pass before a merge: format, clippy, tidy,
                       tests, the TypeScript client, docs; ARGS go to `cargo test --workspace`
  tidy                 the project's own rules (see CONTRIBUTING.md)
  codegen [--check]    write the committed generated files, or only compare them
  chaos [--minutes N] [--seed S]
                       random requests, answers and faults on one home against the release
                       build; ten minutes and a new seed if not given
  typescript           the tests of the TypeScript client, as far as Node and Chromium are here
  console              the tests of the console in the browser, likewise
  clients [WORD…]      real clients from npm and PyPI on one server, those named with WORD or
                       all; all of them renew the table in docs/clients.md
  dist [TARGET[=PROGRAM]…]
                       everything a release consists of, in target/dist; a PROGRAM is packed as it is
  ports                compile for macOS and Windows, as far as the tools are here";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Outcome {
    let root = root()?;
    match args {
        ["ci", test_args @ ..] => ci::run(&root, test_args),
        ["tidy"] => tidy::run(&root, Quipu::ToBuild),
        ["codegen"] => codegen::write(&root),
        ["codegen", "--check"] => codegen::check(&root, Quipu::ToBuild),
        ["chaos", options @ ..] => chaos::run(&root, options),
        ["typescript"] => npm::test(&root, &npm::CLIENT, Quipu::ToBuild),
        ["console"] => npm::test(&root, &npm::CONSOLE, Quipu::ToBuild),
        #[cfg(unix)]
        ["clients", words @ ..] => clients::run(&root, words),
        ["dist", targets @ ..] => dist::main(&root, targets),
        ["ports"] => ports::run(&root),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    }
}

/// The repository's root, two directories above this package.
fn root() -> Outcome<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .ok_or("start this program with `cargo xtask`, which tells it where the project is")?;
    let root = Path::new(&package).ancestors().nth(2);
    root.map(Path::to_path_buf)
        .ok_or_else(|| "the project has no root directory".to_owned())
}
