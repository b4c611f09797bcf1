//! `kill -9` of a server that works by itself: for a goal, or through a queue. Every turn that a client saw begin is found
//! again and ended once, input runs once, and what was spent is not forgotten. Neither is what the user has read.

use std::collections::HashSet;
use std::path::PathBuf;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{scripted_home, server_in};

/// A home and a model that outlive every server.
struct Home {
    directory: TempDir,
    model: ModelServer,
}

/// A server that can be killed, and its only client.
struct Running {
    process: ServerProcess,
    client: Conversation,
}

impl Home {
    async fn new() -> Home {
        let (directory, model) = scripted_home().await;
        Home { directory, model }
    }

    async fn start(&self) -> Running {
        let mut process = server_in(&self.directory);
        let capabilities = json!({ "experimentalApi": true });
        let client = Conversation::start_with(process.stdio(), "kills", capabilities).await;
        Running { process, client }
    }

    /// A server with a thread in which the model can wait for the client, with the tool `gate`.
    async fn start_thread(&self) -> (Running, String) {
        let mut running = self.start().await;
        let gate =
            json!({ "name": "gate", "description": "waits", "inputSchema": { "type": "object" } });
        let params = json!({ "dynamicTools": [gate] });
        let started = running.client.call("thread/start", params).await;
        (running, text(&started["thread"]["id"]))
    }

    async fn resume(&self, thread: &str) -> Running {
        let mut running = self.start().await;
        let params = json!({ "threadId": thread });
        running.client.call("thread/resume", params).await;
        running
    }

    fn play(&self, steps: impl IntoIterator<Item = Value>) {
        for step in steps {
            self.model.queue_json(step);
        }
    }

    /// The file in which a thread keeps its goal or its queue.
    fn kept(&self, directory: &str, thread: &str) -> PathBuf {
        let name = format!("{thread}.json");
        self.directory.path().join(directory).join(name)
    }
}

impl Running {
    /// Kills the server; everything that the client had received.
    async fn kill(mut self) -> Vec<Value> {
        self.process.signal(Signal::KILL);
        self.process.exit().await;
        self.client.rest().await
    }

    async fn turns(&mut self, thread: &str) -> Vec<Value> {
        let params = json!({ "threadId": thread, "includeTurns": true });
        let read = self.client.call("thread/read", params).await;
        read["thread"]["turns"].as_array().unwrap().clone()
    }

    async fn goal(&mut self, thread: &str) -> Value {
        let params = json!({ "threadId": thread });
        let mut answer = self.client.call("thread/goal/get", params).await;
        answer["goal"].take()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn gate() -> Value {
    json!({ "calls": [{ "name": "gate", "arguments": {} }] })
}

fn complete() -> [Value; 2] {
    let arguments = json!({ "status": "complete" });
    [
        json!({ "calls": [{ "name": "update_goal", "arguments": arguments }] }),
        json!({ "text": "done" }),
    ]
}

/// The turns that a client saw begin.
fn begun(messages: &[Value]) -> impl Iterator<Item = String> {
    let started = messages.iter().filter(|it| it["method"] == "turn/started");
    started.map(|it| text(&it["params"]["turn"]["id"]))
}

/// Whether every turn is there once and has ended.
fn check_ended(turns: &[Value], seen: &HashSet<String>) {
    let ids: Vec<String> = turns.iter().map(|it| text(&it["id"])).collect();
    let distinct: HashSet<String> = ids.iter().cloned().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    assert!(seen.is_subset(&distinct), "{seen:?} {ids:?}");
    for turn in turns {
        assert_ne!(turn["status"], "inProgress", "{turn}");
    }
}

/// A goal whose server is killed at every stage of a turn.
#[tokio::test(flavor = "multi_thread")]
async fn a_goal_goes_on_after_every_kill() {
    let home = Home::new().await;
    let (mut running, thread) = home.start_thread().await;
    let mut seen = HashSet::new();
    // What was left of an earlier script is not asked for again, since every server that is killed waits at a gate.
    home.play([gate()]);
    let set = json!({ "threadId": thread, "objective": "win" });
    running.client.call("thread/goal/set", set).await;
    for last in [
        "turn/started",
        "thread/tokenUsage/updated",
        "item/tool/call",
        "item/tool/call",
    ] {
        seen.extend(begun(&running.client.until(last).await));
        home.model
            .received(u64::try_from(seen.len()).unwrap())
            .await;
        seen.extend(begun(&running.kill().await));
        let mut reader = home.start().await;
        check_ended(&reader.turns(&thread).await, &seen);
        assert_eq!(reader.goal(&thread).await["status"], "active");
        reader.kill().await;
        home.model.clear();
        home.play([gate()]);
        running = home.resume(&thread).await;
    }
    running.client.skip_to("item/tool/call").await;
    running.kill().await;
    home.model.clear();
    home.play(complete());
    let mut running = home.resume(&thread).await;
    let last = running.client.until("turn/completed").await;
    assert_eq!(
        last.last().unwrap()["params"]["turn"]["status"],
        "completed"
    );
    seen.extend(begun(&last));
    running.kill().await;
    let mut running = home.start().await;
    assert_eq!(running.goal(&thread).await["status"], "complete");
    let turns = running.turns(&thread).await;
    check_ended(&turns, &seen);
    assert_eq!(turns.last().unwrap()["status"], "completed");
}

/// Tokens of a turn that was cut off count, or a server that crashes again and again would have no budget at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_turn_counts_towards_the_budget() {
    let home = Home::new().await;
    let (mut running, thread) = home.start_thread().await;
    home.play([gate()]);
    let set = json!({ "threadId": thread, "objective": "win", "tokenBudget": 1 });
    running.client.call("thread/goal/set", set).await;
    running.client.skip_to("thread/tokenUsage/updated").await;
    running.kill().await;
    let mut running = home.resume(&thread).await;
    let goal = running.goal(&thread).await;
    assert_eq!(goal["status"], "budgetLimited", "{goal}");
    assert!(goal["tokensUsed"].as_i64() > Some(0), "{goal}");
    // The thread is free for its user, and no turn of the goal came in between.
    home.play([json!({ "text": "hello" })]);
    let input = json!([{ "type": "text", "text": "hi" }]);
    let params = json!({ "threadId": thread, "input": input });
    let answer = running.client.call("turn/start", params).await;
    let ended = running.client.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["id"], answer["turn"]["id"]);
    assert_eq!(running.turns(&thread).await.len(), 2);
}

/// Turns in a row are counted across crashes.
#[tokio::test(flavor = "multi_thread")]
async fn a_goal_that_reached_its_limit_of_turns_stays_paused_after_a_kill() {
    let home = Home::new().await;
    let (mut running, thread) = home.start_thread().await;
    home.play([gate()]);
    let set = json!({ "threadId": thread, "objective": "win" });
    running.client.call("thread/goal/set", set).await;
    running.client.skip_to("item/tool/call").await;
    running.kill().await;
    let file = home.kept("quipu_goals", &thread);
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(stored["turns"], 1, "{stored}");
    stored["turns"] = json!(200);
    std::fs::write(&file, stored.to_string()).unwrap();
    let mut running = home.resume(&thread).await;
    assert_eq!(running.goal(&thread).await["status"], "paused");
    assert_eq!(running.turns(&thread).await.len(), 1);
}

/// The messages of the user in the turns of a thread.
fn said(turns: &[Value]) -> Vec<String> {
    let items = turns.iter().flat_map(|it| it["items"].as_array().unwrap());
    let messages = items.filter(|it| it["type"] == "userMessage");
    messages.map(|it| text(&it["content"][0]["text"])).collect()
}

async fn add(client: &mut Conversation, thread: &str, words: &str) {
    let input = json!([{ "type": "text", "text": words }]);
    let params = json!({ "threadId": thread, "input": input, "clientUserMessageId": words });
    client.call("thread/queue/add", params).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_input_runs_once_whenever_the_server_is_killed() {
    let home = Home::new().await;
    let (mut running, thread) = home.start_thread().await;
    home.play([gate()]);
    add(&mut running.client, &thread, "first").await;
    running.client.skip_to("item/tool/call").await;
    for words in ["second", "third", "fourth"] {
        add(&mut running.client, &thread, words).await;
    }
    running.kill().await;
    // The entry that ran is gone with its turn, and each of the others runs when a server has time for it.
    let mut seen = HashSet::new();
    for (asked, last) in (2..).zip(["turn/started", "thread/queue/changed", "item/tool/call"]) {
        home.model.clear();
        home.play([gate()]);
        running = home.resume(&thread).await;
        seen.extend(begun(&running.client.until(last).await));
        home.model.received(asked).await;
        seen.extend(begun(&running.kill().await));
    }
    let mut running = home.resume(&thread).await;
    let params = json!({ "threadId": thread });
    let waiting = running.client.call("thread/queue/list", params).await;
    assert_eq!(waiting["data"], json!([]));
    let turns = running.turns(&thread).await;
    check_ended(&turns, &seen);
    assert_eq!(said(&turns), ["first", "second", "third", "fourth"]);
}

/// The file of a queue as a kill leaves it between the start of a turn and the removal of its entry, and before both.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_runs_unless_its_turn_is_in_the_thread() {
    let home = Home::new().await;
    let (mut running, thread) = home.start_thread().await;
    home.play([gate()]);
    add(&mut running.client, &thread, "first").await;
    let began = running.client.skip_to("item/tool/call").await;
    add(&mut running.client, &thread, "second").await;
    running.kill().await;
    let file = home.kept("quipu_queues", &thread);
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let mut first = stored[0].clone();
    first["submission"]["id"] = json!("an-entry");
    first["submission"]["input"][0]["text"] = json!("first");
    first["turn_id"] = began["params"]["turnId"].clone();
    stored[0]["turn_id"] = json!("a-turn-that-never-began");
    std::fs::write(&file, json!([first, stored[0]]).to_string()).unwrap();
    home.model.clear();
    home.play([json!({ "text": "done" })]);
    let mut running = home.resume(&thread).await;
    running.client.skip_to("turn/completed").await;
    assert_eq!(said(&running.turns(&thread).await), ["first", "second"]);
}

/// What was last reported of what is read, if anything was.
fn read_state(messages: &[Value]) -> Option<Value> {
    let mut changes = messages.iter().rev();
    let last = changes.find(|it| it["method"] == "thread/readState/changed")?;
    Some(last["params"]["readState"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_is_as_it_was_last_reported_whenever_the_server_is_killed() {
    let home = Home::new().await;
    let (mut running, thread) = home.start_thread().await;
    let stored = async |running: &mut Running| {
        let params = json!({ "threadId": thread });
        running.client.call("thread/read", params).await["readState"].clone()
    };
    let input = json!([{ "type": "text", "text": "hi" }]);
    let say = json!({ "threadId": thread, "input": input });
    for _ in 0..3 {
        // Killed as soon as the end of a turn is marked.
        home.play([json!({ "text": "hello" })]);
        running.client.call("turn/start", say.clone()).await;
        let mut seen = running.client.until("thread/readState/changed").await;
        seen.extend(running.kill().await);
        let unread = read_state(&seen).unwrap();
        assert_ne!(unread["firstUnread"], Value::Null);
        running = home.start().await;
        assert_eq!(stored(&mut running).await, unread);
        // Killed as soon as the answer is there.
        let operation = json!({ "type": "read" });
        let update = json!({ "threadId": thread, "expectedRevision": unread["revision"], "operation": operation });
        let read = running.client.call("thread/readState/update", update).await;
        running.kill().await;
        running = home.resume(&thread).await;
        assert_eq!(stored(&mut running).await, read["readState"]);
    }
    // A turn that a kill cuts off has no result to read.
    let before = stored(&mut running).await;
    home.model.clear();
    home.play([gate()]);
    running.client.call("turn/start", say.clone()).await;
    running.client.skip_to("item/tool/call").await;
    running.kill().await;
    let mut running = home.resume(&thread).await;
    assert_eq!(stored(&mut running).await, before);
    assert_eq!(before["firstUnread"], Value::Null);
}
