//! The server's questions, passed on to the editor.

use std::sync::{Arc, Weak};

use agent_client_protocol::v1::schema::{
    PermissionOptionKind, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use quipu_client::Handler;
use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    DynamicToolCallParams, DynamicToolCallResponse, FileChangeApprovalDecision as FileDecision,
    FileChangeRequestApprovalParams, GrantedPermissionProfile, PermissionGrantScope,
    PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse,
    ToolRequestUserInputAnswer, ToolRequestUserInputParams, ToolRequestUserInputResponse,
};

use crate::agent::{Agent, Editor};
use crate::permission::{self, Answer, Choice};
use crate::session::Session;
use crate::{editor, tool_call};

pub struct Questions {
    agent: Weak<Agent>,
    editor: Editor,
}

impl Questions {
    pub fn new(agent: &Arc<Agent>, editor: &Editor) -> Questions {
        Questions {
            agent: Arc::downgrade(agent),
            editor: editor.clone(),
        }
    }

    fn session(&self, thread_id: &str) -> Option<Arc<Session>> {
        self.agent.upgrade()?.session(thread_id).ok()
    }

    /// The tool call that a question is about, once the editor knows it.
    async fn call(&self, thread_id: &str, item_id: &str) -> Option<ToolCallUpdate> {
        let item = self.session(thread_id)?.item(item_id).await;
        tool_call::changed(&item)
    }
}

/// A tool call of its own, for questions that belong to no item.
fn titled(id: &str, title: String) -> ToolCallUpdate {
    let fields = ToolCallUpdateFields::new()
        .title(title)
        .status(ToolCallStatus::Pending);
    ToolCallUpdate::new(id.to_owned(), fields)
}

impl Handler for Questions {
    async fn approve_command(
        &self,
        request: CommandExecutionRequestApprovalParams,
    ) -> CommandDecision {
        let Some(call) = self.call(&request.thread_id, &request.item_id).await else {
            return CommandDecision::Decline;
        };
        let choices = permission::for_command(&request);
        let chosen = permission::ask(&self.editor, &request.thread_id, call, choices).await;
        chosen.unwrap_or(CommandDecision::Cancel)
    }

    async fn approve_file_change(&self, request: FileChangeRequestApprovalParams) -> FileDecision {
        let Some(call) = self.call(&request.thread_id, &request.item_id).await else {
            return FileDecision::Decline;
        };
        let choices = permission::for_patch();
        let chosen = permission::ask(&self.editor, &request.thread_id, call, choices).await;
        chosen.unwrap_or(FileDecision::Cancel)
    }

    async fn approve_permissions(
        &self,
        request: PermissionsRequestApprovalParams,
    ) -> PermissionsRequestApprovalResponse {
        let wanted = serde_json::to_string(&request.permissions).unwrap_or_default();
        let reason = request
            .reason
            .unwrap_or_else(|| "The agent asks for more rights".to_owned());
        let call = titled(&request.item_id, format!("{reason}: {wanted}"));
        let choices = permission::plain();
        let chosen = permission::ask(&self.editor, &request.thread_id, call, choices).await;
        let is_granted = matches!(chosen, Some(Answer::Once | Answer::Always));
        let granted = request.permissions;
        PermissionsRequestApprovalResponse {
            permissions: GrantedPermissionProfile {
                network: granted.network.filter(|_| is_granted),
                file_system: granted.file_system.filter(|_| is_granted),
            },
            scope: match chosen {
                Some(Answer::Always) => PermissionGrantScope::Session,
                _ => PermissionGrantScope::Turn,
            },
            strict_auto_review: false,
        }
    }

    /// Questions with options are asked one after the other; editors have no field for other answers.
    async fn answer_questions(
        &self,
        request: ToolRequestUserInputParams,
    ) -> ToolRequestUserInputResponse {
        let mut response = ToolRequestUserInputResponse {
            answers: Default::default(),
        };
        for question in request.questions {
            let options = question.options.unwrap_or_default().into_iter();
            let choices: Vec<_> = options
                .map(|it| Choice {
                    name: it.label.clone(),
                    kind: PermissionOptionKind::AllowOnce,
                    meaning: it.label,
                })
                .collect();
            if choices.is_empty() {
                continue;
            }
            let call = titled(&request.item_id, question.question);
            let chosen = permission::ask(&self.editor, &request.thread_id, call, choices).await;
            if let Some(label) = chosen {
                let answer = ToolRequestUserInputAnswer {
                    answers: vec![label],
                };
                response.answers.insert(question.id, answer);
            }
        }
        response
    }

    async fn call_tool(&self, request: DynamicToolCallParams) -> DynamicToolCallResponse {
        match self.session(&request.thread_id) {
            Some(session) => editor::call(&self.editor, &session, &request).await,
            None => editor::failure("The session is closed."),
        }
    }
}
