//! Durable before visible, also when the disk does not play along.

use std::collections::BTreeMap;
use std::path::Path;

use quipu_journal::{MAX_RECORD, Replay};
use quipu_testkit::small_disk::SmallDisk;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, gate, input, order, run, say, status, text};
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

/// A reader of the rollout at the moment a client is notified of an item finds that item.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_reported_is_stored() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let path = rollout(&mut client, &thread).await;
    stage.play([
        json!({ "reasoning": "Hm.", "text": "first", "calls": [{ "name": "exec_command", "arguments": { "cmd": "echo hi" } }] }),
        json!({ "patch": "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch" }),
        json!({ "text": "last" }),
    ]);
    say(&mut client, &thread, "work").await;
    let mut messages: BTreeMap<String, usize> = BTreeMap::new();
    loop {
        let message = client.next().await;
        if message["method"] == "item/completed" {
            *messages
                .entry(text(&message["params"]["item"]["type"]))
                .or_default() += 1;
            let stored = stored(&path);
            let is_there =
                |(kind, count): (&String, &usize)| stored.get(kind).is_some_and(|it| it >= count);
            assert!(
                messages.iter().all(is_there),
                "messages {messages:?}, stored {stored:?}"
            );
        }
        if message["method"] == "turn/completed" {
            let replay = Replay::open(&path).unwrap();
            assert_eq!(replay.open_turn(), None, "the end is stored too");
            break;
        }
    }
    assert_eq!(messages.len(), 5, "{messages:?}");
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
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let items = completed(&messages, "dynamicToolCall");
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
    let mut stage = Stage::speaking("chat", "").await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "deltas": 5, "size": 7 << 20 })]);
    say(&mut client, &thread, "work").await;
    let messages = client.until("turn/completed").await;
    assert!(failure(&messages).contains("too long to be stored"));
    let items = completed(&messages, "agentMessage");
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

fn failure(messages: &[Value]) -> String {
    assert_eq!(status(messages), "failed", "{:?}", order(messages));
    text(&messages.last().unwrap()["params"]["turn"]["error"]["message"])
}

/// The statuses of a thread's turns.
fn statuses(thread: &Value) -> Vec<String> {
    let turns = thread["thread"]["turns"].as_array().unwrap();
    turns.iter().map(|turn| text(&turn["status"])).collect()
}

/// An answer that does not fit into the room that is kept for the end of a turn.
fn long() -> Value {
    json!({ "text": "x".repeat(128 << 10) })
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
    stage.play([long()]);
    let messages = run(&mut client, &thread, "two").await;
    assert!(
        failure(&messages).contains("cannot be stored"),
        "{}",
        failure(&messages)
    );
    assert!(
        completed(&messages, "agentMessage").is_empty(),
        "what is not stored is not told"
    );
    std::fs::remove_file(ballast).unwrap();
    stage.play([json!({ "text": "after" })]);
    let messages = run(&mut client, &thread, "three").await;
    assert_eq!(status(&messages), "completed", "{:?}", order(&messages));
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
    assert_eq!(statuses(&resumed), ["completed", "failed", "completed"]);
}

/// How a turn ended is stored though the disk is full: the rollout says so before there is any room again.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_failed_on_a_full_disk_is_stored_as_failed() {
    let Some(disk) = small_disk() else {
        return;
    };
    let mut stage = stage_on(&disk).await;
    let (mut client, thread) = stage.thread().await;
    let path = rollout(&mut client, &thread).await;
    stage.play([json!({ "text": "before" })]);
    run(&mut client, &thread, "one").await;
    disk.fill();
    let mut wanted = vec!["completed"];
    loop {
        stage.play([long()]);
        let answer = client.try_call("turn/start", input(&thread, "two")).await;
        if let Err(refused) = answer {
            let refused = text(&refused["message"]);
            assert!(refused.contains("no space left"), "{refused}");
            break;
        }
        let messages = client.until("turn/completed").await;
        failure(&messages);
        wanted.push("failed");
        // Nothing but the file is asked, as if the server had been killed now.
        let mut replay = Replay::open(&path).unwrap();
        assert_eq!(replay.open_turn(), None, "the end is stored");
        replay.settle();
        let turns = serde_json::to_value(&replay.turns).unwrap();
        assert_eq!(statuses(&json!({ "thread": { "turns": turns } })), wanted);
        let error = text(&turns.as_array().unwrap().last().unwrap()["error"]["message"]);
        assert!(error.contains("no space left"), "{error}");
    }
    assert!(
        wanted.len() > 1,
        "the room that is kept is for one turn at least"
    );
    stage.restart().await;
    let mut client = stage.client().await;
    let params = json!({ "threadId": thread, "includeTurns": true });
    assert_eq!(statuses(&client.call("thread/read", params).await), wanted);
}

/// A turn whose end could not be stored does not begin.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_turns_that_could_not_be_stored() {
    let Some(disk) = small_disk() else {
        return;
    };
    let stage = stage_on(&disk).await;
    let (mut client, thread) = stage.thread().await;
    let path = rollout(&mut client, &thread).await;
    let ballast = disk.fill();
    let target = json!({ "type": "custom", "instructions": "look" });
    let requests = [
        ("turn/start", input(&thread, "one")),
        ("thread/compact/start", json!({ "threadId": thread })),
        (
            "thread/shellCommand",
            json!({ "threadId": thread, "command": "true" }),
        ),
        (
            "review/start",
            json!({ "threadId": thread, "target": target }),
        ),
    ];
    for (method, params) in requests {
        let refused = client.refused(method, params).await;
        assert!(refused.contains("no space left"), "{method}: {refused}");
    }
    assert!(
        !path.exists(),
        "nothing is left of a turn that did not begin"
    );
    std::fs::remove_file(ballast).unwrap();
    stage.play([json!({ "text": "after" })]);
    assert_eq!(status(&run(&mut client, &thread, "two").await), "completed");
}

/// The room is not part of the file, and is given back with the thread.
#[tokio::test(flavor = "multi_thread")]
async fn the_room_that_is_kept_shows_nowhere_and_is_given_back() {
    use std::os::unix::fs::MetadataExt as _;
    let Some(disk) = small_disk() else {
        return;
    };
    let stage = stage_on(&disk).await;
    let (mut client, thread) = stage.thread().await;
    let path = rollout(&mut client, &thread).await;
    stage.play([json!({ "text": "said" })]);
    run(&mut client, &thread, "one").await;
    let open = std::fs::metadata(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(open.len(), bytes.len() as u64);
    assert_eq!(bytes.last(), Some(&b'\n'));
    assert!(open.blocks() * 512 >= open.len() + (16 << 10), "{open:?}");
    stage.stop().await;
    let closed = std::fs::metadata(&path).unwrap();
    assert_eq!(closed.len(), open.len());
    assert!(
        closed.blocks() * 512 < closed.len() + 4096 * 2,
        "{closed:?}"
    );
    assert_eq!(closed.modified().unwrap(), open.modified().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_home_refuses_turns_and_nothing_else() {
    let Some(disk) = small_disk() else {
        return;
    };
    let stage = stage_on(&disk).await;
    let (mut client, thread) = stage.thread().await;
    disk.remount("ro");
    let refused = client.refused("turn/start", input(&thread, "one")).await;
    assert!(refused.contains("cannot be stored"), "{refused}");
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
    let messages = run(&mut client, &unstored, "two").await;
    assert_eq!(status(&messages), "completed", "{:?}", order(&messages));
    disk.remount("rw");
    stage.play([json!({ "text": "again" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "three").await),
        "completed"
    );
}
