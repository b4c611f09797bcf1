//! Anthropic Messages: blocks out, blocks back, thinking kept for its maker.

use quipu_model::{Client, Credentials, ProviderConfig, Reasoning, Request, WireApi};
use quipu_testkit::model::ModelServer;
use quipu_wire::ReasoningEffort;
use serde_json::json;

use crate::support::{client, collect, done_items, item, provider, request, short, step, user};

#[tokio::test]
async fn blocks_are_read() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({
        "reasoning": "Hm.", "deltas": ["Hel", "lo"], "patch": "*** Begin Patch",
        "calls": [{"name": "exec_command", "arguments": {"cmd": "ls"}}],
        "usage": {"input": 7, "cached": 3, "output": 2, "reasoning": 0},
    })));
    let events = collect(client(&server, WireApi::Anthropic).stream(request("hi"))).await;
    assert_eq!(
        short(&events),
        [
            "0 started Reasoning",
            "0 summary 0 Hm.",
            r#"0 done {"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"content":null,"encrypted_content":"sig_1","maker":"mock"}"#,
            "1 started Message",
            "1 text Hel",
            "1 text lo",
            r#"1 done {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}"#,
            r#"2 done {"type":"custom_tool_call","call_id":"toolu_1_0","name":"apply_patch","input":"*** Begin Patch"}"#,
            r#"3 done {"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"toolu_1_1"}"#,
            "completed msg_1 in 7 cached 3 out 2 reasoning 0 total 9",
        ]
    );
}

#[tokio::test]
async fn thinking_goes_back_to_its_maker_only() {
    let server = ModelServer::start().await.unwrap();
    let script = r#"{"script":[{"reasoning":"Hm.","calls":[{"name":"exec_command","arguments":{"cmd":"ls"}}]},{"text":"done"}]}"#;
    let mut turn = request(script);
    turn.model = "claude-haiku-4-5".into();
    turn.reasoning = Some(Reasoning {
        effort: Some(ReasoningEffort::Low),
        summary: None,
    });
    let maker = client(&server, WireApi::Anthropic);
    let events = collect(maker.stream(turn.clone())).await;
    for value in done_items(&events) {
        turn.input.push(item(&value));
    }
    turn.input.push(item(
        &json!({"type": "function_call_output", "call_id": "toolu_1_0", "output": "a"}),
    ));
    let events = collect(maker.stream(turn.clone())).await;
    assert_eq!(done_items(&events)[0]["content"][0]["text"], "done");

    let other = ProviderConfig {
        id: "other".into(),
        ..provider(&server, WireApi::Anthropic)
    };
    collect(Client::new(other, Credentials::None).stream(turn.clone())).await;
    let responses = ProviderConfig {
        id: "third".into(),
        ..provider(&server, WireApi::Responses)
    };
    collect(Client::new(responses, Credentials::None).stream(turn)).await;

    let sent = server.requests();
    assert_eq!(
        sent[0].body["thinking"],
        json!({"type": "enabled", "budget_tokens": 4096})
    );
    assert_eq!(
        sent[1].body["messages"][1],
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "sig_1"},
            {"type": "tool_use", "id": "toolu_1_0", "name": "exec_command", "input": {"cmd": "ls"}},
        ]})
    );
    assert!(sent[1].body.get("thinking").is_some());
    assert_eq!(
        sent[2].body["messages"][1]["content"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(
        sent[2].body.get("thinking").is_none(),
        "a turn cannot begin to think in its middle"
    );
    let types: Vec<_> = sent[3].body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| &i["type"])
        .collect();
    assert_eq!(types, ["message", "function_call", "function_call_output"]);
}

#[tokio::test]
async fn a_history_becomes_blocks_with_cache_marks() {
    let server = ModelServer::start().await.unwrap();
    let mut turn = request("");
    turn.input = vec![
        item(
            &json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules."}]}),
        ),
        user("<environment_context/>"),
        item(&json!({"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": "data:image/png;base64,AA"},
            {"type": "input_image", "image_url": "https://x/y.png"}]})),
        item(
            &json!({"type": "reasoning", "summary": [], "encrypted_content": "redacted:blob", "maker": "mock"}),
        ),
        item(
            &json!({"type": "function_call", "name": "view", "arguments": "", "call_id": "functions.view:0"}),
        ),
        item(&json!({"type": "function_call_output", "call_id": "functions.view:0", "output": ""})),
    ];
    collect(client(&server, WireApi::Anthropic).stream(turn)).await;
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/messages");
    assert_eq!(sent.headers["anthropic-version"], "2023-06-01");
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        sent.body["system"],
        json!([{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Rules.", "cache_control": mark}])
    );
    assert_eq!(
        sent.body["messages"],
        json!([
            {"role": "user", "content": [
                {"type": "text", "text": "<environment_context/>"},
                {"type": "text", "text": "look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
                {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}, "cache_control": mark},
            ]},
            {"role": "assistant", "content": [
                {"type": "redacted_thinking", "data": "blob"},
                {"type": "tool_use", "id": "functions_view_0", "name": "view", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "functions_view_0", "content": [], "cache_control": mark},
            ]},
        ])
    );
    assert_eq!(sent.body["max_tokens"], 32_000);
    assert_eq!(
        sent.body["tool_choice"],
        json!({"type": "auto", "disable_parallel_tool_use": false})
    );
    assert_eq!(
        sent.body["tools"][1]["input_schema"]["required"],
        json!(["input"])
    );
}

#[tokio::test]
async fn efforts_are_reported_in_each_models_way() {
    let server = ModelServer::start().await.unwrap();
    let cases = [
        (
            "claude-opus-5",
            json!({"type": "adaptive", "display": "summarized"}),
            json!({"effort": "xhigh"}),
        ),
        (
            "claude-opus-4-6",
            json!({"type": "adaptive"}),
            json!({"effort": "max"}),
        ),
        (
            "claude-sonnet-4-5-20250929",
            json!({"type": "enabled", "budget_tokens": 16000}),
            json!(null),
        ),
        ("claude-3-5-haiku", json!(null), json!(null)),
        (
            "kimi-k2",
            json!({"type": "enabled", "budget_tokens": 16000}),
            json!(null),
        ),
    ];
    for (model, thinking, config) in cases {
        let asked = Request {
            model: model.into(),
            reasoning: Some(Reasoning {
                effort: Some(ReasoningEffort::Xhigh),
                summary: None,
            }),
            ..request("hi")
        };
        collect(client(&server, WireApi::Anthropic).stream(asked)).await;
        let body = server.requests().pop().unwrap().body;
        assert_eq!(body["thinking"], thinking, "{model}");
        assert_eq!(body["output_config"], config, "{model}");
    }
}

#[tokio::test]
async fn a_key_goes_into_its_own_header() {
    let server = ModelServer::start().await.unwrap();
    let mut config = provider(&server, WireApi::Anthropic);
    config.env_key = Some("HOME".into());
    collect(Client::new(config, Credentials::None).stream(request("hi"))).await;
    let headers = &server.requests()[0].headers;
    assert_eq!(headers["x-api-key"], std::env::var("HOME").unwrap());
    assert!(!headers.contains_key("authorization"));
}
