//! Models, features and modes to pick from.

use quipu_testkit::client::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::lab::Lab;

async fn error(client: &Client, method: &str, params: Value) -> String {
    let error = client.call_raw(method, &params).await.unwrap_err();
    assert_eq!(error.code, -32600, "{error}");
    error.message
}

#[tokio::test]
async fn models_come_in_pages() {
    let lab = Lab::new();
    let client = lab.client().await;
    let page = json!({ "limit": 2, "cursor": "1" });
    let page = client.call_raw("model/list", &page).await.unwrap();
    assert_eq!(page["data"].as_array().unwrap().len(), 2);
    assert_eq!(page["nextCursor"], "3");
    let bad = error(&client, "model/list", json!({ "cursor": "x" })).await;
    assert_eq!(bad, "invalid cursor: x");
    let far = error(&client, "model/list", json!({ "cursor": "999" })).await;
    assert_eq!(far, "cursor 999 exceeds total models 6");
    client.finish().await;
}

/// Answers every request with this JSON and counts them.
async fn provider(body: Value) -> (String, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, requests) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            assert!(stream.read(&mut head).await.unwrap() > 0);
            asked.send(()).unwrap();
            let body = body.to_string();
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (format!("http://{address}/v1"), requests)
}

#[tokio::test]
async fn a_providers_own_models_are_listed_and_kept() {
    let (url, mut requests) = provider(json!({ "data": [{ "id": "qwen" }] })).await;
    let config = format!(
        "model_provider = \"own\"\n[model_providers.own]\nname = \"Own\"\nbase_url = \"{url}\"\nwire_api = \"chat\"\n"
    );
    let lab = Lab::with(&[], &config);
    let client = lab.client().await;
    for _ in 0..2 {
        let list = client.call_raw("model/list", &json!({})).await.unwrap();
        assert_eq!(list["data"][0]["id"], "qwen", "{list}");
    }
    assert_eq!(requests.recv().await, Some(()));
    assert!(requests.try_recv().is_err(), "the list was asked for twice");
    client.finish().await;
}

#[tokio::test]
async fn features_are_listed_and_switched() {
    let lab = Lab::with(&[], "[features]\nplugins = true\n");
    let client = lab.client().await;
    let enabled = async |name: &str| {
        let list = client
            .call_raw("experimentalFeature/list", &json!({}))
            .await;
        let list = list.unwrap();
        let mut entries = list["data"].as_array().unwrap().iter();
        entries.find(|it| it["name"] == name).unwrap()["enabled"] == true
    };
    assert!(enabled("apps").await);
    let set = json!({ "enablement": { "apps": false, "plugins": false } });
    let echo = client
        .call_raw("experimentalFeature/enablement/set", &set)
        .await;
    assert_eq!(echo.unwrap(), set);
    assert!(!enabled("apps").await);
    assert!(enabled("plugins").await, "what the file says wins");
    let alias = json!({ "enablement": { "connectors": true } });
    let alias = error(&client, "experimentalFeature/enablement/set", alias).await;
    assert_eq!(
        alias,
        "invalid feature enablement `connectors`: use canonical feature key `apps`"
    );
    let far = error(
        &client,
        "experimentalFeature/list",
        json!({ "cursor": "99" }),
    )
    .await;
    assert_eq!(far, "cursor 99 exceeds total feature flags 52");
    client.finish().await;
}

#[tokio::test]
async fn modes_are_listed() {
    let lab = Lab::new();
    let client = lab.client().await;
    let modes = client.call_raw("collaborationMode/list", &json!({})).await;
    assert_eq!(
        modes.unwrap()["data"],
        json!([
            { "name": "Plan", "mode": "plan", "model": null, "reasoning_effort": "medium" },
            { "name": "Default", "mode": "default", "model": null, "reasoning_effort": null },
        ])
    );
    client.finish().await;
}

/// The configuration refuses unknown providers without knowing what a provider is.
#[test]
fn one_list_of_built_in_providers() {
    assert_eq!(
        quipu_config::settings::BUILT_IN_PROVIDERS,
        quipu_model::BUILT_IN_PROVIDERS
    );
}
