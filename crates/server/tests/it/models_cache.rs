//! What only ChatGPT logins have: `models_cache.json` and compressed requests.

use std::path::PathBuf;

use quipu_testkit::identity::{claims, jwt};
use quipu_testkit::wait::until;
use serde_json::{Value, json};

use crate::stage::{Stage, run, status};

/// A server whose provider uses the ChatGPT login that is there.
async fn account(name: &str) -> Stage {
    let provider =
        format!("wire_api = \"responses\"\nname = \"{name}\"\nrequires_openai_auth = true");
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let mut stage = Stage::build(directory, home, "", &provider).await;
    let token = jwt(&claims("a@b.c", "pro", "acct-1"));
    let auth = json!({ "tokens": {
        "id_token": token, "access_token": token, "refresh_token": "r", "account_id": "acct-1",
    }, "last_refresh": "2999-01-01T00:00:00Z" });
    std::fs::write(stage.home().join("auth.json"), auth.to_string()).unwrap();
    offer(&stage, "offered", "\"v1\"");
    stage.restart_with_env(&[]);
    stage
}

fn offer(stage: &Stage, slug: &str, etag: &str) {
    let models = json!({ "models": [{ "slug": slug, "display_name": "New", "priority": 0 }] });
    stage.model.set_models_with_etag(models, etag);
}

fn file(stage: &Stage) -> PathBuf {
    stage.home().join("models_cache.json")
}

fn cached(stage: &Stage) -> Value {
    serde_json::from_slice(&std::fs::read(file(stage)).unwrap()).unwrap()
}

/// How often the provider was asked for its list.
fn lookups(stage: &Stage) -> usize {
    let lookups = stage.model.lookups();
    lookups.iter().filter(|path| *path == "/v1/models").count()
}

/// The models that clients can pick.
async fn listed(stage: &Stage) -> Vec<String> {
    let mut client = stage.client().await;
    let page = client.call("model/list", json!({})).await;
    let models = page["data"].as_array().unwrap().iter();
    models
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_for_an_account_is_kept_in_the_home() {
    let mut stage = account("OpenAI").await;
    assert!(listed(&stage).await.contains(&"offered".to_owned()));
    assert_eq!(lookups(&stage), 1);
    let cache = cached(&stage);
    assert_eq!(cache["etag"], "\"v1\"");
    assert_eq!(cache["client_version"], "0.118.0");
    assert_eq!(cache["models"][0]["slug"], "offered");
    // Another server takes it from there, however old the list of the provider is.
    stage.restart_with_env(&[]);
    offer(&stage, "newer", "\"v2\"");
    assert!(listed(&stage).await.contains(&"offered".to_owned()));
    assert_eq!(lookups(&stage), 1);
    // One that is old, of another version, or broken is not used.
    let old = json!({ "fetched_at": "2020-01-01T00:00:00Z" });
    let foreign = json!({ "client_version": "0.1.0" });
    for change in [old, foreign, json!({ "models": 7 })] {
        let mut wrong = cache.clone();
        let fields = change.as_object().unwrap().clone();
        wrong.as_object_mut().unwrap().extend(fields);
        std::fs::write(file(&stage), wrong.to_string()).unwrap();
        stage.restart_with_env(&[]);
        assert!(
            listed(&stage).await.contains(&"newer".to_owned()),
            "{change}"
        );
        assert_eq!(cached(&stage)["etag"], "\"v2\"");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changed_is_fetched_again() {
    let stage = account("OpenAI").await;
    assert!(listed(&stage).await.contains(&"offered".to_owned()));
    offer(&stage, "newer", "\"v2\"");
    let (mut client, thread) = stage.thread().await;
    for etag in ["\"v1\"", "\"v2\"", "\"v2\""] {
        stage.play([json!({ "text": "hi", "headers": { "x-models-etag": etag } })]);
        assert_eq!(status(&run(&mut client, &thread, "go").await), "completed");
        until("the new list", || cached(&stage)["etag"] == etag).await;
    }
    assert_eq!(lookups(&stage), 2);
    assert!(listed(&stage).await.contains(&"newer".to_owned()));
}

/// A key has no list of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_leaves_no_cache() {
    let mut stage = account("OpenAI").await;
    let auth = json!({ "OPENAI_API_KEY": "sk-test-key" });
    std::fs::write(stage.home().join("auth.json"), auth.to_string()).unwrap();
    stage.restart_with_env(&[]);
    listed(&stage).await;
    assert!(!file(&stage).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_an_account_are_compressed() {
    for (name, off, wanted) in [
        ("OpenAI", false, Some("zstd")),
        ("OpenAI", true, None),
        ("Another", false, None),
    ] {
        let stage = account(name).await;
        let mut client = stage.client().await;
        let config = json!({ "features.enable_request_compression": !off });
        let params = json!({ "config": config });
        let thread = client.call("thread/start", params).await["thread"]["id"].clone();
        let thread = thread.as_str().unwrap();
        stage.play([json!({ "text": "hi" })]);
        assert_eq!(status(&run(&mut client, thread, "go").await), "completed");
        let sent = stage.model.requests().pop().unwrap();
        let encoding = sent.headers.get("content-encoding").map(String::as_str);
        assert_eq!(encoding, wanted, "{name} {off}");
        assert!(sent.body["input"].is_array(), "it is readable JSON inside");
    }
}
