//! The same session with Quipu's server in this process: real turns, real commands, real approvals.

use std::path::Path;
use std::sync::Arc;

use quipu_embed::Embedded;
use quipu_embed::config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_runner::session::{EventKind, Launch, SessionOptions};
use serde_json::{Value, json};

use super::support::{Lab, start, within};
use super::tools::Echo;

/// A server with the offline model, whose state is outside the workspace.
fn embedded(directory: &Path) -> Embedded {
    let home = Home::at(directory.join("home"));
    home.ensure().unwrap();
    std::fs::write(home.config_file(), "model_provider = \"offline\"\n").unwrap();
    let path = std::env::var("PATH").unwrap();
    let vars = [
        ("PATH", path.as_str()),
        ("HOME", directory.to_str().unwrap()),
    ];
    let env = Env::new(vars, directory);
    let system = SystemPaths::in_directory(&directory.join("etc"));
    let config = Loader::with_system_paths(env, home, Overrides::default(), system);
    Embedded::start(config)
}

fn options(lab: &Lab, server: &Embedded) -> SessionOptions {
    SessionOptions {
        thread_sandbox: Some(json!("workspace-write")),
        ..lab.with(Launch::Embedded(server.clone()))
    }
}

fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

fn command(line: &str) -> Value {
    let arguments = json!({ "cmd": line, "login": false });
    json!({ "calls": [{ "name": "exec_command", "arguments": arguments }] })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_this_process_works_calls_tools_and_goes_on_later() {
    let state = tempfile::tempdir().unwrap();
    let server = embedded(state.path());
    let lab = Lab::new("");
    let with_tool = || SessionOptions {
        tools: vec![Arc::new(Echo)],
        ..options(&lab, &server)
    };
    let mut session = start(with_tool()).await.unwrap();
    let echo = json!({ "name": "echo", "arguments": { "value": "from the runner" } });
    let steps =
        script(json!([command("echo made > file"), { "calls": [echo] }, { "text": "first" }]));
    let done = within("a turn", session.run_turn(&steps)).await.unwrap();
    assert_eq!(done.message, "first");
    assert!(done.usage.is_some());
    assert_eq!(
        std::fs::read_to_string(lab.path().join("file")).unwrap(),
        "made\n"
    );
    assert_eq!(
        lab.events(EventKind::ToolCallCompleted)[0].payload["output"],
        "from the runner"
    );
    let thread = session.thread_id().to_owned();
    within("the end", session.stop()).await;

    let resumed = SessionOptions {
        resume: Some(thread.clone()),
        ..with_tool()
    };
    let mut session = start(resumed).await.unwrap();
    assert_eq!(session.thread_id(), thread);
    // The tools of a thread belong to it.
    let steps = script(json!([{ "calls": [echo] }, { "text": "second" }]));
    let done = within("a turn", session.run_turn(&steps)).await;
    assert_eq!(done.unwrap().message, "second");
    assert_eq!(lab.events(EventKind::ToolCallCompleted).len(), 2);
    within("the end", session.stop()).await;
    within("the end", server.stop()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r21_with_a_real_server_nothing_runs_that_needs_an_approval() {
    let state = tempfile::tempdir().unwrap();
    let server = embedded(state.path());
    let lab = Lab::new("");
    let options = SessionOptions {
        approval_policy: json!("untrusted"),
        ..options(&lab, &server)
    };
    let mut session = start(options).await.unwrap();
    let steps = script(json!([command("touch ran"), command("touch ran"), { "text": "done" }]));
    let error = within("the end", session.run_turn(&steps))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "approval_required", "{error}");
    within("the end", server.stop()).await;
    assert!(!lab.path().join("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn r16_a_turn_that_fails_is_an_error_with_a_real_server_too() {
    let state = tempfile::tempdir().unwrap();
    let server = embedded(state.path());
    let lab = Lab::new("");
    let mut session = start(options(&lab, &server)).await.unwrap();
    let steps = script(json!([{ "fail": 400, "body": { "error": { "message": "as scripted" } } }]));
    let error = within("the end", session.run_turn(&steps))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "turn_failed", "{error}");
    within("the end", server.stop()).await;
}
