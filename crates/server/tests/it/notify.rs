//! The program of the setting `notify`: which turns start it, and with what.

use std::path::PathBuf;

use quipu_testkit::process_table;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::stage::{Stage, calls, run, say, status};

/// A stage whose program writes its last argument into a pipe.
async fn stage(more: &str) -> (Stage, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let pipe = directory.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let script = format!(r#"printf "%s" "$2" > {}"#, pipe.display());
    let notify = format!("notify = ['/bin/sh', '-c', '{script}', 'name', 'own']\n{more}");
    (Stage::at(directory, home, &notify).await, pipe)
}

/// What the next program was told.
async fn told(pipe: &PathBuf) -> Value {
    let text = tokio::fs::read_to_string(pipe).await.unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_went_well_is_announced() {
    let (stage, pipe) = stage("").await;
    let (mut client, thread) = stage.thread().await;
    for (words, said, messages) in [
        ("one", "first", json!(["one"])),
        ("two", "second", json!(["one", "two"])),
    ] {
        stage.play([
            calls("exec_command", json!({ "cmd": "true" })),
            json!({ "text": said }),
        ]);
        let turn = say(&mut client, &thread, words).await;
        assert_eq!(
            told(&pipe).await,
            json!({
                "type": "agent-turn-complete", "thread-id": thread, "turn-id": turn, "cwd": stage.directory(),
                "client": "testkit", "input-messages": messages, "last-assistant-message": said,
            })
        );
        client.until("turn/completed").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_ends_are_not_announced() {
    let (stage, pipe) = stage("[features]\ncodex_hooks = true").await;
    let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hooks": [{ "type": "command",
        "command": "if grep -q blocked; then echo no >&2; exit 2; fi" }] }] } });
    std::fs::write(stage.home().join("hooks.json"), hooks.to_string()).unwrap();
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "fail": 400 })]);
    assert_eq!(status(&run(&mut client, &thread, "fails").await), "failed");
    assert_eq!(
        status(&run(&mut client, &thread, "blocked").await),
        "completed"
    );
    stage.play([calls("exec_command", json!({ "cmd": "sleep 1000" }))]);
    let turn = say(&mut client, &thread, "interrupted").await;
    client.skip_to("item/started").await;
    client
        .ask(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    assert_eq!(status(&client.until("turn/completed").await), "interrupted");
    client
        .call(
            "thread/shellCommand",
            json!({ "threadId": thread, "command": "true" }),
        )
        .await;
    assert_eq!(status(&client.until("turn/completed").await), "completed");
    stage.play([json!({ "text": "summary" })]);
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    assert_eq!(status(&client.until("turn/completed").await), "completed");
    // Had one of them been announced, its program would have waited for a reader, and would write now.
    stage.play([json!({ "text": "well" })]);
    let turn = say(&mut client, &thread, "last").await;
    assert_eq!(told(&pipe).await["turn-id"], json!(turn));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_program_and_too_many_are_not_started() {
    let mark = process_table::marker();
    let stage = Stage::with(&format!("notify = ['/bin/sh', '-c', 'exec sleep {mark}']")).await;
    let (mut client, thread) = stage.thread().await;
    for round in 0..12 {
        assert_eq!(
            status(&run(&mut client, &thread, &format!("turn {round}")).await),
            "completed"
        );
    }
    let found = process_table::holding(&mark).len();
    assert!(found <= 8 * 2, "{found} programs and supervisors");
    stage.stop().await;
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_program_costs_nothing() {
    let stage = Stage::with("notify = ['/no/such/program']").await;
    let (mut client, thread) = stage.thread().await;
    for _ in 0..2 {
        assert_eq!(status(&run(&mut client, &thread, "hi").await), "completed");
    }
}
