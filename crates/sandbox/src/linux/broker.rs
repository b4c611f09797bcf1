//! Doing for a command what Landlock cannot allow it to do by itself.
//!
//! Landlock can open a directory but not keep a part of it shut, and it does not know about modes,
//! owners, times and attributes of files at all. So directories with protected parts stay shut, and the
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
    cell::RefCell,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    time::Duration,
};

pub(crate) use self::calls::{CALLS, Call, FlagArg};
use self::{
    calls::SignalArg,
    listener::{Answer, Listener, Question},
    target::Target,
};
use crate::{helper::Attendant, rules::Rules};

/// How long a question that cannot be answered yet rests.
const REST: Duration = Duration::from_millis(10);

/// The supervisor's office.
pub(crate) struct Broker<'a> {
    listener: Listener,
    rules: &'a Rules,
    /// Questions that cannot be answered yet; at most one per thread of the command.
    unanswered: RefCell<Vec<Question>>,
}

impl<'a> Broker<'a> {
    pub(crate) fn new(listener: OwnedFd, rules: &'a Rules) -> Self {
        // The modes that commands ask for are masked with their own masks.
        // SAFETY: cannot fail.
        unsafe { libc::umask(0) };
        Self {
            listener: Listener::new(listener),
            rules,
            unanswered: RefCell::default(),
        }
    }

    fn settle(&self, question: Question) {
        match self.judge(&question) {
            Answer::Later => self.unanswered.borrow_mut().push(question),
            answer => self.listener.answer(&question, answer),
        }
    }

    fn judge(&self, question: &Question) -> Answer {
        let Some((_, call)) = CALLS.iter().find(|(number, _)| *number == question.call) else {
            return Answer::Error(libc::ENOSYS);
        };
        match call {
            Call::Signal(signal) => return signals::judge(*signal, question),
            Call::Schedule(thread) => {
                return signals::judge(SignalArg::Thread(*thread), question);
            }
            _ => {}
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
            self.settle(question);
        }
    }

    fn rest(&self) -> Option<Duration> {
        (!self.unanswered.borrow().is_empty()).then_some(REST)
    }

    fn attend_again(&self) {
        for question in self.unanswered.take() {
            if self.listener.is_pending(&question) {
                self.settle(question);
            }
        }
    }
}

impl AsFd for Broker<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
