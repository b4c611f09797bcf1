//! The load test: 200 websocket connections watch 20 streaming threads, and each must see all of its
//! thread's deltas, once and in order.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use quipu_rpc::{Event, Inbox, Peer, PeerOptions, websocket};
use quipu_testkit::process::ServerProcess;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::ground::{Home, Subject};
use crate::session::{hello, turn_params};
use crate::{Result, usage};

const CONNECTIONS: usize = 200;
const THREADS: usize = 20;
const DELTAS: usize = 2000;
const PATIENCE: Duration = Duration::from_secs(120);
const MESSAGE_LIMIT: usize = 64 << 20;

/// Loads each server in turn and prints what it did.
pub async fn run(subjects: &[Subject], model: &str, quick: bool) -> Result<()> {
    let deltas = if quick { DELTAS / 10 } else { DELTAS };
    for subject in subjects {
        let told = load(subject, model, deltas).await;
        let told = told.map_err(|error| format!("load on {}: {error}", subject.name))?;
        writeln!(io::stdout().lock(), "{}: {told}", subject.name)?;
    }
    Ok(())
}

async fn load(subject: &Subject, model: &str, deltas: usize) -> Result<String> {
    let home = Home::new(model)?;
    let listen = ["--listen", "ws://127.0.0.1:0"];
    let mut process = home.launch(&subject.program, &listen).start();
    let watchers = connect(&mut process).await?;
    let idle = usage::memory(process.pid())?;
    let before = usage::cpu(process.pid())?;
    let start = Instant::now();
    let prompt = numbered(deltas);
    let asked: Vec<_> = watchers[..THREADS]
        .iter()
        .map(|it| {
            it.peer
                .call("turn/start", &turn_params(&it.thread, &prompt))
        })
        .collect();
    let mut watching = JoinSet::new();
    for watcher in watchers {
        watching.spawn(async move { tokio::time::timeout(PATIENCE, watcher.watch(deltas)).await });
    }
    let mut events = 0;
    while let Some(seen) = watching.join_next().await {
        events += seen???;
    }
    let time = start.elapsed();
    for call in asked {
        call.within(PATIENCE).await?;
    }
    let cpu = usage::cpu(process.pid())? - before;
    let after = usage::memory(process.pid())?;
    Ok(format!(
        "{CONNECTIONS} connections, {THREADS} threads of {deltas} deltas: {events} events in {:.2} s \
         ({:.0} per second, {:.1} µs CPU each), none lost or out of order; \
         memory {idle:.1} MB before, {after:.1} MB after",
        time.as_secs_f64(),
        events as f64 / time.as_secs_f64(),
        cpu.as_secs_f64() * 1e6 / events as f64,
    ))
}

/// All connections; the first ones have started the threads that the others watch.
async fn connect(process: &mut ServerProcess) -> Result<Vec<Watcher>> {
    let url = process.url().await;
    let mut watchers: Vec<Watcher> = Vec::with_capacity(CONNECTIONS);
    for number in 0..CONNECTIONS {
        let connection = websocket::connect(&url, &[], MESSAGE_LIMIT, PATIENCE).await?;
        let (peer, inbox) = Peer::start(connection, PeerOptions::default());
        peer.call("initialize", &hello()).within(PATIENCE).await?;
        peer.notify("initialized", &json!({}))?;
        let (method, params) = match number.checked_sub(THREADS) {
            None => ("thread/start", json!({"cwd": process.folder()})),
            Some(later) => {
                let thread = &watchers[later % THREADS].thread;
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
        if number < THREADS {
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
