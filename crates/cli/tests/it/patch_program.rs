//! `apply_patch` as a program: in the scripts of models, and by itself.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::support::{QUIPU, server_in};

fn patch(name: &str) -> String {
    format!("*** Begin Patch\n*** Add File: {name}\n+hello\n*** End Patch\n")
}

/// A script does more than apply a patch, so it is a command; what it finds is this program, and the
/// sandbox holds it back like any other.
#[tokio::test(flavor = "multi_thread")]
async fn scripts_find_it_and_run_it_in_their_sandbox() {
    let home = tempfile::tempdir().unwrap();
    let settings = "model_provider = \"offline\"\nsandbox_mode = \"workspace-write\"\napproval_policy = \"never\"\n\
                    [sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";
    std::fs::write(home.path().join("config.toml"), settings).unwrap();
    let work = home.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut process = server_in(&home);
    let mut client = Conversation::start(process.stdio()).await;
    let started = client.call("thread/start", json!({ "cwd": work })).await;
    let thread = started["thread"]["id"].clone();
    let mut run = async |name: &str| -> Value {
        let command = format!(
            "echo before && applypatch <<'EOF' && echo after\n{}EOF\n",
            patch(name)
        );
        let arguments = json!({ "cmd": command, "login": false });
        let script = json!({ "script": [
            { "calls": [{ "name": "exec_command", "arguments": arguments }] }, { "text": "done" },
        ] });
        let input = json!([{ "type": "text", "text": script.to_string() }]);
        let params = json!({ "threadId": thread, "input": input });
        client.call("turn/start", params).await;
        let printed = client.until("turn/completed").await;
        let mut items = printed
            .into_iter()
            .filter(|it| it["method"] == "item/completed")
            .map(|it| it["params"]["item"].clone());
        items.find(|it| it["type"] == "commandExecution").unwrap()
    };
    let inside = run("made").await;
    let said = "before\nSuccess. Updated the following files:\nA made\nafter\n";
    assert_eq!(inside["aggregatedOutput"], said);
    assert_eq!(inside["exitCode"], 0);
    let written = std::fs::read_to_string(work.join("made")).unwrap();
    assert_eq!(written, "hello\n");
    let outside = run("../made").await;
    assert_eq!(outside["exitCode"], 1, "{outside}");
    assert!(!home.path().join("made").exists());
    client.leave().await;
    process.exit().await;
}

#[expect(clippy::disallowed_methods, reason = "the program under test")]
fn apply_patch(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let program = directory.join("apply_patch");
    if !program.exists() {
        std::os::unix::fs::symlink(QUIPU, &program).unwrap();
    }
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It need not read what it is not asked to.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    child.wait_with_output().unwrap()
}

#[test]
fn it_takes_one_patch_as_an_argument_or_as_input() {
    let directory = tempfile::tempdir().unwrap();
    let usage = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";
    let cases: [(&[&str], &str, i32, &str); 5] = [
        (
            &[&patch("a")],
            "",
            0,
            "Success. Updated the following files:\nA a\n",
        ),
        (
            &[],
            &patch("b"),
            0,
            "Success. Updated the following files:\nA b\n",
        ),
        (&[], "", 2, usage),
        (
            &["a", "b"],
            "",
            2,
            "Error: apply_patch accepts exactly one argument.\n",
        ),
        (
            &["--help"],
            "",
            1,
            "Invalid patch: The first line of the patch must be '*** Begin Patch'\n",
        ),
    ];
    for (arguments, input, code, said) in cases {
        let output = apply_patch(directory.path(), arguments, input);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let words = if code == 0 {
            output.stdout
        } else {
            output.stderr
        };
        assert_eq!(String::from_utf8_lossy(&words), said);
    }
    assert!(directory.path().join("a").exists() && directory.path().join("b").exists());
}
