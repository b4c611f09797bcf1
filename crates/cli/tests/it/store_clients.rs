//! Clients of several servers that do what real ones do, at random: they start turns, add to them, interrupt them, repeat
//! requests, list threads, follow threads of each other, and come back after the last event they saw whenever their
//! connection ends. Everything they see is kept for the checker.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;
use quipu_rpc::{Peer, PeerOptions, websocket};
use quipu_testkit::trace::{Accepted, Seen};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, interval, timeout, timeout_at};

use crate::store_run::{Failed, Log, Run, Scatter, call, id, read};

/// How long anything may take, over all faults that happen meanwhile.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(20);
/// How many turns a thread gets.
const TURNS: u64 = 6;

pub struct Client {
    run: Arc<Run>,
    random: Scatter,
    name: String,
    log: Arc<Mutex<Log>>,
    /// Changed with the log.
    changed: watch::Sender<()>,
    link: Option<Peer>,
    /// The own thread and those of others that are followed.
    followed: Vec<String>,
    /// How the own thread was started. A server that dies before the first turn forgets it.
    start: Value,
}

impl Client {
    pub fn new(run: &Arc<Run>, number: u64, seed: u64) -> Client {
        Client {
            run: Arc::clone(run),
            random: Scatter::new(seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            name: format!("c{number}"),
            log: Arc::default(),
            changed: watch::Sender::new(()),
            link: None,
            followed: Vec::new(),
            start: Value::Null,
        }
    }

    /// Works until the run is over; everything that it saw.
    pub async fn work(mut self) -> Vec<Seen> {
        let mut number = 0;
        while !self.run.is_over.load(Ordering::Relaxed) {
            let thread = self.start_thread(number).await;
            for turn in 0..TURNS {
                self.turn(&thread, number * TURNS + turn).await;
                if turn == 0 {
                    self.offer(&thread).await;
                }
                if self.run.is_over.load(Ordering::Relaxed) {
                    break;
                }
                self.look_around(&thread).await;
            }
            self.unfollow(0).await;
            number += 1;
        }
        if let Some(peer) = self.link.take() {
            peer.close();
        }
        let mut log = self.log.lock();
        std::mem::take(&mut log.seen)
    }

    async fn start_thread(&mut self, number: u64) -> String {
        self.start = json!({ "idempotencyKey": format!("{}-thread-{number}", self.name) });
        let started = self.insist("thread/start", self.start.clone()).await;
        let thread = id(&started["thread"]);
        let seq = started["quipu"]["seq"].as_i64().unwrap();
        self.follow_from(&thread, seq);
        self.followed.insert(0, thread.clone());
        thread
    }

    /// Lets others follow a thread, which can be resumed from now on.
    async fn offer(&mut self, thread: &str) {
        let first = self.log.lock().seen.iter().find_map(|step| match step {
            Seen::Follows {
                thread: of, after, ..
            } if of == thread => Some(*after),
            _ => None,
        });
        let first = first.unwrap();
        self.run.threads.lock().push((thread.to_owned(), first));
    }

    /// Follows another thread now and then, and checks that lists have what they must have.
    async fn look_around(&mut self, thread: &str) {
        if self.random.one_in(4) {
            let page = json!({ "limit": 100, "sortKey": "updated_at" });
            let listed = self.insist("thread/list", page).await;
            let listed = listed["data"].as_array().unwrap();
            let is_listed = listed.iter().any(|it| it["id"] == thread);
            assert!(is_listed, "{} does not find {thread}", self.name);
        }
        if self.random.one_in(3) {
            if self.followed.len() > 2 {
                self.unfollow(1).await;
            }
            let other = {
                let threads = self.run.threads.lock();
                let place = self.random.below(threads.len() as u64) as usize;
                threads[place].clone()
            };
            if !self.followed.contains(&other.0) {
                let last = self.log.lock().last.get(&other.0).copied();
                self.follow_from(&other.0, last.unwrap_or(other.1));
                self.followed.push(other.0.clone());
                self.log.lock().closed.insert(other.0);
            }
        }
        if self.random.one_in(5)
            && let Some(peer) = self.link.take()
        {
            peer.close();
        }
    }

    /// Notes from where on a thread is followed.
    fn follow_from(&self, thread: &str, seq: i64) {
        let mut log = self.log.lock();
        let is_new = !log.last.contains_key(thread);
        // An event may have been faster than the answer.
        log.last.entry(thread.to_owned()).or_insert(seq);
        let follows = Seen::Follows {
            thread: thread.to_owned(),
            after: seq,
            replay: None,
        };
        if is_new {
            log.seen.push(follows);
        } else if !log.seen.iter().any(|it| is_follow(it, thread)) {
            log.seen.insert(0, follows);
        }
    }

    async fn unfollow(&mut self, place: usize) {
        let thread = self.followed.remove(place);
        if let Some(peer) = &self.link {
            let params = json!({ "threadId": thread });
            // What comes of it does not matter: at the next connection it is not followed any more.
            drop(call(peer, "thread/unsubscribe", &params).await);
        }
    }

    /// One turn from its request to its end.
    async fn turn(&mut self, thread: &str, number: u64) {
        let name = format!("{}-{number}", self.name);
        let (script, must_interrupt) = self.script(&name);
        let input = script.to_string();
        let params = json!({
            "threadId": thread,
            "input": [{ "type": "text", "text": input }],
            "idempotencyKey": name,
        });
        let started = self.insist("turn/start", params.clone()).await;
        let turn = id(&started["turn"]);
        self.accept(thread, &turn, input, false);
        if self.random.one_in(4) {
            let again = self.insist("turn/start", params).await;
            assert_eq!(id(&again["turn"]), turn, "{name} was started twice");
        }
        if self.random.one_in(3) {
            self.steer(thread, &turn, &name).await;
        }
        if self.random.one_in(8)
            && let Some(peer) = self.link.take()
        {
            peer.close();
        }
        let interrupts = must_interrupt || self.random.one_in(6);
        self.end(thread, &turn, interrupts).await;
    }

    /// What the model does in a turn, and whether that takes longer than anybody waits.
    fn script(&self, name: &str) -> (Value, bool) {
        let pieces = |part: &str, count: u64| -> Vec<String> {
            (0..count).map(|it| format!("{name}{part}{it} ")).collect()
        };
        let count = self.random.below(16) + 2;
        let end = json!({ "deltas": pieces("z", 3), "every": 1 });
        let run =
            |command: String| json!([{ "name": "exec_command", "arguments": { "cmd": command } }]);
        match self.random.below(6) {
            0 => {
                let calls = run(format!("echo {name}"));
                let first = json!({ "deltas": pieces("a", count), "every": 1, "calls": calls });
                (json!({ "script": [first, end] }), false)
            }
            1 => {
                let calls = run(format!("sleep {}", self.run.marker));
                let first = json!({ "deltas": pieces("a", 2), "calls": calls });
                (json!({ "script": [first, end] }), true)
            }
            2 => {
                let slow = json!({ "deltas": pieces("s", count), "every": 40 });
                (json!({ "script": [slow] }), false)
            }
            3 => (
                json!({ "script": [{ "hang": 300, "deltas": pieces("h", 2) }] }),
                false,
            ),
            _ => (
                json!({ "script": [{ "deltas": pieces("d", count), "every": 1 }] }),
                false,
            ),
        }
    }

    /// Adds input to a turn, unless it is over by then.
    async fn steer(&mut self, thread: &str, turn: &str, name: &str) {
        let input = format!("{name} steered");
        let params = json!({
            "threadId": thread,
            "expectedTurnId": turn,
            "input": [{ "type": "text", "text": input }],
            "idempotencyKey": format!("{name}-steer"),
        });
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.ask("turn/steer", &params, deadline).await {
                Ok(_) => return self.accept(thread, turn, input, true),
                Err(Failed::Refused(_)) => return,
                Err(Failed::Closed(_)) => {}
            }
        }
    }

    fn accept(&self, thread: &str, turn: &str, input: String, is_steer: bool) {
        self.run.accepted.lock().push(Accepted {
            thread: thread.to_owned(),
            turn: turn.to_owned(),
            input,
            is_steer,
        });
    }

    /// Waits for the end of a turn, interrupting it if that is wanted, on however many connections.
    async fn end(&mut self, thread: &str, turn: &str, interrupts: bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut changed = self.changed.subscribe();
        let mut again = interval(Duration::from_millis(200));
        let mut must_interrupt = interrupts;
        loop {
            changed.borrow_and_update();
            if self.log.lock().ended.contains(turn) {
                return;
            }
            let peer = self.linked(deadline).await;
            if must_interrupt {
                let params = json!({ "threadId": thread, "turnId": turn });
                must_interrupt = call(&peer, "turn/interrupt", &params).await.is_err();
            }
            let wait = async {
                tokio::select! {
                    _ = changed.changed() => {}
                    _ = peer.closed() => must_interrupt = interrupts,
                    _ = again.tick(), if must_interrupt => {}
                }
            };
            let waited = timeout_at(deadline, wait).await;
            assert!(
                waited.is_ok(),
                "{} waits for the end of turn {turn} after\n{}",
                self.name,
                self.log.lock().last_of(thread)
            );
        }
    }

    /// Sends a request until it is answered. What is refused while servers are in trouble is tried again.
    async fn insist(&mut self, method: &str, params: Value) -> Value {
        let deadline = Instant::now() + PATIENCE;
        let mut pauses = interval(Duration::from_millis(50));
        loop {
            pauses.tick().await;
            let why = match self.ask(method, &params, deadline).await {
                Ok(answer) => return answer,
                Err(Failed::Refused(why) | Failed::Closed(why)) => why,
            };
            assert!(
                Instant::now() < deadline,
                "{} is refused {method}: {why}",
                self.name
            );
        }
    }

    async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, Failed> {
        let peer = self.linked(deadline).await;
        call(&peer, method, params).await
    }

    /// The connection, made again if it has ended, on which everything is followed.
    async fn linked(&mut self, deadline: Instant) -> Peer {
        let mut pauses = interval(Duration::from_millis(20));
        let mut refused = String::new();
        loop {
            pauses.tick().await;
            assert!(
                Instant::now() < deadline,
                "{} cannot connect: {refused}",
                self.name
            );
            let peer = match self.link.take() {
                Some(peer) if timeout(Duration::ZERO, peer.closed()).await.is_err() => peer,
                _ => match self.connect().await {
                    Some(peer) => {
                        self.log.lock().closed.extend(self.followed.iter().cloned());
                        peer
                    }
                    None => continue,
                },
            };
            let mut open: Vec<String> = Vec::new();
            open.extend(self.log.lock().closed.iter().cloned());
            let mut is_linked = true;
            for thread in open {
                if !self.followed.contains(&thread) {
                    self.log.lock().closed.remove(&thread);
                } else if let Err(failed) = self.resume(&peer, &thread).await {
                    is_linked = false;
                    let (Failed::Refused(why) | Failed::Closed(why)) = failed;
                    refused = why;
                }
            }
            self.link = Some(peer.clone());
            if is_linked {
                return peer;
            }
        }
    }

    async fn connect(&self) -> Option<Peer> {
        let connected = websocket::connect(&self.run.url, &[], 64 << 20, CONNECT).await;
        let (peer, inbox) = Peer::start(connected.ok()?, PeerOptions::default());
        let (log, changed, run) = (
            Arc::clone(&self.log),
            self.changed.clone(),
            Arc::clone(&self.run),
        );
        tokio::spawn(read(inbox, log, changed, run));
        let capabilities = json!({ "experimentalApi": true, "quipu": { "events": true } });
        let hello = json!({
            "clientInfo": { "name": self.name, "version": "1" },
            "capabilities": capabilities,
        });
        let greeted = peer.call("initialize", &hello).within(CONNECT).await;
        greeted.ok()?;
        peer.notify("initialized", &json!({})).ok()?;
        Some(peer)
    }

    /// Follows a thread after the last event that was seen of it.
    async fn resume(&self, peer: &Peer, thread: &str) -> Result<(), Failed> {
        let (place, after) = {
            let mut log = self.log.lock();
            log.closed.remove(thread);
            let after = log.last.get(thread).copied().unwrap_or_default();
            log.seen.push(Seen::Follows {
                thread: thread.to_owned(),
                after,
                replay: None,
            });
            (log.seen.len() - 1, after)
        };
        let params = json!({ "threadId": thread, "quipu": { "after": after } });
        let mut answer = call(peer, "thread/resume", &params).await;
        let is_own = self.followed.first().is_some_and(|own| own == thread);
        if is_own
            && matches!(&answer, Err(Failed::Refused(why)) if why.contains("no rollout found"))
        {
            // One that was lost before its first turn is made again, under its id.
            answer = call(peer, "thread/start", &self.start).await;
            if let Ok(started) = &answer {
                assert_eq!(id(&started["thread"]), thread, "{}", self.name);
            }
        }
        let mut log = self.log.lock();
        let answer = answer.inspect_err(|_| {
            log.closed.insert(thread.to_owned());
        })?;
        let said = answer["quipu"]["replay"].as_str().unwrap_or("condensed");
        if let Some(Seen::Follows { replay, .. }) = log.seen.get_mut(place) {
            *replay = Some(said.to_owned());
        }
        Ok(())
    }
}

fn is_follow(step: &Seen, of: &str) -> bool {
    matches!(step, Seen::Follows { thread, .. } if thread == of)
}
