//! The editor: what it is sent and asked.

use quipu_rpc::{CallError, Peer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::error::{Result, failed};
use crate::schema::{SessionUpdate, ToolCall, Update};

/// The other side. Cheap to clone. What is sent waits for an editor that reads slowly, which holds back the turn.
#[derive(Clone)]
pub struct Editor(Peer);

impl Editor {
    pub fn new(peer: Peer) -> Editor {
        Editor(peer)
    }

    /// Sends one update; an editor that is gone has no use for it.
    pub async fn update(&self, session_id: &str, update: Update) {
        let params = SessionUpdate { session_id, update };
        if let Err(error) = self.0.notify_when_room("session/update", &params).await {
            tracing::debug!(%error, "update not sent");
        }
    }

    pub async fn update_call(&self, session_id: &str, call: ToolCall) {
        self.update(session_id, Update::ToolCallUpdate(call)).await;
    }

    /// Shows text as a message of the agent.
    pub async fn say(&self, session_id: &str, text: &str) {
        let content = text.into();
        self.update(session_id, Update::AgentMessageChunk { content })
            .await;
    }

    /// Asks the editor. If the future is dropped before the answer, the request is cancelled.
    pub async fn ask<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<R> {
        let call = self.0.call_when_room(method, params).await;
        let call = call.map_err(failed)?;
        let mut withdrawal = Withdrawal {
            editor: self,
            id: Some(call.id()),
        };
        let outcome = call.await;
        withdrawal.id = None;
        match outcome {
            Ok(result) => result
                .decode()
                .map_err(|error| failed(format!("the answer to `{method}` is invalid: {error}"))),
            Err(CallError::Rejected(error)) => Err(error),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Cancels a request that nobody waits for any more.
struct Withdrawal<'a> {
    editor: &'a Editor,
    id: Option<i64>,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let params = json!({ "requestId": id });
            if let Err(error) = self.editor.0.notify("$/cancel_request", &params) {
                tracing::debug!(%error, "cancellation not sent");
            }
        }
    }
}
