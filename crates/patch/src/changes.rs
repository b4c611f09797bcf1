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
    /// The path the file is moved to, if it is.
    pub fn move_to(&self) -> Option<&Path> {
        match &self.kind {
            ChangeKind::Update { move_to } => move_to.as_deref(),
            ChangeKind::Add | ChangeKind::Delete => None,
        }
    }

    /// The `diff` text of a `fileChange` item: the whole text of an added or deleted file, else
    /// hunks with one line of context.
    pub fn diff(&self) -> String {
        match &self.kind {
            ChangeKind::Add => self.after.text().unwrap_or_default().to_owned(),
            ChangeKind::Delete => self.before.text().unwrap_or_default().to_owned(),
            ChangeKind::Update { move_to: None } => self.hunks(),
            ChangeKind::Update {
                move_to: Some(path),
            } => format!("{}\n\nMoved to: {}", self.hunks(), path.display()),
        }
    }

    /// How the text changed: hunks with one line of context.
    pub fn hunks(&self) -> String {
        let before = self.before.text().unwrap_or_default();
        let after = self.after.text().unwrap_or_default();
        diff::hunks(before, after, 1)
    }
}

/// The changes that lead from the state before to the state after, sorted by path.
pub(crate) fn changes(overlay: &Overlay, cwd: &Path) -> Vec<Change> {
    let files = &overlay.files;
    let mut moved = vec![false; files.len()];
    for file in files {
        if let Source::Moved(origin) = file.source {
            moved[origin] = true;
        }
    }
    let mut changes: Vec<Change> = std::iter::zip(files, moved)
        .filter_map(|(file, moved)| {
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
    let kind = match file.source {
        Source::Moved(origin) => {
            let origin = &files[origin];
            return Some(Change {
                path: cwd.join(&origin.written),
                kind: ChangeKind::Update {
                    move_to: Some(path),
                },
                before: origin.before.clone(),
                after,
            });
        }
        Source::Patch => ChangeKind::Add,
        Source::Edited => ChangeKind::Update { move_to: None },
        Source::Disk if before != after && after == Content::Absent => ChangeKind::Delete,
        Source::Disk => return None,
    };
    Some(Change {
        path,
        kind,
        before,
        after,
    })
}
