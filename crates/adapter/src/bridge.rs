//! The answers to a server's questions: tool calls go to their evaluation, approvals are decided by
//! policy, and everything else gets an answer that lets the turn go on.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use quipu_client::wire::{
    ApplyPatchApprovalParams, ChatgptAuthTokensRefreshParams, ChatgptAuthTokensRefreshResponse,
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams,
    DynamicToolCallOutputContentItem as Content, DynamicToolCallParams, DynamicToolCallResponse,
    ExecCommandApprovalParams, FileChangeApprovalDecision, FileChangeRequestApprovalParams,
    McpServerElicitationAction, McpServerElicitationRequest, McpServerElicitationRequestParams,
    McpServerElicitationRequestResponse, ReviewDecision,
};
use quipu_client::{ErrorObject, Handler};
use serde_json::{Value, json};

use crate::toolbox::Toolbox;
use crate::{Approvals, Login};

/// The [`Handler`] of a connection on which an adapter evaluates. It is made by the adapter; who
/// connects by hand ([`Server::with`](crate::Server::with)) gives it to the client's options.
#[derive(Clone)]
pub struct Bridge(Arc<Inner>);

struct Inner {
    approvals: Approvals,
    login: Option<Login>,
    /// The running evaluations, by thread.
    running: Mutex<HashMap<String, Arc<Toolbox>>>,
}

impl Bridge {
    pub(crate) fn new(approvals: Approvals, login: Option<Login>) -> Bridge {
        Bridge(Arc::new(Inner {
            approvals,
            login,
            running: Mutex::default(),
        }))
    }

    /// Sends a thread's tool calls to a toolbox as long as the guard lives.
    pub(crate) fn route(&self, thread: &str, toolbox: &Arc<Toolbox>) -> Route {
        self.running()
            .insert(thread.to_owned(), Arc::clone(toolbox));
        Route {
            bridge: self.clone(),
            thread: thread.to_owned(),
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Arc<Toolbox>>> {
        self.0.running.lock()
    }

    fn approves(&self) -> bool {
        self.0.approvals.accepts()
    }
}

pub(crate) struct Route {
    bridge: Bridge,
    thread: String,
}

impl Drop for Route {
    fn drop(&mut self) {
        self.bridge.running().remove(&self.thread);
    }
}

impl Handler for Bridge {
    async fn call_tool(&self, request: DynamicToolCallParams) -> DynamicToolCallResponse {
        let toolbox = self.running().get(&request.thread_id).cloned();
        let Some(toolbox) = toolbox else {
            let text = format!("There is no tool named `{}` here.", request.tool);
            return DynamicToolCallResponse {
                content_items: vec![Content::InputText { text }],
                success: false,
            };
        };
        let arguments = arguments(request.arguments.to_value());
        let answer = toolbox
            .call(&request.tool, &request.call_id, &arguments)
            .await;
        DynamicToolCallResponse {
            content_items: answer.output.content,
            success: answer.success,
        }
    }

    async fn approve_command(
        &self,
        _: CommandExecutionRequestApprovalParams,
    ) -> CommandExecutionApprovalDecision {
        match self.approves() {
            true => CommandExecutionApprovalDecision::Accept,
            false => CommandExecutionApprovalDecision::Decline,
        }
    }

    async fn approve_file_change(
        &self,
        _: FileChangeRequestApprovalParams,
    ) -> FileChangeApprovalDecision {
        match self.approves() {
            true => FileChangeApprovalDecision::Accept,
            false => FileChangeApprovalDecision::Decline,
        }
    }

    /// MCP servers' tools are approved by an empty form. Real questions need a person and are declined.
    async fn answer_elicitation(
        &self,
        request: McpServerElicitationRequestParams,
    ) -> McpServerElicitationRequestResponse {
        let is_approval = match &request.request {
            McpServerElicitationRequest::Form {
                meta: Some(meta), ..
            } => meta.to_value().get("codex_approval_kind").is_some(),
            _ => false,
        };
        let accepted = is_approval && self.approves();
        McpServerElicitationRequestResponse {
            action: match accepted {
                true => McpServerElicitationAction::Accept,
                false => McpServerElicitationAction::Decline,
            },
            content: accepted.then(|| json!({}).into()),
            meta: None,
        }
    }

    async fn refresh_tokens(
        &self,
        _: ChatgptAuthTokensRefreshParams,
    ) -> Result<ChatgptAuthTokensRefreshResponse, ErrorObject> {
        match &self.0.login {
            Some(login) => login.renew().await,
            None => Err(ErrorObject::internal("this program manages no tokens")),
        }
    }

    async fn approve_legacy_patch(&self, _: ApplyPatchApprovalParams) -> ReviewDecision {
        self.legacy()
    }

    async fn approve_legacy_command(&self, _: ExecCommandApprovalParams) -> ReviewDecision {
        self.legacy()
    }
}

impl Bridge {
    fn legacy(&self) -> ReviewDecision {
        match self.approves() {
            true => ReviewDecision::Approved,
            false => ReviewDecision::Denied,
        }
    }
}

/// Some servers send the arguments as JSON, some as text that holds JSON.
fn arguments(sent: Value) -> Value {
    match &sent {
        Value::String(text) => serde_json::from_str(text).unwrap_or(sent),
        _ => sent,
    }
}
