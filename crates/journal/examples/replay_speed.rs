//! Measures how fast a long thread is read back: `replay_speed [turns] [rollout]`. Not a test: the
//! numbers are for people.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use quipu_journal::event::{AgentMessage, TaskComplete, TaskStarted, UserMessage};
use quipu_journal::{Event, Record, Replay, SessionMeta, Store, StoreOptions};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let turns: usize = arguments.next().map_or(Ok(400), |turns| turns.parse())?;
    let home = tempfile::tempdir()?;
    let path = match arguments.next() {
        Some(path) => PathBuf::from(path),
        None => write(home.path(), turns)?,
    };
    for _ in 0..3 {
        let start = Instant::now();
        let replay = Replay::open(&path)?;
        let replayed = start.elapsed();
        let history = replay.history.load(&path)?;
        eprintln!(
            "{} bytes, {} turns: replayed in {:.1?}, {} items loaded in {:.1?}, {} warnings",
            fs::metadata(&path)?.len(),
            replay.turns.len(),
            replayed,
            history.items.len(),
            start.elapsed() - replayed,
            replay.warnings.count,
        );
    }
    Ok(())
}

fn write(home: &Path, turns: usize) -> Result<PathBuf, Box<dyn Error>> {
    let id = "01a1de06-9491-7e71-ac1f-03e96ae2351f".parse()?;
    let meta = SessionMeta::new(id, SystemTime::now(), "/project");
    let mut log = Store::open(home, StoreOptions::default()).create(meta)?;
    let mut written = Vec::new();
    for number in 0..turns {
        let text = format!("question {number}, with enough words to be worth an answer");
        let reply = "An answer of some length, with \"quotes\" and\nnew lines. ".repeat(40);
        let id = number.to_string();
        let item = |role: &str, text: &str| {
            Record::ResponseItem(json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}).into())
        };
        let usage = json!({"type": "token_count", "info": {"total_token_usage": {"total_tokens": number}, "last_token_usage": {}, "model_context_window": 258_400}, "rate_limits": null});
        let records = [
            Event::TaskStarted(TaskStarted {
                turn_id: id.clone(),
                model_context_window: None,
                collaboration_mode_kind: "default".into(),
            })
            .into(),
            item("user", &text),
            Event::UserMessage(UserMessage {
                message: text,
                ..UserMessage::default()
            })
            .into(),
            Event::Other(usage.clone().into()).into(),
            Event::AgentMessage(AgentMessage {
                message: reply.clone(),
                ..AgentMessage::default()
            })
            .into(),
            item("assistant", &reply),
            Event::Other(usage.into()).into(),
            Event::TaskComplete(TaskComplete {
                turn_id: id,
                last_agent_message: Some(reply),
                error: None,
            })
            .into(),
        ];
        log.append(&records)?;
        let start = Instant::now();
        log.flush()?;
        let flushed = start.elapsed();
        log.sync()?;
        written.push((flushed, start.elapsed() - flushed));
    }
    written.sort();
    let (flush, sync) = written[turns / 2];
    eprintln!("one turn: flushed in {flush:.1?}, synced in {sync:.1?} (median)");
    // The home is removed when this process ends, so the file is read while it runs.
    Ok(log.path().to_owned())
}
