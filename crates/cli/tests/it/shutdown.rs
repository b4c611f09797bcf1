//! Ends of a server that has something to do.

use std::time::{Duration, Instant};

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::{Value, json};

use crate::support::app_server;

/// A server on stdio and a client of it.
async fn stdio() -> (ServerProcess, Conversation) {
    let mut process = app_server([]).start();
    let client = Conversation::start(process.stdio()).await;
    (process, client)
}

/// Begins a turn of the offline model and waits for its first words.
async fn begin(client: &mut Conversation, steps: Value) {
    let started = client.call("thread/start", json!({})).await;
    let text = json!({ "script": steps }).to_string();
    let input = json!([{ "type": "text", "text": text }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    client.skip_to("item/agentMessage/delta").await;
}

/// Words that take a minute.
fn endless() -> Value {
    json!([{ "deltas": 6000, "every": 10 }])
}

async fn end_of_turn(client: &mut Conversation) -> Value {
    let end = client.skip_to("turn/completed").await;
    end["params"]["turn"]["status"].clone()
}

#[tokio::test]
async fn a_turn_that_ends_soon_may_finish() {
    let mut process = app_server(["--listen", "ws://127.0.0.1:0"]).start();
    let mut client = Conversation::start(process.websocket(&[]).await).await;
    begin(&mut client, json!([{ "deltas": 50, "every": 10 }])).await;
    process.signal(Signal::TERM);
    assert_eq!(end_of_turn(&mut client).await, "completed");
    assert_eq!(process.exit().await.code(), Some(0));
}

#[tokio::test]
async fn a_turn_that_does_not_end_is_interrupted() {
    let (mut process, mut client) = stdio().await;
    begin(&mut client, endless()).await;
    let asked = Instant::now();
    process.signal(Signal::TERM);
    assert_eq!(end_of_turn(&mut client).await, "interrupted");
    assert_eq!(process.exit().await.code(), Some(0));
    let time = asked.elapsed();
    assert!(
        time > Duration::from_secs(2) && time < Duration::from_secs(5),
        "{time:?}"
    );
}

#[tokio::test]
async fn a_second_signal_ends_everything_at_once() {
    let (mut process, mut client) = stdio().await;
    begin(&mut client, endless()).await;
    process.signal(Signal::TERM);
    // The server still serves, and so must have heard the first signal before it answers this.
    client.call("thread/loaded/list", json!({})).await;
    let asked = Instant::now();
    process.signal(Signal::INT);
    assert_eq!(process.exit().await.code(), Some(0));
    assert!(
        asked.elapsed() < Duration::from_secs(1),
        "{:?}",
        asked.elapsed()
    );
}

#[tokio::test]
async fn the_end_of_input_interrupts_a_turn_and_tells_so() {
    let (mut process, mut client) = stdio().await;
    begin(&mut client, endless()).await;
    let ended = Instant::now();
    client.end().await;
    assert_eq!(end_of_turn(&mut client).await, "interrupted");
    assert_eq!(process.exit().await.code(), Some(0));
    assert!(
        ended.elapsed() < Duration::from_secs(2),
        "{:?}",
        ended.elapsed()
    );
}

/// A command that would run on is ended, and its request answered.
#[tokio::test]
async fn the_end_of_input_cuts_long_requests_short() {
    let (mut process, mut client) = stdio().await;
    let policy = json!({ "type": "dangerFullAccess" });
    let params =
        json!({ "command": ["sleep", "600"], "sandboxPolicy": policy, "disableTimeout": true });
    let slow = client.ask("command/exec", params).await;
    let ended = Instant::now();
    client.end().await;
    let killed = client.answered(slow).await.unwrap();
    assert_ne!(killed["exitCode"], 0);
    assert_eq!(process.exit().await.code(), Some(0));
    assert!(
        ended.elapsed() < Duration::from_secs(3),
        "{:?}",
        ended.elapsed()
    );
}

#[tokio::test]
async fn a_server_that_listens_nowhere_waits_for_a_signal() {
    let mut process = app_server(["--listen", "off"])
        .env("RUST_LOG", "info")
        .start();
    drop(process.stdin.take());
    process.said("not listening").await;
    process.signal(Signal::TERM);
    assert_eq!(process.exit().await.code(), Some(0));
    let said = process.stderr();
    assert!(said.contains("received shutdown signal"), "{said}");
}
