//! Every process has an owner: whichever way the owner ends, nothing of a command is left.

use std::time::Instant;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::process_table::{appeared, gone, holding, marker};
use quipu_testkit::wait::until;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{server_in, websocket_server};

/// A command that does all it can to stay: it forks twice, leaves its session, ignores every signal.
fn stubborn(mark: &str) -> String {
    let deaf = "for signal in {1..64}; do trap \"\" $signal 2>/dev/null; done";
    format!(
        "{deaf}; (setsid setsid bash -c '{deaf}; sleep {mark}' </dev/null >/dev/null 2>&1 &); \
         (nohup bash -c '(nohup sleep {mark} &)' >/dev/null 2>&1 &); echo up; sleep {mark}"
    )
}

/// A server, a client of it, and a thread in which the stubborn command runs.
struct Running {
    _home: TempDir,
    process: ServerProcess,
    client: Conversation,
    thread: String,
    turn: String,
    mark: String,
}

async fn running((tool, sandbox): (&str, &str)) -> Running {
    let home = tempfile::tempdir().unwrap();
    let settings = format!(
        "model_provider = \"offline\"\nsandbox_mode = \"{sandbox}\"\napproval_policy = \"never\"\n\
         features.codex_hooks = true\n"
    );
    std::fs::write(home.path().join("config.toml"), settings).unwrap();
    let mark = marker();
    let command = stubborn(&mark);
    if tool == "hook" {
        let hook = json!({ "type": "command", "command": command });
        let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hooks": [hook] }] } });
        std::fs::write(home.path().join("hooks.json"), hooks.to_string()).unwrap();
    }
    let mut process = server_in(&home);
    let mut client = Conversation::start(process.stdio()).await;
    let started = client
        .call("thread/start", json!({ "cwd": home.path() }))
        .await;
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    let mut turn = String::new();
    if tool == "thread/shellCommand" {
        client
            .call(tool, json!({ "threadId": thread, "command": command }))
            .await;
    } else {
        let arguments = match tool {
            "exec_command" => json!({ "cmd": command, "yield_time_ms": 30_000 }),
            "background" => json!({ "cmd": command, "yield_time_ms": 250 }),
            _ => json!({ "command": command, "timeout_ms": 600_000 }),
        };
        let name = if tool == "background" {
            "exec_command"
        } else {
            tool
        };
        let script = json!({ "script": [
            { "calls": [{ "name": name, "arguments": arguments }] },
            { "text": "done", "stall": tool == "background" },
        ] });
        let input = json!([{ "type": "text", "text": script.to_string() }]);
        let answer = client
            .call("turn/start", json!({ "threadId": thread, "input": input }))
            .await;
        answer["turn"]["id"].as_str().unwrap().clone_into(&mut turn);
    }
    match tool {
        "hook" => client.skip_to("hook/started").await,
        _ => client.skip_to("item/commandExecution/outputDelta").await,
    };
    appeared(&mark).await;
    Running {
        _home: home,
        process,
        client,
        thread,
        turn,
        mark,
    }
}

/// Whose command it is, and what holds it back. The user's own and hooks are held back by nothing.
const WAYS: [(&str, &str); 6] = [
    ("exec_command", "danger-full-access"),
    ("exec_command", "workspace-write"),
    ("shell_command", "danger-full-access"),
    ("shell_command", "workspace-write"),
    ("thread/shellCommand", "danger-full-access"),
    ("hook", "workspace-write"),
];

/// Commands that their calls do not wait for any more.
const BACKGROUND: [(&str, &str); 2] = [
    ("background", "danger-full-access"),
    ("background", "workspace-write"),
];

/// Both.
fn all_ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    WAYS.into_iter().chain(BACKGROUND)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_kill_9() {
    for way in all_ways() {
        let running = running(way).await;
        let killed = Instant::now();
        running.process.signal(Signal::KILL);
        gone(&running.mark, killed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_a_signal_to_stop() {
    for way in all_ways() {
        let mut running = running(way).await;
        let signalled = Instant::now();
        running.process.signal(Signal::TERM);
        gone(&running.mark, signalled).await;
        assert_eq!(running.process.exit().await.code(), Some(0), "{way:?}");
        let printed = running.client.rest().await;
        let ends = printed
            .iter()
            .filter(|it| it["method"] == "turn/completed")
            .count();
        assert_eq!(ends, 1, "{way:?}: the turn ends before the server does");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_the_end_of_input() {
    for way in all_ways() {
        let mut running = running(way).await;
        let left = Instant::now();
        running.client.leave().await;
        gone(&running.mark, left).await;
        assert_eq!(running.process.exit().await.code(), Some(0), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_an_unsubscribe() {
    for way in all_ways() {
        let mut running = running(way).await;
        let named = json!({ "threadId": running.thread });
        let left = Instant::now();
        running
            .client
            .call("thread/unsubscribe", named.clone())
            .await;
        running.client.skip_to("thread/closed").await;
        gone(&running.mark, left).await;
        let resumed = running.client.call("thread/resume", named).await;
        assert_eq!(
            resumed["thread"]["turns"][0]["status"], "interrupted",
            "{way:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_an_interrupt() {
    for way in WAYS {
        let mut running = running(way).await;
        let params = json!({ "threadId": running.thread, "turnId": running.turn });
        let interrupted = Instant::now();
        running.client.call("turn/interrupt", params).await;
        running.client.skip_to("turn/completed").await;
        gone(&running.mark, interrupted).await;
    }
}

/// A server whose user has a stubborn program for the ends of turns, which runs.
async fn notifying() -> (TempDir, ServerProcess, Conversation, String) {
    let home = tempfile::tempdir().unwrap();
    let mark = marker();
    let program = json!(["bash", "-c", stubborn(&mark)]);
    let settings = format!("model_provider = \"offline\"\nnotify = {program}\n");
    std::fs::write(home.path().join("config.toml"), settings).unwrap();
    let mut process = server_in(&home);
    let mut client = Conversation::start(process.stdio()).await;
    let started = client
        .call("thread/start", json!({ "cwd": home.path() }))
        .await;
    let input = json!([{ "type": "text", "text": "hi" }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    client.skip_to("turn/completed").await;
    appeared(&mark).await;
    (home, process, client, mark)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_notify_program_after_its_server() {
    for signal in [Signal::KILL, Signal::TERM] {
        let (_home, process, _client, mark) = notifying().await;
        let signalled = Instant::now();
        process.signal(signal);
        gone(&mark, signalled).await;
    }
    let (_home, mut process, client, mark) = notifying().await;
    let left = Instant::now();
    client.leave().await;
    gone(&mark, left).await;
    assert_eq!(process.exit().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_in_the_background_ends_when_it_is_cleaned_away() {
    for way in BACKGROUND {
        let mut running = running(way).await;
        let params = json!({ "threadId": running.thread, "turnId": running.turn });
        running.client.skip_to("item/agentMessage/delta").await;
        running.client.call("turn/interrupt", params).await;
        running.client.skip_to("turn/completed").await;
        assert!(
            !holding(&running.mark).is_empty(),
            "an interrupt leaves it running"
        );
        let cleaned = Instant::now();
        let named = json!({ "threadId": running.thread });
        running
            .client
            .call("thread/backgroundTerminals/clean", named)
            .await;
        let ended = running.client.skip_to("item/completed").await;
        assert_eq!(ended["params"]["item"]["status"], "failed");
        gone(&running.mark, cleaned).await;
    }
}

/// What may hold back a client's own command.
fn policies() -> [Value; 2] {
    [
        json!({ "type": "dangerFullAccess" }),
        json!({ "type": "workspaceWrite" }),
    ]
}

/// A client's own command, on a server that outlives its clients.
async fn commanding(process: &mut ServerProcess, policy: &Value) -> (Conversation, String) {
    let client = Conversation::start(process.websocket(&[]).await).await;
    commanded(client, policy).await
}

async fn commanded(mut client: Conversation, policy: &Value) -> (Conversation, String) {
    let mark = marker();
    let params = json!({
        "command": ["bash", "-c", stubborn(&mark)], "processId": "stubborn",
        "streamStdoutStderr": true, "disableTimeout": true, "sandboxPolicy": policy,
    });
    client.ask("command/exec", params).await;
    client.skip_to("command/exec/outputDelta").await;
    assert!(!holding(&mark).is_empty());
    (client, mark)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_clients_command_that_it_ends_or_leaves() {
    let mut process = websocket_server();
    for policy in policies() {
        let (mut client, mark) = commanding(&mut process, &policy).await;
        let terminated = Instant::now();
        let named = json!({ "processId": "stubborn" });
        client.call("command/exec/terminate", named).await;
        gone(&mark, terminated).await;

        let (client, mark) = commanding(&mut process, &policy).await;
        let left = Instant::now();
        client.leave().await;
        gone(&mark, left).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_clients_command_after_its_server() {
    for policy in policies() {
        let mut process = websocket_server();
        let (_client, mark) = commanding(&mut process, &policy).await;
        let killed = Instant::now();
        process.signal(Signal::KILL);
        gone(&mark, killed).await;

        let mut process = websocket_server();
        let (_client, mark) = commanding(&mut process, &policy).await;
        let signalled = Instant::now();
        process.signal(Signal::TERM);
        gone(&mark, signalled).await;
        process.exit().await;
    }
}

/// A command with full access can kill all that could end it. Where there are control groups, the next server finds
/// what is left.
#[tokio::test(flavor = "multi_thread")]
async fn what_outlives_server_and_helpers_is_ended_by_the_next_server() {
    let mut process = websocket_server();
    let mut client = Conversation::start(process.websocket(&[]).await).await;
    let own = async |client: &mut Conversation, script: &str| {
        let params = json!({
            "command": ["bash", "-c", script], "sandboxPolicy": { "type": "dangerFullAccess" },
        });
        client.call("command/exec", params).await
    };
    let groups = own(&mut client, "cat /proc/self/cgroup").await;
    if !groups["stdout"].as_str().unwrap().contains("/quipu-") {
        eprintln!("skipped: no control group can be made here");
        return;
    }
    let mark = marker();
    // The zygote is the parent of the supervisor. Stopped, they cannot end anything when the server dies; the
    // command itself ends with the supervisor, which therefore comes last.
    let murder = format!(
        "(setsid sleep {mark} >/dev/null 2>&1 &); read -r _ _ _ zygote _ < /proc/$PPID/stat; echo up; read; \
         kill -STOP $PPID $zygote; kill -9 {server} $zygote $PPID",
        server = process.pid(),
    );
    let params = json!({
        "command": ["bash", "-c", murder], "processId": "murder", "streamStdin": true,
        "streamStdoutStderr": true, "sandboxPolicy": { "type": "dangerFullAccess" },
    });
    client.ask("command/exec", params).await;
    client.skip_to("command/exec/outputDelta").await;
    let go = json!({ "processId": "murder", "deltaBase64": "Cg==" });
    client.ask("command/exec/write", go).await;
    process.exit().await;
    assert!(!holding(&mark).is_empty(), "nobody was left to end it");

    let mut next = websocket_server();
    let mut client = Conversation::start(next.websocket(&[]).await).await;
    let begun = Instant::now();
    own(&mut client, "true").await;
    gone(&mark, begun).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_clients_command_after_the_end_of_input() {
    for policy in policies() {
        let home = tempfile::tempdir().unwrap();
        let mut process = server_in(&home);
        let client = Conversation::start(process.stdio()).await;
        let (client, mark) = commanded(client, &policy).await;
        let left = Instant::now();
        client.leave().await;
        gone(&mark, left).await;
        process.exit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_mcp_server() {
    for end in ["kill -9", "signal", "end of input"] {
        let home = tempfile::tempdir().unwrap();
        let mark = marker();
        let command = stubborn(&mark);
        let settings = format!(
            "model_provider = \"offline\"\n[mcp_servers.stubborn]\ncommand = \"bash\"\n\
             args = [\"-c\", {command:?}]\nstartup_timeout_sec = 1000\n"
        );
        std::fs::write(home.path().join("config.toml"), settings).unwrap();
        let mut process = server_in(&home);
        let mut client = Conversation::start(process.stdio()).await;
        client
            .call("thread/start", json!({ "cwd": home.path() }))
            .await;
        let asleep = || {
            let all = holding(&mark);
            all.iter().filter(|it| it.starts_with("sleep")).count()
        };
        until("the server and its descendants", || asleep() >= 3).await;
        match end {
            "kill -9" => process.signal(Signal::KILL),
            "signal" => process.signal(Signal::TERM),
            _ => client.leave().await,
        }
        let ended = match end {
            "kill -9" => Instant::now(),
            _ => {
                process.exit().await;
                Instant::now()
            }
        };
        gone(&mark, ended).await;
    }
}
