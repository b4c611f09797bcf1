//! Asking the user about a command or a patch, and what the answer means.

use std::time::{SystemTime, UNIX_EPOCH};

use quipu_engine::Waiting;
use quipu_patch::Change;
use quipu_policy::commands::{CommandQuestion, CommandRequest};
use quipu_policy::rules::{AmendError, PrefixRule, append_allow_prefix};
use quipu_wire::{
    ApplyPatchApprovalResponse, CommandExecutionApprovalDecision as Decision,
    CommandExecutionRequestApprovalParams, CommandExecutionRequestApprovalResponse,
    ExecCommandApprovalResponse, FileChangeApprovalDecision, FileChangeRequestApprovalParams,
    FileChangeRequestApprovalResponse, ServerRequest,
};

use crate::call::Running;
use crate::guardian::Action;
use crate::host::Answer;
use crate::legacy_approval as legacy;
use crate::process::Shown;

/// What the user, or a model in their place, decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    Granted,
    /// Do without; the turn goes on.
    Declined,
    /// The client could not answer; the same as declined, but shown as a failure.
    Failed,
    /// A reviewing model is against it, for this reason; the turn goes on.
    Denied(String),
    /// End the turn.
    Cancelled,
}

/// The command a question is about.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub shown: &'a Shown,
    pub request: CommandRequest<'a>,
}

/// Asks whether a command may run, and keeps what the answer says about later ones.
pub(crate) async fn ask_command(
    run: &Running,
    question: &CommandQuestion,
    asked: Asked<'_>,
) -> Approval {
    if run.scope.reviewed {
        return run.review(Action::command(asked)).await;
    }
    let decision = if run.scope.features.legacy_approvals {
        let request = legacy::command_request(run, question, asked);
        let answer = run.ask(request, Some(Waiting::Approval)).await;
        decode(answer).map(|it: ExecCommandApprovalResponse| legacy::command_decision(it.decision))
    } else {
        let request = command_request(run, question, asked.shown);
        let answer = run.ask(request, Some(Waiting::Approval)).await;
        decode(answer).map(|it: CommandExecutionRequestApprovalResponse| it.decision)
    };
    match decision {
        Ok(Decision::Accept) => Approval::Granted,
        Ok(Decision::AcceptForSession) => {
            let key = question.run.key.clone();
            run.agree(move |it| it.approvals_mut().accept_command(key))
                .await;
            Approval::Granted
        }
        Ok(Decision::AcceptWithExecpolicyAmendment {
            execpolicy_amendment,
        }) => {
            amend(run, &execpolicy_amendment.0).await;
            Approval::Granted
        }
        Ok(Decision::Cancel) => Approval::Cancelled,
        Ok(
            Decision::Decline
            | Decision::ApplyNetworkPolicyAmendment { .. }
            | Decision::Unrecognized(_),
        ) => Approval::Declined,
        Err(approval) => approval,
    }
}

/// Saves a prefix that is allowed from now on, and notes it for the model.
async fn amend(run: &Running, prefix: &[String]) {
    if !saved(|| append_allow_prefix(&run.scope.home, prefix)) {
        return;
    }
    if let Ok(rule) = PrefixRule::allow(prefix) {
        run.agree(move |it| it.rules_mut().push_prefix(rule)).await;
    }
    let text = quipu_policy::texts::prefix_saved(prefix);
    run.note(&text).await;
}

/// Saves a rule, off the async threads because others may keep the file locked; whether that worked.
pub(crate) fn saved(save: impl FnOnce() -> Result<bool, AmendError>) -> bool {
    let saved = tokio::task::block_in_place(save);
    let log = |error: &AmendError| tracing::warn!(%error, "failed to save a rule");
    saved.inspect_err(log).is_ok()
}

/// Asks whether a patch may be applied; `true` besides means for the whole session.
pub(crate) async fn ask_patch(
    run: &Running,
    reason: Option<String>,
    changes: &[Change],
    action: impl FnOnce() -> Action,
) -> (Approval, bool) {
    if run.scope.reviewed {
        return (run.review(action()).await, false);
    }
    let decision = if run.scope.features.legacy_approvals {
        let request = legacy::patch_request(run, reason, changes);
        let answer = run.ask(request, Some(Waiting::Approval)).await;
        decode(answer).map(|it: ApplyPatchApprovalResponse| legacy::patch_decision(&it.decision))
    } else {
        let request = patch_request(run, reason);
        let answer = run.ask(request, Some(Waiting::Approval)).await;
        decode(answer).map(|it: FileChangeRequestApprovalResponse| it.decision)
    };
    match decision {
        Ok(FileChangeApprovalDecision::Accept) => (Approval::Granted, false),
        Ok(FileChangeApprovalDecision::AcceptForSession) => (Approval::Granted, true),
        Ok(FileChangeApprovalDecision::Decline) => (Approval::Declined, false),
        Ok(FileChangeApprovalDecision::Cancel) => (Approval::Cancelled, false),
        Err(approval) => (approval, false),
    }
}

fn command_request(run: &Running, question: &CommandQuestion, shown: &Shown) -> ServerRequest {
    let params = CommandExecutionRequestApprovalParams {
        thread_id: run.scope.thread_id.to_string(),
        turn_id: run.scope.turn_id.to_string(),
        item_id: run.id().to_string(),
        started_at_ms: now_ms(),
        approval_id: None,
        reason: question.reason.clone(),
        network_approval_context: None,
        command: Some(shown.command.clone()),
        cwd: Some(shown.cwd.clone()),
        command_actions: Some(shown.actions.clone()),
        additional_permissions: question.additional_permissions.clone(),
        proposed_execpolicy_amendment: question.proposed_amendment.clone(),
        proposed_network_policy_amendments: None,
        available_decisions: Some(question.available_decisions.clone()),
    };
    ServerRequest::ItemCommandExecutionRequestApproval(params)
}

/// When a question is asked, in Unix milliseconds.
pub(crate) fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| i64::try_from(it.as_millis()).unwrap_or(i64::MAX))
}

fn patch_request(run: &Running, reason: Option<String>) -> ServerRequest {
    let params = FileChangeRequestApprovalParams {
        thread_id: run.scope.thread_id.to_string(),
        turn_id: run.scope.turn_id.to_string(),
        item_id: run.id().to_string(),
        started_at_ms: now_ms(),
        reason,
        grant_root: None,
    };
    ServerRequest::ItemFileChangeRequestApproval(params)
}

/// Reads an answer; one that cannot be read declines.
fn decode<T: serde::de::DeserializeOwned>(answer: Option<Answer>) -> Result<T, Approval> {
    match answer {
        Some(Ok(json)) => json.parse().map_err(|_| Approval::Declined),
        Some(Err(())) => Err(Approval::Failed),
        None => Err(Approval::Declined),
    }
}
