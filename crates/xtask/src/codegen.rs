//! Files that are generated yet committed, so that a reader and a diff can see them. `quipu` writes
//! them itself; it is run as a child, so that this program needs none of the product's crates.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cargo::{self, Quipu};
use crate::tree::Tree;
use crate::{Outcome, console, npm};

/// The list of what is generated.
const LIST: &str = "crates/xtask/codegen.txt";

/// Stands in the list for the place to write to.
const OUT: &str = "{out}";

/// File contents by path below an output; an output that is one file has the empty path.
type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// One line of the list.
#[derive(Debug, PartialEq, Eq)]
struct Artifact {
    output: String,
    args: Vec<String>,
}

/// The committed paths that belong to a generator.
pub fn outputs(tree: &Tree) -> Vec<String> {
    let artifacts = tree
        .file(LIST)
        .and_then(|file| parse(&file.text).ok())
        .unwrap_or_default();
    let written = artifacts.into_iter().map(|artifact| artifact.output);
    written.chain([console::ASSETS.to_owned()]).collect()
}

/// Writes every committed generated file.
pub fn write(root: &Path) -> Outcome {
    let quipu = Quipu::ToBuild.program(root)?;
    for artifact in list(root)? {
        let fresh = generate(root, &quipu, &artifact)?;
        let output = root.join(&artifact.output);
        replace(&output, &fresh).map_err(|error| failed("write", &output, &error))?;
        println!("{}: {} file(s)", artifact.output, fresh.len());
    }
    // Last, since they are about the client that was just written. CI fails if its reference is stale.
    match npm::missing() {
        Some(missing) => println!("clients/typescript/API.md: skipped, there is no `{missing}`"),
        None => npm::run(root, &npm::CLIENT, &["run", "--silent", "docs"])?,
    }
    console::write(root)
}

/// Generates everything aside and fails when a committed file differs in a byte.
pub fn check(root: &Path, quipu: Quipu) -> Outcome {
    let quipu = quipu.program(root)?;
    let mut stale = Vec::new();
    for artifact in list(root)? {
        let fresh = generate(root, &quipu, &artifact)?;
        let output = root.join(&artifact.output);
        let committed = read(&output).map_err(|error| failed("read", &output, &error))?;
        for (path, what) in differences(&fresh, &committed) {
            stale.push(format!(
                "{}: {what}",
                Path::new(&artifact.output).join(path).display()
            ));
        }
    }
    if stale.is_empty() {
        return console::check(root);
    }
    Err(format!(
        "{}\ngenerated files are stale; run `cargo xtask codegen`",
        stale.join("\n")
    ))
}

fn list(root: &Path) -> Outcome<Vec<Artifact>> {
    let path = root.join(LIST);
    parse(&fs::read_to_string(&path).map_err(|error| failed("read", &path, &error))?)
}

fn parse(text: &str) -> Outcome<Vec<Artifact>> {
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(": ") {
            Some((output, args)) if args.contains(OUT) => Ok(Artifact {
                output: output.to_owned(),
                args: args.split_whitespace().map(str::to_owned).collect(),
            }),
            _ => Err(format!(
                "{LIST}: `{line}` is not `path: arguments with {OUT}`"
            )),
        })
        .collect()
}

/// Runs the generator into an empty directory below `target` and reads what it wrote.
fn generate(root: &Path, quipu: &Path, artifact: &Artifact) -> Outcome<Contents> {
    let place = root.join("target/codegen").join(&artifact.output);
    remove(&place).map_err(|error| failed("clear", &place, &error))?;
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).map_err(|error| failed("create", parent, &error))?;
    }
    let out = place.display().to_string();
    let args: Vec<String> = artifact
        .args
        .iter()
        .map(|arg| arg.replace(OUT, &out))
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    cargo::run_program(root, quipu, &args)?;
    let contents = read(&place).map_err(|error| failed("read", &place, &error))?;
    if contents.is_empty() {
        return Err(format!("`quipu {}` wrote nothing", args.join(" ")));
    }
    Ok(contents)
}

/// What is wrong with `committed`, file by file.
fn differences<'a>(
    fresh: &'a Contents,
    committed: &'a Contents,
) -> impl Iterator<Item = (&'a PathBuf, &'static str)> {
    let wanted = fresh
        .iter()
        .filter_map(|(path, bytes)| match committed.get(path) {
            None => Some((path, "missing")),
            Some(old) if old != bytes => Some((path, "stale")),
            Some(_) => None,
        });
    let extra = committed.keys().filter(|path| !fresh.contains_key(*path));
    wanted.chain(extra.map(|path| (path, "extra")))
}

fn read(path: &Path) -> io::Result<Contents> {
    let mut contents = Contents::new();
    if path.is_file() {
        contents.insert(PathBuf::new(), fs::read(path)?);
    } else if path.is_dir() {
        read_directory(path, Path::new(""), &mut contents)?;
    }
    Ok(contents)
}

fn read_directory(root: &Path, below: &Path, contents: &mut Contents) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read_directory(root, &path, contents)?;
        } else {
            contents.insert(path, fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn replace(output: &Path, contents: &Contents) -> io::Result<()> {
    remove(output)?;
    for (path, bytes) in contents {
        let path = if path.as_os_str().is_empty() {
            output.to_owned()
        } else {
            output.join(path)
        };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else if path.exists() {
        fs::remove_file(path)
    } else {
        Ok(())
    }
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {doing} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(files: &[(&str, &str)]) -> Contents {
        files
            .iter()
            .map(|(path, text)| (path.into(), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn reads_the_list() {
        let artifacts = parse("# comment\n\nschema/json: generate --out {out}\n").unwrap();
        let args = ["generate", "--out", "{out}"].map(str::to_owned).to_vec();
        assert_eq!(
            artifacts,
            [Artifact {
                output: "schema/json".to_owned(),
                args
            }]
        );
        assert!(parse("schema/json: generate\n").is_err());
    }

    #[test]
    fn names_every_difference() {
        let fresh = contents(&[("new", "1"), ("same", "1"), ("stale", "1")]);
        let committed = contents(&[("old", "1"), ("same", "1"), ("stale", "2")]);
        let said: Vec<_> = differences(&fresh, &committed)
            .map(|(path, what)| format!("{} {what}", path.display()))
            .collect();
        assert_eq!(said, ["new missing", "stale stale", "old extra"]);
    }

    #[test]
    fn replaces_files_and_directories() {
        let place = std::env::temp_dir().join(format!("quipu-codegen-{}", std::process::id()));
        let before = contents(&[("a/b", "1"), ("c", "1")]);
        replace(&place, &before).unwrap();
        assert_eq!(read(&place).unwrap(), before);
        let after = contents(&[("", "one file")]);
        replace(&place, &after).unwrap();
        assert_eq!(read(&place).unwrap(), after);
        remove(&place).unwrap();
        assert_eq!(read(&place).unwrap(), Contents::new());
    }
}
