//! What waits to be written to one connection. Bounded, so that a client which does not read costs
//! a known amount of memory and then either is disconnected or makes its sender wait.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use crate::close::{CloseCode, CloseReason};
use crate::connection::Writer;
use crate::queue::{self, Limits, Refused};

/// What a sender does when the outbox is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// It waits. For standard output, whose reader is the owner of this process.
    Wait,
    /// It disconnects the client, so that nobody else waits for it.
    Disconnect,
}

/// Why a message was not taken.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SendError {
    /// There is no room now.
    #[error("the queue of outgoing messages is full")]
    Full,
    /// The connection has ended.
    #[error("{0}")]
    Closed(CloseReason),
}

/// The sending end, cheap to clone. When all clones are gone, what is queued is still written.
#[derive(Clone, Debug)]
pub struct Outbox {
    queue: queue::Sender<Bytes>,
    end: Arc<watch::Sender<End>>,
    on_full: OnFull,
}

/// How the outbox ended, or is to end.
#[derive(Clone, Debug)]
enum End {
    Open,
    /// Write what is queued, then close.
    Finish(CloseCode),
    /// Stop at once, also in the middle of a write that does not move.
    Cut(CloseReason),
}

impl Outbox {
    /// A new outbox and the writer that must be run to empty it.
    pub fn new(limits: Limits, on_full: OnFull) -> (Self, OutboxWriter) {
        let (sender, receiver) = queue::new(limits);
        let end = Arc::new(watch::Sender::new(End::Open));
        let writer = OutboxWriter {
            queue: receiver,
            end: Arc::clone(&end),
        };
        (
            Self {
                queue: sender,
                end,
                on_full,
            },
            writer,
        )
    }

    /// Queues a message as [`OnFull`] says: waits for room, or disconnects for want of it.
    pub async fn send(&self, message: Bytes) -> Result<(), CloseReason> {
        match self.on_full {
            OnFull::Wait => {
                let length = message.len();
                self.queue
                    .send(message, length)
                    .await
                    .map_err(|_| reason(&self.end))
            }
            OnFull::Disconnect => self.try_send(message).map_err(|error| match error {
                SendError::Closed(reason) => reason,
                SendError::Full => {
                    self.abort(CloseReason::Overflow);
                    CloseReason::Overflow
                }
            }),
        }
    }

    /// Queues messages in their order, each as [`send`](Self::send) would. Those that were not taken stay.
    pub async fn send_all(&self, messages: &mut VecDeque<Bytes>) -> Result<(), CloseReason> {
        loop {
            match self.queue.try_send_all(messages, Bytes::len) {
                Ok(()) => return Ok(()),
                Err(Refused::Closed) => return Err(reason(&self.end)),
                Err(Refused::Full) if self.on_full == OnFull::Wait => self.queue.room().await,
                Err(Refused::Full) => {
                    self.abort(CloseReason::Overflow);
                    return Err(CloseReason::Overflow);
                }
            }
        }
    }

    /// Queues a message if there is room now.
    pub fn try_send(&self, message: Bytes) -> Result<(), SendError> {
        let length = message.len();
        self.queue
            .try_send(message, length)
            .map_err(|(_, refused)| match refused {
                Refused::Full => SendError::Full,
                Refused::Closed => SendError::Closed(reason(&self.end)),
            })
    }

    /// Queues a message beyond the limits. Only for the small error that answers a request whose
    /// handler gave none; there are never more of these than requests in progress.
    pub(crate) fn send_over_limit(&self, message: Bytes) -> Result<(), CloseReason> {
        let length = message.len();
        self.queue
            .send_over_limit(message, length)
            .map_err(|_| reason(&self.end))
    }

    /// Whether everything queued has been written.
    pub fn is_idle(&self) -> bool {
        self.queue.is_idle()
    }

    /// How many messages are not written yet.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// How many messages have been written so far.
    pub fn written(&self) -> u64 {
        self.queue.released()
    }

    /// Takes no more messages; the writer writes what is queued, then closes the connection. That
    /// takes as long as the other side takes to read: bound it with [`abort`](Self::abort).
    pub fn close(&self, code: CloseCode) {
        set_end(&self.end, End::Finish(code));
        self.queue.close();
    }

    /// Takes no more messages and drops what is queued; the writer stops at once.
    pub fn abort(&self, reason: CloseReason) {
        set_end(&self.end, End::Cut(reason));
        self.queue.discard();
    }

    /// Waits until no more messages are taken, and says why.
    pub async fn closed(&self) -> CloseReason {
        let mut end = self.end.subscribe();
        // The sender lives as long as this borrow, so waiting cannot fail.
        drop(end.wait_for(|end| !matches!(end, End::Open)).await);
        reason(&self.end)
    }
}

fn reason(end: &watch::Sender<End>) -> CloseReason {
    match &*end.borrow() {
        End::Open | End::Finish(_) => CloseReason::Local,
        End::Cut(reason) => reason.clone(),
    }
}

/// A cut overrides an orderly end; otherwise the first end stays.
fn set_end(end: &watch::Sender<End>, new: End) {
    end.send_if_modified(|end| {
        let changes = matches!(
            (&*end, &new),
            (End::Open, _) | (End::Finish(_), End::Cut(_))
        );
        if changes {
            *end = new;
        }
        changes
    });
}

/// Writes what an [`Outbox`] holds. Dropping it ends the outbox.
#[derive(Debug)]
pub struct OutboxWriter {
    queue: queue::Receiver<Bytes>,
    end: Arc<watch::Sender<End>>,
}

impl OutboxWriter {
    /// Writes until the outbox is closed and empty, is aborted, or writing fails. Each round takes
    /// all that is queued and flushes once.
    pub async fn run(mut self, mut writer: Writer) -> CloseReason {
        let mut end = self.end.subscribe();
        let cut = end.wait_for(|end| matches!(end, End::Cut(_)));
        let written = tokio::select! {
            biased;
            _ = cut => None,
            written = write_all(&mut self.queue, &self.end, &mut writer) => Some(written),
        };
        if let Some(Err(error)) = written {
            set_end(&self.end, End::Cut(CloseReason::Write(Arc::new(error))));
        }
        reason(&self.end)
    }
}

impl Drop for OutboxWriter {
    fn drop(&mut self) {
        set_end(&self.end, End::Cut(CloseReason::Local));
    }
}

async fn write_all(
    queue: &mut queue::Receiver<Bytes>,
    end: &watch::Sender<End>,
    writer: &mut Writer,
) -> io::Result<()> {
    while let Some(mut batch) = queue.recv_all().await {
        writer.write(batch.drain()).await?;
    }
    let code = match &*end.borrow() {
        End::Finish(code) => *code,
        End::Open | End::Cut(_) => CloseCode::NORMAL,
    };
    writer.close(code).await
}
