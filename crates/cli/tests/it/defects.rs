//! A defect of our own inside a tool costs that call and nothing else, and one inside a thread that request.

use quipu_testkit::conversation::Conversation;
use serde_json::json;

use crate::support::app_server;

/// One tool of each kind: commands, patches, notes, images, questions, agents, unknown ones.
const TOOLS: [&str; 8] = [
    "exec_command",
    "write_stdin",
    "shell_command",
    "apply_patch",
    "update_plan",
    "view_image",
    "spawn_agent",
    "no_such_tool",
];

#[tokio::test]
async fn a_tool_that_panics_ends_its_call_and_the_turn_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let points = directory.path().join("points");
    let armed: Vec<String> = TOOLS.iter().map(|tool| format!("tool {tool}")).collect();
    std::fs::write(&points, armed.join("\n")).unwrap();
    let launch = app_server([]).env("QUIPU_FAIL_POINTS", points.to_str().unwrap());
    let mut process = launch.start();
    let mut client = Conversation::start(process.stdio()).await;
    let started = client.call("thread/start", json!({})).await;
    let calls: Vec<_> = TOOLS.iter().map(|tool| json!({ "name": tool })).collect();
    let script = json!({ "script": [{ "calls": calls }, { "text": "I go on" }] });
    let input = json!([{ "type": "text", "text": script.to_string() }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    let printed = client.until("turn/completed").await;
    assert_eq!(
        printed.last().unwrap()["params"]["turn"]["status"],
        "completed"
    );
    let spoke = |it: &serde_json::Value| it["params"]["item"]["text"] == "I go on";
    assert!(printed.iter().any(spoke));
    let rollout = std::fs::read_to_string(started["thread"]["path"].as_str().unwrap()).unwrap();
    let read = rollout
        .matches("the tool failed because of a bug in the server")
        .count();
    assert_eq!(read, TOOLS.len(), "{rollout}");
}

/// What a thread is asked to do, with params besides its id.
fn verbs() -> [(&'static str, serde_json::Value); 9] {
    let input = json!([{ "type": "text", "text": "hello" }]);
    let turn = "00000000-0000-7000-8000-000000000000";
    [
        ("turn/start", json!({ "input": input })),
        (
            "turn/steer",
            json!({ "input": input, "expectedTurnId": turn }),
        ),
        ("turn/interrupt", json!({ "turnId": turn })),
        ("thread/compact/start", json!({})),
        ("thread/shellCommand", json!({ "command": "true" })),
        (
            "review/start",
            json!({ "target": { "type": "custom", "instructions": "look" } }),
        ),
        ("thread/rollback", json!({ "numTurns": 1 })),
        ("thread/resume", json!({})),
        ("thread/unsubscribe", json!({})),
    ]
}

#[tokio::test]
async fn every_request_of_a_thread_that_panics_is_answered_with_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let points = directory.path().join("points");
    let launch = app_server([]).env("QUIPU_FAIL_POINTS", points.to_str().unwrap());
    let mut process = launch.start();
    let mut client = Conversation::start(process.stdio()).await;
    let started = client.call("thread/start", json!({})).await;
    let thread = started["thread"]["id"].clone();
    let input = json!([{ "type": "text", "text": "hello" }]);
    let hello = json!({ "threadId": thread, "input": input });
    client.call("turn/start", hello.clone()).await;
    client.skip_to("turn/completed").await;
    // As the message arrives, and when the engine is to deal with what became of it.
    let inner = verbs().into_iter().take(6).map(|verb| ("engine", verb));
    for (place, (method, mut params)) in verbs()
        .map(|verb| ("thread", verb))
        .into_iter()
        .chain(inner)
    {
        std::fs::write(&points, format!("{place} {method}")).unwrap();
        params["threadId"] = thread.clone();
        let error = client.try_call(method, params).await.unwrap_err();
        assert_eq!(error["code"], -32603, "{place} {method}: {error}");
        std::fs::write(&points, "").unwrap();
        // Nothing of it is left, and the thread goes on.
        client.call("turn/start", hello.clone()).await;
        let ended = client.skip_to("turn/completed").await;
        assert_eq!(
            ended["params"]["turn"]["status"], "completed",
            "after {place} {method}"
        );
    }
}
