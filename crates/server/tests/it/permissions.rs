//! Permissions beyond the sandbox: asked for by the model, given by the user for a command, a turn or the
//! session, and never more than was asked for.

use std::path::{Path, PathBuf};

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, run, say, text};

const ASKED: &str = "item/permissions/requestApproval";
const COMMAND: &str = "item/commandExecution/requestApproval";

/// A thread that may write in its own directory only, beside one where it wants to.
async fn confined() -> (Stage, Conversation, String) {
    let settings = "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n\
                    [features]\nexec_permission_approvals = true\nrequest_permissions_tool = true";
    let stage = Stage::with(settings).await;
    for directory in ["work", "beside", "further"] {
        std::fs::create_dir_all(stage.directory().join(directory)).unwrap();
    }
    let params = json!({
        "cwd": stage.directory().join("work"), "approvalPolicy": "on-request",
        "sandbox": "workspace-write",
    });
    let (client, thread) = stage.thread_with(params).await;
    (stage, client, thread)
}

fn beside(stage: &Stage) -> PathBuf {
    stage.directory().join("beside")
}

fn writable(paths: &[&Path]) -> Value {
    json!({ "network": null, "fileSystem": { "read": null, "write": paths } })
}

fn request(paths: &[&str]) -> Value {
    let wanted = json!({ "file_system": { "write": paths } });
    calls(
        "request_permissions",
        json!({ "reason": "to work", "permissions": wanted }),
    )
}

fn touch() -> Value {
    calls(
        "exec_command",
        json!({ "cmd": "touch ../beside/made", "login": false }),
    )
}

/// Tries to write beside the directory, in a turn of its own.
async fn can_write(stage: &Stage, client: &mut Conversation, thread: &str) -> bool {
    stage.play([touch(), json!({ "text": "done" })]);
    let messages = run(client, thread, "try").await;
    assert!(!messages.iter().any(|it| it["method"] == COMMAND));
    std::fs::remove_file(beside(stage).join("made")).is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_granted_holds_for_the_turn_or_the_session() {
    for (scope, stays) in [("turn", false), ("session", true)] {
        let (stage, mut client, thread) = confined().await;
        assert!(!can_write(&stage, &mut client, &thread).await, "{scope}");
        stage.play([request(&["../beside"]), touch(), json!({ "text": "done" })]);
        let turn = say(&mut client, &thread, "ask").await;
        let question = client.skip_to(ASKED).await;
        let params = &question["params"];
        assert_eq!(params["permissions"], writable(&[&beside(&stage)]));
        assert_eq!(
            (&params["turnId"], &params["reason"]),
            (&json!(turn), &json!("to work"))
        );
        let granted = json!({ "permissions": params["permissions"], "scope": scope });
        client.reply(&question["id"], granted).await;
        client.until("turn/completed").await;
        assert!(beside(&stage).join("made").exists(), "{scope}");
        std::fs::remove_file(beside(&stage).join("made")).unwrap();
        assert_eq!(
            can_write(&stage, &mut client, &thread).await,
            stays,
            "{scope}"
        );
    }
}

/// Paths are asked for as a shell would take them, and each once.
#[tokio::test(flavor = "multi_thread")]
async fn wanted_paths_are_understood_or_refused() {
    let (stage, mut client, thread) = confined().await;
    let (work, user) = (stage.directory().join("work"), stage.directory());
    let paths = ["a", "./a", "~", "~/x", "~x", ""];
    stage.play([request(&paths), json!({ "text": "done" })]);
    say(&mut client, &thread, "ask").await;
    let question = client.skip_to(ASKED).await;
    let expected = [
        work.join("a"),
        user.to_owned(),
        user.join("x"),
        work.join("~x"),
        work,
    ];
    let expected: Vec<&Path> = expected.iter().map(PathBuf::as_path).collect();
    assert_eq!(question["params"]["permissions"], writable(&expected));
    client.refuse(&question["id"]).await;
    client.until("turn/completed").await;
    for (wanted, words) in [
        (
            json!({ "network": {}, "file_system": {} }),
            "requires at least one permission",
        ),
        (json!({ "fileSystem": {} }), "unknown field `fileSystem`"),
    ] {
        let call = calls("request_permissions", json!({ "permissions": wanted }));
        stage.play([call, json!({ "text": "done" })]);
        run(&mut client, &thread, "ask").await;
        assert!(stage.last_request().contains(words), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_is_granted_than_was_asked_for() {
    let (stage, mut client, thread) = confined().await;
    let further = stage.directory().join("further");
    let answers = [
        Some(json!({ "permissions": writable(&[&further]), "scope": "session" })),
        Some(json!({ "permissions": {} })),
        Some(json!("nonsense")),
        None,
    ];
    for answer in answers {
        stage.play([request(&["../beside"]), json!({ "text": "done" })]);
        say(&mut client, &thread, "ask").await;
        let question = client.skip_to(ASKED).await;
        match &answer {
            Some(answer) => client.reply(&question["id"], answer.clone()).await,
            None => client.refuse(&question["id"]).await,
        }
        client.until("turn/completed").await;
        assert!(!can_write(&stage, &mut client, &thread).await, "{answer:?}");
        let escape = calls(
            "exec_command",
            json!({ "cmd": "touch ../further/made", "login": false }),
        );
        stage.play([escape, json!({ "text": "done" })]);
        run(&mut client, &thread, "try").await;
        assert!(!further.join("made").exists(), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_command_can_have_more() {
    let (stage, mut client, thread) = confined().await;
    let wanted = json!({
        "cmd": "touch ../beside/made; touch ../further/made", "login": false,
        "sandbox_permissions": "with_additional_permissions",
        "additional_permissions": { "file_system": { "write": ["../beside"] } },
        "justification": "to work",
    });
    for (decision, done) in [("decline", false), ("accept", true)] {
        stage.play([
            calls("exec_command", wanted.clone()),
            json!({ "text": "done" }),
        ]);
        say(&mut client, &thread, "do it").await;
        let question = client.skip_to(COMMAND).await;
        let params = &question["params"];
        assert_eq!(
            params["additionalPermissions"],
            writable(&[&beside(&stage)])
        );
        assert_eq!(params["availableDecisions"], json!(["accept", "cancel"]));
        assert_eq!(text(&params["reason"]), "to work");
        client
            .reply(&question["id"], json!({ "decision": decision }))
            .await;
        let messages = client.until("turn/completed").await;
        assert_eq!(
            completed(&messages, "commandExecution").len(),
            1,
            "{decision}"
        );
        assert_eq!(beside(&stage).join("made").exists(), done, "{decision}");
        assert!(
            !stage.directory().join("further/made").exists(),
            "{decision}"
        );
    }
    std::fs::remove_file(beside(&stage).join("made")).unwrap();
    assert!(
        !can_write(&stage, &mut client, &thread).await,
        "only that command had it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failure_the_user_may_let_go_of_the_sandbox() {
    let settings =
        "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true";
    let stage = Stage::with(settings).await;
    for directory in ["work", "beside"] {
        std::fs::create_dir_all(stage.directory().join(directory)).unwrap();
    }
    let params = json!({
        "cwd": stage.directory().join("work"), "approvalPolicy": "on-failure",
        "sandbox": "workspace-write",
    });
    let (mut client, thread) = stage.thread_with(params).await;
    let plain = json!({ "command": "touch ../beside/made", "login": false });
    let patch =
        json!({ "patch": "*** Begin Patch\n*** Add File: ../beside/made\n+x\n*** End Patch" });
    let attempts = [
        (touch(), COMMAND, "commandExecution"),
        (calls("shell_command", plain), COMMAND, "commandExecution"),
        (patch, "item/fileChange/requestApproval", "fileChange"),
    ];
    for (call, asked, kind) in attempts {
        for (decision, done) in [("decline", false), ("accept", true)] {
            stage.play([call.clone(), json!({ "text": "done" })]);
            say(&mut client, &thread, "try").await;
            let question = client.skip_to(asked).await;
            let reason = text(&question["params"]["reason"]);
            assert_eq!(reason, "command failed; retry without sandbox?");
            client
                .reply(&question["id"], json!({ "decision": decision }))
                .await;
            let messages = client.until("turn/completed").await;
            assert_eq!(completed(&messages, kind).len(), 1, "{call} {decision}");
            let made = beside(&stage).join("made");
            assert_eq!(made.exists(), done, "{call} {decision}");
            std::fs::remove_file(made).ok();
        }
    }
    stage.play([
        calls("exec_command", json!({ "cmd": "echo fine" })),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "try").await;
    let output = &completed(&messages, "commandExecution")[0]["aggregatedOutput"];
    assert_eq!(*output, "fine\n", "nothing of a first look is lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_cannot_change_what_decides_about_commands() {
    let stage = Stage::new().await;
    let hooks = stage.directory().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let before = std::fs::read_to_string(stage.home().join("config.toml")).unwrap();
    let params = json!({ "approvalPolicy": "never", "sandbox": "workspace-write" });
    let (mut client, thread) = stage.thread_with(params).await;
    let script = "echo x >> home/config.toml; mkdir -p home/rules; echo x > home/rules/own.rules; \
                  echo x > .git/hooks/post-commit; mkdir .codex; echo x > .codex/config.toml; echo end";
    let call = calls("exec_command", json!({ "cmd": script, "login": false }));
    stage.play([call, json!({ "text": "done" })]);
    let messages = run(&mut client, &thread, "try").await;
    let output = text(&completed(&messages, "commandExecution")[0]["aggregatedOutput"]);
    assert!(output.contains("end"), "{output}");
    let config = std::fs::read_to_string(stage.home().join("config.toml")).unwrap();
    assert_eq!(config, before, "{output}");
    for made in [
        "home/rules/own.rules",
        ".git/hooks/post-commit",
        ".codex/config.toml",
    ] {
        assert!(!stage.directory().join(made).exists(), "{made}: {output}");
    }
}
