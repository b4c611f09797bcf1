//! The supervisor's life: start the command, report its end, leave nothing behind.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
    process::exit,
    time::{Duration, Instant},
};

use super::{
    Family, Lifeline, Lock,
    family::{Reaped, reap},
    leader,
};
use crate::{
    fd::{StdFds, check},
    report::{Failure, Report, Step},
    spec::Spec,
};

/// Somebody who answers questions of the kernel while the command lives.
pub(crate) trait Attendant: AsFd {
    /// Answers the question that is waiting.
    fn attend(&self);

    /// How long until [`Self::attend_again`] makes sense, if it does.
    fn rest(&self) -> Option<Duration>;

    /// Tries what could not be answered before.
    fn attend_again(&self);
}

/// Starts the command and lives as long as anything of it does. `attendant` is asked for once the
/// command has taken its lock upon itself.
pub(crate) fn supervise<'a>(
    mut lifeline: Lifeline,
    spec: &Spec,
    stdio: StdFds,
    family: Family,
    lock: &Lock,
    attendant: impl FnOnce() -> io::Result<Option<Box<dyn Attendant + 'a>>>,
) -> ! {
    if let Err(error) = family.adopt_orphans().and_then(|()| watch_children()) {
        lifeline.fail(&Failure::new(Step::Fork, &error));
    }
    let leader = match leader::start(spec, &stdio, lock) {
        Ok(leader) => leader,
        Err(failure) => lifeline.fail(&failure),
    };
    // Only the command holds its streams now, so that their ends show its end.
    drop(stdio);
    let attendant = match attendant() {
        Ok(attendant) => attendant,
        Err(error) => {
            family.kill(leader, |_, _| {});
            lifeline.fail(&Failure::new(Step::Seccomp, &error));
        }
    };
    lifeline.started();
    let mut supervisor = Supervisor {
        lifeline,
        leader,
        linger: spec.linger,
        attendant,
        deadline: None,
    };
    while supervisor.turn() {}
    family.kill(leader, |pid, status| {
        supervisor.lifeline.note(leader, pid, status)
    });
    supervisor.lifeline.send(&Report::Gone);
    exit(0);
}

struct Supervisor<'a> {
    lifeline: Lifeline,
    leader: libc::pid_t,
    linger: Option<u32>,
    attendant: Option<Box<dyn Attendant + 'a>>,
    /// When descendants that outlived the command are killed.
    deadline: Option<Instant>,
}

impl Supervisor<'_> {
    /// Handles what happens next; false when it is time to end.
    fn turn(&mut self) -> bool {
        loop {
            match reap() {
                Reaped::Child(pid, status) => {
                    self.lifeline.note(self.leader, pid, status);
                    if let (true, Some(linger)) = (pid == self.leader, self.linger) {
                        let linger = Duration::from_millis(linger.into());
                        self.deadline = Instant::now().checked_add(linger);
                    }
                }
                Reaped::Nothing => break,
                Reaped::NoChildren => return false,
            }
        }
        let rest = self
            .deadline
            .map(|at| at.saturating_duration_since(Instant::now()));
        if rest.is_some_and(|rest| rest.is_zero()) {
            return false;
        }
        let attendant = self.attendant.as_deref();
        let rest = [rest, attendant.and_then(|it| it.rest())];
        let rest = rest.into_iter().flatten().min();
        let fds = [Some(self.lifeline.as_fd()), attendant.map(|it| it.as_fd())];
        let [ended, asked] = wait(fds, rest);
        if let Some(attendant) = attendant {
            attendant.attend_again();
            if asked {
                attendant.attend();
            }
        }
        // Any byte is the wish to end it, and so is the end of the lifeline.
        !ended
    }
}

impl Lifeline {
    /// Reports the end of the command itself; other children concern nobody.
    fn note(&mut self, leader: libc::pid_t, pid: libc::pid_t, status: libc::c_int) {
        if pid == leader {
            self.send(&Report::Ended { status });
        }
    }
}

/// Keeps child signals pending until [`wait_readable`], so that none is missed.
pub(super) fn watch_children() -> io::Result<()> {
    extern "C" fn wake(_: libc::c_int) {}
    // SAFETY: a sigaction of zeros is valid; the handler does nothing at all; the mask is local.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = wake as extern "C" fn(libc::c_int) as libc::sighandler_t;
        check(libc::sigaction(
            libc::SIGCHLD,
            &action,
            std::ptr::null_mut(),
        ))?;
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut mask);
        libc::sigaddset(&mut mask, libc::SIGCHLD);
        check(libc::sigprocmask(
            libc::SIG_BLOCK,
            &mask,
            std::ptr::null_mut(),
        ))?;
    }
    Ok(())
}

/// Waits until one of the descriptors can be read, a child changed, or the time is over; says which
/// can be read.
pub(super) fn wait<const N: usize>(
    fds: [Option<BorrowedFd<'_>>; N],
    time: Option<Duration>,
) -> [bool; N] {
    let fds = fds.map(|fd| fd.map(|fd| fd.as_raw_fd()));
    let timeout = time.map(|time| libc::timespec {
        tv_sec: time.as_secs() as _,
        tv_nsec: time.subsec_nanos().into(),
    });
    // SAFETY: all pointers are to locals that live through the call; the descriptors are small
    // numbers, as a supervisor has few open.
    unsafe {
        let mut read: libc::fd_set = std::mem::zeroed();
        for fd in fds.iter().flatten() {
            libc::FD_SET(*fd, &mut read);
        }
        let mut nothing_blocked: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut nothing_blocked);
        let ready = libc::pselect(
            fds.iter().flatten().max().map_or(0, |fd| fd + 1),
            &mut read,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            timeout
                .as_ref()
                .map_or(std::ptr::null(), std::ptr::from_ref),
            &nothing_blocked,
        );
        fds.map(|fd| fd.is_some_and(|fd| ready > 0 && libc::FD_ISSET(fd, &read)))
    }
}
