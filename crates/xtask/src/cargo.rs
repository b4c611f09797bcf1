//! Where chores start the cargo that started us, and the program that it built. Other programs are
//! started by `npm.rs` and `dist/tools.rs`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// Runs `cargo ARGS` at `root`, its output going to ours, and fails when it fails.
pub fn run(root: &Path, args: &[&str], env: &[(&str, &str)]) -> Outcome {
    let shown = format!("cargo {}", args.join(" "));
    let status = command(root)
        .args(args)
        .envs(env.iter().copied())
        .status()
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` failed ({status})"))
    }
}

/// Runs `cargo ARGS`, which tests, and returns the names of the tests that failed.
pub fn failing_tests(root: &Path, args: &[&str]) -> Outcome<Vec<String>> {
    let shown = format!("cargo {}", args.join(" "));
    let mut child = command(root)
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    let mut failed = Vec::new();
    for line in BufReader::new(child.stdout.take().ok_or("cargo has no output")?).lines() {
        let line = line.map_err(|error| format!("cannot read what `{shown}` says: {error}"))?;
        println!("{line}");
        let test = line
            .strip_prefix("test ")
            .and_then(|it| it.strip_suffix(" ... FAILED"));
        failed.extend(test.map(str::to_owned));
    }
    let status = child
        .wait()
        .map_err(|error| format!("cannot wait for `{shown}`: {error}"))?;
    match status.success() || !failed.is_empty() {
        true => Ok(failed),
        false => Err(format!("`{shown}` failed ({status})")),
    }
}

/// The product, which some chores run. After `cargo test --workspace` it is there; building it alone would
/// compile all dependencies again, with the features that it alone needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quipu {
    /// Built by an earlier step.
    Built,
    /// To be built first.
    ToBuild,
}

impl Quipu {
    /// The path of the program.
    pub fn program(self, root: &Path) -> Outcome<PathBuf> {
        if self == Self::ToBuild {
            run(root, &["build", "--quiet", "--package", "quipu-cli"], &[])?;
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        let name = format!("quipu{}", std::env::consts::EXE_SUFFIX);
        Ok(root.join(target).join("debug").join(name))
    }
}

/// Runs a program at `root`, its output going to ours, and fails when it fails.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore ends before its children matter"
)]
pub fn run_program(root: &Path, program: &Path, args: &[&str]) -> Outcome {
    let shown = format!("{} {}", program.display(), args.join(" "));
    let status = Command::new(program)
        .args(args)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{shown}` failed ({status})")),
    }
}

/// Whether `cargo SUBCOMMAND` is installed.
pub fn has(root: &Path, subcommand: &str) -> bool {
    command(root)
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether the toolchain that started us can compile for a target: it keeps a directory for each.
pub fn has_standard_library(target: &str) -> bool {
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let toolchain = cargo.as_deref().and_then(|cargo| cargo.ancestors().nth(2));
    toolchain.is_some_and(|it| it.join("lib/rustlib").join(target).join("lib").is_dir())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore ends before its children matter"
)]
fn command(root: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root);
    command
}
