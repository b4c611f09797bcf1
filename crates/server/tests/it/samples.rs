//! `thread/sample`: a question beside a thread, which leaves no trace in it.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, open, run, say, text};

/// A client with a thread that has one finished turn.
async fn asked_once(stage: &Stage) -> (Conversation, String, String) {
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "first answer" })]);
    let turn = say(&mut client, &thread, "first question").await;
    client.until("turn/completed").await;
    (client, thread, turn)
}

fn question(thread: &str, turn: &str, prompt: &str) -> Value {
    json!({ "threadId": thread, "expectedTurnId": turn, "prompt": prompt })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_reads_the_thread_and_the_thread_stays_as_it_is() {
    let stage = Stage::new().await;
    let (mut client, thread, turn) = asked_once(&stage).await;
    let read = json!({ "threadId": thread, "includeTurns": true });
    let before = client.call("thread/read", read.clone()).await;
    let usage = json!({ "input": 90, "cached": 40, "output": 7 });
    stage.play([json!({ "text": "an aside", "usage": usage })]);
    let answer = client
        .call("thread/sample", question(&thread, &turn, "  aside?  "))
        .await;
    assert_eq!(answer["text"], "an aside");
    assert_eq!(answer["sourceTurnId"], *turn);
    assert!(!text(&answer["responseId"]).is_empty());
    let tokens = ["inputTokens", "cachedInputTokens", "outputTokens"].map(|it| answer[it].as_i64());
    assert_eq!(tokens, [Some(90), Some(40), Some(7)]);
    let requests = stage.model.requests();
    let (turn_request, aside) = (&requests[0].body, &requests[1].body);
    assert_eq!(aside["tools"], turn_request["tools"]);
    assert_eq!(aside["prompt_cache_key"], turn_request["prompt_cache_key"]);
    let (input, earlier) = (&aside["input"], turn_request["input"].as_array().unwrap());
    let input = input.as_array().unwrap();
    assert_eq!(input[..earlier.len()], earlier[..]);
    assert_eq!(input.len(), earlier.len() + 2);
    assert_eq!(input.last().unwrap()["content"][0]["text"], "  aside?  ");
    assert_eq!(client.call("thread/read", read).await, before);
    stage.play([json!({ "text": "second answer" })]);
    run(&mut client, &thread, "second question").await;
    let request = stage.last_request();
    assert!(!request.contains("aside"), "{request}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_the_model_calls_is_not_run() {
    let stage = Stage::new().await;
    let (mut client, thread, turn) = asked_once(&stage).await;
    let mut step = calls("exec_command", json!({ "cmd": "touch made" }));
    step["text"] = json!("I will look.");
    stage.play([step]);
    let answer = client
        .call("thread/sample", question(&thread, &turn, "look"))
        .await;
    assert_eq!(answer["text"], Value::Null);
    assert!(!stage.directory().join("made").exists());
    stage.play([json!({ "reasoning": "hm" })]);
    let answer = client
        .call("thread/sample", question(&thread, &turn, "say nothing"))
        .await;
    assert_eq!(answer["text"], Value::Null);
    let refuse = json!({ "fail": 400, "body": { "error": { "message": "no" } } });
    stage.play([refuse]);
    let failed = client
        .try_call("thread/sample", question(&thread, &turn, "fail"))
        .await
        .unwrap_err();
    assert_eq!(failed["code"], -32603);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_that_cannot_be_asked_are_refused_in_the_words_of_later_versions() {
    let stage = Stage::new().await;
    let (mut client, thread, turn) = asked_once(&stage).await;
    let form = "thread/sample requires expectedTurnId and a prompt of at most 4000 bytes";
    let last = "sample source turn must be the latest finished turn";
    let long = "x".repeat(4_001);
    let none = "01984de2-8f74-7c91-a3b2-5c5e937cf318";
    let cases = [
        (thread.as_str(), turn.as_str(), " ", form),
        (&thread, &turn, &long, form),
        (&thread, "", "x", form),
        (&thread, "other", "x", last),
        (none, &turn, "x", "thread/sample requires a loaded source"),
        (
            "zz",
            &turn,
            "x",
            "invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `z` at 1",
        ),
    ];
    for (thread, turn, prompt, expected) in cases {
        let refused = client
            .refused("thread/sample", question(thread, turn, prompt))
            .await;
        assert_eq!(refused, expected);
    }
    let started = client
        .call("thread/start", json!({ "ephemeral": true }))
        .await;
    let ephemeral = text(&started["thread"]["id"]);
    let refused = client
        .refused("thread/sample", question(&ephemeral, &turn, "x"))
        .await;
    assert_eq!(refused, "sample source must be a persistent root thread");
    // While a turn runs, none is finished last.
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([calls("gate", json!({})), json!({ "text": "done" })]);
    let turn = say(&mut client, &thread, "wait").await;
    let held = client.skip_to("item/tool/call").await;
    let refused = client
        .refused("thread/sample", question(&thread, &turn, "x"))
        .await;
    assert_eq!(refused, last);
    client.reply(&held["id"], open()).await;
    client.until("turn/completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_cancelled_by_its_id_also_before_it_is_asked() {
    let stage = Stage::new().await;
    let (mut client, thread, turn) = asked_once(&stage).await;
    stage.play([json!({ "stall": true })]);
    let asked = client
        .ask("thread/sample", question(&thread, &turn, "wait"))
        .await;
    stage.model.received(2).await;
    let other = json!({ "requestId": "other" });
    client.call("thread/sample/cancel", other).await;
    let cancel = json!({ "requestId": asked });
    client.call("thread/sample/cancel", cancel.clone()).await;
    let error = client.answered(asked).await.unwrap_err();
    assert_eq!(
        error,
        json!({ "code": -32603, "message": "sample canceled" })
    );
    stage.model.abandoned(1).await;
    // Again, which changes nothing, and at once, which needs the request to be known by then.
    client.call("thread/sample/cancel", cancel).await;
    stage.play([json!({ "stall": true })]);
    let asked = client
        .ask("thread/sample", question(&thread, &turn, "wait"))
        .await;
    let cancel = json!({ "requestId": asked });
    client.call("thread/sample/cancel", cancel).await;
    let error = client.answered(asked).await.unwrap_err();
    assert_eq!(error["message"], "sample canceled");
    let strict = client
        .refused("thread/sample/cancel", json!({ "requestId": 1, "x": 1 }))
        .await;
    assert_eq!(
        strict,
        "Invalid request: unknown field `x`, expected `requestId`"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_with_the_connection_that_asked_it() {
    let stage = Stage::new().await;
    let (mut client, thread, turn) = asked_once(&stage).await;
    stage.play([json!({ "stall": true })]);
    client
        .ask("thread/sample", question(&thread, &turn, "wait"))
        .await;
    stage.model.received(2).await;
    client.leave().await;
    stage.model.abandoned(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_may_start_while_a_question_waits() {
    let stage = Stage::new().await;
    let (mut client, thread, turn) = asked_once(&stage).await;
    stage.play([json!({ "stall": true }), json!({ "text": "meanwhile" })]);
    let asked = client
        .ask("thread/sample", question(&thread, &turn, "wait"))
        .await;
    stage.model.received(2).await;
    run(&mut client, &thread, "go on").await;
    let cancel = json!({ "requestId": asked });
    client.call("thread/sample/cancel", cancel).await;
    client.answered(asked).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_counts_against_the_budget() {
    let stage = Stage::with("[budget.thread]\ntokens = 100\n").await;
    let (mut client, thread) = stage.thread().await;
    let uses = |tokens: u64| json!({ "text": "x", "usage": { "input": tokens, "output": 0 } });
    stage.play([uses(10), uses(95)]);
    let turn = say(&mut client, &thread, "hi").await;
    client.until("turn/completed").await;
    client
        .call("thread/sample", question(&thread, &turn, "aside"))
        .await;
    let refused = client
        .refused("thread/sample", question(&thread, &turn, "aside"))
        .await;
    assert!(refused.contains("105 of 100 tokens"), "{refused}");
    assert_eq!(stage.model.requests().len(), 2);
}
