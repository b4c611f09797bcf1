//! Whether the program compiles for systems other than the one it is developed on, warnings denied. Not part of
//! `ci`, since it needs more than a Rust toolchain; whatever is missing is named, and fails the chore.

use std::path::Path;

use crate::{Outcome, cargo};

/// A system to compile for.
struct Port {
    target: &'static str,
    /// The variable that names its C compiler, and what is used where it is not set.
    cc: (&'static str, Option<&'static str>),
    /// How a person gets one.
    hint: &'static str,
}

const PORTS: [Port; 2] = [
    Port {
        target: "x86_64-apple-darwin",
        cc: (
            "CC_x86_64_apple_darwin",
            if cfg!(target_os = "macos") {
                Some("cc")
            } else {
                None
            },
        ),
        hint: "name one that compiles for macOS, such as a script that runs \
               `zig cc -target x86_64-macos`, and in AR_x86_64_apple_darwin its archiver",
    },
    Port {
        target: "x86_64-pc-windows-gnu",
        cc: ("CC_x86_64_pc_windows_gnu", Some("x86_64-w64-mingw32-gcc")),
        hint: "install mingw-w64, or name another compiler in this variable",
    },
];

/// The largest crates whose dependencies have no C code.
const WITHOUT_C: [&str; 5] = [
    "quipu-client",
    "quipu-engine",
    "quipu-extend",
    "quipu-patch",
    "quipu-policy",
];

/// Checks every system as far as the tools for it are here.
pub fn run(root: &Path) -> Outcome {
    let mut missing = Vec::new();
    for port in &PORTS {
        println!("\n=== {} ===", port.target);
        check(root, port, &mut missing)?;
    }
    match missing.as_slice() {
        [] => Ok(()),
        _ => Err(format!("\nnot checked:\n{}", missing.join("\n"))),
    }
}

fn check(root: &Path, port: &Port, missing: &mut Vec<String>) -> Outcome {
    let target = port.target;
    if !cargo::has_standard_library(target) {
        missing.push(format!(
            "- {target}: its standard library is missing; add it with `rustup target add {target}`"
        ));
        return Ok(());
    }
    let packages: &[&str] = if has_compiler(port) {
        &["quipu-cli"]
    } else {
        missing.push(format!(
            "- {target}: what needs a C compiler; {}: {}",
            port.cc.0, port.hint
        ));
        &WITHOUT_C
    };
    let mut args = vec!["clippy", "--target", target];
    for package in packages {
        args.extend(["-p", package]);
    }
    cargo::run(root, &args, &[])
}

fn has_compiler(port: &Port) -> bool {
    let (variable, usual) = port.cc;
    std::env::var_os(variable).is_some() || usual.is_some_and(is_in_path)
}

fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
