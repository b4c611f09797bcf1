//! A call about agents, as clients see it.

use std::collections::BTreeMap;

use quipu_wire::{
    CollabAgentState, CollabAgentStatus, CollabAgentTool, CollabAgentToolCallStatus,
    ReasoningEffort, ThreadItem,
};

use crate::call::Running;

/// The item of one call.
#[derive(Clone)]
pub(super) struct Shown {
    pub tool: CollabAgentTool,
    pub receivers: Vec<String>,
    pub prompt: Option<String>,
    pub model: Option<String>,
    pub effort: Option<ReasoningEffort>,
}

impl Shown {
    /// A call about these agents.
    pub fn about(tool: CollabAgentTool, receivers: Vec<String>) -> Shown {
        Shown {
            tool,
            receivers,
            prompt: None,
            model: None,
            effort: None,
        }
    }

    pub async fn started(&self, run: &Running) {
        let item = self.item(run, CollabAgentToolCallStatus::InProgress, BTreeMap::new());
        run.started(item).await;
    }

    /// Shows the end: failed if the call did, or if an agent has.
    pub async fn completed(
        &self,
        run: &Running,
        succeeded: bool,
        states: BTreeMap<String, CollabAgentState>,
    ) {
        let lost = |state: &CollabAgentState| {
            matches!(
                state.status,
                CollabAgentStatus::Errored | CollabAgentStatus::NotFound
            )
        };
        let status = match succeeded && !states.values().any(lost) {
            true => CollabAgentToolCallStatus::Completed,
            false => CollabAgentToolCallStatus::Failed,
        };
        run.completed(self.item(run, status, states)).await;
    }

    fn item(
        &self,
        run: &Running,
        status: CollabAgentToolCallStatus,
        agents_states: BTreeMap<String, CollabAgentState>,
    ) -> ThreadItem {
        ThreadItem::CollabAgentToolCall {
            id: run.id().to_string(),
            tool: self.tool,
            status,
            sender_thread_id: run.scope.thread_id.to_string(),
            receiver_thread_ids: self.receivers.clone(),
            prompt: self.prompt.clone(),
            model: self.model.clone(),
            reasoning_effort: self.effort,
            agents_states,
        }
    }
}
