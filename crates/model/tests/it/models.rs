//! Listing what a provider has.

use quipu_model::{Client, Credentials, OFFLINE, ProviderConfig, RequestMeta, WireApi, catalogue};
use quipu_testkit::model::ModelServer;
use serde_json::json;

use crate::support::{client, provider};

#[tokio::test]
async fn a_providers_list_is_read_and_paged() {
    let server = ModelServer::start().await.unwrap();
    server.set_models(
        json!({"object": "list", "data": [{"id": "qwen3:8b"}, {"id": 7}, {"id": "gpt-oss-20b"}]}),
    );
    let model = client(&server, WireApi::Chat);
    let remote = model.models(&RequestMeta::default()).await.unwrap();
    let models = catalogue::list(model.provider(), remote);
    let page = catalogue::page(&models, true, None, Some(1)).unwrap();
    assert_eq!(page.data[0].id, "qwen3:8b");
    assert_eq!(page.next_cursor.as_deref(), Some("1"));
    assert_eq!(server.requests()[0].path, "/v1/models");
}

#[tokio::test]
async fn a_list_that_cannot_be_had_is_an_error_with_a_name() {
    let server = ModelServer::start().await.unwrap();
    server.set_models(json!("no list"));
    let error = client(&server, WireApi::Chat)
        .models(&RequestMeta::default())
        .await
        .unwrap_err();
    assert!(
        error
            .details()
            .unwrap()
            .starts_with("provider `mock` sent a list of models"),
        "{error:?}"
    );
    let mut config = provider(&server, WireApi::Anthropic);
    config.base_url = Some(format!(
        "{}/nowhere",
        server.base_url().trim_end_matches("/v1")
    ));
    let gone = Client::new(config, Credentials::None);
    drop(server);
    assert!(gone.models(&RequestMeta::default()).await.is_err());
}

#[tokio::test]
async fn the_offline_model_lists_nothing() {
    let offline = Client::new(
        ProviderConfig::built_in(OFFLINE).unwrap(),
        Credentials::None,
    );
    assert!(
        offline
            .models(&RequestMeta::default())
            .await
            .unwrap()
            .is_empty()
    );
}
