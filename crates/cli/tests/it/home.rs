//! The home directory: found where the environment says, and made private to its user.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::Launch;
use quipu_testkit::raw::Raw;
use serde_json::json;

use crate::support::{QUIPU, initialize};

async fn told(launch: Launch) -> PathBuf {
    let mut process = launch.args(["app-server"]).start();
    let answer = Raw::new(process.stdio()).call(&initialize(1)).await;
    PathBuf::from(answer["result"]["codexHome"].as_str().unwrap())
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn quipu_home_comes_before_codex_home_and_both_before_the_default() {
    let fresh = || tempfile::tempdir().unwrap();
    let (ours, theirs, user) = (fresh(), fresh(), fresh());
    let launch = |set: &[(&str, &Path)]| {
        let launch = Launch::new(QUIPU).without_env("QUIPU_HOME");
        set.iter().fold(launch, |launch, (name, value)| {
            launch.env(name, value.to_str().unwrap())
        })
    };
    let (ours, theirs, user) = (
        ours.path().join("a/b"),
        theirs.path().join("c"),
        user.path(),
    );
    let both = launch(&[
        ("QUIPU_HOME", &ours),
        ("CODEX_HOME", &theirs),
        ("HOME", user),
    ]);
    assert_eq!(told(both).await, ours);
    assert!(!theirs.exists());
    let codex = launch(&[("CODEX_HOME", &theirs), ("HOME", user)]);
    assert_eq!(told(codex).await, theirs);
    assert_eq!(told(launch(&[("HOME", user)])).await, user.join(".quipu"));
    for made in [&ours, &theirs, &user.join(".quipu")] {
        assert_eq!(mode(made), 0o700, "{}", made.display());
    }
}

#[tokio::test]
async fn under_the_official_name_the_official_home_is_used() {
    for name in ["codex", "codex-app-server"] {
        let launch = Launch::named(QUIPU, name).without_env("QUIPU_HOME");
        let home = launch.directory().join(".codex");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("config.toml"), "model = \"theirs\"").unwrap();
        let args: &[&str] = if name == "codex" {
            &["app-server"]
        } else {
            &[]
        };
        let mut process = launch.args(args.iter().copied()).start();
        let mut raw = Raw::new(process.stdio());
        let answer = raw.call(&initialize(1)).await;
        assert_eq!(answer["result"]["codexHome"], home.to_str().unwrap());
        let read = json!({ "id": 2, "method": "config/read", "params": {} });
        let config = raw.call(&read).await;
        assert_eq!(config["result"]["config"]["model"], "theirs", "{config}");
        assert!(!home.parent().unwrap().join(".quipu").exists());
    }
}

#[tokio::test]
async fn a_home_that_is_a_file_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let launch = Launch::new(QUIPU).env("QUIPU_HOME", file.path().to_str().unwrap());
    let mut process = launch.args(["app-server"]).start();
    assert_eq!(process.exit().await.code(), Some(1));
    let text = process.stderr();
    assert!(text.starts_with("Error: QUIPU_HOME points to "), "{text}");
}

#[tokio::test]
async fn starting_and_greeting_leave_nothing_but_the_directory() {
    let mut process = Launch::new(QUIPU).args(["app-server"]).start();
    let mut raw = Raw::new(process.stdio());
    raw.call(&initialize(1)).await;
    let page = json!({ "id": 2, "method": "thread/loaded/list", "params": {} });
    raw.call(&page).await;
    let home = process.directory().join("quipu");
    assert_eq!(std::fs::read_dir(home).unwrap().count(), 0);
}

/// Everything below a directory that others may write to. Who can write to a link is of no meaning.
fn open_to_others(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if !kind.is_symlink() && mode(&entry.path()) & 0o022 != 0 {
            found.push(entry.path());
        }
        if kind.is_dir() {
            open_to_others(&entry.path(), found);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_in_it_is_open_to_others_whatever_the_mask() {
    let home = tempfile::tempdir().unwrap();
    let config =
        "model_provider = \"offline\"\nsandbox_mode = \"read-only\"\napproval_policy = \"never\"\n";
    std::fs::write(home.path().join("config.toml"), config).unwrap();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(home.path(), open.clone()).unwrap();
    // As a server left it that did not look after this.
    std::fs::create_dir_all(home.path().join("tmp/programs")).unwrap();
    std::fs::set_permissions(home.path().join("tmp"), open.clone()).unwrap();
    std::fs::set_permissions(home.path().join("tmp/programs"), open).unwrap();
    let script = format!("umask 000; exec {QUIPU} app-server");
    let path = home.path().to_str().unwrap();
    let launch = Launch::new("/bin/sh").args(["-c", &script]);
    let mut process = launch.env("QUIPU_HOME", path).start();
    let mut client = Conversation::start(process.stdio()).await;
    let login = json!({ "type": "apiKey", "apiKey": "sk-of-a-test" });
    client.call("account/login/start", login).await;
    client.call("skills/list", json!({})).await;
    let edit = json!({ "keyPath": "model", "value": "m", "mergeStrategy": "replace" });
    client.call("config/value/write", edit).await;
    let started = client.call("thread/start", json!({})).await;
    let thread = started["thread"]["id"].clone();
    let call = json!({ "name": "exec_command", "arguments": { "cmd": "type applypatch", "login": false } });
    let script = json!({ "script": [{ "calls": [call] }, { "text": "done" }] });
    let input = json!([{ "type": "text", "text": script.to_string() }]);
    let params = json!({ "threadId": thread, "input": input });
    client.call("turn/start", params).await;
    let printed = client.until("turn/completed").await;
    let said: String = printed.iter().map(ToString::to_string).collect();
    assert!(said.contains("tmp/programs/"), "{said}");
    let name = json!({ "threadId": thread, "name": "a name" });
    client.call("thread/name/set", name).await;
    client
        .call("thread/archive", json!({ "threadId": thread }))
        .await;
    client.leave().await;
    process.exit().await;
    let mut found = Vec::new();
    open_to_others(home.path(), &mut found);
    // What was there before is the user's own affair.
    found.retain(|path| !path.ends_with("config.toml"));
    assert!(found.is_empty(), "{found:?}");
}
