//! The checker: three servers on one database behind a balancer, clients that do random things, and faults at random
//! moments. What the clients saw and what is stored at the end must keep the rules of [`quipu_testkit::trace`].
//!
//! `QUIPU_FAULTS` is how many faults there are; without it nothing runs, since it finds violations that are not fixed yet
//! (docs/scale.md). `QUIPU_SEED` is what is behind everything that looks random.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use quipu_testkit::balancer::Balancer;
use quipu_testkit::cluster::{Cluster, Settings};
use quipu_testkit::process::{Launch, ServerProcess, Signal};
use quipu_testkit::process_table;
use quipu_testkit::trace::{Seen, Stored, Trace, violations};
use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::store_clients::Client;
use crate::store_run::{Run, Scatter};
use crate::support::{QUIPU, app_server};

const SERVERS: usize = 3;
const CLIENTS: u64 = 4;
/// How long after its last sign of life a server is taken for dead.
const LEASE: Duration = Duration::from_secs(1);
/// How long until clients see an event, over all faults that happen meanwhile.
const PATIENCE: Duration = Duration::from_secs(240);
/// How long PostgreSQL is away at most, in tenths of a second.
const AWAY: u64 = 100;
/// The library of Debian's package `libfaketime` that changes the clock of a program, in a directory of the architecture.
const FAKETIME: &str = "faketime/libfaketimeMT.so.1";

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn seed() -> u64 {
    setting("QUIPU_SEED").unwrap_or(2317)
}

/// Waits for a time that is part of a fault.
async fn last(time: Duration) {
    drop(timeout(time, std::future::pending::<()>()).await);
}

/// The clock of a program, if the library that changes it is there: the library, and the file that says by how much.
struct Clock(Option<(PathBuf, NamedTempFile)>);

impl Clock {
    fn new() -> Clock {
        let libraries = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
        let mut libraries = libraries.map(|it| it.path().join(FAKETIME));
        let Some(library) = libraries.find(|it| it.exists()) else {
            return Clock(None);
        };
        let file = NamedTempFile::new().unwrap();
        // The user that runs PostgreSQL reads it, too.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(file.path(), mode).unwrap();
        let clock = Clock(Some((library, file)));
        clock.set(0);
        clock
    }

    fn environment(&self) -> Vec<(String, String)> {
        let Some((library, file)) = &self.0 else {
            return Vec::new();
        };
        let values = [
            ("LD_PRELOAD", library.to_str().unwrap()),
            ("FAKETIME_TIMESTAMP_FILE", file.path().to_str().unwrap()),
            ("FAKETIME_CACHE_DURATION", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
        ];
        values
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    /// Lets the clock differ from that of the machine by so many seconds.
    fn set(&self, seconds: i64) {
        if let Some((_, file)) = &self.0 {
            fs::write(file.path(), format!("{seconds:+}\n")).unwrap();
        }
    }
}

/// A server with a home and an address that it keeps.
struct Node {
    home: TempDir,
    address: String,
    clock: Clock,
    process: ServerProcess,
}

impl Node {
    async fn start(number: usize, url: &str) -> Node {
        let pid = std::process::id();
        let (high, low) = ((pid >> 8) & 127, pid & 255);
        let address = format!("127.{high}.{low}.{}:4501", number + 1);
        let home = tempfile::tempdir().unwrap();
        let lease = LEASE.as_secs();
        let config = format!(
            "model_provider = \"offline\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
             [store]\nurl = \"{url}\"\nlease_seconds = {lease}\nnode_address = \"ws://{address}\"\n"
        );
        fs::write(home.path().join("config.toml"), config).unwrap();
        let clock = Clock::new();
        let process = Node::launch(&home, &address, &clock).await;
        Node {
            home,
            address,
            clock,
            process,
        }
    }

    async fn launch(home: &TempDir, address: &str, clock: &Clock) -> ServerProcess {
        let listen = format!("ws://{address}");
        let launch = app_server(["--listen", listen.as_str()]);
        let launch = launch.env("QUIPU_HOME", home.path().to_str().unwrap());
        let environment = clock.environment();
        let set = |launch: Launch, (name, value): &(String, String)| launch.env(name, value);
        let mut process = environment.iter().fold(launch, set).start();
        process.url().await;
        process
    }

    /// Ends the process and starts another one.
    async fn restart(&mut self, signal: Signal) {
        self.process.signal(signal);
        self.process.exit().await;
        self.process = Node::launch(&self.home, &self.address, &self.clock).await;
    }
}

/// Everything that faults happen to.
struct Fleet {
    cluster: Cluster,
    database: String,
    /// The clock of PostgreSQL.
    clock: Clock,
    nodes: Vec<Node>,
    balancer: Balancer,
    random: Scatter,
}

impl Fleet {
    /// None where PostgreSQL is not installed.
    async fn start(seed: u64) -> Option<Fleet> {
        let clock = Clock::new();
        if clock.0.is_none() {
            eprintln!("skipped: steps of the clock (Debian: libfaketime)");
        }
        let cluster = Cluster::start_with(Settings {
            environment: clock.environment(),
            ..Settings::default()
        })?;
        let database = cluster.database();
        let url = cluster.address(&database);
        store(&["migrate", "--store", &url]).await;
        let mut nodes = Vec::new();
        for number in 0..SERVERS {
            nodes.push(Node::start(number, &url).await);
        }
        let addresses = nodes.iter().map(|it| it.address.parse().unwrap());
        Some(Fleet {
            balancer: Balancer::start(addresses.collect()).await,
            cluster,
            database,
            clock,
            nodes,
            random: Scatter::new(seed),
        })
    }

    /// Something bad happens; what it was.
    async fn fault(&mut self) -> String {
        let number = self.random.below(SERVERS as u64) as usize;
        match self.random.below(12) {
            0..=2 => {
                self.nodes[number].restart(Signal::KILL).await;
                format!("killed server {number}")
            }
            3 => {
                self.nodes[number].restart(Signal::TERM).await;
                format!("ended server {number}")
            }
            4 | 5 => {
                let longer = Duration::from_millis(self.random.below(1500));
                self.nodes[number].process.signal(Signal::STOP);
                self.balancer.set_up(number, false);
                last(LEASE + longer).await;
                self.nodes[number].process.signal(Signal::CONT);
                self.balancer.set_up(number, true);
                format!("paused server {number} for {:?}", LEASE + longer)
            }
            6 | 7 => {
                self.balancer.cut(number);
                format!("cut the connections of clients to server {number}")
            }
            8 => {
                let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid() AND datname = current_database()";
                self.cluster.execute(&self.database, others);
                "cut the connections to PostgreSQL".to_owned()
            }
            9 => {
                self.cluster.stop();
                self.cluster.launch();
                "restarted PostgreSQL".to_owned()
            }
            10 => {
                let away = Duration::from_millis(self.random.below(AWAY) * 100);
                self.cluster.stop();
                last(away).await;
                self.cluster.launch();
                format!("PostgreSQL was away for {away:?}")
            }
            _ => {
                let seconds = self.random.below(7) as i64 - 3;
                let (clock, whose) = match self.random.below(SERVERS as u64 + 1) as usize {
                    SERVERS => (&self.clock, "PostgreSQL".to_owned()),
                    number => (&self.nodes[number].clock, format!("server {number}")),
                };
                clock.set(seconds);
                format!("the clock of {whose} is off by {seconds} s")
            }
        }
    }

    /// Lets all servers end as they do when they are asked to.
    async fn end(&mut self) {
        for node in &mut self.nodes {
            node.process.signal(Signal::TERM);
            node.process.exit().await;
        }
    }

    /// What the database has of a thread.
    fn stored(&self, thread: &str) -> Stored {
        let lines = |sql: &str| -> Vec<Value> {
            let text = self.cluster.value(&self.database, sql);
            let lines = text.lines().map(serde_json::from_str);
            lines.collect::<Result<_, _>>().unwrap()
        };
        let joined = "coalesce(convert_from(string_agg(bytes, ''::bytea ORDER BY at), 'UTF8'), '')";
        Stored {
            rollout: lines(&format!(
                "SELECT {joined} FROM quipu.chunks JOIN quipu.rollouts r ON r.id = rollout WHERE thread = '{thread}'"
            )),
            events: lines(&format!(
                "SELECT {joined} FROM quipu.event_chunks WHERE thread = '{thread}'"
            )),
        }
    }
}

async fn store(arguments: &[&str]) {
    let mut command = Launch::new(QUIPU)
        .args(["store"])
        .args(arguments.iter().copied())
        .start();
    assert!(command.exit().await.success(), "{}", command.stderr());
}

/// Waits until clients have seen so many more events.
async fn more_events(events: &mut watch::Receiver<u64>, more: u64) {
    let until = *events.borrow() + more;
    let seen = timeout(PATIENCE, events.wait_for(|count| *count >= until)).await;
    assert!(seen.is_ok(), "clients see nothing any more");
}

/// Where the whole trace is, for looking at what went wrong.
fn write_down(trace: &Trace, happened: &[String]) -> String {
    let path = std::env::temp_dir().join(format!("quipu-trace-{}.txt", std::process::id()));
    let mut text = happened.join("\n");
    for (number, seen) in trace.clients.iter().enumerate() {
        text.push_str(&format!("\nclient {number}\n"));
        for step in seen {
            match step {
                Seen::Event(event) => text.push_str(&format!("{event}\n")),
                follows => text.push_str(&format!("{follows:?}\n")),
            }
        }
    }
    for (thread, stored) in &trace.stored {
        text.push_str(&format!("\nrollout of {thread}\n"));
        for record in &stored.rollout {
            text.push_str(&format!("{record}\n"));
        }
    }
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_breaks_a_rule() {
    let Some(faults) = setting("QUIPU_FAULTS") else {
        return eprintln!("skipped: QUIPU_FAULTS does not say how many faults there are to be");
    };
    let seed = seed();
    let Some(mut fleet) = Fleet::start(seed).await else {
        return;
    };
    // A panic of a client does not say it.
    eprintln!("seed {seed}, {faults} faults");
    let run = Arc::new(Run::new(fleet.balancer.url(), process_table::marker()));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        clients.spawn(Client::new(&run, number, seed).work());
    }
    let mut events = run.events.subscribe();
    let mut happened = Vec::new();
    for number in 0..faults {
        if !fleet.random.one_in(4) {
            let more = fleet.random.below(60) + 1;
            more_events(&mut events, more).await;
        }
        let fault = fleet.fault().await;
        eprintln!("fault {number}: {fault}");
        happened.push(fault);
    }
    run.is_over.store(true, Ordering::Relaxed);
    let mut trace = Trace::default();
    while let Some(seen) = clients.join_next().await {
        trace.clients.push(seen.unwrap());
    }
    fleet.end().await;
    trace.processes = process_table::left(&run.marker).await;
    trace.accepted = run.accepted.lock().clone();
    let threads = trace.accepted.iter().map(|it| it.thread.clone());
    let stored = threads.map(|thread| (thread.clone(), fleet.stored(&thread)));
    trace.stored = stored.collect::<HashMap<_, _>>();
    store(&["check", "--store", &fleet.cluster.address(&fleet.database)]).await;
    let found = violations(&trace);
    let turns = trace.accepted.iter().filter(|it| !it.is_steer).count();
    let seen: usize = trace.clients.iter().map(Vec::len).sum();
    eprintln!("seed {seed}: {faults} faults, {turns} turns, {seen} events");
    if !found.is_empty() {
        let place = write_down(&trace, &happened);
        panic!(
            "seed {seed}, {} rules are broken (all is in {place}):\n{}",
            found.len(),
            found.join("\n")
        );
    }
}
