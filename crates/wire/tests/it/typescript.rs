//! Our TypeScript as the compiler sees it, and against the types that the official server prints. Neither
//! is part of this project: set `QUIPU_TSC` to a `tsc` program, and `QUIPU_REFERENCE_SCHEMAS` to a directory
//! that holds `ts-experimental`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use quipu_wire::schema::{self, Files, Protocol, Surface};

#[test]
fn typescript_compiles_and_is_assignable_both_ways_with_the_reference() {
    let Some(tsc) = std::env::var_os("QUIPU_TSC") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    write_all(
        &directory.path().join("stable"),
        &schema::typescript(Surface::stable(Protocol::V0_118)),
    );
    let ours = schema::typescript(Surface::whole(Protocol::V0_118));
    write_all(&directory.path().join("ours"), &ours);
    let mut roots = vec!["stable/index.ts", "ours/index.ts"];
    if let Some(reference) = std::env::var_os("QUIPU_REFERENCE_SCHEMAS") {
        let theirs = Path::new(&reference).join("ts-experimental");
        std::os::unix::fs::symlink(&theirs, directory.path().join("theirs")).unwrap();
        let both = ours.keys().filter(|file| theirs.join(file).exists());
        fs::write(directory.path().join("both.ts"), assignments(both)).unwrap();
        roots.push("both.ts");
    }
    #[expect(clippy::disallowed_methods, reason = "the compiler is the judge here")]
    let output = Command::new(tsc)
        .args(["--strict", "--noEmit", "--skipLibCheck", "false"])
        .args(["--preserveSymlinks", "--target", "es2022"])
        .args(["--module", "esnext", "--moduleResolution", "bundler"])
        .args(roots)
        .current_dir(directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

/// For each file, its type of one side given where that of the other is wanted.
fn assignments<'f>(files: impl Iterator<Item = &'f String>) -> String {
    let mut text = String::new();
    let mut checked = 0;
    for (number, file) in files.enumerate() {
        let module = file.strip_suffix(".ts").unwrap();
        let name = module.rsplit('/').next().unwrap();
        if name == "index" {
            continue;
        }
        checked += 1;
        writeln!(
            text,
            "import type {{ {name} as Ours{number} }} from './ours/{module}';
             import type {{ {name} as Theirs{number} }} from './theirs/{module}';
             export const there{number}: (it: Ours{number}) => Theirs{number} = (it) => it;
             export const back{number}: (it: Theirs{number}) => Ours{number} = (it) => it;"
        )
        .unwrap();
    }
    assert!(checked > 400, "only {checked} types have a counterpart");
    text
}

fn write_all(directory: &Path, files: &Files) {
    for (name, text) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
