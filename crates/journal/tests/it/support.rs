//! What several tests need: homes, records, rollouts.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use quipu_journal::event::{TaskComplete, TaskStarted, ThreadRolledBack, UserMessage};
use quipu_journal::{Event, Log, Record, Replay, SessionMeta, Store, StoreOptions};
use quipu_wire::Json;
use serde_json::{Value, json};
use uuid::Uuid;

pub const STAMP: &str = "2026-11-15T07:05:35.648Z";

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

pub fn store(home: &Path) -> Store {
    Store::open(home, StoreOptions::default())
}

/// Goes on with a thread that is on disk.
pub fn resume(store: &Store, path: &Path) -> Log {
    store.resume(path).unwrap().1
}

/// An id that tells the time of [`STAMP`], as both programs make them.
pub fn id(number: u64) -> Uuid {
    Uuid::parse_str(&format!("01a1de06-9491-7000-8000-{number:012}")).unwrap()
}

pub fn meta(id: Uuid) -> SessionMeta {
    let created = SystemTime::UNIX_EPOCH + Duration::from_millis(1_794_726_335_648);
    let meta = SessionMeta::new(id, created, "/project");
    assert_eq!(meta.timestamp, STAMP);
    meta
}

pub fn started(turn: &str) -> Record {
    let turn_id = turn.into();
    let mode = "default".into();
    Event::TaskStarted(TaskStarted {
        turn_id,
        model_context_window: None,
        collaboration_mode_kind: mode,
    })
    .into()
}

pub fn completed(turn: &str) -> Record {
    Event::TaskComplete(TaskComplete {
        turn_id: turn.into(),
        last_agent_message: None,
        error: None,
    })
    .into()
}

pub fn rolled_back(num_turns: u32) -> Record {
    Event::ThreadRolledBack(ThreadRolledBack { num_turns }).into()
}

pub fn user(text: &str) -> Record {
    Event::UserMessage(UserMessage {
        message: text.into(),
        ..UserMessage::default()
    })
    .into()
}

pub fn item(role: &str, text: &str) -> Record {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    Record::ResponseItem(
        json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}).into(),
    )
}

/// The lines of a turn in which the model answers `reply`.
pub fn turn(id: &str, text: &str, reply: &str) -> Vec<Record> {
    vec![
        started(id),
        item("user", text),
        user(text),
        item("assistant", reply),
        completed(id),
    ]
}

/// Reads a rollout from memory.
pub fn replay(bytes: &[u8]) -> Replay {
    Replay::read(Cursor::new(bytes), Path::new("test")).unwrap()
}

/// The roles and texts of the history a model would continue from.
pub fn texts(replay: &Replay, bytes: &[u8]) -> Vec<String> {
    let loaded = replay.history.read(Cursor::new(bytes)).unwrap();
    assert_eq!(loaded.warnings.count, 0);
    loaded.items.iter().map(text_of).collect()
}

fn text_of(item: &Json) -> String {
    let item = item.to_value();
    let content = item["content"].as_array().cloned().unwrap_or_default();
    let text: String = content
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    let name = item["role"]
        .as_str()
        .or(item["type"].as_str())
        .unwrap_or("?");
    format!("{name}: {text}")
}

/// A rollout of these records, with its `session_meta`, as bytes.
pub fn rollout(records: &[Record]) -> Vec<u8> {
    let home = tempfile::tempdir().unwrap();
    let mut log = store(home.path()).create(meta(id(1))).unwrap();
    log.append(records).unwrap();
    log.flush().unwrap();
    fs::read(log.path()).unwrap()
}

/// A rollout of these JSON lines, with a `session_meta`, as bytes.
pub fn rollout_of(lines: &[Value]) -> Vec<u8> {
    let mut bytes = rollout(&[]);
    for line in lines {
        bytes.extend(line.to_string().into_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// Recorded turns with what we say of commands that were declined without a reason: they have no code or duration.
pub fn declined_did_not_run(turns: &mut Value) {
    let turns = turns.as_array_mut().unwrap().iter_mut();
    for item in turns.flat_map(|turn| turn["items"].as_array_mut().unwrap()) {
        let is_declined = item["type"] == "commandExecution" && item["status"] == "declined";
        if is_declined && item["aggregatedOutput"].is_null() {
            for member in ["exitCode", "durationMs"] {
                item[member] = Value::Null;
            }
        }
    }
}
