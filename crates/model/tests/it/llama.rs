//! A real third-party server with a real model, on request: `QUIPU_TEST_LLAMA` is the base URL of a
//! Chat Completions server, for example llama-cpp-python's.

use quipu_model::{Client, Credentials, ModelEvent, ProviderConfig, RequestMeta, WireApi};

use crate::support::{collect, request};

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
    turn.tools = quipu_model::ToolSet::default();
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

    let mut turn = request("Call exec_command with cmd \"ls\".");
    turn.model = models[0].slug.clone();
    let events = collect(model.stream(turn)).await;
    // So small a model may or may not call the tool; the request with tools must be answered.
    assert!(
        matches!(events.last(), Some(ModelEvent::Completed(_))),
        "{events:?}"
    );
}
