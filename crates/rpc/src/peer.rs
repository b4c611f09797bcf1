//! One connection with calls in both directions, for programs that own exactly one: the client library
//! and the test kit. (The server multiplexes many and builds on the parts instead.)
//!
//! Answers never queue behind other messages: the reading task gives each to its waiter the moment
//! it is read. Requests and notifications go into the bounded [`Inbox`]. When its owner does not
//! take them, reading pauses, which holds the sender back. If it pauses for longer than
//! [`PeerOptions::stall_timeout`] while a call of ours has no answer or a message of ours cannot be
//! written, the connection is closed as [`CloseReason::Stalled`]: the owner may be waiting for the
//! very thing that stands behind the messages it does not take.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::watch;

use crate::close::{CloseCode, CloseReason};
use crate::connection::{Connection, Incoming, Reader};
use crate::error::ErrorObject;
use crate::frame::{Frame, FrameError, Notification, Request};
use crate::id::Id;
use crate::outbox::{OnFull, Outbox};
use crate::pending::{Arrival, CallError, Calls, Outcome, Waiter};
use crate::queue::{self, Limits, Refused};
use crate::raw::RawJson;
use crate::responder::Responder;
use crate::write;

/// Bounds of a [`Peer`].
#[derive(Clone, Copy, Debug)]
pub struct PeerOptions {
    /// What may wait to be written. A call or notification beyond it fails as full.
    pub outbox: Limits,
    /// What may wait to be taken from the [`Inbox`].
    pub inbox: Limits,
    /// How long a full inbox may hold back the rest of the connection.
    pub stall_timeout: Duration,
    /// How long reading goes on after the sending direction has ended, to get what is on its way.
    pub linger: Duration,
    /// The id of the first call.
    pub first_id: i64,
}

impl Default for PeerOptions {
    fn default() -> Self {
        let limits = Limits {
            messages: 4096,
            bytes: 64 << 20,
        };
        Self {
            outbox: limits,
            inbox: limits,
            stall_timeout: Duration::from_secs(30),
            linger: Duration::from_secs(5),
            first_id: 0,
        }
    }
}

/// The calling end, cheap to clone. The connection closes when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Peer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    outbox: Outbox,
    calls: Calls,
    closed: watch::Receiver<Option<CloseReason>>,
    /// Whether the writing task has ended.
    written: watch::Receiver<bool>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.outbox.close(CloseCode::NORMAL);
    }
}

impl Peer {
    /// Starts the tasks that read and write; needs a runtime.
    pub fn start(connection: Connection, options: PeerOptions) -> (Self, Inbox) {
        let (outbox, outbox_writer) = Outbox::new(options.outbox, OnFull::Wait);
        let (events, inbox) = queue::new(options.inbox);
        let calls = Calls::new(options.first_id);
        let (closing, closed) = watch::channel(None);
        let (writing, written) = watch::channel(false);
        tokio::spawn(async move {
            outbox_writer.run(connection.writer).await;
            writing.send_replace(true);
        });
        let reading = Reading {
            outbox: outbox.clone(),
            calls: calls.clone(),
            events,
            options,
        };
        tokio::spawn(reading.run(connection.reader, closing));
        let inbox = Inbox {
            events: inbox,
            closed: closed.clone(),
        };
        (
            Self(Arc::new(Shared {
                outbox,
                calls,
                closed,
                written,
            })),
            inbox,
        )
    }

    /// Sends a request now, after everything sent before; the answer can be awaited at any time.
    pub fn call<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Call {
        let waiter = self.0.calls.register();
        let sent = self.send_request(&waiter, method, params);
        if let Err(error) = sent {
            self.0.calls.fail(waiter.id(), error);
        }
        Call(waiter)
    }

    fn send_request<P: Serialize + ?Sized>(
        &self,
        waiter: &Waiter,
        method: &str,
        params: &P,
    ) -> Result<(), CallError> {
        if let Some(reason) = self.0.calls.closed() {
            return Err(CallError::Closed(reason));
        }
        let message = write::request(&Id::from(waiter.id()), method, params)?;
        Ok(self.0.outbox.try_send(message)?)
    }

    /// Sends a notification now, after everything sent before.
    pub fn notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<(), CallError> {
        Ok(self
            .0
            .outbox
            .try_send(write::notification(method, params)?)?)
    }

    /// As [`call`](Self::call), but waits for room to send the request.
    pub async fn call_when_room<P: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &P,
    ) -> Result<Call, CallError> {
        let waiter = self.0.calls.register();
        let message = write::request(&Id::from(waiter.id()), method, params)?;
        self.send(message).await?;
        Ok(Call(waiter))
    }

    /// As [`notify`](Self::notify), but waits for room.
    pub async fn notify_when_room<P: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &P,
    ) -> Result<(), CallError> {
        self.send(write::notification(method, params)?).await
    }

    /// Answers what was not a request with an error, where its sender has a use for it.
    pub async fn reject(&self, id: Option<&Id>, error: &ErrorObject) -> Result<(), CallError> {
        let message = match id {
            Some(id) => write::error(id, error)?,
            None => write::error_without_id(error)?,
        };
        self.send(message).await
    }

    async fn send(&self, message: Bytes) -> Result<(), CallError> {
        let sent = self.0.outbox.send(message).await;
        sent.map_err(CallError::Closed)
    }

    /// Closes the sending direction and waits until everything queued is written or writing has failed.
    pub async fn finish(&self) {
        self.close();
        // The writing task ends by itself; if it panicked, nothing is left to wait for.
        drop(self.0.written.clone().wait_for(|done| *done).await);
    }

    /// Writes what is queued and closes the sending direction. Calls in progress may still be
    /// answered for [`PeerOptions::linger`].
    pub fn close(&self) {
        self.0.outbox.close(CloseCode::NORMAL);
    }

    /// Waits until nothing more can come in, and says why.
    pub async fn closed(&self) -> CloseReason {
        wait_closed(self.0.closed.clone()).await
    }
}

async fn wait_closed(mut closed: watch::Receiver<Option<CloseReason>>) -> CloseReason {
    match closed.wait_for(Option::is_some).await {
        Ok(reason) => reason.clone().unwrap_or(CloseReason::Local),
        Err(_) => CloseReason::Local,
    }
}

/// A request on its way. Dropping it gives up the answer, not the request.
#[derive(Debug)]
pub struct Call(Waiter);

impl Call {
    /// The id that the request was sent with.
    pub fn id(&self) -> i64 {
        self.0.id()
    }

    /// Waits at most this long for the answer.
    pub async fn within(self, limit: Duration) -> Outcome {
        self.0.within(limit).await
    }
}

impl Future for Call {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.0).poll(cx)
    }
}

/// What the other side sent of its own accord.
#[derive(Debug)]
pub enum Event {
    /// A request, with the duty to answer it.
    Request(IncomingRequest),
    /// A notification.
    Notification(Notification),
    /// A message that is not a frame; the connection goes on.
    Malformed {
        /// Why not.
        error: FrameError,
        /// The message as it came.
        message: Bytes,
    },
    /// A message over the limit, discarded; the connection goes on.
    Oversized {
        /// Its length in bytes.
        length: u64,
    },
}

/// A request of the other side.
#[derive(Debug)]
pub struct IncomingRequest {
    /// What is asked.
    pub method: String,
    /// As it came.
    pub params: Option<RawJson>,
    /// Where the answer goes.
    pub responder: Responder,
}

/// What the other side sends, in order, without answers to our calls.
#[derive(Debug)]
pub struct Inbox {
    events: queue::Receiver<Event>,
    closed: watch::Receiver<Option<CloseReason>>,
}

impl Inbox {
    /// The next event, or nothing after the end of the connection. May be cancelled without loss.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Waits until nothing more can come in, and says why.
    pub async fn closed(&self) -> CloseReason {
        wait_closed(self.closed.clone()).await
    }
}

/// The reading task.
struct Reading {
    outbox: Outbox,
    calls: Calls,
    events: queue::Sender<Event>,
    options: PeerOptions,
}

impl Reading {
    /// Reads to the end. A peer that only stopped sending may still get our answers, so the outbox
    /// stays open until its owner closes it; then it has as long as answers had to come.
    async fn run(self, mut reader: Reader, closing: watch::Sender<Option<CloseReason>>) {
        let outbox_ended = self.outbox_ended();
        tokio::pin!(outbox_ended);
        let reason = tokio::select! {
            reason = self.read(&mut reader) => reason,
            reason = &mut outbox_ended => reason,
        };
        self.calls.close(&reason);
        self.events.close();
        closing.send_replace(Some(reason.clone()));
        if matches!(reason, CloseReason::Remote) {
            outbox_ended.await;
        }
        self.outbox.abort(reason);
    }

    async fn read(&self, reader: &mut Reader) -> CloseReason {
        loop {
            let taken = match reader.next().await {
                Ok(Some(Incoming::Message(message))) => self.take(message).await,
                Ok(Some(Incoming::Oversized { length, .. })) => {
                    self.deliver(Event::Oversized { length }, 0).await
                }
                Ok(None) => Err(CloseReason::Remote),
                Err(error) => Err(CloseReason::Read(Arc::new(error))),
            };
            if let Err(reason) = taken {
                return reason;
            }
        }
    }

    async fn take(&self, message: Bytes) -> Result<(), CloseReason> {
        let length = message.len();
        let event = match Frame::parse(message.clone()) {
            Ok(Frame::Answer(answer)) => {
                let id = answer.id.clone();
                match self.calls.answer(answer) {
                    Arrival::Delivered => {}
                    Arrival::Late => tracing::debug!(%id, "answer to a call that was given up"),
                    Arrival::Unknown => tracing::warn!(%id, "answer to no call of ours"),
                }
                return Ok(());
            }
            Ok(Frame::Request(Request {
                id,
                method,
                params,
                trace: _,
            })) => {
                let responder = Responder::new(id, self.outbox.clone());
                Event::Request(IncomingRequest {
                    method,
                    params,
                    responder,
                })
            }
            Ok(Frame::Notification(notification)) => Event::Notification(notification),
            Err(error) => Event::Malformed { error, message },
        };
        self.deliver(event, length).await
    }

    /// Puts an event into the inbox, pausing the connection while it is full. An inbox that was
    /// dropped takes nothing, and a request in it is answered by its responder's drop.
    async fn deliver(&self, event: Event, length: usize) -> Result<(), CloseReason> {
        let event = match self.events.try_send(event, length) {
            Ok(()) | Err((_, Refused::Closed)) => return Ok(()),
            Err((event, Refused::Full)) => event,
        };
        let sending = self.events.send(event, length);
        tokio::pin!(sending);
        let stall = self.options.stall_timeout;
        loop {
            match tokio::time::timeout(stall, &mut sending).await {
                Ok(Ok(()) | Err(_)) => return Ok(()),
                Err(_) if self.calls.is_empty() && self.outbox.is_idle() => {}
                Err(_) => return Err(CloseReason::Stalled(stall)),
            }
        }
    }

    async fn outbox_ended(&self) -> CloseReason {
        let reason = self.outbox.closed().await;
        tokio::time::sleep(self.options.linger).await;
        reason
    }
}
