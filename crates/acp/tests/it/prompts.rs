//! Prompts that are cancelled, asked about, or sent to a server that is gone.

use serde_json::{Value, json};

use crate::editor::{Place, prompt};

fn run(command: &str) -> Value {
    json!({ "calls": [{ "name": "shell_command", "arguments": { "command": command } }] })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_right_behind_a_prompt_counts() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let stalled = prompt(&session, json!([{ "deltas": ["begun"], "stall": true }]));
    let cancel = json!({ "sessionId": session });
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": cancel });
    let (id, request) = editor.request("session/prompt", stalled.clone());
    editor.write(&format!("{request}\n{cancel}")).await;
    let answer = editor.answer(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let (id, request) = editor.request("session/prompt", stalled);
    let params = json!({ "requestId": id });
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
    editor.write(&format!("{request}\n{cancel}")).await;
    let answer = editor.answer(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let done = editor
        .call(
            "session/prompt",
            prompt(&session, json!([{ "text": "fine" }])),
        )
        .await;
    assert_eq!(done["result"]["stopReason"], "end_turn");
    assert!(editor.said().ends_with("fine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_settled_elsewhere_is_withdrawn() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let mode = json!({ "sessionId": session, "modeId": "read-only" });
    editor.call("session/set_mode", mode).await;
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch";
    let text = prompt(&session, json!([{ "patch": patch }, { "text": "done" }]));
    let id = editor.ask("session/prompt", text).await;
    let question = editor.question().await;
    assert_eq!(question["method"], "session/request_permission");
    let options = question["params"]["options"].as_array().unwrap();
    let kinds: Vec<_> = options.iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
    let cancel = json!({ "sessionId": session });
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": cancel });
    editor.write(&cancel.to_string()).await;
    let answer = editor.answer(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    // Whether the withdrawal or the answer of the prompt comes first is not defined.
    let withdrawn = editor.question().await;
    assert_eq!(withdrawn["method"], "$/cancel_request");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert!(!place.work().join("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_of_the_editor_is_released_when_the_turn_is_cancelled() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({ "terminal": true })).await;
    let mode = json!({ "sessionId": session, "modeId": "full-access" });
    editor.call("session/set_mode", mode).await;
    let call = json!({ "name": "editor_run_in_terminal", "arguments": { "command": "sleep" } });
    let text = prompt(&session, json!([{ "calls": [call] }, { "text": "done" }]));
    let id = editor.ask("session/prompt", text).await;
    let create = editor.question().await;
    assert_eq!(create["method"], "terminal/create");
    editor.reply(&create, json!({ "terminalId": "t" })).await;
    assert_eq!(editor.question().await["method"], "terminal/wait_for_exit");
    let cancel = json!({ "sessionId": session });
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": cancel });
    editor.write(&cancel.to_string()).await;
    let answer = editor.answer(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let mut methods = Vec::new();
    while !methods.contains(&"terminal/release".to_owned()) {
        let next = editor.question().await;
        methods.push(next["method"].as_str().unwrap().to_owned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_apply_from_the_next_prompt_on_without_waiting_for_their_answer() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let mode = json!({ "sessionId": session, "modeId": "full-access" });
    let (_, mode) = editor.request("session/set_mode", mode);
    let file = place.work().join("made");
    let steps = json!([run(&format!("touch {}", file.display())), { "text": "done" }]);
    let (id, request) = editor.request("session/prompt", prompt(&session, steps));
    editor.write(&format!("{mode}\n{request}")).await;
    let answer = loop {
        match editor.take().await {
            Some(answer) if answer["id"] == id => break answer,
            _ => {}
        }
    };
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(editor.asked.is_empty(), "{:?}", editor.asked);
    assert!(file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_waits_for_a_server_that_is_gone() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let text = prompt(&session, json!([{ "deltas": ["he", "re"] }]));
    editor.call("session/prompt", text.clone()).await;
    assert_eq!(editor.said(), "here");
    place.stop().await;
    let id = editor.ask("session/prompt", text.clone()).await;
    editor.until_said("Trying again…").await;
    place.start();
    let answer = editor.answer(id).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert!(editor.said().ends_with("Connected again.\n\nhere"));
    place.stop().await;
    editor.updates.clear();
    let id = editor.ask("session/prompt", text).await;
    editor.until_said("Trying again…").await;
    let cancel = json!({ "sessionId": session });
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": cancel });
    editor.write(&cancel.to_string()).await;
    let answer = editor.answer(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_never_used_does_not_outlive_its_server() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    place.stop().await;
    place.start();
    let text = prompt(&session, json!([{ "text": "here" }]));
    let answer = editor.call("session/prompt", text).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("start a new session"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_of_sub_agents_are_asked_for_in_the_session_that_started_them() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let mode = json!({ "sessionId": session, "modeId": "read-only" });
    editor.call("session/set_mode", mode).await;
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch";
    let task = json!({ "script": [{ "patch": patch }, { "text": "done" }] }).to_string();
    let spawn = json!({ "calls": [{ "name": "spawn_agent", "arguments": { "message": task } }] });
    let text = prompt(
        &session,
        json!([spawn, { "deltas": ["waiting"], "stall": true }]),
    );
    let id = editor.ask("session/prompt", text).await;
    let question = editor.question().await;
    assert_eq!(question["method"], "session/request_permission");
    assert_eq!(question["params"]["sessionId"], session);
    assert_eq!(question["params"]["toolCall"]["title"], "Change files");
    let reject = json!({ "outcome": { "outcome": "selected", "optionId": "2" } });
    editor.reply(&question, reject).await;
    let cancel = json!({ "sessionId": session });
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": cancel });
    editor.write(&cancel.to_string()).await;
    let answer = editor.answer(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert!(!place.work().join("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_is_shown_once() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let script = json!({ "script": [{ "text": "all is well" }] });
    let review = json!({ "type": "text", "text": format!("/review {script}") });
    let params = json!({ "sessionId": session, "prompt": [review] });
    let answer = editor.call("session/prompt", params).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said().matches("all is well").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_chosen_holds_after_a_restart_without_another_prompt() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let first = prompt(&session, json!([{ "text": "stored" }]));
    editor.call("session/prompt", first).await;
    let mode = json!({ "sessionId": session, "modeId": "full-access" });
    editor.call("session/set_mode", mode).await;
    let model = json!({ "sessionId": session, "configId": "model", "value": "other-model" });
    editor.call("session/set_config_option", model).await;
    drop(editor);
    place.stop().await;
    place.start();
    let mut editor = place.stranger();
    let hello = json!({ "protocolVersion": 1 });
    editor.call("initialize", hello).await;
    let load = json!({ "sessionId": session, "cwd": place.work(), "mcpServers": [] });
    let loaded = editor.call("session/load", load).await;
    assert_eq!(loaded["result"]["modes"]["currentModeId"], "full-access");
    assert_eq!(
        loaded["result"]["configOptions"][1]["currentValue"],
        "other-model"
    );
    // It is not only shown: a command may write anywhere, and nobody is asked.
    let file = place.work().join("made");
    let steps = json!([run(&format!("touch {}", file.display())), { "text": "done" }]);
    let done = editor.call("session/prompt", prompt(&session, steps)).await;
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert!(editor.asked.is_empty(), "{:?}", editor.asked);
    assert!(file.exists());
    // Another session is not affected.
    let new = json!({ "cwd": place.work(), "mcpServers": [] });
    let new = editor.call("session/new", new).await;
    assert_ne!(new["result"]["modes"]["currentModeId"], "full-access");
}
