//! Carrying out a plan: first everything that could stop it is looked at again, then files are
//! written, then removed.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::anchor::Anchor;
use crate::overlay::{Content, Source, Touched};
use crate::plan::{Action, Plan};
use crate::write;

/// What an applied plan did. Its text is what the model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    files: Vec<(Action, PathBuf)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Success. Updated the following files:")?;
        list(f, &self.files)
    }
}

fn list(f: &mut fmt::Formatter<'_>, files: &[(Action, PathBuf)]) -> fmt::Result {
    files
        .iter()
        .try_for_each(|(action, path)| writeln!(f, "{} {}", action.letter(), path.display()))
}

/// Why a plan was not, or not wholly, applied. Its text is what the model reads.
#[derive(Debug)]
pub struct ApplyError {
    /// The path as the patch has it.
    pub path: PathBuf,
    failure: Failure,
    done: Vec<(Action, PathBuf)>,
}

#[derive(Debug)]
enum Failure {
    Changed,
    Write(io::Error),
    Parent(io::Error),
    Delete(io::Error),
}

impl ApplyError {
    /// Whether files were written or removed before the failure.
    pub fn is_partial(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether a file was changed by somebody else after the plan was made; a new plan may succeed.
    pub fn is_stale(&self) -> bool {
        matches!(self.failure, Failure::Changed)
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.failure {
            Failure::Changed => {
                writeln!(f, "{path} was changed while the patch waited to be applied")
            }
            Failure::Write(error) => writeln!(f, "Failed to write file {path}: {error}"),
            Failure::Parent(error) => {
                writeln!(f, "Failed to create parent directories for {path}: {error}")
            }
            Failure::Delete(error) => writeln!(f, "Failed to delete file {path}: {error}"),
        }?;
        if self.done.is_empty() {
            return writeln!(f, "Nothing was written.");
        }
        writeln!(f, "Written before the failure:")?;
        list(f, &self.done)
    }
}

impl std::error::Error for ApplyError {}

impl Plan {
    /// Writes and removes files as planned.
    ///
    /// Each file gets its new text at once or keeps the old one. Nothing is written if a file is no
    /// longer what the plan was made for or may not be written.
    pub fn apply(&self) -> Result<Report, ApplyError> {
        let mut done = Vec::new();
        self.carry_out(&mut done)
            .map_err(|(file, failure)| ApplyError {
                path: file.written.clone(),
                failure,
                done,
            })?;
        Ok(Report {
            files: self.report.clone(),
        })
    }

    fn carry_out(&self, done: &mut Vec<(Action, PathBuf)>) -> Result<(), (&Touched, Failure)> {
        let files = &self.overlay.files;
        let changed = || files.iter().filter(|file| file.after != file.before);
        for file in files {
            check(file).map_err(|failure| (file, failure))?;
        }
        for file in changed() {
            if let Some(text) = file.after.text() {
                self.write(file, text).map_err(|failure| (file, failure))?;
                let added = file.before == Content::Absent;
                let action = if added {
                    Action::Added
                } else {
                    Action::Modified
                };
                done.push((action, file.written.clone()));
            }
        }
        for file in changed().filter(|file| file.after == Content::Absent) {
            remove(&file.path).map_err(|error| (file, Failure::Delete(error)))?;
            done.push((Action::Deleted, file.written.clone()));
        }
        Ok(())
    }

    fn write(&self, file: &Touched, text: &str) -> Result<(), Failure> {
        let parent = file.path.parent().unwrap_or(Path::new("/"));
        let directory = Anchor::open(parent).map_err(Failure::Parent)?;
        let like = match file.source {
            Source::Moved(origin) => fs::metadata(&self.overlay.files[origin].path).ok(),
            Source::Disk | Source::Edited | Source::Patch => None,
        };
        let place = directory.entry(file.path.file_name());
        write::write(&place, text, like.as_ref()).map_err(Failure::Write)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let directory = Anchor::open(path.parent().unwrap_or(Path::new("/")))?;
    fs::remove_file(directory.entry(path.file_name()))
}

/// Whether a file is still as planned and may be written.
fn check(file: &Touched) -> Result<(), Failure> {
    if !file.before.is_on_disk(&file.path).map_err(Failure::Write)? {
        return Err(Failure::Changed);
    }
    let is_rewritten = file.after != file.before && file.after != Content::Absent;
    if is_rewritten && file.before != Content::Absent {
        write::check_writable(&file.path).map_err(Failure::Write)?;
    }
    Ok(())
}
