//! What a patch would do, computed by reading only: the facts an approval is asked with and an
//! application works from.

use std::io;
use std::path::{Path, PathBuf};

use crate::changes::{Change, changes};
use crate::files::{self, Place};
use crate::overlay::{Content, Overlay};
use crate::parse::{Hunk, Operation, ParseError, Patch};
use crate::rewrite::{Mismatch, rewrite};

/// The effects of one patch, ready to be shown and applied.
#[derive(Debug, Clone)]
pub struct Plan {
    changes: Vec<Change>,
    pub(crate) overlay: Overlay,
    pub(crate) report: Vec<(Action, PathBuf)>,
}

/// What one operation did, as the report to the model lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Added,
    Modified,
    Deleted,
}

impl Action {
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
        }
    }
}

/// Why a patch does not fit the files it names.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message(&self.path))]
pub struct PlanError {
    pub path: PathBuf,
    /// The path as the patch has it.
    pub written: PathBuf,
    pub problem: PlanProblem,
}

/// What is wrong with a file that a patch names.
#[derive(Debug)]
pub enum PlanProblem {
    /// A part of an update is not in the file.
    Mismatch(Mismatch),
    /// The file to update cannot be read.
    Update(io::Error),
    /// The file to delete cannot be read.
    Delete(io::Error),
    /// The path cannot be written to.
    Write(io::Error),
    /// A part of the path that should be a directory is something else.
    Parent(io::Error),
}

impl PlanError {
    /// The message, calling the file `path`.
    pub(crate) fn message(&self, path: &Path) -> String {
        let path = path.display();
        match &self.problem {
            PlanProblem::Mismatch(Mismatch::Context(context)) => {
                format!("Failed to find context '{context}' in {path}")
            }
            PlanProblem::Mismatch(Mismatch::Lines(lines)) => {
                format!("Failed to find expected lines in {path}:\n{lines}")
            }
            PlanProblem::Update(error) => format!("Failed to read file to update {path}: {error}"),
            PlanProblem::Delete(error) => format!("Failed to read {path}: {error}"),
            PlanProblem::Write(error) => format!("Failed to write file {path}: {error}"),
            PlanProblem::Parent(error) => {
                format!("Failed to create parent directories for {path}: {error}")
            }
        }
    }
}

/// Why a patch was refused before anything was asked or done, in the words the model reads.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("apply_patch verification failed: {0}")]
    Parse(#[from] ParseError),
    #[error("apply_patch verification failed: {0}")]
    Plan(#[from] PlanError),
    /// The command is the patch itself ([`crate::Call::Bare`]).
    #[error(
        "apply_patch verification failed: patch detected without explicit call to apply_patch. Rerun as [\"apply_patch\", \"<patch>\"]"
    )]
    Bare,
}

/// Parses a patch and plans it for the files under `cwd`, which must be absolute.
pub fn prepare(text: &str, cwd: &Path) -> Result<Plan, PrepareError> {
    Ok(Plan::new(&Patch::parse(text)?, cwd)?)
}

impl Plan {
    /// Computes what `patch` does to the files under `cwd`, which must be absolute.
    pub fn new(patch: &Patch, cwd: &Path) -> Result<Self, PlanError> {
        let mut planner = Planner {
            cwd,
            overlay: Overlay::default(),
            report: Vec::new(),
        };
        for operation in &patch.operations {
            match operation {
                Operation::Add { path, content } => planner.add(path, content)?,
                Operation::Delete { path } => planner.delete(path)?,
                Operation::Update {
                    path,
                    move_to,
                    hunks,
                } => {
                    planner.update(path, move_to.as_deref(), hunks)?;
                }
            }
        }
        planner.check_directories()?;
        let Planner {
            overlay,
            mut report,
            ..
        } = planner;
        report.sort_by_key(|(action, _)| *action);
        Ok(Self {
            changes: changes(&overlay, cwd),
            overlay,
            report,
        })
    }

    /// The changes, sorted by path. Operations on the same file are one change.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The files that applying will write or remove. A policy that confines writes must look at where
    /// they really are: the paths of the changes may lead elsewhere.
    pub fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        let changed = self.overlay.files.iter().filter(|file| file.is_changed());
        changed.map(|file| Target {
            written: &file.written,
            path: &file.path,
        })
    }
}

/// A file that a plan writes or removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// How the patch calls it.
    pub written: &'a Path,
    /// Where it really is, with all symbolic links resolved.
    pub path: &'a Path,
}

/// Takes one operation after the other.
struct Planner<'a> {
    cwd: &'a Path,
    overlay: Overlay,
    report: Vec<(Action, PathBuf)>,
}

impl Planner<'_> {
    fn error(&self, written: &Path, problem: PlanProblem) -> PlanError {
        PlanError {
            path: self.cwd.join(written),
            written: written.to_owned(),
            problem,
        }
    }

    fn write_error(&self, written: &Path, error: io::Error) -> PlanError {
        let problem = match error.kind() {
            io::ErrorKind::NotADirectory => PlanProblem::Parent(error),
            _ => PlanProblem::Write(error),
        };
        self.error(written, problem)
    }

    fn resolve(&self, path: &Path) -> io::Result<Place> {
        files::resolve(&self.cwd.join(path))
    }

    fn add(&mut self, path: &Path, content: &str) -> Result<(), PlanError> {
        self.resolve(path)
            .and_then(|place| self.overlay.add(&place, path, content.into()))
            .map_err(|error| self.write_error(path, error))?;
        self.report.push((Action::Added, path.to_owned()));
        Ok(())
    }

    fn delete(&mut self, path: &Path) -> Result<(), PlanError> {
        self.resolve(path)
            .and_then(|place| {
                let place = place.without_following();
                self.overlay.text(&place, path)?;
                self.overlay.remove(&place, path)
            })
            .map_err(|error| self.error(path, PlanProblem::Delete(error)))?;
        self.report.push((Action::Deleted, path.to_owned()));
        Ok(())
    }

    fn update(
        &mut self,
        path: &Path,
        move_to: Option<&Path>,
        hunks: &[Hunk],
    ) -> Result<(), PlanError> {
        let (from, text) = self
            .resolve(path)
            .and_then(|place| self.overlay.text(&place, path).map(|text| (place, text)))
            .map_err(|error| self.error(path, PlanProblem::Update(error)))?;
        let text = rewrite(&text, hunks)
            .map_err(|mismatch| self.error(path, PlanProblem::Mismatch(mismatch)))?;
        let target = move_to.unwrap_or(path);
        self.resolve(target)
            .and_then(|to| {
                if self.overlay.file(&to) == self.overlay.file(&from) {
                    self.overlay.edit(&from, path, text)
                } else {
                    self.overlay.relocate((&from, path), (&to, target), text)
                }
            })
            .map_err(|error| self.write_error(target, error))?;
        self.report.push((Action::Modified, target.to_owned()));
        Ok(())
    }

    /// No file of the patch may stand where another needs a directory.
    fn check_directories(&self) -> Result<(), PlanError> {
        let is_file = |path| {
            let file = self.overlay.get(path);
            file.is_some_and(|file| file.after != Content::Absent)
        };
        for file in &self.overlay.files {
            if file.after != Content::Absent && file.path.ancestors().skip(1).any(is_file) {
                let error = io::ErrorKind::NotADirectory.into();
                return Err(self.error(&file.written, PlanProblem::Parent(error)));
            }
        }
        Ok(())
    }
}
