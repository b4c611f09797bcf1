//! Responses over a websocket: what is sent, what is left out, and what happens when it breaks.

use std::collections::BTreeMap;
use std::sync::Arc;

use quipu_model::{
    Client, Credentials, HistoryItem, ModelEvent, ProviderConfig, Request, SocketSlot, WireApi,
};
use quipu_testkit::model::{ModelServer, Recorded, Sockets};
use serde_json::{Value, json};

use crate::support::{item, provider, request, step, user};

fn config(server: &ModelServer) -> ProviderConfig {
    ProviderConfig {
        supports_websockets: true,
        stream_max_retries: Some(2),
        stream_idle_timeout_ms: Some(5_000),
        ..provider(server, WireApi::Responses)
    }
}

async fn start(sockets: Sockets) -> (ModelServer, Client) {
    let server = ModelServer::start().await.unwrap();
    server.set_sockets(sockets);
    let client = Client::new(config(&server), Credentials::None);
    (server, client)
}

fn open() -> Sockets {
    Sockets::Open(BTreeMap::new())
}

/// The events of an answer, and the items in it.
async fn ask(client: &Client, request: Request) -> (Vec<ModelEvent>, Vec<HistoryItem>) {
    let mut stream = client.stream(request);
    let (mut events, mut items) = (Vec::new(), Vec::new());
    while let Some(event) = stream.next().await {
        if let ModelEvent::ItemDone { item, .. } = &event {
            items.push(HistoryItem::new(Arc::clone(&item.raw)));
        }
        events.push(event);
    }
    (events, items)
}

fn is_complete(events: &[ModelEvent]) -> bool {
    matches!(events.last(), Some(ModelEvent::Completed(_)))
}

/// The retries that people are told of.
fn announced(events: &[ModelEvent]) -> Vec<String> {
    let retries = events.iter().filter_map(|event| match event {
        ModelEvent::Retrying(retrying) if retrying.announced => Some(retrying.error.to_string()),
        _ => None,
    });
    retries.collect()
}

fn over_socket(recorded: &Recorded) -> bool {
    recorded.body["type"] == "response.create"
}

#[tokio::test]
async fn a_history_that_continues_sends_only_what_is_new() {
    let (server, client) = start(open()).await;
    let mut first = request("one");
    server.queue(step(json!({ "text": "a1" })));
    let (events, said) = ask(&client, first.clone()).await;
    assert!(is_complete(&events));
    assert!(
        !events
            .iter()
            .any(|it| matches!(it, ModelEvent::RateLimits(_))),
        "headers of a websocket have none"
    );
    first.input.extend(said);
    first.input.push(user("two"));
    server.queue(step(json!({ "text": "a2" })));
    ask(&client, first.clone()).await;
    // Another history, and other settings, are sent whole.
    let mut other = first.clone();
    other.input = vec![user("three")];
    server.queue(step(json!({ "text": "a3" })));
    let (_, said) = ask(&client, other.clone()).await;
    other.input.extend(said);
    other.input.push(user("four"));
    other.instructions = "Be long.".into();
    server.queue(step(json!({ "text": "a4" })));
    ask(&client, other).await;

    let sent = server.requests();
    assert!(sent.iter().all(over_socket));
    let connections: Vec<u64> = sent.iter().map(|it| it.connection).collect();
    assert_eq!(
        connections, [sent[0].connection; 4],
        "one connection for all"
    );
    let previous = |n: usize| sent[n].body["previous_response_id"].as_str();
    assert_eq!([previous(0), previous(2), previous(3)], [None; 3]);
    assert!(previous(1).is_some());
    let count = |n: usize| sent[n].body["input"].as_array().unwrap().len();
    assert_eq!([count(0), count(1), count(2), count(3)], [1, 1, 1, 3]);
    assert_eq!(sent[1].body["input"][0]["content"][0]["text"], "two");
    assert_eq!(
        sent[0].body["client_metadata"],
        json!({ "x-codex-turn-metadata": r#"{"turn_id":"t"}"# })
    );
    let headers = &sent[0].headers;
    assert_eq!(headers["openai-beta"], "responses_websockets=2026-02-06");
    assert_eq!(headers["session_id"], "thread-1");
    assert!(!headers.contains_key("user-agent") && !headers.contains_key("content-type"));
}

#[tokio::test]
async fn a_prepared_connection_knows_instructions_and_tools() {
    let (server, client) = start(open()).await;
    let mut request = request("one");
    client.prewarm(&request).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    request.meta.traceparent = Some(trace.into());
    server.queue(step(json!({ "text": "a1" })));
    assert!(is_complete(&ask(&client, request).await.0));
    let sent = server.requests();
    assert_eq!(sent[0].body["generate"], false);
    assert_eq!(sent[0].body["input"], json!([]));
    assert_eq!(sent[1].body["previous_response_id"], "warm");
    // The headers of the connection are those of its first request; each names its own trace.
    let named = |n: usize| &sent[n].body["client_metadata"]["ws_request_header_traceparent"];
    assert_eq!((named(0), named(1)), (&json!(null), &json!(trace)));
    assert!(sent[1].body.get("generate").is_none());
}

/// Calls and their outputs, images and reasoning are compared as they are sent.
#[tokio::test]
async fn a_tool_round_trip_continues() {
    let (server, client) = start(open()).await;
    let mut request = request("one");
    server.queue(step(
        json!({ "calls": [{ "name": "exec_command", "arguments": {}, "call_id": "c1" }] }),
    ));
    let (_, said) = ask(&client, request.clone()).await;
    assert!(!said.is_empty());
    let call_id = said[0].call_id().unwrap().to_owned();
    request.input.extend(said);
    let output = json!({ "type": "function_call_output", "call_id": call_id, "output": "x" });
    request.input.push(item(&output));
    server.queue(step(json!({ "text": "done" })));
    ask(&client, request).await;
    let sent = server.requests().pop().unwrap();
    assert_eq!(sent.body["input"], json!([output]));
}

#[tokio::test]
async fn where_there_is_no_websocket_requests_go_over_http() {
    for sockets in [Sockets::None, Sockets::Refused(404), Sockets::Refused(403)] {
        let (server, client) = start(sockets).await;
        let request = request("one");
        for _ in 0..2 {
            server.queue(step(json!({ "text": "a" })));
            let (events, _) = ask(&client, request.clone()).await;
            assert!(is_complete(&events) && announced(&events).is_empty());
        }
        assert!(!server.requests().iter().any(over_socket));
    }
}

#[tokio::test]
async fn a_websocket_that_never_opens_is_given_up() {
    let server = ModelServer::start().await.unwrap();
    server.set_sockets(Sockets::Silent);
    let config = ProviderConfig {
        websocket_connect_timeout_ms: Some(50),
        ..config(&server)
    };
    let client = Client::new(config, Credentials::None);
    server.queue(step(json!({ "text": "a" })));
    client.prewarm(&request("one")).await;
    assert!(is_complete(&ask(&client, request("one")).await.0));
}

#[tokio::test]
async fn a_websocket_that_breaks_is_tried_again_and_then_given_up() {
    for (sockets, reason) in [
        (Sockets::Break, "Connection reset without closing handshake"),
        (Sockets::Binary, "unexpected binary websocket event"),
    ] {
        let (server, client) = start(sockets).await;
        let request = request("one");
        for _ in 0..4 {
            server.queue(step(json!({ "text": "a" })));
        }
        let (events, _) = ask(&client, request.clone()).await;
        assert!(is_complete(&events), "{events:?}");
        let told = announced(&events);
        assert_eq!(told.len(), 1, "the first is not worth telling: {told:?}");
        assert!(told[0].contains(reason), "{told:?}");
        let sent: Vec<bool> = server.requests().iter().map(over_socket).collect();
        assert_eq!(sent, [true, true, true, false]);
        server.queue(step(json!({ "text": "a" })));
        ask(&client, request).await;
        assert!(!over_socket(&server.requests()[4]), "for good");
    }
}

#[tokio::test]
async fn a_connection_that_ended_meanwhile_is_opened_anew() {
    let (server, client) = start(Sockets::OneAnswer).await;
    let mut request = request("one");
    for n in 0..3 {
        server.queue(step(json!({ "text": "a" })));
        let (events, said) = ask(&client, request.clone()).await;
        assert!(is_complete(&events) && announced(&events).is_empty(), "{n}");
        request.input.extend(said);
    }
    let sent = server.requests();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(over_socket));
    assert!(
        sent.iter()
            .all(|it| it.body.get("previous_response_id").is_none())
    );
}

#[tokio::test]
async fn noise_between_the_events_does_no_harm() {
    let (server, client) = start(Sockets::Noisy).await;
    server.queue(step(json!({ "text": "a\nb" })));
    let (events, said) = ask(&client, request("one")).await;
    assert!(is_complete(&events));
    assert_eq!(said.len(), 1);
}

/// An error with a status means what it means over HTTP.
#[tokio::test]
async fn errors_are_those_of_http() {
    let (server, client) = start(open()).await;
    let message = |events: &[ModelEvent]| match events.last() {
        Some(ModelEvent::Failed(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let limit = json!({ "error": { "type": "usage_limit_reached", "plan_type": "plus" } });
    server.queue(step(json!({ "fail": 429, "body": limit.to_string() })));
    let (events, _) = ask(&client, request("one")).await;
    assert!(message(&events).starts_with("You've hit your usage limit."));
    let wrong = json!({ "error": { "message": "no" } });
    server.queue(step(json!({ "fail": 400, "body": wrong.to_string() })));
    let (events, _) = ask(&client, request("one")).await;
    assert!(message(&events).contains(r#""message":"no""#));
    // The provider wants another connection.
    let limit =
        json!({ "error": { "code": "websocket_connection_limit_reached", "message": "m" } });
    server.queue(step(json!({ "fail": 400, "body": limit.to_string() })));
    server.queue(step(json!({ "text": "a" })));
    assert!(is_complete(&ask(&client, request("one")).await.0));
}

/// A reader that goes away leaves no half-read answer for the next one.
#[tokio::test]
async fn a_cancelled_answer_closes_the_connection() {
    let (server, client) = start(open()).await;
    let request = request("one");
    server.queue(step(json!({ "text": "a", "deltas": 50 })));
    let mut stream = client.stream(request.clone());
    stream.next().await;
    drop(stream);
    server.queue(step(json!({ "text": "b" })));
    let (events, said) = ask(&client, request).await;
    assert!(is_complete(&events));
    let said: Value = serde_json::from_str(said[0].raw().get()).unwrap();
    assert_eq!(said["content"][0]["text"], "b");
    let sent = server.requests();
    assert_ne!(sent[0].connection, sent[1].connection);
}

#[test]
fn a_slot_shows_nothing_of_what_it_holds() {
    assert_eq!(format!("{:?}", SocketSlot::default()), "SocketSlot");
}
