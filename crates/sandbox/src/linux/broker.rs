//! Doing for a command what Landlock cannot allow it to do by itself.
//!
//! Landlock can open a folder but not keep a part of it shut, and it does not know about modes,
//! owners, times and attributes of files at all. So folders with protected parts stay shut, and the
//! filter makes the kernel ask the supervisor, which stands outside, about each call that would
//! change something there. The supervisor looks at what the call is really about and does it in the
//! command's stead, or lets the kernel refuse it.
//!
//! Nothing is decided by text that the command can still change: paths are copied once, resolved to
//! open files, and the deed is done on these.

mod calls;
mod changes;
mod listener;
mod resolve;
mod signals;
mod target;
mod touches;

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

pub(crate) use self::calls::{CALLS, Call, FlagArg};
use self::{
    listener::{Answer, Listener, Question},
    target::Target,
};
use crate::{helper::Attendant, rules::Rules};

/// The supervisor's office.
pub(crate) struct Broker<'a> {
    listener: Listener,
    rules: &'a Rules,
}

impl<'a> Broker<'a> {
    pub(crate) fn new(listener: OwnedFd, rules: &'a Rules) -> Self {
        // The modes that commands ask for are masked with their own masks.
        // SAFETY: cannot fail.
        unsafe { libc::umask(0) };
        Self {
            listener: Listener::new(listener),
            rules,
        }
    }

    fn judge(&self, question: &Question) -> Answer {
        let Some((_, call)) = CALLS.iter().find(|(number, _)| *number == question.call) else {
            return Answer::Error(libc::ENOSYS);
        };
        if let Call::Signal(signal) = call {
            return signals::judge(*signal, question);
        }
        match Target::open(question) {
            Ok(target) if call.is_touch() => match self.touch(call, &target) {
                Ok(()) => Answer::Value(0),
                Err(error) => Answer::Error(error.raw_os_error().unwrap_or(libc::EPERM)),
            },
            // Where it is not for us to act the kernel decides, and Landlock with it.
            Ok(target) => self.change(call, &target).unwrap_or(Answer::Proceed),
            Err(_) if call.is_touch() => Answer::Error(libc::EPERM),
            Err(_) => Answer::Proceed,
        }
    }

    /// Whether the process that asked still waits. Until this was checked, its id may have become
    /// somebody else's, and with it all that was read through it.
    fn still_waits(&self, target: &Target) -> bool {
        self.listener.is_pending(target.question)
    }

    /// Whether this is a path that is writable but shut by Landlock, so that we have to act.
    fn is_ours(&self, path: &Path) -> bool {
        self.rules
            .writable_root(path)
            .is_some_and(|root| self.rules.has_exception_below(root))
    }
}

impl Attendant for Broker<'_> {
    fn attend(&self) {
        // The process may be gone, or have been woken by a signal, before its question is read.
        if let Some(question) = self.listener.receive() {
            let answer = self.judge(&question);
            self.listener.answer(&question, answer);
        }
    }
}

impl AsFd for Broker<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
