//! The laws, checked on what was said on the wire and on what is stored. One checker for every cell and
//! every kill; it knows nothing of the fault.

use std::collections::{BTreeMap, BTreeSet};

use quipu_journal::Replay;
use quipu_wire::TurnStatus;
use serde_json::Value;

use crate::ground::{Ground, SECRET};
use crate::wire::{Entry, Tried, Wire};

macro_rules! ensure {
    ($holds:expr, $($otherwise:tt)+) => {
        if !$holds {
            return Err(format!($($otherwise)+));
        }
    };
}

/// The most memory that a server may ever have here. A cell keeps little; what a client asks for and does
/// not read, or a model sends without end, must not add up.
const MEMORY_KIB: u64 = 256 << 10;

/// What was said on one connection.
pub struct Said {
    entries: Vec<Entry>,
    /// The connection lasted until everything was said.
    is_whole: bool,
    /// The client joined a thread that may have been at work.
    is_joined: bool,
}

impl Said {
    pub fn new(wire: &Wire, is_whole: bool) -> Said {
        let entries = wire.entries();
        let is_joined = entries.iter().any(|it| it.method() == "thread/resume");
        Said {
            entries,
            is_whole,
            is_joined,
        }
    }

    /// Whether it told of an item that was done.
    pub fn has_items(&self) -> bool {
        self.told().any(|it| it.method() == "item/completed")
    }

    /// What was reported of one thread.
    pub fn of_thread(&self, id: &str) -> Said {
        let of_thread = self
            .told()
            .filter(|it| it.message["params"]["threadId"] == *id);
        Said {
            entries: of_thread.cloned().collect(),
            is_whole: self.is_whole,
            is_joined: self.is_joined,
        }
    }

    fn told(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|it| it.from_server)
    }
}

/// Laws 1 and 4: on each connection, and for turns over all of them.
pub fn check_wire(said: &[Said]) -> Tried<()> {
    for connection in said {
        requests(connection)?;
        questions(connection)?;
        items(connection)?;
    }
    let accepted: BTreeSet<&str> = said.iter().flat_map(accepted).collect();
    let is_whole = said.last().is_some_and(|it| it.is_whole);
    for turn in accepted {
        let ends = |connection: &Said| {
            let ends = connection
                .told()
                .filter(|it| it.method() == "turn/completed");
            ends.filter(|it| it.turn() == turn).count()
        };
        let most = said.iter().map(ends).max().unwrap_or_default();
        ensure!(most <= 1, "law 1: turn {turn} ended {most} times");
        ensure!(most == 1 || !is_whole, "law 1: turn {turn} did not end");
    }
    Ok(())
}

/// The turns that the server took on.
fn accepted(connection: &Said) -> impl Iterator<Item = &str> {
    connection.told().filter_map(|entry| {
        let answered = entry.message["result"]["turn"]["id"].as_str();
        let started = (entry.method() == "turn/started").then(|| entry.turn());
        answered.or(started).filter(|turn| !turn.is_empty())
    })
}

/// Every request is answered once.
fn requests(connection: &Said) -> Tried<()> {
    let mut asked: BTreeMap<i64, (String, usize)> = BTreeMap::new();
    for entry in &connection.entries {
        // Ids that are texts belong to floods and half lines.
        let Some(id) = entry.message["id"].as_i64() else {
            continue;
        };
        if !entry.from_server && entry.is_request() {
            asked.insert(id, (entry.method().to_owned(), 0));
        } else if entry.from_server && entry.is_answer() {
            let (method, answers) = asked
                .get_mut(&id)
                .ok_or_else(|| format!("law 4: an answer to {id}, which was not asked"))?;
            *answers += 1;
            ensure!(*answers == 1, "law 4: {method} was answered twice");
        }
    }
    let open = asked.values().find(|(_, answers)| *answers == 0);
    match open {
        Some((method, _)) if connection.is_whole => {
            Err(format!("law 4: {method} was not answered"))
        }
        _ => Ok(()),
    }
}

/// Every question of the server is resolved once.
fn questions(connection: &Said) -> Tried<()> {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for entry in connection.told() {
        if entry.is_request() {
            let known = asked.insert(entry.message["id"].to_string(), 0);
            ensure!(
                known.is_none(),
                "law 4: {} was asked twice",
                entry.message["id"]
            );
        } else if entry.method() == "serverRequest/resolved" {
            let id = entry.message["params"]["requestId"].to_string();
            let resolved = asked
                .get_mut(&id)
                .ok_or_else(|| format!("law 4: {id} was resolved but not asked"))?;
            *resolved += 1;
            ensure!(*resolved == 1, "law 4: {id} was resolved twice");
        }
    }
    let open = asked.iter().find(|(_, resolved)| **resolved == 0);
    match open {
        Some((id, _)) if connection.is_whole => Err(format!("law 4: {id} was never resolved")),
        _ => Ok(()),
    }
}

/// Names an item: the two ends of a review share an id.
fn key(turn: &str, id: &str, kind: &str) -> String {
    format!("{turn} {id} {kind}")
}

fn key_of(turn: &str, item: &Value) -> String {
    key(turn, &text(&item["id"]), &text(&item["type"]))
}

#[derive(Debug)]
struct Item {
    turn: String,
    kind: String,
    is_complete: bool,
}

/// An item starts, grows and completes, in this order, and nothing of a turn comes after its end.
fn items(connection: &Said) -> Tried<()> {
    let mut items: BTreeMap<String, Item> = BTreeMap::new();
    let mut over: BTreeSet<String> = BTreeSet::new();
    for entry in connection.told().filter(|it| !it.is_answer()) {
        let params = &entry.message["params"];
        let (method, turn) = (entry.method(), entry.turn());
        match method {
            "item/started" => {
                let id = text(&params["item"]["id"]);
                let item = Item {
                    turn: turn.to_owned(),
                    kind: text(&params["item"]["type"]),
                    is_complete: false,
                };
                ensure!(
                    !over.contains(turn),
                    "law 1: {item:?} started after its turn"
                );
                let known = items.insert(key(turn, &id, &item.kind), item);
                ensure!(known.is_none(), "law 1: {known:?} started twice");
            }
            "item/completed" => {
                let item = &params["item"];
                let key = key_of(turn, item);
                complete(&mut items, key, turn, &params["item"], connection.is_joined)?;
            }
            "turn/started" => ensure!(!over.contains(turn), "law 1: {turn} started after its end"),
            "turn/completed" => {
                ensure!(over.insert(turn.to_owned()), "law 1: {turn} ended twice");
                all_complete(&items, turn, &params["turn"])?;
            }
            _ if method.starts_with("item/")
                && params["itemId"].is_string()
                && !entry.is_request() =>
            {
                let begin = format!("{turn} {} ", text(&params["itemId"]));
                let item = items.iter().find(|(key, _)| key.starts_with(&begin));
                let item = item.map(|(_, item)| item);
                let is_open = item.is_some_and(|it| !it.is_complete);
                let is_fine = is_open || (item.is_none() && connection.is_joined);
                ensure!(is_fine, "law 1: {method} outside of its item {item:?}");
            }
            _ => {}
        }
    }
    Ok(())
}

fn complete(
    items: &mut BTreeMap<String, Item>,
    key: String,
    turn: &str,
    item: &Value,
    is_joined: bool,
) -> Tried<()> {
    if is_joined && !items.contains_key(&key) {
        let known = Item {
            turn: turn.to_owned(),
            kind: text(&item["type"]),
            is_complete: false,
        };
        items.insert(key.clone(), known);
    }
    let started = items.get_mut(&key);
    let started = started.ok_or_else(|| format!("law 1: {item} completed but never started"))?;
    ensure!(!started.is_complete, "law 1: {started:?} completed twice");
    started.is_complete = true;
    Ok(())
}

/// When a turn ends its items are complete. A command may outlive it, and what a disk does not take is not told
/// as done; what is too long for a record is no excuse.
fn all_complete(items: &BTreeMap<String, Item>, turn: &str, end: &Value) -> Tried<()> {
    let error = end["error"]["message"].as_str().unwrap_or_default();
    if error.contains("cannot be stored") && !error.contains("a record of") {
        return Ok(());
    }
    let mut of_turn = items.values().filter(|it| it.turn == turn);
    let open = of_turn.find(|it| !it.is_complete && it.kind != "commandExecution");
    match open {
        Some(item) => Err(format!("law 1: {item:?} is open at the end of its turn")),
        None => Ok(()),
    }
}

/// Law 2: what was told is read back, and no turn is open.
pub fn check_stored(said: &[Said], thread: &Value) -> Tried<()> {
    let mut turns: BTreeMap<String, &Value> = BTreeMap::new();
    for turn in thread["turns"].as_array().into_iter().flatten() {
        let id = text(&turn["id"]);
        ensure!(
            turn["status"] != "inProgress",
            "law 1: turn {id} is open after a reload"
        );
        ensure!(
            turns.insert(id.clone(), turn).is_none(),
            "law 2: turn {id} is stored twice"
        );
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut messages: BTreeMap<(String, String), usize> = BTreeMap::new();
    for entry in said.iter().flat_map(Said::told) {
        let params = &entry.message["params"];
        let turn = entry.turn().to_owned();
        match entry.method() {
            "turn/completed" => {
                let stored = turns.get(&turn);
                let stored = stored.ok_or_else(|| format!("law 2: turn {turn} is not stored"))?;
                let (messages, found) = (&params["turn"]["status"], &stored["status"]);
                ensure!(
                    messages == found,
                    "law 2: turn {turn} was messages {messages} and is stored {found}"
                );
            }
            // Two connections may have heard the same.
            "item/completed" if seen.insert(key_of(&turn, &params["item"])) => {
                *messages
                    .entry((turn, essence(&params["item"])))
                    .or_default() += 1;
            }
            _ => {}
        }
    }
    for ((turn, item), count) in messages {
        let stored = turns.get(&turn).and_then(|it| it["items"].as_array());
        let stored: Vec<String> = stored.into_iter().flatten().map(essence).collect();
        let found = stored.iter().filter(|it| **it == item).count();
        ensure!(
            found >= count,
            "law 2: {item} was messages and is not stored; stored: {stored:?}"
        );
    }
    Ok(())
}

/// What an item says, without what a reload makes again.
fn essence(item: &Value) -> String {
    let kind = text(&item["type"]);
    let rest = match kind.as_str() {
        "userMessage" => item["content"][0]["text"].to_string(),
        "agentMessage" | "plan" => item["text"].to_string(),
        "reasoning" => item["summary"].to_string(),
        "enteredReviewMode" | "exitedReviewMode" => item["review"].to_string(),
        "commandExecution" => format!("{} {} {}", item["id"], item["status"], item["exitCode"]),
        "fileChange" | "dynamicToolCall" | "mcpToolCall" => {
            format!("{} {}", item["id"], item["status"])
        }
        _ => String::new(),
    };
    format!("{kind} {rest}")
}

/// The rollout reads whole, and the turn that the last server ran is the last in it, and ended.
pub fn check_journal(ground: &Ground, thread: &str, is_damaged: bool) -> Tried<()> {
    let rollouts = ground.files(|name| name.contains(thread) && name.ends_with(".jsonl"));
    ensure!(
        rollouts.len() == 1,
        "law 2: rollouts of the thread: {rollouts:?}"
    );
    let replay = Replay::open(&rollouts[0]).map_err(|error| format!("law 2: {error}"))?;
    let last = replay.turns.last().map(|turn| turn.status);
    ensure!(
        last == Some(TurnStatus::Completed),
        "law 1: the last turn is stored as {last:?}"
    );
    let is_sound = is_damaged || replay.warnings.count == 0;
    ensure!(
        is_sound,
        "law 2: the rollout is damaged: {:?}",
        replay.warnings
    );
    Ok(())
}

/// Law 5: memory was bounded all the time.
pub fn check_bounds(peak_kib: u64) -> Tried<()> {
    ensure!(
        peak_kib <= MEMORY_KIB,
        "law 5: the server had {peak_kib} KiB of memory"
    );
    Ok(())
}

/// Law 7: the key reached the model, and neither a client, nor the log, nor a file.
pub fn check_secrets(said: &[Said], log: &str, ground: &Ground) -> Tried<()> {
    let sent = ground.model.requests();
    let has_key = |header: Option<&String>| header.is_some_and(|it| it.contains(SECRET));
    ensure!(
        sent.iter()
            .any(|it| has_key(it.headers.get("authorization"))),
        "law 7: the model was never given its key, so nothing is tested"
    );
    ensure!(!log.contains(SECRET), "law 7: the key is in the log");
    for entry in said.iter().flat_map(Said::told) {
        let message = entry.message.to_string();
        ensure!(!message.contains(SECRET), "law 7: the key is in {message}");
    }
    for path in ground.files(|_| true) {
        // It leads out of the home, and if to this program, then to the key that is written in it.
        if path.is_symlink() {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        let mut windows = bytes.windows(SECRET.len());
        ensure!(
            !windows.any(|it| it == SECRET.as_bytes()),
            "law 7: the key is in {}",
            path.display()
        );
    }
    Ok(())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
