//! Settings: read, changed, limited, and warned about.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_wire::method::event::ConfigWarning;
use serde_json::{Value, json};

use crate::journal_faults::small_disk;
use crate::lab::{Lab, initialize};
use crate::stage::{Stage, input, run, status};

#[tokio::test]
async fn a_change_is_written_and_read_back() {
    let lab = Lab::with(&[], "# mine\nmodel = \"a\"\n");
    let client = lab.client().await;
    let change = json!({ "keyPath": "model", "value": "b", "mergeStrategy": "replace" });
    let written = client
        .call_raw("config/value/write", &change)
        .await
        .unwrap();
    assert_eq!(written["status"], "ok");
    let read = client.call_raw("config/read", &json!({})).await.unwrap();
    assert_eq!(read["config"]["model"], "b");
    assert_eq!(read["origins"]["model"]["version"], written["version"]);
    assert!(read.get("layers").is_none(), "{read}");
    let file = lab.directory.path().join("home/config.toml");
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        "# mine\nmodel = \"b\"\n"
    );
    let layers = client
        .call_raw("config/read", &json!({ "includeLayers": true }))
        .await
        .unwrap();
    assert!(layers["layers"][0].get("disabledReason").is_none());
    client.finish().await;
}

#[tokio::test]
async fn refused_changes_say_why() {
    let lab = Lab::with(&[], "model = \"a\"\n");
    let client = lab.client().await;
    let edit = |key: &str, value: Value| json!({ "keyPath": key, "value": value, "mergeStrategy": "replace" });
    let mut stale = edit("model", json!("b"));
    stale["expectedVersion"] = json!("sha256:old");
    let mut elsewhere = edit("model", json!("b"));
    elsewhere["filePath"] = json!("/etc/other.toml");
    for (params, code) in [
        (stale, "configVersionConflict"),
        (elsewhere, "configLayerReadonly"),
        (edit("model", json!(7)), "configValidationError"),
        (edit("", json!(7)), "configValidationError"),
        (edit("no.such.key", Value::Null), "configPathNotFound"),
    ] {
        let error = client
            .call_raw("config/value/write", &params)
            .await
            .unwrap_err();
        let data = serde_json::to_value(error.data).unwrap();
        assert_eq!(error.code, -32600);
        assert_eq!(data["config_write_error_code"], code, "{params}");
    }
    let batch = json!({ "edits": [edit("model", json!("b")), edit("model", json!(7))] });
    assert!(client.call_raw("config/batchWrite", &batch).await.is_err());
    let read = client.call_raw("config/read", &json!({})).await.unwrap();
    assert_eq!(read["config"]["model"], "a");
    client.finish().await;
}

#[tokio::test]
async fn limits_are_shown() {
    let lab = Lab::new();
    let client = lab.client().await;
    let none = client
        .call_raw("configRequirements/read", &Value::Null)
        .await;
    assert_eq!(none.unwrap(), json!({ "requirements": null }));
    let etc = lab.directory.path().join("etc");
    std::fs::create_dir_all(&etc).unwrap();
    std::fs::write(
        etc.join("requirements.toml"),
        "allowed_sandbox_modes = [\"read-only\"]",
    )
    .unwrap();
    let limits = client
        .call_raw("configRequirements/read", &Value::Null)
        .await;
    let limits = limits.unwrap();
    assert_eq!(
        limits["requirements"]["allowedSandboxModes"],
        json!(["read-only"])
    );
    std::fs::write(etc.join("requirements.toml"), "=").unwrap();
    let error = client
        .call_raw("configRequirements/read", &Value::Null)
        .await;
    let error = error.unwrap_err();
    assert!(
        error
            .message
            .starts_with("failed to read configuration layers: "),
        "{error}"
    );
    client.finish().await;
}

#[tokio::test]
async fn warnings_follow_the_introduction_in_order() {
    let lab = Lab::with(&[], "model = 7\n");
    let rules = lab.directory.path().join("home/rules");
    std::fs::create_dir_all(&rules).unwrap();
    std::fs::write(rules.join("bad.rules"), "prefix_rule(").unwrap();
    let mut client = lab.client().await;
    let invalid = client.notified::<ConfigWarning>().await;
    assert_eq!(invalid.summary, "Invalid configuration; using defaults.");
    assert!(invalid.path.unwrap().ends_with("config.toml"));
    assert_eq!(invalid.range.unwrap().start.line, 1);
    let left_out = client.notified::<ConfigWarning>().await;
    assert!(left_out.path.unwrap().ends_with("bad.rules"));
    client.finish().await;

    let mut raw = lab.raw();
    let quiet = json!({ "optOutNotificationMethods": ["configWarning"] });
    raw.call(&initialize(json!(1), "quiet", quiet)).await;
    let answer = raw
        .call(&json!({ "id": 2, "method": "thread/loaded/list", "params": {} }))
        .await;
    assert_eq!(answer["id"], 2);
}

/// The words are those of the official server.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_beyond_the_administrators_limits() {
    let stage = Stage::new().await;
    let limits = "allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\n\
                  allowed_approval_policies = [\"on-request\"]\n[features]\npersonality = false\n";
    let file = stage.directory().join("etc/requirements.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, limits).unwrap();
    let set_by = format!("(set by {})", file.display());
    let mut client = stage.client().await;

    // What is configured or asked for when a thread begins falls back.
    let wish = json!({ "sandbox": "danger-full-access", "approvalPolicy": "never" });
    let started = client.call("thread/start", wish).await;
    assert_eq!(started["sandbox"]["type"], "readOnly");
    assert_eq!(started["approvalPolicy"], "on-request");
    let thread = started["thread"]["id"].as_str().unwrap();

    // What a turn or a command asks for is refused, and nothing changes.
    let sandbox = format!(
        "invalid value for `sandbox_mode`: `DangerFullAccess` is not in the allowed set [ReadOnly, \
         WorkspaceWrite] {set_by}"
    );
    let approval = format!(
        "invalid value for `approval_policy`: `Never` is not in the allowed set [OnRequest] {set_by}"
    );
    let full = json!({ "type": "dangerFullAccess" });
    for (key, value, words) in [
        ("sandboxPolicy", &full, &sandbox),
        ("approvalPolicy", &json!("never"), &approval),
    ] {
        let mut turn = input(thread, "hi");
        turn[key] = value.clone();
        assert_eq!(client.refused("turn/start", turn).await, *words);
    }
    let command = json!({ "command": ["true"], "sandboxPolicy": full });
    let refused = client.refused("command/exec", command).await;
    assert_eq!(refused, format!("invalid sandbox policy: {sandbox}"));
    let feature =
        json!({ "keyPath": "features.personality", "value": true, "mergeStrategy": "replace" });
    let refused = client.refused("config/value/write", feature).await;
    assert_eq!(
        refused,
        format!(
            "Invalid configuration: invalid value for `features`: `features.personality=true` is not in the \
             allowed set [personality=false] {set_by}"
        )
    );
    stage.play([json!({ "text": "ok" })]);
    let messages = run(&mut client, thread, "hi").await;
    assert_eq!(status(&messages), "completed");
    assert!(stage.last_request().contains("read-only"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_and_a_trusted_project_count_for_new_threads() {
    let stage = Stage::with("profile = \"p\"\n[profiles.p]\nmodel = \"of-the-profile\"\n").await;
    let project = stage.directory().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir_all(project.join(".codex")).unwrap();
    let own = "review_model = \"r\"\napproval_policy = \"on-request\"\n";
    std::fs::write(project.join(".codex/config.toml"), own).unwrap();
    let mut client = stage.client().await;
    let here = json!({ "cwd": project });
    let untrusted = client.call("thread/start", here.clone()).await;
    assert_eq!(untrusted["model"], "of-the-profile");
    assert_eq!(untrusted["approvalPolicy"], "never");
    let trust = json!({ "keyPath": "projects", "mergeStrategy": "upsert",
        "value": { project.to_str().unwrap(): { "trust_level": "trusted" } } });
    client.call("config/value/write", trust).await;
    let trusted = client.call("thread/start", here.clone()).await;
    assert_eq!(
        trusted["approvalPolicy"], "on-request",
        "at once, without a restart"
    );
    let other = json!({ "config": { "profile": "none" } });
    assert_eq!(
        client.refused("thread/start", other).await,
        "failed to load configuration: config profile `none` not found; there are: p"
    );
}

#[tokio::test]
async fn a_full_disk_leaves_the_old_files() {
    let Some(disk) = small_disk() else {
        return;
    };
    let directory = tempfile::tempdir_in(disk.path()).unwrap();
    let lab = Lab::at(directory, &[], "model = \"a\"\n");
    let client = lab.client().await;
    let file = lab.directory.path().join("file");
    let config = lab.directory.path().join("home/config.toml");
    std::fs::write(&file, "old").unwrap();
    // The program has written what it keeps for itself before there is no room.
    client.call_raw("config/read", &json!({})).await.unwrap();
    let ballast = disk.fill();
    let long = "x".repeat(300 * 1024);
    let write = json!({ "path": file, "dataBase64": STANDARD.encode(&long) });
    let copy = json!({ "sourcePath": ballast, "destinationPath": file });
    let full = std::io::Error::from_raw_os_error(libc::ENOSPC).to_string();
    for (method, params) in [("fs/writeFile", &write), ("fs/copy", &copy)] {
        let error = client.call_raw(method, params).await.unwrap_err();
        assert_eq!(
            (error.code, error.message),
            (-32603, full.clone()),
            "{method}"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old", "{method}");
    }
    let change =
        json!({ "keyPath": "developer_instructions", "value": long, "mergeStrategy": "replace" });
    let error = client.call_raw("config/value/write", &change).await;
    let text = format!("failed to persist config.toml: {full}");
    assert_eq!(error.unwrap_err().message, text);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "model = \"a\"\n");
    let edits = json!({ "edits": [change] });
    let error = client.call_raw("config/batchWrite", &edits).await;
    assert_eq!(error.unwrap_err().message, text);
    let switch = json!({ "name": long, "enabled": false });
    let error = client.call_raw("skills/config/write", &switch).await;
    let text = format!("failed to update skill settings: {text}");
    assert_eq!(error.unwrap_err().message, text);
    let login = json!({ "type": "apiKey", "apiKey": format!("sk-{long}") });
    let error = client.call_raw("account/login/start", &login).await;
    let text = format!("failed to save api key: {full}");
    assert_eq!(error.unwrap_err().message, text);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "model = \"a\"\n");
    let home = std::fs::read_dir(lab.directory.path().join("home")).unwrap();
    let half_written: Vec<_> = home
        .flatten()
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("auth") || name.starts_with(".auth") || name.ends_with(".tmp")
        })
        .collect();
    assert!(half_written.is_empty(), "{half_written:?}");
    let left = std::fs::read_dir(lab.directory.path()).unwrap();
    let left: Vec<_> = left.flatten().collect();
    assert_eq!(left.len(), 2, "nothing half-written stays: {left:?}");
    std::fs::remove_file(ballast).unwrap();
    client.call_raw("fs/writeFile", &write).await.unwrap();
    client
        .call_raw("config/value/write", &change)
        .await
        .unwrap();
    client.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_past_are_reported_with_every_thread() {
    let stage = Stage::with("experimental_use_unified_exec_tool = true").await;
    let mut client = stage.client().await;
    for _ in 0..2 {
        client.call("thread/start", json!({})).await;
        let messages = client.until("deprecationNotice").await;
        assert_eq!(messages[0]["method"], "thread/started");
        let notice = &messages.last().unwrap()["params"];
        assert_eq!(
            notice["summary"],
            "`[features].experimental_use_unified_exec_tool` is deprecated. Use `[features].unified_exec` instead."
        );
        assert!(notice["details"].is_string());
    }
}
