//! Servers on one database that run threads for each other's clients, die, are paused and leave.

use quipu_rpc::Connection;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::{Value, json};

use crate::store_nodes::{Nodes, id, turn};

const SECRET: &str = "what nodes present to each other";

/// A server that other nodes can reach, and that clients need a token for.
pub struct Node {
    pub process: ServerProcess,
}

impl Node {
    /// Addresses of the loopback interface that no other test has: its process, and a number in it.
    pub async fn start(nodes: &mut Nodes, number: u8, more: &str) -> Node {
        Node::start_with(nodes, number, more, "").await
    }

    /// The same with settings that are not the store's.
    pub async fn start_with(nodes: &mut Nodes, number: u8, more: &str, others: &str) -> Node {
        let pid = std::process::id();
        let address = format!("ws://127.{}.{}.{number}:4500", (pid >> 8) & 127, pid & 255);
        let token = nodes.file("token", "the token of the clients, which is long");
        let more = format!("lease_seconds = 2\nnode_address = \"{address}\"\n{more}");
        let arguments = [
            "--listen",
            &address,
            "--ws-auth",
            "capability-token",
            "--ws-token-file",
            &token,
        ];
        let mut process = nodes.start_with(others, &more, &arguments);
        process.url().await;
        Node { process }
    }

    pub async fn connection(&mut self) -> Connection {
        let token = "Bearer the token of the clients, which is long";
        self.process.websocket(&[("authorization", token)]).await
    }

    pub async fn client(&mut self) -> Conversation {
        Conversation::start_numbered(self.connection().await).await
    }

    pub async fn kill(mut self) {
        self.process.signal(Signal::KILL);
        self.process.exit().await;
    }
}

pub fn secret() -> String {
    format!("node_secret = \"{SECRET}\"\n")
}

fn interrupting() -> String {
    format!("{}on_takeover = \"interrupt\"\n", secret())
}

pub fn gate() -> Value {
    let tool =
        json!({ "name": "gate", "description": "waits", "inputSchema": { "type": "object" } });
    json!({ "dynamicTools": [tool] })
}

fn open() -> Value {
    json!({ "contentItems": [{ "type": "inputText", "text": "open" }], "success": true })
}

/// Starts a thread and a turn that waits at the gate; the ids of both, the first number, and the question.
pub async fn waiting(nodes: &Nodes, client: &mut Conversation) -> (String, String, i64, Value) {
    let started = client.call("thread/start", gate()).await;
    let thread = id(&started["thread"]);
    let position = started["quipu"]["seq"].as_i64().unwrap();
    nodes.play_calls("gate");
    let made = client
        .call("turn/start", turn(&thread, "wait", "key"))
        .await;
    let question = client.skip_to("item/tool/call").await;
    (thread, id(&made["turn"]), position, question)
}

pub fn resume(thread: &str, after: i64) -> Value {
    json!({ "threadId": thread, "quipu": { "after": after } })
}

/// The ends of a turn among messages.
pub fn ends<'a>(messages: &'a [Value], turn: &str) -> Vec<&'a str> {
    let ends = messages
        .iter()
        .filter(|it| it["method"] == "turn/completed");
    let ends = ends.filter(|it| it["params"]["turn"]["id"] == turn);
    ends.filter_map(|it| it["params"]["turn"]["status"].as_str())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_of_a_killed_server_ends_once_on_another() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = Node::start(&mut nodes, 1, &interrupting()).await;
    let mut second = Node::start(&mut nodes, 2, &interrupting()).await;
    let mut client = first.client().await;
    let (thread, made, position, _) = waiting(&nodes, &mut client).await;
    first.kill().await;
    let mut client = second.client().await;
    let resumed = client
        .call("thread/resume", resume(&thread, position))
        .await;
    assert_eq!(resumed["thread"]["turns"][0]["status"], "interrupted");
    let missed = client.until("turn/completed").await;
    assert_eq!(ends(&missed, &made), ["interrupted"]);
    // The request with its key has acted, so it acts no more.
    let again = client
        .call("turn/start", turn(&thread, "wait", "key"))
        .await;
    assert_eq!(id(&again["turn"]), made);
    nodes.play("on it goes");
    client
        .call("turn/start", turn(&thread, "go on", "next"))
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(ends(&messages, &made), Vec::<&str>::new());
    let read = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", read).await;
    let turns = read["thread"]["turns"].as_array().unwrap();
    let turns: Vec<&str> = turns
        .iter()
        .filter_map(|it| it["status"].as_str())
        .collect();
    assert_eq!(turns, ["interrupted", "completed"]);
    client.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_go_to_the_server_that_runs_the_thread() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = Node::start(&mut nodes, 3, &secret()).await;
    let mut second = Node::start(&mut nodes, 4, &secret()).await;
    let mut stranger = Node::start(&mut nodes, 5, "node_secret = \"another one\"\n").await;
    let mut owner = first.client().await;
    let (thread, made, position, asked) = waiting(&nodes, &mut owner).await;

    let mut refused = stranger.client().await;
    let error = refused.refused("thread/resume", resume(&thread, position));
    let error = error.await;
    assert!(error.contains("cannot be reached"), "{error}");
    assert!(!error.contains("another one"), "{error}");
    refused.leave().await;

    // A client of the second server follows the turn, answers its question and sees its end.
    let mut other = second.client().await;
    let resumed = other.call("thread/resume", resume(&thread, position)).await;
    assert_eq!(resumed["quipu"]["replay"], "complete", "{resumed}");
    let question = other.skip_to("item/tool/call").await;
    assert_eq!(question["params"], asked["params"]);
    nodes.play("done");
    other.reply(&question["id"], open()).await;
    let resolved = other.skip_to("serverRequest/resolved").await;
    assert_eq!(resolved["params"]["requestId"], question["id"]);
    let ended = other.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["id"], made.as_str());
    assert_eq!(ended["params"]["turn"]["status"], "completed");
    let same = owner.skip_to("turn/completed").await;
    assert_eq!(same["quipu"]["seq"], ended["quipu"]["seq"]);

    // The first server leaves; the other takes over at once, and its client only has to connect again.
    nodes.play("from the second server");
    first.process.signal(Signal::TERM);
    first.process.exit().await;
    other.rest().await;
    let mut other = second.client().await;
    let after = ended["quipu"]["seq"].as_i64().unwrap();
    other.call("thread/resume", resume(&thread, after)).await;
    other
        .call("turn/start", turn(&thread, "go on", "next"))
        .await;
    let ended = other.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["status"], "completed");
    other.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_are_made_once_on_whatever_server() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = Node::start(&mut nodes, 8, &secret()).await;
    let mut second = Node::start(&mut nodes, 9, &secret()).await;
    let (mut one, mut other) = (first.client().await, second.client().await);
    let start = json!({ "idempotencyKey": "start" });
    let made = one.call("thread/start", start.clone()).await;
    let thread = id(&made["thread"]);
    let again = other.call("thread/start", start).await;
    assert_eq!(id(&again["thread"]), thread);
    // Both follow one thread, which the first server runs.
    nodes.play("done");
    other.call("turn/start", turn(&thread, "go", "turn")).await;
    let ended = one.skip_to("turn/completed").await;
    let same = other.skip_to("turn/completed").await;
    assert_eq!(same["quipu"]["seq"], ended["quipu"]["seq"]);
    let fork = json!({ "threadId": thread, "idempotencyKey": "fork" });
    let made = other.call("thread/fork", fork.clone()).await;
    let again = one.call("thread/fork", fork).await;
    assert_eq!(id(&again["thread"]), id(&made["thread"]));
    let listed = one.call("thread/list", json!({})).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
    one.leave().await;
    other.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_paused_too_long_writes_nothing_more() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = Node::start(&mut nodes, 6, &interrupting()).await;
    let mut second = Node::start(&mut nodes, 7, &interrupting()).await;
    let mut paused = first.client().await;
    let (thread, made, position, question) = waiting(&nodes, &mut paused).await;
    first.process.signal(Signal::STOP);
    let mut client = second.client().await;
    // The paused server may still count as alive, but it does not answer.
    let resumed = client
        .call("thread/resume", resume(&thread, position))
        .await;
    assert_eq!(resumed["thread"]["turns"][0]["status"], "interrupted");
    let missed = client.until("turn/completed").await;
    assert_eq!(ends(&missed, &made), ["interrupted"]);
    first.process.signal(Signal::CONT);
    paused.reply(&question["id"], open()).await;
    // The turn has its end elsewhere, which the client finds when it connects again.
    let rest = paused.rest().await;
    assert_eq!(ends(&rest, &made), Vec::<&str>::new());
    first.process.said("taken over by another node").await;
    let read = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", read).await;
    let turns = read["thread"]["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0]["status"], "interrupted");
    client.leave().await;
}
