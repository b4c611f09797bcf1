//! Approvals, asked for by elicitation.

use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    FileChangeApprovalDecision as FileDecision, ReviewDecision, ThreadItem,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::item;

/// A question of the server that waits for its answer. Dropping it declines.
pub enum Ask {
    Command(
        Box<CommandExecutionRequestApprovalParams>,
        oneshot::Sender<CommandDecision>,
    ),
    /// The id of the patch.
    Patch(String, oneshot::Sender<FileDecision>),
}

impl Ask {
    /// The item that is to be approved.
    pub fn item_id(&self) -> &str {
        match self {
            Ask::Command(params, _) => &params.item_id,
            Ask::Patch(id, _) => id,
        }
    }

    /// The event that reports the question.
    pub fn event(&self, turn_id: &str, item: Option<&ThreadItem>) -> Value {
        match self {
            Ask::Command(params, _) => {
                let command = params.command.as_deref().unwrap_or_default();
                let actions = params.command_actions.as_deref().unwrap_or_default();
                let mut event = json!({
                    "type": "exec_approval_request",
                    "call_id": params.item_id,
                    "turn_id": turn_id,
                    "command": item::words(command),
                    "cwd": params.cwd,
                    "parsed_cmd": item::parsed(actions),
                });
                if let Some(reason) = &params.reason {
                    event["reason"] = reason.as_str().into();
                }
                if let Some(amendment) = &params.proposed_execpolicy_amendment {
                    event["proposed_execpolicy_amendment"] = json!(amendment);
                }
                if let Some(available) = &params.available_decisions {
                    let available = available.iter().filter_map(from_command);
                    event["available_decisions"] = json!(available.collect::<Vec<_>>());
                }
                event
            }
            Ask::Patch(id, _) => json!({
                "type": "apply_patch_approval_request",
                "call_id": id,
                "turn_id": turn_id,
                "changes": changes_of(item),
            }),
        }
    }

    /// The params of the elicitation.
    pub fn elicitation(
        &self,
        thread_id: &str,
        turn_id: &str,
        call_id: &Value,
        item: Option<&ThreadItem>,
    ) -> Value {
        let mut params = json!({
            "requestedSchema": { "type": "object", "properties": {} },
            "threadId": thread_id,
            "codex_mcp_tool_call_id": plain(call_id),
            "codex_event_id": turn_id,
            "codex_call_id": self.item_id(),
        });
        match self {
            Ask::Command(asked, _) => {
                let command = asked.command.as_deref().unwrap_or_default();
                let cwd = asked.cwd.as_deref().unwrap_or_default();
                let actions = asked.command_actions.as_deref().unwrap_or_default();
                let message = format!("Allow Codex to run `{command}` in `{cwd}`?");
                params["message"] = message.into();
                params["codex_elicitation"] = "exec-approval".into();
                params["codex_command"] = item::words(command).into();
                params["codex_cwd"] = cwd.into();
                params["codex_parsed_cmd"] = item::parsed(actions);
            }
            Ask::Patch(..) => {
                params["message"] = "Allow Codex to apply proposed code changes?".into();
                params["codex_elicitation"] = "patch-approval".into();
                params["codex_changes"] = changes_of(item);
            }
        }
        params
    }

    /// Gives the answer to who asked; one that is gone has no use for it.
    pub fn settle(self, decision: ReviewDecision) {
        let is_late = match self {
            Ask::Command(_, reply) => reply.send(for_command(decision)).is_err(),
            Ask::Patch(_, reply) => reply.send(for_patch(decision)).is_err(),
        };
        if is_late {
            tracing::debug!("approval dropped: nobody waits for it");
        }
    }
}

fn changes_of(patch: Option<&ThreadItem>) -> Value {
    match patch {
        Some(ThreadItem::FileChange { changes, .. }) => item::changes(changes),
        _ => json!({}),
    }
}

/// An id as text.
fn plain(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// What an answer to an elicitation decides. The official clients say it in `decision`; others have only the
/// `action` that every MCP client gives.
pub fn decision(answer: Result<Value, Value>) -> ReviewDecision {
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

fn for_command(decision: ReviewDecision) -> CommandDecision {
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

fn for_patch(decision: ReviewDecision) -> FileDecision {
    match decision {
        ReviewDecision::Approved => FileDecision::Accept,
        ReviewDecision::ApprovedForSession => FileDecision::AcceptForSession,
        ReviewDecision::Abort => FileDecision::Cancel,
        _ => FileDecision::Decline,
    }
}
