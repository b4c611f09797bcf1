//! Processes that die in the middle of writing, and processes that write at the same time.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use quipu_journal::{Record, Replay, Store};
use serde_json::json;

use crate::support::{id, meta, resume, store};

const HOME: &str = "QUIPU_TEST_HOME";
const WRITER: &str = "QUIPU_TEST_WRITER";
const BATCHES: &str = "QUIPU_TEST_BATCHES";

/// Starts this test binary again, to run [`writer`] as another process.
#[expect(
    clippy::disallowed_methods,
    reason = "the test is about the death of another process"
)]
fn spawn(home: &Path, writer: u64, batches: u64) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::writer", "--nocapture"])
        .env(HOME, home)
        .env(WRITER, writer.to_string())
        .env(BATCHES, batches.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Three records of one batch, of very different sizes.
fn batch(writer: u64, number: u64) -> Vec<Record> {
    let record = |part: u64, size: usize| {
        let text = "x".repeat(size);
        Record::ResponseItem(
            json!({"writer": writer, "batch": number, "part": part, "text": text}).into(),
        )
    };
    vec![
        record(0, 10),
        record(1, (number as usize * 7919) % 300_000),
        record(2, 10),
    ]
}

/// Not a test of its own: what the processes made by [`spawn`] do. It tells the number of each
/// batch that it has flushed.
#[test]
fn writer() {
    let Some(home) = env::var_os(HOME).map(PathBuf::from) else {
        return;
    };
    let number = |name| env::var(name).unwrap().parse::<u64>().unwrap();
    let store = store(&home);
    let mut log = open(&store);
    let (writer, batches) = (number(WRITER), number(BATCHES));
    for batch_number in 0..batches {
        log.append(&batch(writer, batch_number)).unwrap();
        if batch_number % 8 == 0 {
            log.sync().unwrap()
        } else {
            log.flush().unwrap()
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "flushed {batch_number}").unwrap();
        out.flush().unwrap();
    }
}

fn open(store: &Store) -> quipu_journal::Log {
    resume(store, &store.find(id(1)).unwrap().unwrap())
}

/// The `(writer, batch)` of every whole batch in the file, which must lie together.
fn batches(path: &Path) -> Vec<(u64, u64)> {
    let replay = Replay::open(path).unwrap();
    let loaded = replay.history.load(path).unwrap();
    assert_eq!(loaded.warnings.count, 0);
    let parts: Vec<_> = loaded
        .items
        .iter()
        .map(|item| {
            let item = item.to_value();
            let number = |name: &str| item[name].as_u64().unwrap();
            (number("writer"), number("batch"), number("part"))
        })
        .collect();
    let mut whole = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let together = parts[place..].iter().take(3).copied();
        if together.eq((0..3).map(|number| (part.0, part.1, number))) {
            whole.push((part.0, part.1));
        }
    }
    whole
}

#[test]
fn a_killed_writer_loses_nothing_it_had_flushed() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    log.flush().unwrap();
    log.close().unwrap();
    let mut acknowledged = Vec::new();
    for round in 0..100_u64 {
        let mut child = spawn(home.path(), round, u64::MAX);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The moment varies with the number of batches awaited and with where the writer is by
        // the time the signal arrives.
        let awaited = round * 13 % 7;
        for _ in 0..=awaited {
            let number = loop {
                let line = lines.next().unwrap().unwrap();
                if let Some((_, number)) = line.split_once("flushed ") {
                    break number.parse().unwrap();
                }
            };
            acknowledged.push((round, number));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let found = batches(log.path());
    for batch in &acknowledged {
        assert!(found.contains(batch), "{batch:?} was flushed and is gone");
    }
    // The file is good for more.
    log.append(&batch(100, 0)).unwrap();
    log.sync().unwrap();
    assert_eq!(batches(log.path()).last(), Some(&(100, 0)));
}

/// Adds the lines of batches as programs do that know no lock.
fn add_unlocked(path: &Path, batches: u64) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    for number in 0..batches {
        let part = |part: u64| {
            let item = json!({"writer": 9, "batch": number, "part": part, "text": "y"});
            json!({"timestamp": "t", "type": "response_item", "payload": item}).to_string() + "\n"
        };
        let lines: String = (0..3).map(part).collect();
        file.write_all(lines.as_bytes()).unwrap();
    }
}

#[test]
fn a_program_that_knows_no_lock_and_we_keep_our_batches_whole() {
    const COUNT: u64 = 150;
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    log.flush().unwrap();
    log.close().unwrap();
    let mut writer = spawn(home.path(), 0, COUNT);
    let mut messages = BufReader::new(writer.stdout.take().unwrap());
    while !{
        let mut line = String::new();
        messages.read_line(&mut line).unwrap();
        line.contains("flushed 0")
    } {}
    add_unlocked(log.path(), 20 * COUNT);
    std::io::copy(&mut messages, &mut std::io::sink()).unwrap();
    assert!(writer.wait().unwrap().success());
    assert_eq!(Replay::open(log.path()).unwrap().warnings.count, 0);
    let mut found = batches(log.path());
    for (writer, count) in [(0, COUNT), (9, 20 * COUNT)] {
        let own = found.iter().filter(|batch| batch.0 == writer);
        assert!(own.map(|batch| batch.1).eq(0..count));
    }
    found.dedup_by_key(|batch| batch.0);
    assert!(found.len() > 2, "the writers never ran at the same time");
}

#[test]
fn a_thread_has_one_writer_among_all_processes() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    log.flush().unwrap();
    log.close().unwrap();
    let path = log.path().to_owned();
    let mut other = spawn(home.path(), 0, u64::MAX);
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().contains("flushed 0") {}

    let refused = format!("thread {} already has an active writer", id(1));
    assert_eq!(store.resume(&path).unwrap_err().to_string(), refused);
    assert_eq!(store.archive(id(1)).unwrap_err().to_string(), refused);
    log.append(&batch(1, 0)).unwrap();
    assert_eq!(log.flush().unwrap_err().to_string(), refused);
    store.replay(&path).unwrap();
    store.set_name(id(1), "a name").unwrap();
    drop(store.fork(&path, meta(id(2))).unwrap());

    other.kill().unwrap();
    other.wait().unwrap();
    log.flush().unwrap();
    assert_eq!(batches(&path).last(), Some(&(1, 0)));
    store.archive(id(1)).unwrap();
}

#[test]
fn lock_files_go_with_their_locks() {
    let home = tempfile::tempdir().unwrap();
    let locks = home.path().join("thread-writer-locks");
    let names = || -> Vec<_> {
        let entries = fs::read_dir(&locks).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    assert!(!locks.exists(), "a thread that is not on disk has no lock");
    log.flush().unwrap();
    let held = format!("{}.lock", id(1));
    assert_eq!(names(), [held.as_str()]);
    // In one process, a thread that is loaded again while it is unloaded keeps the lock.
    let again = resume(&store, log.path());
    log.close().unwrap();
    assert!(names().contains(&held.as_str().into()));
    drop(again);
    assert_eq!(names(), [".coordination.lock"]);
}
