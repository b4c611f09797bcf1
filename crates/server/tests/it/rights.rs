//! Rights that a request takes away are gone: permission profiles, environments and workspace roots are honoured
//! or refused, and what was started with more rights than a turn has now is ended.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, input, run, text};

/// The configuration of every stage here allows everything and asks nobody.
async fn full_access() -> (Stage, Conversation) {
    let settings = "[permissions.looking.filesystem]\n\":root\" = \"read\"\n\
                    [permissions.looking.network]\nenabled = true\n";
    let stage = Stage::with(settings).await;
    let client = stage.client().await;
    (stage, client)
}

async fn start(client: &mut Conversation, params: Value) -> (String, Value) {
    let started = client.call("thread/start", params).await;
    client.skip_to("thread/started").await;
    (text(&started["thread"]["id"]), started)
}

fn touch() -> [Value; 2] {
    let command = json!({ "cmd": "touch made", "login": false });
    [calls("exec_command", command), json!({ "text": "done" })]
}

/// Runs a turn that tries to write, with these settings; whether it could.
async fn writes(stage: &Stage, client: &mut Conversation, thread: &str, settings: Value) -> bool {
    stage.play(touch());
    let mut params = input(thread, "write");
    let settings = settings.as_object().unwrap().clone();
    params.as_object_mut().unwrap().extend(settings);
    client.call("turn/start", params).await;
    client.until("turn/completed").await;
    std::fs::remove_file(stage.directory().join("made")).is_ok()
}

async fn refusal(client: &mut Conversation, method: &str, params: Value) -> String {
    let error = client.try_call(method, params).await.unwrap_err();
    assert_eq!(error["code"], -32600, "{error}");
    text(&error["message"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_profile_decides_what_a_thread_may_touch() {
    let (stage, mut client) = full_access().await;
    let cases = [
        (":read-only", json!({ "type": "readOnly" }), false),
        (
            "looking",
            json!({ "type": "readOnly", "networkAccess": true }),
            false,
        ),
        (":workspace", json!({ "type": "workspaceWrite" }), true),
        (
            ":danger-full-access",
            json!({ "type": "dangerFullAccess" }),
            true,
        ),
    ];
    for (profile, policy, may_write) in cases {
        let (thread, started) = start(&mut client, json!({ "permissions": profile })).await;
        assert_eq!(started["activePermissionProfile"]["id"], profile);
        for (member, value) in policy.as_object().unwrap() {
            assert_eq!(&started["sandbox"][member], value, "{profile}");
        }
        let wrote = writes(&stage, &mut client, &thread, json!({})).await;
        assert_eq!(wrote, may_write, "{profile}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_profile_holds_from_a_turn_on() {
    let (stage, mut client) = full_access().await;
    let (thread, _) = start(&mut client, json!({})).await;
    assert!(writes(&stage, &mut client, &thread, json!({})).await);
    let read_only = json!({ "permissions": ":read-only" });
    assert!(!writes(&stage, &mut client, &thread, read_only).await);
    assert!(!writes(&stage, &mut client, &thread, json!({})).await);
    let workspace = json!({ "permissions": ":workspace" });
    assert!(writes(&stage, &mut client, &thread, workspace).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_without_an_environment_touches_nothing() {
    let (stage, mut client) = full_access().await;
    let (thread, _) = start(&mut client, json!({ "environments": [] })).await;
    assert!(!writes(&stage, &mut client, &thread, json!({})).await);
    assert!(
        stage
            .last_request()
            .contains("No usable execution environment is available.")
    );
    let patch = "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch";
    for (tool, arguments) in [
        ("shell", json!({ "command": ["touch", "made"] })),
        ("shell_command", json!({ "command": "touch made" })),
        ("apply_patch", json!({ "input": patch })),
    ] {
        stage.play([calls(tool, arguments), json!({ "text": "done" })]);
        run(&mut client, &thread, "write").await;
        assert!(!stage.directory().join("made").exists(), "{tool}");
    }
    let local = json!([{ "environmentId": "local", "cwd": stage.directory() }]);
    assert!(
        writes(
            &stage,
            &mut client,
            &thread,
            json!({ "environments": local })
        )
        .await
    );
    assert!(!writes(&stage, &mut client, &thread, json!({ "environments": [] })).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn workspace_roots_are_honoured_or_refused() {
    let (stage, mut client) = full_access().await;
    let (cwd, other) = (stage.directory().to_owned(), tempfile::tempdir().unwrap());
    let roots = json!([cwd, other.path()]);
    let params = json!({ "sandbox": "workspace-write", "runtimeWorkspaceRoots": roots });
    let (_, started) = start(&mut client, params).await;
    let granted = started["sandbox"]["writableRoots"].as_array().unwrap();
    assert!(granted.contains(&json!(other.path())), "{granted:?}");
    assert_eq!(started["runtimeWorkspaceRoots"], json!([cwd, other.path()]));
    let (plain, started) = start(&mut client, json!({ "sandbox": "workspace-write" })).await;
    assert_eq!(started["runtimeWorkspaceRoots"], json!([cwd]));
    let mut turn = input(&plain, "hello");
    turn["runtimeWorkspaceRoots"] = started["runtimeWorkspaceRoots"].clone();
    client.call("turn/start", turn).await;
    for roots in [json!([]), json!([other.path()])] {
        let params = json!({ "sandbox": "workspace-write", "runtimeWorkspaceRoots": roots });
        let why = refusal(&mut client, "thread/start", params).await;
        assert!(why.contains("must include the working directory"), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_cannot_be_honoured_are_refused() {
    let (_stage, mut client) = full_access().await;
    let (thread, _) = start(&mut client, json!({})).await;
    let unknown = "failed to load configuration: default_permissions refers to";
    let cases = [
        (
            json!({ "permissions": "nope" }),
            format!("{unknown} undefined profile `nope`"),
        ),
        (
            json!({ "permissions": ":nope" }),
            format!("{unknown} unknown built-in profile `:nope`"),
        ),
        (
            json!({ "environments": [{ "environmentId": "far", "cwd": "/" }] }),
            "unknown turn environment id `far`".to_owned(),
        ),
    ];
    for (params, expected) in cases {
        assert_eq!(
            refusal(&mut client, "thread/start", params.clone()).await,
            expected
        );
        let mut turn = input(&thread, "hello");
        turn.as_object_mut()
            .unwrap()
            .extend(params.as_object().unwrap().clone());
        assert_eq!(refusal(&mut client, "turn/start", turn).await, expected);
    }
    for (method, params, names) in [
        (
            "thread/start",
            json!({ "sandbox": "read-only" }),
            ("permissions", "sandbox"),
        ),
        (
            "turn/start",
            json!({ "threadId": thread, "input": [{ "type": "text", "text": "x" }], "sandboxPolicy": { "type": "readOnly" } }),
            ("permissions", "sandboxPolicy"),
        ),
        (
            "command/exec",
            json!({ "command": ["true"], "sandboxPolicy": { "type": "readOnly" } }),
            ("permissionProfile", "sandboxPolicy"),
        ),
    ] {
        let mut params = params;
        params[names.0] = json!(":read-only");
        let expected = format!("`{}` cannot be combined with `{}`", names.0, names.1);
        assert_eq!(refusal(&mut client, method, params).await, expected);
    }
    let mut disabling = input(&thread, "hello");
    disabling["disabledPluginIds"] = json!(["a@b"]);
    let why = refusal(&mut client, "turn/start", disabling).await;
    assert!(
        why.contains("`disabledPluginIds` is not supported"),
        "{why}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_the_client_runs_under_its_profile() {
    let (stage, mut client) = full_access().await;
    let made = stage.directory().join("made");
    for (profile, may_write) in [(":read-only", false), (":danger-full-access", true)] {
        let params = json!({ "command": ["touch", &made], "permissionProfile": profile });
        let ran = client.call("command/exec", params).await;
        assert_eq!(ran["exitCode"] == 0, may_write, "{profile}: {ran}");
        assert_eq!(made.exists(), may_write, "{profile}");
    }
    let params = json!({ "command": ["true"], "permissionProfile": "nope" });
    let why = refusal(&mut client, "command/exec", params).await;
    assert!(why.starts_with("invalid permission profile: "), "{why}");
}

/// An entry that takes a right away must not be ignored.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_profile_denies_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let secret = directory.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    std::fs::write(secret.join("key"), "outside-secret").unwrap();
    let profile = format!(
        "[permissions.dev.filesystem]\n\":root\" = \"read\"\n{:?} = \"none\"\n\
         \":project_roots\" = {{ \".\" = \"write\", \".env\" = \"none\" }}\n",
        secret.to_str().unwrap()
    );
    let work = directory.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join(".env"), "inside-secret").unwrap();
    let stage = Stage::at(directory, home, &profile).await;
    let script = format!(
        "cat .env {}/key; echo written > new; cat new",
        secret.display()
    );
    let params = json!({ "cwd": work, "permissions": "dev" });
    let (mut client, thread) = stage.thread_with(params).await;
    stage.play([
        calls("exec_command", json!({ "cmd": script, "login": false })),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "read them").await;
    let ran = &completed(&messages, "commandExecution")[0]["aggregatedOutput"];
    let ran = ran.as_str().unwrap();
    assert!(ran.contains("written"), "{ran}");
    assert!(!ran.contains("side-secret"), "{ran}");
    let outside = json!({ "command": ["cat", secret.join("key")], "permissionProfile": "dev" });
    let ran = client.call("command/exec", outside).await;
    assert_eq!(ran["stdout"], "", "{ran}");
    assert_ne!(ran["exitCode"], 0, "{ran}");
}

/// Opens a shell in a terminal; the number that the model knows it by.
async fn open_shell(stage: &Stage, client: &mut Conversation, thread: &str) -> u64 {
    let shell = json!({ "cmd": "sh", "tty": true, "yield_time_ms": 250, "login": false });
    stage.play([calls("exec_command", shell), json!({ "text": "done" })]);
    run(client, thread, "open").await;
    let request = stage.last_request();
    let (_, rest) = request.split_once("session ID ").unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_ends_when_its_rights_are_taken_back() {
    let narrower = [
        json!({ "sandboxPolicy": { "type": "readOnly" } }),
        json!({ "approvalPolicy": "untrusted" }),
        json!({ "permissions": ":workspace" }),
        json!({ "environments": [] }),
    ];
    for settings in narrower {
        let (stage, mut client) = full_access().await;
        let (thread, _) = start(&mut client, json!({})).await;
        let id = open_shell(&stage, &mut client, &thread).await;
        let typed = json!({ "session_id": id, "chars": "touch made\n" });
        stage.play([calls("write_stdin", typed), json!({ "text": "done" })]);
        let mut params = input(&thread, "type");
        params
            .as_object_mut()
            .unwrap()
            .extend(settings.as_object().unwrap().clone());
        client.call("turn/start", params).await;
        client.until("turn/completed").await;
        assert!(!stage.directory().join("made").exists(), "{settings}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_stays_when_rights_stay() {
    let (stage, mut client) = full_access().await;
    let params = json!({ "sandbox": "workspace-write" });
    let (thread, _) = start(&mut client, params).await;
    let id = open_shell(&stage, &mut client, &thread).await;
    let typed = json!({ "session_id": id, "chars": "touch made\n" });
    stage.play([calls("write_stdin", typed), json!({ "text": "done" })]);
    let mut params = input(&thread, "type");
    params["sandboxPolicy"] = json!({ "type": "dangerFullAccess" });
    client.call("turn/start", params).await;
    client.until("turn/completed").await;
    assert!(stage.directory().join("made").exists());
}

/// The settings of a trusted project cannot be planted from a thread that may write around or below it.
#[tokio::test(flavor = "multi_thread")]
async fn settings_that_count_cannot_be_written_by_commands_and_patches() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let project = directory
        .path()
        .canonicalize()
        .unwrap()
        .join("around/project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let trusted = format!("[projects.{project:?}]\ntrust_level = \"trusted\"\n");
    let stage = Stage::at(directory, home, &trusted).await;
    let planted = "sandbox_mode = \\\"danger-full-access\\\"";
    for (cwd, settings) in [
        (
            project.parent().unwrap(),
            project.join(".codex/config.toml"),
        ),
        (project.as_path(), project.join("sub/.codex/config.toml")),
    ] {
        let params = json!({ "cwd": cwd, "sandbox": "workspace-write" });
        let (mut client, thread) = stage.thread_with(params).await;
        let directory = settings.parent().unwrap();
        let command = format!(
            "mkdir -p {0}; echo \"{planted}\" > {1}; mkdir {0}/x && mv {0}/x {0}",
            directory.display(),
            settings.display()
        );
        let patch = format!(
            "*** Begin Patch\n*** Add File: {}\n+sandbox_mode = \"danger-full-access\"\n*** End Patch",
            settings.display()
        );
        stage.play([
            calls("exec_command", json!({ "cmd": command, "login": false })),
            json!({ "patch": patch }),
            json!({ "text": "done" }),
        ]);
        run(&mut client, &thread, "plant").await;
        let directory = project.join("sub");
        let cwd = if directory.exists() {
            directory
        } else {
            project.clone()
        };
        let params = json!({ "cwd": cwd, "sandbox": null });
        let started = client.call("thread/start", params).await;
        let config = client
            .call("config/read", json!({ "cwd": cwd, "includeLayers": true }))
            .await;
        let layers = config["layers"].as_array().unwrap();
        let counts = |layer: &&Value| {
            layer["name"]["type"] == "project"
                && layer["disabledReason"].is_null()
                && !layer["config"]["sandbox_mode"].is_null()
        };
        assert!(
            !layers.iter().any(|layer| counts(&layer)),
            "{started} {config}"
        );
    }
}
