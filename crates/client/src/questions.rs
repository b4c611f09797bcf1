//! The server's questions, each answered in a task of its own, so that the connection goes on while
//! somebody thinks. Whatever becomes of the handler, the server gets an answer.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use quipu_rpc::{ErrorObject, Id, IncomingRequest, RawJson, Responder, codes};
use quipu_wire::method::SERVER_REQUESTS;
use quipu_wire::{Json, ServerRequest, ServerRequestResolvedNotification};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::handler::{Answers, Defaults};
use crate::hub::Hub;
use crate::{event, lenient};

/// Questions that are thought about at the same time; more are refused.
const MOST: usize = 1024;

/// The questions of one connection. Dropping it drops their handlers' futures.
pub(crate) struct Questions {
    hub: Arc<Hub>,
    handler: Arc<dyn Answers>,
    limit: Option<Duration>,
    tasks: JoinSet<()>,
    open: HashMap<Id, oneshot::Sender<()>>,
}

impl Questions {
    pub fn new(hub: Arc<Hub>, handler: Arc<dyn Answers>, limit: Option<Duration>) -> Questions {
        Questions {
            hub,
            handler,
            limit,
            tasks: JoinSet::new(),
            open: HashMap::new(),
        }
    }

    /// Begins to answer.
    pub fn ask(&mut self, request: IncomingRequest) {
        self.forget_answered();
        let IncomingRequest {
            method,
            params,
            responder,
        } = request;
        let is_refused = self.tasks.len() >= MOST;
        let guard = self.hub.question(params.as_ref());
        let handler = Arc::clone(&self.handler);
        let limit = self.limit;
        let id = responder.id().clone();
        let (settle, settled) = oneshot::channel();
        self.open.insert(id, settle);
        self.tasks.spawn(async move {
            let thinking = async {
                match is_refused {
                    true => Err(ErrorObject::new(
                        codes::OVERLOADED,
                        "this client answers too many questions at once",
                    )),
                    false => think(&*handler, &method, &event::json(params.as_ref()), limit).await,
                }
            };
            tokio::select! {
                answer = thinking => reply(responder, answer).await,
                Ok(()) = settled => responder.withdraw(),
            }
            drop(guard);
        });
    }

    /// Stops thinking about a question that needs no answer any more.
    pub fn resolved(&mut self, params: Option<&RawJson>) {
        let resolved = serde_json::from_str(event::text(params));
        let Ok(ServerRequestResolvedNotification { request_id, .. }) = resolved else {
            return;
        };
        let id = match request_id {
            quipu_wire::RequestId::String(id) => Id::String(id),
            quipu_wire::RequestId::Integer(id) => Id::Integer(id),
        };
        if let Some(settle) = self.open.remove(&id) {
            // One that was answered just now needs no word.
            settle.send(()).ok();
        }
    }

    fn forget_answered(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.open.retain(|_, settle| !settle.is_closed());
    }
}

/// A question as this version understands it.
fn read(method: &str, params: &str) -> Result<ServerRequest, ErrorObject> {
    let lenient = |_| {
        let ty = lenient::params_of(SERVER_REQUESTS, method);
        let filled = lenient::filled(params, ty).unwrap_or_default();
        ServerRequest::decode(method, &filled.to_string())
    };
    let read = ServerRequest::decode(method, params).or_else(lenient);
    read.map_err(|error| {
        ErrorObject::invalid_params(format!("this client cannot read `{method}`: {error}"))
    })
}

/// The handler's answer, or the safe default if it panics or takes too long.
async fn think(
    handler: &dyn Answers,
    method: &str,
    params: &Json,
    limit: Option<Duration>,
) -> Result<Json, ErrorObject> {
    let thinking = AssertUnwindSafe(async {
        match handler.intercept(method, params).await {
            Some(answer) => answer,
            None => handler.answer(read(method, params.get())?).await,
        }
    });
    let thinking = thinking.catch_unwind();
    let thought = match limit {
        Some(limit) => tokio::time::timeout(limit, thinking).await,
        None => Ok(thinking.await),
    };
    match thought {
        Ok(Ok(answer)) => return answer,
        Ok(Err(_)) => tracing::error!(method, "a handler panicked; the default is answered"),
        Err(_) => tracing::warn!(method, "a handler took too long; the default is answered"),
    }
    Defaults.answer(read(method, params.get())?).await
}

async fn reply(responder: Responder, answer: Result<Json, ErrorObject>) {
    let sent = match &answer {
        Ok(result) => responder.result(result).await,
        Err(error) => responder.error(error).await,
    };
    if let Err(reason) = sent {
        tracing::debug!(%reason, "nobody is left to answer");
    }
}
