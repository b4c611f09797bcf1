//! A defect of our own inside a tool costs that call and nothing else.

use quipu_testkit::conversation::Conversation;
use serde_json::json;

use crate::support::app_server;

/// One tool of each kind: commands, patches, notes, pictures, questions, agents, unknown ones.
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
    let folder = tempfile::tempdir().unwrap();
    let points = folder.path().join("points");
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
    let told = client.until("turn/completed").await;
    assert_eq!(
        told.last().unwrap()["params"]["turn"]["status"],
        "completed"
    );
    let spoke = |it: &serde_json::Value| it["params"]["item"]["text"] == "I go on";
    assert!(told.iter().any(spoke));
    let rollout = std::fs::read_to_string(started["thread"]["path"].as_str().unwrap()).unwrap();
    let read = rollout
        .matches("the tool failed by a defect of the server")
        .count();
    assert_eq!(read, TOOLS.len(), "{rollout}");
}
