//! A server in the test's hands, for what a good server does not do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_adapter::{Adapter, Server};
use quipu_client::{Client, Options};
use quipu_rpc::{Connection, Limits};
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

/// What a pair of connected ends holds.
const LIMITS: Limits = Limits {
    messages: 1024,
    bytes: 16 << 20,
};

/// The steps of an evaluation as a server sees them.
pub const STEPS: [&str; 6] = ["initialize", "login", "thread", "turn", "tool", "end"];

/// What the server does when it comes to a step.
#[derive(Clone, Copy, PartialEq)]
pub enum Then {
    Leave,
    /// It says no more, but obeys an interrupt.
    Stall,
    /// It says no more, whatever it is asked.
    Ignore,
    /// It answers the request of the step with an error.
    Refuse,
}

/// An adapter whose server plays its part until it comes to a step. How often it was connected to is counted.
pub fn adapter(step: &'static str, then: Then) -> (Adapter, Arc<AtomicUsize>) {
    let (server, connections) = server(step, then);
    (Adapter::new(server), connections)
}

/// The server of such an adapter.
pub fn server(step: &'static str, then: Then) -> (Server, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = Server::with(move |bridge| {
        counted.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = Connection::pair(LIMITS);
        tokio::spawn(play(Raw::new(theirs), step, then));
        Client::connect(Options::connection(ours).handler(bridge))
    });
    (server, connections)
}

/// An adapter whose server calls a tool and disconnects while that runs, on demand.
pub fn leaving(when: Arc<Notify>) -> Adapter {
    Adapter::new(Server::with(move |bridge| {
        let (ours, theirs) = Connection::pair(LIMITS);
        let when = Arc::clone(&when);
        tokio::spawn(async move {
            let mut peer = Raw::new(theirs);
            while let Some(message) = peer.next().await {
                let Some(step) = message["method"].as_str().and_then(step_of) else {
                    continue;
                };
                reply(&mut peer, step, &message).await;
                if step == "turn" {
                    call_tool(&mut peer).await;
                    return when.notified().await;
                }
            }
        });
        Client::connect(Options::connection(ours).handler(bridge))
    }))
}

/// An adapter whose server does not name what it starts: threads, or turns.
pub fn nameless(what: &'static str) -> Adapter {
    Adapter::new(Server::with(move |bridge| {
        let (ours, theirs) = Connection::pair(LIMITS);
        tokio::spawn(async move {
            let mut peer = Raw::new(theirs);
            while let Some(message) = peer.next().await {
                let Some(step) = message["method"].as_str().and_then(step_of) else {
                    continue;
                };
                let mut result = result_of(step);
                if step == what {
                    result[what]["id"] = json!("");
                }
                answer(&mut peer, &message, result).await;
            }
        });
        Client::connect(Options::connection(ours).handler(bridge))
    }))
}

/// An adapter whose server sends these messages in its turn, one after the other, and awaits an answer to each
/// that has an id. All that it reads is kept.
pub fn sending(messages: Vec<Value>) -> (Adapter, Heard) {
    let heard = Heard::default();
    let kept = heard.clone();
    let server = Server::options(move || {
        let (ours, theirs) = Connection::pair(LIMITS);
        tokio::spawn(send_all(Raw::new(theirs), messages.clone(), kept.clone()));
        Options::connection(ours)
    });
    (Adapter::new(server), heard)
}

/// What a server has read.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Vec<Value>>>);

impl Heard {
    /// The params of a request.
    pub fn params(&self, method: &str) -> Value {
        let heard = self.0.lock().unwrap();
        let found = heard.iter().find(|it| it["method"] == method);
        found.map(|it| it["params"].clone()).unwrap()
    }

    /// The answer to a question.
    pub fn answer(&self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let heard = self.0.lock().unwrap();
        let found = heard
            .iter()
            .find(|it| it["id"] == id && it.get("method").is_none());
        found.cloned().unwrap()
    }

    /// All that was read so far, in order.
    pub fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    /// The methods of all that was read so far, in order.
    pub fn methods(&self) -> Vec<String> {
        let heard = self.0.lock().unwrap();
        let method = |it: &Value| it["method"].as_str().map(str::to_owned);
        heard.iter().filter_map(method).collect()
    }
}

async fn send_all(mut peer: Raw, messages: Vec<Value>, heard: Heard) {
    while let Some(message) = peer.next().await {
        heard.0.lock().unwrap().push(message.clone());
        let Some(step) = message["method"].as_str().and_then(step_of) else {
            continue;
        };
        reply(&mut peer, step, &message).await;
        if step != "turn" {
            continue;
        }
        for message in &messages {
            peer.send([message.to_string()]).await;
            while message.get("id").is_some() {
                let Some(read) = peer.next().await else {
                    return;
                };
                heard.0.lock().unwrap().push(read.clone());
                if read["id"] == message["id"] {
                    break;
                }
            }
        }
        complete(&mut peer, "completed").await;
    }
}

/// A pooled adapter whose server plays its whole part until it is told to fall silent; the next one does not.
pub fn falling_silent() -> (Adapter, Arc<AtomicBool>, Arc<AtomicUsize>) {
    let (is_silent, connections) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let (silence, counted) = (Arc::clone(&is_silent), Arc::clone(&connections));
    let server = Server::with(move |bridge| {
        let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        let silence = Arc::clone(&silence);
        let (ours, theirs) = Connection::pair(LIMITS);
        tokio::spawn(async move {
            let mut peer = Raw::new(theirs);
            while let Some(message) = peer.next().await {
                if is_first && silence.load(Ordering::Relaxed) {
                    continue;
                }
                match message["method"].as_str().and_then(step_of) {
                    Some(step) => reply(&mut peer, step, &message).await,
                    None if message.get("id").is_some() => refuse(&mut peer, &message).await,
                    None => continue,
                }
                if message["method"] == "turn/start" {
                    complete(&mut peer, "completed").await;
                }
            }
        });
        Client::connect(Options::connection(ours).handler(bridge))
    });
    (Adapter::new(server.pooled()), is_silent, connections)
}

/// The step that a request belongs to.
fn step_of(method: &str) -> Option<&'static str> {
    match method {
        "initialize" => Some("initialize"),
        "account/login/start" => Some("login"),
        "thread/start" => Some("thread"),
        "turn/start" => Some("turn"),
        _ => None,
    }
}

/// Answers the request of a step.
async fn reply(peer: &mut Raw, step: &str, request: &Value) {
    answer(peer, request, result_of(step)).await;
}

fn result_of(step: &str) -> Value {
    match step {
        "initialize" => json!({ "userAgent": "peer/0.118.0 (test)" }),
        "login" => json!({ "type": "apiKey" }),
        "thread" => {
            json!({ "thread": { "id": "t" }, "model": "m", "sandbox": { "type": "dangerFullAccess" } })
        }
        _ => json!({ "turn": { "id": "u", "status": "inProgress", "items": [] } }),
    }
}

async fn refuse(peer: &mut Raw, request: &Value) {
    let error = json!({ "code": -32601, "message": "not known here" });
    peer.send([json!({ "id": request["id"], "error": error }).to_string()])
        .await;
}

async fn play(mut peer: Raw, last: &'static str, then: Then) {
    let mut stalled = false;
    let is_last = |step: &str| step == last;
    while let Some(message) = next(&mut peer).await {
        let step = match message["method"].as_str() {
            Some("turn/interrupt") if then != Then::Ignore => {
                answer(&mut peer, &message, json!({})).await;
                complete(&mut peer, "interrupted").await;
                continue;
            }
            // The answer to the tool call.
            None => "end",
            Some(method) => match step_of(method) {
                Some(step) => step,
                None if method == "thread/loaded/list" => {
                    refuse(&mut peer, &message).await;
                    continue;
                }
                None => continue,
            },
        };
        if is_last(step) || stalled {
            match then {
                Then::Leave => return,
                Then::Refuse => refuse(&mut peer, &message).await,
                Then::Stall | Then::Ignore => stalled = true,
            }
            continue;
        }
        match step {
            "initialize" | "login" | "thread" => reply(&mut peer, step, &message).await,
            "turn" => {
                reply(&mut peer, step, &message).await;
                if is_last("tool") {
                    match then {
                        Then::Leave => return,
                        _ => continue,
                    }
                }
                call_tool(&mut peer).await;
            }
            _ => {
                let delta =
                    json!({ "threadId": "t", "turnId": "u", "itemId": "m", "delta": "half " });
                notify(&mut peer, "item/agentMessage/delta", delta.clone()).await;
                notify(&mut peer, "item/agentMessage/delta", delta).await;
                complete(&mut peer, "completed").await;
            }
        }
    }
}

/// The next message, however long it takes: where time passes by itself, evaluations take hours.
async fn next(peer: &mut Raw) -> Option<Value> {
    loop {
        if let Ok(message) = timeout(Duration::from_secs(10), peer.next()).await {
            return message;
        }
    }
}

async fn call_tool(peer: &mut Raw) {
    let params =
        json!({ "threadId": "t", "turnId": "u", "callId": "c", "tool": "act", "arguments": "{}" });
    let question = json!({ "id": "q", "method": "item/tool/call", "params": params });
    peer.send([question.to_string()]).await;
}

async fn answer(peer: &mut Raw, request: &Value, result: Value) {
    peer.send([json!({ "id": request["id"], "result": result }).to_string()])
        .await;
}

async fn notify(peer: &mut Raw, method: &str, params: Value) {
    peer.send([json!({ "method": method, "params": params }).to_string()])
        .await;
}

async fn complete(peer: &mut Raw, status: &str) {
    let turn = json!({ "id": "u", "status": status, "items": [], "error": null });
    notify(
        peer,
        "turn/completed",
        json!({ "threadId": "t", "turn": turn }),
    )
    .await;
}
