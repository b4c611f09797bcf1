//! One client from its first byte to its last.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quipu_rpc::{
    Answer, CloseCode, CloseReason, Connection, ErrorObject, Excess, Frame, FrameError, Incoming,
    Limits, OnFull, Outbox, ReadError, Reader, write,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::hub::{Client, OpenGuard};
use crate::listen::{Lost, Slot};
use crate::peer::{Guest, Peer};
use crate::questions::Question;
use crate::room::Room;
use crate::{Cx, Refusal, Server, nodes, questions, router};

/// What may wait to be written to one client.
const OUTBOX: Limits = Limits {
    messages: 16 * 1024,
    bytes: 8 * 1024 * 1024,
};
/// How long requests sent before the end of input may take as if nothing had happened. Nothing is to be
/// left of the client's commands within a second.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// How long requests may take to answer after they were notified that the client leaves. Clients that end
/// the input wait a few seconds for the process to exit.
const CUT_SHORT: Duration = Duration::from_secs(1);
/// How long the client may take to read what is queued when the connection ends.
const LAST_BYTES: Duration = Duration::from_secs(1);
/// What an error says of an answer that cannot be understood, in characters.
const LONGEST_PROBLEM: usize = 500;
/// The close code for a peer that broke the websocket protocol.
const PROTOCOL_ERROR: CloseCode = CloseCode(1002);

/// Serves one client until it leaves, does not read what it is sent, or the server stops.
///
/// Requests that it sent before it left are still answered if its side that reads may be open.
pub async fn serve(server: Arc<Server>, connection: Connection, on_full: OnFull) {
    let mut session = Session::open(server, connection, on_full, Peer::InProcess);
    session.read().await;
    session.close().await;
}

/// Serves a client of a listener, who has only so long to introduce itself.
pub(crate) async fn serve_guest(server: Arc<Server>, connection: Connection, guest: Guest) {
    let mut session = Session::open(server, connection, OnFull::Disconnect, guest.peer);
    session.slot = Some(guest.slot);
    session.read().await;
    session.close().await;
}

/// A client being served.
pub(crate) struct Session {
    cx: Cx,
    peer: Peer,
    reader: Reader,
    writing: JoinHandle<CloseReason>,
    /// Its slot at the listener, if it can lose one.
    slot: Option<Slot>,
    /// Why reading ended, if not because the server stops.
    ended: Option<Ended>,
    _open: OpenGuard,
}

/// Why nothing more is read from a client.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("the client ended its input")]
    Input,
    #[error(transparent)]
    Closed(CloseReason),
    #[error(transparent)]
    Unreadable(ReadError),
    #[error(transparent)]
    Lost(Lost),
}

impl Session {
    pub fn open(
        server: Arc<Server>,
        connection: Connection,
        on_full: OnFull,
        peer: Peer,
    ) -> Session {
        let (outbox, outbox_writer) = Outbox::new(OUTBOX, on_full);
        let _open = server.hub.open();
        let writing = tokio::spawn(outbox_writer.run(connection.writer));
        let room = Room::new(Arc::clone(&server.budgets.requests));
        let client = server.hub.connect(outbox, room);
        tracing::info!(client = client.id.0, %peer, "client connected");
        let mut reader = connection.reader;
        reader.set_intake(&server.budgets.strangers);
        Session {
            cx: Cx { server, client },
            peer,
            reader,
            writing,
            slot: None,
            ended: None,
            _open,
        }
    }

    /// What waits to be written to the client.
    pub fn outbox(&self) -> Outbox {
        self.cx.client.outbox.clone()
    }

    /// Reads until the input ends, and lets what was asked be answered; or until the connection is
    /// closed for another reason.
    pub async fn read(&mut self) {
        let (cx, slot) = (&self.cx, self.slot.as_ref());
        let ended = tokio::select! {
            biased;
            reason = cx.client.outbox.closed() => Ended::Closed(reason),
            ended = read_to_end(&mut self.reader, cx, slot) => ended,
            why = lost(slot) => Ended::Lost(why),
        };
        match &ended {
            Ended::Input | Ended::Closed(_) => {}
            Ended::Unreadable(error) => refuse_the_rest(cx, error).await,
            Ended::Lost(why) => {
                let error = ErrorObject::invalid_request(format!("Not initialized: {why}"));
                answer_nobody(cx, &error).await;
                cx.client.outbox.close(CloseCode::POLICY);
            }
        }
        self.ended = Some(ended);
    }

    /// Releases what the client holds, writes what is queued for it, and ends the connection.
    pub async fn close(self) {
        let client = &self.cx.client;
        let reason = self.ended.as_ref().map(ToString::to_string);
        let reason = reason.as_deref().unwrap_or("the server stops");
        tracing::info!(client = client.id.0, peer = %self.peer, reason, "client disconnected");
        if let (Some(telemetry), Some(span)) = (self.cx.server.telemetry(), client.known_span()) {
            span.end(telemetry, self.peer.to_string());
        }
        client.leave();
        self.cx.server.disconnected(client).await;
        client.outbox.close(CloseCode::NORMAL);
        let mut writing = self.writing;
        let written = match timeout(LAST_BYTES, &mut writing).await {
            Ok(written) => written,
            Err(_) => {
                client.outbox.abort(CloseReason::Overflow);
                writing.await
            }
        };
        match written {
            Ok(CloseReason::Local) => {}
            Ok(reason) => tracing::debug!(%reason, "a connection ended"),
            Err(error) => tracing::error!(%error, "connection writer failed"),
        }
    }
}

/// Reads until the input ends, and lets what was asked be answered.
async fn read_to_end(reader: &mut Reader, cx: &Cx, slot: Option<&Slot>) -> Ended {
    let mut is_stranger = true;
    loop {
        match reader.next().await {
            Ok(Some(Incoming::Message(message))) => receive(cx, message).await,
            Ok(Some(Incoming::Oversized { length, excess })) => {
                let client = cx.client.id.0;
                tracing::warn!(client, length, reason = %excess, "message discarded");
                answer_nobody(cx, &too_much(excess)).await;
            }
            Ok(None) => {
                if reader.may_half_close() {
                    finish_requests(&cx.client).await;
                }
                return Ended::Input;
            }
            Err(error) => return Ended::Unreadable(error),
        }
        if is_stranger && cx.client.introduction().is_some() {
            is_stranger = false;
            reader.set_intake(&cx.server.budgets.clients);
            if let Some(slot) = slot {
                slot.introduce();
            }
        }
    }
}

/// Waits until the client loses its slot; those without one do not.
async fn lost(slot: Option<&Slot>) -> Lost {
    match slot {
        Some(slot) => slot.lost().await,
        None => std::future::pending().await,
    }
}

/// Ends a connection of which nothing more can be read, and says why.
async fn refuse_the_rest(cx: &Cx, error: &ReadError) {
    let code = match error {
        ReadError::Excess(excess) => {
            answer_nobody(cx, &too_much(*excess)).await;
            match excess {
                Excess::TooLong { .. } => CloseCode::TOO_BIG,
                Excess::NoRoom => CloseCode::TRY_AGAIN,
            }
        }
        ReadError::Protocol(_) => PROTOCOL_ERROR,
        ReadError::Io(_) => CloseCode::NORMAL,
    };
    cx.client.outbox.close(code);
}

fn too_much(excess: Excess) -> ErrorObject {
    match excess {
        Excess::TooLong { .. } => {
            ErrorObject::invalid_request(format!("Message too long: {excess}"))
        }
        Excess::NoRoom => Refusal::Overloaded.into(),
    }
}

/// Answers a message whose id is not known.
async fn answer_nobody(cx: &Cx, error: &ErrorObject) {
    match write::error_without_id(error) {
        Ok(message) => cx.client.send(message).await,
        Err(error) => tracing::error!(%error, "failed to serialize error"),
    }
}

/// Answers a message that is not one of the protocol.
async fn refuse(cx: &Cx, error: &FrameError) {
    let client = cx.client.id.0;
    if let FrameError::ErrorWithoutId(reason) = error {
        let code = reason.code;
        return tracing::warn!(client, code, "the client could not read a message");
    }
    tracing::error!(client, "Failed to deserialize JSONRPCMessage: {error}");
    match error.answer() {
        Some((Some(id), answer)) => router::refuse(cx, id.clone(), &answer).await,
        Some((None, answer)) => answer_nobody(cx, &answer).await,
        None => {}
    }
}

async fn receive(cx: &Cx, message: Bytes) {
    match Frame::parse(message) {
        Ok(Frame::Request(request)) => nodes::route(cx.clone(), request).await,
        Ok(Frame::Answer(answer)) => match cx.client.answers(&answer.id) {
            Some(question) => settle(cx, &question, answer).await,
            None => tracing::debug!(id = %answer.id, "answer to unknown request"),
        },
        Ok(Frame::Notification(notification)) => {
            tracing::debug!(method = notification.method, "a client notification");
        }
        Err(error) => refuse(cx, &error).await,
    }
}

/// Gives an answer to the task that asked. One that cannot be understood counts as a refusal of what was asked for; since
/// an answer has none itself, the client is told so under no id: its own requests may have the same ids as ours. The
/// problem may quote the answer, which may be secret, so the log has no part of it.
async fn settle(cx: &Cx, question: &Question, answer: Answer) {
    let method = question.method.as_str();
    let checked = answer
        .outcome
        .as_ref()
        .map(|it| questions::check(method, it));
    let problem = checked.ok().and_then(Result::err);
    let id = answer.id;
    (question.asker)(question.id, answer.outcome);
    if let Some(problem) = problem {
        let client = cx.client.id.0;
        tracing::warn!(client, %id, method, "answer rejected");
        let problem: String = problem.chars().take(LONGEST_PROBLEM).collect();
        let text = format!(
            "Invalid answer to request {id} ({method}): {problem}. It counts as a refusal."
        );
        answer_nobody(cx, &ErrorObject::invalid_request(text)).await;
    }
}

/// Lets the requests under way be answered; those that would take long are cut short.
async fn finish_requests(client: &Client) {
    if timeout(LAST_ANSWERS, client.room.emptied()).await.is_ok() {
        return;
    }
    client.leave();
    if timeout(CUT_SHORT, client.room.emptied()).await.is_err() {
        tracing::warn!("client disconnected with unanswered requests");
    }
}
