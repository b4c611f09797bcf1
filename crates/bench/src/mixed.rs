//! Whether anything grows under work of all kinds: turns, commands, interrupts, forks, archives, changes of the settings,
//! and clients that leave in the middle of a turn. As many threads are loaded at the end of a second as before it.

use std::time::Duration;

use quipu_rpc::{Event, Inbox, Peer};
use quipu_testkit::process::ServerProcess;
use serde_json::{Value, json};
use tokio::time::MissedTickBehavior;

use crate::ground::{Home, Subject};
use crate::load::client;
use crate::session::turn_params;
use crate::soak::{Sampler, Soak, Soaks};
use crate::{Result, progress};

const THREADS: usize = 20;
/// Forks that are loaded at once; the oldest is archived for a new one.
const FORKS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(60);
/// Descriptors of the server that may come and go.
const SPARE_FILES: usize = 40;

const TEXT: &str = r#"{"mock":[{"deltas":50}]}"#;
const SLOW: &str = r#"{"mock":[{"deltas":200,"every":10}]}"#;
const COMMAND: &str =
    r#"{"mock":[{"calls":[{"name":"exec_command","arguments":{"cmd":"true"}}]},{"text":"done"}]}"#;

/// Soaks one server after the other.
pub async fn run(subjects: &[Subject], model: &str, time: Duration) -> Result<Soaks> {
    let mut servers = Vec::new();
    for subject in subjects {
        progress(&format!("a mixed soak of {}", subject.name))?;
        let soak = soak(subject, model, time).await;
        servers.push(soak.map_err(|error| format!("mixed soak on {}: {error}", subject.name))?);
    }
    Ok(Soaks { servers })
}

async fn soak(subject: &Subject, model: &str, time: Duration) -> Result<Soak> {
    let home = Home::new(model)?;
    let listen = ["--listen", "ws://127.0.0.1:0"];
    let mut process = home.launch(&subject.program, &listen).start();
    let mut work = Work::start(&mut process).await?;
    let mut sampler = Sampler::new(process.pid())?;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut files = None;
    while sampler.elapsed() < time {
        ticks.tick().await;
        work.second().await?;
        sampler.sample()?;
        let open = open_files(process.pid())?;
        let first = *files.get_or_insert(open);
        if open > first + SPARE_FILES {
            return Err(format!("{open} open files, {first} in the beginning").into());
        }
    }
    Ok(Soak {
        subject: subject.name.clone(),
        turns: work.turns,
        samples: sampler.samples,
    })
}

fn open_files(pid: i32) -> Result<usize> {
    Ok(std::fs::read_dir(format!("/proc/{pid}/fd"))?.count())
}

/// A client that stays, and what it works on.
struct Work {
    url: String,
    directory: Value,
    peer: Peer,
    inbox: Inbox,
    threads: Vec<String>,
    forks: Vec<String>,
    /// The thread that the last visitor left in the middle of a turn.
    left: Option<String>,
    turns: usize,
}

impl Work {
    async fn start(process: &mut ServerProcess) -> Result<Work> {
        let url = process.url().await;
        let (peer, inbox) = client(&url).await?;
        let mut work = Work {
            url,
            directory: json!(process.directory()),
            peer,
            inbox,
            threads: Vec::new(),
            forks: Vec::new(),
            left: None,
            turns: 0,
        };
        for _ in 0..THREADS {
            let thread = work.thread().await?;
            work.threads.push(thread);
        }
        Ok(work)
    }

    /// What happens in one second.
    async fn second(&mut self) -> Result<()> {
        let prompts = [TEXT, COMMAND];
        for (index, thread) in self.threads.clone().iter().enumerate() {
            self.turn(thread, prompts[usize::from(index == 0)]).await?;
        }
        let oldest = self.threads.remove(0);
        self.fork(&oldest).await?;
        self.interrupted_turn(&oldest).await?;
        self.archive(&oldest).await?;
        let thread = self.thread().await?;
        self.threads.push(thread);
        self.visit().await?;
        let setting = json!({
            "keyPath": "hide_agent_reasoning", "value": self.turns.is_multiple_of(2), "mergeStrategy": "replace",
        });
        self.call("config/value/write", &setting).await?;
        let command = json!({"command": ["true"], "cwd": self.directory});
        self.call("command/exec", &command).await?;
        self.call("thread/list", &json!({"limit": 20})).await?;
        Ok(())
    }

    async fn fork(&mut self, thread: &str) -> Result<()> {
        let fork = self
            .call("thread/fork", &json!({"threadId": thread}))
            .await?;
        let fork = id(&fork)?;
        self.turn(&fork, TEXT).await?;
        self.forks.push(fork);
        if self.forks.len() > FORKS {
            let oldest = self.forks.remove(0);
            self.archive(&oldest).await?;
        }
        Ok(())
    }

    async fn interrupted_turn(&mut self, thread: &str) -> Result<()> {
        let params = turn_params(thread, SLOW);
        let turn = self.call("turn/start", &params).await?;
        let stop = json!({"threadId": thread, "turnId": turn["turn"]["id"]});
        self.call("turn/interrupt", &stop).await?;
        self.turn_end(thread).await
    }

    /// Another client starts a thread, a turn in it, and leaves.
    async fn visit(&mut self) -> Result<()> {
        if let Some(thread) = self.left.take() {
            self.archive(&thread).await?;
        }
        let (visitor, mut inbox) = client(&self.url).await?;
        let params = json!({"cwd": self.directory});
        let started = visitor
            .call("thread/start", &params)
            .within(PATIENCE)
            .await?;
        let thread = id(&serde_json::from_slice(started.as_bytes())?)?;
        let params = turn_params(&thread, SLOW);
        visitor.call("turn/start", &params).within(PATIENCE).await?;
        let is_delta =
            |it: &Event| matches!(it, Event::Notification(it) if it.method.ends_with("/delta"));
        while let Some(event) = inbox.next().await {
            if is_delta(&event) {
                break;
            }
        }
        visitor.close();
        self.left = Some(thread);
        Ok(())
    }

    async fn turn(&mut self, thread: &str, prompt: &str) -> Result<()> {
        self.call("turn/start", &turn_params(thread, prompt))
            .await?;
        self.turn_end(thread).await
    }

    async fn turn_end(&mut self, thread: &str) -> Result<()> {
        self.turns += 1;
        loop {
            let event = tokio::time::timeout(PATIENCE, self.inbox.next()).await?;
            let Some(Event::Notification(it)) = event else {
                return Err("the connection ended, or the server asks something".into());
            };
            let ended = it.method == "turn/completed";
            let params = it.params.as_ref().filter(|_| ended);
            let params = params.map(|it| serde_json::from_slice::<Value>(it.as_bytes()));
            if params
                .transpose()?
                .is_some_and(|it| it["threadId"] == thread)
            {
                return Ok(());
            }
        }
    }

    async fn thread(&self) -> Result<String> {
        let params = json!({"cwd": self.directory});
        id(&self.call("thread/start", &params).await?)
    }

    async fn archive(&self, thread: &str) -> Result<()> {
        let params = json!({"threadId": thread});
        self.call("thread/archive", &params).await.map(drop)
    }

    async fn call(&self, method: &str, params: &Value) -> Result<Value> {
        let answer = self.peer.call(method, params).within(PATIENCE).await;
        let answer = answer.map_err(|error| format!("{method}: {error}"))?;
        Ok(serde_json::from_slice(answer.as_bytes())?)
    }
}

fn id(answer: &Value) -> Result<String> {
    let id = answer["thread"]["id"].as_str();
    id.map(str::to_owned)
        .ok_or_else(|| "the answer has no thread".into())
}
