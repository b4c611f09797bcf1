//! Several clients of one server: who is told what, and who may answer.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::stage::{Stage, calls, input, run, say, status, text};

fn methods(messages: &[Value]) -> Vec<&str> {
    messages
        .iter()
        .filter_map(|it| it["method"].as_str())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_hears_of_threads_and_only_followers_of_their_turns() {
    let lab = Lab::new();
    let mut first = Conversation::start(lab.connection()).await;
    let mut bystander = Conversation::start(lab.connection()).await;
    let deaf = json!({ "optOutNotificationMethods": ["thread/started", "thread/status", "*"] });
    let mut uninterested = lab.raw_initialized(deaf).await;
    let mut silent = lab.raw();
    // A client counts once its handshake is through, which an answer to a later request proves.
    bystander.call("thread/loaded/list", json!({})).await;
    let list = json!({ "id": 0, "method": "thread/loaded/list", "params": {} });
    uninterested.call(&list).await;

    let started = first.call("thread/start", json!({})).await;
    let id = text(&started["thread"]["id"]);
    let hello = json!({ "script": [{ "text": "hello" }] }).to_string();
    first.call("turn/start", input(&id, &hello)).await;
    let messages = first.until("turn/completed").await;
    assert_eq!(
        methods(&messages)
            .iter()
            .filter(|it| **it == "turn/started")
            .count(),
        1
    );

    let mut heard = bystander.until("thread/status/changed").await;
    heard.extend(bystander.until("thread/status/changed").await);
    assert_eq!(
        methods(&heard),
        [
            "thread/started",
            "thread/status/changed",
            "thread/status/changed"
        ]
    );
    // Names are matched exactly, and nothing comes before the handshake.
    for _ in 0..2 {
        let heard = uninterested.next().await.unwrap();
        assert_eq!(heard["method"], "thread/status/changed");
    }
    let list = json!({ "id": 1, "method": "thread/loaded/list", "params": {} });
    assert_eq!(
        silent.call(&list).await["error"]["message"],
        "Not initialized"
    );
    assert_eq!(
        uninterested.call(&list).await["result"]["data"],
        json!([id])
    );
}

/// A client that was not asked cannot answer, whatever it guesses or remembers.
#[tokio::test(flavor = "multi_thread")]
async fn only_those_who_were_asked_may_answer() {
    let stage = Stage::new().await;
    let (mut asked, thread) = stage
        .thread_with(json!({ "approvalPolicy": "untrusted" }))
        .await;
    let mut stranger = stage.client().await;
    stage.play([
        calls("exec_command", json!({ "cmd": "touch made" })),
        json!({ "text": "done" }),
    ]);
    say(&mut asked, &thread, "do it").await;
    let question = asked.skip_to("item/commandExecution/requestApproval").await;
    stranger
        .reply(&question["id"], json!({ "decision": "accept" }))
        .await;
    // The stranger's answer has been read when its next request is answered.
    stranger.call("thread/loaded/list", json!({})).await;
    asked
        .reply(&question["id"], json!({ "decision": "decline" }))
        .await;
    let messages = asked.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    assert!(
        !stage.directory().join("made").exists(),
        "a stranger's answer counted"
    );
}

/// Answers do not queue behind requests, however many there are.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_overtakes_requests() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage
        .thread_with(json!({ "approvalPolicy": "untrusted" }))
        .await;
    stage.play([json!({ "text": "hello" })]);
    run(&mut client, &thread, "hi").await;
    stage.play([
        calls("exec_command", json!({ "cmd": "touch made" })),
        json!({ "text": "done" }),
    ]);
    say(&mut client, &thread, "do it").await;
    let question = client
        .skip_to("item/commandExecution/requestApproval")
        .await;
    let mut asked = Vec::new();
    for _ in 0..400 {
        asked.push(
            client
                .ask(
                    "thread/read",
                    json!({ "threadId": thread, "includeTurns": true }),
                )
                .await,
        );
    }
    client
        .reply(&question["id"], json!({ "decision": "accept" }))
        .await;
    let messages = client.until("turn/completed").await;
    let answered = messages
        .iter()
        .filter(|it| it["result"].is_object())
        .count();
    assert!(
        answered < asked.len(),
        "the turn ended only after all requests"
    );
    assert!(stage.directory().join("made").exists());
    for id in asked {
        if !messages.iter().any(|it| it["id"] == id) {
            client.answered(id).await.unwrap();
        }
    }
}
