//! Requirement 26: local tools.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_runner::session::{EventKind, Limits, SessionOptions, Tool, ToolResult, ToolSpec};
use serde_json::{Value, json};

use super::support::Lab;

pub struct Echo;

impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "echo".to_owned(),
            description: "Returns what it is given.".to_owned(),
            input_schema: json!({ "type": "object", "required": ["value"] }),
        }
    }

    fn call(&self, arguments: Value) -> BoxFuture<'_, ToolResult> {
        async move {
            match arguments.get("value") {
                Some(value) if value == "panic" => panic!("as asked"),
                Some(value) if value == "hang" => std::future::pending().await,
                Some(value) => ToolResult::success(value.clone()),
                None => ToolResult::failure("`value` is missing"),
            }
        }
        .boxed()
    }
}

/// Calls a tool in a turn that then goes on to its end; the answer.
async fn call(tool: &str, arguments: Value) -> (Lab, Value) {
    let params = json!({ "threadId": "thread-1", "turnId": "turn-1", "callId": "c", "tool": tool, "arguments": arguments });
    let request = json!({ "id": 102, "method": "item/tool/call", "params": params });
    let lab = Lab::new(&format!(
        "greet; turn 3 turn-1; say '{request}'; get; completed turn-1; stay"
    ));
    let options = SessionOptions {
        tools: vec![Arc::new(Echo)],
        limits: Limits {
            tool: Duration::from_millis(200),
            ..lab.options().limits
        },
        ..lab.options()
    };
    lab.run_with(options).await.unwrap();
    let answer = lab.answer(102)["result"].clone();
    (lab, answer)
}

fn said(success: bool, text: &str) -> Value {
    json!({ "success": success, "contentItems": [{ "type": "inputText", "text": text }] })
}

#[tokio::test]
async fn r26_a_local_tool_answers_under_the_same_id_with_json_as_text() {
    let data = json!({ "data": { "viewer": { "id": "usr_123" } } });
    let (lab, answer) = call("echo", json!({ "value": data })).await;
    assert_eq!(
        answer,
        said(true, r#"{"data":{"viewer":{"id":"usr_123"}}}"#)
    );
    assert_eq!(
        lab.events(EventKind::ToolCallCompleted)[0].payload["tool"],
        "echo"
    );
    let (_, answer) = call("echo", json!({ "value": "plain" })).await;
    assert_eq!(answer, said(true, "plain"));
}

#[tokio::test]
async fn r26_an_unsupported_tool_fails_and_the_turn_goes_on() {
    let (lab, answer) = call("nonsense", json!({})).await;
    assert_eq!(answer["success"], false);
    let text = answer["contentItems"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Unsupported dynamic tool"), "{text}");
    assert_eq!(lab.events(EventKind::UnsupportedToolCall).len(), 1);
}

#[tokio::test]
async fn r26_failure_panic_and_hanging_are_failures_of_the_call_only() {
    let (lab, answer) = call("echo", json!({})).await;
    assert_eq!(answer, said(false, "`value` is missing"));
    assert_eq!(lab.events(EventKind::ToolCallFailed).len(), 1);
    let (_, answer) = call("echo", json!({ "value": "panic" })).await;
    assert_eq!(answer, said(false, "The tool `echo` failed unexpectedly."));
    let (_, answer) = call("echo", json!({ "value": "hang" })).await;
    assert_eq!(
        answer,
        said(false, "The tool `echo` did not finish within 200ms.")
    );
}
