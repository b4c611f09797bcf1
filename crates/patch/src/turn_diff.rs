//! One git-style diff of everything the patches of a turn did, against the files as they were
//! before the first of them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::blob::{Blob, Body};
use crate::changes::{Change, ChangeKind};
use crate::diff;
use crate::files::normalise;
use crate::overlay::Content;
use crate::plan::Plan;

/// The largest text that is compared line by line. Of a larger file the diff says only that it
/// differs.
const MAX_TEXT: u64 = 8 * 1024 * 1024;

/// How much old text, and how much new text, is looked at in one turn. Files beyond it are treated
/// like too large ones.
const MAX_TEXTS: u64 = 64 * 1024 * 1024;

/// The id git prints for no file at all.
const NO_ID: &str = "0000000000000000000000000000000000000000";

/// Gathers the first state of every file the patches of a turn touch, and compares it with the disk
/// on demand.
///
/// The end of the comparison is always the file as it is, so what a command did to a touched file
/// is in the diff too.
#[derive(Debug, Clone)]
pub struct TurnDiff {
    /// The git work tree that paths are shown relative to.
    root: Option<PathBuf>,
    tracked: Vec<Tracked>,
    old_texts: u64,
}

#[derive(Debug, Clone)]
struct Tracked {
    first_path: PathBuf,
    path: PathBuf,
    baseline: Option<Blob>,
    /// The last comparison and the id of the file it was made with.
    compared: Option<(String, String)>,
}

impl TurnDiff {
    /// For a turn that works in `cwd`, which must be absolute.
    pub fn new(cwd: &Path) -> Self {
        let root = cwd
            .ancestors()
            .find(|directory| directory.join(".git").exists());
        Self {
            root: root.map(Path::to_owned),
            tracked: Vec::new(),
            old_texts: 0,
        }
    }

    /// Notes the files that `plan` touches. To be called right before each plan is applied.
    pub fn track(&mut self, plan: &Plan) {
        let moved: HashSet<&Path> = plan
            .changes()
            .iter()
            .filter_map(|change| change.move_to().and(Some(&*change.path)))
            .collect();
        let mut targets = Vec::new();
        for change in plan.changes() {
            let path = tracked_path(change);
            // A file that takes the place of one that this plan moves away starts from nothing.
            let is_new = change.before == Content::Absent && moved.contains(&*change.path);
            let index = match self.position(&path) {
                Some(index) if !is_new => index,
                _ => self.start(path, is_new, &change.before),
            };
            targets.extend(change.move_to().map(|target| (index, normalise(target))));
        }
        for (index, target) in targets {
            self.tracked[index].path = target;
            self.tracked[index].compared = None;
        }
    }

    fn position(&self, path: &Path) -> Option<usize> {
        self.tracked
            .iter()
            .position(|tracked| tracked.path.as_os_str() == path.as_os_str())
    }

    fn start(&mut self, path: PathBuf, is_new: bool, planned: &Content) -> usize {
        let limit = MAX_TEXT.min(MAX_TEXTS - self.old_texts);
        let baseline = if is_new {
            None
        } else {
            Blob::read(&path, limit, planned)
        };
        self.old_texts += baseline.as_ref().map_or(0, Blob::held);
        let first_path = path.clone();
        self.tracked.push(Tracked {
            first_path,
            path,
            baseline,
            compared: None,
        });
        self.tracked.len() - 1
    }

    /// The diff from the first states to the disk; empty if nothing differs.
    ///
    /// It reads every touched file but compares only those that changed since the last call.
    pub fn unified(&mut self) -> String {
        let root = self.root.as_deref();
        let mut new_texts = 0;
        for tracked in &mut self.tracked {
            let limit = MAX_TEXT.min(MAX_TEXTS - new_texts);
            let new = Blob::read(&tracked.path, limit, &Content::Absent);
            new_texts += new.as_ref().map_or(0, Blob::held);
            tracked.compare(new.as_ref(), root);
        }
        let mut files: Vec<(String, &Tracked)> = self
            .tracked
            .iter()
            .map(|tracked| (shown(&tracked.path, root), tracked))
            .collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        files
            .iter()
            .filter_map(|(_, tracked)| tracked.compared.as_ref())
            .map(|(_, diff)| &**diff)
            .collect()
    }
}

impl Tracked {
    fn compare(&mut self, new: Option<&Blob>, root: Option<&Path>) {
        let key = new.map_or(String::new(), |new| format!("{} {}", new.mode, new.id));
        if self
            .compared
            .as_ref()
            .is_none_or(|(compared, _)| *compared != key)
        {
            self.compared = Some((key, self.diff(new, root)));
        }
    }

    fn diff(&self, new: Option<&Blob>, root: Option<&Path>) -> String {
        let old = self.baseline.as_ref();
        let id = |blob: Option<&Blob>| blob.map_or(NO_ID.to_owned(), |blob| blob.id.clone());
        if id(old) == id(new) {
            return String::new();
        }
        let old_path = format!("a/{}", shown(&self.first_path, root));
        let new_path = format!("b/{}", shown(&self.path, root));
        let mode = match (old, new) {
            (None, Some(new)) => format!("new file mode {}\n", new.mode),
            (Some(old), None) => format!("deleted file mode {}\n", old.mode),
            (Some(old), Some(new)) if old.mode != new.mode => {
                format!("old mode {}\nnew mode {}\n", old.mode, new.mode)
            }
            _ => String::new(),
        };
        let ids = format!("index {}..{}\n", id(old), id(new));
        let mut body = body(old, new);
        if !body.is_empty() {
            let old_path = if old.is_some() {
                &old_path
            } else {
                "/dev/null"
            };
            let new_path = if new.is_some() {
                &new_path
            } else {
                "/dev/null"
            };
            body = format!("--- {old_path}\n+++ {new_path}\n{body}");
        }
        format!("diff --git {old_path} {new_path}\n{mode}{ids}{body}")
    }
}

fn body(old: Option<&Blob>, new: Option<&Blob>) -> String {
    let is_binary = |blob: Option<&Blob>| blob.is_some_and(|blob| blob.body == Body::Binary);
    match (
        old.map_or(Some(""), Blob::text),
        new.map_or(Some(""), Blob::text),
    ) {
        (Some(old), Some(new)) => diff::hunks(old, new, 3),
        _ if is_binary(old) || is_binary(new) => "Binary files differ\n".to_owned(),
        _ => "Files differ, too large to show\n".to_owned(),
    }
}

/// The path relative to the work tree, or the whole one outside of it.
fn shown(path: &Path, root: Option<&Path>) -> String {
    let inside = root.and_then(|root| path.strip_prefix(root).ok());
    let shown = inside.unwrap_or(path).display().to_string();
    if cfg!(windows) {
        shown.replace('\\', "/")
    } else {
        shown
    }
}

/// The file whose content a change is about: a patch writes through a symbolic link, but moves or
/// removes the link.
fn tracked_path(change: &Change) -> PathBuf {
    let path = normalise(&change.path);
    let stays = change.kind != ChangeKind::Delete && change.move_to().is_none();
    if stays && path.is_symlink() {
        return fs::canonicalize(&path).unwrap_or(path);
    }
    path
}
