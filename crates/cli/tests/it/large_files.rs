//! Large files cost little memory: one that is read passes through the server once, as the message that
//! leaves, and of a long rollout only what is shown is held.

use std::io::Write as _;
use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};

use crate::support::{app_server, converse, server_in};

/// The most memory that a process had, in bytes.
fn most_memory(pid: i32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn reading_a_large_file_needs_its_message_and_little_more() {
    let mut server = app_server([]).start();
    let mut raw = Raw::new(server.stdio());
    converse(&mut raw).await;
    let file = server.directory().join("large");
    let content = vec![b'x'; 12 << 20];
    std::fs::write(&file, &content).unwrap();
    let before = most_memory(server.pid());
    let request = json!({ "id": 3, "method": "fs/readFile", "params": { "path": file } });
    let answer = raw.call(&request).await;
    let encoded = answer["result"]["dataBase64"].as_str().unwrap().len();
    assert_eq!(encoded, content.len() / 3 * 4);
    let used = most_memory(server.pid()) - before;
    assert!(
        used < encoded * 3 / 2,
        "{used} bytes for a message of {encoded}"
    );
}

const MEGABYTE: usize = 1 << 20;

/// Stores a thread of so many turns, in each of which the model saw a megabyte that clients do not see.
fn store(home: &Path, id: &str, turns: usize) {
    let directory = home.join("sessions/2026/01/02");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(format!("rollout-2026-01-02T10-00-00-{id}.jsonl"));
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut put = |kind: &str, payload: Value| {
        let stamp = "2026-01-02T10:00:00.000Z";
        let line = json!({ "timestamp": stamp, "type": kind, "payload": payload });
        writeln!(file, "{line}").unwrap();
    };
    put(
        "session_meta",
        json!({ "id": id, "timestamp": "2026-01-02T10:00:00.000Z", "cwd": home, "originator": "test",
            "cli_version": "0.118.0", "source": "cli", "model_provider": "offline" }),
    );
    for turn in 0..turns {
        let turn_id = format!("turn {turn}");
        put(
            "event_msg",
            json!({ "type": "task_started", "turn_id": turn_id }),
        );
        put(
            "event_msg",
            json!({ "type": "user_message", "message": turn_id }),
        );
        let output = "x".repeat(MEGABYTE);
        put(
            "response_item",
            json!({ "type": "function_call_output", "call_id": turn_id, "output": output }),
        );
        put(
            "event_msg",
            json!({ "type": "task_complete", "turn_id": turn_id }),
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_thread_comes_back_in_little_memory() {
    const TURNS: usize = 64;
    let home = tempfile::tempdir().unwrap();
    let id = "0193a000-0000-7000-8000-000000000001";
    store(home.path(), id, TURNS);
    let mut server = server_in(&home);
    let mut client = Conversation::start(server.stdio()).await;
    let before = most_memory(server.pid());
    let page = client.call("thread/list", json!({})).await;
    assert_eq!(page["data"][0]["preview"], "turn 0");
    let named = json!({ "threadId": id, "includeTurns": true });
    for method in ["thread/read", "thread/resume"] {
        let thread = client.call(method, named.clone()).await["thread"].take();
        assert_eq!(thread["turns"].as_array().unwrap().len(), TURNS);
    }
    let used = most_memory(server.pid()) - before;
    assert!(
        used < TURNS * MEGABYTE / 4,
        "{used} bytes for {TURNS} MB of history"
    );
}
