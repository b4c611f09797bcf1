//! The tests of the TypeScript client, as far as the programs for them are here: Node with npm, which brings
//! Bun, Deno and the compiler, and Chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::cargo::Quipu;

const PACKAGE: &str = "clients/typescript";

/// Makes what would be skipped a failure.
const ALL: &str = "QUIPU_CI_ALL";

/// Any of them is Chromium, unless `CHROMIUM` names another.
const CHROMIUM: &[&str] = &["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Installs the package's tools, checks its types and runs its tests in every runtime.
pub fn run(root: &Path, quipu: Quipu) -> Outcome {
    if let Some(missing) = ["node", "npm"].into_iter().find(|it| !is_here(it)) {
        return skip(&format!("the TypeScript client: there is no `{missing}`"));
    }
    if std::env::var_os("CHROMIUM").is_none() && !CHROMIUM.iter().any(|it| is_here(it)) {
        skip("the TypeScript client in a browser: there is no `chromium`")?;
    }
    quipu.program(root)?;
    let package = root.join(PACKAGE);
    if !is_installed(&package) {
        npm(&package, &["ci", "--no-audit", "--no-fund"])?;
    }
    npm(&package, &["run", "ci"])
}

/// Says plainly what is not tested here, or fails where everything is to be tested.
fn skip(what: &str) -> Outcome {
    if std::env::var_os(ALL).is_some() {
        return Err(format!("cannot test {what}, and {ALL} is set"));
    }
    println!("SKIPPED: {what}");
    Ok(())
}

fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| is_program(directory.join(program)))
}

fn is_program(path: PathBuf) -> bool {
    path.is_file() || path.with_extension("cmd").is_file() || path.with_extension("exe").is_file()
}

/// Whether npm installed what the lock file says; it keeps a copy, newer than the file that it followed.
fn is_installed(package: &Path) -> bool {
    let changed = |file: &str| fs::metadata(package.join(file)).and_then(|it| it.modified());
    match (
        changed("node_modules/.package-lock.json"),
        changed("package-lock.json"),
    ) {
        (Ok(installed), Ok(wanted)) => installed >= wanted,
        _ => false,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore ends before its children matter"
)]
fn npm(package: &Path, args: &[&str]) -> Outcome {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let shown = format!("npm {}", args.join(" "));
    let status = Command::new(program)
        .args(args)
        .current_dir(package)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{shown}` failed in {PACKAGE} ({status})")),
    }
}
