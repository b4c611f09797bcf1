//! A model that calls tools wrongly reads what was wrong, and its turn goes on.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::stage::{Stage, completed, order, run, status, text};

/// What the model read of its calls, by their ids.
fn outputs(stage: &Stage) -> BTreeMap<String, String> {
    let requests = stage.model.requests();
    let input = requests.last().unwrap().body["input"].as_array().unwrap();
    let outputs = input
        .iter()
        .filter(|item| text(&item["type"]).ends_with("_call_output"));
    outputs
        .map(|item| (text(&item["call_id"]), text(&item["output"])))
        .collect()
}

fn call(id: usize, (name, arguments, custom): (&str, Value, bool)) -> Value {
    json!({ "name": name, "arguments": arguments, "custom": custom, "call_id": format!("call-{id}") })
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_and_unknown_tools_are_reported_to_the_model() {
    let unparsed = "failed to parse function arguments: ";
    let cases = [
        (("exec_command", json!({ "cmd": 3 }), false), unparsed),
        (("exec_command", json!("no json"), false), unparsed),
        (("write_stdin", json!({}), false), unparsed),
        (
            ("write_stdin", json!({ "session_id": 4 }), false),
            "write_stdin failed: Unknown process id 4",
        ),
        (("shell", json!({ "command": "ls" }), false), unparsed),
        (("shell_command", json!({}), false), unparsed),
        (("update_plan", json!({ "x": 1 }), false), unparsed),
        (
            (
                "update_plan",
                json!({ "plan": [{ "step": "a", "status": "later" }] }),
                false,
            ),
            unparsed,
        ),
        (("view_image", json!({}), false), unparsed),
        (
            ("view_image", json!({ "path": "missing.png" }), false),
            "unable to locate image at ",
        ),
        (
            ("apply_patch", json!("nonsense"), true),
            "apply_patch verification failed: ",
        ),
        (
            ("request_user_input", json!({ "questions": [] }), false),
            "request_user_input is unavailable in Default mode",
        ),
        (("gate", json!("no json"), false), unparsed),
        (
            ("no_such_tool", json!({}), false),
            "unsupported call: no_such_tool",
        ),
        (
            ("no_such_tool", json!("text"), true),
            "unsupported custom tool call: no_such_tool",
        ),
        (
            ("mcp__nowhere__tool", json!({}), false),
            "unsupported call: mcp__nowhere__tool",
        ),
    ];
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(crate::stage::gate()).await;
    let made = cases.iter().enumerate();
    let made: Vec<Value> = made.map(|(id, (made, _))| call(id, made.clone())).collect();
    stage.play([json!({ "calls": made }), json!({ "text": "I see" })]);
    let messages = run(&mut client, &thread, "try").await;
    assert_eq!(status(&messages), "completed", "{:?}", order(&messages));
    assert_eq!(completed(&messages, "agentMessage").len(), 1);
    let outputs = outputs(&stage);
    for (id, (made, expected)) in cases.iter().enumerate() {
        let output = &outputs[&format!("call-{id}")];
        assert!(output.starts_with(expected), "{made:?} gave {output}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_one_answer_run_beside_each_other() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let tools = [("exec_command", "cmd"), ("shell_command", "command")];
    for (tool, argument) in tools {
        // Each waits for the other: one after the other they would never end.
        let pipes = format!("mkfifo {tool}-a {tool}-b");
        let made = stage.directory().join(format!("{tool}-b"));
        let left = format!("{pipes}; echo ready > {tool}-b; cat {tool}-a");
        let right = format!(
            "until test -p '{}'; do :; done; cat {tool}-b; echo done > {tool}-a",
            made.display()
        );
        let [left, right] = [left, right].map(
            |script| json!({ argument: script, "yield_time_ms": 30_000, "timeout_ms": 30_000 }),
        );
        stage.play([
            json!({ "calls": [call(0, (tool, left, false)), call(1, (tool, right, false))] }),
            json!({ "text": "both" }),
        ]);
        let messages = run(&mut client, &thread, "talk").await;
        let exits: Vec<&Value> = completed(&messages, "commandExecution")
            .into_iter()
            .map(|item| &item["exitCode"])
            .collect();
        assert_eq!(exits, [0, 0], "{:?}", order(&messages));
        let outputs = outputs(&stage);
        assert!(outputs["call-0"].contains("done"), "{outputs:?}");
        assert!(outputs["call-1"].contains("ready"), "{outputs:?}");
    }
}
