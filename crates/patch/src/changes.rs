//! The changes of a plan as clients are shown them: one for each file, whatever way the patch took.

use std::path::{Path, PathBuf};

use crate::diff;
use crate::overlay::{Content, Overlay, Source, Touched};

/// The effect of a patch on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Absolute, but otherwise as the patch names it.
    pub path: PathBuf,
    pub kind: ChangeKind,
    pub before: Content,
    pub after: Content,
}

/// What happens to the file at a change's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// The patch gives the whole file. There may have been one before.
    Add,
    Delete,
    Update {
        /// The new path, absolute, if the file was moved.
        move_to: Option<PathBuf>,
    },
}

impl Change {
    /// The `diff` text of a `fileChange` item: the whole text of an added or deleted file, else hunks with one line of
    /// context.
    pub fn diff(&self) -> String {
        let before = self.before.text().unwrap_or_default();
        let after = self.after.text().unwrap_or_default();
        match &self.kind {
            ChangeKind::Add => after.to_owned(),
            ChangeKind::Delete => before.to_owned(),
            ChangeKind::Update { move_to: None } => diff::hunks(before, after, 1),
            ChangeKind::Update {
                move_to: Some(path),
            } => {
                format!(
                    "{}\n\nMoved to: {}",
                    diff::hunks(before, after, 1),
                    path.display()
                )
            }
        }
    }
}

/// The changes that lead from the state before to the state after, sorted by path.
pub(crate) fn changes(overlay: &Overlay, cwd: &Path) -> Vec<Change> {
    let files = &overlay.files;
    let mut changes: Vec<Change> = (0..files.len())
        .filter_map(|index| {
            let file = &files[index];
            let moved = files
                .iter()
                .any(|other| other.source == Source::Moved(index));
            let before = if moved {
                Content::Absent
            } else {
                file.before.clone()
            };
            change(file, before, files, cwd)
        })
        .collect();
    changes.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    changes
}

fn change(file: &Touched, before: Content, files: &[Touched], cwd: &Path) -> Option<Change> {
    let path = cwd.join(&file.written);
    let after = file.after.clone();
    if after == Content::Absent {
        let deleted = before != Content::Absent;
        return deleted.then_some(Change {
            path,
            kind: ChangeKind::Delete,
            before,
            after,
        });
    }
    Some(match file.source {
        Source::Moved(origin) => {
            let origin = &files[origin];
            let kind = ChangeKind::Update {
                move_to: Some(path),
            };
            Change {
                path: cwd.join(&origin.written),
                kind,
                before: origin.before.clone(),
                after,
            }
        }
        Source::Patch => Change {
            path,
            kind: ChangeKind::Add,
            before,
            after,
        },
        Source::Own => Change {
            path,
            kind: ChangeKind::Update { move_to: None },
            before,
            after,
        },
    })
}
