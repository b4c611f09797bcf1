//! What is nested deeper than anybody means it: keys of settings, JSON of clients, models and MCP servers, trees of
//! directories. Most readers of it recurse, so it goes no further.

use std::fs;

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use serde_json::{Value, json};

use crate::any_nesting;
use crate::mcp::server;
use crate::stage::{Stage, calls, completed, run, status, text};

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

/// What the model was given for its last call.
fn last_output(stage: &Stage) -> String {
    let requests = stage.model.requests();
    let input = requests.last().unwrap().body["input"].as_array().unwrap();
    let mut outputs = input
        .iter()
        .filter(|it| it["type"] == "function_call_output");
    text(&outputs.next_back().unwrap()["output"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_a_setting_has_a_limited_number_of_parts() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let why = "a key path may have at most 64 parts";
    for parts in [65, 8_000, 100_000] {
        let key = vec!["a"; parts].join(".");
        let refused = client.refused("thread/start", json!({ "config": { &key: 1 } }));
        assert_eq!(
            refused.await,
            format!("failed to load configuration: {why}")
        );
        let edit = json!({ "keyPath": key, "value": 1, "mergeStrategy": "replace" });
        let refused = client.try_call("config/value/write", edit.clone()).await;
        let error = refused.unwrap_err();
        assert_eq!(error["message"], why);
        assert_eq!(
            error["data"]["config_write_error_code"],
            "configValidationError"
        );
        let batch = json!({ "edits": [edit] });
        assert_eq!(client.refused("config/batchWrite", batch).await, why);
    }
    let config = json!({ vec!["a"; 64].join("."): 1 });
    client
        .call("thread/start", json!({ "config": config }))
        .await;
}

/// A value that cannot be read is not taken for `null`, which deletes.
#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_too_deep_changes_no_setting() {
    let stage = Stage::with("model_verbosity = \"low\"").await;
    let mut client = stage.client().await;
    let before = fs::read_to_string(stage.home().join("config.toml")).unwrap();
    for levels in [101, 1_000, 100_000] {
        let params = format!(
            r#"{{"keyPath":"model_verbosity","mergeStrategy":"replace","value":{}}}"#,
            nested(levels)
        );
        let refused = client.refused_text("config/value/write", &params).await;
        assert_eq!(
            refused,
            "Invalid request: JSON nested deeper than 100 levels"
        );
        let params = format!(r#"{{"config":{{"model_verbosity":{}}}}}"#, nested(levels));
        let refused = client.refused_text("thread/start", &params).await;
        assert_eq!(
            refused,
            "Invalid request: JSON nested deeper than 100 levels"
        );
    }
    let after = fs::read_to_string(stage.home().join("config.toml")).unwrap();
    assert_eq!(after, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_reads_that_its_arguments_are_too_deep() {
    let stage = Stage::with(&server("s", "", "")).await;
    let tool = json!({ "name": "own", "description": "d", "inputSchema": { "type": "object" } });
    let params = json!({ "dynamicTools": [tool] });
    let (mut client, thread) = stage.thread_with(params).await;
    for name in ["own", "mcp__s__echo"] {
        let arguments = format!("{{\"a\":{}}}", nested(100_000));
        stage.play([
            calls(name, Value::from(arguments)),
            json!({ "text": "sorry" }),
        ]);
        let messages = run(&mut client, &thread, "go").await;
        assert_eq!(status(&messages), "completed");
        let output = last_output(&stage);
        assert!(
            output.contains("JSON nested deeper than 100 levels"),
            "{output}"
        );
    }
    let read = json!({ "threadId": thread, "includeTurns": true });
    client.call("thread/read", read).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_an_mcp_server_that_is_too_deep_is_a_failure() {
    let stage = Stage::with(&server("s", "", "")).await;
    let (mut client, thread) = stage.thread().await;
    for name in ["deep_content", "deep_data"] {
        stage.play([
            calls(&format!("mcp__s__{name}"), json!({})),
            json!({ "text": "sorry" }),
        ]);
        let messages = run(&mut client, &thread, "go").await;
        let why = "the result of the tool cannot be used: JSON nested deeper than 100 levels";
        assert!(
            last_output(&stage).contains(why),
            "{name}: {}",
            last_output(&stage)
        );
        let [item] = completed(&messages, "mcpToolCall")[..] else {
            panic!("{name}: not one call: {messages:?}")
        };
        assert_eq!(item["error"]["message"], why);
        assert_eq!(item["result"], Value::Null);
    }
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/nesting");
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        any_nesting::check(&fs::read(path).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deep_tree_can_be_removed() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    // Removing a directory takes milliseconds on some disks.
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let directory = directory.unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    let mut at = openat(CWD, &root, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..20_000 {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    drop(at);
    client.call("fs/remove", json!({ "path": root })).await;
    assert!(!root.exists());
}
