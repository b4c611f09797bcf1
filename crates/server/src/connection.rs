//! One client from its first byte to its last.

use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::{
    CloseCode, CloseReason, Connection, Frame, Incoming, Limits, OnFull, Outbox, ReadError, Reader,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::hub::{Client, OpenGuard};
use crate::{Cx, Server, router};

/// What may wait to be written to one client.
const OUTBOX: Limits = Limits {
    messages: 16 * 1024,
    bytes: 8 * 1024 * 1024,
};
/// How long requests sent before the end of input may take as if nothing had happened. Nothing is to be
/// left of the client's commands within a second.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// How long requests may take to answer after they were told that the client leaves. Clients that end
/// the input wait a few seconds for the process to exit.
const CUT_SHORT: Duration = Duration::from_secs(1);
/// How long the client may take to read what is queued when the connection ends.
const LAST_BYTES: Duration = Duration::from_secs(1);
/// The close code for a peer that broke the websocket protocol.
const PROTOCOL_ERROR: CloseCode = CloseCode(1002);

/// Serves one client until it leaves, does not read what it is sent, or the server stops.
///
/// Requests that it sent before it left are still answered if its side that reads may be open.
pub async fn serve(server: Arc<Server>, connection: Connection, on_full: OnFull) {
    let mut session = Session::open(server, connection, on_full);
    session.read().await;
    session.close().await;
}

/// A client being served.
pub(crate) struct Session {
    cx: Cx,
    reader: Reader,
    writing: JoinHandle<CloseReason>,
    _open: OpenGuard,
}

impl Session {
    pub fn open(server: Arc<Server>, connection: Connection, on_full: OnFull) -> Session {
        let (outbox, outbox_writer) = Outbox::new(OUTBOX, on_full);
        let _open = server.hub.open();
        let writing = tokio::spawn(outbox_writer.run(connection.writer));
        let client = server.hub.connect(outbox);
        Session {
            cx: Cx { server, client },
            reader: connection.reader,
            writing,
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
        let outbox = self.cx.client.outbox.clone();
        tokio::select! {
            biased;
            reason = outbox.closed() => tracing::debug!(%reason, "a connection was closed"),
            () = self.read_to_end() => {}
        }
    }

    async fn read_to_end(&mut self) {
        loop {
            match self.reader.next().await {
                Ok(Some(Incoming::Message(message))) => receive(&self.cx, message).await,
                Ok(Some(Incoming::Oversized { length })) => {
                    tracing::error!(length, "a message over the size limit was discarded");
                }
                Ok(None) if self.reader.may_half_close() => {
                    return finish_requests(&self.cx.client).await;
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::error!(%error, "reading from a client failed");
                    return self.cx.client.outbox.close(close_code(&error));
                }
            }
        }
    }

    /// Releases what the client holds, writes what is queued for it, and ends the connection.
    pub async fn close(self) {
        let client = &self.cx.client;
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
            Err(error) => tracing::error!(%error, "the writer of a connection failed"),
        }
    }
}

async fn receive(cx: &Cx, message: bytes::Bytes) {
    match Frame::parse(message) {
        Ok(Frame::Request(request)) => router::route(cx.clone(), request).await,
        Ok(Frame::Answer(answer)) if cx.client.answers(&answer.id) => {
            cx.server.questions.answer(answer);
        }
        Ok(Frame::Answer(answer)) => {
            tracing::debug!(id = %answer.id, "an answer to what was not asked");
        }
        Ok(Frame::Notification(notification)) => {
            tracing::debug!(method = notification.method, "a client notification");
        }
        Err(error) => tracing::error!("Failed to deserialize JSONRPCMessage: {error}"),
    }
}

/// Lets the requests under way be answered; those that would take long are cut short.
async fn finish_requests(client: &Client) {
    if timeout(LAST_ANSWERS, client.room.emptied()).await.is_ok() {
        return;
    }
    client.leave();
    if timeout(CUT_SHORT, client.room.emptied()).await.is_err() {
        tracing::warn!("a client left with requests that could not be answered in time");
    }
}

fn close_code(error: &ReadError) -> CloseCode {
    match error {
        ReadError::TooLong { .. } => CloseCode::TOO_BIG,
        ReadError::Protocol(_) => PROTOCOL_ERROR,
        ReadError::Io(_) => CloseCode::NORMAL,
    }
}
