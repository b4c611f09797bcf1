//! One MCP client: its messages, its calls, and its connection to the server.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    FileChangeApprovalDecision as FileDecision, FileChangeRequestApprovalParams,
    McpServerElicitationAction, McpServerElicitationRequestParams,
    McpServerElicitationRequestResponse, PermissionsRequestApprovalParams,
    PermissionsRequestApprovalResponse, ToolRequestUserInputParams, ToolRequestUserInputResponse,
};
use quipu_client::{Client, Connect, Handler, Timeouts};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::ask::{Ask, Shows};
use crate::message::{self, INTERNAL_ERROR, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND, Outlet};
use crate::{call, permission, tools};

/// Protocol versions that are spoken alike; a client that asks for another is offered the last one.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-11-25", "2025-06-18"];
/// Calls of one client at the same time; more are refused.
const MOST_CALLS: usize = 256;
/// How deep agents that start agents are followed to the call that they belong to.
const MOST_PARENTS: usize = 16;

/// A client of ours. Dropping it ends its calls.
pub struct Session {
    pub shared: Arc<Shared>,
    calls: JoinSet<()>,
}

/// What the calls of a session share.
pub struct Shared {
    connect: Connect,
    /// Where relative directories begin, if the server shares our file system.
    pub base: Option<PathBuf>,
    client_info: Mutex<Option<(String, String)>>,
    shows: Mutex<Shows>,
    connection: tokio::sync::Mutex<Option<Client>>,
    next_id: AtomicI64,
    /// Elicitations that wait for an answer.
    pending: Mutex<HashMap<i64, oneshot::Sender<Result<Value, Value>>>>,
    /// How to cancel the running calls, by request id.
    cancels: Mutex<HashMap<String, oneshot::Sender<()>>>,
    /// Who deals with the questions of a thread.
    pub asks: Mutex<HashMap<String, mpsc::Sender<Ask>>>,
    /// The threads in use; one turn at a time in each.
    pub threads: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Session {
    pub fn new(connect: Connect, base: Option<PathBuf>) -> Session {
        let shared = Shared {
            connect,
            base,
            client_info: Mutex::default(),
            shows: Mutex::default(),
            connection: tokio::sync::Mutex::default(),
            next_id: AtomicI64::new(0),
            pending: Mutex::default(),
            cancels: Mutex::default(),
            asks: Mutex::default(),
            threads: Mutex::default(),
        };
        Session {
            shared: Arc::new(shared),
            calls: JoinSet::new(),
        }
    }

    /// Takes one message. What it leads to goes to the outlet, which a call keeps until it is answered.
    pub async fn receive(&mut self, text: &[u8], outlet: &Outlet) {
        match message::read(text) {
            Ok(Incoming::Request { id, method, params }) => {
                self.request(id, &method, params, outlet).await;
            }
            Ok(Incoming::Notification { method, params }) => {
                if method == "notifications/cancelled" {
                    self.shared.cancel(&params["requestId"]);
                }
            }
            Ok(Incoming::Answer { id, outcome }) => self.shared.answered(&id, outcome),
            Err(malformed) => {
                let error = message::error(&malformed.id, malformed.code, malformed.why, None);
                message::send(outlet, error).await;
            }
        }
    }

    async fn request(&mut self, id: Value, method: &str, params: Value, outlet: &Outlet) {
        let answer = match method {
            "initialize" => self.initialize(&id, &params).await,
            "ping" => message::result(&id, json!({})),
            "tools/list" => message::result(&id, tools::list()),
            "tools/call" => return self.call(id, params, outlet).await,
            other => {
                let text = format!("method not found: {other}");
                let data = json!({ "method": other });
                message::error(&id, METHOD_NOT_FOUND, &text, Some(data))
            }
        };
        message::send(outlet, answer).await;
    }

    async fn initialize(&self, id: &Value, params: &Value) -> Value {
        let info = &params["clientInfo"];
        let text = |key: &str| info[key].as_str().unwrap_or("unknown").to_owned();
        {
            let mut known = self.shared.client_info.lock();
            if known.is_some() {
                let text = "initialize called more than once";
                return message::error(id, INVALID_REQUEST, text, None);
            }
            *known = Some((text("name"), text("version")));
            *self.shared.shows.lock() = Shows::declared(&params["capabilities"]);
        }
        let client = match self.shared.client().await {
            Ok(client) => client,
            Err(error) => {
                *self.shared.client_info.lock() = None;
                return message::error(id, INTERNAL_ERROR, &error, None);
            }
        };
        let server = client.server();
        let version = server.version.map(|it| it.to_string());
        let wanted = params["protocolVersion"].as_str().unwrap_or_default();
        let agreed = VERSIONS.iter().find(|it| **it == wanted);
        let result = json!({
            "protocolVersion": agreed.unwrap_or(&VERSIONS[VERSIONS.len() - 1]),
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": {
                "name": "codex-mcp-server",
                "title": "Codex",
                "version": version.unwrap_or_default(),
                "user_agent": server.user_agent,
            },
        });
        message::result(id, result)
    }

    async fn call(&mut self, id: Value, params: Value, outlet: &Outlet) {
        while self.calls.try_join_next().is_some() {}
        if self.calls.len() >= MOST_CALLS {
            let text = format!("{MOST_CALLS} calls are running; wait for one to end");
            return message::send(outlet, message::result(&id, tools::failure(&text))).await;
        }
        let (cancel, cancelled) = oneshot::channel();
        self.shared.cancels.lock().insert(id.to_string(), cancel);
        let call = call::Call {
            shared: Arc::clone(&self.shared),
            progress: params["_meta"].get("progressToken").cloned(),
            outlet: outlet.clone(),
            cancelled,
            id,
        };
        self.calls.spawn(async move {
            let (shared, outlet, id) = (
                Arc::clone(&call.shared),
                call.outlet.clone(),
                call.id.clone(),
            );
            let answer = call.run(params).await;
            shared.cancels.lock().remove(&id.to_string());
            // A call that was cancelled is not answered.
            if let Some(answer) = answer {
                message::send(&outlet, message::result(&id, answer)).await;
            }
        });
    }

    /// Ends what is running and leaves the server.
    pub async fn close(&mut self) {
        self.calls.shutdown().await;
        if let Some(client) = self.shared.connection.lock().await.take() {
            client.disconnect().await;
        }
    }
}

impl Shared {
    /// The connection to the server, a new one if the last has ended.
    pub async fn client(self: &Arc<Self>) -> Result<Client, String> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = &*connection
            && client.closed().now_or_never().is_none()
        {
            return Ok(client.clone());
        }
        let (name, version) = self
            .client_info
            .lock()
            .clone()
            .unwrap_or_else(|| ("codex-mcp-client".to_owned(), "0".to_owned()));
        let options = (self.connect)()
            .client(name, version)
            .handler(Questions(Arc::downgrade(self)))
            .timeouts(Timeouts {
                turn_silence: None,
                turn_total: None,
                ..Timeouts::default()
            });
        let client = Client::connect(options)
            .await
            .map_err(|error| format!("cannot connect to the server: {error}"))?;
        *connection = Some(client.clone());
        Ok(client)
    }

    /// What the peer can be asked.
    pub fn shows(&self) -> Shows {
        *self.shows.lock()
    }

    /// An id for a request to the peer.
    pub fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks the peer something and waits for its answer. Dropping the wait withdraws the request.
    pub async fn ask(
        &self,
        outlet: &Outlet,
        id: i64,
        method: &str,
        params: Value,
    ) -> Result<Value, Value> {
        let (reply, answer) = oneshot::channel();
        self.pending.lock().insert(id, reply);
        let _asked = Asked {
            shared: self,
            outlet,
            id,
        };
        if outlet
            .send(message::request(id, method, params))
            .await
            .is_err()
        {
            self.pending.lock().remove(&id);
        }
        answer
            .await
            .unwrap_or_else(|_| Err(json!("the peer is gone")))
    }

    fn answered(&self, id: &Value, outcome: Result<Value, Value>) {
        let waiting = id.as_i64().and_then(|id| self.pending.lock().remove(&id));
        if waiting.is_none_or(|it| it.send(outcome).is_err()) {
            tracing::debug!(%id, "answer dropped: nobody waits for it");
        }
    }

    fn cancel(&self, id: &Value) {
        if let Some(cancel) = self.cancels.lock().remove(&id.to_string())
            && cancel.send(()).is_err()
        {
            tracing::debug!(%id, "cancellation dropped: the call has ended");
        }
    }

    /// Passes a question on to the call that the thread belongs to.
    async fn pass_on(self: &Arc<Self>, ask: Ask) {
        let thread_id = ask.thread_id().to_owned();
        let call = self.call_of(&thread_id).await;
        if let Some(call) = call
            && call.send(ask).await.is_err()
        {
            tracing::debug!(thread_id, "question dropped: its call has ended");
        }
    }

    /// Who deals with the questions of a thread; those of an agent that a call started belong to that call.
    async fn call_of(self: &Arc<Self>, thread_id: &str) -> Option<mpsc::Sender<Ask>> {
        let mut id = thread_id.to_owned();
        for _ in 0..MOST_PARENTS {
            if let Some(call) = self.asks.lock().get(&id) {
                return Some(call.clone());
            }
            id = self.client().await.ok()?.parent_thread(id).await?;
        }
        None
    }
}

/// A request to the peer that is not answered yet.
struct Asked<'a> {
    shared: &'a Shared,
    outlet: &'a Outlet,
    id: i64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.shared.pending.lock().remove(&self.id).is_none() {
            return;
        }
        let params = json!({ "requestId": self.id, "reason": "nobody waits for the answer" });
        let cancelled = message::notification("notifications/cancelled", params);
        if let Err(TrySendError::Full(cancelled)) = self.outlet.try_send(cancelled)
            && let Ok(runtime) = Handle::try_current()
        {
            let outlet = self.outlet.clone();
            runtime.spawn(async move { message::send(&outlet, cancelled).await });
        }
    }
}

/// Passes the server's questions on to the calls they belong to.
struct Questions(std::sync::Weak<Shared>);

impl Questions {
    /// Passes a question on and waits for its answer; without one, the question is left to the default.
    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        if let Some(shared) = self.0.upgrade() {
            shared.pass_on(question(reply)).await;
        }
        answer.await.ok()
    }
}

impl Handler for Questions {
    async fn approve_command(
        &self,
        request: CommandExecutionRequestApprovalParams,
    ) -> CommandDecision {
        let answer = self.ask(|reply| Ask::Command(Box::new(request), reply));
        answer.await.unwrap_or(CommandDecision::Decline)
    }

    async fn approve_file_change(&self, request: FileChangeRequestApprovalParams) -> FileDecision {
        let answer = self.ask(|reply| Ask::Patch(Box::new(request), reply));
        answer.await.unwrap_or(FileDecision::Decline)
    }

    async fn approve_permissions(
        &self,
        request: PermissionsRequestApprovalParams,
    ) -> PermissionsRequestApprovalResponse {
        let answer = self.ask(|reply| Ask::Permissions(Box::new(request), reply));
        answer.await.unwrap_or_else(permission::nothing)
    }

    async fn answer_questions(
        &self,
        request: ToolRequestUserInputParams,
    ) -> ToolRequestUserInputResponse {
        let answer = self.ask(|reply| Ask::Input(Box::new(request), reply));
        answer.await.unwrap_or(ToolRequestUserInputResponse {
            answers: Default::default(),
        })
    }

    async fn answer_elicitation(
        &self,
        request: McpServerElicitationRequestParams,
    ) -> McpServerElicitationRequestResponse {
        let answer = self.ask(|reply| Ask::Server(Box::new(request), reply));
        answer.await.unwrap_or(McpServerElicitationRequestResponse {
            action: McpServerElicitationAction::Decline,
            content: None,
            meta: None,
        })
    }
}
