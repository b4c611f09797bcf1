//! Approvals of commands and patches, asked for by elicitation.

use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    FileChangeApprovalDecision as FileDecision, FileChangeRequestApprovalParams, ReviewDecision,
    ThreadItem,
};
use serde_json::{Value, json};

use crate::item;

/// The event that reports a command.
pub fn command_event(asked: &CommandExecutionRequestApprovalParams) -> Value {
    let command = asked.command.as_deref().unwrap_or_default();
    let actions = asked.command_actions.as_deref().unwrap_or_default();
    let mut event = json!({
        "type": "exec_approval_request",
        "call_id": asked.item_id,
        "turn_id": asked.turn_id,
        "command": item::words(command),
        "cwd": asked.cwd,
        "parsed_cmd": item::parsed(actions),
    });
    if let Some(reason) = &asked.reason {
        event["reason"] = reason.as_str().into();
    }
    if let Some(amendment) = &asked.proposed_execpolicy_amendment {
        event["proposed_execpolicy_amendment"] = json!(amendment);
    }
    if let Some(available) = &asked.available_decisions {
        let available = available.iter().filter_map(from_command);
        event["available_decisions"] = json!(available.collect::<Vec<_>>());
    }
    event
}

/// The event that reports a patch.
pub fn patch_event(asked: &FileChangeRequestApprovalParams, item: Option<&ThreadItem>) -> Value {
    json!({
        "type": "apply_patch_approval_request",
        "call_id": asked.item_id,
        "turn_id": asked.turn_id,
        "changes": changes_of(item),
    })
}

/// The elicitation about a command.
pub fn command_elicitation(asked: &CommandExecutionRequestApprovalParams) -> Value {
    let command = asked.command.as_deref().unwrap_or_default();
    let cwd = asked.cwd.as_deref().unwrap_or_default();
    let actions = asked.command_actions.as_deref().unwrap_or_default();
    json!({
        "message": format!("Allow Codex to run `{command}` in `{cwd}`?"),
        "requestedSchema": { "type": "object", "properties": {} },
        "codex_elicitation": "exec-approval",
        "codex_command": item::words(command),
        "codex_cwd": cwd,
        "codex_parsed_cmd": item::parsed(actions),
    })
}

/// The elicitation about a patch.
pub fn patch_elicitation(item: Option<&ThreadItem>) -> Value {
    json!({
        "message": "Allow Codex to apply proposed code changes?",
        "requestedSchema": { "type": "object", "properties": {} },
        "codex_elicitation": "patch-approval",
        "codex_changes": changes_of(item),
    })
}

fn changes_of(patch: Option<&ThreadItem>) -> Value {
    match patch {
        Some(ThreadItem::FileChange { changes, .. }) => item::changes(changes),
        _ => json!({}),
    }
}

/// What an answer to an elicitation decides. The official clients say it in `decision`; others have only the
/// `action` that every MCP client gives.
pub fn decision(answer: &Result<Value, Value>) -> ReviewDecision {
    let Ok(answer) = answer else {
        return ReviewDecision::Denied;
    };
    if let Some(decision) = answer.get("decision") {
        return serde_json::from_value(decision.clone()).unwrap_or(ReviewDecision::Denied);
    }
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => ReviewDecision::Approved,
        Some("cancel") => ReviewDecision::Abort,
        _ => ReviewDecision::Denied,
    }
}

/// A decision of the protocol in the words of events.
fn from_command(decision: &CommandDecision) -> Option<ReviewDecision> {
    Some(match decision.clone() {
        CommandDecision::Accept => ReviewDecision::Approved,
        CommandDecision::AcceptForSession => ReviewDecision::ApprovedForSession,
        CommandDecision::AcceptWithExecpolicyAmendment {
            execpolicy_amendment,
        } => ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment: execpolicy_amendment,
        },
        CommandDecision::ApplyNetworkPolicyAmendment {
            network_policy_amendment,
        } => ReviewDecision::NetworkPolicyAmendment {
            network_policy_amendment,
        },
        CommandDecision::Decline => ReviewDecision::Denied,
        CommandDecision::Cancel => ReviewDecision::Abort,
        _ => return None,
    })
}

pub fn for_command(decision: ReviewDecision) -> CommandDecision {
    match decision {
        ReviewDecision::Approved => CommandDecision::Accept,
        ReviewDecision::ApprovedForSession => CommandDecision::AcceptForSession,
        ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment,
        } => CommandDecision::AcceptWithExecpolicyAmendment {
            execpolicy_amendment: proposed_execpolicy_amendment,
        },
        ReviewDecision::NetworkPolicyAmendment {
            network_policy_amendment,
        } => CommandDecision::ApplyNetworkPolicyAmendment {
            network_policy_amendment,
        },
        ReviewDecision::Abort => CommandDecision::Cancel,
        _ => CommandDecision::Decline,
    }
}

pub fn for_patch(decision: ReviewDecision) -> FileDecision {
    match decision {
        ReviewDecision::Approved => FileDecision::Accept,
        ReviewDecision::ApprovedForSession => FileDecision::AcceptForSession,
        ReviewDecision::Abort => FileDecision::Cancel,
        _ => FileDecision::Decline,
    }
}
