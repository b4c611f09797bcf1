//! More rights than the sandbox gives, asked for by elicitation.

use quipu_client::wire::{
    AdditionalFileSystemPermissions as Files, GrantedPermissionProfile, PermissionGrantScope,
    PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse, ReviewDecision,
};
use serde_json::{Value, json};

use crate::approval::decision;
use crate::item;

/// The event that reports the request.
pub fn event(asked: &PermissionsRequestApprovalParams) -> Value {
    let mut event = json!({
        "type": "request_permissions",
        "call_id": asked.item_id,
        "turn_id": asked.turn_id,
        "permissions": item::snake(&asked.permissions),
    });
    if let Some(reason) = &asked.reason {
        event["reason"] = reason.as_str().into();
    }
    event
}

/// The elicitation: yes or no, and for how long.
pub fn elicitation(asked: &PermissionsRequestApprovalParams) -> Value {
    let mut wanted = Vec::new();
    let network = asked.permissions.network.as_ref();
    if network.is_some_and(|it| it.enabled == Some(true)) {
        wanted.push("network access".to_owned());
    }
    if let Some(files) = &asked.permissions.file_system {
        wanted.extend(paths("read", files));
        wanted.extend(paths("write", files));
    }
    let reason = asked.reason.as_deref().unwrap_or_default();
    let message = format!("Allow Codex more: {}? {reason}", wanted.join("; "));
    let scope = json!({
        "type": "string", "title": "For how long", "enum": ["turn", "session"],
        "enumNames": ["For this turn", "For this session"], "default": "turn",
    });
    json!({
        "message": message.trim_end(),
        "requestedSchema": { "type": "object", "properties": { "scope": scope } },
        "codex_elicitation": "permissions-approval",
        "codex_permissions": asked.permissions,
    })
}

/// What may be done with which files, if any.
fn paths(verb: &str, files: &Files) -> Option<String> {
    let paths = json!(files)[verb].take();
    let paths: Vec<_> = paths.as_array()?.iter().filter_map(Value::as_str).collect();
    (!paths.is_empty()).then(|| format!("{verb} {}", paths.join(", ")))
}

/// What an answer grants: everything or nothing.
pub fn answer(
    asked: PermissionsRequestApprovalParams,
    answer: &Result<Value, Value>,
) -> PermissionsRequestApprovalResponse {
    let decision = decision(answer);
    let for_session = decision == ReviewDecision::ApprovedForSession;
    if !for_session && decision != ReviewDecision::Approved {
        return nothing();
    }
    let chosen = answer.as_ref().ok().map(|it| &it["content"]["scope"]);
    PermissionsRequestApprovalResponse {
        permissions: GrantedPermissionProfile {
            network: asked.permissions.network,
            file_system: asked.permissions.file_system,
        },
        scope: match for_session || chosen.is_some_and(|it| it == "session") {
            true => PermissionGrantScope::Session,
            false => PermissionGrantScope::Turn,
        },
        strict_auto_review: false,
    }
}

/// The answer that grants nothing.
pub fn nothing() -> PermissionsRequestApprovalResponse {
    PermissionsRequestApprovalResponse {
        permissions: GrantedPermissionProfile {
            network: None,
            file_system: None,
        },
        scope: PermissionGrantScope::Turn,
        strict_auto_review: false,
    }
}
