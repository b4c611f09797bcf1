//! Commands outside any thread, through the protocol.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_testkit::client::{Client, within};
use quipu_testkit::wait::found;
use quipu_wire::method::event::CommandExecOutputDelta;
use quipu_wire::method::request::CommandExec;
use quipu_wire::{CommandExecOutputStream, CommandExecParams, CommandExecResponse};
use serde_json::{Value, json};

use crate::lab::Lab;

/// A shell script without a sandbox.
fn script(text: &str, more: Value) -> CommandExecParams {
    let mut params = json!({
        "command": ["/bin/sh", "-c", text],
        "sandboxPolicy": { "type": "dangerFullAccess" },
    });
    let members = params.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    serde_json::from_value(params).unwrap()
}

async fn run(client: &Client, text: &str, more: Value) -> (i32, String, String) {
    let done = client.call::<CommandExec>(&script(text, more)).await;
    let CommandExecResponse {
        exit_code,
        stdout,
        stderr,
    } = done.unwrap();
    (exit_code, stdout, stderr)
}

async fn refused(client: &Client, method: &str, params: Value) -> (i64, String) {
    let error = client.call_raw(method, &params).await.unwrap_err();
    (error.code, error.message)
}

/// The next output, as stream and text.
async fn output(client: &mut Client) -> (CommandExecOutputStream, String, bool) {
    let delta = client.notified::<CommandExecOutputDelta>().await;
    let bytes = STANDARD.decode(delta.delta_base64).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    (delta.stream, text, delta.cap_reached)
}

/// Waits until the output holds a text.
async fn printed(client: &mut Client, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) {
        all += &output(client).await.1;
    }
    all
}

#[tokio::test]
async fn output_and_exit_code_come_back() {
    let lab = Lab::with(
        &[("PATH", "/usr/bin:/bin"), ("KEEP", "1"), ("DROP", "2")],
        "",
    );
    let client = lab.client().await;
    let done = run(&client, "echo out; echo err >&2; exit 4", json!({})).await;
    assert_eq!(done, (4, "out\n".into(), "err\n".into()));
    let env = json!({ "env": { "DROP": null, "NEW": "3" } });
    let done = run(&client, "echo $KEEP$DROP$NEW", env).await;
    assert_eq!(done, (0, "13\n".into(), String::new()));
    let done = run(&client, "printf 0123456789", json!({ "outputBytesCap": 4 })).await;
    assert_eq!(done.1, "0123");
    let done = run(&client, "cat; pwd", json!({ "cwd": "home" })).await;
    let home = lab.directory.path().canonicalize().unwrap().join("home");
    assert_eq!(done.1.trim(), home.to_str().unwrap());
    assert_eq!(run(&client, "kill -9 $$", json!({})).await.0, 137);
    let late = run(&client, "echo early; sleep 60", json!({ "timeoutMs": 300 })).await;
    assert_eq!(late, (124, "early\n".into(), String::new()));
}

#[tokio::test]
async fn the_configured_sandbox_holds_and_says_so() {
    let lab = Lab::with(&[("PATH", "/usr/bin:/bin")], "sandbox_mode = \"read-only\"");
    let client = lab.client().await;
    let command = "echo $CODEX_SANDBOX_NETWORK_DISABLED; : > made";
    let params = json!({ "command": ["/bin/sh", "-c", command] });
    match client.call_raw("command/exec", &params).await {
        Ok(done) => {
            assert_eq!(done["stdout"], "1\n");
            assert_ne!(done["exitCode"], 0);
        }
        // A machine that cannot enforce the policy refuses the command.
        Err(error) => assert!(error.message.starts_with("exec failed: "), "{error}"),
    }
    assert!(!lab.directory.path().join("made").exists());
}

#[tokio::test]
async fn bad_options_are_refused_in_order() {
    let lab = Lab::new();
    let client = lab.client().await;
    let cases = [
        (
            json!({ "command": [] }),
            -32600,
            "command must not be empty",
        ),
        (
            json!({ "command": ["true"], "size": { "rows": 1, "cols": 1 }, "timeoutMs": -1 }),
            -32602,
            "command/exec size requires tty: true",
        ),
        (
            json!({ "command": ["true"], "outputBytesCap": 1, "disableOutputCap": true }),
            -32602,
            "command/exec cannot set both outputBytesCap and disableOutputCap",
        ),
        (
            json!({ "command": ["true"], "timeoutMs": 1, "disableTimeout": true }),
            -32602,
            "command/exec cannot set both timeoutMs and disableTimeout",
        ),
        (
            json!({ "command": ["true"], "timeoutMs": -1 }),
            -32602,
            "command/exec timeoutMs must be non-negative, got -1",
        ),
        (
            json!({ "command": ["true"], "tty": true, "size": { "rows": 0, "cols": 1 } }),
            -32602,
            "command/exec size rows and cols must be greater than 0",
        ),
        (
            json!({ "command": ["true"], "tty": true }),
            -32600,
            "command/exec tty or streaming requires a client-supplied processId",
        ),
        (
            json!({ "command": ["no-such-program"], "sandboxPolicy": { "type": "dangerFullAccess" } }),
            -32603,
            "failed to spawn command: No such file or directory (os error 2)",
        ),
    ];
    for (params, code, text) in cases {
        assert_eq!(
            refused(&client, "command/exec", params).await,
            (code, text.to_owned())
        );
    }
    let write = json!({ "processId": "x" });
    let text = "command/exec/write requires deltaBase64 or closeStdin";
    assert_eq!(
        refused(&client, "command/exec/write", write).await,
        (-32602, text.into())
    );
    let write = json!({ "processId": "x", "deltaBase64": "!!" });
    let text = "invalid deltaBase64: Invalid symbol 33, offset 0.";
    assert_eq!(
        refused(&client, "command/exec/write", write).await,
        (-32602, text.into())
    );
}

#[tokio::test]
async fn a_streamed_command_takes_input_and_answers_after_its_output() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let streams = json!({ "processId": "cat", "streamStdin": true, "streamStdoutStderr": true });
    let asked = client.ask::<CommandExec>(&script("cat", streams.clone()));
    let write = |data: &str| json!({ "processId": "cat", "deltaBase64": STANDARD.encode(data) });
    client
        .call_raw("command/exec/write", &write("ping\n"))
        .await
        .unwrap();
    assert_eq!(output(&mut client).await.1, "ping\n");
    let again = serde_json::to_value(script("true", streams)).unwrap();
    let text = "duplicate active command/exec process id: \"cat\"";
    assert_eq!(
        refused(&client, "command/exec", again).await,
        (-32600, text.into())
    );
    let size = json!({ "processId": "cat", "size": { "rows": 1, "cols": 1 } });
    let text = "failed to resize PTY: process is not attached to a PTY";
    assert_eq!(
        refused(&client, "command/exec/resize", size).await,
        (-32600, text.into())
    );

    // Nobody else can name it.
    let other = lab.client().await;
    let text = "no active command/exec for process id \"cat\"";
    assert_eq!(
        refused(&other, "command/exec/write", write("x")).await,
        (-32600, text.into())
    );

    let close = json!({ "processId": "cat", "deltaBase64": "ZW5k", "closeStdin": true });
    client.call_raw("command/exec/write", &close).await.unwrap();
    let done = asked.answer().await.unwrap();
    assert_eq!((done.exit_code, done.stdout), (0, String::new()));
    assert_eq!(output(&mut client).await.1, "end");
    assert_eq!(
        refused(&client, "command/exec/write", write("x")).await,
        (-32600, text.into())
    );
    client.finish().await;
}

#[tokio::test]
async fn a_cap_cuts_a_stream_and_not_the_command() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let more = json!({ "processId": "c", "streamStdoutStderr": true, "outputBytesCap": 3 });
    let done = run(&client, "echo hello; echo more; echo e >&2; exit 3", more).await;
    assert_eq!(done, (3, String::new(), String::new()));
    let mut all = [output(&mut client).await, output(&mut client).await];
    all.sort_by_key(|it| it.1.clone());
    assert_eq!(all[0].1, "e\n");
    assert_eq!((all[1].1.as_str(), all[1].2), ("hel", true));
    client.finish().await;
}

#[tokio::test]
async fn output_without_a_cap_of_its_own_ends_at_a_mebibyte() {
    let lab = Lab::with(&[("PATH", "/usr/bin:/bin")], "");
    let client = lab.client().await;
    let print = |count: usize| format!("head -c {count} /dev/zero | tr '\\0' x");
    let long = print((1 << 20) + 5);
    for (more, length) in [
        (json!({}), 1 << 20),
        (json!({ "disableOutputCap": true }), (1 << 20) + 5),
        (json!({ "outputBytesCap": 0 }), 0),
    ] {
        let (code, stdout, _) = run(&client, &long, more.clone()).await;
        assert_eq!((code, stdout.len()), (0, length), "{more}");
    }
    let at_once = run(&client, "sleep 60", json!({ "timeoutMs": 0 })).await;
    assert_eq!(at_once.0, 124);
}

#[tokio::test]
async fn the_answer_follows_the_last_output() {
    let lab = Lab::with(&[("PATH", "/usr/bin:/bin")], "");
    let mut raw = lab.raw_initialized(json!({})).await;
    let more = json!({ "processId": "p", "streamStdoutStderr": true });
    let command = script(
        "for i in 1 2 3 4 5 6 7 8; do echo $i; echo $i >&2; done",
        more,
    );
    let request = json!({ "id": 7, "method": "command/exec", "params": command });
    raw.send([request.to_string()]).await;
    let mut messages = [String::new(), String::new()];
    loop {
        let message = raw.next().await.unwrap();
        if message["id"] == 7 {
            assert_eq!(
                message["result"],
                json!({ "exitCode": 0, "stdout": "", "stderr": "" })
            );
            break;
        }
        assert_eq!(message["method"], "command/exec/outputDelta");
        let data = message["params"]["deltaBase64"].as_str().unwrap();
        let text = String::from_utf8(STANDARD.decode(data).unwrap()).unwrap();
        messages[usize::from(message["params"]["stream"] == "stderr")] += &text;
    }
    let all = "1\n2\n3\n4\n5\n6\n7\n8\n";
    assert_eq!(messages, [all, all], "nothing is left to come");
}

#[tokio::test]
async fn a_name_belongs_to_its_connection() {
    let lab = Lab::new();
    let first = lab.client().await;
    let second = lab.client().await;
    let more = json!({ "processId": "same", "disableTimeout": true });
    let asked =
        [&first, &second].map(|it| it.ask::<CommandExec>(&script("sleep 600", more.clone())));
    // Each ends its own and only its own. A command may not have started yet when its end is asked for.
    for (client, asked) in [&first, &second].into_iter().zip(asked) {
        let name = json!({ "processId": "same" });
        let end = async || {
            let ended = client.call_raw("command/exec/terminate", &name).await;
            ended.ok()
        };
        found("the command", end).await;
        assert_eq!(asked.answer().await.unwrap().exit_code, 137);
    }
}

#[tokio::test]
async fn a_terminal_has_a_size_and_is_ended_by_its_client() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let more = json!({ "processId": "t", "tty": true, "size": { "rows": 7, "cols": 33 } });
    let text = "stty size; trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done";
    let asked = client.ask::<CommandExec>(&script(text, more));
    assert!(printed(&mut client, "ready").await.contains("7 33\r\n"));
    let size = json!({ "processId": "t", "size": { "rows": 8, "cols": 44 } });
    client.call_raw("command/exec/resize", &size).await.unwrap();
    printed(&mut client, "8 44").await;
    let name = json!({ "processId": "t" });
    client
        .call_raw("command/exec/terminate", &name)
        .await
        .unwrap();
    assert_eq!(asked.answer().await.unwrap().exit_code, 137);
    let text = "no active command/exec for process id \"t\"";
    assert_eq!(
        refused(&client, "command/exec/terminate", name).await,
        (-32600, text.into())
    );
}

#[tokio::test]
async fn input_that_nobody_reads_does_not_keep_a_command_from_its_end() {
    let lab = Lab::new();
    let client = lab.client().await;
    let more = json!({ "processId": "s", "streamStdin": true, "disableTimeout": true });
    let asked = client.ask::<CommandExec>(&script("sleep 600", more));
    let data = STANDARD.encode(vec![b'x'; 4 << 20]);
    let write = json!({ "processId": "s", "deltaBase64": data });
    for _ in 0..4 {
        client.call_raw("command/exec/write", &write).await.unwrap();
    }
    assert_eq!(
        refused(&client, "command/exec/write", write).await.0,
        -32001
    );
    client
        .call_raw("command/exec/terminate", &json!({ "processId": "s" }))
        .await
        .unwrap();
    assert_eq!(asked.answer().await.unwrap().exit_code, 137);
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_commands_along() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let more = json!({ "processId": "s", "streamStdoutStderr": true, "disableTimeout": true });
    drop(client.ask::<CommandExec>(&script("echo $$; sleep 600", more)));
    let pid = printed(&mut client, "\n").await.trim().to_owned();
    drop(client);
    // The system tells nobody of the end of processes that are not their own, so it is looked for.
    let mut looks = tokio::time::interval(Duration::from_millis(5));
    let gone = async {
        while std::path::Path::new(&format!("/proc/{pid}")).exists() {
            looks.tick().await;
        }
    };
    within("the end of the command", gone).await;
}
