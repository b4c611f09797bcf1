//! Threads whose directories are reached by symbolic links. What links a server trusts depends on what it has run,
//! so each is a process of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::support::server_in;

/// Starts a thread in a directory and runs a command in it; returns what was reported of the turn.
async fn run(client: &mut Conversation, cwd: &Path, command: &str) -> Vec<Value> {
    let started = client.call("thread/start", json!({ "cwd": cwd })).await;
    let arguments = json!({ "cmd": command, "login": false });
    let script = json!({ "script": [
        { "calls": [{ "name": "exec_command", "arguments": arguments }] }, { "text": "done" },
    ] });
    let input = json!([{ "type": "text", "text": script.to_string() }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    client.until("turn/completed").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_links_are_followed_and_those_of_commands_are_not() {
    let home = tempfile::tempdir().unwrap();
    let settings = "model_provider = \"offline\"\nsandbox_mode = \"workspace-write\"\napproval_policy = \"never\"\n\
                    [sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";
    fs::write(home.path().join("config.toml"), settings).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let [work, outside, alias] = ["work", "outside", "alias"].map(|it| directory.path().join(it));
    fs::create_dir(&work).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&work, &alias).unwrap();
    let mut process = server_in(&home);
    let mut client = Conversation::start(process.stdio()).await;

    let patch =
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch\nEOF\n";
    let printed = run(&mut client, &alias, patch).await;
    assert!(work.join("patched").exists(), "{printed:?}");
    let plant = format!("touch made; ln -s {} planted", outside.display());
    for _ in 0..2 {
        let printed = run(&mut client, &alias, &plant).await;
        assert!(work.join("made").exists(), "{printed:?}");
        fs::remove_file(work.join("made")).unwrap();
    }
    for command in ["touch made", patch] {
        run(&mut client, &work.join("planted"), command).await;
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    client.leave().await;
    process.exit().await;
}
