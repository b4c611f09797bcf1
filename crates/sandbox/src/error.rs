//! Why a process could not be started.

use std::{io, path::PathBuf};

/// Why [`spawn`](crate::spawn) started nothing. Never carries the environment of the command.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// This process is about to end ([`end_all`](crate::end_all)).
    #[error("no more commands are started, since this server is stopping")]
    Stopping,
    /// There is no program to run.
    #[error("the command is empty")]
    EmptyCommand,
    /// The kernel takes no zero byte in strings.
    #[error("the {what} holds a zero byte")]
    ZeroByte {
        /// Which part of the command.
        what: &'static str,
    },
    /// More than the kernel would take either.
    #[error("the arguments and environment are too large: {bytes} bytes, at most {limit}")]
    TooLarge {
        /// Their size.
        bytes: usize,
        /// The most that is passed on.
        limit: usize,
    },
    /// The directory to start in cannot be entered.
    #[error("cannot start in {}: {source}", cwd.display())]
    BadCwd {
        /// The directory.
        cwd: PathBuf,
        /// What the kernel said, from inside the sandbox.
        source: io::Error,
    },
    /// The program is missing or cannot be executed.
    #[error("cannot run {program}: {source}")]
    BadProgram {
        /// The first word of the command.
        program: String,
        /// What the kernel said, from inside the sandbox.
        source: io::Error,
    },
    /// No mechanism of this machine can enforce the policy, so nothing was run.
    #[error("the sandbox cannot be enforced here: {reason}. {fix}")]
    CannotEnforce {
        /// What is missing.
        reason: String,
        /// What a person can do about it.
        fix: String,
    },
    /// A directory of the policy is reached by way of a link that a command in a sandbox may have made, so
    /// nothing was run.
    #[error(
        "{} leads through the symbolic link {}, which a sandboxed command may have made; if it is meant, \
         give the directory by its real path, else remove the link",
        name.display(),
        link.display()
    )]
    StrayRoot {
        /// The directory as the policy names it.
        name: PathBuf,
        /// Where the link is.
        link: PathBuf,
    },
    /// The sandbox should work here but one step of building it failed, so nothing was run.
    #[error("cannot build the sandbox: {step}: {source}")]
    Setup {
        /// The step.
        step: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// Pipes, a terminal or the helper process could not be made.
    #[error("cannot start a process: {what}: {source}")]
    Start {
        /// What could not be made.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl SpawnError {
    /// What the kernel said, for callers that show only that.
    pub fn os_error(&self) -> Option<&io::Error> {
        match self {
            Self::BadCwd { source, .. }
            | Self::BadProgram { source, .. }
            | Self::Setup { source, .. }
            | Self::Start { source, .. } => Some(source),
            Self::Stopping
            | Self::EmptyCommand
            | Self::ZeroByte { .. }
            | Self::TooLarge { .. }
            | Self::CannotEnforce { .. }
            | Self::StrayRoot { .. } => None,
        }
    }
}
