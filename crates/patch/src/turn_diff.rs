//! One git-style diff of everything the patches of a turn did, against the files as they were before the first of them.

use std::path::{Path, PathBuf};

use crate::blob::{Blob, Body};
use crate::changes::ChangeKind;
use crate::diff;
use crate::files::normalise;
use crate::overlay::Content;
use crate::plan::Plan;

/// The largest text that is compared line by line. Of a larger file the diff says only that it differs.
const MAX_TEXT: u64 = 8 * 1024 * 1024;

/// How much old text one turn holds. Files touched later are treated like too large ones.
const MAX_HELD: u64 = 64 * 1024 * 1024;

/// The id git prints for no file at all.
const NO_ID: &str = "0000000000000000000000000000000000000000";

/// Gathers the first state of every file the patches of a turn touch, and compares it with the disk on demand.
///
/// The end of the comparison is always the file as it is, so what a command did to a touched file is in the diff too.
#[derive(Debug, Clone)]
pub struct TurnDiff {
    /// The git work tree that paths are shown relative to.
    root: Option<PathBuf>,
    tracked: Vec<Tracked>,
    held: u64,
}

#[derive(Debug, Clone)]
struct Tracked {
    first_path: PathBuf,
    path: PathBuf,
    baseline: Option<Blob>,
}

impl TurnDiff {
    /// For a turn that works in `cwd`.
    pub fn new(cwd: &Path) -> Self {
        let root = cwd
            .ancestors()
            .find(|directory| directory.join(".git").exists());
        Self {
            root: root.map(Path::to_owned),
            tracked: Vec::new(),
            held: 0,
        }
    }

    /// Notes the files that `plan` touches. To be called right before each plan is applied.
    pub fn track(&mut self, plan: &Plan) {
        let is_moved = |path: &Path| {
            plan.changes().iter().any(|change| {
                change.path == path
                    && matches!(change.kind, ChangeKind::Update { move_to: Some(_) })
            })
        };
        let mut moves = Vec::new();
        for change in plan.changes() {
            let path = tracked_path(&change.path, &change.kind);
            let replaces_moved = change.before == Content::Absent && is_moved(&change.path);
            let known = self.tracked.iter().position(|tracked| tracked.path == path);
            let index = match known {
                Some(index) if !replaces_moved => index,
                _ => self.start(path, replaces_moved),
            };
            if let ChangeKind::Update {
                move_to: Some(target),
            } = &change.kind
            {
                moves.push((index, normalise(target)));
            }
        }
        for (index, target) in moves {
            self.tracked[index].path = target;
        }
    }

    fn start(&mut self, path: PathBuf, absent: bool) -> usize {
        let limit = MAX_TEXT.min(MAX_HELD - self.held);
        let baseline = if absent {
            None
        } else {
            Blob::read(&path, limit)
        };
        let text = baseline.as_ref().and_then(Blob::text);
        self.held += text.map_or(0, |text| text.len() as u64);
        self.tracked.push(Tracked {
            first_path: path.clone(),
            path,
            baseline,
        });
        self.tracked.len() - 1
    }

    /// The diff from the first states to the disk; empty if nothing differs.
    pub fn unified(&self) -> String {
        let mut files: Vec<(String, &Tracked)> = self
            .tracked
            .iter()
            .map(|tracked| (self.shown(&tracked.path), tracked))
            .collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        files
            .iter()
            .map(|(path, tracked)| self.compare(path, tracked))
            .collect()
    }

    fn compare(&self, path: &str, tracked: &Tracked) -> String {
        let (old, new) = (
            tracked.baseline.as_ref(),
            Blob::read(&tracked.path, MAX_TEXT),
        );
        let id = |blob: Option<&Blob>| blob.map_or(NO_ID.to_owned(), |blob| blob.id.clone());
        if id(old) == id(new.as_ref()) {
            return String::new();
        }
        let (old_path, new_path) = (
            format!("a/{}", self.shown(&tracked.first_path)),
            format!("b/{path}"),
        );
        let mut out = format!("diff --git {old_path} {new_path}\n");
        match (old, &new) {
            (None, Some(new)) => out += &format!("new file mode {}\n", new.mode),
            (Some(old), None) => out += &format!("deleted file mode {}\n", old.mode),
            (Some(old), Some(new)) if old.mode != new.mode => {
                out += &format!("old mode {}\nnew mode {}\n", old.mode, new.mode);
            }
            _ => {}
        }
        out += &format!("index {}..{}\n", id(old), id(new.as_ref()));
        let body = body(old, new.as_ref());
        if !body.is_empty() {
            let null = || "/dev/null".to_owned();
            let old_path = old.map_or_else(null, |_| old_path);
            let new_path = new.as_ref().map_or_else(null, |_| new_path);
            out += &format!("--- {old_path}\n+++ {new_path}\n{body}");
        }
        out
    }

    fn shown(&self, path: &Path) -> String {
        let inside = self
            .root
            .as_ref()
            .and_then(|root| path.strip_prefix(root).ok());
        let shown = inside.unwrap_or(path).display().to_string();
        if cfg!(windows) {
            shown.replace('\\', "/")
        } else {
            shown
        }
    }
}

fn body(old: Option<&Blob>, new: Option<&Blob>) -> String {
    let text = |blob: Option<&Blob>| {
        blob.map_or(Some(String::new()), |blob| blob.text().map(str::to_owned))
    };
    let is_binary = |blob: Option<&Blob>| blob.is_some_and(|blob| blob.body == Body::Binary);
    match (text(old), text(new)) {
        (Some(old), Some(new)) => diff::hunks(&old, &new, 3),
        _ if is_binary(old) || is_binary(new) => "Binary files differ\n".to_owned(),
        _ => "Files differ, too large to show\n".to_owned(),
    }
}

/// The file whose content a change is about: a patch writes through a symbolic link, but removes the link itself.
fn tracked_path(path: &Path, kind: &ChangeKind) -> PathBuf {
    let path = normalise(path);
    let written = matches!(kind, ChangeKind::Add | ChangeKind::Update { move_to: None });
    if written && path.is_symlink() {
        return std::fs::canonicalize(&path).unwrap_or(path);
    }
    path
}
