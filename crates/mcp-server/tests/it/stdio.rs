//! The tools over standard input and output.

use quipu_testkit::client::within;
use serde_json::{Value, json};

use crate::peer::{Peer, Place, run, script};

fn nobody(question: &Value) -> Value {
    panic!("nothing was to be asked: {question}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_reports_its_events_and_goes_on_in_a_reply() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let prompt = script(json!([{ "reasoning": "hm", "text": "hello" }]));
    let answer = peer
        .tool("codex", json!({ "prompt": prompt }), &mut nobody)
        .await;
    let thread = answer["structuredContent"]["threadId"].clone();
    let expected = json!({
        "content": [{ "type": "text", "text": "hello" }],
        "structuredContent": { "threadId": thread, "content": "hello" },
    });
    assert_eq!(answer, expected);
    let events = [
        "session_configured",
        "task_started",
        "item_started",
        "item_completed",
        "user_message",
        "item_started",
        "agent_reasoning_section_break",
        "reasoning_content_delta",
        "agent_reasoning_delta",
        "item_completed",
        "agent_reasoning",
        "item_started",
        "agent_message_content_delta",
        "agent_message_delta",
        "item_completed",
        "agent_message",
        "task_complete",
    ];
    assert_eq!(peer.events(), events);
    let configured = peer.event("session_configured");
    assert_eq!(configured["sandbox_policy"], json!({ "type": "read-only" }));
    assert_eq!(configured["cwd"], place.work().display().to_string());
    assert_eq!(peer.event("task_complete")["last_agent_message"], "hello");
    let meta = &peer.seen[0]["params"]["_meta"];
    assert_eq!(*meta, json!({ "requestId": 2, "threadId": thread }));
    let progress = peer
        .seen
        .iter()
        .filter(|it| it["method"] == "notifications/progress");
    let progress: Vec<_> = progress.map(|it| &it["params"]["message"]).collect();
    assert_eq!(progress, ["thinking", "answering"]);
    let prompt = script(json!([{ "text": "again" }]));
    let reply = json!({ "prompt": prompt, "conversationId": thread });
    let answer = peer.tool("codex-reply", reply, &mut nobody).await;
    assert_eq!(
        answer["structuredContent"],
        json!({ "threadId": thread, "content": "again" })
    );
}

/// Runs a command and a patch with approvals that are answered alike.
async fn approved(peer: &mut Peer, answer: Value) -> Vec<Value> {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+text\n*** End Patch";
    let steps = json!([run("touch made.txt; echo ran"), { "patch": patch }, { "text": "done" }]);
    let arguments = json!({
        "prompt": script(steps),
        "approval-policy": "untrusted",
        "sandbox": "workspace-write",
    });
    let mut asked = Vec::new();
    let answered = peer
        .tool("codex", arguments, &mut |question| {
            asked.push(question.clone());
            answer.clone()
        })
        .await;
    assert!(
        answered["structuredContent"]["threadId"].is_string(),
        "{answered}"
    );
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_elicited_and_their_answers_obeyed() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let asked = approved(&mut peer, json!({ "action": "decline" })).await;
    assert!(!place.work().join("made.txt").exists() && !place.work().join("new.txt").exists());
    assert_eq!(peer.event("exec_command_end")["status"], "declined");
    assert_eq!(
        peer.event("patch_apply_end")["stderr"],
        "patch rejected by user"
    );
    let [command, patch] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(command["codex_elicitation"], "exec-approval");
    assert_eq!(command["codex_command"][2], "touch made.txt; echo ran");
    assert_eq!(
        command["requestedSchema"],
        json!({ "type": "object", "properties": {} })
    );
    assert_eq!(
        patch["message"],
        "Allow Codex to apply proposed code changes?"
    );
    let path = place.work().join("new.txt").display().to_string();
    assert_eq!(
        patch["codex_changes"],
        json!({ path: { "type": "add", "content": "text\n" } })
    );
    // What clients made for the official server say, and what all others do.
    for answer in [
        json!({ "decision": "approved" }),
        json!({ "action": "accept", "content": {} }),
    ] {
        approved(&mut peer, answer).await;
        assert!(place.work().join("made.txt").exists());
        assert_eq!(
            std::fs::read_to_string(place.work().join("new.txt")).unwrap(),
            "text\n"
        );
        assert_eq!(peer.event("exec_command_end")["aggregated_output"], "ran\n");
        assert_eq!(peer.event("patch_apply_begin")["auto_approved"], false);
        std::fs::remove_file(place.work().join("new.txt")).unwrap();
        std::fs::remove_file(place.work().join("made.txt")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_turn_answers_and_a_cancelled_one_does_not() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let steps = script(json!([run("touch made.txt"), { "text": "done" }]));
    let arguments = json!({ "prompt": steps, "approval-policy": "untrusted" });
    let abort = &mut |_: &Value| json!({ "decision": "abort" });
    let answer = peer.tool("codex", arguments, abort).await;
    assert_eq!(answer["isError"], true, "{answer}");
    assert_eq!(peer.event("turn_aborted")["reason"], "interrupted");

    let prompt = script(json!([{ "stall": true, "text": "never" }]));
    let params = json!({ "name": "codex", "arguments": { "prompt": prompt } });
    let id = peer.ask("tools/call", params).await;
    while peer.next().await["params"]["msg"]["type"] != "task_started" {}
    let params = json!({ "requestId": id });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    peer.send(cancel).await;
    while peer.next().await["params"]["msg"]["type"] != "turn_aborted" {}
    let pong = peer.call("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
    assert!(peer.seen.iter().all(|it| it["id"] != id), "{:?}", peer.seen);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_calls_in_one_thread_run_one_after_the_other() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let prompt = |text: &str| script(json!([{ "text": text }]));
    let first = peer
        .tool("codex", json!({ "prompt": prompt("first") }), &mut nobody)
        .await;
    let thread = &first["structuredContent"]["threadId"];
    let mut ids = Vec::new();
    for text in ["second", "third"] {
        let arguments = json!({ "prompt": prompt(text), "threadId": thread });
        let params = json!({ "name": "codex-reply", "arguments": arguments });
        ids.push(peer.ask("tools/call", params).await);
    }
    let mut answers = Vec::new();
    while answers.len() < 2 {
        let message = peer.next().await;
        if ids.iter().any(|id| message["id"] == *id) {
            answers.push(message["result"]["structuredContent"]["content"].clone());
        }
    }
    answers.sort_by_key(|it| it.to_string());
    assert_eq!(answers, ["second", "third"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_server_is_reported_and_the_next_call_connects_again() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let prompt = script(json!([{ "text": "before" }]));
    let first = peer
        .tool("codex", json!({ "prompt": prompt }), &mut nobody)
        .await;
    let prompt = script(json!([{ "stall": true, "text": "never" }]));
    let params = json!({ "name": "codex", "arguments": { "prompt": prompt } });
    let id = peer.ask("tools/call", params).await;
    while peer.next().await["params"]["msg"]["type"] != "task_started" {}
    place.restart().await;
    let answer = peer.answer(id, &mut nobody).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let prompt = script(json!([{ "text": "after" }]));
    let thread = &first["structuredContent"]["threadId"];
    let reply = json!({ "prompt": prompt, "threadId": thread });
    let answer = peer.tool("codex-reply", reply, &mut nobody).await;
    assert_eq!(answer["structuredContent"]["content"], "after", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_gets_a_clear_message() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let unknown = "01900000-0000-7000-8000-000000000000";
    for (name, arguments, expected) in [
        ("nope", json!({}), "Unknown tool 'nope'"),
        (
            "codex",
            Value::Null,
            "Failed to parse configuration for Codex tool: invalid type: null, expected struct CodexArguments",
        ),
        (
            "codex",
            json!({}),
            "Failed to parse configuration for Codex tool: missing field `prompt`",
        ),
        (
            "codex",
            json!({ "prompt": "x", "sandbox": "foo" }),
            "Failed to parse configuration for Codex tool: unknown variant `foo`, expected one of `read-only`, `workspace-write`, `danger-full-access`",
        ),
        (
            "codex-reply",
            json!({ "prompt": "x" }),
            "Failed to parse thread_id: either threadId or conversationId must be provided",
        ),
        (
            "codex-reply",
            json!({ "prompt": "x", "threadId": "nope" }),
            "Failed to parse thread_id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1",
        ),
        (
            "codex-reply",
            json!({ "prompt": "x", "threadId": unknown }),
            "Session not found for thread_id: 01900000-0000-7000-8000-000000000000",
        ),
    ] {
        let answer = peer.tool(name, arguments, &mut nobody).await;
        assert_eq!(answer["isError"], true);
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(expected), "{text}");
    }
    peer.write("garbage").await;
    assert_eq!(peer.next().await["error"]["code"], -32700);
    peer.write("[]").await;
    assert_eq!(peer.next().await["error"]["code"], -32600);
    let again = peer.call("initialize", json!({})).await;
    assert_eq!(
        again["error"]["message"],
        "initialize called more than once"
    );
    let other = peer.call("foo/bar", json!({})).await;
    assert_eq!(other["error"]["code"], -32601);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_input_ends_everything() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let gone = place.work().join("pid");
    let steps = json!([run("echo $$ > pid; exec sleep 600")]);
    let arguments = json!({
        "prompt": script(steps),
        "approval-policy": "never",
        "sandbox": "danger-full-access",
    });
    let params = json!({ "name": "codex", "arguments": arguments });
    peer.ask("tools/call", params).await;
    while peer.next().await["params"]["msg"]["type"] != "exec_command_begin" {}
    let Peer {
        writer,
        lines,
        serving,
        ..
    } = peer;
    drop((writer, lines));
    within("the end of serving", serving)
        .await
        .unwrap()
        .unwrap();
    place.stop().await;
    if let Ok(pid) = std::fs::read_to_string(gone) {
        assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists());
    }
}
