//! How far patches and granted permissions reach: no further than the sandbox lets commands, whatever links
//! the agent makes.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::stage::{Stage, calls, run, say, text};

fn add(path: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch") })
}

#[tokio::test(flavor = "multi_thread")]
async fn patches_do_not_reach_what_steers_later_commands() {
    let stage = Stage::new().await;
    let project = |name: &str| {
        let path = stage.directory().join(name);
        fs::create_dir_all(path.join("real/hooks")).unwrap();
        path
    };
    let (file, link, plain) = (project("file"), project("link"), project("plain"));
    fs::write(file.join(".git"), "gitdir: ./real\n").unwrap();
    symlink("real", link.join(".git")).unwrap();
    let rules = stage.home().join("rules/new.rules");
    for (cwd, path) in [
        (&file, "real/hooks/new"),
        (&link, "real/hooks/new"),
        (&plain, ".quipu/new"),
        (&plain, ".codex/rules/new.rules"),
        (&plain, rules.to_str().unwrap()),
    ] {
        let params = json!({ "cwd": cwd, "approvalPolicy": "never", "sandbox": "workspace-write" });
        let (mut client, thread) = stage.thread_with(params).await;
        stage.play([add(path), add("made"), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "try").await;
        assert!(!cwd.join(path).exists(), "{path}");
        assert!(cwd.join("made").exists(), "{path}: {messages:?}");
        fs::remove_file(cwd.join("made")).unwrap();
    }
}

/// A grant for a directory is no grant for where a link in it leads, and the user sees where that is.
#[tokio::test(flavor = "multi_thread")]
async fn grants_do_not_follow_links() {
    let settings = "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n\
                    [features]\nexec_permission_approvals = true\nrequest_permissions_tool = true";
    let stage = Stage::with(settings).await;
    for directory in ["work", "beside", "further"] {
        fs::create_dir(stage.directory().join(directory)).unwrap();
    }
    let params = json!({ "cwd": stage.directory().join("work"), "approvalPolicy": "on-request",
        "sandbox": "workspace-write" });
    let (mut client, thread) = stage.thread_with(params).await;
    let wanted = json!({ "file_system": { "write": ["../beside"] } });
    stage.play([
        calls("request_permissions", json!({ "permissions": wanted })),
        calls(
            "exec_command",
            json!({ "cmd": "ln -s ../further ../beside/link", "login": false }),
        ),
        calls(
            "exec_command",
            json!({
                "cmd": "touch ../further/made", "login": false,
                "sandbox_permissions": "with_additional_permissions",
                "additional_permissions": { "file_system": { "write": ["../beside/link"] } },
            }),
        ),
        json!({ "text": "done" }),
    ]);
    say(&mut client, &thread, "try").await;
    let question = client.skip_to("item/permissions/requestApproval").await;
    let granted = json!({ "permissions": question["params"]["permissions"], "scope": "session" });
    client.reply(&question["id"], granted).await;
    let question = client
        .skip_to("item/commandExecution/requestApproval")
        .await;
    let shown = &question["params"]["additionalPermissions"]["fileSystem"]["write"];
    assert_eq!(
        shown[0],
        text(&json!(stage.directory().join("further"))),
        "{question}"
    );
    client
        .reply(&question["id"], json!({ "decision": "decline" }))
        .await;
    client.until("turn/completed").await;
    assert!(!stage.directory().join("further/made").exists());
}
