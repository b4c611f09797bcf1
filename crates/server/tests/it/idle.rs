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
    let told = watcher.until("thread/closed").await;
    assert_eq!(told.last().unwrap()["params"]["threadId"], json!(thread));
    assert!(
        order(&told).contains(&"status notLoaded".to_owned()),
        "{:?}",
        order(&told)
    );
    let loaded = watcher.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"], json!([]));

    watcher
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    stage.play([json!({ "text": "welcome back" })]);
    let told = run(&mut watcher, &thread, "again").await;
    assert_eq!(status(&told), "completed");
    assert!(stage.last_request().contains("hello"));
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
        let told = run(&mut client, &thread, &format!("round {round}")).await;
        assert_eq!(status(&told), "completed");
        let sent = stage.last_request();
        assert!(sent.contains("hello") && sent.contains(&format!("round {round}")));
        if sent.contains("from the disk") {
            return;
        }
    }
    panic!("the history never left the memory");
}
