//! Settings: read, changed, limited, and warned about.

use quipu_wire::method::event::ConfigWarning;
use serde_json::{Value, json};

use crate::lab::{Lab, initialize};

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
    let file = lab.folder.path().join("home/config.toml");
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
    let etc = lab.folder.path().join("etc");
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
    let rules = lab.folder.path().join("home/rules");
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
