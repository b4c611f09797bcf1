//! Providers that are reached through a proxy, as the environment says.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::support::app_server;

/// A turn with a provider at an address that does not exist.
async fn turn_through(name: &str, proxy: &str, model: &ModelServer) {
    let home = tempfile::tempdir().unwrap();
    let config = "model = \"m\"\nmodel_provider = \"far\"\n[model_providers.far]\nname = \"far\"\n\
        base_url = \"http://model.invalid/v1\"\nrequest_max_retries = 0\nstream_max_retries = 0\n";
    std::fs::write(home.path().join("config.toml"), config).unwrap();
    let mut process = app_server([])
        .env("QUIPU_HOME", home.path().to_str().unwrap())
        .env(name, proxy)
        .start();
    let mut client = Conversation::start(process.stdio()).await;
    let started = client.call("thread/start", json!({})).await;
    let params = json!({
        "threadId": started["thread"]["id"],
        "input": [{ "type": "text", "text": "hello" }],
    });
    client.call("turn/start", params).await;
    let ended = client.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["status"], "completed", "{ended}");
    assert_eq!(model.requests().len(), 1);
    client.leave().await;
    process.exit().await;
}

#[tokio::test]
async fn an_http_proxy_is_used() {
    let model = ModelServer::start().await.unwrap();
    // What a proxy is sent differs only in its first line, which names the whole address.
    let proxy = model.base_url().replace("/v1", "");
    turn_through("HTTP_PROXY", &proxy, &model).await;
    assert_eq!(model.requests()[0].headers["host"], "model.invalid");
}

/// Lets one client through to the model, whatever address it names.
async fn socks(listener: TcpListener, model: String) {
    let (mut client, _) = listener.accept().await.unwrap();
    let mut greeting = [0; 3];
    client.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, [5, 1, 0], "without a password");
    client.write_all(&[5, 0]).await.unwrap();
    let mut head = [0; 5];
    client.read_exact(&mut head).await.unwrap();
    assert_eq!(head[..4], [5, 1, 0, 3], "the proxy finds the address");
    let mut address = vec![0; usize::from(head[4]) + 2];
    client.read_exact(&mut address).await.unwrap();
    assert!(address.starts_with(b"model.invalid"));
    client
        .write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
        .unwrap();
    let mut server = TcpStream::connect(model).await.unwrap();
    // The end of either side is the end of the test.
    copy_bidirectional(&mut client, &mut server).await.ok();
}

#[tokio::test]
async fn a_socks_proxy_is_used() {
    let model = ModelServer::start().await.unwrap();
    let address = model.base_url().replace("http://", "").replace("/v1", "");
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let proxy = format!("socks5h://{}", listener.local_addr().unwrap());
    tokio::spawn(socks(listener, address));
    turn_through("ALL_PROXY", &proxy, &model).await;
}
