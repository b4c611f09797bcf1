//! Tools of MCP servers in turns: real servers, scripted; some of them badly behaved.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::mcp::{ARGUMENT, LOG_VARIABLE};
use quipu_testkit::wait::until;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, order, run, say, status, text};

/// Settings of a scripted server under a name, with more of them.
pub fn server(name: &str, mode: &str, more: &str) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "[mcp_servers.{name}]\ncommand = {program:?}\nargs = [\"{ARGUMENT}\", \"{mode}\"]\n{more}\n"
    )
}

/// What a server told of its start, in a few words.
async fn startup(client: &mut Conversation, count: usize) -> Vec<String> {
    let mut messages = Vec::new();
    while messages.len() < count {
        let message = client.skip_to("mcpServer/startupStatus/updated").await;
        let params = &message["params"];
        messages.push(format!(
            "{} {}",
            text(&params["name"]),
            text(&params["status"])
        ));
    }
    messages
}

/// A stage with one server called `s` that is ready, and a thread.
async fn ready(more: &str) -> (Stage, Conversation, String) {
    let stage = Stage::with(&server("s", "", more)).await;
    let (mut client, thread) = stage.thread().await;
    assert_eq!(startup(&mut client, 2).await, ["s starting", "s ready"]);
    (stage, client, thread)
}

/// The same with a thread in which the user is asked.
async fn asking(settings: &str) -> (Stage, Conversation, String) {
    let stage = Stage::with(settings).await;
    let policy = json!({ "approvalPolicy": "on-request" });
    let (mut client, thread) = stage.thread_with(policy).await;
    startup(&mut client, 2).await;
    (stage, client, thread)
}

fn tool(name: &str) -> Value {
    calls(&format!("mcp__s__{name}"), json!({}))
}

/// What the model was given for its last call.
fn last_output(stage: &Stage) -> Value {
    let requests = stage.model.requests();
    let input = requests.last().unwrap().body["input"].as_array().unwrap();
    let mut outputs = input
        .iter()
        .filter(|it| it["type"] == "function_call_output");
    outputs.next_back().unwrap()["output"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_offered_called_and_its_result_reported() {
    let (stage, mut client, thread) = ready("").await;
    let echo = calls("mcp__s__echo", json!({ "z": 1, "b": "q" }));
    stage.play([echo, json!({ "text": "done" })]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(status(&messages), "completed");
    let items = completed(&messages, "mcpToolCall");
    let item = items[0];
    assert_eq!(
        (&item["server"], &item["tool"]),
        (&json!("s"), &json!("echo"))
    );
    assert_eq!(item["status"], "completed");
    assert_eq!(item["arguments"], json!({ "z": 1, "b": "q" }));
    assert_eq!(item["error"], Value::Null);
    let result = json!({
        "content": [{ "type": "text", "text": r#"{"arguments":{"b":"q","z":1}}"# }],
        "structuredContent": null,
    });
    assert_eq!(item["result"], result);
    assert_eq!(
        last_output(&stage),
        r#"[{"text":"{\"arguments\":{\"b\":\"q\",\"z\":1}}","type":"text"}]"#
    );
    let requests = stage.model.requests();
    let tools = requests[0].body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
    let resources = [
        "list_mcp_resources",
        "list_mcp_resource_templates",
        "read_mcp_resource",
    ];
    assert_eq!(names[2..5], resources);
    let echo = tools
        .iter()
        .find(|it| it["name"] == "mcp__s__echo")
        .unwrap();
    assert_eq!(echo["description"], "echoes");
    let schema = json!({
        "type": "object", "required": ["z"],
        "properties": { "z": { "type": "number" }, "a": { "type": "string" } },
    });
    assert_eq!(echo["parameters"], schema);
    assert!(names.contains(&"mcp__s__dotted_name"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_result_and_failure_is_text_for_the_model() {
    let (stage, mut client, thread) = ready("tool_timeout_sec = 2").await;
    let failed = |tool: &str, why: &str| {
        format!("tool call error: tool call failed for `s/{tool}`\n\nCaused by:\n    {why}")
    };
    let texts = |text: &str| json!(format!(r#"[{{"text":{},"type":"text"}}]"#, json!(text)));
    let errors = |text: &str| json!(format!(r#"[{{"type":"text","text":{}}}]"#, json!(text)));
    let broke = failed("fail", "Mcp error: -32000: tool broke");
    let hung = failed("hang", "timed out awaiting tools/call after 2s");
    let died = failed("crash", "Transport closed");
    let no_object = failed("echo", "MCP tool arguments must be a JSON object, got [1]");
    let pixel = format!("data:image/png;base64,{}", quipu_testkit::mcp::PIXEL);
    let cases = [
        (tool("is_error"), "failed", texts("bad thing")),
        (tool("fail"), "failed", errors(&broke)),
        (
            tool("structured"),
            "completed",
            json!(r#"{"a":[1,2],"z":1}"#),
        ),
        (
            tool("picture"),
            "completed",
            json!([{ "type": "input_text", "text": "pixel" },
                { "type": "input_image", "image_url": pixel }]),
        ),
        (tool("garbage"), "completed", texts("after the garbage")),
        (tool("hang"), "failed", errors(&hung)),
        (tool("crash"), "failed", errors(&died)),
        // The server that died is started again.
        (tool("progress"), "completed", texts("done")),
        (
            calls("mcp__s__echo", json!([1])),
            "failed",
            errors(&no_object),
        ),
    ];
    for (call, ended, output) in cases {
        stage.play([call, json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "go").await;
        assert_eq!(status(&messages), "completed");
        let items = completed(&messages, "mcpToolCall");
        assert_eq!(items[0]["status"], ended, "{items:?}");
        assert_eq!(last_output(&stage), output);
    }
    for (call, output) in [
        (tool("nobody"), "unsupported call: mcp__s__nobody"),
        (
            json!({ "calls": [{ "name": "mcp__s__echo", "arguments": "nonsense" }] }),
            r#"[{"type":"text","text":"err: expected ident at line 1 column 2"}]"#,
        ),
    ] {
        stage.play([call, json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "go").await;
        assert!(completed(&messages, "mcpToolCall").is_empty());
        assert_eq!(last_output(&stage), output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_result_is_cut_for_the_model() {
    let (stage, mut client, thread) = ready("").await;
    stage.play([tool("long"), json!({ "text": "done" })]);
    run(&mut client, &thread, "go").await;
    let output = text(&last_output(&stage));
    assert!(output.len() < 100_000, "{}", output.len());
    assert!(output.contains("truncated"));
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_reported_while_a_tool_runs() {
    let (stage, mut client, thread) = ready("").await;
    stage.play([tool("progress"), json!({ "text": "done" })]);
    let messages = run(&mut client, &thread, "go").await;
    let of_item = order(&messages);
    let of_item: Vec<&String> = of_item
        .iter()
        .filter(|it| it.contains("mcpToolCall"))
        .collect();
    assert_eq!(
        of_item,
        [
            "item/started mcpToolCall inProgress",
            "item/mcpToolCall/progress",
            "item/mcpToolCall/progress",
            "item/completed mcpToolCall completed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_listed_and_read() {
    let (stage, mut client, thread) = ready("").await;
    let one = r#"{"server":"s","mimeType":"text/plain","name":"one","size":3,"uri":"note://one"}"#;
    let two = r#"{"server":"s","name":"two","uri":"note://two"}"#;
    let cases = [
        ("list_mcp_resources", json!({}), format!(r#"{{"resources":[{one},{two}]}}"#)),
        ("list_mcp_resources", json!(""), format!(r#"{{"resources":[{one},{two}]}}"#)),
        (
            "list_mcp_resources",
            json!({ "server": "s" }),
            format!(r#"{{"server":"s","resources":[{one}],"nextCursor":"two"}}"#),
        ),
        (
            "list_mcp_resources",
            json!({ "cursor": "two" }),
            "cursor can only be used when a server is specified".to_owned(),
        ),
        (
            "list_mcp_resource_templates",
            json!({ "server": "nobody" }),
            "resources/templates/list failed: unknown MCP server 'nobody'".to_owned(),
        ),
        (
            "read_mcp_resource",
            json!({ "server": "s", "uri": "note://one" }),
            r#"{"server":"s","uri":"note://one","contents":[{"mimeType":"text/plain","text":"abc","uri":"note://one"}]}"#
                .to_owned(),
        ),
        (
            "read_mcp_resource",
            json!({ "server": "s", "uri": "note://no" }),
            "resources/read failed: resources/read failed for `s` (note://no): Mcp error: -32002: no such resource"
                .to_owned(),
        ),
    ];
    for (name, arguments, output) in cases {
        stage.play([calls(name, arguments.clone()), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "go").await;
        assert_eq!(last_output(&stage), output);
        let items = completed(&messages, "mcpToolCall");
        let server = arguments["server"].as_str().unwrap_or("codex");
        assert_eq!(
            (&items[0]["server"], &items[0]["tool"]),
            (&json!(server), &json!(name))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dangerous_tool_is_asked_about_and_the_answer_may_last() {
    let prompt = "[mcp_servers.s.tools.echo]\napproval_mode = \"prompt\"";
    let (stage, mut client, thread) = asking(&server("s", "", prompt)).await;
    let steps = [
        "danger", "danger", "danger", "danger", "danger", "plain", "echo",
    ];
    stage.play(steps.map(tool));
    stage.play([json!({ "text": "done" })]);
    say(&mut client, &thread, "go").await;
    let answers = [
        json!({ "action": "accept" }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "_meta": { "persist": "session" } }),
        json!({ "action": "accept", "_meta": { "persist": "always" } }),
        json!({ "action": "accept", "_meta": { "persist": "always" } }),
    ];
    let mut asked = Vec::new();
    for answer in answers {
        let question = client.skip_to("mcpServer/elicitation/request").await;
        asked.push(question["params"].clone());
        client.reply(&question["id"], answer).await;
    }
    client.skip_to("turn/completed").await;
    let question = &asked[0];
    assert_eq!(
        question["message"],
        "Allow the s MCP server to run tool \"danger\"?"
    );
    assert_eq!(
        question["requestedSchema"],
        json!({ "type": "object", "properties": {} })
    );
    let meta = json!({
        "codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"],
        "tool_title": "Destroyer", "tool_description": "boom", "tool_params": {},
        "tool_params_display": [],
    });
    assert_eq!(question["_meta"], meta);
    // The fifth call of `danger` is not asked about; `echo` is by configuration, and cannot be for good.
    assert_eq!(
        asked[4]["message"],
        "Allow the s MCP server to run tool \"plain\"?"
    );
    assert_eq!(
        asked[5]["message"],
        "Allow the s MCP server to run tool \"echo\"?"
    );
    assert_eq!(asked[5]["_meta"].get("persist"), None);
    let sent = stage.last_request();
    assert!(sent.contains("user rejected MCP tool call"));
    assert!(sent.contains("user cancelled MCP tool call"));
    let config = std::fs::read_to_string(stage.home().join("config.toml")).unwrap();
    assert!(
        config.contains("[mcp_servers.s.tools.plain]\napproval_mode = \"approve\""),
        "{config}"
    );
    assert!(
        config.contains("[mcp_servers.s.tools.echo]\napproval_mode = \"prompt\""),
        "{config}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_elicitations_the_agent_asks_itself() {
    let settings = "features.tool_call_mcp_elicitation = false\n".to_owned() + &server("s", "", "");
    let (stage, mut client, thread) = asking(&settings).await;
    stage.play([
        tool("danger"),
        tool("danger"),
        tool("plain"),
        json!({ "text": "done" }),
    ]);
    say(&mut client, &thread, "go").await;
    for label in ["Allow for this session", "No idea"] {
        let question = client.skip_to("item/tool/requestUserInput").await;
        let asked = &question["params"]["questions"][0];
        let id = text(&asked["id"]);
        assert!(id.starts_with("mcp_tool_call_approval_"), "{id}");
        assert_eq!(asked["options"].as_array().unwrap().len(), 3);
        let answer = json!({ "answers": { id: { "answers": [label] } } });
        client.reply(&question["id"], answer).await;
    }
    client.skip_to("turn/completed").await;
    assert!(
        stage
            .last_request()
            .contains("user cancelled MCP tool call")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_asks_the_user_through_the_client() {
    let (stage, mut client, thread) = asking(&server("s", "", "")).await;
    let cases = [
        (
            "ask",
            json!({ "action": "accept", "content": { "ok": true } }),
            r#"{"action":"accept","content":{"ok":true}}"#,
        ),
        (
            "ask",
            json!({ "action": "accept" }),
            r#"{"action":"accept","content":{}}"#,
        ),
        (
            "ask_url",
            json!({ "action": "decline", "content": { "no": 1 } }),
            r#"{"action":"decline"}"#,
        ),
        ("ask", json!({ "garbage": 1 }), r#"{"action":"decline"}"#),
    ];
    for (name, answer, heard) in cases {
        stage.play([tool(name), json!({ "text": "done" })]);
        let turn = say(&mut client, &thread, "go").await;
        let before = client.until("mcpServer/elicitation/request").await;
        assert!(order(&before).contains(&"status active waitingOnApproval".to_owned()));
        let question = before.last().unwrap();
        let params = &question["params"];
        assert_eq!(
            (&params["serverName"], &params["turnId"]),
            (&json!("s"), &json!(turn))
        );
        assert_eq!(params["_meta"], Value::Null);
        if name == "ask" {
            assert_eq!(params["mode"], "form");
            let schema = json!({
                "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
            });
            assert_eq!(params["requestedSchema"], schema);
        } else {
            assert_eq!(params["mode"], "url");
            assert_eq!(params["url"], "https://example.com/x");
            assert_eq!(params["elicitationId"], "e1");
        }
        client.reply(&question["id"], answer).await;
        client.skip_to("serverRequest/resolved").await;
        let messages = client.until("turn/completed").await;
        let items = completed(&messages, "mcpToolCall");
        assert_eq!(items[0]["result"]["content"][0]["text"], heard);
    }
    // A form that cannot be shown is refused; with the policy `never` nobody is asked.
    stage.play([tool("ask_deep"), json!({ "text": "done" })]);
    let messages = run(&mut client, &thread, "go").await;
    assert!(
        completed(&messages, "mcpToolCall")[0]
            .to_string()
            .contains("cannot be shown")
    );
    stage.play([tool("ask"), json!({ "text": "done" })]);
    let mut quiet = crate::stage::input(&thread, "go");
    quiet["approvalPolicy"] = json!("never");
    client.call("turn/start", quiet).await;
    let messages = client.until("turn/completed").await;
    assert!(!order(&messages).contains(&"mcpServer/elicitation/request".to_owned()));
    assert!(
        completed(&messages, "mcpToolCall")[0]
            .to_string()
            .contains("decline")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_a_call_and_tells_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let more = format!("env = {{ {LOG_VARIABLE} = {log:?} }}");
    let (stage, mut client, thread) = asking(&server("s", "", &more)).await;
    for name in ["ask", "danger", "hang"] {
        stage.play([tool(name)]);
        let turn = say(&mut client, &thread, "go").await;
        let sign = if name == "hang" {
            "item/started"
        } else {
            "mcpServer/elicitation/request"
        };
        loop {
            let message = client.skip_to(sign).await;
            if sign != "item/started" || message["params"]["item"]["type"] == "mcpToolCall" {
                break;
            }
        }
        let params = json!({ "threadId": thread, "turnId": turn });
        client.call("turn/interrupt", params).await;
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "interrupted");
    }
    // The server still serves, and has heard that its calls were given up.
    stage.play([tool("echo"), json!({ "text": "done" })]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(
        completed(&messages, "mcpToolCall")[0]["status"],
        "completed"
    );
    let heard = std::fs::read_to_string(log).unwrap();
    assert!(heard.contains("notifications/cancelled"), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_waits_for_servers_that_start_but_not_for_longer_than_they_may() {
    let slow = server("slow", "silent", "startup_timeout_sec = 1.5");
    let stage = Stage::with(&format!("{slow}{}", server("s", "paged", ""))).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([tool("echo"), json!({ "text": "done" })]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(
        completed(&messages, "mcpToolCall")[0]["status"],
        "completed"
    );
    let failed = messages
        .iter()
        .find(|it| it["params"]["status"] == "failed")
        .unwrap();
    assert_eq!(
        failed["params"]["error"],
        "MCP client for `slow` timed out after 1 seconds. Add or adjust `startup_timeout_sec` in your \
         config.toml:\n[mcp_servers.slow]\nstartup_timeout_sec = XX"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_for_servers_can_be_interrupted() {
    let stage = Stage::with(&server("slow", "silent", "startup_timeout_sec = 1000")).await;
    let (mut client, thread) = stage.thread().await;
    let turn = say(&mut client, &thread, "go").await;
    client
        .call(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    assert!(stage.model.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_found_again_after_a_restart() {
    let (mut stage, mut client, thread) = ready("").await;
    stage.play([tool("structured"), json!({ "text": "done" })]);
    run(&mut client, &thread, "go").await;
    client.leave().await;
    stage.restart().await;
    let mut client = stage.client().await;
    let params = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", params).await;
    let items = read["thread"]["turns"][0]["items"].as_array().unwrap();
    let item = items.iter().find(|it| it["type"] == "mcpToolCall").unwrap();
    assert_eq!(item["status"], "completed");
    assert_eq!(
        item["result"]["structuredContent"],
        json!({ "z": 1, "a": [1, 2] })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_may_ask_before_any_of_its_tools_is_called() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let more = format!("env = {{ {LOG_VARIABLE} = {log:?} }}");
    let stage = Stage::with(&server("s", "curious", &more)).await;
    let policy = json!({ "approvalPolicy": "on-request" });
    let (mut client, thread) = stage.thread_with(policy).await;
    let question = client.skip_to("mcpServer/elicitation/request").await;
    let params = &question["params"];
    assert_eq!(
        (&params["threadId"], &params["turnId"]),
        (&json!(thread), &Value::Null)
    );
    client
        .reply(&question["id"], json!({ "action": "decline" }))
        .await;
    let resolved = client.skip_to("serverRequest/resolved").await;
    assert_eq!(resolved["params"]["requestId"], question["id"]);
    let declined = || {
        let log = std::fs::read_to_string(&log).unwrap();
        log.contains(r#""action":"decline""#)
    };
    until("the answer at the MCP server", declined).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_may_answer_for_the_user() {
    let stage = Stage::with(&server("s", "", "")).await;
    let params =
        json!({ "approvalPolicy": "on-request", "approvalsReviewer": "guardian_subagent" });
    let (mut client, thread) = stage.thread_with(params).await;
    startup(&mut client, 2).await;
    let judged = |score: u64| {
        let words = json!({ "risk_level": "low", "risk_score": score, "rationale": "because", "evidence": [] });
        json!({ "text": words.to_string() })
    };
    for (score, ended) in [(1, "completed"), (99, "failed")] {
        stage.play([tool("danger"), judged(score), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "go").await;
        let started = messages
            .iter()
            .find(|it| it["method"] == "item/autoApprovalReview/started");
        let action = json!({
            "tool": "mcp_tool_call", "server": "s", "tool_name": "danger",
            "type": "mcpToolCall", "toolName": "danger",
            "connectorId": null, "connectorName": null, "toolTitle": null,
        });
        assert_eq!(started.unwrap()["params"]["action"], action);
        assert_eq!(completed(&messages, "mcpToolCall")[0]["status"], ended);
    }
}
