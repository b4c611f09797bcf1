//! Interrupts at awkward moments: whatever a turn was about to do, it does not do any more.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process_table;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, order, run, say, status};

/// Rounds of the test that tries many moments.
const ROUNDS: usize = 40;
/// Commands that one interrupt has to end.
const COMMANDS: usize = 6;

/// Something to interrupt.
fn named(thread: &str, turn: &str) -> Value {
    json!({ "threadId": thread, "turnId": turn })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_at_any_moment_leaves_no_command_behind() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let mark = process_table::marker();
    let command = json!({ "cmd": format!("exec sleep {mark}") });
    let commands = vec![json!({ "name": "exec_command", "arguments": command }); COMMANDS];
    for round in 0..ROUNDS {
        stage.play([json!({ "calls": commands })]);
        let turn = say(&mut client, &thread, "start").await;
        if round % 4 > 0 {
            begun(&mut client).await;
        }
        // Requests that are answered at once are the clock: each round interrupts a little later.
        for _ in 0..round {
            client.call("thread/loaded/list", json!({})).await;
        }
        client.ask("turn/interrupt", named(&thread, &turn)).await;
        assert_eq!(status(&client.until("turn/completed").await), "interrupted");
    }
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// Waits until a command is shown.
async fn begun(client: &mut Conversation) {
    loop {
        let started = client.skip_to("item/started").await;
        if started["params"]["item"]["type"] == "commandExecution" {
            return;
        }
    }
}

/// A call of a patch that adds a file.
fn adds(file: &str) -> Value {
    let patch = format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch");
    json!({ "name": "apply_patch", "arguments": patch, "custom": true })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_its_turn_does_not_run_after_an_interrupt() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    let mut waiting = Vec::new();
    for round in 0..10 {
        let file = format!("late-{round}");
        let held = json!({ "name": "gate", "arguments": {} });
        stage.play([json!({ "calls": [held, adds(&file)] })]);
        let turn = say(&mut client, &thread, "start").await;
        client.skip_to("item/tool/call").await;
        // Either call may come first; what has not run by now waits for the client's answer.
        if !stage.directory().join(&file).exists() {
            waiting.push(file);
        }
        client.ask("turn/interrupt", named(&thread, &turn)).await;
        assert_eq!(status(&client.until("turn/completed").await), "interrupted");
    }
    assert!(!waiting.is_empty());
    // The next patch has its turn when nothing of the others is left.
    stage.play([
        json!({ "calls": [adds("next")] }),
        json!({ "text": "fine" }),
    ]);
    let messages = run(&mut client, &thread, "next").await;
    let sent = stage.last_request();
    assert!(
        stage.directory().join("next").exists(),
        "{:?}",
        order(&messages)
    );
    waiting.retain(|file| stage.directory().join(file).exists());
    assert_eq!(waiting, Vec::<String>::new());
    assert!(sent.contains("aborted by user"));
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_to_a_process_that_does_not_read_ends_in_time() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let deaf = json!({ "cmd": "stty raw -echo; echo up; exec sleep 1000", "tty": true, "yield_time_ms": 250 });
    stage.play([calls("exec_command", deaf), json!({ "text": "it sleeps" })]);
    run(&mut client, &thread, "start").await;
    let id = crate::tools::session_id(&stage);
    let much = "x".repeat(200_000);
    let typing = |wait: u64| json!({ "session_id": id, "chars": much, "yield_time_ms": wait });
    stage.play([
        calls("write_stdin", typing(250)),
        json!({ "text": "it does not read" }),
    ]);
    let messages = run(&mut client, &thread, "type").await;
    assert_eq!(status(&messages), "completed");
    let sent = stage.last_request();
    assert!(
        sent.contains("of 200000 bytes were typed"),
        "{}",
        &sent[sent.len() - 500..]
    );
    assert!(sent.contains("Process running with session ID"));

    stage.play([calls("write_stdin", typing(30_000))]);
    let turn = say(&mut client, &thread, "type more").await;
    client
        .skip_to("item/commandExecution/terminalInteraction")
        .await;
    client.ask("turn/interrupt", named(&thread, &turn)).await;
    assert_eq!(status(&client.until("turn/completed").await), "interrupted");
    // The process can still be typed to: nobody holds its input.
    stage.play([
        calls("write_stdin", typing(250)),
        json!({ "text": "still deaf" }),
    ]);
    let messages = run(&mut client, &thread, "again").await;
    assert_eq!(status(&messages), "completed");
    assert!(
        stage
            .last_request()
            .contains("0 of 200000 bytes were typed")
    );
}
