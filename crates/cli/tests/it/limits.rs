//! Limits that a system sets on the process: each is met in words, and none with silence.

use std::os::unix::fs::PermissionsExt;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::Launch;
use serde_json::{Value, json};

use crate::support::app_server;

/// A user that has no processes, so that a limit on them counts those of the test alone.
const NOBODY: u32 = 54_321;

async fn fails_to_start(launch: Launch) {
    let mut process = launch.start();
    assert_eq!(process.exit().await.code(), Some(1), "{}", process.stderr());
    let text = process.stderr();
    let expected = "Error: cannot start: the system does not give this process 6 threads";
    assert!(
        text.starts_with(expected) && text.contains("ulimit -u"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Limits on processes bind everybody but root, so this needs root to become somebody else.
#[tokio::test]
async fn a_start_without_threads_fails_at_once() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for most in 1..=6 {
        let launch = app_server([]).limit(libc::RLIMIT_NPROC, most).user(NOBODY);
        for directory in [launch.directory().parent().unwrap(), launch.directory()] {
            std::fs::set_permissions(directory, PermissionsExt::from_mode(0o1777)).unwrap();
        }
        fails_to_start(launch).await;
    }
}

/// There is always a limit at which the program is loaded and its threads find no room. The debugger's view of a
/// program is not part of it.
#[tokio::test]
async fn a_start_without_memory_for_threads_fails_at_once() {
    let mut refused = 0;
    for mebibytes in (40..120).step_by(4) {
        let mut process = app_server([])
            .limit(libc::RLIMIT_AS, mebibytes << 20)
            .start();
        drop(process.stdin.take());
        // It may also be refused by the loader, or have enough.
        process.exit().await;
        refused += usize::from(process.stderr().starts_with("Error: cannot start: "));
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn a_limit_on_file_sizes_fails_the_turn_and_not_the_server() {
    const MOST: u64 = 256 << 10;
    let launch = app_server([]).limit(libc::RLIMIT_FSIZE, MOST);
    let mut process = launch.start();
    let mut client = Conversation::start(process.stdio()).await;
    let params = json!({ "sandbox": "danger-full-access", "approvalPolicy": "never" });
    let started = client.call("thread/start", params).await;
    let thread = &started["thread"]["id"];
    // Commands meet the limit as they would without the server: by the signal.
    let cmd = "bash -c 'head -c 1000000 /dev/zero > large; echo left $?'";
    let call = json!({ "name": "exec_command", "arguments": { "cmd": cmd } });
    let script = json!({ "script": [{ "calls": [call] }, { "text": "done" }] });
    let printed = turn(&mut client, thread, &script.to_string()).await;
    assert_eq!(
        printed.last().unwrap()["params"]["turn"]["status"],
        "completed"
    );
    let outputs: Vec<&Value> = printed
        .iter()
        .map(|it| &it["params"]["item"]["aggregatedOutput"])
        .filter(|it| it.is_string())
        .collect();
    assert!(
        outputs
            .iter()
            .any(|it| it.as_str().unwrap().contains("left 153")),
        "{outputs:?}"
    );
    // The server's own file can grow no more.
    let printed = turn(&mut client, thread, &"x".repeat(MOST as usize)).await;
    let ended = &printed.last().unwrap()["params"]["turn"];
    assert_eq!(ended["status"], "failed", "{ended}");
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("File too large"), "{message}");
    // It goes on: another thread has a file of its own.
    let started = client.call("thread/start", json!({})).await;
    let printed = turn(&mut client, &started["thread"]["id"], "hello").await;
    assert_eq!(
        printed.last().unwrap()["params"]["turn"]["status"],
        "completed"
    );
}

async fn turn(client: &mut Conversation, thread: &Value, words: &str) -> Vec<Value> {
    let input = json!([{ "type": "text", "text": words }]);
    let params = json!({ "threadId": thread, "input": input });
    client.call("turn/start", params).await;
    client.until("turn/completed").await
}
