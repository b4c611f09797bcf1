//! Chat Completions: the messages sent, and the pieces read.

use quipu_model::{HistoryItem, ModelEvent, WireApi};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::support::{client, collect, done_items, item, request, short, step, user};

#[tokio::test]
async fn parallel_calls_reasoning_and_usage_are_read() {
    let server = ModelServer::start().await.unwrap();
    server.queue(step(json!({
        "raw_reasoning": "Hm.", "deltas": ["Hel", "lo"], "patch": "*** Begin Patch",
        "calls": [{"name": "exec_command", "arguments": {"cmd": "ä"}}],
        "usage": {"input": 7, "cached": 3, "output": 2, "reasoning": 1},
    })));
    let events = collect(client(&server, WireApi::Chat).stream(request("hi"))).await;
    assert_eq!(
        short(&events),
        [
            "0 started Reasoning",
            "0 thought 0 Hm.",
            r#"0 done {"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}],"encrypted_content":null,"maker":"mock"}"#,
            "1 started Message",
            "1 text Hel",
            "1 text lo",
            r#"1 done {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}"#,
            r#"2 done {"type":"custom_tool_call","call_id":"call_chatcmpl-1_0","name":"apply_patch","input":"*** Begin Patch"}"#,
            r#"3 done {"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ä\"}","call_id":"call_chatcmpl-1_1"}"#,
            "completed chatcmpl-1 in 7 cached 3 out 2 reasoning 1 total 9",
        ]
    );
}

#[tokio::test]
async fn a_history_becomes_messages() {
    let server = ModelServer::start().await.unwrap();
    let model = client(&server, WireApi::Chat);
    let mut turn = request("");
    turn.input = vec![
        item(
            &json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules."}]}),
        ),
        user("<environment_context/>"),
        user("look"),
        item(
            &json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "mine"}], "maker": "mock"}),
        ),
        item(
            &json!({"type": "reasoning", "summary": [], "encrypted_content": "x", "maker": "other"}),
        ),
        item(
            &json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}),
        ),
        item(
            &json!({"type": "function_call", "name": "view", "arguments": "{\"p\":1}", "call_id": "a"}),
        ),
        item(
            &json!({"type": "custom_tool_call", "name": "apply_patch", "input": "p\n", "call_id": "b"}),
        ),
        item(
            &json!({"type": "function_call", "name": "view", "arguments": "{broken", "call_id": "c"}),
        ),
        item(
            &json!({"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "data:image/png;base64,AA"}]}),
        ),
        item(
            &json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "New rule."}]}),
        ),
        item(&json!({"type": "custom_tool_call_output", "call_id": "b", "output": "patched"})),
    ];
    collect(model.stream(turn)).await;
    let body = server.requests()[0].body.clone();
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be brief.\n\nRules."},
            {"role": "user", "content": "<environment_context/>\n\nlook"},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "view", "arguments": "{\"p\":1}"}},
                {"id": "b", "type": "function", "function": {"name": "apply_patch", "arguments": "{\"input\":\"p\\n\"}"}},
                {"id": "c", "type": "function", "function": {"name": "view", "arguments": "{\"invalid_json\":\"{broken\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "seen\n(the image follows in the next message)"},
            {"role": "tool", "tool_call_id": "b", "content": "patched"},
            {"role": "tool", "tool_call_id": "c", "content": "aborted"},
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                {"type": "text", "text": "New rule."},
            ]},
        ])
    );
    let names: Vec<&Value> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(
        names,
        ["exec_command", "apply_patch"],
        "hosted tools are left out"
    );
    let patch = &body["tools"][1]["function"];
    assert_eq!(patch["parameters"]["required"], json!(["input"]));
    assert!(patch["description"].as_str().unwrap().contains("start: x"));
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert!(body.get("reasoning_effort").is_none() && body.get("store").is_none());
    let headers = &server.requests()[0].headers;
    assert!(
        !headers.contains_key("x-codex-turn-metadata"),
        "no foreign headers"
    );
}

#[tokio::test]
async fn a_tool_round_trip_ends_with_an_answer() {
    let server = ModelServer::start().await.unwrap();
    let model = client(&server, WireApi::Chat);
    let script = r#"{"script":[{"raw_reasoning":"Hm.","calls":[{"name":"exec_command","arguments":{"cmd":"ls"}}]},{"text":"done"}]}"#;
    let mut turn = request(script);
    let items = done_items(&collect(model.stream(turn.clone())).await);
    turn.input.extend(items.iter().map(item));
    turn.input.push(item(
        &json!({"type": "function_call_output", "call_id": items[1]["call_id"], "output": "a"}),
    ));
    let events = collect(model.stream(turn)).await;
    assert_eq!(done_items(&events)[0]["content"][0]["text"], "done");
    let messages = server.requests()[1].body["messages"].clone();
    assert_eq!(
        messages[2]["reasoning_content"], "Hm.",
        "thoughts of the turn go back to their maker"
    );
    assert_eq!(messages[2]["content"], "", "neither null nor absent");
}

#[tokio::test]
async fn odd_servers_are_understood() {
    let server = ModelServer::start().await.unwrap();
    let chunk = |delta: Value, finish: Value| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": delta, "finish_reason": finish}]})
        )
    };
    // No ids, no index, arguments as an object, `reasoning`, no usage, no [DONE].
    let stream = [
        chunk(
            json!({"role": "assistant", "content": null, "reasoning": "t"}),
            Value::Null,
        ),
        chunk(
            json!({"tool_calls": [{"function": {"name": "exec_command", "arguments": {"cmd": "ls"}}}]}),
            Value::Null,
        ),
        chunk(json!({}), json!("tool_calls")),
    ];
    server.queue(step(json!({"raw": stream.concat()})));
    let events = collect(client(&server, WireApi::Chat).stream(request("hi"))).await;
    let items = done_items(&events);
    assert_eq!(items[1]["arguments"], r#"{"cmd":"ls"}"#);
    assert!(items[1]["call_id"].as_str().unwrap().starts_with("call_"));
    let Some(ModelEvent::Completed(end)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(end.usage, None);

    // The same id in two answers of one thread: the second gets another.
    server.queue(step(
        json!({"calls": [{"name": "exec_command", "call_id": "call_0"}]}),
    ));
    let mut turn = request("hi");
    let call = json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "call_0"});
    turn.input
        .insert(0, HistoryItem::new(crate::support::raw(&call)));
    let events = collect(client(&server, WireApi::Chat).stream(turn)).await;
    assert_ne!(done_items(&events)[0]["call_id"], "call_0");
}

#[tokio::test]
async fn a_call_with_broken_json_reaches_the_tool_and_the_next_request_works() {
    let server = ModelServer::start().await.unwrap();
    for wire in crate::support::WIRES {
        let model = client(&server, wire);
        let script = r#"{"script":[{"calls":[{"name":"exec_command","arguments":"{\"cmd\": "}]},{"text":"next"}]}"#;
        let mut turn = request(script);
        let events = collect(model.stream(turn.clone())).await;
        let call = &done_items(&events)[0];
        assert_eq!(call["arguments"], "{\"cmd\": ", "{wire:?}");
        turn.input.push(item(call));
        let received = "failed to parse function arguments: EOF while parsing";
        turn.input.push(item(
            &json!({"type": "function_call_output", "call_id": call["call_id"], "output": received}),
        ));
        let events = collect(model.stream(turn)).await;
        assert_eq!(
            done_items(&events)[0]["content"][0]["text"],
            "next",
            "{wire:?}"
        );
    }
}
