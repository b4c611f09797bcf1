//! Threads of the newer official program: what it stored is read as it reads it itself, and what is added
//! keeps to its form. The files were recorded and shortened.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use quipu_journal::{Query, Replay, Store};
use quipu_wire::Turn;
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{fixture, id, meta, replay, rollout_of, store};

pub const THREAD: &str = "01a1e286-dfa3-7c80-9568-67f3be9a7310";
pub const SEGMENT: &str = "01a1e286-e578-7013-a13d-248c9efd5f2c";
const FORK: &str = "01a1e286-e648-7622-90f2-5a8eb60cd33f";
pub const SECOND_FORK: &str = "01a1e286-e740-7693-9f67-488a5a6e5a13";

/// A home with the recorded threads: one that was reverted once, a fork of it, and a fork of that.
pub fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/11/16");
    fs::create_dir_all(&day).unwrap();
    for file in fs::read_dir(fixture("paginated")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("rollout-") {
            fs::copy(&path, day.join(name)).unwrap();
        }
    }
    home
}

pub fn uuid(text: &str) -> Uuid {
    Uuid::parse_str(text).unwrap()
}

pub fn find(store: &Store, thread: &str) -> PathBuf {
    store.find(uuid(thread)).unwrap().unwrap()
}

fn recorded(name: &str) -> Value {
    let read = fs::read_to_string(fixture("paginated/read-by-codex.json")).unwrap();
    serde_json::from_str::<Value>(&read).unwrap()[name].take()
}

pub fn turns_of(replay: Replay) -> Value {
    let mut replay = replay;
    replay.settle();
    serde_json::to_value::<&[Turn]>(&replay.turns).unwrap()
}

/// What `theirs` says, `ours` says, too; it may say more.
fn assert_covers(ours: &Value, theirs: &Value, place: &str) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (name, theirs) in theirs {
                if !theirs.is_null() {
                    let place = format!("{place}.{name}");
                    assert_covers(ours.get(name).unwrap_or(&Value::Null), theirs, &place);
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            assert_eq!(ours.len(), theirs.len(), "{place}: {ours:#?}");
            for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                assert_covers(ours, theirs, &format!("{place}[{number}]"));
            }
        }
        _ => assert_eq!(ours, theirs, "{place}"),
    }
}

/// What was said, turn by turn.
pub fn said(turns: &Value) -> Vec<Vec<String>> {
    let words = |item: &Value| match item["type"].as_str().unwrap() {
        "userMessage" => item["content"][0]["text"]
            .as_str()
            .unwrap_or("no words")
            .to_owned(),
        "agentMessage" => item["text"].as_str().unwrap().to_owned(),
        other => other.to_owned(),
    };
    let items = |turn: &Value| {
        turn["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(words)
            .collect()
    };
    turns.as_array().unwrap().iter().map(items).collect()
}

#[test]
fn threads_read_as_the_official_program_reads_them() {
    let home = home();
    let store = store(home.path());
    for (name, thread) in [
        ("thread", THREAD),
        ("fork", FORK),
        ("second fork", SECOND_FORK),
    ] {
        let replay = store.replay(&find(&store, thread)).unwrap();
        assert_eq!(replay.meta.id, uuid(thread));
        assert_eq!(replay.warnings.count, 0, "{:?}", replay.warnings.first);
        let theirs = recorded(name);
        assert_covers(&turns_of(replay), &theirs["turns"], name);
        let summary = store.summary(uuid(thread)).unwrap().unwrap();
        assert_eq!(summary.preview, theirs["preview"].as_str().unwrap());
        assert_eq!(summary.created_at, theirs["createdAt"].as_i64().unwrap());
    }
}

#[test]
fn the_model_gets_the_history_of_all_parts_without_the_notes_of_others() {
    let home = home();
    let store = store(home.path());
    let path = find(&store, SECOND_FORK);
    let replay = store.replay(&path).unwrap();
    let loaded = store.history(&replay.history, &path).unwrap();
    assert_eq!(loaded.warnings.count, 0);
    let items: Vec<Value> = loaded.items.iter().map(|item| item.to_value()).collect();
    let text = serde_json::to_string(&items).unwrap();
    let mut from = 0;
    for words in [
        "first ",
        "second ",
        "third ",
        "fifth",
        "in the fork",
        "in the second fork",
    ] {
        let found = text[from..].find(&format!("\"{words}"));
        from += found.unwrap_or_else(|| panic!("{words} is missing, or in the wrong place"));
    }
    assert!(!text.contains("fourth"), "it was taken back");
    assert!(!text.contains("metadata_passthrough"));
    assert!(items.iter().all(|item| item.get("id").is_none()));
    assert_eq!(replay.context.unwrap().model, "mock-model");
    assert!(replay.usage.is_some());
}

#[test]
fn every_thread_is_listed_once_and_found_by_its_words() {
    let home = home();
    let store = store(home.path());
    let threads = |query: &Query| {
        let page = store.list(query).unwrap();
        let ids = page.threads.iter().map(|thread| thread.id.to_string());
        ids.collect::<Vec<_>>()
    };
    let query = Query::default();
    assert_eq!(threads(&query), [SECOND_FORK, FORK, THREAD]);
    let search = |term: &str| Query {
        search: Some(term.into()),
        ..Query::default()
    };
    assert_eq!(threads(&search("first")), [THREAD]);
    assert_eq!(threads(&search("fourth")), [] as [&str; 0]);
    // A program that does not know better adds to the rollout that was left; nothing changes.
    let left = find(&store, THREAD)
        .with_file_name("rollout-2026-11-16T04-04-12-01a1e286-dfa3-7c80-9568-67f3be9a7310.jsonl");
    let mut file = OpenOptions::new().append(true).open(left).unwrap();
    file.write_all(b"{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"lost\"}}\n").unwrap();
    for sort in [
        quipu_wire::ThreadSortKey::CreatedAt,
        quipu_wire::ThreadSortKey::UpdatedAt,
    ] {
        let listed = threads(&Query {
            sort,
            ..Query::default()
        });
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(listed.len(), 3, "{listed:?}");
    }
    assert!(find(&store, THREAD).to_str().unwrap().contains(SEGMENT));
}

#[test]
fn a_revert_of_another_day_is_found_by_a_store_that_knew_the_thread_before() {
    let home = home();
    let day = home.path().join("sessions/2026/11/16");
    let name = format!("rollout-2026-11-16T04-04-13-{THREAD}_{SEGMENT}.jsonl");
    let segment = fs::read(day.join(&name)).unwrap();
    fs::remove_file(day.join(&name)).unwrap();
    let store = store(home.path());
    assert!(!find(&store, THREAD).to_str().unwrap().contains(SEGMENT));
    let later = home.path().join("sessions/2026/11/20");
    fs::create_dir_all(&later).unwrap();
    let name = later.join(format!(
        "rollout-2026-11-20T04-04-13-{THREAD}_{SEGMENT}.jsonl"
    ));
    fs::write(&name, segment).unwrap();
    assert_eq!(find(&store, THREAD), name);
    assert_eq!(store.summary(uuid(THREAD)).unwrap().unwrap().path, name);
    fs::remove_file(&name).unwrap();
    assert!(!find(&store, THREAD).to_str().unwrap().contains(SEGMENT));
}

#[test]
fn archiving_moves_all_parts_and_forks_stay_readable() {
    let home = home();
    let store = store(home.path());
    let turns = |thread| turns_of(store.replay(&find(&store, thread)).unwrap());
    let (before, fork) = (turns(THREAD), turns(SECOND_FORK));
    let archived = store.archive(uuid(THREAD)).unwrap();
    assert!(archived.to_str().unwrap().contains(SEGMENT));
    assert_eq!(store.find(uuid(THREAD)).unwrap(), None);
    assert_eq!(
        fs::read_dir(home.path().join("archived_sessions"))
            .unwrap()
            .count(),
        2
    );
    assert_eq!(turns(SECOND_FORK), fork);
    let page = store
        .list(&Query {
            archived: true,
            ..Query::default()
        })
        .unwrap();
    assert_eq!(page.threads.len(), 1);
    let back = store.unarchive(uuid(THREAD)).unwrap();
    assert_eq!(find(&store, THREAD), back);
    assert_eq!(turns(THREAD), before);
}

#[test]
fn a_fork_of_ours_is_whole_and_of_the_form_that_every_program_reads() {
    let home = home();
    let store = store(home.path());
    let path = find(&store, SECOND_FORK);
    let fork = store.fork(&path, meta(id(1))).unwrap();
    let text = fs::read_to_string(fork.path()).unwrap();
    assert!(!text.contains("\"ordinal\"") && !text.contains("item_completed"));
    let ours = Replay::open(fork.path()).unwrap();
    assert_eq!(ours.warnings.count, 0, "{:?}", ours.warnings.first);
    let source = store.replay(&path).unwrap();
    let items = |replay: &Replay, path: &Path| store.history(&replay.history, path).unwrap().items;
    assert_eq!(items(&ours, fork.path()), items(&source, &path));
    let without_ids = |replay| {
        let mut turns = turns_of(replay);
        for turn in turns.as_array_mut().unwrap() {
            for item in turn["items"].as_array_mut().unwrap() {
                item["id"] = Value::Null;
            }
        }
        turns
    };
    assert_eq!(without_ids(ours), without_ids(source));
}

/// The official program can turn old rollouts into new ones; it then read them as they are recorded here.
#[test]
fn converted_rollouts_read_as_the_official_program_reads_them() {
    let cases = fs::read_to_string(fixture("paginated/migrated-by-codex.jsonl")).unwrap();
    let mut differ = Vec::new();
    for case in cases.lines() {
        let mut case: Value = serde_json::from_str(case).unwrap();
        let Value::Array(lines) = case["lines"].take() else {
            panic!("no lines");
        };
        let ours = said(&turns_of(replay(&rollout_of(&lines))));
        let theirs = said(&case["turns"]);
        if ours != theirs {
            differ.push(case["name"].as_str().unwrap().to_owned());
        }
    }
    // They show an empty turn for the end of one that never began, and a plan without words; we show an item
    // of a turn that neither began nor ended, and do not lose the turn of an old compaction.
    let known = [
        "aborted_other",
        "complete_other",
        "compacted_only",
        "exec_known_late",
        "review",
        "plan",
    ];
    assert_eq!(differ, known);
}
