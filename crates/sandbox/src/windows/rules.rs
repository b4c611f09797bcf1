//! What a policy means for paths, where none can be enforced.

use std::path::{Path, PathBuf};

use crate::{Grants, Policy, Readable, real_path};

/// A policy that is not enforced, and so vouches for little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    reads_everything: bool,
    hidden: Vec<PathBuf>,
    /// What may be read inside of that.
    shown: Vec<PathBuf>,
}

impl Rules {
    /// Resolves a policy now; `None` if it restricts nothing.
    pub fn resolve(policy: &Policy, _: &Grants) -> Option<Self> {
        let readable = match policy {
            Policy::FullAccess | Policy::External { .. } => return None,
            Policy::ReadOnly { readable, .. } => readable,
            Policy::WorkspaceWrite(policy) => &policy.readable,
        };
        let hidden = policy.hidden()?;
        let real = |path: &PathBuf| path.canonicalize().ok();
        let all_hidden = hidden.always.iter().chain(&hidden.offline);
        Some(Self {
            reads_everything: *readable == Readable::Everything,
            hidden: all_hidden.filter_map(real).collect(),
            shown: hidden.except.iter().filter_map(real).collect(),
        })
    }

    /// Whether a command under these rules may write at this absolute path: it does not even run.
    pub fn can_write(&self, _: &Path) -> bool {
        false
    }

    /// Whether a command under these rules may read what is at this absolute path: not if that depends on
    /// where it is, nor if it is hidden.
    pub fn can_read(&self, path: &Path) -> bool {
        let within = |path: &Path, all: &[PathBuf]| all.iter().any(|it| path.starts_with(it));
        let is_shown = |path: PathBuf| !within(&path, &self.hidden) || within(&path, &self.shown);
        self.reads_everything && real_path(path).is_ok_and(is_shown)
    }
}
