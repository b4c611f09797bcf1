//! A call and its outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quipu_engine::{CallId, CallKind, ToolCall, ToolDelta, ToolEvent, Waiting};
use quipu_wire::{Json, ServerRequest, ThreadItem};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use crate::host::{Answer, Host};
use crate::scope::Scope;
use crate::tool::{self, ReportStyle, Tool};
use crate::toolbox::{Agreements, Cancel, Toolbox};

/// What the model is told of a call that an interrupt kept from running.
pub(crate) const ABORTED: &str = "aborted by user";

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What the model gets.
    pub output: Output,
    /// The user wants the whole turn to end.
    pub end_turn: bool,
    /// What a command that has ended wrote, for the hooks after it.
    pub(crate) response: Option<String>,
    /// What the model is to know besides.
    pub context: Vec<Json>,
}

/// What the model gets back.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    Text(String),
    /// Texts and images.
    Parts(Vec<Value>),
}

impl From<Output> for Finished {
    fn from(output: Output) -> Finished {
        Finished {
            output,
            end_turn: false,
            response: None,
            context: Vec::new(),
        }
    }
}

impl From<String> for Finished {
    fn from(text: String) -> Finished {
        Output::Text(text).into()
    }
}

impl From<&str> for Finished {
    fn from(text: &str) -> Finished {
        text.to_owned().into()
    }
}

impl Finished {
    /// The user ended the turn with their answer.
    pub(crate) fn ending(text: &str) -> Finished {
        Finished {
            end_turn: true,
            ..Finished::from(text)
        }
    }
}

/// The output of a call in the form its kind wants.
#[must_use]
pub fn output_item(call: &ToolCall, output: &Output) -> Json {
    let kind = match call.kind {
        CallKind::Custom(_) => "custom_tool_call_output",
        CallKind::ToolSearch(_) => {
            return Json::from(json!({
                "type": "tool_search_output", "call_id": call.call_id.as_str(), "status": "completed",
                "execution": "client", "tools": [],
            }));
        }
        CallKind::Function(_) | CallKind::LocalShell(_) => "function_call_output",
    };
    let output = match output {
        Output::Text(text) => json!(text),
        Output::Parts(parts) => json!(parts),
    };
    Json::from(json!({ "type": kind, "call_id": call.call_id.as_str(), "output": output }))
}

/// A call while it runs.
#[derive(Clone)]
pub(crate) struct Running {
    pub scope: Arc<Scope>,
    pub host: Arc<dyn Host>,
    pub call: Arc<ToolCall>,
    pub cancel: Cancel,
    /// The tool of the table that the call names, if there is one.
    pub tool: Option<&'static dyn Tool>,
    /// Set when the user wants the turn to end.
    pub ends_turn: Arc<AtomicBool>,
    /// Reported when the turn ended while the call waited for the user.
    pub given_up: Arc<Notify>,
}

impl Running {
    pub fn id(&self) -> &CallId {
        &self.call.call_id
    }

    /// Reads the JSON arguments; the error is for the model.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, String> {
        let text = match &self.call.kind {
            CallKind::Function(arguments) => arguments.as_str(),
            CallKind::Custom(input) => input.as_str(),
            CallKind::LocalShell(_) | CallKind::ToolSearch(_) => "{}",
        };
        serde_json::from_str(text)
            .map_err(|error| format!("failed to parse function arguments: {error}"))
    }

    /// How the model reads the result of a command or a patch.
    pub fn report_style(&self) -> ReportStyle {
        let style = self.tool.map(|tool| tool.report_style(&self.scope));
        style.unwrap_or(ReportStyle::Text)
    }

    pub async fn report(&self, event: ToolEvent) {
        self.host.report(self.id(), event).await;
    }

    /// Ends the turn as soon as the call is over, which is asked to stop.
    pub fn end_turn(&self) {
        self.ends_turn.store(true, Ordering::Relaxed);
        self.cancel.cancel();
    }

    /// Tells the model something that is not the call's output.
    pub async fn note(&self, text: &str) {
        let note = json!({
            "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": text }],
        });
        self.report(ToolEvent::Note(note.into())).await;
    }

    pub async fn started(&self, item: ThreadItem) {
        self.report(ToolEvent::ItemStarted(item)).await;
    }

    pub async fn completed(&self, item: ThreadItem) {
        self.report(ToolEvent::ItemCompleted(item)).await;
    }

    pub async fn delta(&self, delta: ToolDelta) {
        self.report(ToolEvent::Delta(delta)).await;
    }

    /// Does something with what the tools of the thread remember. A call whose thread is gone is given up.
    pub async fn toolbox<T: Send + 'static>(
        &self,
        access: impl FnOnce(&mut Toolbox) -> T + Send + 'static,
    ) -> T {
        match self.try_toolbox(access).await {
            Some(result) => result,
            None => {
                self.given_up.notify_one();
                std::future::pending().await
            }
        }
    }

    /// The same, but `None` if the thread is gone.
    pub async fn try_toolbox<T: Send + 'static>(
        &self,
        access: impl FnOnce(&mut Toolbox) -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        let access = move |toolbox: &mut Toolbox| {
            // The call may have been cancelled meanwhile.
            done.send(access(toolbox)).ok();
        };
        self.host.with_toolbox(Box::new(access)).await;
        result.await.ok()
    }

    /// What was agreed to so far.
    pub async fn agreements(&self) -> Agreements {
        self.toolbox(|it| it.agreements().clone()).await
    }

    /// Changes what later calls may do without asking.
    pub async fn agree(&self, change: impl FnOnce(&mut Agreements) + Send + 'static) {
        self.toolbox(|it| change(it.agreements_mut())).await;
    }

    /// Asks the user. The call waits for the answer, and is given up with its turn.
    pub async fn ask(&self, request: ServerRequest, waiting: Option<Waiting>) -> Option<Answer> {
        tokio::select! {
            answer = self.ask_aside(request, waiting) => answer,
            () = self.cancel.cancelled() => {
                self.given_up.notify_one();
                std::future::pending().await
            }
        }
    }

    /// Asks the user while the call goes on.
    pub async fn ask_aside(
        &self,
        request: ServerRequest,
        waiting: Option<Waiting>,
    ) -> Option<Answer> {
        self.host.ask(self.id(), request, waiting).await
    }

    /// What the model reads of a call that the user ended after so long.
    pub fn aborted(&self, after: Duration) -> String {
        match self.tool {
            Some(tool) => tool.aborted(after),
            None => tool::aborted(after),
        }
    }
}
