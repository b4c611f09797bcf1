//! The process that supervisors are forked from.

use std::{
    collections::HashSet,
    io,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
    process::exit,
};

use super::{Family, Lifeline, family::bury, run_supervisor, supervise};
use crate::{
    fd::{self, check},
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

/// Forks a supervisor for each lifeline that arrives, until the server is gone.
pub(super) fn run() -> ! {
    fd::close_from(3);
    // SAFETY: the server passes its socket as descriptor 0; nothing else here uses it.
    let server = unsafe { OwnedFd::from_raw_fd(0) };
    leave_surroundings();
    let ready = Family::Descendants
        .adopt_orphans()
        .and_then(|()| supervise::watch_children());
    let mut supervisors = HashSet::new();
    while ready.is_ok() {
        bury(&mut supervisors);
        let [asked] = supervise::wait([Some(server.as_fd())], None);
        let lifeline = match asked.then(|| receive(server.as_fd())) {
            Some(Ok(lifeline)) => lifeline,
            Some(Err(_)) => break,
            None => continue,
        };
        // SAFETY: this process has one thread.
        match check(unsafe { libc::fork() }) {
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
    exit(0);
}

/// Nothing here belongs to the place where the server was started.
fn leave_surroundings() {
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
