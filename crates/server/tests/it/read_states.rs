//! What the user has read of a thread: marked when a turn ends, changed by clients that have seen what there is, and
//! found again after a restart.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, order, run, say, text};

const CHANGED: &str = "thread/readState/changed";

/// A client that gets all notifications.
async fn reader(stage: &Stage) -> Conversation {
    stage.client_with(json!({ "experimentalApi": true })).await
}

async fn new_thread(client: &mut Conversation, params: Value) -> String {
    let started = client.call("thread/start", params).await;
    text(&started["thread"]["id"])
}

/// Runs a turn to its end; what came, and its id.
async fn turn(stage: &Stage, client: &mut Conversation, thread: &str) -> (Vec<Value>, String) {
    stage.play([json!({ "text": "answer" })]);
    let turn = say(client, thread, "question").await;
    (client.until("turn/completed").await, turn)
}

async fn state(client: &mut Conversation, thread: &str) -> Value {
    let read = client.call("thread/read", json!({ "threadId": thread }));
    read.await["readState"].clone()
}

fn update(thread: &str, revision: &Value, operation: &str) -> Value {
    let operation = json!({ "type": operation });
    json!({ "threadId": thread, "expectedRevision": revision, "operation": operation })
}

fn changes(messages: &[Value]) -> Vec<Value> {
    let changes = messages.iter().filter(|it| it["method"] == CHANGED);
    changes.map(|it| it["params"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_with_a_result_is_unread_from_its_end_on() {
    let stage = Stage::new().await;
    let mut client = reader(&stage).await;
    let thread = new_thread(&mut client, json!({})).await;
    assert_eq!(state(&mut client, &thread).await, Value::Null);
    let (messages, first) = turn(&stage, &mut client, &thread).await;
    let unread = json!({ "type": "turn", "turnId": first });
    let changed = changes(&messages);
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["threadId"], *thread);
    assert_eq!(changed[0]["readState"]["firstUnread"], unread);
    let order = order(&messages);
    let end = order.len() - 3;
    assert_eq!(order[end], CHANGED);
    assert_eq!(state(&mut client, &thread).await, changed[0]["readState"]);
    let list = client.call("thread/list", json!({})).await;
    assert_eq!(list["readStates"][&thread], changed[0]["readState"]);
    // The mark stays where it is; the revision does not.
    let (_, _) = turn(&stage, &mut client, &thread).await;
    let later = state(&mut client, &thread).await;
    assert_eq!(later["firstUnread"], unread);
    assert_ne!(later["revision"], changed[0]["readState"]["revision"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_turn_is_unread_and_an_interrupted_one_is_not() {
    let stage = Stage::new().await;
    let mut client = reader(&stage).await;
    let thread = new_thread(&mut client, gate()).await;
    stage.play([calls("gate", json!({}))]);
    let interrupted = say(&mut client, &thread, "wait").await;
    client.skip_to("item/tool/call").await;
    let interrupt = json!({ "threadId": thread, "turnId": interrupted });
    client.call("turn/interrupt", interrupt).await;
    let messages = client.until("turn/completed").await;
    assert!(changes(&messages).is_empty());
    let initial = json!({ "firstUnread": null, "revision": format!("initial:{thread}") });
    assert_eq!(state(&mut client, &thread).await, initial);
    stage.model.clear();
    stage.play([json!({ "fail": 400 })]);
    let failed = say(&mut client, &thread, "fail").await;
    let messages = client.until("turn/completed").await;
    let unread = json!({ "type": "turn", "turnId": failed });
    assert_eq!(changes(&messages)[0]["readState"]["firstUnread"], unread);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_changes_only_what_it_has_seen() {
    let stage = Stage::new().await;
    let mut client = reader(&stage).await;
    let thread = new_thread(&mut client, json!({})).await;
    turn(&stage, &mut client, &thread).await;
    let unread = state(&mut client, &thread).await;
    let method = "thread/readState/update";
    let stale = update(&thread, &json!("x"), "read");
    let conflict = client.try_call(method, stale).await.unwrap_err();
    let expected = json!({
        "code": -32600,
        "message": "read state changed",
        "data": { "reason": "readStateConflict", "readState": unread },
    });
    assert_eq!(conflict, expected);
    let seen = update(&thread, &unread["revision"], "read");
    let read = client.call(method, seen.clone()).await["readState"].clone();
    assert_eq!(read["firstUnread"], Value::Null);
    assert_eq!(client.skip_to(CHANGED).await["params"]["readState"], read);
    client.try_call(method, seen).await.unwrap_err();
    let params = update(&thread, &read["revision"], "unread");
    let marked = client.call(method, params).await["readState"].clone();
    assert_eq!(marked["firstUnread"], json!({ "type": "threadStart" }));
    // A mark of the user stays when a turn ends.
    turn(&stage, &mut client, &thread).await;
    let later = state(&mut client, &thread).await;
    assert_eq!(later["firstUnread"], json!({ "type": "threadStart" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_survives_a_restart_and_changes_without_loading_the_thread() {
    let mut stage = Stage::new().await;
    let mut client = reader(&stage).await;
    let thread = new_thread(&mut client, json!({})).await;
    turn(&stage, &mut client, &thread).await;
    let unread = state(&mut client, &thread).await;
    stage.restart().await;
    let mut client = reader(&stage).await;
    assert_eq!(state(&mut client, &thread).await, unread);
    let seen = update(&thread, &unread["revision"], "read");
    let read = client.call("thread/readState/update", seen).await;
    assert_eq!(state(&mut client, &thread).await, read["readState"]);
    let loaded = client.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"], json!([]));
    let fork = client
        .call("thread/fork", json!({ "threadId": thread }))
        .await;
    let fork = text(&fork["thread"]["id"]);
    let initial = json!({ "firstUnread": null, "revision": format!("initial:{fork}") });
    assert_eq!(state(&mut client, &fork).await, initial);
    client
        .call("thread/delete", json!({ "threadId": thread }))
        .await;
    let file = format!("quipu_read_states/{thread}.json");
    assert!(!stage.home().join(file).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_taken_back_is_not_unread_any_more() {
    let stage = Stage::new().await;
    let mut client = reader(&stage).await;
    let thread = new_thread(&mut client, json!({})).await;
    turn(&stage, &mut client, &thread).await;
    let unread = state(&mut client, &thread).await;
    let seen = update(&thread, &unread["revision"], "read");
    client.call("thread/readState/update", seen).await;
    let (_, second) = turn(&stage, &mut client, &thread).await;
    let revert = json!({ "threadId": thread, "beforeTurnId": second });
    client.call("thread/revert", revert).await;
    let messages = client.until("thread/reverted").await;
    let changed = changes(&messages);
    assert_eq!(changed[0]["readState"]["firstUnread"], Value::Null);
    assert_eq!(state(&mut client, &thread).await, changed[0]["readState"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_that_are_not_stored_have_none() {
    let stage = Stage::new().await;
    let mut client = reader(&stage).await;
    let thread = new_thread(&mut client, json!({ "ephemeral": true })).await;
    let (messages, _) = turn(&stage, &mut client, &thread).await;
    assert!(changes(&messages).is_empty());
    assert_eq!(state(&mut client, &thread).await, Value::Null);
    let none = "01984de2-8f74-7c91-a3b2-5c5e937cf318";
    let cases = [
        (thread.as_str(), "thread read state unavailable", -32600),
        (none, &*format!("thread not loaded: {none}"), -32600),
        (
            "zz",
            "invalid thread id: invalid character: expected an optional prefix of `urn:uuid:` followed by \
             [0-9a-fA-F-], found `z` at 1",
            -32602,
        ),
    ];
    for (thread, message, code) in cases {
        let params = update(thread, &json!("x"), "read");
        let error = client
            .try_call("thread/readState/update", params)
            .await
            .unwrap_err();
        assert_eq!(error, json!({ "code": code, "message": message }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_without_the_experimental_capability_are_not_notified() {
    let stage = Stage::new().await;
    let mut client = stage.client_with(json!({})).await;
    let thread = new_thread(&mut client, json!({})).await;
    stage.play([json!({ "text": "answer" })]);
    let messages = run(&mut client, &thread, "question").await;
    assert!(changes(&messages).is_empty());
    // Members of results are sent to all, as by later versions.
    assert_ne!(state(&mut client, &thread).await, Value::Null);
}
