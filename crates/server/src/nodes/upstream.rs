//! The connection of one client to another node: its requests go there, and what that node says of threads comes back.
//!
//! Answers, notifications and their numbers are passed on as they are. Questions get ids of this server, since the client
//! has questions of several nodes. If the connection is lost, so is that of the client: it connects again, to any node, and
//! resumes after the last event it saw.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use quipu_postgres::Owner;
use quipu_rpc::websocket::ConnectError;
use quipu_rpc::{
    Answer, CloseCode, Connection, Frame, Id, Incoming, Limits, Notification, OnFull, Outbox,
    RawJson, Reader, Request, websocket, write,
};
use quipu_wire::method::{Notification as _, event};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::timeout;
use uuid::Uuid;

use crate::budgets::MESSAGE_LIMIT;
use crate::hub::Client;
use crate::questions::{Outcome, Question, QuestionId};
use crate::room::Permit;
use crate::{Cx, Refusal, Server};

/// How long another node may take to accept a connection and to answer `initialize`.
const CONNECT: Duration = Duration::from_secs(5);
/// What may wait to be written to another node for one client.
const OUTBOX: Limits = Limits {
    messages: 1024,
    bytes: 8 << 20,
};
/// The id of `initialize`; no request of the client is under way yet.
const HELLO: Id = Id::Integer(-1);

/// A connection to another node.
pub(super) struct Upstream {
    node: Uuid,
    outbox: Outbox,
    /// The requests that were passed on and not answered yet.
    pending: Mutex<HashMap<Id, Permit>>,
    /// The questions of the node, by its ids.
    questions: Mutex<HashMap<Id, QuestionId>>,
}

/// Why there is no connection to another node.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unopened {
    /// Nothing answers there as a node should.
    #[error("{0}")]
    Gone(String),
    /// It does not accept this node.
    #[error("it refuses this node: {0}; check `node_secret` on both")]
    Refused(String),
}

/// What says that a notification is about a thread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    thread_id: Option<IgnoredAny>,
    thread: Option<IgnoredAny>,
}

impl Upstream {
    /// Connects for a client, under the name that it gave itself.
    pub async fn open(
        cx: &Cx,
        owner: &Owner,
        secret: Option<&str>,
    ) -> Result<Arc<Upstream>, Unopened> {
        let bearer = secret.map(|secret| format!("Bearer {secret}"));
        let headers: Vec<(&str, &str)> = bearer
            .iter()
            .map(|it| ("authorization", it.as_str()))
            .collect();
        let connection = websocket::connect(&owner.address, &headers, MESSAGE_LIMIT, CONNECT).await;
        let connection = connection.map_err(|error| match error {
            ConnectError::Refused { .. } => Unopened::Refused(error.to_string()),
            error => Unopened::Gone(error.to_string()),
        })?;
        let (outbox, writer) = Outbox::new(OUTBOX, OnFull::Wait);
        let Connection {
            mut reader,
            writer: bytes,
            ..
        } = connection;
        tokio::spawn(writer.run(bytes));
        let hello = cx.client.introduction().and_then(|it| it.hello.clone());
        let hello = hello.unwrap_or_else(|| serde_json::json!({}).into());
        let introduced = introduce(&outbox, &mut reader, &hello);
        match timeout(CONNECT, introduced).await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => return Err(Unopened::Gone(why)),
            Err(_) => return Err(Unopened::Gone("it does not answer".to_owned())),
        }
        let upstream = Arc::new(Upstream {
            node: owner.node,
            outbox,
            pending: Mutex::default(),
            questions: Mutex::default(),
        });
        tokio::spawn(Arc::clone(&upstream).serve(
            Arc::clone(&cx.server),
            Arc::clone(&cx.client),
            reader,
        ));
        Ok(upstream)
    }

    /// Passes a request of the client on.
    pub async fn pass_on(&self, cx: &Cx, mut request: Request) -> Result<(), Refusal> {
        let size = request.params.as_ref().map_or(0, |it| it.as_bytes().len());
        let permit = cx.client.room.take(size).ok_or(Refusal::Overloaded)?;
        request.trace = request.trace.or_else(|| trace(cx));
        let id = request.id.clone();
        let message = write::frame(&Frame::Request(request));
        let message = message.map_err(|error| Refusal::internal(error.to_string()))?;
        self.pending.lock().insert(id, permit);
        // If this fails, the connection of the client is about to be closed.
        self.outbox.send(message).await.ok();
        Ok(())
    }

    /// Passes on what the node says, until the client has left or the node is gone.
    async fn serve(self: Arc<Self>, server: Arc<Server>, client: Arc<Client>, mut reader: Reader) {
        loop {
            let message = tokio::select! {
                () = client.left() => break,
                message = reader.next() => message,
            };
            let Ok(Some(Incoming::Message(message))) = message else {
                tracing::warn!(client = client.id.0, "connection to another node was lost");
                client.outbox.close(CloseCode::TRY_AGAIN);
                break;
            };
            match Frame::parse(message.clone()) {
                Ok(Frame::Answer(answer)) => {
                    client.send(message).await;
                    self.pending.lock().remove(&answer.id);
                }
                Ok(Frame::Notification(notification)) => {
                    if let Some(message) = self.notification(&notification, message) {
                        client.send(message).await;
                    }
                }
                Ok(Frame::Request(request)) => self.ask(&server, &client, &request).await,
                Err(error) => tracing::warn!(%error, "invalid message of another node"),
            }
        }
        self.outbox.close(CloseCode::NORMAL);
        if let Some(nodes) = server.nodes.as_ref() {
            nodes.forget(client.id, self.node);
        }
    }

    /// A notification as the client is to get it. What is not about a thread this server says by itself.
    fn notification(&self, notification: &Notification, message: Bytes) -> Option<Bytes> {
        let params = notification.params.as_ref()?;
        let about: About = serde_json::from_slice(params.as_bytes()).ok()?;
        if about.thread_id.is_none() && about.thread.is_none() {
            return None;
        }
        if notification.method != event::ServerRequestResolved::NAME {
            return Some(message);
        }
        let mut value: serde_json::Value = serde_json::from_slice(&message).ok()?;
        let id: Id = serde_json::from_value(value["params"]["requestId"].clone()).ok()?;
        let known = self.questions.lock().remove(&id)?;
        value["params"]["requestId"] = known.get().into();
        Some(serde_json::to_vec(&value).ok()?.into())
    }

    /// Asks the client what the node asks; the answer goes back to the node.
    async fn ask(self: &Arc<Self>, server: &Server, client: &Client, request: &Request) {
        let id = server.question_ids.next();
        self.questions.lock().insert(request.id.clone(), id);
        let (upstream, theirs) = (Arc::clone(self), request.id.clone());
        let asker = move |_: QuestionId, outcome: Outcome| upstream.answer(&theirs, outcome);
        let question = Question {
            id,
            method: request.method.clone(),
            asker: Arc::new(asker),
        };
        let asked = Request {
            id: Id::Integer(id.get()),
            ..request.clone()
        };
        match write::frame(&Frame::Request(asked)) {
            Ok(message) => client.ask(question, message).await,
            Err(error) => tracing::error!(%error, "failed to serialize question"),
        }
    }

    fn answer(&self, id: &Id, outcome: Outcome) {
        let id = id.clone();
        let sent = write::frame(&Frame::Answer(Answer { id, outcome }));
        let sent = sent.map(|message| self.outbox.try_send(message));
        if !matches!(sent, Ok(Ok(()))) {
            tracing::error!("an answer for another node was not sent");
            self.outbox.close(CloseCode::TRY_AGAIN);
        }
    }
}

/// The trace of a request whose client names none: it is part of its connection to this server.
fn trace(cx: &Cx) -> Option<RawJson> {
    cx.server.telemetry()?;
    let traceparent = cx.client.span().context.traceparent();
    Some(serde_json::json!({ "traceparent": traceparent }).into())
}

/// Says who the client is, and waits until that is accepted.
async fn introduce(outbox: &Outbox, reader: &mut Reader, hello: &RawJson) -> Result<(), String> {
    let encoded = |message: serde_json::Result<Bytes>| message.map_err(|error| error.to_string());
    let request = encoded(write::request(&HELLO, "initialize", hello))?;
    let closed = |reason: quipu_rpc::CloseReason| reason.to_string();
    outbox.send(request).await.map_err(closed)?;
    loop {
        let message = reader.next().await.map_err(|error| error.to_string())?;
        let Some(Incoming::Message(message)) = message else {
            return Err("it closed the connection".to_owned());
        };
        if let Ok(Frame::Answer(Answer { id: HELLO, outcome })) = Frame::parse(message) {
            outcome.map_err(|error| error.message)?;
            let ready = encoded(write::notification("initialized", &write::NoParams {}))?;
            return outbox.send(ready).await.map_err(closed);
        }
    }
}
