//! The official TypeScript SDK with this program as its own, if the tester has it: give the directory that holds
//! `node_modules/@openai/codex-sdk` in `QUIPU_TEST_SDK`. `docs/exec.md` says how.

use std::path::Path;
use std::process::Stdio;

use quipu_testkit::client::within;
use quipu_testkit::model::{ModelServer, Recorded};
use serde_json::{Value, json};

use crate::exec::{Place, text};
use crate::exec_flags::{PNG, with_model};
use crate::support::QUIPU;

/// What the SDK is asked to do. It prints a line of JSON for each thing it saw.
const PROGRAM: &str = include_str!("sdk.mjs");

/// Runs the program with the SDK and returns what it saw, by the name of each step.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of the test, killed on drop"
)]
async fn run(sdk: &Path, place: &Place, model: &ModelServer) -> Value {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(
        sdk.join("node_modules"),
        directory.path().join("node_modules"),
    )
    .unwrap();
    std::fs::write(directory.path().join("sdk.mjs"), PROGRAM).unwrap();
    let mut command = tokio::process::Command::new("node");
    command
        .arg("sdk.mjs")
        .arg(QUIPU)
        .arg(place.directory.path())
        .arg(place.work())
        .arg(model.base_url())
        .current_dir(directory.path())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = within("the end of the program", command.output())
        .await
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut seen = json!({});
    for line in text(&output.stdout).lines() {
        let step: Value = serde_json::from_str(line).unwrap();
        seen[step[0].as_str().unwrap()] = step[1].clone();
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_sdk_works_with_this_program() {
    let Some(sdk) = std::env::var_os("QUIPU_TEST_SDK") else {
        return;
    };
    let (place, model) = with_model().await;
    std::fs::write(place.work().join("image.png"), PNG).unwrap();
    let seen = run(Path::new(&sdk), &place, &model).await;
    let events = json!([
        "thread.started",
        "turn.started",
        "item.started command_execution in_progress",
        "item.completed command_execution completed",
        "item.completed agent_message",
        "turn.completed",
    ]);
    assert_eq!(seen["streamed"], events);
    assert_eq!(
        seen["schema"],
        json!({ "answer": { "a": 1 }, "tokens": true })
    );
    assert_eq!(seen["resumed"], json!({ "answer": "again", "same": true }));
    assert_eq!(seen["sandboxed"], "failed");
    assert!(!place.work().join("forbidden").exists());
    assert!(place.work().join("sub/allowed").exists());
    let failed = seen["failed"].as_str().unwrap();
    assert!(failed.contains("no luck"), "{failed}");
    assert_eq!(seen["aborted"], "AbortError");
    assert_eq!(seen["aborted while running"], "AbortError");
    assert_eq!(seen["after abort"], "still here");
    let named = asked_with(&model, "\"model\":\"gpt-5.4\"");
    assert_eq!(named["reasoning"]["effort"], "high", "{named}");
    let key = Some("Bearer sk-of-the-sdk");
    let keyed = |it: Recorded| it.headers.get("authorization").map(String::as_str) == key;
    assert!(model.requests().into_iter().any(keyed));
    asked_with(&model, "data:image/png;base64,");
    asked_with(&model, "\"model\":\"of-the-config\"");
}

/// The request whose body has this text.
fn asked_with(model: &ModelServer, part: &str) -> Value {
    let mut bodies = model.requests().into_iter().map(|it| it.body);
    let found = bodies.find(|body| body.to_string().contains(part));
    found.unwrap_or_else(|| panic!("no request has {part}"))
}
