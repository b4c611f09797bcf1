//! The queue of a thread: input runs one entry after the other, and survives a restart.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, gate, open, say, status, text};

fn entry(thread: &str, words: &str) -> Value {
    let input = json!([{ "type": "text", "text": words }]);
    json!({ "threadId": thread, "input": input, "clientUserMessageId": words })
}

async fn add(client: &mut Conversation, thread: &str, words: &str) -> String {
    let added = client.call("thread/queue/add", entry(thread, words)).await;
    text(&added["queuedSubmission"]["id"])
}

/// What waits, in order.
async fn waiting(client: &mut Conversation, thread: &str) -> Vec<String> {
    let list = client
        .call("thread/queue/list", json!({ "threadId": thread }))
        .await;
    let entries = list["data"].as_array().unwrap().iter();
    entries.map(|it| text(&it["input"][0]["text"])).collect()
}

/// A thread whose running turn waits for the test, and the question that it waits with.
async fn held(stage: &Stage) -> (Conversation, String, Value) {
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([
        json!({ "calls": [{ "name": "gate", "arguments": {} }] }),
        json!({ "text": "first" }),
    ]);
    say(&mut client, &thread, "hold").await;
    let question = client.skip_to("item/tool/call").await;
    (client, thread, question["id"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_changed_and_run_one_after_the_other() {
    let stage = Stage::new().await;
    let (mut client, thread, question) = held(&stage).await;
    let mut ids = Vec::new();
    for words in ["one", "two", "three"] {
        ids.push(add(&mut client, &thread, words).await);
        client.skip_to("thread/queue/changed").await;
    }
    let start = json!({ "threadId": thread });
    let busy = client.refused("thread/queue/start", start).await;
    assert_eq!(busy, "thread already has an active or pending turn");
    let order = json!({ "threadId": thread, "queuedSubmissionIds": [ids[2], ids[0], ids[1]] });
    client.call("thread/queue/reorder", order).await;
    let input = json!([{ "type": "text", "text": "one edited" }]);
    let update = json!({ "threadId": thread, "queuedSubmissionId": ids[0], "input": input });
    client.call("thread/queue/update", update).await;
    let delete = json!({ "threadId": thread, "queuedSubmissionId": ids[1] });
    client.call("thread/queue/delete", delete.clone()).await;
    assert_eq!(waiting(&mut client, &thread).await, ["three", "one edited"]);
    let gone = client.call("thread/queue/delete", delete).await;
    assert_eq!(gone, json!({ "deleted": false }));
    stage.play([json!({ "text": "second" }), json!({ "text": "third" })]);
    client.reply(&question, open()).await;
    for _ in 0..3 {
        assert_eq!(status(&client.until("turn/completed").await), "completed");
    }
    assert_eq!(waiting(&mut client, &thread).await, Vec::<String>::new());
    let sent = stage.last_request();
    let place = |words: &str| sent.find(words).unwrap();
    assert!(place("three") < place("one edited"));
    stage.play([json!({ "text": "fourth" })]);
    add(&mut client, &thread, "at once").await;
    assert_eq!(status(&client.until("turn/completed").await), "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_survive_a_restart_and_run_once() {
    let mut stage = Stage::new().await;
    let (mut client, thread, _) = held(&stage).await;
    add(&mut client, &thread, "after the restart").await;
    stage.restart().await;
    let mut client = stage.client().await;
    assert_eq!(waiting(&mut client, &thread).await, ["after the restart"]);
    stage.play([json!({ "text": "done" })]);
    let named = json!({ "threadId": thread });
    client.call("thread/resume", named.clone()).await;
    assert_eq!(status(&client.until("turn/completed").await), "completed");
    assert!(stage.last_request().contains("after the restart"));
    stage.restart().await;
    let mut client = stage.client().await;
    client.call("thread/resume", named).await;
    assert_eq!(waiting(&mut client, &thread).await, Vec::<String>::new());
}
