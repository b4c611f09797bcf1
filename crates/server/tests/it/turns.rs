//! Turns from their first event to their only end, whatever the model does.

use quipu_testkit::model::{Stop, Then};
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, gate, input, open, order, run, say, status, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_turn_is_reported_in_order() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "reasoning": "Hm.", "deltas": ["Hel", "lo"] })]);
    let request = client.ask("turn/start", input(&thread, "hi")).await;
    let received = client.until("turn/completed").await;
    assert_eq!(received[0]["id"], request, "the answer comes first");
    let wanted = [
        "answer",
        "status active",
        "turn/started",
        "item/started userMessage",
        "item/completed userMessage",
        "item/started reasoning",
        "item/reasoning/summaryPartAdded",
        "item/reasoning/summaryTextDelta",
        "item/completed reasoning",
        "item/started agentMessage",
        "item/agentMessage/delta",
        "item/agentMessage/delta",
        "item/completed agentMessage",
        "status idle",
        "turn/completed completed",
    ];
    assert_eq!(order(&received), wanted);
    let turn = &received[0]["result"]["turn"]["id"];
    let named = received.iter().filter_map(|it| it["params"].get("turnId"));
    assert!(named.into_iter().all(|id| id == turn), "one turn, one id");
    assert_eq!(completed(&received, "agentMessage")[0]["text"], "Hello");
}

/// A message that the model begins and says nothing in is not stored, so it is not shown either.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_words_is_not_shown() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let silent = [
        json!({ "text": "" }),
        json!({ "deltas": [""], "cut": true }),
    ];
    for answer in silent {
        stage.play([answer, json!({ "text": "said" })]);
        let received = run(&mut client, &thread, "well?").await;
        let shown = order(&received);
        let started = shown.iter().filter(|it| *it == "item/started agentMessage");
        let texts = completed(&received, "agentMessage");
        assert!(texts.iter().all(|it| it["text"] == "said"), "{texts:?}");
        assert_eq!(started.count(), texts.len());
    }
    stage.restart().await;
    let mut client = stage.client().await;
    let params = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", params).await;
    let turns = read["thread"]["turns"].as_array().unwrap().iter();
    let items = turns.flat_map(|turn| turn["items"].as_array().unwrap());
    let mut messages = items.filter(|item| item["type"] == "agentMessage");
    assert!(messages.all(|it| it["text"] == "said"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_turn_knows_the_first() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "blue" }), json!({ "text": "still blue" })]);
    run(&mut client, &thread, "which colour?").await;
    let received = run(&mut client, &thread, "and now?").await;
    assert_eq!(status(&received), "completed");
    let sent = stage.last_request();
    for words in ["which colour?", "blue", "and now?"] {
        assert!(sent.contains(words), "{words} in {sent}");
    }
}

/// Every way in which a model breaks ends the turn once, and the next turn works.
#[tokio::test(flavor = "multi_thread")]
async fn a_failing_model_fails_one_turn() {
    let failures = [
        (json!({ "fail": 500 }), "internalServerError"),
        (
            json!({ "fail": 400, "body": { "error": { "message": "no" } } }),
            "badRequest",
        ),
        (json!({ "fail": 401 }), "unauthorized"),
        (json!({ "fail": 403 }), "responseStreamConnectionFailed"),
        (json!({ "fail": 429 }), "responseTooManyFailedAttempts"),
        (
            json!({ "text": "half", "cut": true }),
            "responseStreamDisconnected",
        ),
        (
            json!({ "raw": "event: noise\ndata: {{{\n\n" }),
            "responseStreamDisconnected",
        ),
        (
            json!({ "raw": "\u{0}\u{1}<html>not a stream</html>" }),
            "responseStreamDisconnected",
        ),
        (
            json!({ "error": { "code": "context_length_exceeded", "message": "long" } }),
            "contextWindowExceeded",
        ),
        (
            json!({ "incomplete": "max_output_tokens" }),
            "responseStreamDisconnected",
        ),
    ];
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    for (step, info) in failures {
        stage.play([step.clone(), json!({ "text": "well again" })]);
        let received = run(&mut client, &thread, "try").await;
        assert_eq!(status(&received), "failed", "{step}");
        let error = &received.last().unwrap()["params"]["turn"]["error"];
        assert!(
            error["codexErrorInfo"].to_string().contains(info),
            "{step}: {error}"
        );
        let received = run(&mut client, &thread, "again").await;
        assert_eq!(status(&received), "completed", "{step}");
        let started = received.iter().filter(|it| it["method"] == "turn/started");
        assert_eq!(
            started.count(),
            1,
            "{step}: nothing of the failed turn came late"
        );
    }
    let read = client
        .call(
            "thread/read",
            json!({ "threadId": thread, "includeTurns": true }),
        )
        .await;
    let turns = read["thread"]["turns"].as_array().unwrap();
    let statuses: Vec<String> = turns.iter().map(|turn| text(&turn["status"])).collect();
    assert_eq!(
        statuses,
        ["failed", "completed"].repeat(10),
        "failures are read back as failures"
    );
}

/// Limits are reported as the provider says them, also when they are why it refuses; another model is reported once.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_says_of_itself_is_reported() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let said = |percent: u32| json!({ "openai-model": "other", "x-codex-primary-used-percent": percent.to_string(), "x-codex-primary-window-minutes": "300" });
    let refusal = json!({ "error": { "type": "usage_limit_reached", "message": "no more" } });
    stage.play([
        json!({ "calls": [{ "name": "exec_command", "arguments": { "cmd": "true" } }], "headers": said(40) }),
        json!({ "text": "done", "headers": said(50) }),
        json!({ "fail": 429, "body": refusal, "headers": said(100) }),
    ]);
    let mut received = run(&mut client, &thread, "one").await;
    received.extend(run(&mut client, &thread, "two").await);
    let of = |method: &str| {
        let found = received.iter().filter(|it| it["method"] == method);
        found.map(|it| it["params"].clone()).collect::<Vec<_>>()
    };
    let percents: Vec<Value> = of("account/rateLimits/updated")
        .iter()
        .map(|it| it["rateLimits"]["primary"]["usedPercent"].clone())
        .collect();
    assert_eq!(percents, [40, 40, 50, 50, 100]);
    let rerouted = of("model/rerouted");
    assert_eq!(rerouted.len(), 1, "{rerouted:?}");
    assert_eq!(rerouted[0]["toModel"], "other");
    assert_eq!(
        received.last().unwrap()["params"]["turn"]["error"]["codexErrorInfo"],
        "usageLimitExceeded"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_stream_is_tried_again_if_the_provider_allows_it() {
    let stage = Stage::new().await;
    let settings = json!({ "config": { "model_providers.scripted.stream_max_retries": 1 } });
    let (mut client, thread) = stage.thread_with(settings).await;
    stage.play([
        json!({ "text": "half", "cut": true }),
        json!({ "text": "whole" }),
    ]);
    let received = run(&mut client, &thread, "try").await;
    assert_eq!(status(&received), "completed");
    let retry = received.iter().find(|it| it["method"] == "error").unwrap();
    assert_eq!(retry["params"]["willRetry"], true);
    assert_eq!(
        completed(&received, "agentMessage").last().unwrap()["text"],
        "whole"
    );
}

/// A model that breaks the protocol's order, sends what nobody knows, and too much of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_lying_model_hurts_nobody() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let event = |value: Value| format!("data: {value}\n\n");
    let delta = |delta: &str| {
        event(
            json!({ "type": "response.output_text.delta", "output_index": 7, "item_id": "ghost", "delta": delta }),
        )
    };
    let lies = [
        delta("from nowhere"),
        event(json!({ "type": "response.unheard_of", "x": 1 })),
        event(
            json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "unheard_of", "id": "u" } }),
        ),
        event(
            json!({ "type": "response.output_item.done", "output_index": 1, "item": { "type": "message" } }),
        ),
        event(json!({ "type": "response.output_item.added", "item": 7 })),
        event(json!({ "type": "response.completed" })),
    ];
    stage.play([
        json!({ "raw": lies.concat(), "text": "honestly" }),
        json!({ "deltas": 3, "size": 1 << 20 }),
        json!({ "bad_utf8": true, "text": "odd" }),
    ]);
    for words in ["lie", "talk", "mumble"] {
        let received = run(&mut client, &thread, words).await;
        let ends = received
            .iter()
            .filter(|it| it["method"] == "turn/completed")
            .count();
        assert_eq!(ends, 1, "{words}: {:?}", order(&received));
        let items = |method: &str| {
            let all = received.iter().filter(|it| it["method"] == method);
            all.map(|it| text(&it["params"]["item"]["id"]))
                .collect::<Vec<_>>()
        };
        let mut done = items("item/completed");
        done.sort();
        let before = done.len();
        done.dedup();
        assert_eq!(done.len(), before, "{words}: an item completes once");
        assert!(
            done.iter().all(|id| items("item/started").contains(id)),
            "{words}"
        );
    }
    stage.play([json!({ "text": "well" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "and now").await),
        "completed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_model_can_be_interrupted() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    for (step, told_first) in [
        (json!({ "stall": true }), "item/completed"),
        (
            json!({ "text": "half", "stall": true }),
            "item/agentMessage/delta",
        ),
        (json!({ "hang": 600_000 }), "item/completed"),
    ] {
        stage.play([step.clone(), json!({ "text": "fine" })]);
        let requests = stage.model.requests().len() as u64;
        let turn = say(&mut client, &thread, "work").await;
        client.skip_to(told_first).await;
        stage.model.received(requests + 1).await;
        let params = json!({ "threadId": thread, "turnId": turn });
        let first = client.ask("turn/interrupt", params.clone()).await;
        let second = client.ask("turn/interrupt", params).await;
        let mut received = client.until("turn/completed").await;
        assert_eq!(status(&received), "interrupted", "{step}");
        let answers: Vec<_> = received
            .iter()
            .filter(|it| it.get("result").is_some())
            .map(|it| it["id"].clone())
            .collect();
        assert_eq!(
            answers.first(),
            Some(&json!(first)),
            "the interrupt is answered before the turn's end"
        );
        if answers.len() < 2 {
            client.answered(second).await.unwrap();
        }
        received = run(&mut client, &thread, "go on").await;
        assert_eq!(status(&received), "completed", "{step}");
        assert!(
            stage.last_request().contains("<turn_aborted>"),
            "the model learns of the interrupt"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_is_answered_when_nothing_runs() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let params = json!({ "threadId": thread, "turnId": "whatever" });
    assert_eq!(
        client.call("turn/interrupt", params.clone()).await,
        json!({})
    );
    stage.play([json!({ "text": "hello" })]);
    assert_eq!(status(&run(&mut client, &thread, "hi").await), "completed");
    assert_eq!(client.call("turn/interrupt", params).await, json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_that_comes_too_late_does_not_end_the_next_turn() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "one" })]);
    let over = say(&mut client, &thread, "first").await;
    client.until("turn/completed").await;
    let gate = stage.model.queue_gated(
        serde_json::from_value(json!({ "text": "two" })).unwrap(),
        Stop::BeforeAnswer,
    );
    say(&mut client, &thread, "second").await;
    stage.model.received(2).await;
    let params = json!({ "threadId": thread, "turnId": over });
    client.refused("turn/interrupt", params).await;
    gate.open(Then::Finish);
    assert_eq!(status(&client.until("turn/completed").await), "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn input_for_a_running_turn_steers_it() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([calls("gate", json!({})), json!({ "text": "as you wish" })]);
    let turn = say(&mut client, &thread, "begin").await;
    let question = client.skip_to("item/tool/call").await;
    assert_eq!(
        say(&mut client, &thread, "also this").await,
        turn,
        "the running turn takes it"
    );
    let steer = json!({ "threadId": thread, "expectedTurnId": turn, "input": [{ "type": "text", "text": "and that" }] });
    assert_eq!(
        client.call("turn/steer", steer).await,
        json!({ "turnId": turn })
    );
    client.reply(&question["id"], open()).await;
    let received = client.until("turn/completed").await;
    assert_eq!(status(&received), "completed");
    let words: Vec<_> = completed(&received, "userMessage")
        .iter()
        .map(|it| text(&it["content"][0]["text"]))
        .collect();
    assert_eq!(words, ["also this", "and that"]);
    assert!(!received.iter().any(|it| it["method"] == "turn/started"));
    assert!(stage.last_request().contains("and that"));
}

#[tokio::test(flavor = "multi_thread")]
async fn input_that_makes_no_sense_is_refused() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    let words = json!([{ "type": "text", "text": "x" }]);
    let steer = |expected: &str, input: &Value| json!({ "threadId": thread, "expectedTurnId": expected, "input": input });
    let refused = client.refused("turn/steer", steer("t", &words)).await;
    assert_eq!(refused, "no active turn to steer");
    assert_eq!(
        client.refused("turn/steer", steer("", &words)).await,
        "expectedTurnId must not be empty"
    );
    let nothing = json!({ "threadId": thread, "input": [] });
    assert_eq!(
        client.refused("turn/start", nothing).await,
        "input must not be empty"
    );
    let long = input(&thread, &"x".repeat((1 << 20) + 1));
    let error = client.try_call("turn/start", long).await.unwrap_err();
    assert_eq!(error["code"], -32602);
    assert_eq!(error["data"]["actual_chars"], (1 << 20) + 1);
    let unknown = input("00000000-0000-7000-8000-000000000000", "x");
    assert!(
        client
            .refused("turn/start", unknown)
            .await
            .starts_with("thread not found: ")
    );

    stage.play([calls("gate", json!({})), json!({ "text": "done" })]);
    let turn = say(&mut client, &thread, "begin").await;
    let question = client.skip_to("item/tool/call").await;
    let refused = client.refused("turn/steer", steer("other", &words)).await;
    assert_eq!(
        refused,
        format!("expected active turn id `other` but found `{turn}`")
    );
    assert_eq!(
        client.refused("turn/steer", steer(&turn, &json!([]))).await,
        "input must not be empty"
    );
    client.reply(&question["id"], open()).await;
    assert_eq!(
        status(&client.until("turn/completed").await),
        "completed",
        "refusals do not touch the turn"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_turn_changes_holds_for_later_ones() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "{}" }), json!({ "text": "two" })]);
    let mut params = input(&thread, "first");
    params["model"] = json!("other-model");
    params["cwd"] = json!(stage.home());
    params["outputSchema"] =
        json!({ "type": "object", "properties": {}, "additionalProperties": false });
    client.call("turn/start", params).await;
    client.skip_to("turn/completed").await;
    run(&mut client, &thread, "second").await;
    let requests = stage.model.requests();
    assert!(
        requests[0].body["text"]["format"].is_object(),
        "{}",
        requests[0].body["text"]
    );
    assert!(
        requests[1].body["text"].get("format").is_none(),
        "a schema is for one turn"
    );
    assert_eq!(requests[1].body["model"], "other-model");
    let joined = client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert_eq!(joined["cwd"], json!(stage.home()));
    assert_eq!(joined["model"], "other-model");
}

/// A mode that a client chooses explains itself to the model, the default one too; before that nothing
/// is said of modes.
#[tokio::test(flavor = "multi_thread")]
async fn a_mode_without_instructions_has_the_built_in_ones() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    run(&mut client, &thread, "one").await;
    assert!(!stage.last_request().contains("<collaboration_mode>"));
    for (mode, words) in [("default", "request_user_input"), ("plan", "proposed_plan")] {
        let mut params = input(&thread, mode);
        params["collaborationMode"] =
            json!({ "mode": mode, "settings": { "model": "scripted-model" } });
        client.call("turn/start", params).await;
        client.skip_to("turn/completed").await;
        let sent = stage.last_request();
        let received = sent.rsplit("<collaboration_mode>").next().unwrap();
        assert!(
            sent.contains("<collaboration_mode>") && received.contains(words),
            "{mode}: {sent}"
        );
    }
    let mut params = input(&thread, "own words");
    let settings = json!({ "model": "scripted-model", "developer_instructions": "be brave" });
    params["collaborationMode"] = json!({ "mode": "default", "settings": settings });
    client.call("turn/start", params).await;
    client.skip_to("turn/completed").await;
    let sent = stage.last_request();
    assert!(
        sent.rsplit("<collaboration_mode>")
            .next()
            .unwrap()
            .starts_with("be brave"),
        "{sent}"
    );
}
