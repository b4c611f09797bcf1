//! `process/*`: processes without a sandbox, which end with their connection.

use std::path::Path;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::process_table::{appeared, gone, marker};
use serde_json::{Value, json};

use crate::stage::{Stage, text};

/// A shell script under a handle.
fn script(handle: &str, directory: &Path, text: &str, more: Value) -> Value {
    let command = ["/bin/sh", "-c", text];
    let mut params = json!({ "command": command, "processHandle": handle, "cwd": directory });
    let members = params.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    params
}

/// Everything that is streamed until a process ends, and its end.
async fn ended(client: &mut Conversation) -> (String, Value) {
    let messages = client.until("process/exited").await;
    let deltas = messages
        .iter()
        .filter(|it| it["method"] == "process/outputDelta");
    let bytes = deltas.map(|it| STANDARD.decode(text(&it["params"]["deltaBase64"])).unwrap());
    let streamed = String::from_utf8(bytes.flatten().collect()).unwrap();
    (streamed, messages.last().unwrap()["params"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn output_comes_at_the_end_or_as_it_is_written() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let directory = stage.directory();
    let both = script("a", directory, "echo out; echo err >&2; exit 3", json!({}));
    let answer = client.call("process/spawn", both).await;
    assert_eq!(answer, json!({}));
    let (_, end) = ended(&mut client).await;
    let expected = json!({
        "processHandle": "a", "exitCode": 3, "outputDrainTimedOut": false,
        "stdout": "out\n", "stdoutCapReached": false, "stderr": "err\n", "stderrCapReached": false,
    });
    assert_eq!(end, expected);
    // The handle is free again, and output has a limit.
    let more =
        json!({ "streamStdoutStderr": true, "outputBytesCap": 4, "env": { "WORD": "words" } });
    let streamed = script("a", directory, "printf $WORD", more);
    client.call("process/spawn", streamed).await;
    let (output, end) = ended(&mut client).await;
    assert_eq!(output, "word");
    assert_eq!(end["stdout"], "");
    assert_eq!(end["stdoutCapReached"], true);
    let slow = script("a", directory, "sleep 600", json!({ "timeoutMs": 50 }));
    client.call("process/spawn", slow).await;
    assert_eq!(ended(&mut client).await.1["exitCode"], 124);
}

#[tokio::test(flavor = "multi_thread")]
async fn input_is_written_and_terminals_are_resized() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let size = json!({ "rows": 11, "cols": 22 });
    let terminal = json!({ "tty": true, "size": size, "timeoutMs": null });
    let sizes = script("t", stage.directory(), "read x; stty size", terminal);
    client.call("process/spawn", sizes).await;
    let resize = json!({ "processHandle": "t", "size": { "rows": 12, "cols": 24 } });
    client.call("process/resizePty", resize).await;
    let enter = json!({ "processHandle": "t", "deltaBase64": STANDARD.encode("\n") });
    client.call("process/writeStdin", enter).await;
    let (output, end) = ended(&mut client).await;
    assert!(output.contains("12 24"), "{output}");
    assert_eq!(end["exitCode"], 0);
    let piped = script(
        "p",
        stage.directory(),
        "cat",
        json!({ "streamStdin": true }),
    );
    client.call("process/spawn", piped).await;
    let hello = STANDARD.encode("hello");
    let write = json!({ "processHandle": "p", "deltaBase64": hello, "closeStdin": true });
    client.call("process/writeStdin", write).await;
    assert_eq!(ended(&mut client).await.1["stdout"], "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_ends_when_it_is_killed_or_its_client_leaves() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    for leaves in [false, true] {
        let mark = marker();
        let sleep = format!("setsid sleep {mark} & sleep {mark}");
        let endless = script("p", stage.directory(), &sleep, json!({ "timeoutMs": null }));
        client.call("process/spawn", endless).await;
        appeared(&mark).await;
        let killed = Instant::now();
        if leaves {
            client.leave().await;
            return gone(&mark, killed).await;
        }
        let kill = json!({ "processHandle": "p" });
        client.call("process/kill", kill).await;
        assert_eq!(ended(&mut client).await.1["exitCode"], 137);
        gone(&mark, killed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_refused_in_the_words_of_later_versions() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let directory = stage.directory();
    let cat = json!({ "streamStdin": true, "timeoutMs": null });
    let cat = script("c", directory, "cat", cat);
    client.call("process/spawn", cat.clone()).await;
    let with = |more: Value| script("x", directory, "true", more);
    let named = |more: Value| {
        let mut params = json!({ "processHandle": "c" });
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        params
    };
    let one = json!({ "rows": 1, "cols": 1 });
    let none = json!({ "rows": 0, "cols": 1 });
    let zero = "process size rows and cols must be greater than 0";
    let missing = "failed to spawn process: No such file or directory (os error 2)";
    for (method, params, expected) in [
        ("spawn", cat, "duplicate active process handle: \"c\""),
        (
            "spawn",
            with(json!({ "command": [] })),
            "command must not be empty",
        ),
        (
            "spawn",
            with(json!({ "processHandle": "" })),
            "processHandle must not be empty",
        ),
        (
            "spawn",
            with(json!({ "size": one })),
            "process/spawn size requires tty: true",
        ),
        ("spawn", with(json!({ "tty": true, "size": none })), zero),
        (
            "spawn",
            with(json!({ "timeoutMs": -1 })),
            "process/spawn timeoutMs must be non-negative, got -1",
        ),
        (
            "spawn",
            with(json!({ "command": ["no-such-program"] })),
            missing,
        ),
        (
            "spawn",
            with(json!({ "cwd": directory.join("none") })),
            missing,
        ),
        (
            "writeStdin",
            named(json!({})),
            "process/writeStdin requires deltaBase64 or closeStdin",
        ),
        (
            "resizePty",
            named(json!({ "size": one })),
            "failed to resize PTY: process is not attached to a PTY",
        ),
        (
            "kill",
            json!({ "processHandle": "z" }),
            "no active process for process handle \"z\"",
        ),
    ] {
        let refused = client.refused(&format!("process/{method}"), params).await;
        assert_eq!(refused, expected, "{method}");
    }
}

/// Where an administrator allows no command without a sandbox, there is none.
#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_can_forbid_them() {
    let directory = tempfile::tempdir().unwrap();
    let etc = directory.path().join("etc");
    std::fs::create_dir_all(&etc).unwrap();
    let limits = "allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\n";
    std::fs::write(etc.join("requirements.toml"), limits).unwrap();
    let home = directory.path().join("home");
    let stage = Stage::at(directory, home, "").await;
    let mut client = stage.client().await;
    let params = script("a", stage.directory(), "true", json!({}));
    let refused = client.refused("process/spawn", params).await;
    assert!(
        refused.starts_with("process/spawn runs without a sandbox: "),
        "{refused}"
    );
}
