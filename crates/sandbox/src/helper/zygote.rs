//! The process that supervisors are forked from.

use std::{
    collections::HashSet,
    io,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
    process::exit,
    time::{Duration, Instant},
};

use super::{
    Family, Lifeline, family::reap_supervisors, run_supervisor, supervise, wake_when_parent_ends,
};
#[cfg(target_os = "linux")]
use crate::linux::cgroup::Groups;
#[cfg(not(target_os = "linux"))]
use crate::no_groups::Groups;
use crate::{
    fd,
    report::{Failure, Report, Step},
};

/// Signals that people and terminals send to all processes of a program. What is to end here is told
/// by the server, whose end is noticed in any case.
const IGNORED: [libc::c_int; 5] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGTSTP,
];

/// Until groups whose processes are just ending are tried to be removed again.
const AGAIN: Duration = Duration::from_millis(5);

/// How long supervisors may take to end after the server. Nothing is to be left of it within a second.
const PATIENCE: Duration = Duration::from_millis(500);

/// Forks a supervisor for each lifeline that arrives, until the server is gone.
pub(super) fn run() -> ! {
    fd::close_from(3);
    // SAFETY: the server passes its socket as descriptor 0; nothing else here uses it.
    let server = unsafe { OwnedFd::from_raw_fd(0) };
    leave_surroundings();
    wake_when_parent_ends();
    let ready = Family::Descendants
        .adopt_orphans()
        .and_then(|()| supervise::watch_children());
    let mut supervisors = HashSet::new();
    let mut groups = Groups::new();
    while ready.is_ok() {
        reap_supervisors(&mut supervisors);
        let rest = groups.end_others(&supervisors).then_some(AGAIN);
        let [asked] = supervise::wait([Some(server.as_fd())], rest);
        let lifeline = match asked.then(|| receive(server.as_fd())) {
            Some(Ok(lifeline)) => lifeline,
            Some(Err(_)) => break,
            None => continue,
        };
        match groups.fork() {
            Ok(0) => match fd::replace(server, lifeline) {
                Ok(lifeline) => run_supervisor(Lifeline::new(lifeline)),
                Err(_) => exit(1),
            },
            Ok(supervisor) => drop(supervisors.insert(supervisor)),
            Err(error) => {
                Lifeline::new(lifeline).send(&Report::Failed(Failure::new(Step::Fork, &error)));
            }
        }
    }
    outlive(&mut supervisors);
    while groups.end_others(&supervisors) {
        supervise::wait([], Some(AGAIN));
    }
    exit(0);
}

/// Sees to it that all supervisors end, as they should by themselves now that the server is gone.
fn outlive(supervisors: &mut HashSet<libc::pid_t>) {
    let give_up = Instant::now() + PATIENCE;
    loop {
        reap_supervisors(supervisors);
        let rest = give_up.saturating_duration_since(Instant::now());
        if supervisors.is_empty() || rest.is_zero() {
            break;
        }
        supervise::wait([], Some(rest));
    }
    for supervisor in supervisors.iter() {
        // SAFETY: signals a child of this process that was not waited for yet.
        unsafe { libc::kill(*supervisor, libc::SIGKILL) };
    }
    while !supervisors.is_empty() {
        supervise::wait([], Some(PATIENCE));
        reap_supervisors(supervisors);
    }
}

/// Nothing here belongs to the place where the server was started.
fn leave_surroundings() {
    // Where that fails, it only keeps a file system from being unmounted.
    std::env::set_current_dir("/").ok();
    // SAFETY: changes attributes of this process only.
    unsafe {
        libc::setsid();
        for signal in IGNORED {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

/// The lifeline that the server passes; an error if it is gone.
fn receive(server: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    match fd::recv_with_fds(server, &mut [0])? {
        (_, Some([lifeline])) => Ok(lifeline),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
