//! The server's questions, passed on to the editor.

use std::sync::{Arc, Weak};

use quipu_client::Handler;
use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    DynamicToolCallParams, DynamicToolCallResponse, FileChangeApprovalDecision as FileDecision,
    FileChangeRequestApprovalParams, GrantedPermissionProfile, McpServerElicitationAction,
    McpServerElicitationRequestParams, McpServerElicitationRequestResponse, PermissionGrantScope,
    PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse,
    ToolRequestUserInputAnswer, ToolRequestUserInputParams, ToolRequestUserInputResponse,
};

use crate::agent::Agent;
use crate::editor::Editor;
use crate::elicitation::{Asker, titled};
use crate::permission::{self, Answer, Choice};
use crate::schema::{PermissionKind, ToolCall, ToolKind};
use crate::session::Session;
use crate::{editor_tools, tool_call};

pub struct Questions {
    agent: Weak<Agent>,
    editor: Editor,
}

impl Questions {
    pub fn new(agent: &Arc<Agent>) -> Questions {
        Questions {
            agent: Arc::downgrade(agent),
            editor: agent.editor.clone(),
        }
    }

    /// The session that a question is shown in.
    async fn session(&self, thread_id: &str) -> Option<Arc<Session>> {
        self.agent.upgrade()?.session_of(thread_id).await
    }

    /// The tool call that a question is about, once the editor knows it. Items of other agents are not shown; their
    /// questions have only a title.
    async fn call(
        &self,
        session: &Session,
        thread_id: &str,
        item_id: &str,
        title: impl FnOnce() -> String,
    ) -> ToolCall {
        if session.thread_id == thread_id {
            let item = session.item(item_id).await;
            if let Some(call) = tool_call::of(&item) {
                return call;
            }
        }
        titled(item_id, title())
    }

    fn asker<'a>(&'a self, session: &'a Session, call_id: String) -> Asker<'a> {
        let capabilities = self.agent.upgrade().map(|it| it.capabilities());
        Asker {
            editor: &self.editor,
            session_id: &session.thread_id,
            shows: capabilities.unwrap_or_default().elicitation,
            call_id,
        }
    }
}

impl Handler for Questions {
    async fn approve_command(
        &self,
        request: CommandExecutionRequestApprovalParams,
    ) -> CommandDecision {
        let Some(session) = self.session(&request.thread_id).await else {
            return CommandDecision::Decline;
        };
        let title = || tool_call::command_title(request.command.as_deref().unwrap_or_default());
        let call = self.call(&session, &request.thread_id, &request.item_id, title);
        let mut call = call.await;
        call.kind = Some(ToolKind::Execute);
        let choices = permission::for_command(&request);
        let chosen = permission::ask(&self.editor, &session.thread_id, call, choices).await;
        chosen.unwrap_or(CommandDecision::Cancel)
    }

    async fn approve_file_change(&self, request: FileChangeRequestApprovalParams) -> FileDecision {
        let Some(session) = self.session(&request.thread_id).await else {
            return FileDecision::Decline;
        };
        let title = || "Change files".to_owned();
        let call = self.call(&session, &request.thread_id, &request.item_id, title);
        let call = call.await;
        let choices = permission::for_patch();
        let chosen = permission::ask(&self.editor, &session.thread_id, call, choices).await;
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
        let chosen = match self.session(&request.thread_id).await {
            Some(session) => {
                let choices = permission::plain();
                permission::ask(&self.editor, &session.thread_id, call, choices).await
            }
            None => None,
        };
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

    /// Editors without forms are asked one question after the other, and only those that have options.
    async fn answer_questions(
        &self,
        request: ToolRequestUserInputParams,
    ) -> ToolRequestUserInputResponse {
        let mut response = ToolRequestUserInputResponse {
            answers: Default::default(),
        };
        let Some(session) = self.session(&request.thread_id).await else {
            return response;
        };
        let asker = self.asker(&session, request.item_id.clone());
        if let Some(values) = asker.questions(&request.questions).await {
            for (id, value) in values.as_object().into_iter().flatten() {
                let answers = value.as_str().map(str::to_owned).into_iter().collect();
                let answer = ToolRequestUserInputAnswer { answers };
                response.answers.insert(id.clone(), answer);
            }
            return response;
        }
        for question in request.questions {
            let options = question.options.unwrap_or_default().into_iter();
            let choices: Vec<_> = options
                .map(|it| Choice {
                    name: it.label.clone(),
                    kind: PermissionKind::AllowOnce,
                    meaning: it.label,
                })
                .collect();
            if choices.is_empty() {
                continue;
            }
            let call = titled(&request.item_id, question.question);
            let chosen = permission::ask(&self.editor, &session.thread_id, call, choices).await;
            if let Some(label) = chosen {
                let answer = ToolRequestUserInputAnswer {
                    answers: vec![label],
                };
                response.answers.insert(question.id, answer);
            }
        }
        response
    }

    async fn answer_elicitation(
        &self,
        request: McpServerElicitationRequestParams,
    ) -> McpServerElicitationRequestResponse {
        let (action, content, meta) = match self.session(&request.thread_id).await {
            Some(session) => {
                let call_id = format!("elicitation-{}", request.server_name);
                let asker = self.asker(&session, call_id);
                asker.ask(&request.server_name, &request.request).await
            }
            None => (McpServerElicitationAction::Decline, None, None),
        };
        McpServerElicitationRequestResponse {
            action,
            content: content.map(Into::into),
            meta: meta.map(Into::into),
        }
    }

    async fn call_tool(&self, request: DynamicToolCallParams) -> DynamicToolCallResponse {
        match self.session(&request.thread_id).await {
            Some(session) => editor_tools::call(&self.editor, &session, &request).await,
            None => editor_tools::failure("The session is closed."),
        }
    }
}
