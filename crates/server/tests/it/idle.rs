//! Threads at which nothing happens: they are unloaded, or give their history back.

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;

use crate::stage::{Stage, order, run, status};
use crate::threads::rollout;

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_thread_that_nobody_follows_is_unloaded() {
    let mut stage = Stage::new().await;
    stage.restart_impatient();
    let mut watcher = stage.client().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hello" })]);
    run(&mut client, &thread, "hi").await;
    // The client goes without a word.
    drop(client);
    let messages = watcher.until("thread/closed").await;
    assert_eq!(
        messages.last().unwrap()["params"]["threadId"],
        json!(thread)
    );
    assert!(
        order(&messages).contains(&"status notLoaded".to_owned()),
        "{:?}",
        order(&messages)
    );
    let loaded = watcher.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"], json!([]));

    watcher
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    stage.play([json!({ "text": "welcome back" })]);
    let messages = run(&mut watcher, &thread, "again").await;
    assert_eq!(status(&messages), "completed");
    assert!(stage.last_request().contains("hello"));
}

/// Clients that come and go must not fill the memory with what they left.
#[tokio::test(flavor = "multi_thread")]
async fn only_some_threads_stay_loaded_that_nobody_follows() {
    const LEFT: usize = 103;
    let stage = Stage::new().await;
    let mut watcher = stage.client().await;
    for _ in 0..LEFT {
        let (mut client, thread) = stage.thread().await;
        stage.play([json!({ "text": "hello" })]);
        run(&mut client, &thread, "hi").await;
    }
    for _ in 0..LEFT - 100 {
        watcher.skip_to("thread/closed").await;
    }
    let loaded = watcher.call("thread/loaded/list", json!({})).await;
    assert!(loaded["data"].as_array().unwrap().len() <= 100);
}

/// The rollout has the history, so that is where the next turn finds it: with what was put there.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_thread_keeps_its_history_on_disk_only() {
    let mut stage = Stage::new().await;
    stage.restart_impatient();
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hello" })]);
    run(&mut client, &thread, "hi").await;
    let path = rollout(&mut client, &thread).await;
    let line = json!({ "timestamp": "2026-01-01T00:00:00.000Z", "type": "response_item", "payload": {
        "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "from the disk" }] } });
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    writeln!(file, "{line}").unwrap();
    // On a loaded machine a turn may come before the rest; then a later one does not.
    for round in 0..100 {
        let silence = tokio::time::timeout(Duration::from_millis(60), client.next()).await;
        assert!(silence.is_err(), "{silence:?}");
        stage.play([json!({ "text": "yes" })]);
        let messages = run(&mut client, &thread, &format!("round {round}")).await;
        assert_eq!(status(&messages), "completed");
        let sent = stage.last_request();
        assert!(sent.contains("hello") && sent.contains(&format!("round {round}")));
        if sent.contains("from the disk") {
            return;
        }
    }
    panic!("the history never left the memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_was_never_used_is_unloaded_after_its_client_left() {
    let mut stage = Stage::new().await;
    stage.restart_impatient();
    let mut watcher = stage.client().await;
    for ephemeral in [false, true] {
        let (client, thread) = stage.thread_with(json!({ "ephemeral": ephemeral })).await;
        drop(client);
        let closed = watcher.skip_to("thread/closed").await;
        assert_eq!(closed["params"]["threadId"], json!(thread));
    }
    let loaded = watcher.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_may_have_only_so_many_threads_loaded() {
    let mut stage = Stage::new().await;
    stage.restart_with_threads(3);
    let mut client = stage.client().await;
    let mut other = stage.client().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let started = client.call("thread/start", json!({})).await;
        ids.push(started["thread"]["id"].clone());
    }
    stage.play([json!({ "text": "hello" })]);
    run(&mut client, ids[0].as_str().unwrap(), "hi").await;
    for (method, params) in [
        ("thread/start", json!({})),
        ("thread/fork", json!({ "threadId": ids[0] })),
    ] {
        let error = client.try_call(method, params).await.unwrap_err();
        assert_eq!(error["code"], -32001, "{method}: {error}");
        let text = error["message"].as_str().unwrap();
        assert!(text.contains("3 of this client (at most 3)"), "{text}");
    }
    // Others are not concerned, and one thread less makes room for another.
    other.call("thread/start", json!({})).await;
    client
        .call("thread/unsubscribe", json!({ "threadId": ids[1] }))
        .await;
    other.skip_to("thread/closed").await;
    client.call("thread/start", json!({})).await;
}
