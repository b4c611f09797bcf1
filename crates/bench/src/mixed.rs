//! Whether anything grows under work of all kinds: turns, commands, interrupts, forks, archives, deletions, changes of the
//! settings, clients that leave in the middle of a turn or leave an approval open, and MCP servers that die. As many
//! threads are loaded and stored at the end of a second as before it.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use quipu_rpc::{Event, Inbox, Peer};
use quipu_testkit::process::ServerProcess;
use serde_json::{Value, json};
use tokio::time::MissedTickBehavior;

use crate::ground::{Home, Subject};
use crate::load::client;
use crate::report::rounded;
use crate::session::turn_params;
use crate::soak::{Held, Sampler, Soak, Soaks};
use crate::{Result, progress, usage};

const THREADS: usize = 20;
/// Forks that are loaded at once; the oldest is archived for a new one.
const FORKS: usize = 5;
/// Approvals that wait for an answer at once, without a client; the thread of the oldest is archived for a new one.
const UNANSWERED: usize = 20;
/// Archived threads that are stored at once; the oldest is deleted for a new one.
const ARCHIVED: usize = 50;
const PATIENCE: Duration = Duration::from_secs(60);
/// An hour of samples is still a small file.
const SAMPLED_EVERY: Duration = Duration::from_millis(4500);
/// Descriptors of the server that may come and go.
const SPARE_FILES: usize = 40;

const TEXT: &str = r#"{"mock":[{"deltas":50}]}"#;
const SLOW: &str = r#"{"mock":[{"deltas":200,"every":10}]}"#;
const COMMAND: &str =
    r#"{"mock":[{"calls":[{"name":"exec_command","arguments":{"cmd":"true"}}]},{"text":"done"}]}"#;

const TOUCH: &str = r#"{"mock":[{"calls":[{"name":"exec_command","arguments":{"cmd":"touch file"}}]},{"text":"done"}]}"#;
const MCP_CALL: &str =
    r#"{"mock":[{"calls":[{"name":"mcp__dying__go","arguments":{}}]},{"text":"done"}]}"#;
/// An MCP server that offers a tool, and ends when the tool is called.
const DYING: &str = r#"
next() { read -r line; line=${line#*\"id\":}; id=${line%%[,\}]*}; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
next; answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"dying","version":"1"}}'
read -r initialized
next; answer '{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}'
read -r call
"#;

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
    let temporary = tempfile::tempdir_in("/var/tmp")?;
    let listen = ["--listen", "ws://127.0.0.1:0"];
    let launch = home.launch(&subject.program, &listen);
    let launch = launch.env("TMPDIR", &temporary.path().to_string_lossy());
    let mut process = launch.start();
    let mut work = Work::start(&mut process).await?;
    let mut sampler = Sampler::new(process.pid())?;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut first = None;
    while sampler.elapsed() < time {
        ticks.tick().await;
        work.second().await?;
        let held = held(process.pid(), temporary.path(), home.path())?;
        if sampler.since_last() >= SAMPLED_EVERY {
            sampler.sample(Some(held))?;
        }
        let open = held.open_files;
        let first = match work.is_settled() {
            true => *first.get_or_insert(open),
            false => continue,
        };
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

/// What the server holds besides memory.
fn held(pid: i32, temporary: &Path, home: &Path) -> Result<Held> {
    let entries = |path: String| Ok::<_, std::io::Error>(std::fs::read_dir(path)?.count());
    Ok(Held {
        open_files: entries(format!("/proc/{pid}/fd"))?,
        threads: entries(format!("/proc/{pid}/task"))?,
        processes: usage::processes(pid)?,
        temporary_files: std::fs::read_dir(temporary)?.count(),
        // The ledger is to have a line for each answer.
        home_mb: rounded((size(home) - size(&home.join("usage"))) as f64 / 1e6),
    })
}

/// The bytes of all files below a directory. Files may vanish meanwhile.
fn size(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let size_of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size_of).sum()
}

/// A client that stays, and what it works on.
struct Work {
    url: String,
    directory: Value,
    peer: Peer,
    inbox: Inbox,
    threads: Vec<String>,
    forks: VecDeque<String>,
    /// Threads whose turn waits for the answer to an approval.
    unanswered: VecDeque<String>,
    archived: VecDeque<String>,
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
            forks: VecDeque::new(),
            unanswered: VecDeque::new(),
            archived: VecDeque::new(),
            left: None,
            turns: 0,
        };
        for _ in 0..THREADS {
            let thread = work.thread().await?;
            work.threads.push(thread);
        }
        Ok(work)
    }

    /// From now on as many threads are loaded and stored after a second as before it.
    fn is_settled(&self) -> bool {
        self.unanswered.len() == UNANSWERED && self.archived.len() == ARCHIVED
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
        self.archive(Some(oldest)).await?;
        let thread = self.thread().await?;
        self.threads.push(thread);
        self.visit().await?;
        self.leave_an_approval().await?;
        self.lose_an_mcp_server().await?;
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
        self.forks.push_back(fork);
        match self.forks.len() > FORKS {
            true => {
                let oldest = self.forks.pop_front();
                self.archive(oldest).await
            }
            false => Ok(()),
        }
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
        let before = self.left.take();
        self.archive(before).await?;
        let params = json!({"cwd": self.directory});
        let is_delta =
            |it: &Event| matches!(it, Event::Notification(it) if it.method.ends_with("/delta"));
        self.left = Some(self.visitor(&params, SLOW, is_delta).await?);
        Ok(())
    }

    /// Another client leaves when its turn asks whether a command may run.
    async fn leave_an_approval(&mut self) -> Result<()> {
        let params = json!({"cwd": self.directory, "approvalPolicy": "untrusted"});
        let is_question = |it: &Event| matches!(it, Event::Request(_));
        let thread = self.visitor(&params, TOUCH, is_question).await?;
        self.unanswered.push_back(thread);
        match self.unanswered.len() > UNANSWERED {
            true => {
                let oldest = self.unanswered.pop_front();
                self.archive(oldest).await
            }
            false => Ok(()),
        }
    }

    /// Another client starts a thread and a turn in it, and leaves after an event; the thread's id.
    async fn visitor(
        &self,
        thread: &Value,
        prompt: &str,
        last: impl Fn(&Event) -> bool,
    ) -> Result<String> {
        let (visitor, mut inbox) = client(&self.url).await?;
        let started = visitor.call("thread/start", thread).within(PATIENCE);
        let thread = id(&serde_json::from_slice(started.await?.as_bytes())?)?;
        let params = turn_params(&thread, prompt);
        visitor.call("turn/start", &params).within(PATIENCE).await?;
        loop {
            match tokio::time::timeout(PATIENCE, inbox.next()).await? {
                Some(event) if last(&event) => break,
                Some(_) => {}
                None => return Err("the connection of a visitor ended".into()),
            }
        }
        visitor.close();
        Ok(thread)
    }

    /// A thread has an MCP server of its own, which dies in the middle of a call.
    async fn lose_an_mcp_server(&mut self) -> Result<()> {
        let server = json!({"command": "sh", "args": ["-c", DYING]});
        let params = json!({"cwd": self.directory, "config": {"mcp_servers.dying": server}});
        let thread = id(&self.call("thread/start", &params).await?)?;
        self.turn(&thread, MCP_CALL).await?;
        self.archive(Some(thread)).await
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

    /// Archives a thread, and deletes the one that was archived first if there are too many.
    async fn archive(&mut self, thread: Option<String>) -> Result<()> {
        let Some(thread) = thread else { return Ok(()) };
        let params = json!({"threadId": thread});
        self.call("thread/archive", &params).await?;
        self.archived.push_back(thread);
        let oldest = self
            .archived
            .front()
            .filter(|_| self.archived.len() > ARCHIVED);
        let Some(oldest) = oldest else { return Ok(()) };
        let params = json!({"threadId": oldest});
        self.call("thread/delete", &params).await?;
        self.archived.pop_front();
        Ok(())
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
