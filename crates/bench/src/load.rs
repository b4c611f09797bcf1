//! The load test: 200 websocket connections watch 20 streaming threads, and each must see all of its
//! thread's deltas, once and in order.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use quipu_rpc::{Event, Inbox, Peer, PeerOptions, websocket};
use quipu_testkit::process::ServerProcess;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::ground::{Ground, Home, Subject};
use crate::session::{hello, turn_params};
use crate::{Result, usage};

const FULL: Load = Load {
    connections: 200,
    threads: 20,
    deltas: 2000,
};
const PATIENCE: Duration = Duration::from_secs(120);
const MESSAGE_LIMIT: usize = 64 << 20;

/// How much is asked of a server.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub connections: usize,
    /// They are started by the first connections; the others join them.
    pub threads: usize,
    pub deltas: usize,
}

/// What it cost.
#[derive(Debug)]
pub struct Outcome {
    events: usize,
    time: Duration,
    cpu: Duration,
    memory_before: f64,
    memory_after: f64,
}

/// Loads each server in turn and prints what it did.
pub async fn run(subjects: &[Subject], model: &str, quick: bool) -> Result<()> {
    let deltas = if quick { FULL.deltas / 10 } else { FULL.deltas };
    let load = Load { deltas, ..FULL };
    for subject in subjects {
        let outcome = load.put_on(subject, model).await;
        let outcome = outcome.map_err(|error| format!("load on {}: {error}", subject.name))?;
        let summary = outcome.summary(load);
        writeln!(io::stdout().lock(), "{}: {summary}", subject.name)?;
    }
    Ok(())
}

impl Load {
    pub async fn put_on(self, subject: &Subject, model: &str) -> Result<Outcome> {
        let Load {
            threads, deltas, ..
        } = self;
        let home = Home::new(model)?;
        let listen = ["--listen", "ws://127.0.0.1:0"];
        let mut process = home.launch(&subject.program, &listen).start();
        let watchers = connect(&mut process, self).await?;
        let memory_before = usage::memory(process.pid())?;
        let before = usage::cpu(process.pid())?;
        let start = Instant::now();
        let prompt = numbered(deltas);
        let ask = |it: &Watcher| {
            let params = turn_params(&it.thread, &prompt);
            it.peer.call("turn/start", &params)
        };
        let asked: Vec<_> = watchers[..threads].iter().map(ask).collect();
        let mut watching = JoinSet::new();
        for watcher in watchers {
            let watch = watcher.watch(deltas);
            watching.spawn(async move { tokio::time::timeout(PATIENCE, watch).await });
        }
        let mut events = 0;
        while let Some(seen) = watching.join_next().await {
            events += seen???;
        }
        let time = start.elapsed();
        for call in asked {
            call.within(PATIENCE).await?;
        }
        Ok(Outcome {
            events,
            time,
            cpu: usage::cpu(process.pid())? - before,
            memory_before,
            memory_after: usage::memory(process.pid())?,
        })
    }
}

impl Outcome {
    /// Processor time of the server for one event to one connection, in µs.
    pub fn cpu_per_event(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.events as f64
    }

    /// Memory of the server at the end, in MB.
    pub fn memory(&self) -> f64 {
        self.memory_after
    }

    fn summary(&self, load: Load) -> String {
        let seconds = self.time.as_secs_f64();
        format!(
            "{} connections, {} threads of {} deltas: {} events in {seconds:.2} s \
             ({:.0} per second, {:.1} µs CPU each), none lost or out of order; \
             memory {:.1} MB before, {:.1} MB after",
            load.connections,
            load.threads,
            load.deltas,
            self.events,
            self.events as f64 / seconds,
            self.cpu_per_event(),
            self.memory_before,
            self.memory_after,
        )
    }
}

/// All connections; the first ones have started the threads that the others watch.
async fn connect(process: &mut ServerProcess, load: Load) -> Result<Vec<Watcher>> {
    let Load {
        connections,
        threads,
        ..
    } = load;
    let url = process.url().await;
    let mut watchers: Vec<Watcher> = Vec::with_capacity(connections);
    for number in 0..connections {
        let (peer, inbox) = client(&url).await?;
        let (method, params) = match number.checked_sub(threads) {
            None => ("thread/start", json!({"cwd": process.directory()})),
            Some(later) => {
                let thread = &watchers[later % threads].thread;
                ("thread/resume", json!({"threadId": thread}))
            }
        };
        let answer = peer.call(method, &params).within(PATIENCE).await;
        let answer = answer.map_err(|error| format!("{method}: {error}"))?;
        let answer: Value = serde_json::from_slice(answer.as_bytes())?;
        let thread = answer["thread"]["id"].as_str().unwrap_or_default();
        let mut watcher = Watcher {
            thread: thread.to_owned(),
            peer,
            inbox,
        };
        if number < threads {
            // A thread can be joined once it holds something.
            let turn = turn_params(&watcher.thread, "hello");
            watcher
                .peer
                .call("turn/start", &turn)
                .within(PATIENCE)
                .await?;
            tokio::time::timeout(PATIENCE, watcher.turn_end()).await??;
        }
        watchers.push(watcher);
    }
    Ok(watchers)
}

/// A prompt that makes the model count.
fn numbered(deltas: usize) -> String {
    let texts: Vec<_> = (0..deltas).map(|it| format!("{it} ")).collect();
    json!({"mock": [{"deltas": texts}]}).to_string()
}

struct Watcher {
    thread: String,
    peer: Peer,
    inbox: Inbox,
}

impl Watcher {
    /// Takes what comes until a turn ends.
    async fn turn_end(&mut self) -> Result<()> {
        while let Some(event) = self.inbox.next().await {
            if matches!(event, Event::Notification(it) if it.method == "turn/completed") {
                return Ok(());
            }
        }
        Err(format!("closed: {}", self.inbox.closed().await).into())
    }

    /// Watches one turn to its end and returns how many events came.
    async fn watch(mut self, deltas: usize) -> Result<usize> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Delta {
            thread_id: String,
            delta: String,
        }
        let mut events = 0;
        let mut expected = 0;
        while let Some(event) = self.inbox.next().await {
            let Event::Notification(notification) = event else {
                return Err("something came that is no notification".into());
            };
            events += 1;
            let params = notification
                .params
                .as_ref()
                .map_or(&b"{}"[..], |it| it.as_bytes());
            match notification.method.as_str() {
                "item/agentMessage/delta" => {
                    let Delta { thread_id, delta } = serde_json::from_slice(params)?;
                    if thread_id != self.thread || delta != format!("{expected} ") {
                        return Err(format!("delta {expected} was to come, not {delta}").into());
                    }
                    expected += 1;
                }
                "turn/completed" if expected == deltas => {
                    self.peer.close();
                    return Ok(events);
                }
                "turn/completed" => {
                    return Err(format!("{expected} of {deltas} deltas came").into());
                }
                _ => {}
            }
        }
        Err(format!("closed: {}", self.inbox.closed().await).into())
    }
}

/// A server and any number of websocket clients that only ask.
pub struct Clients {
    process: ServerProcess,
    url: String,
    peers: Vec<Peer>,
    _home: Home,
}

impl Clients {
    pub async fn start(ground: &Ground<'_>) -> Result<Clients> {
        Clients::start_in(Home::new(ground.model())?, ground.subject()).await
    }

    /// The same in a home with settings of its own.
    pub async fn start_in(home: Home, subject: &Subject) -> Result<Clients> {
        let listen = ["--listen", "ws://127.0.0.1:0"];
        let mut process = home.launch(&subject.program, &listen).start();
        Ok(Clients {
            url: process.url().await,
            process,
            peers: Vec::new(),
            _home: home,
        })
    }

    pub fn count(&self) -> usize {
        self.peers.len()
    }

    /// Connects so many more.
    pub async fn connect(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let (peer, mut inbox) = client(&self.url).await?;
            tokio::spawn(async move { while inbox.next().await.is_some() {} });
            self.peers.push(peer);
        }
        Ok(())
    }

    /// Lets a client start so many threads.
    pub async fn load(&self, client: usize, count: usize) -> Result<()> {
        let params = json!({"cwd": self.process.directory()});
        let peer = &self.peers[client];
        for first in (0..count).step_by(AT_ONCE) {
            let asked =
                (first..count.min(first + AT_ONCE)).map(|_| peer.call("thread/start", &params));
            for call in asked.collect::<Vec<_>>() {
                call.within(PATIENCE).await?;
            }
        }
        Ok(())
    }

    /// Memory of the server in MB, once it has come to rest.
    pub async fn memory(&self) -> Result<f64> {
        usage::settled_memory(self.process.pid()).await
    }
}

/// Requests of one client that are answered side by side.
const AT_ONCE: usize = 50;

/// A client that has introduced itself.
pub async fn client(url: &str) -> Result<(Peer, Inbox)> {
    let connection = websocket::connect(url, &[], MESSAGE_LIMIT, PATIENCE).await?;
    let (peer, inbox) = Peer::start(connection, PeerOptions::default());
    peer.call("initialize", &hello()).within(PATIENCE).await?;
    peer.notify("initialized", &json!({}))?;
    Ok((peer, inbox))
}
