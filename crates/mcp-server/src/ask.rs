//! What the server asks while a call runs: approvals, questions of the agent, forms of MCP servers. Each is reported as
//! an event and passed on by elicitation.

use std::sync::Arc;

use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    FileChangeApprovalDecision as FileDecision, FileChangeRequestApprovalParams,
    McpServerElicitationRequestParams, McpServerElicitationRequestResponse,
    PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse, ThreadItem,
    ToolRequestUserInputParams, ToolRequestUserInputResponse,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::approval::decision;
use crate::call::Call;
use crate::{approval, permission, question, server_form};

/// A question of the server that waits for its answer. Dropping it leaves the answer to the client's default, which
/// refuses.
pub enum Ask {
    Command(
        Box<CommandExecutionRequestApprovalParams>,
        oneshot::Sender<CommandDecision>,
    ),
    Patch(
        Box<FileChangeRequestApprovalParams>,
        oneshot::Sender<FileDecision>,
    ),
    Permissions(
        Box<PermissionsRequestApprovalParams>,
        oneshot::Sender<PermissionsRequestApprovalResponse>,
    ),
    Input(
        Box<ToolRequestUserInputParams>,
        oneshot::Sender<ToolRequestUserInputResponse>,
    ),
    Server(
        Box<McpServerElicitationRequestParams>,
        oneshot::Sender<McpServerElicitationRequestResponse>,
    ),
}

/// What a client can show: the modes of elicitation that it declared.
#[derive(Clone, Copy, Default)]
pub struct Shows {
    form: bool,
    url: bool,
}

impl Shows {
    /// Reads the capabilities of a client. One that names no mode shows forms.
    pub fn declared(capabilities: &Value) -> Shows {
        let elicitation = capabilities["elicitation"].as_object();
        let names = |mode: &str| elicitation.is_some_and(|it| it.get(mode).is_some());
        Shows {
            form: names("form") || elicitation.is_some() && !names("url"),
            url: names("url"),
        }
    }
}

impl Ask {
    /// The thread that asks: that of the call, or of an agent that it started.
    pub fn thread_id(&self) -> &str {
        match self {
            Ask::Command(it, _) => &it.thread_id,
            Ask::Patch(it, _) => &it.thread_id,
            Ask::Permissions(it, _) => &it.thread_id,
            Ask::Input(it, _) => &it.thread_id,
            Ask::Server(it, _) => &it.thread_id,
        }
    }

    /// The turn that asks.
    pub fn turn_id(&self) -> &str {
        match self {
            Ask::Command(it, _) => &it.turn_id,
            Ask::Patch(it, _) => &it.turn_id,
            Ask::Permissions(it, _) => &it.turn_id,
            Ask::Input(it, _) => &it.turn_id,
            Ask::Server(it, _) => it.turn_id.as_deref().unwrap_or_default(),
        }
    }

    /// The call of the model that the question is about, if it is known.
    fn call_id(&self) -> Option<&str> {
        match self {
            Ask::Command(it, _) => Some(&it.item_id),
            Ask::Patch(it, _) => Some(&it.item_id),
            Ask::Permissions(it, _) => Some(&it.item_id),
            Ask::Input(it, _) => Some(&it.item_id),
            Ask::Server(..) => None,
        }
    }

    /// The item that is to be approved; the question is asked once it has begun.
    pub fn item_id(&self) -> Option<&str> {
        match self {
            Ask::Command(it, _) => Some(&it.item_id),
            Ask::Patch(it, _) => Some(&it.item_id),
            _ => None,
        }
    }

    /// The event that reports the question; `id` is that of the elicitation.
    pub fn event(&self, id: i64, item: Option<&ThreadItem>) -> Value {
        match self {
            Ask::Command(it, _) => approval::command_event(it),
            Ask::Patch(it, _) => approval::patch_event(it, item),
            Ask::Permissions(it, _) => permission::event(it),
            Ask::Input(it, _) => question::event(it),
            Ask::Server(it, _) => server_form::event(it, id),
        }
    }

    /// The params of the elicitation, or the reason why this client cannot be asked. Approvals of commands and patches
    /// go to every client, because those of the official server do not declare that they answer them.
    pub fn elicitation(
        &self,
        shows: Shows,
        call_id: &Value,
        item: Option<&ThreadItem>,
    ) -> Result<Value, String> {
        let mut params = match self {
            Ask::Command(it, _) => approval::command_elicitation(it),
            Ask::Patch(_, _) => approval::patch_elicitation(item),
            _ if !shows.form && !self.is_page() => {
                return Err(self.unasked("does not declare the capability `elicitation`"));
            }
            Ask::Permissions(it, _) => permission::elicitation(it),
            Ask::Input(it, _) if it.questions.iter().any(|it| it.is_secret) => {
                return Err(self.unasked("cannot be asked for a secret by a form"));
            }
            Ask::Input(it, _) => question::elicitation(&it.questions),
            Ask::Server(..) if self.is_page() && !shows.url => {
                return Err(self.unasked("does not declare the capability `elicitation.url`"));
            }
            Ask::Server(it, _) => server_form::elicitation(it),
        };
        params["threadId"] = self.thread_id().into();
        params["codex_mcp_tool_call_id"] = plain(call_id).into();
        params["codex_event_id"] = self.turn_id().into();
        if let Some(call_id) = self.call_id() {
            params["codex_call_id"] = call_id.into();
        }
        Ok(params)
    }

    fn is_page(&self) -> bool {
        matches!(self, Ask::Server(it, _) if server_form::is_page(it))
    }

    /// What the agent reads about a question that nobody was asked.
    fn unasked(&self, why: &str) -> String {
        let what = match self {
            Ask::Server(it, _) => server_form::subject(it),
            Ask::Permissions(..) => "A request for permissions".to_owned(),
            _ => "A question to the user".to_owned(),
        };
        format!("{what} was declined without asking anybody: the MCP client of this session {why}.")
    }

    /// Whether an answer can say why nobody was asked.
    pub fn carries_reason(&self) -> bool {
        matches!(self, Ask::Input(..))
    }

    /// Refuses a question that nobody can be asked.
    pub fn refuse(self, why: &str) {
        match self {
            Ask::Input(it, reply) => send(reply, question::each(&it.questions, why)),
            other => other.settle(Ok(json!({ "action": "decline" }))),
        }
    }

    /// Asks the peer of a call, and gives its answer to who asked. Once nobody waits for it, the peer is not asked any
    /// longer.
    pub fn pass_on(
        mut self,
        call: &Call,
        id: i64,
        params: Value,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (shared, outlet) = (Arc::clone(&call.shared), call.outlet.clone());
        async move {
            let answer = tokio::select! {
                answer = shared.ask(&outlet, id, "elicitation/create", params) => answer,
                () = self.withdrawn() => return,
            };
            self.settle(answer);
        }
    }

    /// Waits until the server has no use for an answer any more.
    async fn withdrawn(&mut self) {
        match self {
            Ask::Command(_, reply) => reply.closed().await,
            Ask::Patch(_, reply) => reply.closed().await,
            Ask::Permissions(_, reply) => reply.closed().await,
            Ask::Input(_, reply) => reply.closed().await,
            Ask::Server(_, reply) => reply.closed().await,
        }
    }

    /// Gives the client's answer to who asked.
    fn settle(self, answer: Result<Value, Value>) {
        match self {
            Ask::Command(_, reply) => send(reply, approval::for_command(decision(&answer))),
            Ask::Patch(_, reply) => send(reply, approval::for_patch(decision(&answer))),
            Ask::Permissions(it, reply) => send(reply, permission::answer(*it, &answer)),
            Ask::Input(it, reply) => send(reply, question::answer(&it.questions, &answer)),
            Ask::Server(it, reply) => send(reply, server_form::answer(&it, &answer)),
        }
    }
}

/// Gives an answer; one who is gone has no use for it.
fn send<T>(reply: oneshot::Sender<T>, answer: T) {
    if reply.send(answer).is_err() {
        tracing::debug!("answer dropped: nobody waits for it");
    }
}

/// An id as text.
fn plain(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}
