//! Listing what a provider has.

use quipu_model::{
    Client, Credentials, ModelEvent, OFFLINE, ProviderConfig, RequestMeta, WireApi, catalogue,
};
use quipu_testkit::model::ModelServer;
use serde_json::json;

use crate::support::{client, provider, request};

#[tokio::test]
async fn a_providers_list_is_read_and_paged() {
    let server = ModelServer::start().await.unwrap();
    server.set_models(
        json!({"object": "list", "data": [{"id": "qwen3:8b"}, {"id": 7}, {"id": "gpt-oss-20b"}]}),
    );
    let model = client(&server, WireApi::Chat);
    let remote = model.models(&RequestMeta::default()).await.unwrap().models;
    let models = catalogue::list(model.provider(), remote);
    let page = catalogue::page(&models, true, None, Some(1)).unwrap();
    assert_eq!(page.data[0].id, "qwen3:8b");
    assert_eq!(page.next_cursor.as_deref(), Some("1"));
    assert_eq!(server.lookups(), ["/v1/models"]);
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
            .models
            .is_empty()
    );
}

/// How a request fails that a provider refuses with this status and body.
async fn refused(server: &ModelServer, wire: WireApi, status: u16, body: &str) -> String {
    server.queue_json(json!({ "fail": status, "body": body }));
    let mut stream = client(server, wire).stream(request("hi"));
    loop {
        match stream.next().await {
            Some(ModelEvent::Failed(error)) => return error.to_string(),
            Some(_) => {}
            None => panic!("the request did not fail"),
        }
    }
}

#[tokio::test]
async fn the_refusal_of_an_unknown_model_names_the_known_ones() {
    let server = ModelServer::start().await.unwrap();
    let listed: Vec<_> = (1..=12).map(|n| json!({ "id": format!("m{n}") })).collect();
    server.set_models(json!({ "data": listed }));
    let hint = "; set `model` to one of: m1, m2, m3, m4, m5, m6, m7, m8, m9, m10 and 2 more";
    for (wire, status, body) in [
        (
            WireApi::Responses,
            404,
            r#"{"error":{"message":"The model `scripted` does not exist","code":"model_not_found"}}"#,
        ),
        (
            WireApi::Responses,
            400,
            r#"{"error":{"message":"nope","code":"model_not_found"}}"#,
        ),
        (
            WireApi::Chat,
            404,
            r#"{"error":{"message":"model \"scripted\" not found, try pulling it first"}}"#,
        ),
        (
            WireApi::Chat,
            404,
            r#"{"object":"error","message":"The model `scripted` does not exist.","type":"NotFoundError","code":404}"#,
        ),
        (
            WireApi::Chat,
            400,
            r#"{"error":{"message":"scripted is not a valid model ID","code":400}}"#,
        ),
        (
            WireApi::Anthropic,
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: scripted"}}"#,
        ),
    ] {
        let text = refused(&server, wire, status, body).await;
        assert!(text.ends_with(hint), "{wire:?}: {text}");
    }
    // What may be about something else is left as it is.
    for (status, body) in [
        (404, r#"{"error":{"message":"no such path"}}"#),
        (
            404,
            r#"{"error":{"message":"the tool `x` of scripted was not found"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"the model scripted reads no images"}}"#,
        ),
        (
            403,
            r#"{"error":{"message":"the model scripted does not exist"}}"#,
        ),
    ] {
        let text = refused(&server, WireApi::Chat, status, body).await;
        assert!(!text.contains("one of"), "{text}");
    }
    server.set_models(json!({ "data": [{ "id": "scripted" }] }));
    let body = r#"{"error":{"message":"no access","code":"model_not_found"}}"#;
    let text = refused(&server, WireApi::Chat, 404, body).await;
    assert!(!text.contains("one of"), "{text}");
}
