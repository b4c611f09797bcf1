//! What the helper tells the server while a command lives.
//!
//! Reports travel on the same socket that keeps the helper alive: when the server's end closes, for
//! whatever reason, the helper kills what it started; when the helper's end closes, nothing of the
//! command is left.

use std::io;

use crate::spec::Code;

/// The server's only word to a running helper; closing the socket means the same.
pub(crate) const KILL: u8 = b'K';

/// One message from the helper.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The program runs; the supervisor's process id.
    Started { supervisor: u32 },
    /// Nothing was run.
    Failed(Failure),
    /// The command itself ended, with this status as `wait` gives it. Descendants may live on.
    Ended { status: i32 },
    /// Nothing of the command is left. A supervisor that closes the socket without this was killed.
    Gone,
}

/// Which step failed and what the kernel said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub step: Step,
    pub errno: i32,
    /// The path or name concerned, if one is.
    pub detail: Vec<u8>,
}

/// The steps between the helper's start and the command's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Spec,
    Fork,
    Terminal,
    Cwd,
    Program,
    Namespaces,
    IdMap,
    Mount,
    Loopback,
    Capabilities,
    Landlock,
    Seccomp,
}

impl Step {
    const ALL: [(Self, &str); 12] = [
        (Self::Spec, "reading the command"),
        (Self::Fork, "forking"),
        (Self::Terminal, "taking the terminal"),
        (Self::Cwd, "entering the directory"),
        (Self::Program, "executing the program"),
        (Self::Namespaces, "creating namespaces"),
        (Self::IdMap, "mapping user ids"),
        (Self::Mount, "mounting"),
        (Self::Loopback, "starting the loopback interface"),
        (Self::Capabilities, "dropping capabilities"),
        (Self::Landlock, "restricting with Landlock"),
        (Self::Seccomp, "installing the system call filter"),
    ];

    /// The step in words.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(step, _)| *step == self)
            .map_or("", |(_, name)| name)
    }
}

impl Failure {
    pub(crate) fn new(step: Step, error: &io::Error) -> Self {
        Self {
            step,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            detail: Vec::new(),
        }
    }

    pub(crate) fn at(step: Step, detail: &[u8], error: &io::Error) -> Self {
        Self {
            detail: detail.to_vec(),
            ..Self::new(step, error)
        }
    }

    /// The step and what it was about, in words.
    pub(crate) fn describe(&self) -> String {
        let step = self.step.name();
        if self.detail.is_empty() {
            return step.to_owned();
        }
        format!("{step} {}", String::from_utf8_lossy(&self.detail))
    }

    /// What the kernel said.
    pub(crate) fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }
}

impl Code for Step {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        Self::ALL
            .get(usize::from(u8::get(input)?))
            .map(|(step, _)| *step)
    }
}

impl Code for Failure {
    fn put(&self, out: &mut Vec<u8>) {
        self.step.put(out);
        self.errno.cast_unsigned().put(out);
        self.detail.put(out);
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        Some(Self {
            step: Code::get(input)?,
            errno: u32::get(input)?.cast_signed(),
            detail: Code::get(input)?,
        })
    }
}

impl Code for Report {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Started { supervisor } => {
                out.push(0);
                supervisor.put(out);
            }
            Self::Failed(failure) => {
                out.push(1);
                failure.put(out);
            }
            Self::Ended { status } => {
                out.push(2);
                status.cast_unsigned().put(out);
            }
            Self::Gone => out.push(3),
        }
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        Some(match u8::get(input)? {
            0 => Self::Started {
                supervisor: Code::get(input)?,
            },
            1 => Self::Failed(Code::get(input)?),
            2 => Self::Ended {
                status: u32::get(input)?.cast_signed(),
            },
            3 => Self::Gone,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_numbered_in_order() {
        for (number, (step, _)) in Step::ALL.iter().enumerate() {
            assert_eq!(*step as usize, number);
        }
    }
}
