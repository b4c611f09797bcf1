//! Goals: the server starts turns by itself, but not for ever, not for nobody, and not more than once.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, open, say, status, text};

fn goal(thread: &str, more: Value) -> Value {
    let mut params = json!({ "threadId": thread });
    let object = params.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    params
}

/// Everything up to the end of a turn, and how it ended.
async fn turn(client: &mut Conversation) -> (Vec<Value>, String) {
    let messages = client.until("turn/completed").await;
    let status = status(&messages);
    (messages, status)
}

fn goal_states(messages: &[Value]) -> Vec<String> {
    let updates = messages
        .iter()
        .filter(|it| it["method"] == "thread/goal/updated");
    updates
        .map(|it| text(&it["params"]["goal"]["status"]))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_follow_each_other_until_the_goal_is_met() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "text": "a first step" }),
        calls("update_goal", json!({ "status": "complete" })),
        json!({ "text": "done" }),
    ]);
    let set = goal(&thread, json!({ "objective": "win", "status": "active" }));
    let answer = client.call("thread/goal/set", set).await;
    assert_eq!(answer["goal"]["status"], "active");
    let (first, ended) = turn(&mut client).await;
    assert_eq!(ended, "completed");
    assert_eq!(goal_states(&first), ["active", "active"]);
    let is_user = |it: &&Value| it["params"]["item"]["type"] == "userMessage";
    assert_eq!(first.iter().filter(is_user).count(), 0);
    let (second, ended) = turn(&mut client).await;
    assert_eq!(ended, "completed");
    assert_eq!(goal_states(&second).first().unwrap(), "complete");
    let requests = stage.model.requests();
    assert_eq!(requests.len(), 3);
    let sent = requests[0].body.to_string();
    assert!(sent.contains(r"<objective>\nwin\n</objective>"), "{sent}");
    assert!(sent.contains("update_goal"));
    let named = json!({ "threadId": thread });
    let read = client.call("thread/goal/get", named.clone()).await;
    assert_eq!(read["goal"]["status"], "complete");
    assert!(read["goal"]["tokensUsed"].as_i64().unwrap() > 0);
    let cleared = client.call("thread/goal/clear", named.clone()).await;
    assert_eq!(cleared, json!({ "cleared": true }));
    client.skip_to("thread/goal/cleared").await;
    let again = client.call("thread/goal/clear", named).await;
    assert_eq!(again, json!({ "cleared": false }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_ends_with_its_budget() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "a step" })]);
    let set = goal(&thread, json!({ "objective": "win", "tokenBudget": 1 }));
    client.call("thread/goal/set", set).await;
    let (messages, _) = turn(&mut client).await;
    assert_eq!(goal_states(&messages).last().unwrap(), "budgetLimited");
    // The thread is free for the user, and no other turn came in between.
    stage.play([json!({ "text": "hello" })]);
    say(&mut client, &thread, "hi").await;
    turn(&mut client).await;
    assert_eq!(stage.model.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_pauses_and_a_failure_blocks() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([json!({ "calls": [{ "name": "gate", "arguments": {} }] })]);
    let set = goal(&thread, json!({ "objective": "win" }));
    client.call("thread/goal/set", set).await;
    let held = client.skip_to("item/tool/call").await;
    let running = text(&held["params"]["turnId"]);
    let interrupt = json!({ "threadId": thread, "turnId": running });
    client.ask("turn/interrupt", interrupt).await;
    let (messages, ended) = turn(&mut client).await;
    assert_eq!(ended, "interrupted");
    assert_eq!(goal_states(&messages).last().unwrap(), "paused");
    stage.play([json!({ "fail": 400, "body": { "error": { "message": "no" } } })]);
    let set = goal(&thread, json!({ "status": "active" }));
    client.call("thread/goal/set", set).await;
    let (messages, ended) = turn(&mut client).await;
    assert_eq!(ended, "failed");
    assert_eq!(goal_states(&messages).last().unwrap(), "blocked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_waits_while_nobody_is_there_and_survives_a_restart() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([
        json!({ "calls": [{ "name": "gate", "arguments": {} }] }),
        json!({ "text": "one" }),
    ]);
    let set = goal(&thread, json!({ "objective": "win" }));
    client.call("thread/goal/set", set).await;
    let held = client.skip_to("item/tool/call").await;
    let mut watcher = stage.client().await;
    // Without a follower the turn that runs ends, and none follows.
    client.reply(&held["id"], open()).await;
    let named = json!({ "threadId": thread });
    client.call("thread/unsubscribe", named.clone()).await;
    loop {
        let changed = watcher.skip_to("thread/status/changed").await;
        let kind = text(&changed["params"]["status"]["type"]);
        if kind == "idle" || kind == "notLoaded" {
            break;
        }
    }
    assert!(stage.model.requests().len() <= 2);
    stage.restart().await;
    let mut client = stage.client().await;
    let read = client.call("thread/goal/get", named.clone()).await;
    assert_eq!(read["goal"]["objective"], "win");
    assert_eq!(read["goal"]["status"], "active");
    stage.play([
        calls("update_goal", json!({ "status": "complete" })),
        json!({ "text": "done" }),
    ]);
    client.call("thread/resume", named).await;
    // An answer that the first server did not ask for any more may come first; then another turn follows.
    let mut states = Vec::new();
    while !states.iter().any(|it| it == "complete") {
        let (messages, ended) = turn(&mut client).await;
        assert_eq!(ended, "completed");
        states.extend(goal_states(&messages));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_goals_are_refused_in_the_words_of_later_versions() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let set = async |client: &mut Conversation, more: Value| {
        client.refused("thread/goal/set", goal(&thread, more)).await
    };
    let empty = set(&mut client, json!({ "objective": "" })).await;
    assert_eq!(empty, "goal objective must not be empty");
    let budget = set(&mut client, json!({ "objective": "x", "tokenBudget": -1 })).await;
    assert_eq!(budget, "goal budgets must be positive when provided");
    let none = set(&mut client, json!({ "status": "active" })).await;
    let expected = format!("cannot update goal for thread {thread}: no goal exists");
    assert_eq!(none, expected);
    let read = client
        .call("thread/goal/get", json!({ "threadId": thread }))
        .await;
    assert_eq!(read, json!({ "goal": null }));
}
