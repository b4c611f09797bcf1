//! The bundle of the console, which is committed so that building `quipu` needs no Node. What it was made from is
//! recorded as a digest, so that nobody needs Node to see whether it is current.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::Outcome;
use crate::npm::{self, CONSOLE};

/// Where the bundle is.
pub const ASSETS: &str = "crates/console/assets";
/// The file in it with the digest.
const DIGEST: &str = "crates/console/assets/sources.sha256";
/// What the bundle is made from. `clients/console/scripts/bundle.mjs` has the same lists.
const DIRECTORIES: &[&str] = &[
    "clients/console/src",
    "clients/console/static",
    "clients/typescript/src",
];
const FILES: &[&str] = &[
    "clients/console/package-lock.json",
    "clients/console/scripts/bundle.mjs",
];
/// Not part of the bundle: tests, and types, which the bundler erases.
const LEFT_OUT: &[&str] = &["__tests__", "protocol.ts"];

/// Makes the bundle. Without Node that is an error only if the bundle is stale.
pub fn write(root: &Path) -> Outcome {
    match npm::missing() {
        Some(missing) if check(root).is_err() => Err(format!(
            "{ASSETS} is stale, and there is no `{missing}` to make it"
        )),
        Some(_) => Ok(()),
        None => npm::run(root, &CONSOLE, &["run", "--silent", "bundle"]),
    }
}

/// Fails if the bundle was made from other sources than those that are here.
pub fn check(root: &Path) -> Outcome {
    let recorded = fs::read_to_string(root.join(DIGEST));
    let recorded = recorded.map_err(|error| format!("cannot read {DIGEST}: {error}"))?;
    match recorded.trim() == digest(root)? {
        true => Ok(()),
        false => Err(format!("{ASSETS} is stale; run `cargo xtask codegen`")),
    }
}

/// A digest over paths and contents, in the order of the paths.
fn digest(root: &Path) -> Outcome<String> {
    let mut names: Vec<String> = FILES.iter().map(|it| (*it).to_owned()).collect();
    for directory in DIRECTORIES {
        list(root, Path::new(directory), &mut names)?;
    }
    names.sort();
    let mut hash = Sha256::new();
    for name in names {
        let content = fs::read(root.join(&name));
        let content = content.map_err(|error| format!("cannot read {name}: {error}"))?;
        hash.update(format!("{name}\n{}\n", content.len()));
        hash.update(content);
    }
    let bytes = hash.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn list(root: &Path, directory: &Path, names: &mut Vec<String>) -> Outcome {
    let failed = |error| format!("cannot list {}: {error}", directory.display());
    for entry in fs::read_dir(root.join(directory)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path: PathBuf = directory.join(entry.file_name());
        if LEFT_OUT.iter().any(|it| entry.file_name() == *it) {
            continue;
        }
        if entry.path().is_dir() {
            list(root, &path, names)?;
        } else {
            names.push(path.display().to_string().replace('\\', "/"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_source_makes_the_bundle_stale() {
        let root = std::env::temp_dir().join(format!("quipu-bundle-{}", std::process::id()));
        for directory in DIRECTORIES
            .iter()
            .chain(&[ASSETS, "clients/console/scripts"])
        {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in FILES.iter().chain(&["clients/console/src/main.ts"]) {
            fs::write(root.join(file), "1").unwrap();
        }
        fs::write(root.join(DIGEST), digest(&root).unwrap()).unwrap();
        assert_eq!(check(&root), Ok(()));
        fs::create_dir(root.join("clients/typescript/src/__tests__")).unwrap();
        fs::write(root.join("clients/typescript/src/__tests__/a.ts"), "").unwrap();
        assert_eq!(check(&root), Ok(()));
        fs::write(root.join("clients/console/src/main.ts"), "2").unwrap();
        assert!(check(&root).is_err());
        fs::remove_dir_all(&root).unwrap();
    }
}
