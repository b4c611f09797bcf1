//! A real third-party server with a real model, on request: `QUIPU_TEST_LLAMA` is the base URL of a
//! Chat Completions server that calls tools. `CONTRIBUTING.md` says how to get one.

use quipu_model::{
    Client, Credentials, ErrorKind, ModelEvent, ProviderConfig, Request, RequestMeta, ToolChoice,
    ToolSet, WireApi,
};
use serde_json::{Value, json};

use crate::support::{collect, done_items, failure, item, request};

#[tokio::test]
async fn a_real_server_streams_a_turn_and_a_tool_call() {
    let Ok(base_url) = std::env::var("QUIPU_TEST_LLAMA") else {
        return;
    };
    let config = ProviderConfig {
        id: "llama".into(),
        base_url: Some(base_url),
        wire_api: WireApi::Chat,
        ..ProviderConfig::default()
    };
    let model = Client::new(config, Credentials::None);
    let models = model.models(&RequestMeta::default()).await.unwrap().models;
    assert!(!models.is_empty());
    let mut turn = request("Say hello.");
    turn.model = models[0].slug.clone();
    turn.tools = ToolSet::default();
    let said = answer(&model, turn).await;
    assert!(!said.is_empty());

    // A model this small does not find its way to a tool by itself, so it is told to take this one.
    let mut turn = request("List the files.");
    turn.model = models[0].slug.clone();
    turn.tool_choice = ToolChoice::Function("exec_command".into());
    let events = collect(model.stream(turn.clone())).await;
    assert!(
        matches!(events.last(), Some(ModelEvent::Completed(_))),
        "{events:?}"
    );
    let call = &done_items(&events)[0];
    assert_eq!(call["name"], "exec_command");
    serde_json::from_str::<Value>(call["arguments"].as_str().unwrap()).unwrap();

    // What the tool gave goes back, and an answer comes of it.
    let output = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "a.txt\nb.txt"});
    turn.input.extend([item(call), item(&output)]);
    turn.tools = ToolSet::default();
    turn.tool_choice = ToolChoice::Auto;
    let said = answer(&model, turn).await;
    assert!(!said.is_empty());

    // More than its context holds; it closes the stream without a word.
    let mut turn = request(&"hello ".repeat(40_000));
    turn.model = models[0].slug.clone();
    turn.context_window = Some(2048);
    let events = collect(model.stream(turn)).await;
    let kind = &failure(&events).kind;
    assert_eq!(*kind, ErrorKind::ContextWindowExceeded);
}

/// The words of an answer, which come in pieces.
async fn answer(model: &Client, turn: Request) -> String {
    let events = collect(model.stream(turn)).await;
    let end = events.last();
    assert!(matches!(end, Some(ModelEvent::Completed(_))), "{events:?}");
    let pieces = events.iter().filter_map(|event| match event {
        ModelEvent::TextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    let said: String = pieces.clone().collect();
    assert!(pieces.count() > 1 || said.len() < 8, "not streamed: {said}");
    let items = done_items(&events);
    assert_eq!(items[0]["content"][0]["text"], said);
    said
}
