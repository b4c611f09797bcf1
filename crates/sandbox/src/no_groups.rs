//! Stands in for control groups on systems that have none.

use std::{collections::HashSet, io};

use crate::fd::check;

/// No groups.
pub(crate) struct Groups;

impl Groups {
    pub(crate) fn new() -> Groups {
        Groups
    }

    /// Forks this process, which must have one thread. Zero in the child.
    pub(crate) fn fork(&mut self) -> io::Result<libc::pid_t> {
        // SAFETY: this process has one thread.
        check(unsafe { libc::fork() })
    }

    /// There is nothing to end.
    pub(crate) fn end_others(&mut self, _: &HashSet<libc::pid_t>) -> bool {
        false
    }
}
