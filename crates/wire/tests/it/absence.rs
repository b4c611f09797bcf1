//! Absent, `null` and given are three things where the protocol says so; and the other spellings that
//! clients use.

use quipu_wire::*;
use serde_json::{Value, json};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

#[test]
fn metadata_tells_unchanged_from_cleared() {
    let update = |git: Value| -> Option<ThreadMetadataGitInfoUpdateParams> {
        let params = json!({ "threadId": "t", "gitInfo": git });
        read::<ThreadMetadataUpdateParams>(params).git_info
    };
    assert_eq!(update(Value::Null), None);
    let git = update(json!({ "branch": "main", "sha": null })).unwrap();
    assert_eq!(git.branch, Some(Some("main".to_owned())));
    assert_eq!(git.sha, Some(None));
    assert_eq!(git.origin_url, None);
    let written = serde_json::to_value(&git).unwrap();
    assert_eq!(written, json!({ "branch": "main", "sha": null }));
}

#[test]
fn a_null_variable_is_one_to_unset() {
    let params: CommandExecParams =
        read(json!({ "command": ["x"], "env": { "A": "1", "B": null } }));
    let env = params.env.unwrap();
    assert_eq!(env["A"], Some("1".to_owned()));
    assert_eq!(env["B"], None);
    assert!(!env.contains_key("C"));
}

#[test]
fn a_null_service_tier_asks_for_none() {
    let tier = |value: Value| read::<ThreadStartParams>(value).service_tier;
    assert_eq!(tier(json!({})), None);
    assert_eq!(tier(json!({ "serviceTier": null })), Some(None));
    assert_eq!(
        tier(json!({ "serviceTier": "fast" })),
        Some(Some(ServiceTier::Fast))
    );
    let params = ThreadStartParams {
        service_tier: Some(None),
        ..Default::default()
    };
    assert_eq!(
        serde_json::to_value(params).unwrap()["serviceTier"],
        Value::Null
    );
}

#[test]
fn nulls_for_optional_members_mean_not_given() {
    let nulls = json!({
        "model": null, "modelProvider": null, "cwd": null, "approvalPolicy": null,
        "approvalsReviewer": null, "sandbox": null, "config": null, "serviceName": null,
        "baseInstructions": null, "developerInstructions": null, "personality": null,
        "ephemeral": null, "dynamicTools": null, "mockExperimentalField": null,
    });
    assert_eq!(
        read::<ThreadStartParams>(nulls),
        ThreadStartParams::default()
    );
}

#[test]
fn other_spellings_are_understood_and_the_official_one_is_written() {
    for (given, expected) in [
        ("workspaceWrite", SandboxMode::WorkspaceWrite),
        ("workspace-write", SandboxMode::WorkspaceWrite),
        ("readOnly", SandboxMode::ReadOnly),
        ("danger-full-access", SandboxMode::DangerFullAccess),
    ] {
        assert_eq!(read::<SandboxMode>(json!(given)), expected, "{given}");
    }
    assert_eq!(SandboxMode::WorkspaceWrite.as_str(), "workspace-write");
    for (given, written) in [
        ("unlessTrusted", "untrusted"),
        ("untrusted", "untrusted"),
        ("onFailure", "on-failure"),
        ("onRequest", "on-request"),
        ("never", "never"),
    ] {
        let policy: AskForApproval = read(json!(given));
        assert_eq!(serde_json::to_value(&policy).unwrap(), written);
    }
    let by_type: SandboxPolicy = read(json!({ "type": "readOnly" }));
    let by_mode: SandboxPolicy = read(json!({ "mode": "read-only" }));
    assert_eq!(by_type, by_mode);
    // Both present: the official name of the member wins.
    let both: SandboxPolicy = read(json!({ "mode": "read-only", "type": "dangerFullAccess" }));
    assert_eq!(both, SandboxPolicy::DangerFullAccess);
}

#[test]
fn a_policy_needs_no_more_than_its_type() {
    let policy: SandboxPolicy = read(json!({ "type": "workspaceWrite" }));
    assert_eq!(
        serde_json::to_value(policy).unwrap(),
        json!({
            "type": "workspaceWrite", "writableRoots": [], "readOnlyAccess": { "type": "fullAccess" },
            "networkAccess": false, "excludeTmpdirEnvVar": false, "excludeSlashTmp": false,
        })
    );
}
