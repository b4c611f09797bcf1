//! All processes that came from one command, wherever they tried to hide.

use std::{
    collections::{HashMap, HashSet},
    io,
    time::{Duration, Instant},
};

use super::{process_table, supervise::wait};

/// How long processes that cannot be killed (they run as another user, or hang in the kernel) are
/// tried before the supervisor gives up.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a supervisor finds everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// It is the first process of a process namespace: everybody it can see is its own.
    Namespace,
    /// Orphans below it become its children, so its descendants are all there are.
    Descendants,
}

/// What `waitpid` found.
pub(super) enum Reaped {
    Child(libc::pid_t, libc::c_int),
    /// Children live, none has ended.
    Nothing,
    NoChildren,
}

/// Takes leave of one child that has ended, without waiting.
pub(super) fn reap() -> Reaped {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a local.
        match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
            0 => return Reaped::Nothing,
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Reaped::NoChildren,
            pid => return Reaped::Child(pid, status),
        }
    }
}

fn kill(pid: libc::pid_t) {
    // SAFETY: sending a signal touches no memory. Whether it arrived shows when children are reaped.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

impl Family {
    /// Makes descendants whose parents die children of this process.
    pub(super) fn adopt_orphans(self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if self == Self::Descendants {
            // SAFETY: this option takes one integer.
            crate::fd::check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) })?;
        }
        Ok(())
    }

    /// Kills everything and waits until it is gone; each child's end is reported to `on_end`.
    pub(super) fn kill(
        self,
        leader: libc::pid_t,
        mut on_end: impl FnMut(libc::pid_t, libc::c_int),
    ) {
        let mut give_up = Instant::now() + PATIENCE;
        while Instant::now() < give_up {
            loop {
                match reap() {
                    Reaped::Child(pid, status) => {
                        on_end(pid, status);
                        give_up = Instant::now() + PATIENCE;
                    }
                    Reaped::NoChildren => return,
                    Reaped::Nothing => break,
                }
            }
            match self {
                Self::Namespace => kill(-1),
                Self::Descendants => {
                    descendants(&HashSet::new()).into_iter().for_each(kill);
                    // Orphans belong to somebody else here, but may still be in the group.
                    if !cfg!(target_os = "linux") {
                        kill(-leader);
                    }
                }
            }
            wait([], Some(Duration::from_millis(5)));
        }
    }
}

/// Reaps children that have ended, all of them supervisors. One that was killed had no time
/// to kill its command: whose processes have become children of this process and are killed here.
pub(super) fn reap_supervisors(supervisors: &mut HashSet<libc::pid_t>) {
    let mut has_orphans = false;
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up {
        while let Reaped::Child(pid, status) = reap() {
            has_orphans |= supervisors.remove(&pid) && libc::WIFSIGNALED(status);
        }
        let orphans = if has_orphans {
            descendants(supervisors)
        } else {
            Vec::new()
        };
        if orphans.is_empty() {
            return;
        }
        orphans.into_iter().for_each(kill);
        wait([], Some(Duration::from_millis(5)));
    }
}

/// Every process whose line of parents leads to this one, but not by way of those to be spared.
fn descendants(spared: &HashSet<libc::pid_t>) -> Vec<libc::pid_t> {
    let mut table = process_table::all();
    table.retain(|entry| !spared.contains(&entry.pid));
    descendants_of(std::process::id().cast_signed(), &table)
}

/// Every process in the table whose line of parents leads to this one.
pub(crate) fn descendants_of(
    ancestor: libc::pid_t,
    table: &[process_table::Entry],
) -> Vec<libc::pid_t> {
    let mut children: HashMap<libc::pid_t, Vec<libc::pid_t>> = HashMap::new();
    for entry in table {
        children.entry(entry.parent).or_default().push(entry.pid);
    }
    let mut found = Vec::new();
    let mut next = vec![ancestor];
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(&below);
        next.extend(below);
    }
    found
}
