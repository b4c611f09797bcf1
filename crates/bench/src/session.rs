//! One running server and its only client.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use quipu_rpc::{Event, Inbox, Notification, Peer, PeerOptions, RawJson};
use quipu_testkit::process::{Launch, ServerProcess};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ground::Home;
use crate::{Result, usage};

/// How long anything may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Requests that wait for an answer at once, where there are many.
const AT_ONCE: usize = 100;

/// A server that has been greeted. It is killed when dropped.
pub struct Session {
    peer: Peer,
    inbox: Inbox,
    process: ServerProcess,
    greeted_after: Duration,
    _home: Option<Home>,
}

/// When the parts of a turn arrived, counted from its request.
pub struct TurnTimes {
    pub first_delta: Option<Duration>,
    pub whole: Duration,
}

impl Session {
    /// Starts a server; `home` is kept as long as the session.
    pub async fn start(launch: Launch, home: Option<Home>) -> Result<Session> {
        let start = Instant::now();
        let mut process = launch.start();
        let (peer, inbox) = Peer::start(process.stdio(), PeerOptions::default());
        let mut session = Session {
            peer,
            inbox,
            process,
            greeted_after: Duration::ZERO,
            _home: home,
        };
        session.call("initialize", &hello()).await?;
        session.greeted_after = start.elapsed();
        session.peer.notify("initialized", &json!({}))?;
        Ok(session)
    }

    /// From before the process was made until `initialize` was answered.
    pub fn greeted_after(&self) -> Duration {
        self.greeted_after
    }

    pub fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// Processor time of the server so far.
    pub fn cpu(&self) -> Result<Duration> {
        usage::cpu(self.process.pid())
    }

    /// Processor time of the server since it was `before`. A helper process that ended meanwhile counts in
    /// whole ticks only, so the sum may have become less.
    pub fn cpu_since(&self, before: Duration) -> Result<Duration> {
        Ok(self.cpu()?.saturating_sub(before))
    }

    /// Memory of the server in MB, once it has come to rest.
    pub async fn memory(&self) -> Result<f64> {
        usage::settled_memory(self.process.pid()).await
    }

    /// The most memory that the server had, in MB.
    pub fn peak_memory(&self) -> Result<f64> {
        usage::peak_memory(self.process.pid())
    }

    pub async fn call(&self, method: &str, params: &Value) -> Result<Value> {
        let answer = self.peer.call(method, params).within(PATIENCE).await;
        let answer = answer.map_err(|error| format!("{method}: {error}"))?;
        Ok(serde_json::from_slice(answer.as_bytes())?)
    }

    /// The directory in which the server and its threads work.
    pub fn directory(&self) -> &Path {
        self.process.directory()
    }

    /// A new thread's id.
    pub async fn thread(&self) -> Result<String> {
        let params = json!({"cwd": self.process.directory()});
        let answer = self.call("thread/start", &params).await?;
        match answer["thread"]["id"].as_str() {
            Some(id) => Ok(id.to_owned()),
            None => Err("thread/start: the answer has no id".into()),
        }
    }

    pub async fn threads(&self, count: usize) -> Result<Vec<String>> {
        let mut threads = Vec::with_capacity(count);
        for _ in 0..count {
            threads.push(self.thread().await?);
        }
        Ok(threads)
    }

    /// One turn from its request to its end.
    pub async fn turn(&mut self, thread: &str, prompt: &str) -> Result<TurnTimes> {
        let start = Instant::now();
        let asked = self.peer.call("turn/start", &turn_params(thread, prompt));
        let mut first_delta = None;
        loop {
            match self.next().await? {
                Notice::Delta => first_delta = first_delta.or_else(|| Some(start.elapsed())),
                Notice::TurnCompleted(id) if id == thread => break,
                Notice::TurnCompleted(_) | Notice::SearchCompleted | Notice::Other => {}
            }
        }
        let whole = start.elapsed();
        asked.within(PATIENCE).await?;
        Ok(TurnTimes { first_delta, whole })
    }

    /// So many turns on every thread, all threads at once.
    pub async fn turns_at_once(
        &mut self,
        threads: &[String],
        each: usize,
        prompt: &str,
    ) -> Result<()> {
        let ask = |peer: &Peer, thread: &str| peer.call("turn/start", &turn_params(thread, prompt));
        let mut asked: Vec<_> = threads.iter().map(|it| ask(&self.peer, it)).collect();
        let mut completed = 0;
        let mut left: std::collections::HashMap<&str, usize> =
            threads.iter().map(|it| (it.as_str(), each - 1)).collect();
        while completed < threads.len() * each {
            let Notice::TurnCompleted(thread) = self.next().await? else {
                continue;
            };
            completed += 1;
            if let Some(more) = left.get_mut(thread.as_str()).filter(|more| **more > 0) {
                *more -= 1;
                asked.push(ask(&self.peer, &thread));
            }
        }
        for call in asked {
            call.within(PATIENCE).await?;
        }
        Ok(())
    }

    /// One turn on every thread, all at once; the longest time between two deltas of the same one.
    pub async fn longest_gap(&mut self, threads: &[String], prompt: &str) -> Result<Duration> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Of {
            thread_id: String,
        }
        let ask = |peer: &Peer, thread: &str| peer.call("turn/start", &turn_params(thread, prompt));
        let mut rest = threads.iter();
        // A server need not take more requests of one client at once.
        let mut asked: Vec<_> = rest
            .by_ref()
            .take(AT_ONCE)
            .map(|it| ask(&self.peer, it))
            .collect();
        let mut last: std::collections::HashMap<String, Instant> = Default::default();
        let (mut longest, mut running) = (Duration::ZERO, threads.len());
        while running > 0 {
            let event = self.notification().await?;
            let params = event.params.as_ref().map_or(&b"{}"[..], |it| it.as_bytes());
            match event.method.as_str() {
                "item/agentMessage/delta" => {
                    let Of { thread_id } = serde_json::from_slice(params)?;
                    let now = Instant::now();
                    if let Some(before) = last.insert(thread_id, now) {
                        longest = longest.max(now - before);
                    }
                }
                "turn/started" => asked.extend(rest.next().map(|it| ask(&self.peer, it))),
                "turn/completed" => running -= 1,
                _ => {}
            }
        }
        for call in asked {
            call.within(PATIENCE).await?;
        }
        Ok(longest)
    }

    async fn next(&mut self) -> Result<Notice> {
        let it = self.notification().await?;
        Notice::read(&it.method, it.params.as_ref())
    }

    async fn notification(&mut self) -> Result<Notification> {
        let event = match self.inbox.next().now_or_never() {
            Some(event) => event,
            None => tokio::time::timeout(PATIENCE, self.inbox.next()).await?,
        };
        match event {
            Some(Event::Notification(it)) => Ok(it),
            Some(Event::Request(it)) => Err(format!("the server asks {}", it.method).into()),
            Some(_) => Err("the server sends what is no message".into()),
            None => Err(format!("the server has ended: {}", self.process.stderr()).into()),
        }
    }

    /// A step of a file search, until all of its results are there.
    pub async fn search(&mut self, step: &str, params: &Value) -> Result<()> {
        let method = format!("fuzzyFileSearch/{step}");
        let asked = self.peer.call(&method, params);
        while !matches!(self.next().await?, Notice::SearchCompleted) {}
        asked.within(PATIENCE).await?;
        Ok(())
    }

    /// Closes the server's input and waits for its end, so that all of its work is stored.
    pub async fn finish(mut self) -> Result<()> {
        drop(self.peer);
        let ended = self.process.exit().await;
        match ended.success() {
            true => Ok(()),
            false => Err(format!("the server ended with {ended}").into()),
        }
    }
}

/// What a measurement wants to know of a notification. The rest is not even parsed.
enum Notice {
    Delta,
    TurnCompleted(String),
    SearchCompleted,
    Other,
}

impl Notice {
    fn read(method: &str, params: Option<&RawJson>) -> Result<Notice> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Completed {
            thread_id: String,
            turn: Turn,
        }
        #[derive(Deserialize)]
        struct Turn {
            status: String,
            error: Option<Value>,
        }
        match (method, params) {
            ("item/agentMessage/delta", _) => Ok(Notice::Delta),
            ("fuzzyFileSearch/sessionCompleted", _) => Ok(Notice::SearchCompleted),
            ("turn/completed", Some(params)) => {
                let Completed { thread_id, turn } = serde_json::from_slice(params.as_bytes())?;
                match turn.status.as_str() {
                    "completed" => Ok(Notice::TurnCompleted(thread_id)),
                    status => Err(format!("a turn ended {status}: {:?}", turn.error).into()),
                }
            }
            _ => Ok(Notice::Other),
        }
    }
}

/// What a client says first.
pub fn hello() -> Value {
    json!({
        "clientInfo": {"name": "bench", "title": "Bench", "version": "1.0"},
        "capabilities": {"experimentalApi": true},
    })
}

/// A turn of one text.
pub fn turn_params(thread: &str, prompt: &str) -> Value {
    json!({"threadId": thread, "input": [{"type": "text", "text": prompt}]})
}
