//! Three servers on one database, a client that connects to any of them, and faults at moments that look random: servers are
//! killed and started again, and all connections to the database are cut. Nothing is missed, repeated or left open, where
//! turns of a server that died end as interrupted.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quipu_client::wire::{ThreadReadParams, ThreadStartParams};
use quipu_client::{Arrival, Event, Options, Reconnecting, Reconnection, prompt};
use quipu_testkit::client::within;
use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::stream::StreamCheck;
use serde_json::json;

use crate::store_nodes::Nodes;

/// The numbers behind everything that looks random; a failing run prints it.
const SEED: u64 = 2317;
/// About how many events a turn has.
const EVENTS: u64 = 30;

/// How many faults there are; a takeover takes about a second.
fn faults() -> u64 {
    match std::env::var_os("QUIPU_SOAK") {
        Some(_) => 24,
        None => 6,
    }
}

/// Numbers that look random and are the same every time.
struct Scatter(AtomicU64);

impl Scatter {
    fn below(&self, limit: u64) -> u64 {
        let next = |state: u64| {
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407)
        };
        let order = Ordering::Relaxed;
        let before = self.0.fetch_update(order, order, |state| Some(next(state)));
        (next(before.unwrap_or_default()) >> 33) % limit
    }
}

/// The address of a server, on a part of the loopback interface that no other test has.
fn address(number: u64) -> String {
    let pid = std::process::id();
    let (high, low) = ((pid >> 8) & 127, pid & 255);
    format!("ws://127.{high}.{low}.{}:4501", number + 1)
}

async fn start(nodes: &mut Nodes, number: u64) -> ServerProcess {
    let address = address(number);
    let store =
        format!("lease_seconds = 1\nnode_address = \"{address}\"\non_takeover = \"interrupt\"\n");
    let mut process = nodes.start_offline(&store, &["--listen", &address]);
    process.url().await;
    process
}

/// Checks an arrival; how many events it was.
fn take(check: &mut StreamCheck, arrival: Arrival, faults: u64) -> u64 {
    match arrival {
        Arrival::Event {
            event: Event::Notification(notification),
            number: Some(number),
        } => {
            let mut message = serde_json::to_value(notification).unwrap();
            message["quipu"] = json!({ "seq": number.seq, "condensed": number.condensed });
            if let Err(error) = check.take(&message) {
                panic!("seed {SEED}, after {faults} faults: {error}");
            }
            1
        }
        Arrival::Event { .. } => 0,
        Arrival::Resumed {
            thread_id, replay, ..
        } => {
            let replay = replay.to_string();
            assert_ne!(replay, "reset", "seed {SEED}, after {faults} faults");
            if replay == "condensed" {
                check.condensed(&thread_id);
            }
            0
        }
        other => panic!("seed {SEED}, after {faults} faults: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_missed_or_repeated_over_three_servers_and_faults() {
    let Some(mut nodes) = Nodes::new().await else {
        return;
    };
    let mut servers = Vec::new();
    for number in 0..3 {
        servers.push(start(&mut nodes, number).await);
    }
    let scatter = Arc::new(Scatter(AtomicU64::new(SEED)));
    let choice = Arc::clone(&scatter);
    let connect = Arc::new(move || Options::websocket(address(choice.below(3))));
    let pauses = Reconnection {
        attempts: 10_000,
        first: Duration::from_millis(5),
        longest: Duration::from_millis(50),
    };
    let connected = within("a connection", Reconnecting::connect(connect, pauses)).await;
    let (client, mut arrivals) = connected.unwrap();
    let client = Arc::new(client);
    let started = client.start_thread(ThreadStartParams::default());
    let thread = within("a thread", started).await.unwrap().thread.id;

    let mut check = StreamCheck::default();
    let (mut done, mut left) = (0, scatter.below(EVENTS) + 5);
    let mut turns = HashSet::new();
    while done < faults() {
        let (turning, id) = (Arc::clone(&client), thread.clone());
        let script = json!({ "script": [{ "deltas": 20, "every": 1 }] }).to_string();
        let turn = tokio::spawn(async move {
            let turn = turning.start_turn(prompt(&id, script)).await;
            turn.unwrap().turn.id
        });
        let ended = check.ended + 1;
        while check.ended < ended {
            if left == 0 {
                match scatter.below(4) {
                    3 => nodes.cut_connections(),
                    number => {
                        let server = &mut servers[number as usize];
                        server.signal(Signal::KILL);
                        server.exit().await;
                        *server = start(&mut nodes, number).await;
                    }
                }
                done += 1;
                left = scatter.below(EVENTS) + 1;
            }
            let arrival = within("an event", arrivals.recv()).await.unwrap();
            left = left.saturating_sub(take(&mut check, arrival, done));
        }
        assert!(turns.insert(within("its turn", turn).await.unwrap()));
    }
    assert_eq!(check.open_turns(), Vec::<String>::new());
    let current = within("a connection", client.client()).await.unwrap();
    let stored = current.thread_read(ThreadReadParams {
        thread_id: thread,
        include_turns: true,
    });
    let stored = within("the thread", stored).await.unwrap().thread.turns;
    let stored: Vec<String> = stored.into_iter().map(|turn| turn.id).collect();
    assert_eq!(stored.len(), check.ended, "seed {SEED}");
    assert_eq!(stored.into_iter().collect::<HashSet<_>>(), turns);
}
