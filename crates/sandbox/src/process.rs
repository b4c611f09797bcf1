//! A running command, as its owner sees it.

use std::io;

use parking_lot::Mutex as SyncMutex;
use tokio::{
    net::TcpListener,
    sync::{Mutex, watch},
};

use crate::{
    WindowSize,
    gate::Gate,
    system::{self, Killer, Output, Stdin, Terminal},
};

/// What ends the input on a terminal: the end of the line, then the character that says so.
const END_OF_INPUT: &[u8] = b"\n\x04";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

/// What is known about a command by now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    pub exit: Option<Exit>,
    /// No process of it is left.
    pub gone: bool,
}

/// The owner's end of a running command. Dropping it kills the command and all its descendants.
#[derive(Debug)]
pub struct Process {
    pub(crate) stdin: Mutex<Option<Stdin>>,
    pub(crate) terminal: Option<Terminal>,
    pub(crate) state: watch::Receiver<State>,
    pub(crate) killer: Killer,
    pub(crate) gate: SyncMutex<Option<Gate>>,
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

impl Process {
    /// The process id of the supervisor that holds the command, for diagnostics.
    pub fn supervisor_id(&self) -> u32 {
        self.killer.supervisor
    }

    /// The gate in the command's own network, the first time it is asked for; only under
    /// [`Network::Gate`](crate::Network::Gate).
    pub fn take_gate(&self) -> Option<Gate> {
        let mut gate = self.gate.lock();
        gate.take()
    }

    /// A gate outside of any sandbox, for a command that knows of it and is not made to use it.
    pub fn open_gate(&self, listener: TcpListener) -> Gate {
        Gate::new(listener, self.state.clone())
    }

    /// Writes all bytes to stdin, waiting as long as the command does not read.
    pub async fn write_stdin(&self, mut bytes: &[u8]) -> Result<(), StdinError> {
        self.write_stdin_from(&mut bytes).await
    }

    /// The same; a caller that stops waiting finds in `bytes` what was not written.
    pub async fn write_stdin_from(&self, bytes: &mut &[u8]) -> Result<(), StdinError> {
        let mut stdin = self.stdin.lock().await;
        let stdin = stdin.as_mut().ok_or(StdinError::Closed)?;
        let mut state = self.state.clone();
        tokio::select! {
            written = system::write_all(stdin, bytes) => Ok(written?),
            _ = state.wait_for(|state| state.gone) => {
                Err(io::Error::from(io::ErrorKind::BrokenPipe).into())
            }
        }
    }

    /// Ends stdin. On a terminal this is typed: a line end and the end-of-input character. A second call does nothing.
    pub async fn close_stdin(&self) -> Result<(), StdinError> {
        if self.terminal.is_some() {
            match self.write_stdin(END_OF_INPUT).await {
                Err(StdinError::Closed) => return Ok(()),
                result => result?,
            }
        }
        self.stdin.lock().await.take();
        Ok(())
    }

    /// Whether stdin can be written.
    pub async fn stdin_is_open(&self) -> bool {
        self.stdin.lock().await.is_some()
    }

    /// Sets the size of the command's terminal; `Ok(false)` if it has none.
    pub fn resize(&self, size: WindowSize) -> io::Result<bool> {
        match &self.terminal {
            None => Ok(false),
            Some(terminal) => system::resize(terminal, size).map(|()| true),
        }
    }

    /// Kills the command and all its descendants. Returns before they are gone; see [`Self::gone`].
    pub fn kill(&self) {
        self.killer.kill();
    }

    /// Waits until the command itself has ended. Descendants may still live; see [`Self::gone`].
    pub async fn wait(&self) -> Exit {
        let mut state = self.state.clone();
        match state
            .wait_for(|state| state.exit.is_some())
            .await
            .map(|state| state.exit)
        {
            Ok(Some(exit)) => exit,
            // The runtime is going down, and the command with it.
            _ => system::KILLED,
        }
    }

    /// Waits until no process of the command is left.
    pub async fn gone(&self) {
        let mut state = self.state.clone();
        // An error means that the runtime is going down, and the command with it.
        state.wait_for(|state| state.gone).await.map(drop).ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A started command: the handle that owns it and the output to be read.
#[derive(Debug)]
pub struct Spawned {
    /// The owner's handle.
    pub process: Process,
    /// What it writes.
    pub output: Output,
}
