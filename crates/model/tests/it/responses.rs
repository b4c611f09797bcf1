//! The Responses format: what is sent, byte for byte where it matters, and what is read.

use quipu_model::{
    Client, CredentialSource, Credentials, CredentialsLost, HistoryItem, ModelEvent, Reasoning,
    Recovered, Request, Secret, ToolChoice, TurnState, WireApi, read_answer,
};
use quipu_testkit::model::ModelServer;
use quipu_wire::{ReasoningEffort, ReasoningSummary, ServiceTier, Verbosity};
use serde_json::json;

use crate::support::{
    client, collect, done_items, headers, item, provider, raw, request, short, step, user,
};

#[tokio::test]
async fn the_body_and_headers_are_the_official_ones() {
    let server = ModelServer::start().await.unwrap();
    let model = client(&server, WireApi::Responses);
    collect(model.stream(request("hi"))).await;
    let full = Request {
        reasoning: Some(Reasoning {
            effort: Some(ReasoningEffort::High),
            summary: Some(ReasoningSummary::None),
        }),
        verbosity: Some(Verbosity::Low),
        service_tier: Some(ServiceTier::Fast),
        tool_choice: ToolChoice::Function("exec_command".into()),
        output_schema: Some(raw(&json!({"type": "object"})).into()),
        ..request("hi")
    };
    collect(model.stream(full)).await;
    let sent = server.requests();
    assert_eq!(sent[0].path, "/v1/responses");
    assert_eq!(
        sent[0].body,
        json!({
            "model": "scripted",
            "instructions": "Be brief.",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "tools": [
                {"type": "function", "name": "exec_command", "description": "Runs a command.", "strict": false,
                 "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}},
                {"type": "custom", "name": "apply_patch", "description": "Applies a patch.",
                 "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
                {"type": "web_search"},
            ],
            "tool_choice": "auto",
            "parallel_tool_calls": true,
            "reasoning": null,
            "store": false,
            "stream": true,
            "include": [],
            "prompt_cache_key": "thread-1",
        })
    );
    let body = &sent[1].body;
    assert_eq!(body["reasoning"], json!({"effort": "high"}));
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["service_tier"], "priority");
    assert_eq!(
        body["tool_choice"],
        json!({"type": "function", "name": "exec_command"})
    );
    assert_eq!(
        body["text"],
        json!({"verbosity": "low", "format": {"type": "json_schema", "strict": true, "schema": {"type": "object"}, "name": "codex_output_schema"}})
    );
    let headers = &sent[0].headers;
    for (name, value) in [
        ("accept", "text/event-stream"),
        ("content-type", "application/json"),
        ("originator", "tests"),
        ("user-agent", "tests/1"),
        ("session_id", "thread-1"),
        ("x-client-request-id", "thread-1"),
        ("x-codex-turn-metadata", r#"{"turn_id":"t"}"#),
    ] {
        assert_eq!(headers[name], value, "{name}");
    }
    assert!(!headers.contains_key("authorization") && !headers.contains_key("x-codex-turn-state"));
    assert_eq!(
        sent[0].connection, sent[1].connection,
        "the connection is used again"
    );
}

#[tokio::test]
async fn every_kind_of_event_is_read() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({
        "reasoning": "Hm.", "raw_reasoning": "raw", "deltas": ["Hel", "lo \"ä\"\n"],
        "calls": [{"name": "exec_command", "arguments": {"cmd": "ls"}}], "patch": "*** Begin Patch",
        "items": [{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}],
        "usage": {"input": 7, "cached": 3, "output": 2, "reasoning": 1},
    })));
    let events = collect(client(&server, WireApi::Responses).stream(request("hi"))).await;
    assert_eq!(
        short(&events),
        [
            "0 started Reasoning",
            "0 part 0",
            "0 summary 0 Hm.",
            "0 thought 0 raw",
            r#"0 done {"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"content":[{"type":"reasoning_text","text":"raw"}],"encrypted_content":null}"#,
            "1 started Message",
            "1 text Hel",
            "1 text lo \"ä\"\n",
            r#"1 done {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello \"ä\"\n"}]}"#,
            r#"2 done {"type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}"#,
            r#"3 done {"type":"custom_tool_call","call_id":"call_1_0","name":"apply_patch","input":"*** Begin Patch"}"#,
            r#"4 done {"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_1_1"}"#,
            "completed resp_1 in 7 cached 3 out 2 reasoning 1 total 9",
        ]
    );
    let ids: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::ItemStarted { item, .. } | ModelEvent::ItemDone { item, .. } => {
                item.id.as_deref()
            }
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["rs_1", "rs_1", "msg_1", "msg_1", "ws_1"]);
}

#[tokio::test]
async fn wrong_order_unknown_events_and_odd_framing_are_tolerated() {
    let server = ModelServer::start().await.unwrap();
    let stream = [
        json!({"type": "response.output_text.delta", "item_id": "m1", "delta": "A"}),
        json!({"type": "response.brand_new", "delta": 7}),
        json!({"type": "response.output_item.added", "item": {"type": "later_item"}}),
        json!({"type": "response.output_item.added", "item": {"type": "message", "role": "assistant", "id": "m2", "content": []}}),
        json!({"type": "response.output_text.delta", "item_id": "m1", "delta": "a"}),
        json!({"type": "response.output_text.delta", "item_id": "m2", "delta": "B"}),
        json!({"type": "response.output_item.done", "item": {"type": "message", "role": "assistant", "id": "m2", "content": [{"type": "output_text", "text": "B"}]}}),
        json!({"type": "response.output_item.done", "item": {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": "Aa"}]}}),
        json!({"type": "response.output_item.done", "item": {"type": "later_item", "x": 1}}),
        json!({"type": "response.output_item.done", "item": "nonsense"}),
        json!({"type": "response.completed", "response": {"id": "r"}}),
        json!({"type": "response.output_text.delta", "delta": "never read"}),
    ];
    let mut text = String::from("\u{feff}: hello\r\n\r\ndata: {oops\r\n\r\n");
    for event in stream {
        text.push_str(&format!("id: 1\r\ndata: {event}\r\n\r\n"));
    }
    server.queue(step(json!({"raw": text, "drip": 7})));
    let events = collect(client(&server, WireApi::Responses).stream(request("hi"))).await;
    assert_eq!(
        short(&events),
        [
            "0 started Message",
            "0 text A",
            "1 started Message",
            "0 text a",
            "1 text B",
            r#"1 done {"type":"message","role":"assistant","content":[{"type":"output_text","text":"B"}]}"#,
            r#"0 done {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Aa"}]}"#,
            "completed r in 0 cached 0 out 0 reasoning 0 total 0",
        ]
    );
}

#[tokio::test]
async fn a_tool_round_trip_keeps_the_history_as_it_is() {
    let server = ModelServer::start().await.unwrap();
    let model = client(&server, WireApi::Responses);
    let script = r#"{"script":[{"reasoning":"r","calls":[{"name":"exec_command","arguments":{"cmd":"ls"}}],"patch":"p"},{"text":"done"}]}"#;
    let mut first = request(script);
    let events = collect(model.stream(first.clone())).await;
    for event in &events {
        if let ModelEvent::ItemDone { item, .. } = event {
            first.input.push(HistoryItem::new(item.raw.clone()));
        }
    }
    first.input.push(item(
        &json!({"type": "custom_tool_call_output", "call_id": "call_1_0", "output": "ok"}),
    ));
    first.input.push(item(
        &json!({"type": "function_call_output", "call_id": "call_1_1", "output": "a.txt"}),
    ));
    let events = collect(model.stream(first)).await;
    assert_eq!(done_items(&events)[0]["content"][0]["text"], "done");
    let input = server.requests()[1].body["input"].clone();
    let types: Vec<&str> = input
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "message",
            "reasoning",
            "custom_tool_call",
            "function_call",
            "custom_tool_call_output",
            "function_call_output"
        ]
    );
}

#[tokio::test]
async fn response_headers_are_reported() {
    let server = ModelServer::start().await.unwrap();
    let model = client(&server, WireApi::Responses);
    server.queue(step(json!({"text": "a", "headers": {
        "x-codex-turn-state": "state-1", "x-reasoning-included": "1", "x-models-etag": "e1",
        "openai-model": "other-model", "x-codex-primary-used-percent": "40", "x-codex-primary-window-minutes": "300",
    }})));
    let state = TurnState::default();
    let mut turn = request("hi");
    turn.meta.turn_state = state.clone();
    let events = collect(model.stream(turn.clone())).await;
    let ModelEvent::Opened(opened) = &events[0] else {
        panic!("{events:?}")
    };
    assert!(opened.reasoning_included);
    assert_eq!(opened.models_etag.as_deref(), Some("e1"));
    let ModelEvent::RateLimits(limits) = &events[1] else {
        panic!("{events:?}")
    };
    assert_eq!(limits.primary.as_ref().unwrap().used_percent, 40);
    assert_eq!(short(&events)[0], "rerouted other-model");
    collect(model.stream(turn)).await;
    collect(model.stream(request("next turn"))).await;
    let sent = server.requests();
    assert_eq!(sent[1].headers["x-codex-turn-state"], "state-1");
    assert!(!sent[2].headers.contains_key("x-codex-turn-state"));
}

#[test]
fn headers_inside_a_response_name_the_model_in_any_case() {
    let rerouted = |event: serde_json::Value| {
        let stream = format!("data: {event}\n\n");
        let (events, _) = read_answer(WireApi::Responses, request("hi"), [stream.as_bytes()]);
        short(&events).first().cloned()
    };
    let created = |response: serde_json::Value, headers: serde_json::Value| json!({"type": "response.created", "response": response, "headers": headers});
    let inner = json!({"id": "r", "headers": {"OpenAI-Model": "inner"}});
    let outer = json!({"openai-model": "outer"});
    let found = rerouted(created(inner, outer.clone()));
    assert_eq!(found.as_deref(), Some("rerouted inner"));
    let found = rerouted(created(json!({"id": "r"}), outer));
    assert_eq!(found.as_deref(), Some("rerouted outer"));
}

#[tokio::test]
async fn azure_stores_responses_and_gets_ids_back() {
    let server = ModelServer::start().await.unwrap();
    let mut config = provider(&server, WireApi::Responses);
    config.name = "Azure".into();
    config.query_params = headers(&[("api-version", "2026-01-01")]);
    let mut azure = request("hi");
    let call = json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"});
    azure
        .input
        .push(HistoryItem::with_id(raw(&call), Some("fc_1".into())));
    collect(Client::new(config, Credentials::None).stream(azure)).await;
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/responses?api-version=2026-01-01");
    assert_eq!(sent.body["store"], true);
    assert_eq!(sent.body["input"][1]["id"], "fc_1");
    assert_eq!(
        sent.body["input"][2]["output"], "aborted",
        "a call without an answer gets one"
    );
}

#[tokio::test]
async fn tokens_come_from_the_environment_then_the_settings_then_the_login() {
    let server = ModelServer::start().await.unwrap();
    let login = Credentials::ChatGpt {
        access_token: Secret::new("login-token"),
        account_id: Some("acc".into()),
    };
    let mut config = provider(&server, WireApi::Responses);
    config.env_http_headers = headers(&[("x-home", "HOME"), ("x-none", "QUIPU_TEST_UNSET")]);
    collect(Client::new(config.clone(), login.clone()).stream(request("a"))).await;
    config.experimental_bearer_token = Some(Secret::new("settings-token"));
    collect(Client::new(config.clone(), login.clone()).stream(request("a"))).await;
    config.env_key = Some("HOME".into());
    collect(Client::new(config, login).stream(request("a"))).await;
    let home = std::env::var("HOME").unwrap();
    let sent = server.requests();
    assert_eq!(sent[0].headers["authorization"], "Bearer login-token");
    assert_eq!(sent[0].headers["chatgpt-account-id"], "acc");
    assert_eq!(sent[0].headers["x-home"], home);
    assert!(!sent[0].headers.contains_key("x-none"));
    assert_eq!(sent[1].headers["authorization"], "Bearer settings-token");
    assert_eq!(sent[2].headers["authorization"], format!("Bearer {home}"));
}

/// A login whose first token is stale, and that may or may not claim to have more to try.
struct Stale(bool);

impl CredentialSource for Stale {
    fn current(&self) -> futures_util::future::BoxFuture<'_, Result<Credentials, CredentialsLost>> {
        Box::pin(async { Ok(Credentials::ApiKey(Secret::new("stale"))) })
    }

    fn recover<'a>(
        &'a self,
        _refused: &'a Credentials,
    ) -> futures_util::future::BoxFuture<'a, Result<Option<Recovered>, CredentialsLost>> {
        let credentials = Credentials::ApiKey(Secret::new("fresh"));
        let more = self.0;
        Box::pin(async move { Ok(Some(Recovered { credentials, more })) })
    }
}

#[tokio::test]
async fn a_source_that_never_tires_is_stopped() {
    let server = ModelServer::start().await.unwrap();
    for (more, requests) in [(true, 4), (false, 4 + 2)] {
        let model = Client::new(provider(&server, WireApi::Responses), Stale(more));
        let events = collect(model.stream(request(r#"{"script":[{"fail":401}]}"#))).await;
        assert!(
            matches!(events.last(), Some(ModelEvent::Failed(_))),
            "{events:?}"
        );
        assert_eq!(server.requests().len(), requests);
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once_without_counting_as_a_retry() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({"fail": 401})));
    let model = Client::new(provider(&server, WireApi::Responses), Stale(true));
    let events = collect(model.stream(request("hi"))).await;
    assert!(
        matches!(events.last(), Some(ModelEvent::Completed(_))),
        "{events:?}"
    );
    let tokens: Vec<_> = server
        .requests()
        .iter()
        .map(|sent| sent.headers["authorization"].clone())
        .collect();
    assert_eq!(tokens, ["Bearer stale", "Bearer fresh"]);
}

#[tokio::test]
async fn a_provider_compacts_a_history() {
    let server = ModelServer::start().await.unwrap();
    server.set_compacted(json!({"output": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]},
        {"type": "compaction", "encrypted_content": "xyz"},
        {"type": "later_item"},
    ]}));
    let model = client(&server, WireApi::Responses);
    let items = model.compact(request("long")).await.unwrap();
    assert_eq!(items.len(), 2);
    assert_eq!(
        items[1].raw.get(),
        r#"{"type":"compaction","encrypted_content":"xyz","maker":"mock"}"#
    );
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/responses/compact");
    let mut fields: Vec<&String> = sent.body.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(
        fields,
        [
            "input",
            "instructions",
            "model",
            "parallel_tool_calls",
            "tools"
        ]
    );
    let mut next = request("go on");
    next.input.insert(0, HistoryItem::new(items[1].raw.clone()));
    next.input.insert(0, user("before"));
    collect(model.stream(next)).await;
    let input = server.requests()[1].body["input"].clone();
    assert_eq!(
        input[1],
        json!({"type": "compaction", "encrypted_content": "xyz"})
    );
}

/// The scripted model makes a chunk of each event, as real ones do, and sends them in one packet.
#[tokio::test]
async fn what_has_come_is_handed_over_together() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({"deltas": 100})));
    let mut stream = client(&server, WireApi::Responses).stream(request("hi"));
    let (mut batches, mut deltas) = (0, 0);
    while let Some(first) = stream.next().await {
        batches += 1;
        let mut next = Some(first);
        while let Some(event) = next {
            deltas += usize::from(matches!(event, ModelEvent::TextDelta { .. }));
            next = stream.next_ready();
        }
    }
    assert_eq!(deltas, 100);
    assert!(batches < 20, "{batches}");
}
