//! Approvals, asked for with permission requests.

use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    FileChangeApprovalDecision as FileDecision,
};

use crate::editor::Editor;
use crate::schema::{
    PermissionAnswer, PermissionKind as Kind, PermissionOption, PermissionOutcome,
    PermissionRequest, ToolCall,
};

/// Something to choose, and what choosing it means.
pub struct Choice<T> {
    pub name: String,
    pub kind: Kind,
    pub meaning: T,
}

/// Asks the user. Nothing if the prompt was cancelled or the editor cannot ask.
pub async fn ask<T>(
    editor: &Editor,
    session_id: &str,
    call: ToolCall,
    choices: Vec<Choice<T>>,
) -> Option<T> {
    let options = choices
        .iter()
        .enumerate()
        .map(|(index, choice)| PermissionOption {
            option_id: index.to_string(),
            name: choice.name.clone(),
            kind: choice.kind,
        });
    let request = PermissionRequest {
        session_id,
        tool_call: call,
        options: options.collect(),
    };
    let asked = editor.ask("session/request_permission", &request).await;
    let answer: PermissionAnswer = match asked {
        Ok(answer) => answer,
        Err(error) => {
            tracing::warn!(%error, "permission not asked for");
            return None;
        }
    };
    let PermissionOutcome::Selected { option_id } = answer.outcome else {
        return None;
    };
    let index: usize = option_id.parse().ok()?;
    choices.into_iter().nth(index).map(|it| it.meaning)
}

pub fn choice<T>(name: impl Into<String>, kind: Kind, meaning: T) -> Choice<T> {
    Choice {
        name: name.into(),
        kind,
        meaning,
    }
}

/// What can be answered about a command.
pub fn for_command(
    request: &CommandExecutionRequestApprovalParams,
) -> Vec<Choice<CommandDecision>> {
    let mut choices = vec![choice("Allow", Kind::AllowOnce, CommandDecision::Accept)];
    let available = request.available_decisions.as_deref();
    let offers = |wanted: &CommandDecision| available.is_none_or(|it| it.contains(wanted));
    if offers(&CommandDecision::AcceptForSession) {
        let name = "Allow for this session";
        choices.push(choice(
            name,
            Kind::AllowAlways,
            CommandDecision::AcceptForSession,
        ));
    }
    for decision in available.unwrap_or_default() {
        let name = match decision {
            CommandDecision::AcceptWithExecpolicyAmendment {
                execpolicy_amendment,
            } => {
                let words = serde_json::to_value(execpolicy_amendment).unwrap_or_default();
                let words = words
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|it| it.as_str());
                let words: Vec<_> = words.collect();
                format!("Always allow `{}`", words.join(" "))
            }
            CommandDecision::ApplyNetworkPolicyAmendment { .. } => {
                "Always decide like this for the host".to_owned()
            }
            _ => continue,
        };
        choices.push(choice(name, Kind::AllowAlways, decision.clone()));
    }
    choices.push(choice("Reject", Kind::RejectOnce, CommandDecision::Decline));
    choices
}

/// What can be answered about a patch.
pub fn for_patch() -> Vec<Choice<FileDecision>> {
    vec![
        choice("Allow", Kind::AllowOnce, FileDecision::Accept),
        choice(
            "Allow for this session",
            Kind::AllowAlways,
            FileDecision::AcceptForSession,
        ),
        choice("Reject", Kind::RejectOnce, FileDecision::Decline),
    ]
}

/// Yes, always, or no.
pub fn plain() -> Vec<Choice<Answer>> {
    vec![
        choice("Allow", Kind::AllowOnce, Answer::Once),
        choice("Allow for this session", Kind::AllowAlways, Answer::Always),
        choice("Reject", Kind::RejectOnce, Answer::No),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Once,
    Always,
    No,
}
