//! Commands in a real sandbox.
#![cfg(target_os = "linux")]

use quipu_engine::{CallKind, ToolEvent};
use quipu_tools::Scope;
use quipu_wire::{CommandExecutionStatus, ThreadItem};
use serde_json::json;

use crate::lab::{Lab, call, function, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_command_writes_in_its_workspace_and_nowhere_else() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("b");
    let script = format!(
        "echo in > a; {{ echo out > '{}'; }} 2> /dev/null; cat a",
        target.display()
    );
    let arguments = json!({ "command": ["/bin/sh", "-c", script] }).to_string();
    let finished = lab.run(lab.scope(), function("shell", &arguments)).await;
    let output = text(&finished);
    assert!(output.starts_with("Exit code: 0\n"), "{output}");
    assert!(output.ends_with("in\n"), "{output}");
    assert!(lab.workspace.path().join("a").exists());
    assert!(!target.exists(), "the sandbox let a command out");
    let events = lab.events();
    let Some(ToolEvent::ItemCompleted(ThreadItem::CommandExecution {
        status, exit_code, ..
    })) = events.last()
    else {
        panic!("{events:?}");
    };
    assert_eq!(*status, CommandExecutionStatus::Completed);
    assert_eq!(*exit_code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_for_commands_runs_one() {
    let lab = Lab::new();
    let words = json!({ "command": ["/bin/echo", "seen"] }).to_string();
    let action = json!({ "action": { "command": ["/bin/echo", "seen"] } });
    let calls = [
        function("shell", &words),
        function("container.exec", &words),
        function("local_shell", &words),
        call("local_shell", CallKind::LocalShell(action.into())),
        function("shell_command", r#"{"command":"echo seen"}"#),
        function("exec_command", r#"{"cmd":"echo seen"}"#),
    ];
    for call in calls {
        let finished = lab.run(lab.scope(), call.clone()).await;
        assert!(
            text(&finished).contains("Output:\nseen\n"),
            "{call:?}: {finished:?}"
        );
        lab.events();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_json_for_models_that_do_not_write_patches_as_text() {
    let lab = Lab::new();
    let scope = || Scope {
        patch_as_text: None,
        ..lab.scope()
    };
    let words = json!({ "command": ["/bin/echo", "seen"] }).to_string();
    let finished = lab.run(scope(), function("shell", &words)).await;
    let report: serde_json::Value = serde_json::from_str(text(&finished)).unwrap();
    assert_eq!(report["output"], "seen\n");
    assert_eq!(report["metadata"]["exit_code"], 0);
    let script = r#"{"command":"echo seen"}"#;
    let finished = lab.run(scope(), function("shell_command", script)).await;
    assert!(
        text(&finished).starts_with("Exit code: 0\n"),
        "{finished:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_the_background_is_typed_into() {
    let lab = Lab::new();
    let start = r#"{"cmd":"read line; echo got $line","tty":true,"yield_time_ms":250}"#;
    let finished = lab.run(lab.scope(), function("exec_command", start)).await;
    let output = text(&finished);
    let (_, rest) = output.split_once("session ID ").unwrap();
    let id: u32 = rest.split('\n').next().unwrap().parse().unwrap();
    let typed = json!({ "session_id": id, "chars": "hello\n", "yield_time_ms": 5000 });
    let finished = lab
        .run(lab.scope(), function("write_stdin", &typed.to_string()))
        .await;
    let output = text(&finished);
    assert!(output.contains("got hello"), "{output}");
    assert!(output.contains("Process exited with code 0"), "{output}");
}
