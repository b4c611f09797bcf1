//! Every process has an owner: whichever way the owner ends, nothing of a command is left.

use std::time::{Duration, Instant};

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::json;
use tempfile::TempDir;

use crate::kill::server_in;

/// How long something of a command may be left.
const LEFT: Duration = Duration::from_secs(5);

/// A number of seconds that no other process sleeps for, so that it can be found.
pub fn marker() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("86399.{:07}{next:05}", std::process::id())
}

/// The processes whose arguments hold a text.
fn holding(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        if arguments.contains(mark) {
            found.push(arguments);
        }
    }
    found
}

/// Waits until no process holds a text in its arguments. The system tells nobody of the end of
/// processes that are not their own, so it is looked for.
pub async fn gone(mark: &str) {
    let begun = Instant::now();
    let mut looks = tokio::time::interval(Duration::from_millis(5));
    loop {
        let left = holding(mark);
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < LEFT, "left behind: {left:?}");
        looks.tick().await;
    }
}

/// A command that does all it can to stay: it forks twice, leaves its session, ignores every signal.
fn stubborn(mark: &str) -> String {
    let deaf = "trap \"\" HUP INT QUIT TERM USR1 USR2 PIPE";
    format!(
        "{deaf}; (setsid setsid bash -c '{deaf}; sleep {mark}' </dev/null >/dev/null 2>&1 &); \
         (nohup bash -c '(nohup sleep {mark} &)' >/dev/null 2>&1 &); echo up; sleep {mark}"
    )
}

/// A server, a client of it, and a thread in which the stubborn command runs.
struct Running {
    home: TempDir,
    process: ServerProcess,
    client: Conversation,
    thread: String,
    turn: String,
    mark: String,
}

async fn running(tool: &str) -> Running {
    running_under(tool, "danger-full-access").await
}

async fn running_under(tool: &str, sandbox: &str) -> Running {
    let home = tempfile::tempdir().unwrap();
    let settings = format!(
        "model_provider = \"offline\"\nsandbox_mode = \"{sandbox}\"\napproval_policy = \"never\"\n"
    );
    std::fs::write(home.path().join("config.toml"), settings).unwrap();
    let mut process = server_in(&home);
    let mut client = Conversation::start(process.stdio()).await;
    let started = client
        .call("thread/start", json!({ "cwd": home.path() }))
        .await;
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    let mark = marker();
    let command = stubborn(&mark);
    let mut turn = String::new();
    if tool == "thread/shellCommand" {
        client
            .call(tool, json!({ "threadId": thread, "command": command }))
            .await;
    } else {
        let arguments = match tool {
            "exec_command" => json!({ "cmd": command, "yield_time_ms": 30_000 }),
            _ => json!({ "command": command, "timeout_ms": 600_000 }),
        };
        let script = json!({ "script": [{ "calls": [{ "name": tool, "arguments": arguments }] }, { "text": "done" }] });
        let input = json!([{ "type": "text", "text": script.to_string() }]);
        let answer = client
            .call("turn/start", json!({ "threadId": thread, "input": input }))
            .await;
        answer["turn"]["id"].as_str().unwrap().clone_into(&mut turn);
    }
    client.skip_to("item/commandExecution/outputDelta").await;
    assert!(!holding(&mark).is_empty());
    Running {
        home,
        process,
        client,
        thread,
        turn,
        mark,
    }
}

const TOOLS: [&str; 3] = ["exec_command", "shell_command", "thread/shellCommand"];

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_kill_9() {
    for tool in TOOLS {
        let mut running = running(tool).await;
        running.process.signal(Signal::KILL);
        running.process.exit().await;
        gone(&running.mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_a_signal_to_stop() {
    for tool in TOOLS {
        let mut running = running(tool).await;
        running.process.signal(Signal::TERM);
        assert_eq!(running.process.exit().await.code(), Some(0), "{tool}");
        gone(&running.mark).await;
        let told = running.client.rest().await;
        let ends = told
            .iter()
            .filter(|it| it["method"] == "turn/completed")
            .count();
        assert_eq!(ends, 1, "{tool}: the turn ends before the server does");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_the_end_of_input() {
    for tool in TOOLS {
        let mut running = running(tool).await;
        running.client.leave().await;
        assert_eq!(running.process.exit().await.code(), Some(0), "{tool}");
        gone(&running.mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_an_unsubscribe() {
    for tool in TOOLS {
        let mut running = running(tool).await;
        let named = json!({ "threadId": running.thread });
        running
            .client
            .call("thread/unsubscribe", named.clone())
            .await;
        running.client.skip_to("thread/closed").await;
        gone(&running.mark).await;
        let resumed = running.client.call("thread/resume", named).await;
        assert_eq!(
            resumed["thread"]["turns"][0]["status"], "interrupted",
            "{tool}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_an_interrupt() {
    for tool in ["shell_command", "thread/shellCommand"] {
        let mut running = running(tool).await;
        let params = json!({ "threadId": running.thread, "turnId": running.turn });
        running.client.call("turn/interrupt", params).await;
        running.client.skip_to("turn/completed").await;
        gone(&running.mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_may_stay_ends_when_it_is_cleaned_away() {
    let mut running = running("exec_command").await;
    let params = json!({ "threadId": running.thread, "turnId": running.turn });
    running.client.call("turn/interrupt", params).await;
    running.client.skip_to("turn/completed").await;
    assert!(
        !holding(&running.mark).is_empty(),
        "an interrupt leaves it running"
    );
    running
        .client
        .call(
            "thread/backgroundTerminals/clean",
            json!({ "threadId": running.thread }),
        )
        .await;
    let ended = running.client.skip_to("item/completed").await;
    assert_eq!(ended["params"]["item"]["status"], "failed");
    gone(&running.mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_sandboxed_command() {
    for tool in ["exec_command", "shell_command"] {
        let mut running = running_under(tool, "workspace-write").await;
        running.process.signal(Signal::KILL);
        running.process.exit().await;
        gone(&running.mark).await;
        drop(running.home);
    }
}
