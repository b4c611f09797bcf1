//! What the Linux kernel enforces: everything here runs inside the helper.

pub(crate) mod bpf;
pub(crate) mod broker;
pub(crate) mod cgroup;
pub(crate) mod landlock;
mod mounts;
mod namespaces;
pub(crate) mod restrict;
pub(crate) mod seccomp;
mod sys;
mod walk;

use std::{
    io,
    os::{fd::AsFd, unix::net::UnixStream},
};

use self::{broker::Broker, landlock::Ruleset, seccomp::Filter};
use crate::{
    capabilities::Backend,
    fd::{self, StdFds},
    helper::{Attendant, Family, Lifeline, Lock, supervise},
    report::{Failure, Step},
    spec::{Jail, Spec},
};

/// The devices that every program may expect, and the only ones it gets.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];

/// Builds the jail and lives as the supervisor of the command in it.
pub(crate) fn run(lifeline: Lifeline, spec: &Spec, jail: &Jail, stdio: StdFds) -> ! {
    match jail.backend {
        Backend::Namespaces { landlock } => {
            namespaces::run(lifeline, spec, jail, stdio, landlock);
        }
        Backend::Landlock { version } => run_landlock(lifeline, spec, jail, stdio, version),
    }
}

fn run_landlock(lifeline: Lifeline, spec: &Spec, jail: &Jail, stdio: StdFds, version: u32) -> ! {
    let prepare = || {
        let ruleset = Ruleset::new(&jail.rules, version, &stdio)?;
        let (ours, office) = UnixStream::pair()?;
        // What we do for the command is done with its rights.
        restrict::drop_capabilities()?;
        Ok((ruleset, ours, office))
    };
    let (ruleset, ours, office) = match prepare() {
        Ok(prepared) => prepared,
        Err(error) => lifeline.fail(&Failure::new(Step::Landlock, &error)),
    };
    let filter = Filter::new(jail);
    let has_questions = filter.has_questions();
    let lock = Lock::Landlock {
        ruleset,
        filter,
        office,
    };
    let attendant = || -> io::Result<Option<Box<dyn Attendant + '_>>> {
        if !has_questions {
            return Ok(None);
        }
        match fd::recv_with_fds(ours.as_fd(), &mut [0])? {
            (_, Some([listener])) => Ok(Some(Box::new(Broker::new(listener, &jail.rules)))),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    };
    supervise(lifeline, spec, stdio, Family::Descendants, &lock, attendant)
}
