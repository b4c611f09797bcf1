//! The profile of the login shell: read once, in the sandbox, within the rules for the environment.
#![cfg(unix)]

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, run, text};

const PROFILE: &str = "greet() { echo \"hello $1\"; }\nshopt -s expand_aliases\nalias hi='echo aliased'\n\
    export FROM_PROFILE=yes PROFILE_TOKEN=hidden\nunset GONE\necho noise\necho run >> ~/runs\n";

async fn stage(settings: &str) -> Stage {
    let mut stage = Stage::with(settings).await;
    fs::write(stage.directory().join(".bash_profile"), PROFILE).unwrap();
    stage.restart_with_env(&[("SHELL", "/bin/bash"), ("GONE", "x"), ("STAYS", "y")]);
    stage
}

/// What a command prints.
async fn output(stage: &Stage, script: &str, times: usize) -> Value {
    let (mut client, thread) = stage.thread().await;
    let mut last = Value::Null;
    for _ in 0..times {
        stage.play([
            calls("exec_command", json!({ "cmd": script })),
            json!({ "text": "done" }),
        ]);
        let messages = run(&mut client, &thread, "go").await;
        let item = completed(&messages, "commandExecution")[0].clone();
        assert!(
            text(&item["command"]).contains("bash -lc"),
            "clients see the command as it was asked for"
        );
        last = item["aggregatedOutput"].clone();
    }
    last
}

fn runs(stage: &Stage) -> usize {
    fs::read_to_string(stage.directory().join("runs"))
        .unwrap()
        .lines()
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_profile_is_read_once_for_all_commands() {
    let stage = stage("").await;
    let script =
        "greet you; hi; echo $FROM_PROFILE ${GONE-gone} $STAYS $# ${QUIPU_SHELL_DEFINITIONS-none}";
    assert_eq!(
        output(&stage, script, 3).await,
        "hello you\naliased\nyes gone y 0 none\n"
    );
    assert_eq!(runs(&stage), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_feature_every_command_reads_it() {
    let stage = stage("features.shell_snapshot = false\n").await;
    assert_eq!(output(&stage, "greet you", 2).await, "noise\nhello you\n");
    assert_eq!(runs(&stage), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_that_commands_must_not_see_do_not_come_back() {
    let stage = stage("[shell_environment_policy]\nignore_default_excludes = false\n").await;
    let script = "echo $FROM_PROFILE ${PROFILE_TOKEN-none}";
    assert_eq!(output(&stage, script, 1).await, "yes none\n");
    let stored = walk(stage.home());
    assert!(
        !stored.contains("PROFILE_TOKEN=hidden"),
        "what the profile defines is not stored"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_profile_runs_in_the_sandbox() {
    let mut stage = Stage::with("").await;
    fs::write(
        stage.directory().join(".bash_profile"),
        "echo x > ~/written 2>/dev/null\nexport SEEN=1\n",
    )
    .unwrap();
    stage.restart_with_env(&[("SHELL", "/bin/bash")]);
    let (mut client, thread) = stage.thread_with(json!({ "sandbox": "read-only" })).await;
    stage.play([
        calls("exec_command", json!({ "cmd": "echo $SEEN" })),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(
        completed(&messages, "commandExecution")[0]["aggregatedOutput"],
        "1\n"
    );
    assert!(!stage.directory().join("written").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_ends_the_shell_costs_no_command() {
    let mut stage = Stage::with("").await;
    let profile = "[ -e ~/second ] || { touch ~/second; exit 3; }\n";
    fs::write(stage.directory().join(".bash_profile"), profile).unwrap();
    stage.restart_with_env(&[("SHELL", "/bin/bash")]);
    assert_eq!(output(&stage, "echo fine", 1).await, "fine\n");
}

/// The text of all files below a directory.
fn walk(directory: &std::path::Path) -> String {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|it| it.unwrap().path());
    let texts = entries.map(|path| match path.is_dir() {
        true => walk(&path),
        false => String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
    });
    texts.collect()
}
