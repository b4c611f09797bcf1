//! What the Linux kernel enforces: everything here runs inside the helper.

pub(crate) mod bpf;
pub(crate) mod landlock;
mod mounts;
mod namespaces;
mod placeholder;
pub(crate) mod restrict;
pub(crate) mod seccomp;
mod sys;

use self::{landlock::Ruleset, seccomp::Filter};
use crate::{
    capabilities::Backend,
    fd::StdFds,
    helper::{Family, Lifeline, Lock, supervise},
    report::{Failure, Step},
    spec::{Jail, Spec},
};

/// Builds the jail and lives as the supervisor of the command in it.
pub(crate) fn run(lifeline: Lifeline, spec: &Spec, jail: &Jail, stdio: StdFds) -> ! {
    match jail.backend {
        Backend::Namespaces => namespaces::run(lifeline, spec, jail, stdio),
        Backend::Landlock => {
            let ruleset = match Ruleset::new(&jail.rules) {
                Ok(ruleset) => ruleset,
                Err(error) => lifeline.fail(&Failure::new(Step::Landlock, &error)),
            };
            let lock = Lock::Landlock(ruleset, Filter::new(jail));
            supervise(lifeline, spec, stdio, Family::Descendants, &lock)
        }
    }
}
