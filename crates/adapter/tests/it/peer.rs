//! A server in the test's hands, for what a good server does not do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_adapter::{Adapter, Server};
use quipu_client::{Client, Options};
use quipu_rpc::{Connection, Limits};
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};

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
    Stall,
}

/// An adapter whose server plays its part until it comes to a step. How often it was connected to is counted.
pub fn adapter(step: &'static str, then: Then) -> (Adapter, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = Server::with(move |bridge| {
        counted.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = Connection::pair(LIMITS);
        tokio::spawn(play(Raw::new(theirs), step, then));
        Client::connect(Options::connection(ours).handler(bridge))
    });
    (Adapter::new(server), connections)
}

async fn play(mut peer: Raw, last: &'static str, then: Then) {
    let mut stalled = false;
    let is_last = |step: &str| step == last;
    while let Some(message) = peer.next().await {
        let step = match message["method"].as_str() {
            Some("initialize") => "initialize",
            Some("account/login/start") => "login",
            Some("thread/start") => "thread",
            Some("turn/start") => "turn",
            Some("turn/interrupt") => {
                answer(&mut peer, &message, json!({})).await;
                complete(&mut peer, "interrupted").await;
                continue;
            }
            // The answer to the tool call.
            None => "end",
            Some(_) => continue,
        };
        if is_last(step) || stalled {
            match then {
                Then::Leave => return,
                Then::Stall => {
                    stalled = true;
                    continue;
                }
            }
        }
        match step {
            "initialize" => answer(&mut peer, &message, json!({ "userAgent": "peer/0.118.0 (test)" })).await,
            "login" => answer(&mut peer, &message, json!({ "type": "apiKey" })).await,
            "thread" => answer(&mut peer, &message, json!({ "thread": { "id": "t" }, "model": "m", "sandbox": { "type": "dangerFullAccess" } })).await,
            "turn" => {
                answer(&mut peer, &message, json!({ "turn": { "id": "u", "status": "inProgress", "items": [] } })).await;
                if is_last("tool") {
                    match then {
                        Then::Leave => return,
                        Then::Stall => continue,
                    }
                }
                let params = json!({ "threadId": "t", "turnId": "u", "callId": "c", "tool": "act", "arguments": "{}" });
                peer.send([json!({ "id": "q", "method": "item/tool/call", "params": params }).to_string()]).await;
            }
            _ => {
                let delta = json!({ "threadId": "t", "turnId": "u", "itemId": "m", "delta": "half " });
                notify(&mut peer, "item/agentMessage/delta", delta.clone()).await;
                notify(&mut peer, "item/agentMessage/delta", delta).await;
                complete(&mut peer, "completed").await;
            }
        }
    }
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
