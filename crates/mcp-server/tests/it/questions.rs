//! What the agent and its MCP servers ask, passed on to the client that called.

use quipu_testkit::mcp::ARGUMENT;
use serde_json::{Value, json};

use crate::peer::{Peer, Place, script};

/// A call of the agent that calls one tool.
fn calling(name: &str, tool_arguments: Value) -> Value {
    let program = std::env::current_exe().unwrap();
    let server = json!({ "command": program, "args": [ARGUMENT, ""] });
    let calls = json!([{ "name": name, "arguments": tool_arguments }]);
    json!({
        "prompt": script(json!([{ "calls": calls }, { "text": "done" }])),
        "approval-policy": "on-request",
        "sandbox": "workspace-write",
        "config": {
            "features.default_mode_request_user_input": true,
            "features.request_permissions_tool": true,
            "mcp_servers": { "s": server },
        },
    })
}

/// Lets the agent call a tool; what was asked meanwhile, and what the model read of the tool.
async fn read(peer: &mut Peer, arguments: Value, answer: Value) -> (Vec<Value>, String) {
    let mut asked = Vec::new();
    let done = peer
        .tool("codex", arguments, &mut |question| {
            asked.push(question.clone());
            answer.clone()
        })
        .await;
    assert!(done.get("isError").is_none(), "{done}");
    let items = peer.seen.iter().map(|it| &it["params"]["msg"]["item"]);
    let mut outputs = items.filter(|it| it["type"] == "function_call_output");
    let output = &outputs.next().expect("the output of a tool")["output"];
    (
        asked,
        output.as_str().map_or(output.to_string(), str::to_owned),
    )
}

fn questions() -> Value {
    let options = json!([
        { "label": "Red", "description": "like blood" },
        { "label": "Blue", "description": "like the sky" },
    ]);
    let question = |id: &str| json!({ "id": id, "header": "Colour", "question": "Which?", "options": options });
    let questions = json!([question("colour"), question("colour_other")]);
    calling("request_user_input", json!({ "questions": questions }))
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_the_agent_are_a_form() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let content = json!({ "colour": "Red", "colour_other": "Blue", "colour_other_other": "dark" });
    let filled = json!({ "action": "accept", "content": content });
    let (asked, read_by_model) = read(&mut peer, questions(), filled).await;
    let [form] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(form["codex_elicitation"], "user-input");
    let fields = &form["requestedSchema"]["properties"];
    let names: Vec<_> = fields.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "colour",
            "colour_other",
            "colour_other_",
            "colour_other_other"
        ]
    );
    assert_eq!(
        fields["colour"],
        json!({
            "type": "string", "title": "Colour", "description": "Which?", "enum": ["Red", "Blue"],
            "enumNames": ["Red: like blood", "Blue: like the sky"],
        })
    );
    let answers = json!({ "colour": { "answers": ["Red"] }, "colour_other": { "answers": ["Blue", "dark"] } });
    let read_by_model: Value = serde_json::from_str(&read_by_model).unwrap();
    assert_eq!(read_by_model, json!({ "answers": answers }));
    let event = peer.event("request_user_input");
    assert_eq!(event["call_id"], form["codex_call_id"]);
    assert_eq!(event["questions"][0]["isOther"], true);

    let declined = json!({ "action": "decline" });
    let (_, read_by_model) = read(&mut peer, questions(), declined).await;
    assert!(read_by_model.contains("The user declined to answer."));
    let (_, read_by_model) = read(&mut peer, questions(), json!({ "action": "cancel" })).await;
    assert_eq!(read_by_model, r#"{"answers":{}}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_and_pages_of_mcp_servers_are_passed_on() {
    let place = Place::new();
    let both = json!({ "elicitation": { "form": {}, "url": {} } });
    let mut peer = place.peer_with(both).await;
    let form = || calling("mcp__s__ask_form", json!({}));
    let content = json!({ "name": "Ada", "color": "red" });
    let filled = json!({ "action": "accept", "content": content });
    let (asked, result) = read(&mut peer, form(), filled).await;
    assert_eq!(asked[0]["message"], "s: Who?");
    let name = json!({ "type": "string", "title": "Name", "minLength": 2 });
    assert_eq!(asked[0]["requestedSchema"]["properties"]["name"], name);
    assert_eq!(asked[0]["requestedSchema"]["required"], json!(["name"]));
    assert!(result.contains("Ada"), "{result}");
    let event = peer.event("elicitation_request");
    assert_eq!(event["server_name"], "s");
    assert_eq!(event["request"]["mode"], "form");
    assert_eq!(event["request"]["requested_schema"]["required"][0], "name");
    for action in ["decline", "cancel"] {
        let (_, result) = read(&mut peer, form(), json!({ "action": action })).await;
        assert!(result.contains(action), "{result}");
    }
    // An approval is no answer to a form.
    let (_, result) = read(&mut peer, form(), json!({ "decision": "approved" })).await;
    assert!(result.contains("decline"), "{result}");

    let page = calling("mcp__s__ask_url", json!({}));
    let (asked, result) = read(&mut peer, page, json!({ "action": "accept" })).await;
    let asked = ["mode", "url", "elicitationId"].map(|it| asked[0][it].as_str().unwrap());
    assert_eq!(asked, ["url", "https://example.com/x", "e1"]);
    assert!(result.contains("accept"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_mcp_servers_are_approved() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let call = || calling("mcp__s__danger", json!({}));
    for (answer, expected) in [
        (json!({ "action": "accept", "content": {} }), "arguments"),
        (json!({ "decision": "approved" }), "arguments"),
        (
            json!({ "action": "decline" }),
            "user rejected MCP tool call",
        ),
        (
            json!({ "decision": "abort" }),
            "user cancelled MCP tool call",
        ),
    ] {
        let (asked, result) = read(&mut peer, call(), answer).await;
        assert_eq!(asked[0]["codex_elicitation"], "mcp-tool-approval");
        let message = "Allow the s MCP server to run tool \"danger\"?";
        assert_eq!(asked[0]["message"], message);
        let words = &asked[0]["requestedSchema"]["properties"]["persist"]["enum"];
        assert_eq!(*words, json!(["session", "always"]));
        assert!(result.contains(expected), "{result}");
    }
    // One that is remembered is asked about once.
    let mut twice = call();
    let step = json!({ "calls": [{ "name": "mcp__s__danger", "arguments": {} }] });
    twice["prompt"] = script(json!([step, step, { "text": "done" }])).into();
    let remember = json!({ "action": "accept", "content": { "persist": "session" } });
    let (asked, _) = read(&mut peer, twice, remember).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_are_granted_or_not() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let wanted = json!({ "network": { "enabled": true }, "file_system": { "write": ["/opt"] } });
    let wanted = json!({ "reason": "To build.", "permissions": wanted });
    let call = || calling("request_permissions", wanted.clone());
    let accept = json!({ "action": "accept", "content": { "scope": "session" } });
    let (asked, result) = read(&mut peer, call(), accept).await;
    let message = "Allow Codex more: network access; write /opt? To build.";
    assert_eq!(asked[0]["message"], message);
    assert!(
        result.contains("/opt") && result.contains("session"),
        "{result}"
    );
    let event = peer.event("request_permissions");
    let expected = json!({ "network": { "enabled": true }, "file_system": { "read": null, "write": ["/opt"] } });
    assert_eq!(event["permissions"], expected);
    let (_, result) = read(&mut peer, call(), json!({ "action": "decline" })).await;
    assert!(!result.contains("/opt"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_shows_nothing_is_not_asked_and_the_model_reads_why() {
    let place = Place::new();
    let mut peer = place.peer_with(json!({})).await;
    let why = "the MCP client of this session does not declare the capability `elicitation`";
    let (asked, result) = read(&mut peer, questions(), Value::Null).await;
    assert!(
        asked.is_empty() && result.contains(why),
        "{asked:?} {result}"
    );
    for (tool, expected) in [
        ("mcp__s__ask_form", "decline"),
        ("mcp__s__danger", "user rejected MCP tool call"),
    ] {
        let (asked, result) = read(&mut peer, calling(tool, json!({})), Value::Null).await;
        assert!(asked.is_empty() && result.contains(expected), "{result}");
        // The answer has no place for the reason, so the model reads it as a message beside the result.
        let mut notes = peer.seen.iter().map(|it| &it["params"]["msg"]["message"]);
        let note = notes.find(|it| it.as_str().is_some_and(|it| it.contains(why)));
        assert!(note.is_some(), "{:?}", peer.events());
    }
    // One that shows forms only is not sent to a page.
    let mut peer = place.peer().await;
    let page = calling("mcp__s__ask_url", json!({}));
    let (asked, result) = read(&mut peer, page, Value::Null).await;
    assert!(asked.is_empty() && result.contains("decline"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_waits_for_is_withdrawn() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let params = json!({ "name": "codex", "arguments": questions() });
    let call = peer.ask("tools/call", params).await;
    let mut question = peer.next().await;
    while question["method"] != "elicitation/create" {
        question = peer.next().await;
    }
    let params = json!({ "requestId": call });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    peer.send(cancel).await;
    let mut withdrawn = peer.next().await;
    while withdrawn["method"] != "notifications/cancelled" {
        withdrawn = peer.next().await;
    }
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    // A late answer harms nobody.
    let late = json!({ "action": "accept", "content": {} });
    peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": late }))
        .await;
    assert_eq!(peer.call("ping", json!({})).await["result"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_of_sub_agents_reach_the_call_that_started_them() {
    let place = Place::new();
    let mut peer = place.peer().await;
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch";
    let task = script(json!([{ "patch": patch }, { "text": "changed" }]));
    let spawn = json!({ "calls": [{ "name": "spawn_agent", "arguments": { "message": task } }] });
    let stall = json!({ "deltas": ["waiting"], "stall": true });
    let arguments = json!({
        "prompt": script(json!([spawn, stall])),
        "approval-policy": "untrusted",
        "sandbox": "workspace-write",
    });
    let params = json!({ "name": "codex", "arguments": arguments });
    peer.ask("tools/call", params).await;
    let mut question = peer.next().await;
    while question["method"] != "elicitation/create" {
        question = peer.next().await;
    }
    let path = place.work().join("a.txt");
    let added = json!({ path.display().to_string(): { "type": "add", "content": "a\n" } });
    assert_eq!(question["params"]["codex_changes"], added);
    let approved = json!({ "decision": "approved" });
    peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": approved }))
        .await;
    quipu_testkit::client::within("the patch", async {
        while !path.exists() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
