//! Numbered events and keyed requests with servers that are killed at any moment.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_client::wire::{ServerNotification, ThreadReadParams, ThreadStartParams};
use quipu_client::{Arrival, Event, Options, Reconnecting, Reconnection, prompt};
use quipu_testkit::client::within;
use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::stream::StreamCheck;
use quipu_testkit::wait::found;
use serde_json::json;

use crate::support::app_server;

/// How many servers are killed.
const KILLS: u64 = 100;
/// About how many events a turn has.
const EVENTS: u64 = 30;

/// A home, a socket, and one server after the other.
struct Place {
    directory: PathBuf,
    server: ServerProcess,
}

impl Place {
    fn new(directory: &Path) -> Place {
        Place {
            directory: directory.to_owned(),
            server: serve(directory),
        }
    }

    async fn kill(&mut self) {
        self.server.signal(Signal::KILL);
        self.server.exit().await;
        self.server = serve(&self.directory);
    }
}

fn serve(directory: &Path) -> ServerProcess {
    let url = format!("unix://{}", directory.join("socket").display());
    let home = directory.join("home");
    let launch = app_server(["--listen", &url]);
    launch.env("QUIPU_HOME", home.to_str().unwrap()).start()
}

/// Numbers that look random and are the same every time.
struct Scatter(u64);

impl Scatter {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_missed_or_repeated_over_killed_servers() {
    let directory = tempfile::tempdir().unwrap();
    let mut place = Place::new(directory.path());
    let socket = directory.path().join("socket");
    let connect = Arc::new(move || Options::unix(&socket));
    let pauses = Reconnection {
        attempts: 10_000,
        first: Duration::from_millis(5),
        longest: Duration::from_millis(5),
    };
    let connecting = async || Reconnecting::connect(connect.clone(), pauses).await.ok();
    let (client, mut arrivals) = found("a connection", connecting).await;
    let client = Arc::new(client);
    let starting = Arc::clone(&client);
    let starting = tokio::spawn(async move {
        let started = starting.start_thread(ThreadStartParams::default()).await;
        started.unwrap().thread.id
    });
    let thread = within("a thread", starting).await.unwrap();

    let (mut check, mut scatter) = (StreamCheck::default(), Scatter(23));
    let (mut kills, mut left) = (0, scatter.below(EVENTS));
    let mut turns = HashSet::new();
    while kills < KILLS {
        let (client, thread) = (Arc::clone(&client), thread.clone());
        let script = json!({ "script": [{ "deltas": 20, "every": 1 }] }).to_string();
        let turn = tokio::spawn(async move {
            let turn = client.start_turn(prompt(&thread, script)).await;
            turn.unwrap().turn.id
        });
        let ended = check.ended + 1;
        while check.ended < ended {
            if left == 0 {
                place.kill().await;
                kills += 1;
                left = scatter.below(EVENTS) + 1;
            }
            let arrival = within("an event", arrivals.recv()).await.unwrap();
            left = left.saturating_sub(take(&mut check, arrival, kills));
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
    assert_eq!(stored.len(), check.ended);
    assert_eq!(stored.into_iter().collect::<HashSet<_>>(), turns);
}

/// Checks an arrival; how many events it was.
fn take(check: &mut StreamCheck, arrival: Arrival, kills: u64) -> u64 {
    match arrival {
        Arrival::Event {
            event: Event::Notification(notification),
            number: Some(number),
        } => {
            let notification: ServerNotification = notification;
            let mut message = serde_json::to_value(notification).unwrap();
            message["quipu"] = json!({ "seq": number.seq, "condensed": number.condensed });
            if let Err(error) = check.take(&message) {
                panic!("after {kills} kills: {error}");
            }
            1
        }
        Arrival::Event { .. } => 0,
        Arrival::Resumed {
            thread_id, replay, ..
        } => {
            assert_eq!(replay.to_string(), "condensed", "after {kills} kills");
            check.condensed(&thread_id);
            0
        }
        other => panic!("after {kills} kills: {other:?}"),
    }
}
