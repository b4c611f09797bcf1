//! The families of tools that run commands: which one a model is offered, and what it reads from each.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, order, run, status, text};

/// What the model read last.
fn last_output(stage: &Stage) -> String {
    let requests = stage.model.requests();
    let input = requests.last().unwrap().body["input"].as_array().unwrap();
    text(&input.last().unwrap()["output"])
}

/// Makes one call; what the model read, and what clients were told.
async fn call(
    stage: &Stage,
    client: &mut Conversation,
    thread: &str,
    tool: &str,
    arguments: Value,
) -> (String, Vec<Value>) {
    stage.play([calls(tool, arguments), json!({ "text": "I see" })]);
    let messages = run(client, thread, "do it").await;
    assert_eq!(status(&messages), "completed");
    (last_output(stage), messages)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_family_is_offered_as_the_settings_and_the_model_say() {
    let cases: [(&str, &str, &[&str]); 6] = [
        ("", "scripted-model", &["exec_command", "write_stdin"]),
        ("", "gpt-5.2", &["exec_command", "write_stdin"]),
        ("unified_exec = false", "scripted-model", &["shell"]),
        ("unified_exec = false", "gpt-5.2", &["shell_command"]),
        ("shell_tool = false", "gpt-5.2", &[]),
        (
            "apply_patch_freeform = true",
            "scripted-model",
            &["exec_command", "write_stdin", "apply_patch"],
        ),
    ];
    for (feature, model, expected) in cases {
        let stage = Stage::with(&format!("[features]\n{feature}\n")).await;
        let (mut client, thread) = stage.thread_with(json!({ "model": model })).await;
        stage.play([json!({ "text": "hello" })]);
        run(&mut client, &thread, "hello").await;
        let requests = stage.model.requests();
        let tools = requests[0].body["tools"].as_array().unwrap();
        let mut names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
        let of_interest = ["exec_command", "write_stdin", "shell", "shell_command"];
        let patch = (model == "scripted-model").then_some("apply_patch");
        names.retain(|name| of_interest.contains(name) || patch == Some(*name));
        assert_eq!(names, expected, "{feature} {model}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_have_the_form_that_the_model_knows() {
    let stage = Stage::new().await;
    let words = json!({ "command": ["sh", "-c", "echo out; exit 3"] });
    let script = json!({ "command": "echo out; exit 3" });
    let (mut client, thread) = stage.thread_with(json!({ "model": "gpt-5.2" })).await;
    for (tool, arguments) in [("shell", &words), ("shell_command", &script)] {
        let (read, _) = call(&stage, &mut client, &thread, tool, arguments.clone()).await;
        let (head, tail) = read.split_once("Wall time: ").unwrap();
        assert_eq!(head, "Exit code: 3\n", "{tool}");
        assert!(tail.ends_with(" seconds\nOutput:\nout\n"), "{tool}: {read}");
    }
    let (mut client, thread) = stage.thread().await;
    for tool in ["shell", "container.exec", "local_shell"] {
        let (read, _) = call(&stage, &mut client, &thread, tool, words.clone()).await;
        let read: Value = serde_json::from_str(&read).unwrap();
        assert_eq!(read["output"], "out\n", "{tool}");
        assert_eq!(read["metadata"]["exit_code"], 3, "{tool}");
        assert!(read["metadata"]["duration_seconds"].is_number(), "{tool}");
    }
    let many = json!({ "command": "seq 1 30000" });
    let (read, _) = call(&stage, &mut client, &thread, "shell_command", many).await;
    let (head, _) = read.split_once("\n1\n2\n").unwrap();
    assert!(
        head.ends_with(" seconds\nTotal output lines: 30000\nOutput:"),
        "{head}"
    );
    assert!(read.ends_with("29999\n30000\n") && read.contains(" truncated…"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_is_given_to_shells_only() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    for (wanted, used) in [
        ("/bin/bash", "/bin/bash"),
        ("fish", "/bin/sh"),
        ("/usr/bin/env", "/bin/sh"),
        ("/no/such/bash", "/bin/sh"),
    ] {
        let arguments = json!({ "cmd": "echo hi", "shell": wanted, "login": false });
        let (read, messages) = call(&stage, &mut client, &thread, "exec_command", arguments).await;
        let command = format!("{used} -c 'echo hi'");
        assert_eq!(
            completed(&messages, "commandExecution")[0]["command"],
            command
        );
        assert!(read.ends_with("Output:\nhi\n"), "{wanted}: {read}");
    }
    let arguments = json!({ "cmd": "echo hi", "shell": "sh", "login": false });
    let (_, messages) = call(&stage, &mut client, &thread, "exec_command", arguments).await;
    let command = text(&completed(&messages, "commandExecution")[0]["command"]);
    assert!(command.starts_with('/') && command.ends_with("/sh -c 'echo hi'"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_run_is_shown_as_declined() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage
        .thread_with(json!({ "sandbox": "read-only", "approvalPolicy": "never" }))
        .await;
    let cases = [
        (
            json!({ "command": ["rm", "-rf", "x"] }),
            "`rm -rf x` rejected: blocked by policy",
        ),
        (json!({ "command": [] }), "command args are empty"),
    ];
    for (arguments, why) in cases {
        let (read, messages) = call(&stage, &mut client, &thread, "shell", arguments).await;
        assert_eq!(read, why);
        let items = completed(&messages, "commandExecution");
        assert_eq!(items.len(), 1, "{:?}", order(&messages));
        assert_eq!(items[0]["status"], "declined");
        assert_eq!(items[0]["exitCode"], -1);
        assert_eq!(items[0]["aggregatedOutput"], why);
    }
    let escalated = json!({ "command": ["ls"], "sandbox_permissions": "require_escalated" });
    let (read, messages) = call(&stage, &mut client, &thread, "shell", escalated).await;
    assert!(read.starts_with("approval policy is Never; reject command"));
    assert!(completed(&messages, "commandExecution").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_commands_go_on_in_the_background() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let one = json!({ "name": "exec_command", "arguments": {
        "cmd": "exec sleep 1000", "login": false, "yield_time_ms": 250,
    } });
    stage.play([
        json!({ "calls": vec![one; 65] }),
        json!({ "text": "all run" }),
    ]);
    let mut messages = run(&mut client, &thread, "start them").await;
    assert!(
        stage
            .last_request()
            .contains("60 commands run in the background."),
        "the model is told before any is ended"
    );
    if completed(&messages, "commandExecution").is_empty() {
        messages = client.until("item/completed").await;
    }
    let ended = completed(&messages, "commandExecution");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["exitCode"], 137);
    let named = json!({ "threadId": thread });
    client.call("thread/backgroundTerminals/clean", named).await;
    for _ in 0..64 {
        client.skip_to("item/completed").await;
    }
}

/// A command that is waited for is cut to what the model may get, in its own unit.
#[tokio::test(flavor = "multi_thread")]
async fn long_results_are_cut_to_the_models_measure() {
    let stage = Stage::new().await;
    let many = json!({ "command": "head -c 60000 /dev/zero | tr '\\0' q", "login": false });
    for (model, kept, note) in [
        ("scripted-model", 10_000, "…50000 chars truncated…"),
        ("gpt-5.1-codex", 40_000, "…5000 tokens truncated…"),
    ] {
        let (mut client, thread) = stage.thread_with(json!({ "model": model })).await;
        let (read, _) = call(&stage, &mut client, &thread, "shell_command", many.clone()).await;
        assert!(read.contains(note), "{model}");
        assert_eq!(read.matches('q').count(), kept, "{model}");
        assert!(!read.contains("Total output lines"), "{model}");
        let words = json!({ "command": ["bash", "-c", many["command"]] });
        let (read, _) = call(&stage, &mut client, &thread, "shell", words).await;
        assert!(read.contains("Total output lines: 1"), "{model}");
    }
}
