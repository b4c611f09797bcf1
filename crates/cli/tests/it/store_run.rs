//! What the clients of a run of the checker share, and how one of them keeps everything that comes over its connections.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use quipu_rpc::{CallError, Event, Inbox, Notification, Peer, RawJson};
use quipu_testkit::trace::{Accepted, Seen};
use serde_json::{Value, json};
use tokio::sync::watch;

/// How long one request may take before the connection is given up. A paused server does not answer.
const ANSWER: Duration = Duration::from_secs(60);

/// Numbers that look random and are the same for the same seed.
pub struct Scatter(AtomicU64);

impl Scatter {
    pub fn new(seed: u64) -> Scatter {
        Scatter(AtomicU64::new(seed))
    }

    pub fn below(&self, limit: u64) -> u64 {
        let next = |state: u64| {
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407)
        };
        let order = Ordering::Relaxed;
        let before = self.0.fetch_update(order, order, |state| Some(next(state)));
        (next(before.unwrap_or_default()) >> 33) % limit
    }

    pub fn one_in(&self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// What all clients of a run share.
pub struct Run {
    pub url: String,
    /// What a command of the model sleeps for, so that it can be found.
    pub marker: String,
    /// Set when enough has happened.
    pub is_over: AtomicBool,
    /// How many events clients have seen.
    pub events: watch::Sender<u64>,
    /// The threads that can be followed, and the number before their first event.
    pub threads: Mutex<Vec<(String, i64)>>,
    pub accepted: Mutex<Vec<Accepted>>,
}

impl Run {
    pub fn new(url: String, marker: String) -> Run {
        Run {
            url,
            marker,
            is_over: AtomicBool::new(false),
            events: watch::Sender::new(0),
            threads: Mutex::default(),
            accepted: Mutex::default(),
        }
    }
}

/// What a client saw, and what it makes of it.
#[derive(Default)]
pub struct Log {
    pub seen: Vec<Seen>,
    pub last: HashMap<String, i64>,
    pub ended: HashSet<String>,
    /// Threads that their server unloaded.
    pub closed: HashSet<String>,
}

/// Why a request has no result.
pub enum Failed {
    /// The server says why.
    Refused(String),
    /// The connection has ended, or the answer did not come.
    Closed(String),
}

pub fn id(value: &Value) -> String {
    value["id"].as_str().unwrap_or_default().to_owned()
}

/// Sends one request and waits for its answer.
pub async fn call(peer: &Peer, method: &str, params: &Value) -> Result<Value, Failed> {
    match peer.call(method, params).within(ANSWER).await {
        Ok(answer) => Ok(serde_json::from_slice(answer.as_bytes()).unwrap()),
        Err(CallError::Rejected(error)) => Err(Failed::Refused(error.message)),
        Err(error) => {
            peer.close();
            Err(Failed::Closed(format!("{method} {params}: {error}")))
        }
    }
}

/// Keeps everything that comes over one connection.
pub async fn read(
    mut inbox: Inbox,
    log: Arc<Mutex<Log>>,
    changed: watch::Sender<()>,
    run: Arc<Run>,
) {
    while let Some(event) = inbox.next().await {
        if let Event::Notification(notification) = event {
            log.lock().take(&notification);
            run.events.send_modify(|count| *count += 1);
            changed.send_replace(());
        }
    }
    changed.send_replace(());
}

/// How many steps are shown of a client that waits in vain.
const SHOWN: usize = 12;

impl Log {
    /// The last steps of a thread.
    pub fn last_of(&self, thread: &str) -> String {
        let texts = self.seen.iter().map(|step| match step {
            Seen::Event(event) => event.to_string(),
            follows => format!("{follows:?}"),
        });
        let of_thread: Vec<String> = texts.filter(|it| it.contains(thread)).collect();
        of_thread[of_thread.len().saturating_sub(SHOWN)..].join("\n")
    }

    fn take(&mut self, notification: &Notification) {
        let value = |json: Option<&RawJson>| -> Value {
            json.and_then(|it| serde_json::from_slice(it.as_bytes()).ok())
                .unwrap_or_default()
        };
        let params = value(notification.params.as_ref());
        let quipu = value(notification.quipu.as_ref());
        let thread = params["threadId"].as_str().unwrap_or_default().to_owned();
        match notification.method.as_str() {
            "thread/closed" => drop(self.closed.insert(thread.clone())),
            "turn/completed" if !quipu.is_null() => {
                self.ended.insert(id(&params["turn"]));
            }
            _ => {}
        }
        if let Some(seq) = quipu["seq"].as_i64() {
            let last = self.last.entry(thread).or_default();
            *last = seq.max(*last);
        }
        self.seen.push(Seen::Event(json!({
            "method": notification.method,
            "params": params,
            "quipu": quipu,
        })));
    }
}
