//! Who is whose child, as `/proc` tells.

pub(crate) use quipu_proc::{Process as Entry, all};

/// Whether a line of parents leads from a process or thread to this process; `None` if it does not
/// exist.
pub(crate) fn is_below_us(pid: libc::pid_t) -> Option<bool> {
    let us = std::process::id().cast_signed();
    let mut parent = Entry::read(pid)?.parent;
    while parent > 1 && parent != us {
        // Parents that end meanwhile leave their children to us; the question can be asked again.
        parent = Entry::read(parent).map_or(1, |entry| entry.parent);
    }
    Some(parent == us)
}
