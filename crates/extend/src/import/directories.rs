//! Copies directories of skills.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ImportError, read, words, write};

/// How far directories may be nested.
const MAX_DEPTH: usize = 16;

/// The directories in `from` whose names are not taken in `to`, by name.
pub(super) fn missing(from: &Path, to: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(from).into_iter().flatten().flatten();
    let mut directories: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !to.join(entry.file_name()).exists())
        .map(|entry| entry.path())
        .collect();
    directories.sort();
    directories
}

/// Copies those directories.
pub(super) fn copy_missing(from: &Path, to: &Path) -> Result<(), ImportError> {
    for directory in missing(from, to) {
        let name = directory.file_name().unwrap_or_default();
        copy(&directory, &to.join(name), MAX_DEPTH)?;
    }
    Ok(())
}

/// Copies files and directories; links and everything else stay behind.
fn copy(from: &Path, to: &Path, depth: usize) -> Result<(), ImportError> {
    if depth == 0 {
        let text = format!("{} is nested too deeply", from.display());
        return Err(io::Error::other(text).into());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&path, &target, depth - 1)?;
        } else if kind.is_file() && entry.file_name() == "SKILL.md" {
            let text = read(&path)?.unwrap_or_default();
            write(&target, words::rewrite(&text).as_bytes())?;
        } else if kind.is_file() {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
