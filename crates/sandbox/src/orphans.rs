//! Processes that lost their supervisor: somebody killed it before it could end them.
//!
//! They become children of the zygote, or of the server if that was killed, too. Nobody can enter the
//! session of another process, so their sessions tell them from everything that was started here.

use std::time::{Duration, Instant};

use tokio::time;

use crate::{
    helper::{
        descendants_of,
        process_table::{self, Entry},
    },
    linux::cgroup,
    zygote,
};

/// How long processes that cannot be killed are tried.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Makes orphans among all descendants children of this process or of the zygote.
pub(crate) fn adopt() {
    // SAFETY: this option takes one integer. Without it orphans are lost, as on other systems.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Kills those that a supervisor leaves, once that has ended.
pub(crate) async fn end(supervisor: u32) {
    let give_up = Instant::now() + PATIENCE;
    // The table is not read at one moment: who changes parents meanwhile is found at the second look.
    let mut clean = 0;
    while clean < 2 && Instant::now() < give_up {
        clean = if kill_all(supervisor.cast_signed()) {
            0
        } else {
            clean + 1
        };
        time::sleep(PAUSE).await;
    }
    cgroup::end_abandoned();
}

/// Kills those that there are now; false if there are none and the supervisor has ended.
fn kill_all(supervisor: libc::pid_t) -> bool {
    let us = std::process::id().cast_signed();
    let zygotes = zygote::ids();
    // SAFETY: cannot fail for this process itself.
    let own_session = unsafe { libc::getsid(0) };
    let table = process_table::all();
    let orphans = table.iter().filter(|it| {
        (it.parent == us || zygotes.contains(&it.parent))
            && it.session != own_session
            && !zygotes.contains(&it.session)
    });
    let mut doomed = Vec::new();
    for orphan in orphans {
        doomed.extend(descendants_of(orphan.pid, &table));
        doomed.extend(Some(orphan.pid).filter(|_| !orphan.has_ended));
    }
    let ended = table.iter().filter(|it| it.parent == us && it.has_ended);
    for child in ended.filter(|it| it.session != own_session && !zygotes.contains(&it.pid)) {
        // SAFETY: takes leave of a child that has ended; its status is not wanted.
        unsafe { libc::waitpid(child.pid, std::ptr::null_mut(), libc::WNOHANG) };
    }
    for pid in &doomed {
        // SAFETY: sends a signal to a process below this one.
        unsafe { libc::kill(*pid, libc::SIGKILL) };
    }
    let waits = |it: &Entry| it.pid == supervisor && !it.has_ended;
    !doomed.is_empty() || table.iter().any(waits)
}
