//! The context windows of models that no list knows.

use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::models::window;
use crate::stage::{Stage, run};

/// A model whose server says nothing of windows.
async fn silent() -> Stage {
    let stage = Stage::speaking("chat", "").await;
    stage.model.set_page("/props", Value::Null);
    stage
}

fn warnings(messages: &[Value]) -> Vec<&str> {
    let messages = messages.iter().filter(|it| it["method"] == "configWarning");
    messages
        .filter_map(|it| it["params"]["summary"].as_str())
        .collect()
}

const ASSUMED: &str = "scripted does not say how many tokens the model `scripted-model` can read, so 32768 are \
                       assumed; set `model_context_window` to the real number";

#[tokio::test(flavor = "multi_thread")]
async fn every_server_is_asked_in_its_own_way() {
    let ollama = json!({ "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 10_000 } });
    let set = json!({ "parameters": "stop \"x\"\nnum_ctx    10000", "model_info": { "llama.context_length": 131_072 } });
    let studio = json!({ "data": [{ "id": "other" }, { "id": "tiny", "max_context_length": 131_072, "loaded_context_length": 10_000 }] });
    let llama = json!({ "default_generation_settings": { "n_ctx": 10_000 }, "total_slots": 1 });
    for (path, page) in [
        ("/props", llama),
        ("/api/v0/models", studio),
        ("/api/show", ollama),
        ("/api/show", set),
    ] {
        let stage = silent().await;
        stage.model.set_page(path, page);
        assert_eq!(window(&stage, "tiny").await, 9_500, "{path}");
    }
    for name in [
        "context_length",
        "context_window",
        "max_model_len",
        "max_context_length",
        "max_input_tokens",
    ] {
        let stage = silent().await;
        let listed = json!({ "data": [{ "id": "tiny", name: 10_000 }] });
        stage.model.set_models(listed);
        assert_eq!(window(&stage, "tiny").await, 9_500, "{name}");
        assert_eq!(stage.model.lookups(), ["/v1/models"], "the list is enough");
    }
    // What llama.cpp was started with counts, not what the model was trained with.
    let stage = silent().await;
    stage
        .model
        .set_models(json!({ "data": [{ "id": "tiny", "meta": { "n_ctx_train": 131_072 } }] }));
    let props = json!({ "default_generation_settings": { "n_ctx": 10_000 } });
    stage.model.set_page("/props", props);
    assert_eq!(window(&stage, "tiny").await, 9_500);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_is_asked_once() {
    let stage = Stage::speaking("chat", "").await;
    let (mut client, thread) = stage.thread().await;
    for _ in 0..2 {
        let messages = run(&mut client, &thread, "hi").await;
        assert_eq!(warnings(&messages), [""; 0]);
    }
    assert_eq!(window(&stage, "scripted-model").await, 258_400);
    let mut asked = stage.model.lookups();
    asked.sort();
    assert_eq!(
        asked,
        ["/api/show", "/api/v0/models", "/props", "/v1/models"]
    );
    window(&stage, "another").await;
    assert!(stage.model.lookups().len() > 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_nobody_knows_is_small_and_warned_about_once() {
    let stage = silent().await;
    let (mut client, thread) = stage.thread().await;
    let messages = run(&mut client, &thread, "hi").await;
    assert_eq!(warnings(&messages), [ASSUMED]);
    let messages = run(&mut client, &thread, "hi").await;
    assert_eq!(warnings(&messages), [""; 0]);
    assert_eq!(stage.model.lookups().len(), 4);
    assert_eq!(window(&stage, "scripted-model").await, 31_129);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_make_no_sense_are_no_answers() {
    let stage = silent().await;
    stage.model.set_models(json!("no list"));
    for (path, page) in [
        ("/props", json!({ "default_generation_settings": 1 })),
        ("/api/v0/models", json!([1, 2])),
        (
            "/api/show",
            json!({ "model_info": { "x.context_length": "many" } }),
        ),
    ] {
        stage.model.set_page(path, page);
    }
    assert_eq!(window(&stage, "scripted-model").await, 31_129);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_when_the_window_is_configured() {
    let stage = Stage::with("model_context_window = 20000").await;
    assert_eq!(window(&stage, "scripted-model").await, 19_000);
    assert_eq!(stage.model.lookups(), [""; 0]);
}

/// A provider that cannot be reached has its own error; the next turn asks again.
#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_away_is_asked_again() {
    let stage = Stage::speaking("chat", "").await;
    let away = ModelServer::start().await.unwrap();
    let url = away.base_url();
    drop(away);
    let config = json!({ "model_providers.scripted.base_url": url });
    let (mut client, thread) = stage.thread_with(json!({ "config": config })).await;
    let messages = run(&mut client, &thread, "hi").await;
    assert_eq!(warnings(&messages), [""; 0]);
    assert_eq!(
        messages.last().unwrap()["params"]["turn"]["status"],
        "failed"
    );
}
