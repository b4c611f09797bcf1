//! Experimental methods, fields and values are for clients that asked for them.

use serde_json::{Value, json};

use crate::lab::{Lab, refusal};

const THREAD: &str = "0199a213-81c0-7800-8aa1-bbab2a035a53";

/// Requests that use something experimental, with the word by which the reference refuses each.
fn gated() -> Vec<(&'static str, Value, &'static str)> {
    let thread = json!({ "threadId": THREAD });
    let with = |key: &str, value: Value| json!({ "threadId": THREAD, key: value });
    let granular = json!({ "granular": {
        "sandbox_approval": true, "rules": true, "mcp_elicitations": true } });
    let tool = json!([{ "name": "t", "description": "d", "inputSchema": {} }]);
    let mode = json!({ "mode": "plan", "settings": {
        "model": "m", "reasoning_effort": null, "developer_instructions": null } });
    let audio = json!({ "data": "", "sampleRate": 1, "numChannels": 1 });
    vec![
        (
            "collaborationMode/list",
            json!({}),
            "collaborationMode/list",
        ),
        (
            "mock/experimentalMethod",
            json!({}),
            "mock/experimentalMethod",
        ),
        (
            "thread/backgroundTerminals/clean",
            thread.clone(),
            "thread/backgroundTerminals/clean",
        ),
        (
            "thread/increment_elicitation",
            thread.clone(),
            "thread/increment_elicitation",
        ),
        (
            "thread/decrement_elicitation",
            thread.clone(),
            "thread/decrement_elicitation",
        ),
        (
            "thread/realtime/start",
            with("prompt", json!("p")),
            "thread/realtime/start",
        ),
        (
            "thread/realtime/appendAudio",
            with("audio", audio),
            "thread/realtime/appendAudio",
        ),
        (
            "thread/realtime/appendText",
            with("text", json!("t")),
            "thread/realtime/appendText",
        ),
        (
            "thread/realtime/stop",
            thread.clone(),
            "thread/realtime/stop",
        ),
        (
            "fuzzyFileSearch/sessionStart",
            json!({ "sessionId": "s", "roots": [] }),
            "fuzzyFileSearch/sessionStart",
        ),
        (
            "fuzzyFileSearch/sessionUpdate",
            json!({ "sessionId": "s", "query": "q" }),
            "fuzzyFileSearch/sessionUpdate",
        ),
        (
            "fuzzyFileSearch/sessionStop",
            json!({ "sessionId": "s" }),
            "fuzzyFileSearch/sessionStop",
        ),
        (
            "thread/start",
            json!({ "dynamicTools": tool }),
            "thread/start.dynamicTools",
        ),
        (
            "thread/start",
            json!({ "mockExperimentalField": "x" }),
            "thread/start.mockExperimentalField",
        ),
        (
            "thread/start",
            json!({ "experimentalRawEvents": true }),
            "thread/start.experimentalRawEvents",
        ),
        (
            "thread/start",
            json!({ "persistExtendedHistory": true }),
            "thread/start.persistFullHistory",
        ),
        (
            "thread/start",
            json!({ "approvalPolicy": granular }),
            "askForApproval.granular",
        ),
        (
            "thread/resume",
            with("history", json!([{ "type": "other" }])),
            "thread/resume.history",
        ),
        (
            "thread/resume",
            with("path", json!("/p")),
            "thread/resume.path",
        ),
        (
            "thread/resume",
            with("persistExtendedHistory", json!(true)),
            "thread/resume.persistFullHistory",
        ),
        (
            "thread/resume",
            with("approvalPolicy", granular.clone()),
            "askForApproval.granular",
        ),
        ("thread/fork", with("path", json!("/p")), "thread/fork.path"),
        (
            "thread/fork",
            with("persistExtendedHistory", json!(true)),
            "thread/fork.persistFullHistory",
        ),
        (
            "thread/fork",
            with("approvalPolicy", granular.clone()),
            "askForApproval.granular",
        ),
        (
            "turn/start",
            json!({ "threadId": THREAD, "input": [], "collaborationMode": mode }),
            "turn/start.collaborationMode",
        ),
        (
            "turn/start",
            json!({ "threadId": THREAD, "input": [], "approvalPolicy": granular }),
            "askForApproval.granular",
        ),
        (
            "account/login/start",
            json!({ "type": "chatgptAuthTokens", "accessToken": "a", "chatgptAccountId": "b" }),
            "account/login/start.chatgptAuthTokens",
        ),
        // The first in the order of declaration is named.
        (
            "thread/start",
            json!({ "persistExtendedHistory": true, "dynamicTools": tool }),
            "thread/start.dynamicTools",
        ),
    ]
}

#[tokio::test]
async fn every_experimental_part_is_named() {
    let lab = Lab::new();
    let mut raw = lab
        .raw_initialized(json!({ "experimentalApi": false }))
        .await;
    for (method, params, what) in gated() {
        let request = json!({ "id": 1, "method": method, "params": params });
        let text = format!("{what} requires experimentalApi capability");
        assert_eq!(
            raw.call(&request).await,
            refusal(json!(1), &text),
            "{request}"
        );
    }
    // Before the handshake that is what is missing first.
    let mut raw = lab.raw();
    for (method, params, _) in gated() {
        let request = json!({ "id": 1, "method": method, "params": params });
        assert_eq!(
            raw.call(&request).await,
            refusal(json!(1), "Not initialized")
        );
    }
}

/// What is absent, `null`, `false` or empty is not in use.
#[tokio::test]
async fn unused_fields_pass() {
    let mut raw = Lab::new().raw_initialized(Value::Null).await;
    let request = json!({ "id": 1, "method": "thread/resume", "params": {
        "threadId": "no id", "history": [], "path": null, "persistExtendedHistory": false,
        "approvalPolicy": "never" } });
    let answer = raw.call(&request).await;
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(!text.contains("experimentalApi"), "{text}");
}

#[tokio::test]
async fn the_capability_is_the_connections_own() {
    let lab = Lab::new();
    let mut able = lab
        .raw_initialized(json!({ "experimentalApi": true }))
        .await;
    let mut unable = lab.raw_initialized(Value::Null).await;
    let request = json!({ "id": 1, "method": "mock/experimentalMethod", "params": {} });
    assert_eq!(
        able.call(&request).await["result"],
        json!({ "echoed": null })
    );
    assert_eq!(unable.call(&request).await["error"]["code"], -32600);
}
