//! What a server asks and reports in a turn, and what the adapter sends it.

use std::sync::{Arc, Mutex};

use quipu_adapter::{
    Adapter, Approvals, EventKind, McpServer, Prompt, Section, Session, Tool, ToolError, ToolOutput,
};
use quipu_client::wire::{Personality, ReasoningEffort, ReasoningSummary, SandboxMode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer;
use crate::support::{Events, soon};

#[derive(Debug, Deserialize, JsonSchema)]
struct Drawing {
    what: String,
}

fn prompt() -> Prompt<String> {
    Prompt::text("test").section(Section::new("Task", "Act."))
}

async fn evaluate(adapter: &Adapter) -> String {
    let response = soon(adapter.evaluate(&prompt(), &Session::new())).await;
    response.unwrap().output
}

fn question(method: &str, params: Value) -> Value {
    let mut params = params;
    params["threadId"] = json!("t");
    params["turnId"] = json!("u");
    json!({ "id": method, "method": method, "params": params })
}

/// Every question that servers have for a person, and one of which nobody has heard.
fn questions() -> Vec<Value> {
    let legacy = json!({
        "conversationId": "t", "callId": "c", "approvalId": null, "command": ["ls"], "cwd": "/", "reason": null,
        "parsedCmd": [], "fileChanges": {}, "grantRoot": null,
    });
    let options = [json!({ "label": "Yes", "description": "go on" })];
    let asked = json!({ "id": "q", "header": "Go", "question": "Go on?", "isOther": false, "isSecret": false, "options": options });
    let form = |meta: Value| {
        let schema = json!({ "type": "object", "properties": {} });
        json!({ "serverName": "docs", "mode": "form", "message": "May I?", "requestedSchema": schema, "_meta": meta })
    };
    let mut approval = question(
        "mcpServer/elicitation/request",
        form(json!({ "codex_approval_kind": "mcp_tool_call" })),
    );
    approval["id"] = json!("approval");
    let item = json!({ "itemId": "i", "startedAtMs": 0 });
    vec![
        question("item/commandExecution/requestApproval", item.clone()),
        question("item/fileChange/requestApproval", item),
        question(
            "account/chatgptAuthTokens/refresh",
            json!({ "reason": "unauthorized" }),
        ),
        question("execCommandApproval", legacy.clone()),
        question("applyPatchApproval", legacy),
        question(
            "item/tool/requestUserInput",
            json!({ "itemId": "i", "questions": [asked] }),
        ),
        question(
            "item/permissions/requestApproval",
            json!({ "itemId": "i", "cwd": "/", "reason": null, "permissions": { "network": { "enabled": true } } }),
        ),
        question("mcpServer/elicitation/request", form(Value::Null)),
        approval,
        question("item/invented/request", json!({})),
    ]
}

#[tokio::test]
async fn no_question_of_a_server_stays_open() {
    for (approvals, legacy, decision) in [
        (Approvals::Never, "approved", "accept"),
        (Approvals::Untrusted, "approved", "accept"),
        (Approvals::OnFailure, "approved", "accept"),
        (Approvals::OnRequest, "denied", "decline"),
    ] {
        let (adapter, heard) = peer::sending(questions());
        evaluate(&adapter.approvals(approvals)).await;
        let result = |id: &str| heard.answer(id)["result"].clone();
        assert_eq!(result("execCommandApproval")["decision"], legacy);
        assert_eq!(result("applyPatchApproval")["decision"], legacy);
        for asked in ["commandExecution", "fileChange"] {
            let answer = result(&format!("item/{asked}/requestApproval"));
            assert_eq!(answer["decision"], decision, "{asked}");
        }
        assert_eq!(result("approval")["action"], decision);
        let refused = heard.answer("account/chatgptAuthTokens/refresh");
        assert_eq!(
            refused["error"]["message"],
            "this program manages no tokens"
        );
        // These need a person, whatever the policy.
        assert_eq!(result("mcpServer/elicitation/request")["action"], "decline");
        assert_eq!(result("item/tool/requestUserInput")["answers"], json!({}));
        let permissions = result("item/permissions/requestApproval");
        assert_eq!(permissions["permissions"], json!({}), "{permissions}");
        assert_eq!(
            heard.answer("item/invented/request")["error"]["code"],
            -32601
        );
    }
}

fn completed(item: Value) -> Value {
    json!({ "method": "item/completed", "params": { "threadId": "t", "turnId": "u", "item": item } })
}

#[tokio::test]
async fn uses_of_native_tools_are_reported_and_nothing_else() {
    let command = |id: &str, status: &str, code: Value| {
        completed(json!({
            "type": "commandExecution", "id": id, "command": "ls", "cwd": "/", "processId": null, "status": status,
            "commandActions": [], "aggregatedOutput": "out", "exitCode": code, "durationMs": 5,
        }))
    };
    let change = |id: &str, status: &str| {
        completed(json!({ "type": "fileChange", "id": id, "changes": [], "status": status }))
    };
    let other_thread = json!({ "method": "item/completed", "params": {
        "threadId": "another", "turnId": "another", "item": { "type": "webSearch", "id": "w2", "query": "not ours" },
    }});
    let mcp = |id: &str, status: &str, error: Value| {
        completed(json!({
            "type": "mcpToolCall", "id": id, "server": "docs", "tool": "find", "status": status, "arguments": {},
            "result": null, "error": error, "durationMs": 5,
        }))
    };
    let over = |thread: &str, turn: &str| {
        let turn = json!({ "id": turn, "status": "completed", "items": [], "error": null });
        json!({ "method": "turn/completed", "params": { "threadId": thread, "turn": turn } })
    };
    let (adapter, _) = peer::sending(vec![
        command("c1", "completed", json!(0)),
        command("c1", "completed", json!(0)),
        command("c2", "completed", json!(1)),
        command("c3", "declined", Value::Null),
        change("f1", "completed"),
        change("f2", "failed"),
        change("f3", "declined"),
        completed(json!({ "type": "webSearch", "id": "w1", "query": "weather in Cusco" })),
        completed(json!({ "type": "reasoning", "id": "r", "summary": ["hm"], "content": [] })),
        completed(json!({ "type": "contextCompaction", "id": "k" })),
        completed(json!({ "type": "somethingNew", "id": "n" })),
        mcp("m1", "completed", Value::Null),
        mcp("m2", "failed", json!({ "message": "no such page" })),
        other_thread,
        over("another", "u"),
        over("t", "an older one"),
        completed(json!({ "type": "agentMessage", "id": "m0", "text": "not the answer yet" })),
        json!({ "method": "codex/event/task_complete", "params": { "msg": {} } }),
        completed(json!({ "type": "agentMessage", "id": "m", "text": "the answer" })),
    ]);
    let (adapter, events) = Events::of(adapter.name("my_adapter"));
    assert_eq!(evaluate(&adapter).await, "the answer");
    assert_eq!(
        events.summary(),
        [
            "rendered",
            "command",
            "command failed",
            "command failed",
            "file_change",
            "file_change failed",
            "file_change failed",
            "web_search",
            "find",
            "find failed",
            "executed",
        ]
    );
    let tools = events.tools();
    assert_eq!(tools[8].result, "no such page");
    let search = &tools[6];
    assert_eq!(search.arguments, json!({ "query": "weather in Cusco" }));
    assert!(events.all().iter().all(|it| it.adapter == "my_adapter"));
}

#[tokio::test]
async fn settings_are_sent_as_the_protocol_has_them() {
    let (adapter, heard) = peer::sending(Vec::new());
    evaluate(&adapter).await;
    let (thread, turn) = (heard.params("thread/start"), heard.params("turn/start"));
    assert_eq!(thread["approvalPolicy"], "never");
    assert_eq!(thread["dynamicTools"], json!([]));
    for absent in ["sandbox", "model", "config"] {
        assert_eq!(thread[absent], Value::Null, "{absent}");
    }
    for absent in [
        "effort",
        "summary",
        "personality",
        "outputSchema",
        "sandboxPolicy",
    ] {
        assert_eq!(turn[absent], Value::Null, "{absent}");
    }
    let cwd = std::env::current_dir().unwrap();
    assert_eq!(thread["cwd"], cwd.to_str().unwrap());
    let hello = heard.params("initialize");
    let info = json!({
        "name": "quipu-adapter", "title": "Quipu Adapter", "version": env!("CARGO_PKG_VERSION"),
    });
    assert_eq!(hello["clientInfo"], info);
    assert_eq!(hello["capabilities"]["experimentalApi"], true);
    assert_eq!(
        heard.methods(),
        ["initialize", "initialized", "thread/start", "turn/start"]
    );
    let ids: Vec<_> = heard.all().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [json!(0), Value::Null, json!(1), json!(2)]);
    assert!(heard.all().iter().all(|it| it.get("jsonrpc").is_none()));

    let (adapter, heard) = peer::sending(Vec::new());
    let adapter = adapter
        .client("my-program", "1.2.3")
        .client_title("My Program")
        .model("a-model")
        .effort(ReasoningEffort::High)
        .summary(ReasoningSummary::Concise)
        .personality(Personality::Pragmatic)
        .approvals(Approvals::OnFailure)
        .sandbox(SandboxMode::ReadOnly)
        .ephemeral()
        .mcp_server("docs", McpServer::url("http://127.0.0.1:1/mcp"));
    let tool = Tool::new("act", "Acts.", async |(), _| Ok::<_, ToolError>("acted"));
    let schema = tool.schema().clone();
    let prompt = prompt().tool(tool);
    soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    let (thread, turn) = (heard.params("thread/start"), heard.params("turn/start"));
    assert_eq!(thread["model"], "a-model");
    assert_eq!(thread["approvalPolicy"], "on-failure");
    assert_eq!(thread["sandbox"], "read-only");
    assert_eq!(thread["ephemeral"], true);
    let servers = json!({ "docs": { "url": "http://127.0.0.1:1/mcp" } });
    assert_eq!(thread["config"]["mcp_servers"], servers);
    let spec = json!({ "name": "act", "description": "Acts.", "inputSchema": schema });
    assert_eq!(thread["dynamicTools"], json!([spec]));
    let info = json!({ "name": "my-program", "title": "My Program", "version": "1.2.3" });
    assert_eq!(heard.params("initialize")["clientInfo"], info);
    assert_eq!(
        (&turn["effort"], &turn["summary"], &turn["personality"]),
        (&json!("high"), &json!("concise"), &json!("pragmatic"))
    );
    assert_eq!(turn["input"][0]["type"], "text");
}

/// A call is answered under its own id, with texts and images, and an unknown tool is a failure that the model reads.
#[tokio::test]
async fn tool_calls_are_answered_as_the_protocol_has_them() {
    let call = |id: Value, tool: &str, arguments: Value| {
        let params = json!({ "threadId": "t", "turnId": "u", "callId": id.to_string(), "tool": tool, "arguments": arguments });
        json!({ "id": id, "method": "item/tool/call", "params": params })
    };
    let (adapter, heard) = peer::sending(vec![
        call(json!(7), "draw", json!({ "what": "llama" })),
        call(json!("seven"), "draw", json!("{\"what\":\"condor\"}")),
        call(json!(8), "draw", json!({ "what": 1 })),
        call(json!(9), "paint", json!({})),
    ]);
    let draw = Tool::new("draw", "Draws.", async |params: Drawing, _| {
        let output = ToolOutput::from(params.what).image("data:image/png;base64,QQ==");
        Ok::<_, ToolError>(output)
    });
    let (adapter, events) = Events::of(adapter);
    let prompt = prompt().tool(draw);
    soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    let image = json!({ "type": "inputImage", "imageUrl": "data:image/png;base64,QQ==" });
    for (id, what) in [(json!(7), "llama"), (json!("seven"), "condor")] {
        let text = json!({ "type": "inputText", "text": what });
        let result = json!({ "success": true, "contentItems": [text, image] });
        assert_eq!(heard.answer(id.clone())["result"], result);
    }
    for (id, text) in [(8, "are not valid"), (9, "no tool named `paint`")] {
        let result = &heard.answer(id)["result"];
        assert_eq!(result["success"], false);
        let read = result["contentItems"][0]["text"].as_str().unwrap();
        assert!(read.contains(text), "{read}");
    }
    assert_eq!(
        events.summary(),
        [
            "rendered",
            "draw",
            "draw",
            "draw failed",
            "paint failed",
            "executed"
        ]
    );
}

/// The prompt is reported before the turn, the schema of its output goes with the turn.
#[tokio::test]
async fn a_typed_prompt_is_reported_and_sent_with_its_schema() {
    let text = json!({ "type": "agentMessage", "id": "m", "text": "{\"what\":\"llama\"}" });
    let (adapter, heard) = peer::sending(vec![completed(text)]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (kept, sent) = (Arc::clone(&seen), heard.clone());
    let adapter = adapter.on_event(move |event| {
        if let EventKind::PromptRendered { text, .. } = &event.kind {
            kept.lock().unwrap().push((text.clone(), sent.methods()));
        }
        Ok(())
    });
    let prompt = Prompt::<Drawing>::new("test").section(Section::new("Task", "Name an animal."));
    let response = soon(adapter.evaluate(&prompt, &Session::new())).await;
    assert_eq!(response.unwrap().output.what, "llama");
    let rendered = "## Task\n\nName an animal.".to_owned();
    assert_eq!(*seen.lock().unwrap(), [(rendered, Vec::new())]);
    let turn = heard.params("turn/start");
    assert_eq!(turn["outputSchema"], *prompt.schema().unwrap());
    assert_eq!(turn["outputSchema"]["required"], json!(["what"]));
}
