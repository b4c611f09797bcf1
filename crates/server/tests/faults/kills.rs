//! `kill -9` again and again at scattered places of a busy turn: nothing that was told is lost, no turn
//! stays open, no process is left, and the thread goes on in the next server.

use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_testkit::process::Signal;
use quipu_testkit::process_table;
use serde_json::{Value, json};

use crate::ground::{Ground, Needs};
use crate::laws::{self, Said};
use crate::moment::{input, step};
use crate::wire::{Tried, Wire};

/// About how many messages a whole busy turn has.
const MESSAGES: u64 = 45;
/// How many rounds a thread lives for.
const LIFE: usize = 5;

/// A home on which server after server is killed.
pub struct Graveyard {
    ground: Ground,
    thread: Option<String>,
    said: Vec<Said>,
    age: usize,
}

impl Graveyard {
    pub async fn new() -> Tried<Graveyard> {
        Ok(Graveyard {
            ground: Ground::new(Needs::default(), "").await?,
            thread: None,
            said: Vec::new(),
            age: 0,
        })
    }

    /// One server: it finds what the one before told, works, and is killed at the place of the round.
    pub async fn round(&mut self, round: u64) -> Tried<()> {
        let mut process = self.ground.serve(false);
        let mut wire = Wire::stdio(&mut process).await?;
        let thread = self.thread(&mut wire).await?;
        let mark = process_table::marker();
        self.ground.model.clear();
        for answer in busy(&mark, round) {
            self.ground.model.queue(step(answer));
        }
        let from = wire.position();
        wire.ask("turn/start", input(&thread, "work")).await;
        let messages = usize::try_from(scatter(round) % MESSAGES).unwrap_or_default();
        if messages > 0 {
            let heard = AtomicUsize::new(0);
            let is_enough = |entry: &crate::wire::Entry| {
                let heard = heard.fetch_add(1, Ordering::Relaxed) + 1;
                heard >= messages || entry.method() == "turn/completed"
            };
            wire.see("the place", from, is_enough).await?;
        }
        process.signal(Signal::KILL);
        process.exit().await;
        // What is still in the pipe was sent as well.
        wire.rest().await?;
        let said = Said::new(&wire, false);
        laws::check_wire(std::slice::from_ref(&said))?;
        self.said.push(said);
        match process_table::left(&mark).await {
            left if left.is_empty() => Ok(()),
            left => Err(format!("law 3: left behind: {left:?}")),
        }
    }

    /// The thread to work in: the one of the last round, checked, or a new one.
    async fn thread(&mut self, wire: &mut Wire) -> Tried<String> {
        if let Some(id) = self.thread.clone() {
            let resumed = wire.call("thread/resume", json!({ "threadId": id })).await;
            match resumed {
                Ok(resumed) => laws::check_stored(&self.said, &resumed["thread"])?,
                // A thread of which nothing was told need not be there.
                Err(error) if self.said.iter().any(Said::has_items) => return Err(error),
                Err(_) => self.age = LIFE,
            }
        }
        self.age += 1;
        match self.thread.clone() {
            Some(id) if self.age < LIFE => Ok(id),
            _ => {
                let params = json!({ "cwd": self.ground.work() });
                let started = wire.call("thread/start", params).await?;
                let id = started["thread"]["id"].as_str().unwrap_or_default();
                self.thread = Some(id.to_owned());
                self.said.clear();
                self.age = 0;
                Ok(id.to_owned())
            }
        }
    }
}

/// A turn with words, commands that stay, and a patch.
fn busy(mark: &str, round: u64) -> [Value; 5] {
    let stays = format!("echo {mark}; (setsid sleep {mark} &) ; sleep {mark}");
    let patch = format!("*** Begin Patch\n*** Add File: file-{round}\n+x\n*** End Patch");
    let call = |cmd: &str| json!({ "name": "exec_command", "arguments": { "cmd": cmd, "yield_time_ms": 250 } });
    [
        json!({ "reasoning": "Hm.", "deltas": ["so ", "it ", "begins"], "calls": [call("echo quick")] }),
        json!({ "calls": [call(&stays)] }),
        json!({ "patch": patch }),
        json!({ "deltas": 12, "calls": [call("echo more")] }),
        json!({ "text": "done" }),
    ]
}

/// A number that differs from round to round, the same in every run.
fn scatter(round: u64) -> u64 {
    round
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
        .wrapping_mul(0xBF58_476D_1CE4_E5B9)
        >> 33
}
