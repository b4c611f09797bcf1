//! Turns over each of the three wire formats: with models that break every promise, and with output of a
//! shape that the client wants. Whatever a turn met, the next one works.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::mcp::PIXEL;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, input, order, run, status, text};

const WIRES: [&str; 3] = ["responses", "chat", "anthropic"];

fn failure(messages: &[Value]) -> Value {
    assert_eq!(status(messages), "failed", "{:?}", order(messages));
    messages.last().unwrap()["params"]["turn"]["error"].clone()
}

async fn next_turn_works(stage: &Stage, client: &mut Conversation, thread: &str) {
    stage.play([json!({ "text": "all is well" })]);
    let messages = run(client, thread, "and now?").await;
    assert_eq!(status(&messages), "completed", "{:?}", order(&messages));
    assert_eq!(
        completed(&messages, "agentMessage")[0]["text"],
        "all is well"
    );
}

/// What a broken provider serves, and what the client is told of it.
fn broken() -> [(Value, &'static str); 6] {
    [
        (
            json!({ "raw": "<h1>Login</h1>", "headers": { "content-type": "text/html" } }),
            "provider `scripted` answered with `text/html` instead of an event stream",
        ),
        (json!({ "raw": "" }), "provider `scripted` sent no event"),
        (
            json!({ "raw": "data: {not json\n\n\u{0}\n\n" }),
            "provider `scripted` sent 1 events that cannot be read",
        ),
        (
            json!({ "deltas": 1_000_000_000_000u64, "size": 100 }),
            "provider `scripted` was cut off: the answer is larger than 1048576 bytes",
        ),
        (
            json!({ "deltas": 1, "size": 20 << 20 }),
            "provider `scripted` was cut off: the answer is larger than 1048576 bytes",
        ),
        (
            json!({ "text": "half", "cut": true }),
            "provider `scripted` broke the connection",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_provider_fails_the_turn_and_nothing_else() {
    for wire in WIRES {
        let stage = Stage::speaking(wire, "max_response_bytes = 1048576").await;
        let (mut client, thread) = stage.thread().await;
        for (served, words) in broken() {
            stage.play([served]);
            let error = failure(&run(&mut client, &thread, "hi").await);
            let details = error["additionalDetails"].as_str().unwrap_or_default();
            assert!(details.starts_with(words), "{wire}: {error}");
            next_turn_works(&stage, &mut client, &thread).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_mended_is() {
    for wire in WIRES {
        let stage = Stage::speaking(wire, "").await;
        let (mut client, thread) = stage.thread().await;
        stage.play([json!({ "deltas": ["a", "b"], "bad_utf8": true })]);
        let messages = run(&mut client, &thread, "hi").await;
        let words = text(&completed(&messages, "agentMessage")[0]["text"]);
        assert!(words.ends_with("ab"), "{wire}: {words}");

        // Ten megabytes in one event are much, but they are an answer.
        stage.play([json!({ "deltas": 1, "size": 10 << 20 })]);
        let messages = run(&mut client, &thread, "hi").await;
        assert_eq!(
            text(&completed(&messages, "agentMessage")[0]["text"]).len(),
            10 << 20,
            "{wire}"
        );

        // Of a call that cannot be read, the model is told.
        stage.play([
            calls("exec_command", json!("{\"cmd\": ")),
            json!({ "text": "sorry" }),
        ]);
        let messages = run(&mut client, &thread, "hi").await;
        assert_eq!(status(&messages), "completed", "{wire}");
        let sent = stage.last_request();
        assert!(
            sent.contains("EOF while parsing"),
            "{wire}: the model is messages why"
        );
        next_turn_works(&stage, &mut client, &thread).await;
    }
}

fn shaped(thread: &str) -> Value {
    let mut params = input(thread, "how many?");
    params["outputSchema"] = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    params
}

#[tokio::test(flavor = "multi_thread")]
async fn a_final_message_of_the_wrong_shape_is_asked_for_again_once() {
    for wire in WIRES {
        let settings = match wire {
            "responses" => "",
            _ => "structured_output = \"instruction\"",
        };
        let stage = Stage::speaking(wire, settings).await;
        let (mut client, thread) = stage.thread().await;
        stage.play([json!({ "text": "three" }), json!({ "text": "{\"n\":3}" })]);
        client.call("turn/start", shaped(&thread)).await;
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "completed", "{wire}");
        let words = completed(&messages, "agentMessage");
        assert_eq!(words.last().unwrap()["text"], "{\"n\":3}", "{wire}");
        let sent = stage.last_request();
        assert!(
            sent.contains("does not match the JSON Schema"),
            "{wire}: {sent}"
        );

        stage.play([
            json!({ "text": "three" }),
            json!({ "text": "{\"n\":\"three\"}" }),
        ]);
        client.call("turn/start", shaped(&thread)).await;
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "completed", "{wire}");
        let warning = messages.iter().find(|it| it["method"] == "warning");
        let expected = json!({ "threadId": thread, "message": WRONG });
        assert_eq!(warning.unwrap()["params"], expected, "{wire}");

        stage.play([json!({ "text": "three" }), json!({ "text": "three" })]);
        client.call("turn/start", shaped(&thread)).await;
        let error = text(&failure(&client.until("turn/completed").await)["message"]);
        assert!(error.contains("the message is not JSON"), "{wire}: {error}");
        next_turn_works(&stage, &mut client, &thread).await;
    }
}

const WRONG: &str = "The final message of scripted-model does not match the output schema: $.n: is not of type integer";

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_output_schema_fails_the_turn() {
    let stage = Stage::with("output_schema = \"strict\"").await;
    let (mut client, thread) = stage.thread().await;
    stage.play((0..2).map(|_| json!({ "text": "{\"n\":\"three\"}" })));
    client.call("turn/start", shaped(&thread)).await;
    let error = failure(&client.until("turn/completed").await);
    assert_eq!(error["message"], WRONG);
    next_turn_works(&stage, &mut client, &thread).await;
}

/// Tokens of a turn and of the thread, counted by provider or server.
#[tokio::test(flavor = "multi_thread")]
async fn usage_is_reported_for_every_provider() {
    for wire in WIRES {
        let stage = Stage::speaking(wire, "").await;
        let (mut client, thread) = stage.thread().await;
        // Anthropic counts thinking as output and nowhere else.
        let reasoning = if wire == "anthropic" { 0 } else { 5 };
        let usage = json!({ "input": 100, "cached": 40, "output": 20, "reasoning": reasoning });
        for turns in 1..=2 {
            stage.play([json!({ "text": "ok", "usage": usage })]);
            let messages = run(&mut client, &thread, "hi").await;
            let counts = messages
                .iter()
                .rfind(|it| it["method"] == "thread/tokenUsage/updated")
                .unwrap();
            let counts = &counts["params"]["tokenUsage"];
            let tokens = |times: i64| {
                json!({
                    "totalTokens": 120 * times, "inputTokens": 100 * times, "cachedInputTokens": 40 * times,
                    "outputTokens": 20 * times, "reasoningOutputTokens": reasoning * times,
                })
            };
            assert_eq!(counts["last"], tokens(1), "{wire}");
            assert_eq!(counts["total"], tokens(turns), "{wire}");
        }
    }
}

/// An image of the user's in the words of each format.
#[tokio::test(flavor = "multi_thread")]
async fn pictures_reach_every_provider() {
    let url = format!("data:image/png;base64,{PIXEL}");
    for wire in WIRES {
        let stage = Stage::speaking(wire, "").await;
        let (mut client, thread) = stage.thread().await;
        let input = json!([{ "type": "text", "text": "look" }, { "type": "image", "url": url }]);
        let params = json!({ "threadId": thread, "input": input });
        client.call("turn/start", params).await;
        assert_eq!(status(&client.until("turn/completed").await), "completed");
        let shown = match wire {
            "responses" => json!({ "type": "input_image", "image_url": url }),
            "chat" => json!({ "type": "image_url", "image_url": { "url": url } }),
            _ => json!({ "type": "base64", "media_type": "image/png", "data": PIXEL }),
        };
        let sent = stage.last_request();
        assert!(sent.contains(&shown.to_string()), "{wire}: {sent}");
    }
}

/// What a provider wants to hear again it hears in the same turn, and in no other.
#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_turn_is_sent_back_within_it() {
    let stage = Stage::speaking("responses", "").await;
    let (mut client, thread) = stage.thread().await;
    let mut step = calls("update_plan", json!({ "plan": [] }));
    step["headers"] = json!({ "x-codex-turn-state": "s1" });
    stage.play([step, json!({ "text": "done" }), json!({ "text": "next" })]);
    run(&mut client, &thread, "hi").await;
    run(&mut client, &thread, "and").await;
    let sent = stage.model.requests();
    let states: Vec<Option<&str>> = sent
        .iter()
        .map(|it| it.headers.get("x-codex-turn-state").map(String::as_str))
        .collect();
    assert_eq!(states, [None, Some("s1"), None]);
}
