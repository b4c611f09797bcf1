//! `kill -9` at any moment of a turn: nothing that was told is lost, no turn stays open, no process is
//! left, and the thread goes on in the next server.

use std::collections::BTreeMap;
use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::processes::{gone, marker};
use crate::support::app_server;

/// Rounds of an ordinary run, and of a long one.
const ROUNDS: (u64, u64) = (20, 100);
/// About how many messages a whole turn has.
const MESSAGES: u64 = 45;

/// A server on a home that outlives it.
pub fn server_in(home: &TempDir) -> ServerProcess {
    let path = home.path().to_str().unwrap();
    app_server([]).env("QUIPU_HOME", path).start()
}

/// A turn with words, commands that stay, and a patch.
fn busy(mark: &str, round: u64) -> String {
    let stays = format!("echo {mark}; (setsid sleep {mark} &) ; sleep {mark}");
    let patch = format!("*** Begin Patch\n*** Add File: file-{round}\n+x\n*** End Patch");
    let call = |cmd: &str| json!({ "name": "exec_command", "arguments": { "cmd": cmd, "yield_time_ms": 250 } });
    let script = json!({ "script": [
        { "reasoning": "Hm.", "deltas": ["so ", "it ", "begins"], "calls": [call("echo quick")] },
        { "calls": [call(&stays)] },
        { "patch": patch },
        { "deltas": 12, "calls": [call("echo more")] },
        { "text": "done" },
    ] });
    script.to_string()
}

/// Counts what was told as completed, by thread and kind.
fn count(told: &[Value], counts: &mut BTreeMap<String, usize>) {
    for message in told.iter().filter(|it| it["method"] == "item/completed") {
        let kind = message["params"]["item"]["type"].as_str().unwrap();
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
}

/// A number that differs from round to round, the same in every run.
fn scatter(round: u64) -> u64 {
    round
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
        .wrapping_mul(0xBF58_476D_1CE4_E5B9)
        >> 33
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_loses_nothing_it_told() {
    let rounds = if std::env::var_os("QUIPU_SOAK").is_some() {
        ROUNDS.1
    } else {
        ROUNDS.0
    };
    let home = tempfile::tempdir().unwrap();
    let settings = "model_provider = \"offline\"\nsandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n";
    std::fs::write(home.path().join("config.toml"), settings).unwrap();
    let mut thread: Option<String> = None;
    let mut counts = BTreeMap::new();
    for round in 0..rounds {
        let mut process = server_in(&home);
        let mut client = Conversation::start(process.stdio()).await;
        if let Some(id) = &thread {
            check(&mut client, id, &counts, round).await;
        }
        // Every fifth round begins a thread of its own.
        let id = match thread.take().filter(|_| round % 5 != 0) {
            Some(id) => id,
            None => {
                counts.clear();
                let started = client
                    .call("thread/start", json!({ "cwd": home.path() }))
                    .await;
                started["thread"]["id"].as_str().unwrap().to_owned()
            }
        };
        let mark = marker();
        let input = json!([{ "type": "text", "text": busy(&mark, round) }]);
        client
            .ask("turn/start", json!({ "threadId": id, "input": input }))
            .await;
        let mut told = Vec::new();
        for _ in 0..scatter(round) % MESSAGES {
            let message = client.next().await;
            let is_over = message["method"] == "turn/completed";
            told.push(message);
            if is_over {
                break;
            }
        }
        process.signal(Signal::KILL);
        process.exit().await;
        // What is still in the pipe was told as well.
        told.extend(client.rest().await);
        count(&told, &mut counts);
        gone(&mark, std::time::Instant::now()).await;
        let was_stored =
            told.iter().any(|it| it["method"] == "item/completed") || !counts.is_empty();
        thread = was_stored.then_some(id);
    }
    assert!(rollouts(home.path()) >= usize::try_from(rounds / 10).unwrap());
}

/// The thread is there, whole and at rest, and goes on.
async fn check(client: &mut Conversation, id: &str, counts: &BTreeMap<String, usize>, round: u64) {
    let resumed = client
        .call("thread/resume", json!({ "threadId": id }))
        .await;
    let turns = resumed["thread"]["turns"].as_array().unwrap();
    assert!(
        turns.iter().all(|turn| turn["status"] != "inProgress"),
        "round {round}: a turn is open"
    );
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for item in turns
        .iter()
        .flat_map(|turn| turn["items"].as_array().unwrap())
    {
        *found
            .entry(item["type"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    let is_there = |(kind, count): (&String, &usize)| found.get(kind).is_some_and(|it| it >= count);
    assert!(
        counts.iter().all(is_there),
        "round {round}: told {counts:?}, found {found:?}"
    );
    let input = json!([{ "type": "text", "text": "{\"script\":[{\"text\":\"alive\"}]}" }]);
    client
        .call("turn/start", json!({ "threadId": id, "input": input }))
        .await;
    let ended = client.skip_to("turn/completed").await;
    assert_eq!(
        ended["params"]["turn"]["status"], "completed",
        "round {round}"
    );
}

fn rollouts(home: &Path) -> usize {
    let mut folders = vec![home.join("sessions")];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => count += 1,
            }
        }
    }
    count
}
