//! The packages in `clients`, as far as the programs for them are here: Node with npm, which brings compilers and
//! other runtimes, and Chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::cargo::Quipu;

/// A package: where it is and what it is called.
pub struct Package {
    pub path: &'static str,
    pub name: &'static str,
}

pub const CLIENT: Package = Package {
    path: "clients/typescript",
    name: "the TypeScript client",
};

pub const CONSOLE: Package = Package {
    path: "clients/console",
    name: "the console",
};

/// Makes what would be skipped a failure.
const ALL: &str = "QUIPU_CI_ALL";

/// Any of them is Chromium, unless `CHROMIUM` names another.
const CHROMIUM: &[&str] = &["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Installs a package's tools, checks its types and runs its tests.
pub fn test(root: &Path, package: &Package, quipu: Quipu) -> Outcome {
    let name = package.name;
    if let Some(missing) = missing() {
        return skip(&format!("{name}: there is no `{missing}`"));
    }
    if std::env::var_os("CHROMIUM").is_none() && !CHROMIUM.iter().any(|it| is_here(it)) {
        skip(&format!("{name} in a browser: there is no `chromium`"))?;
    }
    quipu.program(root)?;
    run(root, package, &["run", "ci"])
}

/// What npm needs and this machine does not have.
pub fn missing() -> Option<&'static str> {
    ["node", "npm"].into_iter().find(|it| !is_here(it))
}

/// Runs npm in a package whose tools are installed, or are now.
pub fn run(root: &Path, package: &Package, args: &[&str]) -> Outcome {
    let directory = root.join(package.path);
    if !is_installed(&directory) {
        npm(&directory, &["ci", "--no-audit", "--no-fund"])?;
    }
    npm(&directory, args)
}

/// Says plainly what is not tested here, or fails where everything is to be tested.
fn skip(what: &str) -> Outcome {
    if std::env::var_os(ALL).is_some() {
        return Err(format!("cannot test {what}, and {ALL} is set"));
    }
    println!("SKIPPED: {what}");
    Ok(())
}

/// Whether a program is on the search path.
pub fn is_here(program: &str) -> bool {
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
        false => Err(format!(
            "`{shown}` failed in {} ({status})",
            package.display()
        )),
    }
}
