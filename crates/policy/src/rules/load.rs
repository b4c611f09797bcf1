//! Finds and reads rules files: the one place of this crate that looks at the disk unasked.

use std::io;
use std::path::{Path, PathBuf};

use super::Rules;
use super::file::{InvalidFile, MAX_FILE_BYTES};

/// The rules of all usable files, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct LoadedRules {
    /// The rules.
    pub rules: Rules,
    /// Files and directories that were left out.
    pub problems: Vec<RulesProblem>,
}

/// A rules file or directory that was left out.
#[derive(Debug, thiserror::Error)]
pub enum RulesProblem {
    /// Its text is not valid.
    #[error(transparent)]
    Invalid(#[from] InvalidFile),
    /// It could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// Reads the `*.rules` files of these directories, in their order and by name; missing directories are fine.
#[must_use]
pub fn load(directories: &[PathBuf]) -> LoadedRules {
    let mut loaded = LoadedRules::default();
    for directory in directories {
        let files = match rules_files(directory) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                let path = directory.clone();
                loaded
                    .problems
                    .push(RulesProblem::Unreadable { path, error });
                continue;
            }
        };
        for path in files {
            match load_file(&path) {
                Ok(rules) => loaded.rules.absorb(rules),
                Err(problem) => loaded.problems.push(problem),
            }
        }
    }
    loaded
}

fn rules_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in directory.read_dir()? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "rules")
            && path.is_file()
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn load_file(path: &Path) -> Result<Rules, RulesProblem> {
    let unreadable = |error| RulesProblem::Unreadable {
        path: path.to_owned(),
        error,
    };
    let source = quipu_disk::read_text(path, MAX_FILE_BYTES as u64).map_err(unreadable)?;
    Ok(Rules::parse(path, &source)?)
}
