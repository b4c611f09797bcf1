//! Keys stay where they belong. A server with every kind of secret runs turns that work and turns that
//! fail, with a provider that repeats what it was sent; then everything it said and wrote is searched.

use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::support::app_server;

const FROM_ENV: &str = "sk-from-the-environment";
const FROM_LOGIN: &str = "sk-from-a-login-1234567890";
const IN_HEADER: &str = "secret-in-a-header";
const IN_QUERY: &str = "secret-in-a-query";
const IN_TOKEN: &str = "secret-in-a-token";
const SECRETS: [&str; 5] = [FROM_ENV, FROM_LOGIN, IN_HEADER, IN_QUERY, IN_TOKEN];

/// What a careless provider answers that was sent this key.
fn served(key: &str) -> [Value; 7] {
    let echo = format!("bad: {key} and {IN_HEADER} and {IN_QUERY}");
    [
        json!({ "fail": 400, "body": echo }),
        json!({ "fail": 401, "body": { "error": { "message": echo } } }),
        json!({ "fail": 429, "body": echo }),
        json!({ "fail": 503, "body": echo }),
        json!({ "error": { "code": "invalid_prompt", "message": echo } }),
        json!({ "raw": echo, "headers": { "content-type": "text/html" } }),
        json!({ "text": "fine" }),
    ]
}

/// Every file below a folder, as text.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            found.push((entry.path().display().to_string(), text));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_said_or_written_has_a_key() {
    let model = ModelServer::start().await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut config =
        "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n".to_owned();
    for (wire, auth) in [
        ("responses", "env_key = \"MY_KEY\"".to_owned()),
        (
            "chat",
            format!("experimental_bearer_token = \"{IN_TOKEN}\""),
        ),
        ("anthropic", "env_key = \"MY_KEY\"".to_owned()),
    ] {
        config.push_str(&format!(
            "[model_providers.{wire}]\nname = \"{wire}\"\nbase_url = \"{}\"\nwire_api = \"{wire}\"\n{auth}\n\
             request_max_retries = 0\nstream_max_retries = 0\nhttp_headers = {{ x-extra = \"{IN_HEADER}\" }}\n\
             query_params = {{ key = \"{IN_QUERY}\" }}\n",
            model.base_url(),
        ));
    }
    std::fs::write(home.path().join("config.toml"), config).unwrap();
    let mut process = app_server([])
        .env("QUIPU_HOME", home.path().to_str().unwrap())
        .env("RUST_LOG", "trace")
        .env("MY_KEY", FROM_ENV)
        .start();
    let mut client = Conversation::start(process.stdio()).await;
    let login = json!({ "type": "apiKey", "apiKey": FROM_LOGIN });
    let mut said = vec![client.call("account/login/start", login).await];
    for (wire, key) in [
        ("responses", FROM_ENV),
        ("chat", IN_TOKEN),
        ("anthropic", FROM_ENV),
    ] {
        let params = json!({ "modelProvider": wire, "model": "m" });
        let started = client.call("thread/start", params).await;
        let thread = started["thread"]["id"].clone();
        for step in served(key) {
            model.queue_json(step);
            let input = json!([{ "type": "text", "text": "hello" }]);
            client
                .call("turn/start", json!({ "threadId": thread, "input": input }))
                .await;
            said.extend(client.until("turn/completed").await);
        }
        said.push(
            client
                .call(
                    "thread/read",
                    json!({ "threadId": thread, "includeTurns": true }),
                )
                .await,
        );
    }
    said.push(client.call("account/read", json!({})).await);
    said.push(client.call("model/list", json!({})).await);
    client.leave().await;
    process.exit().await;
    let logs = process.stderr();
    assert!(logs.contains("TRACE"), "the log was looked at");
    let sent: Vec<String> = model
        .requests()
        .iter()
        .map(|it| it.body.to_string())
        .collect();
    assert_eq!(sent.len(), 21);

    let mut shown: Vec<(String, String)> = said
        .iter()
        .map(|it| (String::from("a message"), it.to_string()))
        .collect();
    shown.push(("the log".to_owned(), logs));
    shown.extend(sent.into_iter().map(|it| ("a request".to_owned(), it)));
    files(home.path(), &mut shown);
    // The two files whose purpose is to keep secrets.
    let keeps = |name: &str| name.ends_with("/config.toml") || name.ends_with("/auth.json");
    for (name, text) in shown.iter().filter(|(name, _)| !keeps(name)) {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} is in {name}: {text}");
        }
    }
    assert!(
        shown.iter().any(|(name, _)| name.ends_with(".jsonl")),
        "rollouts were looked at"
    );
}
