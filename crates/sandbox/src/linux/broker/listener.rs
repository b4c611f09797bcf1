//! The kernel's side of the conversation: questions in, answers out.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use super::calls::FlagArg;
use crate::fd::check;

/// The descriptor on which the kernel asks.
pub(super) struct Listener(OwnedFd);

/// A system call that waits for us.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    id: u64,
    /// The thread that made it.
    pub thread: u32,
    pub call: libc::c_long,
    pub arguments: [u64; 6],
}

impl Question {
    /// An argument that is a number of 32 bits.
    pub(super) fn int(&self, index: usize) -> libc::c_int {
        self.arguments[index] as libc::c_int
    }

    /// The flags of the call.
    pub(super) fn flags(&self, flags: FlagArg) -> libc::c_int {
        match flags {
            FlagArg::Argument(index) => self.int(index),
            FlagArg::Fixed(flags) => flags,
        }
    }
}

/// What becomes of it.
#[derive(Debug)]
pub(super) enum Answer {
    /// The kernel carries it out as if nobody had asked; only safe where it would refuse by itself
    /// what must not happen.
    Proceed,
    Value(i64),
    Error(libc::c_int),
    /// It waits for somebody else.
    Later,
    /// It returns a new descriptor.
    File {
        file: OwnedFd,
        close_on_exec: bool,
    },
}

impl Listener {
    pub(super) fn new(fd: OwnedFd) -> Self {
        // Since Linux 6.6: hand the processor over to the waiting process. Older kernels do without.
        let (set_flags, sync_wake_up) = (libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, 1_u64);
        // SAFETY: the request takes flags in place of an address.
        unsafe { libc::ioctl(fd.as_raw_fd(), set_flags as _, sync_wake_up) };
        Self(fd)
    }

    pub(super) fn receive(&self) -> Option<Question> {
        // SAFETY: zeros are what the kernel wants to find.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        self.control(libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut asked)
            .ok()?;
        Some(Question {
            id: asked.id,
            thread: asked.pid,
            call: asked.data.nr.into(),
            arguments: asked.data.args,
        })
    }

    /// Whether the call still waits for an answer.
    pub(super) fn is_pending(&self, question: &Question) -> bool {
        let mut id = question.id;
        self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID as _, &raw mut id)
            .is_ok()
    }

    pub(super) fn answer(&self, question: &Question, answer: Answer) {
        // An answer that comes too late concerns nobody: the process is gone.
        match answer {
            Answer::File {
                file,
                close_on_exec,
            } => {
                if self.pass(question, &file, close_on_exec).is_err() {
                    // A process that was killed meanwhile needs no reply.
                    self.reply(question, 0, -libc::EMFILE, 0).ok();
                }
            }
            Answer::Proceed => {
                let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
                // A process that was killed meanwhile needs no reply.
                self.reply(question, 0, 0, flags).ok();
            }
            Answer::Later => {}
            Answer::Value(value) => drop(self.reply(question, value, 0, 0)),
            Answer::Error(errno) => drop(self.reply(question, 0, -errno, 0)),
        }
    }

    /// Gives the process a descriptor of its own for a file, and its number as the result.
    fn pass(&self, question: &Question, file: &OwnedFd, close_on_exec: bool) -> io::Result<()> {
        let mut passed = libc::seccomp_notif_addfd {
            id: question.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: file.as_raw_fd().cast_unsigned(),
            newfd: 0,
            newfd_flags: if close_on_exec {
                libc::O_CLOEXEC as u32
            } else {
                0
            },
        };
        self.control(libc::SECCOMP_IOCTL_NOTIF_ADDFD as _, &raw mut passed)
    }

    fn reply(&self, question: &Question, val: i64, error: i32, flags: u32) -> io::Result<()> {
        let mut reply = libc::seccomp_notif_resp {
            id: question.id,
            val,
            error,
            flags,
        };
        self.control(libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw mut reply)
    }

    fn control<T>(&self, request: u64, argument: *mut T) -> io::Result<()> {
        // SAFETY: each request is used with the structure that its number names.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, argument) }).map(drop)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
