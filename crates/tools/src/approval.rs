//! Asking the user about a command or a patch, and what the answer means.

use quipu_engine::Waiting;
use quipu_policy::commands::CommandQuestion;
use quipu_policy::rules::append_allow_prefix;
use quipu_wire::{
    CommandAction, CommandExecutionApprovalDecision as Decision,
    CommandExecutionRequestApprovalParams, CommandExecutionRequestApprovalResponse,
    FileChangeApprovalDecision, FileChangeRequestApprovalParams, FileChangeRequestApprovalResponse,
    ServerRequest,
};

use crate::call::Running;
use crate::host::Answer;
use crate::toolbox::Toolbox;

/// What the user decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    Granted,
    /// Do without; the turn goes on.
    Declined,
    /// The client could not answer; the same as declined, but shown as a failure.
    Failed,
    /// End the turn.
    Cancelled,
}

/// The command a question is about.
pub(crate) struct Asked<'a> {
    pub command: String,
    pub cwd: &'a str,
    pub actions: Vec<CommandAction>,
}

impl Toolbox {
    /// Asks whether a command may run, and keeps what the answer says about later ones.
    pub(crate) async fn ask_command(
        &self,
        run: &Running,
        question: &CommandQuestion,
        asked: Asked<'_>,
    ) -> Approval {
        let params = CommandExecutionRequestApprovalParams {
            thread_id: run.scope.thread_id.clone(),
            turn_id: run.scope.turn_id.clone(),
            item_id: run.id().to_owned(),
            approval_id: None,
            reason: question.reason.clone(),
            network_approval_context: None,
            command: Some(asked.command),
            cwd: Some(asked.cwd.to_owned()),
            command_actions: Some(asked.actions),
            additional_permissions: question.additional_permissions.clone(),
            proposed_execpolicy_amendment: question.proposed_amendment.clone(),
            proposed_network_policy_amendments: None,
            available_decisions: Some(question.available_decisions.clone()),
        };
        let request = ServerRequest::ItemCommandExecutionRequestApproval(params);
        let answer = run.ask(request, Some(Waiting::Approval)).await;
        let decision = match decode::<CommandExecutionRequestApprovalResponse>(answer) {
            Ok(response) => response.decision,
            Err(approval) => return approval,
        };
        match decision {
            Decision::Accept => Approval::Granted,
            Decision::AcceptForSession => {
                self.approvals().accept_command(question.run.key.clone());
                Approval::Granted
            }
            Decision::AcceptWithExecpolicyAmendment {
                execpolicy_amendment,
            } => {
                self.amend(run, &execpolicy_amendment.0).await;
                Approval::Granted
            }
            Decision::Cancel => Approval::Cancelled,
            Decision::Decline
            | Decision::ApplyNetworkPolicyAmendment { .. }
            | Decision::Unrecognized(_) => Approval::Declined,
        }
    }

    /// Saves a prefix that is allowed from now on, and tells the model.
    async fn amend(&self, run: &Running, prefix: &[String]) {
        if let Err(error) = append_allow_prefix(&run.scope.home, prefix) {
            tracing::warn!(%error, "an allowed prefix could not be saved");
            return;
        }
        let text = quipu_policy::texts::prefix_saved(prefix);
        let note = serde_json::json!({
            "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": text }],
        });
        run.report(quipu_engine::ToolEvent::Note(note.into())).await;
    }
}

/// Asks whether a patch may be applied; `true` besides means for the whole session.
pub(crate) async fn ask_patch(run: &Running, reason: Option<String>) -> (Approval, bool) {
    let params = FileChangeRequestApprovalParams {
        thread_id: run.scope.thread_id.clone(),
        turn_id: run.scope.turn_id.clone(),
        item_id: run.id().to_owned(),
        reason,
        grant_root: None,
    };
    let request = ServerRequest::ItemFileChangeRequestApproval(params);
    let answer = run.ask(request, Some(Waiting::Approval)).await;
    match decode::<FileChangeRequestApprovalResponse>(answer) {
        Ok(response) => match response.decision {
            FileChangeApprovalDecision::Accept => (Approval::Granted, false),
            FileChangeApprovalDecision::AcceptForSession => (Approval::Granted, true),
            FileChangeApprovalDecision::Decline => (Approval::Declined, false),
            FileChangeApprovalDecision::Cancel => (Approval::Cancelled, false),
        },
        Err(approval) => (approval, false),
    }
}

/// Reads an answer; one that cannot be read declines.
fn decode<T: serde::de::DeserializeOwned>(answer: Option<Answer>) -> Result<T, Approval> {
    match answer {
        Some(Ok(json)) => json.parse().map_err(|_| Approval::Declined),
        Some(Err(())) => Err(Approval::Failed),
        None => Err(Approval::Declined),
    }
}
