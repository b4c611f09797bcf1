//! The same interface where no process can be started yet: every command is refused.

use std::{convert::Infallible, io, path::Path};

use crate::{Command, Grants, Policy, SpawnError, WindowSize};

/// Ends all commands; there are none on this system.
pub fn end_all() {}

/// Nothing to do here: there are no helpers on this system.
pub fn maybe_run_helper() {}

/// Refuses the command.
pub async fn spawn(command: Command) -> Result<Spawned, SpawnError> {
    if command.policy.is_enforced() {
        crate::capabilities::choose(command.enforcement).await?;
    }
    Err(SpawnError::Start {
        what: "processes on this system",
        source: io::ErrorKind::Unsupported.into(),
    })
}

/// A policy with its paths resolved on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules;

impl Rules {
    /// Resolves a policy now; `None` if it restricts nothing.
    pub fn resolve(policy: &Policy, _grants: &Grants) -> Option<Self> {
        policy.is_enforced().then_some(Self)
    }

    /// Nothing may be written under a policy that cannot be enforced.
    pub fn can_write(&self, _path: &Path) -> bool {
        false
    }

    /// Nor may anything be read.
    pub fn can_read(&self, _path: &Path) -> bool {
        false
    }
}

/// A started command; there is none on this system.
#[derive(Debug)]
pub struct Spawned {
    /// The owner's handle.
    pub process: Process,
    /// What it writes.
    pub output: Output,
}

/// Where output was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, or a terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Some bytes of output, never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where they were written to.
    pub stream: Stream,
    /// At most 64 KiB.
    pub bytes: Vec<u8>,
}

/// The output of one command.
#[derive(Debug)]
pub struct Output(Infallible);

impl Output {
    /// The next bytes.
    pub async fn next(&mut self) -> Option<Chunk> {
        match self.0 {}
    }
}

/// Where the connections of one command arrive.
#[derive(Debug)]
pub struct Gate(Infallible);

impl Gate {
    /// The next connection.
    pub async fn next(&mut self) -> Option<tokio::net::TcpStream> {
        match self.0 {}
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

/// Why input could not be written.
#[derive(Debug, thiserror::Error)]
pub enum StdinError {
    /// The command was started without stdin or it was closed before.
    #[error("stdin is closed")]
    Closed,
    /// The command reads no more.
    #[error("cannot write to stdin: {0}")]
    Io(#[from] io::Error),
}

/// The owner's end of a running command.
#[derive(Debug)]
pub struct Process(Infallible);

impl Process {
    /// The process id of the supervisor.
    pub fn supervisor_id(&self) -> u32 {
        match self.0 {}
    }

    /// The gate in the command's own network.
    pub fn take_gate(&self) -> Option<Gate> {
        match self.0 {}
    }

    /// A gate outside of any sandbox.
    pub fn open_gate(&self, _listener: tokio::net::TcpListener) -> Gate {
        match self.0 {}
    }

    /// Writes all bytes to stdin.
    pub async fn write_stdin(&self, _bytes: &[u8]) -> Result<(), StdinError> {
        match self.0 {}
    }

    /// Ends stdin.
    pub async fn close_stdin(&self) -> Result<(), StdinError> {
        match self.0 {}
    }

    /// Whether stdin can be written.
    pub async fn stdin_is_open(&self) -> bool {
        match self.0 {}
    }

    /// Sets the size of the command's terminal.
    pub fn resize(&self, _size: WindowSize) -> io::Result<bool> {
        match self.0 {}
    }

    /// Kills the command and all its descendants.
    pub fn kill(&self) {
        match self.0 {}
    }

    /// Waits until the command itself has ended.
    pub async fn wait(&self) -> Exit {
        match self.0 {}
    }

    /// Waits until no process of the command is left.
    pub async fn gone(&self) {
        match self.0 {}
    }
}
