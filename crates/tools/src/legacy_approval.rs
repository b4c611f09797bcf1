//! Questions about commands and patches in the form of the first protocol version, for clients that
//! answer no other (`legacy_approvals`), and what their answers mean in the present form.

use quipu_patch::{Change, ChangeKind};
use quipu_policy::commands::CommandQuestion;
use quipu_wire::{
    ApplyPatchApprovalParams, CommandAction, CommandExecutionApprovalDecision,
    ExecCommandApprovalParams, FileChange, FileChangeApprovalDecision, ParsedCommand,
    ReviewDecision, ServerRequest, ThreadId,
};

use crate::approval::Asked;
use crate::call::Running;

pub(crate) fn command_request(
    run: &Running,
    question: &CommandQuestion,
    asked: Asked<'_>,
) -> ServerRequest {
    let Asked { shown, request } = asked;
    ServerRequest::ExecCommandApproval(ExecCommandApprovalParams {
        conversation_id: ThreadId(run.scope.thread_id.to_string()),
        call_id: run.id().to_string(),
        approval_id: None,
        command: request.argv.to_vec(),
        cwd: shown.cwd.clone(),
        reason: question.reason.clone(),
        parsed_cmd: shown.actions.iter().filter_map(parsed).collect(),
    })
}

pub(crate) fn command_decision(decision: ReviewDecision) -> CommandExecutionApprovalDecision {
    use CommandExecutionApprovalDecision as Decision;
    match decision {
        ReviewDecision::Approved => Decision::Accept,
        ReviewDecision::ApprovedForSession => Decision::AcceptForSession,
        ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment: execpolicy_amendment,
        } => Decision::AcceptWithExecpolicyAmendment {
            execpolicy_amendment,
        },
        ReviewDecision::NetworkPolicyAmendment {
            network_policy_amendment,
        } => Decision::ApplyNetworkPolicyAmendment {
            network_policy_amendment,
        },
        ReviewDecision::Denied => Decision::Decline,
        ReviewDecision::Abort => Decision::Cancel,
    }
}

pub(crate) fn patch_request(
    run: &Running,
    reason: Option<String>,
    changes: &[Change],
) -> ServerRequest {
    let changed = |change: &Change| {
        (
            change.path.to_string_lossy().into_owned(),
            file_change(change),
        )
    };
    ServerRequest::ApplyPatchApproval(ApplyPatchApprovalParams {
        conversation_id: ThreadId(run.scope.thread_id.to_string()),
        call_id: run.id().to_string(),
        file_changes: changes.iter().map(changed).collect(),
        reason,
        grant_root: None,
    })
}

/// Amendments are about commands and hosts: a patch is not applied because of one.
pub(crate) fn patch_decision(decision: &ReviewDecision) -> FileChangeApprovalDecision {
    match decision {
        ReviewDecision::Approved => FileChangeApprovalDecision::Accept,
        ReviewDecision::ApprovedForSession => FileChangeApprovalDecision::AcceptForSession,
        ReviewDecision::Denied
        | ReviewDecision::ApprovedExecpolicyAmendment { .. }
        | ReviewDecision::NetworkPolicyAmendment { .. } => FileChangeApprovalDecision::Decline,
        ReviewDecision::Abort => FileChangeApprovalDecision::Cancel,
    }
}

fn file_change(change: &Change) -> FileChange {
    match &change.kind {
        ChangeKind::Add => FileChange::Add {
            content: change.diff(),
        },
        ChangeKind::Delete => FileChange::Delete {
            content: change.diff(),
        },
        ChangeKind::Update { move_to } => FileChange::Update {
            unified_diff: change.hunks(),
            move_path: move_to
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned()),
        },
    }
}

fn parsed(action: &CommandAction) -> Option<ParsedCommand> {
    Some(match action.clone() {
        CommandAction::Read {
            command: cmd,
            name,
            path,
        } => ParsedCommand::Read { cmd, name, path },
        CommandAction::ListFiles { command: cmd, path } => ParsedCommand::ListFiles { cmd, path },
        CommandAction::Search {
            command: cmd,
            query,
            path,
        } => ParsedCommand::Search { cmd, query, path },
        CommandAction::Unknown { command: cmd } => ParsedCommand::Unknown { cmd },
        CommandAction::Unrecognized(_) => return None,
    })
}
