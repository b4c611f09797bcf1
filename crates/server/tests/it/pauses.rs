//! Time limits while a client shows a question of its own.

use serde_json::json;

use crate::stage::{Stage, calls, completed, run};

/// Runs a command that takes longer than its limit; its exit code.
async fn outcome(
    stage: &Stage,
    client: &mut quipu_testkit::conversation::Conversation,
    thread: &str,
) -> i64 {
    let late = json!({ "command": "sleep 1; echo end", "timeout_ms": 100 });
    stage.play([calls("shell_command", late), json!({ "text": "done" })]);
    let messages = run(client, thread, "go").await;
    completed(&messages, "commandExecution")[0]["exitCode"]
        .as_i64()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_commands_stand_still_while_a_question_is_open() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let params = json!({ "threadId": thread });
    assert_eq!(outcome(&stage, &mut client, &thread).await, 124);
    for count in [1, 2] {
        let paused = client.call("thread/increment_elicitation", params.clone());
        assert_eq!(paused.await, json!({ "count": count, "paused": true }));
    }
    assert_eq!(outcome(&stage, &mut client, &thread).await, 0);
    let one = client.call("thread/decrement_elicitation", params.clone());
    assert_eq!(one.await, json!({ "count": 1, "paused": true }));
    assert_eq!(outcome(&stage, &mut client, &thread).await, 0);

    // The agent looks at a command in the background for as long.
    let look = json!({ "cmd": "sleep 1; echo end", "yield_time_ms": 250 });
    stage.play([
        calls("exec_command", look.clone()),
        json!({ "text": "done" }),
    ]);
    run(&mut client, &thread, "go").await;
    let seen = stage.last_request();
    assert!(seen.contains("Process exited with code 0"), "{seen}");

    let none = client.call("thread/decrement_elicitation", params);
    assert_eq!(none.await, json!({ "count": 0, "paused": false }));
    assert_eq!(outcome(&stage, &mut client, &thread).await, 124);
    stage.play([calls("exec_command", look), json!({ "text": "done" })]);
    run(&mut client, &thread, "go").await;
    let seen = stage.last_request();
    assert!(seen.contains("Process running with session ID"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_goes_on_when_nobody_is_left_to_answer() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let params = json!({ "threadId": thread });
    client
        .call("thread/increment_elicitation", params.clone())
        .await;
    run(&mut client, &thread, "hi").await;
    client.call("thread/unsubscribe", params.clone()).await;
    client.call("thread/resume", params).await;
    assert_eq!(outcome(&stage, &mut client, &thread).await, 124);
}
