//! What a policy means for paths, where none can be enforced.

use std::path::Path;

use crate::{Grants, Policy, Readable};

/// A policy that is not enforced, and so vouches for little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    reads_everything: bool,
}

impl Rules {
    /// Resolves a policy now; `None` if it restricts nothing.
    pub fn resolve(policy: &Policy, _: &Grants) -> Option<Self> {
        let readable = match policy {
            Policy::FullAccess | Policy::External { .. } => return None,
            Policy::ReadOnly { readable, .. } => readable,
            Policy::WorkspaceWrite(policy) => &policy.readable,
        };
        Some(Self {
            reads_everything: *readable == Readable::Everything,
        })
    }

    /// Whether a command under these rules may write at this absolute path: it does not even run.
    pub fn can_write(&self, _: &Path) -> bool {
        false
    }

    /// Whether a command under these rules may read what is at this absolute path: not if that depends on
    /// where it is.
    pub fn can_read(&self, _: &Path) -> bool {
        self.reads_everything
    }
}
