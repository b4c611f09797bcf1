//! What a handler gets: the server, the client that asks, and the reply that it owes.

use std::marker::PhantomData;
use std::sync::Arc;

use quipu_config::{LoadRequest, Snapshot};
use quipu_rpc::{CloseReason, Id, Responder};
use quipu_telemetry::SpanContext;
use quipu_wire::method::Method;

use crate::Refusal;
use crate::blocking::blocking;
use crate::hub::Client;
use crate::room::Permit;
use crate::server::Server;
use crate::telemetry::RequestSpan;

/// The server and the connection a request came on.
#[derive(Clone)]
pub(crate) struct Cx {
    pub server: Arc<Server>,
    pub client: Arc<Client>,
}

impl Cx {
    /// The configuration of the server's own directory, as it is now.
    pub async fn config(&self) -> Result<Arc<Snapshot>, Refusal> {
        let load = |server: &Arc<Server>| server.settings.config.load(&LoadRequest::default());
        let loaded = blocking(&self.server, load).await?;
        loaded.map_err(Refusal::config_unreadable)
    }
}

/// Owes the answer to one request of method `M`. Dropped without one, it answers with an internal error.
pub(crate) struct Reply<M> {
    responder: Responder,
    /// The request counts against the client's room until it is answered.
    _permit: Permit,
    /// Reported once the request is answered, if anything is.
    span: Option<RequestSpan>,
    method: PhantomData<fn() -> M>,
}

impl<M: Method> Reply<M> {
    pub fn new(responder: Responder, permit: Permit, span: Option<RequestSpan>) -> Reply<M> {
        Reply {
            responder,
            _permit: permit,
            span,
            method: PhantomData,
        }
    }

    /// The id of the request.
    pub fn id(&self) -> &Id {
        self.responder.id()
    }

    /// Where in a trace the request is.
    pub fn context(&self) -> Option<SpanContext> {
        self.span.as_ref().map(RequestSpan::context)
    }

    /// Answers. A client that is gone does not matter to the one who answers.
    pub async fn send(mut self, answer: Result<M::Result, Refusal>) {
        if let (Some(span), Err(refusal)) = (&mut self.span, &answer) {
            span.failure = Some(refusal.to_string());
        }
        let sent = match answer {
            Ok(result) => self.responder.result(&result).await,
            Err(refusal) => self.responder.error(&refusal.into()).await,
        };
        note_failure::<M>(sent);
    }

    /// Answers with what `write` adds, which must be the same JSON as the result would be; if that fails midway,
    /// with its error.
    pub async fn send_with(self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Refusal>) {
        let write = |out: &mut Vec<u8>| write(out).map_err(Into::into);
        note_failure::<M>(self.responder.result_with(write).await);
    }
}

fn note_failure<M: Method>(sent: Result<(), CloseReason>) {
    if let Err(reason) = sent {
        tracing::debug!(method = M::NAME, %reason, "client disconnected before its response");
    }
}
