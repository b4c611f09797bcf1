//! The connection to the editor: every request is answered by a task of its own, so that none waits for another.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_client::Connect;
use quipu_rpc::{
    Connection, ErrorObject, Event, Id, IncomingRequest, Notification, Peer, PeerOptions, RawJson,
    Responder, codes,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::agent::Agent;
use crate::editor::Editor;
use crate::error::{Result, invalid};
use crate::schema::SessionRequest;

/// Requests that are answered at the same time; more are refused.
const MOST_REQUESTS: usize = 256;
/// How long running requests may take to end after the editor is gone.
const GRACE: Duration = Duration::from_secs(5);

/// Serves one editor until its input ends or `stop` does. Then running turns are interrupted and the connection to the
/// server is closed.
///
/// `version` is what the editor learns as the agent's version. What users choose for their sessions is kept in `home`.
pub async fn serve(
    connect: Connect,
    version: &'static str,
    home: &Path,
    connection: Connection,
    stop: impl Future<Output = ()>,
) {
    let (peer, mut inbox) = Peer::start(connection.with_version(), PeerOptions::default());
    let agent = Arc::new(Agent::new(
        connect,
        version,
        home,
        Editor::new(peer.clone()),
    ));
    let mut requests = JoinSet::new();
    tokio::pin!(stop);
    loop {
        let event = tokio::select! {
            event = inbox.next() => event,
            () = &mut stop => None,
        };
        let Some(event) = event else { break };
        while requests.try_join_next().is_some() {}
        match event {
            Event::Request(request) if requests.len() < MOST_REQUESTS => {
                take(&agent, request, &mut requests).await;
            }
            Event::Request(request) => {
                let text = format!("{MOST_REQUESTS} requests are running; wait for one to end");
                let error = ErrorObject::new(codes::OVERLOADED, text);
                answer(request.responder, Err(error)).await;
            }
            Event::Notification(notification) => notified(&agent, &notification),
            Event::Malformed { error, .. } => {
                if let Some((id, error)) = error.answer() {
                    reject(&peer, id, &error).await;
                }
            }
            Event::Oversized { length } => {
                let text = format!("Invalid message: {length} bytes are too many");
                reject(&peer, None, &ErrorObject::invalid_request(text)).await;
            }
        }
    }
    agent.cancel_all();
    let ended = async { while requests.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, ended).await.is_err() {
        tracing::warn!("requests did not end after the editor was gone");
        requests.shutdown().await;
    }
    agent.close().await;
    if tokio::time::timeout(GRACE, peer.finish()).await.is_err() {
        tracing::debug!("the editor did not read its last messages");
    }
}

async fn reject(peer: &Peer, id: Option<&Id>, error: &ErrorObject) {
    if let Err(error) = peer.reject(id, error).await {
        tracing::debug!(%error, "error not sent");
    }
}

async fn answer(responder: Responder, answer: Result<RawJson>) {
    let sent = match &answer {
        Ok(result) => responder.result(result).await,
        Err(error) => responder.error(error).await,
    };
    if let Err(reason) = sent {
        tracing::debug!(%reason, "answer not sent");
    }
}

/// Begins to answer a request. What later messages depend on is done before the next one is read.
async fn take(agent: &Arc<Agent>, request: IncomingRequest, requests: &mut JoinSet<()>) {
    let IncomingRequest {
        method,
        params,
        responder,
    } = request;
    let params = params.unwrap_or_else(|| RawJson::from(serde_json::json!({})));
    let agent = Arc::clone(agent);
    if method == "initialize" {
        let done = with(&params, async |it| Ok(agent.initialize(it))).await;
        return answer(responder, done).await;
    }
    if !agent.is_initialized() {
        let error =
            ErrorObject::invalid_request(format!("`initialize` must come before `{method}`"));
        return answer(responder, Err(error)).await;
    }
    match method.as_str() {
        "session/set_mode" => {
            let done = with(&params, async |it| agent.set_mode(it).await).await;
            answer(responder, done).await;
        }
        "session/set_config_option" => {
            let done = with(&params, async |it| agent.set_option(it).await).await;
            answer(responder, done).await;
        }
        "session/prompt" => {
            let cancellation = agent.expect_prompt(responder.id(), &params);
            requests.spawn(async move {
                let run = async |it| agent.prompt(it, cancellation).await;
                let done = with(&params, run).await;
                agent.forget_prompt(responder.id());
                answer(responder, done).await;
            });
        }
        _ => {
            requests.spawn(async move {
                let done = other(&agent, &method, &params).await;
                let opened = opened(&method, &params, done.as_ref().ok());
                answer(responder, done).await;
                // An editor knows the session only now.
                if let Some(id) = opened {
                    agent.announce(&id).await;
                }
            });
        }
    }
}

/// The session that a request opened.
fn opened(method: &str, params: &RawJson, result: Option<&RawJson>) -> Option<String> {
    let source = match method {
        "session/new" => result?,
        "session/load" | "session/resume" => result.map(|_| params)?,
        _ => return None,
    };
    source.decode().ok().map(|it: SessionRequest| it.session_id)
}

async fn other(agent: &Arc<Agent>, method: &str, params: &RawJson) -> Result<RawJson> {
    match method {
        "authenticate" => with(params, async |it| agent.authenticate(it).await).await,
        "logout" => with(params, async |it| agent.log_out(it).await).await,
        "session/new" => with(params, async |it| agent.new_session(it).await).await,
        "session/load" => with(params, async |it| agent.load_session(it, true).await).await,
        "session/resume" => with(params, async |it| agent.load_session(it, false).await).await,
        "session/list" => with(params, async |it| agent.list_sessions(it).await).await,
        "session/close" => with(params, async |it| agent.close_session(it).await).await,
        "session/delete" => with(params, async |it| agent.delete_session(it).await).await,
        other => Err(ErrorObject::new(
            codes::METHOD_NOT_FOUND,
            format!("there is no method `{other}`"),
        )),
    }
}

/// Reads the params, does the work and writes the result.
async fn with<P: DeserializeOwned, R: Serialize>(
    params: &RawJson,
    work: impl AsyncFnOnce(P) -> Result<R>,
) -> Result<RawJson> {
    let params = params
        .decode()
        .map_err(|error| invalid(format!("invalid params: {error}")))?;
    let result = work(params).await?;
    RawJson::encode(&result)
        .map_err(|error| ErrorObject::internal(format!("the result cannot be written: {error}")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: Id,
}

fn notified(agent: &Agent, notification: &Notification) {
    let Some(params) = &notification.params else {
        return;
    };
    match notification.method.as_str() {
        "session/cancel" => match params.decode() {
            Ok(SessionRequest { session_id }) => agent.cancel(&session_id),
            Err(error) => tracing::warn!(%error, "cancellation ignored"),
        },
        "$/cancel_request" => match params.decode() {
            Ok(CancelRequest { request_id }) => agent.cancel_prompt(&request_id),
            Err(error) => tracing::warn!(%error, "cancellation ignored"),
        },
        other => tracing::debug!(method = other, "notification ignored"),
    }
}
