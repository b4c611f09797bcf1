//! Shared by all tests: providers that point at the scripted server, requests, and a short form of
//! events that expectations are written in.

use std::collections::BTreeMap;

use quipu_model::{
    Client, Credentials, Grammar, HistoryItem, ModelEvent, ModelStream, ProviderConfig, Request,
    RequestMeta, ToolSet, ToolSpec, WireApi,
};
use quipu_testkit::model::ModelServer;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

pub const WIRES: [WireApi; 3] = [WireApi::Responses, WireApi::Chat, WireApi::Anthropic];

pub fn provider(server: &ModelServer, wire_api: WireApi) -> ProviderConfig {
    ProviderConfig {
        id: "mock".into(),
        name: "mock".into(),
        base_url: Some(server.base_url()),
        wire_api,
        request_max_retries: Some(0),
        stream_max_retries: Some(0),
        ..ProviderConfig::default()
    }
}

pub fn client(server: &ModelServer, wire_api: WireApi) -> Client {
    Client::new(provider(server, wire_api), Credentials::None)
}

pub fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

pub fn item(value: &Value) -> HistoryItem {
    HistoryItem::new(raw(value))
}

pub fn user(text: &str) -> HistoryItem {
    item(
        &json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
    )
}

pub fn request(prompt: &str) -> Request {
    Request {
        model: "scripted".into(),
        instructions: "Be brief.".into(),
        input: vec![user(prompt)],
        tools: tools(),
        prompt_cache_key: "thread-1".into(),
        accepts_images: true,
        parallel_tool_calls: true,
        meta: RequestMeta {
            originator: "tests".into(),
            user_agent: "tests/1".into(),
            thread_id: "thread-1".into(),
            turn_metadata: Some(r#"{"turn_id":"t"}"#.into()),
            ..RequestMeta::default()
        },
        ..Request::default()
    }
}

pub fn tools() -> ToolSet {
    let function = ToolSpec::Function {
        name: "exec_command".into(),
        description: "Runs a command.".into(),
        strict: false,
        defer_loading: None,
        parameters: raw(&json!({"type": "object", "properties": {"cmd": {"type": "string"}}})),
    };
    let custom = ToolSpec::Custom {
        name: "apply_patch".into(),
        description: "Applies a patch.".into(),
        format: Some(Grammar {
            syntax: "lark".into(),
            definition: "start: x".into(),
        }),
    };
    ToolSet::new(vec![
        function,
        custom,
        ToolSpec::Hosted(raw(&json!({"type": "web_search"}))),
    ])
}

pub async fn collect(mut stream: ModelStream) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

/// One line per event; what opens an answer is left out.
pub fn short(events: &[ModelEvent]) -> Vec<String> {
    let show = |event: &ModelEvent| {
        Some(match event {
            ModelEvent::Opened(_) | ModelEvent::RateLimits(_) => return None,
            ModelEvent::ModelRerouted { model } => format!("rerouted {model}"),
            ModelEvent::ItemStarted { slot, item } => format!("{slot} started {:?}", item.kind),
            ModelEvent::TextDelta { slot, delta } => format!("{slot} text {delta}"),
            ModelEvent::ReasoningPartAdded { slot, index } => format!("{slot} part {index}"),
            ModelEvent::ReasoningSummaryDelta { slot, index, delta } => {
                format!("{slot} summary {index} {delta}")
            }
            ModelEvent::ReasoningTextDelta { slot, index, delta } => {
                format!("{slot} thought {index} {delta}")
            }
            ModelEvent::ItemDone { slot, item } => format!("{slot} done {}", item.raw.get()),
            ModelEvent::Retrying(retrying) => format!("{}: {}", retrying.message(), retrying.error),
            ModelEvent::Completed(end) => {
                let usage = end.usage.unwrap_or_default();
                format!(
                    "completed {} in {} cached {} out {} reasoning {} total {}",
                    end.response_id,
                    usage.input,
                    usage.cached_input,
                    usage.output,
                    usage.reasoning_output,
                    usage.total
                )
            }
            ModelEvent::Failed(error) => format!("failed: {error}"),
        })
    };
    events.iter().filter_map(show).collect()
}

/// The items of an answer as they go into a history.
pub fn done_items(events: &[ModelEvent]) -> Vec<Value> {
    let read = |event: &ModelEvent| match event {
        ModelEvent::ItemDone { item, .. } => Some(serde_json::from_str(item.raw.get()).unwrap()),
        _ => None,
    };
    events.iter().filter_map(read).collect()
}

pub fn failure(events: &[ModelEvent]) -> &quipu_model::ModelError {
    match events.last() {
        Some(ModelEvent::Failed(error)) => error,
        other => panic!("expected a failure, got {other:?}"),
    }
}

pub fn step(value: Value) -> quipu_model::script::Step {
    serde_json::from_value(value).unwrap()
}

pub fn headers(pairs: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    Some(
        pairs
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect(),
    )
}
