//! Durable before visible, also when the disk does not play along.

use std::collections::BTreeMap;
use std::path::Path;

use quipu_journal::{MAX_RECORD, Replay};
use quipu_testkit::small_disk::SmallDisk;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, gate, order, run, say, status, text};
use crate::threads::rollout;

/// How many items of each kind a stored thread has.
fn stored(path: &Path) -> BTreeMap<String, usize> {
    let mut replay = Replay::open(path).unwrap();
    replay.settle();
    let turns = serde_json::to_value(&replay.turns).unwrap();
    let items = turns
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|turn| turn["items"].as_array().unwrap());
    let mut found = BTreeMap::new();
    for item in items {
        *found.entry(text(&item["type"])).or_default() += 1;
    }
    found
}

/// Whoever reads the rollout at the moment a client is told of an item finds that item.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_is_stored() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let path = rollout(&mut client, &thread).await;
    stage.play([
        json!({ "reasoning": "Hm.", "text": "first", "calls": [{ "name": "exec_command", "arguments": { "cmd": "echo hi" } }] }),
        json!({ "patch": "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch" }),
        json!({ "text": "last" }),
    ]);
    say(&mut client, &thread, "work").await;
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    loop {
        let message = client.next().await;
        if message["method"] == "item/completed" {
            *told
                .entry(text(&message["params"]["item"]["type"]))
                .or_default() += 1;
            let stored = stored(&path);
            let is_there =
                |(kind, count): (&String, &usize)| stored.get(kind).is_some_and(|it| it >= count);
            assert!(
                told.iter().all(is_there),
                "told {told:?}, stored {stored:?}"
            );
        }
        if message["method"] == "turn/completed" {
            let replay = Replay::open(&path).unwrap();
            assert_eq!(replay.open_turn(), None, "the end is stored too");
            break;
        }
    }
    assert_eq!(told.len(), 5, "{told:?}");
}

/// The only item of a kind in the first turn of a thread, as a new server reads it.
async fn read_again(stage: &mut Stage, thread: &str, kind: &str) -> Value {
    stage.restart().await;
    let mut client = stage.client().await;
    let params = json!({ "threadId": thread });
    let resumed = client.call("thread/resume", params).await;
    let turn = &resumed["thread"]["turns"][0];
    let items = turn["items"].as_array().unwrap().iter();
    let mut items: Vec<&Value> = items.filter(|item| item["type"] == kind).collect();
    assert_eq!(items.len(), 1);
    json!({ "status": turn["status"], "item": items.remove(0) })
}

/// A result that no record can hold fails its call: it says why, and reads back so.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_no_record_can_hold_fails_its_call() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([calls("gate", json!({})), json!({ "text": "well" })]);
    say(&mut client, &thread, "work").await;
    let question = client.skip_to("item/tool/call").await;
    let huge = "x".repeat(MAX_RECORD);
    let answer =
        json!({ "contentItems": [{ "type": "inputText", "text": huge }], "success": true });
    client.reply(&question["id"], answer).await;
    let told = client.until("turn/completed").await;
    assert_eq!(status(&told), "completed");
    let items = completed(&told, "dynamicToolCall");
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["status"], "failed");
    let reason = text(&items[0]["contentItems"][0]["text"]);
    assert!(reason.contains("can be stored"), "{reason}");
    let stored = read_again(&mut stage, &thread, "dynamicToolCall").await;
    assert_eq!(stored["status"], "completed");
    assert_eq!(stored["item"]["status"], "failed");
    assert_eq!(text(&stored["item"]["contentItems"][0]["text"]), reason);
}

/// A message that grows without end completes with what fits, and the turn says why it fails.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_no_record_can_hold_completes_with_what_fits() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "x".repeat(6 << 20) })]);
    say(&mut client, &thread, "work").await;
    let told = client.until("turn/completed").await;
    assert!(failure(&told).contains("too long to be stored"));
    let items = completed(&told, "agentMessage");
    assert_eq!(items.len(), 1);
    let stored = read_again(&mut stage, &thread, "agentMessage").await;
    assert_eq!(stored["status"], "failed");
    assert_eq!(stored["item"]["text"], items[0]["text"]);
}

/// Input that could not be stored is refused before it is even decoded.
#[tokio::test(flavor = "multi_thread")]
async fn input_that_no_record_can_hold_is_refused() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let url = format!("data:image/png;base64,{}", "A".repeat(MAX_RECORD));
    let input = json!([{ "type": "image", "url": url }]);
    let params = json!({ "threadId": thread, "input": input });
    let refused = client.refused("turn/start", params).await;
    assert!(refused.contains("exceed the maximum of"), "{refused}");
    stage.play([json!({ "text": "well" })]);
    assert_eq!(status(&run(&mut client, &thread, "two").await), "completed");
}

/// `None` when this user may not mount.
pub fn small_disk() -> Option<SmallDisk> {
    let disk = SmallDisk::mount();
    disk.inspect_err(|reason| eprintln!("skipped: {reason}"))
        .ok()
}

async fn stage_on(disk: &SmallDisk) -> Stage {
    Stage::at(tempfile::tempdir().unwrap(), disk.path().join("home"), "").await
}

fn failure(told: &[Value]) -> String {
    assert_eq!(status(told), "failed", "{:?}", order(told));
    text(&told.last().unwrap()["params"]["turn"]["error"]["message"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_fails_turns_and_nothing_else() {
    let Some(disk) = small_disk() else {
        return;
    };
    let mut stage = stage_on(&disk).await;
    let (mut client, thread) = stage.thread().await;
    let path = rollout(&mut client, &thread).await;
    stage.play([json!({ "text": "before" })]);
    run(&mut client, &thread, "one").await;
    let ballast = disk.fill();
    // What is left of the last page may hold a few lines.
    for _ in 0..3 {
        let long = "x".repeat(8192);
        stage.play([json!({ "text": long })]);
        let told = run(&mut client, &thread, "two").await;
        assert!(
            failure(&told).contains("cannot be stored"),
            "{}",
            failure(&told)
        );
        assert!(
            completed(&told, "agentMessage").is_empty(),
            "what is not stored is not told"
        );
    }
    std::fs::remove_file(ballast).unwrap();
    stage.play([json!({ "text": "after" })]);
    let told = run(&mut client, &thread, "three").await;
    assert_eq!(status(&told), "completed", "{:?}", order(&told));
    let found = stored(&path);
    assert!(
        found["userMessage"] >= 2 && found["agentMessage"] >= 2,
        "{found:?}"
    );
    stage.restart().await;
    let mut client = stage.client().await;
    let resumed = client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    let turns = resumed["thread"]["turns"].as_array().unwrap();
    let statuses: Vec<String> = turns.iter().map(|turn| text(&turn["status"])).collect();
    assert_eq!(
        statuses,
        ["completed", "failed", "failed", "failed", "completed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_home_fails_turns_and_nothing_else() {
    let Some(disk) = small_disk() else {
        return;
    };
    let stage = stage_on(&disk).await;
    let (mut client, thread) = stage.thread().await;
    disk.remount("ro");
    stage.play([json!({ "text": "never" })]);
    let told = run(&mut client, &thread, "one").await;
    assert!(
        failure(&told).contains("cannot be stored"),
        "{}",
        failure(&told)
    );
    // Reading still works, and a thread that is not to be stored does too.
    client.call("thread/list", json!({})).await;
    let ephemeral = client
        .call("thread/start", json!({ "ephemeral": true }))
        .await;
    let unstored = text(&ephemeral["thread"]["id"]);
    stage.play([
        calls("exec_command", json!({ "cmd": "true" })),
        json!({ "text": "works" }),
    ]);
    client.skip_to("thread/started").await;
    let told = run(&mut client, &unstored, "two").await;
    assert_eq!(status(&told), "completed", "{:?}", order(&told));
    disk.remount("rw");
    stage.play([json!({ "text": "again" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "three").await),
        "completed"
    );
}
