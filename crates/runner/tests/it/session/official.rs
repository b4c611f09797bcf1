//! The same session with official servers, if the tester has them: give the programs' paths in `QUIPU_TEST_CODEX`,
//! separated by colons. They speak to a scripted model on loopback and never leave the machine.

use std::path::Path;
use std::sync::Arc;

use quipu_runner::session::{EventKind, Launch, SessionOptions};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use super::support::{Lab, start, within};
use super::tools::Echo;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn official_servers_are_driven_the_same_way() {
    let Some(programs) = std::env::var_os("QUIPU_TEST_CODEX") else {
        return eprintln!("skipped: QUIPU_TEST_CODEX names no official server");
    };
    for program in std::env::split_paths(&programs) {
        work_and_go_on_later(&program).await;
        stop_at_approvals(&program).await;
    }
}

/// A home of a server's own, with a scripted model.
fn options(lab: &Lab, program: &Path, home: &Path, model: &ModelServer) -> SessionOptions {
    let config = format!(
        "model = \"scripted-model\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}\"\nwire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n",
        model.base_url(),
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    SessionOptions {
        thread_sandbox: Some(json!({ "type": "dangerFullAccess" })),
        title: Some("ABC-1: Fix the door".to_owned()),
        environment: vec![
            ("CODEX_HOME".into(), Some(home.into())),
            ("HOME".into(), Some(home.into())),
            ("OPENAI_API_KEY".into(), None),
        ],
        ..lab.with(Launch::Program(program.to_owned()))
    }
}

fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

/// A call of whichever tool for commands the server offers the model.
fn command(model: &ModelServer, line: &str, escalated: bool) -> Value {
    let requests = model.requests();
    let tools = requests[0].body["tools"].as_array().unwrap();
    let offers = |name: &str| tools.iter().any(|it| it["name"] == name);
    let (name, mut arguments) = match () {
        () if offers("shell_command") => ("shell_command", json!({ "command": line })),
        () if offers("exec_command") => ("exec_command", json!({ "cmd": line })),
        () => ("shell", json!({ "command": ["bash", "-c", line] })),
    };
    if escalated {
        arguments["sandbox_permissions"] = json!("require_escalated");
        arguments["justification"] = json!("for the test");
    }
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

async fn work_and_go_on_later(program: &Path) {
    let model = ModelServer::start().await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::new("");
    let with_tool = || SessionOptions {
        tools: vec![Arc::new(Echo)],
        ..options(&lab, program, home.path(), &model)
    };
    let mut session = start(with_tool()).await.unwrap();
    let first = within("a turn", session.run_turn("hello")).await.unwrap();
    let echo =
        json!({ "calls": [{ "name": "echo", "arguments": { "value": "from the runner" } }] });
    let steps = json!([command(&model, "touch made", false), echo, { "text": "second" }]);
    let second = within("a turn", session.run_turn(&script(steps)))
        .await
        .unwrap();
    assert_eq!(second.message, "second");
    assert_ne!(first.session_id, second.session_id);
    assert!(second.session_id.starts_with(session.thread_id()));
    assert!(lab.path().join("made").exists());
    assert_eq!(lab.events(EventKind::ToolCallCompleted).len(), 1);
    let thread = session.thread_id().to_owned();
    within("the end", session.stop()).await;

    let resumed = SessionOptions {
        resume: Some(thread.clone()),
        ..with_tool()
    };
    let mut session = start(resumed).await.unwrap();
    assert_eq!(session.thread_id(), thread);
    // The tools of a thread belong to it.
    let steps = script(json!([echo, { "text": "third" }]));
    let third = within("a turn", session.run_turn(&steps)).await;
    assert_eq!(third.unwrap().message, "third");
    assert_eq!(lab.events(EventKind::ToolCallCompleted).len(), 2);
    let failing =
        script(json!([{ "fail": 400, "body": { "error": { "message": "as scripted" } } }]));
    let error = within("the end", session.run_turn(&failing))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "turn_failed", "{error}");
}

async fn stop_at_approvals(program: &Path) {
    let model = ModelServer::start().await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let lab = Lab::new("");
    let options = SessionOptions {
        approval_policy: json!("on-request"),
        thread_sandbox: Some(json!("workspace-write")),
        ..options(&lab, program, home.path(), &model)
    };
    let mut session = start(options).await.unwrap();
    within("a turn", session.run_turn("hello")).await.unwrap();
    let steps = json!([command(&model, "touch ran", true), { "text": "done" }]);
    let error = within("the end", session.run_turn(&script(steps)))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "approval_required", "{error}");
    assert!(!lab.path().join("ran").exists());
}
