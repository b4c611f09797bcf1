//! Compaction: asked for, by itself, and failing.

use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, order, run, say, status, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_history_is_compacted_when_asked() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "text": "a long story" }),
        json!({ "text": "the gist" }),
        json!({ "text": "yes" }),
    ]);
    run(&mut client, &thread, "tell me").await;
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    let messages = client.until("turn/completed").await;
    let wanted = [
        "status active",
        "turn/started",
        "item/started contextCompaction",
        "item/completed contextCompaction",
        "thread/compacted",
        "status idle",
        "turn/completed completed",
    ];
    assert_eq!(order(&messages), wanted);
    let id = text(&completed(&messages, "contextCompaction")[0]["id"]);
    assert!(uuid::Uuid::parse_str(&id).is_ok(), "{id}");
    run(&mut client, &thread, "do you remember?").await;
    let sent = stage.last_request();
    assert!(
        sent.contains("the gist") && sent.contains("tell me"),
        "{sent}"
    );
    assert!(
        !sent.contains("a long story"),
        "the answers are replaced by their summary"
    );
}

/// Nothing is known of the model yet, but how much it can hold is told all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_can_be_compacted_before_its_first_turn() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "nothing yet" })]);
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let mut usage = messages
        .iter()
        .filter(|it| it["method"] == "thread/tokenUsage/updated");
    assert!(usage.all(|it| it["params"]["tokenUsage"]["modelContextWindow"].is_i64()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_compacted_stays_so_after_a_restart() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "text": "a long story" }),
        json!({ "text": "the gist" }),
        json!({ "text": "yes" }),
    ]);
    run(&mut client, &thread, "tell me").await;
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    client.skip_to("turn/completed").await;
    stage.restart().await;
    let mut client = stage.client().await;
    client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    run(&mut client, &thread, "do you remember?").await;
    let sent = stage.last_request();
    assert!(
        sent.contains("the gist") && !sent.contains("a long story"),
        "{sent}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_history_is_compacted_before_the_next_request() {
    let stage = Stage::with("model_auto_compact_token_limit = 500").await;
    let (mut client, thread) = stage.thread().await;
    let full = json!({ "input": 900, "cached": 0, "output": 10, "reasoning": 0 });
    let mut call = calls("exec_command", json!({ "cmd": "true" }));
    call["usage"] = full.clone();
    stage.play([
        call,
        json!({ "text": "the gist" }),
        json!({ "text": "on", "usage": full }),
        json!({ "text": "gist two" }),
        json!({ "text": "end" }),
    ]);
    let messages = run(&mut client, &thread, "work").await;
    assert_eq!(status(&messages), "completed");
    let compacted = |messages: &[Value]| {
        order(messages)
            .iter()
            .filter(|it| *it == "thread/compacted")
            .count()
    };
    assert_eq!(
        compacted(&messages),
        1,
        "in the middle of the turn: {:?}",
        order(&messages)
    );
    let messages = run(&mut client, &thread, "more").await;
    assert_eq!(status(&messages), "completed");
    assert_eq!(
        compacted(&messages),
        1,
        "before the turn's input: {:?}",
        order(&messages)
    );
    assert!(stage.last_request().contains("gist two"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_that_fails_changes_nothing() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "text": "a long story" }),
        json!({ "fail": 500 }),
        json!({ "text": "yes" }),
    ]);
    run(&mut client, &thread, "tell me").await;
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "failed");
    assert!(!order(&messages).contains(&"thread/compacted".to_owned()));
    assert_eq!(
        status(&run(&mut client, &thread, "and?").await),
        "completed"
    );
    assert!(stage.last_request().contains("a long story"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_takes_the_place_of_a_turn_and_takes_no_input() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "text": "half", "stall": true }),
        json!({ "stall": true }),
    ]);
    say(&mut client, &thread, "work").await;
    client.skip_to("item/agentMessage/delta").await;
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    assert_eq!(status(&client.until("turn/completed").await), "interrupted");
    let started = client.skip_to("turn/started").await;
    stage.model.received(2).await;
    let turn = started["params"]["turn"]["id"].clone();
    let steer = json!({ "threadId": thread, "expectedTurnId": turn, "input": [{ "type": "text", "text": "x" }] });
    assert_eq!(
        client.refused("turn/steer", steer).await,
        "cannot steer a compact turn"
    );
    client
        .call(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    assert_eq!(status(&client.until("turn/completed").await), "interrupted");
    stage.play([json!({ "text": "fine" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "next").await),
        "completed"
    );
}

/// A history that does not even fit into the request for its summary is cut at its beginning.
#[tokio::test(flavor = "multi_thread")]
async fn a_history_too_long_to_be_summarised_is_cut_at_its_beginning() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let full = json!({ "error": { "code": "context_length_exceeded", "message": "too long" } });
    stage.play([
        json!({ "text": "the oldest story" }),
        json!({ "text": "the newest story" }),
        full.clone(),
        full.clone(),
        full,
        json!({ "text": "the gist" }),
        json!({ "text": "yes" }),
    ]);
    run(&mut client, &thread, "first").await;
    run(&mut client, &thread, "second").await;
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed", "{:?}", order(&messages));
    let requests = stage.model.requests();
    let sent: Vec<usize> = requests[2..]
        .iter()
        .map(|it| it.body["input"].as_array().unwrap().len())
        .collect();
    assert!(sent.is_sorted_by(|a, b| a > b), "{sent:?}");
    let last = stage.last_request();
    assert!(last.contains("the newest story") && !last.contains("the oldest story"));
    run(&mut client, &thread, "third").await;
    let sent = stage.last_request();
    assert!(
        sent.contains("the gist") && sent.contains("first"),
        "the person's words stay: {sent}"
    );
}

/// A provider that counts more tokens than the limit, whatever it is sent, and a model that never finishes.
#[tokio::test(flavor = "multi_thread")]
async fn compaction_that_does_not_help_ends_the_turn() {
    let stage = Stage::with("model_auto_compact_token_limit = 1000").await;
    let (mut client, thread) = stage.thread().await;
    let usage = json!({ "input": 5000, "cached": 0, "output": 10, "reasoning": 0 });
    for _ in 0..20 {
        let mut call = calls("exec_command", json!({ "cmd": "true" }));
        call["usage"] = usage.clone();
        stage.play([call, json!({ "text": "the gist" })]);
    }
    let messages = run(&mut client, &thread, "go").await;
    let error = &messages.last().unwrap()["params"]["turn"]["error"];
    assert_eq!(error["codexErrorInfo"], "contextWindowExceeded");
    let why =
        "The history was over the limit of 1000 tokens again right after each of 5 compactions.";
    assert!(text(&error["message"]).starts_with(why), "{error}");
    assert_eq!(stage.model.requests().len(), 11);
}

fn message(role: &str, text: &str) -> Value {
    json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] })
}

/// A provider of the name `OpenAI`, which compacts histories itself.
async fn remote(settings: &str) -> Stage {
    let provider = "wire_api = \"responses\"\nname = \"OpenAI\"";
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    Stage::build(directory, home, settings, provider).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_can_compacts_the_history_itself() {
    let mut stage = remote("").await;
    stage.model.set_compacted(json!({ "output": [
        message("user", "kept words"),
        message("developer", "stale"),
        { "type": "compaction", "id": "cmp_1", "encrypted_content": "ENC" },
    ]}));
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "a long story" }), json!({ "text": "yes" })]);
    run(&mut client, &thread, "tell me").await;
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    let messages = client.until("turn/completed").await;
    let wanted = [
        "status active",
        "turn/started",
        "item/started contextCompaction",
        "item/completed contextCompaction",
        "thread/compacted",
        "status idle",
        "turn/completed completed",
    ];
    assert_eq!(order(&messages), wanted);
    let sent = stage.model.requests().pop().unwrap();
    assert_eq!(sent.path, "/v1/responses/compact");
    let names: Vec<&str> = sent.headers.keys().map(String::as_str).collect();
    assert!(names.contains(&"session_id") && !names.contains(&"x-codex-turn-metadata"));
    assert_eq!(sent.headers["accept"], "*/*");
    assert!(!sent.body["tools"].as_array().unwrap().is_empty());
    let last = sent.body["input"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(
        last["content"][0]["text"], "a long story",
        "no prompt asks for a summary"
    );
    stage.restart().await;
    let mut client = stage.client().await;
    client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    run(&mut client, &thread, "do you remember?").await;
    let input = stage.model.requests().pop().unwrap().body["input"].clone();
    assert_eq!(input[0], message("user", "kept words"));
    assert_eq!(
        input[1],
        json!({ "type": "compaction", "encrypted_content": "ENC" })
    );
    let sent = input.to_string();
    assert!(
        !sent.contains("stale") && !sent.contains("a long story"),
        "{sent}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_compacts_in_the_middle_of_a_turn() {
    let stage = remote("model_auto_compact_token_limit = 500").await;
    stage
        .model
        .set_compacted(json!({ "output": [message("user", "kept words")] }));
    let (mut client, thread) = stage.thread().await;
    let mut call = calls("exec_command", json!({ "cmd": "true" }));
    call["usage"] = json!({ "input": 900, "cached": 0, "output": 10, "reasoning": 0 });
    stage.play([call, json!({ "text": "end" })]);
    let messages = run(&mut client, &thread, "work").await;
    assert_eq!(status(&messages), "completed");
    assert!(order(&messages).contains(&"thread/compacted".to_owned()));
    let input = stage.model.requests().pop().unwrap().body["input"].clone();
    let input = input.as_array().unwrap();
    assert_eq!(input.last(), Some(&message("user", "kept words")));
    assert!(input.len() > 1, "the context of the turn comes before it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_fails_to_compact_fails_the_turn() {
    let stage = remote("").await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "a long story" }), json!({ "text": "yes" })]);
    run(&mut client, &thread, "tell me").await;
    for (answer, why) in [
        (json!("garbage"), "stream disconnected before completion: "),
        (
            json!({ "output": {} }),
            "stream disconnected before completion: ",
        ),
    ] {
        stage.model.set_compacted(answer);
        client
            .call("thread/compact/start", json!({ "threadId": thread }))
            .await;
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "failed");
        assert!(!order(&messages).contains(&"thread/compacted".to_owned()));
        let error = text(&messages.last().unwrap()["params"]["turn"]["error"]["message"]);
        let wanted = format!("Error running remote compact task: {why}");
        assert!(error.starts_with(&wanted), "{error}");
    }
    assert_eq!(
        status(&run(&mut client, &thread, "and?").await),
        "completed"
    );
    assert!(stage.last_request().contains("a long story"));
}
