//! Input on its way to a command. A client is answered when its bytes are queued, not when the command
//! reads them, so that a command which reads nothing can still be terminated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use quipu_sandbox::{Process, StdinError};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Bytes that may wait for a command; a larger piece is taken when nothing else waits.
const WAITING: usize = 16 * 1024 * 1024;

/// Why input was not taken.
pub(crate) enum WriteError {
    /// The command was started without.
    NotStreamed,
    Closed,
    /// The command does not read.
    Full,
}

/// The end that clients write to.
pub(crate) struct Stdin {
    state: Mutex<State>,
    waiting: Arc<AtomicUsize>,
}

enum State {
    NotStreamed,
    Open(UnboundedSender<Vec<u8>>),
    Closed,
}

/// What is to be written.
pub(super) struct Pending {
    pieces: UnboundedReceiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

impl Stdin {
    /// The input of a command that has none.
    pub(super) fn none() -> Stdin {
        Stdin {
            state: Mutex::new(State::NotStreamed),
            waiting: Arc::default(),
        }
    }

    pub(super) fn streamed() -> (Stdin, Pending) {
        let (sender, pieces) = mpsc::unbounded_channel();
        let waiting = Arc::<AtomicUsize>::default();
        let pending = Pending {
            pieces,
            waiting: Arc::clone(&waiting),
        };
        let state = Mutex::new(State::Open(sender));
        (Stdin { state, waiting }, pending)
    }

    /// Queues bytes, if there are any, and then ends the input, if that is asked. To end it twice is fine.
    pub fn write(&self, bytes: Option<Vec<u8>>, close: bool) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        match (&*state, bytes) {
            (State::NotStreamed, _) => return Err(WriteError::NotStreamed),
            (State::Closed, Some(_)) => return Err(WriteError::Closed),
            (State::Closed, None) => return Ok(()),
            (State::Open(_), None) => {}
            (State::Open(sender), Some(bytes)) => {
                let waiting = self.waiting.load(Ordering::Relaxed);
                if waiting > 0 && waiting.saturating_add(bytes.len()) > WAITING {
                    return Err(WriteError::Full);
                }
                self.waiting.fetch_add(bytes.len(), Ordering::Relaxed);
                // A command that has ended reads nothing; its result tells the client.
                sender.send(bytes).ok();
            }
        }
        if close {
            *state = State::Closed;
        }
        Ok(())
    }
}

impl Pending {
    /// Writes what is queued until the input is ended or the command reads no more.
    pub(super) async fn write_to(mut self, process: &Process) {
        let written = self.write_all(process).await;
        if let Err(error) = written {
            tracing::debug!(%error, "command closed its input");
        }
    }

    async fn write_all(&mut self, process: &Process) -> Result<(), StdinError> {
        while let Some(bytes) = self.pieces.recv().await {
            process.write_stdin(&bytes).await?;
            self.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
        }
        process.close_stdin().await
    }
}
