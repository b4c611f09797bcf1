//! What a server asks and reports in a turn, and what the adapter sends it.

use quipu_adapter::{Adapter, Approvals, McpServer, Prompt, Section, Session, Tool, ToolError};
use quipu_client::wire::{Personality, ReasoningEffort, ReasoningSummary, SandboxMode};
use serde_json::{Value, json};

use crate::peer;
use crate::support::{Events, soon};

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
    vec![
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
    for (approvals, legacy, mcp) in [
        (Approvals::Never, "approved", "accept"),
        (Approvals::OnRequest, "denied", "decline"),
    ] {
        let (adapter, heard) = peer::sending(questions());
        evaluate(&adapter.approvals(approvals)).await;
        let result = |id: &str| heard.answer(id)["result"].clone();
        assert_eq!(result("execCommandApproval")["decision"], legacy);
        assert_eq!(result("applyPatchApproval")["decision"], legacy);
        assert_eq!(result("approval")["action"], mcp);
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
        other_thread,
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
            "executed",
        ]
    );
    let search = events.tools().pop().unwrap();
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

    let (adapter, heard) = peer::sending(Vec::new());
    let adapter = adapter
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
    let spec = &thread["dynamicTools"][0];
    assert_eq!(
        (&spec["name"], &spec["inputSchema"]),
        (&json!("act"), &schema)
    );
    assert_eq!(
        (&turn["effort"], &turn["summary"], &turn["personality"]),
        (&json!("high"), &json!("concise"), &json!("pragmatic"))
    );
    assert_eq!(turn["input"][0]["type"], "text");
}
