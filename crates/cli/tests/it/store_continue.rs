//! A turn goes on when its server dies, leaves or is started again: one turn, with one end.

use std::sync::Arc;
use std::time::Duration;

use quipu_client::wire::ThreadStartParams;
use quipu_client::{Arrival, Event, Options, Reconnecting, Reconnection, prompt};
use quipu_testkit::client::within;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::stream::StreamCheck;
use serde_json::{Value, json};

use crate::store_nodes::{Nodes, id, turn};
use crate::store_takeover::{Node, ends, gate, resume, secret, waiting};
use crate::support::{scripted_home, server_in};

const UNKNOWN: &str = "its outcome is unknown";

fn statuses(thread: &Value) -> Vec<&str> {
    let turns = thread["turns"].as_array().unwrap();
    let statuses = turns.iter().filter_map(|it| it["status"].as_str());
    statuses.collect()
}

async fn read(client: &mut Conversation, thread: &str) -> Value {
    let read = json!({ "threadId": thread, "includeTurns": true });
    client.call("thread/read", read).await["thread"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_of_a_killed_server_goes_on_on_another() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = Node::start(&mut nodes, 11, &secret()).await;
    let mut second = Node::start(&mut nodes, 12, &secret()).await;
    let mut client = first.client().await;
    let (thread, made, position, asked) = waiting(&nodes, &mut client).await;
    let call = asked["params"]["callId"].as_str().unwrap().to_owned();
    nodes.play("it goes on");
    first.kill().await;
    let mut client = second.client().await;
    client
        .call("thread/resume", resume(&thread, position))
        .await;
    let events = client.until("turn/completed").await;
    assert_eq!(ends(&events, &made), ["completed"]);
    let of = |method: &str| {
        let found = events.iter().filter(|it| it["method"] == method);
        found.count()
    };
    assert_eq!(of("turn/started"), 1);
    // The item of the call that was under way ends, too.
    let call = events
        .iter()
        .find(|it| it["method"] == "item/completed" && it["params"]["item"]["id"] == call.as_str());
    assert_eq!(call.unwrap()["params"]["item"]["status"], "failed");
    assert!(
        nodes.last_request().contains(UNKNOWN),
        "{}",
        nodes.last_request()
    );
    let again = client
        .call("turn/start", turn(&thread, "wait", "key"))
        .await;
    assert_eq!(id(&again["turn"]), made);
    let read = read(&mut client, &thread).await;
    assert_eq!(statuses(&read), ["completed"]);
    client.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_goes_on_without_any_client() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = Node::start(&mut nodes, 13, &secret()).await;
    let mut second = Node::start(&mut nodes, 14, &secret()).await;
    let mut watcher = second.client().await;
    let mut client = first.client().await;
    let (thread, made, position, _) = waiting(&nodes, &mut client).await;
    nodes.play("it goes on");
    first.kill().await;
    // All clients learn of the status of every thread.
    loop {
        let changed = watcher.skip_to("thread/status/changed").await;
        let params = &changed["params"];
        if params["threadId"] == thread.as_str() && params["status"]["type"] == "idle" {
            break;
        }
    }
    let resumed = watcher
        .call("thread/resume", resume(&thread, position))
        .await;
    assert_eq!(statuses(&resumed["thread"]), ["completed"]);
    let events = watcher.until("turn/completed").await;
    assert_eq!(ends(&events, &made), ["completed"]);
    watcher.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_paused_does_not_end_the_turn_that_goes_on_elsewhere() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut first = Node::start(&mut nodes, 15, &secret()).await;
    let mut second = Node::start(&mut nodes, 16, &secret()).await;
    let mut paused = first.client().await;
    let (thread, made, position, question) = waiting(&nodes, &mut paused).await;
    nodes.play("from the second server");
    first.process.signal(Signal::STOP);
    let mut client = second.client().await;
    client
        .call("thread/resume", resume(&thread, position))
        .await;
    let events = client.until("turn/completed").await;
    assert_eq!(ends(&events, &made), ["completed"]);
    first.process.signal(Signal::CONT);
    let answer = json!({ "contentItems": [], "success": true });
    paused.reply(&question["id"], answer).await;
    let rest = paused.rest().await;
    assert_eq!(ends(&rest, &made), Vec::<&str>::new());
    let read = read(&mut client, &thread).await;
    assert_eq!(statuses(&read), ["completed"]);
    client.leave().await;
}

/// The address of a server, on a part of the loopback interface that no other test has.
fn address(number: u64) -> String {
    let pid = std::process::id();
    let (high, low) = ((pid >> 8) & 127, pid & 255);
    format!("ws://127.{high}.{low}.{}:4502", number + 1)
}

async fn start(nodes: &mut Nodes, number: u64) -> ServerProcess {
    let address = address(number);
    let store = format!("lease_seconds = 2\nnode_address = \"{address}\"\n");
    let mut process = nodes.start_offline(&store, &["--listen", &address]);
    process.url().await;
    process
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_leaves_hands_its_turn_over() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut servers = Vec::new();
    for number in 0..3 {
        servers.push(start(&mut nodes, number).await);
    }
    // The first connection is to the first server; later ones try all of them.
    let tries = std::sync::atomic::AtomicU64::new(0);
    let connect = Arc::new(move || {
        let next = tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Options::websocket(address(next % 3))
    });
    let pauses = Reconnection {
        attempts: 10_000,
        first: Duration::from_millis(5),
        longest: Duration::from_millis(50),
    };
    let connected = within("a connection", Reconnecting::connect(connect, pauses)).await;
    let (client, mut arrivals) = connected.unwrap();
    let started = client.start_thread(ThreadStartParams::default());
    let thread = within("a thread", started).await.unwrap().thread.id;
    // An answer that takes longer than a server that leaves waits.
    let script = json!({ "script": [{ "deltas": 400, "every": 25 }] }).to_string();
    let made = within("a turn", client.start_turn(prompt(&thread, script))).await;
    let made = made.unwrap().turn.id;
    let mut check = StreamCheck::default();
    let (mut deltas, mut resumes, mut status) = (0, 0, None);
    while check.ended == 0 {
        match within("an event", arrivals.recv()).await.unwrap() {
            Arrival::Event {
                event: Event::Notification(notification),
                number: Some(number),
            } => {
                let mut message = serde_json::to_value(notification).unwrap();
                message["quipu"] = json!({ "seq": number.seq, "condensed": number.condensed });
                check.take(&message).unwrap();
                if message["method"] == "item/agentMessage/delta" {
                    deltas += 1;
                }
                if deltas == 3 {
                    deltas += 1;
                    servers[0].signal(Signal::TERM);
                }
                if message["method"] == "turn/completed" {
                    assert_eq!(message["params"]["turn"]["id"], made.as_str());
                    status = message["params"]["turn"]["status"]
                        .as_str()
                        .map(str::to_owned);
                }
            }
            Arrival::Resumed {
                thread_id, replay, ..
            } => {
                resumes += 1;
                assert_ne!(replay.to_string(), "reset");
                check.condensed(&thread_id);
            }
            _ => {}
        }
    }
    assert_eq!(status.as_deref(), Some("completed"));
    assert!(resumes > 0);
    assert_eq!(check.open_turns(), Vec::<String>::new());
    assert!(servers[0].exit().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_go_on_after_a_restart_by_option() {
    let (home, model) = scripted_home().await;
    let config = home.path().join("config.toml");
    let made = std::fs::read_to_string(&config).unwrap();
    let hooked = home.path().join("hooked");
    let hook = format!(
        "[store]\non_restart = \"continue\"\nworkspace_hook = [\"/bin/sh\", \"-c\", \"echo $QUIPU_THREAD_ID $QUIPU_CWD > {}\"]\n",
        hooked.display()
    );
    std::fs::write(&config, format!("{made}{hook}")).unwrap();
    let mut server = server_in(&home);
    let mut client = Conversation::start_numbered(server.stdio()).await;
    let started = client.call("thread/start", gate()).await;
    let thread = id(&started["thread"]);
    let position = started["quipu"]["seq"].as_i64().unwrap();
    model.queue_json(json!({ "calls": [{ "name": "gate", "arguments": {} }] }));
    let made = client
        .call("turn/start", turn(&thread, "wait", "key"))
        .await;
    let made = id(&made["turn"]);
    client.skip_to("item/tool/call").await;
    server.signal(Signal::KILL);
    server.exit().await;

    model.queue_json(json!({ "text": "it goes on" }));
    let mut server = server_in(&home);
    let mut client = Conversation::start_numbered(server.stdio()).await;
    let resumed = client
        .call("thread/resume", resume(&thread, position))
        .await;
    assert_eq!(statuses(&resumed["thread"]), ["inProgress"]);
    assert_eq!(resumed["thread"]["status"]["type"], "active");
    let events = client.until("turn/completed").await;
    assert_eq!(ends(&events, &made), ["completed"]);
    let requests = model.requests();
    let last = requests.last().unwrap().body.to_string();
    assert!(last.contains(UNKNOWN), "{last}");
    let hooked = std::fs::read_to_string(hooked).unwrap();
    assert!(hooked.starts_with(&thread), "{hooked}");

    // A hook that fails ends the turn, and says why.
    model.queue_json(json!({ "calls": [{ "name": "gate", "arguments": {} }] }));
    client
        .call("turn/start", turn(&thread, "wait", "next"))
        .await;
    client.skip_to("item/tool/call").await;
    server.signal(Signal::KILL);
    server.exit().await;
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        text.replace("echo $QUIPU", "echo gone >&2; exit 3; $QUIPU"),
    )
    .unwrap();
    let mut server = server_in(&home);
    let mut client = Conversation::start(server.stdio()).await;
    client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    let events = client.until("turn/completed").await;
    let warning = events.iter().find(|it| it["method"] == "warning");
    let warning = warning.unwrap()["params"]["message"].as_str().unwrap();
    assert!(warning.contains("exited with status 3: gone"), "{warning}");
    let read = read(&mut client, &thread).await;
    assert_eq!(statuses(&read), ["completed", "interrupted"]);
    client.leave().await;
}
