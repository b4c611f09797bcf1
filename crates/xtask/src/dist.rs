//! `cargo xtask dist`: everything a release consists of, in `target/dist`: static Linux programs, archives, Debian
//! packages, npm and PyPI packages that carry the program, a Homebrew formula, a bill of materials, checksums.
//!
//! Two runs of one commit give the same bytes: paths are taken out of the programs, and every archive carries the
//! time of the commit. Packing is a function of the programs, which a test runs twice. Other programs do the packing, and what
//! is missing is named before anything is built.

mod packages;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, cargo};
use packages::Package;
use tools::{output, require, run};

/// A system that a release is made for.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub triple: &'static str,
    /// What Debian, npm and PyPI call the machine.
    pub debian: &'static str,
    pub npm: &'static str,
    pub wheel: &'static str,
}

const TARGETS: [Target; 2] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        debian: "amd64",
        npm: "x64",
        wheel: "x86_64",
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        debian: "arm64",
        npm: "arm64",
        wheel: "aarch64",
    },
];

/// One release.
pub struct Release<'a> {
    pub root: &'a Path,
    /// Where it is put.
    pub out: PathBuf,
    pub version: String,
    /// When the commit was made, in Unix seconds.
    pub epoch: String,
}

/// A program to pack: for which system, and where it is if it is built already.
type Order = (Target, Option<PathBuf>);

/// Makes the release for all targets, or for those that are named; `TARGET=PROGRAM` packs a program that is there.
pub fn main(root: &Path, args: &[&str]) -> Outcome {
    let orders: Vec<Order> = match args {
        [] => TARGETS.iter().map(|it| (*it, None)).collect(),
        names => names
            .iter()
            .map(|it| order(root, it))
            .collect::<Outcome<_>>()?,
    };
    require(&PACKERS)?;
    if orders.iter().any(|(_, program)| program.is_none()) {
        require(&[("cargo-zigbuild", "pip install cargo-zigbuild ziglang")])?;
    }
    for (target, program) in &orders {
        if program.is_none() && !cargo::has_standard_library(target.triple) {
            return Err(format!("run `rustup target add {}` first", target.triple));
        }
    }
    let release = Release {
        root,
        out: root.join("target/dist"),
        version: version(root)?,
        epoch: output(root, "git", &["log", "-1", "--format=%ct"])?,
    };
    let mut programs = Vec::new();
    for (target, program) in orders {
        println!("\n=== {} ===", target.triple);
        let program = match program {
            Some(program) => program,
            None => build(&release, target)?,
        };
        programs.push((target, program));
    }
    pack(&release, &programs)?;
    println!("\n{}", release.out.display());
    Ok(())
}

/// The programs that pack, and how a person gets them.
const PACKERS: [(&str, &str); 5] = [
    ("tar", "tar"),
    ("gzip", "gzip"),
    ("dpkg-deb", "dpkg"),
    ("npm", "npm"),
    ("python3", "python3"),
];

/// Reads `TARGET` or `TARGET=PROGRAM`.
fn order(root: &Path, text: &str) -> Outcome<Order> {
    let (name, program) = match text.split_once('=') {
        Some((name, program)) => (name, Some(root.join(program))),
        None => (text, None),
    };
    let known: Vec<&str> = TARGETS.iter().map(|it| it.triple).collect();
    let target = TARGETS.into_iter().find(|it| it.triple == name);
    let target = target.ok_or_else(|| format!("the targets are {}", known.join(" and ")))?;
    match program {
        Some(program) if !program.is_file() => Err(format!("{} is not a file", program.display())),
        program => Ok((target, program)),
    }
}

/// Makes everything from the programs. The same programs give the same bytes.
fn pack(release: &Release, programs: &[(Target, PathBuf)]) -> Outcome {
    tools::fresh(&release.out)?;
    let documents = documents(release, programs)?;
    let mut archives = Vec::new();
    for (target, program) in programs {
        let package = Package {
            release,
            target: *target,
            program,
            documents: &documents,
        };
        let archive = package.archive()?;
        package.debian()?;
        package.npm()?;
        package.wheel()?;
        archives.push((*target, archive));
    }
    packages::npm_launcher(release)?;
    packages::formula(release, &archives)?;
    packages::bill_of_materials(release)?;
    tools::remove(&release.out.join("work"))?;
    packages::checksums(release)
}

/// The version of the workspace.
fn version(root: &Path) -> Outcome<String> {
    let manifest =
        fs::read_to_string(root.join("Cargo.toml")).map_err(|error| error.to_string())?;
    let line = manifest
        .lines()
        .find_map(|it| it.strip_prefix("version = \""));
    let version = line.and_then(|it| it.strip_suffix('"'));
    version
        .map(str::to_owned)
        .ok_or("Cargo.toml has no version".to_owned())
}

/// Builds the program, static and without paths of this machine in it.
fn build(release: &Release, target: Target) -> Outcome<PathBuf> {
    let root = release.root;
    let home =
        std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|it| it + "/.cargo"));
    let home = home.map_err(|_| "neither CARGO_HOME nor HOME is set".to_owned())?;
    let flags = format!(
        "--remap-path-prefix={}=. --remap-path-prefix={home}=cargo -C target-feature=+crt-static",
        root.display()
    );
    let args = [
        "zigbuild",
        "--release",
        "--locked",
        "--package",
        "quipu-cli",
        "--target",
        target.triple,
    ];
    let env = [
        ("RUSTFLAGS", flags.as_str()),
        ("SOURCE_DATE_EPOCH", &release.epoch),
    ];
    cargo::run(root, &args, &env)?;
    Ok(root
        .join("target")
        .join(target.triple)
        .join("release/quipu"))
}

/// Manual pages and completions, made by the program that this machine can run: one of the release, or else one that
/// is built for it.
fn documents(release: &Release, programs: &[(Target, PathBuf)]) -> Outcome<PathBuf> {
    let root = release.root;
    let directory = release.out.join("work/documents");
    let runs_here =
        |target: &Target| cfg!(target_os = "linux") && target.wheel == std::env::consts::ARCH;
    let program = match programs.iter().find(|(target, _)| runs_here(target)) {
        Some((_, program)) => program.clone(),
        None => cargo::Quipu::ToBuild.program(root)?,
    };
    let program = program.to_string_lossy().into_owned();
    tools::fresh(&directory)?;
    let man = directory.join("man").to_string_lossy().into_owned();
    run(root, &program, &["man", "--out", &man], &[])?;
    for (shell, file) in [
        ("bash", "quipu"),
        ("zsh", "_quipu"),
        ("fish", "quipu.fish"),
        ("powershell", "quipu.ps1"),
    ] {
        let script = output(root, &program, &["completions", shell])?;
        let place = directory.join("completions").join(shell);
        fs::create_dir_all(&place).map_err(|error| error.to_string())?;
        tools::write(&place.join(file), &format!("{script}\n"))?;
    }
    Ok(directory)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A program that makes the manual pages and completions of a release, and nothing else.
    const PROGRAM: &str = "#!/bin/sh\nset -e\n\
        case $1 in man) mkdir -p \"$3\"; echo .TH > \"$3/quipu.1\" ;; completions) echo \"# $2\" ;; esac\n";

    /// Every file of a release that was made in a place of its own.
    fn packed(root: &Path, place: &Path) -> BTreeMap<String, Vec<u8>> {
        let program = place.join("program");
        tools::write(&program, PROGRAM).unwrap();
        tools::place(&program, &place.join("quipu"), 0o755).unwrap();
        let release = Release {
            root,
            out: place.join("dist"),
            version: "1.2.3".to_owned(),
            epoch: "1700000000".to_owned(),
        };
        let [x86, arm] = TARGETS;
        let quipu = place.join("quipu");
        pack(&release, &[(x86, quipu.clone()), (arm, quipu)]).unwrap();
        let names = tools::files(&release.out).unwrap().into_iter();
        names
            .map(|name| (name.clone(), fs::read(release.out.join(name)).unwrap()))
            .collect()
    }

    #[test]
    fn the_same_program_gives_the_same_packages() {
        if let Err(missing) = require(&PACKERS) {
            eprintln!("skipped: {missing}");
            return;
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().unwrap();
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let one = packed(&root, first.path());
        let two = packed(&root, second.path());
        let names: Vec<&String> = one.keys().collect();
        assert_eq!(names, two.keys().collect::<Vec<_>>());
        for kind in [
            ".tar.gz",
            ".deb",
            ".tgz",
            ".whl",
            ".rb",
            ".spdx",
            "SHA256SUMS",
        ] {
            assert!(
                names.iter().any(|it| it.ends_with(kind)),
                "{kind}: {names:?}"
            );
        }
        for (name, bytes) in &one {
            assert!(two[name] == *bytes, "{name} differs");
        }
    }
}
