//! One client from its first byte to its last.

use std::sync::Arc;

use quipu_rpc::{CloseCode, CloseReason, Connection, Frame, Incoming, Limits, OnFull, Outbox};

use crate::hub::{Client, MAX_UNANSWERED};
use crate::router;
use crate::{Cx, Server};

/// What may wait to be written to one client.
const OUTBOX: Limits = Limits {
    messages: 16 * 1024,
    bytes: 8 * 1024 * 1024,
};

/// Serves one client until it leaves, does not read what it is sent, or the server stops.
///
/// Requests it sent before leaving are still answered, within bounds, if its side that reads is open.
pub async fn serve(server: Arc<Server>, connection: Connection, on_full: OnFull) {
    let Connection { mut reader, writer } = connection;
    let (outbox, outbox_writer) = Outbox::new(OUTBOX, on_full);
    let writing = tokio::spawn(outbox_writer.run(writer));
    let client = server.hub.connect(outbox.clone());
    let cx = Cx {
        server: Arc::clone(&server),
        client: Arc::clone(&client),
    };
    loop {
        let incoming = tokio::select! {
            biased;
            reason = outbox.closed() => {
                tracing::debug!(%reason, "a connection was closed");
                break;
            }
            incoming = reader.next() => incoming,
        };
        match incoming {
            Ok(Some(Incoming::Message(message))) => receive(&cx, message).await,
            Ok(Some(Incoming::Oversized { length })) => {
                tracing::error!(length, "a message over the size limit was discarded");
            }
            Ok(None) => {
                finish_requests(&server, &client).await;
                break;
            }
            Err(error) => {
                tracing::error!(%error, "reading from a client failed");
                break;
            }
        }
    }
    server.disconnected(&client).await;
    outbox.close(CloseCode::NORMAL);
    drop((cx, client, outbox));
    match writing.await {
        Ok(CloseReason::Local) => {}
        Ok(reason) => tracing::debug!(%reason, "a connection ended"),
        Err(error) => tracing::error!(%error, "the writer of a connection failed"),
    }
}

async fn receive(cx: &Cx, message: bytes::Bytes) {
    match Frame::parse(message) {
        Ok(Frame::Request(request)) => router::route(cx.clone(), request).await,
        Ok(Frame::Answer(answer)) => cx.server.questions.answer(answer),
        Ok(Frame::Notification(notification)) => {
            tracing::debug!(method = notification.method, "a client notification");
        }
        Err(error) => tracing::error!("Failed to deserialize JSONRPCMessage: {error}"),
    }
}

/// Lets the requests under way be answered; those that wait for something else are cut short.
async fn finish_requests(server: &Server, client: &Client) {
    let answered = client.room.acquire_many(MAX_UNANSWERED);
    if tokio::time::timeout(server.settings.drain, answered)
        .await
        .is_err()
    {
        tracing::warn!("a client left with requests that could not be answered in time");
    }
}
